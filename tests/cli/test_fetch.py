"""The commands that fetch: from real sites on loopback, as a person meets them."""

from __future__ import annotations

import csv
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
import server
import wire
from click.testing import CliRunner, Result
from server import Answer, Site

from koster import __version__
from koster.cli._root import koster

pytestmark = pytest.mark.any_mode

FILE = b"User-agent: *\nDisallow: /private\t# keep out\nCrawl-delay: 7\nComment: hello\x1b[31m"


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(koster, arguments, input=stdin)


def test_each_page_s_own_site_is_asked_once(site: Site) -> None:
    site.robots(body=FILE)
    with server.running() as other:
        result = run(
            *("check", "--agent", "FooBot", f"{site.url}/private/x", f"{other.url}/private/x"),
            *(f"{site.url}/open", f"{site.url}/robots.txt"),
        )
        assert result.exit_code == 1
        lines = result.stdout.splitlines()
        assert lines[1].split() == [
            *("disallowed", "FooBot", f"{site.url}/private/x"),
            *("robots.txt:2:", "Disallow:", "/private\\t#", "keep", "out"),
        ]
        assert lines[2].endswith("  no rule matches")
        assert lines[3].endswith("/robots.txt itself is always allowed")
        assert lines[4].endswith("  no robots.txt (404 Not Found)")
        assert (len(site.requests), len(other.requests)) == (1, 1)
    assert site.requests[0][1]["User-Agent"] == f"koster/{__version__}"


def test_a_file_that_is_elsewhere_is_named(site: Site) -> None:
    site.robots(301, headers={"Location": "/r"})
    site.pages["/r"] = Answer(body=FILE)
    assert f"{site.url}/r:2: Disallow: /private" in run("check", f"{site.url}/private").stdout
    found = json.loads(run("check", "-f", "json", f"{site.url}/private").stdout)
    assert found[0]["file"] == f"{site.url}/r"


def test_urls_are_matched_as_they_would_be_fetched(site: Site) -> None:
    site.robots(body=FILE)
    for path in ("/x/../private", "\\private", "/%2e/private"):
        assert run("check", site.url + path).exit_code == 1, path
        assert run("check", "--robots", site.url, site.url + path).exit_code == 1, path
    assert "is at /robots.txt" in run("check", "--robots", f"{site.url}/a/robots.txt", "/x").stderr


def test_what_is_unreachable_is_disallowed_and_could_not_be_read(unused: int, site: Site) -> None:
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
        *["yes", "unavailable"] * 2,
        *["no", "forbidden"] * 5,
    ]
    # 401 and 403 are read in three ways.
    assert len(site.requests) == 3


def test_a_site_s_file_for_paths_or_another_site_s_pages(site: Site, unused: int) -> None:
    site.robots(body=FILE)
    result = run("check", "--robots", site.url, "/private/x", "https://example.com/private")
    assert result.stdout.count("disallowed") == 2
    assert f"{site.url}/robots.txt:2: Disallow: /private" in result.stdout
    lost = run("check", "--robots", f"http://127.0.0.1:{unused}", "/x")
    assert lost.exit_code == 3
    assert "fetching its robots.txt failed (connection failed" in lost.stdout


def test_the_pace_and_the_comments_of_a_site(site: Site) -> None:
    site.robots(body=FILE)
    printed = run("check", "--at", "now", f"{site.url}/x").stdout
    assert "one request in 7 s" in printed
    assert "hello\\x1b[31m" in printed


def test_fetch_shows_hops_headers_freshness_and_the_file(site: Site) -> None:
    site.robots(301, headers={"Location": "/r"})
    headers = {"Cache-Control": "max-age=3600", "ETag": '"1"', "Set-Cookie": "secret=1"}
    site.pages["/r"] = Answer(body=FILE, headers=headers)
    result = run("fetch", f"{site.url}/any/page")
    assert result.exit_code == 0
    for text in (
        *(f"301     {site.url}/robots.txt", "location: /r", f"200     {site.url}/r"),
        *("cache-control: max-age=3600", 'etag: "1"', "a file", "1 group, read as RFC9309"),
        *("Asked again  not before ", "Disallow: /private      # keep out", "hello\\x1b[31m"),
    ):
        assert text in result.stdout, text
    assert "secret" not in result.stdout
    assert "from the cache" not in result.stdout


def test_fetch_shows_the_comments_for_its_user_agent(site: Site) -> None:
    site.robots(
        body=b"User-agent: FooBot\nComment: hello\x1b[31m\nComment: again\nUser-agent: *\nDisallow:"
    )
    printed = run("fetch", "--user-agent", "FooBot/1.0", site.url).stdout
    assert re.search(r"Comment +hello\\x1b\[31m\n", printed)
    assert re.search(r"Comment +again\n", printed)
    assert "hello" not in run("fetch", site.url).stdout.partition("User-agent")[0]
    found = json.loads(run("fetch", "--user-agent", "FooBot", "-f", "json", site.url).stdout)
    assert found["comments"] == ["hello\x1b[31m", "again"]


def test_fetch_prints_the_file_alone_byte_by_byte(site: Site) -> None:
    site.robots(body=FILE + b"\r\n\xff")
    assert run("fetch", "--format", "file", site.url).stdout_bytes == FILE + b"\r\n\xff"
    site.robots(404)
    gone = run("fetch", "--format", "file", site.url)
    assert (gone.exit_code, gone.stdout) == (1, "")
    assert "robots may fetch everything (404 Not Found)" in gone.stderr


def test_fetch_as_json(site: Site) -> None:
    site.robots(body=FILE, headers={"Retry-After": "5"})
    found = json.loads(run("fetch", "-f", "json", site.url).stdout)
    assert found["outcome"] == "file"
    assert found["body"] == FILE.decode()
    assert found["hops"][0]["status"] == 200
    assert found["hops"][0]["headers"]["retry-after"] == "5"
    assert (found["stale"], found["downgraded"], found["why"]) == (False, False, None)


@pytest.mark.parametrize(
    ("status", "options", "code", "said"),
    [
        (404, [], 1, "no file: robots may fetch everything"),
        (403, ["-d", "mk1996"], 1, "forbidden: robots may fetch nothing"),
        (500, [], 3, "unreachable: robots may fetch nothing for now"),
    ],
)
def test_fetch_where_there_is_no_file(
    site: Site, status: int, options: list[str], code: int, said: str
) -> None:
    site.robots(status)
    result = run("fetch", *options, site.url)
    assert result.exit_code == code
    assert said in result.stdout


@pytest.mark.parametrize(
    "name", ["http://[x/", "ftp://example.com", "", "a b", "https://", "/x", "./robots.txt", "."]
)
def test_fetch_of_what_is_no_site(name: str) -> None:
    assert run("fetch", name).exit_code == 2


def test_a_name_is_https() -> None:
    assert "https://nowhere.invalid/robots.txt" in run("fetch", "nowhere.invalid").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
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
def test_what_was_meant_is_said(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())


@pytest.mark.parametrize(
    "options",
    [
        ["--timeout", "nan"],
        ["--cache", "redis://127.0.0.1:bad/0"],
        ["--cache", "redis://h/0?socket_timeout=abc"],
    ],
)
def test_options_that_are_nonsense_are_wrong_usage(options: list[str]) -> None:
    assert run("fetch", *options, "https://example.com").exit_code == 2


def test_hosts_are_read_as_the_clients_read_them(
    names: dict[str, list[list[str]]], site: Site
) -> None:
    names["xn--fa-hia.test"] = [["127.0.0.1"]]
    names["xn--fa-hia.de"] = [["127.0.0.1"]]
    site.robots(body=FILE)
    assert (
        f"http://xn--fa-hia.de:{site.port}/robots.txt"
        in run("fetch", f"http://faß.de:{site.port}").stdout
    )
    assert run("check", f"http://faß.de:{site.port}/private").exit_code == 1


def test_as_whom_a_site_is_asked(site: Site) -> None:
    run("fetch", "--user-agent", "FooBot/1.0", site.url)
    assert site.requests[0][1]["User-Agent"] == "FooBot/1.0"


def test_a_file_that_is_too_long(site: Site) -> None:
    site.robots(body=b"Disallow: /x\n" * 50_000)
    assert (
        "the file is longer: robots read its first 500 KiB alone" in run("fetch", site.url).stdout
    )


def test_http_where_https_was_meant(site: Site) -> None:
    printed = run("fetch", site.url.removeprefix("http://")).stdout
    assert printed.count("the server does not use TLS; try http://") == 1


def test_the_cache(site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE)
    path = str(tmp_path / "cache.sqlite")
    assert "from the cache" not in run("fetch", "--cache", path, site.url).stdout
    assert "from the cache" in run("fetch", "--cache", path, site.url).stdout
    assert run("check", "--cache", path, f"{site.url}/private").exit_code == 1
    assert len(site.requests) == 1
    (tmp_path / "text").write_text("not a cache\n" * 100)
    broken = run("fetch", "--cache", str(tmp_path / "text"), site.url)
    assert broken.exit_code == 0
    assert broken.stderr.startswith("koster: the cache is not used: ")
    assert (tmp_path / "text").read_text() == "not a cache\n" * 100


def test_the_timeout_is_for_the_whole_fetch() -> None:
    with wire.running(wire.drips(b"x" * 100, 0.1, b"HTTP/1.1 200 OK\r\n\r\n")) as running:
        began = time.monotonic()
        result = run("fetch", "--timeout", "0.5", running.url)
        assert time.monotonic() - began < 3
    assert "no complete response within 0.5 s" in result.stdout


def test_ctrl_c_while_it_prints_is_clean(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("User-agent: *\n" + "Disallow: /*a*b*c\n" * 3000)
    (tmp_path / "u").write_text("".join(f"/{number}/{'a' * 50}\n" for number in range(300_000)))
    arguments = [
        "check",
        "--robots",
        str(tmp_path / "r"),
        "--urls",
        str(tmp_path / "u"),
        "-f",
        "csv",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "koster", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"koster: stopped\n")


@pytest.mark.parametrize("command", ["check", "fetch"])
def test_ctrl_c_is_clean(command: str) -> None:
    with wire.running(wire.drips(b"x" * 100, 0.3, b"HTTP/1.1 200 OK\r\n\r\n")) as running:
        process = subprocess.Popen(
            [sys.executable, "-m", "koster", command, "--timeout", "30", f"{running.url}x"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(500):
            if running.connections:
                break
            time.sleep(0.02)
        time.sleep(0.2)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - began < 3
    assert (process.returncode, out, err) == (130, b"", b"koster: stopped\n")


def test_on_a_terminal_a_long_fetch_shows_progress() -> None:
    with wire.running(wire.drips(FILE[:15], 0.1, b"HTTP/1.1 200 OK\r\n\r\n")) as running:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "koster", "fetch", running.url],
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
        )
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:
            pass
        assert process.wait() == 0
        os.close(ours)
    assert b"fetching" in shown
    assert b"0/1" in shown


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['httpx2'] = None; from koster.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "fetch", "example.com"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'koster[http]'" in " ".join(done.stderr.split())
