"""Times in logs: with a zone, without one, and in two columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from koster._cli.commands.logs import logs
from koster.bulk.judging import NEVER
from koster.logs._times import moments
from tests.helpers.log_samples import BOT, LINE, NOON, SAMPLES, Events

BERLIN = ZoneInfo("Europe/Berlin")
NOTICE = "Times have no time zone and are read as UTC; name it with --timezone Europe/Berlin"


def at(text: Any, zone: tzinfo = UTC, time_format: str = "") -> tuple[datetime | None, bool]:
    column = text if isinstance(text, pa.Array) else pa.array([text])
    (found,), is_local = moments(column, time_format, zone)
    if found == NEVER:
        return None, is_local
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(found)), is_local


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-10T12:00:00Z", "2026-03-10 13:00:00+01", "2026-03-10T13:00:00.000+0100",
        "2026-03-10T13:00+01:00", "10/Mar/2026:12:00:00 +0000", "[10/Mar/2026:13:00:00 +0100]",
        "1773144000", "1773144000.000", "1773144000000", "2026-03-10 12:00:00,000 UTC",
        "2026-03-10 12:00:00 Etc/UTC",
    ],
)  # fmt: skip
def test_times_with_a_zone_stay_as_they_are(text: str) -> None:
    assert at(text) == at(text, BERLIN) == (NOON, False)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-10T13:00:00", "2026-03-10 13:00:00.000", "2026-03-10 13:00", "2026/03/10 13:00:00",
        "10/Mar/2026:13:00:00", "[10/Mar/2026:13:00:00.000]", "10/Mar/2026:13:00:00.0000000",
        "2026-03-10 13:00:00,000",
    ],
)  # fmt: skip
def test_times_without_a_zone_are_those_of_the_one_that_is_named(text: str) -> None:
    assert at(text) == (NOON + timedelta(hours=1), True)
    assert at(text, BERLIN) == (NOON, True)
    assert at(text, timezone(timedelta(hours=1))) == (NOON, True)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        # Clocks are set from 02:00 to 03:00: a time between is as if they were not.
        ("2026-03-29 01:59:59", "00:59:59"), ("2026-03-29 02:30:00", "01:30:00"),
        ("2026-03-29 03:00:00", "01:00:00"),
        # They are set back from 03:00 to 02:00: the first of two moments counts.
        ("2026-10-25 01:59:59", "23:59:59"), ("2026-10-25 02:30:00", "00:30:00"),
        ("2026-10-25 03:00:00", "02:00:00"),
    ],
)  # fmt: skip
def test_clocks_that_change(text: str, utc: str) -> None:
    found, _ = at(text, BERLIN)
    assert found is not None
    assert f"{found:%H:%M:%S}" == utc
    assert found == datetime.fromisoformat(text).replace(tzinfo=BERLIN).astimezone(UTC)


def test_days_and_timestamps_of_tables() -> None:
    local = pa.array([datetime(2026, 3, 10, 13)], pa.timestamp("ms"))
    assert at(local, BERLIN) == (NOON, True)
    assert at(local.cast(pa.timestamp("ns", "UTC")), BERLIN) == (NOON + timedelta(hours=1), False)
    assert at(pa.array([20522], pa.date32())) == (NOON.replace(hour=0), True)
    assert at(pa.array([None], pa.timestamp("s"))) == (None, False)


def test_formats_of_strptime() -> None:
    assert at("2026-03-10 13:00", BERLIN, "%Y-%m-%d %H:%M") == (NOON, True)
    assert at("2026-03-10 13:00 +0100", BERLIN, "%Y-%m-%d %H:%M %z") == (NOON, False)
    assert at("2026-03-10 13:00 %z", BERLIN, "%Y-%m-%d %H:%M %%z") == (NOON, True)


@pytest.mark.parametrize(
    "text", ["", "-", "x", "[", "99/Foo/2026:00:00:00", "10/Mar/2026:13:00:00.x"]
)
def test_no_times(text: str) -> None:
    assert at(text, BERLIN) == (None, False)


def test_the_ends_of_the_calendar() -> None:
    for text in ("0001-01-01 00:00:00", "9999-12-31 23:59:59"):
        assert at(text, BERLIN)[1]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(content: str, name: str = "access.log") -> Path:
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


def local_line(name: str) -> str:
    return {
        "haproxy": SAMPLES["haproxy"],
        "caddy-console": SAMPLES["caddy-console"],
        "nginx-json": SAMPLES["nginx-json"].replace("13:00:00+01:00", "12:00:00"),
    }[name]


@pytest.mark.parametrize("name", ["haproxy", "caddy-console", "nginx-json"])
def test_a_notice_of_times_without_a_zone(name: str, write: Callable[..., Path]) -> None:
    path = write(local_line(name))
    found = Events([path])
    assert NOTICE in found.report.notices
    found = Events([path], timezone=BERLIN)
    assert found.report.notices == ()
    assert [row["time"].replace(microsecond=0) for row in found.rows] == [NOON - timedelta(hours=1)]


@pytest.mark.parametrize(
    "name", ["combined", "caddy", "w3c", "cloudfront-realtime", "cloudfront-json"]
)
def test_no_notice_of_times_with_a_zone(name: str, write: Callable[..., Path]) -> None:
    """W3C logs, and those of CloudFront, are in UTC."""
    path = write(SAMPLES[name])
    assert Events([path]).report.notices == ()
    found = Events([path], timezone=BERLIN)
    assert found.report.notices == (
        "--timezone Europe/Berlin is not used: all times have a time zone",
    )
    assert found.rows[0]["time"].replace(microsecond=0) == NOON


def test_a_date_and_a_time_in_two_keys(write: Callable[..., Path]) -> None:
    line = {"date": "2026-03-10", "time": "12:00:00Z", "path": "/b", "query": "c=1", "ua": BOT}
    other = line | {"time": "2026-03-10T12:00:00Z"}
    found = Events([write("".join(json.dumps(each) + "\n" for each in (line, other)))])
    assert found.column("time") == [NOON] * 2
    assert found.column("url") == ["/b?c=1"] * 2
    renamed = {"day": "2026-03-10", "clock": "12:00:00.5Z", "path": "/b", "q": "c=1", "ua": BOT}
    columns = {"date": "day", "time": "clock", "query": "q"}
    (row,) = Events([write(json.dumps(renamed))], columns=columns).rows
    assert (row["time"].replace(microsecond=0), row["url"]) == (NOON, "/b?c=1")


def test_a_date_and_a_time_in_two_columns(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(f"date,time,url,query,ua\n2026-03-10,13:00:00,/b,c=1,{BOT}\n", "a.csv")
    found = Events([path], timezone=BERLIN)
    assert (found.column("time"), found.column("url")) == ([NOON], ["/b?c=1"])
    table = pa.table({
        "date": pa.array([20522], pa.date32()),
        "time": pa.array([13 * 3600_000_000], pa.time64("us")),
        "url": ["/b"],
        "ua": [BOT],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    found = Events([tmp_path / "a.parquet"], timezone=BERLIN)
    assert found.column("time") == [NOON]
    assert NOTICE in Events([tmp_path / "a.parquet"]).report.notices


@pytest.mark.parametrize("name", ["Berlin", "../../etc/passwd", "Europe", "", "Europe/Berlin\0"])
def test_an_unknown_zone_is_wrong_usage(name: str, write: Callable[..., Path]) -> None:
    path = write(LINE)
    result = CliRunner().invoke(logs, [str(path), "--robots", str(path), "--timezone", name])
    assert result.exit_code == 2
    assert "is not a time zone" in result.output
    assert "Europe/Berlin" in result.output
