"""``koster check`` and ``koster fetch`` with sites on loopback."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from koster import __version__
from koster._cli.root import koster
from tests.helpers import proxy, server, wire
from tests.helpers.server import Answer, Site

FILE = b"User-agent: *\nDisallow: /private\t# keep out\nCrawl-delay: 7\nComment: hello\x1b[31m"


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(koster, arguments, input=stdin)


def test_check_fetches_each_site_once(site: Site) -> None:
    site.robots(body=FILE)
    with server.running() as other:
        result = run(
            "check",
            "--agent",
            "FooBot",
            f"{site.url}/private/x",
            f"{other.url}/private/x",
            f"{site.url}/open",
            f"{site.url}/robots.txt",
        )
        assert result.exit_code == 1
        lines = result.stdout.splitlines()
        assert lines[1].split() == [
            "blocked",
            "FooBot",
            f"{site.url}/private/x",
            "robots.txt:2:",
            "Disallow:",
            "/private\\t#",
            "keep",
            "out",
        ]
        assert lines[2].endswith("  no rule matches")
        assert lines[3].endswith("/robots.txt itself is always allowed")
        assert lines[4].endswith("  no robots.txt (404 Not Found)")
        assert (len(site.requests), len(other.requests)) == (1, 1)
    assert site.requests[0][1]["User-Agent"] == f"koster/{__version__}"


def test_redirect_target_is_named(site: Site) -> None:
    site.robots(301, headers={"Location": "/r"})
    site.pages["/r"] = Answer(body=FILE)
    assert f"{site.url}/r:2: Disallow: /private" in run("check", f"{site.url}/private").stdout
    records = json.loads(run("check", "-f", "json", f"{site.url}/private").stdout)
    assert records[0]["file"] == f"{site.url}/r"


def test_urls_are_normalized_before_matching(site: Site) -> None:
    site.robots(body=FILE)
    for path in ("/x/../private", "\\private", "/%2e/private"):
        assert run("check", site.url + path).exit_code == 1, path
        assert run("check", "--robots", site.url, site.url + path).exit_code == 1, path
    assert "is at /robots.txt" in run("check", "--robots", f"{site.url}/a/robots.txt", "/x").stderr


def test_unreachable_site_is_disallowed_and_an_error(unused: int, site: Site) -> None:
    site.robots(body=FILE)
    url = f"http://127.0.0.1:{unused}/x"
    result = run("check", "--format", "json", url, f"{site.url}/open")
    assert result.exit_code == 3
    first, second = json.loads(result.stdout)
    assert (first["allowed"], first["reason"], first["line"]) == (False, "unreachable", None)
    assert "refused" in first["why"]
    assert second["allowed"]
    assert second["comments"] == ["hello\x1b[31m"]
    rows = list(csv.DictReader(io.StringIO(run("check", "-f", "csv", url).stdout)))
    assert rows[0]["why"] == first["why"]


def test_lists_of_urls_and_dialects(site: Site, tmp_path: Path) -> None:
    site.robots(403)
    (tmp_path / "urls").write_text(f"{site.url}/a\nnonsense\n{site.url}/b\n")
    result = run("check", "--urls", str(tmp_path / "urls"), "-d", "all")
    assert result.exit_code == 3
    assert "koster: not an absolute http:// or https:// URL: 'nonsense'" in result.stderr
    assert result.stdout.splitlines()[1].split()[2:] == [
        *["allowed", "unavailable"] * 2,
        *["blocked", "forbidden"] * 5,
    ]
    # The dialects treat 401 and 403 in three ways.
    assert len(site.requests) == 3


def test_robots_option_takes_a_site(site: Site, unused: int) -> None:
    site.robots(body=FILE)
    result = run("check", "--robots", site.url, "/private/x", "https://example.com/private")
    assert result.stdout.count("blocked  *") == 2
    assert f"{site.url}/robots.txt:2: Disallow: /private" in result.stdout
    unreachable = run("check", "--robots", f"http://127.0.0.1:{unused}", "/x")
    assert unreachable.exit_code == 3
    assert "fetching its robots.txt failed (connection failed" in unreachable.stdout


def test_text_shows_the_interval_and_comments(site: Site) -> None:
    site.robots(body=FILE)
    output = run("check", "--at", "now", f"{site.url}/x").stdout
    assert "one request every 7 s" in output
    assert "hello\\x1b[31m" in output


def test_fetch_shows_redirects_headers_freshness_and_the_file(site: Site) -> None:
    site.robots(301, headers={"Location": "/r"})
    headers = {"Cache-Control": "max-age=3600", "ETag": '"1"', "Set-Cookie": "secret=1"}
    site.pages["/r"] = Answer(body=FILE, headers=headers)
    result = run("fetch", f"{site.url}/any/page")
    assert result.exit_code == 0
    for expected in (
        f"301     {site.url}/robots.txt",
        "location: /r",
        f"200     {site.url}/r",
        "cache-control: max-age=3600",
        'etag: "1"',
        "a file",
        "1 group, read as RFC9309",
        "Fetched again  not before ",
        "Disallow: /private      # keep out",
        "hello\\x1b[31m",
    ):
        assert expected in result.stdout, expected
    assert "secret" not in result.stdout
    assert "from the cache" not in result.stdout


def test_fetch_shows_the_comments_for_its_user_agent(site: Site) -> None:
    site.robots(
        body=b"User-agent: FooBot\nComment: hello\x1b[31m\nComment: again\nUser-agent: *\nDisallow:"
    )
    output = run("fetch", "--user-agent", "FooBot/1.0", site.url).stdout
    assert re.search(r"Comment +hello\\x1b\[31m\n", output)
    assert re.search(r"Comment +again\n", output)
    assert "hello" not in run("fetch", site.url).stdout.partition("User-agent")[0]
    (record,) = json.loads(run("fetch", "--user-agent", "FooBot", "-f", "json", site.url).stdout)
    assert record["comments"] == ["hello\x1b[31m", "again"]


def test_fetch_prints_the_raw_file(site: Site) -> None:
    site.robots(body=FILE + b"\r\n\xff")
    assert run("fetch", "--format", "file", site.url).stdout_bytes == FILE + b"\r\n\xff"
    site.robots(404)
    result = run("fetch", "--format", "file", site.url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "everything is allowed (404 Not Found)" in result.stderr


def test_fetch_as_json(site: Site) -> None:
    site.robots(body=FILE, headers={"Retry-After": "5"})
    (record,) = json.loads(run("fetch", "-f", "json", site.url).stdout)
    assert record["outcome"] == "file"
    assert record["body"] == FILE.decode()
    assert record["hops"][0]["status"] == 200
    assert record["hops"][0]["headers"]["retry-after"] == "5"
    assert (record["stale"], record["downgraded"], record["why"]) == (False, False, None)


def test_fetch_of_several_sites_shows_a_row_for_each(site: Site) -> None:
    site.robots(body=FILE)
    with server.running() as other:
        result = run("fetch", site.url, other.url)
        assert result.exit_code == 1
        rows = [re.split("  +", line) for line in result.stdout.splitlines()]
        assert rows[0] == ["Site", "Outcome", "Size", "Fetched again after"]
        assert rows[1][:3] == [site.url, "a file", f"{len(FILE)} bytes"]
        assert rows[2][:2] == [other.url, "no file: everything is allowed (404 Not Found)"]
        records = json.loads(run("fetch", "-f", "json", other.url, site.url).stdout)
        assert [record["site"] for record in records] == [other.url, site.url]
        files = run("fetch", "-f", "file", site.url, site.url).stdout_bytes
        assert files == FILE * 2
        # The worst outcome decides the exit code.
        other.robots(503)
        assert run("fetch", site.url, other.url).exit_code == 3


@pytest.mark.parametrize(
    ("status", "options", "code", "message"),
    [
        (404, [], 1, "no file: everything is allowed"),
        (403, ["-d", "mk1996"], 1, "forbidden: everything is blocked"),
        (500, [], 3, "unreachable: everything is blocked for now"),
    ],
)
def test_fetch_without_a_file(
    site: Site, status: int, options: list[str], code: int, message: str
) -> None:
    site.robots(status)
    result = run("fetch", *options, site.url)
    assert result.exit_code == code
    assert message in result.stdout


@pytest.mark.parametrize(
    "name", ["http://[x/", "ftp://example.com", "", "a b", "https://", "/x", "./robots.txt", "."]
)
def test_fetch_of_an_invalid_site(name: str) -> None:
    assert run("fetch", name).exit_code == 2


def test_fetch_of_a_host_uses_https() -> None:
    assert "https://nowhere.invalid/robots.txt" in run("fetch", "nowhere.invalid").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["check", "example.com/x"],
            "example.com/x has no scheme. Did you mean https://example.com/x?",
        ),
        (["check", "-"], "to read URLs from standard input: --urls -"),
        (["check", "/x"], "to check paths against a file, use --robots FILE"),
        (["fetch", "./robots.txt"], "is a file, not a site"),
        (["fetch", "--user-agent", "é", "https://example.com"], "user_agent must be printable"),
    ],
)
def test_usage_errors_suggest_a_fix(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())


@pytest.mark.parametrize(
    "options",
    [
        ["--timeout", "nan"],
        ["--cache", "redis://127.0.0.1:bad/0"],
        ["--cache", "redis://h/0?socket_timeout=abc"],
    ],
)
def test_invalid_option_values_are_usage_errors(options: list[str]) -> None:
    assert run("fetch", *options, "https://example.com").exit_code == 2


def test_hosts_are_encoded_as_in_the_client(names: dict[str, list[list[str]]], site: Site) -> None:
    names["xn--fa-hia.test"] = [["127.0.0.1"]]
    names["xn--fa-hia.de"] = [["127.0.0.1"]]
    site.robots(body=FILE)
    assert (
        f"http://xn--fa-hia.de:{site.port}/robots.txt"
        in run("fetch", f"http://faß.de:{site.port}").stdout
    )
    assert run("check", f"http://faß.de:{site.port}/private").exit_code == 1


def test_user_agent_option_sets_the_header(site: Site) -> None:
    run("fetch", "--user-agent", "FooBot/1.0", site.url)
    assert site.requests[0][1]["User-Agent"] == "FooBot/1.0"


def test_file_over_the_size_limit(site: Site) -> None:
    site.robots(body=b"Disallow: /x\n" * 50_000)
    assert (
        "the file is larger than 500 KiB: crawlers read only its beginning"
        in run("fetch", site.url).stdout
    )


def test_site_without_tls_suggests_http(site: Site) -> None:
    output = run("fetch", site.url.removeprefix("http://")).stdout
    assert output.count("the server does not use TLS; try http://") == 1


def test_cache_option(site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE)
    path = str(tmp_path / "cache.sqlite")
    assert "from the cache" not in run("fetch", "--cache", path, site.url).stdout
    assert "from the cache" in run("fetch", "--cache", path, site.url).stdout
    assert run("check", "--cache", path, f"{site.url}/private").exit_code == 1
    assert len(site.requests) == 1
    (tmp_path / "text").write_text("not a cache\n" * 100)


def test_cache_that_cannot_be_opened_costs_no_answers(site: Site, tmp_path: Path) -> None:
    """Each of the two fetches has a client; there is one warning."""
    site.robots(body=FILE)
    path = tmp_path / "text"
    path.write_text("not a cache\n" * 100)
    arguments = ("--dialect", "rfc9309", "--dialect", "mk1994", f"{site.url}/private")
    result = run("check", "--cache", str(path), *arguments)
    assert result.exit_code == 1
    assert result.stdout == run("check", *arguments).stdout
    assert result.stderr == (
        f"koster: the cache failed and is not used: cannot open the cache {path}: "
        "file is not a database\n"
    )
    assert path.read_text() == "not a cache\n" * 100


def test_timeout_covers_the_whole_fetch() -> None:
    with wire.running(wire.sends_slowly(b"x" * 100, 0.1, b"HTTP/1.1 200 OK\r\n\r\n")) as running:
        started = time.monotonic()
        result = run("fetch", "--timeout", "0.5", running.url)
        assert time.monotonic() - started < 3
    assert "no complete response within 0.5 s" in result.stdout


def test_slow_fetch_shows_progress_on_a_terminal() -> None:
    with wire.running(wire.sends_slowly(FILE[:15], 0.1, b"HTTP/1.1 200 OK\r\n\r\n")) as running:
        parent, child = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "koster", "fetch", running.url],
            stdout=subprocess.DEVNULL,
            stderr=child,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
        )
        os.close(child)
        terminal_output = b""
        try:
            while block := os.read(parent, 65536):
                terminal_output += block
        except OSError:
            pass
        assert process.wait() == 0
        os.close(parent)
    assert b"fetching" in terminal_output
    assert b"0/1" in terminal_output


def test_missing_extra_names_what_to_install() -> None:
    code = "import sys; sys.modules['httpx2'] = None; from koster._cli import main; main()"
    process = subprocess.run(
        [sys.executable, "-c", code, "fetch", "example.com"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert "pip install 'koster[http]'" in " ".join(process.stderr.split())


def test_proxy_option(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.robots(body=FILE)
    with proxy.running() as running:
        assert run("fetch", "--proxy", running.url, site.url).exit_code == 0
        assert run("check", "--proxy", running.url, f"{site.url}/private").exit_code == 1
        assert running.requests == [f"GET {site.url}/robots.txt HTTP/1.1"] * 2
        monkeypatch.setenv("HTTP_PROXY", running.url)
        assert run("audit", site.url).exit_code == 0
        assert len(running.requests) == 3
    failed = run("fetch", "--proxy", running.url, site.url)
    assert failed.exit_code == 3
    assert f"(through {running.url})" in failed.stdout
    wrong = run("fetch", "--proxy", "gopher://x", site.url)
    assert wrong.exit_code == 2
    assert "proxy must be a URL such as http://proxy.example:3128" in " ".join(
        wrong.stderr.replace("│", "").split()
    )
