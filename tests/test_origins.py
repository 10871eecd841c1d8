"""Origins and redirect targets: URLs are normalized as in browsers, and invalid ones are rejected."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import koster
from koster import origins
from koster._asking import allowed_as_browsers_read
from koster._urls import is_read_as_written, site_as_written
from koster.fetch import to_ascii
from koster.origins import as_browsers_read, as_sent, origin_of, redirect_target

URLS_BY_ORIGIN = {
    "https://example.com": [
        "https://example.com/", "https://example.com/a/b?c#d", "HTTPS://EXAMPLE.COM/",
        "https://example.com:443/", "https://example.com:/", "https://user:pass@example.com/",
        "https://a@b@example.com/", "  https://example.com/\n", "https://exam\tple.com/",
        "https:\\\\example.com\\x", "https:example.com", "https:///example.com", "https://ex%61mple.com",
        "https://example.com?x=/", "https://example.com#/", "https://example.com\\@evil.example/",
        "https://example.com:0443/",
    ],
    "http://example.com": ["http://example.com:80/", "HTTP://example.com"],
    "http://example.com:443": ["http://example.com:443/x"],
    "https://xn--mnchen-3ya.de": ["https://münchen.de/", "https://MÜNCHEN.de", "https://xn--mnchen-3ya.de"],
    "https://xn--fiqs8s": ["https://中国/"],
    "http://xn--ber-goa.de": ["http://\udcfcber.de"],
    "http://[::1]": ["http://[::1]/", "http://[0:0:0:0:0:0:0:1]:80/", "http://u@[::1]/x"],
    "http://[2001:db8::a]:8080": ["http://[2001:0DB8::000A]:8080/"],
    "http://127.0.0.1:8000": ["http://127.0.0.1:8000/robots.txt"],
    "http://a_b.example": ["http://A_b.example"],
    "http://example.com.": ["http://example.com."],
}  # fmt: skip


@pytest.mark.parametrize(
    ("origin", "url"), [(origin, url) for origin, urls in URLS_BY_ORIGIN.items() for url in urls]
)
def test_urls_of_one_site_have_one_origin(origin: str, url: str) -> None:
    assert str(origin_of(url)) == origin
    assert str(origin_of(url, to_ascii)) == origin


def test_hosts_are_encoded_with_idna_2008_as_in_browsers() -> None:
    assert str(origin_of("https://straße.de", to_ascii)) == "https://xn--strae-oqa.de"
    assert str(origin_of("https://☃.net", to_ascii)) == "https://xn--n3h.net"


@pytest.mark.parametrize(
    "url",
    [
        "", "/x", "example.com/x", "//example.com/x", "ftp://example.com/", "mailto:a@b.c",
        "http://", "http://[x/", "http://[::1", "http://[fe80::1%25eth0]/", "http://[::1]x/",
        "http://a:0/", "http://a:65536/", "http://a:x/", "http://a:-1/", "http://a:٣/",
        "http://a b/", "http://a%20b/", "http://a%00b/", "http://<a>/", "http://%ff/", "javascript:x",
        "http://" + "a" * 300 + "é", "http://" + "x" * 100_000, "http://:80/", "http://@/",
    ],
)  # fmt: skip
def test_invalid_urls_have_no_origin(url: str) -> None:
    with pytest.raises(koster.UrlError) as caught:
        origin_of(url, to_ascii)
    assert len(str(caught.value)) < 600


def test_longest_url() -> None:
    longest = "http://a/".ljust(65_536, "x")
    assert str(origin_of(longest)) == "http://a"
    with pytest.raises(koster.UrlError, match=r"URL too long \(65,537 characters\): 'http://a/x"):
        origin_of(longest + "x")


@given(st.text() | st.text().map("http://".__add__) | st.text().map("https://a/".__add__))
def test_any_text_has_an_origin_or_is_an_error(url: str) -> None:
    try:
        origin = origin_of(url, to_ascii)
    except koster.UrlError:
        return
    assert str(origin).isascii()
    assert origin_of(str(origin)) == origin_of(origin.robots_url, to_ascii) == origin


BASE = "https://example.com/a/robots.txt?q"
TARGETS = {
    "x": "https://example.com/a/x",
    "/x/../y/./z": "https://example.com/y/z",
    "../../..": "https://example.com/",
    "/a/%2e%2E/b": "https://example.com/b",
    "//other.example/p": "https://other.example/p",
    "\\\\other.example\\p": "https://other.example/p",
    "?z": "https://example.com/a/robots.txt?z",
    "#f": BASE,
    "": BASE,
    "https:foo": "https://example.com/a/foo",
    "http:foo": "http://foo/",
    "HTTP://User:Pass@H:80/%7E?a=b#c": "http://h/%7E?a=b",
    "/ü": "https://example.com/%C3%BC",
    "/\udcfc": "https://example.com/%FC",
    "https://münchen.de/ä?ö": "https://xn--mnchen-3ya.de/%C3%A4?%C3%B6",
    " /sp ace\r\n": "https://example.com/sp%20ace",
    "/a\\b?c\\d": "https://example.com/a/b?c\\d",
    "/100%": "https://example.com/100%",
    "http://h/a/./b/%2E%2e/c/.": "http://h/a/c/",
    "http://h/a/b/..": "http://h/a/",
}


@pytest.mark.parametrize("location", TARGETS)
def test_redirect_targets(location: str) -> None:
    assert redirect_target(BASE, location) == TARGETS[location]


@pytest.mark.parametrize(
    "location",
    [
        "javascript:alert(1)", "ftp://example.com/", "https://[bad", "https://", "http://a:b:c/",
        "/\ud800", "//[", "/" * 70_000, "http://%zz/", "file:///etc/passwd", "data:text/plain,x",
    ],
)  # fmt: skip
def test_invalid_locations(location: str) -> None:
    with pytest.raises(koster.UrlError):
        redirect_target(BASE, location)


@given(st.text(st.characters() | st.sampled_from("/\\:@?#[]%.")))
def test_any_location_gives_a_url_or_an_error(location: str) -> None:
    try:
        target = redirect_target(BASE, location, to_ascii)
    except koster.UrlError:
        return
    assert target.isascii()
    assert target.startswith(("http://", "https://"))
    assert redirect_target(BASE, target, to_ascii) == target


_characters = st.sampled_from(
    ["/", ".", "%", "2", "e", "E", "?", "#", "\\", " ", "\t", ":", "a", "é"]
)


@given(
    st.sampled_from(["https://", "http://", "HTTP://", "https:/", "ftp://", ""]),
    st.lists(_characters, max_size=12).map("".join),
)
@example("https://", "a/b/../c")
@example("https://", "a/%2e%2E/b")
@example("http://", "/a/b")
@example("https://", "a/b#/../c")
def test_urls_that_are_read_as_written(scheme: str, rest: str) -> None:
    """Whether they are is asked first, because it is faster than reading them."""
    url = scheme + rest
    parts = origins._parts(url)
    if is_read_as_written(url):
        assert parts is not None
        read, authority, path, query = parts
        # An empty path is "/" in rules, and they take no notice of a fragment.
        written = f"{read}://{authority}{path}{query}"
        assert written == url.partition("#")[0]
        assert origins._remove_dot_segments(path) == path or not path
    rules = koster.parse("User-agent: *\nDisallow: /a\nDisallow: /*e$").rules_for("x")
    assert allowed_as_browsers_read(rules, url) == rules.allowed(as_browsers_read(url))


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://example.com/private", False),
        ("https://example.com/a/../private", False),
        (" https://example.com\\private", False),
        ("https://example.com/private/../a", True),
        ("/private", False),
    ],
)
def test_verdicts_about_urls_as_browsers_read_them(url: str, allowed: bool) -> None:
    rules = koster.parse("User-agent: *\nDisallow: /private").rules_for("x")
    assert allowed_as_browsers_read(rules, url) == allowed


@pytest.mark.parametrize("url", [None, b"https://example.com/a", 1])
def test_urls_of_other_types_are_an_error(url: Any) -> None:
    rules = koster.parse("User-agent: *\nDisallow: /a").rules_for("x")
    with pytest.raises((TypeError, AttributeError)):
        is_read_as_written(url)
    with pytest.raises((TypeError, AttributeError)):
        allowed_as_browsers_read(rules, url)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://a.example/", "https://a.example"),
        ("http://a/b/c?d", "http://a"),
        ("https://user@é.example:8/x", "https://user@é.example:8"),
        ("https://a.example?x", ""),
        ("https://a.example", ""),
        ("/path", ""),
        ("", ""),
    ],
)
def test_site_as_written(url: str, site: str) -> None:
    assert site_as_written(url) == site


@pytest.mark.parametrize("url", [b"https://e.example", None, 5])
def test_an_origin_is_that_of_text(url: object) -> None:
    with pytest.raises(TypeError, match="url must be a str, not "):
        origin_of(url)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://e.example/a?b=c", "https://e.example/a?b=c"),
        ("/caf\u00e9?q=\u00e9 '", "/caf%C3%A9?q=%C3%A9%20'"),
        ('/"<>`{}?"<>`{}', "/%22%3C%3E%60%7B%7D?%22%3C%3E`{}"),
        ("/%C3%A9/%zz", "/%C3%A9/%zz"),
        ("/\ud800\x00", "/%ED%A0%80%00"),
    ],
)
def test_urls_as_clients_send_them(url: str, sent: str) -> None:
    assert as_sent(url) == sent
