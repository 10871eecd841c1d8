"""Baselines: files of known findings, which ``koster lint`` does not report again.

A finding is known by its file, its code and the text of its line, so that it stays known if lines
are added above it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._json import parse_json
from .._reports.plain import printable
from ..errors import UnreadableError
from ..model import text_of
from . import file_access, writing

if TYPE_CHECKING:
    from ..lint import Finding

_Key = tuple[str, str, str]


class Baseline:
    """The known findings in a file of JSON.

    Raises:
        UnreadableError: the file cannot be read, or is invalid.
    """

    def __init__(self, path: str) -> None:
        self._folder = Path(path).absolute().parent
        self._known = Counter[_Key]()
        shown = printable(path)
        try:
            table = parse_json(file_access.read_bytes(path))
            for each in table["findings"]:
                self._known[each["file"], each["code"], each["text"]] += int(each["count"])
        except UnreadableError as error:
            hint = "" if os.path.exists(path) else "; --write-baseline creates it"
            raise UnreadableError(f"{error}{hint}") from error
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise UnreadableError(f"{shown}: is not a baseline of koster lint") from error

    def unknown(self, path: str, body: bytes, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings in a file that are not known."""
        left = self._known.copy()
        found = []
        for finding, key in zip(findings, _keys(self._folder, path, body, findings), strict=True):
            if left[key] > 0:
                left[key] -= 1
            else:
                found.append(finding)
        return found


def write(path: str, files: Iterable[tuple[str, bytes, list[Finding]]]) -> int:
    """Write the baseline of some files, each with its content and findings; return their number.

    Raises:
        UnreadableError: it cannot be written, or is a file of another kind.
    """
    if os.path.exists(path):
        # Raises if it is another file, such as the robots.txt itself.
        Baseline(path)
    folder = Path(path).absolute().parent
    known = Counter(
        key for name, body, findings in files for key in _keys(folder, name, body, findings)
    )
    table: dict[str, Any] = {
        "findings": [
            {"file": file, "code": code, "text": text, "count": count}
            for (file, code, text), count in sorted(known.items())
        ],
    }
    writing.replace(path, f"{json.dumps(table, indent=1)}\n".encode())
    return known.total()


def _keys(folder: Path, path: str, body: bytes, findings: Iterable[Finding]) -> list[_Key]:
    is_local = path != file_access.STDIN and "://" not in path
    name = os.path.relpath(path, folder).replace(os.sep, "/") if is_local else path
    lines = file_access.split_lines(text_of(body))
    return [
        (name, each.code, lines[each.line - 1].strip() if each.line <= len(lines) else "")
        for each in findings
    ]
