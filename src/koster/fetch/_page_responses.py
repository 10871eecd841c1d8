"""The response to a page, of the HTTP library that the caller has, and its error."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..decisions import Decision
from ..errors import KosterError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..signals import UseDecision


class NotAllowedError(KosterError):
    """A request, or the use of a page, is not allowed: ``refusal`` is the decision that says so."""

    def __init__(self, refusal: Decision | UseDecision) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal

    def __reduce__(self) -> tuple[type[NotAllowedError], tuple[Decision | UseDecision]]:
        return type(self), (self.refusal,)


class PageParts(NamedTuple):
    """A response without its body.

    Attributes:
        url: Its URL, after redirects.
        status: Its status.
        headers: Names and values, in order.
        is_head: Whether it is the answer to a HEAD request, and has no body.
    """

    url: str
    status: int
    headers: list[tuple[str, str]]
    is_head: bool


def parts_of(response: Any) -> PageParts:
    """Return the parts of a response of httpx, httpx2, requests or aiohttp.

    Raises:
        TypeError: it is something else.
    """
    status = getattr(response, "status_code", None) or getattr(response, "status", None)
    headers: Any = getattr(response, "headers", None)
    url = getattr(response, "url", None)
    if not isinstance(status, int) or not hasattr(headers, "items") or url is None:
        raise TypeError(
            "response must be a response of httpx, httpx2, requests or aiohttp, "
            f"not {type(response).__name__}"
        )
    # Repeated headers must stay apart: a crawler's name holds until the end of its header.
    raw = getattr(getattr(response, "raw", None), "headers", None)
    if hasattr(headers, "multi_items"):
        items = headers.multi_items()
    elif raw and hasattr(raw, "iteritems"):
        # Mocks and hooks may have added others.
        items = [*raw.iteritems(), *(each for each in headers.items() if each[0] not in raw)]
    else:
        items = headers.items()
    pairs = [(_text(name), _text(value)) for name, value in items]
    method = getattr(response, "method", None) or getattr(
        getattr(response, "request", None), "method", None
    )
    return PageParts(str(url), status, pairs, str(method).upper() == "HEAD")


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
