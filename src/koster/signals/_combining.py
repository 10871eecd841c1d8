"""What all statements about a page amount to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from urllib.parse import urljoin

from .._contents import has_readable_line
from ..dialects import GOOGLE, RFC9309, Dialect
from ..robots import RobotsTxt, parse
from ._agents import tokens_of
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
from ._notes import first_of, shortened
from ._robots import (
    EVERYBODY,
    Agent,
    RobotsReader,
    invalid_preferences,
    licenses_of,
    named_agents,
    place,
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
    licenses: Mapping[str, bytes | None] | None = None,
    crawlers: Sequence[str | Sequence[str]] = (),
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
        licenses: License documents (RSL) that apply to the page, by their URLs; None for one that
            ``unread`` is about. A license that another source names, but is missing here, is
            unread, too.
        crawlers: The crawlers to answer for: product tokens, User-Agent headers, or sequences of
            tokens in order of preference. Default: those that a group of the robots.txt names.
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
    agents = [(each,) if isinstance(each, str) else tuple(each) for each in crawlers]
    names = [name for agent in agents for each in agent for name in tokens_of(each)]
    file = robots if isinstance(robots, RobotsTxt) else parse(robots or b"", dialect)
    page = read_page(list(headers), html, charset, now, names)
    combined = Combined(
        url, file, page, tdmrep=tdmrep, licenses=licenses or {}, unread=unread, notes=notes
    )
    return combined.result(agents)


def stated_to_everybody(
    robots: RobotsTxt, url: str, unread: Sequence[str] = ()
) -> tuple[Signals, tuple[Statement, ...]]:
    """Return what a robots.txt alone states about a page to everybody, and about other paths.

    The first is what `signals` finds, without single crawlers and without notes about lines; the
    second what Content-Usage lines state that have a path, but not that of the page. ``unread``
    says what of the file could not be read, and why.
    """
    combined = Combined(url, robots, Reading(), unread=unread)
    return combined.everybody(), tuple(combined.elsewhere())


def _unread(robots: RobotsTxt) -> list[str]:
    """Return that a file could not be read as a robots.txt, if no line of it is one."""
    if robots.groups or has_readable_line([robots, parse(robots.body, GOOGLE)]):
        return []
    return ["robots.txt: no line in it is one of a robots.txt"]


def read_page(
    headers: Sequence[tuple[str, str]],
    html: bytes | None,
    charset: str | None,
    now: datetime,
    crawlers: Sequence[str],
    *,
    has_notes: bool = True,
) -> Reading:
    """Return what a page states; without notes, most pages need not be parsed.

    For the arguments see `signals`.
    """
    found = Reading()
    if headers:
        from ._headers import read_headers

        found += read_headers(headers, now, crawlers)
    if html is not None:
        from ._pages import read_html, read_html_without_notes

        read = read_html if has_notes else read_html_without_notes
        found += read(html, charset, now, crawlers)
    return found


def _keep_last_reservation(found: Reading) -> None:
    """Keep the reservation that counts: that of the page over the header over the site's file."""
    reservations = [each for each in found.statements if each.grammar is TDMREP]
    for each in reservations[:-1]:
        found.statements.remove(each)
        found.notes.append(
            f"{each.where}: {each.text} is superseded by {reservations[-1].where} (TDMRep)"
        )


def named_licenses(url: str, robots: RobotsTxt, page: Reading) -> list[License]:
    """Return the licenses that a robots.txt and a page name, with absolute URLs."""
    return [*licenses_of(robots), *(_resolved(each, url) for each in page.licenses)]


def _resolved(license_: License, url: str) -> License:
    """Return a license with an absolute URL, if it has one: it may be relative to the page."""
    try:
        return replace(license_, url=urljoin(url, license_.url))
    except ValueError:
        return license_


def _missing(named: Iterable[License], given: Mapping[str, bytes | None]) -> Sequence[str]:
    """Return which licenses are named, but not given."""
    missing = {each.url: each.where for each in named if each.is_rsl and each.url not in given}
    # Documents from files have other names.
    others = len(given.keys() - {each.url for each in named})
    some = list(missing.items())[others:]
    return first_of(
        (f"{where}: the license {shortened(url)} is not read" for url, where in some),
        "unread license",
    )


def _read_license(body: bytes, where: str, url: str) -> Reading:
    from ._rsl import read_rsl

    # Its paths belong to its own URL; within a page, to that of the page.
    return read_rsl(body, where, url, where if "://" in where else url)


#: The most crawlers that get answers if the caller names none.
_MAX_AGENTS = 300

#: How places begin that only those see who fetch the page.
_ON_PAGE = ("header ", "tag ", "page")


class Combined:
    """Combines what a page states with its site's files, for each crawler.

    Args:
        robots: The robots.txt.
        page: What `read_page` found.

    For the other arguments see `signals`.
    """

    def __init__(
        self,
        url: str,
        robots: RobotsTxt,
        page: Reading,
        *,
        tdmrep: bytes | None = None,
        licenses: Mapping[str, bytes | None] = MappingProxyType({}),
        unread: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> None:
        found = Reading(unread=_unread(robots))
        if tdmrep is not None:
            from ._tdmrep import read_tdmrep

            found += read_tdmrep(tdmrep, url)
        found += page
        _keep_last_reservation(found)
        self.licenses = tuple(dict.fromkeys(named_licenses(url, robots, found)))
        found.unread += _missing(self.licenses, licenses)
        for where, body in (*licenses.items(), *found.embedded):
            if body is not None:
                found += _read_license(body, where, url)
        self.unread = (*unread, *found.unread)
        self._url = url
        self._robots = robots
        self._page = found
        self._reader = RobotsReader(robots, url)
        self._notes = [*found.notes, *notes]
        self._unseen: list[Unseen] = []
        self._conflicts: list[Conflict] = []

    def result(self, crawlers: Sequence[tuple[str, ...]]) -> Signals:
        """Return what was found, for some crawlers or those that the file names."""
        self._notes += invalid_preferences(self._robots)
        answers = self.answers()
        everybody = {each.use: each for each in answers}
        for agent in map(self._reader.agent, crawlers or self._bound()):
            answers += [
                each
                for each in self._answers(agent)
                if crawlers or _is_of_its_own(each, everybody[each.use], agent.uses)
            ]
        asked = map(self._reader.agent, crawlers or [(each,) for each in USUAL_CRAWLERS])
        crawl = [(each, each.crawl(self._url)) for each in asked if not each.is_control]
        for agent, found in crawl:
            if not found.allowed:
                self._add_unseen(agent, found)
        return self._signals(tuple(found for _, found in crawl), answers)

    def everybody(self) -> Signals:
        """Return what was found, for no single crawler."""
        return self._signals((), self.answers())

    def elsewhere(self) -> Iterator[Statement]:
        """Yield what is stated to everybody about other paths."""
        return self._reader.elsewhere(self._reader.agent())

    def _signals(self, crawl: tuple[Crawl, ...], answers: list[Answer]) -> Signals:
        return Signals(
            url=self._url,
            crawl=crawl,
            answers=tuple(answers),
            unseen=tuple(dict.fromkeys(self._unseen)),
            conflicts=tuple(dict.fromkeys(self._conflicts)),
            licenses=self.licenses,
            notes=tuple(dict.fromkeys(self._notes)),
            unread=self.unread,
        )

    def _bound(self) -> Sequence[tuple[str, ...]]:
        """Return the crawlers that the file, or a part of the page, says something to."""
        of_page = (each.crawler for each in self._page.statements if each.crawler)
        distinct: dict[str, str] = {}
        for name in chain(named_agents(self._robots), of_page):
            if len(distinct) == _MAX_AGENTS:
                self._notes.append(f"only the first {_MAX_AGENTS} named crawlers have answers")
                break
            distinct.setdefault(name.lower(), name)
        return [(each,) for each in distinct.values()]

    def answers(self, crawler: str = EVERYBODY) -> list[Answer]:
        """Return what is stated about each use to a crawler, or to everybody."""
        return self._answers(self._reader.agent((crawler,) if crawler else ()))

    def _answers(self, agent: Agent) -> list[Answer]:
        found = self._reader.read(agent)
        self._notes += found.notes
        self._unseen += found.unseen
        found.statements += self._on_page_to(agent)
        # Who is not allowed to fetch the page cannot use it, whatever else is stated.
        may_use = agent.may_use(self._url)
        answers = []
        for use in Use:
            counts_all = may_use or use not in OF_FETCHED_PAGES
            some = [
                each
                for each in found.statements
                if each.use is use and (counts_all or each.stated is Stated.NO)
            ]
            answers.append(self._answer(use, agent.name, some))
        return answers

    def _on_page_to(self, agent: Agent) -> list[Statement]:
        """Return the statements beside the robots.txt that bind a crawler."""
        names = agent.bound_names
        return [each for each in self._page.statements if each.crawler.lower() in names]

    def _answer(self, use: Use, agent: str, statements: list[Statement]) -> Answer:
        by_stated = {stated: [each for each in statements if each.stated is stated]
                     for stated in (Stated.NO, Stated.UNDECIDED, Stated.YES)}  # fmt: skip
        no, yes = by_stated[Stated.NO], by_stated[Stated.YES]
        if no and yes:
            stated = Stated.CONFLICT
            self._conflicts.append(Conflict(use, agent, yes[0], no[0]))
        elif no:
            stated = Stated.NO
        elif by_stated[Stated.UNDECIDED] or self.unread:
            stated = Stated.UNDECIDED
        else:
            stated = Stated.YES if yes else Stated.UNSTATED
        return Answer(use, stated, agent, tuple(statements))

    def _add_unseen(self, agent: Agent, crawl: Crawl) -> None:
        """Add what is stated on the page to a crawler that may not fetch it, about its uses."""
        uses = set(Use if agent.uses is None else agent.uses)
        if Use.SEARCH in uses:
            uses |= {Use.SNIPPET, Use.ARCHIVE}
        because = f"{place(crawl.line or 0)}: {crawl.rule} blocks the page for {crawl.crawler}"
        self._unseen += [
            Unseen(each.text, each.where, crawl.crawler, because)
            for each in self._on_page_to(agent)
            if each.use in uses and each.where.startswith(_ON_PAGE)
        ]


def _is_of_its_own(answer: Answer, everybody: Answer, uses: tuple[Use, ...] | None) -> bool:
    """Return whether an answer for a crawler is another one than that for everybody.

    That a known crawler may not fetch the page is only said about what it uses pages for.
    """
    if answer.stated is everybody.stated and answer.statements == everybody.statements:
        return False
    is_about_use = any(each.crawler and each.grammar is not GROUP for each in answer.statements)
    return uses is None or is_about_use or answer.use in uses
