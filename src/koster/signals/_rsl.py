"""What a license document (RSL 1.0) states about the uses of a page.

Paragraphs are those of https://rslstandard.org/rsl, as others quote them: where its words could not
be found, uses are undecided. These are stated preferences: nothing here says what is licensed.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from .._wording import joined
from ..errors import UrlError
from ..origins import Origin, origin_of
from ._grammars import RSL
from ._model import Reading, Stated, Statement, Use
from ._notes import first_of, quoted, shortened
from ._paths import matched_location
from ._rsl_documents import Content, RslError, RslLicense, Words, parse_rsl
from ._words import RSL_USAGES

#: The uses that RSL has words for.
USES = (Use.SEARCH, Use.AI_INPUT, Use.AI_TRAIN)
_ABSOLUTE = re.compile(r"(https?://[^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


def read_rsl(body: bytes, where: str, url: str, base: str) -> Reading:
    """Return what a license document states about a page.

    Args:
        body: The document.
        where: Its place: a URL, a file, or a tag.
        url: The URL of the page, or its path.
        base: The URL to whose site the paths in it belong; that of the page, if the document is a
            part of the page, or named by it alone.
    """
    try:
        contents = parse_rsl(body)
    except RslError as error:
        found = Reading(unread=[f"{where} {error}"])
        if error.is_rsl:
            found.statements = [
                Statement(RSL, where, f"a license that {error}", use, Stated.UNDECIDED)
                for use in USES
            ]
        return found
    return _Reader(where, url, base, contents).reading()


class _Rank(enum.IntEnum):
    """How a license decides about a use; of several licenses, the one that comes first counts."""

    PROHIBITED = 1
    BOTH = 2
    PERMITTED = 3
    CONDITIONAL = 4
    NO_LIST = 5
    NOT_LISTED = 6


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What a license states about a use: by which words, and what there is to note."""

    rank: _Rank
    line: int
    text: str
    note: str = ""

    @property
    def stated(self) -> Stated:
        decided = {_Rank.PROHIBITED: Stated.NO, _Rank.PERMITTED: Stated.YES}
        return decided.get(self.rank, Stated.UNDECIDED)


class _Reader:
    """Reads the licenses of a document for a page."""

    def __init__(self, where: str, url: str, base: str, contents: Sequence[Content]) -> None:
        self._where = where
        self._url = url
        self._base = base
        self._contents = contents
        self._statements: list[Statement] = []
        self._notes: list[str] = []

    def reading(self) -> Reading:
        lengths = [(self._length(each), each) for each in self._contents]
        # §3.1.1: the more specific declaration takes precedence.
        longest = max((length for length, _ in lengths if length is not None), default=-1)
        governing = [each for length, each in lengths if length == longest and longest >= 0]
        unclear = [each for length, each in lengths if length is None]
        if not governing and not unclear:
            self._note(0, "nothing in it is about the page")
        for use in USES:
            self._add(use, governing)
            self._add_unclear(use, unclear)
        words = [
            self._said(some.line, f"RSL 1.0 has no usage {quoted(word)}")
            for each in (*governing, *unclear)
            for license_ in each.licenses
            for some in license_.words
            if some.kind == "usage"
            for word in some.words
            if word not in RSL_USAGES
        ]
        return Reading(self._statements, [*first_of(self._notes), *first_of(words)])

    def _said(self, line: int, what: str) -> str:
        return f"{self._place(line)}: {what}"

    def _place(self, line: int) -> str:
        return f"{self._where}, line {line}" if line else self._where

    def _note(self, line: int, what: str) -> None:
        self._notes.append(self._said(line, what))

    def _length(self, content: Content) -> int | None:
        """Return how specific a content is about the page.

        That is the length of its pattern, -1 if it does not match, and None if its site is unknown.
        """
        pattern = (content.url or "").strip()
        if not pattern:
            # §3.3.1: the scope is that of what names the license.
            return 0 if content.url is not None and self._base == self._url else None
        site, page = _origin(self._base), _origin(self._url)
        if absolute := _ABSOLUTE.match(pattern):
            site, pattern = _origin(absolute[1]), absolute[2] or "/"
            if site is None or page is None:
                return None
            return matched_location(self._url, pattern) if site == page else -1
        # A license on another site may be that of a collecting society.
        is_same_site = site == page or site is None or page is None
        if is_same_site and pattern.startswith(("/", "*")):
            return matched_location(self._url, pattern)
        return None

    def _add(self, use: Use, contents: Sequence[Content]) -> None:
        """Add what the licenses for the page state about a use."""
        judgements = [
            _judged(license_, content, use) for content in contents for license_ in content.licenses
        ]
        if not judgements:
            return
        counts = min(judgements, key=attrgetter("rank"))
        self._state(use, counts)
        if counts.rank is _Rank.CONDITIONAL:
            # Each offer has its own conditions.
            for each in judgements:
                if each.rank is _Rank.CONDITIONAL:
                    self._note(each.line, each.note)
        elif counts.note:
            self._note(counts.line, counts.note)

    def _state(self, use: Use, judgement: _Judgement) -> None:
        where = self._place(judgement.line)
        text = shortened(judgement.text)
        self._statements.append(Statement(RSL, where, text, use, judgement.stated))

    def _add_unclear(self, use: Use, contents: Sequence[Content]) -> None:
        """Add what may be stated about a use, if it is about the page."""
        for content in contents:
            for each in content.licenses:
                words = _narrowest(each, "prohibits", use) or _narrowest(each, "permits", use)
                if words is not None:
                    self._state(use, _Judgement(_Rank.BOTH, words[1].line, str(words[1])))
                    what = "no url" if content.url is None else f"the url {quoted(content.url)}"
                    self._note(
                        content.line,
                        f"<content> has {what}: whether it is about the page is unknown",
                    )
                    return


def _origin(url: str) -> Origin | None:
    try:
        return origin_of(url)
    except UrlError:
        return None


def _narrowest(license_: RslLicense, name: str, use: Use) -> tuple[int, Words] | None:
    """Return the narrowest usage with a use that is permitted or prohibited, with its width."""
    found = [
        (len(RSL_USAGES[word]), words)
        for words in license_.lists(name, "usage")
        for word in words.words
        if use in RSL_USAGES.get(word, ())
    ]
    return min(found, key=itemgetter(0), default=None)


def _judged(license_: RslLicense, content: Content, use: Use) -> _Judgement:
    """Return what a license states about a use."""
    no, yes = _narrowest(license_, "prohibits", use), _narrowest(license_, "permits", use)
    if no is not None:
        # §3.1.1: the prohibition takes precedence, but so does what is more specific.
        if yes is not None and yes[0] < no[0]:
            note = f"{use} is permitted by name, and prohibited with others"
            return _Judgement(_Rank.BOTH, no[1].line, f"{yes[1]}{no[1]}", note)
        return _Judgement(_Rank.PROHIBITED, no[1].line, str(no[1]))
    if yes is not None:
        conditions = list(_conditions(license_, content))
        rank = _Rank.CONDITIONAL if conditions else _Rank.PERMITTED
        note = f"{use} is permitted on conditions: {joined(conditions)}" if conditions else ""
        return _Judgement(rank, yes[1].line, str(yes[1]), note)
    if listed := license_.lists("permits", "usage"):
        note = f"{use} is not among the uses that it permits"
        return _Judgement(_Rank.NOT_LISTED, listed[0].line, str(listed[0]), note)
    note = f"the license does not say whether it permits {use}"
    return _Judgement(_Rank.NO_LIST, license_.line, "<license> without permitted uses", note)


def _conditions(license_: RslLicense, content: Content) -> Iterator[str]:
    """Yield on what the uses depend that a license permits."""
    for kind in dict.fromkeys(license_.payments):
        if kind != "free":
            yield f"payment ({shortened(kind) or 'of no type'})"
    for words in license_.words:
        if words.kind == "usage":
            continue
        without = "" if words.name == "permits" else "not "
        what = _SCOPES.get(words.kind, f"the type {quoted(words.kind)}:")
        yield f"{without}{what} {shortened(' '.join(words.words))}"
    if content.server:
        yield f"a license from {shortened(content.server)}"
    if license_.reports:
        yield "reports about it"


#: The types of permits and prohibits that are not about usage.
_SCOPES = {"user": "for the users", "geo": "in the countries"}
