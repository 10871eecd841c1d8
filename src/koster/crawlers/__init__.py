"""Known crawlers: token, operator, purpose, and which rules they obey.

The data is that of the package ``ai-crawler-index`` (extras ``crawlers`` and ``cli``) with the
additions of `_ours`. Each record has its source.

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
        MissingExtraError: the package ``ai-crawler-index`` is not installed.
    """
    from . import _index  # noqa: PLC0415 - needs an extra

    found = {crawler.token.lower(): crawler for crawler in _index.crawlers()}
    # Our records override those of the index.
    found |= {crawler.token.lower(): crawler for crawler in _ours.CRAWLERS}
    order = list(Purpose)
    return tuple(
        sorted(found.values(), key=lambda each: (order.index(each.purpose), each.token.lower()))
    )


def named(token: str) -> Crawler | None:
    """Return the crawler with a product token (case-insensitive), or None.

    Raises:
        MissingExtraError: see `known`.
    """
    return next((each for each in known() if each.token.lower() == token.lower()), None)


def place_in_reports(crawler: Crawler) -> int:
    """Return a sort key for crawlers in reports: well-known ones come first."""
    known_well = _ours.WELL_KNOWN
    return known_well.index(crawler.token) if crawler.token in known_well else len(known_well)


def of_purposes(purposes: Iterable[Purpose]) -> tuple[Crawler, ...]:
    """Return the crawlers with one of some purposes.

    Raises:
        MissingExtraError: see `known`.
    """
    wanted = set(purposes)
    return tuple(each for each in known() if each.purpose in wanted)
