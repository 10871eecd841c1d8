"""Prometheus metrics. Labels have fixed values: never a host, a path or a client."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import anyio.lowlevel
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

from ..fetch import Event

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


MEDIA_TYPE = CONTENT_TYPE_LATEST

#: Seconds: from a single decision to the longest timeout.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The metrics of the service, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._add_requests()
        self._add_fetches()
        self._add_work()
        self._add_connections()
        self._page = b""
        self._page_time = -math.inf
        # Caches lookups of labels.
        self._counters: dict[tuple[str, str, int], Counter] = {}
        self._timers: dict[str, Histogram] = {}

    def _add_requests(self) -> None:
        self._requests = Counter(
            "http_requests_total",
            "Completed requests by handler, method and status.",
            ("handler", "method", "code"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "http_request_duration_seconds",
            "Duration of requests, including their bodies.",
            ("handler",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        #: Requests in progress.
        self.in_progress = 0
        Gauge(
            "http_requests_in_progress",
            "Requests in progress.",
            registry=self.registry,
        ).set_function(lambda: self.in_progress)

    def _add_fetches(self) -> None:
        self._fetches = Counter(
            "koster_fetches_total",
            "Completed fetches of a robots.txt, by outcome.",
            ("outcome",),
            registry=self.registry,
        )
        self._fetch_seconds = Histogram(
            "koster_fetch_duration_seconds",
            "Duration of fetches, including redirects.",
            buckets=_BUCKETS,
            registry=self.registry,
        )

    def _add_work(self) -> None:
        self.questions = Counter(
            "koster_questions_total",
            "Decisions (agents times URLs).",
            registry=self.registry,
        )
        self.work_in_progress = Gauge(
            "koster_work_in_progress",
            "Requests running in, or waiting for, a worker process.",
            registry=self.registry,
        )
        self.work_seconds = Counter(
            "koster_work_seconds_total",
            "Worker time used, in seconds.",
            registry=self.registry,
        )

    def _add_connections(self) -> None:
        self.connections = Gauge("koster_connections", "Open connections.", registry=self.registry)
        self.closed_connections = Counter(
            "koster_connections_closed_total",
            "Connections closed to make room for new ones, by limit.",
            ("limit",),
            registry=self.registry,
        )
        self.refused_connections = Counter(
            "koster_connections_refused_total",
            "Connections rejected because their client had too many.",
            registry=self.registry,
        )

    def record_request(self, handler: str, method: str, code: int, seconds: float) -> None:
        """Record a completed request."""
        key = handler, method, code
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = self._requests.labels(handler, method, str(code))
            self._timers[handler] = self._seconds.labels(handler)
        counter.inc()
        self._timers[handler].observe(seconds)

    def record_fetch(self, event: Event) -> None:
        """Record a completed fetch."""
        self._fetches.labels(str(event.attributes["koster.outcome"])).inc()
        seconds = event.attributes["koster.fetch.duration"]
        self._fetch_seconds.observe(float(str(seconds)))

    async def page(self) -> bytes:
        """Return the metrics in Prometheus format, updated at most once a second."""
        now = time.monotonic()
        if now - self._page_time >= 1:
            self._page_time = now
            parts = []
            for each in self.registry.collect():
                parts.append(generate_latest(_Collected(each)))
                # Let others have their turn: all together take too long.
                await anyio.lowlevel.checkpoint()
            self._page = b"".join(parts)
        return self._page


class _Collected(CollectorRegistry):
    """A registry of one metric, whose values are collected."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterator[Metric]:
        yield self._metric
