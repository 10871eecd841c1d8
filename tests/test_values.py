"""Values are frozen and have slots: nobody changes one that others hold. Errors pickle."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pickle
import pkgutil
from datetime import UTC, datetime
from types import ModuleType

import pytest

import koster
from koster import _engine, access, analysis, dialects, directives, freshness
from koster.errors import TooSoonError


def _modules(package: ModuleType) -> list[ModuleType]:
    names = [package.__name__]
    if hasattr(package, "__path__"):
        names += [each.name for each in pkgutil.iter_modules(package.__path__, f"{names[0]}.")]
    return [importlib.import_module(name) for name in names]


#: The modules that say what others hold.
MODULES = [
    module
    for package in (access, analysis, _engine, freshness, dialects, directives)
    for module in _modules(package)
]  # fmt: skip
VALUES = {
    each
    for module in MODULES
    for _, each in inspect.getmembers(module, inspect.isclass)
    if each.__module__.startswith("koster") and dataclasses.is_dataclass(each)
}


@pytest.mark.parametrize("value", sorted(VALUES, key=lambda each: each.__qualname__))  # type: ignore[attr-defined]
def test_values_are_frozen_and_have_slots(value: type) -> None:
    assert value.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(value)


def test_there_are_values() -> None:
    assert len(VALUES) > 15


def test_errors_pickle() -> None:
    """Processes pass them to one another."""
    error = TooSoonError("the next turn is tomorrow", datetime(2026, 11, 22, tzinfo=UTC))
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.until) == (TooSoonError, str(error), error.until)


RULE = koster.Rule(koster.Directive.ALLOW, "/x", line=3, allow=True)


def test_values_are_equal_if_their_fields_are() -> None:
    for value in (RULE, koster.RFC9309, koster.GOOGLE.reading, koster.MK1996.statuses):
        same = dataclasses.replace(value)  # type: ignore[type-var]
        assert same == value
        assert hash(same) == hash(value)
        assert pickle.loads(pickle.dumps(value)) == value
    assert dataclasses.replace(RULE, line=4) != RULE
    assert dataclasses.replace(koster.GOOGLE, versions={1: koster.GOOGLE.reading}) != koster.GOOGLE
    assert RULE != ("/x", 3)
    assert repr(RULE) == (
        "Rule(directive=<Directive.ALLOW: 'Allow'>, pattern='/x', line=3, allow=True, column=1)"
    )


def test_methods_of_values_are_those_of_dataclasses() -> None:
    names = koster.Rule.__slots__
    made = dataclasses.make_dataclass("Rule", names, frozen=True, slots=True)
    other = made(*[getattr(RULE, name) for name in names])
    assert (hash(other), repr(other)) == (hash(RULE), repr(RULE))
