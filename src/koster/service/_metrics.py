"""What Prometheus is told. Labels are names of our own: never a host, a path or a client."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

if TYPE_CHECKING:
    from ..fetch import Event

MEDIA_TYPE = CONTENT_TYPE_LATEST

#: Seconds: from a decision to the longest that anything may take.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """Counts what the service does, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._requests = Counter(
            "http_requests_total",
            "Requests that were answered, by what was asked for and the status.",
            ("handler", "method", "code"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "http_request_duration_seconds",
            "How long requests took, bodies included.",
            ("handler",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        #: Requests that are being answered.
        self.in_progress = 0
        Gauge(
            "http_requests_in_progress",
            "Requests that are being answered.",
            registry=self.registry,
        ).set_function(lambda: self.in_progress)
        self.questions = Counter(
            "koster_questions_total",
            "Robots times URLs that were decided about.",
            registry=self.registry,
        )
        self._fetches = Counter(
            "koster_fetches_total",
            "Fetches of a robots.txt that are over, by what came of it.",
            ("outcome",),
            registry=self.registry,
        )
        self._fetch_seconds = Histogram(
            "koster_fetch_duration_seconds",
            "How long fetches took, redirects included.",
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.work_in_progress = Gauge(
            "koster_work_in_progress",
            "Questions that are worked on, or wait for it.",
            registry=self.registry,
        )
        self.work_seconds = Counter(
            "koster_work_seconds_total",
            "Seconds of worker time that long questions took.",
            registry=self.registry,
        )
        self.connections = Gauge("koster_connections", "Open connections.", registry=self.registry)
        self.closed_connections = Counter(
            "koster_connections_closed_total",
            "Idle connections that were closed for new ones, by the limit that was reached.",
            ("limit",),
            registry=self.registry,
        )
        self.refused_connections = Counter(
            "koster_connections_refused_total",
            "Connections that were refused: their client had too many.",
            registry=self.registry,
        )
        self._page = b""
        self._made = -math.inf
        # A label's counter is looked up once.
        self._counters: dict[tuple[str, str, int], Counter] = {}
        self._timers: dict[str, Histogram] = {}

    def answered(self, handler: str, method: str, code: int, seconds: float) -> None:
        """Count a request."""
        key = handler, method, code
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = self._requests.labels(handler, method, str(code))
            self._timers[handler] = self._seconds.labels(handler)
        counter.inc()
        self._timers[handler].observe(seconds)

    def fetched(self, event: Event) -> None:
        """Count a fetch that is over."""
        self._fetches.labels(str(event.attributes["koster.outcome"])).inc()
        seconds = event.attributes["koster.fetch.duration"]
        self._fetch_seconds.observe(float(str(seconds)))

    def page(self) -> bytes:
        """Return all of it, for Prometheus, made once a second at most."""
        now = time.monotonic()
        if now - self._made >= 1:
            self._page, self._made = generate_latest(self.registry), now
        return self._page
