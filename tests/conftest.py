"""Fixtures for all tests, Hypothesis profiles, and a report header that names missing services."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

import koster
from koster import _pure
from tests.helpers import redis_server, server
from tests.helpers.support import EVERYTHING, conformance

# The tests use servers on loopback, which no proxy reaches.
for _name in list(os.environ):
    if _name.lower() in ("http_proxy", "https_proxy", "all_proxy"):
        del os.environ[_name]

# Examples start koster and Python as programs: those of this environment.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])

# A shell starts background jobs with SIGINT ignored, and child processes inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `make test` uses the same examples in each run, `make test-all` more, and new ones.
settings.register_profile(
    "usual",
    max_examples=100 if EVERYTHING else 40,
    deadline=None,
    derandomize=not EVERYTHING,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", parent=settings.get_profile("usual"), max_examples=5000)
# For tests of the tests: fewer examples, which need not be small ones.
settings.register_profile(
    "mutation",
    parent=settings.get_profile("usual"),
    max_examples=30,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile(os.environ.get("KOSTER_HYPOTHESIS", "usual"))


def pytest_configure() -> None:
    """Refuse to test compiled modules of yesterday's sources."""
    if warning := _pure.outdated():
        raise pytest.UsageError(warning)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name cases with binary arguments by the argument: what is compressed has the time in it.

    The processes of a run must collect the same names.
    """
    is_binary = isinstance(val, bytes) and not val.isascii()
    return argname if is_binary else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave thorough tests to `make test-all`, unless they are asked for (-m, -k, file::test)."""
    asked = config.getoption("markexpr") or config.getoption("keyword")
    if EVERYTHING or asked or any("::" in each for each in config.args):
        return
    chosen: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for each in items:
        (left if each.get_closest_marker("thorough") else chosen).append(each)
    config.hook.pytest_deselected(items=left)
    items[:] = chosen


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of each later garbage collection, and of those in forks."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let extensions free what they hold, or they say that it leaks."""
    gc.unfreeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--questions", type=int, default=20_000 if EVERYTHING else 2_000, metavar="N",
        help="how many questions the differential tests ask each original",
    )  # fmt: skip


def pytest_report_header() -> list[str]:
    folder = conformance()
    return [
        f"koster {koster.__version__}, {'compiled' if koster.COMPILED else 'pure Python'}",
        f"Redis: {redis_server.program() or redis_server.MISSING}",
        f"conformance data: {folder or 'NOT FOUND, its tests are skipped'}",
    ]


@pytest.fixture(scope="session")
def conformance_data() -> None:
    if conformance() is None:
        pytest.skip("no conformance data: set KOSTER_CONFORMANCE to its folder")


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis server on loopback."""
    if redis_server.program() is None:
        pytest.skip(redis_server.MISSING)
    with redis_server.running(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def unused() -> int:
    """A closed port."""
    return server.refusing_port()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """Host names with their DNS results: each lookup uses the next list, the last one repeats."""
    real = socket.getaddrinfo
    known: dict[str, list[list[str]]] = {}

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in known or kwargs.get("flags"):
            return real(host, port, *args, **kwargs)
        answers = known[name]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            each for address in addresses for each in real(address, port, type=socket.SOCK_STREAM)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return known


@pytest.fixture
def site() -> Iterator[server.Site]:
    """An HTTP server on loopback; see `server.Site`."""
    with server.running() as running:
        yield running
