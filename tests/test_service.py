"""The API: every route, with what it gives, and what it says where it has no answer."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import serving
from anyio.abc import TaskGroup
from click.testing import CliRunner
from server import Answer, Site, closed_port
from support import ROOT

import koster
from koster.cli._root import koster as command_line
from koster.dialects import DIALECTS
from koster.service import Settings, create_app
from koster.service._fair import Lane, WorkTime
from koster.service._gate import _HEADERS, _PAGE_HEADERS
from koster.service._limits import RateLimit

ROBOTS = (ROOT / "examples/robots.txt").read_text("utf-8")


@pytest.fixture(scope="module")
def api() -> Iterator[httpx2.Client]:
    with serving.in_thread() as url, httpx2.Client(base_url=url, timeout=30) as client:
        yield client


def asked(api: httpx2.Client, route: str, question: Any) -> Any:
    answer = api.post(f"/v1/{route}", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert (found["status"], found["code"], found["type"]) == (status, code, "about:blank")
    assert found["title"]
    assert found["detail"]
    return found


# Decisions.


def test_every_robot_and_every_url(api: httpx2.Client) -> None:
    agents = ["FooBot", "GPTBot", "*", "Mozilla/5.0 (compatible; Googlebot/2.1)"]
    urls = ["/", "/search?q=tea", "https://example.com/private/x", "//x/y", "", "caf\u00e9 ☕"]
    answer = asked(api, "decide", {"robots": ROBOTS, "agents": agents, "urls": urls[:4] + urls[5:]})
    robots = koster.parse(ROBOTS)
    expected = [robots.decide(url, agent) for agent in agents for url in urls if url]
    assert [
        (each["agent"], each["url"], each["allowed"], each["reason"], each["line"], each["rule"])
        for each in answer["decisions"]
    ] == [
        (
            each.agent,
            each.url,
            each.allowed,
            each.reason.value,
            each.rule and each.rule.line,
            each.rule and str(each.rule),
        )
        for each in expected
    ]
    assert [each["sentence"] for each in answer["decisions"]] == list(map(str, expected))
    assert answer["fetch"] is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_in_every_dialect(api: httpx2.Client, dialect: str) -> None:
    question = {"robots": ROBOTS, "urls": ["/a", "/search?x"], "dialect": dialect.lower()}
    answer = asked(api, "decide", question)
    robots = koster.parse(ROBOTS, DIALECTS[dialect])
    assert answer["dialect"] == dialect
    assert [each["allowed"] for each in answer["decisions"]] == [
        robots.allowed(url, "*") for url in question["urls"]
    ]


def test_large_questions_are_worked_on_beside(api: httpx2.Client) -> None:
    robots = "User-agent: *\n" + "".join(f"Disallow: /{number}$\n" for number in range(30_000))
    urls = [f"/{number}" for number in range(0, 60_000, 70)]
    answer = asked(api, "decide", {"robots": robots, "urls": urls})
    assert [each["line"] for each in answer["decisions"]] == [
        int(url[1:]) + 2 if int(url[1:]) < 30_000 else None for url in urls
    ]


def test_by_a_site_s_own_file(api: httpx2.Client, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /caf\xe9\n", headers={"Content-Type": "text/plain"})
    urls = ["/x", f"{site.url}/caf%E9"]
    answer = asked(api, "decide", {"site": site.url, "urls": urls, "agents": ["a", "b"]})
    assert [each["allowed"] for each in answer["decisions"]] == [True, False, True, False]
    fetch = answer["fetch"]
    assert (fetch["site"], fetch["outcome"], fetch["hops"][0]["status"]) == (site.url, "file", 200)
    assert len(site.asked) == 1
    answer = api.post(
        "/v1/decide", json={"site": site.url, "urls": ["/x", "http://other.example/x"]}
    )
    found = problem(answer, 422, "another-site")
    assert found["errors"][0]["pointer"] == "/urls/1"


def test_what_a_site_without_a_file_means(api: httpx2.Client, site: Site) -> None:
    site.robots(404)
    question = {"site": site.url, "urls": ["/x"]}
    (decided,) = asked(api, "decide", question)["decisions"]
    assert (decided["allowed"], decided["reason"]) == (True, "unavailable")
    found = api.post("/v1/lint", json={"site": site.url})
    problem(found, 422, "no-file")


def test_check_fetches_the_url_s_own_site(api: httpx2.Client, site: Site) -> None:
    site.pages["/robots.txt"] = Answer(301, headers={"Location": "/elsewhere"})
    site.pages["/elsewhere"] = Answer(200, b"User-agent: GPTBot\nDisallow: /x")
    answer = api.get("/v1/check", params={"url": f"{site.url}/x?y", "agent": "GPTBot"})
    assert answer.status_code == 200
    assert answer.json()["decision"]["line"] == 2
    assert [hop["status"] for hop in answer.json()["fetch"]["hops"]] == [301, 200]
    answer = api.get("/v1/check", params={"url": f"{site.url}/x?y"})
    assert answer.json()["decision"]["allowed"]
    assert len(site.asked) == 2


def test_fetch_gives_the_file_as_the_command_does(api: httpx2.Client, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /\xff\n", headers={"ETag": '"a"'})
    found = api.get("/v1/fetch", params={"site": f"{site.url}/page"}).json()
    # Bytes that are no UTF-8 are read as Latin-1.
    assert found["body"] == "User-agent: *\nDisallow: /\u00ff\n" or "\ufffd" in found["body"]
    done = CliRunner().invoke(command_line, ["fetch", site.url, "--format", "json"])
    told = json.loads(done.stdout)
    # Comments are for the user agent of whoever runs the command.
    moving = {"fetched", "expires", "hops", "comments"}
    assert {key: found[key] for key in told.keys() - moving} == {
        key: told[key] for key in told.keys() - moving
    }


def test_a_copy_may_be_too_old(
    api: httpx2.Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner who has just mended the file sees the new one, and nobody can ask every second."""
    site.robots(body=b"User-agent: *\nDisallow: /old")
    first = api.get("/v1/fetch", params={"site": site.url}).json()
    site.robots(body=b"User-agent: *\nDisallow: /new")
    same = api.get("/v1/fetch", params={"site": site.url, "max_age": 60}).json()
    assert same["body"] == first["body"]

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=100)

    monkeypatch.setattr("koster.service._sites.datetime", Later)
    assert api.get("/v1/fetch", params={"site": site.url}).json()["body"] == first["body"]
    for _ in range(3):
        fresh = api.get("/v1/fetch", params={"site": site.url, "max_age": 60}).json()
        assert fresh["body"] == "User-agent: *\nDisallow: /new"
    assert len(site.asked) == 2


# The other questions say what the command says.


def cli(*arguments: object) -> Any:
    done = CliRunner().invoke(command_line, list(map(str, arguments)))
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout)


BROKEN = "User-agent: *\nDisallow: admin\nDisalow /foo\nDisallow: /a*\nAllow: /b\nDisallow: /b\n"


def test_lint(api: httpx2.Client, tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(BROKEN)
    answer = asked(api, "lint", {"robots": BROKEN})
    explained = {"name", "title", "why", "source"}
    assert [
        {key: text for key, text in each.items() if key not in explained}
        for each in answer["findings"]
    ] == [
        {key: text for key, text in each.items() if key != "file"}
        for each in cli("lint", path, "--format", "json")
    ]
    assert answer["more"] == 0
    assert all(each[key] for each in answer["findings"] for key in explained)


def test_diff(api: httpx2.Client, tmp_path: Path, site: Site) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text(ROBOTS)
    after.write_text(BROKEN)
    question = {"before": {"robots": ROBOTS}, "after": {"robots": BROKEN}}
    told = cli("diff", before, after, "--format", "json")
    assert asked(api, "diff", question) == told
    site.robots(body=ROBOTS.encode())
    assert asked(api, "diff", question | {"before": {"site": site.url}}) == told
    same = asked(api, "diff", {"before": {"robots": ROBOTS}, "after": {"robots": ROBOTS + "\n#"}})
    assert (same["decides_alike"], same["changes"]) == (True, [])
    found = problem(api.post("/v1/diff", json={"before": {}, "after": {}}), 422, "invalid")
    assert {each["pointer"] for each in found["errors"]} == {"/before", "/after"}


def test_audit(api: httpx2.Client, tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(ROBOTS)
    told = cli("audit", path, "--format", "json")
    del told["site"]
    assert asked(api, "audit", {"robots": ROBOTS}) == told | {"fetch": None}
    some = asked(api, "audit", {"robots": ROBOTS, "agents": ["gptbot", "CCBot"]})
    assert [each["token"] for each in some["crawlers"]] == ["GPTBot", "CCBot"]
    answer = api.post("/v1/audit", json={"robots": "", "agents": ["GPTBot", "nobody"]})
    assert problem(answer, 422, "unknown-agent")["errors"][0]["pointer"] == "/agents/1"


def test_disagree(api: httpx2.Client) -> None:
    question = {"robots": "User-agent: *\nDisallow: /*.pdf$\n", "agents": ["x", "*"]}
    answer = asked(api, "disagree", question)
    assert answer["dialects"] == [name for name in DIALECTS if name != "RFC9309"]
    robots = {name: koster.parse(question["robots"], each) for name, each in DIALECTS.items()}
    assert {each["dialect"] for each in answer["disagreements"]} >= {"MK1994", "MK1996"}
    for each in answer["disagreements"]:
        assert each["differences"]
        for difference in each["differences"]:
            url = difference["url"]
            before = robots["RFC9309"].allowed(url, each["agent"])
            after = robots[each["dialect"]].allowed(url, each["agent"])
            assert before != after == difference["opened"]


def test_agents_and_dialects(api: httpx2.Client) -> None:
    agents = api.get("/v1/agents").json()["agents"]
    assert len(agents) > 100
    some = api.get("/v1/agents", params={"purpose": "AI search"}).json()["agents"]
    assert some == [each for each in agents if each["purpose"] == "AI search"]
    dialects = api.get("/v1/dialects").json()["dialects"]
    assert [each["name"] for each in dialects] == list(DIALECTS)
    assert [each["name"] for each in dialects if each["default"]] == ["RFC9309"]


# Problems.

WRONG: list[tuple[str, Any, int, str, str]] = [
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
    ("route", "question", "status", "code", "pointer"), WRONG, ids=range(len(WRONG))
)
def test_what_is_wrong_is_said(
    api: httpx2.Client, route: str, question: Any, status: int, code: str, pointer: str
) -> None:
    body = json.dumps(question)
    answer = api.post(f"/v1/{route}", content=body, headers={"Content-Type": "application/json"})
    found = problem(answer, status, code)
    if pointer != "-":
        assert pointer in [each.get("pointer") for each in found["errors"]]


def test_what_is_wrong_many_times_is_said_once(api: httpx2.Client) -> None:
    """A request of a megabyte may be wrong half a million times."""
    for question in (
        {"robots": "", "urls": [1] * 300_000},
        {"robots": "", "urls": [""] * 200_000},
        {"robots": "", "urls": ["/"] * 200_000},
        {"robots": "", "urls": ["/"], "agents": [None] * 200_000},
        {f"x{number}": 1 for number in range(60_000)},
    ):
        found = problem(api.post("/v1/decide", json=question), 422, "invalid")
        assert len(found.get("errors", ())) <= 3


def test_no_answer_is_much_longer_than_the_question(api: httpx2.Client) -> None:
    long = "User-agent: *\nDisallow: /" + "*" * 60_000
    told = api.post("/v1/decide", json={"urls": ["/"] * 1_000, "robots": long}).text
    assert len(told) < 1 << 20
    assert json.loads(told)["decisions"][0]["rule"].endswith("*…")
    for question in (
        {"urls": ["/" + "x" * 8_000] * 30, "agents": ["a", "b", "c"]},
        {"urls": ["/" + "\u0000" * 800] * 100, "agents": ["a", "b", "c"]},
        {"urls": ["/x"], "agents": ["x" * 900] * 900},
    ):
        answer = api.post("/v1/decide", json=question | {"robots": ""})
        problem(answer, 422, "answer-too-large")
    told = api.post("/v1/audit", json={"robots": long}).text
    assert len(told) < 1_000_000
    findings = asked(api, "lint", {"robots": "User-agent: *\n" + "Dissallow: /x\n" * 5_000})
    assert (len(findings["findings"]), findings["more"] > 3_000) == (1_000, True)


def test_what_is_no_question(api: httpx2.Client) -> None:
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
    found = problem(api.get("/v1/check"), 422, "invalid")
    assert found["errors"][0]["parameter"] == "url"
    problem(api.get("/v1/check", params={"url": "mailto://x"}), 422, "no-site")
    problem(api.get("/v1/check", params={"url": "/x"}), 422, "no-site")
    found = problem(api.get("/v1/check", params={"url": "a.invalid", "agnet": "x"}), 422, "invalid")
    assert found["errors"] == [{"detail": "is unknown", "parameter": "agnet"}]
    twice = [("url", "a.invalid"), ("agent", "x"), ("agent", "y")]
    problem(api.get("/v1/check", params=twice), 422, "invalid")
    problem(api.get("/v1/fetch", params={"site": "a.invalid", "max_age": 59}), 422, "invalid")
    problem(api.get("/v1/fetch", params={"site": "http://[x/"}), 422, "no-site")


def test_keys_that_occur_twice_are_refused(api: httpx2.Client) -> None:
    for body in (
        b'{"robots": "", "urls": ["/"], "urls": ["/x"]}',
        b'{"robots": "", "robots": "", "urls": ["/"]}',
        b'{"before": {"robots": "", "r\\u006fbots": "x"}, "after": {"robots": ""}}',
    ):
        route = "diff" if b"before" in body else "decide"
        headers = {"Content-Type": "application/json"}
        answer = api.post(f"/v1/{route}", content=body, headers=headers)
        assert "duplicate key" in problem(answer, 400, "not-json")["detail"]


def test_many_keys_and_parameters_cost_little(api: httpx2.Client) -> None:
    names = [f'"{number}": 1' for number in range(80_000)]
    headers = {"Content-Type": "application/json"}
    body = "{" + ", ".join([*names, names[-1]]) + "}"
    # With a comparison of each key with each it would take minutes.
    answer = api.post("/v1/decide", content=body.encode(), headers=headers, timeout=20)
    problem(answer, 422, "invalid")
    for nested in (b"[" + b"[]," * 300_000 + b"0]", b"[" + b"{}," * 300_000 + b"0]"):
        answer = api.post("/v1/decide", content=nested, headers=headers)
        assert "arrays, objects or strings" in problem(answer, 422, "invalid")["detail"]
    query = "&".join(map(str, range(6_000)))
    found = problem(api.get(f"/v1/check?{query}"), 422, "invalid")
    assert found["detail"] == "more than 20 parameters"


def test_problems_are_short_whatever_was_asked(api: httpx2.Client) -> None:
    long = "\u00e9" * 400_000
    for question in (
        {long: 1},
        {"robots": "", "urls": ["/"], long: 1},
        {"robots": "", "urls": ["/"], "dialect": long[:1_000]},
        {"site": "https://" + long[:2_000] + "/%", "urls": ["/"]},
        {"site": "ftp://" + long[:2_000], "urls": ["/"]},
        {f"{number}{long[:1_000]}": 1 for number in range(19)},
    ):
        answer = api.post("/v1/decide", json=question)
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


def test_problems_do_not_say_back_what_was_said(api: httpx2.Client) -> None:
    script = "<script>alert(1)</script>"
    for question in (
        {"robots": script, "urls": [1]},
        {"robots": "", "urls": ["/"], "agents": script},
    ):
        assert script not in api.post("/v1/decide", json=question).text


# For those who watch over it.


def test_headers_for_browsers(api: httpx2.Client) -> None:
    for path in ("/", "/static/app.js", "/v1/agents", "/nowhere", "/healthz", "/openapi.json"):
        headers = api.get(path).headers
        is_page = path in ("/", "/static/app.js")
        for name, text in _PAGE_HEADERS if is_page else _HEADERS:
            assert headers[name.decode()] == text.decode()
        assert len(headers["x-request-id"]) == 16
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers
    policy = api.get("/").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "*" not in policy
    origin = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = api.options("/v1/decide", headers=origin)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def test_the_page_loads_nothing_from_elsewhere(api: httpx2.Client) -> None:
    page = api.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert api.head("/").status_code == 200
    for path in sorted((ROOT / "src/koster/service/page").iterdir()):
        text = path.read_text("utf-8")
        assert "innerHTML" not in text
        assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https:" not in text.replace("https://example.com/sitemap.xml", "").replace(
            '"https:"', ""
        )
        served = api.get(f"/static/{path.name}")
        assert served.text == text
        assert served.headers["cache-control"] == "no-cache"


def test_metrics_have_no_label_from_outside(site: Site) -> None:
    site.robots(body=b"User-agent: *")
    with serving.in_thread() as url, httpx2.Client(base_url=url) as api:
        api.get("/v1/check", params={"url": f"{site.url}/secret-path"})
        api.get("/secret-path")
        api.request("PROPFIND", "/v1/decide")
        api.post("/v1/decide", json={"robots": "", "urls": ["/a", "/b"], "agents": ["Secret"]})
        told = api.get("/metrics")
        assert told.headers["content-type"].startswith("text/plain; version=")
        assert "secret" not in told.text.lower()
        assert "127.0.0.1" not in told.text
        lines = told.text.splitlines()
        assert 'http_requests_total{code="200",handler="check",method="GET"} 1.0' in lines
        assert 'http_requests_total{code="404",handler="none",method="GET"} 1.0' in lines
        assert 'http_requests_total{code="405",handler="decide",method="other"} 1.0' in lines
        assert 'koster_fetches_total{outcome="file"} 1.0' in lines
        assert "koster_questions_total 3.0" in lines
        assert "http_requests_in_progress 1.0" in lines
        assert any(line.startswith("process_resident_memory_bytes") for line in lines)
        assert any(line.startswith("http_request_duration_seconds_bucket") for line in lines)


def test_health(api: httpx2.Client) -> None:
    assert api.get("/healthz").json() == {"status": "ok", "version": koster.__version__}
    assert api.get("/readyz").json()["status"] == "ready"


def test_openapi_says_what_there_is(api: httpx2.Client) -> None:
    schema = api.get("/openapi.json").json()
    routes = {
        f"{method} {path}": each
        for path, methods in schema["paths"].items()
        for method, each in methods.items()
    }
    assert routes.keys() == {
        "post /v1/decide", "get /v1/check", "get /v1/fetch", "post /v1/lint", "post /v1/diff",
        "post /v1/audit", "post /v1/disagree", "get /v1/agents", "get /v1/dialects",
        "get /healthz", "get /readyz", "get /metrics",
    }  # fmt: skip
    for name, route in routes.items():
        assert route["summary"]
        assert "application/problem+json" in route["responses"]["4XX"]["content"]
        if name.startswith("post"):
            reference = route["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            example = schema["components"]["schemas"][reference.rpartition("/")[2]]["examples"][0]
            assert api.post(f"/v1/{name.rpartition('/')[2]}", json=example).status_code == 200


def test_docs_name_every_route_code_metric_and_option(api: httpx2.Client) -> None:
    docs = (ROOT / "docs/service.md").read_text("utf-8")
    for path in api.get("/openapi.json").json()["paths"]:
        assert path in docs, path
    sources = "".join(
        path.read_text("utf-8") for path in (ROOT / "src/koster/service").glob("*.py")
    )
    import re

    codes = set(re.findall(r'Problem\(\s*\w+,\s*"([a-z-]+)"', sources))
    codes |= set(re.findall(r'\d: \("([a-z-]+)",', sources)) | {"no-site"}
    assert len(codes) > 15
    for code in codes:
        assert f"`{code}`" in docs, code
    for line in api.get("/metrics").text.splitlines():
        if line.startswith("# TYPE ") and not line.endswith("_created gauge"):
            name = line.split()[2]
            if name.startswith(("http_", "koster_")):
                assert f"`{name}`" in docs, name


# Limits.


def test_rates() -> None:
    now = 100.0
    limit = RateLimit(2, lambda: now)
    assert [limit.take("192.0.2.7") == 0 for _ in range(6)] == [True] * 4 + [False] * 2
    assert limit.take("192.0.2.7") == pytest.approx(0.5)
    assert limit.take("192.0.2.8") == 0
    now += 0.5
    assert [limit.take("192.0.2.7") == 0 for _ in range(2)] == [True, False]
    now += 100
    assert [limit.take("192.0.2.7") == 0 for _ in range(5)] == [True] * 4 + [False]
    # What counts as more than may come at once is let through when nothing else was.
    slow = RateLimit(1, lambda: now)
    assert slow.take("192.0.2.7", 10) == 0
    assert slow.take("192.0.2.7") > 8
    # A network of IPv6 is one client; one with an IPv4 address in it is that.
    assert [limit.take(f"2001:db8::{number}") == 0 for number in range(5)] == [True] * 4 + [False]
    assert limit.take("2001:db8:0:1::1") == 0
    # What is no address is somebody's word.
    assert [limit.take(f"x{number}") == 0 for number in range(5)] == [True] * 4 + [False]
    assert limit.take("::ffff:192.0.2.1") == 0
    assert limit.take("::ffff:192.0.2.2") == 0
    assert RateLimit(0, lambda: now).take("a", 1e9) == 0


def test_who_asks_too_often_is_told_when_to_come_back(site: Site) -> None:
    site.robots(body=b"")
    settings = Settings(rate=2, let_through=("127.0.0.1/32",))
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
        statuses = [api.get("/v1/dialects").status_code for _ in range(5)]
        assert statuses == [200] * 4 + [429]
        answer = api.get("/v1/dialects")
        problem(answer, 429, "too-many-requests")
        assert int(answer.headers["retry-after"]) >= 1
        assert api.get("/healthz").status_code == 200
        assert api.get("/v1/check", params={"url": site.url}).status_code == 429
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
        # One that fetches counts as ten.
        assert api.get("/v1/check", params={"url": site.url}).status_code == 200
        problem(api.get("/v1/check", params={"url": site.url}), 429, "too-many-requests")


def test_limits_of_a_request() -> None:
    settings = Settings(rate=0, max_body=1_000, max_questions=4)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
        question = {"robots": "", "urls": ["/a", "/b"], "agents": ["x", "y"]}
        assert api.post("/v1/decide", json=question).status_code == 200
        answer = api.post("/v1/decide", json=question | {"urls": ["/a", "/b", "/c"]})
        problem(answer, 422, "too-many-questions")
        problem(api.post("/v1/decide", json={"robots": "x" * 1_000}), 413, "body-too-large")
        chunks = iter([b'{"robots": "', *[b"x" * 100] * 20, b'"}'])
        answer = api.post("/v1/lint", content=chunks, headers={"Content-Type": "application/json"})
        problem(answer, 413, "body-too-large")
        answer = api.post("/v1/lint", content=b"{}", headers={"Content-Length": "2"})
        assert answer.status_code == 415


def test_a_question_that_takes_too_long_is_given_up() -> None:
    settings = Settings(rate=0, work_timeout=2)
    hard = "User-agent: *\n" + "".join(f"Disallow: *{number}*x\n" for number in range(40_000))
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        problem(api.post("/v1/audit", json={"robots": hard}), 422, "too-much-work")
        # The process that worked on it is gone; the next question has another.
        for _ in range(3):
            answer = api.post("/v1/lint", json={"robots": "User-agent: *\nDisallow: /"})
            if answer.status_code == 200:
                break
        assert answer.status_code == 200


# The command.


def test_the_command_serves_until_it_is_told_to_stop() -> None:
    with serving.as_command("--rate", 0) as command:
        with httpx2.Client(base_url=command.url) as api:
            answer = api.post("/v1/decide", json={"robots": "", "urls": ["/"]})
            assert answer.status_code == 200
        entry = command.entry("request")
        assert entry["request"] == answer.headers["x-request-id"]
        assert (entry["handler"], entry["status"], entry["client"]) == ("decide", 200, "127.0.0.1")
        assert entry.keys() >= {"time", "level", "logger", "method", "bytes", "ms"}
        assert command.stop() in (0, -signal.SIGTERM)
        command.entry("stopping")
        command.entry("stopped")
    with serving.as_command() as command:
        assert command.stop(signal.SIGINT) == 130


def test_where_it_cannot_listen(tmp_path: Path) -> None:
    runner = CliRunner()
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = runner.invoke(command_line, ["serve", "--port", str(port), "--cache", "memory"])
        assert (done.exit_code, done.output.startswith("koster: cannot listen on 127.0.0.1")) == (
            3,
            True,
        )
    done = runner.invoke(command_line, ["serve", "--host", "no.such.invalid", "--cache", "memory"])
    assert done.exit_code == 3
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "no/such", "x" * 300):
        done = runner.invoke(command_line, ["serve", "--socket", str(path), "--cache", "memory"])
        assert done.exit_code == 3, done.output
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    "options",
    [
        ("--let-through", "nonsense"),
        ("--max-body", "1"),
        ("--rate", "-1"),
        ("--fetch-timeout", "0"),
        ("--user-agent", "a\nb"),
        ("--port", "65536"),
        ("--log", "loud"),
    ],
    ids=str,
)
def test_wrong_usage(options: tuple[str, ...]) -> None:
    done = CliRunner().invoke(command_line, ["serve", "--cache", "memory", "--port", "0", *options])
    assert done.exit_code == 2, done.output
    assert "The tester is at" not in done.output


def test_a_socket_and_a_proxy(tmp_path: Path) -> None:
    path = tmp_path / "koster.sock"
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    with serving.as_command("--socket", path, "--proxy", "*", "--rate", "2") as command:
        transport = httpx2.HTTPTransport(uds=str(path))
        with httpx2.Client(transport=transport, base_url="http://koster") as api:
            for client in ("192.0.2.1", "192.0.2.2"):
                headers = {"X-Forwarded-For": client}
                answers = [api.get("/v1/dialects", headers=headers) for _ in range(5)]
                assert [each.status_code for each in answers] == [200] * 4 + [429]
        assert command.entry("request")["client"] == "192.0.2.1"


def test_nobody_else_is_believed() -> None:
    with serving.as_command("--rate", "2", "--proxy", "192.0.2.9") as command:
        with httpx2.Client(base_url=command.url) as api:
            headers = [{"X-Forwarded-For": f"198.51.100.{number}"} for number in range(5)]
            statuses = [api.get("/v1/dialects", headers=each).status_code for each in headers]
        assert statuses == [200] * 4 + [429]
        assert command.entry("request")["client"] == "127.0.0.1"


def test_the_cache_is_kept(tmp_path: Path, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    settings = Settings(rate=0, cache=str(tmp_path / "c.sqlite"), let_through=("127.0.0.1/32",))
    for _ in range(2):
        with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
            answer = api.get("/v1/check", params={"url": f"{site.url}/x"}).json()
            assert answer["decision"]["allowed"] is False
    assert len(site.asked) == 1


def test_the_cache_in_redis(redis_url: str, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    settings = Settings(rate=0, cache=redis_url, let_through=("127.0.0.1/32",))
    for _ in range(2):
        with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
            assert api.get("/v1/check", params={"url": f"{site.url}/x"}).status_code == 200
    assert len(site.asked) == 1


def test_a_missing_extra_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from koster.cli import main; sys.argv = ['koster', 'serve']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "pip install 'koster[service]'" in done.stderr


def test_an_application_for_any_server() -> None:
    app = create_app()
    assert callable(app)
    assert closed_port()


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from koster.cli.serve import _cache_path

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert _cache_path(None) == str(tmp_path / "caches/koster/service.sqlite")
    assert (tmp_path / "caches/koster").is_dir()
    assert _cache_path("memory") is None
    assert _cache_path("redis://x/0") == "redis://x/0"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert _cache_path(None) is None


# Who is next.


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_worker_time_is_forgiven() -> None:
    clock = Clock()
    time = WorkTime(30, clock)
    assert (time.used("a"), time.wait("a")) == (0, 0)
    time.charge("a", 25)
    assert time.wait("a") == 0
    time.charge("a", 10)
    assert time.wait("a") == pytest.approx(10)
    assert time.wait("b") == 0
    clock.now += 9
    assert time.wait("a") == pytest.approx(1)
    clock.now += 2
    assert time.wait("a") == 0
    clock.now += 1_000
    assert time.used("a") == 0
    unlimited = WorkTime(0, clock)
    unlimited.charge("a", 1e6)
    assert unlimited.wait("a") == 0
    assert unlimited.used("a") > 0


class Users:
    """Clients that wait for a lane; each notes when its turn comes, and holds it until told."""

    def __init__(self, lane: Lane[int], group: TaskGroup) -> None:
        self.lane = lane
        self.group = group
        self.running: list[str] = []
        self.ends: dict[str, anyio.Event] = {}

    async def ask(self, *names: str) -> None:
        for name in names:
            self.ends[name] = anyio.Event()
            self.group.start_soon(self._use, name)
            await anyio.wait_all_tasks_blocked()

    async def end(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()
            await anyio.wait_all_tasks_blocked()

    async def _use(self, name: str) -> None:
        async with self.lane.slot(name[0], 60):
            self.running.append(name)
            await self.ends[name].wait()
            self.running.remove(name)


def test_clients_take_turns() -> None:
    async def main() -> None:
        clock = Clock()
        time = WorkTime(0, clock)
        async with anyio.create_task_group() as group:
            users = Users(Lane([0], time), group)
            await users.ask("a1", "a2", "a3", "b1", "b2", "c1")
            order = []
            while users.running:
                (name,) = users.running
                order.append(name)
                await users.end(name)
            # Those that have used the same: by turns, not all of the first client.
            assert order == ["a1", "a2", "b1", "c1", "a3", "b2"]

    anyio.run(main)


def test_who_used_the_least_is_next() -> None:
    async def main() -> None:
        time = WorkTime(0, Clock())
        time.charge("a", 10)
        time.charge("b", 5)
        async with anyio.create_task_group() as group:
            users = Users(Lane([0], time), group)
            await users.ask("x1", "a1", "a2", "b1", "c1")
            await users.end("x1")
            assert users.running == ["c1"]
            await users.end("c1")
            assert users.running == ["b1"]
            await users.end("b1")
            assert users.running == ["a1"]
            await users.end("a1", "a2")

    anyio.run(main)


def test_one_client_does_not_take_all_workers() -> None:
    async def main() -> None:
        async with anyio.create_task_group() as group:
            users = Users(Lane([0, 1, 2], WorkTime(0, Clock())), group)
            await users.ask("a1", "a2", "a3", "a4")
            # The last worker is for somebody else.
            assert users.running == ["a1", "a2"]
            await users.ask("b1")
            assert users.running == ["a1", "a2", "b1"]
            await users.ask("c1")
            await users.end("a1")
            assert users.running == ["a2", "b1", "c1"]
            await users.end("b1", "c1")
            assert users.running == ["a2", "a3"]
            await users.end("a2", "a3", "a4")

    anyio.run(main)


def test_who_stops_waiting_takes_no_slot() -> None:
    async def main() -> None:
        lane = Lane([0], WorkTime(0, Clock()))
        async with anyio.create_task_group() as group:
            users = Users(lane, group)
            await users.ask("a1")
            with pytest.raises(TimeoutError):
                async with lane.slot("b", 0.05):
                    pytest.fail("there was no slot")
            with anyio.move_on_after(0.05) as scope:
                async with lane.slot("b", 60):
                    pytest.fail("there was no slot")
            assert scope.cancelled_caught
            await users.ask("c1")
            await users.end("a1")
            assert users.running == ["c1"]
            await users.end("c1")
        assert lane._free == [0]
        assert not lane._waiting
        assert not lane._running

    anyio.run(main)


def test_a_client_may_use_so_much_worker_time() -> None:
    """Beyond it the answer is 429, which says when to ask again; others are not concerned."""
    hard = "User-agent: *\n" + "Disallow: *9*x\n" * 60_000
    settings = Settings(rate=0, work_timeout=1, work_per_minute=1)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        problem(api.post("/v1/audit", json={"robots": hard}), 422, "too-much-work")
        answer = api.post("/v1/audit", json={"robots": hard})
        while answer.status_code == 422:
            answer = api.post("/v1/audit", json={"robots": hard})
        problem(answer, 429, "too-much-work-time")
        assert 1 <= int(answer.headers["retry-after"]) <= 120
        problem(api.post("/v1/lint", json={"robots": ""}), 429, "too-much-work-time")
        # What takes no worker is answered.
        assert asked(api, "decide", {"robots": "", "urls": ["/"]})
        transport = httpx2.HTTPTransport(local_address="127.0.0.2")
        with httpx2.Client(base_url=url, transport=transport, timeout=30) as other:
            assert asked(other, "lint", {"robots": ""})


INTERRUPTED = """
import json, random, sys
from koster.worker import answers
from koster.worker import loop
chance = random.Random(1)
files = [open(path, "rb").read() for path in sys.argv[1:]]
def all_answers():
    found = []
    for body in files:
        found.append(answers.lint(body, ["RFC9309", "GOOGLE"]))
        found.append(answers.audit_crawlers(body, "RFC9309"))
        found.append(answers.disagree(body, "RFC9309", ["MK1996", "GOOGLE", "EXTENDED2"], ["*"]))
    return found
ended = 0
while ended < 30:
    for body in files:
        seconds = chance.uniform(0.0005, 0.02)
        found = loop.run("lint", (body, ["RFC9309", "GOOGLE"]), seconds, 9)
        ended += found[0] == loop.TIMED_OUT
        question = body, "GOOGLE", ["MK1994"], ["x"]
        found = loop.run("disagree", question, 9, seconds)
        ended += found[0] == loop.TIMED_OUT
        loop.run("audit_crawlers", (body, "GOOGLE"), seconds, 9)
print(json.dumps(all_answers()))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_process_whose_question_was_ended_answers_the_next_ones(tmp_path: Path) -> None:
    files = [ROOT / "examples/robots.txt", tmp_path / "second.txt"]
    files[1].write_text(BROKEN * 5 + "User-agent: GPTBot\nDisallow: /*a*b*c$\nAllow: /*b\n")
    printed = []
    for code in (INTERRUPTED, INTERRUPTED.replace("ended < 30", "False")):
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, files)],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert len(printed[0]) > 1_000
