"""The engine answers as recorded, and plain Python takes the same steps."""

from __future__ import annotations

import json
from typing import Any

import pytest

import koster
from tests.helpers.engine_answers import PATH, answers, work
from tests.helpers.support import sampled

CASES = sampled(json.loads(PATH.read_text("utf-8")), 1 if koster.COMPILED else 6)


@pytest.mark.parametrize("dialect", koster.DIALECTS)
def test_answers_as_recorded(dialect: str) -> None:
    for case in CASES:
        if case["dialect"] == dialect:
            _check_answers(case)


def _check_answers(case: dict[str, Any]) -> None:
    expected = {**case}
    dialect, body, steps = (expected.pop(name) for name in ("dialect", "body", "work"))
    assert answers(dialect, body) == expected
    if not koster.COMPILED:
        assert work(dialect, body) == steps


def test_directives_before_a_name_do_not_apply_to_it() -> None:
    body = "User-agent: foo\nCrawl-delay: 5\nUser-agent: *\nCrawl-delay: 2\nDisallow: /"
    delays = [koster.parse(body).rules_for(agent).crawl_delay for agent in ("foo", "x")]
    assert delays == [5.0, 2.0]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (koster.RFC9309, b"\t\n\x0b\x0c\r #*/"),
        (koster.MK1996, b"\t\x0b\x0c\r #"),
        (koster.EXTENDED2, b"\t\x0b\x0c\r "),
    ],
    ids=str,
)
def test_bytes_that_end_a_name(dialect: koster.Dialect, expected: bytes) -> None:
    bodies = [b"User-agent: x%c\nDisallow: /" % byte for byte in range(256)]
    named = [koster.parse(body, dialect).rules_for("x").is_named for body in bodies]
    assert bytes(byte for byte in range(256) if named[byte]) == expected


@pytest.mark.parametrize("name", ["RFC9309", "GOOGLE", "MK1994", "MK1996"])
def test_bytes_of_names(name: str) -> None:
    """Case is ignored for ASCII letters only."""
    bodies = [b"User-agent: %c\nDisallow: /" % byte for byte in range(256)]
    files = [koster.parse(body, koster.DIALECTS[name]) for body in bodies]
    named = [byte for byte in range(256) if files[byte].rules_for("z").is_named]
    assert named == list(b"Zz")
