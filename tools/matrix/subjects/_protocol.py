"""The JSON lines of a subject that is written in Python: standard input, standard output.

``serve(about, judge)`` answers until "stop". ``judge(robots, agent, dialect)`` takes the bytes of a
file and returns a function from a list of URLs to their verdicts: True, False, or a pair of that
and the line of the deciding rule. Whatever it raises becomes an "error" line, ``Skip(reason)`` a
"skipped" line. Runs on Python 3.8, as python.py does.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Verdict = bool | tuple[bool, int | None]
    Ask = Callable[[str], Verdict]
    Prepare = Callable[[bytes, str, str], Ask]
    Judge = Callable[[bytes, str, str], Callable[[list[str]], Iterable[Verdict]]]

LONGEST_ERROR = 300


class Skip(Exception):  # noqa: N818 - no error
    """The parser cannot be asked this; the argument says why."""


def serve(about: dict[str, Any], judge: Judge) -> None:
    """Answer standard input; ``about`` answers "start"."""
    answers = _private_stdout()
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        if asked["cmd"] == "stop":
            return
        reply = about if asked["cmd"] == "start" else _reply(asked, about["dialects"], judge)
        answers.write(json.dumps(reply).encode() + b"\n")
        answers.flush()


def introduce(language: str) -> dict[str, Any]:
    """Return what "start" is answered with, but for the version.

    The command line is ``NAME [JSON]``: the JSON overrides the defaults.
    """
    about = {"name": sys.argv[1], "language": language, "dialects": ["rfc9309"]}
    about.update(json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})
    return about


def per_url(prepare: Prepare) -> Judge:
    """Make a judge of a function that returns how to ask about one URL."""

    def judge(robots: bytes, agent: str, dialect: str) -> Callable[[list[str]], list[Verdict]]:
        ask = prepare(robots, agent, dialect)
        return lambda urls: [ask(url) for url in urls]

    return judge


def _private_stdout() -> BinaryIO:
    """Return standard output, and send what anything else prints there to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _reply(asked: dict[str, Any], dialects: list[str], judge: Judge) -> dict[str, Any]:
    if asked["dialect"] not in dialects:
        return {"id": asked["id"], "skipped": f"does not claim to follow {asked['dialect']}"}
    try:
        decide = judge(base64.b64decode(asked["robots"]), asked["agent"], asked["dialect"])
        verdicts = list(decide(asked["urls"]))
    except Skip as reason:
        return {"id": asked["id"], "skipped": str(reason)}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a library may exit; Rust's panics are these too
        return {"id": asked["id"], "error": _one_line(error)}
    return {"id": asked["id"], **_columns(verdicts)}


def _columns(verdicts: list[Any]) -> dict[str, Any]:
    if not any(isinstance(each, tuple) for each in verdicts):
        return {"allowed": [bool(each) for each in verdicts]}
    allowed, lines = zip(*verdicts)  # noqa: B905 - strict= is newer than Python 3.8
    return {"allowed": [bool(each) for each in allowed], "lines": list(lines)}


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_ERROR]
