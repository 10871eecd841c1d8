"""The conformance suite as data; as a command, as an archive in a folder."""

from __future__ import annotations

import argparse
import gzip
import io
import json
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import coverage, export
from .source import ROOT, Sentence, sentences

FOLDER = ROOT / "conformance"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    print(_archive(parser.parse_args().folder))


def files() -> dict[Path, str | None]:
    """Return the generated files of the suite; None for those of cases that are gone."""
    cases, server_cases, signals = export.cases(), export.server_cases(), export.signals_cases()
    tested_by = coverage.cases_by_sentence(sentences(), [*cases, *server_cases])
    generated: dict[str, Any] = {
        **{f"cases/{topic}.json": some for topic, some in _by_topic(cases).items()},
        **{f"servers/{topic}.json": some for topic, some in _by_topic(server_cases).items()},
        **{f"signals/{topic}.json": some for topic, some in _by_topic(signals).items()},
        "sentences.json": {
            "sentences": [_sentence(each, tested_by[each.id]) for each in sentences()]
        },
    }
    texts = {name: _json(value) for name, value in generated.items()}
    texts["COVERAGE.md"] = coverage.table(sentences(), tested_by)
    there = {
        path for name in ("cases", "servers", "signals") for path in (FOLDER / name).glob("*.json")
    }
    return dict.fromkeys(there) | {FOLDER / name: text for name, text in texts.items()}


def _by_topic(cases: list[export.Case]) -> dict[str, dict[str, list[export.Case]]]:
    topics: dict[str, dict[str, list[export.Case]]] = {}
    for case in cases:
        topics.setdefault(case["id"].partition("/")[0], {"cases": []})["cases"].append(case)
    return topics


def _sentence(sentence: Sentence, cases: list[str]) -> dict[str, Any]:
    known = {"id": sentence.id, "level": sentence.level, "text": sentence.text}
    return {**known, **({"cases": cases} if cases else {"untestable": sentence.untestable})}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _archive(folder: Path) -> Path:
    """Write an archive whose bytes depend on the suite alone, and return its path."""
    about = json.loads((FOLDER / "suite.json").read_text("utf-8"))
    name = f"robots-txt-conformance-{about['version']}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.tar.gz"
    moment = int(datetime.fromisoformat(about["date"]).replace(tzinfo=UTC).timestamp())
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, moment) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for each in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
            content = each.read_bytes()
            member = tarfile.TarInfo(f"{name}/{each.relative_to(FOLDER).as_posix()}")
            member.size, member.mtime = len(content), moment
            archive.addfile(member, io.BytesIO(content))
    return path


if __name__ == "__main__":
    main()
