"""``koster lint SITE``: the sitemaps that its robots.txt names, and M008."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from koster._cli import named_sitemaps
from koster._cli.root import koster
from tests.helpers import server, wire
from tests.helpers.server import Answer, Site

URLSET = b"<?xml version='1.0'?><urlset><url><loc>https://e.com/</loc></url></urlset>"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(koster, ["lint", *map(str, arguments)])


def name_sitemaps(site: Site, *urls: str) -> None:
    lines = "".join(f"Sitemap: {url}\n" for url in urls)
    site.robots(body=f"User-agent: *\nDisallow: /x\n\n{lines}".encode())


def paths(site: Site) -> list[str]:
    return [path for path, _ in site.requests]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(404), "404 Not Found"),
        (Answer(410), "410 Gone"),
        (Answer(500), "500 Internal Server Error"),
        (Answer(503), "503 Service Unavailable"),
        (Answer(), "the file is empty"),
        (Answer(body=b" \n"), "the file is empty"),
        (Answer(body=b"<!doctype html><html><body>"), "the file is an HTML page, not a sitemap"),
        (Answer(body=b"<Error/>"), "the file is XML with the root <Error>, not a sitemap"),
        (Answer(body=b"Not here"), "the file is neither XML nor a list of URLs"),
        (Answer(body=gzip.compress(URLSET, mtime=0)[:-9]), "the file is truncated"),
        (Answer(302, headers={"Location": "/s"}), "more than 5 redirects"),
        (Answer(close=True), "invalid HTTP response"),
    ],
)  # fmt: skip
def test_sitemaps_that_are_not_there(site: Site, answer: Answer, why: str) -> None:
    name_sitemaps(site, f"{site.url}/s")
    site.pages["/s"] = answer
    result = run("--select", "M", "-f", "json", site.url)
    (found,) = json.loads(result.stdout)
    assert (found["code"], found["line"], found["severity"]) == ("M008", 4, "warning")
    assert found["message"].startswith(f"Sitemap not found: {why}")
    assert found["url"] == f"{site.url}/s"
    assert (result.exit_code, result.stderr) == (1, "")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=URLSET),
        Answer(body=gzip.compress(URLSET, mtime=0), headers={"Content-Type": "text/html"}),
        Answer(body=b"https://e.com/a\nhttps://e.com/b\n"),
        Answer(body=b"<rss><channel/></rss>"),
        Answer(body=URLSET[:-9] + b"<url><loc>https://e.com/\xc3\xa9</loc></url>" * 5_000),
        Answer(body=gzip.compress(URLSET, mtime=0), headers={"Content-Encoding": "gzip"}),
    ],
)
def test_sitemaps_that_are_there(site: Site, answer: Answer) -> None:
    """Of long ones, only the beginning is read."""
    name_sitemaps(site, f"{site.url}/s")
    site.pages["/s"] = answer
    result = run(site.url)
    assert (result.stdout, result.stderr, result.exit_code) == ("No problems found\n", "", 0)
    assert paths(site) == ["/robots.txt", "/s"]


def test_only_the_beginning_is_read(site: Site) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n<urlset>"
    with wire.running(wire.endless(head, b" " * (1 << 12))) as running:
        name_sitemaps(site, f"{running.url}/s")
        assert run("--timeout", "5", site.url).stdout == "No problems found\n"


def test_a_handful_is_requested_each_once(site: Site) -> None:
    urls = [f"{site.url}/{number}" for number in range(7)]
    invalid = (
        "/relative.xml",
        "https://",
        f"{site.url}/a {site.url}/b",
        "ftp://e.com/s",
        "http://[x/",
    )
    name_sitemaps(site, urls[0], *invalid, *urls)
    result = run("--select", "M008", "-f", "concise", site.url)
    assert result.stdout.count("M008 Sitemap not found: 404 Not Found") == 5
    assert paths(site) == ["/robots.txt", "/0", "/1", "/2", "/3", "/4"]
    name = f"{site.url}/robots.txt"
    assert result.stderr == f"koster: {name}: checked the first 5 of 7 sitemaps\n"


def test_nothing_is_requested_for_files_nor_without_the_check(site: Site, tmp_path: Path) -> None:
    name_sitemaps(site, f"{site.url}/s")
    path = tmp_path / "robots.txt"
    path.write_bytes(site.pages["/robots.txt"].body)
    assert run("--ignore", "M006", path).exit_code == 0
    assert site.requests == []
    assert run("--ignore", "M008", site.url).exit_code == 0
    assert paths(site) == ["/robots.txt"]


@pytest.mark.parametrize("status", [401, 403, 429])
def test_what_a_firewall_may_refuse_only_koster_is_not_checked(site: Site, status: int) -> None:
    name_sitemaps(site, f"{site.url}/s")
    site.pages["/s"] = Answer(status)
    result = run(site.url)
    assert f"{site.url}/s: this sitemap was not checked: {status}" in result.stderr
    assert result.exit_code == 0
    assert "not checked completely (Z004)" in result.stdout
    assert "o problems found" not in result.stdout


def test_other_hosts_are_requested_only_if_public(
    site: Site, names: dict[str, list[list[str]]]
) -> None:
    """A robots.txt must not send koster into the network of its user: nor may a redirect."""
    names["intranet.test"] = [["127.0.0.1"]]
    inside = f"http://intranet.test:{site.port}/inside"
    name_sitemaps(site, inside, f"{site.url}/redirect", "http://[::1]:8000/s", f"{site.url}/s")
    site.pages["/redirect"] = Answer(302, headers={"Location": inside})
    site.pages["/s"] = Answer(body=URLSET)
    result = run("--select", "M,Z", "--ignore", "M006", site.url)
    assert result.stderr.count("this sitemap was not checked: address blocked by the guard") == 3
    assert paths(site) == ["/robots.txt", "/redirect", "/s"]
    assert result.exit_code == 0
    with server.running() as other:
        # On the host that the user named, each port.
        name_sitemaps(site, f"{site.url}/redirect")
        site.pages["/redirect"].headers["Location"] = f"{other.url}/s"
        other.pages["/s"] = Answer(body=URLSET)
        assert run(site.url).stdout == "No problems found\n"


def test_a_name_that_is_unknown(site: Site) -> None:
    name_sitemaps(site, "https://nowhere.invalid/s.xml")
    assert "Sitemap not found: DNS lookup failed" in run(site.url).stdout


@pytest.mark.parametrize(
    "body",
    [
        "<urlset><!-- \U0001d11e --><url><loc>https://e.com/\u00e9?a&amp;b</loc></url></urlset>".encode(),
        "https://e.com/\u00e9\nhttps://e.com/\U0001d11e\n".encode(),
        gzip.compress(URLSET, mtime=0),
    ],
)  # fmt: skip
def test_a_sitemap_may_be_cut_anywhere(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for end in range(10, len(body) - 1):
        monkeypatch.setattr(named_sitemaps, "_FIRST_BYTES", end)
        assert named_sitemaps._problem_in(io.BytesIO(body)) is None
