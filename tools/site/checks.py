"""Checks of the built site: links, anchors, pictures, and that nothing comes from elsewhere."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: What a browser loads by itself, by element and attribute.
_LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "srcset"),
}
#: Kinds of <link> that name an address and load nothing.
_NAMED = {"canonical", "prev", "next", "alternate", "edit"}


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []
        self.without_alt: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "img" and not values.get("alt"):
            self.without_alt.append(values.get("src", ""))
        for name in ("href", "src", "srcset"):
            if name in values:
                is_named = tag == "link" and bool(_NAMED & set(values.get("rel", "").split()))
                self.links.append((values[name], (tag, name) in _LOADED and not is_named))


@cache
def _target(folder: Path, path: str) -> Path | None:
    """Return the file that a link in a folder leads to, or None if it leads to none."""
    target = (folder / unquote(urlsplit(path).path)).resolve()
    target = target / "index.html" if target.is_dir() else target
    return target if target.exists() else None


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong with a site, a line for each."""
    # The menu is on every page.
    _target.cache_clear()
    pages = {file: _Page(file.read_text("utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        if file.name == "404.html":
            continue
        name = file.relative_to(site)
        for picture in page.without_alt:
            yield f"{name}: {picture} has no alt text"
        for link, is_loaded in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https") or parts.netloc:
                if is_loaded:
                    yield f"{name}: loads {link}"
                continue
            if parts.scheme:
                continue
            path, anchor = urldefrag(link)
            target = _target(file.parent, path) if path else file
            if target is None:
                yield f"{name}: {link} is missing"
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                yield f"{name}: {link} has no such anchor"
