"""Whether a crawler may use a page, as far as its site states: before it is fetched, and after.

Nothing is fetched here: a client brings the robots.txt, the response, and the documents that they
name.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec

from .._charsets import declared_charset
from .._contents import compression_of, has_controls
from .._wording import joined
from ..access import Outcome, status_phrase, wants_body
from ..decisions import Decision, Reason
from ..errors import missing
from ..origins import as_browsers_read, origin_of
from ._combining import signals
from ._limits import MAX_HTML
from ._model import Answer, Signals, Stated, Use
from ._tdmrep import TDMREP_PATH

__all__ = [
    "MAX_LICENSES",
    "MISSING",
    "TDMREP_PATH",
    "Document",
    "Page",
    "Unstated",
    "UseDecision",
    "charset_of",
    "check_extra",
    "decide_use",
    "has_html",
    "is_html",
    "page_of",
    "rsl_licenses",
    "unread_of",
    "uses_named",
    "wanted_documents",
    "why_not_of_site",
]

#: Licenses that are read for a page.
MAX_LICENSES = 5
_PARTIAL_CONTENT = 206
#: Statuses of a file that a site does not have; after other errors it may be there.
MISSING = (404, 410)
#: Content-Types of HTML, and those in whose place browsers look at the body.
_HTML_TYPES = (
    "text/html", "application/xhtml+xml", "*/*", "unknown/unknown", "application/unknown",
)  # fmt: skip
_MEDIA_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+")


class Unstated(enum.Enum):
    """Whether pages may be used where a site states nothing about that."""

    DISALLOW = "disallow"
    """Only pages whose site says yes."""
    ALLOW = "allow"
    """All pages whose site does not say no."""


@dataclass(frozen=True, slots=True)
class Document:
    """What fetching a document gave: its content; None if it is missing or cannot be read.

    ``why`` says why it cannot be read.
    """

    content: bytes | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The response to a page.

    Attributes:
        url: Its URL, after redirects.
        headers: Names and values, in their order.
        html: Its beginning, if it is HTML, and ``charset`` as its Content-Type names it.
        unread: What could not be read of it, and why.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    html: bytes | None = None
    charset: str | None = None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UseDecision:
    """Whether a crawler may use a page, as far as the site states, and why.

    ``bool(decision)`` is ``decision.allowed``; ``str(decision)`` is one sentence. It is about
    stated preferences, and no legal verdict.

    Attributes:
        allowed: Whether the crawler may fetch the page, and each use has yes. Also if a use is
            unstated: before the page is fetched, as the page may still say yes; and after that
            under `Unstated.ALLOW`.
        url: The URL of the page.
        agent: The crawler.
        answers: What is stated about each use.
        decision: Whether the crawler may fetch the page.
        signals: Everything that was found.
    """

    allowed: bool
    url: str
    agent: str | tuple[str, ...]
    answers: tuple[Answer, ...]
    decision: Decision
    signals: Signals

    def __bool__(self) -> bool:
        return self.allowed

    def __str__(self) -> str:
        if not self.decision:
            return str(self.decision)
        refusing = [each for each in self.answers if each.stated is not Stated.YES]
        if self.allowed or not refusing:
            refusing = list(self.answers)
        about = "; ".join(self._sentence(each) for each in refusing)
        return f"{self.url}: {about}".encode("utf-8", "backslashreplace").decode("utf-8")

    def _sentence(self, answer: Answer) -> str:
        sources = {
            stated: f"{each.text} ({each.where})"
            for stated in (Stated.YES, Stated.NO, Stated.UNDECIDED)
            for each in answer.statements[::-1]
            if each.stated is stated
        }
        match answer.stated:
            case Stated.YES | Stated.NO:
                return f"the site says {answer.stated} to {answer.use}: {sources[answer.stated]}"
            case Stated.CONFLICT:
                return (
                    f"the site contradicts itself about {answer.use}: {sources[Stated.NO]} against "
                    f"{sources[Stated.YES]}"
                )
            case Stated.UNSTATED:
                return f"the site says nothing about {answer.use}"
        why = next(iter(self.signals.unread), sources.get(Stated.UNDECIDED, ""))
        return f"what the site says about {answer.use} is undecided: {why}"


def uses_named(uses: Sequence[str]) -> tuple[Use, ...]:
    """Return uses by their names, each once.

    Raises:
        TypeError: ``uses`` is one str.
        ValueError: one is unknown, or ``uses`` is empty.
    """
    if isinstance(uses, str) or not isinstance(uses, Sequence):
        raise TypeError(f"uses must be a sequence such as ('ai-train',), not {uses!r}")
    names = [each.value for each in Use]
    try:
        found = tuple(dict.fromkeys(map(Use, uses)))
    except ValueError as error:
        raise ValueError(f"{error}: uses are {joined(names)}") from None
    if not found:
        raise ValueError(f"uses must name one of {joined(names, 'or')}")
    return found


def check_extra() -> None:
    """Check that everything is installed that headers and pages need.

    Raises:
        MissingExtraError: the extra ``signals`` is not.
    """
    if find_spec("http_sf") is None or find_spec("selectolax") is None:
        raise missing("uses", "signals")


def page_of(url: str, status: int, headers: Sequence[tuple[str, str]], body: bytes | None) -> Page:
    """Return the response to a page.

    Args:
        url: Its URL, after redirects.
        status: The HTTP status.
        headers: Names and values; a name may be repeated.
        body: The beginning of the body, decoded; None: it is not known.
    """
    if not wants_body(status):
        return Page(url, unread=(f"page: {status_phrase(status)}",))
    if not has_html(status, headers):
        return Page(url, tuple(headers))
    if body is None or (why := _why_unreadable(status, headers, body)):
        why = "not read" if body is None else why
        return Page(url, tuple(headers), unread=(f"page: its body is {why}",))
    return Page(url, tuple(headers), body[: MAX_HTML + 1], charset_of(headers))


def _why_unreadable(status: int, headers: Sequence[tuple[str, str]], body: bytes) -> str:
    """Return why a body is not the HTML of a page, as part of a sentence; empty if it may be."""
    if status == _PARTIAL_CONTENT:
        return "only a part (206 Partial Content)"
    if compression := compression_of(body):
        return f"compressed with {compression}"
    # HTTP libraries leave a body as it is if they do not know its coding.
    coding = ", ".join(_values_of("content-encoding", headers)).strip().lower()
    is_encoded = coding not in ("", "identity") and has_controls(body)
    return f"not decoded: Content-Encoding {coding[:50]}" if is_encoded else ""


def has_html(status: int, headers: Sequence[tuple[str, str]]) -> bool:
    """Return whether the body of a response may be HTML."""
    return wants_body(status) and is_html(headers)


def is_html(headers: Sequence[tuple[str, str]]) -> bool:
    """Return whether the headers of a response are those of HTML.

    Browsers disagree about which of several Content-Types counts, so each does. If one is missing
    or invalid, they look at the body.
    """
    kinds = [
        each.partition(";")[0].strip(" \t\r\n\f\v").lower()
        for value in _values_of("content-type", headers)
        for each in value.split(",")
    ]
    return not kinds or any(
        each in _HTML_TYPES or not _MEDIA_TYPE.fullmatch(each) for each in kinds
    )


def charset_of(headers: Sequence[tuple[str, str]]) -> str | None:
    """Return the charset that the headers of a response declare, or None."""
    return next(filter(None, map(declared_charset, _values_of("content-type", headers))), None)


def _values_of(name: str, headers: Sequence[tuple[str, str]]) -> list[str]:
    return [value for each, value in headers if each.strip().lower() == name]


def unread_of(robots: Outcome) -> list[str]:
    """Return what could not be read of a robots.txt."""
    if robots.robots is None:
        # Other errors of a client allow all access.
        is_missing = robots.reason is Reason.UNAVAILABLE and robots.entry.status in MISSING
        return [] if is_missing else [f"robots.txt: {robots.why}"]
    return ["robots.txt: only its first 500 KiB are read"] if robots.is_cut else []


def why_not_of_site(robots: Outcome, url: str, agent: str | Sequence[str]) -> str | None:
    """Return why a page after redirects is not to be read by the robots.txt; None if it is."""
    if str(origin_of(url)) != robots.origin:
        return f"page: redirects to another site, {url}: name that address"
    decision = robots.decide(url, agent)
    return None if decision else f"page: redirects to {url}, which is not read ({decision})"


def decide_use(
    url: str,
    robots: Outcome,
    agent: str | Sequence[str],
    uses: Sequence[Use],
    *,
    page: Page | None = None,
    documents: Mapping[str, Document] | None = None,
    unstated: Unstated = Unstated.DISALLOW,
    now: datetime,
) -> UseDecision:
    """Return whether a crawler may use a page.

    Args:
        url: The URL of the page.
        robots: The robots.txt of its site.
        agent: The crawler.
        uses: What for.
        page: The response; None: before the page is fetched.
        documents: What was fetched of `wanted_documents`, by URL.
        unstated: Whether the page may be used if it states nothing about that.
        now: The current time, with a time zone.
    """
    known = documents or {}
    decision = robots.decide(url, agent)
    unread = [*unread_of(robots), *(each.why for each in known.values() if each.why)]
    if page is not None:
        elsewhere = why_not_of_site(robots, page.url, agent)
        unread += page.unread if elsewhere is None else (elsewhere,)
        if elsewhere is not None:
            page = Page(url)
    site_file = known.get(robots.origin + TDMREP_PATH)
    if page is not None and Use.TDM in uses and site_file is None:
        unread.append(f"{TDMREP_PATH}: not read")
    found = signals(
        as_browsers_read(url if page is None else page.url),
        robots=robots.robots,
        headers=page.headers if page else (),
        html=page.html if page else None,
        charset=page.charset if page else None,
        tdmrep=site_file.content if site_file else None,
        licenses={name: each.content for name, each in known.items() if each is not site_file},
        crawlers=[agent],
        now=now,
        unread=unread,
    )
    name = agent if isinstance(agent, str) else agent[0]
    answers = tuple(found.of(use, name) for use in uses)
    accepted = {Stated.YES}
    if page is None or unstated is Unstated.ALLOW:
        accepted.add(Stated.UNSTATED)
    return UseDecision(
        allowed=decision.allowed and accepted.issuperset(each.stated for each in answers),
        url=url,
        agent=agent if isinstance(agent, str) else tuple(agent),
        answers=answers,
        decision=decision,
        signals=found,
    )


def wanted_documents(
    found: Signals, known: Mapping[str, Document], tdmrep: str | None = None
) -> Iterator[str]:
    """Yield the URLs of documents that are still to be read.

    Args:
        found: What was found without them.
        known: The documents that were fetched.
        tdmrep: The URL of the tdmrep.json, if it is to be read.
    """
    if tdmrep is not None and tdmrep not in known:
        yield tdmrep
    yield from (url for url in rsl_licenses(found)[:MAX_LICENSES] if url not in known)


def rsl_licenses(found: Signals) -> tuple[str, ...]:
    """Return the URLs of the RSL licenses that were found, each once."""
    return tuple(dict.fromkeys(each.url for each in found.licenses if each.is_rsl))
