"""Any log is read, or has no known format: no line is lost, and judgements are those of the engine."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import koster
from koster._asking import rules_for_data
from koster.crawlers import agent_for
from koster.errors import UnreadableError
from koster.logs import FormatError, Options, Version, Versions, _run, analyze
from koster.logs._blocks import Block
from koster.logs._detection import format_of, resolve
from koster.logs._formats import Envelope, reader_of
from koster.logs._identity import Identities
from koster.logs._known_formats import FORMATS
from koster.logs._requests import parse_block

from ._damage import damaged
from ._tables import spread

# They read the published ranges of all operators, which takes longer than a log.
_run.__dict__["Identities"] = cache(Identities)

_folder = Path(tempfile.mkdtemp(prefix="koster-fuzz-"))

_AGENTS = spread(
    (150, ["Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "FooBot/1.0", "bingbot/2.0",
           "Googlebot-Image/1.0", "Googlebot/2.1"]),
    (106, ["Mozilla/5.0 (X11) Firefox/1", "-", "", "GPTBot \\x22q\\x22", "é GPTBot", "a" * 300, "GPTBot\\",
           "+https://x.example/GPTBot", "CCBot/2.0", "\\u0022GPTBot"]),
)  # fmt: skip
_TARGETS = spread(
    (180, ["/private/a?x=1", "/a", "/robots.txt", "/private", "//private", "/a%2Fb", "/"]),
    (
        76,
        [
            "*",
            "http://e.com/private",
            "",
            "/é",
            "/\\x22",
            "/a b",
            "/robots.txt?x",
            "host:443",
            "/" * 90,
        ],
    ),
)
_METHODS = ("GET", "GET", "GET", "HEAD", "POST", "CONNECT", "OPTIONS", "-", "g\\x00t", "")
_STATUSES = ("200", "200", "200", "404", "304", "503", "-", "301", "20", "9999", "429", "²00")
_ADDRESSES = (
    "1.2.3.4",
    "66.249.66.1",
    "::1",
    "2001:db8::1",
    "-",
    "host.example",
    "1.2.3.4.5",
    "[::1]",
)
_MOMENTS = ("12:00:00", "12:00:01", "11:59:00", "23:59:60", "13:61:00", "00:00:00")
_DAYS = ("10", "10", "10", "11", "31", "00")

#: Templates: address, day, time, method, target, status, agent.
_COMMON = '{a} - - [{d}/Mar/2026:{t} +0000] "{m} {u} HTTP/1.1" {s} 12\n'
_COMBINED = '{a} - - [{d}/Mar/2026:{t} +0000] "{m} {u} HTTP/1.1" {s} 12 "-" "{g}"\n'
_NGINX_JSON = (
    '{{"time_iso8601": "2026-03-{d}T{t}Z", "remote_addr": "{a}", "request": "{m} {u} HTTP/1.1", '
    '"status": "{s}", "http_user_agent": "{g}"}}\n'
)
_CADDY = (
    '{{"ts": 1773144000.5, "request": {{"client_ip": "{a}", "method": "{m}", "uri": "{u}", '
    '"headers": {{"User-Agent": ["{g}"]}}}}, "status": 200}}\n'
)
_W3C = ("2026-03-{d} {t} {a} {m} {u} {s} {g}\n", "2026-03-{d}\t{t}\t{a}\t{m}\t{u}\t{s}\t{g}\n")
_W3C_FIELDS = "#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent)\n"
_ALB = (
    "https 2026-03-{d}T{t}.1Z app/lb/5 {a}:28 10.0.0.1:80 0 0 0 {s} 200 3 4 "
    '"{m} https://shop.example:443{u} HTTP/1.1" "{g}" - -\n'
)
_HAPROXY = (
    "{a}:28 [{d}/Mar/2026:{t}.764] f b/s 0/0/0/0/0 {s} 73 - - ---- 4/1/0/0/0 0/0 {{e.com|{g}}} "
    '"{m} {u} HTTP/1.1"\n'
)
_ENVOY = (
    '[2026-03-{d}T{t}.310Z] "{m} {u} HTTP/2" {s} - 1 0 2 1 "{a}" "{g}" "cc21" "e.com" "tcp://x"\n'
)
_SYSLOG = f"<134>Mar 10 12:00:00 web nginx: {_COMBINED}"
_DOCKER = (
    '{{"log": "{a} - - [{d}/Mar/2026:{t} +0000] \\"{m} {u} HTTP/1.1\\" {s} 12 \\"-\\" \\"{g}\\"\\n", '
    '"stream": "stdout", "time": "2026-03-{d}T{t}Z"}}\n'
)
_JUNK = ("\n", "junk\n", "{{}}\n", '{{"a": \n', "\0\n", "[1]\n", '"', "no end", "\r\n", "a,b,c\n")
_LINES: Sequence[str] = spread(
    (90, [_COMBINED]),
    (14, [_COMMON, f"shop.example:443 {_COMBINED}"]),
    (24, _W3C),
    (10, [_W3C_FIELDS, "#Fields: x\n"]),
    (70, [_NGINX_JSON, _CADDY]),
    (16, _JUNK),
    (16, [_ALB]),
    (16, [_HAPROXY, _ENVOY, _SYSLOG, _DOCKER]),
)
_FORMATS = (
    *FORMATS,
    '%h %l %u %{%Y-%m-%d %H:%M:%S %z}t "%r" %>s "%{User-Agent}i"',
    '$remote_addr [$time_local] "$request" $status "$http_user_agent"',
    "$msec $host $request_method $request_uri $status $http_user_agent",
)

_ROBOTS = (
    b"User-agent: *\nDisallow: /private\n",
    b"User-agent: GPTBot\nDisallow: /\nUser-agent: *\nAllow: /\n",
    b"User-agent: FooBot\nUser-agent: Googlebot\nDisallow: /*a\nDisallow: //private\n",
)


def check(data: bytes) -> None:
    """Check one input."""
    source = iter(data)
    kind, choice = next(source, 0), next(source, 0)
    if kind < 170:
        content = _log(source, 256)
    elif kind < 230:
        content = damaged(_log(source, 4), source)
    else:
        content = bytes(source)
    if kind % 16 == 0:
        _check_report(content, choice)
    else:
        _check_parts(content, choice)


def _log(source: Iterator[int], most: int) -> bytes:
    """Return lines of a log; most of them have the format of the first one."""
    first = _LINES[next(source, 0)]
    lines = []
    for number, byte in enumerate(source):
        line = _LINES[byte] if byte & 7 == 0 else first
        lines.append(_filled(line, byte, source))
        if number == most:
            break
    return "".join(lines).encode()


def _filled(line: str, byte: int, source: Iterator[int]) -> str:
    other = next(source, 0)
    return line.format(
        a=_ADDRESSES[byte >> 3 & 7], d=_DAYS[other % 6], t=_MOMENTS[(other >> 3) % 6],
        m=_METHODS[(other >> 4) % 10], u=_TARGETS[next(source, 0)], s=_STATUSES[other % 12],
        g=_AGENTS[next(source, 0)],
    )  # fmt: skip


@cache
def _identities() -> Identities:
    return Identities(("FooBot",))


def _check_parts(content: bytes, choice: int) -> None:
    """Check that a log is read alike at once and in two blocks, and all its lines are counted."""
    if choice & 1:
        form = format_of(_FORMATS[choice // 2 % len(_FORMATS)])
        if isinstance(form.lines, Envelope):
            return
    else:
        try:
            form = resolve(content, "a.log")
        except FormatError as error:
            assert str(error)
            return
    lines = content.split(b"\n")
    cut = len(lines) * (choice >> 4) // 16
    parts = [b"".join(line + b"\n" for line in some) for some in (lines[:cut], lines[cut:])]
    whole = _parsed(form, [b"".join(parts)])
    assert _parsed(form, [part for part in parts if part]) == whole
    if form.name != "w3c":
        count = sum(bool(re.search(rb"[^ \t\r\n\f\v]", line)) for line in lines)
        assert whole[0] == count, (whole[0], count)


def _parsed(form: Any, parts: list[bytes]) -> tuple[int, list[dict[str, Any]]]:
    """Return how many lines there are, and the requests of crawlers.

    Which lines are unreadable depends on where a log is cut: the times of other lines than the
    first and the last are read only if they are of crawlers.
    """
    reader = reader_of(form)
    lines = unreadable = 0
    rows: list[dict[str, Any]] = []
    for part in parts:
        found = parse_block(Block(part), list(reader.segments(part)), _identities())
        found.requests.validate(full=True)
        lines, unreadable = lines + found.lines, unreadable + found.unreadable
        rows += found.requests.to_pylist()
    assert 0 <= unreadable <= lines
    assert len(rows) <= lines - unreadable
    return lines, rows


def _check_report(content: bytes, choice: int) -> None:
    """Check what is reported of a log file, and how its requests are judged."""
    body = _ROBOTS[choice % 3]
    path = _folder / ("access.log.gz" if choice & 4 else "access.log")
    packed = gzip.compress(content, 1, mtime=0) if choice & 4 else content
    path.write_bytes(damaged(packed, iter(content[:20])) if choice & 8 else packed)
    events: list[pa.RecordBatch] = []
    options = Options(jobs=1, are_addresses_shown=bool(choice & 16))
    try:
        report = analyze([str(path)], _versions(body), options, events.append)
    except (FormatError, UnreadableError) as error:
        assert str(error)
        return
    rows = [row for batch in events for row in batch.to_pylist()]
    assert report.unreadable <= report.lines
    pages = [row for row in rows if row["verdict"] != "robots_txt"]
    assert sum(each.requests for each in report.crawlers) == len(pages)
    _check_rows(rows, koster.parse(body))


@cache
def _versions(body: bytes) -> Versions:
    return Versions("fuzz", (Version("1", None, body),))


def _check_rows(rows: list[dict[str, Any]], robots: koster.RobotsTxt) -> None:
    for row in rows:
        assert json.dumps(row["url"])
        if row["verdict"] in ("allowed", "violation") and row["url"].isascii():
            rules = rules_for_data(robots, agent_for(row["crawler"]))
            url = row["url"]
            is_allowed = rules.allowed(f"http://localhost{url}" if url.startswith("//") else url)
            assert row["disallowed"] != is_allowed, row
            assert (row["verdict"] == "violation") != is_allowed, row
