"""Known crawlers: who runs them, what for, which rules they obey, and how to verify them.

The data is that of the package ``ai-crawler-index`` (extras ``crawlers`` and ``cli``), with the
additions and corrections of `_ours`. Each record has its source, and the day it was read.

>>> image = named("Googlebot-Image")
>>> image.operator, image.purpose, image.tokens
('Google', <Purpose.SEARCH: 'search'>, ('Googlebot-Image', 'Googlebot'))
>>> named("AdsBot-Google").obeys
<Obeys.OWN_GROUPS: 'own groups'>
>>> suggestions("ChatGPT")
('ChatGPT-User', 'GPTBot', 'OAI-SearchBot', 'OAI-AdsBot', 'ChatGPT Agent')
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from ..errors import KosterError, MissingExtraError
from . import _ours
from ._model import CHANGE_DELAY, MANNERS, Crawler, Obeys, Purpose, Verification
from ._policy import POLICY_PREFIX, POLICY_TOKENS, Follower, PolicyToken, policy_token

__all__ = [
    "CHANGE_DELAY",
    "MANNERS",
    "POLICY_PREFIX",
    "POLICY_TOKENS",
    "Crawler",
    "Follower",
    "Obeys",
    "PolicyToken",
    "Purpose",
    "UnknownPurposeError",
    "Verification",
    "agent_for",
    "expand_agent",
    "is_brand",
    "known",
    "matching",
    "named",
    "of_purposes",
    "place_in_reports",
    "policy_token",
    "registered",
    "slow_to_change",
    "suggestions",
]

#: The maximum number of suggestions.
_MAX_SUGGESTIONS = 5


@functools.cache
def known() -> tuple[Crawler, ...]:
    """Return all known crawlers, by main purpose and token.

    Raises:
        MissingExtraError: the package ``ai-crawler-index`` is not installed.
    """
    from . import _index  # noqa: PLC0415 - needs an extra

    found = {crawler.token.lower(): crawler for crawler in _index.crawlers()}
    # Our records override those of the index.
    found |= _our_tokens()
    order = list(Purpose)
    return tuple(
        sorted(found.values(), key=lambda each: (order.index(each.purpose), each.token.lower()))
    )


def registered() -> tuple[Crawler, ...]:
    """Return all known crawlers, or those in koster's own table if the index is not installed."""
    try:
        return known()
    except MissingExtraError:
        return _ours.CRAWLERS


def named(token: str) -> Crawler | None:
    """Return the crawler with a product token (case-insensitive), or None.

    Raises:
        MissingExtraError: koster itself does not know it, and the index is missing; see `known`.
    """
    wanted = token.lower()
    ours = _our_tokens().get(wanted)
    # Most questions are about these, and loading the index takes longer than the answer.
    return ours or next((each for each in known() if each.token.lower() == wanted), None)


@functools.cache
def _our_tokens() -> dict[str, Crawler]:
    return {each.token.lower(): each for each in _ours.CRAWLERS}


def agent_for(name: str) -> str | tuple[str, ...]:
    """Return the agent that stands for a crawler: its name, or a sequence with its fallbacks.

    Only crawlers whose operator documents fallbacks have a sequence, for `koster.RobotsTxt`.

    >>> agent_for("Googlebot-Image/1.0"), agent_for("FooBot")
    (('Googlebot-Image/1.0', 'Googlebot'), 'FooBot')
    """
    crawler = _our_tokens().get(name.partition("/")[0].strip().lower())
    return (name, *crawler.falls_back_to) if crawler and crawler.falls_back_to else name


def matching(text: str) -> tuple[Crawler, ...]:
    """Return the crawlers whose token, operator or names contain a text (case-insensitive).

    Raises:
        MissingExtraError: see `known`.
    """
    wanted = text.lower()
    return tuple(
        each
        for each in known()
        if any(wanted in name.lower() for name in (each.token, each.operator, *each.names))
    )


def suggestions(text: str) -> Sequence[str]:
    """Return the tokens that may be meant by a name that is not one: well-known crawlers first.

    A brand or company stands for its crawlers, a misspelt token for the nearest one.

    Raises:
        MissingExtraError: see `known`.
    """
    wanted = text.strip().lower()
    if not wanted:
        return ()
    order = {each.token: number for number, each in enumerate(_ours.CRAWLERS)}
    ranks = {each.token: _rank(each, wanted) for each in known() if not each.successor}

    def place(token: str) -> tuple[bool, bool, int, int]:
        rank = ranks[token] or 0
        return rank > 0, token not in _ours.WELL_KNOWN, rank, order.get(token, len(order))

    found = sorted((token for token, rank in ranks.items() if rank is not None), key=place)
    if not found:
        import difflib  # noqa: PLC0415 - only here

        tokens = {each.token.lower(): each.token for each in known()}
        found = [
            tokens[near] for near in difflib.get_close_matches(wanted, tokens, n=3, cutoff=0.75)
        ]
    return tuple(found[:_MAX_SUGGESTIONS])


def is_brand(name: str) -> bool:
    """Return whether a name is that of a company or product in our table, and not a token."""
    return name.strip().lower() in _brands()


@functools.cache
def _brands() -> frozenset[str]:
    """Return the names of companies and products that are no tokens, in lower case."""
    tokens = {token.lower() for each in _ours.CRAWLERS for token in each.tokens}
    names = {brand.lower() for each in _ours.CRAWLERS for brand in (each.operator, *each.names)}
    return frozenset(names - tokens)


def _rank(crawler: Crawler, wanted: str) -> int | None:
    """Return how well a brand or company fits a crawler: 0 is best, None not at all."""
    token = crawler.token.lower()
    if token == f"{wanted}bot":
        return 0
    if token.startswith(f"{wanted}-") and crawler.obeys not in (Obeys.CONTROL, Obeys.RETIRED):
        return 1
    names = (crawler.operator, *crawler.names)
    return 2 if wanted in (name.lower() for name in names) else None


def place_in_reports(crawler: Crawler) -> int:
    """Return a sort key for crawlers in reports: well-known ones come first."""
    known_well = _ours.WELL_KNOWN
    return known_well.index(crawler.token) if crawler.token in known_well else len(known_well)


def slow_to_change() -> tuple[Crawler, ...]:
    """Return the crawlers that may act on older versions of a robots.txt than RFC 9309 allows."""
    return tuple(
        each for each in _ours.CRAWLERS if each.change_delay > CHANGE_DELAY or each.old_copy
    )


class UnknownPurposeError(KosterError, ValueError):
    """The name of a purpose is unknown, or the name of a crawler is empty."""


def expand_agent(agent: str) -> list[str]:
    """Return an agent, or all known crawlers with a purpose, such as ``@search``.

    Raises:
        UnknownPurposeError: the agent is empty, or the purpose is unknown.
        MissingExtraError: see `known`.
    """
    if not agent.startswith("@"):
        if not agent.strip():
            raise UnknownPurposeError("agent must not be empty")
        return [agent]
    requested = agent[1:].lower().replace("-", " ").replace("_", " ")
    purpose = next((each for each in Purpose if each.value.lower() == requested), None)
    if purpose is None:
        valid = ", ".join(f"@{each.value.lower().replace(' ', '-')}" for each in Purpose)
        raise UnknownPurposeError(f"unknown purpose {agent!r}: valid purposes are {valid}")
    return [each.token for each in of_purposes([purpose])]


def of_purposes(purposes: Iterable[Purpose]) -> tuple[Crawler, ...]:
    """Return the crawlers whose main purpose is one of some.

    Raises:
        MissingExtraError: see `known`.
    """
    wanted = set(purposes)
    return tuple(each for each in known() if each.purpose in wanted)
