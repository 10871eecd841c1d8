"""Which changes are tried: one for each operator, and none that cannot change anything."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from cosmic_ray.commands import init
from cosmic_ray.work_db import WorkDB, use_db

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cosmic_ray.work_item import MutationSpec

#: What is tried. cosmic-ray replaces each operator with every other one, which takes ten times as
#: long and finds the same.
_KEPT = {
    *("AddNot", "BreakContinue", "NumberReplacer", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceContinueWithBreak"),
    *("ReplaceBreakWithContinue", "ZeroIterationForLoop", "ReplaceUnaryOperator_Delete_Not"),
    *("ReplaceUnaryOperator_USub_UAdd", "ExceptionReplacer"),
    *(f"ReplaceBinaryOperator_{pair}" for pair in (
        "Add_Sub", "Sub_Add", "Mul_Add", "Div_Mul", "FloorDiv_Mul", "Mod_FloorDiv", "LShift_RShift",
        "RShift_LShift", "BitAnd_BitOr", "BitOr_BitAnd", "BitXor_BitAnd", "Pow_Mul",
    )),
    *(f"ReplaceComparisonOperator_{pair}" for pair in (
        "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_GtE", "Gt_LtE",
        "Is_IsNot", "IsNot_Is", "In_NotIn", "NotIn_In",
    )),
}  # fmt: skip


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
    start = tuple(mutation.start_pos)
    without_effect = _without_effect(mutation.module_path)
    return not any(first <= start < last for first, last in without_effect)


@cache
def _without_effect(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the places of annotations, and of what only type checkers read."""
    tree = ast.parse(path.read_text("utf-8"))
    return [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in _annotations(tree)
    ]


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
