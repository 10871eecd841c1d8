"""What the author of a file wants of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..crawlers import Purpose

#: The intentions for a purpose.
ALLOW = "allow"
DISALLOW = "disallow"


@dataclass(frozen=True, slots=True)
class Intentions:
    """The author's intentions.

    ``purposes`` allows or disallows crawlers by purpose, ``names`` single crawlers, which takes
    precedence; ``others`` all others, or None for no change. ``closed`` are paths blocked for
    everybody, ``opened`` exceptions to them; ``delay`` is in seconds; ``signals`` are
    Content-Signal preferences such as ``ai-train=no``.
    """

    purposes: Mapping[Purpose, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    others: str | None = None
    closed: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()

    @property
    def path_rules(self) -> list[str]:
        """The rules for all allowed crawlers."""
        return [
            *(f"Disallow: {path}" for path in self.closed),
            *(f"Allow: {path}" for path in self.opened),
        ]
