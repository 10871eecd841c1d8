"""Run the conformance suite against every parser that can be installed, and write the results.

python -m tools.matrix [NAME...]    the named parsers only; the results of the others stay
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from koster import conformance
from koster.conformance import SubjectError

from .install import FOLDER, ROOT, Subject, install
from .measure import measured
from .parsers import PARSERS

#: What the documentation shows.
RESULTS = ROOT / "docs" / "_details" / "parsers.json"

KOSTER = "koster"


def main() -> None:
    """Run the parsers and write the results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--write", type=Path, default=RESULTS)
    given = options.parse_args()
    chosen = [each for each in PARSERS if not given.names or each.name in given.names]
    suite = conformance.load()
    records = {each["name"]: each for each in _earlier(given.write)} if given.names else {}
    missing = []
    for subject in [_koster(), *install(FOLDER, chosen)]:
        try:
            records[subject.name] = _record(subject, suite)
        except (MissingError, SubjectError) as error:
            missing.append({"name": subject.name, "why": str(error)})
            print(f"{subject.name}: {error}", file=sys.stderr)
    given.write.write_text(
        json.dumps(
            {
                "date": datetime.now(UTC).date().isoformat(),
                "suite": suite.version,
                "machine": f"{platform.machine()}, {platform.system()}",
                "parsers": list(records.values()),
                "missing": missing,
            },
            ensure_ascii=False,
            indent=1,
        )
        + "\n",
        "utf-8",
    )


class MissingError(Exception):
    """The parser is not installed; the argument says why."""


def _earlier(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text("utf-8"))["parsers"] if path.exists() else []


def _koster() -> Subject:
    command = (sys.executable, "-m", "koster", "conformance", "subject")
    return Subject(KOSTER, None, command)  # type: ignore[arg-type]


def _record(subject: Subject, suite: conformance.Suite) -> dict[str, Any]:
    if subject.missing:
        raise MissingError(subject.missing)
    environment = [f"{name}={value}" for name, value in subject.environment.items()]
    command = ["env", *environment, *subject.command]
    found = measured(command, suite.cases)
    parser = subject.parser
    about = {
        "language": parser.language if parser else "Python",
        "registry": parser.registry if parser else "",
        "homepage": parser.homepage if parser else "",
    }
    print(f"{subject.name}: {found['passed']} passed, {len(found['failures'])} failed")
    return {"name": subject.name, **about, **found}


if __name__ == "__main__":
    main()
