"""No request holds the server's event loop: others would wait as long."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest

from koster.service import _api
from koster.service._models import (  # type: ignore[attr-defined]
    AuditResponse,
    BaseModel,
    CheckResponse,
    DecideResponse,
    DiffResponse,
    DisagreeResponse,
    FetchedFile,
    FilesResponse,
    LintResponse,
    SignalsResponse,
)
from tests.helpers import server, serving
from tests.helpers.api import post
from tests.helpers.support import sampled

#: The longest time for which one callback may hold the loop, in CPU seconds.
LONGEST = 0.005

#: A loop over so many numbers takes as long on a fast machine: a slow or busy one gets more time.
_NUMBERS = 100_000

#: How often a request is made: another program may disturb one of them.
TRIES = 5

STARS = "User-agent: *\n" + "Allow: *aabb\n" * 8_000
SITEMAPS = "Sitemap: /\n" * 20_000
LINES = "\n" * 400_000
PATH = "/" + "a" * 1_500


def _seconds_of_a_loop() -> float:
    began = time.thread_time()
    total = 0
    for number in range(_NUMBERS):
        total += number
    return time.thread_time() - began


class Blocks:
    """How long callbacks hold the loops of other threads, in CPU seconds of their thread."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._own = threading.get_ident()

    def run(self, handle: asyncio.Handle) -> None:
        began = time.thread_time()
        PLAIN(handle)
        if threading.get_ident() != self._own:
            self.longest = max(self.longest, time.thread_time() - began)


PLAIN = asyncio.Handle._run  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def blocks() -> Iterator[Blocks]:
    found = Blocks()
    asyncio.Handle._run = lambda handle: found.run(handle)  # type: ignore[assignment, attr-defined]
    yield found
    asyncio.Handle._run = PLAIN  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def api(blocks: Blocks) -> Iterator[httpx2.Client]:
    with serving.in_thread() as url, httpx2.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def sites() -> Iterator[dict[str, str]]:
    """The URLs of sites with the worst files, and a short one, by name."""
    bodies = {"stars": STARS, "sitemaps": SITEMAPS, "lines": LINES, "short": STARS[:200]}
    with ExitStack() as stack:
        named = {name: stack.enter_context(server.running()) for name in (*bodies, "empty")}
        for name, body in bodies.items():
            named[name].robots(body=body.encode())
        named["empty"].robots(404)
        yield {name: site.url for name, site in named.items()}


def sent(
    route: str, body: bytes | dict[str, Any], **headers: str
) -> Callable[..., httpx2.Response]:
    """Return a function that sends a body to a route; SITE stands for a site's URL."""

    def send(api: httpx2.Client, sites: dict[str, str]) -> httpx2.Response:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        for name, url in sites.items():
            data = data.replace(f"SITE:{name}".encode(), url.encode())
        json_type = {"Content-Type": "application/json"}
        return api.post(route, content=data, headers=json_type | headers)

    return send


def got(path: str, site: str = "", **options: Any) -> Callable[..., httpx2.Response]:
    """Return a function that requests a path; SITE stands for a site's URL."""
    return lambda api, sites: api.get(path.replace("SITE", sites.get(site, "")), **options)


#: It becomes 20 MiB.
BOMB = gzip.compress(bytes(20 << 20), 1)

#: Requests by name, each the worst of its kind.
REQUESTS: dict[str, Callable[..., httpx2.Response]] = {
    "/v1/check of stars": got(f"/v1/check?url=SITE{PATH}", "stars"),
    "/v1/check of lines": got("/v1/check?url=SITE/&dialect=MK1996", "lines"),
    "/v1/check of a host": got("/v1/check?url=https://" + "%C3%A9" * 2_500),
    "/v1/fetch of sitemaps": got("/v1/fetch?site=SITE", "sitemaps"),
    "/v1/fetch of lines": got("/v1/fetch?site=SITE&dialect=GOOGLE", "lines"),
    "/v1/decide of stars": sent("/v1/decide", {"robots": STARS[:60_000], "urls": [PATH[:1_200]]}),
    "/v1/decide of a site": sent("/v1/decide", {"site": "SITE:stars", "urls": [PATH]}),
    "/v1/decide without a file": sent("/v1/decide", {"site": "SITE:empty", "urls": ["/é"] * 999}),
    "/v1/decide of many agents": sent(
        "/v1/decide", {"robots": "", "urls": ["/"], "agents": ["a" * 500] * 900}
    ),
    "/v1/decide of numbers": sent("/v1/decide", b'{"urls":[' + b"1e9," * 200_000 + b"1]}"),
    "/v1/decide of too many": sent("/v1/decide", {"robots": "", "urls": ["/"] * 9_990}),
    "/v1/decide of a text": sent("/v1/decide", {"robots": LINES, "urls": ["/"]}),
    "/v1/decide of a bomb": sent("/v1/decide", BOMB, **{"Content-Encoding": "gzip"}),
    "/v1/files of texts": sent("/v1/files", {"files": [{"robots": "User-agent: *"}] * 1_000}),
    "/v1/files of bytes": sent("/v1/files", {"files": [{"body_base64": "A" * 10_000}] * 100}),
    "/v1/lint": sent("/v1/lint", {"robots": "Disallow: a\n" * 5_000}),
    "/v1/lint of numbers": sent("/v1/lint", b'{"dialects":[' + b"1e9," * 200_000 + b"1]}"),
    "/v1/diff": sent("/v1/diff", {"before": {"robots": LINES}, "after": {"robots": ""}}),
    "/v1/audit": sent("/v1/audit", {"robots": "", "agents": ["GPTBot"] * 1_000}),
    "/v1/signals": sent(
        "/v1/signals", {"url": "/", "html": "<meta name=robots content=noai>" * 20_000}
    ),
    "/v1/signals of a script": sent("/v1/signals", {"url": "/", "html": '{"a":[' * 10_000}),
    "/v1/signals of a robots.txt": sent("/v1/signals", {"url": "/", "robots": STARS}),
    "/v1/signals of stars": got(f"/v1/signals?url=SITE{PATH}", "stars"),
    "/v1/signals of lines": got("/v1/signals?url=SITE/", "lines"),
    "/v1/disagree": sent("/v1/disagree", {"robots": LINES, "dialects": ["GOOGLE"]}),
    "/v1/agents": got("/v1/agents"),
    "/v1/agents with headers": got("/v1/agents", headers=[("a", "")] * 9_000),
    "/v1/agents with cookies": got("/v1/agents", headers=[("cookie", "a=b;" * 15_000)]),
    "/static": got("/static/" + "a/" * 8_000),
    "/openapi.json": got("/openapi.json"),
    # No request makes these longer.
    "/v1/dialects": got("/v1/dialects"),
    "/v1/presets": got("/v1/presets"),
    "/healthz": got("/healthz"),
    "/readyz": got("/readyz"),
    "/metrics": got("/metrics"),
    "/": got("/"),
}


@pytest.mark.parametrize("name", sampled([*REQUESTS], 3))
def test_requests_do_not_hold_the_loop(
    api: httpx2.Client, sites: dict[str, str], blocks: Blocks, name: str
) -> None:
    found = []
    for _ in range(TRIES):
        blocks.longest = 0.0
        response = REQUESTS[name](api, sites)
        # Its last callbacks run while the response is read.
        api.get("/healthz")
        assert response.status_code < 500
        found.append(blocks.longest)
        if found[-1] <= max(LONGEST, _seconds_of_a_loop()):
            return
    pytest.fail(f"held for {min(found) * 1000:.1f} ms, at least")


def test_every_route_is_asked() -> None:
    asked = {name.partition(" ")[0] for name in REQUESTS}
    assert {path for _, path, *_ in _api.ROUTES} <= asked


def test_blocks_are_seen(blocks: Blocks) -> None:
    """The check of this check."""

    async def main() -> None:
        sum(range(2_000_000))

    blocks.longest = 0.0
    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    thread.join()
    assert blocks.longest > LONGEST


def test_answers_have_the_fields_of_their_models(api: httpx2.Client, sites: dict[str, str]) -> None:
    """They are made without the models, which describe them in the OpenAPI document."""
    robots = "User-agent: *\nDisallow: /a\nAllow: /a*b\nSitemap: /x\nContent-Signal: ai-train=no\n"
    file, site = {"robots": robots}, {"site": sites["short"]}
    diff = {"before": file, "after": {"robots": "User-agent: *\nDisallow: /b\nSitemap: /y"}}
    signals = file | {"headers": [["X-Robots-Tag", "noindex"], ["Content-Usage", "search=y"]]}
    answers: list[tuple[Any, type[BaseModel]]] = [
        (post(api, "decide", file | {"urls": ["/a"]}), DecideResponse),
        (post(api, "decide", {"site": sites["empty"], "urls": ["/a"]}), DecideResponse),
        (post(api, "files", {"files": [file, {"body_base64": "?"}]}), FilesResponse),
        (post(api, "lint", file), LintResponse),
        (post(api, "lint", site), LintResponse),
        (post(api, "diff", diff), DiffResponse),
        (post(api, "audit", file | {"agents": ["GPTBot"]}), AuditResponse),
        (post(api, "disagree", file), DisagreeResponse),
        (post(api, "signals", {"url": "/", **signals}), SignalsResponse),
        (api.get("/v1/signals", params={"url": sites["short"]}).json(), SignalsResponse),
        (api.get("/v1/check", params={"url": sites["empty"]}).json(), CheckResponse),
        (api.get("/v1/fetch", params={"site": sites["sitemaps"]}).json(), FetchedFile),
    ]
    for answer, model in answers:
        assert model.model_validate(answer).model_dump(mode="json", by_alias=True) == answer
