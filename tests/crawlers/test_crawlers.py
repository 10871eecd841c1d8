"""The registry of crawlers."""

from __future__ import annotations

import pytest

import koster
from koster import crawlers
from koster.crawlers import Obeys, Purpose


def test_registry_is_consistent() -> None:
    known = crawlers.known()
    assert len({each.token.lower() for each in known}) == len(known) > 150
    assert {each.purpose for each in known} == set(Purpose)
    assert all(each.source.startswith("https://") for each in known)
    assert crawlers.named("gptbot") == crawlers.named("GPTBot")
    assert crawlers.named("nobody") is None
    assert {each.token for each in crawlers.of_purposes([Purpose.ADS])} >= {"AdsBot-Google"}
    adsbot = crawlers.named("AdsBot-Google")
    assert adsbot is not None
    assert adsbot.obeys is Obeys.OWN_GROUPS


def test_missing_registry_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ai_crawler_index", None)
    crawlers.known.cache_clear()
    try:
        with pytest.raises(koster.MissingExtraError, match=r"koster\[crawlers\]"):
            crawlers.known()
    finally:
        crawlers.known.cache_clear()
