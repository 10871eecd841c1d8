"""Back-off: how the answers to pages slow a crawler down, and make it faster again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from ..freshness import retry_after as parse_retry_after
from ..politeness import validate_number

#: The statuses that slow a crawler down: Too Many Requests, Service Unavailable.
_SLOWS_DOWN = (429, 503)

#: Maximum seconds between requests that doubling leads to.
MAX_DOUBLED = 300.0

#: Good answers after which the interval is halved.
_GOOD_ANSWERS = 10

#: Seconds after which a back-off is forgotten, if the site is not asked meanwhile.
MEMORY = 24 * 60 * 60.0


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """The answer to the request of a page: its status, and Retry-After in seconds (0: none)."""

    status: int
    retry_after: float = 0.0

    @property
    def slows_down(self) -> bool:
        """Whether the site asks for fewer requests."""
        return self.status in _SLOWS_DOWN

    @property
    def is_good(self) -> bool:
        """Whether the site answers as it should; other errors of a server are neither."""
        return self.status < 500 and not self.slows_down


@dataclass(frozen=True, slots=True)
class BackOff:
    """What the answers of a site have led to.

    ``interval`` is the least number of seconds between requests (0: the site's own pace). No
    request is due before ``until``, in seconds on the pacer's clock. ``good`` are the good answers
    since the last change. ``turn`` is the last turn before the interval was doubled, ``status`` the
    last status that slowed the crawler down.
    """

    interval: float = 0.0
    until: float = 0.0
    good: int = 0
    turn: float = -1.0
    status: int = 0

    def after(self, answer: PageAnswer, own: float, turn: float, now: float) -> BackOff:
        """Return the back-off after an answer.

        Args:
            answer: The answer.
            own: The interval without back-off.
            turn: When the last turn was given. One turn doubles the interval once: the requests
                that were under way at that moment do not count.
            now: The time on the pacer's clock.
        """
        if answer.slows_down:
            return self._slower(answer, own, turn, now)
        if not answer.is_good or not self.interval:
            return self
        if self.good + 1 < _GOOD_ANSWERS:
            return replace(self, good=self.good + 1)
        halved = self.interval / 2
        # Where a site has no interval, doubling began at one second.
        return replace(self, good=0, interval=halved if halved > (own or 0.5) else 0.0)

    def _slower(self, answer: PageAnswer, own: float, turn: float, now: float) -> BackOff:
        if answer.retry_after:
            until = max(self.until, now + answer.retry_after)
            return replace(self, until=until, good=0, status=answer.status)
        if turn == self.turn:
            return replace(self, good=0)
        doubled = min(2 * max(own, self.interval), MAX_DOUBLED) or 1.0
        return replace(self, interval=doubled, good=0, turn=turn, status=answer.status)

    def attributes(self, answer: PageAnswer) -> dict[str, str | float]:
        """Return the attributes of the event about an answer that changed the pace."""
        return {
            "http.response.status_code": answer.status,
            "koster.pace.interval": self.interval,
            "koster.pace.retry_after": answer.retry_after,
            "koster.why": self._change(answer),
        }

    def _change(self, answer: PageAnswer) -> str:
        if answer.slows_down:
            if answer.retry_after:
                return f"status {answer.status}, Retry-After: {answer.retry_after:g} s"
            return f"status {answer.status}, so the interval is at least {self.interval:g} s"
        if self.interval:
            return f"{_GOOD_ANSWERS} good answers, so the interval is at least {self.interval:g} s"
        return f"{_GOOD_ANSWERS} good answers, so the site's own pace applies again"

    def why(self, own: float, now: float) -> str:
        """Return why the next turn is later than the site's own pace; empty if it is not."""
        if self.until > now:
            return f"the site answered {self.status} with Retry-After"
        if self.interval > own:
            return f"the site answered {self.status}, so the interval is {self.interval:g} s"
        return ""


def page_answer(response: object, retry_after: str | float | None, now: datetime) -> PageAnswer:
    """Return what a page's answer says.

    Args:
        response: A response of httpx, httpx2, requests or aiohttp, or a status.
        retry_after: The value of the header, with a status: seconds or an HTTP date.
        now: The time, for dates.

    Raises:
        TypeError: ``response`` or ``retry_after`` is something else.
        ValueError: the status is no HTTP status, the seconds are not a finite number of at least
            0, or ``retry_after`` is given with a response.
    """
    status, headers = _status_and_headers(response)
    if not 100 <= status <= 999:
        raise ValueError(f"a status has three digits, unlike {status}")
    if retry_after is None:
        value, date = _header(headers, "Retry-After"), _header(headers, "Date")
    elif headers:
        raise ValueError("retry_after is for a status: a response has a header")
    else:
        value, date = _seconds_or_date(retry_after), ""
    delay = parse_retry_after({"retry-after": value, "date": date}, now) if value else None
    return PageAnswer(status, 0.0 if delay is None else delay.total_seconds())


def _status_and_headers(response: object) -> tuple[int, Mapping[str, object]]:
    if isinstance(response, int) and not isinstance(response, bool):
        return int(response), {}
    for name in ("status_code", "status"):
        status = getattr(response, name, None)
        headers = getattr(response, "headers", None)
        if isinstance(status, int) and hasattr(headers, "get"):
            return int(status), headers  # type: ignore[return-value]
    raise TypeError(
        "response must be a response of httpx, httpx2, requests or aiohttp, or a status such as "
        f"429, not {type(response).__name__}"
    )


def _header(headers: Mapping[str, object], name: str) -> str:
    """Return the value of a header; of a plain dict in any case of letters."""
    value = headers.get(name)
    if value is None and isinstance(headers, dict):
        value = next((headers[key] for key in headers if str(key).lower() == name.lower()), None)
    return value.decode("latin-1") if isinstance(value, bytes) else str(value or "")


def _seconds_or_date(value: str | float) -> str:
    if isinstance(value, str):
        return value
    validate_number("retry_after", value)
    return str(round(value + 0.499999))
