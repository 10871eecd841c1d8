"""Mistakes that would pass silently: swapped arguments, and a location in place of a file."""

from __future__ import annotations

import builtins
import importlib
import inspect
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import koster
from koster._asking import rules_for_data
from koster.bulk import kernel
from tests.helpers.support import HERE

BODY = b"User-agent: *\nDisallow: /private\n"
URL = "https://example.com/private/x"
HEADER = "FooBot/1.0 (+https://foo.example/bot)"


def test_classes_have_a_signature_with_annotations() -> None:
    """Also compiled ones, for editors and `help`."""
    for made, expected in (
        (koster.RobotsTxt, "(body: 'bytes | str', dialect: 'Dialect' = <Dialect RFC9309>)"),
        (koster.Rules, "(robots: 'RobotsTxt', agent: 'str | Sequence[str]')"),
    ):
        assert str(inspect.signature(made)) == expected
    assert str(inspect.signature(koster.parse)).endswith("-> 'RobotsTxt'")


@pytest.fixture
def robots() -> koster.RobotsTxt:
    return koster.parse(BODY)


@pytest.mark.parametrize("agent", ["FooBot", "*", HEADER, "FooBot/1.0", "", "e.com", "x y", "?"])
@pytest.mark.parametrize("method", ["allowed", "decide"])
def test_swapped_arguments_raise(robots: koster.RobotsTxt, method: str, agent: str) -> None:
    message = rf"^arguments are swapped: pass the URL first, then the agent: \('{URL}', "
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            getattr(robots, method)(agent, URL)
        assert robots.allowed("/public", agent)


@pytest.mark.parametrize("agent", ["FooBot", "*", HEADER])
def test_swapped_arguments_with_a_path_raise(robots: koster.RobotsTxt, agent: str) -> None:
    with pytest.raises(ValueError, match=r"swapped: .*\('/private/x', "):
        robots.allowed(agent, "/private/x")


@pytest.mark.parametrize("made", [koster.RobotsTxt, koster.Rules])
def test_methods_of_a_class_refuse_objects_of_another(made: type) -> None:
    """Compiled methods read the fields of an object at their place: they have to know its type."""
    other: Any = koster.parse("User-agent: *") if made is koster.Rules else []
    called = 0
    for name, method in vars(made).items():
        if not callable(method) or name in {"__new__", "__hash__"}:
            continue
        for count in range(4):
            for stranger in (other, "a", None):
                with pytest.raises((TypeError, AttributeError)):
                    method(stranger, *["a"] * count)
        called += 1
    assert called > 8


def test_compiled_methods_have_signatures() -> None:
    assert [*inspect.signature(koster.parse).parameters] == ["body", "dialect"]
    assert inspect.signature(koster.parse).parameters["dialect"].default is koster.RFC9309
    assert [*inspect.signature(koster.RobotsTxt.allowed).parameters] == ["self", "url", "agent"]
    assert [*inspect.signature(koster.Rules.decide).parameters] == ["self", "url"]


def test_message_is_short() -> None:
    with pytest.raises(ValueError, match="swapped") as caught:
        koster.parse(BODY).allowed("FooBot", "https://example.com/" + "x" * 100_000)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("url", [URL, "/private/x", " /private/x", "HTTP://e.com/private"])
@pytest.mark.parametrize("agent", ["https://bot.example/", "/bot", "ftp://x", " https://x"])
def test_an_agent_that_is_a_url_gets_an_answer(
    robots: koster.RobotsTxt, url: str, agent: str
) -> None:
    for _ in range(2):
        assert robots.allowed(url, agent) == robots.allowed(url, "FooBot")
        assert robots.decide(url, agent).allowed == robots.allowed(url, "FooBot")
    # An answer for one question does not turn off the check of the next.
    with pytest.raises(ValueError, match="swapped"):
        robots.allowed("FooBot", agent)


def test_rules_for_a_url_raise(robots: koster.RobotsTxt) -> None:
    message = r"^agent must be a product token or a User-Agent header, not the URL 'https://exam"
    for call in (robots.rules_for, lambda agent: koster.Rules(robots, agent)):
        with pytest.raises(ValueError, match=message):
            call(URL)
    with pytest.raises(ValueError, match=r"call rules_for\(agent\), then allowed\(url\)"):
        robots.rules_for(URL).allowed_many(["FooBot"])


@pytest.mark.parametrize("dialect", koster.DIALECTS.values(), ids=str)
def test_names_in_the_file_are_never_refused(dialect: koster.Dialect) -> None:
    body = "User-agent: http://www.bot.example bot\nUser-agent: https://b.example/\nDisallow: /"
    robots = koster.parse(body.encode(), dialect)
    for group in robots.groups:
        for name in group.agents:
            assert robots.rules_for(name).allowed("/a") in (True, False)
    with pytest.raises(ValueError, match="not the URL"):
        robots.rules_for("http://www.bot.example")


def test_headers_with_urls_are_agents(robots: koster.RobotsTxt) -> None:
    for agent in (HEADER, "Mozilla/5.0 (compatible; FooBot/1.0; +https://a.example)", "+http://a"):
        assert not robots.rules_for(agent).allowed(URL)
        assert robots.rules_for(agent) is robots.rules_for(agent)


def test_names_from_data_are_never_refused(robots: koster.RobotsTxt) -> None:
    assert not rules_for_data(robots, URL).allowed(URL)
    assert rules_for_data(robots, URL).allowed("FooBot")


def test_rules_of_a_url_pickle(robots: koster.RobotsTxt) -> None:
    rules = pickle.loads(pickle.dumps(rules_for_data(robots, URL)))
    assert not rules.allowed("/private/x")


def test_columns_are_never_refused_but_scalars_are() -> None:
    bodies = pa.array([BODY, BODY])
    names, urls = pa.array(["FooBot", "/private"]), pa.array([URL, "https://bot.example"])
    assert kernel.allowed(bodies, names, urls).to_pylist() == [True, False]
    assert kernel.allowed(bodies, "FooBot", urls).to_pylist() == [True, True]
    assert kernel.allowed(bodies, names, URL).to_pylist() == [True, False]
    for answer in (kernel.allowed, kernel.decide):
        with pytest.raises(ValueError, match="swapped"):
            answer(bodies, "FooBot", URL)


def test_arguments_in_order_are_accepted() -> None:
    bodies = pa.array([BODY])
    for url, agent in (("private", "FooBot"), ("private", "bot.example"), ("", "*")):
        assert kernel.allowed(bodies, url, agent).to_pylist() == [url == ""]


def test_polars_scalars_are_checked() -> None:
    from koster.bulk.polars import pl  # type: ignore[attr-defined]

    frame = pl.DataFrame({"body": [BODY.decode()], "agent": ["FooBot"], "url": [URL]})
    column = pl.col("body").robots  # type: ignore[attr-defined]
    for make in (column.allowed, column.decide, frame["body"].robots.allowed):  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match="swapped"):
            make("FooBot", URL)
    answer = frame.select(column.allowed(pl.col("agent"), pl.col("url")))
    assert answer.item() is True


# A location in place of a file.


def test_parse_file_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(BODY)
    for name in (path, str(path)):
        assert not koster.parse_file(name).allowed(URL, "FooBot")
    assert koster.parse_file(path, koster.MK1994).dialect is koster.MK1994


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "utf-8-sig"])
def test_parse_file_reads_by_the_byte_order_mark(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(BODY.decode(), codec)
    assert not koster.parse_file(path).allowed(URL, "FooBot")


def test_parse_file_raises_what_open_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"robots\.txt"):
        koster.parse_file(tmp_path / "robots.txt")
    with pytest.raises(IsADirectoryError):
        koster.parse_file(tmp_path)
    with pytest.raises(TypeError):
        koster.parse_file(None)  # type: ignore[arg-type]


def test_parse_file_reads_no_more_than_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    with path.open("wb") as file:
        # Sparse: it takes no space.
        file.truncate(1 << 36)
    assert koster.parse_file(path).groups == ()


@pytest.mark.parametrize("text", ["http://e.com/robots.txt", "HTTPS://e.com", "https://e.com/\n"])
def test_parsing_a_url_warns(text: str) -> None:
    for make in (koster.parse, koster.RobotsTxt):
        with pytest.warns(UserWarning, match=r"not its URL .*koster\.RobotsClient") as caught:
            make(text)
        assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "text",
    [
        "robots.txt",
        "/etc/robots.txt",
        "./robots",
        "../a b/robots.txt",
        "~/robots.txt",
        r"C:\robots.txt",
        "c:/sites/robots",
        r"\\host\share",
        "//host/share",
        "static/ROBOTS.TXT",
    ],
)
def test_parsing_the_name_of_a_file_warns(text: str) -> None:
    with pytest.warns(UserWarning, match=r"call koster\.parse_file\('") as caught:
        koster.parse(text)
    assert caught[0].filename == __file__


def test_parsing_looks_at_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the disk was touched")

    for name in ("stat", "lstat", "open", "scandir", "access"):
        monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    with pytest.warns(UserWarning, match="parse_file"):
        koster.parse("/etc/robots.txt")


def test_parsing_a_path_names_the_right_function() -> None:
    with pytest.raises(TypeError, match=r"koster\.parse_file reads a file"):
        koster.parse(Path("robots.txt"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Disallow",
        "/",
        "/a: b.txt",
        "Disallow /private",
        "U:/x\n",
        "User-agent: *",
        "a\0b",
        "\ud800",
        "x" * 5000,
        ".",
        "robots.txt\n",
        "# test robots.txt",
        b"robots.txt",
        b"https://e.com/robots.txt",
        "httpx://e",
        "Sitemap: http://e",
    ],
)
def test_other_text_does_not_warn(
    body: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "robots.txt").write_bytes(BODY)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        koster.parse(body)


@pytest.mark.parametrize(
    "code",
    [
        "koster.compat.protego.Protego.parse({0!r})",
        "koster.compat.webcanon.parse_robots({0!r})",
        "koster.compat.reppy.robots.Robots('https://e.com', {0!r})",
        "koster.compat.robotparser.RobotFileParser().parse([{0!r}])",
        "koster.compat.robotexclusionrulesparser.RobotExclusionRulesParser().parse({0!r})",
    ],
)
def test_facades_do_not_warn_or_raise(code: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _run(code.format("https://example.com/robots.txt"))


@pytest.mark.parametrize(
    "code",
    [
        "koster.compat.protego.Protego.parse('').can_fetch('FooBot', {0!r})",
        "koster.compat.protego.Protego.parse('').crawl_delay({0!r})",
        "koster.compat.reppy.robots.Robots('https://e.com', '').allowed('FooBot', {0!r})",
        "koster.compat.robotexclusionrulesparser.RobotExclusionRulesParser().get_crawl_delay({0!r})",
    ],
)
def test_facades_answer_as_their_originals_do(code: str) -> None:
    _run(code.format(URL))


def _run(code: str) -> None:
    module = code.removeprefix("koster.compat.").partition(".")[0]
    importlib.import_module(f"koster.compat.{module}")
    eval(code, {"koster": koster})


def test_bulk_command_names_an_invalid_url(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "koster", "bulk", "decide", str(HERE), "--url", "FooBot"]
    process = subprocess.run(
        [*command, "--agent", URL, "-o", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 2
    assert "'FooBot' is not a URL or path" in " ".join(process.stderr.replace("│", "").split())
