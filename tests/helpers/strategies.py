"""Hypothesis strategies for arbitrary bytes and for files that look like robots.txt."""

from __future__ import annotations

from hypothesis import strategies as st

from koster._misuse import is_location

#: A small alphabet, so that patterns and paths often match.
_SEGMENTS = st.sampled_from([
    "/", "/a", "/b", "a", "b", "aa", "ab", "aba", "?", "&x=", "=", ".", "-", "~", ":",
    "%41", "%61", "%2F", "%2f", "%3F", "%2A", "%24", "%zz", "%", "é", " ", ";", "$", "*",
])  # fmt: skip
patterns = st.builds(
    lambda start, parts, end: start + "".join(parts) + end,
    st.sampled_from(["/", "/", "/", "", "*"]),
    st.lists(_SEGMENTS | st.sampled_from(["*", "*", "**"]), max_size=7),
    st.sampled_from(["", "", "$", "*", "*$", "$$"]),
)
paths = st.builds(lambda parts: "/" + "".join(parts), st.lists(_SEGMENTS, max_size=8))
urls = st.one_of(
    paths,
    st.builds(str.__add__, st.sampled_from(["https://e.com", "//e", "a", "http://[x"]), paths),
    st.builds(str.__add__, paths, st.sampled_from(["#f", "?q", "#/a?b", ""])),
    st.just("/robots.txt?x"),
    st.text(max_size=20),
    st.text(alphabet=st.characters(), max_size=8),
)

names = st.sampled_from([
    "*", "* x", "**", "*/1", "Foo", "foo", "FooBot", "Foo Bot", "foo\tbot x", "FooBot/1.0", "Foo*",
    "Bar", "bar-x", "5Bot", "a.b", "Mozilla", "compatible", "", "é", "x(y)", "Foo, Bar",
])  # fmt: skip
agents = st.one_of(
    names,
    st.sampled_from([
        "FooBot/2.0 (x)", "Mozilla/5.0 (compatible; FooBot/2.1; +http://bar/)", "Bar Foo", "x Foo",
        "Foo-Bar baz", "Foo@bar Bar", "www.Foo Bar/1", "foo  bot", "(Foo)", "Foo/1 2", "5Bot;Bar",
    ]),
    # A URL or path raises if the other argument could be an agent: `test_misuse.py`.
    st.text(max_size=12).filter(lambda text: not is_location(text)),
)  # fmt: skip

_KEYS = st.sampled_from([
    "User-agent", "User-agent", "user-agent", "Useragent", "USER AGENT", "Allow", "Allow",
    "Disallow", "Disallow", "Disallow", "dissalow", "Crawl-delay", "Sitemap", "Unknown", "",
    "Allowance", "Content-Usage", "Request-rate", "Visit-time", "Content-Signal", "Host",
])  # fmt: skip
_SEPARATORS = st.sampled_from([":", ": ", ": ", " : ", " ", "\t:\t", "", "::"])
_COMMENTS = st.sampled_from(["", "", "", " # x", "#y: z", " "])
_lines = st.one_of(
    st.builds(lambda *parts: "".join(parts), _KEYS, _SEPARATORS, patterns, _COMMENTS),
    st.builds(lambda name: f"User-agent: {name}", names),
    st.builds(lambda pattern: f"Disallow: {pattern}", patterns),
    st.builds(lambda pattern: f"Allow: {pattern}", patterns),
    st.sampled_from(["", " ", "# c", "Allow:", "Disallow:", "x", "\x00", "Crawl-delay: 5"]),
)
_ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])
files = st.builds(
    lambda bom, lines: (bom + "".join(line + end for line, end in lines)).encode(),
    st.sampled_from(["", "", "\ufeff"]),
    st.lists(st.tuples(_lines, _ENDS), max_size=14),
)
bodies = st.one_of(files, st.binary(max_size=200), st.text(max_size=60).map(str.encode))

#: Lines that are neither rules nor agents, for any position in a file.
junk = st.sampled_from([
    b"", b"# comment", b"  ", b"Unknown: /", b"Sitemap: https://e.com/s.xml", b"<html>",
    b"Crawl-delay: x", b"Host: e.com", b"Disallo: /", b"no colon here at all", b"\xff\xfe: /",
])  # fmt: skip
