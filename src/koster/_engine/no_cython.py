"""Replaces Cython where Python runs what is not compiled."""

from __future__ import annotations

import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., object])

compiled = False
#: In compiled modules, it releases the interpreter lock.
nogil = contextlib.nullcontext()


def locals(**_: object) -> Callable[[_Function], _Function]:  # noqa: A001
    """Do nothing: variables of Python have no C types."""
    return lambda function: function


def binding(_: bool) -> Callable[[_Function], _Function]:
    """Do nothing: functions of Python have a signature."""
    return lambda function: function
