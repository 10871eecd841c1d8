"""Compose a robots.txt from its author's intentions, or from presets.

>>> composed = compose(intentions_of(["allow-all"]))
>>> print(composed.body.decode())
# All other crawlers: allowed.
User-agent: *
Disallow:
<BLANKLINE>
"""

from __future__ import annotations

from ._composing import Composed, compose
from ._intentions import ALLOW, DISALLOW, Intentions
from ._presets import PRESETS, Preset, combined, intentions_of

__all__ = [
    "ALLOW",
    "DISALLOW",
    "PRESETS",
    "Composed",
    "Intentions",
    "Preset",
    "combined",
    "compose",
    "intentions_of",
]
