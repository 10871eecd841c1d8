"""Stands in for reppy 0.4: `Robots`, `Agent`, the exceptions, the TTL policies and the caches.

The modules have the names that they have there: ``robots``, ``exceptions``, ``ttl``, ``util``
and ``cache``. What `requests` did there, the standard library does here.
"""

from __future__ import annotations

import logging

logger = logging.getLogger("reppy")

from .robots import Agent, Robots  # noqa: E402 - it uses the logger

__all__ = ["Agent", "Robots", "logger"]
