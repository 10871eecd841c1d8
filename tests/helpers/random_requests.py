"""Random requests of all kinds to a service."""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path

import httpx2

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


def child_pids(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in path.read_text().split()]
