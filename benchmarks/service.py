"""The service: requests a second beside an empty route, and a keystroke of the page."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from .measure import table

#: Connections, and seconds for each round.
CLIENTS = 32
SECONDS = 3.0
ROUNDS = 3

ROBOTS = "".join(
    f"User-agent: {agent}\nDisallow: /private/\n"
    + "".join(f"Disallow: /{agent}/{number}/*.html$\n" for number in range(10))
    + "Allow: /private/press/\n\n"
    for agent in ("*", "FooBot", "BarBot")
)
QUESTION = {
    "robots": ROBOTS,
    "agents": ["FooBot"],
    "urls": ["https://example.com/private/page?x=1"],
}


def run(*, is_quick: bool = False) -> None:
    """Print the tables."""
    print("## The service\n")
    rounds, seconds = (1, 1.0) if is_quick else (ROUNDS, SECONDS)
    requests(rounds, seconds)
    keystrokes(20 if is_quick else 100)


def requests(rounds: int, seconds: float) -> None:
    """Measure requests a second, with one question each."""
    commands = {
        "koster serve": ["-m", "koster", "serve", "--cache", "memory", "--rate", "0", "--port"],
        "an empty FastAPI route": ["-m", "benchmarks.empty_service"],
    }
    found: dict[str, list[tuple[float, list[float]]]] = {name: [] for name in commands}
    with contextlib.ExitStack() as stack:
        ports = {name: stack.enter_context(_running(command)) for name, command in commands.items()}
        for _ in range(rounds):
            for name, port in ports.items():
                found[name].append(asyncio.run(_load(port, seconds)))
    rates = {name: statistics.median(rate for rate, _ in each) for name, each in found.items()}
    empty = rates["an empty FastAPI route"]
    rows = []
    for name, each in found.items():
        waited = sorted(wait for _, waits in each for wait in waits)
        rows.append(
            [
                name,
                f"{rates[name]:,.0f}",
                f"{rates[name] / empty:.0%}",
                f"{waited[len(waited) // 2] * 1000:.1f} ms",
                f"{waited[len(waited) * 99 // 100] * 1000:.1f} ms",
            ]
        )
    size = f"a file of {len(ROBOTS):,} bytes"
    print(f"### POST decide, one question on {size}, {CLIENTS} connections\n")
    table(["", "requests/s", "of the empty one", "median", "p99"], rows)


@contextlib.contextmanager
def _running(command: list[str]) -> Iterator[int]:
    """Run a server, and yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *command, str(port)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        _wait_for(process, port)
        yield port
    finally:
        process.kill()
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a server accepts connections.

    Raises:
        RuntimeError: it ended, or does not in 30 seconds.
    """
    until = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args} does not start (exit code {process.returncode})")


class _Requester(asyncio.Protocol):
    """Sends the next request after each response; all responses have the size of the first."""

    def __init__(self, request: bytes, size: int, waits: list[float]) -> None:
        self.request, self.size, self.waits = request, size, waits
        self.received = 0
        self.started = 0.0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.received = 0
        self.started = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self.received >= self.size:
            self.waits.append(time.perf_counter() - self.started)
            self.send()


async def _load(port: int, seconds: float) -> tuple[float, list[float]]:
    """Send requests for a time; return requests a second, and how long each took."""
    body = json.dumps(QUESTION).encode()
    head = (
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    request = head.encode() + body
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answered = await reader.readuntil(b"\r\n\r\n")
    assert answered.startswith(b"HTTP/1.1 200"), answered
    length = int(answered.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    decided = json.loads(await reader.readexactly(length))["decisions"][0]
    assert decided["allowed"] is False
    writer.close()
    size = len(answered) + length
    loop = asyncio.get_running_loop()
    waits: list[float] = []
    transports = []
    for _ in range(CLIENTS):
        transport, _ = await loop.create_connection(
            lambda: _Requester(request, size, waits), "127.0.0.1", port
        )
        transports.append(transport)
    # Half a second of warm-up.
    await asyncio.sleep(0.5)
    waits.clear()
    started = time.perf_counter()
    await asyncio.sleep(seconds)
    taken = time.perf_counter() - started
    rate = len(waits) / taken
    for transport in transports:
        transport.abort()
    return rate, list(waits)


#: In the page: record for each key when its verdicts are in the table, and when they are painted.
_LISTEN = """
() => {
  window.strokes = [];
  document.querySelector("#editor textarea").addEventListener("keydown", (event) => {
    const started = event.timeStamp;
    performance.clearMarks();
    const look = () => {
      const [mark] = performance.getEntriesByName("koster:verdicts");
      if (!mark) return setTimeout(look, 1);
      requestAnimationFrame(() => setTimeout(() => {
        strokes.push([mark.startTime - started, performance.now() - started]);
      }, 0));
    };
    look();
  });
}
"""


def keystrokes(count: int) -> None:
    """Print how long the page takes from a keystroke to the verdicts."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        chromium = None
    if chromium is None:
        print("A keystroke of the page is not measured: no Playwright, or no Chromium.\n")
        return
    rows = []
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    command = ["-m", "koster", "serve", "--cache", "memory", "--rate", "0", "--port"]
    with _running(command) as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        for groups in (5, 100, 1000):
            robots = "".join(
                f"User-agent: Bot{number}\nDisallow: /private/{number}\nAllow: /x\n\n"
                for number in range(groups)
            )
            text = f"# -\nUser-agent: *\nDisallow: /private/x\n\n{robots}"
            strokes = _strokes(browser.new_page(), f"http://127.0.0.1:{port}/", text, count)
            cells = [
                f"{times[len(times) * percent // 100]:.0f} ms"
                for times in map(sorted, zip(*strokes, strict=True))
                for percent in (50, 99)
            ]
            rows.append([f"{len(text):,} ({len(strokes)} keys)", *cells])
        browser.close()
    print("### A keystroke in the page: until its 8 verdicts are in the table, and painted\n")
    table(["bytes of the file", "in the table", "p99", "painted", "p99"], rows)


def _strokes(page: Any, url: str, text: str, count: int) -> list[tuple[float, float]]:
    """Return for each key the milliseconds until its verdicts are in the table, and painted."""
    page.goto(url)
    page.wait_for_selector("body[data-ready]")
    page.evaluate(
        "value => { const text = document.querySelector('#editor textarea');"
        " text.value = value; text.dispatchEvent(new Event('input')); }",
        text,
    )
    page.wait_for_timeout(1_000)
    page.evaluate(_LISTEN)
    page.focus("#editor textarea")
    page.keyboard.press("Control+Home")
    for number in range(count):
        # Some 12 letters a second: as fast as people type.
        page.keyboard.press("ab"[number % 2] if number else "#")
        page.wait_for_timeout(60)
    page.wait_for_timeout(500)
    strokes: list[tuple[float, float]] = page.evaluate("strokes")
    page.close()
    return strokes


if __name__ == "__main__":
    run(is_quick="--quick" in sys.argv)
