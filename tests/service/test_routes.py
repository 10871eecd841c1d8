"""The routes of the API."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

import koster
from koster._cli.root import koster as command_line
from koster.compose import PRESETS, compose, intentions_of
from koster.dialects import DIALECTS
from koster.lint import lint, most_important
from tests.helpers.api import BROKEN, post, problem
from tests.helpers.server import Answer, Site
from tests.helpers.support import ROOT

ROBOTS = (ROOT / "examples/robots.txt").read_text("utf-8")


def test_decide_covers_every_agent_and_url(api: httpx2.Client) -> None:
    agents = ["FooBot", "GPTBot", "*", "Mozilla/5.0 (compatible; Googlebot/2.1)"]
    urls = ["/", "/search?q=tea", "https://example.com/private/x", "//x/y", "", "caf\u00e9 ☕"]
    answer = post(api, "decide", {"robots": ROBOTS, "agents": agents, "urls": urls[:4] + urls[5:]})
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
def test_decide_in_every_dialect(api: httpx2.Client, dialect: str) -> None:
    request_body = {"robots": ROBOTS, "urls": ["/a", "/search?x"], "dialect": dialect.lower()}
    answer = post(api, "decide", request_body)
    robots = koster.parse(ROBOTS, DIALECTS[dialect])
    assert answer["dialect"] == dialect
    assert [each["allowed"] for each in answer["decisions"]] == [
        robots.allowed(url, "*") for url in request_body["urls"]
    ]


def test_every_route_takes_the_names_of_dialects_in_the_docs(
    api: httpx2.Client, site: Site
) -> None:
    """In any case, as the command line does; answers have the name as documented."""
    site.robots(body=b"")
    page = (ROOT / "docs/reference/dialects/index.md").read_text("utf-8")
    table = page.partition("insert: dialect-sources")[2].partition("<!-- end")[0]
    names = re.findall(r"^\| ([A-Z]\S*) \|", table, re.MULTILINE)
    assert names == list(DIALECTS)
    file = {"robots": ""}
    for name in names:
        for spelling in (name, name.lower(), name.title()):
            one = {"dialect": spelling}
            answers = [
                post(api, "files", {"files": [file]} | one),
                post(api, "audit", file | {"agents": ["GPTBot"]} | one),
                api.get("/v1/check", params={"url": site.url} | one).json(),
                api.get("/v1/fetch", params={"site": site.url} | one).json(),
                post(api, "disagree", file | {"dialects": ["RFC9309"]} | one),
            ]
            assert [each["dialect"] for each in answers] == [name] * len(answers)
            assert post(api, "lint", file | {"dialects": [spelling]})["findings"] is not None


@pytest.mark.parametrize(
    "name", ["extended2-1996", "RFC 9309", "", "all", " GOOGLE", "googl\u00e9"]
)
def test_unknown_dialects_are_listed(api: httpx2.Client, name: str) -> None:
    answers = [
        api.post("/v1/files", json={"files": [{"robots": ""}], "dialect": name}),
        api.post("/v1/diff", json={"before": {}, "after": {}, "dialect": name}),
        api.post("/v1/lint", json={"robots": "", "dialects": [name]}),
        api.get("/v1/check", params={"url": "a.invalid", "dialect": name}),
        api.get("/v1/fetch", params={"site": "a.invalid", "dialect": name}),
    ]
    for answer in answers:
        details = [each["detail"] for each in problem(answer, 422, "invalid")["errors"]]
        assert any(", ".join(DIALECTS) in each for each in details)


def test_decide_with_a_large_file(api: httpx2.Client) -> None:
    robots = "User-agent: *\n" + "".join(f"Disallow: /{number}$\n" for number in range(30_000))
    urls = [f"/{number}" for number in range(0, 60_000, 70)]
    answer = post(api, "decide", {"robots": robots, "urls": urls})
    assert [each["line"] for each in answer["decisions"]] == [
        int(url[1:]) + 2 if int(url[1:]) < 30_000 else None for url in urls
    ]


def test_decide_fetches_the_file_of_a_site(api: httpx2.Client, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /caf\xe9\n", headers={"Content-Type": "text/plain"})
    urls = ["/x", f"{site.url}/caf%E9"]
    answer = post(api, "decide", {"site": site.url, "urls": urls, "agents": ["a", "b"]})
    assert [each["allowed"] for each in answer["decisions"]] == [True, False, True, False]
    fetch = answer["fetch"]
    assert (fetch["site"], fetch["outcome"], fetch["hops"][0]["status"]) == (site.url, "file", 200)
    assert len(site.requests) == 1
    answer = api.post(
        "/v1/decide", json={"site": site.url, "urls": ["/x", "http://other.example/x"]}
    )
    problem_body = problem(answer, 422, "another-site")
    assert problem_body["errors"][0]["pointer"] == "/urls/1"


def test_site_without_a_file(api: httpx2.Client, site: Site) -> None:
    site.robots(404)
    request_body = {"site": site.url, "urls": ["/x"]}
    (decision,) = post(api, "decide", request_body)["decisions"]
    assert (decision["allowed"], decision["reason"]) == (True, "unavailable")
    response = api.post("/v1/lint", json={"site": site.url})
    problem(response, 422, "no-file")


def test_check_fetches_the_site_of_the_url(api: httpx2.Client, site: Site) -> None:
    site.pages["/robots.txt"] = Answer(301, headers={"Location": "/elsewhere"})
    site.pages["/elsewhere"] = Answer(200, b"User-agent: GPTBot\nDisallow: /x")
    answer = api.get("/v1/check", params={"url": f"{site.url}/x?y", "agent": "GPTBot"})
    assert answer.status_code == 200
    assert answer.json()["decision"]["line"] == 2
    assert [hop["status"] for hop in answer.json()["fetch"]["hops"]] == [301, 200]
    answer = api.get("/v1/check", params={"url": f"{site.url}/x?y"})
    assert answer.json()["decision"]["allowed"]
    assert len(site.requests) == 2


def test_fetch_matches_the_command(api: httpx2.Client, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /\xff\n", headers={"ETag": '"a"'})
    api_output = api.get("/v1/fetch", params={"site": f"{site.url}/page"}).json()
    # Bytes that are not UTF-8 are decoded as Latin-1.
    assert (
        api_output["body"] == "User-agent: *\nDisallow: /\u00ff\n" or "\ufffd" in api_output["body"]
    )
    result = CliRunner().invoke(command_line, ["fetch", site.url, "--format", "json"])
    (cli_output,) = json.loads(result.stdout)
    # Comments depend on the user agent, which differs for the command.
    varying_fields = {"fetched", "expires", "hops", "comments"}
    assert {key: api_output[key] for key in cli_output.keys() - varying_fields} == {
        key: cli_output[key] for key in cli_output.keys() - varying_fields
    }


def test_max_age_refetches_older_copies(
    api: httpx2.Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site owner sees a fixed file soon, and clients cannot force a fetch every second."""
    site.robots(body=b"User-agent: *\nDisallow: /old")
    first = api.get("/v1/fetch", params={"site": site.url}).json()
    site.robots(body=b"User-agent: *\nDisallow: /new")
    same = api.get("/v1/fetch", params={"site": site.url, "max_age": 60}).json()
    assert same["body"] == first["body"]

    class LaterDatetime(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=100)

    monkeypatch.setattr("koster.service._sites.datetime", LaterDatetime)
    assert api.get("/v1/fetch", params={"site": site.url}).json()["body"] == first["body"]
    for _ in range(3):
        fresh = api.get("/v1/fetch", params={"site": site.url, "max_age": 60}).json()
        assert fresh["body"] == "User-agent: *\nDisallow: /new"
    assert len(site.requests) == 2


def cli_json(*arguments: object) -> Any:
    result = CliRunner().invoke(command_line, list(map(str, arguments)))
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


def test_lint(api: httpx2.Client, tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(BROKEN)
    answer = post(api, "lint", {"robots": BROKEN})
    explanation_fields = {"name", "title", "why", "source", "docs"}
    assert [
        {key: text for key, text in each.items() if key not in explanation_fields}
        for each in answer["findings"]
    ] == [
        {key: text for key, text in each.items() if key != "file"}
        for each in cli_json("lint", path, "--format", "json")
    ]
    assert answer["more"] == 0
    assert all(each[key] for each in answer["findings"] for key in explanation_fields)


def test_lint_says_what_to_look_at_first(api: httpx2.Client) -> None:
    answer = post(api, "lint", {"robots": BROKEN})
    first = answer["findings"][answer["most_important"]]
    expected = most_important(lint(BROKEN.encode()))
    assert expected is not None
    assert (first["line"], first["code"]) == (expected.line, expected.code)
    assert post(api, "lint", {"robots": "User-agent: *\nDisallow: /x\n"})["most_important"] is None


def test_lint_omits_the_least_severe_findings(api: httpx2.Client) -> None:
    notes = "".join(f"Disallow: /a/{number}\n" for number in range(1_200))
    errors = "User-agent: FooBot, BarBot\nDisallow: /\n"
    text = f"User-agent: *\nDisallow: /a/\n{notes}{errors}"
    answer = post(api, "lint", {"robots": text})
    findings = answer["findings"]
    assert (len(findings), answer["more"] > 200) == (1_000, True)
    assert findings == sorted(findings, key=lambda each: (each["line"], each["column"]))
    assert (findings[-1]["code"], answer["most_important"]) == ("G006", 999)


def test_diff(api: httpx2.Client, tmp_path: Path, site: Site) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text(ROBOTS)
    after.write_text(BROKEN)
    request_body = {"before": {"robots": ROBOTS}, "after": {"robots": BROKEN}}
    cli_output = cli_json("diff", before, after, "--format", "json")
    assert post(api, "diff", request_body) == cli_output
    site.robots(body=ROBOTS.encode())
    assert post(api, "diff", request_body | {"before": {"site": site.url}}) == cli_output
    same = post(api, "diff", {"before": {"robots": ROBOTS}, "after": {"robots": ROBOTS + "\n#"}})
    assert (same["decides_alike"], same["changes"]) == (True, [])
    problem_body = problem(api.post("/v1/diff", json={"before": {}, "after": {}}), 422, "invalid")
    assert {each["pointer"] for each in problem_body["errors"]} == {"/before", "/after"}


def test_audit(api: httpx2.Client, tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(ROBOTS)
    cli_output = cli_json("audit", path, "--format", "json")
    del cli_output["site"]
    assert post(api, "audit", {"robots": ROBOTS}) == cli_output | {"fetch": None}
    some = post(api, "audit", {"robots": ROBOTS, "agents": ["gptbot", "CCBot"]})
    assert [each["token"] for each in some["crawlers"]] == ["GPTBot", "CCBot"]
    answer = api.post("/v1/audit", json={"robots": "", "agents": ["GPTBot", "nobody"]})
    assert problem(answer, 422, "unknown-agent")["errors"][0]["pointer"] == "/agents/1"


def test_an_audit_of_a_file_that_was_cut(api: httpx2.Client, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x\n" + b"#" * 600_000)
    answer = post(api, "audit", {"site": site.url, "agents": ["CCBot"]})
    assert answer["unread"] == ["robots.txt: only its first 500 KiB are read"]
    assert {each["stated"] for each in answer["uses"]} == {"undecided"}


def test_disagree(api: httpx2.Client) -> None:
    request_body = {"robots": "User-agent: *\nDisallow: /*.pdf$\n", "agents": ["x", "*"]}
    answer = post(api, "disagree", request_body)
    assert answer["dialects"] == [name for name in DIALECTS if name != "RFC9309"]
    robots = {name: koster.parse(request_body["robots"], each) for name, each in DIALECTS.items()}
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
    assert some == [each for each in agents if "AI search" in each["purposes"]]
    assert "Googlebot" in [each["token"] for each in some]
    (image,) = [each for each in agents if each["token"] == "Googlebot-Image"]
    assert image["falls_back_to"] == ["Googlebot"]
    assert image["verification"]["domains"] == ["googlebot.com"]
    assert image["checked"] >= "2026-11-22"
    dialects = api.get("/v1/dialects").json()["dialects"]
    assert [each["name"] for each in dialects] == list(DIALECTS)
    assert [each["name"] for each in dialects if each["default"]] == ["RFC9309"]


def test_presets(api: httpx2.Client) -> None:
    presets = api.get("/v1/presets").json()["presets"]
    assert [each["name"] for each in presets] == [preset.name for preset in PRESETS]
    for record, preset in zip(presets, PRESETS, strict=True):
        assert record["robots"].encode() == compose(intentions_of([preset.name])).body
        assert (record["title"], record["allowed"]) == (preset.title, list(preset.allowed))
        assert record["source"] == (preset.source or None)
