"""Settings that leave nothing to check, or are too many, and what two rounds of fixes keep."""

from __future__ import annotations

import pytest

from koster.lint._edits import Kept, _joined
from koster.lint.settings import Settings, SettingsError, read


def test_settings_without_a_check_are_an_error() -> None:
    with pytest.raises(SettingsError, match=r"^no check is left"):
        Settings().updated(["S"], ["S"], ())
    assert Settings().updated(["S"], ["S001"], ()).select == ("S",)


@pytest.mark.parametrize("key", ["select", "severity"])
def test_too_many_settings_are_an_error(key: str) -> None:
    many = ["L001"] * 1_001 if key == "select" else {f"L{n:03}": "note" for n in range(1_001)}
    with pytest.raises(SettingsError, match=r"has more than 1,000 entries$"):
        read({key: many})


def test_what_two_changes_keep() -> None:
    assert _joined((Kept(0, 0, 2),), (Kept(3, 0, 1),)) == ()
    assert _joined((Kept(4, 0, 3),), (Kept(1, 5, 9),)) == (Kept(5, 5, 2),)
