"""The pages that vouch for the registry of crawlers: which of them changed since they were read?

python -m tools.facts           lists the pages with their crawlers, fetches each, and shows what
                                changed; the exit code is 1 if something did, or is unknown
python -m tools.facts --accept  records what the pages say now: read them first

A page is reduced to its text, as scripts, styles and the markup of a site change each day;
``facts.toml`` keeps the SHA-256 of that text, and the day on which it was read.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import httpx2

import koster
from koster._version import DOCS, VERSION
from koster._wording import count_noun
from koster.crawlers import Crawler, known
from koster.decisions import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TABLE = Path(__file__).parent / "facts.toml"
AGENT = "koster-facts"
USER_AGENT = f"{AGENT}/{VERSION} (+{DOCS})"

_SECONDS = 30.0
_MAX_BYTES = 8 << 20
_MAX_REDIRECTS = 5
#: How many sites must be out of reach, before any was reached, until there is no network.
_MAX_UNREACHABLE = 5

_HEADING = """\
# The pages that vouch for the registry of crawlers: the SHA-256 of the text of each, and the day on
# which it was read. make facts compares them with the pages of today; ACCEPT=1 writes this file.
"""


@dataclass(frozen=True)
class Page:
    """The text of a page as it was read: its SHA-256 in hexadecimal."""

    url: str
    read: date
    sha256: str


@dataclass(frozen=True)
class Source:
    """A page with facts, the crawlers that it vouches for, and the oldest day it was read for one.

    ``page`` is the recorded one, if any. What was found: ``digest`` of its text today, or ``why``
    it is unknown; ``is_unreachable``: its site did not answer at all.
    """

    url: str
    tokens: tuple[str, ...]
    checked: str
    is_outdated: bool
    page: Page | None = None
    digest: str = ""
    why: str = "not fetched"
    is_unreachable: bool = False

    def __str__(self) -> str:
        day = f"{self.checked}{', checked more than a year ago' if self.is_outdated else ''}"
        page = self.page
        known_as = "not hashed yet" if page is None else f"{page.sha256[:12]} on {page.read}"
        return f"{self.url}\n    {', '.join(self.tokens)} ({day}; {known_as})"


def sources(crawlers: Iterable[Crawler], pages: Mapping[str, Page], today: date) -> list[Source]:
    """Return the pages that vouch for crawlers, by URL."""
    by_url: dict[str, list[Crawler]] = defaultdict(list)
    for each in crawlers:
        by_url[each.source].append(each)
    return [
        Source(
            url,
            tuple(sorted((each.token for each in some), key=str.lower)),
            min(each.checked for each in some),
            any(each.is_outdated(today) for each in some),
            pages.get(url),
        )
        for url, some in sorted(by_url.items())
    ]


def read_table(path: Path) -> dict[str, Page]:
    """Return the recorded pages by URL."""
    table = tomllib.loads(path.read_text("utf-8"))
    pages = [Page(each["url"], each["read"], each["sha256"]) for each in table.get("page", ())]
    return {each.url: each for each in pages}


def write_table(path: Path, pages: Iterable[Page]) -> None:
    """Record pages."""
    parts = [
        f'[[page]]\nurl = "{each.url}"\nread = {each.read}\nsha256 = "{each.sha256}"\n'
        for each in sorted(pages, key=lambda one: one.url)
    ]
    path.write_text("\n".join([_HEADING, *parts]), "utf-8")


class _Text(HTMLParser):
    """Collects the text that a person reads."""

    _SKIPPED = frozenset({"script", "style", "template", "noscript", "svg"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self._depth += tag in self._SKIPPED

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag in self._SKIPPED and self._depth > 0

    def handle_data(self, data: str) -> None:
        if not self._depth:
            self.parts.append(data)


def text_of(body: str, media_type: str) -> str:
    """Return the text of a page: words, each with a space between; of HTML without markup."""
    if media_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml"):
        parser = _Text()
        parser.feed(body)
        parser.close()
        body = " ".join(parser.parts)
    return " ".join(body.split())


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def fetched(source: Source, robots: koster.RobotsClient, http: httpx2.Client) -> Source:
    """Return a page with the digest of what it says today, or why that is unknown."""
    url = source.url
    for _ in range(_MAX_REDIRECTS + 1):
        with robots.turn(url) as turn:
            decision = turn.decision
            if decision.reason is Reason.UNREACHABLE:
                outcome = robots.robots(url)
                is_silent = not any(hop.status for hop in outcome.hops)
                return replace(source, why=f"robots.txt: {outcome.why}", is_unreachable=is_silent)
            if not decision:
                return replace(source, why=str(decision))
            try:
                response, body = _get(url, http)
            except httpx2.HTTPError as error:
                reason = str(error) or type(error).__name__
                return replace(source, why=reason)
            turn.answered(response.status_code, response.headers.get("retry-after"))
        if not response.has_redirect_location:
            return _answered(source, response, body)
        url = urljoin(url, response.headers["location"])
    return replace(source, why=f"more than {_MAX_REDIRECTS} redirects")


def _get(url: str, http: httpx2.Client) -> tuple[httpx2.Response, bytes]:
    """Return a response and the beginning of its body."""
    body = bytearray()
    with http.stream("GET", url) as response:
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > _MAX_BYTES:
                break
    return response, bytes(body)


def _answered(source: Source, response: httpx2.Response, body: bytes) -> Source:
    if response.status_code != 200:
        return replace(source, why=f"status {response.status_code}")
    if len(body) > _MAX_BYTES:
        return replace(source, why=f"larger than {_MAX_BYTES >> 20} MiB")
    decoded = body.decode(response.encoding or "utf-8", "replace")
    text = text_of(decoded, response.headers.get("content-type", "text/html"))
    if not text:
        return replace(source, why="no text without scripts")
    return replace(source, digest=digest_of(text), why="")


def fetch_all(some: list[Source], interval: float | None = None) -> list[Source]:
    """Fetch pages, one after the other, as their sites allow; all are unreachable if there is no
    network.

    Args:
        some: The pages.
        interval: Seconds between requests to a site. Default: what koster waits.
    """
    found: list[Source] = []
    silent: set[str] = set()
    with (
        koster.RobotsClient(
            USER_AGENT, agent=AGENT, timeout=_SECONDS, default_interval=interval
        ) as robots,
        httpx2.Client(timeout=_SECONDS, headers={"User-Agent": USER_AGENT}) as http,
    ):
        for source in some:
            found.append(fetched(source, robots, http))
            if found[-1].is_unreachable:
                silent.add(urlsplit(source.url).netloc)
            if len(silent) >= _MAX_UNREACHABLE and not has_network(found):
                break
    return [*found, *some[len(found) :]]


def has_network(some: Iterable[Source]) -> bool:
    """Return whether any site answered."""
    return any(not each.is_unreachable and each.why != "not fetched" for each in some)


def report(some: list[Source]) -> Iterator[str]:
    """Yield what is known about pages, in lines."""
    crawlers = sum(len(each.tokens) for each in some)
    vouch = "vouches" if len(some) == 1 else "vouch"
    yield f"{count_noun(len(some), 'page')} {vouch} for {count_noun(crawlers, 'crawler')}"
    if not has_network(some):
        yield "No network: no page was fetched, so changes are unknown"
    for title, pages in _sections(some).items():
        if pages:
            yield ""
            yield f"{title} ({len(pages)}):"
            for each in pages:
                yield f"  {each}{f': {each.why}' if title == _UNKNOWN else ''}"


_CHANGED = "Changed since they were read"
_UNKNOWN = "Could not be fetched"
_NEW = "Not hashed yet"
_OUTDATED = "Checked more than a year ago"
_SAME = "As they were read"


def _sections(some: list[Source]) -> dict[str, list[Source]]:
    """Return pages by what is to be done about them."""
    read = [each for each in some if each.page is not None and each.digest]
    return {
        _CHANGED: [each for each in read if each.page and each.page.sha256 != each.digest],
        _UNKNOWN: [each for each in some if not each.digest] if has_network(some) else [],
        _NEW: [each for each in some if each.page is None],
        _OUTDATED: [each for each in some if each.is_outdated],
        _SAME: [each for each in read if each.page and each.page.sha256 == each.digest],
    }


def accepted(some: Iterable[Source], today: date) -> list[Page]:
    """Return the pages to record: those of today, and the old ones of those not fetched."""
    pages = []
    for each in some:
        if not each.digest:
            pages += [] if each.page is None else [each.page]
        elif each.page is not None and each.page.sha256 == each.digest:
            pages.append(each.page)
        else:
            pages.append(Page(each.url, today, each.digest))
    return pages


def run(
    crawlers: Iterable[Crawler],
    path: Path,
    today: date,
    *,
    accepts: bool = False,
    interval: float | None = None,
) -> int:
    """Show what changed, and record it if asked to; return the exit code."""
    found = fetch_all(sources(crawlers, read_table(path), today), interval)
    for line in report(found):
        print(line)
    if accepts and not has_network(found):
        print("\nNot recorded")
    elif accepts:
        write_table(path, accepted(found, today))
        print("\nRecorded")
    sections = _sections(found)
    is_fine = len(sections[_SAME]) == len(found) and not sections[_OUTDATED]
    return 0 if is_fine else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accept", action="store_true", help="record what the pages say now")
    options = parser.parse_args()
    return run(known(), TABLE, datetime.now(UTC).date(), accepts=options.accept)


if __name__ == "__main__":
    sys.exit(main())
