"""Builds the site: ``python -m tools.site``."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from koster import __version__
from tools import schemas

from . import nav, prose, staging
from .checks import problems

if TYPE_CHECKING:
    from .staging import Page

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "docs"
SITE = ROOT / "site"
_ANSI = re.compile(r"\x1b\[[\d;]*m")
#: Versions of the documentation have two numbers: 0.1.
VERSION = ".".join(__version__.split(".")[:2])


def main() -> None:
    pages = staging.write(BUILD / "pages")
    _check_nav(pages)
    target = SITE / VERSION
    shutil.rmtree(target, ignore_errors=True)
    _generate(target)
    _write_markdown(pages, target)
    write_versions(SITE)
    # Their own addresses, which stay the same from version to version.
    shutil.copytree(schemas.FOLDER, SITE / "schemas" / str(schemas.MAJOR), dirs_exist_ok=True)
    found = [*prose.findings(pages), *problems(target)]
    for each in found:
        print(each, file=sys.stderr)
    if found:
        sys.exit(f"{len(found)} problems")
    print(f"{len(pages)} pages: {SITE / 'index.html'}")


def _check_nav(pages: list[Page]) -> None:
    written, listed = {page.path for page in pages}, list(nav.paths(nav.NAV))
    if missing := written - set(listed):
        sys.exit(f"Not in tools/site/nav.py: {', '.join(sorted(missing))}")
    if unwritten := set(listed) - written:
        sys.exit(f"In tools/site/nav.py, but missing: {', '.join(sorted(unwritten))}")


def _generate(target: Path) -> None:
    """Run Zensical; a warning is an error."""
    settings: dict[str, Any] = {
        "project": {
            "site_name": "koster",
            "site_description": "The robots.txt toolkit for Python.",
            "docs_dir": "pages",
            "site_dir": "html",
            "nav": nav.titled(nav.NAV),
            "theme": {
                "custom_dir": str(ROOT / "docs" / "overrides"),
                "font": False,
                "logo": "assets/logo.svg",
                "favicon": "assets/logo.svg",
                "features": [
                    "navigation.tabs",
                    "navigation.top",
                    "navigation.footer",
                    "navigation.indexes",
                    "navigation.path",
                    "toc.follow",
                    "search.highlight",
                    "content.code.copy",
                    "content.action.edit",
                ],
                "palette": [
                    {
                        "media": f"(prefers-color-scheme: {name})",
                        "scheme": scheme,
                        "toggle": {"icon": icon, "name": f"Switch to {other} mode"},
                    }
                    for name, scheme, icon, other in (
                        ("light", "default", "lucide/sun", "dark"),
                        ("dark", "slate", "lucide/moon", "light"),
                    )
                ],
            },
            "plugins": {"offline": {}, "search": {}},
            "extra": {
                "generator": False,
                "repository": staging.repository(),
                "polyfills": [
                    {
                        "path": "assets/iframe-worker.js",
                        "type": "text/javascript",
                        "async": False,
                        "defer": False,
                    }
                ],
            },
            "extra_css": ["assets/site.css"],
            "extra_javascript": [
                {"path": "assets/versions.js", "defer": True},
                {"path": "assets/access.js", "defer": True},
            ],
            "markdown_extensions": {
                "tables": {},
                "attr_list": {},
                "toc": {"permalink": True},
                "pymdownx": {
                    "highlight": {"default_lang": "text"},
                    "superfences": {},
                    "inlinehilite": {},
                },
            },
        }
    }
    config = BUILD / "zensical.toml"
    config.write_text(tomli_w.dumps(settings), "utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", str(config)]
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=False)
    output = _ANSI.sub("", done.stdout + done.stderr)
    if done.returncode or "No issues found" not in output:
        sys.exit(output)
    shutil.move(BUILD / "html", target)


def _write_markdown(pages: list[Page], target: Path) -> None:
    """Write each page's Markdown beside its HTML, and the list of them for language models."""
    for page in pages:
        (target / page.path).write_text(page.plain, "utf-8")
    by_path = {page.path: page for page in pages}
    (target / "llms.txt").write_text("\n".join(_llms(nav.NAV, by_path)) + "\n", "utf-8")
    whole = "\n\n".join(by_path[path].plain.strip() for path in nav.paths(nav.NAV))
    (target / "llms-full.txt").write_text(whole + "\n", "utf-8")


def _llms(entries: list[nav.Entry], pages: dict[str, Page]) -> list[str]:
    lines = [
        "# koster",
        "",
        "> The robots.txt toolkit for Python: may this crawler fetch this URL, and which line says so?",
        "",
        "Each page is Markdown. llms-full.txt has all of them in one file.",
        "",
        "## Start",
        "",
    ]
    for each in entries:
        if isinstance(each, str):
            lines.append(_llms_line(pages[each]))
            continue
        for title, inner in each.items():
            lines += ["", f"## {title}", ""]
            lines += [_llms_line(pages[path]) for path in nav.paths(inner)]
    return lines


def _llms_line(page: Page) -> str:
    return f"- [{page.title}]({page.path}): {page.description}"


def write_versions(site: Path) -> None:
    """List the versions in the folder, and lead its start page to the newest."""
    names = [folder.name for folder in site.iterdir() if (folder / "index.html").exists()]
    names.sort(key=lambda name: tuple(map(int, name.split("."))), reverse=True)
    (site / "versions.js").write_text(f"window.kosterVersions = {json.dumps(names)};\n", "utf-8")
    (site / "index.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>koster</title>'
        f'<meta http-equiv="refresh" content="0; url={names[0]}/index.html">'
        f'<a href="{names[0]}/index.html">The documentation of koster {names[0]}</a></html>\n',
        "utf-8",
    )


if __name__ == "__main__":
    main()
