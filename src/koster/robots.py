# cython: nonecheck=True
"""`RobotsTxt` and `Rules`: the objects that people hold, and `parse`, which makes them.

Both never change as far as anyone can see: what they keep for later they can always make
again. They are safe to share between threads, and pickle as the bytes, the dialect and the
agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .dialects import RFC9309, USAGE_PATHS, Rates, WindowEnd
from .engine import document as _document
from .engine import memory as _memory
from .engine import ruleset as _ruleset
from .engine import user_agents as _user_agents
from .engine.ruleset import Ruleset
from .model import RULES, Decision, Directive, Reason, Scope

#: Bytes of a file that are parsed, up to the end of a line: 16 MiB less one.
MAX_PARSED_BYTES = _document.MAX_PARSED_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from ._values import CleanParam, Preference, RequestRate, Values, VisitTime
    from .dialects import Dialect, Reading
    from .engine.document import File
    from .model import Group, Line, Rule

#: Agents whose rules are kept prepared, for each file; the least recently used one goes first.
PREPARED_AGENTS = 64

#: The codes of what a group says besides its agents and rules.
_SETTINGS = frozenset(
    directive.code
    for directive in Directive
    if directive.scope is Scope.GROUP and directive not in (*RULES, Directive.USER_AGENT)
)


def parse(body: bytes | str, dialect: Dialect = RFC9309) -> RobotsTxt:
    """Parse a robots.txt.

    Args:
        body: The file: bytes as they were served, or a string, which is read as UTF-8.
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


def _parsed(body: Any, dialect: Dialect) -> RobotsTxt:
    """Make a `RobotsTxt` without the detour by its constructor, which costs as much as a line."""
    robots = RobotsTxt.__new__(RobotsTxt)
    plan = _document.plan_for(dialect)
    robots._file = _document.read(body if type(body) is bytes else _document.bytes_of(body), plan)
    robots._prepared = None
    robots._last = None
    robots._clock = 0
    return robots


class RobotsTxt:
    """A parsed robots.txt: ask it by URL and agent, or take the `Rules` of one agent.

    ``agent`` is everywhere a product token (``"FooBot"``), a whole User-Agent header, or a
    sequence of them in order of preference: the first that has a group is used.
    """

    def __init__(self, body: bytes | str, dialect: Dialect = RFC9309) -> None:
        """Parse a robots.txt, as `parse` does."""
        self._file: File = _parsed(body, dialect)._file
        self._prepared: dict[str | tuple[str, ...], Rules] | None = None
        self._last: Rules | None = None
        self._clock = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self._file.data, self._file.plan.dialect)

    def __repr__(self) -> str:
        size, groups = len(self._file.data), self._file.groups.count
        return f"<RobotsTxt {self._file.plan.dialect}: {size} bytes, {groups} groups>"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._file.allocated()

    @property
    def body(self) -> bytes:
        """The bytes that were read; a string as UTF-8."""
        return self._file.data

    @property
    def dialect(self) -> Dialect:
        """How the file is read."""
        return self._file.plan.dialect

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
        rules = self._prepared.get(key)
        if rules is None:
            rules = _prepare(self._file, key, self._prepared)
            if len(self._prepared) >= PREPARED_AGENTS:
                _drop_least_recent(self._prepared)
            self._prepared[key] = rules
        self._clock += 1
        rules._used = self._clock
        self._last = rules
        return rules

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in file order."""
        return tuple([self._file.group(number) for number in range(self._file.groups.count)])

    def named_parts(self) -> list[tuple[int, int, str]]:
        """Return each agent that is named, with the number of its group and of its part of that.

        What a group says besides rules is for the agents above: each line of it that another agent
        follows begins a part.
        """
        file = self._file
        found: list[tuple[int, int, str]] = []
        for number in range(file.groups.count):
            part = 0
            has_said = False
            for row in range(file.groups.values[2 * number], file.groups.values[2 * number + 1]):
                code = file.rows.code(row)
                if code == Directive.USER_AGENT.code:
                    part += has_said
                    has_said = False
                    found.append((number, part, file.text(row)))
                elif code in _SETTINGS:
                    has_said = True
        return found

    def values(self, directive: Directive) -> tuple[str, ...]:
        """Return the values of a directive wherever in the file they stand, as written."""
        return self._file.values(range(self._file.rows.count), directive.code)

    def _texts(self, directive: Directive) -> tuple[str, ...]:
        """Return the values of a directive that are not empty."""
        return tuple([value for value in self.values(directive) if value])

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
        return _values_in(self._file, range(self._file.rows.count)).clean_params

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """What Content-Signal and Content-Usage lines before any group say for the whole file."""
        return _values_in(self._file, self._file.first_rows()).preferences

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line of the file, also those that say nothing."""
        return self._file.lines()


def _values_in(file: File, rows: Iterable[int]) -> Values:
    """Return what some rows of a file say."""
    from ._values import Values  # noqa: PLC0415 - see there

    dialect = file.plan.dialect
    through_end = dialect.window_end == WindowEnd.THROUGH_MINUTE
    return Values(file.entries(rows), through_end, dialect.rates == Rates.TIMED_FIRST)


def _agent_key(agent: Any) -> str | tuple[str, ...]:
    """Return an agent as a key of the table of prepared ones."""
    if isinstance(agent, str):
        return str.__str__(agent)
    if isinstance(agent, Sequence) and not isinstance(agent, (bytes, bytearray, memoryview)):
        for name in agent:
            if not isinstance(name, str):
                raise TypeError(f"agent must be made of str, not {type(name).__name__}")
        return tuple([str.__str__(name) for name in agent])
    raise TypeError(f"agent must be a str or a sequence of str, not {type(agent).__name__}")


def _encoded(text: str) -> bytes:
    """Return text as bytes."""
    return text.encode("utf-8", "surrogatepass")


def _prepare(file: File, agent: str | tuple[str, ...], prepared: dict[Any, Rules]) -> Rules:
    """Make the rules of an agent; share them with one already prepared that has its groups."""
    if isinstance(agent, str):
        names: tuple[bytes, ...] = (_encoded(agent),)
    else:
        names = tuple([_encoded(name) for name in agent or ("",)])
    rules = Rules.__new__(Rules)
    rules._find(file, agent, names)
    if prepared:
        for other in list(prepared.values()):
            if other._chosen == rules._chosen:
                rules._ruleset = other._ruleset
                return rules
    rules._ruleset = _compiled(file, rules._chosen)
    return rules


def _drop_least_recent(prepared: dict[Any, Rules]) -> None:
    """Drop the rules that were asked for the longest time ago."""
    entries = list(prepared.items())
    oldest, least = entries[0]
    for key, rules in entries:
        if rules._used < least._used:
            oldest, least = key, rules
    prepared.pop(oldest, None)


def _compiled(file: File, chosen: list[int]) -> Ruleset:
    """Return the ruleset of some groups."""
    ruleset = Ruleset(file.form(chosen[0]) if chosen else file.plan.forms[0])
    ruleset.compile(file.data, file.rows, file.groups, chosen)
    return ruleset


def _rules_of(body: bytes, dialect: Dialect, agent: str | tuple[str, ...]) -> Rules:
    """Return the rules of an agent: how `Rules` are unpickled."""
    return parse(body, dialect).rules_for(agent)


class Rules:
    """The rules of one robot on one site. `RobotsTxt.rules_for` makes them."""

    def __init__(self, robots: RobotsTxt, agent: str | Sequence[str]) -> None:
        """Take the rules of an agent, as `RobotsTxt.rules_for` does."""
        self._take(robots.rules_for(agent))

    def _take(self, other: Rules) -> None:
        """Become the same as others."""
        self._file: File = other._file
        self._agent: str | tuple[str, ...] = other._agent
        self._chosen: list[int] = other._chosen
        self._how: int = other._how
        self._asked: bytes = other._asked
        self._ruleset: Ruleset = other._ruleset
        self._made: tuple[int, Group] | None = None

    def _find(self, file: File, agent: str | tuple[str, ...], names: tuple[bytes, ...]) -> None:
        """Find the groups of an agent."""
        self._file = file
        self._agent = agent
        self._used = 0
        self._made = None
        plan = file.plan
        if plan.choose is None:
            self._chosen, self._how, self._asked = _user_agents.groups_of(
                file.data, file.rows, file.heeded, plan.names, plan.merges, names
            )
        else:
            self._chosen, self._how, self._asked = _user_agents.chosen_groups(
                file.data, file.rows, file.heeded, plan.choose, plan.merges, names
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rules_of, (self._file.data, self._file.plan.dialect, self._agent)

    def __repr__(self) -> str:
        return f"<Rules for {self._agent!r}: {self._ruleset.count} rules>"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._ruleset.allocated()

    @property
    def agent(self) -> str | tuple[str, ...]:
        """Who the rules are for, as it was asked."""
        return self._agent

    @property
    def dialect(self) -> Dialect:
        """How the file is read."""
        return self._file.plan.dialect

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that are for this robot."""
        return tuple([self._file.group(number) for number in self._chosen])

    @property
    def is_named(self) -> bool:
        """Whether a group names the robot, so that those for everybody are not for it."""
        return len(self._chosen) > 0 and self._asked != b"*"

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
        held = _memory.utf8(url if type(url) is str else str.__str__(url))
        raw, size = _memory.view(held)
        self._ruleset.ready()
        number = self._ruleset.rule_for(raw, size)
        if number == _ruleset.NO_MEMORY:
            raise MemoryError("no memory for the path of a URL")
        return number

    def _expect(self, questions: int) -> None:
        """Be told how many questions come."""
        for _ in range(min(questions, _ruleset.FEW_QUESTIONS)):
            self._ruleset.ready()

    def decide(self, url: str) -> Decision:
        """Decide whether the robot may fetch a URL, with the reason and the rule."""
        number = self._number(url)
        rule = None
        group = None
        if number >= 0:
            reason = Reason.RULE
            row = self._ruleset.row(number)
            rule = self._file.rule(row)
            group = self._group(self._group_of(row))
        elif number == _ruleset.EXEMPT:
            reason = Reason.ROBOTS_TXT
        else:
            reason = Reason.NO_RULE if self._chosen else Reason.NO_GROUP
        if group is None and self._chosen:
            group = self._group(self._chosen[0])
        allowed = self._ruleset.allows(number)
        return Decision(allowed, reason, rule, group, self._agent, url, self._file.plan.dialect)

    def _group(self, number: int) -> Group:
        """Return a group, the last one as it was made then."""
        made = self._made
        if made is None or made[0] != number:
            made = self._made = (number, self._file.group(number))
        return made[1]

    # What follows is for `koster.analysis`, which reasons about what is compared.

    @property
    def group_lines(self) -> tuple[int, ...]:
        """The lines at which the groups begin that are for this robot: what tells rules apart."""
        rows, groups = self._file.rows, self._file.groups
        return tuple([rows.number(groups.values[2 * number]) for number in self._chosen])

    def rule_lines(self) -> list[int]:
        """Return the lines of the Allow and Disallow lines in those groups."""
        file = self._file
        found: list[int] = []
        for number in self._chosen:
            first = file.groups.values[2 * number]
            after = file.groups.values[2 * number + 1]
            for code in (Directive.ALLOW.code, Directive.DISALLOW.code):
                found += [file.rows.number(row) for row in file.rows_with(first, after, code)]
        return found

    @property
    def reading(self) -> Reading:
        """How the groups are read: paths, patterns, and the choice between them."""
        return self._ruleset.form.reading

    @property
    def unmatched_allowed(self) -> bool:
        """What holds where no rule matches."""
        return self._ruleset.unmatched_allowed

    def compared_rules(self) -> list[tuple[bytes, int, int, bool, bool, int, int]]:
        """Return what is compared with paths, by number; see `_ruleset.Ruleset.patterns`."""
        return self._ruleset.patterns()

    def compared_path(self, url: str) -> bytes:
        """Return what of a URL is compared with patterns."""
        return self._ruleset.path_of(_encoded(url))

    def number_for(self, url: str) -> int:
        """Return the number of the compared rule that decides, -1 if none matches.

        -2: the URL is that of /robots.txt itself, which the reading exempts.
        """
        return self._number(url)

    def rule_in(self, row: int) -> Rule:
        """Return the rule of a row, as compared rules have it."""
        return self._file.rule(row)

    def _group_of(self, row: int) -> int:
        """Return the number of the group that a row stands in."""
        groups = self._file.groups
        found = -1
        for number in self._chosen:
            if number > found and groups.values[2 * number] <= row:
                found = number
        return found

    def _bound_rows(self) -> list[int]:
        """Return the rows of its groups that stand below a line that names the robot."""
        file = self._file
        found: list[int] = []
        for number in self._chosen:
            first = file.groups.values[2 * number]
            after = file.groups.values[2 * number + 1]
            first = _user_agents.binding_row(
                file.data, file.rows, first, after, self._how, self._asked
            )
            found.extend(range(first, after))
        return found

    def _said(self) -> Values:
        """Return what the rows below a line that names the robot say."""
        return _values_in(self._file, self._bound_rows())

    def values(self, directive: Directive) -> tuple[str, ...]:
        """Return the values of a directive in the lines that are for this robot, as written.

        >>> robots = parse("User-agent: *\\nNoindex: /a\\nDisallow: /b\\nNoindex: /c")
        >>> robots.rules_for("FooBot").values(Directive.NOINDEX)
        ('/a', '/c')
        """
        return self._file.values(self._bound_rows(), directive.code)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests: the largest Crawl-delay that is a number, or None."""
        return self._said().crawl_delay

    @property
    def request_rates(self) -> tuple[RequestRate, ...]:
        """How many documents in how much time, each perhaps only in a window of the day."""
        return self._said().request_rates

    @property
    def visit_times(self) -> tuple[VisitTime, ...]:
        """The windows of the day in which the robot is welcome; without any, it always is."""
        return self._said().visit_times

    @property
    def comments(self) -> tuple[str, ...]:
        """What Comment lines say to the robot's author."""
        return self._said().comments

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """What the site says about uses of its content: for the whole file, then in the groups."""
        whole_file = _values_in(self._file, self._file.first_rows())
        return whole_file.preferences + self._said().preferences

    def preferences_for(self, url: str) -> tuple[Preference, ...]:
        """Return the preferences that hold for a URL, one for each directive and key.

        What a group says goes before what is said for the whole file. Content-Usage has
        paths: the lines with the longest path that matches count, the most restrictive on a
        tie, and only where the URL may be fetched (draft-ietf-aipref-attach). A value that its
        vocabulary does not know says nothing.
        """
        crawlable = self._verdict(url)
        chosen: dict[tuple[Directive, str], Preference] = {}
        for values in (_values_in(self._file, self._file.first_rows()), self._said()):
            for preference in values.preferences_for(crawlable, partial(_bytes_matched, url)):
                chosen[preference.directive, preference.key] = preference
        return tuple(chosen.values())

    def interval(self, now: datetime) -> float | None:
        """Return the seconds between requests at a moment: the slowest that applies, or None.

        Under `EXTENDED2` rates whose window has the moment replace those without a window.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._said().interval(now)

    def open_at(self, now: datetime) -> bool:
        """Tell whether the robot is welcome at a moment.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._said().open_at(now)

    def next_open(self, now: datetime) -> datetime:
        """Return ``now`` if the robot is welcome then, else when it next will be, in UTC.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._said().next_open(now)


def _bytes_matched(url: str, pattern: str) -> int:
    """Return how many bytes a pattern has, in its canonical form, if it matches; else -1."""
    raw = pattern.encode("utf-8", "surrogateescape")
    rule = parse(b"User-agent: *\nAllow: " + raw, USAGE_PATHS).decide(url, "*").rule
    return _ruleset.pattern_bytes(raw) if rule else -1
