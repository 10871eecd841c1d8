"""The ledger of answers in ``tests/decisions``: ``make ledger``.

Each module of `parts.PARTS` answers fixed questions about files; `store` keeps the answers, with a
digest for each file, dialect and tool. `comparing` says which changed since they were recorded.
`history` allows changes of decisions only if the change log has a line about them.

Answers depend on the code alone: not on a clock, a network or chance, nor on whether the hot
modules are compiled.
"""
