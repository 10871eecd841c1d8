"""Audit: what known crawlers may fetch, by purpose.

>>> import koster
>>> result = audit(koster.parse("User-agent: *\\nDisallow: /cart/"), [crawlers.named("Googlebot")])
>>> [str(row) for row in result.overview]
['Search engines: allowed except /cart/']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from . import crawlers
from ._asking import rules_for_data, values_of
from ._lazy import cached_property
from ._wording import joined, truncated
from .analysis import (
    Budget,
    Classification,
    Extent,
    Limit,
    classify,
    count_rules,
    likely_urls,
    most_rules_to_check,
)
from .crawlers import POLICY_TOKENS, Crawler, Obeys, PolicyToken, Purpose, place_in_reports
from .model import Rule
from .robots import RobotsTxt, Rules
from .signals import Signals, Stated, Statement, Use, stated_to_everybody
from .signals._grammars import GROUP, POLICY_TOKEN
from .signals._words import PURPOSES

if TYPE_CHECKING:
    from .directives import Preference

__all__ = ["MARK", "Audit", "Policy", "Row", "StatedUse", "Verdict", "audit"]

#: The rows of the overview: a label, and the purposes. The last ones share a row if they are alike.
_ROWS = (
    ("Search engines", Purpose.SEARCH),
    ("AI search", Purpose.AI_SEARCH),
    ("AI training", Purpose.TRAINING),
    ("Data sets", Purpose.DATASET),
    ("User requests", Purpose.USER_FETCH),
    ("Link previews", Purpose.PREVIEW),
    ("SEO tools", Purpose.SEO),
    ("Archives", Purpose.ARCHIVE),
    ("Ads", Purpose.ADS),
    ("Other tools", Purpose.TOOL),
)
_MAY_SHARE_A_ROW = (Purpose.ARCHIVE, Purpose.ADS, Purpose.TOOL)
#: Crawlers that may ignore the file.
_DOUBTFUL = (Obeys.MAY_IGNORE, Obeys.UNDOCUMENTED, Obeys.DISPUTED)
#: The search engines that most sites want.
_WANTED = ("Googlebot", "bingbot")
#: The mark of names of blocked crawlers that may ignore the file.
MARK = " (?)"
#: Maximum numbers of names and paths in a row of the overview.
_MAX_NAMES = 3
_MAX_PATHS = 2
#: The maximum number of characters of a path there.
_MAX_PATH = 100
#: The page whose uses are shown.
_START_PAGE = "/"
#: The purposes whose rows say what is stated about the use.
_WITH_USE = (Purpose.SEARCH, Purpose.AI_SEARCH, Purpose.TRAINING)
#: A page that no rule is about: it shows what applies to most of a site.
_USUAL_PAGE = "/some/usual/page"
#: With more preferences than this, no more are collected.
_MAX_PREFERENCES = 100_000
#: Steps to find rules with an effect.
_MAX_STEPS = 1_000_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """How much of the site is blocked for a crawler: all, some or none.

    ``extent`` takes into account what the crawler obeys: none if it ignores the file's groups.
    ``named_as`` is its token, or the token that it falls back to, if a group has it. ``rule`` is
    the rule that blocks the site, or the widest one that blocks a part of it, ``closing`` the
    number of such rules; ``url`` is a blocked URL.
    If some of the site is blocked, ``is_mostly_open`` tells what applies to most pages, and
    ``exceptions`` are the rules that apply to the others, the widest first. ``access`` is what it
    may fetch, in words: ``allowed except /cart/``.
    ``is_home_open`` tells whether that includes ``/``.
    """

    crawler: Crawler
    extent: Extent
    named_as: str | None
    rule: Rule | None = None
    url: str | None = None
    is_proved: bool = True
    closing: int = 0
    is_mostly_open: bool = True
    exceptions: tuple[Rule, ...] = ()
    access: str = "allowed"
    is_home_open: bool = True

    @property
    def is_named(self) -> bool:
        """Whether a group names the crawler, or a token that it falls back to."""
        return self.named_as is not None

    @property
    def falls_back_to(self) -> str | None:
        """The token that it falls back to, if no group has its own but one has that."""
        return self.named_as if self.named_as != self.crawler.token else None

    @property
    def obeys_star(self) -> bool:
        """Whether rules for ``*`` apply to the crawler if no group names it."""
        return self.crawler.obeys not in (Obeys.NOTHING, Obeys.OWN_GROUPS)

    @property
    def is_doubtful(self) -> bool:
        """Whether the crawler is blocked, at least partly, but may ignore that."""
        return self.extent is not Extent.NONE and self.crawler.obeys in _DOUBTFUL

    @property
    def how(self) -> str:
        """Which group applies to the crawler, in words."""
        if self.crawler.obeys is Obeys.NOTHING:
            return "ignores robots.txt"
        if self.crawler.obeys is Obeys.OWN_GROUPS and not self.is_named:
            return "ignores *"
        if self.falls_back_to is not None:
            return f"falls back to {self.falls_back_to}"
        return "its own group" if self.is_named else "the * group"

    @property
    def line(self) -> str:
        """The rule that blocks with its line, and the number of further ones."""
        if self.rule is None:
            return ""
        more = f" (and {self.closing - 1} more)" if self.closing > 1 else ""
        return f"{self.rule.line}: {self.rule}{more}"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a file states with a policy token: how much of the site is blocked, in its own group.

    Without such a group, ``extent`` is None and ``access`` is ``undecided`` if rules for ``*``
    block a part of the site, as it is not specified whether they apply, or else ``unstated``.
    """

    token: PolicyToken
    extent: Extent | None
    access: str
    rule: Rule | None = None
    is_proved: bool = True


@dataclass(frozen=True, slots=True)
class StatedUse:
    """What a file states to everybody about a use of the start page, ``/``.

    ``statements`` state it; ``elsewhere`` state something else about other paths.
    """

    use: Use
    stated: Stated
    statements: tuple[Statement, ...]
    elsewhere: tuple[Statement, ...]

    @property
    def restriction(self) -> str:
        """``no`` or ``no in part`` if more than a rule about access says so; else empty."""
        for statements, words in ((self.statements, "no"), (self.elsewhere, "no in part")):
            if any(each.stated is Stated.NO and each.grammar is not GROUP for each in statements):
                return words
        return ""


def _shown(pattern: str) -> str:
    return "the home page" if pattern == "/$" else truncated(pattern, _MAX_PATH)


def _listed(items: list[str], most: int) -> str:
    """Return items for a sentence, and the number of others.

    >>> _listed(["/a", "/b"], 2), _listed(["/a", "/b", "/c", "/d"], 2)
    ('/a and /b', '/a, /b and 2 more')
    """
    more = len(items) - most
    if more > 0:
        return f"{', '.join(items[:most])} and {more} more"
    return joined(items)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the overview: crawlers of some purposes.

    ``extent`` is what applies to most of them, ``text`` says it with the exceptions.
    """

    label: str
    purposes: tuple[Purpose, ...]
    extent: Extent
    text: str

    def __str__(self) -> str:
        return f"{self.label}: {self.text}"


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of a file for known crawlers.

    ``uses`` are those of the start page. ``unread`` says what could not be read, and why: then no
    use is unstated.
    """

    verdicts: tuple[Verdict, ...]
    preferences: tuple[Preference, ...]
    licenses: tuple[str, ...]
    sitemaps: tuple[str, ...]
    policies: tuple[Policy, ...]
    uses: tuple[StatedUse, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def stated_policies(self) -> tuple[Policy, ...]:
        """Those that a group names."""
        return tuple(each for each in self.policies if each.extent is not None)

    def of(self, purpose: Purpose) -> tuple[Verdict, ...]:
        """Return the verdicts on crawlers with a main purpose."""
        return tuple(each for each in self.verdicts if each.crawler.purpose is purpose)

    @property
    def purposes(self) -> tuple[Purpose, ...]:
        """The purposes that have crawlers."""
        return tuple(purpose for purpose in Purpose if self.of(purpose))

    @property
    def warning(self) -> str:
        """What matters most: Googlebot or bingbot may not fetch the site, or ``/``; else empty."""
        wanted = [each for each in self.verdicts if each.crawler.token in _WANTED]
        closed = [each.crawler.token for each in wanted if each.extent is Extent.ALL]
        if closed:
            return f"The whole site is blocked for {joined(sorted(closed))}"
        without_home = [each.crawler.token for each in wanted if not each.is_home_open]
        if without_home:
            names = joined(sorted(without_home))
            return f"Home page blocked for {names}, while other pages are open"
        return ""

    @property
    def overview(self) -> tuple[Row, ...]:
        """What applies to the crawlers of each purpose, in a few words."""
        rows = [
            self._with_use(_row(label, purpose, self.of(purpose)))
            for label, purpose in _ROWS
            if self.of(purpose)
        ]
        shared = [row for row in rows if row.purposes[0] in _MAY_SHARE_A_ROW]
        if len(shared) > 1 and len({row.text for row in shared}) == 1:
            label = ", ".join([shared[0].label, *(row.label.lower() for row in shared[1:])])
            purposes = tuple(row.purposes[0] for row in shared)
            rows = [row for row in rows if row not in shared]
            rows.append(Row(label, purposes, shared[0].extent, shared[0].text))
        return tuple(rows)

    def _with_use(self, row: Row) -> Row:
        """Return a row that never says *allowed* if the use itself is not."""
        purpose = row.purposes[0]
        name = PURPOSES[purpose] if purpose in _WITH_USE else None
        stated = next((each.restriction for each in self.uses if each.use is name), "")
        if not stated or row.extent is Extent.ALL:
            return row
        return replace(row, extent=Extent.SOME, text=f"use: {stated}; crawlers: {row.text}")


def _row(label: str, purpose: Purpose, verdicts: tuple[Verdict, ...]) -> Row:
    """Return the row of a purpose: what applies to most, then the exceptions by name."""
    obeying = [each for each in verdicts if each.crawler.obeys is not Obeys.NOTHING]
    if not obeying:
        return Row(label, (purpose,), Extent.NONE, "ignore robots.txt")
    by_access: dict[str, list[Verdict]] = {}
    for each in obeying:
        by_access.setdefault(each.access, []).append(each)
    main = max(by_access.values(), key=len)
    text = main[0].access
    others = [each for each in obeying if each not in main]
    if main[0].extent is Extent.ALL:
        unbound = [each for each in others if not (each.is_named or each.obeys_star)]
        others = [each for each in others if each not in unbound]
        admitted = [each for each in others if each.extent is Extent.NONE]
        others = [each for each in others if each not in admitted]
        text += f" except for {_names(admitted)}" if admitted else ""
        doubtful = sum(each.is_doubtful for each in main)
        text += f" ({doubtful} of {len(main)} may ignore it)" if doubtful else ""
    parts = list(_exceptions(main[0], others))
    if main[0].extent is Extent.ALL:
        ignoring = [each for each in verdicts if each not in obeying]
        for some, what in ((unbound, "*"), (ignoring, "robots.txt")):
            if some:
                parts.append(f"{_names(some)} ignore{'s' * (len(some) == 1)} {what}")
    return Row(label, (purpose,), main[0].extent, "; ".join([text, *parts]))


def _exceptions(main: Verdict, others: list[Verdict]) -> Iterator[str]:
    """Yield the names of crawlers whose access differs from that of most, with their access."""
    fully = "fully " if main.extent is Extent.SOME else ""
    by_access: dict[str, list[Verdict]] = {}
    for each in others:
        if each.extent is Extent.NONE and not each.is_named and not each.obeys_star:
            # Nobody expects the * rules to apply to these.
            continue
        words = each.access if each.extent is Extent.SOME else f"{fully}{each.access}"
        by_access.setdefault(words, []).append(each)
    partly = [words for words, some in by_access.items() if some[0].extent is Extent.SOME]
    if len(partly) > 1:
        some = [each for words in partly for each in by_access.pop(words)]
        by_access["other paths"] = [each for each in some if each.is_mostly_open]
        by_access["mostly blocked"] = [each for each in some if not each.is_mostly_open]
    for words, alike in by_access.items():
        if alike:
            yield f"{_names(alike)}: {words}"


def _names(verdicts: list[Verdict]) -> str:
    known_first = sorted(verdicts, key=lambda each: place_in_reports(each.crawler))
    return _listed(
        [each.crawler.token + MARK * each.is_doubtful for each in known_first], _MAX_NAMES
    )


def audit(
    robots: RobotsTxt,
    known: Iterable[Crawler] | None = None,
    budget: Budget | None = None,
    unread: Sequence[str] = (),
) -> Audit:
    """Audit a file for some crawlers; default: all known ones.

    ``unread`` says what of the file could not be read, and why.

    Raises:
        MissingExtraError: none are given, and the registry is not installed.
    """
    auditor = _Auditor(robots, budget or Budget())
    verdicts = tuple(map(auditor.verdict, crawlers.known() if known is None else known))
    policies = tuple(map(auditor.policy, POLICY_TOKENS))
    signals, elsewhere = stated_to_everybody(robots, _START_PAGE, unread)
    return Audit(
        verdicts, auditor.preferences(), robots.licenses, robots.sitemaps, policies,
        tuple(_uses(signals, elsewhere, policies)), signals.unread,
    )  # fmt: skip


def _uses(
    signals: Signals, elsewhere: tuple[Statement, ...], policies: tuple[Policy, ...]
) -> Iterator[StatedUse]:
    """Yield what is stated about each use."""
    others = [*elsewhere, *_policies_elsewhere(policies, signals)]
    for each in signals.answers:
        differing = tuple(
            some for some in others if some.use is each.use and some.stated is not each.stated
        )
        yield StatedUse(each.use, each.stated, each.statements, differing)


def _policies_elsewhere(policies: tuple[Policy, ...], signals: Signals) -> Iterator[Statement]:
    """Yield what policy tokens state about the part of a site without the start page."""
    for each in policies:
        if each.extent is Extent.SOME and each.rule is not None:
            answer = signals.of(PURPOSES[each.token.purpose])
            is_no = any(
                some.grammar is POLICY_TOKEN and some.stated is Stated.NO
                for some in answer.statements
            )
            stated = Stated.YES if is_no else Stated.NO
            text = f"{each.token.token}: {each.access}"
            place = f"robots.txt, line {each.rule.line}"
            yield Statement(POLICY_TOKEN, place, text, answer.use, stated, "", each.rule.line)


@dataclass(frozen=True)
class _Access:
    """What the rules of a crawler block."""

    found: Classification
    blocking: tuple[Rule, ...]
    is_mostly_open: bool
    exceptions: tuple[Rule, ...]
    is_home_open: bool

    @cached_property
    def in_words(self) -> str:
        """What the crawler may fetch: the same for all that have these rules."""
        extent = self.found.extent
        if extent is not Extent.SOME:
            return "blocked" if extent is Extent.ALL else "allowed"
        main = "allowed" if self.is_mostly_open else "blocked"
        paths = list(dict.fromkeys(rule.pattern for rule in self.exceptions))
        paths[:_MAX_PATHS] = map(_shown, paths[:_MAX_PATHS])
        return f"{main} except {_listed(paths, _MAX_PATHS)}" if paths else f"partly {main}"


class _Auditor:
    """Computes verdicts; crawlers with the same rules share the work."""

    def __init__(self, robots: RobotsTxt, budget: Budget) -> None:
        self._robots = robots
        self._budget = budget
        self._found: dict[tuple[int, ...], _Access] = {}
        self._likely = Budget(_MAX_STEPS)
        self._limit = Limit(most_rules_to_check(robots))
        self._preferences = {(each.line, each.key): each for each in robots.preferences}
        self._seen: set[tuple[int, ...]] = set()
        self._limit_of_seen = Limit(most_rules_to_check(robots))
        self._add_preferences(rules_for_data(robots, "*"))

    def verdict(self, crawler: Crawler) -> Verdict:
        rules = rules_for_data(self._robots, crawler.tokens)
        if rules.named_as is not None:
            self._add_preferences(rules)
        obeys_file = crawler.obeys is not Obeys.NOTHING and (
            crawler.obeys is not Obeys.OWN_GROUPS or rules.is_named
        )
        if not obeys_file:
            return Verdict(crawler, Extent.NONE, rules.named_as)
        access = self._access_of(rules)
        found = access.found
        return Verdict(
            crawler,
            found.extent,
            rules.named_as,
            access.blocking[0] if access.blocking else found.rule,
            found.disallowed,
            found.is_proved,
            len(access.blocking),
            access.is_mostly_open,
            access.exceptions,
            access.in_words,
            access.is_home_open,
        )

    def policy(self, token: PolicyToken) -> Policy:
        """Return what the file states with a policy token."""
        rules = rules_for_data(self._robots, token.token)
        access = self._access_of(rules)
        if rules.is_named:
            rule = access.blocking[0] if access.blocking else access.found.rule
            return Policy(token, access.found.extent, access.in_words, rule, access.found.is_proved)
        is_blocked = access.found.extent is not Extent.NONE
        return Policy(token, None, "undecided" if is_blocked else "unstated")

    def preferences(self) -> tuple[Preference, ...]:
        """Return the preferences for all crawlers, then those of the groups that name one."""
        return tuple(self._preferences.values())

    def _add_preferences(self, rules: Rules) -> None:
        """Add those of a rule set, unless there are too many of them or too many rules to read."""
        if rules.group_lines in self._seen or len(self._preferences) > _MAX_PREFERENCES:
            return
        self._seen.add(rules.group_lines)
        if self._limit_of_seen.allows(count_rules(rules)):
            _, own = values_of(rules)
            self._preferences |= {(each.line, each.key): each for each in own.preferences}

    def _access_of(self, rules: Rules) -> _Access:
        """Return what rules block; crawlers with the same groups share the work."""
        key = rules.group_lines
        if key not in self._found:
            self._found[key] = self._access(rules)
        return self._found[key]

    def _access(self, rules: Rules) -> _Access:
        is_home_open = rules.allowed("/")
        if not self._limit.allows(count_rules(rules)):
            found = Classification(Extent.SOME, None, None, None, is_proved=False)
            return _Access(found, (), rules.allowed(_USUAL_PAGE), (), is_home_open)
        found = classify(rules, self._budget)
        if found.extent is not Extent.SOME or found.rule is None:
            blocking: tuple[Rule, ...] = (found.rule,) if found.rule is not None else ()
            return _Access(found, blocking, found.extent is Extent.NONE, (), is_home_open)
        urls = likely_urls(rules, self._likely)
        effective = sorted(
            (rule for group in rules.groups for rule in group.rules if rule.line in urls),
            key=lambda rule: (len(rule.pattern.rstrip("*$")), rule.line),
        )
        blocking = tuple(rule for rule in effective if not rule.allow) or (found.rule,)
        is_open = rules.allowed(_USUAL_PAGE)
        allowing = tuple(rule for rule in effective if rule.allow)
        if blocking[0].line in urls:
            found = replace(found, disallowed=urls[blocking[0].line])
        exceptions = blocking if is_open else allowing
        return _Access(found, blocking, is_open, exceptions, is_home_open)
