"""Headers, metrics, health checks, the OpenAPI description, and the docs of the service."""

from __future__ import annotations

from types import SimpleNamespace

import anyio
import httpx2
import pytest

import koster
from koster._version import DOCS
from koster.service import create_app
from koster.service._gate import _HEADERS, _PAGE_HEADERS
from koster.service._log import _Throttle
from tests.helpers import serving
from tests.helpers.server import Site
from tests.helpers.support import ROOT


def test_security_headers(api: httpx2.Client) -> None:
    for path in ("/", "/static/app.js", "/v1/agents", "/nowhere", "/healthz", "/openapi.json"):
        headers = api.get(path).headers
        is_page = path in ("/", "/static/app.js")
        for name, text in _PAGE_HEADERS if is_page else _HEADERS:
            assert headers[name.decode()] == text.decode()
        assert len(headers["x-request-id"]) == 16
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers
    policy = api.get("/").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "*" not in policy
    origin = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = api.options("/v1/decide", headers=origin)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def test_page_loads_nothing_from_other_hosts(api: httpx2.Client) -> None:
    page = api.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert api.head("/").status_code == 200
    for path in sorted((ROOT / "src/koster/service/page").iterdir()):
        text = path.read_text("utf-8")
        assert "innerHTML" not in text
        assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
        rest = text
        for named in ("https://example.com/sitemap.xml", f'href="{DOCS}"', '"https:"'):
            rest = rest.replace(named, "")
        assert "https:" not in rest
        response = api.get(f"/static/{path.name}")
        assert response.text == text
        assert response.headers["cache-control"] == "no-cache"


def test_metric_labels_contain_no_client_input(site: Site) -> None:
    site.robots(body=b"User-agent: *")
    with serving.in_thread() as url, httpx2.Client(base_url=url) as api:
        api.get("/v1/check", params={"url": f"{site.url}/secret-path"})
        api.get("/secret-path")
        api.request("PROPFIND", "/v1/decide")
        api.post("/v1/decide", json={"robots": "", "urls": ["/a", "/b"], "agents": ["Secret"]})
        metrics = api.get("/metrics")
        assert metrics.headers["content-type"].startswith("text/plain; version=")
        assert "secret" not in metrics.text.lower()
        assert "127.0.0.1" not in metrics.text
        lines = metrics.text.splitlines()
        assert 'http_requests_total{code="200",handler="check",method="GET"} 1.0' in lines
        assert 'http_requests_total{code="404",handler="none",method="GET"} 1.0' in lines
        assert 'http_requests_total{code="405",handler="decide",method="other"} 1.0' in lines
        assert 'koster_fetches_total{outcome="file"} 1.0' in lines
        assert "koster_questions_total 3.0" in lines
        assert "http_requests_in_progress 1.0" in lines
        assert any(line.startswith("process_resident_memory_bytes") for line in lines)
        assert any(line.startswith("http_request_duration_seconds_bucket") for line in lines)


def test_health(api: httpx2.Client) -> None:
    assert api.get("/healthz").json() == {"status": "ok", "version": koster.__version__}
    assert api.get("/readyz").json()["status"] == "ready"


def test_application_without_its_lifespan(site: Site) -> None:
    """As some test clients run it."""
    site.robots(body=b"User-agent: *\nDisallow: /a\n")

    async def main() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=create_app(serving.OPEN))
        async with httpx2.AsyncClient(transport=transport, base_url="http://app") as client:
            return await client.get("/v1/check", params={"url": f"{site.url}/a"})

    answer = anyio.run(main)
    assert answer.status_code == 200
    assert answer.json()["decision"]["line"] == 2


def test_readyz_answers_503_once_the_service_stops() -> None:
    service = create_app()
    service.state.is_stopping = True

    async def main() -> list[int]:
        transport = httpx2.ASGITransport(service)
        async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
            return [(await client.get(path)).status_code for path in ("/healthz", "/readyz")]

    assert anyio.run(main) == [200, 503]


def test_repeated_warnings_are_logged_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("koster.service._log.time", SimpleNamespace(monotonic=lambda: now))
    throttle = _Throttle()
    # None suppresses an entry; a number counts those that were suppressed before it.
    assert [throttle.count("a") for _ in range(3)] == [0, None, None]
    assert throttle.count("b") == 0
    now = 159.9
    assert throttle.count("a") is None
    now = 160.0
    assert [throttle.count("a") for _ in range(2)] == [3, None]


def test_openapi_lists_every_route(api: httpx2.Client) -> None:
    schema = api.get("/openapi.json").json()
    routes = {
        f"{method} {path}": each
        for path, methods in schema["paths"].items()
        for method, each in methods.items()
    }
    assert routes.keys() == {
        "post /v1/decide", "post /v1/files", "get /v1/check", "get /v1/fetch", "post /v1/lint", "post /v1/diff",
        "post /v1/audit", "post /v1/disagree", "post /v1/signals", "get /v1/signals", "get /v1/agents", "get /v1/dialects",
        "get /v1/presets", "get /healthz", "get /readyz", "get /metrics",
    }  # fmt: skip
    for name, route in routes.items():
        assert route["summary"]
        problems = {400, 403, 408, 413, 414, 415, 421, 422, 429, 431, 500, 501, 503}
        assert route["responses"].keys() == {"200", *map(str, problems)}
        for status in problems:
            content = route["responses"][str(status)]["content"]
            assert content == {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            }
        if name.startswith("post"):
            reference = route["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            example = schema["components"]["schemas"][reference.rpartition("/")[2]]["examples"][0]
            assert api.post(f"/v1/{name.rpartition('/')[2]}", json=example).status_code == 200


def test_docs_name_every_route_code_metric_and_option(api: httpx2.Client) -> None:
    pages = ("docs/reference/http-api.md", "docs/guides/service/run.md")
    docs = "".join((ROOT / page).read_text("utf-8") for page in pages)
    for path in api.get("/openapi.json").json()["paths"]:
        assert path in docs, path
    sources = "".join(
        path.read_text("utf-8") for path in (ROOT / "src/koster/service").glob("*.py")
    )
    import re

    codes = set(re.findall(r'Problem\(\s*\w+,\s*"([a-z-]+)"', sources))
    codes |= set(re.findall(r'\d: \("([a-z-]+)",', sources)) | {"no-site"}
    assert len(codes) > 15
    for code in codes:
        assert f"`{code}`" in docs, code
    for line in api.get("/metrics").text.splitlines():
        if line.startswith("# TYPE ") and not line.endswith("_created gauge"):
            name = line.split()[2]
            if name.startswith(("http_", "koster_")):
                assert f"`{name}`" in docs, name
