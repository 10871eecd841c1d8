"""Indexes of entries find the same as a look at all of them."""

from __future__ import annotations

import random

import pytest

import koster
from koster.analysis._index import Keys
from koster.analysis._ranked import Ranked

KEYS = ("/", "/a", "/a/", "/a/b", "/ab", "/b", "/c", "/c/d")


@pytest.mark.parametrize("rules_per_key", [1, 40])
def test_overlapping_entries_with_a_lower_order(rules_per_key: int) -> None:
    rng = random.Random(rules_per_key)
    patterns = [f"{key}*{rng.randrange(1_000)}x" for key in KEYS for _ in range(rules_per_key)]
    rng.shuffle(patterns)
    body = "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    entries = Ranked(koster.parse(body).rules_for("x")).entries
    index = Keys(entries)
    for key in (b"", b"/abc", b"/d", *(key.encode() for key in KEYS)):
        overlapping = index.both_ways(key)
        assert {each.order for each in overlapping} == {
            each.order
            for each in entries
            if each.literal.startswith(key) or key.startswith(each.literal)
        }
        assert index.count_both_ways(key) == len(overlapping)
        for order in (0, len(entries) // 3, len(entries)):
            found = index.both_ways_before(key, order)
            assert found == [each for each in overlapping if each.order < order]
