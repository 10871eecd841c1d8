"""The cases of ``tests/cases/signals.toml``, for `koster.signals` and for columns."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from koster.signals import Signals, Use, signals
from tests.helpers.support import ROOT

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ALL = tomllib.loads((ROOT / "tests" / "cases" / "signals.toml").read_text("utf-8"))["case"]


def signals_of(case: dict[str, Any], *crawlers: str) -> Signals:
    headers = [tuple(line.split(": ", 1)) for line in case.get("headers", ())]
    html, tdmrep, license_ = (case.get(name) for name in ("html", "tdmrep", "license"))
    return signals(
        case.get("url", "https://shop.example/"),
        robots=case.get("robots"),
        headers=headers,
        html=html.encode() if html is not None else None,
        tdmrep=tdmrep.encode() if tdmrep is not None else None,
        licenses={"https://shop.example/license.xml": license_.encode()} if license_ else None,
        crawlers=crawlers,
        now=NOW,
    )


#: The cases with sources that `koster.bulk.signals` takes.
OF_PAGES = [case for case in ALL if not {"tdmrep", "license"} & case.keys()]


def table() -> pa.Table:
    """Return these cases as a table: body, url, headers, html, fetched."""
    headers = [[line.split(": ", 1) for line in case.get("headers", ())] for case in OF_PAGES]
    pairs = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
    return pa.table({
        "id": pa.array(range(len(OF_PAGES)), pa.int64()),
        "body": [(case.get("robots") or "").encode() for case in OF_PAGES],
        "url": [case.get("url", "https://shop.example/") for case in OF_PAGES],
        "headers": pa.array(
            [[{"name": name, "value": value} for name, value in each] for each in headers], pairs
        ),
        "html": [case["html"].encode() if "html" in case else None for case in OF_PAGES],
        "fetched": pa.array([NOW] * len(OF_PAGES), pa.timestamp("us", "UTC")),
    })  # fmt: skip


def expected() -> list[list[dict[str, Any]]]:
    """Return the answers of `koster.signals` about these cases, as columns have them."""
    return [
        [
            {
                "use": str(use),
                "stated": str(found.of(use).stated),
                "grammars": list(
                    dict.fromkeys(each.grammar.name for each in found.of(use).statements)
                ),
            }
            for use in Use
        ]
        for found in map(signals_of, OF_PAGES)
    ]


def sorted_names(answers: list[list[dict[str, Any]] | None]) -> list[list[dict[str, Any]] | None]:
    """Return answers with the names of grammars sorted."""
    return [
        answer and [each | {"grammars": sorted(each["grammars"])} for each in answer]
        for answer in answers
    ]
