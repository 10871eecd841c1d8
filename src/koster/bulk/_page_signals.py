"""What sites state about the use of pages, as columns of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..dialects import Dialect
from ..signals._combining import Combined, named_licenses
from ..signals._model import Reading
from ._arrow import pa
from ._readings import from_bytes
from ._scanned import storable_value
from ._signal_columns import SIGNAL, row_of
from ._site_files import SiteFiles

#: The same for a crawler.
CRAWLER_SIGNAL = pa.struct([pa.field("crawler", pa.string()), *SIGNAL])

#: Licenses of a page that are listed.
_MAX_LISTED = 100

#: The columns of answers: signals for everybody, those for crawlers that differ, and sources.
SIGNALS = {
    "signals": pa.list_(SIGNAL),
    "crawlers": pa.list_(CRAWLER_SIGNAL),
    "licenses": pa.list_(pa.string()),
    "unread": pa.list_(pa.string()),
}


def answer_pages(
    pages: Iterable[tuple[str, SiteFiles, bytes | None]], crawlers: Sequence[str], dialect: Dialect
) -> dict[str, Any]:
    """Return the columns `SIGNALS` for pages: the URL, the files of the site, what it states."""
    rows = [
        _answer(url, site, from_bytes(stated), crawlers, dialect) for url, site, stated in pages
    ]
    columns = zip(*rows, strict=True) if rows else ([] for _ in SIGNALS)
    return {
        name: pa.array(column, type_)
        for (name, type_), column in zip(SIGNALS.items(), columns, strict=True)
    }


def _answer(
    url: str, site: SiteFiles, page: Reading, crawlers: Sequence[str], dialect: Dialect
) -> tuple[list[Any], list[Any], list[str], list[str]]:
    robots = site.robots.parsed(dialect)
    unread = [each for each in (site.robots.unread, site.tdmrep_unread) if each]
    # Those that are named, but not in the archives, are unread.
    licenses = {
        each.url: site.licenses[each.url]
        for each in named_licenses(url, robots, page)
        if each.is_rsl and site.licenses.get(each.url) is not None
    }
    found = Combined(url, robots, page, tdmrep=site.tdmrep, licenses=licenses, unread=unread)
    everybody = [row_of(each) for each in found.answers()]
    others = [
        {"crawler": crawler, **row}
        for crawler in crawlers
        for row, for_all in zip(map(row_of, found.answers(crawler)), everybody, strict=True)
        if row != for_all
    ]
    names = dict.fromkeys(storable_value(each.url) for each in found.licenses)
    return (
        everybody,
        others,
        [*names][:_MAX_LISTED],
        [storable_value(each) for each in found.unread],
    )
