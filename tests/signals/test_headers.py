"""Headers: the examples of their specifications, then faults, and hostile values."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koster.errors import MissingExtraError
from koster.signals._dates import moments_of
from koster.signals._headers import MAX_HEADER, MAX_ROBOTS_TAG, read_headers
from koster.signals._links import links_in
from koster.signals._model import Reading
from koster.signals._words import (
    LIMITS_OF_OPERATORS,
    OTHER_RULES,
    ROBOTS_RULES,
    RULES_OF_OPERATORS,
    RULES_WITH_VALUES,
)
from tests.helpers.growth import growth

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def read(*lines: str, agents: tuple[str, ...] = (), now: datetime = NOW) -> Reading:
    headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
    return read_headers(headers, now, agents)


def stated(found: Reading) -> set[tuple[str, str, str]]:
    """Return the crawler, the use and what is stated of each statement."""
    return {(each.crawler, str(each.use), str(each.stated)) for each in found.statements}


def general(found: Reading) -> dict[str, str]:
    return {str(each.use): str(each.stated) for each in found.statements if not each.crawler}


# X-Robots-Tag: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag


def test_a_rule_without_a_user_agent_is_for_all_crawlers() -> None:
    found = read("X-Robots-Tag: noindex")
    assert general(found) == {"search": "no"}
    assert found.statements[0].where == "header X-Robots-Tag"
    assert found.statements[0].text == "noindex"
    assert found.statements[0].grammar.name == "x-robots-tag"


def test_headers_can_be_combined() -> None:
    found = read(
        "X-Robots-Tag: noimageindex", "X-Robots-Tag: unavailable_after: 25 Jun 2010 15:00:00 PST"
    )
    assert stated(found) == {("", "search", "no")}
    assert not found.notes


def test_user_agents_bind_the_rules_after_them() -> None:
    found = read("X-Robots-Tag: googlebot: nofollow", "X-Robots-Tag: otherbot: noindex, nofollow")
    assert stated(found) == {("otherbot", "search", "no")}
    found = read("X-Robots-Tag: googlebot: noindex, nofollow, otherbot: nosnippet")
    assert stated(found) == {
        ("Googlebot", "search", "no"),
        ("Googlebot", "ai-input", "no"),
        ("otherbot", "snippet", "no"),
    }


def test_a_user_agent_binds_no_other_header() -> None:
    found = read("X-Robots-Tag: otherbot: nosnippet", "X-Robots-Tag: noarchive")
    assert general(found) == {"archive": "no"}


def test_names_and_values_are_not_case_sensitive() -> None:
    found = read("x-ROBOTS-tag: FOObot: NoIndex", agents=("FooBot/1.0",))
    assert stated(found) == {("FooBot", "search", "no")}
    assert found.statements[0].text == "NoIndex"


def test_a_star_is_everybody() -> None:
    found = read("X-Robots-Tag: otherbot: nofollow, *: noai")
    assert stated(found) == {("", "ai-train", "no")}
    assert found.statements[0].grammar.name == "noai"


@pytest.mark.parametrize("rule", sorted(ROBOTS_RULES))
def test_every_rule_of_the_table(rule: str) -> None:
    use, meaning = ROBOTS_RULES[rule]
    assert general(read(f"X-Robots-Tag: {rule}")) == {str(use): str(meaning)}


@pytest.mark.parametrize("rule", sorted(OTHER_RULES - {"noimageai"} - RULES_WITH_VALUES))
def test_rules_about_something_else_are_no_mistakes(rule: str) -> None:
    assert read(f"X-Robots-Tag: {rule}") == Reading()


@pytest.mark.parametrize("rule", ["max-image-preview:large", "max-video-preview:-1"])
def test_previews_are_about_something_else(rule: str) -> None:
    assert read(f"X-Robots-Tag: {rule}, max-snippet:-1") == Reading()


def test_what_rules_mean_to_crawlers_of_operators() -> None:
    for rule, meanings in RULES_OF_OPERATORS.items():
        found = read(f"X-Robots-Tag: {rule}")
        expected = {(each.crawler, str(each.use), "no") for each in meanings if each.in_headers}
        assert {each for each in stated(found) if each[0]} == expected
        for each in meanings:
            # Each fact has the page that says so.
            assert each.source.startswith("https://")
            assert datetime.fromisoformat(each.checked)
            if each.in_headers:
                assert any(each.source in note for note in found.notes)


def test_a_rule_for_one_crawler_means_nothing_to_those_of_other_operators() -> None:
    found = read("X-Robots-Tag: applebot: nosnippet")
    assert stated(found) == {("Applebot", "snippet", "no"), ("Applebot", "ai-input", "no")}
    assert stated(read("X-Robots-Tag: otherbot: noarchive")) == {("otherbot", "archive", "no")}


@pytest.mark.parametrize(
    "lines",
    [
        ["noarchive, nocache"],
        ["nocache", "noarchive"],
        ["bingbot: nocache", "noarchive"],
    ],
)
def test_bing_treats_noarchive_with_nocache_as_nocache(lines: list[str]) -> None:
    # "If content has both NOCACHE and NOARCHIVE tags, we will treat it as NOCACHE."
    found = read(*(f"X-Robots-Tag: {line}" for line in lines))
    assert not [each for each in found.statements if each.use in ("ai-input", "ai-train")]
    assert any(
        "noarchive with nocache means only nocache to bingbot" in each for each in found.notes
    )
    limit = LIMITS_OF_OPERATORS["nocache"]
    assert any(limit.what in each and limit.source in each for each in found.notes)


def test_nocache_for_another_crawler_changes_nothing_for_bing() -> None:
    found = read("X-Robots-Tag: noarchive", "X-Robots-Tag: otherbot: nocache")
    assert ("bingbot", "ai-train", "no") in stated(found)


def test_amazon_says_nothing_about_headers() -> None:
    # Its page: "page level robots meta tags of noarchive".
    assert not [each for each in stated(read("X-Robots-Tag: noarchive")) if each[0] == "Amazonbot"]


def test_lengths_of_snippets() -> None:
    found = read("X-Robots-Tag: max-snippet:0")
    assert general(found) == {"snippet": "no"}
    found = read("X-Robots-Tag: max-snippet: 1000")
    assert not found.statements
    assert found.notes[1] == "header X-Robots-Tag: snippets are limited to 1,000 characters"
    assert "Googlebot" in found.notes[0]
    # Without a number it "is ignored".
    for value in ("x", "", "1" * 11, "٣"):
        found = read(f"X-Robots-Tag: max-snippet:{value}")
        assert not found.statements
        assert found.notes[0].endswith("is ignored: it has no number")
    # The more restrictive rule applies, in Google's own example.
    assert general(read("X-Robots-Tag: max-snippet:50, nosnippet")) == {"snippet": "no"}


PASSED = [
    "25 Jun 2010 15:00:00 PST",
    "Fri, 25 Jun 2010 15:00:00 GMT",
    "Friday, 25-Jun-10 15:00:00 GMT",
    "25-Aug-2007 15:00:00 EST",
    "2020-09-21",
    "20200921",
    "2020-09-21T10:00:00+02:00",
    "2020-09-21 10:00:00 GMT",
    "2020-09-21 10:00:00 +0200",
    "2020-09-21T10:00:00Z",
    "25 Jun 2010",
    "Fri, 25 Jun 2010",
    "2026-11-28",
    "30 Nov 2026 11:59:59 GMT",
]


@pytest.mark.parametrize("date", PASSED)
def test_dates_that_have_passed(date: str) -> None:
    found = read(f"X-Robots-Tag: unavailable_after: {date}, nosnippet")
    assert general(found) == {"search": "no", "snippet": "no"}
    assert date in found.statements[0].text


@pytest.mark.parametrize(
    "date",
    [
        "Friday, 25-Jun-30 15:00:00 GMT",
        "2030-09-21",
        "9999-12-31",
        "30 Nov 2026 12:00:00 GMT",
        "2026-12-02",
    ],
)
def test_dates_to_come(date: str) -> None:
    found = read(f"X-Robots-Tag: unavailable_after: {date}, nosnippet")
    assert general(found) == {"snippet": "no"}
    assert f"header X-Robots-Tag: unavailable_after: {date} is in the future" in found.notes


@pytest.mark.parametrize("date", ["2026-11-30", "2026-11-29", "30 Nov 2026 12:00:00"])
def test_dates_that_may_have_passed(date: str) -> None:
    found = read(f"X-Robots-Tag: unavailable_after: {date}")
    assert general(found) == {"search": "undecided"}
    assert "may have passed" in found.notes[0]


@pytest.mark.parametrize(
    "date", ["", "soon", "2020-13-01", "Fri, 99 Jun 2010 15:00:00 PST", "x" * 5_000, "0000-00-00"]
)
def test_dates_that_cannot_be_read_state_nothing(date: str) -> None:
    found = read(f"X-Robots-Tag: unavailable_after: {date}, noai")
    # What follows is still for everybody.
    assert general(found) == {"ai-train": "no"}
    assert any("is ignored: no date that can be read" in each for each in found.notes)


def test_dates_at_the_end_of_time() -> None:
    assert moments_of("9999-12-31") is not None
    assert moments_of("0001-01-01 00:00") is not None
    zone = timezone(timedelta(hours=14))
    assert general(
        read("X-Robots-Tag: unavailable_after: 2020-01-01", now=NOW.astimezone(zone))
    ) == {"search": "no"}


def test_pictures() -> None:
    found = read("X-Robots-Tag: noimageai, NOAI")
    assert general(found) == {"ai-train": "no"}
    assert found.notes == ["header X-Robots-Tag: noimageai is about AI training, on pictures"]


def test_unknown_rules_are_noted() -> None:
    found = read("X-Robots-Tag: noindx, noindex nofollow, google bot: noai, noindex: yes, : x, ,")
    assert not found.statements
    assert found.notes == [
        'header X-Robots-Tag: unknown rule "noindx"',
        'header X-Robots-Tag: unknown rule "noindex nofollow": write commas between rules',
        'header X-Robots-Tag: unknown rule "google bot: noai"',
        'header X-Robots-Tag: unknown rule "noindex: yes"',
        'header X-Robots-Tag: unknown rule ": x"',
    ]


def test_two_crawlers_before_a_rule_are_a_mistake() -> None:
    found = read("X-Robots-Tag: abot: bbot: noindex")
    assert not found.statements
    assert found.notes == ['header X-Robots-Tag: unknown rule "bbot: noindex"']


def test_notes_are_few_and_short() -> None:
    found = read("X-Robots-Tag: " + ",".join(f"rule{n}{'x' * 500}" for n in range(100)))
    assert len(found.notes) == 6
    assert found.notes[-1] == "95 more unknown rules"
    assert max(map(len, found.notes)) < 200


def test_large_headers_are_cut() -> None:
    found = read("X-Robots-Tag: noindex, " + "x" * MAX_HEADER + ", noai")
    assert general(found) == {"search": "no"}
    assert found.unread == ["header X-Robots-Tag is too large: only its beginning is read"]
    found = read(*["X-Robots-Tag: noindex"] * 1_001)
    assert found.unread == ["header X-Robots-Tag is too large: only its beginning is read"]
    assert not read(*["X-Robots-Tag: noindex"] * 1_000).unread
    for name, value in (
        ("Link", "<x>; rel=license, "),
        ("tdm-reservation", "1"),
        ("tdm-policy", "x"),
    ):
        found = read(*[f"{name}: {value}"] * 1_001)
        assert found.unread == [f"header {name} is too large: only its beginning is read"]


# Robots-Tag: draft-illyes-repext-03


def test_robots_tag_example() -> None:
    found = read("Robots-Tag: *;nosnippet, ExampleBot;noindex")
    assert {each for each in stated(found) if each[0] in ("", "ExampleBot")} == {
        ("", "snippet", "no"),
        ("ExampleBot", "search", "no"),
    }
    assert {each.grammar.name for each in found.statements} == {"robots-tag"}
    assert found.statements[0].where == "header Robots-Tag"


def test_a_rule_in_place_of_a_crawler_in_robots_tag() -> None:
    found = read("Robots-Tag: noindex, ExampleBot")
    assert found.notes == [
        "header Robots-Tag: noindex is read as a crawler's name: for all, write *;noindex"
    ]
    assert not found.statements


def test_robots_tag_is_the_union_of_all_rules() -> None:
    found = read("Robots-Tag: FooBot;noindex", 'robots-tag: "foobot";nosnippet, *;noindex')
    assert {("foobot", "search", "no"), ("foobot", "snippet", "no"), ("", "search", "no")} <= {
        (crawler.lower(), use, what) for crawler, use, what in stated(found)
    }


def test_robots_tag_with_other_parameters() -> None:
    found = read('Robots-Tag: *;max-snippet=0;noindex=?0;unavailable_after="2020-09-21";x=1.5')
    assert general(found) == {"snippet": "no", "search": "no"}
    assert [each.text for each in found.statements if not each.crawler] == [
        "max-snippet:0",
        "unavailable_after:2020-09-21",
    ]
    assert 'header Robots-Tag: unknown rule "x:1.5"' in found.notes


def test_robots_tag_members_that_are_no_tokens() -> None:
    found = read("Robots-Tag: (a b);noindex, 5;noindex, ?1;noindex, FooBot;noai")
    assert stated(found) == {("FooBot", "ai-train", "no")}
    assert found.notes == ["header Robots-Tag: a member is no product token: ignored"]


@pytest.mark.parametrize("value", ["*;Noindex", "*;noindex,", "*;noindex \xe9", '"', "noindex;;"])
def test_robots_tag_that_is_no_list(value: str) -> None:
    found = read(f"Robots-Tag: {value}")
    assert not found.statements
    assert found.notes[0].startswith("header Robots-Tag is ignored: it is no structured list (")


def test_robots_tag_beyond_the_limit() -> None:
    # "Any complete and valid List members found within the processed bytes MUST be honored."
    start = '*;noindex, "a,\\"b";noai, '
    for more in ("x" * MAX_ROBOTS_TAG, "x" * (MAX_ROBOTS_TAG - 30) + ';noai="' + "," * 100):
        found = read(f"Robots-Tag: {start}{more}")
        assert general(found) == {"search": "no"}
        assert found.unread == ["header Robots-Tag: only its first 8 KiB are read"]
    # Exactly at the limit it is whole.
    whole = f"*;noindex, {'x' * (MAX_ROBOTS_TAG - 16)};noai"
    assert len(whole) == MAX_ROBOTS_TAG
    assert {use for _, use, _ in stated(read(f"Robots-Tag: {whole}"))} >= {"search", "ai-train"}
    assert not read(f"Robots-Tag: {'x' * 2 * MAX_ROBOTS_TAG}").statements


# Content-Usage: draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08


def test_content_usage_example_of_attach() -> None:
    found = read("Content-Usage: train-ai=n")
    assert stated(found) == {("", "ai-train", "no")}
    assert found.statements[0].text == "train-ai=n"
    assert found.statements[0].where == "header Content-Usage"
    assert not found.notes


def test_content_usage_example_of_vocab() -> None:
    assert stated(read("Content-Usage: train-ai=y, search=n")) == {
        ("", "ai-train", "yes"),
        ("", "search", "no"),
    }


def test_the_last_value_of_a_key_counts() -> None:
    found = read('Content-Usage: train-ai=y, train-ai, search=n, search="n"')
    assert not found.statements
    assert found.notes == [
        "header Content-Usage: train-ai must be y or n: this preference is unknown",
        "header Content-Usage: search must be y or n: this preference is unknown",
    ]
    assert stated(read("Content-Usage: train-ai=n", "Content-Usage: train-ai=y")) == {
        ("", "ai-train", "yes")
    }


def test_parameters_say_nothing() -> None:
    assert stated(read("Content-Usage: train-ai;allow=n, train-ai=y")) == {("", "ai-train", "yes")}
    assert not read('Content-Usage: train-ai;has;parameters="?";').statements
    assert stated(read("Content-Usage: train-ai=n;x;y=2")) == {("", "ai-train", "no")}


@pytest.mark.parametrize("value", ["Train-AI=n", "train-ai=n,", "train-ai=n; ", "\xe4", "\ud800=n"])
def test_content_usage_that_is_no_dictionary(value: str) -> None:
    found = read(f"Content-Usage: {value}, search=n")
    assert not found.statements
    assert "all preferences are unknown" in found.notes[0]


def test_content_usage_with_other_values_and_labels() -> None:
    found = read("Content-Usage: train-ai=Y, search=(y), foo=n, bar")
    assert not found.statements
    assert found.notes[2:] == [
        'header Content-Usage: "foo" is about none of these uses',
        'header Content-Usage: "bar" is about none of these uses',
    ]


def test_a_large_content_usage_is_unknown() -> None:
    found = read("Content-Usage: train-ai=n, a=" + "x" * MAX_HEADER)
    assert not found.statements
    assert found.unread == ["header Content-Usage is too large"]


def test_only_structured_fields_need_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: Callable[..., Any] = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "http_sf":
            raise ImportError(name)
        return imported(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    found = read("X-Robots-Tag: noindex", "Link: </l>; rel=license", "tdm-reservation: 1")
    assert general(found) == {"search": "no", "tdm": "no"}
    for header in ("Robots-Tag: *;noindex", "Content-Usage: search=y"):
        with pytest.raises(MissingExtraError, match="'signals'"):
            read(header)


# TDMRep: https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/


def test_tdm_example_without_policy() -> None:
    found = read("Content-type: image/jpg", "tdm-reservation: 1")
    assert stated(found) == {("", "tdm", "no")}
    assert found.statements[0].where == "header tdm-reservation"
    assert found.statements[0].grammar.name == "tdmrep"
    assert not found.licenses


def test_tdm_example_with_policy() -> None:
    found = read("tdm-reservation: 1", "tdm-policy: https://provider.com/policies/policy.json")
    assert [(each.url, each.where) for each in found.licenses] == [
        ("https://provider.com/policies/policy.json", "header tdm-policy")
    ]
    assert not found.notes


def test_no_reservation() -> None:
    found = read("TDM-Reservation:  0 ", "TDM-Policy: /policy.json")
    assert stated(found) == {("", "tdm", "yes")}
    # "TDM Agents SHOULD NOT process tdm-policy in this case."
    assert not found.licenses
    assert found.notes == ["header tdm-policy: tdm-policy is ignored: nothing is reserved"]


@pytest.mark.parametrize("value", ["", "2", "true", "1, 1", "01", "\uff11"])
def test_other_reservations_are_errors_that_mean_nothing(value: str) -> None:
    found = read(f"tdm-reservation: {value}")
    assert not found.statements
    assert "must be 0 or 1" in found.notes[0]


def test_reservations_that_contradict_one_another() -> None:
    found = read("tdm-reservation: 0", "tdm-reservation: 1", "tdm-reservation: 1")
    assert {(each.text, str(each.stated)) for each in found.statements} == {
        ("tdm-reservation: 0", "undecided"),
        ("tdm-reservation: 1", "undecided"),
    }


def test_policies_that_are_no_urls() -> None:
    for value in ("", "a b", "https://x/" + "y" * 3_000, "/\x07"):
        found = read("tdm-reservation: 1", f"tdm-policy: {value}")
        assert not found.licenses
        assert "tdm-policy is no URL" in found.notes[0]


# Link: RFC 8288


def test_links_to_licenses() -> None:
    found = read(
        'Link: <https://shop.example/license.xml>; rel="license"; type="application/rsl+xml"',
        'Link: </style.css>; rel=preload, </a,b>; REL="Next License"; title="x, <y>; rel=z"',
    )
    assert [each.url for each in found.licenses] == ["https://shop.example/license.xml", "/a,b"]
    assert {each.where for each in found.licenses} == {"header Link"}
    assert not found.notes


def test_a_license_of_something_else() -> None:
    found = read('Link: </l.xml>; rel=license; anchor="/other"')
    assert not found.licenses
    assert found.notes == ['header Link: "/l.xml" is the license of something else']
    found = read("Link: < >; rel=license")
    assert found.notes == ['header Link: the license is no URL: ""']


def test_parameters_of_links() -> None:
    text = r'<a>;rel="x\"y" ; ;; b = c ;d; rel=license;=e;f="open, <b>;rel=license'
    [first, *_] = links_in(text)
    assert first.parameters == {"rel": 'x"y', "": "", "b": "c", "d": "", "f": '"open'}
    assert first.relations == {'x"y'}
    assert [each.target for each in links_in("<a> , ,<b>")] == ["a", "b"]
    for broken in ("", "a", "<a", "x <a>", "<a>; rel=license x<b>"):
        assert [each.target for each in links_in(broken)] in ([], ["a"])


def test_many_links() -> None:
    assert len(list(links_in("<a>," * 2_000))) == 1_000
    assert len(read("Link: " + "</l>;rel=license," * 2_000).licenses) == 1


# Others


def test_content_signal_is_no_header() -> None:
    found = read("Content-Signal: ai-train=no")
    assert not found.statements
    [note] = found.notes
    assert note.startswith('header Content-Signal: "ai-train=no" is ignored: ')


def test_other_headers_say_nothing() -> None:
    assert read("Content-Type: text/html", "Server: noindex", ": x") == Reading()


# Hostile headers

NAMES = ["X-Robots-Tag", "Robots-Tag", "Content-Usage", "tdm-reservation", "tdm-policy", "Link"]
PIECES = ["noindex", "googlebot:", "unavailable_after:", "2020-01-01", "max-snippet:", ",", ";",
          "=", '"', "<", ">", "\\", "(", ")", "*", "train-ai=n", "rel=license", "1", " ", "?1"]  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*NAMES, "Content-Signal"]),
            st.text() | st.lists(st.sampled_from(PIECES)).map("".join),
        )
    )
)
def test_no_header_raises(headers: list[tuple[str, str]]) -> None:
    found = read_headers(headers, NOW)
    for each in found.statements:
        assert each.where
        assert len(each.text) <= 200


@given(st.text(max_size=200))
def test_no_date_raises(text: str) -> None:
    moments = moments_of(text)
    assert moments is None or moments[0] <= moments[1]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    ["a: ", "a:", "noindex,", "unavailable_after: Fri, ", "<a>;", '<a>;b="', "(", "a;b,", '"', ";"],
)
def test_time_grows_with_the_size(name: str, text: str) -> None:
    def run(size: int) -> None:
        read_headers([(name, text * (size // len(text)))], NOW)

    assert growth(run, 12_000) < 10
