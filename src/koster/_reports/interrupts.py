"""Ctrl-C while answers are printed: each is printed whole or not at all, and JSON stays valid."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Held:
    """Delays Ctrl-C to the end of a ``with`` block; a second one stops at once."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_pending = False

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._is_pending and not self._depth:
            self._is_pending = False
            raise KeyboardInterrupt

    def on_signal(self, _number: int, _frame: Any) -> None:
        if self._depth and not self._is_pending:
            self._is_pending = True
            return
        self._is_pending = False
        raise KeyboardInterrupt


#: ``with held:`` delays Ctrl-C to the end of the block.
held = _Held()


@contextmanager
def delayable() -> Iterator[None]:
    """Let `held` delay Ctrl-C while this context is open."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, held.on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
