"""Sites that commands fetch the robots.txt of: many at a time, with progress for who looks."""

from __future__ import annotations

import queue
import sys
import threading
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import rich_click as click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from .. import origins
from .._version import VERSION
from ..access import read_as
from ..errors import MissingExtraError
from ..reports import screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..access import Outcome
    from ..dialects import Dialect, Statuses
    from ..fetch import Event, RobotsClient

P = ParamSpec("P")
R = TypeVar("R")

#: Sites that are fetched at a time.
_AT_ONCE = 20

#: What is sent as the User-Agent header.
USER_AGENT = f"koster/{VERSION}"

#: The exit code of a program that was told to stop, as shells have it (128 + SIGINT).
INTERRUPTED = 130


def fetching_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of those that fetch."""
    for option in (
        click.option(
            "--timeout",
            type=click.FloatRange(0, 86400, min_open=True),
            default=10.0,
            show_default=True,
            metavar="SECONDS",
            help="How long a site's whole fetch may take, redirects included.",
        ),
        click.option(
            "--cache",
            metavar="PATH",
            help="Keep what is fetched in this file, and use what it has that still holds; also "
            "redis://HOST:PORT/DB.",
        ),
        click.option(
            "--user-agent",
            default=USER_AGENT,
            show_default=True,
            metavar="TEXT",
            help="What is sent as the User-Agent header; whose rules are asked is another matter.",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Settings:
    """What the options of those that fetch say."""

    timeout: float
    cache: str | None
    user_agent: str


def origin_of(url: str) -> str:
    """Return the origin of a URL, as the clients read it.

    Raises:
        UrlError: it belongs to no site.
    """
    try:
        from ..fetch import to_ascii
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    return str(origins.origin_of(url, to_ascii))


def fetched(
    sites: list[str], dialects: tuple[Dialect, ...], settings: Settings
) -> list[tuple[Outcome, ...]]:
    """Fetch the robots.txt of sites, each for all dialects; in their order.

    Raises:
        click.UsageError: an option is not what it must be.
    """
    clients: dict[Statuses, RobotsClient] = {}
    try:
        for dialect in dialects:
            # Dialects that read statuses alike share one fetch.
            if dialect.statuses not in clients:
                clients[dialect.statuses] = _client(dialect, settings)
        asked = [(client, site) for site in sites for client in clients.values()]
        results = iter(_all(asked))
    finally:
        for client in clients.values():
            client.close()
    found = []
    for _ in sites:
        had = {statuses: next(results) for statuses in clients}
        found.append(tuple(read_as(had[dialect.statuses], dialect) for dialect in dialects))
    return found


def _client(dialect: Dialect, settings: Settings) -> RobotsClient:
    """Make a client; without the extra that it needs, say so and exit.

    Raises:
        click.UsageError: an option is not what it must be.
    """
    try:
        from ..fetch import EventName, RobotsClient

        def complain(event: Event) -> None:
            if event.name is EventName.CACHE_FAILED:
                screen.complain(f"the cache is not used: {event.attributes['error.message']}")

        return RobotsClient(
            settings.user_agent,
            dialect=dialect,
            timeout=settings.timeout,
            cache=settings.cache,
            at_once=_AT_ONCE,
            on_event=complain,
        )
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _all(asked: list[tuple[RobotsClient, str]]) -> list[Outcome]:
    """Return the outcomes, which come from threads that nobody waits for when it is over."""
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Outcome | BaseException]] = queue.SimpleQueue()
    for number in range(len(asked)):
        todo.put(number)

    def work() -> None:
        while True:
            try:
                number = todo.get_nowait()
            except queue.Empty:
                return
            client, site = asked[number]
            try:
                done.put((number, client.robots(site)))
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                done.put((number, error))

    for _ in range(min(_AT_ONCE, len(asked))):
        threading.Thread(target=work, daemon=True).start()
    found: dict[int, Outcome] = {}
    for _ in _with_progress(range(len(asked)), len(asked)):
        number, result = done.get()
        if isinstance(result, BaseException):
            raise result
        found[number] = result
    return [found[number] for number in range(len(asked))]


def _with_progress(steps: Iterable[int], total: int) -> Iterator[int]:
    """Go through steps; on a terminal show how far it is, until it is done."""
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("fetching"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        yield from bar.track(steps, total=total)


def stoppable(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command end cleanly when somebody stops it."""

    @wraps(command)
    def stopping(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            screen.complain("stopped")
            sys.exit(INTERRUPTED)

    return stopping
