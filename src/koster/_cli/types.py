"""Types of options, dialects and times, and the options that several commands share."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from .._reports.registry import formats_of
from ..dialects import DIALECTS, RFC9309, Dialect, dialect_named
from ..errors import MissingExtraError, UnknownDialectError
from .help import INPUT, OUTPUT, RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.shell_completion import CompletionItem

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType

F = TypeVar("F", bound="Callable[..., Any]")

ALL = "all"


def completion(value: str, **more: Any) -> CompletionItem:
    """Return a value that the shell may complete: few starts of a command need its module."""
    from click.shell_completion import CompletionItem

    return CompletionItem(value, **more)


def _completions(names: Iterable[str], start: str) -> list[CompletionItem]:
    return [completion(name) for name in names if name.lower().startswith(start.lower())]


class DialectType(_ParamType):
    """Dialects by name: one, or ``all``."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[Dialect, ...]:
        """Return the dialects with this name."""
        if isinstance(value, tuple):
            return value
        if value.lower() == ALL:
            return tuple(DIALECTS.values())
        try:
            return (dialect_named(value),)
        except UnknownDialectError as error:
            self.fail(f"{error} or {ALL}", param, ctx)

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the names that start with the incomplete value."""
        return _completions((*DIALECTS, ALL), incomplete)


class OneDialectType(_ParamType):
    """A dialect by name."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> Dialect:
        """Return the dialect with this name."""
        if isinstance(value, Dialect):
            return value
        try:
            return dialect_named(value)
        except UnknownDialectError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the names that start with the incomplete value."""
        return _completions(DIALECTS, incomplete)


class FileType(_ParamType):
    """A file, or what stands for one; the shell completes files."""

    name = "file"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Let the shell complete files."""
        return [completion(incomplete, type="file")]


class FolderType(_ParamType):
    """A folder; the shell completes folders."""

    name = "folder"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Let the shell complete folders."""
        return [completion(incomplete, type="dir")]


class DelimiterType(_ParamType):
    """The character between the cells of CSV; a tab is ``tab``."""

    name = "delimiter"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the character."""
        found: str = {"tab": "\t", "\\t": "\t"}.get(value, value)
        if len(found) != 1 or not found.isascii() or found in '"\r\n' or found.isalnum():
            self.fail(f"{value!r} is not one character, such as ';' or tab", param, ctx)
        return found


class HeaderType(_ParamType):
    """A request header, as in ``Authorization: Basic …``. Errors do not show its value."""

    name = "header"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        """Return its name and its value."""
        if isinstance(value, tuple):
            return value
        name, colon, text = (part.strip() for part in value.partition(":"))
        try:
            from ..fetch._exchange import HEADER_NAME, validate_headers

            if not colon or not text or not HEADER_NAME.fullmatch(name):
                self.fail('must be "NAME: VALUE", such as "Authorization: Basic …"', param, ctx)
            if name.lower() == "user-agent":
                self.fail(f"for {name}, use --user-agent", param, ctx)
            validate_headers({name: text})
        except (MissingExtraError, ValueError) as error:
            self.fail(str(error), param, ctx)
        return name, text


def dialect_option(what: str) -> Callable[[F], F]:
    """Return the option for one dialect; ``what`` begins its help."""
    return click.option(
        "--dialect",
        "-d",
        type=OneDialectType(),
        default=RFC9309.name,
        show_default=True,
        metavar="NAME",
        panel=RULES,
        help=f"{what}: {', '.join(DIALECTS)}.",
    )


def dialects_option(what: str, ending: str) -> Callable[[F], F]:
    """Return the option for several dialects; ``what`` begins and ``ending`` ends its help."""
    return click.option(
        "--dialect",
        "-d",
        "dialects",
        type=DialectType(),
        multiple=True,
        metavar="NAME",
        panel=RULES,
        help=f"{what}: {', '.join(DIALECTS)}, or all{ending}",
    )


def format_option(result: type, what: str) -> Callable[[F], F]:
    """Return the option for the format of a type of result; ``what`` begins its help."""
    formats = formats_of(result)
    return click.option(
        "--format",
        "-f",
        "form",
        type=click.Choice(formats),
        default=formats[0],
        metavar="FORM",
        panel=OUTPUT,
        help=f"{what}: {formats[0]} (default), {', '.join(formats[1:])}.",
    )


def sitemap_option(what: str) -> Callable[[F], F]:
    """Return the option for sitemaps; ``what`` begins its help."""
    return click.option(
        "--sitemap",
        "sitemaps",
        multiple=True,
        metavar="URL|FILE",
        type=FileType(),
        panel=INPUT,
        help=f"{what} of a sitemap (or -). Repeatable.",
    )


def unique_dialects(dialects: Iterable[tuple[Dialect, ...]]) -> tuple[Dialect, ...]:
    """Return the dialects of all options, each once."""
    return tuple(dict.fromkeys(each for some in dialects for each in some))


class TimeType(_ParamType):
    """A date and time: ISO 8601, a time of today, or ``now``; UTC if it has no time zone."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        """Return the date and time, with a time zone."""
        if isinstance(value, datetime):
            return value
        now = datetime.now(UTC).replace(microsecond=0)
        try:
            moment = now if value.lower() == "now" else _parse_time(value, now)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            # The next visit time may be a day later: reject what would overflow there.
            return (moment + timedelta(days=2)).astimezone(UTC) - timedelta(days=2)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a time; use 2026-11-21T07:30, 07:30 or now", param, ctx)


def _parse_time(value: str, now: datetime) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return datetime.combine(now.date(), time.fromisoformat(value))
