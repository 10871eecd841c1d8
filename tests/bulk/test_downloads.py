"""Inputs at URLs: downloaded whole, again when the server is busy, or an error that says its kind."""

from __future__ import annotations

import gzip
import pickle
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow.dataset
import pytest

from koster.bulk import _downloads, runs
from koster.bulk._downloads import DownloadError, Kind, download
from koster.bulk.runs import Question
from koster.errors import KosterError, UnreadableError
from tests.helpers import archives
from tests.helpers.bulk_runs import bulk

ARCHIVE = archives.archive(archives.sites(20), "CC-MAIN-2026-45")[0]
QUESTION = Question("classify", ("GPTBot",))


class Server:
    """Answers each path as its name says, and counts requests."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *_args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        name = request.path.rpartition("/")[2].partition(".")[0]
        self.requests.append(name)
        statuses = {"missing": 404, "refused": 403, "busy": 503, "many": 429, "broken": 500}
        status = statuses.get(name, 200)
        if name == "later" and self.requests.count(name) < 3:
            status = 503
        request.send_response(status)
        request.send_header("Retry-After", "0")
        body = ARCHIVE if status == 200 else b"no"
        request.send_header("Content-Length", str(len(body) + 100 * (name == "cut")))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(_downloads, "_FIRST_WAIT", 0.001)
    monkeypatch.setattr(runs, "HTTP_RATE", 1_000.0)
    found = Server()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.mark.parametrize(
    ("name", "kind", "tries"),
    [
        ("missing", Kind.MISSING, 1),
        ("refused", Kind.REFUSED, 1),
        ("busy", Kind.BUSY, 6),
        ("many", Kind.BUSY, 6),
        ("broken", Kind.BUSY, 6),
        ("cut", Kind.NETWORK, 6),
    ],
)
def test_errors_say_their_kind(
    server: Server, tmp_path: Path, name: str, kind: Kind, tries: int
) -> None:
    with pytest.raises(DownloadError) as caught:
        download(f"{server.url}/{name}.warc.gz", str(tmp_path / "x"))
    assert caught.value.kind is kind
    assert str(kind) in str(caught.value)
    assert len(server.requests) == tries
    assert pickle.loads(pickle.dumps(caught.value)).kind is kind


def test_no_server(tmp_path: Path) -> None:
    with pytest.raises(DownloadError) as caught:
        download("http://127.0.0.1:1/a.warc.gz", str(tmp_path / "x"), wait=lambda seconds: None)
    assert caught.value.kind is Kind.NETWORK
    assert caught.value.is_temporary


@pytest.mark.parametrize(
    ("url", "message"),
    [("nosuch://a/b.warc.gz", "nosuch"), ("dropbox://a/b.warc.gz", "dropbox")],
)
def test_protocols_without_a_package(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(KosterError, match=message):
        download(url, str(tmp_path / "x"))


def test_waits_double_and_the_server_may_ask_for_more() -> None:
    waits = [_downloads._wait_before(number, OSError()) for number in (1, 2, 3)]
    assert 0.7 < waits[0] < 1.3 < waits[1] < 2.6 < waits[2] < 5.1
    error = OSError()
    error.headers = {"Retry-After": "90"}  # type: ignore[attr-defined]
    assert _downloads._wait_before(1, error) == 90
    error.headers = {"Retry-After": "9000"}  # type: ignore[attr-defined]
    assert _downloads._wait_before(1, error) == 120


def test_a_busy_server_is_asked_again_after_a_pause(server: Server, tmp_path: Path) -> None:
    waits: list[float] = []
    download(f"{server.url}/later.warc.gz", str(tmp_path / "x"), 0.5, waits.append)
    assert (tmp_path / "x").read_bytes() == ARCHIVE
    assert server.requests == ["later"] * 3
    assert waits[::2] == [0.5] * 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_urls_are_inputs_and_resume(server: Server, tmp_path: Path, jobs: int) -> None:
    urls = [f"{server.url}/CC-MAIN-2026-43/{name}.warc.gz" for name in ("a", "missing", "b")]
    names = tmp_path / "names.txt.gz"
    names.write_bytes(gzip.compress("\n".join(urls).encode()))
    arguments = ("--from-file", names, "-a", "GPTBot", "-j", jobs, "-o", tmp_path / "o")
    result = bulk("classify", *arguments)
    assert result.exit_code == 3
    assert f"{urls[1]}: download failed, missing" in result.output
    table = pyarrow.dataset.dataset(tmp_path / "o").to_table()
    assert set(table["input"].to_pylist()) == {urls[0], urls[2]}
    assert set(table["archive"].to_pylist()) == {"a.warc.gz", "b.warc.gz"}
    assert len(table) == 40
    server.requests.clear()
    assert bulk("classify", *arguments).exit_code == 3
    assert server.requests == ["missing"]
    assert not list((tmp_path / "o").glob(".*.part"))


def test_other_kinds_of_inputs(server: Server, tmp_path: Path) -> None:
    """A table at a URL is read, too; here the server has an archive under its name."""
    inputs = runs.find_inputs([f"{server.url}/t.csv?version=1"])
    (failed,) = runs.run(QUESTION, inputs, tmp_path / "o", 1).failed
    assert failed.why is not None
    assert failed.why.startswith(f"{server.url}/t.csv?version=1: ")
    with pytest.raises(UnreadableError, match="unsupported file name"):
        runs.find_inputs(["s3://bucket/folder/"])


def test_lists_of_inputs(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    assert "names no input" in bulk("facts", "--from-file", tmp_path / "empty", "-o", "o").output
    assert "No such file" in bulk("facts", "--from-file", tmp_path / "none", "-o", "o").output
    (tmp_path / "binary").write_bytes(b"\x1f\x8bxx")
    assert "is not a list" in bulk("facts", "--from-file", tmp_path / "binary", "-o", "o").output
    result = bulk("facts", "-o", tmp_path / "o")
    assert result.exit_code == 2
    assert "--from-file" in result.output
