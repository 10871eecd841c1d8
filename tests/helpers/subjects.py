"""What is asked by many threads at once: the public methods of everything that threads may share."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import koster
from koster import analysis
from koster.access import Access, Outcome, Response, outcome_of
from koster.audit import audit
from koster.bulk import kernel
from koster.cache import MemoryCache
from koster.compat import (
    apetest,
    protego,
    reppy,
    robotexclusionrulesparser,
    robotparser,
    robotstxt,
    webcanon,
)
from koster.diff import compare
from koster.fetch import AsyncRobotsClient, RobotsClient
from koster.fetch.mock import MockTransport
from koster.lint import lint
from koster.model import Directive
from koster.origins import origin_of

QUIET = logging.getLogger("quiet")
QUIET.disabled = True
SITE = "https://example.com"
NOW = datetime(2026, 11, 29, 2, tzinfo=UTC)
BOTS = ("FooBot", "Bar", "x", "Bar-Image", "FooBot/2.0 (+https://foo.example/)", "y")
URLS = ("/a", "/b?c=d", "/shop/x", "/a/long/one", "/%C3%A9", "https://example.com/shop/")
#: A file of each way to find a rule: a few, many, many that begin alike, and long runs.
FILES = (
    "User-agent: *\nDisallow: /a\n",
    """User-agent: FooBot
Allow: /a/*.pdf$
Disallow: /
Crawl-delay: 2
User-agent: *
Visit-time: 0100-0300
Request-rate: 1/5 0000-1200
Content-Signal: ai-train=no
Disallow: /b
Sitemap: https://example.com/s.xml
Host: example.com
Clean-param: a /
Comment: hello
License: https://example.com/l.xml
Noindex: /x
""",
    "User-agent: *\n" + "".join(f"Disallow: /{n}\nAllow: /{n}/*b\n" for n in range(30)),
    "User-agent: bar\n" + "".join(f"Disallow: /shop/{n}*{'a' * 34}\n" for n in range(140)),
)


def body(kind: int) -> bytes:
    """Return a file of a kind; each has an object of its own."""
    return FILES[kind].encode()


@dataclass(frozen=True)
class Subject:
    """``make`` makes what is shared from a kind of file; ``ask`` asks it, in turn.

    ``aside`` is what signal handlers and finalizers ask, if not the same, and not compared.
    """

    name: str
    make: Callable[[int], Any]
    ask: Callable[[Any, int], Any]
    aside: Callable[[Any, int], Any] | None = None


def file(kind: int) -> koster.RobotsTxt:
    return koster.parse(body(kind))


def rules(kind: int) -> koster.Rules:
    return file(kind).rules_for("FooBot")


#: Arguments by the name of a method; those without are called without any, or read.
ROBOTS: dict[str, Callable[[Any, int], Any]] = {
    "allowed": lambda each, turn: each.allowed(URLS[turn], BOTS[turn]),
    "decide": lambda each, turn: each.decide(URLS[turn], BOTS[: turn + 1]),
    "rules_for": lambda each, turn: each.rules_for(BOTS[turn]).allowed_many(URLS),
    "values": lambda each, turn: each.values(Directive.SITEMAP),
}
RULES: dict[str, Callable[[Any, int], Any]] = {
    "allowed": lambda each, turn: each.allowed(URLS[turn]),
    "decide": lambda each, turn: each.decide(URLS[turn]),
    "allowed_many": lambda each, turn: each.allowed_many(URLS),
    "values": lambda each, turn: each.values(Directive.CRAWL_DELAY),
    "preferences_for": lambda each, turn: each.preferences_for(URLS[turn]),
    "interval": lambda each, turn: each.interval(NOW),
    "open_at": lambda each, turn: each.open_at(NOW),
    "next_open": lambda each, turn: each.next_open(NOW),
}


def outcome(kind: int) -> Outcome:
    access = Access(koster.RFC9309.statuses)
    request = access.begin(origin_of(SITE))
    entry = access.respond(request, Response(200, {}, body(kind)), NOW)
    return outcome_of(entry, koster.RFC9309, NOW)


OUTCOME: dict[str, Callable[[Any, int], Any]] = {
    "allowed": lambda each, turn: each.allowed(URLS[turn], BOTS[turn]),
    "decide": lambda each, turn: each.decide(URLS[turn], BOTS[turn]),
    "decide_by": lambda each, turn: each.decide_by(each.robots.rules_for(BOTS[turn]), URLS[turn]),
    "crawl_delay": lambda each, turn: each.crawl_delay(BOTS[turn]),
    # It has no equality.
    "robots": lambda each, turn: each.robots.body,
}


def client(kind: int) -> RobotsClient:
    return RobotsClient("FooBot", transport=MockTransport({SITE: body(kind)}))


CLIENT: dict[str, Callable[[Any, int], Any]] = {
    "allowed": lambda each, turn: each.allowed(SITE + URLS[turn][:3], BOTS[turn]),
    "decide": lambda each, turn: each.decide(SITE + URLS[turn][:3], BOTS[turn]),
    "robots": lambda each, turn: each.robots(SITE).robots.body,
    "prefetch": lambda each, turn: each.prefetch([SITE]),
    "refetch": lambda each, turn: each.refetch(SITE).robots.body,
    "next_request": lambda each, turn: each.next_request(SITE + "/").tzinfo,
    "took": lambda each, turn: each.took(SITE + "/", 0.0),
}


async def asynchronously(cache: MemoryCache, turn: int) -> bool:
    transport = MockTransport({SITE: FILES[0]})
    async with AsyncRobotsClient("FooBot", cache=cache, transport=transport) as each:
        return await each.allowed(SITE + URLS[turn][:3])


def of_client(each: RobotsClient, turn: int) -> Any:
    """Ask a client in a signal handler or a finalizer: only what is cached is sure to be there."""
    try:
        each.allowed(SITE + URLS[turn][:3], BOTS[turn])
    except RuntimeError:
        return each.cached(SITE)


def members(
    kind: str, cls: type, make: Callable[[int], Any], calls: dict[str, Any]
) -> list[Subject]:
    """Return a subject for each public method of a class, and one for its properties together."""
    names = [name for name in dir(cls) if not name.startswith("_") and name not in calls]

    def properties(each: Any, turn: int) -> list[object]:
        return [getattr(each, name) for name in (*names[turn:], *names[:turn])]

    found = [Subject(f"{kind}:{name}", make, ask) for name, ask in calls.items()]
    return [*found, Subject(f"{kind}:properties", make, properties)]


def of_kernel(bodies: list[bytes], turn: int) -> Any:
    """Ask the library: Arrow imports modules in each call, which Python cannot do in a finalizer."""
    return koster.parse(bodies[0]).decide(URLS[turn], BOTS[turn])


def extents(bodies: list[bytes], turn: int) -> Any:
    return kernel.classify(bodies, [BOTS[turn], "GPTBot"]).to_pylist()


def facade(name: str, make: Callable[[bytes], Any], ask: Callable[[Any, int], Any]) -> Subject:
    return Subject(f"facades:{name}", lambda kind: make(body(kind)), ask)


def robotparser_of(raw: bytes) -> robotparser.RobotFileParser:
    parser = robotparser.RobotFileParser()
    parser.parse(raw.decode().splitlines())
    return parser


def rerp_of(raw: bytes) -> robotexclusionrulesparser.RobotExclusionRulesParser:
    parser = robotexclusionrulesparser.RobotExclusionRulesParser()
    parser.parse(raw)
    return parser


def apetest_rules(records: Any, turn: int) -> Any:
    return apetest.path_allowed(URLS[turn], apetest.lookup_robots_rules(records, BOTS[turn]))


def apetest_records(raw: bytes) -> Any:
    lines = apetest.scan_robots_txt(raw.decode().splitlines(), QUIET)
    return apetest.parse_robots_txt(lines, QUIET)


SUBJECTS = (
    *members("robots", koster.RobotsTxt, file, ROBOTS),
    Subject("robots:repr", file, lambda each, _: repr(each)),
    Subject("robots:__sizeof__", file, lambda each, _: each.__sizeof__() > 0),
    Subject("robots:pickle", file, lambda each, _: pickle.loads(pickle.dumps(each)).body),
    *members("rules", koster.Rules, rules, RULES),
    Subject("rules:repr", rules, lambda each, _: repr(each)),
    Subject("rules:__sizeof__", rules, lambda each, _: each.__sizeof__() > 0),
    Subject("rules:pickle", rules, lambda each, _: pickle.loads(pickle.dumps(each)).agent),
    *members("outcome", Outcome, outcome, OUTCOME),
    *[Subject(f"client:{name}", client, ask, of_client) for name, ask in CLIENT.items()],
    Subject(
        "client:asynchronous", lambda _: MemoryCache(),
        lambda cache, turn: asyncio.run(asynchronously(cache, turn)),
        aside=lambda cache, turn: cache.get(SITE),
    ),
    Subject("tools:audit", file, lambda each, _: str(audit(each).overview[0])),
    Subject("tools:lint", body, lambda each, _: len(lint(each))),
    Subject("tools:diff", file, lambda each, _: len(compare(each, koster.parse(FILES[0])).changes)),
    Subject("tools:classify", file, lambda each, turn: analysis.classify(each.rules_for(BOTS[turn]))),
    Subject("tools:dead_rules", file, lambda each, turn: analysis.dead_rules(each.rules_for(BOTS[turn]))),
    Subject("tools:likely_urls", file, lambda each, turn: analysis.likely_urls(each.rules_for(BOTS[turn]))),
    Subject("kernel:decide", lambda kind: [body(kind)] * 3, lambda each, turn: kernel.decide(each, URLS[turn], BOTS[turn]).to_pylist(), of_kernel),
    Subject("kernel:allowed", lambda kind: [body(kind)] * 3, lambda each, turn: kernel.allowed(each, URLS[turn], BOTS[turn]).to_pylist(), of_kernel),
    Subject("kernel:classify", lambda kind: [body(kind), body(0)], extents, of_kernel),
    Subject("kernel:facts", lambda kind: [body(kind), body(0)], lambda each, _: kernel.facts(each).to_pylist(), of_kernel),
    facade("protego", lambda raw: protego.Protego.parse(raw.decode()), lambda each, turn: each.can_fetch(URLS[turn], BOTS[turn])),
    facade("protego_delay", lambda raw: protego.Protego.parse(raw.decode()), lambda each, turn: each.crawl_delay(BOTS[turn])),
    facade("robotparser", robotparser_of, lambda each, turn: each.can_fetch(BOTS[turn], URLS[turn])),
    facade("rerp", rerp_of, lambda each, turn: each.is_allowed(BOTS[turn], URLS[turn])),
    facade("reppy", lambda raw: reppy.Robots.parse(SITE, raw), lambda each, turn: each.allowed(URLS[turn], BOTS[turn])),
    facade("robotstxt", lambda raw: robotstxt.Parser("FooBot", raw.decode()), lambda each, turn: each.allowed(URLS[turn])),
    facade("webcanon", lambda raw: webcanon.parse_robots(raw.decode()), lambda each, turn: webcanon.evaluate_robots(each, SITE + URLS[turn][:3], BOTS[turn])),
    facade("apetest", apetest_records, apetest_rules),
)  # fmt: skip
