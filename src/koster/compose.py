"""Compose: a robots.txt from what its author wants, with the robots of the registry by name.

A robot that a group names heeds no other group, so that every group here says all that is for its
robots: the paths that are closed to everybody stand in each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .agents import Heeds, Purpose, known
from .diff import Comparison, compare
from .model import Directive
from .robots import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .agents import Crawler
    from .model import Line
    from .robots import RobotsTxt

_RULES = (Directive.ALLOW, Directive.DISALLOW)

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
    named = {each.token.lower() for crawlers in decided.values() for each in crawlers}
    out = _kept(old, named)
    for purpose, crawlers in decided.items():
        wanted = intentions.purposes[purpose]
        if wanted == DISALLOW or _need_names(intentions, old):
            out += _group_for(purpose, crawlers, wanted, intentions, old)
    out = _with_everybody(out, intentions, old)
    if intentions.closed:
        special = [
            each
            for each in known()
            if each.heeds is Heeds.OWN_GROUPS and each.token.lower() not in named
        ]
        out += _for_own_groups(special, old, intentions)
    have = set(old.sitemaps)
    out += [f"Sitemap: {each}" for each in dict.fromkeys(intentions.sitemaps) if each not in have]
    body = _text(out)
    return Composed(body, compare(old, parse(body), (each.token for each in known())))


def _text(lines: Sequence[str]) -> bytes:
    found: list[str] = []
    for line in lines:
        if line or (found and found[-1]):
            found.append(line)
    while found and not found[-1]:
        found.pop()
    return "".join(f"{line}\n" for line in found).encode("utf-8", "surrogateescape")


def _need_names(intentions: Intentions, old: RobotsTxt) -> bool:
    """Tell whether robots that may must be named: everybody may not."""
    return intentions.others == DISALLOW or (
        intentions.others is None and not old.allowed("/", "*")
    )


def _kept(old: RobotsTxt, named: set[str]) -> list[str]:
    """Return the lines of a file without the names that get groups of their own."""
    out: list[str] = []
    agents: list[Line] = []
    others: list[str] = []
    is_open = False

    def close() -> None:
        left = [line for line in agents if line.value.lower() not in named]
        if left or not agents:
            out.extend([*(line.text.rstrip() for line in left), *others])
        agents.clear()
        others.clear()

    for line in old.lines:
        if line.directive is Directive.USER_AGENT:
            if not is_open:
                trailing = _trailing_comments(others)
                close()
                out.extend(trailing)
            is_open = True
            agents.append(line)
            continue
        is_open = is_open and line.directive not in _RULES
        others.append(line.text.removeprefix("\ufeff").rstrip())
    close()
    return out


def _trailing_comments(lines: list[str]) -> list[str]:
    """Take the comments and blank lines from the end of a group: they are about the next."""
    at = len(lines)
    while at and (not lines[at - 1] or lines[at - 1].lstrip().startswith("#")):
        at -= 1
    found = lines[at:]
    del lines[at:]
    return found


def _group_for(
    purpose: Purpose, crawlers: list[Crawler], wanted: str, intentions: Intentions, old: RobotsTxt
) -> list[str]:
    """Return the group of the crawlers with a purpose."""
    may = "may fetch nothing" if wanted == DISALLOW else "may"
    heading = f"{purpose.value[:1].upper()}{purpose.value[1:]}: {_REASONS[purpose]}"
    out = ["", f"# {heading}; they {may}."]
    out += [f"User-agent: {each.token}" for each in crawlers]
    if wanted == DISALLOW:
        return [*out, "Disallow: /"]
    return [*out, *_closed(intentions, old, is_open=True)]


def _closed(intentions: Intentions, old: RobotsTxt, *, is_open: bool) -> list[str]:
    """Return the rules for robots that may: what is closed to everybody."""
    rules = [] if not is_open else _rules_of_everybody(old)
    rules += [f"Disallow: {path}" for path in intentions.closed]
    return list(dict.fromkeys(rules)) or ["Disallow:"]


def _rules_of_everybody(old: RobotsTxt) -> list[str]:
    """Return the rules for everybody in a file, if they leave the site open."""
    rules = old.rules_for("*")
    if not rules.allowed("/"):
        return []
    return [str(rule) for group in rules.groups for rule in group.rules if rule.pattern]


def _with_everybody(out: list[str], intentions: Intentions, old: RobotsTxt) -> list[str]:
    """Return lines with the group for everybody, as wanted."""
    wanted = [f"Disallow: {path}" for path in intentions.closed]
    if intentions.others == DISALLOW:
        wanted = ["Disallow: /"]
    if intentions.delay is not None:
        wanted.append(f"Crawl-delay: {intentions.delay:g}")
    if intentions.signals:
        wanted.append(f"Content-Signal: {', '.join(intentions.signals)}")
    has_group = bool(old.rules_for("*").groups)
    if has_group and intentions.others is None and not wanted:
        return out
    if has_group and intentions.others is not None:
        out = _without_everybody(out)
        kept = _rules_of_everybody(old) if intentions.others == ALLOW else []
        wanted = list(dict.fromkeys([*kept, *wanted]))
    if not any(line.startswith(("Allow", "Disallow")) for line in wanted):
        wanted.insert(0, "Disallow:")
    may = "" if intentions.others is None else f": {_others(intentions)}"
    comment = f"# Everybody else{may}."
    return [*out, "", comment, "User-agent: *", *wanted, ""]


def _others(intentions: Intentions) -> str:
    return "may fetch nothing" if intentions.others == DISALLOW else "may"


def _without_everybody(out: list[str]) -> list[str]:
    """Return lines without the name of everybody; a group of nobody else goes with its rules."""
    robots = parse("\n".join(out).encode("utf-8", "surrogateescape"))
    return _kept(robots, {"*"})


def _for_own_groups(
    crawlers: Iterable[Crawler], old: RobotsTxt, intentions: Intentions
) -> list[str]:
    """Return a group for those who heed no group for everybody, so that closed paths are closed."""
    left = [each for each in crawlers if not old.rules_for(each.token).is_named]
    if not left or intentions.others == DISALLOW:
        return []
    comment = "# These heed groups that name them, and none for everybody."
    names = [f"User-agent: {each.token}" for each in left]
    return ["", comment, *names, *(f"Disallow: {path}" for path in intentions.closed), ""]
