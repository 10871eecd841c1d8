"""The names of crawlers that commands get: unknown ones, and what may be meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import rich_click as click

from .. import crawlers
from .._reports import screen
from .._reports.plain import shorten
from .._wording import joined
from ..errors import MissingExtraError
from .types import completion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

    from ..robots import RobotsTxt

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType

#: A name that may be a product token, not a whole User-Agent header.
_TOKEN = re.compile(r"[^\s/()]+")


class CrawlerType(_ParamType):
    """The name of a crawler; the shell completes known ones."""

    name = "name"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the known crawlers that start with the incomplete value."""
        try:
            known = crawlers.known()
        except MissingExtraError:
            return []
        return [
            completion(each.token, help=each.operator)
            for each in known
            if each.token.lower().startswith(incomplete.lower())
        ]


def check_crawlers(names: Iterable[str]) -> None:
    """Check the crawlers to answer for besides everybody.

    Raises:
        click.UsageError: one is not the name of a crawler.
    """
    for name in names:
        if not name.strip() or name.strip() == "*":
            raise click.UsageError("--crawler needs a name; the answers begin with everybody's")
        if crawlers.policy_token(name) is not None:
            raise click.UsageError(
                f"{name} is a policy token, not a crawler: it is read for every crawler"
            )


class CodesType(_ParamType):
    """Codes of lint checks, separated by commas; the shell completes each.

    ``has_names``: names of checks and ``all`` are codes, too.
    """

    name = "codes"

    def __init__(self, *, has_names: bool = False) -> None:
        self._has_names = has_names

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the codes that the incomplete one may be."""
        from ..lint import CHECKS

        before, comma, start = incomplete.rpartition(",")
        known = {check.code: check.title for check in CHECKS}
        if self._has_names:
            known |= {check.name: check.title for check in CHECKS} | {"all": "List the codes"}
        return [
            completion(f"{before}{comma}{code}", help=title)
            for code, title in known.items()
            if code.lower().startswith(start.lower())
        ]


def problem_with(name: str) -> str | None:
    """Return what is wrong with a name that no known crawler has; None if there is one."""
    if not _TOKEN.fullmatch(name) or name == "*" or name.startswith("@"):
        return None
    if crawlers.policy_token(name) is not None:
        return (
            f"{shorten(name)} is a policy token, not a crawler. Whether rules for * apply to it is "
            "not specified; koster signals shows what a site states"
        )
    try:
        if crawlers.named(name) is not None:
            return None
        # Some fall back to a token that no crawler has itself, such as Yandex.
        if name.lower() in {token.lower() for each in crawlers.known() for token in each.tokens}:
            return None
        near = crawlers.suggestions(name)
    except MissingExtraError:
        return None
    is_brand = crawlers.is_brand(name)
    what = "is a company or product, not a crawler" if is_brand else "is not a known crawler"
    hint = f". Did you mean {joined(near, 'or')}?" if near else ""
    return f"{shorten(name)} {what}{hint or '.'}"


def warn_of_ignoring(names: Iterable[str], robots: Iterable[RobotsTxt]) -> None:
    """Print a warning for each known crawler to which the ``*`` rules of a file do not apply.

    Decisions follow the standard, under which they apply to every crawler without a group.
    """
    files = list(robots)
    for name in dict.fromkeys(names):
        try:
            crawler = crawlers.named(name)
        except MissingExtraError:
            continue
        ignores = crawler is not None and crawler.obeys is crawlers.Obeys.OWN_GROUPS
        rules = [each.rules_for(crawlers.agent_for(name)) for each in files] if ignores else []
        if any(each.groups and not each.is_named for each in rules):
            screen.complain(
                f"{shorten(name)} ignores the rules for *, as its operator says: "
                "name it in a group to block it"
            )


def warn_of_unknown(names: Iterable[str]) -> None:
    """Print a warning for each name that is probably misspelled, or that of a brand.

    Other unknown names may be those of your own crawlers.
    """
    for name in names:
        problem = problem_with(name)
        if problem is not None and "Did you mean" in problem:
            screen.complain(problem)
