"""``koster check``: may these robots fetch these URLs, and which line says so?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..dialects import DIALECTS, RFC9309, Dialect
from ..errors import UnreadableError
from ..robots import parse
from . import _files, _renderers, _screen
from ._answers import Question, Tally, answers
from ._types import DialectType, MomentType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

_EVERYBODY = "*"

_RENDERERS = {
    "text": _renderers.print_text,
    "json": _renderers.print_json,
    "csv": _renderers.print_csv,
}


@click.command(options_metavar="--robots FILE [OPTIONS]")
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--robots",
    "paths",
    multiple=True,
    metavar="FILE",
    help="The robots.txt to ask; - for standard input. Needed; repeatable.",
)
@click.option(
    "--agent",
    "-a",
    "agents",
    multiple=True,
    metavar="NAME",
    help="The robot: a product token or a whole User-Agent header (GOOGLE: the token alone). "
    "Repeatable; without it, everybody (*).",
)
@click.option(
    "--urls",
    "lists",
    multiple=True,
    metavar="FILE",
    help="A file with more URLs, one a line; - for standard input. Repeatable.",
)
@click.option(
    "--dialect",
    "-d",
    "dialects",
    type=DialectType(),
    multiple=True,
    metavar="NAME",
    help=f"How to read the file: {', '.join(DIALECTS)}, or all, side by side. Repeatable; "
    f"without it, {RFC9309}.",
)
@click.option(
    "--at",
    "moment",
    type=MomentType(),
    metavar="TIME",
    help="Ask about visit times and rates, too, at this time: ISO 8601, HH:MM, or now; UTC.",
)
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(list(_RENDERERS)),
    default="text",
    show_default=True,
    help="How to print the answers.",
)
def check(
    urls: tuple[str, ...],
    paths: tuple[str, ...],
    agents: tuple[str, ...],
    lists: tuple[str, ...],
    dialects: tuple[tuple[Dialect, ...], ...],
    moment: datetime | None,
    form: str,
) -> None:
    """May these robots fetch these URLs, and which line says so?

    A URL may be a whole one, or a path such as /private?x=1.

    Example: koster check --robots robots.txt --agent FooBot /private

    Exit codes: 0 all allowed, 1 something disallowed, 2 wrong usage, 3 something could not be
    read; the rest is done all the same.
    """
    _check_usage(urls, paths, lists)
    chosen = tuple(dict.fromkeys(each for some in dialects for each in some)) or (RFC9309,)
    more, all_lists_read = _gather(_files.read_lines, lists)
    found, all_files_read = _gather(_files.read_octets, paths)
    questions = [
        Question(path, tuple(parse(body, each) for each in chosen), agents or (_EVERYBODY,))
        for path, body in found
    ]
    asked = (*map(_files.octets_escaped, urls), *(url for _, lines in more for url in lines))
    _warn_about(urls, asked)
    tally = Tally(answers(questions, asked))
    if questions or form != "text":
        _RENDERERS[form](tally, questions, moment)
    if not (all_lists_read and all_files_read):
        sys.exit(3)
    sys.exit(1 if tally.disallowed else 0)


def _check_usage(urls: tuple[str, ...], paths: tuple[str, ...], lists: tuple[str, ...]) -> None:
    """Complain about what cannot be done.

    Raises:
        click.UsageError: with what is wrong.
    """
    if not paths:
        raise click.UsageError(
            "koster cannot fetch a site's robots.txt yet: give the file with --robots FILE"
        )
    if not urls and not lists:
        raise click.UsageError("nothing to ask: give URLs, or a file of them with --urls FILE")
    if (*paths, *lists).count(_files.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")


def _warn_about(urls: tuple[str, ...], asked: tuple[str, ...]) -> None:
    """Say what was hardly meant: a host without a scheme, and nothing to ask."""
    for url in urls:
        if not url.startswith(("/", "*", "?")) and "://" not in url:
            _screen.complain(f"{url}: has no scheme, and is read as the path /{url}")
    if not asked:
        _screen.complain("there are no URLs to ask about")


def _gather(read: Callable[[str], Any], paths: Iterable[str]) -> tuple[list[tuple[str, Any]], bool]:
    """Read files; complain about those that cannot be read. Tells whether all could."""
    found = []
    complete = True
    for path in paths:
        try:
            found.append((path, read(path)))
        except UnreadableError as error:
            _screen.complain(str(error))
            complete = False
    return found, complete
