# cython: nonecheck=True
"""`RobotsTxt` and `Rules`: the objects that people hold, and `parse`, which makes them.

A `RobotsTxt` keeps the octets of the file and two tables of integers, and makes the objects
that it hands out when they are asked for. Both never change as far as anyone can see: what
they keep for later, they can always make again. They are safe to share between threads and
pickle as the octets, the dialect and the agent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _agents, _groups, _lines, _match, _octets, _values
from ._lines import Lexer
from ._match import Form, Ruleset
from ._rows import Rows
from .dialects import RFC9309, Dialect, WindowEnd
from .model import (
    DIRECTIVE_OF,
    CleanParam,
    Decision,
    Directive,
    Group,
    Line,
    LineKind,
    Preference,
    Reason,
    RequestRate,
    Rule,
    Scope,
    VisitTime,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

#: What is read of a file, up to a whole line: offsets are 32 bits wide and a canonical
#: pattern takes up to three octets for each one. Crawlers read 500 KiB (RFC 9309 §2.5).
MAX_OCTETS = 1 << 28

#: Agents whose rules are kept prepared, for each file; the least recently used one goes first.
PREPARED_AGENTS = 64

_AGENT_CODE = Directive.USER_AGENT.code
_ALLOW_CODE = Directive.ALLOW.code
_DISALLOW_CODE = Directive.DISALLOW.code

_REASONS = {_match.UNMATCHED: Reason.NO_RULE, _match.EXEMPT: Reason.ROBOTS_TXT}
_KINDS = {
    _lines.BLANK: LineKind.BLANK,
    _lines.COMMENT: LineKind.COMMENT,
    _lines.MALFORMED: LineKind.MALFORMED,
    _lines.UNKNOWN: LineKind.UNKNOWN,
}
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")


class Plan:
    """What the steps need to know of a dialect, as numbers. Made once for each dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.lexer = Lexer(dialect)
        self.records = int(dialect.records)
        self.names = int(dialect.names)
        self.forms = [Form(reading) for reading in (dialect.reading, *dialect.versions.values())]
        self.versioned = len(self.forms) > 1


_plans: dict[Dialect, Plan] = {}
_default_plan = Plan(RFC9309)


def _plan_for(dialect: Dialect) -> Plan:
    """Return the plan of a dialect."""
    if dialect is RFC9309:
        return _default_plan
    if not isinstance(dialect, Dialect):
        raise TypeError(f"dialect must be a koster.Dialect, not {type(dialect).__name__}")
    plan = _plans.get(dialect)
    if plan is None:
        plan = _plans[dialect] = Plan(dialect)
    return plan


def parse(body: bytes | str, dialect: Dialect = RFC9309) -> RobotsTxt:
    """Parse a robots.txt.

    Args:
        body: The file: octets as they were served, or a string, which is read as UTF-8.
        dialect: How to read it; see `koster.DIALECTS`.

    Raises:
        TypeError: ``body`` is not bytes or str, or ``dialect`` is not a `Dialect`. What the
            file says never raises anything.

    >>> robots = parse("User-agent: *\\nDisallow: /private\\nAllow: /private/press")
    >>> robots.allowed("https://example.com/private/x", "FooBot")
    False
    >>> print(robots.decide("https://example.com/private/press/1", "FooBot"))
    FooBot may fetch https://example.com/private/press/1: line 3, Allow: /private/press
    """
    return _parsed(body, dialect)


def _parsed(body: bytes | str, dialect: Dialect) -> RobotsTxt:
    """Make a `RobotsTxt` without the detour by its constructor, which costs as much as a line."""
    robots = RobotsTxt.__new__(RobotsTxt)
    robots._read(body, dialect)
    return robots


class RobotsTxt:
    """A parsed robots.txt: ask it by URL and agent, or take the `Rules` of one agent.

    ``agent`` is everywhere a product token (``"FooBot"``), a whole User-Agent header, or a
    sequence of them in order of preference: the first that has a group is used.
    """

    def __init__(self, body: bytes | str, dialect: Dialect = RFC9309) -> None:
        """Parse a robots.txt, as `parse` does."""
        self._read(body, dialect)

    def _read(self, body: bytes | str, dialect: Dialect) -> None:
        """Take in a file."""
        plan = _plan_for(dialect)
        data = body if isinstance(body, bytes) else _octets_of(body)
        if len(data) > MAX_OCTETS:
            data = data[: max(data.rfind(b"\n", 0, MAX_OCTETS), data.rfind(b"\r", 0, MAX_OCTETS)) + 1]
        self._plan = plan
        self._data = data
        self._rows = Rows(8 + len(data) // 48)
        self._groups = Rows(8)
        self._prepared: dict[str | tuple[str, ...], Rules] | None = None
        self._last: Rules | None = None
        self._group_objects: tuple[Group, ...] | None = None
        plan.lexer.scan(data, len(data), self._rows, False)
        self._rows.close()
        _groups.delimit(self._rows, plan.records, self._groups)
        self._groups.close()
        if plan.versioned:
            _groups.choose_readings(data, self._rows, self._groups, plan.dialect)

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self._data, self._plan.dialect)

    def __repr__(self) -> str:
        return (
            f"<RobotsTxt {self._plan.dialect}: {len(self._data)} octets, "
            f"{self._groups.count} groups>"
        )

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._rows.__sizeof__() + self._groups.__sizeof__()

    @property
    def body(self) -> bytes:
        """The octets that were read; a string as UTF-8."""
        return self._data

    @property
    def dialect(self) -> Dialect:
        """How the file is read."""
        return self._plan.dialect

    def allowed(self, url: str, agent: str | Sequence[str]) -> bool:
        """Tell whether a robot may fetch a URL.

        Args:
            url: A whole URL, or its path and query. Scheme and authority are not looked at:
                which file belongs to which site is the caller's to know.
            agent: Who asks; see the class.

        Raises:
            TypeError: ``url`` is not a str, or ``agent`` neither a str nor a sequence of them.
        """
        return self._rules_for(agent)._verdict(url)

    def decide(self, url: str, agent: str | Sequence[str]) -> Decision:
        """Decide as `allowed` does, with the reason and the rule."""
        return self._rules_for(agent).decide(url)

    def rules_for(self, agent: str | Sequence[str]) -> Rules:
        """Return the rules of one robot, prepared once to be asked many times.

        Raises:
            TypeError: ``agent`` is neither a str nor a sequence of them.
        """
        return self._rules_for(agent)

    def _rules_for(self, agent: str | Sequence[str]) -> Rules:
        """Return the rules of an agent, kept or new."""
        last = self._last
        if last is not None and last._agent is agent:
            return last
        if self._prepared is None:
            self._prepared = {}
        key = agent if type(agent) is str else _agent_key(agent)
        rules = self._prepared.pop(key, None)
        if rules is None:
            rules = _prepare(self, key)
            if len(self._prepared) >= PREPARED_AGENTS:
                self._prepared.pop(next(iter(self._prepared)), None)
        self._prepared[key] = rules
        self._last = rules
        return rules

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in file order."""
        if self._group_objects is None:
            self._group_objects = tuple(self._group(number) for number in range(self._groups.count))
        return self._group_objects

    def _group(self, number: int) -> Group:
        """Make the object of a group."""
        first = self._groups.values[4 * number]
        after = self._groups.values[4 * number + 1]
        version = self._groups.values[4 * number + 2]
        return Group(
            agents=tuple(self._text(row) for row in self._rows_with(first, after, _AGENT_CODE)),
            rules=RuleView(self, first, after),
            line=self._rows.values[4 * first + 1],
            version=self._text(version) if version >= 0 else None,
        )

    def _rows_with(self, first: int, after: int, code: int) -> list[int]:
        """Return the rows that have a directive."""
        return [row for row in range(first, after) if self._rows.values[4 * row] == code]

    def _rule_rows(self, first: int, after: int) -> list[int]:
        """Return the rows of rules."""
        return [
            row
            for row in range(first, after)
            if self._rows.values[4 * row] in (_ALLOW_CODE, _DISALLOW_CODE)
        ]

    def _value(self, row: int) -> bytes:
        """Return the value of a row."""
        return self._data[self._rows.values[4 * row + 2] : self._rows.values[4 * row + 3]]

    def _text(self, row: int) -> str:
        """Return the value of a row as text."""
        return _values.text_of(self._value(row))

    def _line_of(self, row: int) -> int:
        """Return the number of the line that a row is of."""
        return self._rows.values[4 * row + 1]

    def _rule(self, row: int) -> Rule:
        """Make the object of a rule."""
        directive = DIRECTIVE_OF[self._rows.values[4 * row]]
        start = self._rows.values[4 * row + 2]
        pattern = self._text(row)
        allow = directive is Directive.ALLOW
        if not pattern and self._plan.dialect.reading.empty_rules:
            allow = not allow
        line_start = max(self._data.rfind(b"\n", 0, start), self._data.rfind(b"\r", 0, start)) + 1
        return Rule(directive, pattern, self._line_of(row), allow, start - line_start + 1)

    def _said(self, directive: Directive) -> list[tuple[bytes, int]]:
        """Return values and line numbers of a directive, wherever in the file it stands."""
        return [
            (self._value(row), self._line_of(row))
            for row in self._rows_with(0, self._rows.count, directive.code)
        ]

    def _texts(self, directive: Directive) -> tuple[str, ...]:
        """Return the values of a directive that are not empty."""
        return tuple(_values.text_of(value) for value, _ in self._said(directive) if value)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of Sitemap lines, as written."""
        return self._texts(Directive.SITEMAP)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of Host lines: the name a site wanted to be known by (Yandex, until 2018)."""
        return self._texts(Directive.HOST)

    @property
    def licenses(self) -> tuple[str, ...]:
        """The values of License lines: where the site's licences are (RSL 1.0)."""
        return self._texts(Directive.LICENSE)

    @property
    def clean_params(self) -> tuple[CleanParam, ...]:
        """What the Clean-param lines say (Yandex)."""
        found = (_values.clean_param(*said) for said in self._said(Directive.CLEAN_PARAM))
        return tuple(each for each in found if each is not None)

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """What Content-Signal and Content-Usage lines before any group say for the whole file."""
        first = self._groups.values[0] if self._groups.count else self._rows.count
        return tuple(self._preferences_in(range(first)))

    def _preferences_in(self, rows: Iterable[int]) -> Iterator[Preference]:
        """Go through the preferences in some rows."""
        for row in rows:
            code = self._rows.values[4 * row]
            if code == Directive.CONTENT_SIGNAL.code:
                yield from _values.content_signal(self._value(row), self._line_of(row))
            elif code == Directive.CONTENT_USAGE.code:
                yield from _values.content_usage(self._value(row), self._line_of(row))

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line of the file, also those that say nothing."""
        rows = Rows(8 + len(self._data) // 16)
        self._plan.lexer.scan(self._data, len(self._data), rows, True)
        rows.close()
        starts = [0, *(match.end() for match in _LINE_ENDS.finditer(self._data))]
        stops = [*(match.start() for match in _LINE_ENDS.finditer(self._data)), len(self._data)]
        return tuple(
            _line_object(
                self._data[start:stop],
                rows.values[4 * row],
                row + 1,
                rows.values[4 * row + 2] - start,
                rows.values[4 * row + 3] - start,
            )
            for row, start, stop in zip(range(rows.count), starts, stops, strict=False)
        )


def _octets_of(body: Any) -> bytes:
    """Return the octets of what was given to be parsed."""
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError(f"body must be bytes or str, not {type(body).__name__}")


def _agent_key(agent: Any) -> str | tuple[str, ...]:
    """Return an agent as a key of the table of prepared ones."""
    if isinstance(agent, str):
        return str(agent)
    if isinstance(agent, Sequence) and not isinstance(agent, (bytes, bytearray, memoryview)):
        names = tuple(agent)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"agent must be made of str, not {type(name).__name__}")
        return names
    raise TypeError(f"agent must be a str or a sequence of str, not {type(agent).__name__}")


def _prepare(robots: RobotsTxt, agent: str | tuple[str, ...]) -> Rules:
    """Make the rules of an agent; share them with an agent that has the same groups."""
    names = (agent,) if isinstance(agent, str) else agent or ("",)
    rules = Rules.__new__(Rules)
    rules._robots = robots
    rules._agent = agent
    rules._chosen, rules._how, rules._asked = _agents.groups_of(
        robots._data,
        robots._rows,
        robots._groups,
        robots._plan.names,
        tuple(name.encode("utf-8", "surrogatepass") for name in names),
    )
    rules._ruleset = _ruleset_for(robots, rules._chosen)
    return rules


def _ruleset_for(robots: RobotsTxt, chosen: list[int]) -> Ruleset:
    """Return the ruleset of some groups, that of an agent already prepared if there is one."""
    if robots._prepared:
        for other in tuple(robots._prepared.values()):
            if other._chosen == chosen:
                return other._ruleset
    reading = robots._groups.values[4 * chosen[0] + 3] if chosen else 0
    ruleset = Ruleset(robots._plan.forms[reading])
    ruleset.compile(robots._data, robots._rows, robots._groups, chosen)
    return ruleset


def _rules_of(robots: RobotsTxt, agent: str | tuple[str, ...]) -> Rules:
    """Return the rules of an agent: how `Rules` are unpickled."""
    return robots.rules_for(agent)


def _line_object(text: bytes, code: int, number: int, start: int, end: int) -> Line:
    """Make the object of a line; its value stands from ``start`` to ``end``."""
    directive = DIRECTIVE_OF.get(code)
    kind = _KINDS.get(code, LineKind.DIRECTIVE)
    if kind in (LineKind.BLANK, LineKind.COMMENT, LineKind.MALFORMED):
        key = value = b""
        start = len(text) - len(text.lstrip())
    else:
        value = text[start:end]
        key = text[:start].removeprefix(b"\xef\xbb\xbf").strip().removesuffix(b":").strip()
    comment = None
    mark = text.find(b"#", end)
    if mark >= 0:
        comment = _values.text_of(text[mark + 1 :].strip())
    return Line(
        number, kind, _values.text_of(text), _values.text_of(key), _values.text_of(value),
        comment, start + 1, directive,
    )  # fmt: skip


class RuleView(Sequence[Rule]):
    """The rules of a group: a sequence that makes each `Rule` when it is asked for."""

    __slots__ = ("_after", "_first", "_robots")

    def __init__(self, robots: RobotsTxt, first: int, after: int) -> None:
        self._robots = robots
        self._first = first
        self._after = after

    def _all(self) -> tuple[Rule, ...]:
        return _rules_between(self._robots, self._first, self._after)

    def __len__(self) -> int:
        return len(self._all())

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (tuple, RuleView)):
            return self._all() == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._all(),)


def _rules_between(robots: RobotsTxt, first: int, after: int) -> tuple[Rule, ...]:
    """Make the objects of the rules in some rows."""
    return tuple([robots._rule(row) for row in robots._rule_rows(first, after)])


class Rules:
    """The rules of one robot on one site. `RobotsTxt.rules_for` makes them."""

    def __init__(self, robots: RobotsTxt, agent: str | Sequence[str]) -> None:
        """Take the rules of an agent, as `RobotsTxt.rules_for` does."""
        other = robots._rules_for(agent)
        self._robots = robots
        self._agent = other._agent
        self._chosen = other._chosen
        self._how = other._how
        self._asked = other._asked
        self._ruleset = other._ruleset

    def __reduce__(self) -> tuple[Any, ...]:
        return _rules_of, (self._robots, self._agent)

    def __repr__(self) -> str:
        return f"<Rules for {self._agent!r}: {self._ruleset.count} rules>"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._ruleset.octets()

    @property
    def agent(self) -> str | tuple[str, ...]:
        """Who the rules are for, as it was asked."""
        return self._agent

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that are for this robot."""
        return tuple(self._robots._group(number) for number in self._chosen)

    def allowed(self, url: str) -> bool:
        """Tell whether the robot may fetch a URL; see `RobotsTxt.allowed`."""
        return self._verdict(url)

    def allowed_many(self, urls: Iterable[str]) -> list[bool]:
        """Tell for each of many URLs whether the robot may fetch it.

        >>> rules = parse("User-agent: *\\nDisallow: /*.pdf$").rules_for("FooBot")
        >>> rules.allowed_many(["/a.pdf", "/a.pdf?download", "/a.html"])
        [False, True, True]
        """
        if isinstance(urls, str):
            raise TypeError("urls must be an iterable of str, not one str")
        return [self._verdict(url) for url in urls]

    def _verdict(self, url: str) -> bool:
        """Tell whether the robot may fetch a URL."""
        return self._ruleset.allows(self._number(url))

    def _number(self, url: str) -> int:
        """Return the number of the rule that decides, or why there is none."""
        if not isinstance(url, str):
            raise TypeError(f"url must be a str, not {type(url).__name__}")
        held = _octets.utf8(url)
        octets, size = _octets.view(held)
        self._ruleset.ready()
        number = self._ruleset.rule_for(octets, size)
        if number == _match.NO_MEMORY:
            raise MemoryError("no memory for the path of a URL")
        return number

    def decide(self, url: str) -> Decision:
        """Decide whether the robot may fetch a URL, with the reason and the rule."""
        number = self._number(url)
        rule = None
        group = self._robots._group(self._chosen[0]) if self._chosen else None
        if number >= 0:
            reason = Reason.RULE
            row = self._ruleset.row(number)
            rule = self._robots._rule(row)
            group = self._robots._group(self._group_of(row))
        elif number == _match.UNMATCHED and not self._chosen:
            reason = Reason.NO_GROUP
        else:
            reason = _REASONS[number]
        return Decision(
            self._ruleset.allows(number), reason, rule, group, self._agent, url,
            self._robots._plan.dialect,
        )  # fmt: skip

    def _group_of(self, row: int) -> int:
        """Return the number of the group that a row stands in."""
        groups = self._robots._groups
        for number in self._chosen:
            if groups.values[4 * number] <= row < groups.values[4 * number + 1]:
                return number
        raise LookupError(row)

    def _bound_rows(self) -> list[int]:
        """Return the rows of its groups that stand below a line that names the robot."""
        found: list[int] = []
        groups = self._robots._groups
        for number in self._chosen:
            after = groups.values[4 * number + 1]
            first = _agents.binding_row(
                self._robots._data, self._robots._rows, groups.values[4 * number], after,
                self._how, self._asked,
            )  # fmt: skip
            found.extend(range(first, after))
        return found

    def _said(self, directive: Directive) -> list[tuple[bytes, int]]:
        """Return values and line numbers of a directive that are for this robot."""
        robots = self._robots
        return [
            (robots._value(row), robots._line_of(row))
            for row in self._bound_rows()
            if robots._rows.values[4 * row] == directive.code
        ]

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests: the largest Crawl-delay that is a number, or None."""
        delays = [_values.delay(value) for value, _ in self._said(Directive.CRAWL_DELAY)]
        return max((each for each in delays if each is not None), default=None)

    @property
    def request_rates(self) -> tuple[RequestRate, ...]:
        """How many documents in how much time, each perhaps only in a window of the day."""
        rates = self._timed(Directive.REQUEST_RATE, _values.request_rate)
        return tuple(rate for rate in rates if isinstance(rate, RequestRate))

    @property
    def visit_times(self) -> tuple[VisitTime, ...]:
        """The windows of the day in which the robot is welcome; without any, it always is."""
        windows = self._timed(Directive.VISIT_TIME, _values.visit_time)
        return tuple(window for window in windows if isinstance(window, VisitTime))

    def _timed(self, directive: Directive, value_of: Callable[..., Any]) -> list[Any]:
        """Return the values of a directive that has windows."""
        through_end = self._robots._plan.dialect.window_end is WindowEnd.THROUGH_MINUTE
        return [value_of(value, line, through_end) for value, line in self._said(directive)]

    @property
    def comments(self) -> tuple[str, ...]:
        """What Comment lines say to the robot's author."""
        return tuple(_values.text_of(value) for value, _ in self._said(Directive.COMMENT) if value)

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """What the site says about uses of its content: for the whole file, then in the groups."""
        return (*self._robots.preferences, *self._robots._preferences_in(self._bound_rows()))

    def preferences_for(self, url: str) -> tuple[Preference, ...]:
        """Return the preferences that hold for a URL, one for each directive and key.

        What a group says goes before what is said for the whole file. Content-Usage has
        paths: the lines with the longest path that matches count, the most restrictive on a
        tie, and only where the URL may be fetched (draft-ietf-aipref-attach). A value that its
        vocabulary does not know says nothing.
        """
        crawlable = self._verdict(url)
        chosen: dict[tuple[Directive, str], Preference] = {}
        first = self._robots._groups.values[0] if self._robots._groups.count else None
        whole_file = range(self._robots._rows.count if first is None else first)
        for rows in (whole_file, self._bound_rows()):
            said = self._robots._preferences_in(rows)
            signals = [each for each in said if each.directive is Directive.CONTENT_SIGNAL]
            usages = self._usages_for(url, rows) if crawlable else []
            for preference in _values.strictest([*signals, *usages]):
                chosen[preference.directive, preference.key] = preference
        return tuple(chosen.values())

    def _usages_for(self, url: str, rows: Iterable[int]) -> list[Preference]:
        """Return what the Content-Usage lines with the longest matching path say."""
        best = -1
        found: list[Preference] = []
        for row in rows:
            if self._robots._rows.values[4 * row] != Directive.CONTENT_USAGE.code:
                continue
            value = self._robots._value(row)
            octets = self._matched_octets(url, value[: _values.usage_path(value)])
            if octets < best or octets < 0:
                continue
            if octets > best:
                found = []
                best = octets
            found.extend(_values.content_usage(value, self._robots._line_of(row)))
        return found

    def _matched_octets(self, url: str, pattern: bytes) -> int:
        """Return how long a pattern is if it matches a URL, else -1."""
        if not pattern:
            return 0
        rule = parse(b"User-agent: *\nAllow: " + pattern).decide(url, "*").rule
        return _match.pattern_octets(pattern) if rule else -1

    def interval(self, now: datetime) -> float | None:
        """Return the seconds between requests at a moment: the slowest that applies, or None.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        moment = _values.utc(now)
        intervals = [rate.interval for rate in self.request_rates if _values.holds(rate, moment)]
        if self.crawl_delay is not None:
            intervals.append(self.crawl_delay)
        return max(intervals, default=None)

    def open_at(self, now: datetime) -> bool:
        """Tell whether the robot is welcome at a moment.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        moment = _values.utc(now)
        windows = self.visit_times
        return not windows or any(_values.holds(window, moment) for window in windows)

    def next_open(self, now: datetime) -> datetime:
        """Return ``now`` if the robot is welcome then, else when it next will be, in UTC.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        moment = _values.utc(now)
        return moment if self.open_at(moment) else _values.next_start(self.visit_times, moment)
