"""Inputs at URLs, such as ``https://`` and ``s3://``: fsspec downloads them to a file.

A server that is busy is asked again, later each time; that of a URL over http gets few requests a
second. An input is downloaded whole before it is read, so that none is read in part.
"""

from __future__ import annotations

import enum
import errno
import random
import re
import shutil
import time
from collections.abc import Callable
from typing import IO, Any

from ..errors import KosterError, UnreadableError

#: How often a download over http is tried, and from a store, whose client tries again by itself.
_TRIES, _TRIES_OF_STORES = 6, 2
#: The seconds before the second time; they double each time.
_FIRST_WAIT = 1.0
#: The longest time that a server may ask to wait, in seconds.
_MAX_WAIT = 120.0

#: Requests a second to servers over http, of all processes together.
HTTP_RATE = 5.0

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class Kind(enum.StrEnum):
    """Why a download failed."""

    MISSING = "missing"
    """There is no such file (404), or no such bucket."""
    REFUSED = "refused"
    """It may not be read: 401, 403 or another status of 4xx; credentials may be missing."""
    BUSY = "busy"
    """The server asks for fewer requests, or has a fault: 429, 5xx, SlowDown."""
    TIMEOUT = "timeout"
    """It took too long."""
    NETWORK = "network"
    """The connection failed, or ended too early."""


#: What may succeed later.
_TEMPORARY = (Kind.BUSY, Kind.TIMEOUT, Kind.NETWORK)


class DownloadError(UnreadableError):
    """An input cannot be downloaded: ``kind`` says why."""

    def __init__(self, message: str, kind: Kind) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[DownloadError], tuple[str, Kind]]:
        return type(self), (str(self), self.kind)

    @property
    def is_temporary(self) -> bool:
        """Whether the download may succeed later."""
        return self.kind in _TEMPORARY


def is_url(path: str) -> bool:
    """Return whether an input is a URL, not a file.

    >>> is_url("s3://bucket/a.warc.gz"), is_url("C:\\\\a.warc.gz"), is_url("a.warc.gz")
    (True, False, False)
    """
    return _URL.match(path) is not None


def download(
    url: str, path: str, pause: float = 0.0, wait: Callable[[float], object] = time.sleep
) -> None:
    """Download a URL to a file.

    Args:
        url: Of a protocol that fsspec has.
        path: The file; it is overwritten.
        pause: Seconds before each request over http.
        wait: Waits some seconds.

    Raises:
        DownloadError: it failed, for some kinds after several tries.
        KosterError: a package for this protocol is missing.
        UnreadableError: the protocol is unknown.
    """
    files, place = _file_system(url)
    is_http = url.lower().startswith("http")
    tries = _TRIES if is_http else _TRIES_OF_STORES
    for number in range(1, tries + 1):
        if pause and is_http:
            wait(pause)
        try:
            files.get_file(place, path)
        except Exception as error:
            kind = kind_of(error)
            if kind not in _TEMPORARY or number == tries:
                raise _failure(url, kind, error, number) from error
            wait(_wait_before(number, error))
        else:
            return


def copy(opened: Callable[[str, str], Any], path: str, target: IO[bytes]) -> None:
    """Copy what a function opens to a file.

    Raises:
        DownloadError: it cannot be opened, or read to its end.
    """
    try:
        with opened(path, "rb") as source:
            shutil.copyfileobj(source, target)
        target.flush()
    except Exception as error:
        raise _failure(path, kind_of(error), error) from error


def _failure(place: str, kind: Kind, error: BaseException, tries: int = 1) -> DownloadError:
    times = f", tried {tries} times" if tries > 1 else ""
    return DownloadError(f"{place}: download failed, {kind} ({_text_of(error)}){times}", kind)


def _file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the place in it.

    Raises:
        KosterError: a package is missing.
        UnreadableError: the protocol is unknown.
    """
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - most inputs are files
    except ImportError as error:
        raise KosterError("koster bulk reads URLs with fsspec: pip install fsspec") from error
    try:
        files, place = url_to_fs(url)
    except ImportError as error:
        # fsspec names what is missing.
        raise KosterError(f"{url}: {_text_of(error)}") from error
    except ValueError as error:
        raise UnreadableError(f"{url}: {_text_of(error)}") from error
    return files, place


def kind_of(error: BaseException) -> Kind:
    """Return why a file could not be read."""
    status = getattr(error, "status", None)
    if isinstance(error, FileNotFoundError) or status in (404, 410):
        return Kind.MISSING
    if isinstance(status, int) and (status in (408, 425, 429) or status >= 500):
        return Kind.BUSY
    if isinstance(error, PermissionError) or isinstance(status, int):
        return Kind.REFUSED
    if getattr(error, "errno", None) in (errno.EBUSY, errno.EREMOTEIO):
        return Kind.BUSY
    if isinstance(error, TimeoutError):
        return Kind.TIMEOUT
    return Kind.NETWORK


def _text_of(error: BaseException) -> str:
    status, message = getattr(error, "status", None), getattr(error, "message", None)
    text = f"{status} {message}" if isinstance(status, int) and message else str(error)
    return " ".join(text.split())[:200] or type(error).__name__


def _wait_before(number: int, error: BaseException) -> float:
    """Return how many seconds to wait after a failure, the first, second and so on."""
    # Processes that failed together do not come back together.
    found = _FIRST_WAIT * 2.0 ** (number - 1) * random.uniform(0.75, 1.25)  # noqa: S311
    asked = str((getattr(error, "headers", None) or {}).get("Retry-After", ""))
    return min(max(found, float(asked) if asked.isdigit() else 0.0), _MAX_WAIT)
