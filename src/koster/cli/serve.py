"""``koster serve``: the tester page and the API."""

from __future__ import annotations

import ipaddress
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from ..errors import CacheError, KosterError, MissingExtraError
from ..reports import screen
from . import _sites

if TYPE_CHECKING:
    from collections.abc import Sequence

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


@click.command(options_metavar="[OPTIONS]")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on.",
    metavar="HOST",
)
@click.option(
    "--port", "-p", type=click.IntRange(0, 65_535), default=8000, show_default=True,
    help="The port to listen on; 0 for any free one.",
)  # fmt: skip
@click.option("--socket", "path", metavar="PATH", help="Listen on this Unix socket instead.")
@click.option(
    "--cache",
    metavar="PATH",
    help="Cache fetched files in this file, or in redis://HOST:PORT/DB; memory: only in the "
    "process. Default: a file in the user's cache folder.",
)
@click.option(
    "--fetch-proxy",
    metavar="URL",
    help="Fetch through this proxy. Default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the "
    "environment.",
)
@click.option(
    "--cache-size",
    type=click.IntRange(1),
    default=1024,
    show_default=True,
    metavar="MIB",
    help="The maximum size of the file; entries fetched longest ago are dropped.",
)
@click.option(
    "--max-body",
    type=click.IntRange(1024),
    default=_MIB,
    show_default=True,
    metavar="BYTES",
    help="The maximum size of a request's body.",
)
@click.option(
    "--max-questions",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="The maximum number of crawlers times URLs in a request.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0),
    default=50.0,
    show_default=True,
    metavar="N",
    help="Requests a second for each client, twice as many at once; one that fetches counts as "
    "ten. 0: any number.",
)
@click.option(
    "--fetch-timeout",
    type=_SECONDS,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a site's whole fetch may take, redirects included.",
)
@click.option(
    "--fetches",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="Fetches at a time.",
)
@click.option(
    "--work-timeout",
    type=_SECONDS,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long work on a question may take.",
)
@click.option(
    "--work-per-minute",
    type=click.FloatRange(0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Worker time that a client's long questions may take per minute, a minute's worth at "
    "once. 0: any amount.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Processes that work on long questions; one more answers short ones. Default: one less "
    "than there are cores.",
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Open connections; fewer if the file descriptor limit (ulimit -n) is lower. Idle ones are "
    "closed for new ones.",
)
@click.option(
    "--connections-per-client",
    "per_client",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    metavar="N",
    help="Open connections for each client; 0: any number. Does not apply to proxies (--proxy).",
)
@click.option(
    "--let-through",
    multiple=True,
    callback=_check_networks,
    metavar="NETWORK",
    help="Also fetch from this network that is not public, such as 10.1.2.0/24. Repeatable.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Trust X-Forwarded-For from a proxy at this address; * for any, as behind a Unix socket. "
    "Repeatable.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long requests may take to finish after a signal to stop.",
)
@click.option(
    "--log",
    "log_level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="What is logged: info has a line for each request.",
)
@click.option(
    "--user-agent",
    default=_sites.USER_AGENT,
    show_default=True,
    metavar="TEXT",
    help="User-Agent header to send.",
)
@_sites.stoppable
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
    grace: float,
    log_level: str,
    user_agent: str,
) -> None:
    """Serve the tester page, and the API that answers the same over HTTP.

    Private, loopback and other addresses that are not public are never fetched from. SIGTERM
    stops it after requests in progress are answered. The log is JSON, a line for each entry, on
    standard error.

    Example: koster serve --port 8000

    Exit codes: 0 stopped (130 by SIGINT, the signal's own by SIGTERM), 2 wrong usage, 3 it could
    not listen or open its cache.
    """
    try:
        from ..service import Settings, create_app, listener_address, open_listener
        from ..service import serve as run
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    try:
        settings = Settings(
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
    from ..cache import SqliteCache

    path = folder / "service.sqlite"
    with closing(SqliteCache(path)) as opened:
        try:
            opened.check()
        except CacheError as error:
            screen.complain(f"{error}; caching in memory instead")
            return None
    return str(path)
