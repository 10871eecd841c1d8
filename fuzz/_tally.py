"""Counts triples: decisions about a file, an agent and a URL, in a dialect, that were compared.

Each is counted once, however many ways of deciding it agree.
"""

from __future__ import annotations

triples = 0


def add(count: int) -> None:
    """Count some triples."""
    global triples  # noqa: PLW0603 - one counter in a process
    triples += count
