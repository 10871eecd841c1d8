"""The facade for robotexclusionrulesparser: parsing and matching."""

from __future__ import annotations

import pickle

import pytest

from koster.compat.robotexclusionrulesparser import (  # type: ignore[attr-defined]
    GYM2008,
    MK1996,
)
from tests.helpers.rerp import FILE, parser


def test_wildcards_delays_and_sitemaps() -> None:
    robots = parser(FILE)
    assert not robots.is_allowed("Foobot", "/a.gif")
    assert robots.is_allowed("Foobot", "/a.gif?x")
    assert robots.get_crawl_delay("Barbot") == 2.5
    assert robots.get_crawl_delay("Otherbot") is None
    assert robots.sitemaps == ["http://www.example.org/sitemap.xml"]


def test_sitemaps_are_a_new_list_each_time() -> None:
    robots = parser(FILE)
    robots.sitemaps.append("x")
    assert robots.sitemaps == ["http://www.example.org/sitemap.xml"]


def test_sitemaps_are_returned_unchanged() -> None:
    assert parser("Sitemap: no URL at all").sitemaps == ["no URL at all"]


def test_wildcards_are_literals_under_mk1996() -> None:
    robots = parser("User-agent: *\nDisallow: *")
    assert not robots.is_allowed("Foobot", "/a")
    assert not robots.is_allowed("Foobot", "/a", GYM2008)
    assert robots.is_allowed("Foobot", "/a", MK1996)
    robots = parser("User-agent: *\nDisallow: /*.gif$")
    assert robots.is_allowed("Foobot", "/a.gif", MK1996)
    assert not robots.is_allowed("Foobot", "/*.gif$", syntax=MK1996)


def test_unknown_syntax_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Syntax must be MK1996 or GYM2008"):
        parser("").is_allowed("Foobot", "/", 3)


def test_name_matches_as_a_substring_of_the_agent() -> None:
    robots = parser("User-agent: foobot\nDisallow: /")
    assert not robots.is_allowed("Mozilla/5.0 (compatible; Foobot/2.1)", "/")
    assert not robots.is_allowed("FOOBOT", "/")
    assert robots.is_allowed("foo", "/")


def test_scheme_and_authority_are_discarded() -> None:
    robots = parser("User-agent: *\nDisallow: /foo/bar.html")
    for url in ("http://example.org/foo/bar.html", "https://user@other:8/foo/bar.html"):
        assert not robots.is_allowed("Foobot", url)


def test_a_fragment_belongs_to_the_path() -> None:
    """As in the original, although browsers do not send fragments."""
    robots = parser("User-agent: *\nDisallow: /a%23b")
    assert not robots.is_allowed("Foobot", "/a#b")
    assert robots.is_allowed("Foobot", "/a")


def test_empty_query_is_ignored() -> None:
    robots = parser("User-agent: *\nDisallow: /*.gif$\nDisallow: /*?\nDisallow: /x;$")
    assert not robots.is_allowed("Foobot", "/a.gif?")
    assert robots.is_allowed("Foobot", "/a?")
    assert not robots.is_allowed("Foobot", "/a??")
    assert robots.is_allowed("Foobot", "/x;")


@pytest.mark.parametrize("bom", ["\ufeff", "\xef\xbb\xbf"])
def test_a_byte_order_mark_is_ignored(bom: str) -> None:
    assert not parser(bom + "User-agent: *\nDisallow: /").is_allowed("Foobot", "/")


def test_a_byte_order_mark_in_bytes_is_ignored() -> None:
    assert not parser(b"\xef\xbb\xbfUser-agent: *\nDisallow: /\xe9").is_allowed("Foobot", "/é")


def test_bytes_are_latin_1() -> None:
    robots = parser(b"User-agent: *\nDisallow: /caf\xe9")
    assert not robots.is_allowed("Foobot", "/caf\xe9")
    assert not robots.is_allowed("Foobot", "/caf%C3%A9")
    assert robots.is_allowed("Foobot", "/cafe")
    robots.parse(bytearray(b"User-agent: *\nDisallow: /x"))
    assert not robots.is_allowed("Foobot", "/x")


def test_str_input_may_contain_any_characters() -> None:
    robots = parser("User-agent: jävla\nDisallow: /café")
    assert not robots.is_allowed("jävla-foobot", "/café")


def test_user_agent_is_read_without_its_hyphen() -> None:
    assert not parser("Useragent: *\nDisallow: /").is_allowed("Foobot", "/")
    assert parser("User agent: *\nDisallow: /").is_allowed("Foobot", "/")


def test_an_escaped_slash_is_not_translated() -> None:
    robots = parser("User-agent: *\nDisallow: /a%2fb.html")
    assert not robots.is_allowed("Foobot", "/a%2Fb.html")
    assert robots.is_allowed("Foobot", "/a/b.html")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_line_endings(end: str) -> None:
    robots = parser(FILE.replace("\n", end))
    assert not robots.is_allowed("Barbot", "/private")
    assert not robots.is_allowed("Otherbot", "/")


def test_blank_disallow_allows_everything_and_blank_allow_allows_nothing() -> None:
    assert parser("User-agent: foobot\nDisallow:\nDisallow: /").is_allowed("foobot", "/a")
    for body in ("User-agent: foobot\nAllow:", "User-agent: foobot\nDisallow: /"):
        assert not parser(body).is_allowed("foobot", "/a")


def test_line_without_a_colon_after_the_directive_is_ignored() -> None:
    robots = parser("User-agent: *\nDisallow /")
    assert robots.is_allowed("Foobot", "/")


def test_last_numeric_delay_is_used() -> None:
    robots = parser("User-agent: *\nDisallow:\nCrawl-delay: 1\nCrawl-delay: .3\nCrawl-delay: x")
    assert robots.get_crawl_delay("Foobot") == 0.3


def test_parsing_again_discards_the_first_file() -> None:
    robots = parser(FILE)
    robots.parse("")
    assert robots.is_allowed("Foobot", "/private")
    assert robots.sitemaps == []


@pytest.mark.parametrize("body", [None, ["User-agent: *"], 1])
def test_input_type_errors(body: object) -> None:
    with pytest.raises(TypeError, match="must be str or bytes"):
        parser(body)  # type: ignore[arg-type]


def test_str_is_a_robots_txt() -> None:
    robots = parser("User-agent: *\nAllow: /a\n\nUser-agent: x\nCrawl-delay: 2\nDisallow: /b")
    assert str(robots) == (
        "User-agent: x\nCrawl-delay: 2.0\nDisallow: /b\n\nUser-agent: *\nAllow: /a\n"
    )
    assert str(parser(FILE)).startswith("Sitemaps: ['http://www.example.org/sitemap.xml']\n\n")


def test_str_keeps_delays_per_record_decoded_paths_and_blank_values() -> None:
    robots = parser(
        "User-agent: x\nCrawl-delay: 1\nDisallow: /a%20b%2fc\n\n"
        "User-agent: y\nUser-agent: *\nAllow:\nCrawl-delay: 3\nCrawl-delay: no\n\n"
        "User-agent: x\nDisallow:\nUser-agent: z\nCrawl-delay: 9\n\nCrawl-delay: 9"
    )
    assert str(robots) == (
        "User-agent: x\nCrawl-delay: 1.0\nDisallow: /a b%2Fc\n\n"
        "User-agent: x\nDisallow: \n\n"
        "User-agent: y\nUser-agent: *\nCrawl-delay: 3.0\nAllow: \n"
    )


def test_record_with_star_among_other_names_is_tried_last() -> None:
    robots = parser(
        "User-agent: foobot\nUser-agent: *\nDisallow: /a\n\nUser-agent: bot\nDisallow: /b"
    )
    assert robots.is_allowed("foobot", "/a")
    assert not robots.is_allowed("foobot", "/b")
    assert not robots.is_allowed("other", "/a")
    robots = parser("User-agent: x\nUser-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b")
    assert (robots.is_allowed("other", "/a"), robots.is_allowed("other", "/b")) == (False, True)


@pytest.mark.parametrize(
    ("name", "agent"),
    [("\xc4bot", "\xe4BOT/1"), ("\xe4bot", "a \xc4bot"), ("\u212aoster", "koster"), ("koster", "\u212aOSTER"),
     ("\u0394" * 40, "x" + "\u03b4" * 50)],
)  # fmt: skip
def test_names_compare_without_case_beyond_ascii(name: str, agent: str) -> None:
    robots = parser(f"User-agent: {name}\nDisallow: /\nCrawl-delay: 2")
    assert not robots.is_allowed(agent, "/")
    assert robots.get_crawl_delay(agent) == 2.0
    assert robots.is_allowed("other", "/")


@pytest.mark.parametrize(
    ("line", "url"),
    [("Disallow: /a\tb", "/ab"), ("Disallow: /a\x00b\x1f", "/ab"), ("Disallow:\t/a \t b", "/a  b"),
     ("\u2003Disallow: /x\xa0", "/x"), ("Disallow: /\x7fx", "/\x7fx")],
)  # fmt: skip
def test_control_characters_are_stripped_from_values(line: str, url: str) -> None:
    robots = parser(f"User-agent: *\n{line}\nAllow: /")
    assert not robots.is_allowed("Foobot", url)


def test_control_characters_are_stripped_from_names() -> None:
    robots = parser("User-agent: foo\tb\x01ot\r\nDisallow: /\r\n \x85 \r\nAllow: /")
    assert not robots.is_allowed("foobot", "/")
    assert str(robots) == "User-agent: foobot\nDisallow: /\n"


@pytest.mark.parametrize("mark", ["\ufeff", "\xef\xbb\xbf"])
def test_a_byte_order_mark_between_lines_is_ignored(mark: str) -> None:
    robots = parser(f"User-agent: *\n{mark}Disallow: /a\n{mark}\nDisallow: /b")
    assert not robots.is_allowed("Foobot", "/a")
    assert not robots.is_allowed("Foobot", "/b")


def test_empty_path_parameter_is_ignored() -> None:
    robots = parser("User-agent: *\nDisallow: /?q\nDisallow: /x;$")
    assert not robots.is_allowed("Foobot", "/;?q")
    assert not robots.is_allowed("Foobot", "http://example.org/;?q")
    assert robots.is_allowed("Foobot", "/a;?q")


def test_parser_pickles() -> None:
    robots = pickle.loads(pickle.dumps(parser(FILE)))
    assert not robots.is_allowed("Foobot", "/private")
