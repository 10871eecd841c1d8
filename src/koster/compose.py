"""Compose: a robots.txt from what its author wants, with the robots of the registry by name.

A robot that a group names heeds no other group, so that every group here says all that is for its
robots: the paths that are closed to everybody stand in each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .agents import Heeds, Purpose, known
from .diff import Comparison, compare
from .model import RULES, Directive, LineKind, Scope
from .robots import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .agents import Crawler
    from .model import Line
    from .robots import RobotsTxt, Rules


#: What is said of a purpose.
ALLOW, DISALLOW = "allow", "disallow"

_REASONS = {
    Purpose.SEARCH: "search engines, which bring visitors",
    Purpose.AI_SEARCH: "assistants that search, cite and link",
    Purpose.USER_FETCH: "pages that a person asked an assistant for",
    Purpose.TRAINING: "crawlers that collect pages to train models",
    Purpose.DATASET: "crawlers whose collections others train on or buy",
    Purpose.ARCHIVE: "archives",
    Purpose.PREVIEW: "previews of shared links",
    Purpose.ADS: "checks of pages that advertisements lead to",
    Purpose.SEO: "crawlers that sell what links where",
    Purpose.TOOL: "tools that anybody may run",
}


@dataclass(frozen=True, slots=True)
class Intentions:
    """What an author wants.

    ``purposes`` says of kinds of crawlers whether they may; ``others`` of everybody else, or None
    to leave that as it is. ``closed`` are paths for nobody; ``delay`` is in seconds; ``signals``
    are Content-Signal preferences such as ``ai-train=no``.
    """

    purposes: Mapping[Purpose, str] = field(default_factory=dict)
    others: str | None = None
    closed: tuple[str, ...] = ()
    delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Composed:
    """The file, and what it changes of the one that it was made from."""

    body: bytes
    changes: Comparison


def compose(intentions: Intentions, keep: bytes = b"") -> Composed:
    """Write a robots.txt.

    Args:
        intentions: What is wanted.
        keep: A file of which everything stays that the intentions do not contradict.

    Raises:
        MissingExtraError: the registry of crawlers is not installed.
    """
    old = parse(keep)
    decided = {
        purpose: [each for each in known() if each.purpose is purpose]
        for purpose in intentions.purposes
    }
    named = _to_be_named(intentions, decided, old)
    blocks = _blocks(old)
    out = [line for block in blocks for line in _kept(block, named, intentions)]
    rules = _rules_of_everybody(old)
    for purpose, crawlers in decided.items():
        wanted = intentions.purposes[purpose]
        if wanted == DISALLOW or _need_names(intentions, old):
            more = [*rules, *_closed(intentions), *_settings(intentions)]
            out += _group_for(purpose, crawlers, wanted, more)
    has_everybody = any("*" in block.names for block in blocks) and intentions.others is None
    if not has_everybody:
        out += _everybody(intentions, rules)
    out += _for_own_groups(named, old, intentions)
    have = set(old.sitemaps)
    out += [f"Sitemap: {each}" for each in dict.fromkeys(intentions.sitemaps) if each not in have]
    body = _text(out)
    return Composed(body, compare(old, parse(body), (each.token for each in known())))


def _to_be_named(
    intentions: Intentions, decided: Mapping[Purpose, list[Crawler]], old: RobotsTxt
) -> set[str]:
    """Return the names, in lower case, that are to go from the groups that are kept.

    Those that get groups of their own, and those that may where a group shuts them out.
    """
    found = {"*"} if intentions.others is not None else set()
    for purpose, crawlers in decided.items():
        moves = intentions.purposes[purpose] == DISALLOW or _need_names(intentions, old)
        for each in crawlers:
            rules = old.rules_for(each.token)
            if moves or (rules.is_named and _shuts_out(rules)):
                found.add(each.token.lower())
    return found


def _shuts_out(rules: Rules) -> bool:
    """Tell whether rules close a site, perhaps but for some pages."""
    patterns = [rule.pattern for group in rules.groups for rule in group.rules if not rule.allow]
    return any(pattern.rstrip("*") in ("/", "") and pattern for pattern in patterns)


def _token(name: str) -> str:
    """Return the product token of a name, in lower case."""
    return name.partition("/")[0].rstrip("* \t").lower() or name.lower()


def _text(lines: Sequence[str]) -> bytes:
    """Return lines as a file, with one blank line where there are several."""
    found: list[str] = []
    for line in lines:
        if line or (found and found[-1]):
            found.append(line)
    while found and not found[-1]:
        found.pop()
    return "".join(f"{line}\n" for line in found).encode("utf-8", "surrogateescape")


def _closed(intentions: Intentions) -> list[str]:
    return [f"Disallow: {path}" for path in intentions.closed]


@dataclass(slots=True)
class _Block:
    """A group of the file that is kept, with the comments above it; the first has no agents."""

    above: list[str] = field(default_factory=list)
    agents: list[Line] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of its agents, in lower case."""
        return [_token(line.value) for line in self.agents]


def _blocks(old: RobotsTxt) -> list[_Block]:
    """Return the parts of a file."""
    blocks = [_Block()]
    is_open = False
    for line in old.lines:
        block = blocks[-1]
        if line.directive is Directive.USER_AGENT:
            if not is_open:
                blocks.append(_Block(above=_taken_from_the_end(block)))
            blocks[-1].agents.append(line)
            is_open = True
        else:
            block.lines.append(line)
            is_open = is_open and line.directive not in RULES
    return blocks


def _taken_from_the_end(block: _Block) -> list[str]:
    """Take the comments and blank lines from the end of a block: they are about the next."""
    at = len(block.lines)
    while at and block.lines[at - 1].kind in (LineKind.COMMENT, LineKind.BLANK):
        at -= 1
    found = [_plain(line) for line in block.lines[at:]]
    del block.lines[at:]
    return found


def _plain(line: Line) -> str:
    return line.text.removeprefix("\ufeff").rstrip()


def _kept(block: _Block, named: set[str], intentions: Intentions) -> list[str]:
    """Return the lines of a block, but for names that get groups of their own."""
    if not block.agents:
        return [_plain(line) for line in block.lines]
    left = [line for line in block.agents if _token(line.value) not in named]
    if not left:
        # What belongs to the file and not to the group stays.
        whole = [_plain(line) for line in block.lines if _is_for_the_file(line)]
        return ["", *whole] if whole else []
    is_everybodys = "*" in [line.value for line in left]
    written = {str(line.directive) + line.value for line in block.lines}
    more = [f"Disallow: {path}" for path in intentions.closed if f"Disallow{path}" not in written]
    more += _settings(intentions) if is_everybodys else []
    stays = [line for line in block.lines if not _contradicts(line, intentions, is_everybodys)]
    of_group = [number for number, line in enumerate(stays, 1) if _is_for_the_group(line)]
    at = max(of_group, default=0)
    lines = [_plain(line) for line in stays]
    if not any(line.directive in RULES for line in stays) and not intentions.closed:
        # Without a rule the group would go on with whatever group comes next.
        more.insert(0, "Disallow:")
    return [*block.above, *map(_plain, left), *lines[:at], *more, *lines[at:]]


def _is_for_the_file(line: Line) -> bool:
    return line.directive is not None and line.directive.scope is Scope.FILE


def _is_for_the_group(line: Line) -> bool:
    return line.directive is not None and line.directive.scope is Scope.GROUP


def _contradicts(line: Line, intentions: Intentions, is_everybodys: bool) -> bool:
    """Tell whether a line says what is wanted otherwise."""
    if line.directive is Directive.ALLOW:
        return line.value in intentions.closed
    return is_everybodys and (
        (line.directive is Directive.CRAWL_DELAY and intentions.delay is not None)
        or (line.directive is Directive.CONTENT_SIGNAL and bool(intentions.signals))
    )


def _settings(intentions: Intentions) -> list[str]:
    """Return what is said to everybody besides rules."""
    found = [] if intentions.delay is None else [f"Crawl-delay: {intentions.delay:g}"]
    if intentions.signals:
        found.append(f"Content-Signal: {', '.join(intentions.signals)}")
    return found


def _need_names(intentions: Intentions, old: RobotsTxt) -> bool:
    """Tell whether robots that may must be named: everybody may not."""
    return intentions.others == DISALLOW or (
        intentions.others is None and _shuts_out(old.rules_for("*"))
    )


def _group_for(
    purpose: Purpose, crawlers: list[Crawler], wanted: str, rules: list[str]
) -> list[str]:
    """Return the group of the crawlers with a purpose."""
    may = "may fetch nothing" if wanted == DISALLOW else "may"
    heading = f"{purpose.value[:1].upper()}{purpose.value[1:]}: {_REASONS[purpose]}"
    out = ["", f"# {heading}; they {may}."]
    out += [f"User-agent: {each.token}" for each in crawlers]
    if wanted == DISALLOW:
        return [*out, "Disallow: /"]
    return [*out, *(dict.fromkeys(rules) or ["Disallow:"])]


def _rules_of_everybody(old: RobotsTxt) -> list[str]:
    """Return the rules for everybody in a file, if they leave the site open."""
    rules = old.rules_for("*")
    if _shuts_out(rules):
        return []
    return [str(rule) for group in rules.groups for rule in group.rules if rule.pattern]


def _everybody(intentions: Intentions, rules: list[str]) -> list[str]:
    """Return the group for everybody else, if there is anything to say."""
    settings = _settings(intentions)
    if intentions.others is None and not (intentions.closed or settings):
        return []
    may = {ALLOW: ": may", DISALLOW: ": may fetch nothing", None: ""}[intentions.others]
    wanted = ["Disallow: /"] if intentions.others == DISALLOW else [*rules, *_closed(intentions)]
    wanted = list(dict.fromkeys(wanted)) or ["Disallow:"]
    return ["", f"# Everybody else{may}.", "User-agent: *", *wanted, *settings, ""]


def _for_own_groups(named: set[str], old: RobotsTxt, intentions: Intentions) -> list[str]:
    """Return a group for those who heed no group for everybody, so that closed paths are closed."""
    left = [
        each.token
        for each in known()
        if each.heeds is Heeds.OWN_GROUPS
        and each.token.lower() not in named
        and not old.rules_for(each.token).is_named
    ]
    rules = ["Disallow: /"] if intentions.others == DISALLOW else _closed(intentions)
    if not left or not rules:
        return []
    comment = "# These heed groups that name them, and none for everybody."
    return ["", comment, *(f"User-agent: {name}" for name in left), *rules, ""]
