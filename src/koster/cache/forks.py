"""Forks: replace locks and connections in child processes.

A fork copies only one thread, so a lock held by another thread stays locked in the child forever.
Two processes that share a connection read each other's responses. Objects with a lock or a
connection register methods here that create new ones. Without `os.fork`, as on Windows, the
methods are never called.
"""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable
from typing import Any


class _Methods:
    """Methods of objects, held by weak references."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._methods: dict[int, tuple[weakref.ref[Any], Callable[[Any], object]]] = {}

    def add(self, method: Any) -> None:
        number, methods = next(self._numbers), self._methods

        def forget(_: Any) -> None:
            methods.pop(number, None)

        # weakref.WeakMethod prints errors when the interpreter exits.
        methods[number] = weakref.ref(method.__self__, forget), method.__func__

    def call(self) -> None:
        """Call all methods, then raise the last error, which Python reports."""
        failure: Exception | None = None
        for reference, method in list(self._methods.values()):
            owner = reference()
            try:
                if owner is not None:
                    method(owner)
            except Exception as error:  # noqa: BLE001 - the other methods must run
                failure = error
        if failure is not None:
            raise failure


_before, _in_parent, _in_child = _Methods(), _Methods(), _Methods()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before.call, after_in_parent=_in_parent.call, after_in_child=_in_child.call
    )


def at_fork(
    *,
    in_child: Callable[[], object],
    before: Callable[[], object] | None = None,
    in_parent: Callable[[], object] | None = None,
) -> None:
    """Call methods of an object when the process forks, as `os.register_at_fork` does.

    Holds only a weak reference to the object. ``in_child`` must not wait for a lock.
    """
    _in_child.add(in_child)
    if before is not None:
        _before.add(before)
    if in_parent is not None:
        _in_parent.add(in_parent)
