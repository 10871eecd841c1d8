"""Policies, verdicts and configuration, as in webcanon.robots and webcanon.config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from ... import dialects, model
from ...decisions import Reason
from ...dialects import Decoding, Escapes, Names, Orphans, RobotsTxtPath, Separator, keys_of
from ...model import Directive, text_of
from ...robots import RobotsTxt
from ...robots import parse as _parse
from .._http import encoded, lower_non_ascii


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the groups with a name contained in the product, ordered by name."""
    product = text_of(agent).lower()
    found: dict[str, list[int]] = {}
    for name, group in zip(names, groups, strict=True):
        token = text_of(name).lower()
        if token not in ("", "*") and token in product:
            found.setdefault(token, []).append(group)
    return list(dict.fromkeys(group for numbers in found.values() for group in numbers))


def _rewrite(value: bytes, allow: bool) -> list[tuple[bytes, int]]:
    """Rank by characters without a trailing ``$``; an empty Allow matches everything."""
    if not value:
        return [(value, 0)] if allow else []
    return [(value, len(value.rstrip(b"$").decode("utf-8", "replace")))]


DIALECT = replace(
    dialects.RFC9309,
    name="webcanon",
    source="webcanon 0.3.0",
    decoding=Decoding.NONE,
    directives=dialects.GOOGLE.directives,
    spellings=keys_of(*dialects.GOOGLE.directives),
    separator=Separator.COLON,
    orphans=Orphans.FOR_EVERYBODY,
    names=Names.CHOSEN,
    choose=_choose,
    rewrite=_rewrite,
    rewritten=b"$" + bytes(range(128, 256)),
    reading=replace(
        dialects.RFC9309.reading,
        escapes=Escapes.AS_WRITTEN,
        robots_txt=RobotsTxtPath.NOT_SPECIAL,
    ),
)


_DAY = 24 * 60 * 60
#: The lazily built fields of a policy.
_FIELDS = ("groups", "sitemaps")


class RobotsVerdict(str, Enum):  # noqa: UP042 - str() must return the name, like the original
    """The verdict about a URL, or why it is missing."""

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
    """The rule that decides."""

    allow: bool
    pattern: str
    source_line: int


@dataclass
class RobotsPolicy:
    """A parsed robots.txt.

    ``groups`` has the rules by lower-case product token, including tokens without rules;
    ``sitemaps`` the values of Sitemap lines. Both can be passed, and changed.
    """

    groups: dict[str, list[Rule]] = field(default_factory=dict)
    sitemaps: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        """Build ``groups`` and ``sitemaps`` on first access; later changes to them apply."""
        if name in _FIELDS:
            self._build()
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field; the other one keeps its value from the file."""
        self._build()
        super().__setattr__(name, value)

    def _build(self) -> None:
        robots = self.__dict__.get("_robots")
        if robots is not None:
            # With several threads, the first one wins: its caller may have changed the fields.
            self.__dict__.setdefault("sitemaps", list(robots.values(Directive.SITEMAP)))
            self.__dict__.setdefault("groups", _collect_groups(robots))
            self.__dict__.pop("_robots", None)

    def rules_for(self, product: str) -> list[Rule]:
        """Return the rules of all tokens contained in a product token, else those of ``*``.

        A token without rules allows everything.
        """
        product = product.lower()
        matched = [
            rules
            for token, rules in self.groups.items()
            if token not in ("", "*") and token in product
        ]
        return [rule for rules in matched or [self.groups.get("*", [])] for rule in rules]


def _rule(rule: model.Rule) -> Rule:
    return Rule(rule.directive is Directive.ALLOW, rule.pattern, rule.line)


def _collect_groups(robots: RobotsTxt) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for group in robots.groups:
        headers_by_name = [found.setdefault(agent.lower(), []) for agent in group.agents]
        for rule in map(_rule, group.rules):
            for rules in headers_by_name:
                rules.append(rule)
    return found


def parse_robots(text: str) -> RobotsPolicy:
    """Parse the text of a robots.txt."""
    return create_policy(_parse(encoded(text), DIALECT))


def create_policy(robots: RobotsTxt) -> RobotsPolicy:
    """Return a policy that builds its fields lazily from a parsed file."""
    policy = RobotsPolicy.__new__(RobotsPolicy)
    policy.__dict__["_robots"] = robots
    return policy


def evaluate_robots(
    policy: RobotsPolicy, url: str, product: str
) -> tuple[RobotsVerdict, RobotsMatch | None]:
    """Return the verdict about a URL for a product token, and the rule that decides, if any.

    Raises:
        ValueError: the URL is invalid (``http://[``).
    """
    parts = urlsplit(url)
    path = parts.path or "/"
    if parts.query:
        path = f"{path}?{parts.query}"
    path = unquote(path)
    if path == "/robots.txt":
        return RobotsVerdict.ALLOWED_IMPLICIT, None
    robots = policy.__dict__.get("_robots")
    rules = []
    if robots is None:
        rules = policy.rules_for(product)
        robots = _parse(encoded(_to_robots_txt(rules)), DIALECT)
        path = path.translate(_SWAPPED_CHARACTERS)
    elif "#" in path:
        # Neither character occurs in patterns, and a line feed does not end the path.
        path = path.replace("#", "\n")
    decision = robots.decide("//host/" + path.removeprefix("/"), lower_non_ascii(product))
    if decision.reason is not Reason.RULE or decision.rule is None:
        return RobotsVerdict.ALLOWED_IMPLICIT, None
    rule = rules[decision.rule.line - 2] if rules else _rule(decision.rule)
    match = RobotsMatch(rule.allow, rule.pattern, rule.source_line)
    if decision.allowed:
        return RobotsVerdict.ALLOWED_EXPLICIT, match
    return RobotsVerdict.DISALLOWED_EXPLICIT, match


#: Characters that a line cannot contain are swapped with private-use ones, in paths and patterns.
_SWAPPED_CHARACTERS = {
    **{ord(char): 0xE000 + number for number, char in enumerate("# \t\r\n\v\f")},
    **{0xE000 + number: ord(char) for number, char in enumerate("# \t\r\n\v\f")},
}


def _to_robots_txt(rules: list[Rule]) -> str:
    lines = (
        f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern.translate(_SWAPPED_CHARACTERS)}"
        for rule in rules
    )
    return "\n".join(["User-agent: *", *lines])


@dataclass(frozen=True)
class RobotsConfig:
    """How the results of a robots.txt influence retrieval.

    Attributes:
        mode: ``respect``: disallowed URLs raise `PolicyError`; ``report_only``: the verdict is only
            reported; ``ignore``: robots.txt is not fetched.
        on_unavailable: If there is no robots.txt (4xx): allow everything with a warning in the log,
            or nothing.
        on_unreachable: The same if there is no response.
        max_cache_seconds: Maximum lifetime of a robots.txt (RFC 9309 §2.4).
    """

    mode: Literal["respect", "report_only", "ignore"] = "respect"
    on_unavailable: Literal["allow_with_warning", "deny"] = "allow_with_warning"
    on_unreachable: Literal["allow_with_warning", "deny"] = "deny"
    max_cache_seconds: int = _DAY


def transport_verdict(status: int | None, config: RobotsConfig | None = None) -> RobotsVerdict:
    """Return the verdict of an HTTP result, before any rules (RFC 9309 §2.3.1).

    Args:
        status: The status of the response, or None if there is no response.
        config: The policies for unavailable and unreachable robots.txt files.

    2xx: `RobotsVerdict.ALLOWED_IMPLICIT`; then evaluate the body. 4xx: the same without rules, or
    like 5xx with ``on_unavailable="deny"``. 5xx: `RobotsVerdict.UNKNOWN_UNREACHABLE`, which denies.
    None: the same, or like 4xx depending on ``on_unreachable``. With the mode ``ignore`` always
    `RobotsVerdict.SKIPPED_BY_USER_POLICY`.
    """
    config = config or RobotsConfig()
    if config.mode == "ignore":
        return RobotsVerdict.SKIPPED_BY_USER_POLICY
    if status is None:
        is_denied = config.on_unreachable == "deny"
    elif 400 <= status < 500:
        is_denied = config.on_unavailable == "deny"
    else:
        is_denied = status >= 500
    return RobotsVerdict.UNKNOWN_UNREACHABLE if is_denied else RobotsVerdict.ALLOWED_IMPLICIT


class PolicyError(Exception):
    """A URL is blocked, and the mode is ``respect``."""


@dataclass
class RobotsDecision:
    """The decision of `RobotsGate` about a URL, as reported by webcanon's client.

    ``matched_rule`` has the ``type``, ``pattern`` and ``source_line`` of the rule that decides.
    """

    verdict: str
    user_agent: str
    requested_url: str
    recommendation: str
    reason: str
    matched_rule: dict[str, Any] | None = None
