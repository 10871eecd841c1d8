"""``koster logs``: its output in all formats, its exit codes, and hostile logs."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from koster._cli.root import koster
from koster.logs import EVENTS, Verdict, Version, Versions, analyze, judge
from tests.helpers.requests_of import random_case
from tests.helpers.support import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(koster, ["logs", *arguments])


EXAMPLE = ("access.log", "--robots", "versions/", "--ranges", "ranges")


def test_text(folder: Path) -> None:
    result = run(*EXAMPLE)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "2026-03-03 to 2026-03-06, 278 lines, 2 versions of robots.txt"
    assert lines[1].startswith("PriceBot broke robots.txt: 5 violations, 8.9 % of its requests.")
    rows = [re.split(r" {2,}", line) for line in lines[2:8]]
    assert rows[0][:6] == [
        "Crawler",
        "Identity",
        "Requests",
        "Disallowed",
        "Violations",
        "robots.txt",
    ]
    assert rows[1][:7] == ["PriceBot", "verified", "56", "5", "5", "8.9 %", "4"]
    assert rows[2][:7] == ["GPTBot", "impostor", "23", "20", "16", "69.6 %", "never"]
    assert rows[4][:6] == ["GPTBot", "verified", "12", "4", "0", "5"]
    assert "line 10, Disallow: /account/ (3 times, and 1 other rule)" in lines[3]
    assert any(line.startswith("PriceBot (verified): line 9, Crawl-delay: 10") for line in lines)
    assert "do not blame its operator" in result.stdout
    assert "lists of 2026-02-01 to 2026-09-02" in lines[-1]


def test_json(folder: Path) -> None:
    result = run(*EXAMPLE, "-f", "json")
    found = json.loads(result.stdout)
    assert (found["lines"], found["unreadable"]) == (278, 0)
    first = found["crawlers"][0]
    assert {name: first[name] for name in ("crawler", "identified", "requests", "violations")} == {
        "crawler": "PriceBot", "identified": "verified", "requests": 56, "violations": 5,
    }  # fmt: skip
    assert first["asked_for_robots_txt"] is True
    rule = first["rules"][0]
    assert (rule["line"], rule["rule"]) == (10, "Disallow: /account/")
    assert (rule["version"], rule["violations"]) == ("2026-03-05T1200Z.txt", 3)
    assert rule["example"] == "/account/orders"
    impostor = found["crawlers"][1]
    assert (impostor["operator"], impostor["asked_for_robots_txt"]) == ("OpenAI", False)
    # Requests in the hours after the change.
    assert (impostor["violations"], impostor["within_caching_period"]) == (16, 4)
    person = found["crawlers"][-1]
    assert (person["crawler"], person["exempt"], person["violations"]) == ("ChatGPT-User", 4, 0)
    pace = first["pace"]
    assert (pace["intervals"], pace["kept"], pace["worst_minute_requests"]) == (55, 23, 9)
    assert found["versions"][1]["since"] == "2026-03-05T12:00:00+00:00"


def test_csv(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*EXAMPLE, "-f", "csv").stdout)))
    assert [row["crawler"] for row in rows][:2] == ["PriceBot", "GPTBot"]
    assert (rows[0]["violations"], rows[0]["share"]) == ("5", "0.089286")
    assert rows[0]["most_broken_rule"] == "Disallow: /account/"


def test_complaint(folder: Path) -> None:
    text = run(*EXAMPLE, "-f", "markdown").stdout
    assert text.startswith("# Requests by PriceBot that the robots.txt disallows\n")
    assert "PriceBot made 56 requests. The robots.txt disallowed 5 of them (8.9 %)" in text
    assert (
        "| line 10: `Disallow: /account/` | 2026-03-05T1200Z.txt, 2026-03-05 12:00:00 UTC" in text
    )
    assert "`GET /account/orders`" in text
    assert "The addresses are hashed" in text
    assert "## Not verified" in text
    assert "| GPTBot | impostor | 23 | 16 |" in text
    shown = run(*EXAMPLE, "-f", "markdown", "--show-addresses", "--agent", "PriceBot").stdout
    assert "198.51.100.20" in shown
    assert "hashed" not in shown
    assert "Not verified" not in shown


def test_nobody_is_accused_without_verification(folder: Path) -> None:
    text = run("access.log", "--robots", "versions", "-f", "markdown").stdout
    assert text.startswith("# No violations by verified crawlers")
    assert "They are no evidence against an operator." in text


def test_page(folder: Path) -> None:
    result = run(*EXAMPLE, "-o", "report.html", "-f", "json")
    assert json.loads(result.stdout)
    page = (folder / "report.html").read_text()
    assert "<h2>Who breaks which rule</h2>" in page
    assert "<h2>Never asked for robots.txt</h2>" in page
    assert 'class="change"' in page
    assert "robots.txt 2026-03-05T1200Z.txt from 2026-03-05 12:00 UTC" in page
    assert "16 violations" in page
    assert page == run(*EXAMPLE, "-f", "html").stdout or "Who obeys robots.txt?" in page


def test_events(folder: Path) -> None:
    assert run(*EXAMPLE, "--events", "events.parquet").exit_code == 1
    table = pq.read_table(folder / "events.parquet")
    assert table.schema.equals(EVENTS)
    verdicts = table["verdict"].to_pylist()
    assert verdicts.count(Verdict.VIOLATION) == 21
    assert verdicts.count(Verdict.EXEMPT) == 4
    assert not list(folder.glob("events.parquet?*"))
    addresses = set(table["address"].to_pylist())
    assert all(re.fullmatch("[0-9a-f]{12}", each) for each in addresses)
    run(*EXAMPLE, "--events", "events.parquet")
    again = set(pq.read_table(folder / "events.parquet")["address"].to_pylist())
    assert not addresses & again


def test_failed_run_keeps_the_events_of_the_last_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*EXAMPLE, "--events", "events.parquet")
    before = (folder / "events.parquet").read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", fail)
    result = run(*EXAMPLE, "--events", "events.parquet")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == "koster: events.parquet: No space left on device\n"
    assert (folder / "events.parquet").read_bytes() == before
    assert not list(folder.glob("events.parquet?*"))


def test_addresses_are_in_no_output_unless_asked_for(folder: Path) -> None:
    addresses = set(re.findall(r"^\S+", (folder / "access.log").read_text(), re.MULTILINE))
    for form in ("text", "json", "csv", "markdown", "html"):
        printed = run(*EXAMPLE, "-f", form).stdout
        assert not any(address in printed for address in addresses)
    assert "198.51.100.20" in run(*EXAMPLE, "-f", "json", "--show-addresses").stdout


def test_exit_codes(folder: Path) -> None:
    (folder / "open.txt").write_text("User-agent: *\nAllow: /\n")
    assert run("access.log", "--robots", "open.txt").exit_code == 0
    assert run("access.log", "--robots", "versions").exit_code == 1
    for arguments, message in (
        (("missing.log", "--robots", "open.txt"), "missing.log: No such file"),
        (("open.txt", "--robots", "open.txt"), "The file looks like a robots.txt"),
        (("access.log", "--robots", "missing"), "missing: No such file"),
        (("access.log", "--robots", "git:open.txt"), "git"),
        (("access.log", "--robots", "open.txt", "--ranges", "versions"), "has no .json files"),
        (("access.log", "--robots", "open.txt", "-o", "missing/x.html"), "missing/x.html: No such"),
        (
            ("access.log", "--robots", "open.txt", "--events", "missing/x"),
            "missing/x: No such file",
        ),
    ):
        result = run(*arguments)
        assert result.exit_code == 3, (arguments, result.output)
        assert message in result.stderr
    for arguments, message in (  # type: ignore[assignment]
        (("access.log",), "Missing option '--robots'"),
        (("access.log", "--robots", "https://shop.example"), "koster fetch --format file"),
        (("access.log", "--robots", "open.txt", "--log-format", "x"), "unknown log format 'x'"),
        (("access.log", "--robots", "open.txt", "--log-format", "json"), "use --format"),
        (("access.log", "--robots", "open.txt", "--grace", "1"), "use 24h, 90m or 2d"),
        (("access.log", "--robots", "open.txt", "--column", "a=b"), "is not FIELD=NAME"),
        (("access.log", "--robots", "open.txt", "-o", "x.csv"), "is not an HTML file"),
        (("access.log", "--robots", "open.txt", "--events", "access.log"), "would be overwritten"),
        (("access.log", "--robots", "open.txt", "--events", "open.txt"), "would be overwritten"),
        ((".", "--robots", "open.txt", "--events", "events.parquet"), "read as a log next time"),
        (("access.log", "--robots", "open.txt", "--agent", "Nobot"), "is not a known crawler"),
        (("-", "-", "--robots", "open.txt"), "can be read only once"),
        (("-", "--follow", "--robots", "open.txt"), "--follow takes one log file"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert message in " ".join(result.stderr.split())


def test_violations_and_an_error(folder: Path) -> None:
    result = run("access.log", "missing.log", "--robots", "versions")
    assert result.exit_code == 3
    assert "16 violations" in " ".join(result.stdout.split()) or "GPTBot" in result.stdout


def test_missing_extra_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['apachelogs'] = None; sys.argv[1:] = ['logs', 'x', '--robots', 'y'];"
        "from koster._cli import main; main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert "pip install 'koster[logs]'" in " ".join(found.stderr.split())


def test_standard_input(folder: Path) -> None:
    data = (folder / "access.log").read_bytes()
    arguments = ["logs", "-", "--robots", "versions", "--ranges", "ranges", "-f", "json"]
    result = CliRunner().invoke(koster, arguments, input=data)
    assert json.loads(result.stdout)["crawlers"][0]["violations"] == 5


def test_log_without_crawlers(folder: Path) -> None:
    (folder / "people.log").write_text(
        '192.0.2.1 - - [10/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n'
    )
    result = run("people.log", "--robots", "robots.txt")
    assert (result.exit_code, result.stdout.splitlines()[1]) == (0, "No crawler in the log.")
    for form in ("json", "csv", "markdown", "html"):
        assert run("people.log", "--robots", "robots.txt", "-f", form).exit_code == 0


#: Text of a log line, a file name and a rule that terminals, pages and spreadsheets must not obey.
HOSTILE = "=cmd|' /C calc'!A0 \x1b[31mred\x1b[0m <script>alert(1)</script> \u202e ::error::x | `x`"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.add(tag)


def test_hostile_logs_are_harmless(folder: Path) -> None:
    escaped = HOSTILE.replace('"', '\\"')
    line = (
        '132.196.86.12 - {0} [10/Mar/2026:12:00:0{1} +0000] "GET /{0} HTTP/1.1" 200 1 "{0}" '
        '"GPTBot {0}"\n'
    )
    text = "".join(line.format(escaped, number) for number in range(3)) + f"{HOSTILE}\n"
    (folder / "hostile.log").write_text(text)
    versions = folder / "hostile"
    versions.mkdir()
    (versions / "2026-01-01.txt").write_text(
        f"User-agent: *\nDisallow: /=cmd\nDisallow: {HOSTILE}\n"
    )
    for form in ("text", "json", "csv", "markdown", "html"):
        result = run("hostile.log", "--robots", "hostile", "-f", form)
        assert result.exit_code == 1, result.output
        assert "\x1b" not in result.stdout
        assert "\u202e" not in result.stdout or form in ("json", "csv")
        if form == "html":
            tags = Tags()
            tags.feed(result.stdout)
            assert "script" not in tags.names
        elif form == "csv":
            for row in csv.reader(io.StringIO(result.stdout)):
                assert not any(cell.startswith(("=", "+", "@")) for cell in row)
        elif form == "text":
            assert not any(row.lstrip().startswith("::") for row in result.stdout.splitlines())


@pytest.mark.parametrize("seed", range(3))
def test_command_and_library_agree(folder: Path, seed: int) -> None:
    """The command finds in a log what `judge` finds in a table."""
    asked, of = random_case(seed)
    rows = sorted(asked.to_pylist(), key=lambda row: row["time"])
    (folder / "random.log").write_text(
        "".join(
            f'{row["client"] or "192.0.2.1"} - - [{row["time"]:%d/%b/%Y:%H:%M:%S} +0000] '
            f'"GET {row["url"]} HTTP/1.1" {row["status"] or "-"} 1 "-" "{row["crawler"]}"\n'
            for row in rows
        )
    )  # fmt: skip
    some = [
        Version(row["label"], row["since"], row["body"] and row["body"].encode())
        for row in of.to_pylist()
    ]
    some.sort(key=lambda each: each.since.timestamp() if each.since else 0)
    versions = Versions("random", tuple(some))
    events: list[dict[str, Any]] = []
    analyze(
        [str(folder / "random.log")], versions, on_events=lambda b: events.extend(b.to_pylist())
    )
    found = judge(events_table(events), versions.table()).to_pylist()
    assert [row["verdict"] for row in found] == [row["verdict"] for row in events]
    assert len(events) > 50


def events_table(events: list[dict[str, Any]]) -> pa.Table:
    return pa.table({
        "time": pa.array([row["time"] for row in events], pa.timestamp("us", "UTC")),
        "crawler": [row["crawler"] for row in events],
        "url": [row["url"] for row in events],
        "status": pa.array([row["status"] for row in events], pa.int32()),
        "client": ["" if row["identified"] == "verified" else row["address"] for row in events],
    })  # fmt: skip
