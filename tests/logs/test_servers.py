"""The logs that real servers write, of requests whose every byte is known."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote_to_bytes

import pytest

from koster.logs import Options, Report, Version, Versions, analyze
from tests.helpers import log_servers
from tests.helpers.support import sampled

pytestmark = pytest.mark.xdist_group("log-servers")

NGINX, APACHE, CADDY = "nginx", "apache2", "caddy"

VERSIONS = Versions("mine", (Version("1", None, b"User-agent: *\nDisallow: /private/"),))

#: Logs have whole seconds.
TOLERANCE = timedelta(seconds=1)


@dataclass(frozen=True)
class Request:
    """A request; ``raw`` is sent as it is, without a User-Agent."""

    name: str
    target: bytes = b"/private/a"
    method: bytes = b"GET"
    agent: bytes = b""
    host: bytes | None = b"example.com"
    headers: bytes = b""
    version: bytes = b"HTTP/1.1"
    raw: bytes | None = None
    client: str = "127.0.0.1"

    def agent_of(self, number: int) -> bytes:
        start = b"Mozilla/5.0 (compatible; GPTBot/%d; +https://openai.com/gptbot)" % number
        return start + self.agent

    def bytes_of(self, number: int) -> bytes:
        if self.raw is not None:
            return self.raw
        host = b"" if self.host is None else b"Host: " + self.host + b"\r\n"
        return (
            b"%s %s %s\r\n" % (self.method, self.target, self.version)
            + host
            + b"User-Agent: %s\r\n" % self.agent_of(number)
            + self.headers
            + b"Connection: close\r\n\r\n"
        )


_EVIL = base64.b64encode(b'evil [x "y" - \\:password')
_TLS = b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"\\GPTBot\xaa\xbb\xff\r\n'

REQUESTS = (
    Request("plain"),
    Request("robots.txt", b"/robots.txt"),
    Request("allowed", b"/open/a?x=1&y=2"),
    Request("query", b"/private/?q=a?b"),
    Request("empty query", b"/private/a?"),
    Request("quotes in the URL", b'/private/"q"\'s'),
    Request("backslashes in the URL", b"/private/\\x41\\n\\\\a\\"),
    Request("UTF-8 in the URL", "/private/é€😀".encode()),
    Request("invalid UTF-8 in the URL", b"/private/\xff/\xc3"),
    Request("a control character in the URL", b"/private/\x01\x1b"),
    Request("a space in the URL", b"/private/a b"),
    Request("percent-escapes", b"/private/%20%22%5c%01%09%0a%ff%C3%A9?q=%26%20%22"),
    Request("percent-escapes of letters", b"/%70rivate/a"),
    Request("punctuation", b"/private/[x]{y}|^`<>;,'()*!$&=+@:~?a=[b]|^`<>"),
    Request("what looks like a log", b'/private/"-"[01/Jan/2020:00:00:00]"HTTP/1.1"-"'),
    Request("a fragment", b"/private/a#f"),
    Request("quotes in the agent", agent=b' "q" "-" \'s\''),
    Request("backslashes in the agent", agent=b" \\x22 \\n \\\\ \\"),
    Request("a tab in the agent", agent=b" \t e"),
    Request("control characters in the agent", agent=b" \x01\x1b[31m\x08\x7f e"),
    Request("a zero in the agent", agent=b" \0 e"),
    Request("UTF-8 in the agent", agent=" é€😀".encode()),
    Request("invalid UTF-8 in the agent", agent=b" \xff\xfe \xc3"),
    Request("what looks like a log in the agent", agent=b' "GET / HTTP/1.1" 200 1 "-" [x]'),
    Request("another header", headers=b'Referer: http://x/" "bingbot \\\r\n'),
    Request("a user", headers=b"Authorization: Basic " + _EVIL + b"\r\n"),
    Request("HEAD", method=b"HEAD"),
    Request("POST", method=b"POST", headers=b"Content-Length: 0\r\n"),
    Request("an unknown method", method=b"BREW"),
    Request("CONNECT", b"example.com:443", b"CONNECT", host=b"example.com:443"),
    Request("OPTIONS *", b"*", b"OPTIONS"),
    Request("absolute", b"http://example.com/private/a?b"),
    Request("absolute in capitals", b"HTTP://EXAMPLE.com/open/", host=b"EXAMPLE.com"),
    Request("a long URL", b"/private/" + b"x" * 7000),
    Request("a host with a port", host=b"Example.COM:8080"),
    Request("a host with a quote", host=b'exa"mple'),
    Request("HTTP/1.0", version=b"HTTP/1.0", host=None),
    Request("HTTP/0.9", raw=b"GET /private/a\r\n"),
    Request("TLS", b"", raw=_TLS),
    Request("a word", b"", raw=b"hello\r\n\r\n"),
    Request("blank", b"", raw=b"\r\n"),
    Request("a person", raw=b"GET /private/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
)

#: Requests that servers answer with an error before they read the User-Agent.
REFUSED = {
    NGINX: {
        "a control character in the URL", "a space in the URL", "a zero in the agent", "CONNECT",
        "OPTIONS *",
    },
    APACHE: {
        "a control character in the URL", "a space in the URL", "a zero in the agent",
        "control characters in the agent", "a fragment",
    },
    CADDY: {
        "a control character in the URL", "a space in the URL", "a zero in the agent",
        "control characters in the agent", "a host with a quote",
    },
}  # fmt: skip

#: Requests that are in no log.
UNLOGGED: dict[str, set[str]] = {
    NGINX: set(),
    APACHE: {"blank"},
    CADDY: {*REFUSED[CADDY], "OPTIONS *", "HTTP/0.9", "TLS", "a word", "blank"},
}


@dataclass(frozen=True, eq=False)
class Form:
    """A log format.

    ``text`` is that of the server's configuration, ``given`` what koster is told: nothing, or the
    text. ``target`` says what the log has of the target: itself, its path, or its decoded path.
    """

    server: str
    name: str
    text: str
    given: str | None = None
    format_name: str = ""
    target: str = "itself"
    has_host: bool = False
    columns: dict[str, str] = field(default_factory=dict)
    address: str | None = None


def nginx(name: str, text: str, **options: Any) -> Form:
    return Form(NGINX, name, text, text, "log_format", **options)


def apache(name: str, text: str, **options: Any) -> Form:
    return Form(APACHE, name, text, text, "LogFormat", **options)


def caddy(name: str, text: str, **options: Any) -> Form:
    return Form(CADDY, name, text, format_name="caddy", has_host=True, **options)


_MAIN = """'$remote_addr - $remote_user [$time_local] "$request" '
    '$status $body_bytes_sent "$http_referer" '
    '"$http_user_agent" "$http_x_forwarded_for"'"""
_JSON = (
    '\'{"time_iso8601":"$time_iso8601","remote_addr":"$remote_addr","host":"$host",'
    '"request_method":"$request_method","request_uri":"$request_uri","status":$status,'
    '"http_referer":"$http_referer","http_user_agent":"$http_user_agent"}\''
)
_JSON_OF_REQUESTS = (
    'escape=json \'{"time":"$msec","remote_addr":"$remote_addr","request":"$request",'
    '"status":"$status","user_agent":"$http_user_agent"}\''
)
_COMBINED = r"%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\""
_REST = r"%a \"%r\" %>s \"%{User-Agent}i\""
_APACHE_JSON = (
    r"{\"time\":\"%{%Y-%m-%dT%H:%M:%S%z}t\",\"ip\":\"%a\",\"vhost\":\"%V\",\"request\":\"%r\","
    r"\"status\":%>s,\"agent\":\"%{User-Agent}i\"}"
)

NGINX_FORMS = [
    Form(NGINX, "combined", "", format_name="combined"),
    nginx("host_first", """'$host $remote_addr [$time_iso8601] "$request" $status $request_time"""
          """ "$http_user_agent"'""", has_host=True),
    nginx("lines", _MAIN),
    nginx("msec", """'$msec $remote_addr ${request_method} $request_uri $status"""
          """ "$http_user_agent"'""", target="path"),
    nginx("uri", """'$remote_addr [$time_local] $request_method "$uri" "$args" $status"""
          """ "$http_user_agent"'""", target="decoded"),
    nginx("is_args", """'$remote_addr [$time_local] $request_method "$uri$is_args$args" $status"""
          """ "$http_user_agent"'""", target="decoded"),
    nginx("scheme", """'$remote_addr [$time_local] $request_method "$scheme://$host$request_uri" """
          """$status "$http_user_agent"'""", target="path", has_host=True),
    nginx("port", """'$remote_addr:$remote_port [$time_local] "$request" $status"""
          """ "$http_user_agent"'"""),
    nginx("tabs", r"""'$time_iso8601\t$remote_addr\t$status\t$request\t$http_user_agent'"""),
    nginx("agent_last", """'$remote_addr $time_iso8601 $status "$request" $http_user_agent'"""),
    Form(NGINX, "json", f"escape=json {_JSON}", format_name="nginx-json", target="path",
         has_host=True),
    Form(NGINX, "json_of_requests", _JSON_OF_REQUESTS, format_name="nginx-json"),
    Form(NGINX, "json_given", f"escape=json {_JSON}", _JSON, "log_format", "path", has_host=True),
]  # fmt: skip

APACHE_FORMS = [
    Form(APACHE, "combined", _COMBINED.replace("%O", "%b"), format_name="combined"),
    Form(APACHE, "vhost_combined", f"%v:%p {_COMBINED}".replace("%O", "%b"),
         format_name="vhost_combined"),
    apache("combined_given", _COMBINED.replace("%O", "%b")),
    apache("method", r"%a [%{%Y-%m-%dT%H:%M:%S%z}t] %V %m \"%U%q\" %>s \"%{User-agent}i\"",
           target="decoded", has_host=True),
    apache("unquoted", r"%a [%{%Y-%m-%dT%H:%M:%S%z}t] %m %U%q %>s \"%{User-Agent}i\"",
           target="decoded"),
    apache("like_r", r"%h %l %u %t \"%m %U%q %H\" %>s %b \"%{User-Agent}i\"", target="decoded"),
    apache("sec", rf"%{{sec}}t {_REST}"),
    apache("msec", rf"%{{msec}}t {_REST}"),
    apache("usec", rf"%{{usec}}t {_REST}"),
    apache("begin", rf"[%{{begin:%d/%b/%Y:%T %z}}t] {_REST}"),
    apache("epoch", rf"%{{%s}}t {_REST}"),
    apache("fraction", rf"%{{%s}}t.%{{usec_frac}}t {_REST}"),
    apache("parts", rf"[%{{%d/%b/%Y:%T}}t.%{{msec_frac}}t %{{%z}}t] {_REST}"),
    apache("modifiers", r"%{c}a %l %t \"%r\" %<s %>s %D %k %X \"%!200,304{Referer}i\""
           r" \"%{User-Agent}i\" %{Host}i"),
    apache("port", r"%a:%{remote}p %t \"%r\" %>s \"%{User-Agent}i\""),
    apache("tabs", r"%t\t%a\t%>s\t%r\t%{User-Agent}i"),
    apache("agent_last", r"%a %t %>s \"%r\" %{User-Agent}i"),
    apache("json", _APACHE_JSON, has_host=True),
]  # fmt: skip

_CADDY_TIMES = (
    "unix_seconds_float", "unix_milli_float", "unix_nano", "iso8601", "rfc3339", "rfc3339_nano",
    "wall", "wall_milli", "common_log",
)  # fmt: skip
_MASK = """format filter {
  wrap json
  fields {
    request>remote_ip ip_mask {
      ipv4 16
      ipv6 32
    }
  }
}"""

CADDY_FORMS = [
    caddy("usual", ""),
    *(caddy(each, f"format json {{\n time_format {each}\n}}") for each in _CADDY_TIMES),
    caddy("time_key", "format json {\n time_key when\n}", given="caddy", columns={"time": "when"}),
    caddy("masked", _MASK, address="127.0.0.0"),
]

FORMS = [*NGINX_FORMS, *APACHE_FORMS, *CADDY_FORMS]
SOME_FORMS = sampled(FORMS, 3)

#: Formats without a User-Agent.
NAMELESS = [
    nginx("nameless", """'$remote_addr [$time_local] "$request" $status'"""),
    Form(APACHE, "common", r"%h %l %u %t \"%r\" %>s %b", format_name="common"),
]

CONSOLE = Form(CADDY, "console", "format console")


@dataclass(frozen=True)
class Traffic:
    """What a server wrote: its logs, and the answer to each request, with the moment of it."""

    logs: Path
    answers: dict[str, bytes]
    moments: dict[str, datetime]

    def status(self, request: Request) -> int:
        """Return the status of an answer; those without one are of HTTP/0.9."""
        found = re.match(rb"HTTP/1\.[01] (\d{3})", self.answers[request.name])
        return int(found[1]) if found else 200


def logged(server: str) -> list[Request]:
    """Return the requests that a log of a server has."""
    return [each for each in REQUESTS if each.name not in UNLOGGED[server]]


def send_all(server: log_servers.LogServer, log: str) -> Traffic:
    """Send the requests, each when the last one is in a log."""
    traffic = Traffic(server.logs, {}, {})
    lines = 0
    for number, request in enumerate(REQUESTS):
        traffic.moments[request.name] = datetime.now(UTC)
        traffic.answers[request.name] = server.send(request.bytes_of(number), request.client)
        lines += request.name not in UNLOGGED[server.name]
        server.wait_for(log, lines)
    return traffic


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Traffic]:
    """What each server wrote, in all formats at once."""

    @functools.cache
    def of(name: str) -> Traffic:
        forms = [each for each in (*FORMS, *NAMELESS, CONSOLE) if each.server == name]
        with running(name, tmp_path_factory.mktemp(name), forms) as server:
            found = send_all(server, forms[0].name)
            for form in forms:
                server.wait_for(form.name, len(logged(name)))
            return found

    return of


def running(name: str, folder: Path, forms: list[Form]) -> Any:
    if log_servers.program(name) is None:
        pytest.skip(log_servers.missing(name))
    return log_servers.running(name, folder, {each.name: each.text for each in forms})


#: The report, and the events.
Result: TypeAlias = tuple[Report, list[dict[str, Any]]]


def read(paths: list[Path], form: Form, ranges: Path | None = None) -> Result:
    """Return the report on logs or a folder, and the events."""
    batches: list[Any] = []
    options = Options(
        format=form.given,
        columns=form.columns,
        ranges=None if ranges is None else str(ranges),
        are_addresses_shown=True,
    )
    report = analyze([str(each) for each in paths], VERSIONS, options, batches.append)
    return report, [event for batch in batches for event in batch.to_pylist()]


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def url_of(request: Request, target: str) -> str:
    """Return what a log has of a target: itself, its path, or its decoded path."""
    if target == "itself":
        return text(request.target)
    path = re.sub(rb"(?i)^http://[^/]+", b"", request.target)
    if target == "path":
        return text(path)
    path, mark, query = path.partition(b"#")[0].partition(b"?")
    path = unquote_to_bytes(path)
    return text(path + mark + query if query else path)


def host_of(request: Request, form: Form) -> str:
    """Return the host in a log: without the port and in lower case, except in those of Caddy.

    That of an absolute URL counts, if the log has the URL.
    Apache has its own name if the host is missing or invalid.
    """
    absolute = re.match(rb"(?i)http://([^/]+)", request.target)
    if absolute and form.target == "itself":
        return text(absolute[1])
    if form.server == APACHE and (request.host is None or b'"' in request.host):
        return "localhost"
    if request.host is None:
        return ""
    host = text(request.host)
    return host if form.server == CADDY else host.lower().partition(":")[0]


def verdict_of(request: Request) -> str:
    path = unquote_to_bytes(re.sub(rb"(?i)^http://[^/]+", b"", request.target))
    if path == b"/robots.txt":
        return "robots_txt"
    return "violation" if path.startswith(b"/private/") else "allowed"


def expected(number: int, request: Request, form: Form, status: int) -> dict[str, Any]:
    """Return the event of a request."""
    host = host_of(request, form) if form.has_host else None
    return {
        "name": request.name,
        "method": text(request.method),
        "url": url_of(request, form.target),
        "status": status,
        "agent": text(request.agent_of(number)),
        "address": form.address or request.client,
        "verdict": verdict_of(request),
    } | ({} if host is None else {"host": host})


def is_judged(request: Request) -> bool:
    """Return whether the target is a path or a URL."""
    return request.target.startswith((b"/", b"http:", b"HTTP:"))


def names(request: Request, server: str) -> bool:
    """Return whether a log has the User-Agent of a request that is judged."""
    without = REFUSED[server] | UNLOGGED[server]
    return request.raw is None and request.name not in without and is_judged(request)


def chosen(event: dict[str, Any], form: Form) -> dict[str, Any]:
    """Return what is known of an event, with the name of its request."""
    number = re.search(r"GPTBot/(\d+)", event["agent"])
    columns = ("method", "url", "status", "agent", "address", "verdict")
    return {
        "name": REQUESTS[int(number[1])].name if number else None,
        **{name: event[name] for name in columns},
    } | ({"host": event["host"] or ""} if form.has_host else {})


@pytest.fixture(scope="module")
def results(traffic: Callable[[str], Traffic]) -> Callable[[Form], Result]:
    """What is found in the log of a format."""

    @functools.cache
    def of(form: Form) -> Result:
        return read([traffic(form.server).logs / f"{form.name}.log"], form)

    return of


@pytest.mark.parametrize("form", SOME_FORMS, ids=lambda form: f"{form.server}-{form.name}")
def test_events_are_the_requests(
    traffic: Callable[[str], Traffic], results: Callable[[Form], Result], form: Form
) -> None:
    sent = traffic(form.server)
    path = sent.logs / f"{form.name}.log"
    report, events = results(form)
    assert report.errors == ()
    assert report.files == ((str(path), form.format_name),)
    assert (report.lines, report.unreadable, report.samples) == (len(logged(form.server)), 0, ())
    wanted = [
        expected(number, each, form, sent.status(each))
        for number, each in enumerate(REQUESTS)
        if names(each, form.server)
    ]
    found = {each["name"]: each for each in (chosen(event, form) for event in events)}
    assert found == {each["name"]: each for each in wanted}
    assert len(events) == len(wanted)


@pytest.mark.parametrize("form", SOME_FORMS, ids=lambda form: f"{form.server}-{form.name}")
def test_times_are_those_of_the_requests(
    traffic: Callable[[str], Traffic], results: Callable[[Form], Result], form: Form
) -> None:
    sent = traffic(form.server)
    _, events = results(form)
    assert events
    for event in events:
        moment = sent.moments[chosen(event, form)["name"]]
        assert moment - TOLERANCE < event["time"] < moment + 2 * TOLERANCE


@pytest.mark.parametrize("server", [NGINX, APACHE, CADDY])
def test_servers_refuse_what_they_are_said_to(
    traffic: Callable[[str], Traffic], server: str
) -> None:
    sent = traffic(server)
    for request in REQUESTS:
        if request.name in REFUSED[server]:
            assert sent.status(request) in (400, 405), request.name


@pytest.mark.parametrize("form", NAMELESS, ids=lambda form: form.server)
def test_requests_are_those_of_the_owner_of_the_address(
    traffic: Callable[[str], Traffic], form: Form, tmp_path: Path
) -> None:
    """Without a User-Agent, those are judged whose User-Agent no log has: refused, HTTP/0.9."""
    ranges = {"creationTime": f"{datetime.now(UTC):%Y-%m-%d}", "prefixes": ["127.0.0.0/8"]}
    (tmp_path / "gptbot.json").write_text(json.dumps(ranges))
    sent = traffic(form.server)
    report, events = read([sent.logs / f"{form.name}.log"], form, tmp_path)
    assert (report.lines, report.unreadable) == (len(logged(form.server)), 0)
    found = [(each["method"], each["url"], each["status"], each["verdict"]) for each in events]
    assert found == [
        (text(each.method), url_of(each, "itself"), sent.status(each), verdict_of(each))
        for each in logged(form.server)
        if is_judged(each)
    ]
    assert {(each["crawler"], each["identified"]) for each in events} == {("GPTBot", "verified")}


@pytest.mark.parametrize("server", [NGINX, APACHE, pytest.param(CADDY, marks=pytest.mark.thorough)])
def test_ipv6_client(tmp_path: Path, server: str) -> None:
    if not log_servers.has_ipv6():
        pytest.skip("no IPv6 loopback on this machine")
    forms = [each for each in FORMS if each.server == server and each.name != "masked"]
    request = Request("IPv6", client="::1")
    with running(server, tmp_path, forms) as running_server:
        running_server.send(request.bytes_of(1), request.client)
        for form in forms:
            running_server.wait_for(form.name, 1)
    found = {}
    for form in forms:
        report, events = read([tmp_path / "logs" / f"{form.name}.log"], form)
        found[form.name] = report.unreadable, [(each["address"], each["url"]) for each in events]
    assert found == {form.name: (0, [("::1", url_of(request, form.target))]) for form in forms}


@pytest.mark.parametrize(
    "form", [NGINX_FORMS[0], APACHE_FORMS[0], CADDY_FORMS[0]], ids=lambda form: form.server
)
def test_url_with_two_slashes(tmp_path: Path, form: Form) -> None:
    """It is a path, no host: neither that of the request, nor one that is made up."""
    targets = [b"//double/slash", b"//private/a", b"/private//a"]
    with running(form.server, tmp_path, [form]) as server:
        for number, target in enumerate(targets):
            server.send(Request("any", target).bytes_of(number))
            server.wait_for(form.name, number + 1)
    report, events = read([server.log(form.name)], form)
    assert (report.lines, report.unreadable) == (len(targets), 0)
    assert [(each["url"], each["verdict"]) for each in events] == [
        ("//double/slash", "allowed"),
        ("//private/a", "allowed"),
        ("/private//a", "violation"),
    ]


def test_console_of_caddy_has_all_requests(traffic: Callable[[str], Traffic]) -> None:
    path = traffic(CADDY).logs / "console.log"
    report, events = read([path], CONSOLE)
    assert (report.files, report.errors) == (((str(path), "caddy in caddy-console"),), ())
    wanted = [each for each in REQUESTS if names(each, CADDY)]
    assert [each["url"] for each in events] == [text(each.target) for each in wanted]
    assert "Times have no time zone and are read as UTC" in report.notices[0]


def rotate(server: log_servers.LogServer, log: str, number: int, *, is_compressed: bool) -> None:
    """Rotate a log of nginx as logrotate does, and wait until nginx has opened a new one."""
    path, rotated = server.log(log), server.logs / f"{log}.log.{number}"
    before = reopenings(server)
    path.rename(rotated)
    server.process.send_signal(signal.SIGUSR1)
    # Two processes do: the worker writes to the old log until then.
    log_servers.wait_until(lambda: path.exists() and reopenings(server) == before + 2)
    if is_compressed:
        rotated.with_name(f"{rotated.name}.gz").write_bytes(gzip.compress(rotated.read_bytes()))
        rotated.unlink()


def reopenings(server: log_servers.LogServer) -> int:
    return server.log("error").read_bytes().count(b": reopening logs")


@pytest.mark.parametrize("form", [NGINX_FORMS[0], NGINX_FORMS[-2]], ids=lambda form: form.name)
def test_rotated_logs_are_in_order(tmp_path: Path, form: Form) -> None:
    """The older a log is, the higher is its number; the folder has an error log too."""
    targets = [b"/private/%d" % number for number in range(6)]
    with running(NGINX, tmp_path, [form]) as server:
        for number, target in enumerate(targets):
            server.send(Request("any", target).bytes_of(number))
            server.wait_for(form.name, number % 2 + 1)
            if number in (1, 3):
                rotate(server, form.name, 2 - number // 2, is_compressed=number == 1)
                # Times are in whole seconds.
                time.sleep(1.01 if form.name == "combined" else 0.002)
    report, events = read([server.logs], form)
    found = [Path(path).name.removeprefix(form.name) for path, _ in report.files]
    assert found == [".log.2.gz", ".log.1", ".log"]
    assert {name for _, name in report.files} == {form.format_name}
    assert (report.lines, report.unreadable, report.errors) == (6, 0, ())
    assert [each["url"] for each in events] == [text(target) for target in targets]
    assert any("error.log" in each and "nginx error log" in each for each in report.notices)
