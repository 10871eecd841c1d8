"""``koster logs --follow``: a growing log, its rotation, and new versions of the robots.txt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from koster.errors import UnreadableError
from koster.logs import FormatError, Options, follow


def line(url: str, seconds: float = 0, agent: str = "GPTBot/1.0", status: int = 200) -> str:
    """Return a line of a log, some seconds from now."""
    stamp = f"{datetime.now(UTC) + timedelta(seconds=seconds):%d/%b/%Y:%H:%M:%S} +0000"
    return f'1.2.3.4 - - [{stamp}] "GET {url} HTTP/1.1" {status} 1 "-" "{agent}"\n'


class Stopped(Exception):  # noqa: N818 - no error
    """The end of a test."""


class Scene:
    """A log, a robots.txt, and what happens at each look at the log."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "access.log"
        self.robots = folder / "robots.txt"
        self.robots.write_text("User-agent: *\nDisallow: /private/\n")
        self.log.write_text(line("/private/before"))

    def append(self, text: str) -> None:
        with self.log.open("a") as file:
            file.write(text)

    def rotate(self, text: str = "") -> None:
        self.log.rename(self.log.with_suffix(".log.1"))
        self.log.write_text(text)

    def urls(self, *steps: Callable[[], object]) -> list[str]:
        """Return the URLs of the violations while the steps happen, one at each look."""
        left = iter(steps)
        found: list[str] = []

        def wait(_seconds: float) -> None:
            step = next(left, None)
            if step is None:
                raise Stopped
            step()

        with suppress(Stopped):
            for each in follow(str(self.log), str(self.robots), Options(), wait):
                found.append(each.request.url)  # noqa: PERF401 - it ends with an error
        return found


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_new_violations_are_yielded(scene: Scene) -> None:
    urls = scene.urls(
        lambda: scene.append(line("/private/1") + line("/a") + line("/private/2")),
        lambda: scene.append(line("/private/3")),
    )
    assert urls == ["/private/1", "/private/2", "/private/3"]


def test_lines_that_are_not_finished_wait_for_their_end(scene: Scene) -> None:
    whole = line("/private/1")
    urls = scene.urls(
        lambda: scene.append(whole[:30]), lambda: scene.append(whole[30:-1]), lambda: None,
        lambda: scene.append("\n"),
    )  # fmt: skip
    assert urls == ["/private/1"]


def test_rotation(scene: Scene) -> None:
    def rotate_late() -> None:
        scene.append(line("/private/1"))
        scene.rotate(line("/private/2"))

    def vanish() -> None:
        scene.log.unlink()

    urls = scene.urls(
        rotate_late, lambda: scene.append(line("/private/3")), vanish, lambda: None,
        lambda: scene.log.write_text(line("/private/4")),
    )  # fmt: skip
    assert urls == [f"/private/{number}" for number in (1, 2, 3, 4)]


def test_truncation(scene: Scene) -> None:
    scene.append(line("/a") * 10)
    urls = scene.urls(lambda: scene.log.write_text(line("/private/1")))
    assert urls == ["/private/1"]


def test_earlier_fetches_count(scene: Scene) -> None:
    """Under a version that the crawler fetched before, its requests are no violations."""
    scene.log.write_text(line("/robots.txt", -3600))

    def open_up() -> None:
        scene.robots.write_text("User-agent: *\nDisallow: /other/\n")

    def close() -> None:
        scene.robots.write_text("User-agent: *\nDisallow: /late/\n")

    urls = scene.urls(
        open_up, lambda: None, lambda: scene.append(line("/private/1", 60)), close, lambda: None,
        lambda: scene.append(line("/late/1", 120) + line("/robots.txt", 180) + line("/late/2", 240)),
    )  # fmt: skip
    assert urls == ["/late/2"]


def test_violation_has_its_rule(scene: Scene) -> None:
    def wait(_seconds: float) -> None:
        scene.append(line("/private/1"))

    with closing(follow(str(scene.log), str(scene.robots), None, wait)) as violations:
        violation = next(violations)
    assert (violation.crawler, violation.identified) == ("GPTBot", "impostor")
    assert (violation.line, violation.rule) == (2, "Disallow: /private/")
    assert violation.version == "robots.txt"
    assert abs(violation.request.time - datetime.now(UTC)) < timedelta(seconds=10)
    assert len(violation.request.address) == 12


def test_errors(scene: Scene, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        next(follow(str(tmp_path / "missing"), str(scene.robots)))
    with pytest.raises(UnreadableError, match="No such file"):
        next(follow(str(scene.log), str(tmp_path / "missing")))
    scene.log.write_text("hello\n")
    with pytest.raises(FormatError, match="unknown log format"):
        next(follow(str(scene.log), str(scene.robots)))


def test_command_prints_violations_until_it_is_stopped(scene: Scene) -> None:
    command = [sys.executable, "-m", "koster", "logs", str(scene.log), "--robots",
               str(scene.robots), "--follow"]  # fmt: skip
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        # Lines from before the command watches the log are not its own: append until it prints one.
        has_printed = threading.Event()

        def append() -> None:
            while not has_printed.wait(1):
                scene.append(line("/private/\x1b[31m1"))

        appending = threading.Thread(target=append)
        appending.start()
        printed = process.stdout.readline()
        has_printed.set()
        appending.join()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert process.stderr is not None
        assert "stopped" in process.stderr.read()
    assert "GPTBot (impostor)  GET /private/\\x1b[31m1  line 2, Disallow: /private/" in printed


def test_a_log_without_user_agents_is_not_followed(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.log.write_text(line("/private/a").replace(' "-" "GPTBot/1.0"', ""))
    with pytest.raises(UnreadableError, match="has a User-Agent, which tells crawlers apart"):
        scene.urls()
    scene.log.write_text(line("/private/a", agent="-") * 100)
    with pytest.raises(UnreadableError, match="has a User-Agent, which tells crawlers apart"):
        scene.urls()
    scene.log.write_text(line("/private/a", agent="-"))
    assert scene.urls(lambda: scene.append(line("/private/b"))) == ["/private/b"]
