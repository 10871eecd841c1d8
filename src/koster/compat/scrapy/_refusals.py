"""The error of a request that is not sent."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from scrapy.exceptions import IgnoreRequest

from ...decisions import Decision


def refusal(
    why: str, decision: Decision | None = None, retry_at: datetime | None = None
) -> IgnoreRequest:
    """Return the error, with what an errback may want to know.

    Args:
        why: The message.
        decision: The decision about the URL, if there is one; ``reason`` is its reason if it
            blocks the request, else None.
        retry_at: When an unreachable site is asked again.
    """
    error: Any = IgnoreRequest(why)
    error.decision, error.retry_at = decision, retry_at
    error.reason = None if decision is None or decision.allowed else decision.reason
    result: IgnoreRequest = error
    return result
