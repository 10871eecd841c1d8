"""Sitemaps, and those that indexes name: the URLs of all of them as one stream."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import IO, Protocol

from .._wording import count_noun
from ..errors import UnreadableError
from ..origins import MAX_URL, Origin
from ._documents import Kind, SitemapError, read_locations
from ._elsewhere import Elsewhere, ElsewhereCounts, site_of

#: The protocol's limit of the URLs of a sitemap, and of the sitemaps of an index.
PROTOCOL_URLS = 50_000

#: Sitemaps below an index, nested ones included. The protocol's limit is that of one index.
MAX_SITEMAPS = 50_000
#: Levels of indexes. The protocol has one.
MAX_NESTED = 3

#: The maximum characters of an invalid URL in an error.
_MAX_EXAMPLE = 80

_ABSOLUTE = re.compile(r"https?://[^/?#\\\s]", re.IGNORECASE)


class Source(Protocol):
    """Opens sitemaps. An address is a URL or the name of a file."""

    def open(self, address: str) -> AbstractContextManager[IO[bytes]]:
        """Open a sitemap.

        Raises:
            UnreadableError: it cannot be opened or read; with its name.
        """

    def address_of(self, location: str, index: str) -> str:
        """Return the address of a sitemap that an index names by a URL."""

    def name_of(self, address: str) -> str:
        """Return the name of a sitemap for errors."""


@dataclass(slots=True)
class _Tally:
    """What was read of one file, and what is wrong with it."""

    count: int = 0
    invalid: int = 0
    example: str = ""
    kind: Kind | None = None
    site: Origin | None = None
    notices: list[str] = field(default_factory=list)

    def add(self, kind: Kind, locations: list[str]) -> list[str]:
        """Count locations, and return those that are absolute URLs."""
        self.kind = kind
        self.count += len(locations)
        urls = [each for each in locations if _is_valid(each)]
        if len(urls) < len(locations):
            self.invalid += len(locations) - len(urls)
            self.example = self.example or next(each for each in locations if not _is_valid(each))
        return urls

    def invalid_urls(self) -> str:
        """Return what is wrong with invalid locations."""
        are = "URL is" if self.invalid == 1 else "URLs are"
        return f"{self.invalid:,} {are} not absolute, such as {self.example[:_MAX_EXAMPLE]}"

    def read_before(self) -> str:
        """Return how many URLs were read before an error, to follow it."""
        return f"; read {count_noun(self.count, 'URL')} before that" if self.count else ""

    def all_notices(self) -> list[str]:
        """Return what the protocol does not allow."""
        if self.count <= PROTOCOL_URLS:
            return self.notices
        limit = f"{PROTOCOL_URLS:,}, the protocol's limit"
        return [*self.notices, f"lists {self.count:,} URLs, more than {limit}: split it"]


class SitemapReader:
    """Reads sitemaps, each once.

    Attributes:
        sitemaps: The number of sitemaps read, whole or in part, without indexes.
        urls: The number of their URLs. One that several sitemaps list counts several times.
        done: The number of files tried, indexes included.
        known: The number of files known so far.
        errors: What could not be read: a line for each.
        notices: What was read, but is against the protocol: a line for each.
    """

    def __init__(self, source: Source, on_error: Callable[[str], object] = lambda _: None) -> None:
        self._source = source
        self._on_error = on_error
        self._elsewhere = ElsewhereCounts()
        self._seen: set[str] = set()
        self.sitemaps = self.urls = self.done = self.known = 0
        self.errors: list[str] = []
        self.notices: list[str] = []

    @property
    def elsewhere(self) -> list[Elsewhere]:
        """The URLs of other sites than their sitemap's."""
        return self._elsewhere.found()

    @property
    def elsewhere_left_out(self) -> int:
        """The number of URLs of other sites that ``elsewhere`` leaves out."""
        return self._elsewhere.left_out

    def batches(self, addresses: Iterable[str]) -> Iterator[list[str]]:
        """Yield the absolute URLs of pages in batches; the last one of each file is empty."""
        for address in addresses:
            yield from self._tree(address)

    def _tree(self, root: str) -> Iterator[list[str]]:
        """Yield the URLs of a sitemap, or of all below an index, in their order."""
        waiting = deque((each, 0) for each in self._unseen([root]))
        self.known += len(waiting)
        room = MAX_SITEMAPS
        while waiting:
            address, depth = waiting.popleft()
            named: list[str] = []
            yield from self._one(address, named)
            if named and depth:
                self._notice(address, "is an index in an index, which the protocol does not allow")
            if named and depth == MAX_NESTED:
                self._fail(
                    address, f"is an index below {MAX_NESTED} others; its sitemaps are not read"
                )
                continue
            found = self._unseen(self._source.address_of(each, address) for each in named)
            if len(found) > room:
                self._fail(address, f"more than {MAX_SITEMAPS:,} sitemaps; the others are not read")
                del found[room:]
            room -= len(found)
            self.known += len(found)
            waiting.extendleft((each, depth + 1) for each in reversed(found))

    def _unseen(self, addresses: Iterable[str]) -> list[str]:
        """Return the addresses that were not seen before, each once."""
        found = [each for each in dict.fromkeys(addresses) if each not in self._seen]
        self._seen.update(found)
        return found

    def _one(self, address: str, named: list[str]) -> Iterator[list[str]]:
        """Yield the URLs of one file; append the sitemaps that it names to ``named``."""
        tally = _Tally()
        try:
            with self._source.open(address) as file:
                for kind, locations in read_locations(file, tally.notices):
                    urls = tally.add(kind, locations)
                    self._count_elsewhere(address, tally, urls)
                    if kind is Kind.PAGES:
                        self.urls += len(urls)
                        yield urls
                    elif len(named) <= MAX_SITEMAPS:
                        named += urls
        except UnreadableError as error:
            self._add_error(str(error))
        except SitemapError as error:
            self._fail(address, f"{error}{tally.read_before()}")
        for each in tally.all_notices():
            self._notice(address, each)
        if tally.invalid:
            self._fail(address, tally.invalid_urls())
        self.sitemaps += tally.kind is Kind.PAGES
        self.done += 1
        yield []

    def _count_elsewhere(self, address: str, tally: _Tally, urls: list[str]) -> None:
        """Count the URLs of other sites than the sitemap's, or than its first URL's."""
        if tally.site is None and urls:
            tally.site = site_of(address) or site_of(urls[0])
        if tally.site is not None:
            self._elsewhere.add(address, tally.site, urls)

    def _notice(self, address: str, what: str) -> None:
        self.notices.append(f"{self._source.name_of(address)}: {what}")

    def _fail(self, address: str, why: str) -> None:
        self._add_error(f"{self._source.name_of(address)}: {why}")

    def _add_error(self, line: str) -> None:
        self.errors.append(line)
        self._on_error(line)


def _is_valid(location: str) -> bool:
    return _ABSOLUTE.match(location) is not None and len(location) <= MAX_URL
