"""``koster check --sitemap`` and ``koster lint --sitemap``, with files and sites on loopback."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from koster._cli.root import koster
from koster._reports import hints
from koster.lint._sitemaps import Comparisons
from tests.helpers import proxy, server, wire
from tests.helpers.forked_commands import Command
from tests.helpers.server import Answer, Site

ROBOTS = """\
User-agent: *
Disallow: /search  # results
Disallow: /cart

User-agent: Googlebot
Disallow: /private
"""


XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(koster, [str(each) for each in arguments], input=stdin)


def errors(result: Result) -> list[str]:
    return result.stderr.splitlines()


def urlset(*urls: str) -> bytes:
    entries = "".join(f"<url><loc>{url}</loc></url>\n" for url in urls)
    return f'<?xml version="1.0"?>\n<urlset {XMLNS}>\n{entries}</urlset>\n'.encode()


def index(*urls: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>\n" for url in urls)
    return f'<?xml version="1.0"?>\n<sitemapindex {XMLNS}>\n{entries}</sitemapindex>\n'.encode()


def pages(site: str, folder: str, count: int) -> list[str]:
    return [f"{site}/{folder}/{number}" for number in range(count)]


#: What lint says of sitemaps that could not be read, without its notes.
NOT_ALL = (
    "Not everything could be checked; 1 note (shown with --notes); not checked completely (Z004)\n"
)


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    path = tmp_path / "robots.txt"
    path.write_text(ROBOTS)
    return path


@pytest.fixture
def sitemap(tmp_path: Path) -> Path:
    path = tmp_path / "sitemap.xml"
    site = "https://e.com"
    urls = pages(site, "search", 5) + pages(site, "cart", 2) + pages(site, "blog", 13)
    path.write_bytes(urlset(*urls))
    return path


@pytest.fixture
def big(site: Site) -> str:
    """The address of an index of three sitemaps, two of them compressed."""
    site.robots(body=ROBOTS.encode())
    url = site.url
    names = [f"{url}/a.xml.gz", f"{url}/b.xml?gz", f"{url}/c.txt"]
    site.pages["/index.xml"] = Answer(body=index(*names))
    site.pages["/a.xml.gz"] = Answer(body=gzip.compress(urlset(*pages(url, "search", 4))))
    site.pages["/b.xml?gz"] = Answer(
        body=gzip.compress(urlset(*pages(url, "blog", 3))), headers={"Content-Type": "text/html"}
    )
    site.pages["/c.txt"] = Answer(
        body=gzip.compress("\n".join(pages(url, "cart", 2)).encode()),
        headers={"Content-Encoding": "gzip"},
    )
    return f"{url}/index.xml"


# check: the summary


def test_check_counts_blocked_urls_by_line(robots: Path, sitemap: Path) -> None:
    result = run("check", "--robots", robots, "--sitemap", sitemap, "-a", "*", "-a", "Googlebot")
    assert (
        result.stdout
        == f"""\
{robots}: 7 of 20 URLs blocked for *
  {robots}:2: Disallow: /search  # results  5 URLs, such as:
      https://e.com/search/0
      https://e.com/search/1
      https://e.com/search/2
  {robots}:3: Disallow: /cart  2 URLs:
      https://e.com/cart/0
      https://e.com/cart/1
{robots}: 0 of 20 URLs blocked for Googlebot
{hints.INDEX}
20 URLs from 1 sitemap
"""
    )
    assert (result.exit_code, result.stderr) == (1, "")
    assert run("check", "--robots", robots, "--sitemap", sitemap, "-a", "Googlebot").exit_code == 0


def test_check_fetches_indexes_and_the_robots_txt(site: Site, big: str) -> None:
    result = run("check", "--sitemap", big, "--user-agent", "Foo/1.0")
    assert result.stdout.splitlines() == [
        f"{site.url}/robots.txt: 6 of 9 URLs blocked for *",
        "  robots.txt:2: Disallow: /search  # results  4 URLs, such as:",
        *(f"      {url}" for url in pages(site.url, "search", 3)),
        "  robots.txt:3: Disallow: /cart  2 URLs:",
        *(f"      {url}" for url in pages(site.url, "cart", 2)),
        hints.INDEX,
        "9 URLs from 3 sitemaps",
    ]
    assert (result.exit_code, result.stderr) == (1, "")
    paths = [path for path, _ in site.requests]
    assert sorted(paths) == ["/a.xml.gz", "/b.xml?gz", "/c.txt", "/index.xml", "/robots.txt"]
    assert {headers["User-Agent"] for _, headers in site.requests} == {"Foo/1.0"}


def test_check_asks_each_site_of_the_urls(site: Site, unused: int, tmp_path: Path) -> None:
    site.robots(body=ROBOTS.encode())
    closed = f"http://127.0.0.1:{unused}"
    with server.running() as other:
        other.robots(404)
        urls = [f"{other.url}/cart", f"{site.url}/cart", f"{closed}/x", f"{site.url}/x"]
        (tmp_path / "s.xml").write_bytes(urlset(*urls, *urls[:2]))
        result = run("check", "--sitemap", tmp_path / "s.xml", f"{site.url}/cart/argument")
        assert len(other.requests) == 1
    assert len(site.requests) == 1
    lines = result.stdout.splitlines()
    assert lines[:4] == [
        f"{site.url}/robots.txt: 3 of 4 URLs blocked for *",
        "  robots.txt:3: Disallow: /cart  3 URLs:",
        f"      {site.url}/cart/argument",
        f"      {site.url}/cart",
    ]
    assert lines[5:7] == [
        f"{other.url}/robots.txt: 0 of 2 URLs blocked for *",
        f"{closed}/robots.txt: 1 of 1 URL blocked for *",
    ]
    assert lines[7].startswith("  fetching its robots.txt failed (connection failed")
    total = "Total: 4 of 7 URLs blocked for *"
    assert lines[9:] == [total, hints.INDEX, "6 URLs from 1 sitemap"]
    assert result.exit_code == 3


def test_check_compares_dialects_and_shows_the_pace(tmp_path: Path, sitemap: Path) -> None:
    (tmp_path / "r.txt").write_text("User-agent: *\nDisallow: /*t/\nCrawl-delay: 7\nComment: hi\n")
    options = ("-d", "RFC9309", "-d", "MK1994", "--at", "12:00")
    result = run("check", "--robots", tmp_path / "r.txt", "--sitemap", sitemap, *options)
    assert f"{tmp_path / 'r.txt'}: 2 of 20 URLs blocked for * by RFC9309\n" in result.stdout
    assert f"{tmp_path / 'r.txt'}: 0 of 20 URLs blocked for * by MK1994\n" in result.stdout
    assert "one request every 7 s" in result.stdout
    assert "Comment from the site" in result.stdout


def test_check_follows_fallbacks(robots: Path, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("https://e.com/private\n")
    files = ("--robots", robots, "--sitemap", tmp_path / "s.txt")
    result = run("check", *files, "-a", "Googlebot-Image")
    assert "1 of 1 URL blocked for Googlebot-Image\n" in result.stdout
    assert "Disallow: /private (falls back to Googlebot)  1 URL:\n" in result.stdout


# check: every answer


def test_json_and_csv_have_every_answer(robots: Path, sitemap: Path) -> None:
    files = ("--robots", robots, "--sitemap", sitemap, "-a", "*", "-a", "Googlebot")
    result = run("check", *files, "--format", "json", "/argument")
    records = json.loads(result.stdout)
    assert len(records) == 2 * 21
    assert [each["url"] for each in records[:3]] == ["/argument"] * 2 + ["https://e.com/search/0"]
    assert sum(not each["allowed"] for each in records) == 7
    assert records[2]["line"] == 2
    assert result.exit_code == 1
    rows = list(csv.DictReader(io.StringIO(run("check", *files, "-f", "csv").stdout)))
    assert [row["allowed"] for row in rows].count("false") == 7
    assert len(rows) == 40


def test_many_urls(robots: Path, tmp_path: Path) -> None:
    for number in range(2):
        urls = pages("https://e.com", ("cart", "blog")[number], 10_000)
        (tmp_path / f"{number}.xml.gz").write_bytes(gzip.compress(urlset(*urls)))
    (tmp_path / "i.xml").write_bytes(index("https://e.com/0.xml.gz", "https://e.com/1.xml.gz"))
    files = ("--robots", robots, "--sitemap", tmp_path / "i.xml")
    output = run("check", *files).stdout
    assert output.startswith(f"{robots}: 10,000 of 20,000 URLs blocked for *\n")
    assert output.endswith("20,000 URLs from 2 sitemaps\n")
    assert run("check", *files, "-f", "csv").stdout.count("\n") == 20_001


# Where sitemaps come from


def test_standard_input(robots: Path, sitemap: Path) -> None:
    content = gzip.compress(sitemap.read_bytes())
    assert run("check", "--robots", robots, "--sitemap", "-", stdin=content).stdout.startswith(
        f"{robots}: 7 of 20 URLs blocked"
    )
    assert run("lint", "--sitemap", "-", robots, stdin=content).stdout.count("M005") == 2
    process = subprocess.run(
        f"cat {sitemap} | {sys.executable} -m koster check --robots {robots} --sitemap -",
        shell=True,
        capture_output=True,
        check=False,
    )
    assert (process.returncode, process.stderr) == (1, b"")
    broken = run("check", "--robots", robots, "--sitemap", "-", stdin=b"<x/>")
    assert (
        broken.stderr
        == "koster: <stdin>: is XML with the root <x>, not a sitemap\nkoster: no URLs to check\n"
    )


def test_sitemaps_of_an_index_on_disk_are_read_from_its_folder(
    site: Site, robots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As generators of sites write them; what is not there is fetched."""
    folder = tmp_path / "public"
    (folder / "en").mkdir(parents=True)
    (folder / "en" / "sitemap.xml").write_bytes(urlset("https://e.com/en"))
    (folder / "1.xml").write_bytes(urlset("https://e.com/1"))
    (folder / "2.xml").write_bytes(urlset("https://e.com/2"))
    (tmp_path / "outside.xml").write_bytes(urlset("https://e.com/outside"))
    site.pages["/3.xml"] = Answer(body=urlset("https://e.com/3"))
    on_disk = (
        "https://e.com/en/sitemap.xml",
        "https://e.com/maps/1.xml",
        "https://e.com/2.xml?v=1",
    )
    not_there = ("/../outside.xml", "/..%2foutside.xml", "//etc/passwd", "/de/sitemap.xml", "/")
    itself = f"{site.url}/sitemap.xml"
    fetched = [f"{site.url}{path}" for path in ("/3.xml", *not_there)]
    (folder / "sitemap.xml").write_bytes(index(*on_disk, *fetched, itself))
    files = ("--robots", robots, "--sitemap", folder / "sitemap.xml")
    result = run("check", *files, "-f", "json")
    urls = [each["url"].rpartition("/")[2] for each in json.loads(result.stdout)]
    assert urls == ["en", "1", "2", "3"]
    *failed, elsewhere, pages_elsewhere = errors(result)
    assert failed == [f"koster: {url}: 404 Not Found" for url in fetched[1:]]
    assert f"sitemap.xml: 7 URLs are on {site.url} instead of https://e.com" in elsewhere
    assert f"/3.xml: 1 URL is on https://e.com instead of {site.url}" in pages_elsewhere
    assert len(site.requests) == len(fetched)
    (folder / "sitemap.xml").write_bytes(index("https://e.com/2.xml"))
    monkeypatch.chdir(folder)
    assert (
        "1 URL from 1 sitemap\n"
        in run("check", "--robots", robots, "--sitemap", "sitemap.xml").stdout
    )


def test_redirects_and_proxies(site: Site, robots: Path) -> None:
    site.pages["/old"] = Answer(301, headers={"Location": "/new.xml"})
    site.pages["/new.xml"] = Answer(body=urlset("https://e.com/cart"))
    site.pages["/loop"] = Answer(302, headers={"Location": "/loop"})
    files = ("--robots", robots, "--sitemap")
    with proxy.running() as running:
        result = run("check", *files, f"{site.url}/old#x", "--proxy", running.url)
        assert "1 of 1 URL blocked" in result.stdout
        assert running.requests == [
            f"GET {site.url}/{path} HTTP/1.1" for path in ("old", "new.xml")
        ]
    looping = run("check", *files, f"{site.url}/loop")
    assert errors(looping)[0] == f"koster: {site.url}/loop: more than 5 redirects"
    assert len(site.requests) == 2 + 6
    dead = run("check", *files, f"{site.url}/old", "--proxy", running.url)
    assert errors(dead)[0].endswith(f"(through {running.url})")


# Errors


def test_one_of_three_sitemaps_is_missing(site: Site, big: str) -> None:
    del site.pages["/b.xml?gz"]
    result = run("check", "--sitemap", big)
    assert errors(result) == [f"koster: {site.url}/b.xml?gz: 404 Not Found"]
    assert f"{site.url}/robots.txt: 6 of 6 URLs blocked for *\n" in result.stdout
    assert result.stdout.endswith("6 URLs from 2 sitemaps; 1 error\n")
    assert result.exit_code == 3
    assert run("check", "--sitemap", big, "-f", "json").exit_code == 3
    assert run("lint", "--sitemap", big, site.url).exit_code == 3


#: 101 MiB: compressed members may follow each other.
BOMB = (
    gzip.compress(b"<urlset>", mtime=0) + gzip.compress(bytes(1 << 20).replace(b"\0", b" ")) * 101
)


@pytest.mark.parametrize(
    ("content", "why", "count"),
    [
        (
            urlset(*pages("https://e.com", "cart", 3))[:-30],
            "is truncated: the XML ends in line 5; read 2 URLs before that",
            2,
        ),
        (
            b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + urlset("https://e.com/&a;")[22:],
            "declares entities or attributes, which a sitemap must not",
            0,
        ),
        pytest.param(BOMB, "is larger than 100 MiB", 0, marks=pytest.mark.thorough),
        (b"<!doctype html><html><body>", "is an HTML page, not a sitemap", 0),
        (b"", "is empty", 0),
        (urlset("/x", "https://e.com/cart", "x"), "2 URLs are not absolute, such as /x", 1),
    ],
)  # fmt: skip
def test_invalid_sitemaps(
    site: Site, robots: Path, tmp_path: Path, content: bytes, why: str, count: int
) -> None:
    path = tmp_path / "s.xml"
    path.write_bytes(content)
    site.pages["/s.xml"] = Answer(body=content)
    for address in (str(path), f"{site.url}/s.xml"):
        result = run("check", "--robots", robots, "--sitemap", address)
        assert errors(result)[0] == f"koster: {address}: {why}"
        assert f"{robots}: {count} of {count} URL" in result.stdout
        assert result.exit_code == 3


def test_index_with_invalid_urls(site: Site, robots: Path) -> None:
    url = f"{site.url}/i.xml"
    names = ("/relative.xml", "http://[x/s.xml", "http://e..com\u200b/s.xml", "file:///etc/passwd")
    site.pages["/i.xml"] = Answer(body=index(*names, f"{site.url}/s.xml", url))
    site.pages["/s.xml"] = Answer(body=urlset("https://e.com/cart"))
    result = run("check", "--robots", robots, "--sitemap", url)
    assert "1 of 1 URL blocked" in result.stdout
    assert result.exit_code == 3
    assert errors(result)[0] == f"koster: {url}: 2 URLs are not absolute, such as /relative.xml"
    assert errors(result)[1].startswith("koster: http://[x/s.xml: invalid host '[x'")
    assert errors(result)[2].startswith("koster: http://e..com\\u200b/s.xml: invalid host")
    assert "1 URL is on https://e.com instead of" in errors(result)[3]
    assert len(errors(result)) == 4


def test_endless_servers(robots: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n<urlset>"
    arguments = ("check", "--robots", robots, "--timeout", "5", "--sitemap")
    with wire.running(wire.endless(head, b" " * (1 << 16))) as running:
        result = run(*arguments, running.url)
        assert errors(result)[0] == f"koster: {running.url}: is larger than 100 MiB"
    with wire.running(wire.sends_slowly(b" " * 1000, 0.1, head)) as running:
        started = time.monotonic()
        result = run(*arguments, running.url, "--timeout", "0.5")
        assert time.monotonic() - started < 3
        assert errors(result)[0] == f"koster: {running.url}: no complete response within 0.5 s"
    zipped = gzip.compress(urlset(*pages("https://e.com", "cart", 99)))[:-20]
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    with wire.running(wire.sends(head + zipped)) as running:
        result = run(*arguments, running.url)
        assert "response body cannot be decoded: truncated response body" in result.stderr


def test_missing_files(robots: Path, tmp_path: Path, unused: int) -> None:
    result = run(
        "check", "--robots", robots, "--sitemap", tmp_path / "none.xml", "--sitemap", tmp_path,
        "--sitemap", f"http://127.0.0.1:{unused}/s.xml",
    )  # fmt: skip
    assert errors(result)[:2] == [
        f"koster: {tmp_path}/none.xml: No such file or directory",
        f"koster: {tmp_path}: Is a directory",
    ]
    assert errors(result)[2].startswith(
        f"koster: http://127.0.0.1:{unused}/s.xml: connection failed"
    )
    assert errors(result)[3:] == ["koster: no URLs to check"]
    assert result.exit_code == 3


def test_full_temporary_folder(
    robots: Path, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class FullFile(io.BytesIO):
        def write(self, _data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    site.pages["/s.xml"] = Answer(body=urlset("https://e.com/cart"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("tempfile.TemporaryFile", FullFile)
    result = run("check", "--robots", robots, "--sitemap", f"{site.url}/s.xml")
    assert result.exit_code == 3
    assert errors(result)[0] == (
        f"koster: {site.url}/s.xml: cannot write to the temporary folder {tmp_path}: "
        "No space left on device"
    )


def test_no_urls(robots: Path, tmp_path: Path) -> None:
    (tmp_path / "s.xml").write_bytes(urlset())
    result = run("check", "--robots", robots, "--sitemap", tmp_path / "s.xml", "-f", "json")
    assert (result.exit_code, json.loads(result.stdout)) == (3, [])
    assert result.stderr == "koster: no URLs to check\n"
    result = run("lint", "--sitemap", tmp_path / "s.xml", robots)
    assert result.exit_code == 3
    assert result.stderr == "koster: the sitemaps have no URLs: no URL was checked\n"
    assert result.stdout.startswith("Not everything could be checked")


def test_urls_with_invalid_hosts(site: Site, tmp_path: Path) -> None:
    (tmp_path / "s.xml").write_bytes(urlset("http://[x/", f"{site.url}/x"))
    result = run("check", "--sitemap", tmp_path / "s.xml")
    assert "0 of 1 URL blocked" in result.stdout
    assert errors(result) == ["koster: invalid host '[x' in 'http://[x'"]
    assert result.exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "--sitemap", "-", "--urls", "-"], "standard input (-) can be read only once"),
        (["check", "--sitemap", "-", "--robots", "-"], "standard input (-) can be read only once"),
        (["lint", "--sitemap", "-", "-"], "standard input (-) can be read only once"),
        (["lint", "--sitemap", "-", "--sitemap", "-", "r"], "standard input (-) can be read only"),
        (["lint", "--sitemap", "s", "--fix", "r"], "--fix and --sitemap cannot be used together"),
        (["lint", "--sitemap", "s"], "name a file, a folder"),
        (["check", "--robots", "r"], "no URLs given: name them, a file of them with --urls FILE, or a sitemap"),
        (["check", "--sitemap", "http://127.0.0.1:1/", "--proxy", "gopher://x"], "proxy must be a URL"),
        (["check", "--sitemap", "http://127.0.0.1:1/", "--user-agent", "é"], "user_agent must be"),
    ],
)  # fmt: skip
def test_usage_errors(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())


#: Runs ``koster`` without the extra http, once for each line of standard input, in forks.
WITHOUT_HTTP = """
import json, os, sys
sys.modules["httpx2"] = sys.modules["idna"] = None
import koster._cli.commands.check, koster._cli.commands.lint, koster._cli.sitemap_answers
for line in sys.stdin:
    (out, stdout), (err, stderr) = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.dup2(stdout, 1), os.dup2(stderr, 2)
        sys.argv = ["koster", *json.loads(line)]
        koster._cli.main()
    os.close(stdout), os.close(stderr)
    with open(out) as output, open(err) as errors:
        written = output.read(), errors.read()
    print(json.dumps([*written, os.waitstatus_to_exitcode(os.wait()[1])]), flush=True)
"""


def test_only_what_is_fetched_needs_the_extra(robots: Path, sitemap: Path) -> None:
    files = ("--robots", str(robots), "--sitemap", str(sitemap))
    commands = [
        ("check", *files),
        ("lint", "--sitemap", str(sitemap), str(robots)),
        ("check", *files, "--sitemap", "https://e.com/sitemap.xml"),
        ("check", "--sitemap", str(sitemap)),
        ("lint", "--sitemap", "https://e.com/sitemap.xml", str(robots)),
    ]
    process = subprocess.run(
        [sys.executable, "-c", WITHOUT_HTTP],
        input="".join(json.dumps(each) + "\n" for each in commands),
        capture_output=True,
        text=True,
        check=True,
    )
    checked, linted, *fetched = map(json.loads, process.stdout.splitlines())
    assert checked[0].endswith("20 URLs from 1 sitemap\n")
    assert "M005" in linted[0]
    assert len(fetched) == 3
    for _, err, code in fetched:
        assert code == 2
        assert "pip install 'koster[http]'" in err


# lint


def test_lint_has_a_finding_for_each_blocking_line(robots: Path, sitemap: Path) -> None:
    result = run("lint", "--select", "M", "--sitemap", sitemap, robots)
    assert (
        result.stdout
        == f"""\
{robots}:2:11 warning M005 Disallow: /search blocks 5 sitemap URLs for bingbot and other crawlers, such as https://e.com/search/0
    2 | Disallow: /search  # results
      |           ^^^^^^^ Allow these URLs, or remove them from the sitemap
{robots}:3:11 warning M005 Disallow: /cart blocks 2 sitemap URLs for bingbot and other crawlers, such as https://e.com/cart/0
    3 | Disallow: /cart
      |           ^^^^^ Allow these URLs, or remove them from the sitemap
2 warnings
"""
    )
    assert errors(result) == ["checked 20 URLs from 1 sitemap"]
    assert result.exit_code == 1
    assert run("lint", "--select", "P", "--sitemap", sitemap, robots).exit_code == 0


def test_lint_formats_and_several_files(robots: Path, sitemap: Path, tmp_path: Path) -> None:
    (tmp_path / "open.txt").write_text("User-agent: *\nDisallow: /x\n")
    arguments = ("lint", "--select", "M", "--sitemap", sitemap, robots, tmp_path / "open.txt", "-f")
    records = json.loads(run(*arguments, "json").stdout)
    assert [(each["file"], each["line"], each["url"]) for each in records] == [
        (str(robots), 2, "https://e.com/search/0"),
        (str(robots), 3, "https://e.com/cart/0"),
    ]
    log = json.loads(run(*arguments, "sarif", "--sitemap", tmp_path / "none.xml").stdout)
    assert [each["ruleId"] for each in log["runs"][0]["results"]] == ["M005"] * 2
    (invocation,) = log["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    assert "none.xml: No such file" in str(invocation)
    assert run(*arguments, "github").stdout.count("title=M005::Disallow: /") == 2


def test_lint_checks_the_urls_of_the_site(site: Site, tmp_path: Path) -> None:
    site.robots(body=ROBOTS.encode())
    urls = [f"{site.url}/x/../cart", f"{site.url.upper()}/search", "https://other.example/cart"]
    (tmp_path / "s.txt").write_text("\n".join(urls))
    result = run("lint", "--select", "M", "--sitemap", tmp_path / "s.txt", site.url)
    assert result.stdout.count("blocks 1 sitemap URL for bingbot") == 2
    assert "M009" in result.stdout
    assert errors(result)[0] == (
        f"koster: {site.url}/robots.txt: 1 sitemap URL is on another site and was not checked, "
        "such as https://other.example/cart"
    )
    (tmp_path / "s.txt").write_text("https://other.example/cart\nhttp://[x/y\n")
    result = run("lint", "--select", "M", "--sitemap", tmp_path / "s.txt", site.url)
    assert (result.exit_code, result.stdout) == (3, "Not everything could be checked\n")
    assert "2 sitemap URLs are on other sites and were not checked" in result.stderr
    assert "no URL was checked: the sitemaps have none of this site" in result.stderr
    site.robots(404)
    result = run("lint", "--select", "M", "--sitemap", tmp_path / "s.txt", site.url)
    assert "all is allowed" in result.stderr
    assert result.exit_code == 3


# On a terminal


_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(*arguments: str | Path, stdout: int | None = None) -> tuple[str, int]:
    """Return what a command prints on a terminal of 80 columns, and its exit code."""
    parent, child = pty.openpty()
    process = Command(
        *arguments,
        stdout=stdout or child,
        stderr=child,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LC_ALL": "C.UTF-8"},
    )
    os.close(child)
    output = b""
    try:
        while block := os.read(parent, 65536):
            output += block
    except OSError:
        # The other end is closed.
        pass
    process.communicate()
    os.close(parent)
    return output.decode().replace("\r\n", "\n"), process.wait()


def plain(output: str) -> str:
    return _CONTROLS.sub("", output).replace("\r", "")


def test_progress_and_summary_on_a_terminal(site: Site, big: str) -> None:
    site.pages["/b.xml?gz"].delay = 0.5
    output, code = on_a_terminal("check", "--sitemap", big)
    assert code == 1
    assert re.search(r"reading sitemaps .* 2/4 4 URLs", plain(output))
    assert plain(output).endswith("9 URLs from 3 sitemaps\n")
    assert "\x1b[?25h" in output
    assert max(map(len, re.split("[\r\n]", _CONTROLS.sub("", output)))) <= 80
    output, _ = on_a_terminal("lint", "--sitemap", big, site.url)
    assert "reading sitemaps" in output


def test_progress_does_not_mix_with_answers(site: Site, big: str, tmp_path: Path) -> None:
    """A pipe that is closed would end the command while the bar hides the cursor."""
    site.pages["/b.xml?gz"].delay = 0.3
    command = ("check", "--sitemap", big, "-f", "csv")
    assert "reading" not in on_a_terminal(*command)[0]
    assert "reading" not in on_a_terminal(*command, stdout=subprocess.PIPE)[0]
    with (tmp_path / "out.csv").open("wb") as file:
        assert "reading sitemaps" in on_a_terminal(*command, stdout=file.fileno())[0]


def test_hostile_sitemaps_print_no_control_characters(robots: Path, tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x1b[31m\u202e\u200b"
    path = tmp_path / f"{hostile}.txt"
    path.write_text(f"https://e.com/cart{hostile}\nx{hostile}\n")
    (tmp_path / "x.xml").write_text("<x\u0085/>")
    for command in (("check", "--robots"), ("lint", "--select", "M")):
        output, _ = on_a_terminal(
            *command, robots, "--sitemap", path, "--sitemap", tmp_path / "x.xml"
        )
        assert r"cart\x1b]0;owned\x07" in "".join(output.split())
        assert not set(hostile) & set(plain(output)) - set("]0;owned[31m")


@pytest.mark.parametrize("form", ["text", "csv"])
def test_ctrl_c_exits_cleanly(robots: Path, form: str) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n<urlset>"
    with wire.running(wire.sends_slowly(b" " * 1000, 0.3, head)) as running:
        process = Command(
            *("check", "--robots", robots, "-f", form, "--timeout", "30"),
            *("--sitemap", running.url),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(500):
            if running.connections:
                break
            time.sleep(0.02)
        time.sleep(0.2)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert time.monotonic() - started < 3
    assert (process.returncode, err) == (130, "koster: stopped: 0 of 1 sitemap done\n")


def test_sitemap_urls_that_take_too_long_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster._cli.sitemap_findings.Comparisons", lambda: Comparisons(1_000))
    robots, sitemap = tmp_path / "robots.txt", tmp_path / "s.txt"
    robots.write_text("User-agent: *\nDisallow: /*a\n")
    sitemap.write_text("https://e.com/a\nhttps://e.com/" + "a" * 99)
    result = run("lint", "--sitemap", sitemap, robots)
    assert result.exit_code == 3
    assert result.stderr.startswith("checked 1 of 2 URLs from 1 sitemap\n")
    assert "1 sitemap URL not checked: the file has too many rules with *" in result.stderr
    assert "on another site" not in result.stderr
    assert "Z004" in run("lint", "--notes", "--sitemap", sitemap, robots).stdout


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "404 Not Found"),
        (b"<!doctype html><html>", "is an HTML page, not a sitemap"),
        (b"", "is empty"),
        (gzip.compress(urlset("https://e.com/cart"), mtime=0)[:20], "is truncated"),
        (index("https://e.com/../gone.xml"), "404 Not Found"),
        (urlset("/cart"), "1 URL is not absolute, such as /cart"),
    ],
)
def test_lint_says_that_no_url_was_checked(
    site: Site, tmp_path: Path, content: bytes | None, why: str
) -> None:
    robots = tmp_path / "robots.txt"
    robots.write_text("User-agent: *\nDisallow: /search\n")
    if content is not None:
        site.pages["/s"] = Answer(body=content.replace(b"https://e.com/..", site.url.encode()))
    result = run("lint", robots, "--sitemap", f"{site.url}/s")
    assert (result.exit_code, result.stdout) == (3, NOT_ALL)
    first, last = errors(result)
    assert first.endswith(why)
    assert last == "koster: no sitemap could be read: no URL was checked"


def test_lint_says_how_many_sitemaps_failed(site: Site, tmp_path: Path) -> None:
    robots = tmp_path / "robots.txt"
    robots.write_text("User-agent: *\nDisallow: /search\n")
    site.pages["/s"] = Answer(body=urlset(f"{site.url}/a", f"{site.url}/b"))
    both = ("--sitemap", f"{site.url}/s", "--sitemap", f"{site.url}/gone")
    result = run("lint", robots, *both)
    assert (result.exit_code, result.stdout) == (3, NOT_ALL)
    assert errors(result)[-1] == "checked 2 URLs from 1 sitemap; 1 error"
    robots.write_text("User-agent: *\nDisallow: /a\n")
    result = run("lint", robots, *both)
    assert result.exit_code == 3
    assert result.stdout.endswith("(Z004); not everything could be checked\n")
