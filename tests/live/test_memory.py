"""Memory use over time under all kinds of requests, for ``KOSTER_SOAK_SECONDS`` seconds."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import time
from pathlib import Path

import httpx2

from tests.helpers import serving
from tests.helpers.server import Site

SECONDS = float(os.environ.get("KOSTER_SOAK_SECONDS", "30"))
#: Requests per second: this tests duration, not load.
RATE = 25

WORDS = ["a", "b", "*", "/", "$", "?", "x", "%41", "\u00e9", "private", "search"]


def random_robots_txt(rng: random.Random) -> str:
    lines = [f"User-agent: {rng.choice(['*', 'GPTBot', 'x', 'Bing bot'])}"]
    for _ in range(rng.randint(0, 30)):
        path = "/" + "".join(rng.choices(WORDS, k=rng.randint(0, 6)))
        lines.append(f"{rng.choice(['Allow', 'Disallow', 'Dissalow', 'Host'])}: {path}")
    return "\n".join(lines)


def send_request(api: httpx2.Client, site: str, rng: random.Random) -> int:
    """Send a random kind of request, and return the status."""
    number = rng.random()
    if number < 0.4:
        urls = [f"/{rng.random()}" for _ in range(5)]
        body = {"robots": random_robots_txt(rng), "agents": [f"Bot{number}", "*"], "urls": urls}
        return api.post("/v1/decide", json=body).status_code
    if number < 0.6:
        route = rng.choice(["lint", "audit", "disagree"])
        return api.post(f"/v1/{route}", json={"robots": random_robots_txt(rng)}).status_code
    if number < 0.7:
        body = {
            "before": {"robots": random_robots_txt(rng)},  # type: ignore[dict-item]
            "after": {"robots": random_robots_txt(rng)},  # type: ignore[dict-item]
        }
        return api.post("/v1/diff", json=body).status_code
    if number < 0.8:
        params = {"url": f"{site}/{number}", "agent": f"Bot{number}"}
        return api.get("/v1/check", params=params).status_code
    if number < 0.85:
        # Distinct names that do not resolve.
        return api.get("/v1/check", params={"url": f"https://x{number}.invalid/"}).status_code
    if number < 0.9:
        return api.post("/v1/decide", json={f"{number}": "x" * 10_000}).status_code
    if number < 0.92:
        host, port = api.base_url.host, api.base_url.port or 80
        with socket.create_connection((host, port)) as connection:
            connection.sendall(rng.randbytes(100))
            with contextlib.suppress(OSError):
                connection.recv(1000)
        return 400
    path = rng.choice(["/", "/static/app.js", "/metrics", "/openapi.json", f"/{number}"])
    return api.get(path).status_code


def memory_mib(pid: int) -> int:
    """Return the memory use of a process in MiB, or 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def child_pids(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in path.read_text().split()]


def test_memory_does_not_grow(site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /0.5")
    rng = random.Random(16)
    samples: list[tuple[int, int]] = []
    statuses: dict[int, int] = {}
    options = ("--rate", 0, "--work-per-minute", 0, "--let-through", "127.0.0.1/32")
    with (
        serving.as_command(*options) as command,
        httpx2.Client(base_url=command.url, timeout=30) as api,
    ):
        start = time.monotonic()
        request_count = 0
        while (elapsed := time.monotonic() - start) < SECONDS:
            status = send_request(api, site.url, rng)
            statuses[status] = statuses.get(status, 0) + 1
            request_count += 1
            if elapsed * 60 / SECONDS >= len(samples):
                workers = map(memory_mib, child_pids(command.process.pid))
                samples.append((command.memory() >> 20, max(workers, default=0)))
            time.sleep(max(0, request_count / RATE - (time.monotonic() - start)))
    print(
        f"\n{request_count:,} questions in {SECONDS:g} s, {json.dumps(statuses)}, MiB of the server and of"
    )
    print(f"its largest worker: {samples[:: max(1, len(samples) // 12)]}")
    assert not any(status >= 500 for status in statuses), statuses
    # Memory use must not grow after the first third of the time.
    for each in (0, 1):
        baseline = max(pair[each] for pair in samples[: len(samples) // 3 + 1])
        assert max(pair[each] for pair in samples) < baseline * 1.25 + 10, samples
