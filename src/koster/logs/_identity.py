"""Who made a request: the crawler that its User-Agent claims, and whether that was verified."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from .._moments import EPOCH, later
from ..bulk._arrow import Numbers, np
from ..bulk.judging import NEVER
from ..crawlers import Obeys, known
from ._dns import DnsCheck, ReverseDns
from ._ranges import Published, bundled_data
from ._signatures import Signed, is_signed

#: The maximum number of headers, and of addresses with their crawler, that are remembered.
_MAX_AGENTS = 20_000
_MAX_ADDRESSES = 100_000

#: The maximum length of a header that is remembered, and of one that is read: servers refuse longer
#: ones.
_MAX_CACHED = 1000
HEADER_CHARACTERS = 8192

#: Names in a robots.txt that are too common in headers of people to be the name of a crawler.
_NOT_NAMES = frozenset({
    "mozilla", "compatible", "chrome", "safari", "firefox", "edge", "edg", "opera", "opr", "gecko",
    "khtml", "applewebkit", "mobile", "version", "windows", "linux", "android", "macintosh",
    "iphone", "ipad", "x11", "like", "mac", "msie", "trident",
})  # fmt: skip
_MIN_NAME = 3

#: The maximum number of names that a robots.txt adds, and of names in an expression: more do not
#: fit into the memory that RE2 has for one, and make it slow.
MAX_NAMES = 5_000
_NAMES_AT_ONCE = 400

#: Names that are whole words, which need no expression of their own.
_WORD = re.compile(r"[a-z0-9_-]+")

#: Words with an address, which name the operator, not the crawler.
_ADDRESS = re.compile(
    r"(?<![a-z0-9.-])(?:[a-z][a-z0-9.-]*+://|www\.)[^ ();,]*"
    r"|(?<![a-z0-9._-])[a-z0-9._-]++@[^ ();,]*"
)


class Identified(enum.StrEnum):
    """What is known about the identity of a crawler."""

    VERIFIED = "verified"
    """Its address is in the operator's ranges or domains, or it signed the request."""
    IMPOSTOR = "impostor"
    """It is not, although the operator publishes all of them."""
    UNVERIFIED = "unverified"
    """The operator publishes none, or those of another time have the address."""


STATUSES = tuple(Identified)
VERIFIED, IMPOSTOR, UNVERIFIED = range(len(STATUSES))


class Identities:
    """Recognizes crawlers: those of the registry, and those that a robots.txt names.

    ``names`` are all of them; a crawler's number is its index.
    """

    def __init__(
        self,
        named: Iterable[str] = (),
        ranges: str | None = None,
        dns: ReverseDns | None = None,
    ) -> None:
        self.records = {
            each.token.lower(): each for each in known() if each.obeys is not Obeys.CONTROL
        }
        tokens = {each.token.lower(): each.token for each in self.records.values()}
        usable = [
            name for name in named if len(name) >= _MIN_NAME and name.lower() not in _NOT_NAMES
        ]
        #: Names that were not added: too many.
        self.skipped = max(len(usable) - MAX_NAMES, 0)
        for name in usable[:MAX_NAMES]:
            tokens.setdefault(name.lower(), name)
        self.names = list(tokens.values())
        self._numbers = {token: number for number, token in enumerate(tokens)}
        self.published = Published(ranges, self.names)
        self.dns = dns
        self._domains = _domains(self.records)
        longest_first = sorted(tokens, key=lambda token: (-len(token), token))
        others = [token for token in longest_first if not _WORD.fullmatch(token)]
        self._search = re.compile(
            rf"(?<![a-z0-9_-])(?:{'|'.join(map(re.escape, others))})(?![a-z0-9_-])"
        )
        #: What the lines of a log with one of the names match, without regard to case; a space may
        #: be "+" or "%20" there.
        self.expressions = [
            "|".join(re.escape(token).replace(r"\ ", "(?: |[+]|%20)") for token in some)
            for some in _batched(longest_first)
        ]
        self._claimed = lru_cache(_MAX_AGENTS)(self._find_claim)
        self._checked = lru_cache(_MAX_ADDRESSES)(self._check_ranges)
        self._owner = lru_cache(_MAX_ADDRESSES)(self._find_owner)

    def claimed(self, agent: str) -> int:
        """Return the number of the crawler that a User-Agent header claims, or -1.

        The longest name counts, the first of equal length.
        """
        if len(agent) > _MAX_CACHED:
            return self._find_claim(agent[:HEADER_CHARACTERS])
        return self._claimed(agent)

    def _find_claim(self, agent: str) -> int:
        text = agent.lower()
        if "://" in text or "@" in text or "www." in text:
            text = _ADDRESS.sub("\n", text)
        names = self._numbers.keys() & {*_WORD.findall(text), *self._search.findall(text)}
        best = max(names, key=lambda name: (len(name), -text.find(name)), default=None)
        return -1 if best is None else self._numbers[best]

    def of_agents(self, agents: Any) -> Numbers:
        """Return the numbers of the crawlers of a column of headers; -1 for others."""
        column = agents.dictionary_encode()
        numbers = np.array(
            [self.claimed(_text(each)) for each in column.dictionary.to_pylist()] or [-1], np.int32
        )
        codes = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return np.where(column.is_valid().to_numpy(zero_copy_only=False), numbers[codes], -1)

    def of_addresses(self, addresses: Any, times: Numbers) -> Numbers:
        """Return the numbers of the crawlers whose published ranges have addresses, or -1.

        For logs without User-Agents.
        """
        column = addresses.dictionary_encode()
        moment = int(times.max(initial=0))
        texts = map(_text, column.dictionary.to_pylist())
        numbers = np.array([self._owner(each, moment // 86_400_000_000) for each in texts] or [-1])
        codes = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return np.where(column.is_valid().to_numpy(zero_copy_only=False), numbers[codes], -1)

    def _find_owner(self, address: str, day: int) -> int:
        token = self.published.owner(address, day * 86_400_000_000)
        return -1 if token is None else self._numbers.get(token.lower(), -1)

    def verify(self, requests: Mapping[str, Any], numbers: Numbers, times: Numbers) -> Numbers:
        """Return what is known about the identity of each request: indices into `STATUSES`.

        ``requests`` are columns; those with signatures are used if they exist.
        """
        found = np.full(len(numbers), UNVERIFIED, np.uint8)
        if "address" in requests:
            addresses = requests["address"].dictionary_encode()
            texts = list(map(_text, addresses.dictionary.to_pylist()))
            codes = addresses.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
            self._verify_addresses(texts, codes, numbers, times, found)
        if self.published.keys and "signature" in requests:
            self._verify_signatures(requests, numbers, times, found)
        return found

    def _verify_addresses(
        self, texts: list[str], codes: Numbers, numbers: Numbers, times: Numbers, found: Numbers
    ) -> None:
        # The lists of a crawler change in time: a pair has a status for each of these periods.
        periods = np.zeros(len(numbers), np.int64)
        changes: dict[int, list[int] | None] = {}
        for number in np.unique(numbers).tolist():
            moments = changes[number] = self.published.changes(self.names[number])
            if moments:
                rows = numbers == number
                periods[rows] = np.searchsorted(np.array(moments), times[rows], side="right")
        pairs = numbers.astype(np.int64) * (len(texts) + 1) + codes + 1
        pairs = pairs * (int(periods.max(initial=0)) + 1) + periods
        distinct, first, which = np.unique(pairs, return_index=True, return_inverse=True)
        statuses = np.full(len(distinct), UNVERIFIED, np.uint8)
        for place, row in enumerate(first.tolist()):
            moments = changes[int(numbers[row])]
            if moments is not None and codes[row] >= 0:
                period = int(periods[row])
                statuses[place] = self._checked(
                    self.names[numbers[row]],
                    texts[codes[row]],
                    moments[period - 1] if period else NEVER,
                )
        found[:] = statuses[which.reshape(-1)]
        if self.dns is not None:
            self._look_up(texts, codes, numbers, found)

    def _check_ranges(self, name: str, address: str, moment: int) -> int:
        has = self.published.has(name, address, moment)
        return UNVERIFIED if has is None else VERIFIED if has else IMPOSTOR

    def _look_up(self, texts: list[str], codes: Numbers, numbers: Numbers, found: Numbers) -> None:
        """Check the addresses that are in no range by reverse DNS."""
        dns = self.dns
        if dns is None:
            return
        rows = [
            row
            for row in np.flatnonzero(found != VERIFIED)
            if codes[row] >= 0 and self.names[numbers[row]].lower() in self._domains
        ]
        dns.look_up(texts[codes[row]] for row in rows)
        for row in rows:
            check = dns.check(texts[codes[row]], self._domains[self.names[numbers[row]].lower()])
            if check is DnsCheck.PASSED:
                found[row] = VERIFIED
            elif check is DnsCheck.FAILED:
                found[row] = IMPOSTOR
            else:
                # The ranges do not have it, but the operator may prove it by DNS.
                found[row] = UNVERIFIED

    def _verify_signatures(
        self, requests: Mapping[str, Any], numbers: Numbers, times: Numbers, found: Numbers
    ) -> None:
        signed = requests["signature"].is_valid().to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(signed & (found != VERIFIED)):
            keys = self.published.keys.get(self.names[numbers[row]].lower())
            if not keys:
                continue
            values = {name: _text(column[int(row)].as_py()) for name, column in requests.items()}
            url = values["url"]
            if url.startswith("/"):
                url = f"https://{values.get('host', '')}{url}"
            headers = {
                "Signature": values["signature"],
                "Signature-Input": values.get("signature_input", ""),
                "Signature-Agent": values.get("signature_agent", ""),
                "User-Agent": values.get("agent", ""),
            }
            request = Signed(values.get("method", "GET").upper(), url, headers)
            if is_signed(request, keys, later(EPOCH, int(times[row]) / 1e6)):
                found[row] = VERIFIED


def _batched(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), _NAMES_AT_ONCE):
        yield names[start : start + _NAMES_AT_ONCE]


def _domains(records: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the domains that prove a crawler, by its token in lower case."""
    found = {
        token: tuple(each.strip(".").lower() for each in record.verification.domains)
        for token, record in records.items()
    }
    for each in bundled_data()["crawlers"].values():
        token = each["ua"].lower()
        if not found.get(token):
            found[token] = tuple(name.strip(".").lower() for name in each["rdns_suffixes"] or ())
    return {token: domains for token, domains in found.items() if domains}


def _text(raw: Any) -> str:
    if raw is None:
        return ""
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
