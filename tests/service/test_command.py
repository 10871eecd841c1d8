"""The command `koster serve`."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner

from koster._cli.root import koster as command_line
from koster.service import ServiceSettings, create_app
from tests.helpers import serving
from tests.helpers.forked_commands import Command
from tests.helpers.server import Site, closed_port


def test_command_serves_until_a_signal() -> None:
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
    with serving.as_command(forked=True) as command:
        assert command.stop(signal.SIGINT) == 130


def test_log_contains_no_bodies_and_questions() -> None:
    with serving.as_command("--rate", 0, forked=True) as command:
        with httpx2.Client(base_url=command.url, timeout=30) as api:
            body = {"robots": "# secret", "agents": ["secret"], "urls": ["/secret"]}
            assert api.post("/v1/decide", json=body).status_code == 200
            assert api.post("/v1/lint", json={"robots": "secret"}).status_code == 200
            params = {"url": "http://127.0.0.1:1/secret", "agent": "secret"}
            assert api.get("/v1/check", params=params).status_code == 200
            assert api.post("/v1/secret", content=b"secret").status_code == 404
        command.stop()
        command.entry("stopped")
    messages = [entry["message"] for entry in command.entries]
    assert (messages.count("request"), messages.count("fetch")) == (4, 1)
    assert "secret" not in json.dumps(command.entries)


def test_log_warning_leaves_out_requests_and_fetches() -> None:
    task = ("serve", "--port", 0, "--cache", "memory", "--log", "warning")
    process = Command(*task, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[4].rstrip(";")
        assert httpx2.get(f"{url}/v1/check", params={"url": "http://127.0.0.1/"}).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=40)[1] == ""
    finally:
        process.kill()


def test_second_ctrl_c_ends_the_grace_period() -> None:
    body = json.dumps({"robots": ""}).encode()
    head = b"POST /v1/audit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with (
        serving.as_command("--grace", 60, "--work-timeout", 60, forked=True) as command,
        serving.connected(command.url) as connection,
    ):
        command.pause_workers()
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        with httpx2.Client(base_url=command.url) as api:
            while "koster_work_in_progress 1.0" not in api.get("/metrics").text:
                time.sleep(0.1)
        command.process.send_signal(signal.SIGINT)
        command.entry("stopping")
        time.sleep(0.7)
        assert command.process.poll() is None
        assert command.stop(signal.SIGINT) == 130
        assert b'"code": "stopping"' in serving.read_all(connection)


def test_listen_errors(tmp_path: Path) -> None:
    runner = CliRunner()
    with closing(socket.create_server(("127.0.0.1", 0))) as occupied:
        port = occupied.getsockname()[1]
        result = runner.invoke(command_line, ["serve", "--port", str(port), "--cache", "memory"])
        assert (
            result.exit_code,
            result.output.startswith("koster: cannot listen on 127.0.0.1"),
        ) == (
            3,
            True,
        )
    result = runner.invoke(
        command_line, ["serve", "--host", "no.such.invalid", "--cache", "memory"]
    )
    assert result.exit_code == 3
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "no/such", "x" * 300):
        result = runner.invoke(command_line, ["serve", "--socket", str(path), "--cache", "memory"])
        assert result.exit_code == 3, result.output
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
def test_invalid_options(options: tuple[str, ...]) -> None:
    result = CliRunner().invoke(
        command_line, ["serve", "--cache", "memory", "--port", "0", *options]
    )
    assert result.exit_code == 2, result.output
    assert "The tester is at" not in result.output


def test_unix_socket_behind_a_proxy(tmp_path: Path) -> None:
    path = tmp_path / "koster.sock"
    stale_socket = socket.socket(socket.AF_UNIX)
    stale_socket.bind(str(path))
    stale_socket.close()
    with serving.as_command(
        "--socket", path, "--proxy", "*", "--rate", "2", forked=True
    ) as command:
        transport = httpx2.HTTPTransport(uds=str(path))
        with httpx2.Client(transport=transport, base_url="http://koster") as api:
            for client in ("192.0.2.1", "192.0.2.2"):
                headers = {"X-Forwarded-For": client}
                answers = [api.get("/v1/dialects", headers=headers) for _ in range(5)]
                assert [each.status_code for each in answers] == [200] * 4 + [429]
        assert command.entry("request")["client"] == "192.0.2.1"


def test_forwarded_for_is_ignored_from_untrusted_clients() -> None:
    with serving.as_command("--rate", "2", "--proxy", "192.0.2.9", forked=True) as command:
        with httpx2.Client(base_url=command.url) as api:
            headers = [{"X-Forwarded-For": f"198.51.100.{number}"} for number in range(5)]
            statuses = [api.get("/v1/dialects", headers=each).status_code for each in headers]
        assert statuses == [200] * 4 + [429]
        assert command.entry("request")["client"] == "127.0.0.1"


def test_sqlite_cache_survives_a_restart(tmp_path: Path, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    settings = ServiceSettings(
        rate=0, cache=str(tmp_path / "c.sqlite"), let_through=("127.0.0.1/32",)
    )
    for _ in range(2):
        with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
            answer = api.get("/v1/check", params={"url": f"{site.url}/x"}).json()
            assert answer["decision"]["allowed"] is False
    assert len(site.requests) == 1


def test_redis_cache_survives_a_restart(redis_url: str, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    settings = ServiceSettings(rate=0, cache=redis_url, let_through=("127.0.0.1/32",))
    for _ in range(2):
        with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
            assert api.get("/v1/check", params={"url": f"{site.url}/x"}).status_code == 200
    assert len(site.requests) == 1


def test_missing_extra_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from koster._cli import main; sys.argv = ['koster', 'serve']; main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert result.returncode == 2
    assert "pip install 'koster[service]'" in result.stderr


def test_create_app_returns_an_asgi_application() -> None:
    app = create_app()
    assert callable(app)
    assert closed_port()


def test_cache_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from koster._cli.commands.serve import _cache_path

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert _cache_path(None) == str(tmp_path / "caches/koster/service.sqlite")
    assert (tmp_path / "caches/koster").is_dir()
    assert _cache_path("memory") is None
    assert _cache_path("redis://x/0") == "redis://x/0"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert _cache_path(None) is None
