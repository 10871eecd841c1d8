"""Stands in for webcanon.robots 0.3 (and the RobotsConfig of webcanon.config).

`parse_robots`, `RobotsPolicy.rules_for` and `evaluate_robots`, with the verdict and the rule
that decided. `transport_verdict` says what webcanon's client makes of an HTTP result, and
`RobotsGate` fetches and decides as that client does.
"""

from __future__ import annotations

import http.client
import logging
import ssl
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from .. import dialects
from ..access import (
    MAX_BYTES,
    Access,
    Failure,
    FailureKind,
    Request,
    Response,
    coding_failure,
    outcome_of,
)
from ..cache.memory import Recent
from ..dialects import (
    Escapes,
    Names,
    Orphans,
    RobotsTxtPath,
    Separator,
    Statuses,
    keys_of,
)
from ..model import Directive, Reason, text_of
from ..origins import origin_of
from ..robots import parse as _parse
from ._http import folded
from ._timed import Deadline, fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .. import model
    from ..freshness import Entry
    from ..origins import Origin
    from ..robots import RobotsTxt


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the groups with a name that is in the product, name by name."""
    product = text_of(agent).lower()
    found: dict[str, list[int]] = {}
    for name, group in zip(names, groups, strict=True):
        token = text_of(name).lower()
        if token not in ("", "*") and token in product:
            found.setdefault(token, []).append(group)
    return list(dict.fromkeys(group for numbers in found.values() for group in numbers))


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
_log = logging.getLogger("koster.compat.webcanon")
#: The fields of a policy that are built when they are asked for.
_FIELDS = ("groups", "sitemaps")


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


@dataclass
class RobotsPolicy:
    """A parsed robots.txt.

    ``groups`` has the rules of each product token, in lower case, also of those that have none;
    ``sitemaps`` the values of Sitemap lines. Both may be given, and changed.
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
        """Set an attribute; the other one keeps what the file says."""
        self._build()
        super().__setattr__(name, value)

    def _build(self) -> None:
        """Turn the parsed file into plain structures, once."""
        robots = self.__dict__.get("_robots")
        if robots is not None:
            # Of several threads the first one's are kept: its caller may have changed them already.
            self.__dict__.setdefault("sitemaps", list(robots.values(Directive.SITEMAP)))
            self.__dict__.setdefault("groups", _groups_of(robots))
            self.__dict__.pop("_robots", None)

    def rules_for(self, product: str) -> list[Rule]:
        """Return the rules of all tokens that are in a product token, else those of ``*``.

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


def _groups_of(robots: RobotsTxt) -> dict[str, list[Rule]]:
    """Return the rules of each token of a file."""
    found: dict[str, list[Rule]] = {}
    for group in robots.groups:
        named = [found.setdefault(agent.lower(), []) for agent in group.agents]
        for rule in map(_rule, group.rules):
            for rules in named:
                rules.append(rule)
    return found


def parse_robots(text: str) -> RobotsPolicy:
    """Parse the text of a robots.txt."""
    return _policy_of(_parse(text, _DIALECT))


def _policy_of(robots: RobotsTxt) -> RobotsPolicy:
    """Return a policy that builds its structures from a parsed file when they are asked for."""
    policy = RobotsPolicy.__new__(RobotsPolicy)
    policy.__dict__["_robots"] = robots
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
    robots = policy.__dict__.get("_robots")
    rules = []
    if robots is None:
        rules = policy.rules_for(product)
        robots = _parse(_file_of(rules), _DIALECT)
        path = path.translate(_STAND_INS)
    elif "#" in path:
        # Neither character is in a pattern, and this one ends no path.
        path = path.replace("#", "\n")
    decision = robots.decide("//host/" + path.removeprefix("/"), folded(product))
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

    Attributes:
        mode: ``respect``: what is disallowed raises `PolicyError`; ``report_only``: nothing is
            blocked, the verdict is reported; ``ignore``: robots.txt is not even fetched.
        on_unavailable: What a robots.txt that is not there means (4xx): everything is allowed,
            with a warning in the log, or nothing is.
        on_unreachable: The same where there was no response.
        max_cache_seconds: How long a robots.txt is kept at most (RFC 9309 §2.4).
    """

    mode: Literal["respect", "report_only", "ignore"] = "respect"
    on_unavailable: Literal["allow_with_warning", "deny"] = "allow_with_warning"
    on_unreachable: Literal["allow_with_warning", "deny"] = "deny"
    max_cache_seconds: int = _DAY


def transport_verdict(status: int | None, config: RobotsConfig | None = None) -> RobotsVerdict:
    """Return what an HTTP result says before any rule does (RFC 9309 §2.3.1).

    Args:
        status: The status of the response, or None where there was none.
        config: Says what a robots.txt means that is not there or cannot be reached.

    2xx: `RobotsVerdict.ALLOWED_IMPLICIT`, parse and evaluate the body. 4xx: the same, of a
    site without rules, or with ``on_unavailable="deny"`` as 5xx. 5xx, and None unless
    ``on_unreachable`` says otherwise: `RobotsVerdict.UNKNOWN_UNREACHABLE`, which denies. With the
    mode ``ignore`` always `RobotsVerdict.SKIPPED_BY_USER_POLICY`.
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
    """A URL may not be fetched, and the mode is ``respect``."""


@dataclass
class RobotsDecision:
    """What `RobotsGate` says about a URL, as webcanon's client reports it.

    ``matched_rule`` has the ``type``, ``pattern`` and ``source_line`` of the rule that decided.
    """

    verdict: str
    user_agent: str
    requested_url: str
    recommendation: str
    reason: str
    matched_rule: dict[str, Any] | None = None


_RECOMMENDATIONS = {
    RobotsVerdict.DISALLOWED_EXPLICIT: "not_recommended",
    RobotsVerdict.UNKNOWN_UNREACHABLE: "unknown_do_not_fetch_by_default",
    RobotsVerdict.UNKNOWN_PARSE_ERROR: "allowed_but_warn",
}
#: What the mode ``respect`` blocks.
_BLOCKED = (RobotsVerdict.DISALLOWED_EXPLICIT, RobotsVerdict.UNKNOWN_UNREACHABLE)


class _CacheEntry(NamedTuple):
    """A site's robots.txt, or what fetching it gave; ``why`` says what happened."""

    verdict: RobotsVerdict
    policy: RobotsPolicy
    why: str
    size: int
    expires: datetime


class RobotsGate:
    """Fetches robots.txt and decides by a `RobotsConfig`, as webcanon's client does.

    It connects to any address: the client's guard against private ones is not here.

    Args:
        product: The product token: whose rules apply, and the User-Agent header to send.
        config: What results mean, and how long a robots.txt is cached.
        timeout: Seconds for fetching a robots.txt, redirects included.

    Raises:
        ValueError: ``product`` cannot be sent as a header.
    """

    def __init__(
        self, product: str = "WebCanon", config: RobotsConfig | None = None, *, timeout: float = 20
    ) -> None:
        if not product.isascii() or not product.isprintable():
            raise ValueError(f"product must be printable ASCII, not {product!r}")
        self.product = product
        self.config = config or RobotsConfig()
        self._timeout = timeout
        seconds = max(self.config.max_cache_seconds, 0)
        self._access = Access(
            Statuses(unavailable=frozenset(range(400, 500)), lifetime=seconds, longest=seconds)
        )
        self._cache: Recent[str, _CacheEntry] = Recent(
            1000, 32 << 20, lambda kept: 1000 + kept.size
        )

    def check(self, url: str) -> RobotsDecision:
        """Decide about a URL.

        Raises:
            PolicyError: it may not be fetched, and the mode is ``respect``.
            UrlError: it belongs to no site.
        """
        verdict, match, reason = self._evaluated(url)
        if self.config.mode == "respect" and verdict in _BLOCKED:
            raise PolicyError(f"robots policy blocks {url}: {verdict.value} ({reason})")
        decision = RobotsDecision(
            verdict=verdict.value,
            user_agent=self.product,
            requested_url=url,
            recommendation=_RECOMMENDATIONS.get(verdict, "recommended"),
            reason=reason,
        )
        if match is not None:
            decision.matched_rule = {
                "type": "allow" if match.allow else "disallow",
                "pattern": match.pattern,
                "source_line": match.source_line,
            }
        return decision

    def _evaluated(self, url: str) -> tuple[RobotsVerdict, RobotsMatch | None, str]:
        """Return the verdict about a URL, the rule that decided, and the reason in words."""
        if self.config.mode == "ignore":
            return RobotsVerdict.SKIPPED_BY_USER_POLICY, None, "robots mode is 'ignore'"
        origin = origin_of(url)
        entry = self._cache.get(str(origin))
        if entry is None or entry.expires <= datetime.now(UTC):
            entry = self._fetched(origin)
            self._cache.put(str(origin), entry)
        if entry.verdict is RobotsVerdict.UNKNOWN_UNREACHABLE:
            return entry.verdict, None, entry.why
        verdict, match = evaluate_robots(entry.policy, url, self.product)
        reason = f"matched rule on line {match.source_line}" if match else "no matching rule"
        return verdict, match, reason

    def _fetched(self, origin: Origin) -> _CacheEntry:
        """Fetch a site's robots.txt."""
        deadline = Deadline(self._timeout)
        step: Request | Entry = self._access.begin(origin)
        while isinstance(step, Request):
            answer = self._answer(step, deadline)
            now = datetime.now(UTC)
            if isinstance(answer, Failure):
                step = self._access.fail(step, answer, now)
            else:
                step = self._access.respond(step, answer, now)
        outcome = outcome_of(step, _DIALECT, datetime.now(UTC))
        verdict, why = RobotsVerdict.ALLOWED_IMPLICIT, ""
        if outcome.robots is None:
            # webcanon's client takes too many redirects for no response.
            is_status = step.status is not None and step.status >= 400
            verdict = transport_verdict(step.status if is_status else None, self.config)
            kind = "unavailable" if outcome.reason is Reason.UNAVAILABLE else "unreachable"
            why = f"robots.txt {kind}: {outcome.why}"
            if verdict is RobotsVerdict.ALLOWED_IMPLICIT:
                _log.warning("%s: %s; everything is allowed", origin, why)
        policy = RobotsPolicy() if outcome.robots is None else _policy_of(outcome.robots)
        return _CacheEntry(verdict, policy, why, len(step.body), outcome.expires)

    def _answer(self, request: Request, deadline: Deadline) -> Response | Failure:
        """Send a request."""
        sent = {"User-Agent": self.product, "Accept-Encoding": "identity"}
        try:
            context = ssl.create_default_context() if request.url.startswith("https:") else None
            status, headers, body, is_whole = fetch(
                request.url, sent, context, deadline, MAX_BYTES + 1
            )
        except (OSError, http.client.HTTPException) as error:
            return Failure(FailureKind.CONNECTION, f"{type(error).__name__}: {error}"[:300])
        named = {name.lower(): value for name, value in reversed(headers.items())}
        return coding_failure(named, {"identity"}, body) or Response(status, named, body, is_whole)
