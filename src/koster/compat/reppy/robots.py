"""`Robots` and `Agent`."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from ... import dialects
from ..._asking import allowed_for_data, rules_for_data
from ...dialects import Decoding, Names, Orphans, Separator, keys_of
from ...model import Directive, LineKind
from ...origins import PORTS
from ...robots import Rules
from ...robots import parse as _parse
from .._http import bracket_ipv6, decoders, encoded, text_of
from .._kept import REPPY_ESCAPES, ReppyFile
from . import exceptions
from ._http import get
from .ttl import HeaderWithDefaultPolicy, TTLPolicyBase


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    wanted = agent.lower()
    return [group for name, group in zip(names, groups, strict=True) if name == wanted]


_normalize_pattern, _normalize_url = decoders(REPPY_ESCAPES)


def _rewrite(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
    """Decode ``%2F``, ``%26`` and ``%3D``; end the pattern at the first ``$``."""
    if not value:
        return []
    value = _normalize_pattern(value)
    anchor = value.find(b"$") + 1
    return [(value[:anchor] if anchor else value, -1)]


_SPELLINGS = keys_of(*dialects.GYM2008.directives)
_DIALECT = replace(
    dialects.RFC9309,
    name="reppy",
    source="reppy 0.4.14",
    decoding=Decoding.NONE,
    directives=frozenset(_SPELLINGS.values()),
    spellings=_SPELLINGS,
    separator=Separator.COLON,
    closing=frozenset({*_SPELLINGS.values(), LineKind.UNKNOWN}),
    orphans=Orphans.FOR_EVERYBODY,
    names=Names.CHOSEN,
    choose=_choose,
    rewrite=_rewrite,
    rewritten=b"%$",
)

#: The prefix of a text that C parses as a decimal number.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
#: The smallest and the largest number of C's type ``float``.
_SMALLEST, _LARGEST = 2.0**-126, (2 - 2.0**-23) * 2.0**127


def _host(url: str) -> str:
    """Return the host of a URL in lower case, or an empty string."""
    if url.startswith("/") and not url.startswith("//"):
        return ""
    authority = url.partition("//")[2].partition("/")[0]
    if authority.isalnum() or authority.replace(".", "").replace("-", "").isalnum():
        # Fast path: no user, port or IPv6 address.
        return authority.lower()
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class Agent:
    """The rules of one crawler. Added rules do not change the `Robots`."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._delay: float | None = None
        self._host = ""
        self._rules: Rules | None = None

    @classmethod
    def from_robots(cls, robots: Robots, name: str | bytes) -> Self:
        """Return a copy of the rules of a crawler."""
        agent = cls()
        agent._rules = rules_for_data(robots._robots, text_of(name))
        agent._host = robots._host
        agent._lines = [
            f"{rule.directive}: {rule.pattern}"
            for group in agent._rules.groups
            for rule in group.rules
        ]
        agent._delay = _delay(agent._rules.values(Directive.CRAWL_DELAY))
        return agent

    @property
    def delay(self) -> float | None:
        """Seconds between two requests, or None."""
        return self._delay

    def allow(self, path: str | bytes) -> Self:
        """Allow a path."""
        return self._add("Allow", path)

    def disallow(self, path: str | bytes) -> Self:
        """Disallow a path."""
        return self._add("Disallow", path)

    def _add(self, directive: str, path: str | bytes) -> Self:
        # Keep it a single line without a comment.
        pattern = "".join(text_of(path).partition("#")[0].splitlines())
        self._lines.append(f"{directive}: {pattern}")
        self._rules = None
        return self

    def allowed(self, path: str | bytes) -> bool:
        """Return whether a path or URL is allowed; URLs of other hosts are not."""
        if self._rules is None:
            body = "\n".join(["User-agent: *", *self._lines])
            self._rules = _parse(encoded(body), _DIALECT).rules_for("*")
        url = text_of(path)
        if self._host and _host(url) not in ("", self._host):
            return False
        return self._rules.allowed(_normalize_url(url))

    def __len__(self) -> int:
        return len(self._lines)

    def __str__(self) -> str:
        delay = f"Crawl-Delay: {self._delay:.3g} " if self._delay else ""
        return delay + "[" + ", ".join(f"Directive({line})" for line in self._lines) + "]"


def _delay(values: Sequence[str]) -> float | None:
    """Return the last delay that is a number, or None if it is not above 0."""
    for value in reversed(values):
        number = _NUMBER.match(value)
        delay = float(number[0]) if number else math.inf
        if delay == 0 or _SMALLEST <= abs(delay) <= _LARGEST:
            return delay if delay > 0 else None
    return None


class Robots(ReppyFile):
    """A robots.txt."""

    #: Uses the headers, with a minimum of ten minutes; default: an hour.
    DEFAULT_TTL_POLICY = HeaderWithDefaultPolicy(default=3600, minimum=600)

    def __init__(
        self, url: str | bytes, content: str | bytes, expires: float | None = None
    ) -> None:
        # First: what each decision needs is next to the beginning.
        self._robots = _parse(encoded(content) if isinstance(content, str) else content, _DIALECT)
        self._own_prefix = None
        self._url = text_of(url)
        self._cached_host: str | None = None
        #: When it expires, in seconds since the epoch.
        self.expires = expires

    @classmethod
    def parse(cls, url: str | bytes, content: str | bytes, expires: float | None = None) -> Self:
        """Parse a robots.txt that was fetched from a URL."""
        return cls(url, content, expires)

    @classmethod
    def fetch(
        cls,
        url: str,
        ttl_policy: TTLPolicyBase | None = None,
        max_size: int = 1048576,
        params: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float | tuple[float, float] | None = None,
        verify: bool = True,
        after_response_hook: Callable[[Any], object] | None = None,
        after_parse_hook: Callable[[Robots], object] | None = None,
    ) -> Robots:
        """Fetch a robots.txt. 401 and 403 disallow everything, other 4xx allow everything.

        Args:
            url: The URL of the robots.txt.
            ttl_policy: When it expires; `DEFAULT_TTL_POLICY` if None.
            max_size: Maximum bytes.
            params: Query parameters to add.
            headers: Headers to send.
            timeout: Seconds that all of it may take; the second value of a pair applies. None for
                those of `socket.setdefaulttimeout`, else 30.
            verify: Whether to verify the server's certificate.
            after_response_hook: Called with the response, or the exception.
            after_parse_hook: Called with the parsed file.

        Raises:
            ReppyException: one of `exceptions`.
        """
        if params:
            url += ("&" if "?" in url else "?") + urlencode(params)
        if isinstance(timeout, tuple):
            timeout = timeout[1]
        try:
            response = get(url, headers or {}, timeout, verify, max_size)
        except exceptions.ReppyException as error:
            error.url = url
            if after_response_hook is not None:
                after_response_hook(error)
            raise
        if after_response_hook is not None:
            after_response_hook(response)
        expires = (ttl_policy or cls.DEFAULT_TTL_POLICY).expires(response)
        if response.status_code == 200:
            robots = cls.parse(url, response.content, expires)
            if after_parse_hook is not None:
                after_parse_hook(robots)
            return robots
        if response.status_code in (401, 403):
            return AllowNone(url, expires)
        if 400 <= response.status_code < 500:
            return AllowAll(url, expires)
        raise exceptions.BadStatusCode(
            f"Got {response.status_code} for {url}", response.status_code
        )

    @classmethod
    def robots_url(cls, url: str | bytes) -> str:
        """Return the URL of the robots.txt of a URL's site.

        >>> Robots.robots_url("http://userinfo@example.com:8080/path;params?query#fragment")
        'http://example.com:8080/robots.txt'

        Raises:
            ValueError: the URL is invalid.
        """
        parts = urlsplit(text_of(url))
        scheme = f"{parts.scheme}:" if parts.scheme else ""
        if not parts.hostname:
            return f"{scheme}robots.txt"
        host = bracket_ipv6(parts.hostname)
        port = "" if parts.port in (None, PORTS.get(parts.scheme)) else f":{parts.port}"
        return f"{scheme}//{host}{port}/robots.txt"

    @property
    def _host(self) -> str:
        if self._cached_host is None:
            self._cached_host = _host(self._url)
        return self._cached_host

    @property
    def sitemaps(self) -> list[str]:
        """The values of Sitemap lines."""
        return list(self._robots.values(Directive.SITEMAP))

    def _allowed(self, path: str | bytes, name: str | bytes) -> bool:
        path = text_of(path)
        if self._is_external(path):
            return False
        return allowed_for_data(self._robots, _normalize_url(path), text_of(name))

    def _is_external(self, url: str) -> bool:
        """Return whether a URL has another host; cache the usual prefix of this host's URLs."""
        if self._own_prefix is not None and url.startswith(self._own_prefix):
            return False
        for scheme in ("https", "http"):
            prefix = f"{scheme}://{self._host}/"
            if url.startswith(prefix):
                self._own_prefix = prefix
                return False
        return bool(self._host) and _host(url) not in ("", self._host)

    def agent(self, name: str | bytes) -> Agent:
        """Return a copy of the rules of a crawler."""
        return Agent.from_robots(self, name)

    @property
    def expired(self) -> bool:
        """Whether it has expired."""
        return time.time() > (self.expires or 0)

    @property
    def ttl(self) -> float:
        """Seconds until it expires, or 0."""
        return max((self.expires or 0) - time.time(), 0)

    def __str__(self) -> str:
        names = {name.lower() for group in self._robots.groups for name in group.agents} | {"*"}
        return "{" + ", ".join(f'"{name}": {self.agent(name)}' for name in sorted(names)) + "}"


class AllowNone(Robots):
    """Everything is disallowed."""

    def __init__(self, url: str, expires: float | None = None) -> None:
        super().__init__(url, b"User-agent: *\nDisallow: /", expires)


class AllowAll(Robots):
    """Everything is allowed."""

    def __init__(self, url: str, expires: float | None = None) -> None:
        super().__init__(url, b"", expires)
