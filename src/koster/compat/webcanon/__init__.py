"""Drop-in replacement for webcanon.robots 0.3 (and the RobotsConfig of webcanon.config).

`parse_robots`, `RobotsPolicy.rules_for` and `evaluate_robots`, with the verdict and the rule that
decides. `transport_verdict` returns the verdict of webcanon's client for an HTTP result, and
`RobotsGate` fetches and decides like that client; nothing else here loads the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._policy import (
    PolicyError,
    RobotsConfig,
    RobotsDecision,
    RobotsMatch,
    RobotsPolicy,
    RobotsVerdict,
    Rule,
    evaluate_robots,
    parse_robots,
    transport_verdict,
)

if TYPE_CHECKING:
    from ._gate import RobotsGate

__all__ = [
    "PolicyError",
    "RobotsConfig",
    "RobotsDecision",
    "RobotsGate",
    "RobotsMatch",
    "RobotsPolicy",
    "RobotsVerdict",
    "Rule",
    "evaluate_robots",
    "parse_robots",
    "transport_verdict",
]


def __getattr__(name: str) -> object:
    """Import `RobotsGate` on first access: all else loads nothing of the network."""
    if name == "RobotsGate":
        from ._gate import RobotsGate  # noqa: PLC0415 - loads the network

        return RobotsGate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
