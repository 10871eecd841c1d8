"""The same bytes have one answer, however they reach koster; `GOOGLE` reads them as served."""

from __future__ import annotations

import asyncio
import codecs
import json
import pickle
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import koster
from koster._cli.root import koster as command
from koster._worker import answers
from koster.access import outcome_of, with_dialect
from koster.bulk import kernel
from koster.bulk.runs import Question
from koster.cache import MemoryCache
from koster.compat.scrapy import KosterRobotParser
from koster.dialects import DIALECTS
from koster.fetch import MockTransport, Reply
from koster.robots import MAX_PARSED_BYTES
from tests.helpers import archives
from tests.helpers.archives import Fetch
from tests.helpers.bulk_runs import run_answers

SITE = "https://e.example"
TEXT = "# é\r\nUser-agent: *\r\nDisallow: /a\r\n"
#: Each file by its name, with the byte order mark first.
FILES = {
    "utf-8": codecs.BOM_UTF8 + TEXT.encode(),
    "utf-16-le": codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
    "utf-16-be": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "utf-32-le": codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
    "utf-32-be": codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"),
    "half a character at the end": codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le") + b"\x20",
    "a lone surrogate": codecs.BOM_UTF16_BE + b"\xd8\x00" + f"\n{TEXT}".encode("utf-16-be"),
    "two marks": codecs.BOM_UTF16_LE * 2 + TEXT.encode("utf-16-le"),
}


def by_client(body: bytes, dialect: koster.Dialect, _: Path) -> bool:
    sites = MockTransport({SITE: Reply(body=body)})
    with koster.RobotsClient("FooBot/1.0", transport=sites, dialect=dialect) as client:
        return client.allowed(f"{SITE}/a")


def by_async_client(body: bytes, dialect: koster.Dialect, _: Path) -> bool:
    async def allowed() -> bool:
        sites = MockTransport({SITE: Reply(body=body)})
        async with koster.AsyncRobotsClient("FooBot", transport=sites, dialect=dialect) as client:
            return await client.allowed(f"{SITE}/a")

    return asyncio.run(allowed())


def by_file(body: bytes, dialect: koster.Dialect, folder: Path) -> bool:
    (folder / "robots.txt").write_bytes(body)
    return koster.parse_file(folder / "robots.txt", dialect).allowed("/a", "FooBot")


def by_command(body: bytes, dialect: koster.Dialect, folder: Path) -> bool:
    (folder / "robots.txt").write_bytes(body)
    arguments = ["check", "--robots", str(folder / "robots.txt"), f"{SITE}/a", "-a", "FooBot"]
    result = CliRunner().invoke(command, [*arguments, "--dialect", str(dialect)])
    assert result.exit_code in (0, 1), result.output
    return result.exit_code == 0


def by_archive(body: bytes, dialect: koster.Dialect, folder: Path) -> bool:
    path = archives.write(folder / "robots.warc.gz", [Fetch(f"{SITE}/robots.txt", body)])
    (row,) = run_answers(Question("decide", ("FooBot",), ("/a",), dialect=str(dialect)), path)
    return bool(row["decision"]["allowed"])


def by_table(body: bytes, dialect: koster.Dialect, folder: Path) -> bool:
    path = folder / "robots.parquet"
    pq.write_table(pa.table({"body": pa.array([body, None, b"\xff"], pa.binary())}), path)
    question = Question("decide", ("FooBot",), ("/a",), dialect=str(dialect))
    row, missing, _ = run_answers(question, path)
    assert missing["decision"] is None
    return bool(row["decision"]["allowed"])


def by_column(body: bytes, dialect: koster.Dialect, _: Path) -> bool:
    column = pa.array([b"", body, None, b"\xff", b"\x00"], pa.binary())
    decisions = kernel.decide(column, "/a", "FooBot", dialect).to_pylist()
    (classified,) = kernel.classify(pa.array([body]), ["FooBot"], dialect).to_pylist()[0]
    found = bool(decisions[1]["allowed"])
    assert kernel.allowed(column, "/a", "FooBot", dialect)[1].as_py() == found
    assert decisions[1]["pattern"] == (None if found else "/a")
    assert classified["effective"] == ("none" if found else "some")
    (facts,) = kernel.facts(pa.array([body]), dialect).to_pylist()
    assert (facts["bytes"], bool(facts["rules"])) == (len(body), not found)
    return found


#: Each way for bytes into koster.
ENTRANCES: dict[str, Callable[[bytes, koster.Dialect, Path], bool]] = {
    "parse": lambda body, dialect, _: koster.parse(body, dialect).allowed("/a", "FooBot"),
    "memoryview": lambda body, dialect, _: koster.parse(
        memoryview(body),  # type: ignore[arg-type]
        dialect,
    ).allowed("/a", "FooBot"),
    "RobotsTxt": lambda body, dialect, _: koster.RobotsTxt(body, dialect).allowed("/a", "FooBot"),
    "pickle": lambda body, dialect, _: pickle.loads(
        pickle.dumps(koster.parse(body, dialect))
    ).allowed("/a", "FooBot"),
    "parse_file": by_file,
    "client": by_client,
    "asynchronous client": by_async_client,
    "command": by_command,
    "archive": by_archive,
    "table": by_table,
    "column": by_column,
    "service": lambda body, dialect, _: (
        b'"allowed":true'
        in answers.decide(10_000, body, str(dialect), ["FooBot"], ["/a"]).replace(b" ", b"")
    ),
}


@pytest.mark.parametrize("name", ENTRANCES)
@pytest.mark.parametrize("file", FILES)
def test_every_entrance_decodes_by_the_byte_order_mark(
    name: str, file: str, tmp_path: Path
) -> None:
    assert not ENTRANCES[name](FILES[file], koster.RFC9309, tmp_path)
    # Google's parser finds no lines in the bytes of UTF-16 and UTF-32.
    assert ENTRANCES[name](FILES[file], koster.GOOGLE, tmp_path) == (file != "utf-8")


@pytest.mark.parametrize("file", FILES)
def test_scrapys_parser_decodes_by_the_byte_order_mark(file: str) -> None:
    assert not KosterRobotParser(FILES[file]).allowed("/a", "FooBot")


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=str)
@pytest.mark.parametrize("file", FILES)
def test_files_keep_the_bytes_that_were_given(file: str, dialect: koster.Dialect) -> None:
    body = FILES[file]
    robots = koster.parse(body, dialect)
    assert robots.body == body
    assert koster.parse(robots.body, dialect).lines == robots.lines
    assert pickle.loads(pickle.dumps(robots)).body == body


def test_google_is_asked_about_the_url_that_clients_send(tmp_path: Path) -> None:
    body = b"User-agent: *\nDisallow: /caf%C3%A9\nDisallow: /a%20b\n"
    (tmp_path / "robots.txt").write_bytes(body)
    arguments = ["check", "--robots", str(tmp_path / "robots.txt"), "-d", "GOOGLE", "-f", "json"]
    path = archives.write(tmp_path / "robots.warc.gz", [Fetch(f"{SITE}/robots.txt", body)])
    for url in (f"{SITE}/café", f"{SITE}/a b"):
        (shown,) = json.loads(CliRunner().invoke(command, [*arguments, url]).stdout)
        assert (shown["allowed"], shown["url"]) == (False, url)
        answer = json.loads(answers.decide(10_000, body, "GOOGLE", ["*"], [url]))
        assert [each["allowed"] for each in answer["decisions"]] == [False]
        question = Question("decide", ("FooBot",), (url,), dialect="GOOGLE")
        assert [row["decision"]["allowed"] for row in run_answers(question, path)] == [False]
        urls = pa.array([url, None, f"{SITE}/b"])
        found = kernel.allowed(body, urls, "FooBot", koster.GOOGLE).to_pylist()
        assert found == [False, None, True]
    assert kernel.allowed(body, pa.array(["/café"]), "F", koster.GOOGLE).to_pylist() == [True]


def test_text_in_latin_1_is_decoded_except_under_google() -> None:
    """The declared charset counts only for clients; Google's parser gets bytes."""
    body = "User-agent: *\nDisallow: /é\n".encode("latin-1")
    latin = Reply(body=body, headers={"Content-Type": "text/plain; charset=ISO-8859-1"})
    for dialect, allowed in ((koster.RFC9309, False), (koster.GOOGLE, True)):
        sites = MockTransport({SITE: latin})
        with koster.RobotsClient("FooBot", transport=sites, dialect=dialect) as client:
            assert client.allowed(f"{SITE}/%C3%A9") == allowed
            other = with_dialect(client.robots(SITE), koster.RFC9309)
            assert not other.allowed(f"{SITE}/%C3%A9", "FooBot")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_dialects_that_share_a_cache_read_the_same_response(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "robots.sqlite"
    cache: Any = MemoryCache() if kind == "memory" else str(path)
    sites = MockTransport({SITE: Reply(body=FILES["utf-16-le"])})
    for dialect in (koster.GOOGLE, koster.RFC9309, koster.GOOGLE):
        with koster.RobotsClient("F", transport=sites, dialect=dialect, cache=cache) as client:
            assert client.allowed(f"{SITE}/a") == (dialect is koster.GOOGLE)
    assert len(sites.requests) == 1
    if kind == "sqlite":
        with sqlite3.connect(path) as connection:
            assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)


def test_outcomes_have_the_entry_that_they_come_from() -> None:
    sites = MockTransport({SITE: Reply(body=FILES["utf-16-le"])})
    with koster.RobotsClient("FooBot", transport=sites) as client:
        outcome = client.robots(SITE)
    assert outcome.charset == "utf-16-le"
    assert outcome.entry.body == TEXT.encode()
    assert outcome.entry.served == FILES["utf-16-le"]
    again = outcome_of(outcome.entry, koster.GOOGLE, outcome.fetched)
    assert again.robots is not None
    assert again.robots.body == FILES["utf-16-le"]
    plain = outcome_of(replace(outcome.entry, served=None), koster.GOOGLE, outcome.fetched)
    assert plain.robots is not None
    assert plain.robots.body == TEXT.encode()


def test_a_large_file_is_decoded_up_to_the_limit() -> None:
    """The last line that is cut is not read, as in a file of UTF-8."""
    line = f"# {'x' * 1000}\n"
    rules = "User-agent: *\n" + line * (MAX_PARSED_BYTES // len(line) // 2 - 1)
    # The limit is in the middle of the last line.
    comment = f"#{'x' * (MAX_PARSED_BYTES // 2 - len(rules) - 10)}\n"
    body = codecs.BOM_UTF16_LE + f"{comment}{rules}Disallow: /end\n".encode("utf-16-le")
    robots = koster.parse(body)
    assert robots.lines[-1].text == line.rstrip()
    assert robots.allowed("/end", "FooBot")
    assert kernel.allowed(body, pa.array(["/end"]), "FooBot").to_pylist() == [True]


def test_the_last_line_of_a_large_file_that_begins_with_nul_is_not_cut() -> None:
    """It has the first byte of a mark, and none."""
    line = b"#" * 9_999 + b"\n"
    body = b"\0\n" + line * (MAX_PARSED_BYTES // len(line) + 1)
    robots = koster.parse(body)
    assert robots.lines[-1].text == line.decode().rstrip()
    assert len(robots.body) <= MAX_PARSED_BYTES
