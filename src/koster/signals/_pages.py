"""What the HTML of a page states."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from html import unescape
from typing import TypeVar

from .._charsets import bom_charset, decode_text, media_type_of
from .._wording import count_noun
from ..errors import missing
from ._flattening import MANY_ATTRIBUTES, FlatPage, hides_tags
from ._grammars import META_ROBOTS
from ._limits import MAX_HTML, RSL_TYPE
from ._model import License, Reading
from ._notes import first_of, joined_url, quoted, shortened, usable_url
from ._rules import Rule, crawler_names, read_rules, rules_in
from ._tdmrep import read_tdm

try:
    from selectolax.lexbor import LexborHTMLParser, LexborNode
except ImportError as error:
    raise missing("reading HTML", "signals") from error

_T = TypeVar("_T")

#: Tags of a kind that are read, and documents within scripts.
_MAX_TAGS = 1_000
_MAX_DOCUMENTS = 10
#: Characters of an attribute that are read.
_MAX_VALUE = 10_000
#: Where HTML names its charset: within its first 1,024 bytes.
_META_CHARSET = re.compile(rb"<meta[^>]*?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_HIDDEN = "page: tags within SVG or MathML are not read"
_HAS_NUL = "page: it has NUL characters, and may not be HTML"
_TDM_NAMES = ("tdm-reservation", "tdm-policy")
#: Tags with the names of crawlers that are about something else: who owns the site.
_OTHER_TAGS = ("google-site-verification",)
#: Tags whose rel may be "license" (https://html.spec.whatwg.org/multipage/links.html#link-type-license).
_LICENSE_TAGS = ("link", "a", "area")
#: The attribute of a tag that says what it is about.
_KEYS = {"meta": "name", "link": "rel", "script": "type"}
#: Rules that no other <meta> has.
_RESTRICTIVE = frozenset(("noindex", "nofollow", "nosnippet", "noarchive", "noai", "noimageai"))
#: Elements on which Google reads data-nosnippet; Bing reads it on all.
_NOSNIPPET_FOR_GOOGLE = frozenset(("span", "div", "section"))
#: Documents within HTML are in its charset, whatever they say.
_XML_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*>")


def read_html(
    body: bytes, charset: str | None, now: datetime, agents: Sequence[str] = ()
) -> Reading:
    """Return what a page states.

    Args:
        body: The page; `MAX_HTML` bytes are read.
        charset: The charset in its Content-Type.
        now: The current time, with a time zone.
        agents: Crawlers whose tags are read, besides known ones.

    The URLs of licenses may be relative to that of the page.
    """
    text = _decoded(body[:MAX_HTML], charset)
    page = _Page(text, agents)
    found = page.reading(now)
    if len(body) > MAX_HTML:
        # What is stated is in the head.
        place = found.notes if page.has_body else found.unread
        place.insert(0, f"page: only its first {MAX_HTML >> 10} KiB are read")
    if "\0" in text:
        found.unread.append(_HAS_NUL)
    return found


def read_html_without_notes(
    body: bytes, charset: str | None, now: datetime, agents: Sequence[str] = ()
) -> Reading:
    """Return the same but for notes. Only the beginning of the page with what counts is parsed."""
    if len(body) > MAX_HTML:
        found = read_html(body, charset, now, agents)
        found.notes.clear()
        return found
    text = _decoded(body, charset)
    part = text[: _end_of_statements(text, agents)]
    found = _Page(part, agents).reading(now) if part else Reading()
    found.notes.clear()
    lower = text.lower()
    may_hide = "<svg" in lower or "<math" in lower
    if may_hide and _HIDDEN not in found.unread and hides_tags(text):
        found.unread.append(_HIDDEN)
    if "\0" in text:
        found.unread.append(_HAS_NUL)
    return found


#: Tags up to their end as the tokenizer of HTML finds it: those that may state something, and all
#: that may name a license.
_REST = (
    "(?=[\t\n\f\r />])"
    "(?:[\t\n\f\r /]++|(?:=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++)(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    "(?:\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+)*+>?"
)
_TAG = re.compile(f"<((?i:meta|link|base|script)){_REST}")
_LICENSE_TAG = re.compile(f"<((?i:meta|link|base|script|a|area)){_REST}")
_WORD = re.compile(r"[\w.-]+")


def _end_of_statements(text: str, agents: Sequence[str]) -> int:
    """Return where the last tag ends that may state something; 0 if none does.

    A tree of HTML grows from its beginning: what follows does not change the tags before.
    """
    names = _first_words(tuple(agents))
    may_name = "license" in text.lower() or "&#" in text
    end = base = 0
    for tag in (_LICENSE_TAG if may_name else _TAG).finditer(text):
        # Many attributes are cut, so that there may be other tags within.
        content = unescape(tag[0]).lower()
        if "<base" in content:
            # It is the base of all URLs, also of those before it.
            base = tag.end()
        if "<script" in content and "rsl" in content:
            # It ends somewhere behind.
            return len(text)
        if (
            "license" in content
            or ("<meta" in content and not names.isdisjoint(_WORD.findall(content)))
            # Fewer characters are no more attributes than are read.
            or (len(content) > 100 and MANY_ATTRIBUTES.match(text, tag.end(1)))
        ):
            end = tag.end()
    return max(end, base) if end else 0


@lru_cache(maxsize=16)
def _first_words(agents: tuple[str, ...]) -> frozenset[str]:
    """Return the first word of each name of a tag <meta> that is read."""
    names = ("robots", *_TDM_NAMES, *crawler_names(agents))
    return frozenset(words[0] for words in map(_WORD.findall, names) if words)


def _decoded(body: bytes, charset: str | None) -> str:
    """Return the text of a page: by its byte order mark, its Content-Type, or what it says."""
    if found := bom_charset(body):
        return body.decode(found, "replace").removeprefix("\ufeff")
    if body.startswith(codecs.BOM_UTF8):
        return body.decode("utf-8-sig", "replace")
    stated = _META_CHARSET.search(body[:1024])
    for name in (charset, stated[1].decode() if stated else None):
        if name:
            # HTML in UTF-16 has NUL bytes, and cannot say so in ASCII.
            is_utf16 = name.lower().startswith("utf-16") and name == charset and b"\0" in body
            try:
                # No charset of browsers but UTF-16 has other bytes for ASCII.
                is_usable = is_utf16 or "<meta".encode(name) == b"<meta"
                decode_text(b"", name)
            except (LookupError, ValueError):
                continue
            if is_usable:
                return body.decode(name, "replace")
    return body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Meta:
    """A tag <meta>: its place, its name in lower case, and its content."""

    where: str
    name: str
    content: str


class _Page:
    """The tags of a page that state something."""

    def __init__(self, text: str, agents: Sequence[str]) -> None:
        self._flat = FlatPage(text)
        self._tree = LexborHTMLParser(self._flat.html)
        self._crawlers = {**crawler_names(agents), "robots": ""}
        for name in _OTHER_TAGS:
            self._crawlers.pop(name, None)
        self._notes: list[str] = []
        self._unread: list[str] = []

    @property
    def has_body(self) -> bool:
        """Whether the head ends within what is read."""
        body = self._tree.body
        return body is not None and body.child is not None

    def reading(self, now: datetime) -> Reading:
        metas = self._metas()
        found = read_rules(self._rules(metas), META_ROBOTS, now)
        found += read_tdm(*(
            [(each.where, each.content) for each in metas if each.name == name]
            for name in _TDM_NAMES
        ))  # fmt: skip
        found += self._licenses()
        found.embedded = self._documents()
        found.notes += [*self._notes, *self._nosnippet()]
        found.unread += self._unread
        found.unread += first_of(self._cut_tags(), "cut tag")
        if self._flat.hides_tags:
            found.unread.append(_HIDDEN)
        return found

    def _metas(self) -> list[_Meta]:
        """Return the tags with names that say something."""
        found, elsewhere, unknown = [], [], []
        head = self._tree.head
        in_head = {each.mem_id for each in head.css("meta[name]")} if head else set()
        for node in self._tree.css("meta[name]"):
            attributes = node.attributes
            name = (attributes["name"] or "").strip().lower()
            content = self._flat.restored(attributes.get("content") or "")
            meta = _Meta(self._place(f'meta name="{shortened(name)}"', attributes), name, content)
            if name in self._crawlers or name in _TDM_NAMES:
                found.append(self._shortened(meta))
                if node.mem_id not in in_head:
                    elsewhere.append(f"{meta.where} is in the body, where few look but Google")
            elif not _RESTRICTIVE.isdisjoint(
                content[:_MAX_VALUE].lower().replace(",", " ").split()
            ):
                unknown.append(f"{meta.where} is ignored: no crawler with this name is known")
        self._notes += [*first_of(elsewhere), *first_of(unknown)]
        return self._limited(found, "rules")

    def _shortened(self, meta: _Meta) -> _Meta:
        """Return a tag with as much of its content as is read."""
        if len(meta.content) <= _MAX_VALUE:
            return meta
        self._unread.append(f"{meta.where}: only the beginning of its content is read")
        return replace(meta, content=meta.content[:_MAX_VALUE])

    def _limited(self, found: list[_T], what: str, limit: int = _MAX_TAGS) -> list[_T]:
        if len(found) > limit:
            self._unread.append(f"page: only its first {limit:,} tags with {what} are read")
        return found[:limit]

    def _place(self, tag: str, attributes: Mapping[str, str | None]) -> str:
        line = attributes.get(self._flat.mark)
        return f"tag <{tag}>, line {line}" if line else f"tag <{tag}>"

    def _rules(self, metas: Iterable[_Meta]) -> Iterator[Rule]:
        for each in metas:
            crawler = self._crawlers.get(each.name)
            if crawler is not None:
                yield from rules_in(each.where, each.content, crawler)

    def _cut_tags(self) -> Iterator[str]:
        """Yield which tags may state something in attributes that are not read."""
        for node in self._tree.css(f"[{self._flat.cut}]"):
            attributes, tag = node.attributes, str(node.tag)
            key = _KEYS.get(tag)
            # Most say what they are about, which is nothing that is looked for.
            if key is not None and self._is_looked_for(key, attributes.get(key)):
                yield f"{self._place(tag, attributes)}: only its first attributes are read"

    def _is_looked_for(self, key: str, value: str | None) -> bool:
        if value is None:
            return True
        text = value.strip().lower()
        if key == "name":
            return text in self._crawlers or text in _TDM_NAMES
        return "license" in text.split() if key == "rel" else media_type_of(text) == RSL_TYPE

    def _licenses(self) -> Reading:
        base = self._tree.css_first("base[href]")
        base_url = usable_url(base.attributes["href"] or "") if base else ""
        found = Reading()
        notes = []
        for node in self._tree.css("[rel]"):
            attributes = node.attributes
            name = "link" if node.tag == "link" else self._name(node).lower()
            is_license = "license" in (attributes["rel"] or "").lower().split()
            if not is_license or name not in _LICENSE_TAGS:
                continue
            where = self._place(f'{name} rel="license"', attributes)
            href = self._flat.restored(attributes.get("href") or "")
            if url := joined_url(base_url, href):
                is_rsl = media_type_of(attributes.get("type") or "") == RSL_TYPE
                found.licenses.append(License(url, where, is_rsl))
            else:
                notes.append(f"{where}: the license is no URL: {quoted(href)}")
        found.licenses = self._limited(list(dict.fromkeys(found.licenses)), 'rel="license"')
        found.notes = first_of(notes)
        return found

    def _documents(self) -> list[tuple[str, bytes]]:
        """Return the license documents within scripts, each with its place."""
        found = []
        for node in self._tree.css("script[type]"):
            attributes = node.attributes
            if media_type_of(attributes["type"] or "") == RSL_TYPE:
                text = _XML_DECLARATION.sub("", self._flat.restored(node.text()), count=1)
                where = self._place(f'script type="{RSL_TYPE}"', attributes)
                found.append((where, text.encode("utf-8", "replace")))
        return self._limited(found, "licenses", _MAX_DOCUMENTS)

    def _nosnippet(self) -> Iterator[str]:
        """Yield how many parts are not for snippets: that states nothing about the whole page."""
        names = [self._name(each) for each in self._tree.css("[data-nosnippet]")]
        if names:
            has = "has" if len(names) == 1 else "have"
            ignored = sum(name not in _NOSNIPPET_FOR_GOOGLE for name in names)
            but = f", {ignored:,} of them on elements where Google ignores it" if ignored else ""
            yield f"page: {count_noun(len(names), 'part')} of it {has} data-nosnippet{but}"

    def _name(self, node: LexborNode) -> str:
        """Return the name of an element in the page."""
        prefix = f"{self._flat.mark}-"
        names = (each for each in node.attributes if each.startswith(prefix))
        return next(names, "").removeprefix(prefix)
