"""Drop-in replacement for reppy 0.4: `Robots`, `Agent`, exceptions, TTL policies and caches.

The modules have the same names: ``robots``, ``exceptions``, ``ttl``, ``util`` and ``cache``. The
standard library replaces `requests`.
"""

from __future__ import annotations

import logging

from .robots import Agent, Robots

logger = logging.getLogger("reppy")

__all__ = ["Agent", "Robots", "logger"]
