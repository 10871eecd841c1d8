"""Asks the same fresh files from eight threads, a signal handler and finalizers, all at once.

    python -m tests.helpers.hammer [--seconds 5] [SUBJECT...]

What several readers may hold must not change under any of them: threads are switched as often as
the interpreter can, a timer interrupts the main thread to ask, and the garbage collector, which
runs at nearly every allocation, finds objects that ask when they are freed. Each answer must be
that of one thread alone. A broken promise in compiled modules crashes the process, so the name of
each subject is printed before it runs.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.helpers.subjects import FILES, SUBJECTS, Subject

THREADS = 8
#: Fresh copies of files at once: each is asked by all threads.
COPIES = 24
#: Questions about each file: enough for its rules to be packed in between.
ROUNDS = 6
#: Seconds between two interrupts, at least.
_INTERRUPT = 0.0005


class Asker:
    """Part of a reference cycle: the garbage collector frees it, and it asks then."""

    def __init__(self, question: Callable[[], Any]) -> None:
        self.question = question
        self.itself = self

    def __del__(self) -> None:
        self.question()


class Hammer:
    """Asks a subject; ``asked`` is how often, ``wrong`` what was not the answer of one thread."""

    def __init__(self, subject: Subject, seconds: float) -> None:
        self.subject = subject
        self.asked = 0
        self.wrong: set[str] = set()
        self.made: list[Any] = []
        began = time.monotonic()
        alone = [subject.make(kind) for kind in range(len(FILES))]
        self.expected = [[self.answer(each, turn) for turn in range(ROUNDS)] for each in alone]
        once = (time.monotonic() - began) / len(FILES)
        # All threads, finalizers and handlers ask each copy.
        self.copies = max(1, min(COPIES, int(seconds / (4 * THREADS * once))))
        # Handlers that take longer than what they interrupt leave the main thread no time of its own.
        self.pause = max(_INTERRUPT, once / ROUNDS)

    def answer(self, made: Any, turn: int) -> Any:
        """Return what the subject answers, or raises."""
        try:
            return self.subject.ask(made, turn)
        except Exception as error:  # noqa: BLE001 - what it raises is an answer, too
            return type(error), str(error)

    def aside(self, made: Any, number: int, turn: int) -> None:
        """Ask in a signal handler or a finalizer."""
        if self.subject.aside is not None:
            self.subject.aside(made, turn)
        else:
            self.compare(self.answer(made, turn), number, turn)

    def compare(self, found: Any, number: int, turn: int) -> None:
        """Note an answer that is not the right one."""
        expected = self.expected[number % len(FILES)][turn]
        if found != expected:
            self.wrong.add(f"{self.subject.name}: {found} instead of {expected}")

    def work(self, barrier: threading.Barrier) -> None:
        """Ask all copies, as each thread does."""
        barrier.wait()
        for number, made in enumerate(self.made):
            for turn in range(ROUNDS):
                Asker(partial(self.aside, made, number, turn))
                self.compare(self.answer(made, turn), number, turn)
                self.asked += 1

    def interrupt(self, *_: object) -> None:
        """Ask in the middle of what the main thread does; then set the timer again."""
        self.aside(self.made[0], 0, 0)
        signal.setitimer(signal.ITIMER_REAL, self.pause)

    def once(self) -> None:
        """Make fresh copies, and let all threads ask them at once."""
        self.made = [self.subject.make(number % len(FILES)) for number in range(self.copies)]
        barrier = threading.Barrier(THREADS)
        threads = [threading.Thread(target=self.work, args=[barrier]) for _ in range(THREADS - 1)]
        for thread in threads:
            thread.start()
        signal.setitimer(signal.ITIMER_REAL, self.pause)
        self.work(barrier)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for thread in threads:
            thread.join()

    def run(self, seconds: float) -> None:
        """Ask until the time is over."""
        end = time.monotonic() + seconds
        before = signal.signal(signal.SIGALRM, self.interrupt)
        try:
            while not self.asked or time.monotonic() < end:
                self.once()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def main() -> None:
    """Hammer the subjects one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each subject")
    given = parser.parse_args()
    faulthandler.enable()
    # A thread that waits for itself waits for good.
    faulthandler.dump_traceback_later(60 + 10 * given.seconds * len(SUBJECTS), exit=True)
    sys.setswitchinterval(1e-6)
    gc.set_threshold(20, 2, 2)
    for subject in SUBJECTS:
        if not given.subjects or subject.name.split(":")[0] in given.subjects:
            print(subject.name, end=" ", flush=True)
            hammer = Hammer(subject, given.seconds)
            hammer.run(given.seconds)
            if hammer.wrong:
                sys.exit("\n".join(sorted(hammer.wrong)[:10]))
            print(hammer.asked, flush=True)


if __name__ == "__main__":
    main()
