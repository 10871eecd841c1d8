"""Events of a client, for a callback and the log.

Names and attributes follow the OpenTelemetry semantic conventions (``url.full``,
``http.response.status_code``, ``error.type`` …).
"""

from __future__ import annotations

import enum
import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

_log = logging.getLogger("koster.fetch")


class EventName(enum.StrEnum):
    """What happened."""

    FETCH_STARTED = "koster.fetch.started"
    """A fetch begins: ``url.full``, ``server.address``, ``server.port``,
    ``http.request.method``, ``koster.fetch.conditional``."""
    REDIRECTED = "koster.fetch.redirected"
    """A fetch is redirected: ``url.full`` (the target), ``koster.redirect.from``,
    ``http.response.status_code``, ``koster.redirect.downgraded`` (from HTTPS to HTTP)."""
    FETCH_FINISHED = "koster.fetch.finished"
    """A fetch ends: ``url.full``, ``koster.outcome``, ``koster.fetch.duration`` (seconds),
    ``koster.fetch.requests``, ``http.response.status_code`` or ``error.type``, and after an error
    ``koster.why``."""
    CACHE_HIT = "koster.cache.hit"
    """A cached outcome is fresh: ``koster.outcome``, ``koster.cache.expires``."""
    STALE_USED = "koster.cache.stale"
    """The site is unreachable, and its stale file applies: ``koster.cache.fetched``,
    ``koster.unreachable.since``, ``koster.why``."""
    CACHE_FAILED = "koster.cache.failed"
    """The cache failed: ``error.type``, ``error.message``."""
    OUTSIDE_VISIT_TIME = "koster.visit.outside"
    """A crawler visits outside the visit times: ``koster.agent``, ``koster.visit.times``,
    ``koster.visit.next_open``, ``koster.comments`` (the site's comments for its author)."""
    SITE_COMMENTS = "koster.site.comments"
    """A new or changed file has Comment lines for the crawler: ``koster.agent``,
    ``koster.comments``."""
    SITE_UNREACHABLE = "koster.site.unreachable"
    """A site is unreachable and its file is not cached, so the client's policy applies:
    ``koster.policy`` (disallow or allow), ``koster.unreachable.since``, ``koster.why``."""
    SITE_HTML = "koster.site.html"
    """A site has an HTML page in place of a robots.txt, so everything is allowed: ``url.full``."""
    PACE_WAITING = "koster.pace.waiting"
    """A caller waits for its turn: ``koster.agent``, ``koster.wait.seconds`` (until the turn),
    ``koster.wait.queued`` (seconds that it waited for other callers before), ``koster.why``."""
    PACE_BACK_OFF = "koster.pace.back_off"
    """The answer to a page slowed the crawler down, or made it faster again: ``koster.agent``,
    ``http.response.status_code``, ``koster.pace.interval`` (the least seconds between two
    requests; 0: the site's own pace), ``koster.pace.retry_after`` (seconds), ``koster.why``."""
    PACE_FAILED = "koster.pace.failed"
    """The server of a `FleetPacer` failed, so for a while this process paces only its own requests,
    or gives no turns: ``koster.policy`` (own pace or refuse), ``error.type``, ``error.message``."""
    PACE_REPLACED = "koster.pace.replaced"
    """A `FleetPacer` deleted one of its keys, which had a wrong type or value: ``koster.pace.key``,
    ``koster.why``."""


#: An attribute's value.
Value: TypeAlias = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """An event: its name, the origin, and attributes by name."""

    name: EventName
    origin: str
    attributes: Mapping[str, Value] = field(default_factory=dict)


#: A callback; called in the thread or task in which the event occurs.
OnEvent: TypeAlias = "Callable[[Event], object]"


_WARNINGS = (
    EventName.CACHE_FAILED,
    EventName.PACE_FAILED,
    EventName.PACE_REPLACED,
    EventName.SITE_HTML,
)
_INFOS = (
    EventName.SITE_COMMENTS,
    EventName.OUTSIDE_VISIT_TIME,
    EventName.PACE_WAITING,
    EventName.PACE_BACK_OFF,
)


def _level_of(name: EventName, attributes: Mapping[str, Value]) -> int:
    if name in _INFOS:
        return logging.INFO
    allows = name is EventName.SITE_UNREACHABLE and attributes["koster.policy"] == "allow"
    return logging.WARNING if allows or name in _WARNINGS else logging.DEBUG


#: Messages for the log; names of attributes without ``koster.``, with ``_`` for each dot.
_MESSAGES: dict[str, str] = {
    EventName.CACHE_FAILED: "the cache failed and is not used for a while: "
    "{error_type}: {error_message}",
    EventName.OUTSIDE_VISIT_TIME: "{agent} visits {origin} outside its visit times: "
    "{visit_times} UTC",
    EventName.SITE_COMMENTS: "{origin} has comments for {agent}: {comments}",
    EventName.SITE_UNREACHABLE: "{origin} is unreachable ({why}): everything is {policy}ed",
    EventName.SITE_HTML: "{url_full} is an HTML page, not a robots.txt: everything is allowed",
    EventName.PACE_WAITING: "{origin}: {agent} waits {wait_seconds:.1f} s for its turn: {why}",
    EventName.PACE_BACK_OFF: "{origin}: {agent} changes its pace: {why}",
    EventName.PACE_FAILED: "Redis failed: this process paces only its own requests for a while: "
    "{error_type}: {error_message}",
    f"{EventName.PACE_FAILED} refuse": "Redis failed: no turns are given for a while: "
    "{error_type}: {error_message}",
    EventName.PACE_REPLACED: "deleted the Redis key {pace_key!r}: it {why}",
}


def _message(name: EventName, origin: str, attributes: Mapping[str, Value]) -> str:
    if name not in _MESSAGES:
        return f"{name} {origin} {dict(attributes)}"
    values = {
        key.removeprefix("koster.").replace(".", "_"): _shorten(value)
        for key, value in attributes.items()
    }
    text = _MESSAGES.get(f"{name} {values.get('policy')}", _MESSAGES[name])
    return text.format(origin=origin, **values)


#: Characters of a site's text per log line: a file may have thousands of comments.
_MAX_CHARACTERS = 500


def _shorten(value: Value) -> Value:
    """Return a value with text of bounded length; several values as one text."""
    text = ", ".join(value) if isinstance(value, tuple) else value
    if not isinstance(text, str):
        return text
    return (
        text
        if len(text) <= _MAX_CHARACTERS
        else f"{text[:_MAX_CHARACTERS]}… ({len(text):,} characters)"
    )


def _printable(text: str) -> str:
    """Escape control characters, which could forge log lines or control a terminal."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


class EventEmitter:
    """Sends events to a callback, if any, and to the log.

    If the program has configured no logging, outages are a warning (`RuntimeWarning`) instead: a
    fleet that lost its server must not look as if all were well.

    Raises:
        TypeError: ``on_event`` is not callable.
    """

    def __init__(self, on_event: OnEvent | None) -> None:
        if on_event is not None and not callable(on_event):
            raise TypeError(f"on_event must be callable, not {type(on_event).__name__}")
        self._on_event = on_event
        self.has_callback = on_event is not None

    @property
    def emits_info(self) -> bool:
        """Whether events at INFO reach a callback or the log."""
        return self.has_callback or _log.isEnabledFor(logging.INFO)

    def emit(
        self,
        name: EventName,
        origin: str,
        attributes: Mapping[str, Value],
        *,
        is_logged: bool = True,
    ) -> None:
        """Emit an event. Exceptions of the callback are logged, not raised."""
        level = _level_of(name, attributes)
        is_logged = is_logged and _log.isEnabledFor(level)
        text = _printable(_message(name, origin, attributes)) if is_logged else ""
        if is_logged:
            _log.log(level, "%s", text)
        if self._on_event is not None:
            try:
                self._on_event(Event(name, origin, attributes))
            except Exception:  # noqa: BLE001 - user code
                _log.exception("on_event callback failed for %s", name)
        # A program with a callback may report failures of its cache itself.
        is_outage = name is EventName.PACE_FAILED or (
            name is EventName.CACHE_FAILED and self._on_event is None
        )
        if is_logged and is_outage and not _has_handler():
            # Each outage is a warning, not only the first with this text.
            warnings.warn_explicit(text, RuntimeWarning, "koster", 0, "koster.fetch")


def _has_handler() -> bool:
    """Return whether messages of the log reach a handler that does something with them."""
    logger: logging.Logger | None = _log
    while logger is not None:
        if not all(isinstance(each, logging.NullHandler) for each in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return False
