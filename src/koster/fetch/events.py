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
    """A crawler comes outside the visit times: ``koster.agent``, ``koster.visit.times``,
    ``koster.visit.next_open``, ``koster.comments`` (what the site says to the author)."""
    SITE_COMMENTS = "koster.site.comments"
    """A site's file is used for the first time, or has changed, and has Comment lines for the
    crawler: ``koster.agent``, ``koster.comments``."""
    SITE_UNREACHABLE = "koster.site.unreachable"
    """A site cannot be reached and there is no copy of its file, so the client's policy for that
    applies: ``koster.policy`` (disallow or allow), ``koster.unreachable.since``, ``koster.why``."""
    PACE_FAILED = "koster.pace.failed"
    """The server of a `FleetPacer` did not do what it was asked, so this process keeps the pace
    alone for a while: ``error.type``, ``error.message``."""
    PACE_REPLACED = "koster.pace.replaced"
    """A `FleetPacer` deleted a key of its own whose type or value was wrong: ``koster.pace.key``,
    ``koster.why``."""


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


_WARNINGS = (EventName.CACHE_FAILED, EventName.PACE_FAILED, EventName.PACE_REPLACED)


def _level_of(name: EventName, attributes: Mapping[str, Value]) -> int:
    """Return the level at which an event is logged."""
    if name in (EventName.SITE_COMMENTS, EventName.OUTSIDE_VISIT_TIME):
        return logging.INFO
    allows = name is EventName.SITE_UNREACHABLE and attributes["koster.policy"] == "allow"
    return logging.WARNING if allows or name in _WARNINGS else logging.DEBUG


def _message(name: EventName, origin: str, attributes: Mapping[str, Value]) -> str:
    """Return what the log says of an event."""
    said = {key.removeprefix("koster."): value for key, value in attributes.items()}
    if name is EventName.SITE_COMMENTS:
        return f"{origin} has comments for {said['agent']}: {_joined(said['comments'])}"
    if name is EventName.OUTSIDE_VISIT_TIME:
        times = _joined(said["visit.times"])
        return f"{said['agent']} visits {origin} outside its visit times: {times} UTC"
    if name is EventName.SITE_UNREACHABLE:
        verdict = (
            "everything is allowed" if said["policy"] == "allow" else "everything is disallowed"
        )
        return f"{origin} is unreachable ({said['why']}): {verdict}"
    if name is EventName.PACE_FAILED:
        error = f"{said['error.type']}: {said['error.message']}"
        return f"the pace of the fleet is not kept, this process goes on alone: {error}"
    if name is EventName.PACE_REPLACED:
        return f"the key {said['pace.key']!r} in Redis {said['why']}: it was deleted"
    return f"{name} {origin} {dict(attributes)}"


#: Characters of a site's words in a line of the log: a file may hold thousands of comments.
_LONGEST = 500


def _joined(value: Value) -> str:
    """Return values as one text of bounded length."""
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


def _printable(text: str) -> str:
    """Return a message that cannot break lines of the log, or change a terminal."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


class Teller:
    """Tells events to a callback, if there is one, and to the log.

    Raises:
        TypeError: the callback cannot be called.
    """

    def __init__(self, on_event: OnEvent | None) -> None:
        if on_event is not None and not callable(on_event):
            raise TypeError(f"on_event must be callable, not {type(on_event).__name__}")
        self._on_event = on_event
        self.has_listener = on_event is not None

    @property
    def has_audience(self) -> bool:
        """Whether events at INFO reach a callback or the log."""
        return self.has_listener or _log.isEnabledFor(logging.INFO)

    def tell(
        self,
        name: EventName,
        origin: str,
        attributes: Mapping[str, Value],
        *,
        is_logged: bool = True,
    ) -> None:
        """Tell an event. What a callback raises is logged, and stops nothing."""
        level = _level_of(name, attributes)
        if is_logged and _log.isEnabledFor(level):
            _log.log(level, "%s", _printable(_message(name, origin, attributes)))
        if self._on_event is None:
            return
        try:
            self._on_event(Event(name, origin, attributes))
        except Exception:  # noqa: BLE001 - whatever it is
            _log.exception("the callback for events failed at %s", name)
