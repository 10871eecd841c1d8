"""``koster agents``: the known crawlers, with the pages that document them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import rich_click as click

from ... import crawlers
from ..._reports import screen
from ..._reports.agents import Agents
from ..._reports.registry import render
from ...crawlers import POLICY_TOKENS, Crawler, PolicyToken, policy_token
from ...errors import MissingExtraError
from ..help import command
from ..names import CrawlerType
from ..types import format_option


@command("agents", "0 some were found, 1 none was found, 2 wrong usage")
@click.argument("name", required=False, type=CrawlerType())
@format_option(Agents, "Format")
def agents(name: str | None, form: str) -> None:
    """List the known crawlers, or explain one: purpose, rules it obeys, verification.

    NAME is a product token, or part of a token, an operator or a product. Policy tokens are listed,
    too: they name a use of pages in place of a crawler.
    """
    policies = tuple(each for each in POLICY_TOKENS if (name or "").strip().lower() in each.token)
    try:
        found = () if name and policy_token(name) else _find(name)
        if not (found or policies) and name is not None:
            near = crawlers.suggestions(name)
            hint = f". Did you mean {', '.join(near)}?" if near else ""
            screen.complain(f"no known crawler matches {name!r}{hint}")
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    if found or policies or form != "text":
        is_exact = name is not None and _is_token(name, found, policies)
        render(Agents(found, policies, datetime.now(UTC).date(), is_exact), form)
    sys.exit(0 if found or policies else 1)


def _find(name: str | None) -> tuple[Crawler, ...]:
    """Return the crawler with a token; else those that match a text."""
    if name is None:
        return crawlers.known()
    crawler = crawlers.named(name.partition("/")[0].strip())
    return (crawler,) if crawler is not None else crawlers.matching(name.strip())


def _is_token(name: str, found: tuple[Crawler, ...], policies: tuple[PolicyToken, ...]) -> bool:
    """Return whether a name is the token of the only one found."""
    token = name.partition("/")[0].strip().lower()
    tokens = [each.token for each in found] + [each.token for each in policies]
    return [each.lower() for each in tokens] == [token]
