"""Downloads files other than robots.txt, such as sitemaps, over koster's own network."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from .._codings import ACCEPTED, CodingError, decoder_for
from ..access import MAX_REDIRECTS, FailureKind, collect_headers, status_phrase, wants_body
from ..errors import UnreadableError, UrlError
from ..origins import origin_of, redirect_target
from ._arguments import NetworkSettings, validate_timeout, validate_user_agent
from ._deadline import Deadline
from ._exchange import Received, Sender, validate_headers
from ._failures import through, to_failure
from ._hosts import to_ascii
from .guard import Guard
from .senders import sender_for


class DownloadError(UnreadableError):
    """A download failed: the server answered with a ``status``, or a request failed (``kind``).

    Both are None if a redirect is invalid. ``why`` is part of a sentence.
    """

    def __init__(
        self, url: str, why: str, status: int | None = None, kind: FailureKind | None = None
    ) -> None:
        super().__init__(f"{url}: {why}")
        self.why = why
        self.status = status
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Download:
    """A file that was downloaded: its content, the URL after redirects, and the headers."""

    file: IO[bytes]
    url: str
    headers: tuple[tuple[str, str], ...]


class Downloads:
    """Downloads files, one at a time. Nothing is cached.

    Args:
        user_agent: The User-Agent header.
        timeout: Seconds for a whole download, including redirects.
        proxy: The URL of the proxy. Default: that of the environment.
        sites: The sites that the user named, such as ``https://example.com``.
        headers: Additional headers. These may be secret, so they go only to ``sites``: not to other
            hosts, nor from HTTPS to HTTP.
        guard: Which addresses to refuse, except on the hosts of ``sites``. Default: none.

    Raises:
        MissingExtraError: the extra ``http`` is missing.
        ValueError: an argument is invalid.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        timeout: float,
        proxy: str | None = None,
        sites: Collection[str] = (),
        headers: Mapping[str, str] | None = None,
        guard: Guard | None = None,
    ) -> None:
        self._sender = sender_for(NetworkSettings(None, proxy, True, True, None), None, None)
        self._guarded = self._sender
        if guard is not None:
            self._guarded = sender_for(NetworkSettings(guard, proxy, True, True, None), None, None)
        self._sites = frozenset(sites)
        self._hosts = {origin_of(site).host for site in sites}
        self._own_headers = validate_headers(headers)
        self._timeout = validate_timeout(timeout)
        self._headers = [
            ("User-Agent", validate_user_agent(user_agent)),
            ("Accept", "*/*"),
            ("Accept-Encoding", ACCEPTED),
        ]

    def open(self, url: str, limit: int) -> IO[bytes]:
        """Return a temporary file with the decoded content, up to ``limit`` bytes and one more.

        Raises:
            UnreadableError: the download failed; a `DownloadError`, if not because of the disk.
        """
        return self.fetch(url, limit).file

    def fetch(self, url: str, limit: int) -> Download:
        """Return the decoded content, up to ``limit`` bytes and one more, with the headers.

        Raises:
            UnreadableError: the download failed; a `DownloadError`, if not because of the disk.
        """
        # On disk, so that a slow reader does not keep the server waiting.
        with _disk_errors(url):
            file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        try:
            with Deadline(time.monotonic() + self._timeout) as deadline:
                target, headers = self._download(url, file, limit, deadline)
            with _disk_errors(url):
                file.seek(0)
        except BaseException:
            # What is left in its buffer may not fit on the disk, either.
            with suppress(OSError):
                file.close()
            raise
        pairs = (
            (name.decode("latin-1"), value.decode("utf-8", "surrogateescape"))
            for name, value in headers
        )
        return Download(file, target, tuple(pairs))

    def _download(
        self, url: str, file: IO[bytes], limit: int, deadline: Deadline
    ) -> tuple[str, tuple[tuple[bytes, bytes], ...]]:
        """Copy the content to a file; return the URL after redirects, and the headers."""
        try:
            target = redirect_target(url, url, to_ascii)
            for _ in range(MAX_REDIRECTS + 1):
                status, headers = self._send(url, target, file, limit, deadline)
                if wants_body(status):
                    return target, headers
                location = collect_headers(headers).get("location")
                if location is None or not 300 <= status < 400:
                    raise DownloadError(url, status_phrase(status), status)
                target = redirect_target(target, location, to_ascii)
        except UrlError as error:
            raise DownloadError(url, str(error)) from error
        raise DownloadError(url, f"more than {MAX_REDIRECTS} redirects")

    def _send(
        self, url: str, target: str, file: IO[bytes], limit: int, deadline: Deadline
    ) -> tuple[int, tuple[tuple[bytes, bytes], ...]]:
        """Send a request, and copy the content to a file; return status and headers."""
        sender, sent = self._ways_to(target)
        try:
            with sender.send(target, sent, deadline.check()) as received:
                headers = tuple(received.headers)
                if wants_body(received.status):
                    coding = collect_headers(headers).get("content-encoding", "")
                    for part in _decoded(received, coding, limit, deadline):
                        with _disk_errors(url):
                            file.write(part)
                return received.status, headers
        except UnreadableError:
            raise
        except sender.errors as error:
            failure = to_failure(error, self._timeout, sender.kinds)
            why = through(failure, sender.proxy_for(target)).why
            raise DownloadError(url, why, kind=failure.kind) from error

    def _ways_to(self, target: str) -> tuple[Sender, list[tuple[str, str]]]:
        """Return what sends a request, and its headers."""
        origin = origin_of(target)
        sender = self._sender if origin.host in self._hosts else self._guarded
        if str(origin) not in self._sites:
            return sender, self._headers
        own = {name.lower() for name, _ in self._own_headers}
        default = [(name, value) for name, value in self._headers if name.lower() not in own]
        return sender, [*default, *self._own_headers]

    def close(self) -> None:
        """Close all connections."""
        self._sender.close()
        if self._guarded is not self._sender:
            self._guarded.close()


@contextmanager
def _disk_errors(url: str) -> Iterator[None]:
    """Turn errors of the temporary file into an `UnreadableError`."""
    try:
        yield
    except OSError as error:
        folder = tempfile.tempdir or "TMPDIR"
        raise UnreadableError(
            f"{url}: cannot write to the temporary folder {folder}: {error.strerror or error}"
        ) from error


def _decoded(
    received: Received[Any], coding: str, limit: int, deadline: Deadline
) -> Iterator[bytes]:
    """Yield the decoded content, up to ``limit`` bytes and one more.

    Raises:
        CodingError: it is invalid.
        TimeoutError: the deadline has passed.
    """
    decoder = decoder_for(coding)
    received_size = size = 0
    for chunk in received.parts:
        received_size += len(chunk)
        part = decoder.feed(chunk, limit + 1 - size)
        size += len(part)
        yield part
        if size > limit or received_size > limit or decoder.is_finished:
            return
        deadline.check()
    if received_size and not decoder.is_whole:
        raise CodingError("truncated response body")
