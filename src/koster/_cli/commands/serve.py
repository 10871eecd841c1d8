"""``koster serve``: the tester page and the API."""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import rich_click as click

from ..._reports import screen
from ...errors import CacheError, KosterError, MissingExtraError
from .. import fetch_options
from ..help import FETCHING, OUTPUT, command
from ..stopping import stoppable
from ..types import FileType

LISTENING, LIMITS = "Listening", "Limits"

_MIB = 1 << 20

_SECONDS = click.FloatRange(0, 86_400, min_open=True)


def _check_networks(
    _context: click.Context, _parameter: click.Parameter, networks: Sequence[str]
) -> tuple[str, ...]:
    """Return networks as they are written.

    Raises:
        click.BadParameter: one is invalid.
    """
    for each in networks:
        try:
            ipaddress.ip_network(each)
        except ValueError as error:
            raise click.BadParameter(f"{error}") from error
    return tuple(networks)


@command(
    "serve",
    "0 stopped (130 by SIGINT, 143 by SIGTERM), 2 wrong usage, 3 it could not listen or open its "
    "cache",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST",
    panel=LISTENING,
    help="Address to listen on.",
)
@click.option(
    "--port",
    "-p",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    metavar="N",
    panel=LISTENING,
    help="Port to listen on; 0: any free one.",
)
@click.option(
    "--socket",
    "path",
    metavar="PATH",
    panel=LISTENING,
    help="Unix socket to listen on instead.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    panel=LISTENING,
    help="Trust X-Forwarded-For of a proxy; *: of any. Repeatable.",
)
@click.option(
    "--host-name",
    "host_names",
    multiple=True,
    metavar="NAME",
    panel=LISTENING,
    help="Host name to accept besides localhost. Repeatable.",
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    panel=LIMITS,
    help="Open connections at a time.",
)
@click.option(
    "--connections-per-client",
    "per_client",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    metavar="N",
    panel=LIMITS,
    help="Per client; 0: any number.",
)
@click.option(
    "--max-body",
    type=click.IntRange(1024),
    default=_MIB,
    show_default=True,
    metavar="BYTES",
    panel=LIMITS,
    help="Size of a request.",
)
@click.option(
    "--max-questions",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    panel=LIMITS,
    help="Crawlers × URLs of a request.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0),
    default=50,
    show_default=True,
    metavar="N",
    panel=LIMITS,
    help="Requests a second per client; 0: any.",
)
@click.option(
    "--work-timeout",
    type=_SECONDS,
    default=10,
    show_default=True,
    metavar="SECONDS",
    panel=LIMITS,
    help="Time for a question.",
)
@click.option(
    "--work-per-minute",
    type=click.FloatRange(0),
    default=30,
    show_default=True,
    metavar="SECONDS",
    panel=LIMITS,
    help="Work per client; 0: any.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    panel=LIMITS,
    help="Worker processes. Default: cores - 1.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=30,
    show_default=True,
    metavar="SECONDS",
    panel=LIMITS,
    help="Time to finish when it stops.",
)
@click.option(
    "--log",
    "log_level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    metavar="LEVEL",
    panel=OUTPUT,
    help="Log debug, info, warning or error.",
)
@click.option(
    "--cache",
    type=FileType(),
    metavar="PATH",
    panel=FETCHING,
    help="File, redis://HOST:PORT/DB or memory. Default: a file.",
)
@click.option(
    "--cache-size",
    type=click.IntRange(1),
    default=1024,
    show_default=True,
    metavar="MIB",
    panel=FETCHING,
    help="Maximum size of the cache file.",
)
@click.option(
    "--fetch-proxy",
    metavar="URL",
    panel=FETCHING,
    help="Proxy to fetch through. Default: from environment.",
)
@click.option(
    "--fetch-timeout",
    type=_SECONDS,
    default=10,
    show_default=True,
    metavar="SECONDS",
    panel=FETCHING,
    help="Maximum seconds for a fetch.",
)
@click.option(
    "--fetches",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    panel=FETCHING,
    help="Fetches at a time.",
)
@click.option(
    "--let-through",
    multiple=True,
    callback=_check_networks,
    metavar="NETWORK",
    panel=FETCHING,
    help="Fetch from this private network, too. Repeatable.",
)
@click.option(
    "--user-agent",
    default=fetch_options.USER_AGENT,
    show_default=True,
    metavar="TEXT",
    panel=FETCHING,
    help="User-Agent header to send.",
)
@stoppable
def serve(
    *,
    host: str,
    port: int,
    path: str | None,
    cache: str | None,
    fetch_proxy: str | None,
    cache_size: int,
    max_body: int,
    max_questions: int,
    rate: float,
    fetch_timeout: float,
    fetches: int,
    work_timeout: float,
    work_per_minute: float,
    workers: int | None,
    connections: int,
    per_client: int,
    let_through: tuple[str, ...],
    proxies: tuple[str, ...],
    host_names: tuple[str, ...],
    grace: float,
    log_level: str,
    user_agent: str,
) -> None:
    """Serve the tester page and the HTTP API.

    Only public networks are fetched from. SIGTERM stops it after requests in progress.
    """
    try:
        from ...service import ServiceSettings, create_app, listener_address, open_listener
        from ...service import serve as run
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    try:
        settings = ServiceSettings(
            max_body=max_body,
            max_questions=max_questions,
            rate=rate,
            work_timeout=work_timeout,
            work_per_minute=work_per_minute,
            fetch_timeout=fetch_timeout,
            fetches=fetches,
            user_agent=user_agent,
            fetch_proxy=fetch_proxy,
            cache=_cache_path(cache),
            cache_bytes=cache_size * _MIB,
            host_names=host_names,
            let_through=let_through,
            **({} if workers is None else {"workers": workers}),
        )
        service = create_app(settings)
        with open_listener(host, port, path) as listener:
            print(f"The tester is at {listener_address(listener)}; Ctrl-C stops it.", flush=True)
            run(
                service,
                listener,
                proxies=proxies,
                max_connections=connections,
                per_client=per_client,
                grace=grace,
                log_level=log_level,
            )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except KosterError as error:
        screen.complain(str(error))
        sys.exit(3)


def _cache_path(cache: str | None) -> str | None:
    """Return the address of the cache; None for in memory."""
    if cache == "memory":
        return None
    if cache is not None:
        return cache
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "koster"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        screen.complain(f"{folder}: {error.strerror}; caching in memory instead")
        return None
    from ...cache import SqliteCache

    path = folder / "service.sqlite"
    with closing(SqliteCache(path)) as opened:
        try:
            opened.check()
        except CacheError as error:
            screen.complain(f"{error}; caching in memory instead")
            return None
    return str(path)
