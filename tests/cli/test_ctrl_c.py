"""Ctrl-C: what is finished is printed, as valid output, and how much that is."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.helpers import server, wire
from tests.helpers.forked_commands import Command

FILE = b"User-agent: *\nDisallow: /private\nSitemap: /x\n"


def start(*arguments: str) -> Command:
    return Command(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def stop(process: Command) -> tuple[str, str]:
    """Send Ctrl-C; return what the command printed."""
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - started < 5
    assert process.returncode == 130
    return out, err


def wait_for(condition: Callable[[], object]) -> None:
    for _ in range(1_000):
        if condition():
            break
        time.sleep(0.01)
    # The command reads the last answer, on a busy machine, too.
    time.sleep(0.5)


@pytest.fixture
def slow() -> Iterator[wire.Wire]:
    """A site that does not finish its answers."""
    with wire.running(wire.sends_slowly(b"x" * 100, 0.3, b"HTTP/1.1 200 OK\r\n\r\n")) as running:
        yield running


@pytest.fixture
def sites() -> Iterator[list[server.Site]]:
    with ExitStack() as stack:
        found = [stack.enter_context(server.running()) for _ in range(3)]
        for site in found:
            site.robots(body=FILE)
        yield found


def run_and_stop(
    arguments: list[str], slow: wire.Wire, sites: list[server.Site]
) -> tuple[str, str]:
    process = start(*arguments)
    wait_for(lambda: slow.connections and all(site.requests for site in sites))
    return stop(process)


def addresses(sites: list[server.Site], slow: wire.Wire) -> list[str]:
    first, *others = (site.url for site in sites)
    return [first, slow.url.rstrip("/"), *others]


@pytest.mark.parametrize("form", ["text", "json"])
def test_fetch_prints_the_finished_sites(
    form: str, slow: wire.Wire, sites: list[server.Site]
) -> None:
    arguments = ["fetch", "--timeout", "30", "-f", form, *addresses(sites, slow)]
    out, err = run_and_stop(arguments, slow, sites)
    assert err == "koster: stopped: 3 of 4 sites done\n"
    if form == "json":
        assert [each["site"] for each in json.loads(out)] == [site.url for site in sites]
    else:
        rows = [line.split()[0] for line in out.splitlines()]
        assert rows == ["Site", *(site.url for site in sites)]


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_check_prints_the_answers_of_finished_sites(
    form: str, slow: wire.Wire, sites: list[server.Site]
) -> None:
    urls = [f"{url}/private" for url in addresses(sites, slow)]
    out, err = run_and_stop(["check", "--timeout", "30", "-f", form, *urls], slow, sites)
    assert err == "koster: stopped: 3 of 4 sites done\n"
    finished = [url for url in urls if not url.startswith(slow.url)]
    if form == "json":
        assert [each["url"] for each in json.loads(out)] == finished
    else:
        lines = [line for line in out.splitlines() if "/private" in line]
        assert all(url in line for url, line in zip(finished, lines, strict=True))


@pytest.mark.parametrize("command", ["check", "fetch"])
def test_nothing_finished(command: str, slow: wire.Wire) -> None:
    out, err = run_and_stop([command, "--timeout", "30", f"{slow.url}x"], slow, [])
    assert (out, err) == ("", "koster: stopped: 0 of 1 site done\n")


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_lint_prints_the_findings_of_finished_files(
    form: str, slow: wire.Wire, sites: list[server.Site]
) -> None:
    done = sites[:1]
    arguments = ["lint", "--timeout", "30", "-f", form, done[0].url, slow.url, sites[1].url]
    out, err = run_and_stop(arguments, slow, done)
    assert err == "koster: stopped: 1 of 3 files done\n"
    if form == "json":
        assert {each["file"] for each in json.loads(out)} == {f"{done[0].url}/robots.txt"}
    elif form == "sarif":
        (run,) = json.loads(out)["runs"]
        assert run["results"]
        assert run["invocations"][0]["executionSuccessful"] is False
    else:
        assert f"{done[0].url}/robots.txt:3" in out


@pytest.mark.parametrize("option", ["--fix", "--write-baseline"])
def test_lint_changes_nothing(option: str, slow: wire.Wire, tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(FILE)
    baseline = ["--baseline", str(tmp_path / "b.json")] if "baseline" in option else []
    arguments = [
        "lint",
        "--timeout",
        "30",
        option,
        *baseline,
        str(tmp_path / "robots.txt"),
        slow.url,
    ]
    assert run_and_stop(arguments, slow, []) == ("", "koster: stopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["robots.txt"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_check_of_sitemaps_prints_what_was_read(form: str, slow: wire.Wire, tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(FILE)
    (tmp_path / "sitemap.txt").write_text("http://a.example/private/1\nhttp://a.example/2\n")
    arguments = [
        "check", "--timeout", "30", "-f", form, "--robots", str(tmp_path / "robots.txt"),
        "--sitemap", str(tmp_path / "sitemap.txt"), "--sitemap", f"{slow.url}sitemap.txt",
    ]  # fmt: skip
    out, err = run_and_stop(arguments, slow, [])
    assert err == "koster: stopped: 1 of 2 sitemaps done\n"
    if form == "json":
        assert [each["allowed"] for each in json.loads(out)] == [False, True]
    else:
        assert "1 of 2 URLs blocked" in out


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_check_prints_whole_answers(form: str, tmp_path: Path) -> None:
    (tmp_path / "r").write_text("User-agent: *\n" + "Disallow: /*a*b*c\n" * 3000)
    (tmp_path / "u").write_text("".join(f"/{number}/{'a' * 50}\n" for number in range(300_000)))
    with open(tmp_path / "out", "w") as file:
        process = Command(
            *("check", "--robots", tmp_path / "r", "--urls", tmp_path / "u", "-f", form),
            stdout=file.fileno(),
            stderr=subprocess.PIPE,
        )
    wait_for((tmp_path / "out").read_text)
    _, err = stop(process)
    stopped = re.fullmatch(r"koster: stopped: ([\d,]+) of 300,000 answers done\n", err)
    assert stopped
    count = int(stopped[1].replace(",", ""))
    assert 0 < count < 300_000
    out = (tmp_path / "out").read_text()
    if form == "json":
        printed = len(json.loads(out))
    elif form == "csv":
        printed = len(list(csv.reader(out.splitlines()))) - 1
    else:
        printed = sum(not line.startswith("Verdict ") for line in out.splitlines())
    # The one that was being answered may be lost.
    assert printed in (count, count - 1)
