"""Each known format is detected, and all of its fields are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from koster._reports.log_words import lead
from koster.logs import FORMATS
from koster.logs._blocks import Block
from koster.logs._detection import detect, format_of, resolve
from koster.logs._formats import reader_of
from koster.logs._identity import Identities
from koster.logs._requests import parse_block
from tests.helpers.log_samples import (
    BOT,
    ENCODED,
    LINE,
    NAMELESS,
    NOON,
    OWNED,
    SAMPLES,
    WITH_HOST,
    Events,
    as_json,
)
from tests.helpers.support import ROOT, sampled

#: What is inside of lines with other lines.
INSIDE = {"caddy-console": "caddy"}
ENVELOPES = {
    "syslog", "docker-compose", "kubernetes", "caddy-console", "docker", "loki", "message",
}  # fmt: skip


NO_AGENT = LINE.replace(BOT, "-")
HAPROXY = "1.2.3.4:59946 [10/Mar/2026:12:00:00.764] f b/s1 0/0/0/0/0 200 73 - - ---- 4/1/0/0/0 0/0 "
HAPROXY_CLF = SAMPLES["haproxy-clf"]

#: Logs without User-Agents, and what the error says to do.
ADVICE = {
    "combined": (NO_AGENT, "Log the User-Agent, too"),
    "common": (SAMPLES["common"].replace(OWNED, "1.2.3.4"), "use the format combined"),
    "traefik": (SAMPLES["traefik"].replace(BOT, "-"), "headers.names.User-Agent to keep"),
    "traefik-json": (SAMPLES["traefik-json"].replace("request_User-Agent", "x"), "User-Agent to keep"),
    "haproxy": ((f'{HAPROXY}"GET /a HTTP/1.1"\n{HAPROXY}{{shop.example}} "GET /a HTTP/1.1"\n'
                f'{HAPROXY}{{text/plain}} "GET /a HTTP/1.1"\n'), "capture request header User-Agent"),
    "haproxy-clf": (HAPROXY_CLF[: HAPROXY_CLF.index('"Mozilla')] + "\n", "capture request header"),
    "logpush": (SAMPLES["logpush"].replace("ClientRequestUserAgent", "x"), "ClientRequestUserAgent"),
    "w3c": (
        "#Fields: date time c-ip cs-uri-stem sc-status\n2026-03-10 12:00:00 1.2.3.4 /a 200\n",
        "Fields found: address, status, time and url. Log the User-Agent, too",
    ),
    "heroku": (SAMPLES["heroku"].replace(OWNED, "1.2.3.4"), "in the application"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_detected_and_read(name: str, write: Callable[..., Path]) -> None:
    found = Events([write(SAMPLES[name])])
    inside = f"{INSIDE.get(name, 'combined')} in {name}" if name in ENVELOPES else name
    assert found.report.files[0][1] == inside
    assert (found.report.lines, found.report.unreadable) == (1, 0)
    (row,) = found.rows
    assert row["time"].timestamp() == pytest.approx(NOON.timestamp(), abs=1)
    url = row["url"].removeprefix("https://shop.example")
    assert url.removeprefix(":443") == "/private/a?x=1"
    assert (row["method"], row["status"], row["crawler"]) == ("GET", 200, "GPTBot")
    assert row["address"] == (OWNED if name in NAMELESS else "1.2.3.4")
    # IIS writes "+" for a space, and for "+".
    agents = dict.fromkeys(NAMELESS) | {"w3c": BOT.replace("+", " ")}
    assert row["agent"] == agents.get(name, BOT)
    assert row["verdict"] == "violation"
    host = row["host"] and row["host"].removesuffix(":443").removesuffix(
        ".s3-website.us-west-1.amazonaws.com"
    )
    assert host == ("shop.example" if name in WITH_HOST else None)


IDENTITIES = Identities()


def urls(data: str, form: str | None = None) -> list[str]:
    """Return the URLs of crawlers in a log, and check that all lines are read."""
    raw = data.encode()
    reader = reader_of(resolve(raw, "x", None if form is None else format_of(form)))
    parsed = parse_block(Block(raw), list(reader.segments(raw)), IDENTITIES)
    assert parsed.unreadable == 0
    return [each.decode() for each in parsed.requests["url"].to_pylist()]


def test_formats_may_be_named() -> None:
    for name in sampled(sorted(FORMATS), 3):
        (url,) = urls(SAMPLES[name], name)
        assert url.endswith("/private/a?x=1"), name


@pytest.mark.parametrize("form", ["combined", '$remote_addr - - [$time_local] "$request" $status'])
def test_formats_may_be_named_for_lines_inside_of_others(form: str) -> None:
    for name in sorted(ENVELOPES - {"caddy-console"}):
        assert len(urls(SAMPLES[name], form)) == (1 if form == "combined" else 0), name


def test_lines_inside_of_lines_inside_of_others() -> None:
    for inner in ("haproxy", "nginx-json", "traefik"):
        line = f"<134>Mar 10 12:00:00 haproxy[1]: {SAMPLES[inner]}"
        assert urls(as_json({"log": line})) == ["/private/a?x=1"], inner


@pytest.mark.parametrize(
    "prefix",
    [
        "Mar 10 12:00:00 web1 nginx: ", "<190>Mar  1 12:00:00 web1 nginx[12]: ",
        "<134>Mar 10 12:00:00 haproxy[2512]: ", "2026-03-10T12:00:00.1+01:00 web1 nginx: ",
        "2026-03-10T12:00:00.186641+00:00 app[web.1]: ",
        "<190>1 2026-03-10T12:00:00Z web1 nginx 12 - - ",
        '<190>1 2026-03-10T12:00:00Z web1 nginx 12 ID [x@1 a="b"] ',
        "83 <190>1 2026-03-10T12:00:00+00:00 host app web.3 - ",
        "web-1  | ", "web_1 | 2026-03-10T12:00:00.123Z ", "2026-03-10T12:00:00.1Z stderr F ",
    ],
)  # fmt: skip
def test_prefixes_of_lines(prefix: str, write: Callable[..., Path]) -> None:
    """The address was read as "Mar", so that crawlers were called impostors."""
    owned = LINE.replace("1.2.3.4", OWNED)
    for line in (owned, owned.replace("1.2.3.4", "::1"), SAMPLES["vhost_combined"]):
        assert urls(prefix + line) == ["/private/a?x=1"]
    (row,) = Events([write(prefix + owned)]).rows
    assert (row["address"], row["identified"]) == (OWNED, "verified")


def name_of(data: str) -> str:
    return detect(data.encode(), "x").name


def test_formats_with_a_user_agent_come_first() -> None:
    common = SAMPLES["common"]
    assert name_of(LINE * 6 + common * 4) == "combined"
    assert name_of(LINE * 4 + common * 6) == "common"
    generic = {"timestamp": "2026-03-10T12:00:00Z", "client_ip": "1.2.3.4", "url": "/", "host": "x"}
    assert name_of(as_json(generic)) == "nginx-json"
    assert name_of(as_json(generic | {"user_agent": BOT, "method": "GET"})) == "nginx-json"


#: What a log looks like, how it is read, and what is said of it.
MESSAGES = [
    # HAProxy's lines, read as those of nginx.
    (SAMPLES["haproxy"], '$remote_addr [$time_local] "$request" $status "$http_user_agent"',
     "`[10/Mar/2026:12:00:00.764]` is not `$time_local`"),
    (SAMPLES["haproxy"], '$remote_addr - - [$time_local] "$request" $status "$http_user_agent"',
     "`[10/Mar/2026:12:00:00.764]` is not `- - [$time_local]`"),
    (SAMPLES["haproxy"], "combined", "`[10/Mar/2026:12:00:00.764]` is not `%t`"),
    (LINE.replace("10/Mar/2026", "2026-03-10"), "combined", "`[2026-03-10:12:00:00 +0000]` is not `%t`"),
    (SAMPLES["common"], "combined", "it ends before `%{Referer}i`"),
    (LINE.replace(" 200 ", " ok "), "combined", "`ok` is not `%>s`"),
    (LINE.replace(" 200 ", " ok "), None, "closest to combined: `ok` is not `%>s`"),
    (LINE.replace("[", "").replace("]", ""), None, "`10/Mar/2026:12:00:00 +0000` is not `%t`"),
    (SAMPLES["logpush"], "caddy", "it has no ts, request.uri and no request.headers.User-Agent[0]"),
    (LINE, "caddy", "is not a JSON object"),
    (SAMPLES["nginx-json"].replace("2026-", "x"), "nginx-json", "`x03-10T13:00:00+01:00` is not `time`"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "form", "message"), MESSAGES)
def test_messages_name_the_field(
    text: str, form: str | None, message: str, write: Callable[..., Path]
) -> None:
    (error,) = Events([write(text * 3)], format=form).report.errors
    assert message in error


HOSTILE = [
    "\0" * 1_000_000, '"' * 1_000_000, "\\" * 1_000_000, "[" * 1_000_000, "{" * 1_000_000,
    "1.2.3.4 - - [" + "10/Mar/2026:12:00:00 " * 40_000, '{"log": "' * 100_000,
    "Mar 10 12:00:00 " * 60_000, "2026-03-10T12:00:00Z x " * 40_000, "a | " * 250_000,
    '{"url": "/", "time": "' + "1" * 1_000_000 + '"}',
    '{"url": "/", ' + ", ".join(f'"k{n}": {n}' for n in range(100_000)) + "}",
    '{"log": "\\ud800 GPTBot", "time": "x"}', '{"line": ' + "[" * 100_000, "GPTBot\t" * 100_000,
    "1.2.3.4:1 [" + "{" * 300_000 + "|" * 300_000 + '} "GET / HTTP/1.1"',
]  # fmt: skip


@pytest.mark.parametrize(("number", "line"), sampled(list(enumerate(HOSTILE)), 3))
def test_hostile_lines(number: int, line: str, tmp_path: Path) -> None:
    """They are an error, or unreadable lines, and soon."""
    (tmp_path / "a.log").write_text(line)
    assert Events([tmp_path / "a.log"]).report.errors
    (tmp_path / "b.log").write_text(f"{LINE * 9}{line}\n{LINE}")
    found = Events([tmp_path / "b.log"])
    assert (len(found.rows), found.report.unreadable) == (10, 1)


@pytest.mark.parametrize("name", sorted(ADVICE))
def test_a_log_without_user_agents_is_an_error(name: str, write: Callable[..., Path]) -> None:
    """It said "No crawler in the log." and ended with 0."""
    path = write(ADVICE[name][0])
    report = Events([path]).report
    assert report.files[0][1] == name
    assert lead(report) == "No crawler in what could be read of the log."
    (error,) = report.errors
    start = f"No line of {path} has a User-Agent, which tells crawlers apart. Fields found: "
    assert error.startswith(start)
    assert ADVICE[name][1] in error


def test_crawlers_known_by_address_are_reported_with_a_notice(write: Callable[..., Path]) -> None:
    path = write(SAMPLES["common"])
    report = Events([path]).report
    assert report.errors == ()
    assert report.notices[0] == (
        f"No line of {path} has a User-Agent: crawlers are recognized by address only, if their "
        "operators publish them"
    )


def test_requests_without_an_address_are_of_nobody(write: Callable[..., Path]) -> None:
    """They were of the crawler that has the first address of the log."""
    addresses = (OWNED, "", "-", "1.2.3.4")
    rows = "".join(f"2026-03-10T12:00:00Z,{each},/a\n" for each in addresses)
    report = Events([write(f"time,ip,url\n{rows}", "a.csv")]).report
    assert [each.requests for each in report.crawlers] == [1]


def test_a_quiet_log_beside_one_with_user_agents_is_no_error(write: Callable[..., Path]) -> None:
    one, two = write(LINE, "a.log"), write(LINE.replace(BOT, "-"), "b.log")
    assert Events([one, two]).report.errors == ()
    assert len(Events([two]).report.errors) == 1


def test_people_have_user_agents(write: Callable[..., Path]) -> None:
    """The first lines have none, and no line is of a crawler."""
    text = LINE.replace(BOT, "-") * 600 + LINE.replace(BOT, "Mozilla/5.0 Firefox/140")
    report = Events([write(text)]).report
    assert (report.errors, report.crawlers) == ((), ())


def test_tables_without_user_agents(write: Callable[..., Path]) -> None:
    header = "time,ip,url,user_agent\n"
    path = write(f"{header}2026-03-10T12:00:00Z,1.2.3.4,/a,-\n", "a.csv")
    (error,) = Events([path]).report.errors
    assert "Fields found: address, time and url" in error
    path = write("time,ip,url\n2026-03-10T12:00:00Z,1.2.3.4,/a\n", "b.csv")
    assert "has a User-Agent" in Events([path]).report.errors[0]
    path = write(f"{header}2026-03-10T12:00:00Z,1.2.3.4,/a,x\n", "c.csv")
    assert Events([path]).report.errors == ()


def test_headers_that_haproxy_captured(write: Callable[..., Path]) -> None:
    """As HAProxy 2.6 writes them, with the escapes of "{" and others."""
    lines = (
        "{shop.example|GPTBot ev#22il #7C #7Bx#7D #231 \\q #C3#A9} {text/plain}",
        "{GPTBot|shop.example:8080|https://shop.example/GPTBot} {}",
        "{1.2.3.4|-|GPTBot/1.0|text/html, */*|shop.example}",
        "{archive.org_bot}",
    )
    text = "".join(f'{HAPROXY}{each} "GET /a?#22 HTTP/1.1"\n' for each in lines)
    found = Events([write(text)])
    agents = ['GPTBot ev"il | {x} #1 \\q é', "GPTBot", "GPTBot/1.0", "archive.org_bot"]
    assert found.column("agent") == agents
    hosts = ["shop.example", "shop.example:8080", "shop.example", None]
    assert found.column("host") == hosts
    assert found.column("url") == ['/a?"'] * 4


def test_lines_of_the_manual_of_haproxy(write: Callable[..., Path]) -> None:
    """https://docs.haproxy.org/2.6/configuration.html#8.2.3, and ``option httpslog`` (8.2.4)."""
    line = (
        "10.0.1.2:33317 [06/Feb/2009:12:14:14.655] https-in~ static/srv1 10/0/30/69/109 200 2750 - - "
        '---- 1/1/1/1/0 0/0 {1wt.eu|GPTBot} {} "GET /index.html HTTP/1.1"'
    )
    more = " 0/0000000000000000/0/0/0 1wt.eu/TLSv1.3/TLS_AES_256_GCM_SHA384"
    failed = line.replace("200 2750", "-1 +0").replace(
        "static/srv1 10/0/30/69/109", "b/<NOSRV> 0/-1/-1/-1/+50"
    )
    found = Events([write(f"{line}\n{line}{more}\n{failed}\n")])
    assert (found.report.unreadable, found.column("status")) == (0, [200, 200, None])
    assert found.column("host") == ["1wt.eu"] * 3


def test_quotes_in_the_user_agents_of_envoy(write: Callable[..., Path]) -> None:
    """Envoy writes them as they are."""
    text = SAMPLES["envoy"].replace(BOT, 'a "b" \\x41 "GPTBot"')
    (row,) = Events([write(text)]).rows
    assert row["agent"] == 'a "b" \\x41 "GPTBot"'


def test_addresses_that_are_missing_are_of_no_impostor(write: Callable[..., Path]) -> None:
    """Envoy has the addresses of proxies only."""
    (row,) = Events([write(SAMPLES["envoy"].replace('"10.0.35.28, 1.2.3.4"', '"-"'))]).rows
    assert (row["address"], row["identified"]) == (None, "unverified")


@pytest.mark.parametrize("first", [OWNED, "66.249.66.1"])
def test_only_the_last_address_of_a_list_is_trusted(first: str, write: Callable[..., Path]) -> None:
    """The others are what the client said."""
    (row,) = Events([write(SAMPLES["envoy"].replace("10.0.35.28", first))]).rows
    assert (row["address"], row["identified"]) == ("1.2.3.4", "impostor")


def test_all_rows_of_a_table_are_lines(write: Callable[..., Path]) -> None:
    """Those of people were not, if there was a crawler."""
    rows = "".join(f"2026-03-10T12:00:00Z,/a,{each}\n" for each in (BOT, "Firefox/140", "-"))
    report = Events([write(f"time,url,ua\n{rows}", "a.csv")]).report
    assert (report.lines, report.unreadable) == (3, 0)


W3C = "#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent) cs(Referer)\n"


@pytest.mark.parametrize(
    ("fields", "line", "agent"),
    [
        # Tomcat's ExtendedAccessLogValve.
        (W3C, f'2026-03-10 12:00:00 1.2.3.4 GET /b 200 "{BOT}" -', BOT),
        (W3C, f'2026-03-10 12:00:00 1.2.3.4 GET /b 200 "a ""b"" {BOT}" "-"', f'a "b" {BOT}'),
        # IIS, with a quote in a User-Agent that nothing closes.
        (W3C, '2026-03-10 12:00:00 1.2.3.4 GET /b 200 "GPTBot+x -', '"GPTBot x'),
        # Akamai's Log Delivery Service, with the site before the path.
        ("#Fields: date time cs-ip cs-method cs-uri sc-status cs(User-Agent)\n",
         f'2026-03-10\t12:00:00\t1.2.3.4\tGET\t/shop.example/b\t200\t"{BOT}"', BOT),
        ("#Fields: date time cs-ip cs-method cs-uri sc-status cs(User-Agent)\n",
         f'2026-03-10\t12:00:00\t1.2.3.4\tGET\t/shop.example/b\t200\t"{ENCODED}"', BOT),
    ],
)  # fmt: skip
def test_values_of_w3c_logs_in_quotes(
    fields: str, line: str, agent: str, write: Callable[..., Path]
) -> None:
    """They were cut at their first space."""
    found = Events([write(f"{fields}{line}\n")])
    (row,) = found.rows
    assert (row["agent"], row["url"], found.report.unreadable) == (agent, "/b", 0)
    assert row["host"] == ("shop.example" if "cs-ip" in fields else None)


def test_quotes_do_not_join_the_values_of_other_fields(write: Callable[..., Path]) -> None:
    line = '2026-03-10 12:00:00 1.2.3.4 GET /b 200 "GPTBot http://x/"y"\n'
    (row,) = Events([write(W3C + line)]).rows
    assert row["agent"] == '"GPTBot'


def test_percent_signs_are_decoded_by_format_only(write: Callable[..., Path]) -> None:
    (row,) = Events([write(LINE.replace(BOT, "GPTBot%20+x"))]).rows
    assert row["agent"] == "GPTBot%20+x"


def test_w3c_logs_without_a_list_of_fields(write: Callable[..., Path]) -> None:
    line = "1773144000.1\t1.2.3.4\tGET\t/b\t200\t" + ENCODED + "\n"
    form = "timestamp c-ip cs-method cs-uri-stem sc-status cs-user-agent"
    (row,) = Events([write(line)], format=form).rows
    assert (row["agent"], row["time"].timestamp()) == (BOT, pytest.approx(1773144000.1))
    (row,) = Events([write("2026-03-10 12:00:00 1.2.3.4 /b GPTBot\n")],
                    format="#Fields: date time c-ip cs-uri cs(User-Agent)").rows  # fmt: skip
    assert (row["agent"], row["time"]) == ("GPTBot", NOON)


@pytest.mark.parametrize(
    ("request_line", "host"),
    [
        ("GET http://other.example/private/a HTTP/1.1", "other.example"),
        ("GET HTTPS://Other.example:8443?x HTTP/1.1", "Other.example:8443"),
        ("GET http://user@other.example/a@b HTTP/1.1", "other.example"),
        ("GET http://[::1]:80/ HTTP/1.1", "[::1]:80"),
        ("GET /http://no.example/ HTTP/1.1", "shop.example"),
        ("GET http:///a HTTP/1.1", "shop.example"),
    ],
)
def test_the_site_of_an_absolute_url_counts(
    request_line: str, host: str, write: Callable[..., Path]
) -> None:
    """RFC 9112 §3.2.2: it replaces the field Host."""
    text = LINE.replace("GET /private/a?x=1 HTTP/1.1", request_line)
    text += LINE
    (row, other) = Events([write("".join(f"shop.example {each}\n" for each in text.splitlines()))],
                 format='%V %h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"').rows  # fmt: skip
    assert (row["host"], other["host"]) == (host, "shop.example")


def test_varnish(write: Callable[..., Path]) -> None:
    """As varnishncsa 7.1 writes it."""
    line = LINE.replace("GET /private", "GET http://shop.example/private")
    (row,) = Events([write(line)], host="shop.example").rows
    assert (row["host"], row["verdict"]) == ("shop.example", "violation")


def test_formats_are_documented() -> None:
    page = (ROOT / "docs/_details/logs.md").read_text()
    assert [name for name in FORMATS if f"`{name}`" not in page] == []
