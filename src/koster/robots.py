# cython: nonecheck=True, binding=False, embedsignature.format=clinic
"""`RobotsTxt` and `Rules`, and `parse`, which makes them.

Both are immutable for their users; their internal caches can be rebuilt. They are safe to share
between threads, and pickle as the bytes, the dialect and the agent.
"""

from __future__ import annotations

from functools import partial

from . import _charsets, _misuse
from ._engine import document as _document
from ._engine import matcher as _matcher
from ._engine import memory as _memory
from ._engine import no_cython as cython
from ._engine import ruleset as _ruleset
from ._engine import selection as _selection
from ._engine import table as _table
from ._wording import count_noun
from .decisions import Decision, Reason
from .dialects import RFC9309, USAGE_PATHS, Rates, WindowEnd
from .model import Directive

#: The maximum bytes of a file that are parsed, up to the end of a line: 16 MiB less one.
MAX_PARSED_BYTES = _document.MAX_PARSED_BYTES
_RULE = Reason.RULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from inspect import Signature
    from typing import Any

    from ._engine.document import File
    from ._engine.selection import Selection
    from ._engine.table import Table
    from .dialects import Dialect
    from .directives import CleanParam, Preference, RequestRate, Values, VisitTime
    from .model import Group, Line
elif cython.compiled:
    # Cython needs to see this, to know its own decorators; it never runs.
    import cython

#: The maximum number of agents whose rules a `RobotsTxt` caches; an LRU cache.
MAX_PREPARED_AGENTS = 64


class _Signature:
    """The signature of a class, which `inspect` does not find if it is compiled."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __get__(self, _: object, owner: object) -> Signature:
        from inspect import Signature, signature  # noqa: PLC0415 - few ask for it

        return signature(self._function).replace(return_annotation=Signature.empty)


@cython.binding(True)
def parse(body: bytes | str, dialect: Dialect = RFC9309) -> RobotsTxt:
    """Parse a robots.txt.

    Args:
        body: The file: bytes as they were served, or a string, which is read as UTF-8. Bytes with
            the byte order mark of UTF-16 or UTF-32 are decoded, except under ``GOOGLE``.
        dialect: How to read it; see `koster.DIALECTS`.

    Raises:
        TypeError: ``body`` is not bytes or str, or ``dialect`` is not a `Dialect`. What the
            file says never raises.

    Warns:
        UserWarning: ``body`` is a str, and a URL or like the name of a file: see `parse_file` and
            `koster.RobotsClient`. Nothing is looked up on disk.

    >>> robots = parse("User-agent: *\\nDisallow: /private\\nAllow: /private/press")
    >>> robots.allowed("https://example.com/private/x", "FooBot")
    False
    >>> print(robots.decide("https://example.com/private/press/1", "FooBot"))
    FooBot may fetch https://example.com/private/press/1: line 3, Allow: /private/press
    """
    return _parse(body, dialect)


@cython.locals(robots="RobotsTxt", served=bytes, data=bytes)
def _parse(body: Any, dialect: Dialect) -> RobotsTxt:
    """Make a `RobotsTxt` without its constructor, which costs as much as parsing a line."""
    robots = RobotsTxt.__new__(RobotsTxt)
    plan = _document.plan_for(dialect)
    if isinstance(body, str):
        _misuse.warn_if_location(body)
    served = data = body if type(body) is bytes else _document.bytes_of(body)
    # The first bytes of the byte order marks of UTF-16 and UTF-32.
    if plan.decodes and len(data) > 1 and (data[0] >= 0xFE or data[0] == 0):
        data = decoded(data)
    robots._file = _document.read(data, plan)
    robots._served = None if data is served else served
    robots._prepared = robots._last = None
    robots._clock = 0
    return robots


def decoded(served: bytes) -> bytes:
    """Return a file with the byte order mark of UTF-16 or UTF-32 as UTF-8; others unchanged."""
    is_whole = len(served) <= MAX_PARSED_BYTES
    text, charset = _charsets.decode_by_bom(served[:MAX_PARSED_BYTES], is_whole)
    return served if charset is None else text


class RobotsTxt:
    """A parsed robots.txt: decides by URL and agent, and has the `Rules` of each agent.

    ``agent`` is always a product token (``"FooBot"``), a User-Agent header, or a sequence of them
    in order of preference: the first that has a group is used.
    """

    __signature__ = _Signature(parse)

    def __init__(self, body: bytes | str, dialect: Dialect = RFC9309) -> None:
        """Parse a robots.txt, as `parse` does."""
        # Another thread may ask it.
        if self._file is not None if cython.compiled else hasattr(self, "_file"):
            raise TypeError("a RobotsTxt does not change: make another one")
        parsed = _parse(body, dialect)
        self._file: File = parsed._file
        self._served: bytes | None = parsed._served
        self._prepared: dict[str | tuple[str, ...], Rules] | None = None
        self._last: Rules | None = None
        self._clock = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self.body, self._file.plan.dialect)

    def __repr__(self) -> str:
        groups = count_noun(self._file.groups.count, "group")
        return f"<RobotsTxt {self._file.plan.dialect}: {len(self._file.data)} bytes, {groups}>"

    def __sizeof__(self) -> int:
        served = 0 if self._served is None else len(self._file.data)
        return object.__sizeof__(self) + self._file.allocated() + served

    @property
    def body(self) -> bytes:
        """The file as it was given; a string as UTF-8."""
        return self._file.data if self._served is None else self._served

    @property
    def dialect(self) -> Dialect:
        """How the file is read."""
        return self._file.plan.dialect

    def allowed(self, url: str, agent: str | Sequence[str]) -> bool:
        """Tell whether a crawler may fetch a URL.

        Args:
            url: An absolute URL, or a path with its query. Scheme and authority are ignored: the
                caller must use the file of the URL's site.
            agent: The crawler; see the class.

        Raises:
            TypeError: ``url`` is not a str, or ``agent`` neither a str nor a sequence of them.
            ValueError: the arguments are swapped: the agent is a URL or path, the URL is neither.
        """
        return self._rules_for(agent, url)._verdict(url)

    def decide(self, url: str, agent: str | Sequence[str]) -> Decision:
        """Decide like `allowed`, with the reason and the rule."""
        return self._rules_for(agent, url).decide(url)

    def rules_for(self, agent: str | Sequence[str]) -> Rules:
        """Return the rules of a crawler, prepared once for many decisions.

        Raises:
            TypeError: ``agent`` is neither a str nor a sequence of them.
            ValueError: ``agent`` is a URL, and not a name in the file.
        """
        return self._rules_for(agent, None)

    @cython.locals(last="Rules", rules="Rules")
    def _rules_for(self, agent: str | Sequence[str], url: object) -> Rules:
        """Return the rules of an agent, from the cache if possible.

        ``url`` is the URL of the question, or None. An agent that is a URL or path is checked each
        time, and not cached.
        """
        last = self._last
        if last is not None and last._agent is agent:
            return last
        if self._prepared is None:
            self._prepared = {}
        key = agent if type(agent) is str else _misuse.checked_agent(agent)
        rules = self._prepared.get(key)
        if rules is None:
            rules = _prepare(self._file, key, self._prepared)
            # Fast for product tokens.
            if type(key) is str and "/" in key and _misuse.is_location(key):
                # Callers may ask for every name in the file.
                rows = range(self._file.rows.count)
                if url is None and key not in self._file.values(rows, Directive.USER_AGENT.code):
                    _misuse.check_agent(key, "call rules_for(agent), then allowed(url)")
                _misuse.check_order(url, key)
                return rules
            if len(self._prepared) >= MAX_PREPARED_AGENTS:
                _discard_least_recent(self._prepared)
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
        """Return all values of a directive in the file, as written."""
        return self._file.values(range(self._file.rows.count), directive.code)

    def _nonempty_values(self, directive: Directive) -> tuple[str, ...]:
        return tuple([value for value in self.values(directive) if value])

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of Sitemap lines, as written."""
        return self._nonempty_values(Directive.SITEMAP)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of Host lines: the name a site wanted to be known by (Yandex, until 2018)."""
        return self._nonempty_values(Directive.HOST)

    @property
    def licenses(self) -> tuple[str, ...]:
        """The values of License lines: where the site's licences are (RSL 1.0)."""
        return self._nonempty_values(Directive.LICENSE)

    @property
    def clean_params(self) -> tuple[CleanParam, ...]:
        """The values of Clean-param lines (Yandex)."""
        return _values_in(self._file, range(self._file.rows.count)).clean_params

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """The Content-Signal and Content-Usage preferences before any group: for the whole file."""
        return _values_in(self._file, self._file.rows_before_groups()).preferences

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines of the file, including blank and malformed ones."""
        return self._file.lines()


def _values_in(file: File, rows: Iterable[int]) -> Values:
    """Return the parsed values in some rows of a file."""
    from .directives import Values  # noqa: PLC0415 - see there

    dialect = file.plan.dialect
    through_end = dialect.window_end == WindowEnd.THROUGH_MINUTE
    return Values(file.entries(rows), through_end, dialect.rates == Rates.TIMED_FIRST)


@cython.locals(rules="Rules", names=tuple)
def _prepare(file: File, agent: str | tuple[str, ...], prepared: dict[Any, Rules]) -> Rules:
    """Make the rules of an agent; agents with the same groups share compiled rules."""
    if isinstance(agent, str):
        names: tuple[bytes, ...] = (_selection.encoded(agent),)
    else:
        names = tuple([_selection.encoded(name) for name in agent or ("",)])
    others: list[Selection] = []
    for rules in list(prepared.values()):
        others.append(rules._selection)  # noqa: PERF401 - a comprehension would not be compiled
    rules = Rules.__new__(Rules)
    named_as = None
    if len(names) > 1:
        index = _selection.first_named(file, names)
        if index >= 0:
            named_as = agent[index]
    rules._assign(agent, _selection.select(file, names, others), named_as)
    return rules


@cython.locals(rules="Rules", least="Rules")
def _discard_least_recent(prepared: dict[Any, Rules]) -> None:
    """Discard the least recently used rules."""
    oldest = least = None
    # Not a list of items: finalizers, which may ask this file, run while it is made.
    for key, rules in prepared.copy().items():
        if least is None or rules._used < least._used:
            oldest, least = key, rules
    prepared.pop(oldest, None)


def _rules_of(body: bytes, dialect: Dialect, agent: str | tuple[str, ...]) -> Rules:
    """Return the rules of an agent; `Rules` are unpickled with it."""
    return _parse(body, dialect)._rules_for(agent, "/")


@cython.binding(True)
def _new_rules(robots: RobotsTxt, agent: str | Sequence[str]) -> None:
    """Have the signature of `Rules`."""


class Rules:
    """The rules of one crawler on one site; see `RobotsTxt.rules_for`."""

    __signature__ = _Signature(_new_rules)

    def __init__(self, robots: RobotsTxt, agent: str | Sequence[str]) -> None:
        """Make the rules of an agent, as `RobotsTxt.rules_for` does."""
        if self._selection is not None if cython.compiled else hasattr(self, "_selection"):
            raise TypeError("the rules of a crawler do not change: call rules_for again")
        self._copy_from(robots.rules_for(agent))

    def _copy_from(self, other: Rules) -> None:
        self._assign(other._agent, other._selection, other._named_as)

    def _assign(
        self, agent: str | tuple[str, ...], selection: Selection, named_as: str | None
    ) -> None:
        self._agent = agent
        self._named_as = named_as
        self._selection = selection
        #: Where the rules are; one with an index replaces a large one.
        self._table: Table = selection.ruleset.table
        self._used = 0
        #: Whether URLs are compared as they are, with patterns that are not: see `_asking`.
        self._is_literal: bool = selection.file.plan.is_literal

    def __reduce__(self) -> tuple[Any, ...]:
        file = self._selection.file
        return _rules_of, (file.data, file.plan.dialect, self._agent)

    def __repr__(self) -> str:
        return f"<Rules for {self._agent!r}: {count_noun(self._table.count, 'rule')}>"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._table.allocated()

    @property
    def agent(self) -> str | tuple[str, ...]:
        """The agent, as it was given."""
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
        """The lines where the groups begin; agents with the same ones have the same rules."""
        return self._selection.group_lines()

    @property
    def is_named(self) -> bool:
        """Whether a group names the crawler, so that the groups for ``*`` do not apply to it."""
        return self._selection.is_named()

    @property
    def named_as(self) -> str | None:
        """The name of the agent that a group has; None if the groups for ``*`` apply, or none.

        >>> robots = parse("User-agent: FooBot\\nDisallow: /")
        >>> robots.rules_for(("FooBot-Image", "FooBot")).named_as
        'FooBot'
        """
        if self._named_as is not None:
            return self._named_as
        if not self._selection.is_named():
            return None
        return self._agent if isinstance(self._agent, str) else self._agent[0]

    def allowed(self, url: str) -> bool:
        """Tell whether the crawler may fetch a URL; see `RobotsTxt.allowed`."""
        return _matcher.verdict(url, self._current_table())

    def allowed_many(self, urls: Iterable[str]) -> list[bool]:
        """Tell for each URL whether the crawler may fetch it.

        >>> rules = parse("User-agent: *\\nDisallow: /*.pdf$").rules_for("FooBot")
        >>> rules.allowed_many(["/a.pdf", "/a.pdf?download", "/a.html"])
        [False, True, True]
        """
        if isinstance(urls, str):
            raise TypeError("urls must be an iterable of str, not one str")
        return [self._verdict(url) for url in urls]

    def _verdict(self, url: str) -> bool:
        return _matcher.verdict(url, self._current_table())

    def _current_table(self) -> Table:
        table = self._table
        if table.count > _ruleset.MAX_RULES_WITHOUT_INDEX and table.trie is None:
            table = self._table = self._selection.ruleset.table_for(1)
        return table

    def decide(self, url: str) -> Decision:
        """Decide whether the crawler may fetch a URL, with the reason and the rule."""
        table = self._current_table()
        return self._decision(url, _matcher.find(url, table), table)

    def _decision(self, url: str, number: int, table: Table) -> Decision:
        """Return the decision about a URL by a rule, by its number in a table."""
        selection = self._selection
        rule = None
        group = None
        if number >= 0:
            reason = _RULE
            row = table.get(number, _table.ROW)
            rule = selection.rule(row)
            group = selection.group(selection.file.group_of(row))
        elif number == _matcher.EXEMPT:
            reason = Reason.ROBOTS_TXT
        elif number == _matcher.TOO_LONG:
            reason = Reason.URL_TOO_LONG
        else:
            reason = Reason.NO_RULE if selection.chosen else Reason.NO_GROUP
        if group is None and selection.chosen:
            group = selection.group(selection.chosen[0])
        falls_back = self._named_as is not None and self._named_as != self._agent[0]
        decision = _memory.new(Decision)
        _memory.assign(decision, "allowed", _matcher.allows(table, number))
        _memory.assign(decision, "reason", reason)
        _memory.assign(decision, "rule", rule)
        _memory.assign(decision, "group", group)
        _memory.assign(decision, "agent", self._agent)
        _memory.assign(decision, "url", url)
        _memory.assign(decision, "dialect", selection.file.plan.dialect)
        _memory.assign(decision, "why", "")
        _memory.assign(decision, "falls_back_to", self._named_as if falls_back else "")
        return decision

    def _file_values(self) -> Values:
        """Return the values before any group, which apply to all crawlers."""
        return _values_in(self._selection.file, self._selection.file.rows_before_groups())

    def _values(self) -> Values:
        """Return the values after a User-agent line with the crawler's name."""
        return _values_in(self._selection.file, self._selection.binding_rows())

    def values(self, directive: Directive) -> tuple[str, ...]:
        """Return the values of a directive that apply to this crawler, as written.

        >>> robots = parse("User-agent: *\\nNoindex: /a\\nDisallow: /b\\nNoindex: /c")
        >>> robots.rules_for("FooBot").values(Directive.NOINDEX)
        ('/a', '/c')
        """
        selection = self._selection
        return selection.file.values(selection.binding_rows(), directive.code)

    @property
    def crawl_delay(self) -> float | None:
        """The largest valid Crawl-delay, in seconds between requests, or None."""
        return self._values().crawl_delay

    @property
    def request_rates(self) -> tuple[RequestRate, ...]:
        """The Request-rates: documents per time, each optionally with a daily time window."""
        return self._values().request_rates

    @property
    def visit_times(self) -> tuple[VisitTime, ...]:
        """The daily time windows in which the crawler may visit; always, if there are none."""
        return self._values().visit_times

    @property
    def comments(self) -> tuple[str, ...]:
        """The values of Comment lines, for the crawler's author."""
        # Nearly all files have none, and then need no values of directives.
        return self._values().comments if self.values(Directive.COMMENT) else ()

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """The preferences for uses of the content: for the whole file, then of the groups."""
        whole_file = self._file_values()
        return whole_file.preferences + self._values().preferences

    def preferences_for(self, url: str) -> tuple[Preference, ...]:
        """Return the preferences that apply to a URL, one for each directive and key.

        Those of a group override those of the whole file. Content-Usage has paths: the longest
        matching path wins, the most restrictive preference on a tie, and only if the URL may be
        fetched (draft-ietf-aipref-attach). Values outside the vocabulary have no effect.
        """
        return self._preferences_for(url, self._verdict(url))

    def _preferences_for(self, url: str, crawlable: bool) -> tuple[Preference, ...]:
        chosen: dict[tuple[Directive, str], Preference] = {}
        for values in (self._file_values(), self._values()):
            for preference in values.preferences_for(crawlable, partial(matched_length, url)):
                chosen[preference.directive, preference.key] = preference
        return tuple(chosen.values())

    def interval(self, now: datetime) -> float | None:
        """Return the seconds between requests at a time: the slowest rate that applies, or None.

        With `EXTENDED2`, rates whose window includes the time replace those without a window.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._values().interval(now)

    def open_at(self, now: datetime) -> bool:
        """Tell whether the crawler may visit at a time.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._values().open_at(now)

    def next_open(self, now: datetime) -> datetime:
        """Return ``now`` if the crawler may visit then, else the next time it may, in UTC.

        Raises:
            ValueError: ``now`` has no time zone.
        """
        return self._values().next_open(now)


def matched_length(url: str, pattern: str) -> int:
    """Return the size of a pattern's canonical form in bytes if it matches, else -1."""
    raw = pattern.encode("utf-8", "surrogateescape")
    rule = parse(b"User-agent: *\nAllow: " + raw, USAGE_PATHS).decide(url, "*").rule
    return _ruleset.pattern_bytes(raw) if rule else -1
