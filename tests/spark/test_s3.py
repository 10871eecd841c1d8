"""Archives on S3: moto's server on loopback, behind a proxy that refuses, is busy, or hangs up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

import boto3
import pyarrow.dataset
import pytest
from moto.server import ThreadedMotoServer

from koster.bulk.report import report
from tests.helpers import archives
from tests.helpers.bulk_runs import bulk
from tests.helpers.support import ROOT

BUCKET = "crawl"
SLOW_DOWN = (503, b"<Error><Code>SlowDown</Code><Message>Reduce your rate</Message></Error>")
DENIED = (403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")


class Proxy:
    """Forwards requests to S3; what it does else depends on the name of the object."""

    def __init__(self, target: str) -> None:
        self.asked: Counter[str] = Counter()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self, target, has_body=True)

            def do_HEAD(self) -> None:
                outer.answer(self, target, has_body=False)

            def log_message(self, *_args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, request: BaseHTTPRequestHandler, target: str, *, has_body: bool) -> None:
        name = request.path.rpartition("/")[2].partition(".")[0]
        if has_body:
            self.asked[name] += 1
        if name == "denied":
            status, body = DENIED
        elif name == "busy" and self.asked[name] < 3:
            status, body = SLOW_DOWN
        else:
            status, body = _ask(target + request.path, request.command)
        if name == "cut" and has_body:
            request.send_response(200)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body[: len(body) // 2])
            request.close_connection = True
            return
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.send_header("ETag", '"1"')
        request.end_headers()
        request.wfile.write(body if has_body else b"")


def _ask(url: str, method: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method)) as found:
            size = int(found.headers["Content-Length"])
            return found.status, found.read() if method == "GET" else bytes(size)
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    proxy = Proxy(f"http://{host}:{port}")
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
    client.create_bucket(Bucket=BUCKET)
    for number, name in enumerate(("a", "b", "busy", "denied", "cut")):
        body = archives.archive(archives.sites(20, 20 * number))[0]
        client.put_object(Bucket=BUCKET, Key=f"{name}.warc.gz", Body=body, ACL="public-read")
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    yield proxy
    proxy.server.shutdown()
    proxy.server.server_close()
    server.stop()


def urls(*names: str) -> list[str]:
    return [f"s3://{BUCKET}/{name}.warc.gz" for name in names]


def test_the_command_reads_s3(s3: Proxy, tmp_path: Path) -> None:
    result = bulk(
        "classify", *urls("a", "busy", "denied", "gone"), "-a", "GPTBot", "-j", 1,
        "-o", tmp_path / "o",
    )  # fmt: skip
    assert result.exit_code == 3, result.output
    assert "denied.warc.gz: download failed, refused" in result.output
    assert "gone.warc.gz: download failed, missing" in result.output
    assert s3.asked["busy"] >= 3
    table = pyarrow.dataset.dataset(tmp_path / "o").to_table()
    assert sorted(set(table["input"].to_pylist())) == urls("a", "busy")
    assert len(table) == 40


def submit(job: Path, master: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [Path(sys.executable).parent / "spark-submit", "--master", master]
    for setting in ("spark.ui.enabled=false", "spark.sql.shuffle.partitions=2",
                    "spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1"):  # fmt: skip
        command += ["--conf", setting]
    return subprocess.run(
        [*command, job, *map(str, arguments)], check=False, capture_output=True, text=True,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip


def test_the_example_job_says_what_it_did_not_read(s3: Proxy, tmp_path: Path) -> None:
    """A fault that may pass fails the task, and Spark tries it again; others have a row."""
    names = ("a", "b", "busy", "denied", "gone", "cut")
    (tmp_path / "paths").write_text("\n".join(urls(*names)))
    job = ROOT / "examples" / "spark_archives.py"
    done = submit(job, "local[2,2]", tmp_path / "paths", tmp_path / "out", "GPTBot")
    assert done.returncode == 1, done.stderr[-3000:]
    assert "3 of 6 archives read, 0 parts of them broken" in done.stdout
    for name, kind in (("denied", "refused"), ("gone", "missing"), ("cut", "network")):
        assert f"{name}.warc.gz: {kind}: " in done.stdout + done.stderr
    found = report(tmp_path / "out")
    assert (found.files, found.bad) == (42, 3)


@pytest.mark.usefixtures("_cluster")
def test_a_killed_executor_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its task is tried again in another one; no fetch is missing, and none is there twice."""
    for number in range(4):
        archives.write(tmp_path / f"{number}.warc.gz", archives.sites(10, 10 * number))
    marker = tmp_path / "killed"
    job = tmp_path / "job.py"
    job.write_text(
        "import sys\n"
        "from pyspark.sql import SparkSession\n"
        "from koster.bulk import spark as robots\n"
        "from tests.spark.test_s3 import KillsOnce\n"
        "folder, marker = sys.argv[1:]\n"
        "session = SparkSession.builder.getOrCreate()\n"
        "paths = [(f'{folder}/{number}.warc.gz',) for number in range(4)]\n"
        "frame = session.createDataFrame(paths, 'path string').repartition(4)\n"
        "rows = robots.archives(frame, opened=KillsOnce(marker)).select('url', 'error').collect()\n"
        "print('rows', len(rows), len({row.url for row in rows}))\n"
        "assert not [row for row in rows if row.error]\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    done = submit(job, "local-cluster[2,1,1024]", tmp_path, marker)
    assert done.returncode == 0, done.stderr[-3000:]
    assert marker.exists()
    assert "rows 40 40" in done.stdout


class KillsOnce:
    """Opens files, and kills the executor the first time."""

    def __init__(self, marker: str) -> None:
        self._marker = marker

    def __call__(self, path: str, mode: str) -> BinaryIO:
        if not os.path.exists(self._marker):
            Path(self._marker).touch()
            # The parent of the daemon that started this process.
            status = Path(f"/proc/{os.getppid()}/status").read_text()
            (parent,) = (line.split()[1] for line in status.splitlines() if line.startswith("PPid"))
            os.kill(int(parent), signal.SIGKILL)
        file: Any = open(path, mode)  # noqa: SIM115 - the caller closes it
        return file  # type: ignore[no-any-return]
