"""Checks of sitemaps, values of extensions, and limits."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .. import _charsets
from .._engine import document as _document
from .._wording import count_noun
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
from ..model import Directive, LineKind
from ._model import WHOLE_FILE, Place, Remark, truncate, truncate_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..model import Line
    from ._model import CheckedFile, Edit

#: The maximum number of parts of a value that are reported.
_MAX_PARTS = 20
#: Longer ones are no hosts: a name has at most 253 characters. Some take long to check.
_MAX_HOST = 1_000
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
        message: What is wrong; ``{value}`` is the value.
        suggestion: What to write instead.
    """

    directive: Directive
    is_valid: Callable[[Line], bool]
    message: str
    suggestion: str

    def __call__(self, subject: CheckedFile) -> Iterator[Remark]:
        """Find the lines with an invalid value."""
        for line in subject.lines_of(self.directive):
            if not self.is_valid(line):
                shown = truncate(line.value)
                yield Remark(subject.value(line), self.message.format(value=shown), self.suggestion)


relative_sitemap = ValueCheck(
    Directive.SITEMAP,
    lambda line: not line.value or _URL.match(line.value) is not None,
    "Sitemap must be an absolute URL: crawlers ignore this line",
    "Write https://, the host and the path",
)
bad_delay = ValueCheck(
    Directive.CRAWL_DELAY,
    lambda line: delay(_bytes(line)) is not None,
    'Invalid Crawl-delay "{value}": crawlers ignore it',
    "Write a number of seconds, such as 5",
)
bad_time = ValueCheck(
    Directive.VISIT_TIME,
    lambda line: visit_time(_bytes(line), line.number, False) is not None,
    'Invalid Visit-time "{value}": crawlers ignore it',
    "Write from and to in UTC, such as 0600-0845",
)
bad_license = ValueCheck(
    Directive.LICENSE,
    lambda line: _URL.match(line.value) is not None and _is_url(line.value),
    "License must be an absolute URL",
    "Write https://, the host and the path",
)
bad_clean_param = ValueCheck(
    Directive.CLEAN_PARAM,
    lambda line: clean_param(_bytes(line), line.number) is not None,
    'Invalid Clean-param "{value}": Yandex ignores it',
    "Write parameters and an optional path, such as ref&sort /path; at most 500 characters",
)


def bad_sitemap(subject: CheckedFile) -> Iterator[Remark]:
    """Find Sitemap lines without a URL, with an invalid one, or with several."""
    for line in subject.lines_of(Directive.SITEMAP):
        if not line.value:
            following = subject.lines[line.number : line.number + 1]
            is_there = any(each.text.strip().lower().startswith("http") for each in following)
            yield Remark(
                subject.text(line),
                "Sitemap without a URL",
                "Move the URL onto the Sitemap line" if is_there else "Remove it",
                edits=() if is_there else (subject.removal(line),),
                proposal=_joined(subject, line) if is_there else (),
            )
        elif _URL.match(line.value):
            words = line.value.split()
            if len(words) > 1:
                are_urls = all("://" in word for word in words)
                separator = "\nSitemap: " if are_urls else "%20"
                yield Remark(
                    subject.value(line),
                    "Several URLs on one Sitemap line" if are_urls else "Space in a sitemap's URL",
                    "Write one Sitemap line per URL" if are_urls else "Write %20",
                    edits=(subject.edit_value(line, separator.join(words)),),
                )
            elif not _is_url(line.value):
                yield Remark(
                    subject.value(line),
                    f"Invalid sitemap URL: {truncate(line.value)}",
                    "Write https://, the host and the path",
                )


def _joined(subject: CheckedFile, line: Line) -> tuple[Edit, ...]:
    """Return the edits that move the text of the next line to the end of a line."""
    following = subject.lines[line.number]
    end = len(line.text.rstrip())
    return (
        subject.edit(line, end, len(line.text) - end, f" {following.text.strip()}"),
        subject.removal(following),
    )


def _is_url(text: str) -> bool:
    if len(text.partition("//")[2].partition("/")[0]) > _MAX_HOST:
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def sitemap_twice(subject: CheckedFile) -> Iterator[Remark]:
    """Find duplicate Sitemap lines."""
    seen: dict[str, int] = {}
    for line in subject.lines_of(Directive.SITEMAP):
        if line.value and seen.setdefault(line.value, line.number) != line.number:
            yield Remark(
                subject.value(line),
                f"Duplicate of line {seen[line.value]}",
                "Remove it",
                edits=(subject.removal(line),),
            )


def sitemap_blocked(subject: CheckedFile) -> Iterator[Remark]:
    """Find sitemaps that are blocked."""
    rules, google = (subject.robots.rules_for(name) for name in ("*", "Googlebot"))
    may_decide = subject.analysis.may_decide
    for line in subject.lines_of(Directive.SITEMAP):
        if line.value.lower().startswith(("http://", "https://")) and _is_url(line.value):
            if not (may_decide(rules, line.value) and may_decide(google, line.value)):
                break
            if rules.allowed(line.value) or google.allowed(line.value):
                continue
            rule = rules.decide(line.value).rule
            if rule is not None and rule.pattern.strip("/*$"):
                path = urlsplit(line.value).path
                yield Remark(
                    subject.value(line),
                    f"Line {rule.line} ({truncate_rule(rule)}) blocks this sitemap, if it is on this site",
                    f"Add Allow: {path}",
                    proposal=(subject.insertion(subject.lines[rule.line - 1], f"Allow: {path}"),),
                    url=line.value,
                )


def long_delay(subject: CheckedFile) -> Iterator[Remark]:
    """Find delays that are too long for crawling a site."""
    for line in subject.lines_of(Directive.CRAWL_DELAY):
        seconds = delay(_bytes(line))
        if seconds is not None and seconds > _LONG_DELAY:
            yield Remark(
                subject.value(line),
                f"A delay of {seconds:,g} s allows {count_noun(int(86400 / seconds), 'page')} a day; many crawlers cap it",
                f"Write at most {_LONG_DELAY}",
            )


def several_delays(subject: CheckedFile) -> Iterator[Remark]:
    """Find groups with several delays."""
    for group in subject.groups:
        lines = [line for line in group.others if line.directive is Directive.CRAWL_DELAY]
        values = {delay(_bytes(line)) for line in lines} - {None}
        if len(values) > 1:
            yield Remark(
                subject.value(lines[-1]),
                "Several Crawl-delays in one group: crawlers disagree on which applies",
                "Keep one of them",
            )


def bad_rate(subject: CheckedFile) -> Iterator[Remark]:
    """Find invalid rates, and rates with an invalid window."""
    for line in subject.lines_of(Directive.REQUEST_RATE):
        raw = _bytes(line)
        if request_rate(raw, line.number, False) is None:
            rate, _, window = " ".join(line.value.split()).partition(" ")
            is_window = request_rate(rate.encode("utf-8", "replace"), line.number, False)
            yield Remark(
                subject.value(line),
                f'Invalid window "{truncate(window)}": crawlers ignore the line'
                if is_window and window
                else f'Invalid Request-rate "{truncate(line.value)}": crawlers ignore it',
                "Write documents/seconds, optionally with a window in UTC, such as 1/10s 0600-0845",
            )


def bad_signal(subject: CheckedFile) -> Iterator[Remark]:
    """Find Content-Signal lines with unknown keys or values."""
    for line in subject.lines_of(Directive.CONTENT_SIGNAL):
        yield from _first_of(subject, line, _wrong_signals(line.value))


def _wrong_signals(signals: str) -> Iterator[tuple[str, str]]:
    """Yield messages and suggestions."""
    for part in dict.fromkeys(signals.split(",")):
        key, equals, value = (each.strip().lower() for each in part.partition("="))
        allowed = _SIGNALS.get(key)
        if not equals or not value:
            yield (
                f'Invalid Content-Signal "{truncate(part.strip())}"',
                "Write search, ai-input or ai-train with =yes or =no",
            )
        elif allowed is None:
            yield (
                f'Unknown Content-Signal "{truncate(key)}"',
                f"Use one of {', '.join(_SIGNALS)}",
            )
        elif value not in allowed:
            yield (
                f'Invalid value "{truncate(value)}" of {key}',
                f"Write {' or '.join(allowed)}",
            )


def _first_of(
    subject: CheckedFile, line: Line, wrong: Iterable[tuple[str, str]]
) -> Iterator[Remark]:
    """Yield remarks about the first parts of a line's value that are wrong."""
    for message, suggestion in itertools.islice(wrong, _MAX_PARTS):
        yield Remark(subject.value(line), message, suggestion)


def bad_usage(subject: CheckedFile) -> Iterator[Remark]:
    """Find Content-Usage lines that are invalid, or have unknown keys or values."""
    for line in subject.lines_of(Directive.CONTENT_USAGE):
        yield from _first_of(subject, line, _wrong_usages(line))


def _wrong_usages(line: Line) -> Iterator[tuple[str, str]]:
    """Yield messages and suggestions."""
    raw = _bytes(line)
    usages = content_usage(raw, line.number)
    if not usages:
        rest = raw[usage_path(raw) :].strip()
        yield (
            f'Invalid Content-Usage "{truncate(line.value)}"'
            if rest
            else "Content-Usage without a preference",
            "Write train-ai=n or search=y, optionally after a path",
        )
    for each in usages:
        known = _USAGES.get(each.key)
        if known is None:
            yield (
                f'Unknown Content-Usage "{truncate(each.key)}"',
                f"Write {' or '.join(_USAGES)} in lower case",
            )
        elif each.value not in known:
            yield f'Invalid value "{truncate(each.value)}" of {each.key}', "Write y or n"


def contradicting(subject: CheckedFile) -> Iterator[Remark]:
    """Find contradicting preferences in a group."""
    before, groups = subject.lines_by_group
    for lines in (before, *(group.others for group in groups)):
        seen: dict[str, tuple[str, int]] = {}
        for line in lines:
            if line.directive is not Directive.CONTENT_SIGNAL:
                continue
            yield from _first_of(subject, line, _contradictions(line, seen))


def _contradictions(line: Line, seen: dict[str, tuple[str, int]]) -> Iterator[tuple[str, str]]:
    """Yield messages and suggestions; ``seen`` are the values and lines of the keys so far."""
    for each in content_signal(_bytes(line), line.number):
        value, number = seen.setdefault(each.key, (each.value, line.number))
        if value != each.value:
            yield (
                f"Contradicts line {number} ({truncate(each.key)}={truncate(value)}): the stricter value applies",
                "Keep one of the two",
            )


def too_long(subject: CheckedFile) -> Iterator[Remark]:
    """Find files beyond the size that crawlers must read."""
    size = len(subject.body)
    if subject.is_cut or size > _charsets.MAX_BYTES:
        lost = [
            line
            for line in subject.directive_lines
            if subject.line_starts[line.number - 1] >= _charsets.MAX_BYTES
        ]
        where = f" from line {lost[0].number} on" if lost else ""
        yield Remark(
            WHOLE_FILE,
            f"The file is larger than 500 KiB: crawlers may not read the rest{where}",
            "Shorten it: one path with * can replace many lines",
        )


def beyond_koster(subject: CheckedFile) -> Iterator[Remark]:
    """Find files beyond the size that koster parses."""
    if len(subject.body) > _document.MAX_PARSED_BYTES:
        yield Remark(
            WHOLE_FILE,
            f"The file is larger than {(_document.MAX_PARSED_BYTES + 1) >> 20} MiB: koster did not check the rest",
            "Shorten it",
        )


def partly_checked(subject: CheckedFile) -> Iterator[Remark]:
    """Find files of which the checks before this one left out something."""
    if not subject.analysis.is_complete:
        yield Remark(
            WHOLE_FILE,
            "Not checked completely: the rules are too many, or overlap too much",
            "Findings may be missing: shorten the file, then check again",
        )


def long_line(subject: CheckedFile) -> Iterator[Remark]:
    """Find lines beyond the length that Google reads."""
    for line in subject.lines:
        if len(line.text) > BUFFER_BYTES and line.kind is not LineKind.COMMENT:
            yield Remark(
                Place(line.number, BUFFER_BYTES, len(line.text) - BUFFER_BYTES),
                f"Line of {len(line.text):,} characters: Google reads only the first {BUFFER_BYTES:,} bytes",
                "Shorten it",
            )
