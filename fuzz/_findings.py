"""Saves findings: inputs for which an invariant does not hold, one for each place that raises."""

from __future__ import annotations

import hashlib
import re
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

#: Seconds to make an input smaller.
_MAX_SECONDS = 10.0

#: More places of one target are not saved.
_MAX_PLACES = 30

Check = Callable[[bytes], object]
Simplify = Callable[[bytes], bytes]


class Findings:
    """The findings of a target in one process."""

    def __init__(
        self,
        target: str,
        folder: Path,
        check: Check,
        simplify: Simplify = bytes,
        places: Iterable[str] = (),
        module: str = "fuzz",
    ) -> None:
        self._module = module
        self._target = target
        self._folder = folder / target
        self._check = check
        self._simplify = simplify
        self._places = set(places)

    def add(self, data: bytes, error: BaseException) -> None:
        """Save an input that raised, unless another one raised in the same place."""
        place = place_of(error)
        if place in self._places or len(self._places) >= _MAX_PLACES:
            return
        self._places.add(place)
        small = self._smaller(data, place)
        report = "".join(traceback.format_exception(error))
        path = save(self._folder, place, small, report)
        print(
            f"finding in {self._target}: {place}\n  {command(self._module, self._target, path)}",
            flush=True,
        )

    def _smaller(self, data: bytes, place: str) -> bytes:
        """Return an input that raises in the same place, from which no part can be removed."""
        deadline = time.monotonic() + _MAX_SECONDS
        simple = self._simplify(data)
        if self._raises_at(simple) == place:
            data = simple
        size = max(len(data) // 2, 1)
        while size and time.monotonic() < deadline:
            at = 0
            while at < len(data) and time.monotonic() < deadline:
                shorter = data[:at] + data[at + size :]
                if self._raises_at(shorter) == place:
                    data = shorter
                else:
                    at += size
            size //= 2
        return data

    def _raises_at(self, data: bytes) -> str | None:
        try:
            self._check(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
            return place_of(error)
        return None


class KindError(AssertionError):
    """An invariant does not hold, in a way that has a name: each is a finding of its own."""

    def __init__(self, kind: str, *details: object) -> None:
        super().__init__(kind, *details)
        self.kind = kind


def place_of(error: BaseException) -> str:
    """Return the type of an error, and its kind, or the function and line that raised it."""
    if isinstance(error, KindError):
        return error.kind
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = f"{Path(last.filename).stem}.{last.name}:{last.lineno}" if last else "?"
    return f"{type(error).__name__} in {where}"


def save(folder: Path, name: str, data: bytes, report: str) -> Path:
    """Write an input and a report on it, and return the path of the input."""
    folder.mkdir(parents=True, exist_ok=True)
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    path = folder / f"{slug}-{hashlib.sha256(data).hexdigest()[:8]}"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(report, "utf-8", "backslashreplace")
    return path


def command(module: str, target: str, path: Path) -> str:
    """Return the command that checks an input again."""
    return f"python -m {module} {target} --input {path}"
