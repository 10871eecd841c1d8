"""Log files: formats, compression, rotation, several servers, tables, and what cannot be read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from koster._reports.logs import Judged, as_page
from koster.logs import FORMATS, FormatError, Version, Versions
from koster.logs import _blocks as blocks_module
from koster.logs._blocks import Block, blocks
from koster.logs._detection import detect, format_of
from koster.logs._explaining import looks_like
from koster.logs._formats import reader_of
from koster.logs._patterns import from_apache, from_nginx, from_w3c
from tests.helpers import signing
from tests.helpers.log_samples import BOT, NOON, SAMPLES, Events, combined
from tests.helpers.support import sampled

ROBOTS = Versions("test", (Version("1", None, b"User-agent: *\nDisallow: /private/"),))


def test_signed_requests_in_caddy_logs(write: Callable[..., Path], tmp_path: Path) -> None:
    ranges = tmp_path / "ranges"
    ranges.mkdir()
    (ranges / "gptbot.json").write_text(json.dumps(signing.directory()))
    signed = signing.sign("https://shop.example/private/a?x=1", NOON)
    line = json.loads(SAMPLES["caddy"])
    for name, value in signed.items():
        line["request"]["headers"][name] = [value]
    other = json.loads(json.dumps(line))
    other["request"]["host"] = "other.example"
    found = Events([write(json.dumps(line) + "\n" + json.dumps(other) + "\n")], ranges=str(ranges))
    assert found.column("identified") == ["verified", "impostor"]


NO_JSON = ('{"ts": 1', "# comment", '{"a": "\\x22"}', '{"a": "\\ud800"}', "[1]", "nul", '"x"', "{}")


@pytest.mark.parametrize(
    ("name", "bad"),
    sampled([(name, bad) for bad in NO_JSON for name in ("caddy", "nginx-json")], 3),
)
def test_lines_that_are_no_json(name: str, bad: str, write: Callable[..., Path]) -> None:
    found = Events([write(SAMPLES[name] * 20 + bad)])
    assert len(found.rows) == 20
    assert found.report.errors == ()


def test_a_log_in_the_wrong_order_is_noticed(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.logs._files.blocks.__defaults__", (2000,))
    text = "".join(combined(-3600 * number) for number in range(100))
    assert "is not in the order of time" in Events([write(text)]).report.notices[0]
    text = "".join(combined(3600 * number) for number in range(100))
    assert Events([write(text)]).report.notices == ()


def test_times_at_the_end_of_the_calendar(write: Callable[..., Path]) -> None:
    line = json.loads(SAMPLES["nginx-json"])
    times = ("9999-12-31T23:59:59Z", "290000-01-01T00:00:00Z", "0001-01-01T00:00:00Z")
    text = "".join(json.dumps(line | {"time_iso8601": time}) + "\n" for time in times)
    found = Events([write(text)])
    assert as_page(Judged(found.report))


def test_other_crawlers_count_when_one_is_chosen(write: Callable[..., Path]) -> None:
    """The server told another crawler that there is no robots.txt."""
    text = combined(0, "/robots.txt", "bingbot/2.0").replace(" 200 ", " 404 ")
    path = write(text + combined(60, "/private/a"))
    assert Events([path], agents=("GPTBot",)).column("verdict") == ["within_caching_period"]


def test_cloudfront(write: Callable[..., Path]) -> None:
    agent = BOT.replace(" ", "%20").replace("/", "%2F")
    text = (
        "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) "
        "cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header\n"
        f"2026-03-10\t12:00:00\tFRA2\t1\t1.2.3.4\tGET\td111.cloudfront.net\t/private/a\t200\t-\t"
        f"{agent}\t-\tshop.example\n"
    )
    (row,) = Events([write(text)]).rows
    assert (row["url"], row["host"], row["agent"]) == ("/private/a", "shop.example", BOT)


def test_fields_of_w3c_logs_may_change(write: Callable[..., Path]) -> None:
    text = SAMPLES["w3c"] + (
        "#Fields: time date cs-uri-stem cs(User-Agent) c-ip\n"
        "12:01:00 2026-03-10 /b GPTBot 1.2.3.4\n#Fields: nothing\n12:02:00\n"
    )
    found = Events([write(text)])
    assert found.column("url") == ["/private/a?x=1", "/b"]
    assert (found.report.lines, found.report.unreadable) == (3, 1)


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ('%h %l %u %{%Y-%m-%d %H:%M:%S %z}t "%r" %>s "%{User-Agent}i"',
         '1.2.3.4 - - 2026-03-10 12:00:00 +0000 "GET /b HTTP/1.1" 200 "GPTBot"'),
        ('%a %{sec}t %m %U%q %>s \\"%{User-agent}i\\" %D',
         '1.2.3.4 1773144000 GET /b?c 200 "GPTBot" 17'),
        ('%{msec}t %>s "%r" "%{User-Agent}i" %{X-Forwarded-For}i',
         '1773144000123 200 "GET /b HTTP/2.0" "GPTBot" 5.6.7.8, 9.9.9.9'),
        ('$remote_addr [$time_local] "$request" $status "$http_user_agent" $request_time',
         '1.2.3.4 [10/Mar/2026:12:00:00 +0000] "GET /b HTTP/1.1" 200 "GPTBot" 0.001'),
        ("'$msec $host $request_method $request_uri ' \n '$status \"$http_user_agent\"';",
         '1773144000.123 shop.example GET /b 200 "GPTBot"'),
        ('${time_iso8601}|$remote_addr|$request_method|$uri|$args|$status|$http_user_agent',
         "2026-03-10T12:00:00+00:00|1.2.3.4|GET|/b|c=1|200|GPTBot"),
    ],
)  # fmt: skip
def test_format_strings(form: str, line: str, write: Callable[..., Path]) -> None:
    found = Events([write(line + "\n")], format=form)
    assert found.report.unreadable == 0
    (row,) = found.rows
    assert row["time"].replace(microsecond=0) == NOON
    assert row["url"] in ("/b", "/b?c", "/b?c=1")
    assert (row["method"], row["status"], row["crawler"]) == ("GET", 200, "GPTBot")


@pytest.mark.parametrize(
    "form",
    [
        r'LogFormat "%a %t \"%r\" %>s \"%{User-Agent}i\"" mine',
        r'"%a %t \"%r\" %>s \"%{User-Agent}i\""',
        """log_format mine '$remote_addr [$time_local] "$request" '
            '$status "$http_user_agent"';""",
        """escape=default '$remote_addr [$time_local] "$request" $status "$http_user_agent"'""",
    ],
)
def test_formats_may_be_pasted_from_a_configuration(form: str, write: Callable[..., Path]) -> None:
    line = f'1.2.3.4 [10/Mar/2026:12:00:00 +0000] "GET /b HTTP/1.1" 200 "{BOT}"\n'
    (row,) = Events([write(line)], format=form).rows
    assert (row["url"], row["agent"]) == ("/b", BOT)


def test_agent_without_quotes_may_have_spaces(write: Callable[..., Path]) -> None:
    line = f"1773144000 /b {BOT}\n"
    (row,) = Events([write(line)], format="$msec $request_uri $http_user_agent").rows
    assert row["agent"] == BOT


@pytest.mark.parametrize("user", ["evil [x", "a] b", "x [10/Mar/2026:00:00:00 +0000]"])
def test_users_cannot_hide_their_requests(user: str, write: Callable[..., Path]) -> None:
    """The name is that of HTTP authentication, which a client chooses."""
    (row,) = Events([write(combined(0).replace("- - [", f"- {user} ["))]).rows
    assert row["time"] == NOON


def test_lines_that_begin_with_space_or_a_number_sign_count(write: Callable[..., Path]) -> None:
    form = '$http_user_agent [$time_local] "$request"'
    line = '#x GPTBot [10/Mar/2026:12:00:00 +0000] "GET /b HTTP/1.1"\n'
    found = Events([write(line + " \n" + line[2:])], format=form)
    assert (found.report.lines, len(found.rows)) == (2, 2)


def test_query_of_its_own_key(write: Callable[..., Path]) -> None:
    line = {"msec": 1773144000, "uri": "/b", "args": "c=1", "agent": BOT}
    other = line | {"uri": "/b?c=1"}
    found = Events([write(json.dumps(line) + "\n" + json.dumps(other) + "\n")])
    assert found.column("url") == ["/b?c=1"] * 2


def test_files_that_begin_at_the_same_moment_are_in_the_order_of_writing(
    write: Callable[..., Path],
) -> None:
    old, new = write(combined(0, "/1"), "access.log.1"), write(combined(0, "/2"), "access.log")
    os.utime(old, (1, 1))
    os.utime(new, (2, 2))
    assert Events([new, old]).column("url") == ["/1", "/2"]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("xyz", "unknown log format 'xyz': use .*vhost_combined, combined"),
        ("%h %l", "the format has no time and no request"),
        ("%t %r %Y", "invalid LogFormat"),
        ("$status", "the format has no time, request and no User-Agent"),
    ],
)
def test_invalid_formats(form: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        format_of(form)


def test_patterns_need_a_time_a_request_and_a_crawler() -> None:
    assert from_apache('%t "%r" %h').fields == ("time", "request", "address")
    assert from_nginx("$msec $request_uri $http_user_agent").fields == ("time", "url", "agent")
    with pytest.raises(FormatError, match="no time"):
        from_w3c(["cs-uri-stem", "c-ip"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2026/03/01 10:00:00 [error] 1#1: *1 open() failed", "an nginx error log"),
        ("[Sun Mar 01 10:00:00.1 2026] [core:error] x", "an Apache error log"),
        ("<!DOCTYPE html>", "an HTML page"),
        ("User-agent: *", "a robots.txt"),
        ("a,b,c,d", "a table"),
        ('{"a": 1, "b": 2}', "JSON with the keys a, b"),
        ("Mar  1 10:00:00 host nginx: 1.2.3.4 - -", "a log with the prefix of syslog"),
        ("\0\1", "binary data"),
        ("hello", 'lines such as "hello"'),
    ],
)
def test_other_files_are_described(text: str, words: str, write: Callable[..., Path]) -> None:
    assert words in looks_like(text.encode())
    found = Events([write(text + "\n")])
    (error,) = found.report.errors
    assert words in error
    assert "--log-format" in error


def test_empty_and_missing_files(write: Callable[..., Path], tmp_path: Path) -> None:
    found = Events([write(""), tmp_path / "missing.log"])
    assert "access.log: the file is empty" in found.report.errors[0]
    assert "No such file" in found.report.errors[1]


def test_unreadable_lines_are_counted_and_sampled(write: Callable[..., Path]) -> None:
    text = combined(0) + "garbage\n" + combined(1) + 'x "\n\n' + combined(2)
    found = Events([write(text)])
    assert (found.report.lines, found.report.unreadable, len(found.rows)) == (5, 2, 3)
    assert [line for _, line in found.report.samples] == ["garbage", 'x "']
    assert found.report.errors == ()


def test_half_unreadable_is_an_error(write: Callable[..., Path]) -> None:
    # The start is readable: the format is detected.
    text = combined(0) * 2000 + "User-agent: *\n" * 3000
    found = Events([write(text)])
    assert len(found.rows) == 2000
    (error,) = found.report.errors
    assert "3,000 of 5,000 lines could not be read as combined" in error
    assert "a robots.txt" in error


def test_time_that_is_none_is_unreadable(write: Callable[..., Path]) -> None:
    text = combined(0) + combined(0).replace("10/Mar", "99/Foo") + combined(1)
    found = Events([write(text)])
    assert (found.report.unreadable, len(found.rows)) == (1, 2)


def to_zstd(data: bytes) -> bytes:
    return pa.compress(data, "zstd", asbytes=True)  # type: ignore[no-any-return]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, to_zstd])
def test_compressed_files(compress: Any, write: Callable[..., Path]) -> None:
    one, two = combined(0).encode(), combined(1, "/b").encode()
    # Rotated files are often concatenated.
    found = Events([write(compress(one) + compress(two), "any-name")])
    assert found.column("url") == ["/a", "/b"]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, to_zstd])
def test_truncated_compressed_files(compress: Any, write: Callable[..., Path]) -> None:
    import random

    source = random.Random(1)
    text = "".join(combined(n, f"/{source.random()}") for n in range(5_000)).encode()
    data = compress(text)
    found = Events([write(data[: len(data) * 2 // 3])])
    assert found.report.errors
    assert 0 < len(found.rows) < 5_000 or compress is not gzip.compress


@pytest.mark.parametrize("size", [4, 12, 20])
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, to_zstd])
def test_damaged_start_of_compressed_files(
    compress: Any, size: int, write: Callable[..., Path], tmp_path: Path
) -> None:
    damaged = write(compress(combined(0).encode())[:size] + b"\xff" * 8, "a.log")
    (error,) = Events([damaged]).report.errors
    assert error.startswith(f"{damaged}: ")
    write(combined(1), "b.log")
    found = Events([tmp_path]).report
    assert len(found.files) == 1
    (notice,) = found.notices
    assert notice.startswith(f"Skipped {damaged}: ")


def test_rotated_files_are_put_in_order(write: Callable[..., Path], tmp_path: Path) -> None:
    write(gzip.compress(combined(0, "/1").encode()), "access.log.2.gz")
    write(combined(10, "/2"), "access.log.1")
    write(combined(20, "/3"), "access.log")
    write("2026/03/01 10:00:00 [error] 1#1: x\n", "error.log")
    found = Events([tmp_path])
    assert found.column("url") == ["/1", "/2", "/3"]
    assert len(found.report.files) == 3
    (notice,) = found.report.notices
    assert "error.log" in notice
    assert "nginx error log" in notice
    assert Events(sorted(tmp_path.glob("access.log*"))).column("url") == ["/1", "/2", "/3"]


@pytest.mark.thorough
def test_files_of_several_servers_are_merged(write: Callable[..., Path]) -> None:
    one = write("".join(combined(n, f"/{n}") for n in range(0, 40_000, 2)), "a.log")
    two = write("".join(combined(n, f"/{n}") for n in range(1, 40_000, 2)), "b.log")
    found = Events([two, one], jobs=2)
    assert found.column("url") == [f"/{n}" for n in range(40_000)]


def test_the_same_file_is_read_once(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(combined(0))
    assert len(Events([path, tmp_path, path]).rows) == 1


def test_folder_without_logs(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello\n")
    assert "has no access log" in Events([tmp_path]).report.errors[0]


def test_time_zones_are_those_of_the_log(write: Callable[..., Path]) -> None:
    text = combined(0).replace("12:00:00 +0000", "07:00:00 -0500") + combined(0, "/b").replace(
        "12:00:00 +0000", "17:30:00 +0530"
    )
    assert [time.timestamp() for time in Events([write(text)]).column("time")] == [
        NOON.timestamp()
    ] * 2


def test_long_lines_are_dropped_in_bounded_memory(write: Callable[..., Path]) -> None:
    huge = b"x" * (3 * blocks_module.BLOCK_BYTES)
    path = write(combined(0).encode() + huge + b"\n" + combined(1, "/b").encode() + huge)
    found = Events([path])
    assert found.column("url") == ["/a", "/b"]
    assert (found.report.lines, found.report.unreadable) == (4, 2)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_blocks_are_whole_lines(size: int) -> None:
    data = b"a\nbb\n\nccc\ndddd"
    found = list(blocks(io.BytesIO(data), "x", size))
    lines = {line for each in found for line in each.data.split(b"\n")}
    assert all(line in lines for line in data.split(b"\n") if len(line) <= size)
    assert not any(line in lines for line in data.split(b"\n") if len(line) > 2 * size)
    assert all(each.data.endswith(b"\n") for each in found[:-1] if each.data)
    count = sum(len(each.data.split()) + len(each.dropped) for each in found)
    assert count == len(data.split())


def test_requests_that_are_no_pages_are_not_judged(write: Callable[..., Path]) -> None:
    targets = ("example.com:443", "*", "private/a", "https://shop.example/private/a", "//private/a")
    text = "".join(combined(n, target) for n, target in enumerate(targets))
    found = Events([write(text)])
    assert (found.report.lines, found.report.unreadable) == (5, 0)
    assert found.column("url") == ["https://shop.example/private/a", "//private/a"]
    assert found.column("verdict") == ["violation", "allowed"]


def test_escapes_of_servers_are_undone(write: Callable[..., Path]) -> None:
    text = combined(0, "/private/\\x22\\xc3\\xa9\\\\", BOT + ' \\"x\\"')
    (row,) = Events([write(text)]).rows
    assert row["url"] == '/private/"é\\'
    assert row["agent"] == BOT + ' "x"'


def test_invalid_utf8_is_read(write: Callable[..., Path]) -> None:
    raw = combined(0, "/private/@").encode().replace(b"@", b"\xff\xfe")
    (row,) = Events([write(raw)]).rows
    assert (row["url"], row["verdict"]) == ("/private/\ufffd\ufffd", "violation")
    raw = SAMPLES["caddy"].encode().replace(b"x=1", b"\xff")
    (row,) = Events([write(raw)]).rows
    assert row["url"] == "/private/a?\ufffd"


def table() -> pa.Table:
    return pa.table({
        "when": pa.array([NOON, NOON + timedelta(hours=1)], pa.timestamp("ms", "UTC")),
        "ip": ["132.196.86.12", "1.2.3.4"],
        "user_agent": pa.array([BOT, BOT]).dictionary_encode(),
        "method": ["GET", "GET"],
        "page": ["/a", "/private/a"],
        "status": pa.array([200, 404], pa.int64()),
    })  # fmt: skip


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "requests.parquet"
    pq.write_table(table(), path)
    found = Events([path], columns={"time": "when", "url": "page"})
    assert found.column("verdict") == ["allowed", "violation"]
    assert found.column("identified") == ["verified", "impostor"]
    (error,) = Events([path]).report.errors
    assert "the format has no time and no request" in error
    assert "--column time=NAME" in error
    (error,) = Events([path], columns={"time": "never"}).report.errors
    assert "has no column 'never'" in error


def test_csv_row_that_cannot_be_skipped_is_an_error(
    write: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(b"time,url,status,agent\n2026-03-10T00:00:00Z,\xff\n", "a.csv")
    (error,) = Events([path]).report.errors
    assert error == (
        f"{path}: cannot be read to its end: row 2 has too many or too few columns, "
        "and is not UTF-8"
    )
    assert not capfd.readouterr().err


def test_csv(write: Callable[..., Path]) -> None:
    path = write(
        "time,client_ip,agent,url,status\n"
        f'2026-03-10T12:00:00Z,1.2.3.4,"{BOT}",/private/a,200\n'
        "broken,row\n"
        f'1773144060,1.2.3.4,"{BOT}",/a,200\n',
        "requests.csv",
    )
    found = Events([path])
    assert found.column("url") == ["/private/a", "/a"]
    assert found.report.unreadable == 1


def test_json_with_other_keys(write: Callable[..., Path]) -> None:
    line = {"t": 1773144000, "req": {"path": "/private/a", "ua": BOT}}
    path = write(json.dumps(line) + "\n")
    (error,) = Events([path]).report.errors
    assert "JSON with the keys t, req" in error
    columns = {"time": "t", "url": "req.path", "agent": "req.ua"}
    assert Events([path], columns=columns).column("verdict") == ["violation"]


def test_broken_parquet(write: Callable[..., Path]) -> None:
    path = write(b"PAR1" + b"x" * 100, "requests.parquet")
    assert "requests.parquet" in Events([path]).report.errors[0]


def test_sites(write: Callable[..., Path]) -> None:
    text = "".join(
        f"{host}:443 " + combined(number, "/private/a")
        for number, host in enumerate(["a.example", "b.example", "A.example"])
    )
    path = write(text)
    found = Events([path])
    assert len(found.rows) == 3
    assert "The log is of 2 sites (a.example and b.example)" in found.report.notices[0]
    one = Events([path], host="a.example:443")
    assert (len(one.rows), one.report.notices) == (2, ())


def test_ports_of_sites_do_not_matter(write: Callable[..., Path]) -> None:
    """The crawler fetched the file by another spelling of the host."""
    text = combined(0, "/robots.txt") + combined(60, "/private/a")
    lines = [
        f"{host} {line}\n"
        for host, line in zip(["a.example:443", "A.example:80"], text.splitlines(), strict=True)
    ]
    lines[0] = lines[0].replace(" 200 ", " 404 ")
    found = Events([write("".join(lines))])
    assert found.column("verdict") == ["robots_txt", "within_caching_period"]
    assert found.column("host") == ["a.example", "A.example"]


def test_head_brings_no_file(write: Callable[..., Path]) -> None:
    text = combined(0, "/robots.txt").replace("GET", "HEAD").replace(" 200 ", " 404 ")
    found = Events([write(text + combined(60, "/private/a"))])
    assert found.column("verdict") == ["robots_txt", "violation"]


def test_pipes_are_read_once() -> None:
    text = "".join(combined(number, f"/{number}") for number in range(1000)).encode()
    ours, theirs = os.pipe()
    with open(theirs, "wb") as file:
        file.write(gzip.compress(text))
    found = Events([f"/dev/fd/{ours}"])
    os.close(ours)
    assert found.column("url") == [f"/{number}" for number in range(1000)]


def test_agents_can_be_chosen(write: Callable[..., Path]) -> None:
    path = write(combined(0) + combined(1, agent="bingbot/2.0"))
    assert Events([path], agents=("BINGBOT",)).column("crawler") == ["bingbot"]


def test_one_version_that_changed_meanwhile(write: Callable[..., Path], tmp_path: Path) -> None:
    now = datetime.now(UTC) - NOON
    path = write(combined(now.total_seconds() - 9999) + combined(now.total_seconds() + 9999))
    robots = tmp_path / "robots.txt"
    robots.write_text("User-agent: *\n")
    found = Events([path], Versions.read(str(robots)))
    assert "robots.txt was last changed on" in found.report.notices[0]


def test_block_has_no_dropped_lines_by_default() -> None:
    assert Block(b"a\n").dropped == ()
    assert reader_of(detect(SAMPLES["common"].encode(), "x")) is FORMATS["common"].lines
