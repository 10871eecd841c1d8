"""The options for fetching, which many commands have; `fetching` fetches."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import rich_click as click

from .._version import VERSION
from .help import FETCHING
from .types import FileType, HeaderType

#: The default User-Agent header.
USER_AGENT = f"koster/{VERSION}"


def fetching_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for fetching to a command, which gets their values as ``settings``."""
    header = click.option(
        "--header",
        "headers",
        multiple=True,
        type=HeaderType(),
        metavar="HEADER",
        panel=FETCHING,
        help='Send "NAME: VALUE" to sites that you name. Repeatable.',
    )
    return header(fetching_options_but_header(command))


def fetching_options_but_header(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for fetching without ``--header``."""

    @functools.wraps(command)
    def with_settings(
        *args: Any,
        timeout: float,
        cache: str | None,
        proxy: str | None,
        user_agent: str,
        headers: tuple[tuple[str, str], ...] = (),
        **kwargs: Any,
    ) -> Any:
        settings = FetchOptions(timeout, cache, proxy, user_agent, unique_headers(headers))
        return command(*args, settings=settings, **kwargs)

    for option in (
        click.option(
            "--timeout",
            type=click.FloatRange(0, 86400, min_open=True),
            default=10,
            show_default=True,
            metavar="SECONDS",
            panel=FETCHING,
            help="Maximum seconds for a fetch.",
        ),
        click.option(
            "--cache",
            metavar="PATH",
            type=FileType(),
            panel=FETCHING,
            help="Cache in this file, or redis://HOST:PORT/DB.",
        ),
        click.option(
            "--proxy",
            metavar="URL",
            panel=FETCHING,
            help="Fetch through this proxy. Default: from the environment.",
        ),
        click.option(
            "--user-agent",
            default=USER_AGENT,
            show_default=True,
            metavar="TEXT",
            panel=FETCHING,
            help="User-Agent header to send.",
        ),
    ):
        with_settings = option(with_settings)
    return with_settings


def unique_headers(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return headers as a mapping.

    Raises:
        click.UsageError: one is given twice.
    """
    names = [name.lower() for name, _ in headers]
    for name, _ in headers:
        if names.count(name.lower()) > 1:
            raise click.UsageError(f"--header {name} is given twice")
    return dict(headers)


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The values of the options for fetching.

    ``headers`` may be secret: they go only to sites that the user named, and what these answer is
    not cached. ``explained`` are the lines about sites without a file that were printed so far.
    """

    timeout: float
    cache: str | None
    proxy: str | None
    user_agent: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    explained: set[str] = field(default_factory=set, repr=False, compare=False)
