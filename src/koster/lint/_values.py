"""Checks of the values of directives."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import urlsplit

from .._wording import count_noun
from ..directives import (
    clean_param,
    content_signal,
    content_usage,
    delay,
    request_rate,
    usage_path,
    visit_time,
)
from ..model import Directive, Line
from ._checks import NOTE, WARNING, check
from ._model import CheckedFile, Remark, truncate

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


URL = re.compile(r"https?://[^/\s]", re.IGNORECASE)


def _bytes(line: Line) -> bytes:
    return line.value.encode("utf-8", "surrogateescape")


def invalid_values(
    subject: CheckedFile,
    directive: Directive,
    is_valid: Callable[[Line], bool],
    message: str,
    suggestion: str,
) -> Iterator[Remark]:
    """Yield a remark for each line of a directive with an invalid value: ``{value}`` in messages."""
    for line in subject.lines_of(directive):
        if not is_valid(line):
            shown = truncate(line.value)
            yield Remark(subject.value(line), message.format(value=shown), suggestion)


@check("E001", "invalid-crawl-delay", WARNING, "Invalid Crawl-delay",
    why="Crawlers ignore it. It must be a number of seconds.",
    example="User-agent: *\nDisallow:\nCrawl-delay: soon\n",
    fix="User-agent: *\nDisallow:\nCrawl-delay: 0.5\n",
    source="https://www.bing.com/webmasters/help/how-to-create-a-robots-txt-file-cb7c31ec")  # fmt: skip
def bad_delay(subject: CheckedFile) -> Iterator[Remark]:
    yield from invalid_values(
        subject,
        Directive.CRAWL_DELAY,
        lambda line: delay(_bytes(line)) is not None,
        'Invalid Crawl-delay "{value}": crawlers ignore it',
        "Write a number of seconds, such as 5",
    )


@check("E003", "invalid-visit-time", WARNING, "Invalid Visit-time",
    why="Crawlers ignore it.",
    example="User-agent: *\nDisallow:\nVisit-time: 0600-2500\n",
    fix="User-agent: *\nDisallow:\nVisit-time: 0600-2400\n",
    source="An Extended Standard for Robot Exclusion")  # fmt: skip
def bad_time(subject: CheckedFile) -> Iterator[Remark]:
    yield from invalid_values(
        subject,
        Directive.VISIT_TIME,
        lambda line: visit_time(_bytes(line), line.number, False) is not None,
        'Invalid Visit-time "{value}": crawlers ignore it',
        "Write from and to in UTC, such as 0600-0845",
    )


@check("E009", "invalid-license", WARNING, "A License is not an absolute URL",
    why="RSL requires the URL of a license file.",
    example="User-agent: *\nDisallow:\nLicense: /license.xml\n",
    fix="User-agent: *\nDisallow:\nLicense: https://e.com/license.xml\n",
    source="https://rslstandard.org/rsl")  # fmt: skip
def bad_license(subject: CheckedFile) -> Iterator[Remark]:
    yield from invalid_values(
        subject,
        Directive.LICENSE,
        lambda line: URL.match(line.value) is not None and is_url(line.value),
        "License must be an absolute URL",
        "Write https://, the host and the path",
    )


@check("E010", "invalid-clean-param", WARNING, "Invalid Clean-param",
    why="Yandex ignores it.",
    example="User-agent: *\nDisallow:\nClean-param: ref /a b\n",
    fix="User-agent: *\nDisallow:\nClean-param: ref&sort /a\n",
    source="https://yandex.com/support/webmaster/en/robot-workings/clean-param")  # fmt: skip
def bad_clean_param(subject: CheckedFile) -> Iterator[Remark]:
    yield from invalid_values(
        subject,
        Directive.CLEAN_PARAM,
        lambda line: clean_param(_bytes(line), line.number) is not None,
        'Invalid Clean-param "{value}": Yandex ignores it',
        "Write parameters and an optional path, such as ref&sort /path; at most 500 characters",
    )


def is_url(text: str) -> bool:
    if len(text.partition("//")[2].partition("/")[0]) > _MAX_HOST:
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


@check("E007", "long-crawl-delay", NOTE, "A Crawl-delay is very long",
    why="Crawlers that obey it fetch few pages a day; many cap it.",
    example="User-agent: *\nDisallow:\nCrawl-delay: 600\n",
    fix="User-agent: *\nDisallow:\nCrawl-delay: 60\n",
    source="https://www.bing.com/webmasters/help/how-to-create-a-robots-txt-file-cb7c31ec")  # fmt: skip
def long_delay(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.CRAWL_DELAY):
        seconds = delay(_bytes(line))
        if seconds is not None and seconds > _LONG_DELAY:
            yield Remark(
                subject.value(line),
                f"A delay of {seconds:,g} s allows {count_noun(int(86400 / seconds), 'page')} a day; many crawlers cap it",
                f"Write at most {_LONG_DELAY}",
            )


@check("E008", "several-crawl-delays", NOTE, "A group has several Crawl-delays",
    why="Crawlers disagree on which applies; koster applies the largest.",
    example="User-agent: *\nDisallow:\nCrawl-delay: 5\nCrawl-delay: 10\n",
    fix="User-agent: *\nDisallow:\nCrawl-delay: 5\nUser-agent: Foo\nDisallow:\nCrawl-delay: 10\n",
    source="not specified by RFC 9309")  # fmt: skip
def several_delays(subject: CheckedFile) -> Iterator[Remark]:
    for group in subject.groups:
        lines = [line for line in group.others if line.directive is Directive.CRAWL_DELAY]
        values = {delay(_bytes(line)) for line in lines} - {None}
        if len(values) > 1:
            yield Remark(
                subject.value(lines[-1]),
                "Several Crawl-delays in one group: crawlers disagree on which applies",
                "Keep one of them",
            )


@check("E002", "invalid-request-rate", WARNING, "Invalid Request-rate",
    why="Crawlers ignore it.",
    example="User-agent: *\nDisallow:\nRequest-rate: 1 per 5\n",
    fix="User-agent: *\nDisallow:\nRequest-rate: 1/5 0600-0845\n",
    source="An Extended Standard for Robot Exclusion")  # fmt: skip
def bad_rate(subject: CheckedFile) -> Iterator[Remark]:
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


@check("E004", "invalid-content-signal", WARNING, "Invalid Content-Signal",
    why="Its vocabulary does not have this key or value: it has no effect.",
    example="User-agent: *\nContent-Signal: training=no\nDisallow:\n",
    fix="User-agent: *\nContent-Signal: AI-Train=No\nDisallow:\n",
    source="https://contentsignals.org/")  # fmt: skip
def bad_signal(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.CONTENT_SIGNAL):
        yield from _first_of(subject, line, _wrong_signals(line.value))


def _wrong_signals(signals: str) -> Iterator[tuple[str, str]]:
    """Yield messages and suggestions."""
    if ";" in signals:
        yield (
            '";" does not separate signals: only the first one may be read',
            "Write a comma between them",
        )
        return
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


@check("E005", "invalid-content-usage", WARNING, "Invalid Content-Usage",
    why="Its vocabulary does not have this key or value: it has no effect.",
    example="User-agent: *\nContent-Usage: Train-AI=n\nDisallow:\n",
    fix="User-agent: *\nContent-Usage: /a train-ai=n, search=y\nDisallow:\n",
    source="draft-ietf-aipref-attach, draft-ietf-aipref-vocab")  # fmt: skip
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


@check("E011", "content-usage-outside", WARNING, "A Content-Usage is outside any group",
    why="It has no effect: the draft has Content-Usage only in groups. Move it below a User-agent line.",
    example="Content-Usage: train-ai=n\nUser-agent: *\nDisallow: /a\n",
    fix="User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a\n",
    source="draft-ietf-aipref-attach-05")  # fmt: skip
def usage_outside(subject: CheckedFile) -> Iterator[Remark]:
    before, groups = subject.lines_by_group
    star = next((g for g in groups if any(line.value == "*" for line in g.agents)), None)
    for line in before:
        if line.directive is Directive.CONTENT_USAGE:
            where = f"below line {star.agents[-1].number}" if star else "below a User-agent: * line"
            move = (
                (subject.removal(line), subject.insertion(star.agents[-1], line.text.strip()))
                if star
                else ()
            )
            yield Remark(
                subject.key(line),
                "Content-Usage outside any group has no effect",
                f"Move it {where}",
                proposal=move,
            )


@check("E006", "contradicting-preferences", WARNING, "A group contradicts itself about a preference",
    why="koster applies the stricter value; crawlers may apply either.",
    example="User-agent: *\nContent-Signal: ai-train=no\nContent-Signal: ai-train=yes\nDisallow:\n",
    fix="User-agent: *\nContent-Signal: ai-train=no\nDisallow:\nUser-agent: Foo\nContent-Signal: ai-train=yes\nDisallow:\n",
    source="https://contentsignals.org/")  # fmt: skip
def contradicting(subject: CheckedFile) -> Iterator[Remark]:
    before, groups = subject.lines_by_group
    for lines in (before, *(group.others for group in groups)):
        seen: dict[str, tuple[str, int]] = {}
        for line in lines:
            if line.directive is not Directive.CONTENT_SIGNAL or ";" in line.value:
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
