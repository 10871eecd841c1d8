"""Google's parser without Python: a program that you build, named by ``KOSTER_GOOGLE_PARSER``.

It is not a package that a benchmark can install: it is C++ that links with Abseil. The program gets
a folder, an agent and a URL. It reads all files of the folder; then, for each line on its standard
input, it calls ``RobotsMatcher::OneAgentAllowedByRobots`` with each file, and prints how many files
allow the URL.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import koster

from . import data
from .measure import Action, asked

NAME = "Google"


@contextlib.contextmanager
def parser(bodies: list[bytes]) -> Iterator[dict[str, Action]]:
    """Yield the action that decides about all files, under its name; nothing without a program."""
    program = os.environ.get("KOSTER_GOOGLE_PARSER")
    if not program:
        yield {}
        return
    with tempfile.TemporaryDirectory() as folder:
        for number, body in enumerate(bodies):
            Path(folder, str(number)).write_bytes(body)
        command = [program, folder, data.AGENT, data.URL]
        pipe = subprocess.PIPE
        with (
            _on_one_core(),
            subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process,
        ):
            parsed = (koster.parse(body, koster.GOOGLE) for body in bodies)
            allowed = sum(each.allowed(data.URL, data.AGENT) for each in parsed)
            if (answer := asked(process)) != allowed:
                sys.exit(f"KOSTER_GOOGLE_PARSER decides otherwise: {answer}, not {allowed}")
            yield {NAME: lambda: asked(process)}
            process.communicate()


@contextlib.contextmanager
def _on_one_core() -> Iterator[None]:
    """Keep this process and its new ones on one core: another may be twice as fast at a time."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
