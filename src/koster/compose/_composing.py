"""Compose a robots.txt from its author's intentions, naming the crawlers of the registry.

A crawler obeys only the groups that name it, so every group has all rules for its crawlers: each
one repeats the paths blocked for everybody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .._asking import rules_for_data
from ..analysis import Budget, Extent, classify
from ..crawlers import Obeys, Purpose, known
from ..decisions import Decision
from ..diff import Comparison, compare
from ..model import RULES, Directive, Line, LineKind, Scope
from ..robots import RobotsTxt, Rules, parse
from ._closed import Contradictions, left_open

#: The intentions for a purpose.
ALLOW = "allow"
DISALLOW = "disallow"

#: A page that no rule is about.
_ANY_PAGE = "/7d1c-any/page"

#: Patterns that match every path.
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

#: Steps to compare the files before and after.
_MAX_STEPS = 1_000_000


@dataclass(frozen=True, slots=True)
class Intentions:
    """The author's intentions.

    ``purposes`` allows or disallows crawlers by purpose, ``names`` single crawlers, which takes
    precedence; ``others`` all others, or None for no change. ``closed`` are paths blocked for
    everybody, ``opened`` exceptions to them; ``delay`` is in seconds; ``signals`` are
    Content-Signal preferences such as ``ai-train=no``.
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
    """The composed file, and its changes to the original one.

    ``left_open`` are URLs on closed paths that existing, wider rules still allow. There may be
    more if not ``found_all``: the file is too large to look at all its rules.
    """

    body: bytes
    changes: Comparison
    left_open: tuple[Decision, ...] = ()
    found_all: bool = True


def compose(intentions: Intentions, keep: bytes = b"") -> Composed:
    """Compose a robots.txt.

    Args:
        intentions: The author's intentions.
        keep: An existing file; everything that does not contradict the intentions stays.

    Raises:
        MissingExtraError: the registry of crawlers is not installed.
    """
    old = parse(keep)
    groups = _crawler_groups(intentions, old)
    moving = {name.lower() for group in groups for name in group.moving}
    if intentions.others is not None:
        moving.add("*")
    blocks = _blocks(old)
    settings = _Settings(intentions, old)
    contradictions = Contradictions(intentions.closed, intentions.opened)
    out = [
        line
        for block in blocks
        for line in _kept_lines(block, moving, intentions, settings, contradictions)
    ]
    has_star_group = any("*" in block.names for block in blocks) and intentions.others is None
    has_new_groups = not has_star_group or any(group.moving for group in groups)
    existing = _existing_star_rules(old, contradictions) if has_new_groups else []
    rules = list(dict.fromkeys([*existing, *_paths(intentions)]))
    for group in groups:
        out += _group_for(group, rules, settings.lines())
    if not has_star_group:
        out += _star_group(intentions, rules, settings.lines())
    out += _groups_for_star_ignoring(moving, old, intentions)
    have = set(old.sitemaps)
    out += [f"Sitemap: {each}" for each in dict.fromkeys(intentions.sitemaps) if each not in have]
    body = _join_lines(out)
    new = parse(body)
    tokens = [each.token for each in known()]
    changes = compare(old, new, tokens, Budget(_MAX_STEPS))
    return Composed(body, changes, *left_open(new, intentions.closed, intentions.opened))


@dataclass(frozen=True, slots=True)
class _CrawlerGroup:
    """Crawlers with the same intention; ``moving`` are those that need a new group."""

    title: str
    wanted: str
    names: tuple[str, ...]
    moving: tuple[str, ...]


def _crawler_groups(intentions: Intentions, old: RobotsTxt) -> list[_CrawlerGroup]:
    """Return the crawlers by intention; those that already comply keep their group."""
    intended = [
        (
            f"{_capital(purpose)} ({_REASONS[purpose]})",
            wanted,
            _tokens_for(purpose, intentions),
        )
        for purpose, wanted in intentions.purposes.items()
    ]
    for wanted in (ALLOW, DISALLOW):
        names = [name for name, each in intentions.names.items() if each == wanted]
        intended.append(("By name", wanted, names))
    needs_names = _needs_names(intentions, old)
    # Most crawlers have the same groups.
    known: dict[tuple[str, tuple[int, ...]], bool] = {}
    budget = Budget()

    def moves(name: str, wanted: str) -> bool:
        rules = rules_for_data(old, name)
        if not rules.is_named:
            return wanted == DISALLOW or needs_names
        key = wanted, rules.group_lines
        if key not in known:
            known[key] = _complies(rules, wanted, budget)
        return not known[key]

    return [
        _CrawlerGroup(
            title,
            wanted,
            tuple(names),
            tuple(name for name in names if moves(name, wanted)),
        )
        for title, wanted, names in intended
    ]


def _complies(rules: Rules, wanted: str, budget: Budget) -> bool:
    """Return whether rules are proved to be what the author wants of a crawler."""
    if wanted == ALLOW:
        return not _blocks_site(rules)
    found = classify(rules, budget)
    return found.is_proved and found.extent is Extent.ALL


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _tokens_for(purpose: Purpose, intentions: Intentions) -> list[str]:
    """Return the tokens of known crawlers with a purpose, except those named individually."""
    named = {name.lower() for name in intentions.names}
    return [
        each.token
        for each in known()
        if each.purpose is purpose and each.token.lower() not in named
    ]


def _blocks_site(rules: Rules) -> bool:
    """Return whether rules block a site, possibly except some pages."""
    if rules.allowed(_ANY_PAGE):
        return False
    patterns = (rule.pattern for group in rules.groups for rule in group.rules if not rule.allow)
    return any(_EVERYTHING.fullmatch(pattern) for pattern in patterns)


def _token(name: str) -> str:
    return name.partition("/")[0].rstrip("* \t").lower() or name.lower()


def _join_lines(lines: Sequence[str]) -> bytes:
    """Return lines as a file, with consecutive blank lines merged."""
    found: list[str] = []
    for line in lines:
        if line or (found and found[-1]):
            found.append(line)
    while found and not found[-1]:
        found.pop()
    return "".join(f"{line}\n" for line in found).encode("utf-8", "surrogateescape")


def _paths(intentions: Intentions) -> list[str]:
    """Return the rules for all allowed crawlers."""
    return [
        *(f"Disallow: {path}" for path in intentions.closed),
        *(f"Allow: {path}" for path in intentions.opened),
    ]


@dataclass(slots=True)
class _Block:
    """A part of the existing file: a group, or (the first one) the lines before any group.

    ``comments`` are the lines above the group, ``lines`` all its lines including User-agent, which
    are ``agents`` too.
    """

    comments: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    agents: list[Line] = field(default_factory=list)
    is_first_star_group: bool = False

    @property
    def names(self) -> list[str]:
        return [_token(line.value) for line in self.agents]

    @property
    def is_blocked(self) -> bool:
        """Whether its only rule blocks the whole site."""
        rules = {(line.directive, line.value) for line in self.lines if line.directive in RULES}
        return rules == {(Directive.DISALLOW, "/")}


def _blocks(old: RobotsTxt) -> list[_Block]:
    blocks = [block := _Block()]
    is_open = False
    for line in old.lines:
        directive = line.directive
        if directive is Directive.USER_AGENT:
            if not is_open:
                blocks.append(block := _Block(comments=_pop_trailing_comments(block)))
                is_open = True
            block.agents.append(line)
        elif directive in RULES:
            is_open = False
        block.lines.append(line)
    for block in blocks:
        if "*" in block.names and not block.is_blocked:
            block.is_first_star_group = True
            break
    return blocks


def _pop_trailing_comments(block: _Block) -> list[str]:
    """Remove and return the comments at the end of a block: they belong to the next one."""
    at = len(block.lines)
    while at and block.lines[at - 1].kind in (LineKind.COMMENT, LineKind.BLANK):
        at -= 1
    found = [_line_text(line) for line in block.lines[at:]]
    del block.lines[at:]
    return found


def _line_text(line: Line) -> str:
    # The line may move, and a byte order mark is one only at the start of a file.
    return (line.text.removeprefix("\ufeff") if line.number == 1 else line.text).rstrip()


def _kept_lines(
    block: _Block,
    moving: set[str],
    intentions: Intentions,
    settings: _Settings,
    contradictions: Contradictions,
) -> list[str]:
    """Return the lines of a block, without agents that get a new group."""
    if not block.agents:
        return [_line_text(line) for line in block.lines]
    remaining = [line for line in block.lines if not _names_moving_agent(line, moving)]
    names = [line.value for line in remaining if line.directive is Directive.USER_AGENT]
    if not names:
        # The group goes, but directives for the whole file stay.
        whole = [_line_text(line) for line in remaining if _is_file_directive(line)]
        whole += _pop_trailing_comments(block)
        return [*_separate_comments(block.comments), *(["", *whole] if whole else [])]
    if block.is_blocked:
        return [*block.comments, *map(_line_text, remaining)]
    begin = next(number for number, line in enumerate(remaining) if line.value == names[0])
    # Drop directives of the group that stood between removed User-agent lines.
    remaining = [line for line in remaining[:begin] if not _is_group_directive(line)] + remaining[
        begin:
    ]
    remaining = [line for line in remaining if not contradictions.has(line.directive, line.value)]
    is_star_group = "*" in names
    # Crawlers merge all groups for *: add new lines only to the first one.
    is_first = set(names) != {"*"} or block.is_first_star_group
    wanted = {*intentions.closed, *intentions.opened}
    written = {f"{line.directive}: {line.value}" for line in remaining if line.value in wanted}
    more = [rule for rule in _paths(intentions) if rule not in written] if is_first else []
    if not more and not any(line.directive in RULES for line in remaining):
        # Without a rule, the group would merge with the next one.
        more = ["Disallow:"]
    more += settings.missing_lines(block, is_star_group) if is_first else []
    lines = [settings.update_line(line, is_star_group) for line in remaining]
    at = len(lines)
    while at and (not lines[at - 1] or lines[at - 1].startswith("#")):
        at -= 1
    return [*block.comments, *lines[:at], *more, *lines[at:]]


def _separate_comments(comments: list[str]) -> list[str]:
    """Return the comments above a group that a blank line separates from it."""
    at = len(comments)
    while at and comments[at - 1]:
        at -= 1
    return comments[:at]


def _names_moving_agent(line: Line, moving: set[str]) -> bool:
    """Return whether a line names an agent that gets a new group."""
    if line.directive is not Directive.USER_AGENT:
        return False
    name = _token(line.value)
    # "Foo bar" also applies to the crawler Foo.
    return not moving.isdisjoint({name, *name.split()[:1]})


class _Settings:
    """The wanted settings besides rules, and those that the existing file already has."""

    def __init__(self, intentions: Intentions, old: RobotsTxt) -> None:
        star_rules = old.rules_for("*")
        self._delay = intentions.delay
        self._signals = dict(_parse_signal(each) for each in intentions.signals)
        self._has_delay = star_rules.crawl_delay is not None
        self._existing_keys = {
            each.key
            for each in star_rules.preferences
            if each.directive is Directive.CONTENT_SIGNAL
        }

    def lines(self) -> list[str]:
        return [*self._delay_line(), *_signal_line(self._signals)]

    def _delay_line(self) -> list[str]:
        return [] if self._delay is None else [f"Crawl-delay: {self._delay:g}"]

    def update_line(self, line: Line, is_star_group: bool) -> str:
        """Return a line of a kept group, with its setting updated."""
        if line.directive is Directive.CRAWL_DELAY and self._delay is not None:
            return f"Crawl-delay: {self._delay:g}"
        if line.directive is Directive.CONTENT_SIGNAL and is_star_group:
            existing = dict(_parse_signal(each) for each in line.value.split(","))
            wanted = {key: self._signals.get(key, value) for key, value in existing.items()}
            if wanted != existing:
                return _signal_line(wanted)[0]
        return _line_text(line)

    def missing_lines(self, block: _Block, is_star_group: bool) -> list[str]:
        """Return the settings that a kept group lacks; preferences are added only for ``*``."""
        own = any(line.directive is Directive.CRAWL_DELAY for line in block.lines)
        delay = [] if own or (is_star_group and self._has_delay) else self._delay_line()
        if not is_star_group:
            return delay
        missing = {
            key: value for key, value in self._signals.items() if key not in self._existing_keys
        }
        return [*delay, *_signal_line(missing)]


def _signal_line(signals: Mapping[str, str]) -> list[str]:
    text = ", ".join(f"{key}={value}" for key, value in signals.items())
    return [f"Content-Signal: {text}"] if text else []


def _parse_signal(signal: str) -> tuple[str, str]:
    key, _, value = signal.partition("=")
    return key.strip().lower(), value.strip().lower()


def _is_file_directive(line: Line) -> bool:
    return line.directive is not None and line.directive.scope is Scope.FILE


def _is_group_directive(line: Line) -> bool:
    return line.directive is not None and line.directive.scope is Scope.GROUP


def _needs_names(intentions: Intentions, old: RobotsTxt) -> bool:
    """Return whether allowed crawlers must be named, because ``*`` is blocked."""
    return intentions.others == DISALLOW or (
        intentions.others is None and _blocks_site(old.rules_for("*"))
    )


def _group_for(group: _CrawlerGroup, rules: list[str], settings: list[str]) -> list[str]:
    """Return the lines of a group for crawlers with the same intention."""
    if not group.moving:
        return []
    access = "blocked" if group.wanted == DISALLOW else "allowed"
    out = ["", f"# {group.title}: {access}.", *(f"User-agent: {name}" for name in group.moving)]
    if group.wanted == DISALLOW:
        return [*out, "Disallow: /"]
    # Without a rule, the group would merge with the next one.
    return [*out, *(rules or ["Disallow:"]), *settings]


def _existing_star_rules(old: RobotsTxt, contradictions: Contradictions) -> list[str]:
    """Return the rules for ``*`` in a file, unless they block the site."""
    rules = old.rules_for("*")
    if _blocks_site(rules):
        return []
    return [
        str(rule)
        for group in rules.groups
        for rule in group.rules
        if rule.pattern and not contradictions.has(rule.directive, rule.pattern)
    ]


def _star_group(intentions: Intentions, rules: list[str], settings: list[str]) -> list[str]:
    """Return the lines of the group for ``*``, if it is needed."""
    if intentions.others is None and not (_paths(intentions) or settings):
        return []
    if intentions.others == DISALLOW:
        return ["", "# All other crawlers: blocked.", "User-agent: *", "Disallow: /", ""]
    access = ": allowed" if intentions.others == ALLOW else ""
    return [
        "",
        f"# All other crawlers{access}.",
        "User-agent: *",
        *(rules or ["Disallow:"]),
        *settings,
        "",
    ]


def _groups_for_star_ignoring(taken: set[str], old: RobotsTxt, intentions: Intentions) -> list[str]:
    """Return a group for crawlers that ignore ``*``, so that they obey closed paths."""
    remaining = [
        each.token
        for each in known()
        if each.obeys is Obeys.OWN_GROUPS
        and each.token.lower() not in taken
        and not old.rules_for(each.token).is_named
    ]
    rules = ["Disallow: /"] if intentions.others == DISALLOW else _paths(intentions)
    if not remaining or not rules:
        return []
    comment = "# These crawlers ignore the * group."
    return ["", comment, *(f"User-agent: {name}" for name in remaining), *rules, ""]
