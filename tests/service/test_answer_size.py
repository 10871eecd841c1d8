"""Worker processes refuse answers that are too large while they make them."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

import koster
from koster._reports import records
from koster._worker import answers, loop
from koster._worker.files import NamedFile, UnreadOutcome
from koster._worker.refusals import RefusedError
from koster.access import Outcome, Unreachable
from koster.dialects import DIALECTS, RFC9309
from koster.freshness import Answer, Entry
from koster.service import ServiceSettings
from tests.helpers import serving
from tests.helpers.api import problem
from tests.helpers.support import sampled

LIMIT = 20_000

#: A rule that dialects decide differently is in each difference with its long line.
RULES = "".join(f"Allow: /{number}/\nDisallow: /{number}/{'x' * 900}\n" for number in range(40))
FILE = f"User-agent: *\n{RULES}".encode()
AGENTS = [f"bot{number}" for number in range(10)]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ENTRY = Entry(
    "https://a.example", Answer.FILE, "https://a.example/robots.txt", (), 200, "",
    b"".join(b"Sitemap: /%d\n" % number for number in range(2_000)), NOW, NOW,
)  # fmt: skip
SITE = UnreadOutcome(
    "https://a.example", RFC9309, koster.parse(b""), None, "", ENTRY.url, (), NOW, NOW,
    None, False, None, Unreachable.DISALLOW, ENTRY,
)  # fmt: skip

SOURCES: dict[str, Any] = {
    "url": "/", "headers": (), "html": None, "charset": None, "tdmrep": None, "licenses": {},
    "notes": (), "unread": (),
}  # fmt: skip

#: By the name of the function: its arguments, and the function that makes its records.
QUESTIONS: dict[str, tuple[tuple[Any, ...], tuple[Any, str] | None]] = {
    "decide": ((FILE, "RFC9309", AGENTS, ["/a" * 300] * 90), (answers, "decision_record")),
    "files": (
        ([NamedFile("a", FILE)] * 3, "RFC9309", AGENTS, ["/a" * 300] * 30),
        (answers, "decision_record"),
    ),
    "lint": ((b"Disallow: a\n" * 999, ["RFC9309"]), (answers, "of_finding")),
    "diff": ((FILE, b"", "RFC9309"), (records, "of_difference")),
    "audit_crawlers": ((FILE, "RFC9309"), (records, "_of_verdict")),
    "disagree": ((FILE, "RFC9309", [*DIALECTS], AGENTS), (records, "of_difference")),
    "signals": (
        (
            b"".join(b"User-agent: bot%d\nDisallow: /\n" % number for number in range(100)),
            SOURCES,
            [],
            "RFC9309",
            NOW,
        ),
        (records, "_of_statement"),
    ),
    "check": ((SITE, "https://a.example/", "a"), None),
    "fetch": ((SITE,), None),
}


def count_calls(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[None]:
    """Return a list that grows with each call of a function."""
    calls: list[None] = []
    function = getattr(module, name)

    def counting(item: Any) -> Any:
        calls.append(None)
        return function(item)

    monkeypatch.setattr(module, name, counting)
    return calls


@pytest.mark.parametrize("name", sampled([*QUESTIONS], 2))
def test_too_large_answers_are_not_made(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    arguments, maker = QUESTIONS[name]

    def function(limit: int, *arguments: Any) -> bytes:
        found = getattr(answers, name)(limit, *arguments)
        # With what the service needs itself.
        return found if isinstance(found, bytes) else found[0]

    whole = function(1 << 30, *arguments)
    assert len(whole) > 2 * LIMIT
    assert function(len(whole), *arguments) == whole
    with pytest.raises(RefusedError, match="larger than"):
        function(len(whole) - 1, *arguments)
    made: list[None] = []
    if maker is not None:
        made = count_calls(monkeypatch, *maker)
        function(1 << 30, *arguments)
        all_made = len(made)
        made.clear()
    kind, (status, code, *_), _ = loop.run(name, (LIMIT, *arguments), 60, 60)
    assert (kind, status, code) == (loop.REFUSED, 422, "answer-too-large")
    if maker is not None:
        assert len(made) < all_made / 2


def test_every_answer_is_limited() -> None:
    functions = {
        name
        for name, function in inspect.getmembers(answers, inspect.isfunction)
        if function.__module__ == answers.__name__
        and "limit" in inspect.signature(function).parameters
    }
    assert functions == set(QUESTIONS)


def test_tracebacks_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_limit: int) -> None:
        raise ValueError("x" * 1_000_000)

    monkeypatch.setattr(answers, "fetch", fail)
    kind, text, _ = loop.run("fetch", (LIMIT,), 60, 60)
    assert kind == loop.FAILED
    assert len(text) <= 20_000


@pytest.mark.thorough
def test_service_says_that_an_answer_is_too_large() -> None:
    with serving.in_thread(ServiceSettings(rate=0)) as url, httpx2.Client(base_url=url) as api:
        rules = "".join(f"Allow: /{n}/\nDisallow: /{n}/{'x' * 900}\n" for n in range(100))
        request = {"robots": f"User-agent: *\n{rules}", "agents": AGENTS}
        answer = api.post("/v1/disagree", json=request, timeout=30)
        assert "1,048,576 bytes" in problem(answer, 422, "answer-too-large")["detail"]


def test_outcome_is_read_as_it_was() -> None:
    outcome = answers.read(SITE)  # type: ignore[attr-defined]
    assert type(outcome) is Outcome
    assert outcome.robots is not None
    assert (outcome.origin, len(outcome.sitemaps)) == ("https://a.example", 2_000)
