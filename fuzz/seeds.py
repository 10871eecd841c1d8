"""Inputs to begin with: ``python -m fuzz.seeds`` writes those that were made by hand.

The other stored inputs were found by guided runs: see ``--keep`` and ``--merge`` of `fuzz.__main__`.
The cases in tests/cases are inputs, too, but not stored.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from ._inputs import encode_raw
from ._targets import CORPUS, TARGETS

_TESTS = Path(__file__).parent.parent / "tests"

#: Longer cases are about time and memory; plain Python takes too long for them.
_MAX_BYTES = 2_000

#: Files with what is hard about them, and questions.
_FILES = (
    (b"User-agent: *\nDisallow: /private\nAllow: /private/press\n", ["FooBot"], ["/private/press/1"]),
    (b"User-agent: a\nUser-agent: b\nDisallow: /*.pdf$\n\nUser-agent: *\nAllow: /\n", ["b/1"], ["/x.pdf"]),
    (b"User-agent: Foo Bot\nDisallow: /a%2Fb\nDisallow: /%7Ec\n", ["x (Foo Bot/2)"], ["/a/b", "/~c"]),
    (b"User-agent: *\nRobot-version: 2.0\nDisallow: /[!a-c]*\nAllow: /b?\n", ["x"], ["/d/e", "/bb"]),
    (b"User-agent: *\nAllow: /dir/index.html\nDisallow: /\n", ["Googlebot"], ["/dir/", "/dir/x"]),
    (b"\xef\xbb\xbfUser-agent: *\rCrawl-delay: 1\r\rDisallow:/a # x\r", ["x"], ["/a", "//a", "a"]),
    (b"User-agent: *\nContent-Usage: /a train-ai=n\nRequest-rate: 1/5m 0600-0845\n", ["x"], ["/a"]),
    (b"User-agent: *\n" + b"".join(b"Disallow: /p%d/*x\n" % n for n in range(60)), ["x"], ["/p7/ax"]),
    (b"User-agent: GPTBot\nDisallow: /\nUser-agent: Googlebot-Image\nDisallow: /i\n", ["Googlebot-Image"], ["/i"]),
    (b"<html>\nUser-agent : *\nDisalow: /\xe9\nAllow: %zz\n{% if x %}\nAllow: /*$\n", ["x"], ["/%E9", "/"]),
)  # fmt: skip

_BOT = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
_LOGS = (
    f'1.2.3.4 - - [10/Mar/2026:12:00:00 +0000] "GET /private HTTP/1.1" 200 12 "-" "{_BOT}"\n',
    f'shop.example:443 ::1 - - [10/Mar/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 1 "-" "{_BOT}"\n',
    "#Fields: date time c-ip cs-uri-stem cs(User-Agent)\n2026-03-10 12:00:00 1.2.3.4 /a GPTBot\n",
    json.dumps({"time_iso8601": "2026-03-10T13:00:00+01:00", "request": "GET /a HTTP/1.1",
                "status": "200", "remote_addr": "1.2.3.4", "http_user_agent": _BOT}) + "\n",
    json.dumps({"ts": 1773144000.5, "status": 200, "request": {
        "client_ip": "1.2.3.4", "method": "GET", "host": "e.com", "uri": "/private?x",
        "headers": {"User-Agent": [_BOT]}}}) + "\n",
    json.dumps({"ClientIP": "1.2.3.4", "ClientRequestHost": "e.com", "ClientRequestMethod": "GET",
                "ClientRequestURI": "/private", "EdgeStartTimestamp": "2026-03-10T12:00:00Z",
                "EdgeResponseStatus": 200, "ClientRequestUserAgent": _BOT}) + "\n",
)  # fmt: skip

_WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
    b"WARC-Date: 2026-11-01T12:00:00Z\r\nWARC-Target-URI: https://e.com/robots.txt\r\n"
    b"Content-Type: application/http; msgtype=response\r\nContent-Length: 69\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nAllow: /\n\r\n\r\n"
)

_TABLES = (
    (0xE9, b'body,url\n"User-agent: *\nDisallow: /a",/a\nx,/b\n'),
    (0xE9, b'url,body\r\n/a,"say ""no"""\r\n/b,x,y\r\n'),
    (0xEA, b'{"body": "User-agent: *\\nDisallow: /", "url": "/a"}\n{"body": null}\n[]\n'),
)

#: Sequences of answers: dialect, origin, no text, and for each fetch the pause, the statuses and
#: what follows them.
_ANSWERS = (
    bytes([0, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 0]),
    bytes([0, 0, 4, 0, 0, 60, 0, 0, 0, 0, 60, 0, 1, 0, 0, 0, 0, 0, 0]),
    bytes([1, 0, 4, 0, 4, 0, 0, 0, 0, 100, 132, 1, 200, 0, 0, 90, 248, 170, 248]),
    bytes([2, 0, 4, 0, 0, 0, 1, 190, 0, 0, 5, 132, 0, 0, 0, 170, 200, 1, 20, 0, 0]),
)

#: Of each source of signals how many parts, then the parts.
_SIGNALS = (4, 0, 60, 90, 120, 3, 0, 40, 90, 6, 60, 0, 30, 90, 150, 70, 2, 0, 80, 3, 0, 30, 60)


def main() -> None:
    """Write all of them, in place of the last ones."""
    for path in CORPUS.glob("*/seed-*"):
        path.unlink()
    for target, data in _all():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        number = len(list(folder.glob("seed-*")))
        (folder / f"seed-{number:02}").write_bytes(data)


def _all() -> Iterator[tuple[str, bytes]]:
    for number, (body, agents, urls) in enumerate(_FILES):
        data = encode_raw(body, agents, urls, number)
        yield from ((each.name, data) for each in TARGETS.values() if each.is_about_files)
    yield from (
        ("logs", bytes([0xE6 + number % 2 * 10, 0]) + log.encode())
        for number, log in enumerate(_LOGS)
    )
    yield from (("warc", b"\xf0\0" + each) for each in (_WARC, gzip.compress(_WARC, mtime=0) * 2))
    yield from (("tables", bytes([0xE6, kind & 3]) + content) for kind, content in _TABLES)
    yield from (("access", data) for data in _ANSWERS)
    yield from (("signals", bytes([kind, *_SIGNALS])) for kind in (0, 1, 8))
    yield from (("cache", bytes([kind, 0, 0, 1, 2, 3])) for kind in (0, 120, 200, 250))


def cases() -> Iterator[bytes]:
    """Yield an input for each case in tests/cases, if the tests are there."""
    if not _TESTS.is_dir():
        return
    sys.path.append(str(_TESTS.parent))
    from tests.helpers.support import all_cases

    for number, case in enumerate(all_cases()):
        data = encode_raw(case.body, [case.agent], list(case.expected), number & 255)
        if len(data) <= _MAX_BYTES:
            yield data


if __name__ == "__main__":
    main()
