"""Known crawlers: what they are called, who runs them, what for, and what of a file they obey.

The table is the one that the package ``ai-crawler-index`` keeps (the extra ``crawlers`` or ``cli``
brings it), and what that lacks: see `_ours`. Each record has the page that its facts are from.

>>> googlebot = named("Googlebot")
>>> googlebot.operator, googlebot.purpose
('Google', <Purpose.SEARCH: 'search'>)
>>> named("AdsBot-Google").obeys
<Obeys.OWN_GROUPS: 'own groups'>
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from . import _ours
from ._model import MANNERS, Crawler, Obeys, Purpose

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "MANNERS",
    "Crawler",
    "Obeys",
    "Purpose",
    "known",
    "named",
    "of_purposes",
    "place_in_reports",
]


@functools.cache
def known() -> tuple[Crawler, ...]:
    """Return all known crawlers, by purpose and token.

    Raises:
        MissingExtraError: the package that keeps most of them is not installed.
    """
    from . import _index  # noqa: PLC0415 - see there

    found = {crawler.token.lower(): crawler for crawler in _index.crawlers()}
    # What is ours goes before what the index says.
    found |= {crawler.token.lower(): crawler for crawler in _ours.CRAWLERS}
    order = list(Purpose)
    return tuple(
        sorted(found.values(), key=lambda each: (order.index(each.purpose), each.token.lower()))
    )


def named(token: str) -> Crawler | None:
    """Return the crawler with a product token, compared without case, or None.

    Raises:
        MissingExtraError: see `known`.
    """
    return next((each for each in known() if each.token.lower() == token.lower()), None)


def place_in_reports(crawler: Crawler) -> int:
    """Return a number to sort crawlers by, in a report that names some: the well-known first."""
    known_well = _ours.WELL_KNOWN
    return known_well.index(crawler.token) if crawler.token in known_well else len(known_well)


def of_purposes(purposes: Iterable[Purpose]) -> tuple[Crawler, ...]:
    """Return the crawlers with any of some purposes.

    Raises:
        MissingExtraError: see `known`.
    """
    wanted = set(purposes)
    return tuple(each for each in known() if each.purpose in wanted)
