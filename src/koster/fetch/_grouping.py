"""Which sites share a pace: an origin has its own, or several sites have one together."""

from __future__ import annotations

import enum
import functools
import ipaddress
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from ..cache.memory import LRUCache
from ..errors import missing

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


class PaceBy(enum.Enum):
    """Which sites share a pace."""

    ORIGIN = "origin"
    """None: each scheme, host and port has a pace of its own."""
    DOMAIN = "domain"
    """Sites of a registrable domain: ``a.example.co.uk`` and ``b.example.co.uk``. Domains of the
    Public Suffix List, such as ``co.uk`` and ``github.io``, do not count as such."""
    ADDRESS = "address"
    """Sites with the same IP address. A host with several counts as the lowest of them."""


#: A function of a URL that returns the name of its group is also a way to share a pace.
Grouping: TypeAlias = "PaceBy | Callable[[str], str]"

#: Hosts whose address is remembered, and for how many seconds.
_MAX_HOSTS = 10_000
_ADDRESS_SECONDS = 3600.0


class Groups:
    """Finds the group of a URL.

    Raises:
        MissingExtraError: the list of public suffixes is not installed.
        TypeError: ``pace_by`` is neither a `PaceBy` nor a function.
    """

    def __init__(self, pace_by: Grouping) -> None:
        if not isinstance(pace_by, PaceBy) and not callable(pace_by):
            raise TypeError(
                "pace_by must be PaceBy.ORIGIN, DOMAIN or ADDRESS, or a function of a URL, "
                f"not {type(pace_by).__name__}"
            )
        if pace_by is PaceBy.DOMAIN:
            _public_suffixes()
        self._pace_by = pace_by
        self._addresses: LRUCache[str, tuple[str, float]] = LRUCache(
            _MAX_HOSTS, _MAX_HOSTS, lambda _: 1
        )

    def group(self, url: str, origin: str) -> str | None:
        """Return the group of a URL; None if the addresses of its host must be looked up first.

        Raises:
            TypeError: the caller's function returns something else than a str.
            ValueError: it returns an empty one.
        """
        if self._pace_by is PaceBy.ORIGIN:
            return origin
        if self._pace_by is PaceBy.DOMAIN:
            return _domain(host_of(origin))
        if self._pace_by is PaceBy.ADDRESS:
            address, until = self._addresses.get(host_of(origin)) or ("", 0.0)
            return address if time.monotonic() < until else None
        return _name_of_group(self._pace_by(url))

    def record(self, origin: str, addresses: Sequence[str]) -> str:
        """Return the group of a host from its addresses: the host itself, if it has none."""
        host = host_of(origin)
        if not addresses:
            return host
        group = min(addresses, key=lambda each: (":" in each, _number_of(each)))
        self._addresses.put(host, (group, time.monotonic() + _ADDRESS_SECONDS))
        return group


def host_of(origin: str) -> str:
    """Return the host of an origin."""
    return urlsplit(origin).hostname or origin


@functools.cache
def _public_suffixes() -> PublicSuffixList:
    try:
        from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - it takes 0.1 s
    except ModuleNotFoundError as error:
        raise missing("PaceBy.DOMAIN", "http") from error
    return PublicSuffixList()


def _domain(host: str) -> str:
    """Return the registrable domain of a host; the host itself, if it has none."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return _public_suffixes().privatesuffix(host) or host
    return host


def _name_of_group(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"pace_by must return a str, not {type(name).__name__}")
    if not name:
        raise ValueError("pace_by must return the name of a group, not an empty str")
    return name


def _number_of(address: str) -> int:
    return int(ipaddress.ip_address(address.partition("%")[0]))
