"""Checks of sitemaps, values of extensions, and limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .. import _charsets
from ..dialects import BUFFER_BYTES
from ..directives import (
    clean_param,
    content_signal,
    content_usage,
    delay,
    request_rate,
    usage_path,
    visit_time,
)
from ..engine import document as _document
from ..model import Directive, LineKind
from ._model import truncate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..model import Line
    from ._model import Remark, Subject

#: Longer delays in seconds allow fewer than 1,440 pages a day.
_LONG_DELAY = 60

_SIGNALS = {
    "search": ("yes", "no"),
    "ai-input": ("yes", "no"),
    "ai-train": ("yes", "no"),
    "use": ("immediate", "reference", "full"),
}
_USAGES = {"train-ai": ("y", "n"), "search": ("y", "n")}


_URL = re.compile(r"https?://[^/\s]", re.IGNORECASE)


def _bytes(line: Line) -> bytes:
    return line.value.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class ValueCheck:
    """A check of the values of a directive; calling it yields a remark for each invalid line.

    Attributes:
        directive: The directive.
        is_valid: Returns whether a line's value is valid.
        message: What is wrong; ``{value}`` is the value, or "nothing", ``{quoted}`` the value in
            quotes.
        suggestion: What to write instead.
    """

    directive: Directive
    is_valid: Callable[[Line], bool]
    message: str
    suggestion: str

    def __call__(self, subject: Subject) -> Iterator[Remark]:
        """Find the lines with an invalid value."""
        for line in subject.lines_of(self.directive):
            if not self.is_valid(line):
                shown = truncate(line.value) or "nothing"
                yield subject.remark_on_value(
                    line,
                    self.message.format(value=shown, quoted=f'"{truncate(line.value)}"'),
                    self.suggestion,
                )


relative_sitemap = ValueCheck(
    Directive.SITEMAP,
    lambda line: not line.value or _URL.match(line.value) is not None,
    "{value} is no whole URL; robots want scheme and host",
    "write https://, the host and the path",
)
bad_delay = ValueCheck(
    Directive.CRAWL_DELAY,
    lambda line: delay(_bytes(line)) is not None,
    "{value} is no number of seconds; robots ignore it",
    "write a number such as 5",
)
bad_time = ValueCheck(
    Directive.VISIT_TIME,
    lambda line: visit_time(_bytes(line), line.number, False) is not None,
    "Invalid Visit-time {quoted}: it is ignored",
    "Write from and to in UTC, such as 0600-0845",
)
bad_license = ValueCheck(
    Directive.LICENSE,
    lambda line: _URL.match(line.value) is not None and _is_url(line.value),
    "{value} is no whole URL; RSL wants the address of the licence",
    "write https://, the host and the path",
)
bad_clean_param = ValueCheck(
    Directive.CLEAN_PARAM,
    lambda line: clean_param(_bytes(line), line.number) is not None,
    "{value} is not what Clean-param takes: parameters, perhaps a path, 500 characters at most",
    "write ref&sort /path",
)


def bad_sitemap(subject: Subject) -> Iterator[Remark]:
    """Find Sitemap lines without a URL, with an invalid one, or with several."""
    for line in subject.lines_of(Directive.SITEMAP):
        if not line.value:
            following = subject.lines[line.number : line.number + 1]
            is_there = any(each.text.strip().lower().startswith("http") for each in following)
            yield subject.remark_on_line(
                line,
                "a Sitemap line without a URL says nothing",
                "write the URL of the next line behind it" if is_there else "remove it",
                () if is_there else (subject.removal(line),),
            )
        elif _URL.match(line.value):
            words = line.value.split()
            if len(words) > 1:
                yield subject.remark_on_value(
                    line,
                    "a Sitemap line has one URL; this has spaces",
                    "write a line for each",
                    (subject.edit_value(line, "\nSitemap: ".join(words)),)
                    if all("://" in word for word in words)
                    else (),
                )
            elif not _is_url(line.value):
                yield subject.remark_on_value(
                    line, f"{truncate(line.value)} is no URL", "write the address of the sitemap"
                )


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def sitemap_twice(subject: Subject) -> Iterator[Remark]:
    """Find duplicate Sitemap lines."""
    seen: dict[str, int] = {}
    for line in subject.lines_of(Directive.SITEMAP):
        if line.value and seen.setdefault(line.value, line.number) != line.number:
            yield subject.remark_on_value(
                line,
                f"line {seen[line.value]} names this sitemap already",
                "remove the line",
                (subject.removal(line),),
            )


def long_delay(subject: Subject) -> Iterator[Remark]:
    """Find delays that are too long for crawling a site."""
    for line in subject.lines_of(Directive.CRAWL_DELAY):
        seconds = delay(_bytes(line))
        if seconds is not None and seconds > _LONG_DELAY:
            pages = int(86400 / seconds)
            yield subject.remark_on_value(
                line,
                f"a delay of {seconds:g} s is {pages:,} page{'s' * (pages != 1)} a day; many robots take no more than 10 to 60 s",
                "write a smaller one",
            )


def several_delays(subject: Subject) -> Iterator[Remark]:
    """Find groups with several delays."""
    for group in subject.groups:
        lines = [line for line in group.others if line.directive is Directive.CRAWL_DELAY]
        values = {delay(_bytes(line)) for line in lines} - {None}
        if len(values) > 1:
            yield subject.remark_on_value(
                lines[-1],
                "the group has several delays; robots differ on which counts, koster takes the largest",
                "leave one",
            )


def bad_rate(subject: Subject) -> Iterator[Remark]:
    """Find invalid rates, and rates with an invalid window."""
    for line in subject.lines_of(Directive.REQUEST_RATE):
        raw = _bytes(line)
        if request_rate(raw, line.number, False) is None:
            rate, _, window = " ".join(line.value.split()).partition(" ")
            is_window = request_rate(rate.encode("utf-8", "replace"), line.number, False)
            yield subject.remark_on_value(
                line,
                f'Invalid window "{truncate(window)}": the line is ignored'
                if is_window and window
                else f'Invalid Request-rate "{truncate(line.value)}": it is ignored',
                "Write documents/seconds, optionally with a window in UTC, such as 1/10s 0600-0845",
            )


def bad_signal(subject: Subject) -> Iterator[Remark]:
    """Find Content-Signal lines with unknown keys or values."""
    for line in subject.lines_of(Directive.CONTENT_SIGNAL):
        for part in line.value.split(",") if line.value else [""]:
            key, equals, value = (each.strip().lower() for each in part.partition("="))
            allowed = _SIGNALS.get(key)
            if not equals or not value:
                yield subject.remark_on_value(
                    line,
                    f"{truncate(part.strip()) or 'nothing'} is no signal such as ai-train=no; it says nothing",
                    "write search, ai-input or ai-train with =yes or =no",
                )
            elif allowed is None:
                yield subject.remark_on_value(
                    line,
                    f"{truncate(key)} is no signal that Content-Signal knows",
                    f"write one of {', '.join(_SIGNALS)}",
                )
            elif value not in allowed:
                yield subject.remark_on_value(
                    line,
                    f"{truncate(value)} is no value of {key}; it says nothing",
                    f"write {' or '.join(allowed)}",
                )


def bad_usage(subject: Subject) -> Iterator[Remark]:
    """Find Content-Usage lines that are invalid, or have unknown keys or values."""
    for line in subject.lines_of(Directive.CONTENT_USAGE):
        raw = _bytes(line)
        usages = content_usage(raw, line.number)
        if not usages:
            rest = raw[usage_path(raw) :].strip()
            yield subject.remark_on_value(
                line,
                f"{truncate(line.value) or 'nothing'} is no preference; "
                + ("a path alone says nothing" if not rest else "the line says nothing"),
                "write train-ai=n or search=y, perhaps behind a path",
            )
        for each in usages:
            known = _USAGES.get(each.key)
            if known is None:
                yield subject.remark_on_value(
                    line,
                    f"{truncate(each.key)} is no usage that the vocabulary knows; keys compare with case",
                    f"write {' or '.join(_USAGES)}",
                )
            elif each.value not in known:
                yield subject.remark_on_value(
                    line,
                    f"{truncate(each.value)} is no value of {each.key}; it says nothing",
                    "write y or n",
                )


def contradicting(subject: Subject) -> Iterator[Remark]:
    """Find contradicting preferences in a group."""
    before, groups = subject.lines_by_group
    for lines in (before, *(group.others for group in groups)):
        seen: dict[str, tuple[str, int]] = {}
        for line in lines:
            if line.directive is not Directive.CONTENT_SIGNAL:
                continue
            for each in content_signal(_bytes(line), line.number):
                value, number = seen.setdefault(each.key, (each.value, line.number))
                if value != each.value:
                    yield subject.remark_on_value(
                        line,
                        f"line {number} says {each.key}={value}, this says {each.value}; the stricter one counts",
                        "leave one",
                    )


def too_long(subject: Subject) -> Iterator[Remark]:
    """Find files beyond the size that crawlers must read."""
    size = len(subject.body)
    if subject.is_cut or size > _charsets.MAX_BYTES:
        lost = [
            line
            for line in subject.directive_lines
            if subject.line_starts[line.number - 1] >= _charsets.MAX_BYTES
        ]
        where = f"; {len(lost):,} lines from line {lost[0].number} on are not read" if lost else ""
        yield subject.remark_on_file(
            f"the file has more than 500 KiB, which is what robots must read{where}",
            "shorten it: patterns with * stand for many lines",
        )


def beyond_koster(subject: Subject) -> Iterator[Remark]:
    """Find files beyond the size that koster parses."""
    if len(subject.body) > _document.MAX_PARSED_BYTES:
        yield subject.remark_on_file(
            f"the file has more than {(_document.MAX_PARSED_BYTES + 1) >> 20} MiB; what follows was not looked at",
            "shorten it",
        )


def long_line(subject: Subject) -> Iterator[Remark]:
    """Find lines beyond the length that Google reads."""
    for line in subject.lines:
        if len(line.text) > BUFFER_BYTES and line.kind is not LineKind.COMMENT:
            yield subject.remark_on_part(
                line,
                BUFFER_BYTES,
                len(line.text) - BUFFER_BYTES,
                f"the line has {len(line.text):,} characters; Google's parser reads {BUFFER_BYTES:,} bytes of one",
                "shorten it",
            )
