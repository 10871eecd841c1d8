"""The options for fetching, which many commands have; `fetching` fetches."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import rich_click as click

from .._version import VERSION
from .help import FETCHING
from .types import FileType

#: The default User-Agent header.
USER_AGENT = f"koster/{VERSION}"


def fetching_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for fetching to a command, which gets their values as ``settings``."""

    @functools.wraps(command)
    def with_settings(
        *args: Any,
        timeout: float,
        cache: str | None,
        proxy: str | None,
        user_agent: str,
        **kwargs: Any,
    ) -> Any:
        return command(*args, settings=FetchOptions(timeout, cache, proxy, user_agent), **kwargs)

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


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The values of the options for fetching."""

    timeout: float
    cache: str | None
    proxy: str | None
    user_agent: str
