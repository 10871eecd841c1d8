"""Downloads files other than robots.txt, such as sitemaps, over koster's own network."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from .._codings import ACCEPTED, CodingError, decoder_for
from ..access import MAX_REDIRECTS, collect_headers, status_phrase, wants_body
from ..errors import UnreadableError, UrlError
from ..origins import redirect_target
from ._arguments import NetworkSettings, validate_timeout, validate_user_agent
from ._deadline import Deadline
from ._exchange import Received
from ._failures import through, to_failure
from ._hosts import to_ascii
from .senders import sender_for


class Downloads:
    """Downloads files, one at a time. Nothing is cached.

    Args:
        user_agent: The User-Agent header.
        timeout: Seconds for a whole download, including redirects.
        proxy: The URL of the proxy. Default: that of the environment.

    Raises:
        MissingExtraError: the extra ``http`` is missing.
        ValueError: an argument is invalid.
    """

    def __init__(self, user_agent: str, *, timeout: float, proxy: str | None = None) -> None:
        self._sender = sender_for(NetworkSettings(None, proxy, True, True, None), None, None)
        self._timeout = validate_timeout(timeout)
        self._headers = [
            ("User-Agent", validate_user_agent(user_agent)),
            ("Accept", "*/*"),
            ("Accept-Encoding", ACCEPTED),
        ]

    def open(self, url: str, limit: int) -> IO[bytes]:
        """Return a temporary file with the decoded content, up to ``limit`` bytes and one more.

        Raises:
            UnreadableError: the download failed.
        """
        # On disk, so that a slow reader does not keep the server waiting.
        with _disk_errors(url):
            file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        try:
            with Deadline(time.monotonic() + self._timeout) as deadline:
                self._download(url, file, limit, deadline)
            with _disk_errors(url):
                file.seek(0)
        except BaseException:
            # What is left in its buffer may not fit on the disk, either.
            with suppress(OSError):
                file.close()
            raise
        return file

    def _download(self, url: str, file: IO[bytes], limit: int, deadline: Deadline) -> None:
        try:
            target = redirect_target(url, url, to_ascii)
            for _ in range(MAX_REDIRECTS + 1):
                status, location = self._send(url, target, file, limit, deadline)
                if wants_body(status):
                    return
                if location is None:
                    raise UnreadableError(f"{url}: {status_phrase(status)}")
                target = redirect_target(target, location, to_ascii)
        except UrlError as error:
            raise UnreadableError(f"{url}: {error}") from error
        raise UnreadableError(f"{url}: more than {MAX_REDIRECTS} redirects")

    def _send(
        self, url: str, target: str, file: IO[bytes], limit: int, deadline: Deadline
    ) -> tuple[int, str | None]:
        """Send a request, and copy the content to a file; return status and redirect target."""
        sender = self._sender
        try:
            with sender.send(target, self._headers, deadline.check()) as received:
                headers = collect_headers(received.headers)
                if wants_body(received.status):
                    coding = headers.get("content-encoding", "")
                    for part in _decoded(received, coding, limit, deadline):
                        with _disk_errors(url):
                            file.write(part)
                is_redirect = 300 <= received.status < 400
                return received.status, headers.get("location") if is_redirect else None
        except UnreadableError:
            raise
        except sender.errors as error:
            failure = to_failure(error, self._timeout, sender.kinds)
            why = through(failure, sender.proxy_for(target)).why
            raise UnreadableError(f"{url}: {why}") from error

    def close(self) -> None:
        """Close all connections."""
        self._sender.close()


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
