"""The site owner's tools over all files, and over large ones, compared with susbot."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from statistics import median

import koster
from koster import formatting
from koster.analysis import classify, dead_rules, difference, redundant_rules
from koster.lint import lint

from . import data
from .measure import format_time, table


def run() -> None:
    """Print the tables."""
    over_all_files()
    large()


def over_all_files() -> None:
    bodies = list(data.corpus().values())
    actions: dict[str, Callable[[bytes], object]] = {
        "`koster lint`": lint,
        "`koster fmt`, proved": formatting.formatted,
        "`koster fmt --minify`, proved": formatting.minified,
    }
    try:
        from susbot import Analysis

        # It computes its findings on access.
        actions["susbot: its findings"] = lambda body: Analysis(_text(body)).issues
    except (ImportError, AttributeError):
        print("susbot is not measured")
    print(f"### The tools over {len(bodies):,} files\n")
    rows = []
    for label, action in actions.items():
        times = []
        refused = 0
        for body in bodies:
            began = time.perf_counter()
            try:
                action(body)
            except formatting.NotTheSame:
                refused += 1
            times.append(time.perf_counter() - began)
        slow = max(times)
        name = f"{label}; {refused} files refused" if refused else label
        rows.append((name, format_time(median(times)), format_time(slow), format_time(sum(times))))
    table(["", "median", "slowest file", "all"], rows)
    print()


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def plain(count: int, seed: int) -> koster.Rules:
    """Return ``count`` plain rules, some of which overlap."""
    rng = random.Random(seed)
    lines = [
        f"{rng.choice(['Disallow', 'Disallow', 'Allow'])}: "
        f"/{rng.choice('abcdef')}/{rng.randrange(10**6)}/{rng.randrange(30)}"
        for _ in range(count)
    ]
    return koster.parse("User-agent: *\n" + "\n".join(lines)).rules_for("x")


def large() -> None:
    one, other = plain(30_000, 1), plain(30_000, 2)
    stars = koster.parse(
        "User-agent: *\nDisallow: /" + "*a" * 1000 + "\nAllow: /" + "*ab" * 500
    ).rules_for("x")
    questions: dict[str, Callable[[], object]] = {
        "30,000 plain rules: how much is closed": lambda: classify(one),
        "30,000 plain rules: which are dead": lambda: dead_rules(one),
        "30,000 plain rules: which are redundant": lambda: redundant_rules(one),
        "30,000 against 30,000 others: every difference": lambda: difference(one, other),
        "a pattern of 1,000 stars: which are dead": lambda: dead_rules(stars),
    }
    print("### Questions about large files\n")
    rows = []
    for name, question in questions.items():
        began = time.perf_counter()
        answer = question()
        took = time.perf_counter() - began
        proved = "proved" if getattr(answer, "is_proved", True) else "not proved"
        rows.append((name, format_time(took), proved))
    table(["", "time", ""], rows)
    print()
