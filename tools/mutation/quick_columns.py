"""Tests of the functions on columns of files that take a second, besides those of the engine."""

from __future__ import annotations

import random

import pyarrow as pa
import quick

from koster.bulk import kernel
from tests.helpers.columns import cell, decision


def main() -> None:
    """Compare with the library."""
    quick.main()
    chance = random.Random(2)
    bodies = ["\n".join(chance.choices(quick.LINES, k=chance.randrange(12))) for _ in range(100)]
    names = ["FooBot", "*", "x"]
    found = kernel.classify(pa.array(bodies, pa.string()), names).to_pylist()
    assert found == [[cell(body, name) for name in names] for body in bodies]
    urls, agents = (chance.choices(each, k=len(bodies)) for each in (quick.URLS, quick.AGENTS))
    rows = list(zip(bodies, urls, agents, strict=True)) * 2
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    assert kernel.decide(*columns).to_pylist() == [decision(*row) for row in rows]


if __name__ == "__main__":
    main()
