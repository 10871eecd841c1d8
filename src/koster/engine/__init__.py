"""The engine: from the bytes of a robots.txt to a decision.

bytes → `lexer` → `rows` → `groups` → `user_agents` picks → `ruleset` ranks (`canonical` paths,
`wildcards`, `trie`) → the rule that decides. `document` is a parsed file; `memory` has what C has
and Python lacks. Every module is plain Python, compiled where its ``.pxd`` says how.
"""
