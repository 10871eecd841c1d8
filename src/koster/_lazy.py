"""`cached_property` without a lock.

That of Python 3.11 has one lock for all objects of a class: a signal handler or a finalizer that
asks in the middle of it waits for another thread, and that one for it. Python 3.12 has no lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - like the one of functools
    """A property that is computed once, and kept in the dictionary of its object.

    Threads that ask at the same time may all compute it; they get one result.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """Return the result; only for the first time, since the dictionary comes first then."""
        if instance is None:
            return self
        found: T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return found
