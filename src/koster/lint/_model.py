"""Findings, and the file to check."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from .._asking import file_of
from .._contents import is_binary, is_only_page, program_language, wide_charset
from .._lazy import cached_property
from .._templates import Template
from .._wording import joined, truncated
from ..analysis import Budget, Classification, WholeFile
from ..dialects import GOOGLE, RFC9309, Dialect
from ..model import RULES, SPACE, Directive, Line, LineKind, Rule
from ..robots import RobotsTxt, Rules, parse

T = TypeVar("T")

_LINE_ENDS = re.compile(rb"\r\n|\n|\r")

#: A directive within the value of another one: a line end is missing.
SECOND_DIRECTIVE = re.compile(
    r"\s(user-?agent|dis+allow|allow|sitemap|crawl-delay)\s*:", re.IGNORECASE
)


class Severity(enum.StrEnum):
    """The severity of a finding. A file with only notes counts as clean."""

    ERROR = "error"
    """Something has no effect, or another one than intended."""
    WARNING = "warning"
    """Something probably does not work as intended, or not for all crawlers."""
    NOTE = "note"


class Edit(NamedTuple):
    """A replacement of the bytes ``start`` to ``end`` of a file, counted from 0."""

    start: int
    end: int
    replacement: bytes


class Finding(NamedTuple):
    """A finding for a file's author.

    Lines and columns count from 1; columns count characters, ``end_column`` is exclusive.
    ``suggestion`` says what to do. ``edits`` do it and can be applied without a look, ``proposal``
    does it where that may change what crawlers may fetch, so that it is for the author to decide.
    ``url`` is an example, if there is one.
    """

    code: str
    severity: Severity
    line: int
    column: int
    end_column: int
    message: str
    suggestion: str = ""
    edits: tuple[Edit, ...] = ()
    proposal: tuple[Edit, ...] = ()
    url: str | None = None


class Place(NamedTuple):
    """A part of a line: the line counts from 1, characters count from 0."""

    line: int
    start: int
    size: int


#: The place of findings about the whole file.
WHOLE_FILE = Place(1, 0, 0)


class Remark(NamedTuple):
    """A result of a check: a finding without code and severity.

    `Finding` says what ``edits`` and ``proposal`` are for; a test applies them, and the finding must
    be gone.
    """

    place: Place
    message: str
    suggestion: str = ""
    edits: tuple[Edit, ...] = ()
    proposal: tuple[Edit, ...] = ()
    url: str | None = None


@dataclass(slots=True)
class GroupLines:
    """The lines of a group: User-agent lines, and all others."""

    agents: list[Line]
    others: list[Line] = field(default_factory=list)

    @property
    def rules(self) -> list[Line]:
        """Its Allow and Disallow lines."""
        return [line for line in self.others if line.directive in RULES]


#: Maximum characters of a value in a message.
_MAX_SHOWN = 60

#: The search engines that should find a site, by default. They render pages.
SEARCH_CRAWLERS = ("Googlebot", "bingbot")

#: Maximum number of rule sets to analyze; legitimate files have fewer.
_MAX_RULE_SETS = 2_000

#: Steps of each budget: about a second.
_STEPS = 400_000

#: Values in which the checks of patterns find nothing: none, or a plain path, perhaps with stars.
_USUAL_PATTERN = re.compile(
    r"(?:(?:/(?![/&])|(?=\*))[\w.~/?&@!+-]*(?:\*[\w.~/&@!+-][\w.~/?&@!+-]*)*)?", re.ASCII
)


class CheckedFile:
    """A file to check, with results shared by several checks.

    ``dialects``: the dialects to compare with the file's own; ``crawlers``: the crawlers that
    should find the site; ``codes``: those of all checks; ``template``: set if the file is one;
    ``is_cut``: the file is truncated; ``charset``: its original charset, if not UTF-8; ``site``: the
    origin that served it, if it is known.
    """

    def __init__(
        self,
        body: bytes,
        dialect: Dialect = RFC9309,
        *,
        dialects: tuple[Dialect, ...] = (),
        crawlers: tuple[str, ...] = SEARCH_CRAWLERS,
        codes: frozenset[str] = frozenset(),
        template: Template | None = None,
        is_cut: bool = False,
        charset: str | None = None,
        site: str | None = None,
    ) -> None:
        self.robots: RobotsTxt = parse(body, dialect)
        self.body = body
        self.dialects = dialects
        self.crawlers = crawlers
        self.codes = codes
        self.template = template
        self._shared: dict[str, Any] = {}
        #: See `_bytes_before`: a line, a column, and the number of bytes before it.
        self._last_edit = (0, 0, 0)
        self._extents: dict[tuple[int, ...], Classification] = {}
        self.is_cut = is_cut
        self.charset = charset
        self.site_host = urlsplit(site).hostname if site else None
        self.budget = Budget(_STEPS)
        #: For notes, so that they do not use up the budget for errors.
        self.idle_budget = Budget(_STEPS)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All lines."""
        return self.robots.lines

    @cached_property
    def is_text(self) -> bool:
        """Whether the file is meant for crawlers: not HTML, UTF-16, UTF-32, binary or a program."""
        body = self.body
        is_other = wide_charset(body) or is_binary(body) or program_language(body)
        return not (is_other or self.is_page)

    @cached_property
    def is_page(self) -> bool:
        """Whether the file is an HTML page."""
        return is_only_page(self.body, [self.robots])

    @cached_property
    def lines_by_kind(self) -> dict[LineKind, list[Line]]:
        """The lines that are not blank, by their kind."""
        found: dict[LineKind, list[Line]] = {kind: [] for kind in LineKind}
        for line in self.lines:
            if line.kind is not LineKind.BLANK:
                found[line.kind].append(line)
        return found

    @property
    def directive_lines(self) -> list[Line]:
        """The lines with a known directive."""
        return self.lines_by_kind[LineKind.DIRECTIVE]

    @cached_property
    def read_only_by_google(self) -> dict[int, Directive]:
        """The directives that only Google's parser recognizes, by line number."""
        unknown = {line.number for line in self.lines_by_kind[LineKind.UNKNOWN]}
        return file_of(parse(self.body, GOOGLE)).directives_of(unknown) if unknown else {}

    @cached_property
    def line_starts(self) -> list[int]:
        """Where each line begins, in bytes."""
        return [0, *[match.end() for match in _LINE_ENDS.finditer(self.robots.body)]]

    def lines_of(self, directive: Directive) -> list[Line]:
        """Return the lines of a directive."""
        return self._by_directive.get(directive, [])

    @cached_property
    def _by_directive(self) -> dict[Directive | None, list[Line]]:
        found: dict[Directive | None, list[Line]] = {}
        for line in self.directive_lines:
            found.setdefault(line.directive, []).append(line)
        return found

    @cached_property
    def lines_by_key(self) -> dict[str, list[Line]]:
        """The lines by their directive, known or not: its usual spelling, in lower case."""
        found: dict[str, list[Line]] = {}
        for line in [*self.directive_lines, *self.lines_by_kind[LineKind.UNKNOWN]]:
            key = line.directive.spellings[0] if line.directive else line.key.lower()
            found.setdefault(key, []).append(line)
        return found

    @cached_property
    def unknown_lines(self) -> list[Line]:
        """The lines with an unknown directive that Google does not read either, and that is no tag."""
        return [
            line
            for line in self.lines_by_kind[LineKind.UNKNOWN]
            if line.number not in self.read_only_by_google
            and not line.text.lstrip().startswith("<")
        ]

    @cached_property
    def rules(self) -> list[Line]:
        """The Allow and Disallow lines."""
        return [line for line in self.directive_lines if line.directive in RULES]

    @cached_property
    def unusual_rules(self) -> list[Line]:
        """Those of `rules` in whose values the checks of patterns may find something.

        A large file has many others.
        """
        return [line for line in self.rules if not _USUAL_PATTERN.fullmatch(line.value)]

    @cached_property
    def lines_by_group(self) -> tuple[list[Line], list[GroupLines]]:
        """The directives outside any group, and the groups."""
        outside, inside = file_of(self.robots).lines_by_group()
        return self._directives(outside), [
            GroupLines(
                [line for line in lines if line.directive is Directive.USER_AGENT],
                [line for line in lines if line.directive is not Directive.USER_AGENT],
            )
            for lines in map(self._directives, inside)
        ]

    def _directives(self, numbers: Iterable[int]) -> list[Line]:
        lines = (self.lines[number - 1] for number in numbers)
        return [line for line in lines if line.directive is not None]

    @property
    def groups(self) -> list[GroupLines]:
        """The groups."""
        return self.lines_by_group[1]

    def share_a_group(self, line: int, other: int) -> bool:
        """Return whether two lines are in the same group."""
        group = self._group_of_line.get(line)
        return group is not None and group == self._group_of_line.get(other)

    @cached_property
    def _group_of_line(self) -> dict[int, int]:
        """The index of a line's group, for all lines in groups but User-agent."""
        return {
            line.number: index for index, group in enumerate(self.groups) for line in group.others
        }

    @cached_property
    def analysis(self) -> WholeFile:
        """The analysis of all rule sets of the file."""
        return WholeFile(self.robots, self.dialects, self.budget, self.idle_budget, _MAX_RULE_SETS)

    @property
    def sets(self) -> list[tuple[str, Rules]]:
        """The rule sets of the file, each with an agent; that of ``*`` comes first."""
        return self.analysis.sets

    def once(self, name: str, compute: Callable[[], T]) -> T:
        """Return a result that several checks share: computed the first time."""
        if name not in self._shared:
            self._shared[name] = compute()
        found: T = self._shared[name]
        return found

    def extent(self, rules: Rules) -> Classification:
        """Return how much of the site some rules disallow; agents with the same groups share it."""
        lines = rules.group_lines
        if lines not in self._extents:
            self._extents[lines] = self.analysis.classification(rules)
        return self._extents[lines]

    def rules_of(self, rules: Rules) -> list[Rule]:
        """Return all rules of an agent, in the order of the file."""
        of_group = self._rules_of_group
        return [rule for line in rules.group_lines for rule in of_group[line]]

    @cached_property
    def _rules_of_group(self) -> dict[int, Sequence[Rule]]:
        """The rules of each group, by its first line: a group may be in many rule sets."""
        return {group.line: tuple(group.rules) for group in self.robots.groups}

    def value(self, line: Line) -> Place:
        """Return the place of a line's value, or of all of it if it has none."""
        start = self.value_start(line)
        return Place(line.number, start, len(line.value) or len(line.text.rstrip()) - start)

    def key(self, line: Line) -> Place:
        """Return the place of a line's directive."""
        return Place(line.number, max(line.text.find(line.key), 0), len(line.key))

    def text(self, line: Line) -> Place:
        """Return the place of a line without the space around it."""
        text = line.text.strip()
        return Place(line.number, line.text.find(text), len(text))

    def rule(self, rule: Rule) -> Place:
        """Return the place of a rule's path."""
        return self.value(self.lines[rule.line - 1])

    def comment_start(self, line: Line) -> int:
        """Return the column of the # of a line's comment, from 0; -1 if dialects differ on it."""
        at = line.text.find("#") if line.comment is not None else -1
        while at >= 0 and line.text[at + 1 :].strip(SPACE) != line.comment:
            at = line.text.find("#", at + 1)
        return at

    def value_start(self, line: Line) -> int:
        """Return the column of a line's value, from 0."""
        if line.text.isascii():
            return line.column - 1
        raw = line.text.encode("utf-8", "surrogateescape")[: line.column - 1]
        return len(raw.decode("utf-8", "surrogateescape"))

    def edit(self, line: Line, at: int, size: int, text: str) -> Edit:
        """Return the edit that replaces characters of a line."""
        start = self.line_starts[line.number - 1]
        if line.text.isascii():
            return Edit(start + at, start + at + size, text.encode("utf-8", "surrogateescape"))
        before = self._bytes_before(line, at)
        replaced = len(line.text[at : at + size].encode("utf-8", "surrogateescape"))
        return Edit(
            start + before, start + before + replaced, text.encode("utf-8", "surrogateescape")
        )

    def _bytes_before(self, line: Line, at: int) -> int:
        """Return the number of bytes before a column of a line.

        A long line may have many edits, from left to right: each part of it is encoded once.
        """
        number, last, before = self._last_edit
        if number != line.number or last > at:
            last, before = 0, 0
        before += len(line.text[last:at].encode("utf-8", "surrogateescape"))
        self._last_edit = line.number, at, before
        return before

    def edit_value(self, line: Line, text: str) -> Edit:
        """Return the edit that replaces a line's value."""
        return self.edit(line, self.value_start(line), len(line.value), text)

    def insertion(self, after: Line, *lines: str) -> Edit:
        """Return the edit that inserts lines after a line."""
        body, end = self.robots.body, self._line_end
        written = [line.encode("utf-8", "surrogateescape") + end for line in lines]
        is_last = after.number >= len(self.line_starts)
        at = len(body) if is_last else self.line_starts[after.number]
        missing_end = end if is_last and body and not body.endswith((b"\n", b"\r")) else b""
        return Edit(at, at, missing_end + b"".join(written))

    @cached_property
    def _line_end(self) -> bytes:
        return b"\r\n" if b"\r\n" in self.robots.body else b"\n"

    def rule_removal(self, line: Line) -> tuple[str, tuple[Edit, ...]]:
        """Return the suggestion to remove a rule without effect, and the edits that do it.

        The only rule of a group ends its list of user agents: without it, the next group would be
        merged into this one.
        """
        if line.number in self._only_rules:
            empty = self.edit(line, 0, len(line.text), f"{Directive.DISALLOW}:")
            return "Write Disallow: instead", (empty,)
        return "Remove this line", (self.removal(line),)

    @cached_property
    def _only_rules(self) -> set[int]:
        """The lines of rules that are the only one of their group."""
        return {group.rules[0].number for group in self.groups if len(group.rules) == 1}

    def removal(self, line: Line) -> Edit:
        """Return the edit that removes a line."""
        start = self.line_starts[line.number - 1]
        is_last = line.number >= len(self.line_starts)
        end = len(self.robots.body) if is_last else self.line_starts[line.number]
        return Edit(start, end, b"")


def corrected(
    place: Place, message: str, suggestion: str, edits: tuple[Edit, ...], text: str
) -> Remark:
    """Return a remark whose edits make a line be ``text``.

    If that changes what crawlers may fetch, the suggestion says so, and the edits are a proposal.
    """
    effect = effect_of(text)
    if effect is None:
        return Remark(place, message, suggestion, edits=edits)
    but = f" It then {effect}" if suggestion.endswith("?") else f", which {effect}"
    return Remark(place, message, suggestion + but, proposal=edits)


def effect_of(text: str) -> str | None:
    """Return what a line does, as part of a sentence; None if it has no effect on access.

    >>> effect_of("Disallow: /a"), effect_of("User-agent: Foo"), effect_of("Sitemap: https://e.com/s")
    ('blocks /a', 'applies the rules below to Foo', None)
    """
    (line,) = parse(text.encode("utf-8", "surrogateescape")).lines[:1] or (None,)
    if line is None or line.directive not in (*RULES, Directive.USER_AGENT):
        return None
    if line.directive is Directive.USER_AGENT:
        return f"applies the rules below to {listed([line.value])}"
    if not line.value:
        return "allows everything if the group has no other rule"
    return f"{verb_of(line)} {truncate(line.value)}"


def verb_of(line: Line) -> str:
    """Return what an Allow or Disallow line does to the paths that it matches."""
    return "allows" if line.directive is Directive.ALLOW else "blocks"


def listed(names: Iterable[str]) -> str:
    """Return the names of User-agent lines as part of a sentence, * in words.

    >>> listed(["Googlebot", "*"])
    'Googlebot and all other crawlers'
    """
    return first_names(["all other crawlers" if name == "*" else truncate(name) for name in names])


def truncate(text: str) -> str:
    """Truncate a value for a message."""
    return truncated(text, _MAX_SHOWN)


def quote(name: str) -> str:
    """Return a name, in quotation marks unless it is a plain token."""
    name = truncate(name)
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


def first_names(names: list[str]) -> str:
    """Return names for a sentence: at most three.

    >>> first_names(["A", "B"]), first_names(["A", "B", "C", "D"])
    ('A and B', 'A, B and 2 others')
    """
    if len(names) > 3:
        return f"{names[0]}, {names[1]} and {len(names) - 2} others"
    return joined(names)


def truncate_rule(rule: Rule) -> str:
    """Return a rule for a message, truncated."""
    # The path may be as long as the file.
    return truncate(f"{rule.directive}: {rule.pattern[:_MAX_SHOWN]}".rstrip())
