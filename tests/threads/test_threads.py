"""Threads, signal handlers and finalizers that ask the same objects get the right answers."""

from __future__ import annotations

import os
import subprocess
import sys

import httpx2
import pytest

import koster
from tests.helpers.support import ROOT

#: For each subject; `make test-faults` takes five.
SECONDS = os.environ.get("KOSTER_THREAD_SECONDS", "0.2")

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer signals")


@needs_signals
@pytest.mark.parametrize(
    "kind", ["robots", "rules", "outcome", "client", "tools", "kernel", "facades"]
)
def test_threads_share_objects(kind: str) -> None:
    command = [sys.executable, "-m", "tests.helpers.hammer", "--seconds", SECONDS, kind]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-5000:]
    assert done.stdout.count("\n") >= 4


def test_files_and_rules_are_made_once() -> None:
    """Another thread may be in the middle of a question."""
    robots = koster.parse("User-agent: *\nDisallow: /")
    rules = robots.rules_for("x")
    with pytest.raises(TypeError, match=r"^a RobotsTxt does not change: make another one$"):
        robots.__init__("")  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"^the rules of a crawler do not change: call rules_for"):
        rules.__init__(robots, "y")  # type: ignore[misc]
    assert not robots.allowed("/", "x")
    assert not rules.allowed("/")
    assert koster.Rules(robots, "x").allowed("/") is False
    assert koster.RobotsTxt("").allowed("/", "x")


def test_client_does_not_wait_for_its_own_thread() -> None:
    """As in a signal handler or a finalizer that runs in the middle of a fetch."""
    refused: list[str] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        for url in ("https://example.com/b", "https://other.example/"):
            with pytest.raises(RuntimeError) as caught:
                client.allowed(url)
            refused.append(str(caught.value))
        assert client.cached("https://example.com/") is None
        return httpx2.Response(200, content=b"User-agent: *\nDisallow: /a\n")

    with koster.RobotsClient("FooBot", transport=httpx2.MockTransport(respond)) as client:
        assert not client.allowed("https://example.com/a")
        assert len(refused) == 2
        assert all(each.startswith("this thread is already waiting for") for each in refused)
        # The thread can ask again, also after an error.
        assert client.allowed("https://example.com/b")
        with pytest.raises(koster.UrlError):
            client.allowed("ftp://example.com/")
