"""The counts of ``make fuzz`` and ``make mutation``, as tables."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

from .markdown import table

ROOT = Path(__file__).parents[2]
#: Written by ``python -m fuzz --ledger``.
LEDGER = ROOT / "fuzz" / "ledger.jsonl"
#: Written by ``python -m tools.mutation report``.
MUTANTS = ROOT / "tools" / "mutation" / "results.json"


def fuzz() -> str:
    """Return what each fuzz target checks, and how often it has run."""
    inputs: Counter[str] = Counter()
    questions: Counter[str] = Counter()
    sanitized = 0
    for line in LEDGER.read_text("utf-8").splitlines():
        run = json.loads(line)
        inputs[run["target"]] += run["executions"]
        questions[run["target"]] += run["triples"]
        sanitized += run["sanitizers"] * run["triples"]
    rows = [
        (f"`{name}`", _invariant(name), f"{inputs[name]:,}", f"{questions[name]:,}")
        for name in inputs
    ]
    total = ("all", "", f"{inputs.total():,}", f"{questions.total():,}")
    counts = table(("target", "what always holds", "inputs", "decisions"), [*rows, total])
    return f"{counts}\n\nModules compiled with the sanitizers made {sanitized:,} of the decisions."


def _invariant(target: str) -> str:
    module = ast.parse((ROOT / "fuzz" / f"{target}.py").read_text("utf-8"))
    return " ".join((ast.get_docstring(module) or "").split())


def mutants() -> str:
    """Return how many mutants of each part there are, were tried, and survive."""
    parts: dict[str, dict[str, int]] = json.loads(MUTANTS.read_text("utf-8"))
    every = {key: sum(each[key] for each in parts.values()) for key in parts["engine"]}
    rows = [
        (
            name,
            *(f"{each[key]:,}" for key in ("mutants", "tried", "survivors")),
            f"{100 * each['survivors'] / max(1, each['tried']):.1f} %",
        )
        for name, each in {**parts, "all": every}.items()
    ]
    return table(("part", "mutants", "tried", "survivors", "share"), rows)
