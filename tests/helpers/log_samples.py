"""A line of each log format: the same request of GPTBot, at noon.

Those of nginx, Apache, Caddy, HAProxy 2.6 and Varnish 7.1 were written by these servers, with the
time changed; the others are from the documents that the table of formats names.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from koster.logs import Options, Report, Version, Versions, analyze

ROBOTS = Versions("test", (Version("1", None, b"User-agent: *\nDisallow: /private/"),))
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
BOT = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
ENCODED = "Mozilla/5.0%20(compatible;%20GPTBot/1.2;%20+https://openai.com/gptbot)"
FORM = "Mozilla%2F5.0+%28compatible%3B+GPTBot%2F1.2%3B+%2Bhttps%3A%2F%2Fopenai.com%2Fgptbot%29"


def combined(seconds: float, url: str = "/a", agent: str = BOT, address: str = "1.2.3.4") -> str:
    stamp = f"{NOON + timedelta(seconds=seconds):%d/%b/%Y:%H:%M:%S} +0000"
    return f'{address} - - [{stamp}] "GET {url} HTTP/1.1" 200 12 "-" "{agent}"\n'


def as_json(line: Any) -> str:
    return json.dumps(line) + "\n"


LINE = combined(0, "/private/a?x=1")
#: Owned by OpenAI: the only address by which a crawler is recognized without its User-Agent.
OWNED = "132.196.86.12"

CADDY: dict[str, Any] = {
    "level": "info", "ts": NOON.timestamp(), "logger": "http.log.access",
    "request": {"remote_ip": "1.2.3.4", "client_ip": "1.2.3.4", "proto": "HTTP/2.0",
                "method": "GET", "host": "shop.example", "uri": "/private/a?x=1",
                "headers": {"User-Agent": [BOT]}},
    "status": 200,
}  # fmt: skip

SAMPLES = {
    "combined": LINE,
    "common": f'{OWNED} - - [10/Mar/2026:13:00:00 +0100] "GET /private/a?x=1 HTTP/1.1" 200 2\n',
    "vhost_combined": f"shop.example:443 {LINE}",
    "alb": "https 2026-03-10T12:00:00.186641Z app/lb/50dc 1.2.3.4:2817 10.0.0.1:80 0.000 0.001 0.000 "
    '200 200 34 366 "GET https://shop.example:443/private/a?x=1 HTTP/1.1" '
    f'"{BOT}" ECDHE TLSv1.2 arn:aws "Root=1-5833" "-" "-" 0 2026-03-10T12:00:00.1Z "forward"\n',
    "caddy": as_json(CADDY),
    "logpush": as_json({
        "ClientIP": "1.2.3.4", "ClientRequestHost": "shop.example", "ClientRequestMethod": "GET",
        "ClientRequestURI": "/private/a?x=1", "EdgeStartTimestamp": "2026-03-10T12:00:00Z",
        "EdgeResponseStatus": 200, "ClientRequestUserAgent": BOT,
    }),
    "nginx-json": as_json({
        "time_iso8601": "2026-03-10T13:00:00+01:00", "remote_addr": "1.2.3.4",
        "request": "GET /private/a?x=1 HTTP/1.1", "status": "200", "http_user_agent": BOT,
    }),
    "w3c": "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n"
    "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip "
    "cs(User-Agent) cs(Referer) sc-status sc-substatus\n"
    f"2026-03-10 12:00:00 10.0.0.1 GET /private/a x=1 443 - 1.2.3.4 {BOT.replace(' ', '+')} - 200 0\n",
    "syslog": f"<134>Mar 10 12:00:00 web1 nginx: {LINE}",
    "docker-compose": f"web-1  | {LINE}",
    "kubernetes": f"2026-03-10T12:00:00.123456789Z stdout F {LINE}",
    "caddy-console": "2026/03/10 12:00:00.059\t\x1b[34mINFO\x1b[0m\thttp.log.access.log0\thandled request\t"
    + as_json({"request": CADDY["request"], "user_id": "", "duration": 0.000009678, "status": 200}),
    "traefik": LINE.rstrip() + ' 12 "web@docker" "http://172.18.0.3:80" 1ms\n',
    "haproxy": "1.2.3.4:59946 [10/Mar/2026:12:00:00.764] captured b/s1 0/0/0/0/0 200 73 - - ---- "
    f'4/1/0/0/0 0/0 {{shop.example|{BOT}}} {{text/plain}} "GET /private/a?x=1 HTTP/1.1"\n',
    "haproxy-clf": '1.2.3.4 - - [10/Mar/2026:12:00:00 +0000] "GET /private/a?x=1 HTTP/1.1" 200 73 "" "" '
    f'54524 843 "clfcap" "b" "s1" 0 0 0 1 1 ---- 4 1 0 0 0 0 0 "" "" "{BOT}" "shop.example" "text/plain"\n',
    "istio": '[2026-03-10T12:00:00.427Z] "GET /private/a?x=1 HTTP/1.1" 200 - via_upstream - "-" 0 135 5 '
    f'5 "-" "{BOT}" "d209e46f-9ed5-9b61-bbdd-43e22662702a" "shop.example" "10.44.1.23:80" '
    "inbound|8000||httpbin.foo.svc.cluster.local 127.0.0.1:37854 10.44.1.23:80 1.2.3.4:60240 "
    "outbound_.8000_._.httpbin.foo.svc.cluster.local default\n",
    "envoy": '[2026-03-10T12:00:00.310Z] "GET /private/a?x=1 HTTP/2" 200 - 154 0 226 100 '
    f'"10.0.35.28, 1.2.3.4" "{BOT}" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "shop.example" '
    '"tcp://10.0.2.1:80"\n',
    "s3": "79a59df900b949e55d96a1e698fbaced shop.example [10/Mar/2026:12:00:00 +0000] 1.2.3.4 - "
    '3E57427F3EXAMPLE WEBSITE.GET.OBJECT private/a "GET /private/a?x=1 HTTP/1.1" 200 - 113 - 7 - "-" '
    f'"{BOT}" - s9lzHYrFp76ZVxRcpX9= - TLS_AES_128_GCM_SHA256 - '
    "shop.example.s3-website.us-west-1.amazonaws.com TLSv1.2 - -\n",
    "cloudfront-realtime": "1773144000.123\t1.2.3.4\t0.002\t200\t512\tGET\thttps\td111.cloudfront.net\t"
    f"/private/a?x=1\t134\tFRA2\tabc==\tshop.example\t0.002\tHTTP/2.0\tIPv4\t{ENCODED}\t-\t-\tx=1\tHit\n",
    "heroku": "2026-03-10T12:00:00.186641+00:00 heroku[router]: at=info method=GET "
    'path="/private/a?x=1" host=shop.example request_id=8601b555 '
    f'fwd="10.0.0.1, {OWNED}" dyno=web.1 connect=1ms service=18ms status=200 bytes=13 protocol=https\n',
    "traefik-json": as_json({
        "ClientAddr": "1.2.3.4:41000", "ClientHost": "1.2.3.4", "DownstreamStatus": 200,
        "OriginStatus": 200, "RequestHost": "shop.example", "RequestMethod": "GET",
        "RequestPath": "/private/a?x=1", "StartUTC": "2026-03-10T12:00:00.123456789Z",
        "level": "info", "msg": "", "request_User-Agent": BOT, "time": "2026-03-10T12:00:00Z",
    }),
    "istio-json": as_json({
        "authority": "shop.example", "downstream_remote_address": "1.2.3.4:60240", "method": "GET",
        "path": "/private/a?x=1", "response_code": 200, "start_time": "2026-03-10T12:00:00.427Z",
        "user_agent": BOT, "x_forwarded_for": None,
    }),
    "akamai": as_json({
        "version": 1, "cp": "123456", "reqTimeSec": "1773144000.123", "cliIP": "1.2.3.4",
        "statusCode": "200", "proto": "HTTPS", "reqHost": "shop.example", "reqMethod": "GET",
        "reqPath": "private/a", "queryStr": "x=1", "UA": FORM,
    }),
    "cloudfront-json": as_json({
        "date": "2026-03-10", "time": "12:00:00", "x-edge-location": "FRA2", "c-ip": "1.2.3.4",
        "cs-method": "GET", "cs(Host)": "d111.cloudfront.net", "cs-uri-stem": "/private/a",
        "sc-status": "200", "cs(User-Agent)": ENCODED, "cs-uri-query": "x=1",
        "x-host-header": "shop.example",
    }),
    "azure-front-door": as_json({
        "time": "2026-03-10T12:00:00.5Z", "category": "FrontDoorAccessLog",
        "operationName": "Microsoft.Cdn/Profiles/AccessLog/Write",
        "properties": {"httpMethod": "GET", "requestUri": "https://shop.example:443/private/a?x=1",
                       "hostName": "shop.azurefd.net", "userAgent": BOT, "clientIp": "1.2.3.4",
                       "httpStatusCode": "200"},
    }),
    "gcp": as_json({
        "httpRequest": {"requestMethod": "GET", "requestUrl": "https://shop.example/private/a?x=1",
                        "status": 200, "userAgent": BOT, "remoteIp": "1.2.3.4"},
        "resource": {"type": "http_load_balancer"}, "timestamp": "2026-03-10T12:00:00.123456Z",
    }),
    "vercel": as_json({
        "id": "1573817187330377061717300000", "source": "static", "host": "shop-abc.vercel.app",
        "timestamp": 1773144000330, "level": "info", "message": "",
        "proxy": {"timestamp": 1773144000330, "method": "GET", "host": "shop.example",
                  "path": "/private/a?x=1", "userAgent": [BOT], "statusCode": 200,
                  "clientIp": "1.2.3.4", "scheme": "https"},
    }),
    "fastly": as_json({
        "timestamp": "2026-03-10T12:00:00+0000", "client_ip": "1.2.3.4", "host": "shop.example",
        "url": "/private/a?x=1", "request_method": "GET", "request_protocol": "HTTP/2",
        "request_user_agent": BOT, "response_state": "HIT", "response_status": 200,
    }),
    "netlify": as_json({
        "account_id": "5e", "client_ip": "1.2.3.4", "domain": "shop.example", "duration": 27,
        "log_type": "traffic", "method": "GET", "site_id": "7f", "status_code": 200,
        "timestamp": "2026-03-10T12:00:00.000Z", "url": "https://shop.example/private/a?x=1",
        "user_agent": BOT,
    }),
    "docker": as_json({"log": LINE, "stream": "stdout", "time": "2026-03-10T12:00:00.123Z"}),
    "loki": as_json({"labels": {"app": "web"}, "line": LINE.strip(), "timestamp": "2026-03-10T12:00:00Z"}),
    "message": as_json({"@timestamp": "2026-03-10T12:00:00.0Z", "message": LINE.strip()}),
}  # fmt: skip

#: Formats without a User-Agent.
NAMELESS = {"common", "heroku"}

#: Formats that have the site.
WITH_HOST = {
    "vhost_combined", "alb", "caddy", "caddy-console", "logpush", "haproxy", "haproxy-clf", "istio",
    "envoy", "s3", "cloudfront-realtime", "heroku", "traefik-json", "istio-json", "akamai",
    "cloudfront-json", "azure-front-door", "gcp", "vercel", "fastly", "netlify",
}  # fmt: skip


class Events:
    """What `analyze` found, and the events."""

    def __init__(self, paths: Any, versions: Versions = ROBOTS, **options: Any) -> None:
        self.rows: list[dict[str, Any]] = []
        self.report: Report = analyze(
            [str(each) for each in paths], versions, Options(are_addresses_shown=True, **options),
            lambda batch: self.rows.extend(batch.to_pylist()),
        )  # fmt: skip

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.rows]
