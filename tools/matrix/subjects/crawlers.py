"""A crawler as a subject: crawlers.py NAME [JSON]. What it fetches tells what it allows.

The crawler starts at a page that links to the asked URLs, on a server of this process; a URL is
allowed if the server sees a request for it. Without robots.txt, the same page shows which request a
link leads to: a crawler may write a URL in another way, and asks only once for two ways of writing
one. Each of these crawlers obeys one name, whatever it sends as User-Agent: see ``impersonate``.
"""

from __future__ import annotations

import html
import os
import re
import socketserver
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from _protocol import Skip, introduce, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

START = b"/--links--.html"
ROBOTS = b"/robots.txt"
SECONDS = 60
#: A longer file may be about a limit in bytes, which another name changes.
LONGEST_RENAMED = 100_000
#: Nothing listens there: no request leaves the machine, for a sitemap for example.
NOWHERE = "http://127.0.0.1:9"
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NAMES = re.compile(rb"(?i)(\W*user\W?agent\W*)([^#]*)")
_LINES = re.compile(rb"([^\r\n]+)")


@dataclass(frozen=True)
class Crawler:
    """A crawler.

    Attributes:
        name: The only product token that it obeys.
        command: Its command line up to the folder that it writes to.
        obey: The option to obey robots.txt.
        ignore: The option to ignore it.
        escape: How a URL is written in a link.
    """

    name: str
    command: tuple[str, ...]
    obey: str
    ignore: str
    escape: Callable[[str], str] = html.escape


_WGETS = ("-q", "-r", "-l1", "-t1", "-T5", "--no-config", "--no-hsts", "--delete-after")
# Without limits to its rate, which make it pause for seconds.
_HTTRACK = ("httrack", "-q", "-r2", "-R0", "-T5", "-C0", "-I0", "-Q", "-%!", "-c8", "-%c0", "-A0")

CRAWLERS = {
    "wget": Crawler("wget", ("wget", *_WGETS, "-P"), "--execute=robots=on", "--execute=robots=off"),
    # It takes what stands in a link as it is.
    "wget2": Crawler(
        "wget2", ("wget2", *_WGETS, "--max-threads=1", "-P"), "--robots=on", "--robots=off", str
    ),
    "httrack": Crawler("httrack", (*_HTTRACK, "-O"), "-s2", "-s0"),
}


class _Handler(socketserver.StreamRequestHandler):
    """Answers one request; http.server would change what it is asked for."""

    server: Site

    def handle(self) -> None:
        request = self.rfile.readline().rstrip(b"\r\n")
        while self.rfile.readline().strip():
            pass
        target = request[request.find(b" ") + 1 : request.rfind(b" ")]
        self.server.seen.append(target)
        found = target != ROBOTS or ROBOTS in self.server.pages
        status = b"200 OK" if found else b"404 Not Found"
        kind = b"text/html; charset=utf-8" if target == START else b"text/plain"
        body = self.server.pages.get(target, b"ok\n")
        head = b"HTTP/1.1 %b\r\nContent-Type: %b\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        self.wfile.write(head % (status, kind, len(body)))
        self.wfile.write(b"" if request.startswith(b"HEAD ") else body)


class Site(socketserver.ThreadingTCPServer):
    """A server on the loopback interface: its pages, and the request targets that it saw."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[bytes, bytes] = {}
        self.seen: list[bytes] = []
        self.root = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Judge:
    """Asks one crawler, and remembers what request each path leads to."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.site = Site()
        self.targets: dict[str, bytes] = {}

    def __call__(self, robots: bytes, agent: str, _: str) -> Callable[[list[str]], Iterable[bool]]:
        robots = impersonate(robots, agent, self.crawler.name)
        return lambda urls: self._decide(robots, [path_of(url) for url in urls])

    def _decide(self, robots: bytes, paths: list[str]) -> list[bool]:
        self._learn([path for path in paths if path not in self.targets])
        seen: set[bytes] = set()
        for batch in _batches(paths):
            seen.update(self._crawl(batch, robots))
        return [self.targets[path] in seen for path in paths]

    def _learn(self, paths: list[str]) -> None:
        """Find out which requests links lead to: all at once, the unclear ones again one by one."""
        for batch in _batches(paths):
            self._match(batch, self._crawl(batch, None))
        for path in paths:
            if path not in self.targets:
                seen = self._crawl([path], None)
                self._match([path], seen)
                if path not in self.targets:
                    raise Skip(self._excuse(path, seen))

    def _match(self, paths: list[str], seen: list[bytes]) -> None:
        for path in paths:
            plain = unquote_to_bytes(_bytes(path))
            if plain == ROBOTS:
                raise Skip(f"{self.crawler.name} fetches /robots.txt itself")
            same = {target for target in seen if unquote_to_bytes(target) == plain}
            if len(same) == 1:
                self.targets[path] = same.pop()

    def _excuse(self, path: str, seen: list[bytes]) -> str:
        others = [target.decode("latin-1") for target in seen if target != START]
        what = f"asks for {others[0][:80]!a} instead of" if others else "never asks for"
        return f"{self.crawler.name} {what} {path[:80]!a}, even without robots.txt"

    def _crawl(self, paths: list[str], robots: bytes | None) -> list[bytes]:
        """Return the targets of the requests: with this robots.txt, or ignoring any."""
        links = (f'<a href="{self.site.root}{self.crawler.escape(path)}">x</a>' for path in paths)
        page = "<html><body>" + "\n".join(links) + "</body></html>"
        self.site.pages = {START: _bytes(page), **({} if robots is None else {ROBOTS: robots})}
        self.site.seen = []
        self._run(self.crawler.ignore if robots is None else self.crawler.obey)
        if START not in self.site.seen:
            raise RuntimeError(f"{self.crawler.name} did not fetch the page with the links")
        return [target for target in self.site.seen if target != ROBOTS]

    def _run(self, option: str) -> None:
        proxies = {f"{scheme}_proxy": NOWHERE for scheme in ("http", "https", "ftp")}
        start, name = self.site.root + START.decode(), self.crawler.name
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = subprocess.run(
                    (*self.crawler.command, folder, option, start),
                    env={**os.environ, **proxies, "no_proxy": "127.0.0.1", "HOME": folder},
                    cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                    timeout=SECONDS, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"{name} took more than {SECONDS} seconds") from None
        if done.returncode < 0:
            raise RuntimeError(f"{name} crashed: signal {-done.returncode}")


def impersonate(robots: bytes, agent: str, name: str) -> bytes:
    """Return the file as it has to be for a crawler of that name to answer for the agent.

    The crawler's name takes the agent's place in User-agent lines. Raises Skip where that would
    change which names of the file match.
    """
    if agent.lower() == name:
        return robots
    if not _TOKEN.fullmatch(agent):
        raise _refusal(name, f"it cannot act as {agent[:60]!a}")

    def renamed(line: re.Match[bytes]) -> bytes:
        found = _NAMES.match(line[0])
        if not found:
            return line[0]
        return found[1] + _renamed(found[2], agent, name) + line[0][found.end() :]

    result = _LINES.sub(renamed, robots)
    if result != robots and len(robots) > LONGEST_RENAMED:
        raise _refusal(name, f"renaming {agent} would change the size of this large file")
    return result


def _renamed(names: bytes, agent: str, name: str) -> bytes:
    if name in names.decode("latin-1").lower():
        raise _refusal(name, f"the file names it too, besides {agent}")
    pattern = re.compile(re.escape(agent.encode()), re.IGNORECASE)
    result = pattern.sub(lambda found: _in_case_of(found[0], name), names)
    for word in re.findall(rb"[A-Za-z][\w-]*", result):
        other = word.decode("latin-1").lower()
        if other != name and (other in agent.lower() or other in name):
            raise _refusal(name, f'"{other}" in the file may match {agent}, but not {name}')
    return result


def _in_case_of(word: bytes, name: str) -> bytes:
    if word.isupper():
        return name.upper().encode()
    return name.encode() if word.islower() else name.title().encode()


def _refusal(name: str, why: str) -> Skip:
    return Skip(f"{name} only obeys the name {name}: {why}")


def path_of(url: str) -> str:
    rest = _ORIGIN.sub("", url, count=1).partition("#")[0]
    return rest if rest.startswith("/") else "/" + rest


def _batches(paths: list[str]) -> Iterator[list[str]]:
    """Split into lists in which no two paths are the same once escapes are decoded."""
    batches: list[dict[bytes, str]] = []
    for path in dict.fromkeys(paths):
        plain = unquote_to_bytes(_bytes(path))
        free = next((batch for batch in batches if plain not in batch), None)
        if free is None:
            batches.append(free := {})
        free[plain] = path
    return (list(batch.values()) for batch in batches)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


def main() -> None:
    crawler = CRAWLERS[sys.argv[1]]
    told = subprocess.run((crawler.name, "--version"), capture_output=True, text=True, check=True)
    version = re.search(r"\d+(?:[.-]\d+)+", told.stdout)
    serve({**introduce("C"), "version": version[0] if version else ""}, Judge(crawler))


if __name__ == "__main__":
    main()
