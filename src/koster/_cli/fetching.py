"""Fetches the robots.txt files of sites for commands: many at a time, with a progress bar."""

from __future__ import annotations

import functools
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import rich_click as click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from .. import origins
from .._reports import screen
from ..access import Outcome, with_dialect
from ..dialects import Dialect, Statuses
from ..errors import CacheError, MissingExtraError
from .progress import progress

if TYPE_CHECKING:
    from ..fetch import Event, RobotsClient
    from .fetch_options import FetchOptions

#: Concurrent fetches.
_AT_ONCE = 20

_CACHE_FAILED = "the cache failed and is not used"


def origin_of(url: str) -> str:
    """Return the origin of a URL, as the clients read it.

    Raises:
        UrlError: it has no origin.
    """
    try:
        from ..fetch import to_ascii
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    return str(origins.origin_of(url, to_ascii))


def fetch_all(
    sites: list[str], dialects: tuple[Dialect, ...], settings: FetchOptions
) -> list[tuple[Outcome, ...] | None]:
    """Fetch the robots.txt files of sites; return one outcome per dialect for each, in order.

    None stands for a site that was not finished when Ctrl-C stopped the fetches.

    Raises:
        click.UsageError: an option has an invalid value.
    """
    clients: dict[Statuses, RobotsClient] = {}
    # The clients have the same cache: warn once.
    warn = functools.cache(screen.complain)
    try:
        for dialect in dialects:
            # Dialects with the same status policy share one fetch.
            if dialect.statuses not in clients:
                clients[dialect.statuses] = _client(dialect, settings, warn)
        requests = [(client, site) for site in sites for client in clients.values()]
        results = _fetch_concurrently(requests)
    finally:
        for client in clients.values():
            client.close()
    found: list[tuple[Outcome, ...] | None] = []
    for number in range(len(sites)):
        own = range(number * len(clients), (number + 1) * len(clients))
        if not all(each in results for each in own):
            found.append(None)
            continue
        by_statuses = dict(zip(clients, map(results.__getitem__, own), strict=True))
        found.append(tuple(with_dialect(by_statuses[each.statuses], each) for each in dialects))
    return found


def _client(
    dialect: Dialect, settings: FetchOptions, warn: Callable[[str], object]
) -> RobotsClient:
    """Return a client, without a cache that cannot be opened; exit if an extra is missing.

    Raises:
        click.UsageError: an option has an invalid value.
    """
    try:
        from ..fetch import EventName, RobotsClient

        def on_event(event: Event) -> None:
            if event.name is EventName.CACHE_FAILED:
                warn(f"{_CACHE_FAILED}: {event.attributes['error.message']}")

        return RobotsClient(
            settings.user_agent,
            dialect=dialect,
            timeout=settings.timeout,
            headers=settings.headers,
            # What a password opens is not for others (RFC 9111 §3.5), nor is an old 401 for us.
            cache=None if settings.headers else settings.cache,
            proxy=settings.proxy,
            at_once=_AT_ONCE,
            on_event=on_event,
        )
    except CacheError as error:
        warn(f"{_CACHE_FAILED}: {error}")
        return _client(dialect, replace(settings, cache=None), warn)
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _fetch_concurrently(requests: list[tuple[RobotsClient, str]]) -> dict[int, Outcome]:
    """Return the outcomes by their place; on Ctrl-C, those that are finished.

    The threads are daemons, so that Ctrl-C need not wait for them.
    """
    if not requests:
        return {}
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Outcome | BaseException]] = queue.SimpleQueue()
    for number in range(len(requests)):
        todo.put(number)

    def work() -> None:
        while True:
            try:
                number = todo.get_nowait()
            except queue.Empty:
                return
            client, site = requests[number]
            try:
                done.put((number, client.robots(site)))
            except BaseException as error:  # noqa: BLE001 - raised again in the main thread
                done.put((number, error))

    outcomes: dict[int, Outcome] = {}
    # The progress bar imports modules: the threads may leave no file descriptors for that.
    with suppress(KeyboardInterrupt), _progress_of(len(requests)) as advance:
        for _ in range(min(_AT_ONCE, len(requests))):
            threading.Thread(target=work, daemon=True).start()
        while len(outcomes) < len(requests):
            number, result = done.get()
            if isinstance(result, BaseException):
                raise result
            outcomes[number] = result
            advance()
    return outcomes


@contextmanager
def _progress_of(total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on a terminal; yield the function that advances it."""
    columns = (
        SpinnerColumn(),
        TextColumn("fetching"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with progress(*columns) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)
