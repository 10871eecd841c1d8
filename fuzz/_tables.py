"""What inputs are made of: tables of 256 entries, one for each value of a byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(*weighted: tuple[int, Iterable[T]]) -> tuple[T, ...]:
    """Return a table of 256 entries: each iterable gets its share, by weight.

    The first entry, which stands for the byte 0, is the first one of the first iterable.
    """
    total = sum(weight for weight, _ in weighted)
    found: list[T] = []
    reached = 0
    for weight, values in weighted:
        reached += weight
        some = list(values)
        size = 256 * reached // total - len(found)
        found += (some * (size // len(some) + 1))[:size]
    return tuple(found)


def _encoded(*texts: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in texts)


#: Parts of patterns and paths: a small alphabet, so that they often match one another.
SEGMENTS: Sequence[bytes] = spread(
    (60, _encoded("/", "/a", "/b", "a", "b", "/a/", "ab", "aa")),
    (40, _encoded("*", "*", "*a", "*/", "**", "$", "$", "*$")),
    (30, _encoded("%", "%2F", "%2f", "%3F", "%41", "%61", "%2A", "%24", "%25", "%23", "%0", "%zz")),
    (20, _encoded("?", "?a=", "&b", "=", "#", ".", ".pdf", "-", "~", ":", ";", ",", "_", "+")),
    (8, _encoded("index.html", "/index.htm", "robots.txt", "/robots.txt", "private", "[a]", "[!b-]")),
    (6, _encoded("é", "ß", "%C3%A9", "%c3%a9", "\\", "\\*", "[", "]", "!", "@", "(", ")", "'", '"')),
    (5, (b"\xff", b"\xe9", b"\xc3", b"\0", b"\x80", b"\x7f", b"\x01", b"\xed\xa0\x80")),
    (3, _encoded("A", "B", "2", "F", "1", "0", "z", " ", "\t", "<", ">", "{", "|", "^", "`")),
    (2, (b"a" * 40, b"ab" * 30, b"*a" * 20, b"%2F" * 20, b"/" * 30, b"0123456789" * 9)),
)  # fmt: skip

STARTS: Sequence[bytes] = (b"/", b"/", b"/", b"/", b"/a", b"", b"*", b"//")
ENDS: Sequence[bytes] = (b"", b"", b"$", b"*")

#: Names in User-agent lines, and of agents.
NAMES: Sequence[bytes] = spread(
    (24, [b"*"]),
    (40, _encoded("Foo", "FooBot", "foo", "Bar", "bar-x", "BarBot", "Foo Bot", "a", "b", "ab")),
    (20, _encoded("Googlebot", "Googlebot-Image", "GPTBot", "bingbot", "Applebot", "CCBot", "Google")),
    (16, _encoded("FooBot/1.0", "Foo*", "**", "*/1", "* x", "*Foo", "Foo, Bar", "x(y)", "5Bot", "a.b")),
    (8, _encoded("Mozilla", "compatible", "", "-", "_", "é", "foo\tbot x", "http://x/", "Foo@bar", "/")),
    (2, (b"\xff", b"Foo\0", b"\0", b"F" * 300, b"foo bar " * 20, b"\xef\xbb\xbfFoo")),
)  # fmt: skip

#: Templates of headers around a name.
HEADERS: Sequence[str] = (
    "{}/2.1", "Mozilla/5.0 (compatible; {}/2.1; +http://bar.example/)", "x {}", "{} Bar",
    "Mozilla/5.0 ({})", "({})", "{};Bar", "a b {}/1", "www.{} Bar", "{}@e.com Bar", "Foo-{} x",
    "FooBot {} GPTBot", "http://{} b", "  {}  ", "{}_x y", "\t{}\t",
)  # fmt: skip

#: Directives that are not rules, with values of their kind.
SETTINGS: Sequence[bytes] = spread(
    (20, _encoded("Robot-version: 2.0", "Robot-version: 1.0", "Robot-version: 2.0", "Robot-version: 1.1",
                  "Robot-version: 2.1.4", "Robot-version: 3.0", "Robot-version: x", "Robot-version:")),
    (20, _encoded("Crawl-delay: 5", "Crawl-delay: 0.5", "Crawl-delay: -1", "Crawl-delay: 1e9",
                  "Crawl-delay: inf", "Crawl-delay: nan", "Crawl-delay: 1_0", "Crawl-delay: ٣")),
    (20, _encoded("Request-rate: 1/10s", "Request-rate: 1/5m 0600-0845", "Request-rate: 0/0",
                  "Request-rate: 1/1h 2300-0100", "Visit-time: 0600-0845", "Visit-time: 2400-9999")),
    (20, _encoded("Content-Signal: search=yes, ai-train=no", "Content-Usage: train-ai=n",
                  "Content-Usage: /a train-ai=y", "Content-Usage: /*b$ search=n", "Content-Signal: =")),
    (20, _encoded("Sitemap: https://e.com/s.xml", "Sitemap:", "Sitemap: /s", "Host: e.com", "License: /l",
                  "Clean-param: a&b /x", "Noindex: /a", "Comment: hello", "Sitemaps: http://[", "Host:")),
    (20, _encoded("Unknown: /", "Disallo: /", "no colon here", "two words", "<html>", "# comment", "x",
                  "-----", ":", "::", ": /", "# koster: ignore", "# koster: ignore[S001]", "{% if a %}")),
)  # fmt: skip

RULE_KEYS: Sequence[bytes] = spread(
    (120, _encoded("Disallow", "Allow")),
    (60, _encoded("disallow", "allow", "DISALLOW", "ALLOW")),
    (30, _encoded("dissallow", "dissalow", "disalow", "diasllow", "disallaw", "allowance", "Disallowed")),
    (10, _encoded("Al low", " Allow", "Allow ", "\tDisallow", "Noindex", "Content-Usage", "\xa0Allow")),
)  # fmt: skip
AGENT_KEYS: Sequence[bytes] = spread(
    (200, _encoded("User-agent")),
    (50, _encoded("user-agent", "USER-AGENT", "Useragent", "user agent", "User-agents", " User-agent")),
    (6, _encoded("User_agent", "User-agent\t", "User-agent\0", "\ufeffUser-agent", "User  agent")),
)  # fmt: skip

#: What follows the name of a directive, and ends its line.
LAYOUTS: Sequence[tuple[bytes, bytes]] = spread(
    (180, [(b": ", b"\n")]),
    (40, [(b":", b"\n"), (b": ", b"\r\n"), (b":  ", b"\r"), (b" : ", b"\n\n"), (b": ", b"\n\r\n")]),
    (20, [(b": ", b" # x\n"), (b": ", b"# y: z\n"), (b":\t", b" \t\n"), (b":#", b"\n"), (b": ", b"")]),
    (16, [(b" ", b"\n"), (b"\t", b"\n"), (b"", b"\n"), (b"::", b"\n"), (b"\t:\t", b"\r\r"),
          (b"=", b"\n"), (b":\0", b"\n"), (b": ", b"\x0b"), (b":\xa0", b"\n"), (b": ", b"\x0c\n")]),
)  # fmt: skip

#: What stands before the path of a URL, and after it.
PREFIXES: Sequence[str] = spread(
    (160, [""]),
    (60, ["https://e.com", "http://a.example:8080", "//e", "HTTP://u:p@E.com", "https://[::1]"]),
    (20, ["a", " ", "x:", "ftp://e", "https:/", "://", "http:///", "\\\\e", "https://e.com?", "#"]),
)
SUFFIXES: Sequence[str] = spread(
    (160, [""]),
    (80, ["?q", "#f", "?a=/b", "#/a?b", "?", "#", "/", "$", "*", ";a", "%", "\0", "a", "/../b"]),
)

#: Before the first line.
MARKS: Sequence[bytes] = spread(
    (240, [b""]),
    (
        16,
        [
            b"\xef\xbb\xbf",
            b"\xef\xbb",
            b"\xef",
            b"\n",
            b" ",
            b"\0",
            b"\xff\xfe",
            b"\xef\xbb\xbf" * 2,
        ],
    ),
)
