"""What options are given: dialects and moments."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click
from click.shell_completion import CompletionItem

from ..dialects import DIALECTS, RFC9309, Dialect, dialect_named
from ..errors import UnknownDialectError
from ..reports.registry import formats_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType

F = TypeVar("F", bound="Callable[..., Any]")

ALL = "all"


def _beginning(names: Iterable[str], start: str) -> list[CompletionItem]:
    """Return the names that begin so, in any case."""
    return [CompletionItem(name) for name in names if name.lower().startswith(start.lower())]


class DialectType(_ParamType):
    """Dialects by name: one, or ``all``."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[Dialect, ...]:
        """Return the dialects that are meant."""
        if isinstance(value, tuple):
            return value
        if value.lower() == ALL:
            return tuple(DIALECTS.values())
        try:
            return (dialect_named(value),)
        except UnknownDialectError as error:
            self.fail(f"{error}, and {ALL}", param, ctx)

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        return _beginning((*DIALECTS, ALL), incomplete)


class OneDialectType(_ParamType):
    """A dialect by name."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> Dialect:
        """Return the dialect that is meant."""
        if isinstance(value, Dialect):
            return value
        try:
            return dialect_named(value)
        except UnknownDialectError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        return _beginning(DIALECTS, incomplete)


def dialect_option(what: str) -> Callable[[F], F]:
    """Return the option for one dialect; ``what`` says what it is for."""
    return click.option(
        "--dialect",
        "-d",
        type=OneDialectType(),
        default=RFC9309.name,
        show_default=True,
        metavar="NAME",
        help=f"{what}: {', '.join(DIALECTS)}.",
    )


def dialects_option(what: str, otherwise: str) -> Callable[[F], F]:
    """Return the option for several dialects; ``otherwise`` ends the help."""
    return click.option(
        "--dialect",
        "-d",
        "dialects",
        type=DialectType(),
        multiple=True,
        metavar="NAME",
        help=f"{what}: {', '.join(DIALECTS)}, or all{otherwise}",
    )


def format_option(result: type, what: str) -> Callable[[F], F]:
    """Return the option for the format of a kind of result; ``what`` is its help."""
    formats = formats_of(result)
    return click.option(
        "--format",
        "-f",
        "form",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help=what,
    )


def flattened(dialects: Iterable[tuple[Dialect, ...]]) -> tuple[Dialect, ...]:
    """Return the dialects that were named, each once."""
    return tuple(dict.fromkeys(each for some in dialects for each in some))


class MomentType(_ParamType):
    """A moment: ISO 8601, a time of today, or ``now``; without a time zone in UTC."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        """Return the moment that is meant, with a time zone."""
        if isinstance(value, datetime):
            return value
        now = datetime.now(UTC).replace(microsecond=0)
        try:
            moment = now if value.lower() == "now" else _moment(value, now)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            # The next visit time may be a day later.
            return (moment + timedelta(days=2)).astimezone(UTC) - timedelta(days=2)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time such as 2026-11-21T07:30, 07:30 or now", param, ctx)


def _moment(value: str, now: datetime) -> datetime:
    """Read a date and time, or a time of the day that it is."""
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return datetime.combine(now.date(), time.fromisoformat(value))
