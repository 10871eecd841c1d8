"""Who made a request: names in headers, published ranges, reverse DNS and signatures."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from koster.errors import UnreadableError
from koster.logs import ReverseDns
from koster.logs._dns import MAX_LOOKUPS, DnsCheck
from koster.logs._identity import MAX_NAMES, STATUSES, Identities
from koster.logs._ranges import Published, bundled_data
from koster.logs._signatures import Signed, is_signed, keys_of
from tests.helpers.signing import directory, sign

#: In a range that OpenAI publishes, and in none.
OWN, FOREIGN = "132.196.86.12", "203.0.113.7"


@pytest.fixture(scope="module")
def identities() -> Identities:
    return Identities(["BadBot", "Mozilla", "ab"])


def name_in(identities: Identities, agent: str) -> str | None:
    number = identities.claimed(agent)
    return None if number < 0 else identities.names[number]


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot"),
        (("Mozilla/5.0 AppleWebKit (KHTML, like Gecko; compatible; bingbot/2.0;"
         " +http://www.bing.com/bingbot.htm) Chrome/116"), "bingbot"),
        ("AdsBot-Google-Mobile (+http://www.google.com/mobile/adsbot.html)",
         "AdsBot-Google-Mobile"),
        ("Googlebot-Image/1.0", "Googlebot-Image"),
        ("Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)", "Google-InspectionTool"),
        ("gptbot", "GPTBot"),
        ("Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)",
         "Sogou web spider"),
        ("BADBOT/1.0", "BadBot"),
        ("Diffbot/0.1+http://www.diffbot.com", "Diffbot"),
        ("GPTBot/1.2+www.x.example", "GPTBot"),
        ("GPTBot/1.2@x", "GPTBot"),
        # Names that are part of others, of addresses, or those of controls.
        ("MyGPTBot/1.0", None),
        ("GPTBot2", None),
        ("Mozilla/5.0 (+https://openai.com/GPTBot)", None),
        ("Mozilla/5.0 (gptbot@openai.com)", None),
        ("Google-Extended", None),
        ("Mozilla/5.0 (X11; Linux) ab", None),
        ("", None),
        ("-", None),
    ],
)  # fmt: skip
def test_name_in_a_header(identities: Identities, agent: str, expected: str | None) -> None:
    assert name_in(identities, agent) == expected


def test_lines_of_crawlers_are_found_however_spaces_are_written(identities: Identities) -> None:
    import re

    for line in ("Sogou web spider", "Sogou+web+spider", "Sogou%20web%20spider", "GPTBot"):
        assert any(re.search(each, line, re.IGNORECASE) for each in identities.expressions)
    person = "Mozilla/5.0 Chrome/1"
    assert not any(re.search(each, person, re.IGNORECASE) for each in identities.expressions)


def test_many_names_in_a_robots_txt() -> None:
    many = Identities([f"name{number}" for number in range(MAX_NAMES + 7)])
    assert many.skipped == 7
    assert name_in(many, "x (name4999)") == "name4999"
    assert name_in(many, "x (name5001)") is None
    assert all(each.count("name") <= 400 for each in many.expressions)


def statuses(
    identities: Identities,
    crawler: str,
    addresses: list[str | None],
    times: Any = None,
    **more: Any,
) -> list[str]:
    number = identities.claimed(crawler)
    numbers = np.full(len(addresses), number)
    moments = np.array([microseconds("2026-09-01")] * len(addresses) if times is None else times)
    columns = {"address": pa.array(addresses, pa.string()), **more}
    found = identities.verify(columns, numbers, moments)
    return [STATUSES[each].value for each in found]


def test_published_ranges(identities: Identities) -> None:
    addresses = [OWN, FOREIGN, f"::ffff:{OWN}", "host.example", None, "fe80::1%eth0"]
    assert statuses(identities, "GPTBot", addresses) == [
        "verified",
        "impostor",
        "verified",
        "unverified",
        "unverified",
        "impostor",
    ]


def test_crawlers_without_ranges_are_not_verified(identities: Identities) -> None:
    assert statuses(identities, "Bytespider", [OWN]) == ["unverified"]


def test_ranges_of_ipv6(identities: Identities) -> None:
    (prefix,) = bundled_data()["sources"]["commoncrawl-ccbot"]["ipv6"]
    address = prefix.partition("/")[0] + "1"
    assert statuses(identities, "CCBot", [address, "2001:db8::1"]) == ["verified", "impostor"]


def microseconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1e6)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., str]:
    def write(**files: Any) -> str:
        for name, data in files.items():
            (tmp_path / f"{name.replace('_', '-')}.json").write_text(json.dumps(data))
        return str(tmp_path)

    return write


def prefixes(*some: str) -> dict[str, Any]:
    kinds = {True: "ipv6Prefix", False: "ipv4Prefix"}
    return {"prefixes": [{kinds[":" in each]: each} for each in some]}


def test_dated_lists_hold_from_their_day(folder: Callable[..., str]) -> None:
    path = folder(
        claudebot_2026_03_01=prefixes("198.51.100.0/24"),
        claudebot_2026_06_01=prefixes("192.0.2.0/24"),
    )
    identities = Identities(ranges=path)
    times = [microseconds(day) for day in ("2026-01-01", "2026-04-01", "2026-07-01")]
    old = statuses(identities, "ClaudeBot", ["198.51.100.1"] * 3, times)
    new = statuses(identities, "ClaudeBot", ["192.0.2.1"] * 3, times)
    assert old == ["verified", "verified", "unverified"]
    assert new == ["unverified", "unverified", "verified"]
    assert statuses(identities, "ClaudeBot", [FOREIGN] * 3, times) == ["impostor"] * 3
    assert Published(path).days("ClaudeBot") == ("2026-03-01", "2026-06-01")


def test_lists_say_nothing_about_other_years(identities: Identities) -> None:
    times = [microseconds(day) for day in ("2019-01-01", "2026-01-01", "2028-01-01")]
    found = statuses(identities, "GPTBot", [OWN] * 3, times)
    assert found == ["unverified", "verified", "unverified"]
    found = statuses(identities, "GPTBot", [FOREIGN] * 3, times)
    assert found == ["unverified", "impostor", "unverified"]


def test_lists_are_for_all_crawlers_of_a_file(folder: Callable[..., str]) -> None:
    identities = Identities(ranges=folder(bots=prefixes("198.51.100.0/24")))
    for name in ("ClaudeBot", "Claude-SearchBot", "Claude-User"):
        assert statuses(identities, name, ["198.51.100.1", FOREIGN]) == ["verified", "impostor"]


def test_newer_list_of_the_folder_replaces_the_bundled_one(folder: Callable[..., str]) -> None:
    identities = Identities(ranges=folder(gptbot_2026_11_01=prefixes("198.51.100.0/24")))
    times = [microseconds("2026-10-01"), microseconds("2026-12-01")]
    assert statuses(identities, "GPTBot", [OWN] * 2, times) == ["verified", "unverified"]
    own = ["198.51.100.1"] * 2
    assert statuses(identities, "GPTBot", own, times) == ["unverified", "verified"]


@pytest.mark.parametrize(
    ("name", "crawler"),
    [
        ("special-crawlers", "AdsBot-Google"),
        ("user-triggered-agents", "Google-Agent"),
        ("perplexitybot", "PerplexityBot"),
        ("duckduckbot", "DuckDuckBot"),
        ("crawler-ip-ranges", "AhrefsBot"),
    ],
)
def test_lists_that_operators_moved_replace_the_bundled_ones(
    folder: Callable[..., str], name: str, crawler: str
) -> None:
    """The bundled ones were read at older addresses."""
    sources = bundled_data()["sources"].values()
    url = next(each for each in sources if f"/{name}" in each["upstream_url"])
    old = url["ipv4"][0].partition("/")[0]
    assert statuses(Identities(), crawler, [old]) == ["verified"]
    path = folder(**{name: prefixes("198.51.100.0/24")})
    assert statuses(Identities(ranges=path), crawler, [old]) == ["impostor"]


def test_list_without_a_day_holds_at_any_time(folder: Callable[..., str]) -> None:
    identities = Identities(ranges=folder(gptbot=prefixes("198.51.100.0/24")))
    times = [microseconds("2020-01-01"), microseconds("2030-01-01")]
    assert statuses(identities, "GPTBot", ["198.51.100.1"] * 2, times) == ["verified"] * 2
    assert statuses(identities, "GPTBot", [OWN] * 2, times) == ["impostor"] * 2


def test_creation_time_dates_a_list(folder: Callable[..., str]) -> None:
    data = prefixes("198.51.100.0/24") | {"creationTime": "2026-05-01T10:00:00.0"}
    assert Published(folder(claudebot=data)).days("ClaudeBot") == ("2026-05-01",)


def test_lists_of_names_in_the_robots_txt(folder: Callable[..., str]) -> None:
    identities = Identities(["PriceBot"], folder(pricebot=["198.51.100.0/24"]))
    assert statuses(identities, "PriceBot", ["198.51.100.1", FOREIGN]) == ["verified", "impostor"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nobody.json", "{}", "is not named after a known crawler"),
        ("gptbot.json", "{", "is not valid JSON"),
        ("gptbot-2026-13-01.json", "{}", "2026-13-01 is not a date"),
        ("gptbot.txt", "{}", "has no .json files"),
    ],
)
def test_invalid_folders(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UnreadableError, match=message):
        Identities(ranges=str(tmp_path))


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        Identities(ranges=str(tmp_path / "missing"))


def test_owner_of_an_address(identities: Identities) -> None:
    moment = microseconds("2026-09-01")
    assert identities.published.owner(OWN, moment) == "GPTBot"
    assert identities.published.owner(FOREIGN, moment) is None
    # Crawlers that obey different groups share this list.
    (prefix, *_) = bundled_data()["sources"]["google-special"]["ipv4"]
    assert identities.published.owner(prefix.partition("/")[0], moment) is None


class Names:
    """A resolver with a table: names by address, and addresses by name."""

    def __init__(self, names: dict[str, Any], addresses: dict[str, Any]) -> None:
        self._names, self._addresses = names, addresses
        self.asked: list[str] = []

    def names(self, address: str) -> list[str] | None:
        self.asked.append(address)
        found: list[str] | None = self._names.get(address, [])
        return found

    def addresses(self, name: str) -> list[str] | None:
        found: list[str] | None = self._addresses.get(name, [])
        return found


def test_reverse_dns() -> None:
    table = Names(
        {
            "192.0.2.1": ["crawl-1.search.msn.com."], "192.0.2.2": ["evil.example"],
            "192.0.2.3": ["fake.search.msn.com"], "192.0.2.4": None,
            "192.0.2.5": ["notsearch.msn.com"], "192.0.2.6": ["down.search.msn.com"],
            "2001:db8::1": ["six.search.msn.com"],
        },
        {
            "crawl-1.search.msn.com.": ["192.0.2.1"], "fake.search.msn.com": ["198.51.100.1"],
            "evil.example": ["192.0.2.2"], "notsearch.msn.com": ["192.0.2.5"],
            "down.search.msn.com": None, "six.search.msn.com": ["2001:0db8::0001"],
        },
    )  # fmt: skip
    identities = Identities(dns=ReverseDns(table))  # type: ignore[arg-type]
    addresses = [*(f"192.0.2.{number}" for number in range(1, 8)), "2001:db8::1"]
    expected = [
        "verified",
        "impostor",
        "impostor",
        "unverified",
        "impostor",
        "unverified",
        "impostor",
        "verified",
    ]
    assert statuses(identities, "bingbot", addresses * 2) == expected * 2
    assert sorted(table.asked) == sorted(addresses)


def test_reverse_dns_is_not_asked_of_verified_addresses_or_others() -> None:
    table = Names({}, {})
    identities = Identities(dns=ReverseDns(table))  # type: ignore[arg-type]
    (prefix, *_) = bundled_data()["sources"]["bing-bingbot"]["ipv4"]
    assert statuses(identities, "bingbot", [prefix.partition("/")[0]]) == ["verified"]
    assert statuses(identities, "Bytespider", [FOREIGN]) == ["unverified"]
    assert table.asked == []


def test_reverse_dns_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.logs._dns.MAX_LOOKUPS", 3)
    table = Names({}, {})
    dns = ReverseDns(table)  # type: ignore[arg-type]
    dns.look_up(f"192.0.2.{number}" for number in range(5))
    assert len(table.asked) == 3
    assert dns.skipped == 2
    assert dns.check("192.0.2.4", ["x.example"]) is DnsCheck.UNKNOWN
    assert MAX_LOOKUPS > 3


def test_slow_resolver_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr("koster.logs._dns._SECONDS", 0.05)
    stop = threading.Event()

    class Slow(Names):
        def names(self, address: str) -> list[str] | None:
            stop.wait(10)
            return []

    dns = ReverseDns(Slow({}, {}))  # type: ignore[arg-type]
    dns.look_up(["192.0.2.1"])
    assert dns.check("192.0.2.1", ["x.example"]) is DnsCheck.UNKNOWN
    stop.set()


MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("url", "options", "moment", "expected"),
    [
        ("https://shop.example/a", {}, MOMENT, True),
        ("https://shop.example/b?c", {}, MOMENT + timedelta(minutes=4), True),
        ("https://other.example/a", {}, MOMENT, False),
        ("https://shop.example/a", {}, MOMENT + timedelta(hours=1), False),
        ("https://shop.example/a", {}, MOMENT - timedelta(hours=1), False),
        ("https://shop.example/a", {"tag": "else"}, MOMENT, False),
        ("https://shop.example/a", {"covered_component_ids": ("signature-agent",)}, MOMENT, False),
        ("https://shop.example/a", {"expires": None}, MOMENT, False),
    ],
)  # fmt: skip
def test_signatures(url: str, options: Any, moment: datetime, expected: bool) -> None:
    headers = sign("https://shop.example/a", MOMENT, **options)
    assert is_signed(Signed("GET", url, headers), keys_of(directory()), moment) is expected


@pytest.mark.parametrize("damage", ["", "x", "sig1=:AAAA:", "sig1=()", "\x00", "sig1=:////:"])
def test_damaged_signatures_prove_nothing(damage: str) -> None:
    headers = sign("https://shop.example/a", MOMENT)
    keys = keys_of(directory())
    for name in ("Signature", "Signature-Input"):
        request = Signed("GET", "https://shop.example/a", headers | {name: damage})
        assert not is_signed(request, keys, MOMENT)
    assert not is_signed(Signed("GET", "::", headers), keys, MOMENT)
    assert not is_signed(Signed("GET", "https://shop.example/a", headers), {}, MOMENT)


def test_keys_of_other_kinds_are_skipped() -> None:
    others = [{"kty": "RSA"}, "x", {"kty": "OKP", "crv": "Ed25519", "x": "!!"}, {}]
    assert keys_of({"keys": others}) == {}


def test_signed_requests_are_verified(folder: Callable[..., str]) -> None:
    identities = Identities(ranges=folder(gptbot=directory()))
    signed = sign("https://shop.example/a", MOMENT)
    columns: dict[str, Any] = {
        "signature": pa.array([signed["Signature"], None, "x"]),
        "signature_input": pa.array([signed["Signature-Input"]] * 3),
        "signature_agent": pa.array([signed["Signature-Agent"]] * 3),
        "host": pa.array(["shop.example"] * 3),
        "method": pa.array(["GET"] * 3),
        "url": pa.array(["/a"] * 3),
        "agent": pa.array(["GPTBot"] * 3),
    }
    times = [int(MOMENT.timestamp() * 1e6)] * 3
    found = statuses(identities, "GPTBot", [FOREIGN] * 3, times, **columns)
    assert found == ["verified", "impostor", "impostor"]
