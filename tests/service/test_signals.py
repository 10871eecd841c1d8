"""What a site says about the use of a page, over HTTP."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from koster._cli.root import koster
from koster._worker import answers
from koster._worker.refusals import RefusedError
from koster.errors import missing
from koster.service import ServiceSettings
from koster.service._pages import _Failure, _File
from tests.helpers import serving
from tests.helpers.api import post, problem
from tests.helpers.schemas import check_json
from tests.helpers.server import Answer, Site

ROBOTS = """\
User-agent: *
Content-Signal: search=yes, ai-train=no
Disallow: /cart/

User-agent: GPTBot
Disallow: /
"""
PAGE = '<!doctype html><head><meta name="robots" content="noarchive"></head>T\u00e9'
TDMREP = '[{"location": "/", "tdm-reservation": 1}]'
RSL = (
    '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>'
    '<permits type="usage">search</permits><prohibits type="usage">ai-input</prohibits>'
    "</license></content></rsl>"
)
HTML = {"Content-Type": "text/html"}
TEXTS: dict[str, Any] = {
    "url": "/tea", "robots": ROBOTS, "headers": [["X-Robots-Tag", "nosnippet"]],
    "html": PAGE, "tdmrep": TDMREP, "licenses": {"license.xml": RSL},
}  # fmt: skip


def stated(page: Any, whom: str = "*") -> dict[str, str]:
    """Return what is stated to everybody, or a crawler."""
    return {each["use"]: each["stated"] for each in page["uses"] if each["for"] == whom}


@pytest.fixture
def shop(site: Site) -> Site:
    site.robots(body=ROBOTS.encode())
    site.pages["/tea"] = Answer(body=PAGE.encode(), headers={**HTML, "X-Robots-Tag": "nosnippet"})
    return site


def got(api: httpx2.Client, url: str, **parameters: str) -> Any:
    answer = api.get("/v1/signals", params={"url": url, **parameters})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_texts_have_the_answers_of_the_command(
    api: httpx2.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"robots.txt": ROBOTS, "page.html": PAGE, "tdmrep.json": TDMREP, "license.xml": RSL}
    for name, text in files.items():
        Path(name).write_text(text, "utf-8")
    options = (
        "--url /tea --robots robots.txt --html page.html --tdmrep tdmrep.json --license license.xml"
    )
    header = ("--header", "X-Robots-Tag: nosnippet")
    for crawlers in ((), ("GPTBot", "Foo")):
        chosen = [part for each in crawlers for part in ("--crawler", each)]
        arguments = ["signals", *options.split(), *header, *chosen, "-f", "json"]
        result = CliRunner().invoke(koster, arguments)
        assert result.exit_code == 0, result.output
        (expected,) = json.loads(result.stdout)
        found = post(api, "signals", TEXTS | {"crawlers": list(crawlers)})
        assert found == expected
        assert set(stated(found).values()) >= {"yes", "no"}


def test_answers_have_the_schema_of_the_command(api: httpx2.Client, shop: Site) -> None:
    conflict = {"url": "/", "robots": ROBOTS, "headers": [["X-Robots-Tag", "noindex"]]}
    unseen = {
        "url": "/", "html": PAGE.replace("noarchive", "noindex"),
        "robots": "User-agent: *\nDisallow: /\n", "crawlers": ["Googlebot"],
    }  # fmt: skip
    questions = [TEXTS, conflict, unseen, {"url": f"{shop.url}/tea"}]
    broken = {"url": "/", "tdmrep": "garbage", "robots": f"License: /l.xml\n{ROBOTS}"}
    check_json("signals", [post(api, "signals", each) for each in [*questions, broken]])


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_page_is_fetched_with_what_its_site_has(
    api: httpx2.Client, shop: Site, method: str
) -> None:
    shop.robots(body=f"License: {shop.url}/license.xml\n{ROBOTS}".encode())
    shop.pages["/license.xml"] = Answer(body=RSL.encode())
    shop.pages["/.well-known/tdmrep.json"] = Answer(body=TDMREP.encode())
    shop.pages["/llms.txt"] = Answer(body=b"# Tea\n")
    url = f"{shop.url}/tea"
    page = got(api, url) if method == "get" else post(api, "signals", {"url": url})
    assert stated(page) == {
        "search": "yes", "snippet": "no", "archive": "no", "ai-input": "no",
        "ai-train": "no", "tdm": "no",
    }  # fmt: skip
    assert (page["url"], page["unread"]) == (url, [])
    assert page["fetched"].endswith("+00:00")
    assert page["notes"][-1] == "/llms.txt is there: koster does not read it"
    assert [path for path, _ in shop.requests] == [
        "/robots.txt", "/.well-known/tdmrep.json", "/ai.txt", "/llms.txt", "/tea", "/license.xml",
    ]  # fmt: skip
    assert {headers["User-Agent"] for _, headers in shop.requests} == {ServiceSettings().user_agent}
    # For a minute, nothing is fetched again.
    assert got(api, url, crawler="GPTBot")["crawl"][0]["allowed"] is False
    assert len(shop.requests) == 6


@pytest.mark.parametrize(
    ("path", "answer", "why"),
    [
        ("/tea", Answer(500), "page: 500 Internal Server Error"),
        ("/tea", Answer(302, headers={"Location": "/cart/x"}), "page: redirects to "),
        (
            "/tea",
            Answer(301, headers={"Location": "http://192.0.2.1/"}),
            "page: address blocked by the guard: 192.0.2.1",
        ),
        ("/robots.txt", Answer(503), "robots.txt: "),
        ("/robots.txt", Answer(403), "robots.txt: 403 Forbidden"),
        ("/robots.txt", Answer(body=PAGE.encode(), headers=HTML), "robots.txt: no line in it"),
        ("/robots.txt", Answer(body=b"#" * 600_000), "robots.txt: only its first 500 KiB"),
        ("/.well-known/tdmrep.json", Answer(503), "/.well-known/tdmrep.json: 503"),
        ("/.well-known/tdmrep.json", Answer(body=b"garbage"), "/.well-known/tdmrep.json cannot"),
        ("/license.xml", Answer(404), "/license.xml: 404"),
    ],
)
def test_what_cannot_be_read_is_never_unstated(
    api: httpx2.Client, shop: Site, path: str, answer: Answer, why: str
) -> None:
    shop.robots(body=f"License: {shop.url}/license.xml\n{ROBOTS}".encode())
    shop.pages["/license.xml"] = Answer(body=RSL.encode())
    shop.pages["/cart/x"] = shop.pages["/tea"]
    shop.pages[path] = answer
    page = got(api, f"{shop.url}/tea")
    assert any(each.startswith(why) for each in page["unread"]), page["unread"]
    assert {"unstated", "yes"}.isdisjoint(stated(page).values())


def test_a_page_that_koster_may_not_fetch_is_not_fetched(api: httpx2.Client, shop: Site) -> None:
    page = got(api, f"{shop.url}/cart/x")
    assert page["unread"][0].startswith("page: not fetched (")
    assert "Disallow: /cart/" in page["unread"][0]
    assert "/cart/x" not in [path for path, _ in shop.requests]


def test_a_page_of_another_site_is_not_read(api: httpx2.Client, shop: Site) -> None:
    other = shop.url.replace("127.0.0.1", "localhost")
    shop.pages["/tea"] = Answer(301, headers={"Location": f"{other}/elsewhere"})
    shop.pages["/elsewhere"] = Answer(body=PAGE.encode(), headers=HTML)
    page = got(api, f"{shop.url}/tea")
    assert page["unread"] == [
        f"page: redirects to another site, {other}/elsewhere: name that address"
    ]
    assert stated(page)["archive"] == "undecided"


def test_the_guard_holds_for_every_file(shop: Site) -> None:
    """The site's own address is not exempt, nor is a license elsewhere."""
    with serving.in_thread(ServiceSettings(rate=0)) as url, httpx2.Client(base_url=url) as api:
        page = got(api, f"{shop.url}/tea")
    assert len(page["unread"]) == 3
    for each in page["unread"]:
        assert "127.0.0.1" in each
    assert shop.requests == []


def test_a_license_at_an_address_that_is_not_public(api: httpx2.Client, shop: Site) -> None:
    shop.robots(body=f"License: http://192.168.0.1/license.xml\n{ROBOTS}".encode())
    page = got(api, f"{shop.url}/tea")
    assert [each.partition(": ")[0] for each in page["unread"]] == [
        "http://192.168.0.1/license.xml"
    ]


@pytest.mark.parametrize("license_url", ["http://[x/", "mailto:a@b", "http://a..b/"])
def test_urls_of_licenses_may_be_anything(api: httpx2.Client, shop: Site, license_url: str) -> None:
    shop.robots(body=f"License: {license_url}\n{ROBOTS}".encode())
    page = got(api, f"{shop.url}/tea")
    assert page["unread"][0].startswith(license_url)


def test_a_slow_page_is_unread_and_others_are_answered_meanwhile(shop: Site) -> None:
    settings = ServiceSettings(rate=0, let_through=("127.0.0.1/32",), fetch_timeout=0.5)
    shop.pages["/tea"] = Answer(body=b"x" * 1_000, trickle=0.2)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        post(api, "signals", TEXTS)
        with ThreadPoolExecutor() as pool:
            slow = [pool.submit(got, api, f"{shop.url}/tea?{number}") for number in range(4)]
            began = time.monotonic()
            assert api.get("/healthz").status_code == 200
            post(api, "signals", TEXTS)
            quick = time.monotonic() - began
            pages = [each.result() for each in slow]
        assert quick < time.monotonic() - began
    for page in pages:
        assert page["unread"], page
        assert "unstated" not in stated(page).values()


def test_time_for_a_page_is_limited(shop: Site) -> None:
    """Its files are asked for one after the other, and each may take the whole timeout."""
    settings = ServiceSettings(rate=0, let_through=("127.0.0.1/32",), fetch_timeout=0.4)
    lines = "".join(f"License: {shop.url}/{number}.xml\n" for number in range(5))
    shop.robots(body=(lines + ROBOTS).encode())
    for number in range(5):
        shop.pages[f"/{number}.xml"] = Answer(body=RSL.encode(), delay=0.35)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        began = time.monotonic()
        page = got(api, f"{shop.url}/tea")
        took = time.monotonic() - began
    assert took < 5 * 0.35 + 0.5
    assert "/4.xml: not fetched: the time for this page is over" in page["unread"]


def test_a_client_does_not_keep_others_from_fetching(shop: Site) -> None:
    """Of the slots for pages, a client does not get the last one."""
    started = threading.Event()
    settings = ServiceSettings(rate=0, let_through=("127.0.0.1/32",), fetches=2)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        shop.pages["/slow"] = Answer(body=b"", delay=0.5)
        with ThreadPoolExecutor() as pool:
            slow = pool.submit(got, api, f"{shop.url}/slow")
            started.set()
            # Half of the fetches are for pages: others do not wait for them.
            check = api.get("/v1/check", params={"url": f"{shop.url}/x"})
            assert check.status_code == 200
            assert not slow.done()
            assert slow.result()["unread"] == []


def test_a_fetch_of_a_page_counts_as_fifty(shop: Site) -> None:
    settings = ServiceSettings(rate=30, let_through=("127.0.0.1/32",))
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
        got(api, f"{shop.url}/tea")
        answer = api.get("/v1/signals", params={"url": f"{shop.url}/tea"})
        problem(answer, 429, "too-many-requests")
        assert post(api, "signals", TEXTS)["fetched"] is None


def test_files_are_fetched_again_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("koster.service._pages.time.monotonic", lambda: now)
    file = _File(_Failure("404", 404), 999.0)
    assert (file.took, file.is_fresh) == (1.0, True)
    now += 61
    assert not file.is_fresh


@pytest.mark.parametrize(
    ("request_body", "code", "pointer"),
    [
        ({"robots": ""}, "invalid", "/url"),
        ({"url": "tea", "robots": ""}, "no-site", "/url"),
        ({"url": "ftp://a.example/", "html": ""}, "no-site", "/url"),
        ({"url": "/tea"}, "no-site", "/url"),
        ({"url": "/", "headers": [["a"]]}, "invalid", "/headers/0/1"),
        ({"url": "/", "headers": ["a: b"]}, "invalid", "/headers/0"),
        ({"url": "/", "headers": [["a", "b", "c"]]}, "invalid", "/headers/0"),
        ({"url": "/", "headers": [["a", "b"]] * 201}, "invalid", "/headers"),
        ({"url": "/", "licenses": ["x"]}, "invalid", "/licenses"),
        ({"url": "/", "licenses": {"x": 1}}, "invalid", "/licenses/x"),
        ({"url": "/", "robots": "", "crawlers": ["*"]}, "invalid", "/crawlers/0"),
        ({"url": "/", "robots": "", "crawlers": ["__usage_ai-training"]}, "invalid", "/crawlers/0"),
        ({"url": "/", "robots": "", "crawlers": ["a"] * 51}, "invalid", "/crawlers"),
        ({"url": "/", "robots": "", "uses": ["search"]}, "invalid", "/uses"),
        ({"url": "/", "robots": "", "dialect": "nope"}, "invalid", "/dialect"),
    ],
)
def test_invalid_requests(
    api: httpx2.Client, request_body: dict[str, Any], code: str, pointer: str
) -> None:
    found = problem(api.post("/v1/signals", json=request_body), 422, code)
    assert [each["pointer"] for each in found["errors"]] == [pointer]


def test_invalid_queries(api: httpx2.Client) -> None:
    for query, code, parameter in (
        ({}, "invalid", "url"),
        ({"url": "/x"}, "no-site", "url"),
        ({"url": "a.invalid", "crawler": "*"}, "invalid", "crawler"),
        ({"url": "a.invalid", "agent": "x"}, "invalid", "agent"),
    ):
        found = problem(api.get("/v1/signals", params=query), 422, code)
        assert [each["parameter"] for each in found["errors"]] == [parameter]


def test_null_is_a_source_that_the_site_does_not_have(api: httpx2.Client) -> None:
    page = post(api, "signals", {"url": "https://a.invalid/", "robots": None})
    assert set(stated(page).values()) == {"unstated"}
    assert page["fetched"] is None


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise missing("reading HTML", "signals")

    monkeypatch.setattr(answers, "signals_of", fail)
    with pytest.raises(RefusedError, match=r"koster\[signals\]") as caught:
        answers.signals(1 << 20, b"", {}, [], "RFC9309", None)  # type: ignore[arg-type, typeddict-item]
    assert (caught.value.status, caught.value.code) == (501, "missing-extra")


def test_a_page_has_many_values_only_outside_of_strings(api: httpx2.Client) -> None:
    """Scripts in a page have as many brackets as a list of values."""
    script = '<script>[{"a":"b"},[]]</script>' * 9_000
    page = post(api, "signals", TEXTS | {"html": PAGE + script})
    assert stated(page)["archive"] == "no"
    assert any("256 KiB" in note for note in page["notes"])


def hostile(size: int) -> dict[str, dict[str, Any]]:
    """Return requests of about so many bytes, each the worst of its kind."""

    def filled(part: str) -> str:
        return part * (size // len(json.dumps(part)) + 1)

    url = {"url": "/" + "a" * 2_000}
    deep = size // 6
    return {
        "tags": url | {"html": filled("<b>")},
        "meta": url | {"html": filled('<meta name=robots content=noai>')},
        "attributes": url | {"html": "<meta " + filled("a=b ")},
        "entities": url | {"html": filled("&nGt;")},
        "headers": url | {"headers": [["X-Robots-Tag", "a," * 2_000]] * 200},
        "fields": url | {"headers": [["Content-Usage", "a=1," * (size // 5)]]},
        "tdmrep": url | {"tdmrep": "[" + filled('{"location":"*a*a*a*"},')[:-1] + "]"},
        "nested json": url | {"tdmrep": "[" * deep},
        "bomb": url | {"licenses": {"x": '<!DOCTYPE a [<!ENTITY b "' + "c" * 1_000 + '">]><rsl>'
                                    + filled("&b;") + "</rsl>"}},
        "nested xml": url | {"licenses": {"x": "<a>" * deep}},
        "contents": url | {"licenses": {"x": '<rsl xmlns="https://rslstandard.org/rsl">'
                                        + filled('<content url="*a*a*"><license/></content>')
                                        + "</rsl>"}},
        "groups": url | {"robots": filled("User-agent: a\nDisallow: /*a*a\n")},
        "agents": url | {"robots": "".join(f"User-agent: b{n}\nDisallow: /a\n"
                                           for n in range(size // 40))},
        "signals": url | {"robots": "User-agent: *\n" + filled("Content-Signal: ai-train=no\n")},
    }  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", hostile(1_000))
def test_hostile_sources_are_answered_or_refused_in_time(api: httpx2.Client, name: str) -> None:
    answer = api.post("/v1/signals", json=hostile(900_000)[name])
    if answer.status_code != 200:
        problem(answer, 422, answer.json()["code"])
