"""`RobotsGate`: fetches robots.txt and decides like webcanon's client."""

from __future__ import annotations

import http.client
import logging
import ssl
from datetime import UTC, datetime
from typing import NamedTuple

from ...access import MAX_BYTES, Access, Failure, FailureKind, Request, Response, outcome_of
from ...cache.memory import LRUCache
from ...decisions import Reason
from ...dialects import Statuses
from ...freshness import Entry
from ...origins import Origin, origin_of
from .._bodies import decode_body
from .._timed import RequestDeadline, fetch
from ._policy import (
    DIALECT,
    PolicyError,
    RobotsConfig,
    RobotsDecision,
    RobotsMatch,
    RobotsPolicy,
    RobotsVerdict,
    create_policy,
    evaluate_robots,
    transport_verdict,
)

_log = logging.getLogger("koster.compat.webcanon")

_RECOMMENDATIONS = {
    RobotsVerdict.DISALLOWED_EXPLICIT: "not_recommended",
    RobotsVerdict.UNKNOWN_UNREACHABLE: "unknown_do_not_fetch_by_default",
    RobotsVerdict.UNKNOWN_PARSE_ERROR: "allowed_but_warn",
}
#: Verdicts that the mode ``respect`` blocks.
_BLOCKED = (RobotsVerdict.DISALLOWED_EXPLICIT, RobotsVerdict.UNKNOWN_UNREACHABLE)


class _CacheEntry(NamedTuple):
    """A site's robots.txt, or the verdict without it; ``why`` is the error."""

    verdict: RobotsVerdict
    policy: RobotsPolicy
    why: str
    size: int
    expires: datetime


class RobotsGate:
    """Fetches robots.txt and decides by a `RobotsConfig`, like webcanon's client.

    It connects to any address: it does not have the client's guard against private ones.

    Args:
        product: The product token, for rules and for the User-Agent header.
        config: The policies, and how long to cache a robots.txt.
        timeout: Seconds for fetching a robots.txt, including redirects.

    Raises:
        ValueError: ``product`` is not printable ASCII.
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
        self._cache: LRUCache[str, _CacheEntry] = LRUCache(
            1000, 32 << 20, lambda entry: 1000 + entry.size
        )

    def check(self, url: str) -> RobotsDecision:
        """Decide about a URL.

        Raises:
            PolicyError: the URL is blocked, and the mode is ``respect``.
            UrlError: the URL is invalid.
        """
        verdict, match, reason = self._evaluate(url)
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

    def _evaluate(self, url: str) -> tuple[RobotsVerdict, RobotsMatch | None, str]:
        """Return the verdict about a URL, the rule that decides, and the reason in words."""
        if self.config.mode == "ignore":
            return RobotsVerdict.SKIPPED_BY_USER_POLICY, None, "robots mode is 'ignore'"
        origin = origin_of(url)
        entry = self._cache.get(str(origin))
        if entry is None or entry.expires <= datetime.now(UTC):
            entry = self._fetch(origin)
            self._cache.put(str(origin), entry)
        if entry.verdict is RobotsVerdict.UNKNOWN_UNREACHABLE:
            return entry.verdict, None, entry.why
        verdict, match = evaluate_robots(entry.policy, url, self.product)
        reason = f"matched rule on line {match.source_line}" if match else "no matching rule"
        return verdict, match, reason

    def _fetch(self, origin: Origin) -> _CacheEntry:
        deadline = RequestDeadline(self._timeout)
        step: Request | Entry = self._access.begin(origin)
        while isinstance(step, Request):
            response = self._send(step, deadline)
            now = datetime.now(UTC)
            if isinstance(response, Failure):
                step = self._access.fail(step, response, now)
            else:
                step = self._access.respond(step, response, now)
        outcome = outcome_of(step, DIALECT, datetime.now(UTC))
        verdict, why = RobotsVerdict.ALLOWED_IMPLICIT, ""
        if outcome.robots is None:
            # webcanon's client treats too many redirects like a missing response.
            is_status = step.status is not None and step.status >= 400
            verdict = transport_verdict(step.status if is_status else None, self.config)
            kind = "unavailable" if outcome.reason is Reason.UNAVAILABLE else "unreachable"
            why = f"robots.txt {kind}: {outcome.why}"
            if verdict is RobotsVerdict.ALLOWED_IMPLICIT:
                _log.warning("%s: %s; everything is allowed", origin, why)
        policy = RobotsPolicy() if outcome.robots is None else create_policy(outcome.robots)
        return _CacheEntry(verdict, policy, why, len(step.body), outcome.expires)

    def _send(self, request: Request, deadline: RequestDeadline) -> Response | Failure:
        request_headers = {"User-Agent": self.product, "Accept-Encoding": "identity"}
        try:
            context = ssl.create_default_context() if request.url.startswith("https:") else None
            status, headers, body, is_whole = fetch(
                request.url, request_headers, context, deadline, MAX_BYTES + 1
            )
            if 200 <= status < 300:
                body = decode_body(body, headers, MAX_BYTES + 1)
        except (OSError, UnicodeError, http.client.HTTPException) as error:
            return Failure(FailureKind.CONNECTION, f"{type(error).__name__}: {error}"[:300])
        headers_by_name = {name.lower(): value for name, value in reversed(headers.items())}
        return Response(status, headers_by_name, body, is_whole)
