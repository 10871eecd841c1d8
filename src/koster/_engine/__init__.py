"""The engine: from the bytes of a robots.txt to a decision. Theory of operation.

One direction, and no step looks back. Each step passes integers and offsets to the next one;
`document` makes objects of them when someone asks::

    bytes ── lexer ──▶ rows ── groups ──▶ groups          one `document.File`, whoever asks
                                             │
    agent ── user_agents, names ─────────────┤
                                             ▼
                                   chosen groups          one `selection.Selection` for each agent
                                             │
         canonical, wildcards ── compiler ───┤
                                             ▼
    URL ── canonical ── matcher ────────▶ table           one `ruleset.Ruleset` for the same groups
                           │
                           ▼
                    number of a rule ──▶ its row ──▶ line, Rule, Decision

**Row**: a line with a directive, as three integers: its code and line number, and where the value
starts and ends in the bytes of the file (`rows`). A **group** is a pair: its first row, and the row
after its last one.

**Canonical form**: URLs and patterns are compared byte by byte, in one form (`canonical`). The
**literal prefix** of a pattern is what is before its first special byte.

**Rank**: a dialect is data. What differs in its precedence (the longest match, the first one,
explicit rules before patterns) becomes an integer when rules are compiled. The matching rule of the
highest rank decides, the first of those. If none matches, the table says whether that is allowed.

**Table**: the rules of an agent in one block of memory. Rule n has a key, six integers, and a
pattern in the text::

    ┌────────────────┬──────────────────────────────────────────┬───────────────────────────┐
    │ key 0, key 1 … │ row, start, end, literal, flags, rank  … │ /private//*.pdf/shop/ …   │
    └────────────────┴──────────────────────────────────────────┴───────────────────────────┘
      a scan reads     of the rules whose key fits                 compared at last

A **key** is a Bloom filter of 64 bits: each pair of adjacent bytes in the literal parts of the
pattern sets one. A path that lacks one of them does not match. A **scan** over the keys, which
excludes most rules, is the first of two ways to find one.

**Trie**: the second way, for more than 128 rules, made at their fourth question (from 4,096 rules
on at the 64th, because it takes as long as hundreds of questions). It is over the literal prefixes.
A decision walks down along the path, and meets only rules that begin like it::

    "" ── "/" ┬─ "private"       each node: label, children, and the rules whose prefix ends there
              └─ "s" ┬─ "hop/"
                     └─ "earch"

What follows the literal prefix is matched by `wildcards`: no backtracking, and no regular
expression. The time is linear in the path for each star; `matcher.MAX_SEARCHED` bounds the sum of
all patterns.

**What threads share** is immutable, and replaced as one object. A table with a trie is another one,
which a `Ruleset` has from then on. A decision takes the table once; it lives as long as its last
reader.

**Two speeds**: the modules are plain Python, and compiled by Cython where there is a C compiler. A
``.pxd`` has the C types of functions and fields; those of variables are inferred, or stand above
the function where they cannot be (``cython.locals``). What C has and Python lacks is written twice,
in `memory`. `no_cython` stands in for Cython where nothing is compiled.
"""
