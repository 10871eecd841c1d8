"""A request with the standard library; errors become reppy's exceptions."""

from __future__ import annotations

import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...origins import PORTS
from .._bodies import read_body
from .._timed import RequestDeadline, deadline_for, open_with
from . import exceptions

if TYPE_CHECKING:
    from email.message import Message


#: Handlers for HTTP only: redirects to other schemes are not followed.
_HANDLERS = (
    urllib.request.ProxyHandler,
    urllib.request.UnknownHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPRedirectHandler,
    urllib.request.HTTPErrorProcessor,
)


@dataclass
class FetchedResponse:
    """A response with the attributes that hooks and policies use."""

    url: str
    status_code: int
    headers: Message
    content: bytes


def get(
    url: str, headers: Mapping[str, str], timeout: float | None, verify: bool, max_size: int
) -> FetchedResponse:
    """Return the response to a request, with any status.

    Raises:
        ReppyException: there is no response, or it is longer than ``max_size`` bytes.
    """
    with _convert_errors():
        request = urllib.request.Request(url, headers=dict(headers))  # noqa: S310 - see below
        if request.type not in PORTS or not request.host:
            raise ValueError(f"not an HTTP URL: {url!r}")
        deadline = deadline_for(timeout)
        with _open(request, deadline, verify) as response:
            status, received = response.status or 0, response.headers
            try:
                content = read_body(response, deadline, max_size + 1)
            except (OSError, http.client.HTTPException):
                # The content of other responses does not count.
                if status == 200:
                    raise
                content = b""
    if len(content) > max_size:
        raise exceptions.ContentTooLong(f"Content larger than {max_size} bytes")
    return FetchedResponse(url, status, received, content)


def _open(request: urllib.request.Request, deadline: RequestDeadline, verify: bool) -> Any:
    """Open a request, and return the response.

    Raises:
        OSError: there is no response.
        ExcessiveRedirects: there are too many redirects.
    """
    context = None if verify else ssl._create_unverified_context()  # noqa: S323
    opener = urllib.request.OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    opener.add_handler(urllib.request.HTTPSHandler(context=context))
    try:
        return open_with(opener, request, deadline)
    except urllib.error.HTTPError as error:
        if error.msg.startswith(urllib.request.HTTPRedirectHandler.inf_msg):
            error.close()
            raise exceptions.ExcessiveRedirects(error.msg) from error
        return error


@contextmanager
def _convert_errors() -> Iterator[None]:
    """Convert errors to the exceptions that reppy documents."""
    try:
        yield
    except exceptions.ReppyException:
        raise
    except (ValueError, http.client.InvalidURL) as error:
        raise exceptions.MalformedUrl(error) from error
    except TimeoutError as error:
        raise exceptions.ReadTimeout(error) from error
    except urllib.error.URLError as error:
        if str(error.reason).startswith("unknown url type"):
            raise exceptions.MalformedUrl(error.reason) from error
        secure = isinstance(error.reason, ssl.SSLError)
        kind = exceptions.SSLException if secure else exceptions.ConnectionException
        raise kind(error.reason) from error
    except (OSError, http.client.HTTPException) as error:
        raise exceptions.ConnectionException(error) from error
