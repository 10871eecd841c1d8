"""tools/facts.py: which pages of the registry changed since they were read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from koster.crawlers import Crawler, Obeys, Purpose, known
from tests.helpers.server import Answer, Site, refusing_port, running
from tools import facts

TODAY = date(2026, 11, 30)
HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture
def site() -> Iterator[Site]:
    with running() as server:
        yield server


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "facts.toml"
    facts.write_table(path, [])
    return path


def crawler(token: str, source: str, checked: str = "2026-11-22") -> Crawler:
    return Crawler(token, "Example", (Purpose.TOOL,), Obeys.RULES, source, checked)


def page(words: str) -> Answer:
    return Answer(body=f"<html><p>{words}</p></html>".encode(), headers=HTML)


def run(some: list[Crawler], table: Path, today: date = TODAY, *, accepts: bool = False) -> int:
    return facts.run(some, table, today, accepts=accepts, interval=0)


def test_pages_of_the_registry_have_crawlers_and_days() -> None:
    found = facts.sources(known(), {}, TODAY)
    assert sum(len(each.tokens) for each in found) == len(known())
    assert len({each.url for each in found}) == len(found)
    google = next(each for each in found if each.url.endswith("/google-common-crawlers"))
    assert {"Googlebot", "Google-Extended"} <= set(google.tokens)
    assert google.checked == "2026-11-22"


def test_recorded_pages_are_sources() -> None:
    assert facts.read_table(facts.TABLE).keys() <= {each.source for each in known()}


def test_oldest_day_counts() -> None:
    some = [crawler("A", "https://e", "2026-11-30"), crawler("b", "https://e", "2026-09-05")]
    (source,) = facts.sources(some, {}, TODAY)
    assert (source.tokens, source.checked) == (("A", "b"), "2026-09-05")
    assert str(source) == "https://e\n    A, b (2026-09-05; not hashed yet)"


def test_life_of_a_page(site: Site, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"{site.url}/bots"
    some = [crawler("A", url), crawler("B", url)]
    site.pages["/bots"] = page("A obeys.")
    assert run(some, table) == 1
    output = capsys.readouterr().out
    assert output.splitlines()[0] == "1 page vouches for 2 crawlers"
    assert f"Not hashed yet (1):\n  {url}\n    A, B (2026-11-22; not hashed yet)" in output
    assert facts.read_table(table) == {}

    assert run(some, table, accepts=True) == 1
    assert "Recorded" in capsys.readouterr().out
    digest = facts.digest_of("A obeys.")
    assert facts.read_table(table) == {url: facts.Page(url, TODAY, digest)}

    # Markup may change.
    site.pages["/bots"].body = b"<body class=x><style>p {}</style><h1>A</h1>\n<b>obeys.</b>"
    assert run(some, table, date(2026, 12, 1)) == 0
    assert f"As they were read (1):\n  {url}" in capsys.readouterr().out

    site.pages["/bots"] = page("A ignores.")
    assert run(some, table, date(2026, 12, 1)) == 1
    assert "Changed since they were read (1):" in capsys.readouterr().out
    assert run(some, table, date(2026, 12, 2), accepts=True) == 1
    new = facts.Page(url, date(2026, 12, 2), facts.digest_of("A ignores."))
    assert facts.read_table(table) == {url: new}
    # The day is that of the text.
    assert run(some, table, date(2026, 12, 3), accepts=True) == 0
    assert facts.read_table(table) == {url: new}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(403), "status 403"),
        (Answer(500, b"<p>error"), "status 500"),
        (Answer(body=b"<html><script>draw()</script><noscript>Scripts!</noscript>", headers=HTML),
         "no text without scripts"),
        (Answer(body=b"x" * (facts._MAX_BYTES + 1), headers=HTML), "larger than 8 MiB"),
        (Answer(302, headers={"Location": "/bots"}), "more than 5 redirects"),
        (Answer(garbage=True), ""),
    ],
)  # fmt: skip
def test_what_cannot_be_fetched_is_no_change(
    site: Site, table: Path, capsys: pytest.CaptureFixture[str], answer: Answer, why: str
) -> None:
    url = f"{site.url}/bots"
    old = facts.Page(url, TODAY, "0" * 64)
    facts.write_table(table, [old])
    site.pages["/other"] = page("B obeys.")
    site.pages["/bots"] = answer
    some = [crawler("A", url), crawler("B", f"{site.url}/other")]
    assert run(some, table, accepts=True) == 1
    output = capsys.readouterr().out
    assert f"Could not be fetched (1):\n  {url}\n    A (2026-11-22; 000000000000 on" in output
    assert why in output
    assert "Changed" not in output
    assert facts.read_table(table)[url] == old


def test_redirects_are_followed(site: Site, table: Path) -> None:
    site.pages["/old"] = Answer(301, headers={"Location": "/new"})
    site.pages["/new"] = page("A obeys.")
    run([crawler("A", f"{site.url}/old")], table, accepts=True)
    (recorded,) = facts.read_table(table).values()
    assert recorded.sha256 == facts.digest_of("A obeys.")


def test_robots_txt_is_obeyed(site: Site, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /bots")
    site.pages["/bots"] = page("A obeys.")
    assert run([crawler("A", f"{site.url}/bots")], table) == 1
    assert "koster-facts may not fetch" in capsys.readouterr().out
    assert [path for path, _ in site.requests] == ["/robots.txt"]
    assert site.requests[0][1]["User-Agent"].startswith("koster-facts/")


def test_pages_are_fetched_one_after_the_other_once(site: Site, table: Path) -> None:
    for name in "abc":
        site.pages[f"/{name}"] = page(name)
    some = [crawler(f"{name}{n}", f"{site.url}/{name}") for name in "abc" for n in range(3)]
    run(some, table)
    assert [path for path, _ in site.requests] == ["/robots.txt", "/a", "/b", "/c"]


def test_without_a_network(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = crawler("Old", f"http://127.0.0.1:{refusing_port()}/", "2025-11-29")
    some = [
        *(crawler(f"A{n}", f"http://127.0.0.1:{refusing_port()}/") for n in range(9)),
        old,
    ]
    facts.write_table(table, [facts.Page(some[0].source, TODAY, "0" * 64)])
    before = table.read_text()
    assert run(some, table, accepts=True) == 1
    output = capsys.readouterr().out
    assert "No network: no page was fetched, so changes are unknown" in output
    assert "Could not be fetched" not in output
    assert "Not hashed yet (9):" in output
    assert (
        f"Checked more than a year ago (1):\n  {old.source}\n"
        "    Old (2025-11-29, checked more than a year ago; not hashed yet)"
    ) in output
    assert output.endswith("\nNot recorded\n")
    assert table.read_text() == before


def test_no_network_is_found_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def fail(source: facts.Source, *_: object) -> facts.Source:
        tried.append(source.url)
        return replace(source, why="timeout", is_unreachable=True)

    monkeypatch.setattr(facts, "fetched", fail)
    some = facts.sources([crawler(f"A{n}", f"https://{n}.invalid/") for n in range(9)], {}, TODAY)
    found = facts.fetch_all(some, 0)
    assert len(tried) == facts._MAX_UNREACHABLE
    assert [each.url for each in found] == [each.url for each in some]
    assert not facts.has_network(found)


@pytest.mark.parametrize(
    ("media_type", "body", "expected"),
    [
        ("text/html", "<title>A</title><p>b&amp;c<br>d</p>", "A b&c d"),
        ("text/html; charset=utf-8", "a<script>if (1 < 2) {}</script> b<style>x</style>", "a b"),
        ("text/html", "<svg/>a<svg><title>x</title></svg>b</svg>c", "a b c"),
        ("text/markdown", "# A\n\n<b>", "# A <b>"),
        ("application/json", '{"a":  1}\n', '{"a": 1}'),
    ],
)
def test_text(media_type: str, body: str, expected: str) -> None:
    assert facts.text_of(body, media_type) == expected
