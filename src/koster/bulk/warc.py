"""Web archives: the fetches of robots.txt in WARC files.

Reads response records such as those of Common Crawl's robotstxt archives, plain or compressed, with
fastwarc. Broken records are skipped: a `BadRecord` says where, and reading resumes at the next
complete record.

>>> for each in records("robotstxt.warc.gz"):  # doctest: +SKIP
...     print(each.url, each.fetch_class, len(each.body))
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, TypeVar

from .._bodies import Body, stored_body
from .._charsets import MAX_BYTES, declared_charset, media_type_of
from .._contents import is_binary, is_page
from ..access import wants_body
from ..dialects import RFC9309
from ..errors import UnreadableError, UrlError
from ..origins import origin_of, redirect_target
from ._warc_reader import MAX_BODY, BadRecord
from ._warc_recovery import whole_records

__all__ = ["MAX_BODY", "BadRecord", "FetchClass", "Record", "records"]

import os
from collections.abc import Iterator

from ._warc_reader import RawRecord

_T = TypeVar("_T")


class FetchClass(enum.StrEnum):
    """The result of a fetch, by RFC 9309 §2.3."""

    OK = "ok"
    """A file (2xx)."""
    WRONG_TYPE = "wrong type"
    """2xx, but an HTML page or binary, or declared to be neither text nor bytes."""
    REDIRECT = "redirect"
    """3xx with a Location that can be followed."""
    UNAVAILABLE = "unavailable"
    """4xx except 429: there is no file, and everything is allowed."""
    UNREACHABLE = "unreachable"
    """5xx, 429, or an unusable response, such as one that is cut: nothing is allowed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A fetch.

    Attributes:
        url: The URL that was requested, in ASCII and without a fragment.
        origin: The site, as in ``https://example.com``.
        crawl: The name of the crawl, if the archive has one: ``CC-MAIN-2026-45``.
        fetched: When, in UTC; None if the archive does not say. A date without a time (WARC 1.1) is
            its first moment.
        status: The HTTP status.
        fetch_class: The meaning of the status and the body.
        location: The target of a redirect, or None.
        content_type: The declared media type, or None.
        charset: The declared charset, or None.
        body: The body without codings, at most `MAX_BODY` bytes; as stored if it cannot be decoded.
        is_whole: Whether all that crawlers must read of a file is there (500 KiB, RFC 9309 §2.5),
            and can be decoded. None if the archive does not say so: the file is stored without
            the coding that its headers declare. Also None if the status is not 2xx.
        offset: The offset of the record in the archive, in bytes; not exact if a gzip member has
            several records.
        is_cut: Whether the file has more bytes than ``body``.
    """

    url: str
    origin: str
    crawl: str | None
    fetched: datetime | None
    status: int
    fetch_class: FetchClass
    location: str | None
    content_type: str | None
    charset: str | None
    body: bytes
    is_whole: bool | None
    offset: int
    is_cut: bool = False


def records(
    source: str | os.PathLike[str] | BinaryIO, name: str | None = None
) -> Iterator[Record | BadRecord]:
    """Yield the fetches in an archive: all HTTP responses.

    Args:
        source: The path of a file, or a binary file object at its start that can seek.
        name: The name of the archive. Default: its path.

    Raises:
        UnreadableError: the file cannot be read, or is not a WARC file.
    """
    if not isinstance(source, (str, bytes)) and not hasattr(source, "__fspath__"):
        file: Any = source
        label = str(name or getattr(source, "name", "the archive"))
        yield from records_after(file, label)
        return
    path: Any = source
    try:
        with open(path, "rb") as file:
            yield from records_after(file, name or str(path))
    except OSError as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError(f"{path}: {error.strerror or error}") from error


def records_after(
    file: BinaryIO,
    path: str,
    last: int = -1,
    crawl: str | None = None,
    broken: BadRecord | None = None,
    noted: Counter[str] | None = None,
) -> Iterator[Record | BadRecord]:
    """Yield the fetches in an archive after the record with the offset ``last``.

    If that one is ``broken``, yield it, too: the data after it may be reported with its offset.
    Add to ``noted`` how many records are revisits and resources.
    """
    counts: Counter[str] = Counter() if noted is None else noted
    found = _fetches(file, path, last, crawl or crawl_from_path(path), counts)
    return _without_repeats(found, broken)


def responses(
    file: BinaryIO, path: str, noted: Counter[str]
) -> Iterator[tuple[RawRecord, str | None] | BadRecord]:
    """Yield the response records in an archive, each with its crawl; see `records_after`."""
    return _without_repeats(_responses(file, path, -1, crawl_from_path(path), noted), None)


def _fetches(
    file: BinaryIO, path: str, last: int, crawl: str | None, noted: Counter[str]
) -> Iterator[Record | BadRecord]:
    for each in _responses(file, path, last, crawl, noted):
        found = each if isinstance(each, BadRecord) else record_of(*each)
        if found is not None:
            yield found


def _responses(
    file: BinaryIO, path: str, last: int, crawl: str | None, noted: Counter[str]
) -> Iterator[tuple[RawRecord, str | None] | BadRecord]:
    for raw in whole_records(file, path, last):
        if isinstance(raw, BadRecord):
            yield raw
        elif raw.type == "warcinfo":
            crawl = crawl_from_info(raw.body) or crawl
        elif raw.type == "response":
            yield raw, crawl
        elif is_noted(raw):
            noted[raw.type] += 1


def is_noted(raw: RawRecord) -> bool:
    """Tell whether a record has no response, but is about an HTTP fetch all the same.

    A revisit has its body elsewhere, and a resource has a body without a status (ISO 28500 §6).
    """
    target = (raw.url or "").removeprefix("<")
    return raw.type in ("revisit", "resource") and _HTTP_URL.match(target) is not None


def _without_repeats(
    found: Iterator[_T | BadRecord], pending: BadRecord | None
) -> Iterator[_T | BadRecord]:
    """Yield records; a truncated one, which may be reported as bad twice, only once."""
    for each in found:
        if pending is not None and not (
            isinstance(each, BadRecord) and each.offset == pending.offset
        ):
            yield pending
        pending = each if isinstance(each, BadRecord) else None
        if pending is None:
            yield each
    if pending is not None:
        yield pending


_CRAWL = re.compile(r"CC-MAIN-\d{4}-\d{2}")
_PART_OF = re.compile(rb"(?im)^isPartOf:[ \t]*([^\r\n]{1,200})")


def crawl_from_path(path: str) -> str | None:
    """Return the name of the crawl in the path of an archive, or None."""
    match = _CRAWL.search(path)
    return match[0] if match else None


def crawl_from_info(info: bytes) -> str | None:
    """Return the name of the crawl in a warcinfo record, or None."""
    match = _PART_OF.search(info)
    return match[1].decode("utf-8", "replace").strip() if match else None


_HTTP_URL = re.compile(r"(?i)https?://")
_PLAIN_URL = re.compile(r"(https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+)/robots\.txt")


def record_of(
    raw: RawRecord, crawl: str | None, limit: int = MAX_BODY, enough: int = MAX_BYTES
) -> Record | BadRecord | None:
    """Return the fetch in a record; None if it is not an HTTP fetch.

    ``limit``: bytes of the body that are kept; ``enough``: those without which it is not whole.
    """
    if not raw.url:
        return BadRecord(raw.offset, "no WARC-Target-URI")
    # Some programs write the angle brackets in the grammar of WARC 1.0.
    target = raw.url.removeprefix("<").removesuffix(">")
    plain = _PLAIN_URL.fullmatch(target)
    if plain:
        url, origin = target, plain[1]
    elif not _HTTP_URL.match(target):
        return None
    else:
        try:
            url = redirect_target(target, target)
            origin = str(origin_of(url))
        except UrlError as error:
            return BadRecord(raw.offset, f"invalid WARC-Target-URI: {error}")
    if raw.status is None or not 100 <= raw.status <= 999:
        return BadRecord(raw.offset, "no HTTP status line")
    content_type = raw.headers.get("content-type")
    location = None
    if 300 <= raw.status < 400:
        location = target_of(url, raw.status, raw.headers.get("location"))
    found = stored_body(raw.headers, raw.body, is_cut=not raw.is_whole, limit=limit, enough=enough)
    body = found if isinstance(found, Body) else Body(raw.body[:limit], is_whole=False)
    is_served = wants_body(raw.status)
    return Record(
        url=url,
        origin=origin,
        crawl=crawl,
        fetched=raw.fetched,
        status=raw.status,
        fetch_class=_classify(raw.status, location, content_type or "", body),
        location=location,
        content_type=content_type,
        charset=declared_charset(content_type) if content_type else None,
        body=body.content,
        is_whole=body.is_whole if is_served else None,
        offset=raw.offset,
        is_cut=body.is_cut,
    )


def target_of(url: str, status: int, location: str | None) -> str | None:
    """Return the target of a redirect, or None."""
    if status == 304 or location is None:
        return None
    with suppress(UrlError):
        return redirect_target(url, location)
    return None


#: Media types that are accepted like text/*.
_OTHER_TYPES = (
    "",
    "application/octet-stream",
    "binary/octet-stream",
    "application/x-www-form-urlencoded",
)


#: The statuses of `FetchClass.UNAVAILABLE`.
UNAVAILABLE = RFC9309.statuses.unavailable


def is_text_type(content_type: str) -> bool:
    """Tell whether a Content-Type may be that of a robots.txt."""
    media = media_type_of(content_type)
    return media.startswith("text/") or media in _OTHER_TYPES or "/" not in media


def _classify(status: int, location: str | None, content_type: str, body: Body) -> FetchClass:
    if wants_body(status):
        if body.is_whole is False:
            return FetchClass.UNREACHABLE
        content = body.content
        is_robots = is_text_type(content_type) and not is_page(content) and not is_binary(content)
        return FetchClass.OK if is_robots else FetchClass.WRONG_TYPE
    if location is not None:
        return FetchClass.REDIRECT
    if status in UNAVAILABLE:
        return FetchClass.UNAVAILABLE
    return FetchClass.UNREACHABLE
