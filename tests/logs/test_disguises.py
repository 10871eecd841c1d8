"""One log with a known truth, in many disguises: each gives the truth, or a refusal."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from koster.bulk.duckdb import register
from koster.errors import UnreadableError
from koster.logs import (
    Options,
    Report,
    UnknownHostError,
    Version,
    Versions,
    analyze,
    follow,
)  # fmt: skip
from tests.helpers.support import EVERYTHING, NIGHTLY

START = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 30
#: Files in force from a day on. The crawlers of the log ask for pages of /private/ and /shop/.
FILES = {0: "", 10: "User-agent: *\nDisallow: /private/\n", 20: "User-agent: *\nDisallow: /shop/\n"}
LINES = 300_000 if NIGHTLY else 60_000 if EVERYTHING else 9_000
SITE = "shop.example"


@dataclass(frozen=True)
class Line:
    time: datetime
    address: str
    url: str
    agent: str
    method: str = "GET"
    host: str = SITE


#: Verdicts by identity: requests, violations, within the caching period, requests for the file.
Truth = dict[str, tuple[int, int, int, int]]


def disallowed(url: str, since: float, until: float) -> bool:
    """Return whether all files in force between two days disallow a URL."""
    days = sorted(FILES)
    ends = [*days[1:], 1_000]
    held = [FILES[day] for day, end in zip(days, ends, strict=True) if day <= until and end > since]
    return all(f"Disallow: {url[: url.index('/', 1) + 1]}\n" in file for file in held)


@cache
def log() -> tuple[list[Line], Truth]:
    """Return the lines of a log, in the order of time, and the truth about GPTBot.

    One GPTBot has a published address, and reads the file each eight hours: it obeys what it holds.
    It asks for the file by HEAD, too, which brings it no copy. Others, at any address, use its name
    and never read the file: they break each rule.
    """
    source = random.Random(20261130)
    lines: list[Line] = []
    robots = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
    people = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140 Safari/537"
    verified, impostor = [0, 0, 0, 0], [0, 0, 0, 0]
    places = sorted(source.random() * DAYS for _ in range(LINES))
    last_fetch = -1.0
    for day in places:
        moment = START + timedelta(days=day)
        fetched = int((day - 0.2) * 3) / 3 + 0.2
        if day > 0.2 and fetched > last_fetch and fetched < day:
            lines.append(Line(START + timedelta(days=fetched), "192.0.2.7", "/robots.txt", robots))
            verified[3] += 1
            last_fetch = fetched
        # Far from the moments at which seconds matter.
        if last_fetch < 0 or (day - 0.2) % (1 / 3) < 0.02 or (day + 0.02) % 10 < 0.04:
            continue
        url = f"/{source.choice(('private', 'shop', 'a'))}/{source.randrange(1_000)}"
        kind = source.randrange(4)
        if kind == 0:
            if disallowed(url, last_fetch, last_fetch):
                url = "/a/instead"
            lines.append(Line(moment, "192.0.2.7", url, robots))
            verified[0] += 1
            verified[2] += disallowed(url, day, day)
            lines.append(Line(moment, "192.0.2.7", "/robots.txt", robots, "HEAD"))
            verified[3] += 1
        elif kind == 1:
            lines.append(Line(moment, f"198.51.100.{source.randrange(250)}", url, robots))
            impostor[0] += 1
            is_violation = disallowed(url, day - 1, day)
            impostor[1] += is_violation
            impostor[2] += disallowed(url, day, day) and not is_violation
        else:
            lines.append(Line(moment, f"203.0.113.{source.randrange(250)}", url, people))
    lines.sort(key=lambda line: line.time)
    return lines, {"verified": tuple(verified), "impostor": tuple(impostor)}  # type: ignore[dict-item]


def versions() -> Versions:
    some = (
        Version(str(day), START + timedelta(days=day - 365 * (day == 0)), text.encode())
        for day, text in FILES.items()
    )
    return Versions("test", tuple(some))


@pytest.fixture
def options(tmp_path: Path) -> Options:
    folder = tmp_path / "ranges"
    folder.mkdir()
    (folder / "gptbot.json").write_text('{"prefixes": [{"ipv4Prefix": "192.0.2.0/28"}]}')
    return Options(ranges=str(folder))


def found_in(report: Report) -> Truth:
    return {
        str(each.identified): (
            each.requests, each.violations, each.within_caching_period, each.robots_txt,
        )
        for each in report.crawlers
    }  # fmt: skip


def combined(lines: Iterable[Line], zone: str = "+0000") -> str:
    return "".join(
        f'{each.address} - - [{each.time:%d/%b/%Y:%H:%M:%S} {zone}] "{each.method} {each.url} '
        f'HTTP/1.1" 200 1 "-" "{each.agent}"\n'
        for each in lines
    )


def shuffled(lines: list[Line]) -> list[Line]:
    found = list(lines)
    random.Random(1).shuffle(found)
    return found


def by_address(lines: list[Line]) -> list[Line]:
    return sorted(lines, key=lambda each: each.address)


def table(lines: list[Line]) -> pa.Table:
    return pa.table({
        "time": pa.array([each.time for each in lines], pa.timestamp("us", "UTC")),
        "client_ip": [each.address for each in lines],
        "method": [each.method for each in lines],
        "url": [each.url for each in lines],
        "status": pa.array([200] * len(lines), pa.int32()),
        "user_agent": [each.agent for each in lines],
    })  # fmt: skip


def as_parquet(lines: list[Line], path: Path) -> None:
    pyarrow.parquet.write_table(table(by_address(lines)), path)


def as_csv(lines: list[Line], path: Path) -> None:
    pyarrow.csv.write_csv(table(shuffled(lines)), path)


def as_two_sites(lines: list[Line], path: Path) -> None:
    others = [Line(each.time, each.address, "/shop/x", each.agent, host="b.example")
              for each in lines[::2]]  # fmt: skip
    both = sorted([*lines, *others], key=lambda each: each.time)
    path.write_text("".join(f"{each.host}:443 {combined([each])}" for each in both))


def as_absolute_urls(lines: list[Line], path: Path) -> None:
    """Varnish and load balancers write the whole URL."""
    some = [Line(each.time, each.address, f"http://{each.host}{each.url}", each.agent, each.method)
            for each in lines]  # fmt: skip
    path.write_text(combined(some))


BERLIN = ZoneInfo("Europe/Berlin")


def as_local_times(lines: list[Line], path: Path) -> None:
    """In summer time for two days: the clocks are set forward on 29 March 2026."""
    path.write_text("".join(
        json.dumps({
            "time": f"{each.time.astimezone(BERLIN):%Y-%m-%d %H:%M:%S}", "remote_addr": each.address,
            "request": f"{each.method} {each.url} HTTP/1.1", "status": 200,
            "http_user_agent": each.agent,
        }) + "\n"
        for each in lines
    ))  # fmt: skip


def as_cloudfront(lines: list[Line], path: Path) -> None:
    """With percent-encoded User-Agents."""
    fields = "date time x-edge-location c-ip cs-method cs-uri-stem sc-status cs(User-Agent)"
    rows = (
        f"{each.time:%Y-%m-%d\t%H:%M:%S}\tFRA2\t{each.address}\t{each.method}\t{each.url}\t200\t"
        f"{quote(each.agent)}\n"
        for each in lines
    )
    path.write_text(f"#Version: 1.0\n#Fields: {fields}\n{''.join(rows)}")


#: Disguises by name: how it is written, its file, and whether a notice says that it was sorted.
WHOLE: dict[str, tuple[Callable[[list[Line], Path], object], str, bool]] = {
    "plain": (lambda lines, path: path.write_text(combined(lines)), "a.log", False),
    "shuffled": (lambda lines, path: path.write_text(combined(shuffled(lines))), "a.log", True),
    "descending": (lambda lines, path: path.write_text(combined(lines[::-1])), "a.log", True),
    "by address": (lambda lines, path: path.write_text(combined(by_address(lines))), "a.log", True),
    "Parquet": (as_parquet, "a.parquet", True),
    "CSV": (as_csv, "a.csv", True),
    "absolute URLs": (as_absolute_urls, "a.log", False),
    "without zone": (as_local_times, "a.log", False),
    "percent-encoded": (as_cloudfront, "a.log", False),
}


@pytest.mark.parametrize("disguise", WHOLE)
def test_order_and_container_change_nothing(
    disguise: str, tmp_path: Path, options: Options
) -> None:
    lines, truth = log()
    write, name, is_sorted = WHOLE[disguise]
    write(lines, tmp_path / name)
    zone = BERLIN if disguise == "without zone" else None
    report = analyze([str(tmp_path / name)], versions(), replace(options, timezone=zone))
    assert found_in(report) == truth
    assert any("not in the order of time" in each for each in report.notices) is is_sorted
    assert not report.errors


def test_the_truth_has_what_it_tells_apart() -> None:
    truth = log()[1]
    assert truth["verified"][1] == 0
    assert min(truth["verified"][0], truth["verified"][2], truth["verified"][3]) > 0
    assert min(truth["impostor"][:3]) > 0


def test_two_sites(tmp_path: Path, options: Options) -> None:
    lines, truth = log()
    as_two_sites(lines, tmp_path / "a.log")
    report = analyze([str(tmp_path / "a.log")], versions(), replace(options, host=SITE))
    assert found_in(report) == truth
    both = analyze([str(tmp_path / "a.log")], versions(), options)
    assert any("The log is of 2 sites" in each for each in both.notices)


def test_split_over_files(tmp_path: Path, options: Options) -> None:
    lines, truth = log()
    for number in range(5):
        (tmp_path / f"{number}.log").write_text(combined(lines[number::5]))
    report = analyze([str(tmp_path)], versions(), options)
    assert found_in(report) == truth
    assert not [each for each in report.notices if "order of time" in each]


def test_events_and_duckdb_judge_alike(tmp_path: Path, options: Options) -> None:
    """The events have the columns that ``judge`` needs: an impostor shares no copy."""
    lines, _ = log()
    (tmp_path / "a.log").write_text(combined(shuffled(lines)))
    batches: list[Any] = []
    analyze([str(tmp_path / "a.log")], versions(), options, batches.append)
    events = pa.Table.from_batches(batches)
    times = events["time"].to_pylist()
    assert times == sorted(times)
    files = pa.table({
        "since": pa.array([each.since for each in versions().versions], pa.timestamp("us", "UTC")),
        "body": [each.body for each in versions().versions],
        "label": [each.label for each in versions().versions],
    })  # fmt: skip
    with duckdb.connect() as con:
        register(con)
        con.register("requests", events.rename_columns([
            {"verdict": "known", "disallowed": "d", "version": "v", "line": "l", "rule": "r"}
            .get(name, name) for name in events.schema.names
        ]))  # fmt: skip
        con.register("versions", files)
        query = """
            SELECT count(*), count(*) FILTER (
                known = verdict AND d = disallowed AND v IS NOT DISTINCT FROM version
                AND l IS NOT DISTINCT FROM line AND r IS NOT DISTINCT FROM rule
            )
            FROM robots_judge('requests', 'versions')
        """
        count, equal = con.execute(query).fetchone() or (0, 0)
    assert count == equal == len(events)


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("c.example", "No crawler asked c.example in the log; crawlers asked shop.example and b.example"),
        ("SHOP.example:443", ""),
    ],
)  # fmt: skip
def test_a_host_that_the_log_lacks_is_refused(
    tmp_path: Path, options: Options, host: str, message: str
) -> None:
    lines, truth = log()
    as_two_sites(lines[:500], tmp_path / "a.log")
    if not message:
        as_two_sites(lines, tmp_path / "a.log")
        report = analyze([str(tmp_path / "a.log")], versions(), replace(options, host=host))
        assert found_in(report) == truth
        return
    with pytest.raises(UnknownHostError, match=message):
        analyze([str(tmp_path / "a.log")], versions(), replace(options, host=host))


def test_a_log_without_sites_cannot_be_asked_for_one(tmp_path: Path, options: Options) -> None:
    (tmp_path / "a.log").write_text(combined(log()[0][:500]))
    with pytest.raises(UnknownHostError, match="its lines do not name the site"):
        analyze([str(tmp_path / "a.log")], versions(), replace(options, host=SITE))


def test_a_log_that_is_followed_must_be_in_order(tmp_path: Path, options: Options) -> None:
    (tmp_path / "a.log").write_text(combined(by_address(log()[0][:2_000])))
    (tmp_path / "robots.txt").write_text(FILES[10])
    with pytest.raises(UnreadableError, match=r"not in the order of time: a line is .* older"):
        next(follow(str(tmp_path / "a.log"), str(tmp_path / "robots.txt"), options))
