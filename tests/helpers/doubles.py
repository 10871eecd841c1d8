"""Parsers with one deliberate error each: ``python doubles.py "first match wins"`` is a subject.

Each is the reference of RFC 9309 with one of its functions replaced.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from tests.helpers import reference

Groups = list[reference.Group]

groups_of = reference.groups_of
matches = reference.matches


def first_match_wins() -> None:
    def decide_in_order(body: bytes, url: str, agent: str) -> tuple[bool, int | None]:
        path = reference.path_of(url.encode())
        if path == b"/robots.txt":
            return True, None
        path = reference.canonical(path, is_pattern=False)
        for group in reference.chosen(reference.groups_of(body), agent.encode()):
            for allow, value, line in group.rules:
                if reference.matches(reference.canonical(value, is_pattern=True), path):
                    return allow, line
        return True, None

    reference.decide = decide_in_order


def names_compared_with_case() -> None:
    def names_token(value: bytes, token: bytes) -> bool:
        return not reference.is_everybody(value) and value.split(b"/")[0] == token

    def chosen(groups: Groups, agent: bytes) -> Groups:
        named = [group for group in groups if any(names_token(each, agent) for each in group.names)]
        return named or [group for group in groups if any(map(reference.is_everybody, group.names))]

    reference.chosen = chosen


def groups_not_merged() -> None:
    chosen = reference.chosen
    reference.chosen = lambda groups, agent: chosen(groups, agent)[:1]


def dollar_is_literal() -> None:
    reference.matches = lambda pattern, path: matches(
        re.sub(rb"\$\Z", reference.escaped(ord("$")), pattern), path
    )


def stacked_agents_lost() -> None:
    def last_names(body: bytes) -> Groups:
        groups = groups_of(body)
        for group in groups:
            del group.names[:-1]
        return groups

    reference.groups_of = last_names


def blank_lines_end_groups() -> None:
    def parsed_in_blocks(body: bytes) -> Groups:
        lines = re.split(rb"\r\n|\r|\n", body.removeprefix(b"\xef\xbb\xbf"))
        groups: Groups = []
        while lines:
            blank = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
            groups += groups_of(b"\n".join(lines[:blank]))
            lines = lines[blank + 1 :]
        return groups

    reference.groups_of = parsed_in_blocks


def star_is_literal() -> None:
    star = reference.escaped(ord("*"))
    reference.matches = lambda pattern, path: matches(pattern.replace(b"*", star), path)


def percent_encoding_ignored() -> None:
    reference.canonical = lambda raw_bytes, is_pattern: raw_bytes


def byte_order_mark_kept() -> None:
    reference.groups_of = lambda body: groups_of(
        b"\xef\xbb\xbf" + body if _has_mark(body) else body
    )


def _has_mark(body: bytes) -> bool:
    return body.startswith(b"\xef\xbb\xbf")


def cr_is_no_line_end() -> None:
    # A form feed is white space that ends no line.
    reference.groups_of = lambda body: groups_of(re.sub(rb"\r(?!\n)", b"\f", body))


def crawl_delay_closes_a_group() -> None:
    def closed_by_delays(body: bytes) -> Groups:
        # An empty rule closes the list of names, and restricts nothing.
        return groups_of(re.sub(rb"(?im)^crawl-delay:.*", b"Disallow:", body))

    reference.groups_of = closed_by_delays


#: Each error, and the tag of the cases that name the rule that it breaks.
DOUBLES: dict[str, tuple[Callable[[], None], str]] = {
    "first match wins": (first_match_wins, "specificity"),
    "names compared with case": (names_compared_with_case, "name-case"),
    "groups not merged": (groups_not_merged, "merging"),
    "$ taken literally": (dollar_is_literal, "dollar"),
    "stacked agents lost": (stacked_agents_lost, "stacked-agents"),
    "blank lines end groups": (blank_lines_end_groups, "blank-lines"),
    "* missing": (star_is_literal, "wildcards"),
    "percent-encoding ignored": (percent_encoding_ignored, "escapes"),
    "byte order mark kept": (byte_order_mark_kept, "byte-order-mark"),
    "CR not a line end": (cr_is_no_line_end, "line-ends"),
    "Crawl-delay closes a group": (crawl_delay_closes_a_group, "other-records"),
}


def answer(message: dict[str, Any], name: str) -> dict[str, Any]:
    if message["cmd"] == "start":
        return {"name": name or "the reference", "version": "1", "dialects": ["rfc9309"]}
    robots = base64.b64decode(message["robots"])
    verdicts = [reference.decide(robots, url, message["agent"]) for url in message["urls"]]
    return {"id": message["id"], "allowed": [allowed for allowed, _ in verdicts]}


def main() -> None:
    name = sys.argv[1]
    if name:
        DOUBLES[name][0]()
    for line in sys.stdin:
        message = json.loads(line)
        if message["cmd"] == "stop":
            return
        print(json.dumps(answer(message, name)), flush=True)


if __name__ == "__main__":
    main()
