"""tdmrep.json: the examples of the protocol, then faults, and hostile files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koster.signals._limits import MAX_DOCUMENT
from koster.signals._model import Reading
from koster.signals._tdmrep import read_tdmrep
from tests.helpers.growth import growth

PAGE = "https://provider.com/directory-b/html/page.html"


def read(rules: Any, url: str = PAGE) -> Reading:
    body = rules if isinstance(rules, bytes) else json.dumps(rules).encode()
    return read_tdmrep(body, url)


def stated(found: Reading) -> list[tuple[str, str]]:
    assert {each.use.value for each in found.statements} <= {"tdm"}
    assert {each.grammar.name for each in found.statements} <= {"tdmrep"}
    return [(each.where, str(each.stated)) for each in found.statements]


def rule(location: str, value: object = 1, **others: str) -> dict[str, object]:
    return {"location": location, "tdm-reservation": value, **others}


# https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/


def test_example_for_every_file() -> None:
    found = read(b'[\n  {\n  "location": "/",\n  "tdm-reservation": 1\n  }\n]')
    assert stated(found) == [("/.well-known/tdmrep.json#/0/tdm-reservation", "no")]
    assert found.statements[0].text == "/: tdm-reservation 1"
    assert not found.notes
    assert not found.licenses


GROUPS = [
    rule("/directory-a/"),
    rule("/directory-b/html/", **{"tdm-policy": "https://provider.com/policies/policy.json"}),
    rule("/directory-b/images/*.jpg", 0),
]


def test_example_with_three_groups() -> None:
    found = read(GROUPS)
    assert stated(found) == [("/.well-known/tdmrep.json#/1/tdm-reservation", "no")]
    assert [(each.url, each.where) for each in found.licenses] == [
        ("https://provider.com/policies/policy.json", "/.well-known/tdmrep.json#/1/tdm-policy")
    ]
    found = read(GROUPS, "https://provider.com/directory-a/x.pdf")
    assert stated(found) == [("/.well-known/tdmrep.json#/0/tdm-reservation", "no")]
    assert not found.licenses
    found = read(GROUPS, "https://provider.com/directory-b/images/a/b.jpg")
    assert stated(found) == [("/.well-known/tdmrep.json#/2/tdm-reservation", "yes")]
    # "If no match is found, tdm-reservation is unset"
    assert read(GROUPS, "https://provider.com/directory-b/images/a.png") == Reading()


def test_the_first_match_in_sequence_counts() -> None:
    found = read([rule("/", 0), rule("/directory-b/html/page.html")])
    assert stated(found) == [("/.well-known/tdmrep.json#/0/tdm-reservation", "yes")]


@pytest.mark.parametrize(
    ("location", "url", "is_match"),
    [
        ("/path/foo-%24", "https://provider.com/path/foo-$", True),
        ("/this/path/exactly$", "https://provider.com/this/path/exactly", True),
        ("/this/path/exactly$", "https://provider.com/this/path/exactly/not", False),
        ("/this/*/then", "https://provider.com/this/path/then/x", True),
        ("*.pdf$", "/a.pdf", True),
        # "a percent-encoded US-ASCII character … MUST be unencoded prior to comparison, unless it
        # is a reserved character"
        ("/%62", "/b", True),
        ("/b", "/%62", True),
        ("/a%2Fb", "/a/b", False),
        ("/A", "/a", False),
        ("/a b", "/a%20b", True),
        ("/a", "/a#b", True),
        ("/a#b", "/a", False),
        ("/a#b", "/a%23b", True),
        ("/x\nAllow: /", "/a", False),
        ("/x\r\n\r\nUser-agent: *\nAllow: /", "/a", False),
        ("/a ", "/a", False),
        ("/\ud800", "/", False),
        ("/robots.txt", "/robots.txt", True),
    ],
)
def test_locations(location: str, url: str, is_match: bool) -> None:
    assert bool(read([rule(location)], url).statements) is is_match


def test_a_policy_without_reservation_is_ignored() -> None:
    found = read([rule("/", 0, **{"tdm-policy": "/policy.json"})])
    assert not found.licenses
    assert found.notes == [
        "/.well-known/tdmrep.json#/0/tdm-policy: tdm-policy is ignored: nothing is reserved"
    ]


def test_policies() -> None:
    found = read([rule("/", **{"tdm-policy": "policy.json"})])
    assert [each.url for each in found.licenses] == [
        "https://provider.com/directory-b/html/policy.json"
    ]
    for policy in ("", "a b", "http://[", "/" + "x" * 3_000):
        found = read([rule("/", **{"tdm-policy": policy})])
        assert len(found.statements) == 1
        assert not found.licenses
        assert "tdm-policy is no URL" in found.notes[0]
    assert "no URL" in read([{**rule("/"), "tdm-policy": 1}]).notes[0]
    assert not read([{**rule("/"), "tdm-policy": None}]).notes


@pytest.mark.parametrize("value", [2, -1, 0.5, "yes", "", None, [], {}, 10**400])
def test_other_values_are_errors_that_mean_nothing(value: object) -> None:
    # "Other values are considered protocol errors. In such a case … tdm-reservation is unset."
    found = read([rule("/", value), rule("/", 1)])
    assert found == Reading(
        notes=["/.well-known/tdmrep.json#/0/tdm-reservation must be 0 or 1: nothing is stated"]
    )


@pytest.mark.parametrize("value", ["0", "1", True, False])
def test_values_of_other_types_are_undecided(value: object) -> None:
    found = read([rule("/", value, **{"tdm-policy": "/p"})])
    assert stated(found) == [("/.well-known/tdmrep.json#/0/tdm-reservation", "undecided")]
    assert found.statements[0].text == f"/: tdm-reservation {json.dumps(value)}"
    assert found.notes[0] == (
        "/.well-known/tdmrep.json#/0/tdm-reservation must be a number, 0 or 1"
    )
    assert bool(found.licenses) is (value in ("1", True))


def test_numbers_with_a_fraction_are_numbers() -> None:
    assert stated(read(b'[{"location": "/", "tdm-reservation": 1.0}]'))[0][1] == "no"


def test_a_rule_without_a_reservation() -> None:
    found = read([{"location": "/"}, rule("/")])
    assert found == Reading(
        notes=["/.well-known/tdmrep.json#/0 has no tdm-reservation: nothing is stated"]
    )


def test_rules_that_match_nothing_are_noted() -> None:
    found = read(
        [5, {}, rule("directory/"), rule(""), rule("https://provider.com/"), [], rule("/", 0)]
    )
    assert stated(found) == [("/.well-known/tdmrep.json#/6/tdm-reservation", "yes")]
    assert found.notes == [
        "/.well-known/tdmrep.json#/0 is not an object: ignored",
        "/.well-known/tdmrep.json#/1/location must be a path: ignored",
        '/.well-known/tdmrep.json#/2/location must be a path, not "directory/": ignored',
        '/.well-known/tdmrep.json#/3/location must be a path, not "": ignored',
        '/.well-known/tdmrep.json#/4/location must be a path, not "https://provider.com/": ignored',
        "1 more note",
    ]


UNDECIDED = [("/.well-known/tdmrep.json", "undecided")]


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (b"", "Expecting value"),
        (b"[", "Expecting value"),
        (b"{}", "it must be an array of rules"),
        (b'{"location": "/", "tdm-reservation": 1}', "it must be an array of rules"),
        (b"1", "it must be an array of rules"),
        (b'[{"location": "/", "tdm-reservation": NaN}]', "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (
            b'[{"location": "/", "tdm-reservation": 1,}]',
            "Illegal trailing comma|Expecting property",
        ),
        (b"\xff", "can't decode"),
        ('[{"location": "/"}]'.encode("utf-16"), "can't decode"),
        (b"[" * 100_000, "too deeply|Expecting value"),
        (b"[" * 100_000 + b"]" * 100_000, "too deeply"),
        (b'[{"a":' * 50_000, "too deeply|Expecting value"),
        (b"[" * 300 + b"]" * 300, "too deeply"),
        (b"[" + b"1" * 5_000 + b"]", "digits"),
        (b" " * (MAX_DOCUMENT + 1), "larger than 1 MiB"),
    ],
)
def test_files_that_cannot_be_read_are_undecided(body: bytes, note: str) -> None:
    found = read(body)
    assert stated(found) == UNDECIDED
    [said] = found.unread
    assert said.startswith("/.well-known/tdmrep.json cannot be read: ")
    assert any(each in said for each in note.split("|"))


def test_a_byte_order_mark_is_ignored() -> None:
    assert stated(read(b"\xef\xbb\xbf" + json.dumps([rule("/")]).encode()))[0][1] == "no"


def test_an_html_page_is_no_file_of_the_protocol() -> None:
    # "Failure to provide access … implies that the origin server does not implement this protocol"
    found = read(b"\n<!DOCTYPE html><title>Not found</title>")
    assert found == Reading(notes=["/.well-known/tdmrep.json is an HTML page, not JSON"])


def test_repeated_names() -> None:
    found = read(b'[{"location": "/", "tdm-reservation": 0, "tdm-reservation": 1}]')
    assert stated(found)[0][1] == "no"
    assert found.notes == [
        "/.well-known/tdmrep.json: a name is repeated in an object: the last one counts"
    ]


def test_many_rules() -> None:
    found = read([rule(f"/{number}") for number in range(5_001)], "/x")
    assert stated(found) == UNDECIDED
    assert found.notes == [
        "/.well-known/tdmrep.json has more than 5,000 rules: the others are not read"
    ]
    assert read([rule(f"/{number}") for number in range(5_000)], "/x") == Reading()
    found = read([rule("/"), *([rule("/a")] * 6_000)], "/x")
    assert stated(found)[0][1] == "no"
    assert len(read([1] * 6_000, "/x").notes) < 10


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    read(body)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["location", "tdm-reservation", "tdm-policy", "x"]), VALUES)
        | VALUES
    ),
    st.text(),
)
def test_no_json_raises(rules: list[Any], url: str) -> None:
    read(json.dumps(rules).encode(), url)


@pytest.mark.parametrize("text", ["/*a", "/", "/**", "/%", "/\\u0000", "/$"])
def test_time_grows_with_the_size(text: str) -> None:
    def run(size: int) -> None:
        location = text * (size // len(text))
        read(f'[{{"location": "{location}", "tdm-reservation": 1}}]'.encode(), "/" + "a" * 5_000)
        one = f'{{"location": "{text}x", "tdm-reservation": 1}}'
        read(f"[{','.join([one] * (size // 100))}]".encode(), "/a")

    assert growth(run, MAX_DOCUMENT // 64) < 10
