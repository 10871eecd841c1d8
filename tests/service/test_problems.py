"""Invalid requests and their problem responses."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.helpers.api import post, problem

INVALID: list[tuple[str, Any, int, str, str]] = [
    ("decide", {"urls": ["/"]}, 422, "invalid", ""),
    ("decide", {"robots": "", "site": "a.example", "urls": ["/"]}, 422, "invalid", ""),
    ("decide", {"robots": ""}, 422, "invalid", "/urls"),
    ("decide", {"robots": "", "urls": []}, 422, "invalid", "/urls"),
    ("decide", {"robots": "", "urls": [""]}, 422, "invalid", "/urls/0"),
    ("decide", {"robots": "", "urls": [1]}, 422, "invalid", "/urls/0"),
    ("decide", {"robots": "", "urls": ["/" * 8193]}, 422, "invalid", "/urls/0"),
    ("decide", {"robots": "", "urls": ["/"], "agents": [""]}, 422, "invalid", "/agents/0"),
    ("decide", {"robots": "", "urls": ["/"], "dialect": "nope"}, 422, "invalid", "/dialect"),
    ("decide", {"robots": "", "urls": ["/"], "agent": "x"}, 422, "invalid", "/agent"),
    ("decide", {"robots": "\ud800", "urls": ["/"]}, 422, "invalid", "/robots"),
    ("decide", {"robots": "", "urls": ["/\udfff"]}, 422, "invalid", "/urls/0"),
    ("decide", [], 422, "invalid", ""),
    ("decide", None, 422, "invalid", ""),
    ("decide", {"site": "ftp://a.example/", "urls": ["/"]}, 422, "no-site", "/site"),
    ("decide", {"site": "http://", "urls": ["/"]}, 422, "no-site", "/site"),
    ("decide", {"robots": "", "urls": ["/"] * 1001}, 422, "too-many-questions", "-"),
    ("lint", {"robots": "", "dialects": []}, 422, "invalid", "/dialects"),
    ("lint", {"robots": "", "dialects": ["x~/y"]}, 422, "invalid", "/dialects/0"),
    ("disagree", {"robots": "", "agents": ["x"] * 51}, 422, "invalid", "/agents"),
]


@pytest.mark.parametrize(
    ("route", "request_body", "status", "code", "pointer"), INVALID, ids=range(len(INVALID))
)
def test_validation_errors_point_to_the_value(
    api: httpx2.Client, route: str, request_body: Any, status: int, code: str, pointer: str
) -> None:
    body = json.dumps(request_body)
    answer = api.post(f"/v1/{route}", content=body, headers={"Content-Type": "application/json"})
    problem_body = problem(answer, status, code)
    if pointer != "-":
        assert pointer in [each.get("pointer") for each in problem_body["errors"]]


def test_repeated_validation_errors_are_reported_once(api: httpx2.Client) -> None:
    """A request of one megabyte can contain half a million errors."""
    for request_body in (
        {"robots": "", "urls": [1] * 300_000},
        {"robots": "", "urls": [""] * 200_000},
        {"robots": "", "urls": ["/"] * 200_000},
        {"robots": "", "urls": ["/"], "agents": [None] * 200_000},
        {f"x{number}": 1 for number in range(60_000)},
    ):
        problem_body = problem(api.post("/v1/decide", json=request_body), 422, "invalid")
        assert len(problem_body.get("errors", ())) <= 3


def test_response_size_is_limited(api: httpx2.Client) -> None:
    long = "User-agent: *\nDisallow: /" + "*" * 60_000
    text = api.post("/v1/decide", json={"urls": ["/"] * 1_000, "robots": long}).text
    assert len(text) < 1 << 20
    assert json.loads(text)["decisions"][0]["rule"].endswith("*…")
    for request_body in (
        {"urls": ["/" + "x" * 8_000] * 30, "agents": ["a", "b", "c"]},
        {"urls": ["/" + "\u0000" * 800] * 100, "agents": ["a", "b", "c"]},
        {"urls": ["/x"], "agents": ["x" * 900] * 900},
    ):
        answer = api.post("/v1/decide", json=request_body | {"robots": ""})
        problem(answer, 422, "answer-too-large")
    text = api.post("/v1/audit", json={"robots": long}).text
    assert len(text) < 1_000_000
    findings = post(api, "lint", {"robots": "User-agent: *\n" + "Dissallow: /x\n" * 5_000})
    assert (len(findings["findings"]), findings["more"] > 3_000) == (1_000, True)


def test_malformed_requests(api: httpx2.Client) -> None:
    json_type = {"Content-Type": "application/json"}
    for body in (b'{"rob', b"\xff\xfe", b"[" * 100_000, b'{"urls": ["\xed\xa0\x80"]}', b"1" * 9999):
        answer = api.post("/v1/decide", content=body, headers=json_type)
        assert answer.status_code in (400, 422)
        problem(answer, answer.status_code, "not-json" if answer.status_code == 400 else "invalid")
    answer = api.post("/v1/decide", content=b"{}", headers={"Content-Type": "text/plain"})
    problem(answer, 415, "not-declared-json")
    problem(api.post("/v1/decide"), 415, "not-declared-json")
    problem(api.get("/v1/decide"), 405, "method-not-allowed")
    problem(api.get("/nowhere"), 404, "not-found")
    problem(api.get("/static/../_app.py"), 404, "not-found")
    problem(api.get("/static/%2e%2e/_app.py"), 404, "not-found")
    problem_body = problem(api.get("/v1/check"), 422, "invalid")
    assert problem_body["errors"][0]["parameter"] == "url"
    problem(api.get("/v1/check", params={"url": "mailto://x"}), 422, "no-site")
    problem(api.get("/v1/check", params={"url": "/x"}), 422, "no-site")
    problem_body = problem(
        api.get("/v1/check", params={"url": "a.invalid", "agnet": "x"}), 422, "invalid"
    )
    assert problem_body["errors"] == [{"detail": "is unknown", "parameter": "agnet"}]
    twice = [("url", "a.invalid"), ("agent", "x"), ("agent", "y")]
    problem(api.get("/v1/check", params=twice), 422, "invalid")
    problem(api.get("/v1/fetch", params={"site": "a.invalid", "max_age": 59}), 422, "invalid")
    problem(api.get("/v1/fetch", params={"site": "http://[x/"}), 422, "no-site")


def test_duplicate_json_keys_are_rejected(api: httpx2.Client) -> None:
    for body in (
        b'{"robots": "", "urls": ["/"], "urls": ["/x"]}',
        b'{"robots": "", "robots": "", "urls": ["/"]}',
        b'{"before": {"robots": "", "r\\u006fbots": "x"}, "after": {"robots": ""}}',
    ):
        route = "diff" if b"before" in body else "decide"
        headers = {"Content-Type": "application/json"}
        answer = api.post(f"/v1/{route}", content=body, headers=headers)
        assert "duplicate key" in problem(answer, 400, "not-json")["detail"]


def test_many_keys_and_parameters_take_little_time(api: httpx2.Client) -> None:
    names = [f'"{number}": 1' for number in range(80_000)]
    headers = {"Content-Type": "application/json"}
    body = "{" + ", ".join([*names, names[-1]]) + "}"
    # Comparing each key with each other key would take minutes.
    answer = api.post("/v1/decide", content=body.encode(), headers=headers, timeout=20)
    problem(answer, 422, "invalid")
    for nested in (b"[" + b"[]," * 300_000 + b"0]", b"[" + b"{}," * 300_000 + b"0]"):
        answer = api.post("/v1/decide", content=nested, headers=headers)
        assert "20,000 values" in problem(answer, 422, "invalid")["detail"]
    query = "&".join(map(str, range(3_000)))
    problem_body = problem(api.get(f"/v1/check?{query}"), 422, "invalid")
    assert problem_body["detail"] == "more than 20 parameters"


def test_problem_responses_are_short(api: httpx2.Client) -> None:
    long = "\u00e9" * 400_000
    for request_body in (
        {long: 1},
        {"robots": "", "urls": ["/"], long: 1},
        {"robots": "", "urls": ["/"], "dialect": long[:1_000]},
        {"site": "https://" + long[:2_000] + "/%", "urls": ["/"]},
        {"site": "ftp://" + long[:2_000], "urls": ["/"]},
        {f"{number}{long[:1_000]}": 1 for number in range(19)},
    ):
        answer = api.post("/v1/decide", json=request_body)
        assert 400 <= answer.status_code < 500
        assert len(answer.content) < 50_000
    twice = "{" + ", ".join([f'"{long[:200_000]}": 1'] * 2) + "}"
    headers = {"Content-Type": "application/json"}
    answer = api.post("/v1/decide", content=twice.encode(), headers=headers)
    assert len(problem(answer, 400, "not-json")["detail"]) <= 300
    answer = api.get("/v1/check", params={"url": "a.invalid", long[:5_000]: "x"})
    assert len(answer.content) < 50_000
    agents = ["x" * 1_000] * 500
    answer = api.post("/v1/audit", json={"robots": "", "agents": agents})
    assert len(problem(answer, 422, "unknown-agent")["detail"]) <= 300


def test_problem_responses_do_not_echo_input(api: httpx2.Client) -> None:
    script = "<script>alert(1)</script>"
    for request_body in (
        {"robots": script, "urls": [1]},
        {"robots": "", "urls": ["/"], "agents": script},
    ):
        assert script not in api.post("/v1/decide", json=request_body).text
