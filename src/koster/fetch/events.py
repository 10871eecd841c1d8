"""Events: what a client tells about its work, to a callback and to the log.

Names and attributes are in the style of OpenTelemetry; where its conventions have a name for an
attribute (``url.full``, ``http.response.status_code``, ``error.type`` …), it is that.
"""

from __future__ import annotations

import enum
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_log = logging.getLogger("koster.fetch")


class EventName(enum.StrEnum):
    """What happened."""

    FETCH_STARTED = "koster.fetch.started"
    """A fetch begins: ``url.full``, ``server.address``, ``server.port``,
    ``http.request.method``, ``koster.fetch.conditional``."""
    REDIRECTED = "koster.fetch.redirected"
    """It is led elsewhere: ``url.full`` (where to), ``koster.redirect.from``,
    ``http.response.status_code``, ``koster.redirect.downgraded`` (from HTTPS to HTTP)."""
    FETCH_FINISHED = "koster.fetch.finished"
    """It is over: ``url.full``, ``koster.outcome``, ``koster.fetch.duration`` (seconds),
    ``koster.fetch.requests``, ``http.response.status_code`` or ``error.type``, and where not all
    went well ``koster.why``."""
    CACHE_HIT = "koster.cache.hit"
    """What was kept holds: ``koster.outcome``, ``koster.cache.expires``."""
    STALE_USED = "koster.cache.stale"
    """The site is unreachable, an old copy holds on: ``koster.cache.fetched``,
    ``koster.unreachable.since``, ``koster.why``."""
    CACHE_FAILED = "koster.cache.failed"
    """The cache did not do what it was asked: ``error.type``, ``error.message``."""
    OUTSIDE_VISIT_TIME = "koster.visit.outside"
    """A robot comes while it is not welcome: ``koster.agent``, ``koster.visit.times``,
    ``koster.visit.next_open``, ``koster.comments`` (what the site says to the author)."""


#: The value of an attribute.
Value: TypeAlias = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: its name, the origin, and attributes by name."""

    name: EventName
    origin: str
    attributes: Mapping[str, Value] = field(default_factory=dict)


#: What is called with each event, from the thread or task in which it happened.
OnEvent: TypeAlias = "Callable[[Event], object]"


class Teller:
    """Tells events to a callback, if there is one, and to the log."""

    def __init__(self, on_event: OnEvent | None) -> None:
        self._on_event = on_event
        self.has_listener = on_event is not None

    def tell(self, name: EventName, origin: str, attributes: Mapping[str, Value]) -> None:
        """Tell an event. What a callback raises is logged, and stops nothing."""
        level = logging.WARNING if name is EventName.CACHE_FAILED else logging.DEBUG
        if _log.isEnabledFor(level):
            _log.log(level, "%s %s %s", name, origin, dict(attributes))
        if self._on_event is None:
            return
        try:
            self._on_event(Event(name, origin, attributes))
        except Exception:  # noqa: BLE001 - whatever it is
            _log.exception("the callback for events failed at %s", name)
