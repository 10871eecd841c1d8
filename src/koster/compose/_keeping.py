"""An existing file as blocks, and what of each block a new file keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .._contents import lines_of_cloudflare
from ..model import RULES, SPACE, Directive, Line, LineKind, Scope
from ..robots import RobotsTxt
from ._closed import Contradictions
from ._intentions import Intentions
from ._settings import Settings


@dataclass(slots=True)
class Block:
    """A part of the existing file: a group, or lines before or after all groups.

    ``comments`` are the lines above the group, ``lines`` all its lines including User-agent, which
    are ``agents`` too. ``is_managed``: Cloudflare writes it, so that it stays as it is.
    """

    comments: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    agents: list[Line] = field(default_factory=list)
    is_first_star_group: bool = False
    is_managed: bool = False

    @property
    def names(self) -> list[str]:
        return [_token(line.value) for line in self.agents]

    @property
    def is_star_group(self) -> bool:
        """Whether it is a group for ``*`` of the site's own."""
        return "*" in self.names and not self.is_managed

    @property
    def is_blocked(self) -> bool:
        """Whether its only rule blocks the whole site."""
        rules = {(line.directive, line.value) for line in self.lines if line.directive in RULES}
        return rules == {(Directive.DISALLOW, "/")}


def blocks_of(old: RobotsTxt) -> tuple[list[Block], Block]:
    """Return the blocks of a file, and the lines after all groups, such as its sitemaps."""
    blocks = [block := Block()]
    is_open = False
    for line in old.lines:
        directive = line.directive
        if directive is Directive.USER_AGENT:
            if not is_open:
                blocks.append(block := Block(comments=_pop_trailing_comments(block)))
                is_open = True
            block.agents.append(line)
        elif directive in RULES:
            is_open = False
        block.lines.append(line)
    managed = lines_of_cloudflare(old)
    for block in blocks:
        block.is_managed = bool(block.agents) and block.agents[0].number in managed
    star_groups = [block for block in blocks if block.is_star_group]
    for block in [*(each for each in star_groups if not each.is_blocked), *star_groups][:1]:
        block.is_first_star_group = True
    return blocks, _pop_end(blocks[-1])


def _pop_end(block: Block) -> Block:
    """Remove and return the lines at the end of a file that belong to no group."""
    at = _end_of_group(block.lines)
    end = block.lines[at:]
    if not any(_is_file_directive(line) for line in end):
        return Block()
    # Comments up to a blank line are about the group above them.
    first = next(n for n, line in enumerate(end) if line.kind is not LineKind.COMMENT)
    if end[first].kind is LineKind.BLANK:
        at += first
    end = block.lines[at:]
    del block.lines[at:]
    return Block(lines=end)


def _end_of_group(lines: Sequence[Line]) -> int:
    """Return where the comments and the directives for the whole file begin at the end."""
    at = len(lines)
    while at and (_is_comment(lines[at - 1]) or _is_file_directive(lines[at - 1])):
        at -= 1
    return at


def _pop_trailing_comments(block: Block) -> list[str]:
    """Remove and return the comments at the end of a block: they belong to the next one."""
    at = len(block.lines)
    while at and _is_comment(block.lines[at - 1]):
        at -= 1
    found = [_line_text(line) for line in block.lines[at:]]
    del block.lines[at:]
    return found


def _line_text(line: Line) -> str:
    # The line may move, and a byte order mark is one only at the start of a file.
    return (line.text.removeprefix("\ufeff") if line.number == 1 else line.text).rstrip(SPACE)


class Keeper:
    """Keeps the blocks of an existing file, with what the author wants."""

    def __init__(self, intentions: Intentions, settings: Settings) -> None:
        self._intentions = intentions
        self._settings = settings
        self.contradictions = Contradictions(intentions.closed, intentions.opened)

    def lines_of(self, block: Block, moving: set[str]) -> list[str]:
        """Return the lines of a block, without agents that get a new group."""
        if not block.agents:
            return [self._settings.update_signals(line, _line_text(line)) for line in block.lines]
        if block.is_managed:
            return [*block.comments, *map(_line_text, block.lines)]
        remaining = [line for line in block.lines if not _names_moving_agent(line, moving)]
        names = {_token(line.value) for line in remaining if line.directive is Directive.USER_AGENT}
        if not names:
            # The group goes, but directives for the whole file stay.
            whole = [_line_text(line) for line in remaining if _is_file_directive(line)]
            whole += _pop_trailing_comments(block)
            return [*_separate_comments(block.comments), *(["", *whole] if whole else [])]
        # Drop directives of the group that stood between removed User-agent lines.
        begin = [line.directive for line in remaining].index(Directive.USER_AGENT)
        above = [line for line in remaining[:begin] if not _is_group_directive(line)]
        remaining = [*above, *remaining[begin:]]
        keep = self._blocked_group if block.is_blocked else self._group
        return [*block.comments, *keep(block, remaining, names)]

    def _blocked_group(self, block: Block, lines: list[Line], names: set[str]) -> list[str]:
        """Return the lines of a group whose only rule blocks the site."""
        if "*" not in names:
            return [_line_text(line) for line in lines]
        at = _end_of_group(lines)
        more = self._settings.missing_signals() if block.is_first_star_group else []
        kept = [self._settings.update_signals(line, _line_text(line)) for line in lines[:at]]
        return [*kept, *more, *map(_line_text, lines[at:])]

    def _group(self, block: Block, lines: list[Line], names: set[str]) -> list[str]:
        """Return the lines of another group, with the rules and settings that it lacks."""
        settings, has = self._settings, self.contradictions.has
        lines = [line for line in lines if not has(line.directive, line.value)]
        is_star_group = "*" in names
        # Crawlers merge all groups for *: add new lines only to the first one.
        is_first = names != {"*"} or block.is_first_star_group
        more = self._missing_rules(lines) if is_first else []
        if not more and not any(line.directive in RULES for line in lines):
            # Without a rule, the group would merge with the next one.
            more = ["Disallow:"]
        if is_first:
            more += settings.missing_lines(block.lines, is_star_group=is_star_group)
        at = _end_of_group(lines)
        kept = [settings.update_delay(line, _line_text(line)) for line in lines[:at]]
        if is_star_group:
            kept = [settings.update_signals(*each) for each in zip(lines, kept, strict=False)]
        return [*kept, *more, *map(_line_text, lines[at:])]

    def _missing_rules(self, lines: Sequence[Line]) -> list[str]:
        """Return the rules for closed and opened paths that a group lacks."""
        wanted = {*self._intentions.closed, *self._intentions.opened}
        written = {f"{line.directive}: {line.value}" for line in lines if line.value in wanted}
        return [rule for rule in self._intentions.path_rules if rule not in written]


def _separate_comments(comments: list[str]) -> list[str]:
    """Return the comments above a group that a blank line separates from it."""
    at = len(comments)
    while at and comments[at - 1]:
        at -= 1
    return comments[:at]


def _token(name: str) -> str:
    return name.partition("/")[0].rstrip("* \t").lower() or name.lower()


def _names_moving_agent(line: Line, moving: set[str]) -> bool:
    """Return whether a line names an agent that gets a new group."""
    if line.directive is not Directive.USER_AGENT:
        return False
    name = _token(line.value)
    # "Foo bar" also applies to the crawler Foo.
    return not moving.isdisjoint({name, *name.split()[:1]})


def _is_comment(line: Line) -> bool:
    return line.kind in (LineKind.COMMENT, LineKind.BLANK)


def _is_file_directive(line: Line) -> bool:
    return line.directive is not None and line.directive.scope is Scope.FILE


def _is_group_directive(line: Line) -> bool:
    return line.directive is not None and line.directive.scope is Scope.GROUP
