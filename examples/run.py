"""The demo of ``make run``: several crawlers and URLs, and for each the line that decided."""

import subprocess
import sys
from pathlib import Path

import koster
from koster.fetch import MockTransport, Reply

HERE = Path(__file__).parent
SITE = "https://shop.example"
URLS = [
    "/",
    "/search?q=tea",
    "/search?category=tea",
    "/account/register",
    "/press/a.pdf",
    "/media/tea.jpg",
    "/licensing/",
]
AGENTS = ["FooBot", "GPTBot", "Googlebot-Image"]


def main() -> None:
    """Show the library, then the command line."""
    robots = koster.parse((HERE / "robots.txt").read_bytes())
    print(f"koster {koster.__version__}, {'compiled' if koster.COMPILED else 'pure Python'}\n")
    print('>>> robots = koster.parse(Path("robots.txt").read_bytes())')
    print(f'>>> print(robots.decide("{SITE}/account/register", "FooBot"))')
    print(robots.decide(f"{SITE}/account/register", "FooBot"))
    fetching()
    agents = [part for name in AGENTS for part in ("--agent", name)]
    _show("check", "--robots", "robots.txt", *agents, *URLS)
    _show(
        "check", "--robots", "robots.txt", "--agent", "archive.org_bot", "--dialect", "all",
        "--at", "2026-11-21T03:00", "/cart", "/tea.pdf",
    )  # fmt: skip


def fetching() -> None:
    """Show fetching from mock sites: one that moved, one without a file, one that is down."""
    sites = MockTransport(
        {
            SITE: Reply(301, headers={"Location": "https://www.shop.example/robots.txt"}),
            "https://www.shop.example": (HERE / "robots.txt").read_bytes(),
            "https://down.example": 503,
        }
    )
    print('\n>>> client = koster.RobotsClient("FooBot/1.0")')
    with koster.RobotsClient("FooBot/1.0", transport=sites) as client:
        pages = ("account/register", "media/tea.jpg")
        urls = [f"{SITE}/{page}" for page in pages]
        for url in (*urls, "https://none.example/", "https://down.example/"):
            print(f'>>> print(client.decide("{url}"))\n{client.decide(url)}')
        for hop in client.robots(SITE).hops:
            print(f"    {hop.status} {hop.url}")


def _show(*arguments: str) -> None:
    """Print a command and run it."""
    quoted = [f'"{each}"' if " " in each else each for each in arguments]
    print(f"\n$ koster {' '.join(quoted)}\n", flush=True)
    command = [sys.executable, "-m", "koster", *arguments]
    subprocess.run(command, check=False, cwd=HERE)


if __name__ == "__main__":
    main()
