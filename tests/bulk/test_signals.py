"""What sites state about archived pages: pages, and the files of their sites at that time."""

from __future__ import annotations

import gzip
import shutil
import signal
import subprocess
import sys
import time
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import brotli
import pytest

from koster.access import MAX_BYTES
from koster.bulk import _page_archives, _shards, _site_order, runs
from koster.bulk._signal_columns import row_of
from koster.bulk.runs import Question
from koster.bulk.use_report import UseReport, use_report
from koster.errors import UnreadableError
from koster.signals import MAX_HTML, Use
from tests.helpers import archives
from tests.helpers.archives import Fetch
from tests.helpers.bulk_runs import bulk, contents, rows
from tests.helpers.signal_cases import ALL, signals_of

NOT_THERE = "robots.txt: not in the archives"
NO_TRAINING = b"User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n"
TRAINING = b"User-agent: *\nContent-Signal: ai-train=yes\nAllow: /\n"
HTML = {"Content-Type": "text/html; charset=utf-8"}
RSL = b"""<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>
<prohibits type="usage">ai-train</prohibits></license></content></rsl>"""
CRAWL = "CC-MAIN-2026-45"


def page(
    url: str = "https://a.example/", body: bytes = b"<p>Tea</p>", day: int = 10, **headers: str
) -> Fetch:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fetch(url, body, headers=HTML | named, date=f"2026-11-{day:02}T12:00:00Z")


def robots(body: bytes = NO_TRAINING, day: int = 9, status: str = "200 OK", **more: Any) -> Fetch:
    url = more.pop("url", "https://a.example/robots.txt")
    headers = {"Content-Type": "text/plain"} | more
    return Fetch(url, body, status, headers, date=f"2026-11-{day:02}T12:00:00Z")


def moved(to: str, url: str = "https://a.example/robots.txt", day: int = 9) -> Fetch:
    return robots(b"", day, "301 Moved", url=url, Location=to)


def answer(folder: Path, *inputs: Path, question: Question | None = None) -> list[dict[str, Any]]:
    """Return the answers about archives."""
    found = runs.find_inputs(map(str, inputs))
    done = runs.run(question or Question("signals"), found, folder / "out", 1)
    assert not done.failed
    return rows(folder / "out")


def answers_of(folder: Path, *fetches: Fetch, crawl: str | None = CRAWL) -> list[dict[str, Any]]:
    """Return the answers about fetches in one archive."""
    return answer(folder, archives.write(folder / "all.warc.gz", fetches, crawl))


def stated(row: dict[str, Any]) -> dict[str, str]:
    """Return what is stated about each use, without those that nothing is stated about."""
    assert [each["use"] for each in row["signals"]] == [str(use) for use in Use]
    return {each["use"]: each["stated"] for each in row["signals"] if each["stated"] != "unstated"}


def grammars(row: dict[str, Any], use: str = "ai-train") -> list[str]:
    return next(each["grammars"] for each in row["signals"] if each["use"] == use)


#: Fetches besides that of a page, what is stated about it, and what could not be read.
Cases = list[tuple[list[Fetch], dict[str, str], list[str] | None]]

NO, YES = {"ai-train": "no"}, {"ai-train": "yes"}
UNDECIDED = {str(use): "undecided" for use in Use}


ROBOTS: Cases = [
    # The last fetch before the page, else the first one after it.
    ([robots(day=9)], NO, []),
    ([robots(day=11)], NO, []),
    ([robots(day=10)], NO, []),
    ([robots(day=8), robots(TRAINING, day=9)], YES, []),
    ([robots(day=9), robots(TRAINING, day=11)], NO, []),
    ([robots(day=13), robots(TRAINING, day=11)], YES, []),
    ([robots(b"", 9, "404 Not Found"), robots(day=11)], {}, []),
    # No file, and files that could not be read.
    ([robots(b"", 9, "404 Not Found")], {}, []),
    ([robots(b"", 9, "410 Gone")], {}, []),
    ([robots(b"", 9, "403 Forbidden")], UNDECIDED, ["robots.txt: status 403"]),
    ([robots(b"", 9, "410 Gone")], {}, []),
    ([], UNDECIDED, [NOT_THERE]),
    ([robots(b"", 9, "503 Busy")], UNDECIDED, ["robots.txt: status 503"]),
    ([robots(b"", 9, "429 Slow Down")], UNDECIDED, ["robots.txt: status 429"]),
    ([robots(day=8), robots(b"", 9, "503 Busy")], UNDECIDED, ["robots.txt: status 503"]),
    (
        [robots(**{"Content-Length": "9999"})],
        UNDECIDED,
        ["robots.txt: its body is cut or cannot be decoded"],
    ),
    (
        [robots(b"\x1f\x8bbroken", **{"Content-Encoding": "gzip"})],
        UNDECIDED,
        ["robots.txt: its body is cut or cannot be decoded"],
    ),
    (
        [robots(b"<!doctype html><p>Not found")],
        UNDECIDED,
        ["robots.txt: no line in it is one of a robots.txt"],
    ),
    (
        [
            robots(
                gzip.compress(NO_TRAINING + b"# x\n" * MAX_BYTES),
                **{"Content-Encoding": "gzip"},
            )
        ],
        UNDECIDED | NO,
        ["robots.txt: only its first 500 KiB are read"],
    ),
    # Another site, and another scheme.
    ([robots(url="https://www.a.example/robots.txt")], UNDECIDED, [NOT_THERE]),
    ([robots(url="http://a.example/robots.txt")], UNDECIDED, [NOT_THERE]),
    ([robots(url="https://a.example/en/robots.txt")], UNDECIDED, [NOT_THERE]),
    # Codings and charsets.
    ([robots(gzip.compress(NO_TRAINING), **{"Content-Encoding": "gzip"})], NO, []),
    ([robots(NO_TRAINING.decode().encode("utf-16"))], NO, []),
    ([robots(url="HTTPS://A.example:443/robots.txt")], NO, []),
]


REDIRECTS: Cases = [
    (
        [
            moved("https://www.a.example/robots.txt"),
            robots(url="https://www.a.example/robots.txt"),
        ],
        NO,
        [],
    ),
    (
        [
            moved("/en/robots.txt"),
            moved("/fr/robots.txt", "https://a.example/en/robots.txt"),
            robots(url="https://a.example/fr/robots.txt"),
        ],
        NO,
        [],
    ),
    # Of several fetches of the target, that after the redirect.
    (
        [
            moved("https://b.example/robots.txt", day=5),
            robots(TRAINING, 4, url="https://b.example/robots.txt"),
            robots(NO_TRAINING, 6, url="https://b.example/robots.txt"),
            robots(TRAINING, 9, url="https://b.example/robots.txt"),
        ],
        NO,
        [],
    ),
    (
        [moved("https://b.example/robots.txt"), robots(b"", 9, "404 No", url="https://b.example/robots.txt")],
        {},
        [],
    ),
    (
        [moved("https://b.example/robots.txt")],
        UNDECIDED,
        [
            "robots.txt: redirects to https://b.example/robots.txt, which is not archived as a robots.txt"
        ],
    ),
    (
        [moved("/robots.txt")],
        UNDECIDED,
        ["robots.txt: redirects to https://a.example/robots.txt, too many redirects"],
    ),
]  # fmt: skip


def test_columns(tmp_path: Path) -> None:
    (row,) = answers_of(
        tmp_path, robots(), page(Link='</rights>; rel="license", </more>; rel=license')
    )
    moment = datetime(2026, 11, 10, 12, tzinfo=UTC)
    assert row.pop("archive_offset") > 0
    assert stated(row) == NO
    assert grammars(row) == ["content-signal"]
    del row["signals"]
    assert row == {
        "url": "https://a.example/", "origin": "https://a.example", "crawl": CRAWL,
        "fetched": moment, "status": 200, "archive": "all.warc.gz",
        "input": str(tmp_path / "all.warc.gz"), "robots_fetched": moment.replace(day=9),
        "robots_status": 200, "crawlers": [], "unread": [],
        "licenses": ["https://a.example/rights", "https://a.example/more"],
    }  # fmt: skip


def test_each_crawl_has_its_own_files(tmp_path: Path) -> None:
    inputs = [
        archives.write(tmp_path / "1.warc.gz", [robots(day=1), page(day=2)], "CC-MAIN-2026-01"),
        archives.write(tmp_path / "2.warc.gz", [robots(TRAINING, 3)], "CC-MAIN-2026-02"),
        archives.write(tmp_path / "3.warc.gz", [page(day=2), page(day=5)], "CC-MAIN-2026-02"),
        archives.write(tmp_path / "4.warc.gz", [page(day=5)], "CC-MAIN-2026-03"),
        archives.write(tmp_path / "5.warc.gz", [page(day=5)], None),
    ]
    found = answer(tmp_path, *inputs)
    assert {(row["crawl"], row["fetched"].day): stated(row) for row in found} == {
        ("CC-MAIN-2026-01", 2): NO, ("CC-MAIN-2026-02", 2): YES, ("CC-MAIN-2026-02", 5): YES,
        ("CC-MAIN-2026-03", 5): UNDECIDED, (None, 5): UNDECIDED,
    }  # fmt: skip


def test_archives_without_crawls_are_joined(tmp_path: Path) -> None:
    (row,) = answers_of(tmp_path, page(), robots(), crawl=None)
    assert stated(row) == NO


def test_what_has_no_date(tmp_path: Path) -> None:
    late = page(body=b"<meta name=robots content='unavailable_after: 2026-01-01'>")
    late.date = "unknown"
    file = robots()
    file.date = "unknown"
    (row,) = answers_of(tmp_path, late, file)
    # The date may have passed, or not.
    assert stated(row) == NO | {"search": "undecided"}
    assert row["fetched"] is row["robots_fetched"] is None


def test_dates_are_compared_with_the_fetch(tmp_path: Path) -> None:
    body = b"<meta name=robots content='unavailable_after: 2026-11-15'>"
    found = answers_of(tmp_path, robots(), page(body=body, day=10), page(body=body, day=20))
    assert [stated(row).get("search") for row in found] == [None, "no"]


NOAI = b"<meta name=robots content=noai>"
CUT = "page: its body is cut or cannot be decoded"


PAGES: Cases = [
    ([page(body=NOAI)], NO, []),
    ([page(X_Robots_Tag="noai")], NO, []),
    ([page(X_Robots_Tag="GPTBot: noai")], {}, []),
    ([page(Content_Usage="train-ai=n")], NO, []),
    ([page(tdm_reservation="1")], {"tdm": "no"}, []),
    ([page(body=gzip.compress(NOAI), Content_Encoding="gzip")], NO, []),
    ([page(body=brotli.compress(NOAI), Content_Encoding="br")], NO, []),
    ([page(body=zlib.compress(NOAI), Content_Encoding="deflate")], NO, []),
    # As most programs store them: without the coding.
    ([page(body=NOAI, Content_Encoding="br")], NO, []),
    ([page(body=NOAI, Transfer_Encoding="chunked")], NO, []),
    # Headers are read, whatever the body is.
    ([page(body=b"\x1f\x8bxx", Content_Encoding="gzip")], UNDECIDED, [CUT]),
    ([page(body=brotli.compress(NOAI * 99)[:20], Content_Encoding="br")], UNDECIDED, [CUT]),
    ([page(body=b"\x28\xb5\x2f\xfdxx", Content_Encoding="zstd")], UNDECIDED, [CUT]),
    ([page(body=b"\x1f\x8bxx", Content_Encoding="gzip", X_Robots_Tag="noai")], UNDECIDED | NO, [CUT]),
    ([page(body=NOAI, Content_Length="9999")], UNDECIDED, [CUT]),
    ([page(body=NOAI + b"<p>" + b" " * MAX_HTML, Content_Length="999999")], NO, []),
    ([page(body=b" " * MAX_HTML + NOAI)], UNDECIDED, ["page: only its first 256 KiB are read"]),
    ([page(body=NOAI + b"\0")], UNDECIDED | NO, ["page: it has NUL characters, and may not be HTML"]),
    ([page(body=NOAI.decode().encode("utf-16"))], NO, []),
    ([page(body=b"\x85\x84" * 100 + NOAI)], NO, []),
]  # fmt: skip


@pytest.mark.parametrize("case", ALL, ids=[case["id"] for case in ALL])
def test_cases_of_signals(tmp_path: Path, case: dict[str, Any]) -> None:
    """Archived, the sources of each case have the answers of `koster.signals`."""
    url = "https://shop.example" + case.get("url", "/").removeprefix("https://shop.example")
    headers = [line.split(": ", 1) for line in case.get("headers", ())]
    head = "".join(f"{name}: {value}\r\n" for name, value in [*HTML.items(), *headers])
    body = case.get("html", "").encode()
    http = b"HTTP/1.1 200 OK\r\n%b\r\n%b" % (head.encode(), body)
    found = case.get("robots")
    files = [robots((found or "").encode(), status="200 OK" if found is not None else "404 Not Found",
                    url="https://shop.example/robots.txt")]  # fmt: skip
    if "tdmrep" in case:
        files.append(Fetch(TDMREP.replace("a.", "shop."), case["tdmrep"].encode(), headers=JSON))
    license_ = Fetch("https://shop.example/license.xml", case.get("license", "").encode(),
                     headers={"Content-Type": "application/rsl+xml"})  # fmt: skip
    archive = archives.archive([*files, license_], None, gzip=False)[0]
    named = f"WARC-Target-URI: {url}", "WARC-Date: 2026-11-30T12:00:00Z"
    (tmp_path / "a.warc").write_bytes(archive + archives.by_hand(http, *named))
    if case.get("license") and f"License: {license_.url}" not in (found or ""):
        pytest.skip("nothing in it names the license")
    crawlers = (*case.get("crawlers", ()),)
    (row,) = answer(tmp_path, tmp_path / "a.warc", question=Question("signals", crawlers))
    expected = signals_of(case)
    if not row["unread"]:
        assert row["signals"] == [row_of(expected.of(use)) for use in Use]
    assert row["unread"] == [*expected.unread] or case.get("licenses")
    for crawler in crawlers:
        of_crawler = [row_of(signals_of(case, crawler).of(use, crawler)) for use in Use]
        differing = [each for each in of_crawler if each not in row["signals"]]
        assert [{"crawler": crawler, **each} for each in differing] == [
            each for each in row["crawlers"] if each["crawler"] == crawler
        ]


def test_which_responses_are_pages(tmp_path: Path) -> None:
    some = [
        page("https://a.example/html"),
        Fetch("https://a.example/xhtml", b"<p>", headers={"Content-Type": "application/xhtml+xml"}),
        Fetch("https://a.example/twice", b"<p>", headers={"Content-Type": "text/html, text/html"}),
        Fetch("https://a.example/unnamed", b"<!doctype html>", headers={}),
    ]
    others = [
        Fetch("https://a.example/text", b"<!doctype html>"),
        Fetch("https://a.example/pdf", b"%PDF-1.7", headers={"Content-Type": "application/pdf"}),
        Fetch("https://a.example/data", b"data", headers={}),
        Fetch("https://a.example/404", b"<p>", "404 Not Found", HTML),
        Fetch("https://a.example/301", b"", "301 Moved", HTML | {"Location": "/"}),
        Fetch("https://a.example/robots.txt", b"<p>", headers=HTML),
        Fetch("https://a.example/x/.well-known/tdmrep.json", b"<p>", headers=HTML),
        Fetch("ftp://a.example/page", b"<p>", headers=HTML),
    ]
    found = answers_of(tmp_path, *others, *some)
    assert {row["url"] for row in found} == {each.url for each in some}


TDMREP = "https://a.example/.well-known/tdmrep.json"
RESERVED = b'[{"location": "/", "tdm-reservation": 1}]'
JSON = {"Content-Type": "application/json"}


TDMREPS: Cases = [
    ([Fetch(TDMREP, RESERVED, headers=JSON)], {"tdm": "no"}, []),
    ([Fetch(TDMREP, b"", "404 Not Found")], {}, []),
    ([], {}, []),
    (
        [Fetch(TDMREP, b"", "403 Forbidden")],
        UNDECIDED,
        ["/.well-known/tdmrep.json: status 403"],
    ),
    (
        [Fetch(TDMREP, RESERVED, headers=JSON | {"Content-Length": "999"})],
        UNDECIDED,
        ["/.well-known/tdmrep.json: its body is cut or cannot be decoded"],
    ),
    ([Fetch(TDMREP, b"[", headers=JSON)], UNDECIDED, None),
    # By the time of the page, as robots.txt.
    (
        [
            Fetch(TDMREP, RESERVED, headers=JSON, date="2026-11-08T00:00:00Z"),
            Fetch(TDMREP, b"[]", headers=JSON, date="2026-11-09T00:00:00Z"),
        ],
        {},
        [],
    ),
]


CASES = {"robots": ROBOTS, "redirects": REDIRECTS, "pages": PAGES, "tdmrep": TDMREPS}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, dict[str, Any]]:
    """The answers about all cases: each is a crawl of its own."""
    folder = tmp_path_factory.mktemp("cases")
    no_file = robots(b"", 9, "404 Not Found")
    for name, some in CASES.items():
        for number, (fetches, _, _) in enumerate(some):
            others = {"pages": [no_file], "tdmrep": [no_file, page()]}.get(name, [page()])
            archives.write(
                folder / "in" / f"{name}-{number}.warc.gz", [*fetches, *others], f"{name}-{number}"
            )
    return {row["crawl"]: row for row in answer(folder, folder / "in")}


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name in CASES for number in range(len(CASES[name]))]
)
def test_sources(cases: dict[str | None, dict[str, Any]], name: str, number: int) -> None:
    _, expected, unread = CASES[name][number]
    row = cases[f"{name}-{number}"]
    assert stated(row) == expected
    assert unread is None or row["unread"] == unread


def test_licenses(tmp_path: Path) -> None:
    where = "https://a.example/license.xml"
    named = f"License: {where}\n".encode()
    headers = {"Content-Type": "application/rsl+xml"}
    license_ = Fetch(where, RSL, headers=headers)
    (row,) = answers_of(tmp_path, robots(named), license_, page())
    assert (stated(row)["ai-train"], grammars(row)) == ("no", ["rsl"])
    assert (row["licenses"], row["unread"]) == ([where], [])
    (tmp_path / "missing").mkdir()
    (row,) = answers_of(tmp_path / "missing", robots(named), page())
    assert stated(row) == UNDECIDED
    assert (row["licenses"], row["unread"]) == (
        [where],
        [f"robots.txt, line 1: the license {where} is not read"],
    )
    (tmp_path / "cut").mkdir()
    cut = Fetch(where, RSL, headers=headers | {"Content-Length": "9999"})
    (row,) = answers_of(tmp_path / "cut", robots(named), cut, page())
    assert row["unread"] == [f"robots.txt, line 1: the license {where} is not read"]
    (tmp_path / "within").mkdir()
    script = b"<script type=application/rsl+xml>%b</script>" % RSL
    (row,) = answers_of(tmp_path / "within", robots(), page(body=script))
    assert grammars(row) == ["content-signal", "rsl"]


def test_many_licenses(tmp_path: Path) -> None:
    named = "".join(f"License: https://b.example/{number}\n" for number in range(200))
    (row,) = answers_of(tmp_path, robots(named.encode()), page())
    assert len(row["licenses"]) == 100
    assert row["unread"][-1] == "195 more unread licenses"
    assert len(row["unread"]) == 6
    assert stated(row) == UNDECIDED


def test_crawlers_have_rows_where_they_differ(tmp_path: Path) -> None:
    body = NO_TRAINING + b"\nUser-agent: GPTBot\nDisallow: /\n"
    source = archives.write(
        tmp_path / "a.warc.gz", [robots(body), page(X_Robots_Tag="foobot: noindex")]
    )
    found = answer(tmp_path, source, question=Question("signals", ("GPTBot", "CCBot", "FooBot")))
    differing = {(each["crawler"], each["use"]): each["stated"] for each in found[0]["crawlers"]}
    assert differing["GPTBot", "ai-train"] == "no"
    assert differing["FooBot", "search"] == "no"
    assert "CCBot" not in {name for name, _ in differing}
    assert stated(found[0]) == NO  # fmt: skip


def test_bodies_in_pieces(tmp_path: Path) -> None:
    long = b"# comment\n" * 3 * _page_archives._PIECE + NO_TRAINING
    assert len(long) < MAX_BYTES
    script = b"<script type=application/rsl+xml>%b%b</script>" % (b" " * 50_000, RSL)
    found = answers_of(
        tmp_path, robots(long), page(body=script), page("https://a.example/2"),
        robots(b"", 9, "404 No", url="https://b.example/robots.txt"), page("https://b.example/"),
    )  # fmt: skip
    assert [grammars(row) for row in found] == [["content-signal", "rsl"], ["content-signal"], []]


def test_files_in_other_archives_and_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However pages and files are spread, and sites over parts, each page has its site's file."""
    monkeypatch.setattr(_site_order, "_PART_ROWS", 20)
    names = [f"{prefix}site-{number}.example" for number in range(50) for prefix in ("", "www.")]
    files, pages = [], []
    for number, name in enumerate(names):
        url = f"https://{name}/robots.txt"
        files.append(robots(NO_TRAINING if number % 2 else TRAINING, url=url))
        pages += [page(f"https://{name}/{place}") for place in range(3)]
    inputs = [
        archives.write(tmp_path / "pages-1.warc.gz", pages[::2]),
        archives.write(tmp_path / "robots.warc.gz", files),
        archives.write(tmp_path / "pages-2.warc.gz", pages[1::2]),
    ]
    found = answer(tmp_path, *inputs)
    assert {row["url"]: stated(row) for row in found} == {
        f"https://{name}/{place}": NO if number % 2 else YES
        for number, name in enumerate(names)
        for place in range(3)
    }
    assert len(contents(tmp_path / "out")) == 20
    # Sites, with and without www., are in one part.
    assert use_report(tmp_path / "out").crawls[0].sites == 50


def test_runs_resume_and_take_more_archives(tmp_path: Path) -> None:
    pages = archives.write(tmp_path / "pages.warc.gz", [page(), page("https://b.example/")])
    files = archives.write(tmp_path / "robots.warc.gz", [robots()])
    assert [stated(row) for row in answer(tmp_path, pages)] == [UNDECIDED, UNDECIDED]
    before = contents(tmp_path / "out")
    assert [stated(row) for row in answer(tmp_path, pages)] == [UNDECIDED, UNDECIDED]
    assert contents(tmp_path / "out") == before
    # The pages that were read before are joined with more files.
    done = runs.run(Question("signals"), runs.find_inputs([str(files)]), tmp_path / "out", 1)
    assert (done.others, len(done.failed)) == (1, 0)
    assert [stated(row) for row in rows(tmp_path / "out")] == [NO, UNDECIDED]
    assert len(contents(tmp_path / "out")) == 1
    # An archive that has changed is read again.
    archives.write(pages, [page()])
    assert [stated(row) for row in answer(tmp_path, pages)] == [NO]
    with pytest.raises(runs.ForeignFolderError, match="another question"):
        answer(tmp_path, pages, question=Question("signals", ("GPTBot",)))


def test_two_runs_at_once(tmp_path: Path) -> None:
    source = archives.write(tmp_path / "a.warc.gz", [robots(), page()])
    answer(tmp_path, source)
    with (
        _shards.locked(tmp_path / "out"),
        pytest.raises(UnreadableError, match="another run is writing there"),
    ):
        answer(tmp_path, source)


@pytest.mark.thorough
def test_killed_run_resumes(tmp_path: Path) -> None:
    for number in range(6):
        some = [f"https://site-{n}.example" for n in range(number, 300, 6)]
        fetches = [robots(url=f"{origin}/robots.txt") for origin in some]
        fetches += [page(f"{origin}/{n}") for origin in some for n in range(4)]
        archives.write(tmp_path / "in" / f"{number}.warc.gz", fetches)
    answer(tmp_path, tmp_path / "in")
    expected = {row["url"]: row["signals"] for row in rows(tmp_path / "out")}
    shutil.rmtree(tmp_path / "out")
    command = [sys.executable, "-m", "koster", "bulk", "signals", str(tmp_path / "in")]
    command += ["--jobs", "2", "-o", str(tmp_path / "out")]
    for shards in (1, 3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        read = tmp_path / "out" / ".read"
        while len([*read.glob("*.parquet")]) < shards and time.monotonic() < deadline:
            assert process.poll() is None or [*read.glob("*.parquet")]
        process.send_signal(signal.SIGKILL)
        process.wait()
    (read / ".0123456789.sorted.part").write_bytes(b"half of it")
    done = runs.run(
        Question("signals"), runs.find_inputs([str(tmp_path / "in")]), tmp_path / "out", 2
    )
    assert not all(each.is_new for each in done.shards)
    assert {row["url"]: row["signals"] for row in rows(tmp_path / "out")} == expected
    assert len(expected) == 1_200
    assert {path.suffix for path in read.iterdir() if path.name != ".koster-bulk"} == {".parquet"}


def test_broken_records_are_reported(tmp_path: Path) -> None:
    good = archives.archive([robots(), page()], gzip=False)[0]
    bad = archives.by_hand(b"HTTP/1.1 200 OK\r\n\r\n<p>")
    bad += archives.by_hand(b"no response at all", "WARC-Target-URI: https://a.example/x")
    bad += archives.by_hand(b"HTTP/1.1 200 OK\r\n\r\n<html>", "WARC-Target-URI: https://[bad/")
    cut = archives.by_hand(
        b"HTTP/1.1 200 OK\r\n\r\n<html>", "WARC-Target-URI: https://a.example/y", length=99
    )
    (tmp_path / "a.warc").write_bytes(good + bad + cut)  # fmt: skip
    result = bulk("signals", tmp_path / "a.warc", "-o", tmp_path / "out")
    assert result.exit_code == 1, result.output
    assert result.output.count("at byte") == 3
    assert "1 more record" in result.output
    assert "4 records could not be read" in result.output
    assert [stated(row) for row in rows(tmp_path / "out")] == [NO]


@pytest.mark.parametrize(
    ("url", "headers", "body"),
    [
        ("https://a.example/robots.txt", b"", b"\xff\xfe\0" * 999),
        ("https://a.example/.well-known/tdmrep.json", b"", b"[" * 100_000),
        ("https://a.example/l", b"Content-Type: application/rsl+xml", b"<rsl>" * 50_000),
        ("https://a.example/", b"", b"<" * 100_000),
        ("https://a.example/", b"", b"<meta name=robots content='" + b"noai," * 50_000),
        ("https://a.example/", b"", b"<script type=application/rsl+xml>" * 5_000),
        ("https://a.example/", b"X-Robots-Tag: " + b"\xff: noai, " * 500, b""),
        ("https://a.example/", b"X-Robots-Tag\xff: noai\r\nx-robots-tag:", b""),
        ("https://a.example/", b"Link: <https://\xff/>; rel=license", b""),
        ("https://a.example/", b"Content-Usage: " + b"(" * 1_000, b""),
        ("https://a.example/", b"Content-Type: text/html; charset=\0idna", NOAI),
        ("https://a.example/" + "q" * 50_000, b"", b""),
        ("https://\xe9.example/\ud800".encode("utf-8", "surrogatepass"), b"", b""),
    ],
)
def test_hostile_records(tmp_path: Path, url: str | bytes, headers: bytes, body: bytes) -> None:
    """No record stops a run, or changes the answers about the page of another site."""
    given = b"" if headers.startswith(b"Content-Type") else b"Content-Type: text/html\r\n"
    http = b"HTTP/1.1 200 OK\r\n%b%b\r\n\r\n%b" % (given, headers, body)
    good = archives.archive(
        [robots(), page(), robots(url="https://b.example/robots.txt"), page("https://b.example/")],
        gzip=False,
    )[0]
    target = url if isinstance(url, bytes) else url.encode()
    record = archives.by_hand(http, "WARC-Target-URI: @").replace(b": @\r\n", b": %b\r\n" % target)
    (tmp_path / "a.warc").write_bytes(good + record)
    found = answer(tmp_path, tmp_path / "a.warc")
    assert stated(next(row for row in found if row["url"] == "https://b.example/")) == NO
    for row in found:
        assert [each["use"] for each in row["signals"]] == [str(use) for use in Use]


def test_command(tmp_path: Path) -> None:
    source = tmp_path / "in"
    archives.write(
        source / "robots.warc.gz",
        [robots(), robots(b"", 9, "503 Busy", url="https://b.example/robots.txt")],
    )
    archives.write(
        source / "pages.warc.gz",
        [page(), page("https://www.a.example/"), page("https://b.example/", NOAI)],
    )
    result = bulk("signals", source, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    # What could not be read comes first.
    assert lines[0].startswith(
        f"2 of 3 pages in {CRAWL}, on 2 of 2 sites, have a source that could"
    )
    assert f"{CRAWL}: 3 pages, 2 sites" in lines
    assert "ai-train 0 % 66.7 % 0 % 33.3 % 0 %" in lines
    assert "ai-train 0 % 100 % 0 % 50.0 % 0 %" in lines
    assert lines[lines.index("AI training: grammar Sites Pages") :][1:3] == [
        "Content-Signal 50.0 % 33.3 %", "noai and noimageai 50.0 % 33.3 %",
    ]  # fmt: skip
    assert bulk("signals", source, "-o", tmp_path / "out", "-q").output == ""


def test_command_errors(tmp_path: Path) -> None:
    table = tmp_path / "robots.jsonl"
    table.write_text('{"body": ""}\n')
    result = bulk("signals", table, "-o", tmp_path / "out")
    assert (result.exit_code, "is not a WARC file" in result.output) == (3, True)
    source = archives.write(tmp_path / "a.warc.gz", [robots()])
    result = bulk("signals", source, "-o", tmp_path / "out")
    assert (result.exit_code, "no HTML pages in the inputs" in result.output) == (3, True)
    for name in ("*", "__usage_ai-training"):
        assert bulk("signals", source, "-o", tmp_path / "out", "--crawler", name).exit_code == 2
    result = bulk("signals", source, "-o", tmp_path / "out", "--crawler", "GPTBot")
    assert (result.exit_code, "another question" in result.output) == (2, True)
    (tmp_path / "no.warc").write_bytes(b"not an archive")
    result = bulk("signals", tmp_path / "no.warc", "-o", tmp_path / "new")
    assert (result.exit_code, "is not a WARC file" in result.output) == (3, True)


def test_disk_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = archives.write(tmp_path / "a.warc.gz", [robots(), page()])
    monkeypatch.setattr(_site_order, "_TABLES", "SELECT nothing")
    result = bulk("signals", source, "-o", tmp_path / "out")
    assert (result.exit_code, "nothing" in result.output) == (3, True)


def shares(found: UseReport, use: str = "ai-train") -> dict[tuple[str, str], tuple[int, int]]:
    return {
        (each.crawl, each.stated or each.grammar): (each.sites, each.pages)
        for each in found.shares
        if each.use == use
    }


@pytest.fixture
def two_crawls(tmp_path: Path) -> Path:
    """The answers about two crawls, and a page without a crawl or a date."""
    for crawl, files in (("CC-MAIN-2026-01", [robots()]), ("CC-MAIN-2026-02", [robots(TRAINING)])):
        fetches = [*files, page(), page("https://a.example/x", NOAI), page("https://b.example/")]
        archives.write(tmp_path / "in" / f"{crawl}.warc.gz", fetches, crawl)
    lost = page("https://c.example/")
    lost.date = "unknown"
    archives.write(tmp_path / "in" / "c.warc.gz", [lost], None)
    answer(tmp_path, tmp_path / "in")
    return tmp_path / "out"


def test_use_report(two_crawls: Path) -> None:
    found = use_report(two_crawls)
    assert [each.crawl for each in found.crawls] == [
        "undated",
        "CC-MAIN-2026-01",
        "CC-MAIN-2026-02",
    ]
    assert [(each.pages, each.sites) for each in found.crawls] == [(1, 1), (3, 2), (3, 2)]
    assert [(each.unread_pages, each.unread_sites) for each in found.crawls] == [(1, 1)] * 3
    assert shares(found) == {
        ("undated", "undecided"): (1, 1),
        ("CC-MAIN-2026-01", "no"): (1, 2), ("CC-MAIN-2026-01", "undecided"): (1, 1),
        ("CC-MAIN-2026-01", "content-signal"): (1, 2), ("CC-MAIN-2026-01", "noai"): (1, 1),
        ("CC-MAIN-2026-02", "yes"): (1, 1), ("CC-MAIN-2026-02", "conflict"): (1, 1),
        ("CC-MAIN-2026-02", "undecided"): (1, 1),
        ("CC-MAIN-2026-02", "content-signal"): (1, 2), ("CC-MAIN-2026-02", "noai"): (1, 1),
    }  # fmt: skip
    last = found.of("CC-MAIN-2026-02")[0]
    assert (last.use, last.share_of_sites, last.share_of_pages) == ("search", 0.5, 2 / 3)


def test_use_report_reads_some_shards_at_a_time(
    two_crawls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = use_report(two_crawls)
    monkeypatch.setattr("koster.bulk.use_report._ROWS", 1)
    assert use_report(two_crawls) == at_once


def test_use_report_of_some_sites(two_crawls: Path, tmp_path: Path) -> None:
    (tmp_path / "sites.txt").write_text("b.example\nd.example\n")
    found = use_report(two_crawls, str(tmp_path / "sites.txt"))
    assert [(each.sites, each.not_fetched) for each in found.crawls] == [(1, 1), (1, 1)]
    assert found.panel == 2


def test_report_command(two_crawls: Path, tmp_path: Path) -> None:
    html, table = tmp_path / "r.html", tmp_path / "r.csv"
    result = bulk("report", two_crawls, "-o", html, "--csv", table)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1].endswith("r.csv")
    text = html.read_text()
    assert "<title>What sites say about use</title>" in text
    assert text.count("<polyline") == 2 * len(Use)
    assert "CC-MAIN-2026-02, 50.0 % have a page" not in text
    assert "noai and noimageai" in text
    assert (
        '"CC-MAIN-2026-01","ai-train","no","",2,1,3,2,1,1,0,0.666667,0.500000' in table.read_text()
    )
    (tmp_path / "sites.txt").write_text("b.example\nd.example\n")
    result = bulk(
        "report", two_crawls, "-o", html, "--sites", tmp_path / "sites.txt", "--title", "<b>"
    )
    assert "1 of 2 sites of the list has no page in CC-MAIN-2026-01." in result.output
    assert "&lt;b&gt;" in html.read_text()
    assert bulk("report", two_crawls, "-o", html, "--crawl-column", "x").exit_code == 2


def test_report_of_one_crawl_and_of_none(tmp_path: Path) -> None:
    html = tmp_path / "r.html"
    answers_of(tmp_path, robots(), page())
    assert bulk("report", tmp_path / "out", "-o", html).exit_code == 0
    assert "100 % have a page for which no to AI training is stated" in html.read_text()
    shutil.rmtree(tmp_path / "out")
    answers_of(tmp_path, robots())
    result = bulk("report", tmp_path / "out", "-o", html)
    assert "no HTML page in the archives" in result.output
    assert "No HTML page is in the archives" in html.read_text()
    source = archives.write(tmp_path / "b.warc.gz", [robots()])
    runs.run(Question("facts"), runs.find_inputs([str(source)]), tmp_path / "facts", 1)
    with pytest.raises(UnreadableError, match="has answers of koster bulk facts"):
        use_report(tmp_path / "facts")
