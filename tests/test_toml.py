"""Files of TOML: hostile ones are refused before they take much time or memory."""

from __future__ import annotations

import inspect
import re
import sys
import tomllib

import pytest

from koster._toml import MAX_SIZE, TomlError, read_toml

#: Without a limit, each takes minutes and gigabytes.
_MANY = "a." * 20_000


@pytest.mark.parametrize(
    "text",
    [
        f"{_MANY}a = 1",
        f"[{_MANY}a]",
        f"[[{_MANY}a]]",
        f"x = {{{_MANY}a = 1}}",
        f"x = [{{{_MANY}a = 1}}]",
        f"{'a . ' * 20_000}a = 1",
        "{}a = 1".format('"a".' * 20_000),
        f"[{'a.' * 20_000}'a'] # \"",
        # What looks like a string or a comment around the key is not one.
        f"x = ['#', \"#\"]\n{_MANY}a = 1",
        f'x = [""" " """, {{{_MANY}a = 1, b = """ " """}}]',
        f"x = '\\'\n{_MANY}a = 1 # '",
        f'x = """a"""""\n{_MANY}a = 1 # """',
        f"# '''\n{_MANY}a = 1 # '''",
    ],
)
def test_keys_of_many_parts_are_refused(text: str) -> None:
    with pytest.raises(TomlError, match="a key has more than 32 parts"):
        read_toml(text)


@pytest.mark.parametrize("nested", ["[" * 60 + "]" * 60, "{a=" * 60 + "1" + "}" * 60, "[" * 9_999])
def test_deep_values_are_refused(nested: str) -> None:
    with pytest.raises(TomlError, match="nested more than 50 deep"):
        read_toml(f"x = {nested}")


def test_many_keys_of_some_parts_are_refused() -> None:
    key = ".".join("a" * 30)
    with pytest.raises(TomlError, match="more than 50,000 dots"):
        read_toml("".join(f"[a{number}.{key}]\n" for number in range(2_000)))


def test_large_files_are_refused() -> None:
    assert read_toml("#" * MAX_SIZE) == {}
    for content in ("#" * (MAX_SIZE + 1), b"#" * (MAX_SIZE + 1), "é".encode() * MAX_SIZE):
        with pytest.raises(TomlError, match="is larger than 1 MiB"):
            read_toml(content)


@pytest.mark.parametrize(
    "text",
    [
        f"{'a.' * 31}a = 1",
        f'x = "{_MANY}"',
        f"x = '{_MANY}'",
        f'x = """\n"{_MANY}""\\\n"""',
        f"x = '''\n'{_MANY}'''",
        f"# {_MANY}\n",
        f"x = [{'1.5, ' * 1_000}]",
        'x = ["a\\"", "[[["]\n' + "y = '[{'\n" * 1,
        f"x = [{'[[[[]]]], ' * 1_000}]",
        '"\\u0041" = "\\\\"\r\n\r\n[[b."c d".e]]\r\n"f#" = 1 # g\r\n',
    ],
)
def test_usual_files_are_read(text: str) -> None:
    assert read_toml(text) == read_toml(text.encode()) == tomllib.loads(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x =", "Invalid value"),
        ('x = """', "Unterminated string"),
        ("x = 1" + "0" * 5_000, "Exceeds the limit"),
        (b"x = '\xff'", "is not UTF-8"),
    ],
)
def test_invalid_files_have_a_message(content: str | bytes, message: str) -> None:
    with pytest.raises(TomlError, match=re.escape(message)):
        read_toml(content)


def test_a_caller_that_left_little_of_the_stack_has_a_message() -> None:
    read_toml("a = 1")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 40)
    try:
        with pytest.raises(TomlError, match=r"^nested too deep$"):
            read_toml("a = " + "[" * 45 + "]" * 45)
    finally:
        sys.setrecursionlimit(before)
