"""Templates: a robots.txt with tags of Jinja, Twig, Liquid, Go, Hugo, ERB, PHP or others.

A template is checked around its tags: they are masked, so that lines and columns stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .model import text_of

_PHP, _ERB, _JINJA, _GO = "PHP", "ERB", "Jinja, Twig or Liquid", "Go or Hugo"
_ANY = "Jinja, Twig, Liquid, Go or Hugo"
_BLADE, _FREEMARKER = "Blade", "FreeMarker"
_STATIC = "front matter of Jekyll, Hugo or Eleventy"
#: How tags open and close.
_TAGS = {
    b"<?": b"?>", b"<%": b"%>", b"{%": b"%}", b"{#": b"#}", b"{{": b"}}", b"<#": b">", b"</#": b">",
}  # fmt: skip
#: What generators of static sites read first, and do not write.
_FRONT_MATTER = re.compile(
    rb"(?:\xef\xbb\xbf)?(---|\+\+\+)[ \t]*\r?\n(?:[^\r\n]*\r?\n){0,50}?\1[ \t]*(?=[\r\n]|\Z)"
)
#: A line of logic in Blade, which has no end of its own.
_BLADE_LINE = re.compile(
    rb"^[ \t]*@(?:(?:end)?(?:if|unless|env|production|foreach)|else|elseif)\b[^\r\n]*",
    re.MULTILINE,
)
_OPENING = re.compile(rb"<\?(?=php|=)|<%|\{%|\{#|\{\{|</?#(?=[a-z])")
_GO_LOGIC = re.compile(
    rb"\{\{-?\s*(?:if|else|end|range|with|block|define|template|partial|return)\b"
)
_GO_VALUE = re.compile(rb"\{\{-?\s*(?:\.|\$|/\*)")
_COMMENT = re.compile(rb"\{#|<%#|\{\{-?\s*/\*")
_VALUE = re.compile(rb"<\?=|<%=|\{\{")
#: Paths with unrendered tags, such as ``Disallow: /*{{url}}``, are no template.
_RULE = re.compile(rb"\s*(?:dis)?allow\s*:", re.IGNORECASE)
_NOT_LINE_END = re.compile(rb"[^\r\n]")
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Template:
    """A template: its language, the file with masked tags, and the numbers of the lines with tags.

    ``first`` is the place of the first tag: its line from 1, its column from 0, and its characters.
    ``has_logic``: it has conditions, loops or includes, so that the rules depend on its input.
    """

    language: str
    body: bytes
    lines: frozenset[int]
    first: tuple[int, int, int]
    has_logic: bool


def template_of(body: bytes) -> Template | None:
    """Return the template that a file is, or None if it has no tags."""
    tags = list(_tags(body))
    if b"@" in body and not tags:
        tags = [match.span() for match in _BLADE_LINE.finditer(body)]
    if not _is_surely_template(body, tags):
        return None
    texts = [body[start:end] for start, end in tags]
    masked = bytearray(body)
    for start, end in tags:
        filler = b"x" if _VALUE.match(body, start) and not _is_logic(body[start:end]) else b" "
        masked[start:end] = _NOT_LINE_END.sub(filler, body[start:end])
    lines: set[int] = set()
    starts = [0, *(match.end() for match in _LINE_END.finditer(body))]
    at = 0
    for start, end in tags:
        while at + 1 < len(starts) and starts[at + 1] <= start:
            at += 1
        last = at
        while last + 1 < len(starts) and starts[last + 1] < end:
            last += 1
        lines.update(range(at + 1, last + 2))
    for number in lines:
        _comment_out_blank(masked, starts, number)
    number = min(lines)
    before = text_of(body[starts[number - 1] : tags[0][0]])
    tag = text_of(_LINE_END.split(texts[0])[0])
    return Template(
        language=_language(texts),
        body=bytes(masked),
        lines=frozenset(lines),
        first=(number, len(before), len(tag)),
        has_logic=any(map(_is_logic, texts)),
    )


def _tags(body: bytes) -> Iterator[tuple[int, int]]:
    """Yield where tags start and end. A tag needs an end, except in PHP."""
    at = 0
    unclosed: set[bytes] = set()
    front = _FRONT_MATTER.match(body)
    if front:
        at = front.end()
        yield 0, at
    while found := _OPENING.search(body, at):
        opening = found[0]
        end = -1 if opening in unclosed else body.find(_TAGS[opening], found.end())
        if end < 0 and opening != b"<?":
            # Do not search the rest of the file again.
            unclosed.add(opening)
            at = found.end()
            continue
        at = len(body) if end < 0 else end + 2
        yield found.start(), at


def _is_surely_template(body: bytes, tags: list[tuple[int, int]]) -> bool:
    # A line may be as long as the file, and have many tags: each part of it is read once.
    at = line_start = 0
    is_rule = is_wild = False
    for start, end in tags:
        text = body[start:end]
        if not start and _FRONT_MATTER.match(text):
            return True
        if not text.startswith(b"{{") or _is_logic(text) or _COMMENT.match(text):
            return True
        last_end = max(body.rfind(b"\n", at, start), body.rfind(b"\r", at, start))
        if last_end >= 0 or not at:
            line_start = last_end + 1
            is_rule = _RULE.match(body, line_start, start) is not None
            is_wild = False
        is_wild = is_wild or body.find(b"*", max(at, line_start), start) >= 0
        before_star = body[end : end + 1] == b"*"
        if not is_rule or (text[2:3] in b" -" and not (is_wild or before_star)):
            return True
        at = start
    return False


def _is_logic(text: bytes) -> bool:
    if _COMMENT.match(text) or text.startswith((b"---", b"+++")):
        return False
    return _GO_LOGIC.match(text) is not None if text.startswith(b"{{") else not _VALUE.match(text)


#: Languages by how their tags begin.
_BY_BEGIN = (
    ((b"<?",), _PHP), ((b"<%",), _ERB), ((b"@",), _BLADE), ((b"<#", b"</#"), _FREEMARKER),
    ((b"{%", b"{#"), _JINJA),
)  # fmt: skip


def _language(texts: list[bytes]) -> str:
    if len(texts) == 1 and _FRONT_MATTER.match(texts[0]):
        return _STATIC
    for begins, language in _BY_BEGIN:
        if any(text.lstrip().startswith(begins) for text in texts):
            return language
    is_go = any(_GO_LOGIC.match(text) or _GO_VALUE.match(text) for text in texts)
    return _GO if is_go else _ANY


def _comment_out_blank(masked: bytearray, starts: list[int], number: int) -> None:
    """Turn a line that has only tags into a comment, as blank lines matter to some dialects."""
    start = starts[number - 1]
    end = starts[number] if number < len(starts) else len(masked)
    text = bytes(masked[start:end])
    if not text.strip(b" \tx\r\n") and text.strip(b"\r\n"):
        masked[start] = ord("#")
