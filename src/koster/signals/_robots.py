"""What a robots.txt states about a page: rules of groups, tokens, preferences and licenses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .._asking import preferences_if_fetched, rules_for_data, values_of
from .._lazy import cached_property
from ..crawlers import (
    POLICY_TOKENS,
    Crawler,
    Obeys,
    PolicyToken,
    named,
    policy_token,
    registered,
)
from ..decisions import Decision
from ..directives import Preference, content_signal, content_usage
from ..errors import MissingExtraError
from ..model import Directive, Line
from ..robots import RobotsTxt, Rules
from ._agents import tokens_of
from ._grammars import CONTENT_SIGNAL, CONTENT_USAGE, CONTROL_TOKEN, GROUP, POLICY_TOKEN
from ._model import Crawl, Grammar, License, Reading, Stated, Statement, Unseen, Use
from ._notes import quoted
from ._words import (
    CONTENT_SIGNALS,
    CONTENT_USAGES,
    OF_FETCHED_PAGES,
    PURPOSES,
    SIGNAL_VALUES,
    USAGE_VALUES,
)

#: Agents whose rules are those for everybody.
EVERYBODY = ""

#: What reads a line with preferences, and the words that have a meaning: keys and values.
_Reader: TypeAlias = tuple[
    Callable[[bytes, int], list[Preference]], Mapping[str, Use], Mapping[str, Stated]
]

_STATED = {True: Stated.YES, False: Stated.NO}


def place(line: int) -> str:
    """Return the name of a place in a robots.txt."""
    return f"robots.txt, line {line}"


def _at(
    line: int, grammar: Grammar, text: str, use: Use, stated: Stated, crawler: str = EVERYBODY
) -> Statement:
    """Return a statement in a line of the robots.txt."""
    return Statement(grammar, place(line), text, use, stated, crawler, line)


@dataclass(frozen=True, slots=True)
class Agent:
    """A crawler or, with an empty name, everybody: what is known about it, and its rules.

    ``tokens`` are the names that it has in groups, headers and tags.
    """

    name: str
    tokens: tuple[str, ...]
    record: Crawler | None
    rules: Rules

    @property
    def is_control(self) -> bool:
        """Whether it is a token that fetches nothing: it only controls uses."""
        return self.record is not None and self.record.obeys is Obeys.CONTROL

    @property
    def ignores_group(self) -> bool:
        """Whether its operator says that it ignores the group that applies."""
        if self.record is None:
            return False
        obeys = self.record.obeys
        return obeys is Obeys.NOTHING or (obeys is Obeys.OWN_GROUPS and not self.rules.is_named)

    @property
    def uses(self) -> tuple[Use, ...] | None:
        """What it uses pages for, if that is known."""
        return None if self.record is None else uses_of(self.record)

    @property
    def bound_names(self) -> frozenset[str]:
        """Whom statements bind that bind it, in lower case: everybody, itself, its fallbacks."""
        fallbacks = self.record.falls_back_to if self.record else ()
        names = (EVERYBODY, *self.tokens, *fallbacks)
        return frozenset(name.lower() for name in names)

    def may_use(self, url: str) -> bool:
        """Return whether it may fetch a page; it sees what is stated there."""
        return self.is_control or self.ignores_group or self.rules.allowed(url)

    def crawl(self, url: str) -> Crawl:
        """Return whether it may fetch a page, with the rule that decides."""
        if self.ignores_group:
            return Crawl(self.name, True, None, None)
        decision = self.rules.decide(url)
        rule = decision.rule
        line, text = (rule.line, str(rule)) if rule else (None, None)
        return Crawl(self.name or "*", decision.allowed, line, text)


def _record_of(*tokens: str) -> Crawler | None:
    """Return the first known crawler with one of some names."""
    try:
        return next(filter(None, map(named, tokens)), None)
    except MissingExtraError:
        return None


class RobotsReader:
    """Reads what a robots.txt states about a page; crawlers with the same groups share the work."""

    def __init__(self, robots: RobotsTxt, url: str) -> None:
        self._robots = robots
        self._url = url
        self._agents: dict[tuple[str, ...], Agent] = {}
        self._preferences: dict[tuple[int, ...], tuple[Preference, ...]] = {}

    def agent(self, names: tuple[str, ...] = ()) -> Agent:
        """Return a crawler with its rules, with those that it falls back to, or everybody.

        Args:
            names: Product tokens or User-Agent headers, in order of preference; none: everybody.
        """
        if names not in self._agents:
            tokens = tuple(token for name in names for token in tokens_of(name))
            record = _record_of(*tokens)
            fallbacks = record.falls_back_to if record else ()
            rules = rules_for_data(self._robots, (*names, *fallbacks) if names else "*")
            name = names[0] if names else EVERYBODY
            self._agents[names] = Agent(name, tokens, record, rules)
        return self._agents[names]

    @cached_property
    def _of_file(self) -> frozenset[int]:
        """The lines with preferences outside any group."""
        return frozenset(each.line for each in values_of(self.agent().rules)[0].preferences)

    @cached_property
    def _of_policies(self) -> list[Statement]:
        return [
            each
            for policy in POLICY_TOKENS
            for each in _of_policy_token(self._robots, self._url, policy)
        ]

    def read(self, agent: Agent) -> Reading:
        """Return what is stated to a crawler, or to everybody."""
        found = Reading()
        if not (agent.is_control or agent.ignores_group):
            found.statements += _of_rules(agent.rules.decide(self._url), agent.name)
        found += self._of_preferences(agent.rules, agent.name)
        for token in _control_tokens(agent):
            found.statements += _of_control_token(self._robots, self._url, token)
        found.statements += self._of_policies
        return found

    def _preferences_of(self, rules: Rules) -> tuple[Preference, ...]:
        """Return the preferences for the page."""
        if rules.group_lines not in self._preferences:
            self._preferences[rules.group_lines] = preferences_if_fetched(rules, self._url)
        return self._preferences[rules.group_lines]

    def elsewhere(self, agent: Agent) -> Iterator[Statement]:
        """Yield what Content-Usage lines state that have a path, but not that of the page."""
        here = {each.line for each in self._preferences_of(agent.rules)}
        for each in values_of(agent.rules)[1].preferences:
            use, stated = use_of(each), USAGE_VALUES.get(each.value)
            if each.pattern and each.line not in here and use is not None and stated is not None:
                yield _at(each.line, CONTENT_USAGE, _written(each), use, stated)

    def _of_preferences(self, rules: Rules, agent: str) -> Reading:
        """Return what Content-Signal and Content-Usage lines state."""
        found = Reading()
        decision = rules.decide(self._url)
        for each in self._preferences_of(rules):
            where = place(each.line)
            text = _written(each)
            is_signal = each.directive is Directive.CONTENT_SIGNAL
            crawler = agent if rules.is_named and each.line not in self._of_file else EVERYBODY
            if not is_signal and each.line in self._of_file:
                found.notes.append(f"{where}: {text} is outside any group: it has no effect")
            elif not is_signal and not decision.allowed and decision.rule is not None:
                because = (
                    f"{place(decision.rule.line)}: {decision.rule} blocks the page, and "
                    "Content-Usage is only for pages that may be fetched"
                )
                found.unseen.append(Unseen(text, where, agent or "*", because))
            else:
                use = use_of(each)
                stated = (SIGNAL_VALUES if is_signal else USAGE_VALUES).get(each.value)
                if use is None or stated is None:
                    found.notes.append(f"{where}: {text} {_UNKNOWN[use is None]}")
                else:
                    grammar = CONTENT_SIGNAL if is_signal else CONTENT_USAGE
                    found.statements.append(_at(each.line, grammar, text, use, stated, crawler))
        return found


def use_of(preference: Preference) -> Use | None:
    """Return the use that a preference is about; None if `Use` does not have it."""
    is_signal = preference.directive is Directive.CONTENT_SIGNAL
    return (CONTENT_SIGNALS if is_signal else CONTENT_USAGES).get(preference.key)


def licenses_of(robots: RobotsTxt) -> Iterator[License]:
    """Yield the licenses of a robots.txt: they are for everybody."""
    for line in _lines_of(robots, Directive.LICENSE):
        if line.value:
            yield License(line.value, place(line.number), is_rsl=True)


def named_agents(robots: RobotsTxt) -> Iterator[str]:
    """Yield the crawlers and control tokens that groups name; known ones by their tokens."""
    for name in dict.fromkeys(name for group in robots.groups for name in group.agents):
        if name.strip() and name != "*" and policy_token(name) is None:
            record = _record_of(name.partition("/")[0].strip())
            yield record.token if record else name


def invalid_preferences(robots: RobotsTxt) -> Iterator[str]:
    """Yield a note about each line with preferences of which none is understood."""
    for line in _lines_of(robots, *_READERS):
        read, uses, values = _READERS[line.directive]
        found = read(line.value.encode("utf-8", "surrogateescape"), line.number)
        if not any(each.key in uses and each.value in values for each in found):
            text = quoted(line.text.strip())
            yield f"{place(line.number)}: {text} states nothing (koster lint says why)"


_READERS: Mapping[Directive | None, _Reader] = {
    Directive.CONTENT_SIGNAL: (content_signal, CONTENT_SIGNALS, SIGNAL_VALUES),
    Directive.CONTENT_USAGE: (content_usage, CONTENT_USAGES, USAGE_VALUES),
}


def _lines_of(robots: RobotsTxt, *directives: Directive | None) -> list[Line]:
    """Return the lines of some directives."""
    # Nearly all files have none, and to make all lines is slow.
    if not any(robots.values(each) for each in directives if each is not None):
        return []
    return [line for line in robots.lines if line.directive in directives]


def uses_of(crawler: Crawler) -> tuple[Use, ...]:
    """Return what a crawler uses pages for."""
    return tuple(dict.fromkeys(PURPOSES[each] for each in crawler.purposes if each in PURPOSES))


def _of_rules(decision: Decision, agent: str) -> Iterator[Statement]:
    """Yield what the rules of a group mean: a page that may not be fetched cannot be used.

    That a crawler may fetch a page says nothing about its use: many files allow GPTBot in a group
    with ``Content-Signal: ai-train=no``.
    """
    if decision.rule is not None and not decision.allowed:
        for use in OF_FETCHED_PAGES:
            yield _at(decision.rule.line, GROUP, str(decision.rule), use, Stated.NO, agent)


def _control_tokens(agent: Agent) -> Sequence[Crawler]:
    """Return the control tokens of a crawler's operator: they bind its operator."""
    record = agent.record
    if record is None:
        return ()
    if agent.is_control:
        return (record,)
    return [
        each
        for each in registered()
        if each.obeys is Obeys.CONTROL and each.operator == record.operator
    ]


def _of_control_token(robots: RobotsTxt, url: str, token: Crawler) -> Iterator[Statement]:
    rules = rules_for_data(robots, token.tokens)
    rule = rules.decide(url).rule
    # The rules for * state something about crawling; only a group of its own is about the use.
    if rule is not None and rules.is_named:
        for use in uses_of(token):
            text = f"{token.token}: {rule}"
            yield _at(rule.line, CONTROL_TOKEN, text, use, _STATED[rule.allow], token.token)


def _of_policy_token(robots: RobotsTxt, url: str, token: PolicyToken) -> Iterator[Statement]:
    rules = rules_for_data(robots, token.token)
    decision = rules.decide(url)
    rule = decision.rule
    use = PURPOSES[token.purpose]
    # Without a rule that matches, nothing is stated, as with control tokens.
    if rule is not None and rules.is_named:
        text = f"{token.token}: {rule}"
        yield _at(rule.line, POLICY_TOKEN, text, use, _STATED[decision.allowed])
    elif rule is not None and not decision.allowed:
        text = f"*: {rule}; whether * applies to {token.token} is not specified"
        yield _at(rule.line, POLICY_TOKEN, text, use, Stated.UNDECIDED)


_UNKNOWN = {True: "is about none of these uses", False: "has an unknown value"}


def _written(preference: Preference) -> str:
    path = f"{preference.pattern} " if preference.pattern else ""
    return f"{preference.directive}: {path}{preference.key}={preference.value}"
