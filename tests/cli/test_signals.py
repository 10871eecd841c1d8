"""``koster signals``: sites and files, what cannot be read, and the exit code."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from koster._cli.root import koster
from koster.signals import MAX_HTML
from tests.helpers.server import Answer, Site

ROBOTS = b"""\
User-agent: *
Content-Signal: search=yes, ai-train=no
Disallow: /cart/

User-agent: Googlebot
Disallow: /private/
"""
PAGE = b"""<!doctype html><html><head>
<meta name="robots" content="noarchive">
</head><body>Tea</body></html>"""
HTML = {"Content-Type": "text/html; charset=utf-8"}
RSL = b"""<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>
<prohibits type="usage">ai-train</prohibits></license></content></rsl>"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(koster, ["signals", *map(str, arguments)])


def pages(*arguments: object, status: int = 0) -> Any:
    result = run(*arguments, "-f", "json")
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def stated(page: Any) -> dict[str, str]:
    """Return what is stated to everybody."""
    return {each["use"]: each["stated"] for each in page["uses"] if each["for"] == "*"}


@pytest.fixture
def shop(site: Site) -> Site:
    site.robots(body=ROBOTS)
    site.pages["/tea"] = Answer(body=PAGE, headers={**HTML, "X-Robots-Tag": "nosnippet"})
    return site


def test_a_page_its_headers_and_its_site(shop: Site) -> None:
    shop.pages["/.well-known/tdmrep.json"] = Answer(
        body=b'[{"location": "/", "tdm-reservation": 1}]'
    )
    (page,) = pages(f"{shop.url}/tea")
    assert stated(page) == {
        "search": "yes", "snippet": "no", "archive": "no", "ai-input": "unstated",
        "ai-train": "no", "tdm": "no",
    }  # fmt: skip
    places = [each["where"] for use in page["uses"] for each in use["sources"] if use["for"] == "*"]
    assert places == [
        "robots.txt, line 2", "header X-Robots-Tag", 'tag <meta name="robots">, line 2',
        "robots.txt, line 2", "/.well-known/tdmrep.json#/0/tdm-reservation",
    ]  # fmt: skip
    assert page["url"] == f"{shop.url}/tea"
    assert page["unread"] == []
    assert [path for path, _ in shop.requests] == [
        "/robots.txt", "/.well-known/tdmrep.json", "/ai.txt", "/llms.txt", "/tea",
    ]  # fmt: skip


def test_files_of_a_site_are_fetched_once(shop: Site) -> None:
    shop.pages["/coffee"] = shop.pages["/tea"]
    urls = [f"{shop.url}/{path}" for path in ("tea", "coffee", "tea")]
    assert [each["url"] for each in pages(*urls)] == urls[:2]
    assert len(shop.requests) == 6


def test_a_page_that_koster_may_not_fetch_is_not_fetched(shop: Site) -> None:
    (page,) = pages(f"{shop.url}/cart/x", status=3)
    assert "/cart/x" not in [path for path, _ in shop.requests]
    assert page["unread"][0].startswith("page: not fetched (")
    assert "Disallow: /cart/" in page["unread"][0]
    assert stated(page)["tdm"] == "undecided"
    assert run(f"{shop.url}/cart/x").stdout.startswith("Not read: page: not fetched")


@pytest.mark.parametrize(
    ("path", "answer", "why"),
    [
        ("/tea", Answer(500), "page: 500 Internal Server Error"),
        ("/tea", Answer(close=True), "page: "),
        ("/tea", Answer(302, headers={"Location": "/cart/x"}), "page: redirects to "),
        ("/robots.txt", Answer(503), "robots.txt: "),
        ("/robots.txt", Answer(body=PAGE, headers=HTML), "robots.txt: no line in it is one of a"),
        ("/robots.txt", Answer(body=b'{"error": "rate limited"}'), "robots.txt: no line in it"),
        ("/robots.txt", Answer(body=b"#" * 600_000), "robots.txt: only its first 500 KiB"),
        ("/.well-known/tdmrep.json", Answer(body=b"garbage"), "/.well-known/tdmrep.json cannot"),
        ("/license.xml", Answer(body=b"garbage"), "http://127.0.0.1:"),
        ("/license.xml", Answer(body=PAGE, headers=HTML), "http://127.0.0.1:"),
        ("/license.xml", Answer(404), "/license.xml: 404"),
        ("/.well-known/tdmrep.json", Answer(503), "/.well-known/tdmrep.json: 503"),
    ],
)
def test_what_cannot_be_read_comes_first(shop: Site, path: str, answer: Answer, why: str) -> None:
    shop.pages["/cart/x"] = Answer(body=PAGE, headers=HTML)
    shop.robots(body=f"License: {shop.url}/license.xml\n".encode() + ROBOTS)
    shop.pages["/license.xml"] = Answer(body=RSL)
    shop.pages[path] = answer
    (page,) = pages(f"{shop.url}/tea", status=3)
    assert any(each.startswith(why) for each in page["unread"]), page["unread"]
    assert "unstated" not in stated(page).values()
    assert "yes" not in stated(page).values()
    assert run("--use", "search", "--unstated-ok", f"{shop.url}/tea").exit_code == 3


def test_a_redirect_to_another_site_is_not_followed_without_a_word(shop: Site) -> None:
    other = shop.url.replace("127.0.0.1", "localhost")
    shop.pages["/tea"] = Answer(301, headers={"Location": f"{other}/elsewhere"})
    shop.pages["/elsewhere"] = Answer(body=PAGE, headers=HTML)
    # The rules of the first site are not those of the second.
    page, named = pages(f"{shop.url}/tea", f"{other}/elsewhere", status=3)
    why = f"page: redirects to another site, {other}/elsewhere: name that address"
    assert page["unread"] == [why]
    assert stated(page)["archive"] == "undecided"
    assert (named["unread"], stated(named)["archive"]) == ([], "no")


def test_files_of_another_site_are_not_those_of_a_site(shop: Site) -> None:
    other = shop.url.replace("127.0.0.1", "localhost")
    shop.pages["/.well-known/tdmrep.json"] = Answer(302, headers={"Location": f"{other}/t"})
    shop.pages["/t"] = Answer(body=b'[{"location": "/", "tdm-reservation": 0}]')
    page, _ = pages(f"{shop.url}/tea", f"{other}/tea", status=3)
    assert page["unread"] == [f"/.well-known/tdmrep.json: redirects to another site, {other}/t"]
    assert stated(page)["tdm"] == "undecided"


@pytest.mark.parametrize("url", ["http://127.0.0.1[/x", "{site}[/x", "{site}.evil/x", "mailto:a@b"])
def test_urls_of_licenses_may_be_anything(shop: Site, url: str) -> None:
    url = url.format(site=shop.url)
    shop.robots(body=ROBOTS + f"License: {url}\n".encode())
    (page,) = pages(f"{shop.url}/tea", status=3)
    assert page["unread"][0].startswith(url)


def test_a_missing_robots_txt_states_nothing(site: Site) -> None:
    site.pages["/tea"] = Answer(body=PAGE, headers=HTML)
    (page,) = pages(f"{site.url}/tea")
    assert stated(page) == {
        "search": "unstated", "snippet": "unstated", "archive": "no", "ai-input": "unstated",
        "ai-train": "unstated", "tdm": "unstated",
    }  # fmt: skip


def test_licenses_are_fetched(shop: Site) -> None:
    shop.robots(body=ROBOTS + f"License: {shop.url}/license.xml\n".encode())
    shop.pages["/license.xml"] = Answer(body=RSL)
    (page,) = pages(f"{shop.url}/tea")
    assert page["licenses"] == [{"url": f"{shop.url}/license.xml", "where": "robots.txt, line 7"}]
    kinds = {each["kind"] for use in page["uses"] for each in use["sources"]}
    assert "rsl" in kinds
    # Six are too many; one that is missing is not nothing.
    lines = "".join(f"License: {shop.url}/{number}.xml\n" for number in range(7))
    shop.robots(body=ROBOTS + lines.encode())
    (page,) = pages(f"{shop.url}/tea", status=3)
    assert [each.partition(":")[0] for each in page["unread"]] == [
        "/0.xml", "/1.xml", "/2.xml", "/3.xml", "/4.xml",
        "robots.txt, line 12", "robots.txt, line 13",
    ]  # fmt: skip


def test_a_license_that_is_no_rsl_is_not_fetched(shop: Site) -> None:
    head = b'<link rel="license" href="/by.html">'
    shop.pages["/tea"] = Answer(body=PAGE.replace(b"</head>", head + b"</head>"), headers=HTML)
    (page,) = pages(f"{shop.url}/tea")
    assert [each["url"] for each in page["licenses"]] == [f"{shop.url}/by.html"]
    assert "/by.html" not in [path for path, _ in shop.requests]


def test_only_the_beginning_of_a_page_is_read(shop: Site) -> None:
    late = b" " * MAX_HTML + b'<meta name="robots" content="noai">'
    shop.pages["/tea"] = Answer(body=PAGE + late, headers=HTML)
    (page,) = pages(f"{shop.url}/tea")
    assert stated(page)["archive"] == "no"
    assert any("256" in note for note in page["notes"]), page["notes"]


def test_files_that_answer_everything_are_not_there(shop: Site) -> None:
    shop.pages["/ai.txt"] = Answer(body=PAGE, headers=HTML)
    shop.pages["/llms.txt"] = Answer(body=b"# Tea\n")
    (page,) = pages(f"{shop.url}/tea")
    assert [note for note in page["notes"] if "is there" in note] == [
        "/llms.txt is there: koster does not read it"
    ]


def test_addresses_that_are_not_public_are_refused(shop: Site) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.2", 0))
        other.listen()
        address = f"http://127.0.0.2:{other.getsockname()[1]}/license.xml"
        shop.robots(body=ROBOTS + f"License: {address}\n".encode())
        (page,) = pages(f"{shop.url}/tea", status=3)
    assert page["unread"][0].startswith(address)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--use", "search"), 0),
        (("--use", "index"), 0),
        (("--use", "ai-train"), 1),
        (("--use", "tdm"), 1),
        (("--use", "tdm", "--unstated-ok"), 0),
        (("--use", "search", "--use", "ai-train"), 1),
        (("--use", "search", "--crawler", "FooBot"), 0),
        (("--use", "search", "--crawler", "Googlebot"), 1),
        ((), 0),
        (("--crawler", "Googlebot"), 0),
    ],
)
def test_exit_codes(tmp_path: Path, arguments: tuple[str, ...], status: int) -> None:
    (tmp_path / "robots.txt").write_bytes(ROBOTS)
    result = run(*arguments, "--robots", tmp_path / "robots.txt", "--url", "/private/x")
    assert result.exit_code == status, result.output


def test_files_in_place_of_a_site(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(ROBOTS)
    (tmp_path / "page.html").write_bytes(PAGE)
    (tmp_path / "tdmrep.json").write_text('[{"location": "/", "tdm-reservation": 0}]')
    (tmp_path / "license.xml").write_bytes(RSL)
    (page,) = pages(
        "--robots", tmp_path / "robots.txt", "--html", tmp_path / "page.html",
        "--tdmrep", tmp_path / "tdmrep.json", "--license", tmp_path / "license.xml",
        "--header", "X-Robots-Tag: noai", "--header", "X-Robots-Tag: FooBot: noindex",
        "--url", "https://shop.example/tea",
    )  # fmt: skip
    assert stated(page)["tdm"] == "yes"
    assert (stated(page)["archive"], stated(page)["ai-train"]) == ("no", "no")
    told = [each for each in page["uses"] if each["for"] == "FooBot"]
    assert {(each["use"], each["stated"]) for each in told} >= {("search", "conflict")}
    assert page["fetched"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the URL of a page, or --url and files"),
        (("--html", "x"), "files need --url"),
        (("--url", "/", "https://e.com/"), "name no other URL"),
        (("--url", "/"), "add --robots, --header or --html"),
        (("--url", "/", "--crawler", "__usage_ai-training"), "is a policy token, not a crawler"),
        (("--url", "/", "--crawler", "__usage_ai-training/1.0"), "is a policy token"),
        (("--url", "/", "--crawler", " "), "--crawler needs a name"),
        (("--url", "/", "--crawler", "*"), "--crawler needs a name"),
        (("--url", "", "--use", "tdm"), "or a path that starts with /"),
        (("--url", "shop.example/press/"), "or a path that starts with /"),
        (("--url", "mailto:x"), "or a path that starts with /"),
        (("--url", "https://["), "or a path that starts with /"),
        (("--url", "/", "--robots", "https://e.com"), "--robots is a file"),
        (("--url", "/", "--robots", "-", "--html", "-"), "can be read only once"),
        (("--url", "/", "--use", "robotics"), "robotics"),
        (("ftp://e.com/",), "ftp"),
        (("--header", "nothing", "--url", "/"), "header"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr.replace("\n│ ", " ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for option in ("--robots", "--html", "--tdmrep", "--license"):
        result = run(option, tmp_path / "none", "--url", "/")
        assert result.exit_code == 3, (option, result.output)
        assert "none" in result.stderr


def test_what_sites_say_cannot_control_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(
        b"User-agent: *\nContent-Signal: ai-train=\x1b[31mno\nAllow: /\n"
    )
    result = run("--robots", tmp_path / "robots.txt", "--url", "/")
    assert "\x1b" not in result.stdout
