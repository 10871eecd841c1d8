"""A compiled rule as a value: what `koster.analysis` and `koster.lint` reason about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule as the engine compares it with paths.

    Attributes:
        pattern: Its canonical pattern, without trailing stars and anchor.
        literal_size: The bytes of the pattern's literal prefix.
        kind: What follows the prefix, a value of `Patterns`; `Patterns.PREFIX` if nothing does.
        is_anchored: Whether it must match up to the end of the path.
        allow: Whether it allows.
        rank: The matching rule with the highest rank decides.
        row: Its row in the file; see `Selection.rule`.
    """

    pattern: bytes
    literal_size: int
    kind: int
    is_anchored: bool
    allow: bool
    rank: int
    row: int
