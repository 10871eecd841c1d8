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
from .engine import ruleset as _ruleset
from .engine import selection as _selection
from .model import Decision, Directive, Reason

#: Bytes of a file that are parsed, up to the end of a line: 16 MiB less one.
MAX_PARSED_BYTES = _document.MAX_PARSED_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from .dialects import Dialect
    from .directives import CleanParam, Preference, RequestRate, Values, VisitTime
    from .engine.document import File
    from .engine.ruleset import Ruleset
    from .engine.selection import Selection
    from .model import Group, Line

#: Agents whose rules are kept prepared, for each file; the least recently used one goes first.
PREPARED_AGENTS = 64


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
    from .directives import Values  # noqa: PLC0415 - see there

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


def _prepare(file: File, agent: str | tuple[str, ...], prepared: dict[Any, Rules]) -> Rules:
    """Make the rules of an agent; share them with one already prepared that has its groups."""
    if isinstance(agent, str):
        names: tuple[bytes, ...] = (_selection.encoded(agent),)
    else:
        names = tuple([_selection.encoded(name) for name in agent or ("",)])
    others: list[Selection] = []
    for rules in list(prepared.values()):
        others.append(rules._selection)  # noqa: PERF401 - a comprehension would not be compiled
    rules = Rules.__new__(Rules)
    rules._fill(agent, _selection.select(file, names, others))
    return rules


def _drop_least_recent(prepared: dict[Any, Rules]) -> None:
    """Drop the rules that were asked for the longest time ago."""
    entries = list(prepared.items())
    oldest, least = entries[0]
    for key, rules in entries:
        if rules._used < least._used:
            oldest, least = key, rules
    prepared.pop(oldest, None)


def _rules_of(body: bytes, dialect: Dialect, agent: str | tuple[str, ...]) -> Rules:
    """Return the rules of an agent: how `Rules` are unpickled."""
    return parse(body, dialect).rules_for(agent)


class Rules:
    """The rules of one robot on one site. `RobotsTxt.rules_for` makes them."""

    def __init__(self, robots: RobotsTxt, agent: str | Sequence[str]) -> None:
        """Take the rules of an agent, as `RobotsTxt.rules_for` does."""
        self._take(robots.rules_for(agent))

    def _take(self, other: Rules) -> None:
        self._fill(other._agent, other._selection)

    def _fill(self, agent: str | tuple[str, ...], selection: Selection) -> None:
        """Hold what was selected for an agent."""
        self._agent = agent
        self._selection = selection
        self._ruleset: Ruleset = selection.ruleset
        self._used = 0

    def __reduce__(self) -> tuple[Any, ...]:
        file = self._selection.file
        return _rules_of, (file.data, file.plan.dialect, self._agent)

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
        return self._selection.file.plan.dialect

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that apply to this crawler."""
        return self._selection.groups()

    @property
    def group_lines(self) -> tuple[int, ...]:
        """The lines at which those groups begin: the same ones mean the same rules."""
        return self._selection.group_lines()

    @property
    def is_named(self) -> bool:
        """Whether a group names the crawler, so that the groups for ``*`` do not apply to it."""
        return self._selection.is_named()

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
        """Tell whether the crawler may fetch a URL."""
        return self._ruleset.allows(self._ruleset.number_for(url))

    def decide(self, url: str) -> Decision:
        """Decide whether the crawler may fetch a URL, with the reason and the rule."""
        selection = self._selection
        number = self._ruleset.number_for(url)
        rule = None
        group = None
        if number >= 0:
            reason = Reason.RULE
            row = self._ruleset.row(number)
            rule = selection.rule(row)
            group = selection.group(selection.file.group_of(row))
        elif number == _ruleset.EXEMPT:
            reason = Reason.ROBOTS_TXT
        else:
            reason = Reason.NO_RULE if selection.chosen else Reason.NO_GROUP
        if group is None and selection.chosen:
            group = selection.group(selection.chosen[0])
        allowed = self._ruleset.allows(number)
        dialect = selection.file.plan.dialect
        return Decision(allowed, reason, rule, group, self._agent, url, dialect)

    def _values_for_everyone(self) -> Values:
        """Return what the rows before any group say."""
        return _values_in(self._selection.file, self._selection.file.first_rows())

    def _values(self) -> Values:
        """Return what the rows that follow a line with the crawler's name say."""
        return _values_in(self._selection.file, self._selection.binding_rows())

    def values(self, directive: Directive) -> tuple[str, ...]:
        """Return the values of a directive in the lines that are for this robot, as written.

        >>> robots = parse("User-agent: *\\nNoindex: /a\\nDisallow: /b\\nNoindex: /c")
        >>> robots.rules_for("FooBot").values(Directive.NOINDEX)
        ('/a', '/c')
        """
        selection = self._selection
        return selection.file.values(selection.binding_rows(), directive.code)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests: the largest Crawl-delay that is a number, or None."""
        return self._values().crawl_delay

    @property
    def request_rates(self) -> tuple[RequestRate, ...]:
        """How many documents in how much time, each perhaps only in a window of the day."""
        return self._values().request_rates

    @property
    def visit_times(self) -> tuple[VisitTime, ...]:
        """The windows of the day in which the robot is welcome; without any, it always is."""
        return self._values().visit_times

    @property
    def comments(self) -> tuple[str, ...]:
        """What Comment lines say to the robot's author."""
        return self._values().comments

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """What the site says about uses of its content: for the whole file, then in the groups."""
        whole_file = self._values_for_everyone()
        return whole_file.preferences + self._values().preferences

    def preferences_for(self, url: str) -> tuple[Preference, ...]:
        """Return the preferences that hold for a URL, one for each directive and key.

        What a group says goes before what is said for the whole file. Content-Usage has
        paths: the lines with the longest path that matches count, the most restrictive on a
        tie, and only where the URL may be fetched (draft-ietf-aipref-attach). A value that its
        vocabulary does not know says nothing.
        """
        crawlable = self._verdict(url)
        chosen: dict[tuple[Directive, str], Preference] = {}
        for values in (self._values_for_everyone(), self._values()):
            for preference in values.preferences_for(crawlable, partial(_bytes_matched, url)):
                chosen[preference.directive, preference.key] = preference
        return tuple(chosen.values())

    def interval(self, now: datetime) -> float | None:
        """Return the seconds between requests at a moment: the slowest that applies, or None.

        Under `EXTENDED2` rates whose window has the moment replace those without a window.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._values().interval(now)

    def open_at(self, now: datetime) -> bool:
        """Tell whether the robot is welcome at a moment.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._values().open_at(now)

    def next_open(self, now: datetime) -> datetime:
        """Return ``now`` if the robot is welcome then, else when it next will be, in UTC.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._values().next_open(now)


def _bytes_matched(url: str, pattern: str) -> int:
    """Return how many bytes a pattern has, in its canonical form, if it matches; else -1."""
    raw = pattern.encode("utf-8", "surrogateescape")
    rule = parse(b"User-agent: *\nAllow: " + raw, USAGE_PATHS).decide(url, "*").rule
    return _ruleset.pattern_bytes(raw) if rule else -1


def file_of(robots: RobotsTxt) -> File:
    """Return the engine's view of a parsed file: for `koster.analysis` and `koster.lint`."""
    return robots._file


def selection_of(rules: Rules) -> Selection:
    """Return the engine's view of a crawler's rules: for `koster.analysis` and `koster.lint`."""
    return rules._selection
