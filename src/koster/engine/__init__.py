"""The engine: from the bytes of a robots.txt to a decision.

bytes → `lexer` → `rows` → `groups` → `user_agents` selects → `compiler` ranks → `matcher` decides
(`names`, `canonical` paths, `ruleset`, `packing`, `wildcards`, `trie`). `document` is a parsed
file, `selection` the groups of an agent; `memory` has low-level functions. All modules are plain
Python; those with a ``.pxd`` are compiled.
"""
