"""What owners of sites often get wrong, in a sentence with the page that says more."""

from __future__ import annotations

from collections.abc import Iterable

from .. import crawlers
from .._version import DOCS
from ..errors import MissingExtraError

#: Where search engines are blocked.
INDEX = (
    "Disallow keeps crawlers from reading a page, but does not remove it from an index: "
    f"{DOCS}guides/owners/indexed-though-blocked.html"
)

#: Where Google-Extended is blocked. Google's page, and that of the setting, were read on
#: 2026-11-30: support.google.com/webmasters/answer/16908024.
GOOGLE_EXTENDED = (
    "Google-Extended does not control AI Overviews and AI Mode, which are part of Google Search. "
    "Rules for Googlebot, nosnippet, max-snippet and data-nosnippet on pages do, and since "
    "31 August 2026 a setting of Search Console: "
    "https://developers.google.com/search/docs/appearance/ai-features"
)


def of_policy(token: crawlers.PolicyToken) -> str:
    """Return what a group for a policy token does."""
    followers = "; ".join(f"{each.operator} {each.says}" for each in token.followers)
    known = followers or "no operator is known to follow it"
    return (
        f"{token.token} states {token.title}, and blocks no crawler. It is a draft "
        f"({token.specification}): {known}"
    )


def are_for_search(agents: Iterable[str]) -> bool:
    """Tell whether some of these agents index pages: search engines, or all crawlers."""
    return any(each == "*" or _is_search(each) for each in agents)


def _is_search(agent: str) -> bool:
    try:
        found = crawlers.named(agent.partition("/")[0].strip())
    except MissingExtraError:
        return False
    return found is not None and crawlers.Purpose.SEARCH in found.purposes
