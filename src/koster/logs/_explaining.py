"""What is wrong with lines that cannot be read, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .._json import parse_json
from .._wording import joined
from ..bulk._arrow import pa, pc
from ..bulk.judging import NEVER
from ._formats import Enveloped, Format, JsonFormat, TextFormat
from ._times import moments

#: Bytes of a line that are looked at.
SAMPLE_BYTES = 8192

#: Characters of a line, and of a value, to show.
_LINE_CHARACTERS = 100
_VALUE_CHARACTERS = 60

_LOOKS = (
    (rb"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[\w+\]", "an nginx error log"),
    (rb"^\[\w{3} \w{3} \d\d [\d:.]+ \d{4}\] \[", "an Apache error log"),
    (rb"^(?:<\d+>)?(?:\w{3} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT\S+) \S+ \S+: ",
     "a log with the prefix of syslog before each line"),
    (rb"^\s*(?:<!doctype|<html)", "an HTML page"),
    (rb"(?i)^\s*(?:user-agent|disallow|allow)\s*:", "a robots.txt"),
    (rb"^[^\n,]*(?:,[^\n,]*){3,}$", "a table (CSV)"),
)  # fmt: skip


def looks_like(sample: bytes) -> str:
    """Return what a file that is no access log looks like, in words."""
    first = next((line for line in sample.split(b"\n") if line.strip()), b"")
    return _known_look(sample) or f'lines such as "{_shown(first)}"'


def _known_look(sample: bytes) -> str | None:
    if b"\0" in sample:
        return "binary data"
    first = next((line for line in sample.split(b"\n") if line.strip()), b"")
    try:
        keys = parse_json(first)
    except ValueError:
        keys = None
    if isinstance(keys, dict):
        return f"JSON with the keys {', '.join(list(map(str, keys))[:12])}"
    for expression, words in _LOOKS:
        if re.search(expression, first, re.MULTILINE | re.IGNORECASE):
            return words
    return None


def _shown(raw: bytes, limit: int = _LINE_CHARACTERS) -> str:
    return raw[:limit].decode("utf-8", "replace").strip()


def explained(line: bytes, forms: Iterable[Format]) -> str:
    """Return what a line looks like, and where it differs from the format that it is closest to."""
    found = looks_like(line)
    if _known_look(line):
        return found
    closest = max(forms, key=lambda each: _closeness(each.lines, line), default=None)
    if closest is None or not _closeness(closest.lines, line):
        return found
    return f"{found}, closest to {closest.name}: {mismatch(closest, line)}"


def unread(form: Format | None, line: bytes) -> str:
    """Return what lines look like that were not read in a format, and what differs."""
    found = looks_like(line)
    is_explained = isinstance(form and form.lines, TextFormat) and _known_look(line)
    why = "" if form is None or is_explained else mismatch(form, line)
    return f"{found}: {why}" if why else found


def mismatch(form: Format, line: bytes) -> str:
    """Return which field of a format a line does not have; empty if that is not known."""
    reader: Any = form.lines
    while isinstance(reader, Enveloped):
        if not reader.outer.are_valid(_column(line))[0].as_py():
            return _mismatch(reader.outer, line)
        line = reader.outer.columns(_column(line))["line"].cast(pa.large_binary())[0].as_py() or b""
        reader = reader.inner
    return _mismatch(reader, line)


def _mismatch(reader: Any, line: bytes) -> str:
    if isinstance(reader, JsonFormat):
        return _without(reader, line)
    return _different(reader, line) if isinstance(reader, TextFormat) else ""


def _without(reader: JsonFormat, line: bytes) -> str:
    """Return which keys a line of JSON lacks."""
    if not reader.are_valid(_column(line))[0].as_py():
        is_cut = len(line) >= SAMPLE_BYTES
        return "" if is_cut else f"`{_shown(line, _VALUE_CHARACTERS)}` is not a JSON object"
    columns = reader.columns(_column(line))
    present = {name for name, column in columns.items() if not column.null_count}
    lacking = [
        " or ".join(each.removeprefix("$.").replace('"', "") for each in reader.paths[some[0]][:3])
        for some in (("time",), ("url", "request"), ("agent", "address"))
        if some[0] in reader.paths and not present & {*some}
    ]
    if lacking:
        return f"it has no {joined(lacking, 'and no')}"
    return _unread_time(columns["time"], reader.time, "time")


def _different(reader: TextFormat, line: bytes) -> str:
    """Return the first field of a format that a line does not match."""
    starts = reader.pattern.starts
    if not starts:
        return ""
    if reader.are_valid(_column(line))[0].as_py():
        times = (name for number, (name, _) in enumerate(starts) if _is_time(reader, number))
        column = reader.columns(_column(line))["time"]
        return _unread_time(column, reader.time, next(times, "time"))
    number = _fields_before(reader, line)
    label, _ = starts[number]
    if _is_time(reader, number) and (time := _TIME.search(line)):
        return f"`{_shown(time[0], _VALUE_CHARACTERS)}` is not `{label}`"
    before, rest = _split(_before(reader, number) or "^", line)
    if not rest.strip():
        return f"it ends before `{label}`"
    if number + 1 < len(starts):
        found = _without_literal(reader, number, line)
        if found is not None:
            before, rest, literal = found
            closing = _CLOSING.get(literal[-1:].encode(), b"").decode()
            label = f"{literal}{starts[number + 1][0]}{closing}"
        if not rest.strip() or _value(before, rest) == rest.strip():
            return f"it ends before `{starts[number + 1][0]}`"
    return f"`{_shown(_value(before, rest), _VALUE_CHARACTERS)}` is not `{label}`"


def _without_literal(
    reader: TextFormat, number: int, line: bytes
) -> tuple[bytes, bytes, str] | None:
    """Return a line before and from where the text after a field differs, and that text.

    None if the field itself does not match, or nothing of the text after it.
    """
    start, after = (reader.pattern.starts[each][1] for each in (number, number + 1))
    end = _group_end(reader.pattern.regex, start)
    expression = _nameless(reader.pattern.regex[:end])
    if expression is None or not _LITERAL.fullmatch(reader.pattern.regex[end:after]):
        return None
    literals = re.findall(r"\\.|[^\\]", reader.pattern.regex[end:after])
    for count in range(len(literals) - 1, 0, -1):
        before, rest = _split(expression + "".join(literals[:count]), line)
        if rest:
            return before, rest, "".join(each[-1] for each in literals[count:])
    return None


def _group_end(expression: str, start: int) -> int:
    """Return where the group ends that starts at an index."""
    depth = 0
    for match in re.finditer(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]", expression[start:]):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return start + match.end()
    return len(expression)


#: What ends text that begins with a sign.
_CLOSING = {b'"': b'"', b"[": b"]", b"{": b"}"}

#: An expression for a text.
_LITERAL = re.compile(r"(?:\\[^A-Za-z0-9]|[^\\\[\](){}?*+.|^$])*")

#: What looks like a time.
_TIME = re.compile(
    rb"\[?\d{1,4}[-/]\w{2,3}[-/]\d{1,4}[T: ]+\d{1,2}:\d\d[^\]\s\"]*(?: [+-]\d{4})?\]?"
)


def _is_time(reader: TextFormat, number: int) -> bool:
    return reader.pattern.regex.startswith("(?P<time>", reader.pattern.starts[number][1])


def _unread_time(column: Any, time_format: str, label: str) -> str:
    if moments(column, time_format)[0][0] != NEVER:
        return ""
    raw = column.cast(pa.large_binary())[0].as_py() or b""
    return f"`{_shown(raw, _VALUE_CHARACTERS)}` is not `{label}`"


def _column(line: bytes) -> Any:
    return pa.array([line], pa.large_binary())


def _closeness(reader: Any, line: bytes) -> int:
    """Return how many fields of a format a line begins with; 0 if no time is there."""
    if not isinstance(reader, TextFormat) or not reader.pattern.starts:
        return 0
    number = _fields_before(reader, line)
    if _is_time(reader, number):
        return number if _TIME.search(line) else 0
    expression = reader.pattern.regex[: reader.pattern.starts[number][1]]
    found = pc.extract_regex(_column(line), expression)
    if found.type.get_field_index("time") < 0:
        return 0
    return number if _TIME.search(found.field("time")[0].as_py() or b"") else 0


def _fields_before(reader: TextFormat, line: bytes) -> int:
    """Return how many fields a line matches before one that it does not.

    A line that matches some fields matches fewer, so half of those left are tried at a time.
    """
    low, high = 0, len(reader.pattern.starts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if _begins(reader, middle, line):
            low = middle
        else:
            high = middle - 1
    return low


def _begins(reader: TextFormat, number: int, line: bytes) -> bool:
    expression = _before(reader, number)
    if expression is None:
        # It ends within an alternative.
        return number + 1 < len(reader.pattern.starts) and _begins(reader, number + 1, line)
    return bool(pc.match_substring_regex(_column(line), expression)[0].as_py())


def _before(reader: TextFormat, number: int) -> str | None:
    """Return the expression for what comes before a field; None if that is no expression."""
    return _nameless(reader.pattern.regex[: reader.pattern.starts[number][1]])


def _nameless(expression: str) -> str | None:
    """Return an expression without names; None if it ends within an alternative."""
    expression = re.sub(r"\(\?P<\w+>", "(?:", expression)
    try:
        re.compile(expression)
    except re.error:
        return None
    return expression


def _split(expression: str, line: bytes) -> tuple[bytes, bytes]:
    """Return what an expression matches of a line, and the rest; nothing if it does not."""
    found = pc.extract_regex(_column(line), rf"(?s){expression}(?P<rest>.*)$")
    rest = found.field("rest")[0].as_py() or b""
    return line[: len(line) - len(rest)], rest


def _value(before: bytes, rest: bytes) -> bytes:
    """Return the first value of the rest of a line."""
    if rest[:1] in _CLOSING:
        end = rest.find(_CLOSING[rest[:1]], 1)
        return rest[: end + 1] if end > 0 else rest.strip()
    end = rest.find(_CLOSING.get(before[-1:], b" "))
    return rest[:end] if end > 0 else rest.strip()
