"""Drop-in replacement for apetest.robots (APE): five functions on plain structures.

A port, because the structures are the interface: records of ``(line number, field, value)``,
and a mapping from names to sequences of ``(allowed, prefix)``. Problems are logged with their line
numbers to the caller's logger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from logging import Logger

    Record: TypeAlias = Sequence[tuple[int, str, str]]
    Rules: TypeAlias = Sequence[tuple[bool, str]]


def scan_robots_txt(lines: Iterable[str], logger: Logger) -> Iterator[Record]:
    """Yield the records of a robots.txt: blocks separated by blank lines.

    A byte order mark at the start of the first line is skipped.

    Args:
        lines: The lines of the file, decoded.
        logger: The logger for problems.
    """
    record: list[tuple[int, str, str]] = []
    for number, line in enumerate(lines, 1):
        content = line.removeprefix("\ufeff") if number == 1 else line
        text = content.lstrip()
        if not text:
            if record:
                yield record
                record = []
        elif text[0] != "#":
            if len(text) < len(content):
                logger.warning("Line %d has whitespace before field", number)
            field, colon, value = text.partition("#")[0].partition(":")
            if colon:
                record.append((number, field.casefold(), value.strip()))
            else:
                logger.error('Line %d contains no ":"; ignoring line', number)
    if record:
        yield record


def parse_robots_txt(records: Iterable[Record], logger: Logger) -> dict[str, Rules]:
    """Return the rules by case-folded name of the user agent.

    Args:
        records: The result of `scan_robots_txt`.
        logger: The logger for problems.
    """
    rules_of: dict[str, Rules] = {}
    unknown: set[str] = set()
    for record in records:
        rules: list[tuple[bool, str]] = []
        named = False
        for number, field, value in record:
            if field == "user-agent":
                if rules:
                    logger.error(
                        "Line %d specifies user agent after rules; assuming new record", number
                    )
                    rules = []
                named = True
                _add_agent(rules_of, value, rules, number, logger)
            elif field in ("allow", "disallow"):
                if named:
                    rules.extend(_parse_rule(field, value, number, logger))
                else:
                    logger.error(
                        "Line %d specifies %s rule without a preceding user agent line; "
                        "ignoring line",
                        number,
                        field,
                    )
            elif field not in unknown:
                unknown.add(field)
                logger.info('Unknown field "%s" (line %d)', field, number)
    return rules_of


def _add_agent(
    rules_of: dict[str, Rules], value: str, rules: Rules, number: int, logger: Logger
) -> None:
    """Add the rules of a user agent, unless it already has some."""
    name = value.casefold()
    if name in rules_of:
        logger.error(
            'Line %d specifies user agent "%s", which was already addressed in an earlier record; '
            "ignoring new record",
            number,
            value,
        )
    else:
        rules_of[name] = rules


def _parse_rule(field: str, value: str, number: int, logger: Logger) -> Rules:
    """Return the rule of a line; empty if its path is empty or invalid."""
    try:
        path = unescape_path(value)
    except ValueError as error:
        logger.error("Bad escape in %s URL on line %d: %s", field, number, error)  # noqa: TRY400
        return []
    return [(field == "allow", path)] if path else []


def unescape_path(path: str) -> str:
    """Decode the escapes of a path except that of ``/``, which becomes ``%2f``.

    Raises:
        ValueError: an escape is invalid, or not UTF-8.
    """
    parts = []
    position = 0
    while (escape := path.find("%", position)) >= 0:
        parts.append(path[position:escape])
        text, position = _escaped_character(path, escape)
        parts.append(text)
    return "".join(parts) + path[position:]


def _escaped_character(path: str, at: int) -> tuple[str, int]:
    """Return the escaped character at an offset, and the offset after it.

    Raises:
        ValueError: an escape is invalid, or not UTF-8.
    """
    raw = [_escaped_byte(path, at)]
    at += 3
    if raw[0] == 0x2F:
        return "%2f", at
    remaining = _continuation_bytes(raw[0])
    while remaining:
        if path[at : at + 1] != "%":
            raise ValueError(
                f"incomplete escaped UTF8 character, expected {remaining} more escaped bytes"
            )
        byte = _escaped_byte(path, at)
        if byte & 0xC0 != 0x80:
            raise ValueError(
                "invalid percent-encoded UTF8: expected 0x80..0xBF for non-first byte, "
                f"got 0x{byte:02X}"
            )
        raw.append(byte)
        at += 3
        remaining -= 1
    return bytes(raw).decode(), at


def _escaped_byte(path: str, at: int) -> int:
    """Decode ``%XX``.

    Raises:
        ValueError: the escape is invalid.
    """
    digits = path[at + 1 : at + 3]
    if len(digits) != 2:
        raise ValueError('incomplete escape, expected 2 characters after "%"')
    try:
        byte = int(digits, 16)
    except ValueError:
        byte = -1
    # int() would take a sign, and "-0" is not below 0.
    if byte < 0 or "-" in digits:
        raise ValueError(f'incorrect escape: expected 2 hex digits after "%", got "{digits}"')
    return byte


def _continuation_bytes(first: int) -> int:
    """Return the number of continuation bytes after the first byte of a UTF-8 character.

    Raises:
        ValueError: the byte cannot be the first one.
    """
    if first < 0x80:
        return 0
    if not 0xC0 <= first < 0xF8:
        raise ValueError(
            f"invalid percent-encoded UTF8: expected 0xC0..0xF7 for first byte, got 0x{first:02X}"
        )
    return 1 if first < 0xE0 else 2 if first < 0xF0 else 3


def lookup_robots_rules(rules_map: Mapping[str, Rules], user_agent: str) -> Rules:
    """Return the rules of the first name that starts with the user agent, else those of ``*``."""
    agent = user_agent.casefold()
    for name, rules in rules_map.items():
        if name.startswith(agent):
            return rules
    return rules_map.get("*", [])


def path_allowed(path: str, rules: Rules) -> bool:
    """Return whether rules allow a path: the longest matching prefix decides.

    The path must have no escapes except ``%2f``. An empty path means ``/``.
    """
    path = path or "/"
    allowed = True
    longest = 0
    for allow, prefix in rules:
        if len(prefix) > longest and path.startswith(prefix):
            allowed = allow
            longest = len(prefix)
    return allowed
