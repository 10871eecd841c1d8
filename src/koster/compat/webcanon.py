"""Stands in for webcanon.robots 0.3 (and the RobotsConfig of webcanon.config).

`parse_robots`, `RobotsPolicy.rules_for` and `evaluate_robots`, with the verdict and the rule
that decided. `transport_verdict` says what webcanon's client makes of an HTTP result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from .. import dialects
from ..dialects import (
    Escapes,
    GroupNeeds,
    Names,
    Orphans,
    RobotsTxtPath,
    Separator,
    UrlPath,
    keys_of,
)
from ..model import Directive, Reason
from ..robots import parse as _parse

if TYPE_CHECKING:
    from .. import model
    from ..robots import RobotsTxt


def _rewrite(value: bytes, allow: bool) -> list[tuple[bytes, int]]:
    """Count characters, without a closing ``$``; an empty Allow matches everything."""
    if not value:
        return [(value, 0)] if allow else []
    return [(value, len(value.rstrip(b"$").decode("utf-8", "replace")))]


_DIALECT = replace(
    dialects.RFC9309,
    name="webcanon",
    source="webcanon 0.3.0",
    directives=dialects.GOOGLE.directives,
    spellings=keys_of(*dialects.GOOGLE.directives),
    separator=Separator.COLON,
    group_needs=GroupNeeds.RULES,
    orphans=Orphans.FOR_EVERYBODY,
    names=Names.SUBSTRING,
    rewrite=_rewrite,
    rewritten=b"$" + bytes(range(128, 256)),
    reading=replace(
        dialects.RFC9309.reading,
        url_path=UrlPath.GIVEN,
        escapes=Escapes.AS_WRITTEN,
        robots_txt=RobotsTxtPath.NOT_SPECIAL,
    ),
)


class RobotsVerdict(str, Enum):  # noqa: UP042 - str() of it gives its name, as it was
    """What a robots.txt says about a URL, or why it says nothing."""

    ALLOWED_EXPLICIT = "allowed_explicit"
    ALLOWED_IMPLICIT = "allowed_implicit"
    DISALLOWED_EXPLICIT = "disallowed_explicit"
    UNKNOWN_UNREACHABLE = "unknown_unreachable"
    UNKNOWN_PARSE_ERROR = "unknown_parse_error"
    SKIPPED_BY_USER_POLICY = "skipped_by_user_policy"


@dataclass
class Rule:
    """A rule: ``pattern`` as written, in the line ``source_line`` (from 1)."""

    allow: bool
    pattern: str
    source_line: int


@dataclass
class RobotsMatch:
    """The rule that decided."""

    allow: bool
    pattern: str
    source_line: int


class RobotsPolicy:
    """A parsed robots.txt.

    ``groups`` has the rules of each product token, in lower case; ``sitemaps`` the values of
    Sitemap lines. Both may be given, and changed.
    """

    def __init__(
        self, groups: dict[str, list[Rule]] | None = None, sitemaps: list[str] | None = None
    ) -> None:
        self._robots: RobotsTxt | None = None
        self._groups = {} if groups is None else groups
        self._sitemaps = sitemaps

    @property
    def sitemaps(self) -> list[str]:
        """The values of Sitemap lines."""
        if self._sitemaps is None:
            robots = self._robots
            self._sitemaps = list(robots.values(Directive.SITEMAP)) if robots is not None else []
        return self._sitemaps

    @sitemaps.setter
    def sitemaps(self, sitemaps: list[str]) -> None:
        self._sitemaps = sitemaps

    @property
    def groups(self) -> dict[str, list[Rule]]:
        """The rules of each token."""
        if self._robots is not None:
            # From here on the caller may change them: they count, and no longer the file.
            self._sitemaps = self.sitemaps
            self._groups = _groups_of(self._robots)
            self._robots = None
        return self._groups

    def rules_for(self, product: str) -> list[Rule]:
        """Return the rules of all tokens that are in a product token, else those of ``*``."""
        if self._robots is not None:
            groups = self._robots.rules_for(product).groups
            return [_rule(rule) for group in groups for rule in group.rules]
        product = product.lower()
        matched = [
            rule
            for token, rules in self._groups.items()
            if token != "*" and token in product
            for rule in rules
        ]
        return matched or list(self._groups.get("*", []))

    def __repr__(self) -> str:
        groups = _groups_of(self._robots) if self._robots is not None else self._groups
        return f"RobotsPolicy(groups={groups!r}, sitemaps={self.sitemaps!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RobotsPolicy):
            return NotImplemented
        return (self.groups, self.sitemaps) == (other.groups, other.sitemaps)

    __hash__ = None  # type: ignore[assignment]


def _rule(rule: model.Rule) -> Rule:
    return Rule(rule.directive is Directive.ALLOW, rule.pattern, rule.line)


def _groups_of(robots: RobotsTxt) -> dict[str, list[Rule]]:
    """Return the rules of each token of a file."""
    found: dict[str, list[Rule]] = {}
    for group in robots.groups:
        rules = [_rule(rule) for rule in group.rules]
        for agent in group.agents:
            found.setdefault(agent.lower(), []).extend(rules)
    return found


def parse_robots(text: str) -> RobotsPolicy:
    """Parse the text of a robots.txt."""
    policy = RobotsPolicy()
    policy._robots = _parse(text, _DIALECT)
    return policy


def evaluate_robots(
    policy: RobotsPolicy, url: str, product: str
) -> tuple[RobotsVerdict, RobotsMatch | None]:
    """Return the verdict about a URL for a product token, and the rule that decided, if any.

    Raises:
        ValueError: the URL is none (``http://[``).
    """
    parts = urlsplit(url)
    path = parts.path or "/"
    if parts.query:
        path = f"{path}?{parts.query}"
    path = unquote(path)
    if path == "/robots.txt":
        return RobotsVerdict.ALLOWED_IMPLICIT, None
    robots = policy._robots
    rules = []
    if robots is None:
        rules = policy.rules_for(product)
        robots = _parse(_file_of(rules), _DIALECT)
        path = path.translate(_STAND_INS)
    decision = robots.decide(path, product)
    if decision.reason is not Reason.RULE or decision.rule is None:
        return RobotsVerdict.ALLOWED_IMPLICIT, None
    rule = rules[decision.rule.line - 2] if rules else _rule(decision.rule)
    match = RobotsMatch(rule.allow, rule.pattern, rule.source_line)
    if decision.allowed:
        return RobotsVerdict.ALLOWED_EXPLICIT, match
    return RobotsVerdict.DISALLOWED_EXPLICIT, match


#: Characters that a line would lose, in paths as in patterns; they change places with others,
#: for private use, which nobody has in a URL.
_STAND_INS = {
    **{ord(char): 0xE000 + number for number, char in enumerate("# \t\r\n\v\f")},
    **{0xE000 + number: ord(char) for number, char in enumerate("# \t\r\n\v\f")},
}


def _file_of(rules: list[Rule]) -> str:
    """Return a robots.txt that has these rules, from its second line on."""
    lines = (
        f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern.translate(_STAND_INS)}"
        for rule in rules
    )
    return "\n".join(["User-agent: *", *lines])


@dataclass(frozen=True)
class RobotsConfig:
    """How the results of a robots.txt influence retrieval.

    ``max_cache_seconds``: how long a robots.txt may be kept (RFC 9309 §2.4).
    """

    mode: Literal["respect", "report_only", "ignore"] = "respect"
    on_unavailable: Literal["allow_with_warning", "deny"] = "allow_with_warning"
    on_unreachable: Literal["allow_with_warning", "deny"] = "deny"
    max_cache_seconds: int = 24 * 60 * 60


def transport_verdict(status: int | None, config: RobotsConfig | None = None) -> RobotsVerdict:
    """Return what an HTTP result says before any rule does (RFC 9309 §2.3.1).

    Args:
        status: The status of the response, or None where there was none.
        config: Says what a site that cannot be reached means.

    2xx: `RobotsVerdict.ALLOWED_IMPLICIT`, parse and evaluate the body. 4xx: the same, of a
    site without rules. 5xx and none: `RobotsVerdict.UNKNOWN_UNREACHABLE`, which denies.
    """
    if status is None and config is not None and config.on_unreachable != "deny":
        return RobotsVerdict.ALLOWED_IMPLICIT
    if status is None or status >= 500:
        return RobotsVerdict.UNKNOWN_UNREACHABLE
    return RobotsVerdict.ALLOWED_IMPLICIT
