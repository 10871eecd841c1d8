"""Attacks by processes of their own, on the command that people run; with numbers for the docs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
import serving
from support import ROOT

ATTACK = Path(__file__).parent / "attack.py"

#: What an answer may take on a busy machine; the numbers that are printed say what it took.
PATIENCE = 5.0


def attacking(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(ATTACK), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def of(attack: subprocess.Popen[str]) -> Any:
    """Return what an attack says of itself at its end."""
    told, _ = attack.communicate(timeout=60)
    return json.loads(told)


def told(name: str, waited: list[float]) -> None:
    waited = sorted(waited)
    p95 = waited[len(waited) * 95 // 100]
    print(
        f"\n{name}: {len(waited)} answers, median {waited[len(waited) // 2] * 1000:.0f} ms, "
        f"p95 {p95 * 1000:.0f} ms, longest {waited[-1] * 1000:.0f} ms",
        end="",
    )


@pytest.mark.parametrize(
    ("number", "descriptors", "options"),
    [
        (3_000, 1_024, ()),
        (3_000, 1_024, ("--connections-per-client", 0)),
        (1_100, 1_024, ("--connections-per-client", 0)),
        (3_000, 256, ("--connections-per-client", 0)),
    ],
)
def test_idle_connections(number: int, descriptors: int, options: tuple[object, ...]) -> None:
    waited = []
    with serving.as_command(*options, descriptors=descriptors) as command:
        attack = attacking("idle", command.url, number, 6)
        while attack.poll() is None:
            began = time.monotonic()
            answer = httpx2.get(f"{command.url}/healthz", timeout=PATIENCE)
            waited.append(time.monotonic() - began)
            assert answer.status_code == 200
            time.sleep(0.05)
        opened = of(attack)
        assert opened["opened"] >= number
        assert command.stop() in (0, -15)
        command.entry("stopped")
    # A line for each cause, not for each connection.
    other = [each for each in command.entries if each["message"] != "request"]
    assert len(other) <= 7, other
    assert "connection" in " ".join(each["message"] for each in other)
    told(f"{number:,} idle connections, {descriptors:,} descriptors, {opened}, /healthz", waited)


def test_too_few_descriptors(capfd: pytest.CaptureFixture[str]) -> None:
    command = ["sh", "-c", 'ulimit -n 100 && exec "$@"', "sh", sys.executable, "-m", "koster"]
    done = subprocess.run(
        [*command, "serve", "--port", "0"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 3
    assert "file descriptors" in done.stderr
    assert "ulimit -n" in done.stderr
    assert "Traceback" not in done.stderr


STARS = "User-agent: *\n" + "".join(
    f"Disallow: /*{chr(97 + each)}*{chr(98 + each)}*{chr(99 + each)}\n" for each in range(22)
)
#: Long questions: the two of the attack that was found, and one that takes all the time there is.
LONG = {
    "stars": ("disagree", {"robots": STARS}),
    "percents": ("disagree", {"robots": "User-agent: *\nDisallow: /" + "%" * 400_000}),
    "endless": ("audit", {"robots": "User-agent: *\n" + "Disallow: *9*x\n" * 60_000}),
}
USUAL = (ROOT / "examples/robots.txt").read_text("utf-8")


@pytest.mark.parametrize("clients", [1, 3])
@pytest.mark.parametrize("kind", LONG)
def test_one_client_does_not_starve_others(tmp_path: Path, kind: str, clients: int) -> None:
    """Ten long questions at a time from each attacker, and a client who lints a usual file."""
    route, question = LONG[kind]
    path = tmp_path / "question.json"
    path.write_text(json.dumps(question))
    waited: list[float] = []
    with serving.as_command("--workers", 2) as command, httpx2.Client(base_url=command.url) as api:
        assert api.post("/v1/lint", json={"robots": USUAL}).status_code == 200
        attack = attacking("work", command.url, route, path, clients, 10, 12)
        time.sleep(1)
        while attack.poll() is None:
            began = time.monotonic()
            answer = api.post("/v1/lint", json={"robots": USUAL}, timeout=30)
            waited.append(time.monotonic() - began)
            assert answer.status_code == 200, answer.text
            time.sleep(0.1)
        answers = of(attack)
        assert sum(answers.values()) > 0
    assert sorted(waited)[len(waited) * 95 // 100] < PATIENCE
    told(f"{clients} x 10 {kind}, {answers}, lint", waited)
