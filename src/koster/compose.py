"""Compose: a robots.txt from what its author wants, with the robots of the registry by name.

A robot that a group names obeys no other group, so that every group here says all that is for its
robots: the paths that are closed to everybody stand in each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .analysis import Extent, classify, difference, rule_sets
from .crawlers import Obeys, Purpose, known
from .diff import MOST_ASKED, Comparison, compare
from .model import RULES, Directive, LineKind, Scope
from .robots import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .model import Decision, Line
    from .robots import RobotsTxt, Rules


#: What is said of a purpose.
ALLOW, DISALLOW = "allow", "disallow"

#: A page of which no rule speaks by name.
_ANY_PAGE = "/7d1c-any/page"

#: So many stars make a rule count for more than all others: no pattern that is meant is as long.
_STARS = 2_000

#: Patterns that every path is like.
_EVERYTHING = re.compile(r"/|/?\*+\$?")

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
    Purpose.TOOL: "software that anybody may run, and services that check a site for its owner",
}


@dataclass(frozen=True, slots=True)
class Intentions:
    """What an author wants.

    ``purposes`` says of kinds of crawlers whether they may, ``names`` of single ones whatever they
    are; ``others`` of everybody else, or None to leave that as it is. ``closed`` are paths for
    nobody, ``opened`` exceptions from them; ``delay`` is in seconds; ``signals`` are Content-Signal
    preferences such as ``ai-train=no``.
    """

    purposes: Mapping[Purpose, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    others: str | None = None
    closed: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Composed:
    """The file, and what it changes of the one that it was made from.

    ``left_open`` are URLs of paths that were to be closed, which rules that are kept still allow:
    rules about more than those paths.
    """

    body: bytes
    changes: Comparison
    left_open: tuple[Decision, ...] = ()


def compose(intentions: Intentions, keep: bytes = b"") -> Composed:
    """Write a robots.txt.

    Args:
        intentions: What is wanted.
        keep: A file of which everything stays that the intentions do not contradict.

    Raises:
        MissingExtraError: the registry of crawlers is not installed.
    """
    old = parse(keep)
    kinds = _kinds(intentions, old)
    moving = {name.lower() for kind in kinds for name in kind.moving}
    if intentions.others is not None:
        moving.add("*")
    blocks = _blocks(old)
    settings = _Settings(intentions, old)
    out = [line for block in blocks for line in _kept(block, moving, intentions, settings)]
    rules = list(dict.fromkeys([*_rules_of_everybody(old, intentions), *_paths(intentions)]))
    for kind in kinds:
        out += _group_for(kind, rules, settings.lines())
    has_everybody = any("*" in block.names for block in blocks) and intentions.others is None
    if not has_everybody:
        out += _everybody(intentions, rules, settings.lines())
    out += _for_own_groups(moving, old, intentions)
    have = set(old.sitemaps)
    out += [f"Sitemap: {each}" for each in dict.fromkeys(intentions.sitemaps) if each not in have]
    body = _text(out)
    new = parse(body)
    tokens = [each.token for each in known()]
    return Composed(body, compare(old, new, tokens), _left_open(new, intentions))


def _left_open(robots: RobotsTxt, intentions: Intentions) -> tuple[Decision, ...]:
    """Return for each rule that makes an exception from a closed path a URL, once a rule."""
    found: dict[int, Decision] = {}
    for _, rules in rule_sets(robots, MOST_ASKED) if intentions.closed else ():
        said = [str(rule) for group in rules.groups for rule in group.rules if rule.pattern]
        for path in intentions.closed:
            for url in _open_under(path, said):
                decision = rules.decide(url)
                rule = decision.rule
                if decision.allowed and rule and rule.pattern not in intentions.opened:
                    found.setdefault(rule.line, decision)
    return tuple(found.values())


def _open_under(path: str, said: list[str]) -> list[str]:
    """Return URLs that a path matches and rules allow, one for each rule that does."""
    if path.endswith("$") and "*" not in path:
        return [path[:-1]]
    closing = path.replace("*", "*" * _STARS, 1) if path.endswith("$") else path + "*" * _STARS
    found = difference(_rules_of(*said), _rules_of(*said, f"Disallow: {closing}")).found
    return [each.url for each in found]


def _rules_of(*lines: str) -> Rules:
    """Return rules that stand for everybody."""
    return parse("".join(f"{line}\n" for line in ("User-agent: *", *lines))).rules_for("*")


@dataclass(frozen=True, slots=True)
class _Kind:
    """Crawlers of which the same is wanted: ``moving`` are those that get a group for that."""

    title: str
    wanted: str
    names: tuple[str, ...]
    moving: tuple[str, ...]


def _kinds(intentions: Intentions, old: RobotsTxt) -> list[_Kind]:
    """Return of whom something is wanted; who already has it keeps the group that it has."""
    said = [
        (f"{_capital(purpose)}: {_REASONS[purpose]}; they", wanted, _with(purpose, intentions))
        for purpose, wanted in intentions.purposes.items()
    ]
    for wanted in (ALLOW, DISALLOW):
        names = [name for name, each in intentions.names.items() if each == wanted]
        said.append(("By name: these", wanted, names))
    need_names = _need_names(intentions, old)
    closed: dict[tuple[int, ...], bool] = {}

    def moves(name: str, wanted: str) -> bool:
        rules = old.rules_for(name)
        if wanted == ALLOW:
            return _shuts_out(rules) if rules.is_named else need_names
        if rules.group_lines not in closed:
            closed[rules.group_lines] = classify(rules).extent is Extent.ALL
        return not (rules.is_named and closed[rules.group_lines])

    return [
        _Kind(
            title,
            wanted,
            tuple(names),
            tuple(name for name in names if moves(name, wanted)),
        )
        for title, wanted, names in said
    ]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _with(purpose: Purpose, intentions: Intentions) -> list[str]:
    """Return the names of known crawlers with a purpose, but for those of which more is said."""
    said = {name.lower() for name in intentions.names}
    return [
        each.token for each in known() if each.purpose is purpose and each.token.lower() not in said
    ]


def _shuts_out(rules: Rules) -> bool:
    """Tell whether rules close a site, perhaps but for some pages."""
    if rules.allowed(_ANY_PAGE):
        return False
    patterns = (rule.pattern for group in rules.groups for rule in group.rules if not rule.allow)
    return any(_EVERYTHING.fullmatch(pattern) for pattern in patterns)


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


def _paths(intentions: Intentions) -> list[str]:
    """Return the rules that hold for all who may."""
    return [
        *(f"Disallow: {path}" for path in intentions.closed),
        *(f"Allow: {path}" for path in intentions.opened),
    ]


@dataclass(slots=True)
class _Block:
    """A group of the file that is kept, with the comments above it; the first has no agents.

    ``lines`` are all of them, those of its agents among them.
    """

    above: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    is_first_of_everybody: bool = False

    @property
    def agents(self) -> list[Line]:
        """Those of its agents."""
        return [line for line in self.lines if line.directive is Directive.USER_AGENT]

    @property
    def names(self) -> list[str]:
        """The names of its agents, in lower case."""
        return [_token(line.value) for line in self.agents]

    @property
    def is_shut_out(self) -> bool:
        """Whether its one rule closes the whole site."""
        rules = {(line.directive, line.value) for line in self.lines if line.directive in RULES}
        return rules == {(Directive.DISALLOW, "/")}


def _blocks(old: RobotsTxt) -> list[_Block]:
    """Return the parts of a file."""
    blocks = [_Block()]
    is_open = False
    for line in old.lines:
        if line.directive is Directive.USER_AGENT and not is_open:
            blocks.append(_Block(above=_taken_from_the_end(blocks[-1])))
            is_open = True
        blocks[-1].lines.append(line)
        is_open = is_open and line.directive not in RULES
    for block in blocks:
        if "*" in block.names and not block.is_shut_out:
            block.is_first_of_everybody = True
            break
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
    # The mark of a file's beginning is text anywhere else.
    return (line.text.removeprefix("\ufeff") if line.number == 1 else line.text).rstrip()


def _kept(
    block: _Block, moving: set[str], intentions: Intentions, settings: _Settings
) -> list[str]:
    """Return the lines of a block, but for names that get groups of their own."""
    if not block.agents:
        return [_plain(line) for line in block.lines]
    left = [line for line in block.lines if not _is_about(line, moving)]
    names = [line.value for line in left if line.directive is Directive.USER_AGENT]
    if not names:
        # What belongs to the file and not to the group stays.
        whole = [_plain(line) for line in left if _is_for_the_file(line)]
        whole += _taken_from_the_end(block)
        return [*_apart(block.above), *(["", *whole] if whole else [])]
    if block.is_shut_out:
        return [*block.above, *map(_plain, left)]
    begin = next(number for number, line in enumerate(left) if line.value == names[0])
    # What was said to those that go alone is not for those that stay, nor for the whole file.
    left = [line for line in left[:begin] if not _is_for_the_group(line)] + left[begin:]
    left = [line for line in left if not _contradicts(line, intentions)]
    is_everybodys = "*" in names
    # All groups for everybody are one to robots: what is new is said in the first.
    is_first = set(names) != {"*"} or block.is_first_of_everybody
    written = {f"{line.directive}: {line.value}" for line in left}
    more = [rule for rule in _paths(intentions) if rule not in written] if is_first else []
    if not more and not any(line.directive in RULES for line in left):
        # Without a rule the group would go on with whatever group comes next.
        more = ["Disallow:"]
    more += settings.added(block, is_everybodys) if is_first else []
    lines = [settings.kept(line, is_everybodys) for line in left]
    at = len(lines)
    while at and (not lines[at - 1] or lines[at - 1].startswith("#")):
        at -= 1
    return [*block.above, *lines[:at], *more, *lines[at:]]


def _apart(above: list[str]) -> list[str]:
    """Return those of the comments above a group that a blank line parts from it."""
    at = len(above)
    while at and above[at - 1]:
        at -= 1
    return above[:at]


def _is_about(line: Line, moving: set[str]) -> bool:
    """Tell whether a line names a robot that gets a group of its own."""
    name = _token(line.value)
    # A name of several words is for the robot of the first, too.
    return line.directive is Directive.USER_AGENT and bool({name, *name.split()[:1]} & moving)


class _Settings:
    """What is to be said besides rules, and what of it a file says already."""

    def __init__(self, intentions: Intentions, old: RobotsTxt) -> None:
        everybody = old.rules_for("*")
        self._delay = intentions.delay
        self._signals = dict(_pair(each) for each in intentions.signals)
        self._has_delay = everybody.crawl_delay is not None
        self._said = {
            each.key for each in everybody.preferences if each.directive is Directive.CONTENT_SIGNAL
        }

    def lines(self) -> list[str]:
        """Return all of it, for a new group."""
        return [*self._delay_line(), *_signal_line(self._signals)]

    def _delay_line(self) -> list[str]:
        return [] if self._delay is None else [f"Crawl-delay: {self._delay:g}"]

    def kept(self, line: Line, is_everybodys: bool) -> str:
        """Return a line of a group that is kept, with what is to be said in its place."""
        if line.directive is Directive.CRAWL_DELAY and self._delay is not None:
            return f"Crawl-delay: {self._delay:g}"
        if line.directive is Directive.CONTENT_SIGNAL and is_everybodys:
            said = dict(_pair(each) for each in line.value.split(","))
            wanted = {key: self._signals.get(key, value) for key, value in said.items()}
            if wanted != said:
                return _signal_line(wanted)[0]
        return _plain(line)

    def added(self, block: _Block, is_everybodys: bool) -> list[str]:
        """Return what a group that is kept lacks; a preference is said to everybody alone."""
        own = any(line.directive is Directive.CRAWL_DELAY for line in block.lines)
        delay = [] if own or (is_everybodys and self._has_delay) else self._delay_line()
        if not is_everybodys:
            return delay
        lacking = {key: value for key, value in self._signals.items() if key not in self._said}
        return [*delay, *_signal_line(lacking)]


def _signal_line(signals: Mapping[str, str]) -> list[str]:
    told = ", ".join(f"{key}={value}" for key, value in signals.items())
    return [f"Content-Signal: {told}"] if told else []


def _pair(signal: str) -> tuple[str, str]:
    key, _, value = signal.partition("=")
    return key.strip().lower(), value.strip().lower()


def _is_for_the_file(line: Line) -> bool:
    return line.directive is not None and line.directive.scope is Scope.FILE


def _is_for_the_group(line: Line) -> bool:
    return line.directive is not None and line.directive.scope is Scope.GROUP


def _contradicts(line: Line, intentions: Intentions) -> bool:
    """Tell whether a rule says what is wanted otherwise."""
    if line.directive not in RULES or not line.value:
        return False
    is_allow = line.directive is Directive.ALLOW
    return any(
        _is_within(line.value, path) and _meet(line.value, path, is_allow=is_allow)
        for path in (intentions.closed if is_allow else intentions.opened)
    )


def _is_within(pattern: str, path: str) -> bool:
    """Tell whether a path matches all that a pattern matches."""
    base = f"Disallow: {path}"
    return difference(_rules_of(base), _rules_of(base, f"Disallow: {pattern}")).are_equal


def _meet(pattern: str, path: str, *, is_allow: bool) -> bool:
    """Tell whether a rule makes an exception from one that says the opposite of a path."""
    # All else is as the rule says, so that only on URLs with that path it can change anything.
    base = [f"Disallow: {path}"] if is_allow else ["Disallow: /", f"Allow: {path}"]
    rule = f"{'Allow' if is_allow else 'Disallow'}: {pattern}"
    return not difference(_rules_of(*base, rule), _rules_of(*base)).are_equal


def _need_names(intentions: Intentions, old: RobotsTxt) -> bool:
    """Tell whether robots that may must be named: everybody may not."""
    return intentions.others == DISALLOW or (
        intentions.others is None and _shuts_out(old.rules_for("*"))
    )


def _group_for(kind: _Kind, rules: list[str], settings: list[str]) -> list[str]:
    """Return the group of crawlers of which the same is wanted."""
    if not kind.moving:
        return []
    may = "may fetch nothing" if kind.wanted == DISALLOW else "may"
    out = ["", f"# {kind.title} {may}.", *(f"User-agent: {name}" for name in kind.moving)]
    if kind.wanted == DISALLOW:
        return [*out, "Disallow: /"]
    # Without a rule the group would go on with the next one.
    return [*out, *(rules or ["Disallow:"]), *settings]


def _rules_of_everybody(old: RobotsTxt, intentions: Intentions) -> list[str]:
    """Return the rules for everybody in a file, if they leave the site open."""
    rules = old.rules_for("*")
    if _shuts_out(rules):
        return []
    lines = old.lines
    return [
        str(rule)
        for group in rules.groups
        for rule in group.rules
        if rule.pattern and not _contradicts(lines[rule.line - 1], intentions)
    ]


def _everybody(intentions: Intentions, rules: list[str], settings: list[str]) -> list[str]:
    """Return the group for everybody else, if there is anything to say."""
    if intentions.others is None and not (_paths(intentions) or settings):
        return []
    if intentions.others == DISALLOW:
        return ["", "# Everybody else: may fetch nothing.", "User-agent: *", "Disallow: /", ""]
    may = ": may" if intentions.others == ALLOW else ""
    return [
        "",
        f"# Everybody else{may}.",
        "User-agent: *",
        *(rules or ["Disallow:"]),
        *settings,
        "",
    ]


def _for_own_groups(taken: set[str], old: RobotsTxt, intentions: Intentions) -> list[str]:
    """Return a group for those who obey no group for everybody, so that closed paths are closed."""
    left = [
        each.token
        for each in known()
        if each.obeys is Obeys.OWN_GROUPS
        and each.token.lower() not in taken
        and not old.rules_for(each.token).is_named
    ]
    rules = ["Disallow: /"] if intentions.others == DISALLOW else _paths(intentions)
    if not left or not rules:
        return []
    comment = "# These obey groups that name them, and none for everybody."
    return ["", comment, *(f"User-agent: {name}" for name in left), *rules, ""]
