"""What a robots.txt states about a page: rules of groups, tokens, preferences and licenses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from ..model import Directive
from ..robots import RobotsTxt, Rules
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

_STATED = {True: Stated.YES, False: Stated.NO}


def place(line: int) -> str:
    """Return the name of a place in a robots.txt."""
    return f"robots.txt, line {line}"


def _at(
    line: int, grammar: Grammar, text: str, use: Use, stated: Stated, crawler: str = EVERYBODY
) -> Statement:
    """Return a statement in a line of the robots.txt."""
    return Statement(grammar, place(line), text, use, stated, crawler, line)


def record_of(agent: str) -> Crawler | None:
    """Return the known crawler with a name, which may have a version."""
    try:
        return named(agent.partition("/")[0].strip())
    except MissingExtraError:
        return None


def rules_of(robots: RobotsTxt, agent: str) -> Rules:
    """Return the rules of a crawler, with those it falls back to, or of everybody."""
    record = record_of(agent) if agent else None
    fallbacks = record.falls_back_to if record else ()
    return rules_for_data(robots, (agent, *fallbacks) if agent else "*")


def ignores_group(agent: str, rules: Rules) -> bool:
    """Return whether the operator of a crawler says that it ignores the group that applies."""
    record = record_of(agent) if agent else None
    if record is None:
        return False
    return record.obeys is Obeys.NOTHING or (
        record.obeys is Obeys.OWN_GROUPS and not rules.is_named
    )


def is_control(agent: str) -> bool:
    """Return whether a name is that of a token that fetches nothing: it only controls uses."""
    record = record_of(agent) if agent else None
    return record is not None and record.obeys is Obeys.CONTROL


def is_open(robots: RobotsTxt, url: str, agent: str) -> bool:
    """Return whether a crawler may fetch a page; it sees what is stated there."""
    rules = rules_of(robots, agent)
    return is_control(agent) or ignores_group(agent, rules) or rules.allowed(url)


def crawl_of(robots: RobotsTxt, url: str, agent: str) -> Crawl:
    """Return whether a crawler may fetch a page, according to its rules."""
    rules = rules_of(robots, agent)
    if ignores_group(agent, rules):
        return Crawl(agent, True, None, None)
    decision = rules.decide(url)
    rule = decision.rule
    return Crawl(
        agent or "*",
        decision.allowed,
        rule.line if rule else None,
        str(rule) if rule else None,
    )


class RobotsReader:
    """Reads what a robots.txt states about a page; crawlers with the same groups share the work."""

    def __init__(self, robots: RobotsTxt, url: str) -> None:
        self._robots = robots
        self._url = url
        self._preferences: dict[tuple[int, ...], tuple[Preference, ...]] = {}

    @cached_property
    def _of_file(self) -> frozenset[int]:
        """The lines with preferences outside any group."""
        rules = rules_of(self._robots, EVERYBODY)
        return frozenset(each.line for each in values_of(rules)[0].preferences)

    @cached_property
    def _of_policies(self) -> list[Statement]:
        return [
            each
            for policy in POLICY_TOKENS
            for each in _of_policy_token(self._robots, self._url, policy)
        ]

    def read(self, agent: str = EVERYBODY) -> Reading:
        """Return what is stated to a crawler, or to everybody."""
        found = Reading()
        rules = rules_of(self._robots, agent)
        if not (is_control(agent) or ignores_group(agent, rules)):
            found.statements += _of_rules(rules.decide(self._url), agent)
        found += self._of_preferences(rules, agent)
        for token in _control_tokens(agent):
            found.statements += _of_control_token(self._robots, self._url, token)
        found.statements += self._of_policies
        return found

    def _of_preferences(self, rules: Rules, agent: str) -> Reading:
        """Return what Content-Signal and Content-Usage lines state."""
        found = Reading()
        decision = rules.decide(self._url)
        if rules.group_lines not in self._preferences:
            self._preferences[rules.group_lines] = preferences_if_fetched(rules, self._url)
        for each in self._preferences[rules.group_lines]:
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
                use = (CONTENT_SIGNALS if is_signal else CONTENT_USAGES).get(each.key)
                stated = (SIGNAL_VALUES if is_signal else USAGE_VALUES).get(each.value)
                if use is None or stated is None:
                    found.notes.append(f"{where}: {text} {_UNKNOWN[use is None]}")
                else:
                    grammar = CONTENT_SIGNAL if is_signal else CONTENT_USAGE
                    found.statements.append(_at(each.line, grammar, text, use, stated, crawler))
        return found


def licenses_of(robots: RobotsTxt) -> Iterator[License]:
    """Yield the licenses of a robots.txt: they are for everybody."""
    for line in robots.lines:
        if line.directive is Directive.LICENSE and line.value:
            yield License(line.value, place(line.number), is_rsl=True)


def named_agents(robots: RobotsTxt) -> Iterator[str]:
    """Yield the crawlers and control tokens that groups name; known ones by their tokens."""
    for name in dict.fromkeys(name for group in robots.groups for name in group.agents):
        if name.strip() and name != "*" and policy_token(name) is None:
            record = record_of(name)
            yield record.token if record else name


def invalid_preferences(robots: RobotsTxt) -> Iterator[str]:
    """Yield a note about each line with preferences of which none is understood."""
    readers = {
        Directive.CONTENT_SIGNAL: (content_signal, CONTENT_SIGNALS, SIGNAL_VALUES),
        Directive.CONTENT_USAGE: (content_usage, CONTENT_USAGES, USAGE_VALUES),
    }
    for line in robots.lines:
        if line.directive in readers:
            read, uses, values = readers[line.directive]
            found = read(line.value.encode("utf-8", "surrogateescape"), line.number)
            if not any(each.key in uses and each.value in values for each in found):
                text = quoted(line.text.strip())
                yield f"{place(line.number)}: {text} states nothing (koster lint says why)"


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


def _control_tokens(agent: str) -> Sequence[Crawler]:
    """Return the control tokens of a crawler's operator: they bind its operator."""
    record = record_of(agent) if agent else None
    if record is None or is_control(agent):
        return () if record is None else (record,)
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
