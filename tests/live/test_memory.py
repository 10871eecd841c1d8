"""Memory over time, under every kind of question: ``KOSTER_SOAK_SECONDS`` says how long."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import time
from pathlib import Path

import httpx2
import serving
from server import Site

SECONDS = float(os.environ.get("KOSTER_SOAK_SECONDS", "30"))
#: Questions a second: the clock matters here, not the load.
RATE = 25

WORDS = ["a", "b", "*", "/", "$", "?", "x", "%41", "\u00e9", "private", "search"]


def text(chance: random.Random) -> str:
    lines = [f"User-agent: {chance.choice(['*', 'GPTBot', 'x', 'Bing bot'])}"]
    for _ in range(chance.randint(0, 30)):
        path = "/" + "".join(chance.choices(WORDS, k=chance.randint(0, 6)))
        lines.append(f"{chance.choice(['Allow', 'Disallow', 'Dissalow', 'Host'])}: {path}")
    return "\n".join(lines)


def ask(api: httpx2.Client, site: str, chance: random.Random) -> int:
    """Ask a question of some kind, and return the status."""
    number = chance.random()
    if number < 0.4:
        urls = [f"/{chance.random()}" for _ in range(5)]
        question = {"robots": text(chance), "agents": [f"Bot{number}", "*"], "urls": urls}
        return api.post("/v1/decide", json=question).status_code
    if number < 0.6:
        route = chance.choice(["lint", "audit", "disagree"])
        return api.post(f"/v1/{route}", json={"robots": text(chance)}).status_code
    if number < 0.7:
        both = {"before": {"robots": text(chance)}, "after": {"robots": text(chance)}}
        return api.post("/v1/diff", json=both).status_code
    if number < 0.8:
        params = {"url": f"{site}/{number}", "agent": f"Bot{number}"}
        return api.get("/v1/check", params=params).status_code
    if number < 0.85:
        # Names that do not resolve, each its own.
        return api.get("/v1/check", params={"url": f"https://x{number}.invalid/"}).status_code
    if number < 0.9:
        return api.post("/v1/decide", json={f"{number}": "x" * 10_000}).status_code
    if number < 0.92:
        host, port = api.base_url.host, api.base_url.port or 80
        with socket.create_connection((host, port)) as connection:
            connection.sendall(chance.randbytes(100))
            with contextlib.suppress(OSError):
                connection.recv(1000)
        return 400
    path = chance.choice(["/", "/static/app.js", "/metrics", "/openapi.json", f"/{number}"])
    return api.get(path).status_code


def of_process(number: int) -> int:
    """Return the MiB of memory that a process has, 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{number}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def children(number: int) -> list[int]:
    path = Path(f"/proc/{number}/task/{number}/children")
    return [int(each) for each in path.read_text().split()]


def test_memory_stays(site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /0.5")
    chance = random.Random(16)
    told: list[tuple[int, int]] = []
    statuses: dict[int, int] = {}
    options = ("--rate", 0, "--work-per-minute", 0, "--let-through", "127.0.0.1/32")
    with (
        serving.as_command(*options) as command,
        httpx2.Client(base_url=command.url, timeout=30) as api,
    ):
        began = time.monotonic()
        asked = 0
        while (passed := time.monotonic() - began) < SECONDS:
            status = ask(api, site.url, chance)
            statuses[status] = statuses.get(status, 0) + 1
            asked += 1
            if passed * 60 / SECONDS >= len(told):
                workers = map(of_process, children(command.process.pid))
                told.append((command.memory() >> 20, max(workers, default=0)))
            time.sleep(max(0, asked / RATE - (time.monotonic() - began)))
    print(
        f"\n{asked:,} questions in {SECONDS:g} s, {json.dumps(statuses)}, MiB of the server and of"
    )
    print(f"its largest worker: {told[:: max(1, len(told) // 12)]}")
    assert not any(status >= 500 for status in statuses), statuses
    # After a third of the time it has what it needs.
    for each in (0, 1):
        settled = max(pair[each] for pair in told[: len(told) // 3 + 1])
        assert max(pair[each] for pair in told) < settled * 1.25 + 10, told
