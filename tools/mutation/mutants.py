"""Which changes are tried: one for each operator, and none that cannot change anything.

Annotations, and numbers that only make room for more in memory, change nothing.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from cosmic_ray.commands import init
from cosmic_ray.work_db import WorkDB, use_db

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cosmic_ray.work_item import MutationSpec

#: What is tried. cosmic-ray replaces each operator with every other one, which takes ten times as
#: long and finds the same.
_KEPT = {
    "AddNot", "BreakContinue", "NumberReplacer", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceContinueWithBreak",
    "ReplaceBreakWithContinue", "ZeroIterationForLoop", "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_USub_UAdd", "ExceptionReplacer",
    *(f"ReplaceBinaryOperator_{pair}" for pair in (
        "Add_Sub", "Sub_Add", "Mul_Add", "Div_Mul", "FloorDiv_Mul", "Mod_FloorDiv", "LShift_RShift",
        "RShift_LShift", "BitAnd_BitOr", "BitOr_BitAnd", "BitXor_BitAnd", "Pow_Mul",
    )),
    *(f"ReplaceComparisonOperator_{pair}" for pair in (
        "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_GtE", "Gt_LtE",
        "Is_IsNot", "IsNot_Is", "In_NotIn", "NotIn_In",
    )),
}  # fmt: skip


#: Functions that allocate; see `koster._engine.memory` and `koster._engine.rows`.
_ALLOCATING = {"integers", "buffer", "resized", "Rows", "resize", "has_room"}

#: The lines and columns where something begins and ends.
_Place: TypeAlias = "tuple[tuple[int, int], tuple[int, int]]"


def write_session(path: Path, module: Path) -> None:
    """Write the changes of a module to a session, which appears when it is complete."""
    part = path.with_suffix(".part")
    with use_db(str(part), WorkDB.Mode.create) as session:
        init([module], session, {})
        items = [item for item in session.work_items if all(map(_is_tried, item.mutations))]
        session.clear()
        session.add_work_items(items)
    part.replace(path)


def _is_tried(mutation: MutationSpec) -> bool:
    if mutation.operator_name.partition("/")[2] not in _KEPT:
        return False
    places = _annotated(mutation.module_path)
    if mutation.operator_name.endswith("NumberReplacer") and mutation.occurrence % 2 == 0:
        # Of two changes of a number, the first adds one.
        places = [*places, *_rooms(mutation.module_path)]
    start = tuple(mutation.start_pos)
    return not any(first <= start < last for first, last in places)


@cache
def _annotated(path: Path) -> list[_Place]:
    """Return the places of annotations, and of what only type checkers read."""
    return [_place(node) for node in _annotations(ast.parse(path.read_text("utf-8")))]


@cache
def _rooms(path: Path) -> list[_Place]:
    """Return the places of sizes of memory, where a greater number makes room for more."""
    return [
        _place(argument)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and _name(node.func) in _ALLOCATING
        for argument in node.args
        if not any(isinstance(each, (ast.Sub, ast.FloorDiv)) for each in ast.walk(argument))
    ]


def _name(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]


def _place(node: ast.expr | ast.stmt) -> _Place:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _annotations(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = node.args
            every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            yield from (each.annotation for each in every if each.annotation)
            if node.returns:
                yield node.returns
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (node.test, *node.body)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TYPE_CHECKING":
            yield node
