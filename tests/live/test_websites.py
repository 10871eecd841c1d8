"""Pages of other sites, in a real browser, cannot use a service on their visitor's computer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, Page

from tests.helpers import server
from tests.helpers.browsing import REBOUND
from tests.helpers.server import Answer, Site

#: Requests a URL in every way that a page has; returns what the page can read.
ATTACK = """
async ([api, site]) => {
  const check = `${api}/v1/check?url=${encodeURIComponent(site + "/x")}`;
  const decide = `${api}/v1/decide`;
  const body = JSON.stringify({ site, urls: ["/x"] });
  const json = { "Content-Type": "application/json" };
  const ways = {
    cors: () => fetch(check),
    opaque: () => fetch(check, { mode: "no-cors", credentials: "include" }),
    post: () => fetch(decide, { method: "POST", headers: json, body }),
    plain: () => fetch(decide, { method: "POST", mode: "no-cors", body }),
    page: () => fetch(api + "/"),
    metrics: () => fetch(api + "/metrics"),
  };
  const elements = {
    img: "src", script: "src", iframe: "src", video: "src", audio: "src", embed: "src",
    object: "data", track: "src",
  };
  for (const [name, attribute] of Object.entries(elements)) {
    const element = document.createElement(name);
    element[attribute] = check;
    document.body.append(element);
  }
  for (const rel of ["stylesheet", "preload", "prefetch", "icon", "manifest", "modulepreload"])
    document.head.append(Object.assign(document.createElement("link"), { rel, href: check, as: "fetch" }));
  for (const method of ["GET", "POST"]) {
    const frame = Object.assign(document.createElement("iframe"), { name: method });
    const form = Object.assign(document.createElement("form"), { target: method, method });
    form.action = `${api}/v1/check`;
    form.innerHTML = `<input name="url" value="${site}/x">`;
    document.body.append(frame, form);
    form.submit();
  }
  navigator.sendBeacon(decide, body);
  new EventSource(check);
  const opened = window.open(check);
  const read = {};
  for (const [name, ask] of Object.entries(ways)) {
    try {
      const response = await ask();
      read[name] = `${response.status} ${await response.text()}`;
    } catch (error) {
      read[name] = error.name;
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const [number, frame] of document.querySelectorAll("iframe").entries()) {
    try {
      read[`frame ${number}`] = frame.contentDocument?.body?.innerText ?? "";
    } catch (error) {
      read[`frame ${number}`] = error.name;
    }
  }
  try {
    read.opened = opened.document.body.innerText;
  } catch (error) {
    read.opened = error.name;
  }
  return read;
}
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    # An attacker's page has no policy; that of a refused answer would stop the attack.
    context = browser.new_context(bypass_csp=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def hostile() -> Iterator[Site]:
    """A website with a hostile page."""
    with server.running() as site:
        site.pages["/"] = Answer(200, b"<!doctype html><body>", {"Content-Type": "text/html"})
        yield site


def attack(page: Page, address: str, service: str, site: Site) -> dict[str, str]:
    page.goto(address)
    read: dict[str, str] = page.evaluate(ATTACK, [service, site.url])
    page.wait_for_load_state("networkidle")
    return read


def count_answers(service: str, status: int) -> float:
    """Return how many requests of no route had a status."""
    lines = httpx2.get(f"{service}/metrics").text.splitlines()
    start = f'http_requests_total{{code="{status}",handler="none",'
    return sum(float(line.split()[1]) for line in lines if line.startswith(start))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", REBOUND])
def test_pages_of_other_origins(
    page: Page, service: str, site: Site, hostile: Site, host: str
) -> None:
    """On another port, which is the same site for browsers, and on another host."""
    before = count_answers(service, 403)
    read = attack(page, f"http://{host}:{hostile.port}/", service, site)
    assert site.requests == []
    assert set(read.values()) == {"TypeError", "SecurityError", ""}
    time.sleep(1.1)  # The metrics are updated once a second.
    assert count_answers(service, 403) >= before + 15


def test_pages_whose_name_was_rebound(page: Page, service: str, site: Site) -> None:
    """For the browser, the page and the service have the same origin."""
    address = f"http://{REBOUND}:{urlsplit(service).port}"
    read = attack(page, address, address, site)
    assert site.requests == []
    for name in ("cors", "opaque", "post", "plain", "page", "metrics"):
        assert read[name].startswith("421"), (name, read[name])
    assert all("421" in found or found in ("", "SecurityError") for found in read.values())


def test_own_page_can_use_the_service(page: Page, service: str, site: Site) -> None:
    """The check of these checks."""
    site.robots(body=b"User-agent: *\nDisallow: /x\n")
    page.goto(f"{service}/")
    read = page.evaluate(
        "async url => (await fetch(url)).text()", f"{service}/v1/check?url={site.url}/x"
    )
    assert '"allowed":false' in read
    assert len(site.requests) == 1
