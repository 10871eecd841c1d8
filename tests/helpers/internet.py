"""An internet on loopback: sites with every fault of robots.txt files, each on its own port.

Its servers log when each request arrived. What a crawler did is judged by that log alone.
"""

from __future__ import annotations

import asyncio
import codecs
import gzip
import itertools
import queue
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

import brotli

#: The pages of each site.
PAGES = ("/", "/private/1", "/private/2", "/caf%C3%A9", "/open")

_DISALLOW = b"User-agent: *\nDisallow: /private\nDisallow: /caf%C3%A9\n"
_OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


def _file(body: bytes = _DISALLOW, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Connection: close", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _coded(coding: str, body: bytes) -> bytes:
    return _file(body, f"Content-Encoding: {coding}")


def _only_disallowed(path: str) -> bool:
    return not path.startswith("/private") and path != "/caf%C3%A9"


def _all(_: str) -> bool:
    return True


def _none(_: str) -> bool:
    return False


@dataclass(frozen=True)
class Fault:
    """What a site answers to /robots.txt: bytes, or None for silence; and what may be fetched.

    ``delay`` is the interval that it sets, in seconds; ``files`` how many requests its file takes.
    HTTP libraries may repeat one that ``breaks`` the connection.
    """

    answer: bytes | None
    may_fetch: Callable[[str], bool]
    delay: float = 0.0
    files: int = 1
    is_slow: bool = False
    breaks: bool = False


def _delayed(line: str) -> bytes:
    return _file(_DISALLOW + line.encode() + b"\n")


FAULTS: dict[str, Fault] = {
    "plain": Fault(_file(), _only_disallowed),
    "delay": Fault(_delayed("Crawl-delay: 0.3"), _only_disallowed, delay=0.3),
    "rate": Fault(_delayed("Request-rate: 2/1"), _only_disallowed, delay=0.5),
    "delay of a day": Fault(_delayed("Crawl-delay: 86400"), _only_disallowed, delay=86_400),
    "delay of ages": Fault(_delayed("Crawl-delay: 1e12"), _only_disallowed, delay=1e12),
    "rate of an hour": Fault(_delayed("Request-rate: 1/3600"), _only_disallowed, delay=3_600),
    "missing": Fault(_file(b"no", status="404 Not Found"), _all),
    "gone, compressed": Fault(_file(gzip.compress(b"x"), status="410 Gone"), _all),
    "forbidden": Fault(_file(b"no", status="403 Forbidden"), _all),
    "too many requests": Fault(_file(b"", "Retry-After: 9", status="429 Too Many Requests"), _none),
    "error": Fault(_file(_DISALLOW, status="500 Internal Server Error"), _none),
    "down": Fault(_file(b"", "Retry-After: " + "9" * 50, status="503 Unavailable"), _none),
    "silent": Fault(None, _none, is_slow=True),
    "closed": Fault(b"", _none, breaks=True),
    "garbage": Fault(b"\0\xff\n\n", _none, breaks=True),
    "short": Fault(_OK + b"Content-Length: 999\r\n\r\n" + _DISALLOW[:14], _none),
    "no body": Fault(_OK + b"Content-Length: 36\r\n\r\n", _none),
    "chunk cut": Fault(_OK + b"Transfer-Encoding: chunked\r\n\r\n40\r\nUser-agent: *\n", _none),
    "gzip": Fault(_coded("gzip", gzip.compress(_DISALLOW)), _only_disallowed),
    "gzip cut": Fault(_coded("gzip", gzip.compress(_DISALLOW)[:-12]), _none),
    "gzip twice": Fault(_coded("gzip", gzip.compress(gzip.compress(_DISALLOW))), _none),
    "gzip without a label": Fault(_file(gzip.compress(_DISALLOW)), _none),
    "deflate without a label": Fault(_file(zlib.compress(_DISALLOW)), _none),
    "br in gzip": Fault(_coded("gzip", gzip.compress(brotli.compress(_DISALLOW))), _none),
    "utf-16": Fault(
        _file(codecs.BOM_UTF16_LE + _DISALLOW.decode().encode("utf-16-le")), _only_disallowed
    ),
    "latin-1": Fault(
        _file(_DISALLOW + "# é".encode("latin-1"), "Content-Type: text/plain; charset=latin-1"),
        _only_disallowed,
    ),
    "page": Fault(_file(b"<!doctype html><title>Log in</title>", "Content-Type: text/html"), _all),
    "redirect": Fault(_file(b"", "Location: /r", status="302 Found"), _only_disallowed, files=2),
    "loop": Fault(_file(b"", "Location: /robots.txt", status="301 Moved"), _all),
    "late": Fault(_file(), _only_disallowed, is_slow=True),
    "empty": Fault(_file(b""), _all),
    "huge": Fault(_file(_DISALLOW + b"#\n" * 700_000), _only_disallowed),
}


@dataclass
class Site:
    """A site: its name, address, and the requests that arrived, by monotonic time and path."""

    name: str
    url: str = ""
    log: list[tuple[float, str]] = field(default_factory=list)

    @property
    def fault(self) -> Fault:
        return FAULTS[self.name]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ")[1].decode()
            self.log.append((time.monotonic(), path))
            await self._answer(path, writer.write)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, send: Callable[[bytes], None]) -> None:
        if path == "/r":
            send(_file())
        elif path != "/robots.txt":
            send(_file(b"page"))
        elif self.fault.answer is None:
            await asyncio.sleep(20)
        else:
            await asyncio.sleep(0.4 if self.fault.is_slow else 0)
            send(self.fault.answer)

    def problems(self) -> Iterator[str]:
        """Yield what a crawler did wrong, a sentence for each."""
        pages = [(moment, path) for moment, path in self.log if path in PAGES]
        files = len(self.log) - len(pages)
        for _, path in pages:
            if not self.fault.may_fetch(path):
                yield f"{self.name}: {path} was fetched"
        if not self.fault.files <= files <= self.fault.files + self.fault.breaks:
            yield f"{self.name}: {files} requests for robots.txt, not {self.fault.files}"
        for (before, _), (after, path) in itertools.pairwise(pages):
            if after - before < self.fault.delay - 0.05:
                yield f"{self.name}: {path} came after {after - before:.3f} s, not {self.fault.delay}"
        if self.fault.delay < 1:
            fetched = {path for _, path in pages}
            for path in filter(self.fault.may_fetch, PAGES):
                if path not in fetched:
                    yield f"{self.name}: {path} was not fetched"


@contextmanager
def running() -> Iterator[list[Site]]:
    """Run the sites in a thread."""
    sites = [Site(name) for name in FAULTS]
    started: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()

    async def serve() -> None:
        stopped = asyncio.Event()
        async with AsyncExitStack() as stack:
            for site in sites:
                server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
                await stack.enter_async_context(server)
                site.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            started.put(partial(asyncio.get_running_loop().call_soon_threadsafe, stopped.set))
            await stopped.wait()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    stop = started.get(timeout=10)
    try:
        yield sites
    finally:
        stop()
        thread.join()
