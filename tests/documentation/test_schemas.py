"""The schemas of outputs are what commands write, and do not change by accident.

Each command runs on inputs that together reach every key, column and null. So a test fails if an
output has what its schema does not know, and if a schema has what no output has.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from koster._cli.root import koster as command
from koster.analysis import Budget
from koster.bulk import CLASSIFIED, DECIDED, FACTS, SIGNAL, kernel
from koster.bulk._archived import FETCHED
from koster.lint import CHECKS
from koster.service import _log
from tests.helpers import archives, schemas, server
from tests.helpers.archives import ROBOTS, Fetch
from tests.helpers.log_samples import SAMPLES
from tests.helpers.server import Site
from tests.helpers.support import ROOT

RULES = """\
User-agent: Googlebot
Comment: hello
Disallow: /private
Visit-time: 0600-0700
Request-rate: 1/10s

User-agent: *
Crawl-delay: 10
Disallow: /x
Content-Signal: ai-train=no
Content-Usage: /a train-ai=n
License: https://a.example/license.xml
Sitemap: https://a.example/s.xml
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_text(RULES)
    Path("empty.txt").write_text("")
    return tmp_path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(command, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.stdout, result.stderr
    return result.stdout


def run_json(*arguments: object) -> Any:
    return json.loads(run(*arguments, "-f", "json"))


CHECKED = (
    ("--robots", "robots.txt", "-a", "Googlebot-Image", "-a", "x", "/private", "/x", "/robots.txt"),
    ("--robots", "robots.txt", "-a", "Googlebot", "-a", "x", "--at", "2026-03-01T12:00Z", "/a"),
    ("--robots", "empty.txt", "--at", "2026-03-01T12:00Z", "/a"),
)


def test_check(site: Site) -> None:
    questions = [("check", *each) for each in (*CHECKED, (f"{site.url}/a",))]
    schemas.check_json("check", *(run_json(*each) for each in questions))
    schemas.check_csv("check-csv", *(run(*each, "-f", "csv") for each in questions))


def test_fetch(site: Site) -> None:
    latin = {"Content-Type": "text/plain; charset=iso-8859-1"}
    site.robots(
        body=b"User-agent: *\nComment: hi\nSitemap: /s.xml\nDisallow: /\xe9\n", headers=latin
    )
    unused = f"http://127.0.0.1:{server.refusing_port()}"
    schemas.check_json("fetch", run_json("fetch", site.url, unused))


def test_lint() -> None:
    Path("all").mkdir()
    for each in CHECKS:
        path = Path("all", each.code, "robots.txt")
        path.parent.mkdir()
        path.write_bytes(each.example.encode(each.encoding, "surrogateescape"))
    Path("bytes.txt").write_bytes(b"User-agent: *\nDisallow: /\xff\n")
    others = run_json("lint", "--dialect", "MK1994", "bytes.txt")
    schemas.check_json("lint", run_json("lint", "all"), others)
    run("lint", "--baseline", "known.json", "--write-baseline", "all")
    schemas.check_json("lint-baseline", json.loads(Path("known.json").read_text()))


def test_diff() -> None:
    Path("other.txt").write_text(RULES.replace("/private", "/p").replace("s.xml", "t.xml"))
    schemas.check_json("diff", run_json("diff", "robots.txt", "other.txt"))


def test_audit() -> None:
    Path("token.txt").write_text("User-agent: __usage_ai-training\nDisallow: /\nAllow: /a\n")
    Path("page.html").write_text("<html>Log in</html>")
    files = ("robots.txt", "token.txt", "page.html")
    schemas.check_json("audit", *(run_json("audit", each) for each in files))


def test_signals(site: Site) -> None:
    site.robots(body=RULES.encode())
    Path("said.txt").write_text(
        "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=y\nDisallow: /cart/\n"
        "License: https://e.com/l.xml\nUser-agent: Google-Extended\nDisallow: /\n"
        "User-agent: Googlebot\nDisallow: /\n"
    )
    header = ("--header", "X-Robots-Tag: noindex, what")
    schemas.check_json(
        "signals",
        run_json("signals", f"{site.url}/x/"),
        run_json("signals", "--robots", "said.txt", *header, "--url", "/"),
        run_json("signals", "--robots", "said.txt", "--url", "/cart/"),
    )


def test_agents() -> None:
    schemas.check_json("agents", run_json("agents"))


def test_expectations() -> None:
    Path("robots.expect.toml").write_text(
        'robots = "robots.txt"\n'
        '[[expect]]\nagent = "GPTBot"\nallow = ["/x", "/y"]\ndisallow = "/z"\n'
    )
    Path("broken.expect.toml").write_text("[")
    found = run_json("test", "robots.expect.toml", "broken.expect.toml")
    schemas.check_json("test", found)
    assert found[-1]["name"] == "can be read"


#: Answers the first case wrongly, and no other.
SUBJECT = """\
import json, sys
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "start":
        answer = {"name": "x", "version": "1", "dialects": ["rfc9309"], "lines": True}
    elif asked == 0:
        asked = len(message["urls"])
        answer = {"id": message["id"], "allowed": [False] * asked, "lines": [99] * asked}
    else:
        answer = {"id": message["id"], "error": "no"}
    print(json.dumps(answer), flush=True)
"""


def test_conformance() -> None:
    Path("subject.py").write_text(SUBJECT)
    cases = ("--case", "groups/merged-two", "--case", "groups/merged-three")
    found = run("conformance", "run", *cases, "-f", "json", "--", sys.executable, "subject.py")
    schemas.check_json("conformance", json.loads(found))


def test_logs() -> None:
    for name in ("access.log", "versions", "ranges"):
        copy = shutil.copytree if (ROOT / "examples" / name).is_dir() else shutil.copy
        copy(ROOT / "examples" / name, name)
    Path("short.log").write_text("#Fields: date time cs-uri-stem sc-status cs(User-Agent)\n")
    with Path("access.log").open("a") as log:
        log.write("no request\n")
    Path("site.log").write_text(SAMPLES["vhost_combined"])
    # A crawler that is known by its address.
    Path("nameless.log").write_text(SAMPLES["common"].replace("/private/", "/x/"))
    table = pa.table({
        "time": pa.array([datetime(2026, 3, 10, 12, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC")),
        "url": ["/x", "/y"], "user_agent": ["CCBot", "Odd"], "status": [None, 200],
    })  # fmt: skip
    pq.write_table(table, "log.parquet")
    questions = (
        ("access.log", "--robots", "versions", "--ranges", "ranges"),
        ("short.log", "--robots", "robots.txt"),
        ("site.log", "log.parquet", "nameless.log", "missing.log", "--robots", "robots.txt"),
    )
    found = [
        run_json("logs", *each, "--events", f"{number}.parquet")
        for number, each in enumerate(questions)
    ]
    schemas.check_json("logs", *found)
    schemas.check_parquet("logs-events", *map(pq.read_table, sorted(Path().glob("[0-9].parquet"))))
    # A table needs a row.
    schemas.check_csv("logs-csv", *(run("logs", *questions[n], "-f", "csv") for n in (0, 2)))


def test_serve() -> None:
    line = _log._line(datetime.now(UTC), "INFO", "koster.service", "request", {"status": 200})
    schemas.check_json("serve-log", json.loads(line))


GZIP = {"Content-Encoding": "gzip"}


def _write_archives() -> None:
    """Write archives with all that records may have and lack."""
    latin = {"Content-Type": "text/plain; charset=iso-8859-1"}
    # What is blocked cannot be proved in no steps.
    hard = b"User-agent: GPTBot\nDisallow: /*a*b\nAllow: /*a**b\n"
    fetches = [
        *archives.sites(10),
        Fetch("https://x.example/robots.txt", RULES.encode(), headers=latin),
        Fetch("https://y.example/robots.txt", b"Content-Signal: ai-train=no\nCrawl-delay: 5\n"),
        Fetch("https://z.example/robots.txt", hard + b"Foo: 1\n"),
        Fetch("https://t.example/robots.txt", b"User-agent: __usage_ai-training\nDisallow: /\n"),
        Fetch("https://u.example/robots.txt", hard[:20], headers={"Content-Encoding": "br"}),
        Fetch("https://v.example/robots.txt", gzip.compress(hard)[:-9], headers=GZIP),
    ]
    # In MK1996, a blank line ends a group.
    fetches.append(Fetch("https://a.example/robots.txt", b"User-agent: a\n\n" + ROBOTS))
    Path("in").mkdir()
    Path("in/robots.warc.gz").write_bytes(archives.archive(fetches)[0])
    uri, http = "WARC-Target-URI: https://w.example/robots.txt", "HTTP/1.1 200 OK\r\n\r\n"
    dated = (uri, "WARC-Date: 2026-11-01T12:00:00Z")
    records = [archives.by_hand(http.encode() + RULES.encode(), uri)]
    for kind in (b"revisit", b"resource"):
        record = archives.by_hand(http.encode(), *dated)
        records.append(record.replace(b"WARC-Type: response", b"WARC-Type: " + kind))
    Path("in/by-hand.warc").write_bytes(b"".join([*records, b"junk", *records]))


QUESTIONS: dict[str, list[tuple[str, ...]]] = {
    "classify": [("-a", "GPTBot", "-a", "FooBot")],
    "decide": [("-a", "GPTBot", "--url", "/x")],
    "facts": [(), ("--dialect", "MK1996")],
}


TABLE = 'b;u;a;c;t\n"User-agent: *";/x;GPTBot;2026-10;2026-10-01\n'
NAMED = "--delimiter ; --body b -j 1"
OF_TABLES = (
    f"bulk decide in.csv {NAMED} --url-column u --agent-column a -o decided",
    f"bulk classify in.csv {NAMED} -a GPTBot --crawl-column c --time-column t -o classified",
)


def test_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    _write_archives()
    monkeypatch.setattr(kernel, "_budget", lambda: Budget(steps=0))
    metadata: list[Any] = []
    for kind, options in QUESTIONS.items():
        for number, each in enumerate(options):
            run("bulk", kind, "in", *each, "-o", f"{kind}-{number}", "-j", 1)
        paths = sorted(Path().glob(f"{kind}-*/*.parquet"))
        schemas.check_parquet(f"bulk-{kind}", *map(pq.read_table, paths))
        metadata += map(_metadata, paths)
    Path("in.csv").write_text(TABLE)
    for command_line in OF_TABLES:
        run(*command_line.split())
        metadata += map(_metadata, Path(command_line.split()[-1]).glob("*.parquet"))
    schemas.check_json("bulk-metadata", *metadata)


def _metadata(path: Path) -> Any:
    return json.loads(pq.read_metadata(path).metadata[b"koster.bulk"])


def test_report() -> None:
    rows = [
        {"crawl": "a", "fetched": "2026-10-01", "host": "a.example", "body": RULES},
        {"crawl": "b", "fetched": None, "host": "a.example", "body": RULES},
    ]
    Path("in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    run("bulk", "classify", "in.jsonl", "-a", "GPTBot", "-a", "FooBot", "-o", "out", "-j", 1)
    run("bulk", "report", "out", "-o", "report.html", "--csv", "report.csv")
    schemas.check_csv("bulk-report-csv", Path("report.csv").read_text())


def test_signals_of_archives() -> None:
    html = {"Content-Type": "text/html"}
    fetches = [
        Fetch("https://a.example/robots.txt", b"User-agent: *\nContent-Signal: ai-train=no\n"),
        Fetch("https://a.example/", b"<p>", headers={**html, "X-Robots-Tag": "GPTBot: noindex"}),
        Fetch(
            "https://b.example/", b"<p>", headers={**html, "Link": "</l>; rel=license"}, date="?"
        ),
    ]
    Path("in").mkdir()
    Path("in/a.warc.gz").write_bytes(archives.archive(fetches)[0])
    Path("in/b.warc.gz").write_bytes(archives.archive(fetches[1:], None)[0])
    run("bulk", "signals", "in", "-o", "out", "-c", "GPTBot")
    paths = [*Path("out").glob("*.parquet")]
    schemas.check_parquet("bulk-signals", *map(pq.read_table, paths))
    run("bulk", "report", "out", "-o", "report.html", "--csv", "report.csv")
    schemas.check_csv("bulk-signals-csv", Path("report.csv").read_text())


def test_columns_of_archives_are_names_of_no_answer() -> None:
    """`SELECT *, unnest(answer)` has no name twice."""
    added = {"input", "site", "outcome", "hops", "asked", "ended", "asked_url", "asked_agent"}
    for answer in (CLASSIFIED, DECIDED, FACTS):
        names = {field.name for field in answer}
        assert not names & {*FETCHED.names, *added}
    assert not {*SIGNAL.names} & {*schema_names("bulk-signals")}


def schema_names(name: str) -> list[str]:
    return [each["name"] for each in schemas.schema(name)["columns"]]


def test_names_need_no_quotes_in_sql() -> None:
    with duckdb.connect() as con:
        con.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
        )
        words = {word for (word,) in con.fetchall()}
    found = set()
    for name in schemas.digests():
        found |= set(_names(schemas.schema(name).get("columns", [])))
    assert len(found) > 50
    assert not found & words


def _names(columns: list[dict[str, Any]]) -> Iterator[str]:
    for each in columns:
        yield each["name"]
        yield from _names(each.get("fields", []))


def test_recorded() -> None:
    """A change of a schema needs two: its digest here, and a line in the change log."""
    recorded = tomllib.loads((ROOT / "tests" / "schemas.toml").read_text("utf-8"))
    found = schemas.digests()
    changed = {name for name, _ in found.items() ^ recorded.items()}
    lines = "\n".join(f'{name} = "{digest}"' for name, digest in found.items())
    assert not changed, (
        f"{', '.join(sorted(changed))}: an output changed. If you mean it, say so in CHANGELOG.md "
        f'under "Output that changed", and record in tests/schemas.toml:\n{lines}'
    )
