"""What a page states: any headers, HTML, JSON and XML are read, and no source takes back a "no"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from koster.signals import GRAMMARS, Signals, Stated, Use, signals

from ._damage import damaged
from ._tables import spread

_NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
_URL = "https://shop.example/press/tea.html?x=1"

_ROBOTS = spread(
    (160, ["User-agent: *\n", "User-agent: GPTBot\n", "Disallow: /press\n", "Allow: /\n", "Disallow: /\n",
           "Content-Signal: ai-train=no, search=yes\n", "Content-Usage: train-ai=y\n", "\n",
           "User-agent: __usage_ai-training\n", "User-agent: Google-Extended\n"]),
    (96, ["Content-Usage: /press/ train-ai=n\n", "Content-Signal: ai-train=\n", "License: /l.xml\n",
          "License: https://shop.example/l.xml\n", "Content-Usage: a;b=\"c\", train-ai=?1\n",
          "User-agent: __USAGE_x\n", "User-agent: FooBot\n", "Content-Signal: use=full, ai-input=yes\n", "\0\n"]),
)  # fmt: skip
_HEADERS = spread(
    (150, [("X-Robots-Tag", "noai"), ("X-Robots-Tag", "googlebot: noindex, nosnippet"),
           ("X-Robots-Tag", "unavailable_after: 25 Jun 2010 15:00:00 PST"), ("Content-Usage", "train-ai=n"),
           ("Robots-Tag", "*;noindex, FooBot;noai=?1"), ("tdm-reservation", "1"),
           ("Link", '</l.xml>; rel="license"; type="application/rsl+xml"')]),
    (106, [("X-Robots-Tag", "a: b: c, noindex:x, max-snippet:-0,, index"), ("Content-Usage", "train-ai=?0, a=(b c);d"),
           ("Content-Usage", "=,"), ("Robots-Tag", '"x;noindex'), ("tdm-policy", "http://[/"), ("Link", '<a"; rel=license'),
           ("tdm-reservation", "01"), ("Content-Signal", "ai-train=no"), ("X-Robots-Tag", "unavailable_after: \ud800,noai"),
           ("\u0130", "x"), ("X-Robots-Tag", "foobot : none")]),
)  # fmt: skip
_HTML = spread(
    (130, ['<meta name="robots" content="noai">', "<meta name=googlebot content='noindex, nosnippet'>", "<p data-nosnippet>",
           '<link rel="license" href="/l.xml" type="application/rsl+xml">', "<meta name=tdm-reservation content=1>",
           "<head>", "</head>", "<body>", "\n", "<script type='application/rsl+xml'>"]),
    (126, ["<!--", "-->", "</script>", "<style>", "</style>", "<title>", "<base href='//[/'>", "<meta name=robots ", "content=",
           "'", '"', ">", "<template>", "<plaintext>", "<svg>", "<![CDATA[", "</html>", "<html a=b>", "&#x6e;oai", "\0",
           "<meta charset=utf-16>", "<noscript>", "<iframe>", "<textarea>", "</p/ a=1", "<br x-y>", "é"]),
)  # fmt: skip
_TDMREP = spread(
    (200, ['[{"location": "/press", "tdm-reservation": 1}', ',{"location": "/*", "tdm-reservation": 0}', "]",
           ',{"location": "/press/$", "tdm-reservation": 1, "tdm-policy": "/p.json"}', '{"location": 1}']),
    (56, ["[", "{", '"', "\\ud800", "1e999", "null", '{"location": "http://a/", "tdm-reservation": "1"}', "\xff"]),
)  # fmt: skip
_RSL = spread(
    (200, ['<rsl xmlns="https://rslstandard.org/rsl">', '<content url="/press">', "<license>", "</license>", "</content>",
           '<prohibits type="usage">ai-train</prohibits>', '<permits type="usage">search all</permits>', "</rsl>"]),
    (56, ["<!DOCTYPE a [<!ENTITY b 'c'>]>", "&b;", "<?xml version='1.0' encoding='utf-16'?>", "<content url='*$'>",
          '<permits type="geo">DE</permits>', "<prohibits>", "<![CDATA[", "\0", "<x:rsl>"]),
)  # fmt: skip


def check(data: bytes) -> None:
    """Check one input."""
    source = iter(data)
    kind = next(source, 0)
    given: dict[str, Any] = {
        "robots": _text(_ROBOTS, source),
        "headers": [_HEADERS[byte] for byte in _some(source)],
        "html": _text(_HTML, source),
        "tdmrep": _text(_TDMREP, source),
        "licenses": {"https://shop.example/l.xml": _text(_RSL, source)},
        "charset": ("utf-8", "utf-16", "shift_jis", "x", None)[kind % 5],
    }
    for name in ("html", "tdmrep"):
        if not given[name]:
            given[name] = None
        elif kind & 8:
            given[name] = damaged(given[name], source)
    found = _read(given)
    _check_answers(found)
    assert _read(given) == found
    _check_parts(given, found)


def _some(source: Iterator[int]) -> list[int]:
    """Return some bytes: the first of them is their number."""
    return [each for _, each in zip(range(next(source, 0) % 16), source, strict=False)]


def _text(words: Any, source: Iterator[int]) -> bytes:
    text = "".join(words[byte] for byte in _some(source))
    return text.encode("utf-8", "surrogatepass")


def _read(given: dict[str, Any], **others: Any) -> Signals:
    return signals(_URL, crawlers=("GPTBot", "FooBot"), now=_NOW, **{**given, **others})


def _check_answers(found: Signals) -> None:
    """Check that answers are what the statements amount to."""
    assert len(found.answers) == 3 * len(Use)
    for answer in found.answers:
        stated = {each.stated for each in answer.statements}
        for each in answer.statements:
            assert each.grammar in GRAMMARS
            assert each.where
            assert each.use is answer.use
            assert each.text.isprintable(), each
        if Stated.NO in stated:
            expected = Stated.CONFLICT if Stated.YES in stated else Stated.NO
            assert answer.stated is expected, answer
        elif Stated.UNDECIDED in stated or found.unread:
            assert answer.stated is Stated.UNDECIDED, answer
        else:
            assert answer.stated is (Stated.YES if stated else Stated.UNSTATED), answer
    for note in (*found.notes, *found.unread):
        assert note
        assert len(note) < 1_000


def _check_parts(given: dict[str, Any], whole: Signals) -> None:
    """Check that a further source takes back no "no", and that a lost one makes all uncertain."""
    lost = _read(given, unread=("page: lost",))
    for answer in lost.answers:
        assert answer.stated in (Stated.NO, Stated.CONFLICT, Stated.UNDECIDED)
    for name in ("headers", "html", "licenses"):
        part = _read(given, **{name: {"headers": [], "html": None, "licenses": {}}[name]})
        for answer in part.answers:
            # In TDMRep, the page counts for more than its header, and that more than the file.
            if answer.use is not Use.TDM and answer.effective is Stated.NO:
                after = whole.of(answer.use, answer.crawler)
                assert after.effective is Stated.NO, (name, replace(answer, statements=()), after)
