"""Pages of HTML with nothing from elsewhere: what the reports share."""

from __future__ import annotations

from html import escape

from .model import spelt_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: Colours for light and dark, and how text, tables and pictures look.
_STYLE = """
:root { --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --paper: #fff;
  --link: #0969da; --all: #b3261e; --some: #9a6700; --none: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --ink: #f0f3f6; --soft: #9198a1; --line: #3d444d;
  --paper: #0d1117; --link: #58a6ff; --all: #ff8a80; --some: #e3b341; --none: #56d364; } }
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 68rem; padding: 0 1rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.lead { font-size: 1.1rem; } .soft { color: var(--soft); } a { color: var(--link); }
.all { color: var(--all); } .some { color: var(--some); } .none { color: var(--none); }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font: 14px system-ui, sans-serif; }
rect.all { fill: var(--all); } rect.some { fill: var(--some); } rect.none { fill: var(--none); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--line);
  vertical-align: top; overflow-wrap: break-word; }
th { white-space: nowrap; color: var(--soft); font-weight: 600; border-top: 0; }
code { font-size: .85em; }
"""


def text(given: str) -> str:
    """Return text for a page: nothing in it is a tag, and nothing in it is unseen."""
    return escape("".join(each if each.isprintable() else spelt_out(each) for each in given))


def page(title: str, parts: Iterable[str], style: str = "") -> str:
    """Return a page of parts that are HTML, those that are empty left out."""
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{text(title)}</title><style>{_STYLE}{style}</style></head><body>",
        f"<h1>{text(title)}</h1>",
        *(part for part in parts if part),
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"
