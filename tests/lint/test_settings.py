"""Settings that leave nothing to check, or are too many, and what two rounds of fixes keep."""

from __future__ import annotations

import pytest

import koster
from koster.analysis import WholeFile
from koster.lint import lint
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


def test_rules_that_other_dialects_may_need_are_not_called_superfluous(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If selecting their rules takes too long, no rule is redundant or dead because of this one."""
    body = "User-agent: *\nDisallow: /*a*b\nDisallow: /*a\nDisallow: /x%3Ay\nDisallow: /x:y\n"
    body += "User-agent: b\nAllow: /a\nAllow: /a:c\nAllow: /*q\nDisallow: /z\n"
    others = (koster.GOOGLE, koster.EXTENDED2, koster.MK1996)
    codes = {each.code for each in lint(body.encode(), dialects=others)}
    monkeypatch.setattr(WholeFile, "rules_by", lambda *_: None)
    fewer = {each.code for each in lint(body.encode(), dialects=others)}
    assert codes - fewer == {"D001", "S009", "S010"}
