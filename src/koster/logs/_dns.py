"""Forward-confirmed reverse DNS: the check that Google, Bing and others document.

The name of an address must be in a domain of the crawler's operator, and one of the addresses of
that name must be the address. Lookups are bounded in time, in number, and in how many run at once;
each address is looked up once.
"""

from __future__ import annotations

import enum
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from .._wording import count_noun
from ._ranges import parse_address

#: The maximum number of addresses to look up in a run, how many at once, and the seconds for each.
MAX_LOOKUPS = 20_000
_WORKERS = 16
_SECONDS = 5.0

#: The errors of a resolver that say that there is no such name.
_NO_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
#: The same for `socket.gethostbyaddr`: host not found, no data.
_NOT_FOUND = {1, 4}


class DnsCheck(enum.Enum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """The lookup failed, or there were too many."""


class System:
    """The resolver of the system."""

    def names(self, address: str) -> list[str] | None:
        """Return the names of an address; None if the lookup failed."""
        try:
            name, others, _ = socket.gethostbyaddr(address)
        except socket.herror as error:
            return [] if error.args[0] in _NOT_FOUND else None
        except socket.gaierror as error:
            return [] if error.errno in _NO_NAME else None
        except OSError:
            return None
        return [name, *others]

    def addresses(self, name: str) -> list[str] | None:
        """Return the addresses of a name; None if the lookup failed."""
        try:
            found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            return [] if error.errno in _NO_NAME else None
        except (OSError, UnicodeError):
            return None
        return [str(each[4][0]) for each in found]


class ReverseDns:
    """Checks addresses, each once."""

    def __init__(self, resolver: System | None = None) -> None:
        self._resolver = resolver or System()
        self._names: dict[str, tuple[str, ...] | None] = {}
        #: Addresses that were not looked up: too many.
        self.skipped = 0

    def look_up(self, addresses: Iterable[str]) -> None:
        """Look up the confirmed names of addresses that are not known yet."""
        new = [each for each in dict.fromkeys(addresses) if each not in self._names]
        free = max(MAX_LOOKUPS - len(self._names), 0)
        self.skipped += len(new[free:])
        if not new[:free]:
            return
        with ThreadPoolExecutor(_WORKERS) as pool:
            for address, names in zip(new, pool.map(self._confirmed, new[:free]), strict=False):
                self._names[address] = names

    def check(self, address: str, domains: Sequence[str]) -> DnsCheck:
        """Return whether an address belongs to one of some domains."""
        names = self._names.get(address)
        if names is None:
            return DnsCheck.UNKNOWN
        is_own = any(
            name == domain or name.endswith(f".{domain}") for name in names for domain in domains
        )
        return DnsCheck.PASSED if is_own else DnsCheck.FAILED

    def _confirmed(self, address: str) -> tuple[str, ...] | None:
        """Return the names of an address that lead back to it; None if a lookup failed."""
        until = time.monotonic() + _SECONDS
        names = _within(until, lambda: self._resolver.names(address))
        if names is None:
            return None
        confirmed = []
        for name in names:
            found = _within(until, lambda name=name: self._resolver.addresses(name))  # type: ignore[misc]
            if found is None:
                return None
            if parse_address(address) in map(parse_address, found):
                confirmed.append(name.rstrip(".").lower())
        return tuple(confirmed)


def _within(until: float, ask: Callable[[], list[str] | None]) -> list[str] | None:
    """Return an answer, or None if it does not come in time: the system's resolver has no limit."""
    answers: queue.SimpleQueue[list[str] | None] = queue.SimpleQueue()
    try:
        threading.Thread(target=lambda: answers.put(ask()), daemon=True).start()
        return answers.get(timeout=max(until - time.monotonic(), 0.001))
    except (queue.Empty, RuntimeError):
        return None


def skipped_notice(count: int) -> str:
    """Return a sentence on addresses that were not looked up."""
    return f"{count_noun(count, 'address')} not looked up: a run looks up at most {MAX_LOOKUPS:,}"
