"""Attacks by separate processes on `koster serve`; prints the numbers for the docs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.helpers import serving
from tests.helpers.support import HERE, ROOT

ATTACK = HERE / "helpers" / "attack.py"

#: Maximum response time on a busy machine; the printed numbers are the actual ones.
MAX_SECONDS = 5.0


def start_attack(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(ATTACK), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result_of(attack: subprocess.Popen[str]) -> Any:
    """Return the JSON output of a finished attack."""
    output, _ = attack.communicate(timeout=60)
    return json.loads(output)


def print_latencies(name: str, latencies: list[float]) -> None:
    latencies = sorted(latencies)
    p95 = latencies[len(latencies) * 95 // 100]
    print(
        f"\n{name}: {len(latencies)} answers, median {latencies[len(latencies) // 2] * 1000:.0f} ms, "
        f"p95 {p95 * 1000:.0f} ms, longest {latencies[-1] * 1000:.0f} ms",
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
    latencies = []
    with serving.as_command(*options, descriptors=descriptors) as command:
        attack = start_attack("idle", command.url, number, 3)
        while attack.poll() is None:
            start = time.monotonic()
            answer = httpx2.get(f"{command.url}/healthz", timeout=MAX_SECONDS)
            latencies.append(time.monotonic() - start)
            assert answer.status_code == 200
            time.sleep(0.05)
        attack_result = result_of(attack)
        assert attack_result["opened"] >= number
        assert command.stop() in (0, -15)
        command.entry("stopped")
    # One log line per cause, not per connection.
    log_entries = [each for each in command.entries if each["message"] != "request"]
    assert len(log_entries) <= 7, log_entries
    assert "connection" in " ".join(each["message"] for each in log_entries)
    print_latencies(
        f"{number:,} idle connections, {descriptors:,} descriptors, {attack_result}, /healthz",
        latencies,
    )


def test_too_few_file_descriptors(capfd: pytest.CaptureFixture[str]) -> None:
    command = ["sh", "-c", 'ulimit -n 100 && exec "$@"', "sh", sys.executable, "-m", "koster"]
    process = subprocess.run(
        [*command, "serve", "--port", "0"], capture_output=True, text=True, check=False, timeout=60
    )
    assert process.returncode == 3
    assert "file descriptors" in process.stderr
    assert "ulimit -n" in process.stderr
    assert "Traceback" not in process.stderr


STARS = "User-agent: *\n" + "".join(
    f"Disallow: /*{chr(97 + each)}*{chr(98 + each)}*{chr(99 + each)}\n" for each in range(22)
)
#: Long requests: two from a known attack, and one that takes seconds.
LONG_REQUESTS = {
    "stars": ("disagree", {"robots": STARS}),
    "percents": ("disagree", {"robots": "User-agent: *\nDisallow: /" + "%" * 400_000}),
    "hard": ("lint", {"robots": serving.hard()}),
}
EXAMPLE_FILE = (ROOT / "examples/robots.txt").read_text("utf-8")


@pytest.mark.parametrize("clients", [1, 3])
@pytest.mark.parametrize("kind", LONG_REQUESTS)
def test_one_client_does_not_starve_others(tmp_path: Path, kind: str, clients: int) -> None:
    """Each attacker sends ten long requests at a time while a client lints a small file."""
    route, request_body = LONG_REQUESTS[kind]
    path = tmp_path / "question.json"
    path.write_text(json.dumps(request_body))
    latencies: list[float] = []
    # No request takes as long as the attack; whoever waits for the end of the attack waits for too long.
    options = ("--workers", 2, "--work-timeout", 5)
    with serving.as_command(*options) as command, httpx2.Client(base_url=command.url) as api:
        assert api.post("/v1/lint", json={"robots": EXAMPLE_FILE}).status_code == 200
        attack = start_attack("work", command.url, route, path, clients, 10, 8)
        time.sleep(1)
        while attack.poll() is None:
            start = time.monotonic()
            answer = api.post("/v1/lint", json={"robots": EXAMPLE_FILE}, timeout=30)
            latencies.append(time.monotonic() - start)
            assert answer.status_code == 200, answer.text
            time.sleep(0.1)
        status_counts = result_of(attack)
        assert sum(status_counts.values()) > 0
    assert sorted(latencies)[len(latencies) * 95 // 100] < MAX_SECONDS
    print_latencies(f"{clients} x 10 {kind}, {status_counts}, lint", latencies)
