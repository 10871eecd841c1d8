"""The schemas of what commands write, as files of the docs: ``make generate`` writes them.

`outputs` describes JSON, `tables` the columns of CSV and Parquet; closed sets of values and the
types of columns are those of the code. ``tests/documentation/test_schemas.py`` compares them with
what the commands write.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from koster._version import DOCS as ADDRESS
from tools.site.links import DOCS

from . import outputs, tables

if TYPE_CHECKING:
    from pathlib import Path

#: The folder of the schemas, also the address of it in the site.
FOLDER = DOCS / "reference" / "schemas"

#: The major version of all schemas: it changes with that of koster, if names, types or meanings do.
MAJOR = 1

_BASE = f"{ADDRESS.rsplit('/', 2)[0]}/schemas/{MAJOR}"


def schemas() -> dict[str, dict[str, Any]]:
    """Return all schemas, by name."""
    found = outputs.SCHEMAS | tables.SCHEMAS
    return {name: _identified(name, schema) for name, schema in sorted(found.items())}


def _identified(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with its address, which has the major version."""
    dialect = {} if "columns" in schema else {"$schema": outputs.DIALECT}
    return {**dialect, "$id": f"{_BASE}/{name}.json", **schema}


def table() -> str:
    """Return all outputs with links to their schemas, for the page of outputs."""
    lines = ["| output | form | schema |", "|---|---|---|"]
    for name, schema in schemas().items():
        form = {"csv": "CSV", "parquet": "Parquet"}.get(schema.get("format", ""), "JSON")
        lines.append(f"| {schema['title']} | {form} | [{name}.json](schemas/{name}.json) |")
    return "\n".join(lines)


def files() -> dict[Path, str | None]:
    """Return the files of the schemas; None for files of schemas that no longer exist."""
    found: dict[Path, str | None] = dict.fromkeys(FOLDER.glob("*.json"))
    for name, schema in schemas().items():
        found[FOLDER / f"{name}.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return found
