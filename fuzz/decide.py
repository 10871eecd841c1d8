"""Any bytes parse in linear time in every dialect, and all ways to decide agree: none raises."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa

import koster
from koster._asking import rules_for_data
from koster._misuse import is_location
from koster.bulk import kernel
from koster.crawlers import agent_for

from . import _growth, _inputs, _tally, _twins
from ._inputs import Agent, Case

DIALECTS: tuple[Any, ...] = tuple(_twins.dialects().values())

#: A second file in columns, so that rows are sorted by file.
_OTHER = b"User-agent: *\nDisallow: /a*b\n"


describe, simplify = _inputs.decode, _inputs.as_raw


def check(data: bytes) -> None:
    """Check one input."""
    case = _inputs.decode(data)
    if case.is_large:
        _check_growth(case)
        return
    # Plain Python is slow: one dialect at a time.
    for dialect in DIALECTS if koster.COMPILED else DIALECTS[case.choice % len(DIALECTS) :][:1]:
        _check_dialect(case, dialect)
    if case.choice & 7 == 0:
        _check_file(case, DIALECTS[case.choice // 8 % len(DIALECTS)])
    _check_kernel(case, DIALECTS[case.choice % len(DIALECTS)])


def askable(agent: Agent) -> Agent:
    """Return an agent that `koster.RobotsTxt.allowed` does not take for a URL."""
    return (agent,) if isinstance(agent, str) and is_location(agent) else agent


def _check_dialect(case: Case, dialect: Any) -> None:
    robots = koster.parse(case.body, dialect)
    for each in case.agents:
        agent = askable(each)
        rules = robots.rules_for(agent)
        verdicts = rules.allowed_many(case.urls)
        for url, verdict in zip(case.urls, verdicts, strict=True):
            decision = rules.decide(url)
            assert decision.allowed is verdict, (dialect, agent, url)
            assert robots.allowed(url, agent) is verdict, (dialect, agent, url)
            assert (decision.reason is koster.Reason.RULE) == (decision.rule is not None)
        assert str(decision).encode()
        # From the fifth lookup on, large sets of rules have an index.
        assert rules.allowed_many(case.urls) == verdicts, (dialect, agent)
        _tally.add(len(verdicts))


def _check_file(case: Case, dialect: Any) -> None:
    """Check what else a file says, and that it survives pickling."""
    robots = koster.parse(case.body, dialect)
    lines = robots.lines
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert repr(robots.groups) + repr(robots)
    for name in ("sitemaps", "hosts", "licenses", "clean_params", "preferences"):
        assert isinstance(getattr(robots, name), tuple)
    agent = askable(case.agents[0])
    rules = robots.rules_for(agent)
    copies = pickle.loads(pickle.dumps(robots)), pickle.loads(pickle.dumps(rules))
    assert copies[0].lines == lines
    decision = rules.decide(case.urls[0])
    assert copies[1].decide(case.urls[0]) == decision
    if decision.rule is not None:
        assert decision.group is not None
        assert decision.rule in decision.group.rules
    assert rules.crawl_delay is None or rules.crawl_delay >= 0
    for name in ("request_rates", "visit_times", "comments", "preferences", "groups"):
        assert isinstance(getattr(rules, name), tuple)
    assert isinstance(rules.preferences_for(case.urls[0]), tuple)


def _check_kernel(case: Case, dialect: Any) -> None:
    """Check that the kernel answers a column as the library answers each row."""
    names = [each if isinstance(each, str) else "".join(each[:1]) for each in case.agents]
    rows = [(name, url) for name in names for url in case.urls]
    agents, urls = (
        pa.array([_bytes(each) for each in column], pa.binary())
        for column in zip(*rows, strict=True)
    )
    bodies = [_OTHER if number % 3 == 1 else case.body for number in range(len(rows))]
    bodies_or_one = case.body if case.choice & 1 else pa.array(bodies, pa.large_binary())
    robots = {body: koster.parse(body, dialect) for body in (case.body, _OTHER)}
    asked = [case.body] * len(rows) if case.choice & 1 else bodies
    expected = [
        _cells(rules_for_data(robots[body], agent_for(name)).decide(url))
        for body, (name, url) in zip(asked, rows, strict=True)
    ]
    if case.choice & 6:
        found = kernel.allowed(bodies_or_one, urls, agents, dialect).to_pylist()
        assert found == [each["allowed"] for each in expected], (dialect, found, expected)
    else:
        found = kernel.decide(bodies_or_one, urls, agents, dialect).to_pylist()
        assert found == expected, (dialect, found, expected)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _cells(decision: koster.Decision) -> dict[str, Any]:
    rule = decision.rule
    pattern = rule and rule.pattern.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return {
        "allowed": decision.allowed,
        "reason": str(decision.reason),
        "line": rule and rule.line,
        "pattern": pattern,
    }


def _check_growth(case: Case) -> None:
    """Check that time is linear in the size of the file, of the URL and of the agent."""
    dialect = DIALECTS[case.choice % len(DIALECTS)]
    agent, url = askable(case.agents[0]), case.urls[0][:200]
    name = agent if isinstance(agent, str) else "".join(agent[:1])
    head, part, tail = _thirds(case.body, case.choice)

    def long_file(size: int) -> None:
        robots = koster.parse(_growth.repeated(head, part, tail, size), dialect)
        robots.rules_for(agent).decide(url)

    def long_url(size: int) -> None:
        path = _growth.repeated(
            url.encode("utf-8", "replace"), url.encode("utf-8", "replace"), b"", size
        )
        koster.parse(case.body[:500], dialect).rules_for(agent).allowed(path.decode())

    def long_agent(size: int) -> None:
        header = _growth.repeated(b"x ", name.encode("utf-8", "replace") + b" ", b"", size)
        koster.parse(case.body, dialect).rules_for((header.decode(),)).allowed(url)

    runs = (long_file, long_file, long_url, long_agent)
    run = runs[case.choice >> 4 & 3]
    _growth.check(run, f"{run.__name__} in {dialect}")
    _tally.add(1)


def _thirds(body: bytes, choice: int) -> tuple[bytes, bytes, bytes]:
    """Return a body in three parts; the middle one begins and ends anywhere."""
    first, last = sorted((len(body) * (choice & 15) // 16, len(body) * (choice >> 4) // 16))
    return body[:first], body[first:last] or b"\n", body[last:]
