"""Characters of strings: the functions with a C side."""

from __future__ import annotations

import random

import pytest

from koster import _text
from koster._urls import is_read_as_written

#: Strings of these have one, two or four bytes for each character.
KINDS = ["ab", "aé", "aŁ", "a😀"]


def test_functions_for_strings() -> None:
    assert _text.has("a%b", "%")
    assert not _text.has("", "%")
    assert _text.is_ascii("a")
    assert not _text.is_ascii("é")
    assert _text.is_printable("é 1")
    assert not _text.is_printable("\n")


@pytest.mark.parametrize("kind", KINDS)
def test_urls_that_are_read_as_written(kind: str) -> None:
    """Both sides decide alike: what the check says of each character, anywhere in a URL."""
    rng = random.Random(3)
    special = " \\%\x00\x1f\x7f\x80\xa0\u2028\ud800"
    for _ in range(500):
        rest = "".join(rng.choice(kind + rng.choice(special)) for _ in range(rng.randrange(6)))
        url = f"https://e{rest}{kind[1]}"
        expected = url.isprintable() and not set(url) & set(" \\")
        assert is_read_as_written(url) is expected, url
    assert not is_read_as_written(f"https://e/{kind}/%2e")
    assert not is_read_as_written(f"https://e/{kind}/%2E")
    assert not is_read_as_written(f"https://e/{kind}/.")
    assert is_read_as_written(f"https://e/{kind}/%2F")
