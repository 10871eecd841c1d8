"""koster serve."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
import serving
from click.testing import CliRunner
from server import Site, closed_port

from koster.cli._root import koster as command_line
from koster.service import Settings, create_app

pytestmark = pytest.mark.any_mode


def test_the_command_serves_until_it_is_told_to_stop() -> None:
    with serving.as_command("--rate", 0) as command:
        with httpx2.Client(base_url=command.url) as api:
            answer = api.post("/v1/decide", json={"robots": "", "urls": ["/"]})
            assert answer.status_code == 200
        entry = command.entry("request")
        assert entry["request"] == answer.headers["x-request-id"]
        assert (entry["handler"], entry["status"], entry["client"]) == ("decide", 200, "127.0.0.1")
        assert entry.keys() >= {"time", "level", "logger", "method", "bytes", "ms"}
        assert command.stop() in (0, -signal.SIGTERM)
        command.entry("stopping")
        command.entry("stopped")
    with serving.as_command() as command:
        assert command.stop(signal.SIGINT) == 130


def test_where_it_cannot_listen(tmp_path: Path) -> None:
    runner = CliRunner()
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = runner.invoke(command_line, ["serve", "--port", str(port), "--cache", "memory"])
        assert (done.exit_code, done.output.startswith("koster: cannot listen on 127.0.0.1")) == (
            3,
            True,
        )
    done = runner.invoke(command_line, ["serve", "--host", "no.such.invalid", "--cache", "memory"])
    assert done.exit_code == 3
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "no/such", "x" * 300):
        done = runner.invoke(command_line, ["serve", "--socket", str(path), "--cache", "memory"])
        assert done.exit_code == 3, done.output
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    "options",
    [
        ("--let-through", "nonsense"),
        ("--max-body", "1"),
        ("--rate", "-1"),
        ("--fetch-timeout", "0"),
        ("--user-agent", "a\nb"),
        ("--port", "65536"),
        ("--log", "loud"),
    ],
    ids=str,
)
def test_wrong_usage(options: tuple[str, ...]) -> None:
    done = CliRunner().invoke(command_line, ["serve", "--cache", "memory", "--port", "0", *options])
    assert done.exit_code == 2, done.output
    assert "The tester is at" not in done.output


def test_a_socket_and_a_proxy(tmp_path: Path) -> None:
    path = tmp_path / "koster.sock"
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    with serving.as_command("--socket", path, "--proxy", "*", "--rate", "2") as command:
        transport = httpx2.HTTPTransport(uds=str(path))
        with httpx2.Client(transport=transport, base_url="http://koster") as api:
            for client in ("192.0.2.1", "192.0.2.2"):
                headers = {"X-Forwarded-For": client}
                answers = [api.get("/v1/dialects", headers=headers) for _ in range(5)]
                assert [each.status_code for each in answers] == [200] * 4 + [429]
        assert command.entry("request")["client"] == "192.0.2.1"


def test_nobody_else_is_believed() -> None:
    with serving.as_command("--rate", "2", "--proxy", "192.0.2.9") as command:
        with httpx2.Client(base_url=command.url) as api:
            headers = [{"X-Forwarded-For": f"198.51.100.{number}"} for number in range(5)]
            statuses = [api.get("/v1/dialects", headers=each).status_code for each in headers]
        assert statuses == [200] * 4 + [429]
        assert command.entry("request")["client"] == "127.0.0.1"


def test_the_cache_is_kept(tmp_path: Path, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    settings = Settings(rate=0, cache=str(tmp_path / "c.sqlite"), let_through=("127.0.0.1/32",))
    for _ in range(2):
        with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
            answer = api.get("/v1/check", params={"url": f"{site.url}/x"}).json()
            assert answer["decision"]["allowed"] is False
    assert len(site.requests) == 1


def test_the_cache_in_redis(redis_url: str, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    settings = Settings(rate=0, cache=redis_url, let_through=("127.0.0.1/32",))
    for _ in range(2):
        with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
            assert api.get("/v1/check", params={"url": f"{site.url}/x"}).status_code == 200
    assert len(site.requests) == 1


def test_a_missing_extra_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from koster.cli import main; sys.argv = ['koster', 'serve']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "pip install 'koster[service]'" in done.stderr


def test_an_application_for_any_server() -> None:
    app = create_app()
    assert callable(app)
    assert closed_port()


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from koster.cli.serve import _cache_path

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert _cache_path(None) == str(tmp_path / "caches/koster/service.sqlite")
    assert (tmp_path / "caches/koster").is_dir()
    assert _cache_path("memory") is None
    assert _cache_path("redis://x/0") == "redis://x/0"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert _cache_path(None) is None
