"""A collector of training data: keeps pages whose site says yes to AI training, with the sources.

pip install 'koster[http,signals]'
python examples/collector.py pages.jsonl https://example.com/ https://example.org/tea
"""

import json
import sys
from datetime import UTC, datetime
from typing import Any

import httpx2

import koster
from koster.signals import UseDecision

USER_AGENT = "ExampleBot/1.0 (+https://bot.example/about)"
USES = ("ai-train",)


def record_of(response: httpx2.Response, use: UseDecision) -> dict[str, Any]:
    """Return what is kept: the page, and what its site stated when it was fetched."""
    statements = [each for answer in use.answers for each in answer.statements]
    return {
        "url": str(response.url),
        "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        "sources": [f"{each.text} ({each.where})" for each in statements],
        "licenses": [each.url for each in use.signals.licenses],
        "html": response.text,
    }


def main(target: str, urls: list[str]) -> None:
    """Fetch pages, one after another, and append those that may be used to a file."""
    with (
        httpx2.Client(headers={"User-Agent": USER_AGENT}, timeout=20) as http,
        koster.RobotsClient(USER_AGENT, http=http, uses=USES, cache="robots.sqlite") as robots,
        open(target, "a", encoding="utf-8") as file,
    ):
        for url in urls:  # grows with redirects
            try:
                with robots.turn(url) as turn:  # decides, then waits for the site's pace
                    if not turn.allowed:
                        print(turn.why_not)
                        continue
                    response = http.get(url)
            except (koster.UrlError, httpx2.HTTPError, httpx2.InvalidURL) as error:
                print(f"{url}: {error}")
                continue
            use = turn.response(response)  # also slows down after 429 and 503
            if response.next_request and len(urls) < 1000:
                urls.append(str(response.next_request.url))  # it needs a turn of its own
            elif use:
                file.write(json.dumps(record_of(response, use)) + "\n")
            print(use)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
