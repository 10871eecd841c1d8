"""The public API of a parsed file: types, errors, pickling, threads and the cache of agents."""

from __future__ import annotations

import dataclasses
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import koster
from koster._asking import allowed_for_data, file_of
from koster.dialects import Orphans
from tests.helpers.support import EVERYTHING, ROOT, all_cases, bodies, sampled

BODY = "User-agent: *\nDisallow: /private\nAllow: /private/press\n\nUser-agent: FooBot\nDisallow:"


def test_quick_start() -> None:
    robots = koster.parse(BODY)
    assert not robots.allowed("https://example.com/private/x", "BarBot")
    assert robots.decide("https://example.com/private/x", "BarBot").rule == koster.Rule(
        koster.Directive.DISALLOW, "/private", line=2, allow=False, column=11
    )


def test_decision_is_truthy_and_has_a_message() -> None:
    robots = koster.parse(BODY)
    decision = robots.decide("/private", "BarBot")
    assert not decision
    assert robots.decide("/private/press", "BarBot")
    assert str(decision) == "BarBot may not fetch /private: line 2, Disallow: /private"
    assert str(robots.decide("/", ("A", "FooBot"))) == (
        "A may fetch /: no rule matches (falls back to FooBot)"
    )
    assert str(koster.parse("").decide("/", "A")) == "A may fetch /: no group applies"
    assert decision.dialect is koster.RFC9309
    assert (decision.agent, decision.url) == ("BarBot", "/private")


@pytest.mark.parametrize("agent", ["BarBot", ("A", "FooBot"), ("FooBot",)])
def test_values_are_complete(agent: str | tuple[str, ...]) -> None:
    """The engine makes them without their constructors."""
    robots = koster.parse(b"User-agent: *\nAllow: /a # b\n\nDisallow:\nx\nUser-agent: FooBot\n")
    decisions = [robots.decide(url, agent) for url in ("/a", "/robots.txt", "/b")]
    rules = [rule for group in robots.groups for rule in group.rules]
    for value in (*decisions, *robots.lines, *rules):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        assert type(value)(**fields) == value
        assert pickle.loads(pickle.dumps(value)) == value
    assert decisions[0].falls_back_to == ("FooBot" if len(agent) == 2 else "")
    assert (decisions[0].why, decisions[0].reason) == (
        "",
        koster.Reason.NO_RULE if "FooBot" in agent else koster.Reason.RULE,
    )


def test_values_are_frozen() -> None:
    decision = koster.parse(BODY).decide("/private", "BarBot")
    for value in (decision, decision.rule, decision.group, koster.RFC9309):
        with pytest.raises((AttributeError, TypeError)):
            value.line = 5  # type: ignore[misc, union-attr]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: koster.parse(5), "body must be bytes or str, not int"),  # type: ignore[arg-type]
        (lambda: koster.parse(None), "body must be bytes or str, not NoneType"),  # type: ignore[arg-type]
        (lambda: koster.parse("", "RFC9309"), "dialect must be a koster.Dialect, not str; see koster.dialect_named"),  # type: ignore[arg-type]
        (lambda: koster.parse("").allowed(b"/", "x"), "url must be a str, not bytes"),  # type: ignore[arg-type]
        (lambda: koster.parse("").allowed(None, "x"), "url must be a str, not NoneType"),  # type: ignore[arg-type]
        (lambda: koster.parse("").decide(5, "x"), "url must be a str, not int"),  # type: ignore[arg-type]
        (lambda: koster.parse("").allowed("/", None), "agent must be a str or a sequence of str, not NoneType"),  # type: ignore[arg-type]
        (lambda: koster.parse("").allowed("/", b"x"), "agent must be a str or a sequence of str, not bytes"),  # type: ignore[arg-type]
        (lambda: koster.parse("").rules_for(("x", 5)), "agent must be made of str, not int"),  # type: ignore[arg-type]
        (lambda: koster.parse("").rules_for("x").allowed_many("/"), "urls must be an iterable of str, not one str"),
        (lambda: koster.parse("").rules_for("x").allowed_many([b"/"]), "url must be a str, not bytes"),  # type: ignore[list-item]
        (lambda: koster.parse("").rules_for("x").open_at("now"), "now must be a datetime, not str"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_wrong_types(call: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("type_", [bytearray, memoryview])
def test_bytes_like_bodies(type_: Any) -> None:
    assert not koster.parse(type_(b"User-agent: *\nDisallow: /")).allowed("/", "x")


def test_uninitialized_objects_do_not_crash() -> None:
    robots = koster.RobotsTxt.__new__(koster.RobotsTxt)
    rules = koster.Rules.__new__(koster.Rules)
    for call in (
        lambda: robots.allowed("/", "x"), lambda: robots.groups, lambda: robots.lines,
        lambda: robots.sitemaps, lambda: repr(robots), lambda: rules.allowed("/"),
        lambda: rules.decide("/"), lambda: rules.crawl_delay, lambda: repr(rules),
        lambda: pickle.dumps(rules), lambda: robots.body, lambda: robots.__sizeof__(),
        lambda: koster.Rules(robots, "x"), lambda: rules.groups, lambda: rules.agent.x,  # type: ignore[union-attr]
    ):  # fmt: skip
        with pytest.raises((AttributeError, TypeError)):
            call()


def test_subclasses_of_str() -> None:
    class Name(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "other"

    robots = koster.parse(Name(BODY))
    assert robots.allowed(Name("/private"), Name("FooBot"))
    assert not robots.allowed(Name("/private"), (Name("x"), Name("BarBot")))
    assert not robots.decide(Name("/private"), Name("BarBot"))
    assert pickle.loads(pickle.dumps(robots.rules_for(Name("FooBot")))).allowed("/private")


def test_groups_and_rules_of_a_large_file_take_linear_time() -> None:
    usual = 200_000 if koster.COMPILED else 5_000
    for end, dialect in (
        ("\n", koster.RFC9309),
        ("\r", koster.MK1996),
        ("\n", koster.EXTENDED2_1996),
    ):
        count = usual if EVERYTHING or dialect is koster.RFC9309 else usual // 5
        body = f"User-agent: a{end}Disallow:{end}Disallow: /x{end}{end}" * (count // 4)
        robots = koster.parse(body, dialect)
        rules = [rule for group in robots.groups for rule in group.rules]
        assert len(rules) == count // 2
        assert rules[-1].line == count - 1
        assert rules[0].allow == (dialect is not koster.RFC9309)


def test_long_names_are_found_in_linear_time() -> None:
    count = 400 if koster.COMPILED else 40
    body = b"".join(b"User-agent: " + b"a" * (3800 + each) + b"\n" for each in range(count))
    assert koster.parse(body + b"Disallow: /\n").allowed("/", "a" * 8190 + " x")
    records = (b"User-agent: " + b"a" * 3999 + b"b\nDisallow: /\n") * count
    assert koster.parse(records, koster.MK1994).allowed("/", "a" * 8192)
    assert not koster.parse("User-agent: b c\nDisallow: /").allowed("/", "ab c b c; x")


def test_rules_of_a_group_are_a_sequence() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % each for each in range(20_000))
    rules = koster.parse(body).groups[0].rules
    assert next(reversed(rules)) == rules[-1]
    assert rules.index(rules[-1]) == 19_999
    assert [rules[each].line for each in range(20_000)] == list(range(2, 20_002))
    rules = koster.parse(BODY).groups[0].rules
    assert repr(rules) == repr(tuple(rules))
    assert pickle.loads(pickle.dumps(rules)) == tuple(rules)


def test_two_words_with_spaces_after_them_are_directive_and_value() -> None:
    lines = koster.parse("User-agent * \t\nDisallow\t/a  \n a b \t c \n").lines
    assert [(line.key, line.value) for line in lines] == [
        ("User-agent", "*"), ("Disallow", "/a"), ("", ""),
    ]  # fmt: skip


def test_file_with_the_maximum_number_of_lines() -> None:
    size = (1 << 24) + 10 if koster.COMPILED else 1 << 12
    robots = koster.parse(b"User-agent: *\nDisallow: /" + b"\n" * size, koster.MK1994)
    assert not robots.allowed("/", "x")
    assert len(robots.body) <= (1 << 24) - 1


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_at_most_sixteen_mebibytes_are_parsed(end: bytes) -> None:
    """Rules in lines that are whole in the first 16 MiB less one byte apply, later ones do not."""
    first = b"User-agent: *" + end + b"Disallow: /a" + end + b"#"
    last = end + b"Disallow: /b" + end
    padding = (16 << 20) - 1 - len(first) - len(last)
    for more, is_read in ((0, True), (1, False)):
        body = first + b"x" * (padding + more) + last + b"Disallow: /c" + end
        robots = koster.parse(body)
        assert robots.body.endswith(end)
        assert not robots.allowed("/a", "FooBot")
        assert robots.allowed("/b", "FooBot") == (not is_read)
        assert robots.allowed("/c", "FooBot")


def test_names_and_columns_of_odd_lines() -> None:
    line = koster.parse("a: b\n\ufeffDisallow: /\n").lines[1]
    assert (line.key, line.kind) == ("\ufeffDisallow", koster.LineKind.UNKNOWN)
    for start in (b"\xef", b"\xef\xbb"):
        line = koster.parse(start + b"User-agent: x", koster.GOOGLE).lines[0]
        assert (line.key, line.kind) == ("User-agent", koster.LineKind.DIRECTIVE)
    lines = koster.parse("\ufeff foo\nDisallow:\n  Disallow:  # c").lines
    assert [line.column for line in lines] == [5, 1, 3]


@pytest.mark.parametrize("dialect", [koster.MK1994, koster.MK1996, koster.EXTENDED2])
def test_empty_name_is_in_no_agent(dialect: koster.Dialect) -> None:
    robots = koster.parse("User-agent:\nUser-agent: a\nDisallow: /\n", dialect)
    assert (robots.allowed("/x", "b"), robots.allowed("/x", "a")) == (True, False)


def test_comments_only_after_white_space() -> None:
    from dataclasses import replace

    from koster.dialects import Comments

    dialect = replace(koster.RFC9309, name="AFTER_SPACE", comments=Comments.AFTER_SPACE)
    body = "#c\nUser-agent: *\t# all\nDisallow: /a#b # c\r # d\nDisallow: /e\n#Disallow: /"
    robots = koster.parse(body, dialect)
    assert robots.allowed("/a", "x")
    assert not robots.allowed("/a%23b", "x")
    assert not robots.allowed("/e", "x")
    assert [line.comment for line in robots.lines] == ["c", "all", "c", "d", None, "Disallow: /"]


def test_constructors() -> None:
    robots = koster.RobotsTxt(BODY)
    assert not robots.allowed("/private", "BarBot")
    assert not koster.Rules(robots, "BarBot").allowed("/private")
    with pytest.raises(TypeError):
        koster.RobotsTxt(5)  # type: ignore[arg-type]


_LONG = 1_000_000 if koster.COMPILED or EVERYTHING else 100_000


@pytest.mark.parametrize(
    "text", ["\ud800", "\0", "http://[x/", "a" * _LONG, "/" + "%" * _LONG, "\U0010ffff" * 9]
)
def test_odd_strings_get_a_verdict(text: str) -> None:
    body = "User-agent: *\nDisallow: /%25*b\n" * 50
    for dialect in koster.DIALECTS.values():
        robots = koster.parse(body, dialect)
        assert robots.allowed(text, "FooBot") == robots.decide(text, "FooBot").allowed
        assert robots.allowed("/x", text)
        assert robots.rules_for((text, text)).allowed("/x")
        assert koster.parse(text.encode("utf-8", "surrogatepass"), dialect).allowed(text, text)


def test_lone_surrogates_are_three_bytes() -> None:
    robots = koster.parse("User-agent: *\nDisallow: /%ED%A0%80\n")
    assert not robots.allowed("/\ud800", "x")
    robots = koster.parse("User-agent: *\nDisallow: /\ud800\n")
    assert not robots.allowed("/%ED%A0%80", "x")


def test_long_agent_among_many_names() -> None:
    count = (20_000 if EVERYTHING else 4_000) if koster.COMPILED else 200
    body = "".join(f"User-agent: bot{number}\nDisallow: /\n" for number in range(count))
    for dialect in koster.DIALECTS.values():
        robots = koster.parse(body, dialect)
        assert robots.allowed("/", "x (" + "bo" * 500_000)


def test_all_lines() -> None:
    robots = koster.parse(
        b"\xef\xbb\xbfUser-agent : Foo # bar\r\n\r# note\nnonsense\nx: y\nDisallow /a"
    )
    kinds = koster.LineKind
    assert [
        (line.number, line.kind, line.key, line.value, line.comment, line.column, line.directive)
        for line in robots.lines
    ] == [
        (1, kinds.DIRECTIVE, "User-agent", "Foo", "bar", 17, koster.Directive.USER_AGENT),
        (2, kinds.BLANK, "", "", None, 1, None),
        (3, kinds.COMMENT, "", "", "note", 1, None),
        (4, kinds.MALFORMED, "", "", None, 1, None),
        (5, kinds.UNKNOWN, "x", "y", None, 4, None),
        (6, kinds.DIRECTIVE, "Disallow", "/a", None, 10, koster.Directive.DISALLOW),
    ]
    assert robots.lines[0].text == "\ufeffUser-agent : Foo # bar"


@pytest.mark.parametrize("dialect", koster.DIALECTS.values(), ids=str)
def test_directives_of_lines_are_those_of_all_lines(dialect: koster.Dialect) -> None:
    """Some dialects have rows for blank and unknown lines, too."""
    robots = koster.parse("User-agent: *\nfoo: x\n\nDisallow: /a\n# b\nAllow\n", dialect)
    for numbers in (range(8), range(2, 5)):
        lines = [line for line in robots.lines if line.number in numbers]
        expected = {line.number: line.directive for line in lines if line.directive is not None}
        assert file_of(robots).directives_of(numbers) == expected


def test_groups() -> None:
    robots = koster.parse(BODY)
    assert [(group.agents, group.line, len(group.rules)) for group in robots.groups] == [
        (("*",), 1, 2),
        (("FooBot",), 5, 1),
    ]
    rules = robots.groups[0].rules
    assert rules == tuple(rules)
    assert hash(rules) == hash(tuple(rules))
    assert rules[-1] == rules[1]
    assert rules != [1]
    assert [str(rule) for rule in rules] == ["Disallow: /private", "Allow: /private/press"]
    assert robots.rules_for("FooBot").groups == (robots.groups[1],)


def test_file_level_directives() -> None:
    robots = koster.parse(
        "Content-Signal: ai-train=no\nUser-agent: *\nDisallow: /\n"
        "Sitemap: https://e.com/s.xml\nSitemaps: /t.xml\nSite-map:\nHost: e.com\n"
        "Clean-param: s&t /forum\nClean-param: u\nClean-param: a b c\n"
        "License: https://e.com/l.xml\nLicense: https://e.com/m.xml\n"
    )
    assert robots.sitemaps == ("https://e.com/s.xml", "/t.xml")
    assert robots.hosts == ("e.com",)
    assert robots.licenses == ("https://e.com/l.xml", "https://e.com/m.xml")
    assert robots.clean_params == (
        koster.CleanParam(("s", "t"), "/forum", 8),
        koster.CleanParam(("u",), "/", 9),
    )
    assert [(each.key, each.value) for each in robots.preferences] == [("ai-train", "no")]


def test_invalid_utf8_round_trips() -> None:
    robots = koster.parse(b"User-agent: *\nDisallow: /caf\xe9\nSitemap: \xff")
    rule = robots.decide("/caf%E9", "x").rule
    assert rule is not None
    assert rule.pattern.encode("utf-8", "surrogateescape") == b"/caf\xe9"
    assert robots.sitemaps[0].encode("utf-8", "surrogateescape") == b"\xff"
    assert str(robots.decide("/caf%E9", "x")).encode()


def test_pickling() -> None:
    for case in sampled(all_cases(), 8 if koster.COMPILED else 16):
        robots = koster.parse(case.body, case.dialect)
        unpickled = pickle.loads(pickle.dumps(robots))
        rules = pickle.loads(pickle.dumps(robots.rules_for(case.agent)))
        assert unpickled.dialect == case.dialect
        assert unpickled.body == robots.body
        # A decision has its group: those of large files take seconds to compare.
        for url in list(case.expected)[: 1 + 10_000 // (1 + len(case.body))]:
            decision = robots.decide(url, case.agent)
            assert unpickled.decide(url, case.agent) == decision
            assert rules.decide(url) == decision
            assert pickle.loads(pickle.dumps(decision)) == decision


def test_pickles_work_across_compiled_and_pure() -> None:
    robots = koster.parse(BODY, koster.GYM2008)
    for value in (robots, robots.rules_for("BarBot")):
        expression = (
            "value.allowed('/private/x', 'BarBot')"
            if value is robots
            else "value.allowed('/private/x')"
        )
        for pure in ("0", "1"):
            code = f"import pickle, sys, koster; value = pickle.load(sys.stdin.buffer); print({expression})"
            process = subprocess.run(
                [sys.executable, "-c", code], input=pickle.dumps(value), capture_output=True,
                env={"KOSTER_PURE": pure, "PYTHONPATH": str(ROOT / "src")}, check=True,
            )  # fmt: skip
            assert process.stdout.strip() == b"False"


def test_one_file_shared_by_eight_threads(conformance_data: None) -> None:
    """More agents than the cache holds, and enough lookups to build indexes meanwhile."""
    largest = sorted(bodies("verdicts.tsv.gz").values(), key=len)[-3:]
    agents = [f"Bot{number}" for number in range(100)] + ["Googlebot", "*", "GPTBot (x)"]
    urls = ["/", "/a/b?c=d", "/%7Euser/x.pdf", "/search?q=1"] * 3
    for body in largest:
        shared = koster.parse(body)
        expected = {
            agent: koster.parse(body).rules_for(agent).allowed_many(urls) for agent in agents
        }

        def check(start: int, shared: koster.RobotsTxt = shared, expected: Any = expected) -> bool:
            order = agents[start:] + agents[:start]
            return all(
                [shared.allowed(url, agent) for url in urls] == expected[agent] for agent in order
            )

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(check, range(0, 96, 4 if koster.COMPILED or EVERYTHING else 12)))


def test_cache_of_prepared_agents_is_bounded() -> None:
    robots = koster.parse(BODY)
    first = robots.rules_for("Bot0")
    for number in range(1, 64):
        robots.rules_for(f"Bot{number}")
        assert robots.rules_for("Bot0") is first
    for number in range(64, 200):
        robots.rules_for(f"Bot{number}")
    assert robots.rules_for("Bot0") is not first
    assert robots.rules_for("Bot199") is robots.rules_for("Bot199")


def test_rules_of_the_last_64_agents_are_cached() -> None:
    robots = koster.parse(BODY)
    rules = [robots.rules_for(f"Bot{number}") for number in range(64)]
    robots.rules_for("Bot64")
    assert robots.rules_for("Bot1") is rules[1]
    assert robots.rules_for("Bot0") is not rules[0]


def test_memory_of_a_parsed_file(conformance_data: None) -> None:
    if not koster.COMPILED:
        pytest.skip("pure Python keeps objects of its own: not counted")
    for site, body in bodies("verdicts.tsv.gz").items():
        robots = koster.parse(body)
        assert sys.getsizeof(robots) + sys.getsizeof(body) <= 2 * len(body) + 2048, site


def test_size_in_memory() -> None:
    head = "User-agent: *\nAllow: /\n"
    robots = [koster.parse(head + "Disallow: /a\n" * count) for count in (1, 201)]
    # A line is three integers; a rule six, its key and the bytes of its pattern.
    assert sys.getsizeof(robots[1]) - sys.getsizeof(robots[0]) == 200 * 12
    rules = [each.rules_for("x") for each in robots]
    assert sys.getsizeof(rules[1]) - sys.getsizeof(rules[0]) == 200 * (24 + 8 + len("/a"))
    before = sys.getsizeof(rules[1])
    for _ in range(4):
        rules[1].allowed("/")
    # An index has the numbers of the two rules that decide, eight integers for each of the nodes
    # "", "/" and "a", and the text of the prefixes.
    assert sys.getsizeof(rules[1]) - before == 4 * 2 + 32 * 3 + len("/" + "/a")


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.MK1996, koster.EXTENDED2], ids=str)
def test_names_in_the_first_8192_bytes_of_a_header_are_found(dialect: koster.Dialect) -> None:
    robots = koster.parse("User-agent: FooBot\nDisallow: /", dialect)
    for size in (8192, 8193):
        header = "x (" + "FooBot".rjust(size - 3)
        assert robots.rules_for(header).is_named == (size == 8192)


def test_names_of_large_files_are_indexed_for_many_agents() -> None:
    body = "".join(f"User-agent: bot{number}x y\nDisallow: /{number}\n" for number in range(9_000))
    robots = koster.parse(body)
    first = [group.rules[0] for group in robots.groups[:20]]
    before = sys.getsizeof(robots)
    for number in range(20):
        assert robots.decide(f"/{number}", f"Bot{number}X").rule == first[number]
        assert (sys.getsizeof(robots) > 2 * before) == (number >= 11)
    assert robots.allowed("/", "bot1x y")
    assert robots.rules_for("y").group_lines == robots.rules_for("").group_lines == ()


@pytest.mark.parametrize(
    ("dialect", "lines"),
    [
        (
            dataclasses.replace(koster.RFC9309, orphans=Orphans.FOR_EVERYBODY),
            {"b": (2,), "c": (2,), "x": (1, 5)},
        ),
        (koster.GOOGLE, {"b": (2,), "c": (2, 5), "x": (5,)}),
    ],
    ids=["product tokens", "letters"],
)
def test_index_of_names(dialect: koster.Dialect, lines: dict[str, tuple[int, ...]]) -> None:
    head = "Disallow: /\nUser-agent: b 1\nUser-agent:  c/2 \nDisallow: /\nUser-agent: *\n"
    head += "User-agent: c3\nUser-agent: C3\nUser-agent: /4\nDisallow: /\nAllow: /\n"
    small, large = (koster.parse(head + "Sitemap: x\n" * count, dialect) for count in (1, 30_000))
    for number in range(8):
        large.rules_for(f"agent{number}")
    for name, expected in lines.items():
        assert small.rules_for(name).group_lines == expected
        assert large.rules_for(name).group_lines == expected


@pytest.mark.parametrize("header", ["x (a..)", "x (a ..)", "x y.", "x (.)"])
def test_names_in_a_header_start_and_end_beside_other_bytes(header: str) -> None:
    is_named = koster.parse("User-agent: .\nDisallow: /").rules_for(header).is_named
    assert is_named == (header != "x y.")


def test_escapes_count_as_three_bytes_for_preferences() -> None:
    body = "User-agent: *\nContent-Usage: /\u00e9 a=n\nContent-Usage: /******* a=y"
    rules = koster.parse(body).rules_for("x")
    assert [each.value for each in rules.preferences_for("/\u00e9")] == ["y"]
    assert [
        each.value
        for each in koster.parse(body[:-6] + " a=y").rules_for("x").preferences_for("/\u00e9")
    ] == ["n"]


def test_import_loads_only_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import koster;"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    loaded = set(process.stdout.split())
    assert "koster" in loaded
    # Cython extensions share code through modules that exist only in memory.
    shared = {name for name in loaded if re.fullmatch(r"_cython_\w+|cython_runtime", name)}
    assert loaded - {"koster"} - shared <= sys.stdlib_module_names, loaded


def test_representations() -> None:
    robots = koster.parse(BODY, koster.GOOGLE)
    assert repr(robots) == f"<RobotsTxt GOOGLE: {len(BODY)} bytes, 2 groups>"
    assert repr(robots.rules_for("BarBot")) == "<Rules for 'BarBot': 2 rules>"
    assert repr(koster.GOOGLE) == "<Dialect GOOGLE>"


def test_dialects_by_name() -> None:
    assert koster.dialect_named("google") is koster.GOOGLE
    with pytest.raises(koster.UnknownDialectError) as caught:
        koster.dialect_named("bing")
    assert "RFC9309, GOOGLE, MK1994, MK1996, GYM2008" in str(caught.value)
    assert isinstance(caught.value, koster.KosterError)


EXTENDED2_FILE = """\
User-agent: one
Disallow: /a*

User-agent: two
Robot-version: 2.0
Allow: *index.html
Allow: /blackhole/info*
Allow: /images/index.html
Disallow: /images*
Disallow: *.[gj][ip][fg]
Disallow: /x?y
Disallow: /[!a-y]z
Disallow: /q\\*
Disallow: /exact

User-agent: three
Robot-version: 2.1
Disallow: /

User-agent: four
Robot-version: 2.4.0
Disallow: /x?y

User-agent: *
Disallow: /all
"""


@pytest.mark.parametrize(
    ("agent", "url", "allowed", "line"),
    [
        ("one", "/axx", True, None), ("one", "/a*x", False, 2),
        ("two", "/images/index.html", True, 8), ("two", "/images/x", False, 9),
        ("two", "/index.html", True, 6), ("two", "/a.gif", False, 10), ("two", "/a.jpg", False, 10),
        ("two", "/xay", False, 11), ("two", "/x?y", False, 11), ("two", "/zz", False, 12),
        ("two", "/az", False, None), ("two", "/q*", False, 13), ("two", "/qa", False, None),
        ("two", "/exact", False, 14), ("two", "/exact/not", False, None),
        ("two", "/blackhole/info8", True, 7), ("twofold/1.0", "/images/x", False, 9),
        ("atwo", "/images/x", True, None),
        ("three", "/x", True, None), ("three", "/all", False, 25),
        ("four", "/xay", False, 22), ("four", "/z", True, None),
    ],
)  # fmt: skip
def test_robot_version_applies_to_its_group(
    agent: str, url: str, allowed: bool, line: int | None
) -> None:
    robots = koster.parse(EXTENDED2_FILE, koster.EXTENDED2_1996)
    decision = robots.decide(url, agent)
    assert (decision.allowed, decision.rule and decision.rule.line) == (allowed, line)
    assert robots.groups[1].version == "2.0"
    assert pickle.loads(pickle.dumps(robots)).decide(url, agent) == decision


@pytest.mark.parametrize("name", ["", "/2", "**", "*/1"])
def test_names_of_no_bytes_name_no_agent(name: str) -> None:
    robots = koster.parse(f"User-agent: {name}\nDisallow: /")
    for agent in ("", " ", "/2", "Mozilla/5.0 (compatible; FooBot/2.1)"):
        rules = robots.rules_for(agent)
        assert not rules.is_named
        assert rules.allowed("/a")


def test_agents_without_letters_lose_their_version() -> None:
    assert koster.parse("User-agent: 5\nDisallow: /").rules_for("5/2").is_named


@pytest.mark.parametrize("line", ["Disallow: foobot-news", "User-agent: * foobot-news"])
def test_only_user_agent_lines_name_the_agents_of_headers(line: str) -> None:
    robots = koster.parse(f"User-agent: foobot\nDisallow: /\n{line}")
    assert not robots.allowed("/", "Mozilla/5.0 (foobot-news; foobot)")


@pytest.mark.parametrize("agent", [".foobot", "foo.foobot", "(foobot", "foobot."])
def test_other_bytes_are_part_of_a_name(agent: str) -> None:
    robots = koster.parse(f"User-agent: {agent}\nDisallow: /")
    assert not robots.rules_for("foobot").is_named


def test_long_runs_begin_anew_after_their_first_byte() -> None:
    run = "c" * 40
    rules = koster.parse(f"User-agent: *\nDisallow: /*ab{run}").rules_for("x")
    assert not rules.allowed(f"/aab{run}")
    assert rules.allowed(f"/axb{run}")


def test_groups_of_1994_have_a_name() -> None:
    for name, count in (("", 0), ("x", 1)):
        robots = koster.parse(f"User-agent: {name}\nDisallow: /", koster.MK1994)
        assert len(robots.groups) == count


@pytest.mark.parametrize("agent", ["FooBot", "http://e.com/bot", "/bot", ("Zed", "FooBot")])
def test_names_from_data_are_never_swapped_arguments(agent: str | tuple[str, ...]) -> None:
    parsed = koster.parse("User-agent: foobot\nUser-agent: *\nDisallow: /x")
    assert not allowed_for_data(parsed, "/x", agent)
    assert allowed_for_data(parsed, "FooBot", agent)


def test_lines_of_many_different_directives() -> None:
    """A few hundred keys are kept to be used again."""
    keys = [f"X-{number}" for number in range(400)] * 2
    lines = koster.parse("".join(f"{key} : {key[2:]}\r\n" for key in keys)).lines
    assert [(line.key, line.value) for line in lines] == [(key, key[2:]) for key in keys]


def test_very_long_rules_and_names_of_large_groups_are_made_once() -> None:
    """Thousands of decisions may return them."""
    names = "".join(f"User-agent: a{number}\n" for number in range(200))
    robots = koster.parse(
        f"{names}Disallow: /{'b' * 2_000}\nDisallow:{' ' * 2_000}/c\nDisallow: /d"
    )
    for url in ("/" + "b" * 2_000, "/c"):
        first, second = (robots.decide(url, "a7") for _ in range(2))
        assert first.rule is second.rule
        assert first.rule is not None
        assert first.rule == robots.groups[0].rules[first.rule.line - 201]
        assert first.group is not None
        assert second.group is not None
        assert first.group.agents is second.group.agents
    assert robots.decide("/d", "a7").rule == robots.decide("/d", "a7").rule
