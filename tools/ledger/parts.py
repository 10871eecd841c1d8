"""The table of parts: to add one, write a module with a `Part`, and put it here."""

from __future__ import annotations

from . import archives, check, facades, lint, logs, outcomes, owners, registry

PARTS = (
    check.PART,
    facades.PART,
    outcomes.PART,
    archives.PART,
    logs.PART,
    lint.PART,
    owners.PART,
    registry.PART,
)
