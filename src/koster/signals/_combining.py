"""What all statements about a page amount to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from urllib.parse import urljoin

from .._contents import is_readable
from ..crawlers import Crawler
from ..dialects import GOOGLE, RFC9309, Dialect
from ..robots import RobotsTxt, parse
from ._grammars import GROUP, TDMREP
from ._model import (
    Answer,
    Conflict,
    Crawl,
    License,
    Reading,
    Signals,
    Stated,
    Statement,
    Unseen,
    Use,
)
from ._robots import (
    EVERYBODY,
    RobotsReader,
    crawl_of,
    invalid_preferences,
    is_control,
    is_open,
    licenses_of,
    named_agents,
    record_of,
    uses_of,
)
from ._words import OF_FETCHED_PAGES

#: The crawlers whose access is shown if the caller names none.
USUAL_CRAWLERS = ("Googlebot", "bingbot", "OAI-SearchBot", "GPTBot", "ClaudeBot", "CCBot")


def signals(
    url: str,
    *,
    robots: bytes | str | RobotsTxt | None = None,
    headers: Iterable[tuple[str, str]] = (),
    html: bytes | None = None,
    charset: str | None = None,
    tdmrep: bytes | None = None,
    licenses: Mapping[str, bytes] | None = None,
    crawlers: Sequence[str] = (),
    now: datetime,
    unread: Sequence[str] = (),
    notes: Sequence[str] = (),
    dialect: Dialect = RFC9309,
) -> Signals:
    """Return everything that a site says about the use of a page. Nothing is fetched.

    Args:
        url: The URL of the page.
        robots: Its site's robots.txt; None: the site has no such file.
        headers: The headers of the response, names and values; a name may be repeated.
        html: The page, if it is HTML; at most `MAX_HTML` bytes are read.
        charset: The charset of the page, from its Content-Type.
        tdmrep: The site's ``/.well-known/tdmrep.json``.
        licenses: License documents (RSL) that apply to the page, by their URLs.
        crawlers: The crawlers to answer for. Default: those that a group of the robots.txt names.
        now: The current time, with a time zone, for ``unavailable_after``.
        unread: Sources that could not be read, and why. Then no use is called unstated.
        notes: What else there is to say; it comes last in `Signals.notes`.
        dialect: How to read the robots.txt.

    Raises:
        MissingExtraError: headers with structured fields, or HTML, need the extra ``signals``.
        ValueError: ``now`` has no time zone.
    """
    if now.utcoffset() is None:
        raise ValueError("now must have a time zone")
    file = robots if isinstance(robots, RobotsTxt) else parse(robots or b"", dialect)
    page = _read_page(url, list(headers), html, charset, tdmrep, now, crawlers)
    page.licenses = [*licenses_of(file), *(_resolved(each, url) for each in page.licenses)]
    for where, body in (*(licenses or {}).items(), *page.embedded):
        page += _read_license(body, where, url)
    page.notes += notes
    if not is_readable(file.body, (dialect, GOOGLE)):
        page.unread.insert(0, "robots.txt: no line in it is one of a robots.txt")
    page.notes += invalid_preferences(file)
    combined = _Combined(url, file, page, (*unread, *page.unread))
    return combined.result(tuple(crawlers))


def _read_page(
    url: str,
    headers: list[tuple[str, str]],
    html: bytes | None,
    charset: str | None,
    tdmrep: bytes | None,
    now: datetime,
    crawlers: Sequence[str],
) -> Reading:
    """Return what the sources beside the robots.txt state."""
    found = Reading()
    if tdmrep is not None:
        from ._tdmrep import read_tdmrep

        found += read_tdmrep(tdmrep, url)
    if headers:
        from ._headers import read_headers

        found += read_headers(headers, now, crawlers)
    if html is not None:
        from ._pages import read_html

        found += read_html(html, charset, now, crawlers)
    _keep_last_reservation(found)
    return found


def _keep_last_reservation(found: Reading) -> None:
    """Keep the reservation that counts: that of the page over the header over the site's file."""
    reservations = [each for each in found.statements if each.grammar is TDMREP]
    for each in reservations[:-1]:
        found.statements.remove(each)
        found.notes.append(
            f"{each.where}: {each.text} is superseded by {reservations[-1].where} (TDMRep)"
        )


def _resolved(license_: License, url: str) -> License:
    """Return a license with an absolute URL, if it has one: it may be relative to the page."""
    try:
        return replace(license_, url=urljoin(url, license_.url))
    except ValueError:
        return license_


def _read_license(body: bytes, where: str, url: str) -> Reading:
    from ._rsl import read_rsl

    # Its paths belong to its own URL; within a page, to that of the page.
    return read_rsl(body, where, url, where if "://" in where else url)


#: The most crawlers that get answers if the caller names none.
_MAX_AGENTS = 300

#: How places begin that only those see who fetch the page.
_ON_PAGE = ("header ", "tag ", "page")


class _Combined:
    """Combines the statements of a page with those of its robots.txt, for each crawler."""

    def __init__(self, url: str, robots: RobotsTxt, page: Reading, unread: tuple[str, ...]) -> None:
        self._url = url
        self._robots = robots
        self._page = page
        self._unread = unread
        self._reader = RobotsReader(robots, url)
        self._notes = list(page.notes)
        self._unseen: list[Unseen] = []
        self._conflicts: list[Conflict] = []

    def result(self, crawlers: tuple[str, ...]) -> Signals:
        """Return what was found, for some crawlers or those that the file names."""
        answers = [self._answer(use, EVERYBODY, some) for use, some in self._by_use(EVERYBODY)]
        everybody = {each.use: each for each in answers}
        for agent in crawlers or self._bound():
            told = [self._answer(use, agent, some) for use, some in self._by_use(agent)]
            answers += [
                each
                for each in told
                if crawlers or _is_of_its_own(each, everybody[each.use], record_of(agent))
            ]
        crawl = tuple(
            crawl_of(self._robots, self._url, each)
            for each in crawlers or USUAL_CRAWLERS
            if not is_control(each)
        )
        self._add_unseen(crawl)
        return Signals(
            url=self._url,
            crawl=crawl,
            answers=tuple(answers),
            unseen=tuple(dict.fromkeys(self._unseen)),
            conflicts=tuple(dict.fromkeys(self._conflicts)),
            licenses=_distinct(self._page.licenses),
            notes=tuple(dict.fromkeys(self._notes)),
            unread=self._unread,
        )

    def _bound(self) -> tuple[str, ...]:
        """Return the crawlers that the file, or a part of the page, says something to."""
        of_page = (each.crawler for each in self._page.statements if each.crawler)
        distinct: dict[str, str] = {}
        for name in chain(named_agents(self._robots), of_page):
            if len(distinct) == _MAX_AGENTS:
                self._notes.append(f"only the first {_MAX_AGENTS} named crawlers have answers")
                break
            distinct.setdefault(name.lower(), name)
        return tuple(distinct.values())

    def _by_use(self, agent: str) -> Iterator[tuple[Use, list[Statement]]]:
        """Yield each use with the statements that bind a crawler, or everybody."""
        found = self._reader.read(agent)
        self._notes += found.notes
        self._unseen += found.unseen
        names = {name.lower() for name in _names(agent)}
        found.statements += [
            each for each in self._page.statements if each.crawler.lower() in names
        ]
        # Who may not fetch the page cannot use it, whatever else is stated.
        may_use = is_open(self._robots, self._url, agent)
        for use in Use:
            yield (
                use,
                [
                    each
                    for each in found.statements
                    if each.use is use
                    and (may_use or use not in OF_FETCHED_PAGES or each.stated is Stated.NO)
                ],
            )

    def _answer(self, use: Use, agent: str, statements: list[Statement]) -> Answer:
        by_stated = {stated: [each for each in statements if each.stated is stated]
                     for stated in (Stated.NO, Stated.UNDECIDED, Stated.YES)}  # fmt: skip
        no, yes = by_stated[Stated.NO], by_stated[Stated.YES]
        if no and yes:
            stated = Stated.CONFLICT
            self._conflicts.append(Conflict(use, agent, yes[0], no[0]))
        elif no:
            stated = Stated.NO
        elif by_stated[Stated.UNDECIDED] or self._unread:
            stated = Stated.UNDECIDED
        else:
            stated = Stated.YES if yes else Stated.UNSTATED
        return Answer(use, stated, agent, tuple(statements))

    def _add_unseen(self, crawl: tuple[Crawl, ...]) -> None:
        """Add what is stated on the page to crawlers that may not fetch it, about their uses."""
        for each in crawl:
            if each.allowed:
                continue
            record = record_of(each.crawler)
            uses = set(uses_of(record)) if record else set(Use)
            if Use.SEARCH in uses:
                uses |= {Use.SNIPPET, Use.ARCHIVE}
            names = {name.lower() for name in _names(each.crawler)}
            because = (
                f"robots.txt, line {each.line}: {each.rule} blocks the page for {each.crawler}"
            )
            self._unseen += [
                Unseen(some.text, some.where, each.crawler, because)
                for some in self._page.statements
                if some.use in uses and some.crawler.lower() in names and some.grammar is not GROUP
                and some.where.startswith(_ON_PAGE)
            ]  # fmt: skip


def _is_of_its_own(answer: Answer, everybody: Answer, record: Crawler | None) -> bool:
    """Return whether an answer for a crawler is another one than that for everybody.

    That a known crawler may not fetch the page is only said about what it is for.
    """
    if answer.stated is everybody.stated and answer.statements == everybody.statements:
        return False
    is_about_use = any(each.crawler and each.grammar is not GROUP for each in answer.statements)
    return record is None or is_about_use or answer.use in uses_of(record)


def _names(agent: str) -> tuple[str, ...]:
    """Return whom statements bind that bind a crawler: everybody, itself, and its fallbacks."""
    if not agent:
        return (EVERYBODY,)
    record = record_of(agent)
    return (EVERYBODY, agent.partition("/")[0], *(record.falls_back_to if record else ()))


def _distinct(licenses: Iterable[License]) -> tuple[License, ...]:
    return tuple(dict.fromkeys(licenses))
