"""The table of log formats.

To add a format, add an entry to `FORMATS`, a sample to ``tests/helpers/log_samples.py``, and its name
to ``docs/_details/logs.md``.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ._formats import Envelope, Format, JsonFormat, TextFormat
from ._patterns import LinePattern, from_apache, from_nginx


def _apache(text: str) -> TextFormat:
    return TextFormat(from_apache(text))


def _lines(regex: str, *fields: str, encoding: str = "escapes") -> TextFormat:
    starts = tuple((match[1], match.start()) for match in re.finditer(r"\(\?P<(\w+)>", regex))
    return TextFormat(LinePattern(regex, fields, encoding=encoding, starts=starts))


def _wrapped(regex: str, *fields: str) -> Envelope:
    return Envelope(_lines(regex, *fields, encoding=""))


def _keys(
    *, is_utc: bool = False, encoding: str = "", mark: str = "", **names: str | tuple[str, ...]
) -> JsonFormat:
    """Return a format by the paths of its fields: keys, with dots between those of objects."""
    return JsonFormat(
        {
            field: tuple(json_path(each) for each in ((some,) if isinstance(some, str) else some))
            for field, some in names.items()
        },
        encoding,
        is_utc,
        mark and json_path(mark),
    )


def json_path(name: str) -> str:
    """Return the path of a field; dots separate the names of objects."""
    parts = [part.translate(_SPECIAL) for part in name.split(".")]
    return "$" + "".join(f'."{part}"' for part in parts if part)


_SPECIAL = str.maketrans("", "", "\"'\\*")

_COMBINED = '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'
_COMMON = '%h %l %u %t "%r" %>s %b'

#: Fields by the variables of the templates below.
_NAMES = {
    each: each
    for each in ("time", "address", "host", "method", "url", "status", "request", "agent")
}

_ALB = (
    "$type $time $elb $address:$port $target $t1 $t2 $t3 $status $target_status $received $sent "
    '"$request" "$agent"'
)
#: Envoy and Istio write headers as they are.
_ENVOY = (
    '[$time] "$request" $status $flags $received $sent $duration $upstream_time "$address" "$agent"'
    ' "$request_id" "$host" "$upstream"'
)
_ISTIO = (
    '[$time] "$request" $status $flags $details $termination "$failure" $received $sent $duration '
    '$upstream_time "$forwarded_for" "$agent" "$request_id" "$host" "$upstream" $cluster '
    "$local $downstream_local $address:$port"
)
_S3 = (
    '$owner $bucket [$time] $address $requester $request_id $operation $key "$request" $status '
    '$error $sent $size $total $turnaround "$referer" "$agent" $version $host_id $signature '
    "$cipher $authentication $host $tls"
)

_DATE = r"\d{1,2}/[A-Z][a-z]{2}/\d{4}:[\d:.]+(?: [+-]\d{4})?"
#: HAProxy escapes quotes and braces in what it captured, and in requests.
_HAPROXY = (
    rf"^(?P<address>\S+):\d+ \[(?P<time>{_DATE})\] \S+ \S+ [-+\d/]+ (?P<status>-?\d+) \+?\d+ \S+ "
    r'\S+ \S+ [\d/+]+ [\d/]+ (?:\{(?P<agent>[^{}]*)\} )?(?:\{[^{}]*\} )?"(?P<request>[^"]*)"(?: .*)?[\r\n]*$'
)
_HAPROXY_CLF = (
    rf'^(?P<address>\S+) - - \[(?P<time>{_DATE})\] "(?P<request>[^"]*)" (?P<status>-?\d+) \+?\d+ '
    r'"" "" \d+ \d+ "[^"]*" "[^"]*" "[^"]*" [-+\d ]+ "?\S{4}"? [-+\d ]+ "[^"]*" "[^"]*" ?'
    r"(?P<agent>.*?)[ \r\n]*$"
)
_HEROKU = (
    r"^(?:\d+ )?(?:<\d+>1 )?(?P<time>\d{4}-\d\d-\d\dT\S+) (?:host heroku router - |heroku\[router\]: )"
    r'(?:.* )?method=(?P<method>\S+) path="(?P<url>[^"]*)" host=(?P<host>\S+) .*?fwd="(?P<address>[^"]*)" '
    r".*?status=(?P<status>\d*)"
)
_TRAEFIK_ADVICE = "set accessLog.fields.headers.names.User-Agent to keep"
_HAPROXY_ADVICE = "add capture request header User-Agent len 512 to the frontend"

_ISO = r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)"
#: RFC 3164, RFC 5424, and what Heroku and journalctl write.
_SYSLOG = (
    rf"^(?:\d+ )?(?:<\d{{1,3}}>)?(?:1 )?(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d|(?P<time>{_ISO})) "
    r"(?:(?:[^\s:]+ |[\da-fA-F:]+ )?[^\s:]+: |(?:\S+ ){3,4}(?:-|\[.*?\]) )(?P<line>.*)"
)
_COMPOSE = rf"^[\w.-]+ *\| (?:(?P<time>{_ISO}) )?(?P<line>.*)"
_CRI = rf"^(?P<time>{_ISO}) (?:stdout|stderr) [FP] (?P<line>.*)"
_CONSOLE = r"^(?P<time>[^\t]+)\t[^\t]*\t[^\t]*\t[^\t]*\t(?P<line>\{.*)"

_CLOUDFRONT_FIELDS = (
    "timestamp", "c-ip", "time-to-first-byte", "sc-status", "sc-bytes", "cs-method", "cs-protocol",
    "cs-host", "cs-uri-stem", "cs-bytes", "x-edge-location", "x-edge-request-id", "x-host-header",
    "time-taken", "cs-protocol-version", "c-ip-version", "cs-user-agent", "cs-referer", "cs-cookie",
    "cs-uri-query",
)  # fmt: skip

#: Values of CloudFront's real-time logs that tell them from other lines with tabs.
_REAL_TIME = {
    "timestamp": r"(?P<time>\d{10}(?:\.\d+)?)", "c-ip": r"(?P<address>[\da-fA-F.:]+)",
    "sc-status": r"(?P<status>\d{3})", "cs-method": r"(?P<method>\S+)",
    "cs-protocol": "(?:https?|wss?|grpcs?)", "x-host-header": r"(?P<host>\S+)",
    "cs-uri-stem": r"(?P<url>\S+)", "cs-user-agent": r"(?P<agent>\S+)",
    "cs-uri-query": r"(?P<query>\S+)",
}  # fmt: skip
_REAL_TIME_LINE = (
    "^"
    + r"\t".join(_REAL_TIME.get(each, r"\S+") for each in _CLOUDFRONT_FIELDS)
    + r"(?:\t.*)?[\r\n]*$"
)

_CADDY = _keys(
    time="ts",
    address=("request.client_ip", "request.remote_ip"),
    host="request.host",
    method="request.method",
    url="request.uri",
    status="status",
)
_CADDY = replace(_CADDY, paths={
    **_CADDY.paths,
    "agent": ('$.request.headers."User-Agent"[0]',),
    "signature": ('$.request.headers."Signature"[0]',),
    "signature_input": ('$.request.headers."Signature-Input"[0]',),
    "signature_agent": ('$.request.headers."Signature-Agent"[0]',),
})  # fmt: skip
_LOGPUSH = _keys(
    time="EdgeStartTimestamp",
    address="ClientIP",
    host="ClientRequestHost",
    method="ClientRequestMethod",
    url="ClientRequestURI",
    status="EdgeResponseStatus",
    agent="ClientRequestUserAgent",
    signature="RequestHeaders.signature",
    signature_input="RequestHeaders.signature-input",
    signature_agent="RequestHeaders.signature-agent",
)
_TRAEFIK_JSON = _keys(
    time=("StartUTC", "time", "StartLocal"),
    address=("ClientHost", "ClientAddr"),
    host=("RequestHost", "RequestAddr"),
    method="RequestMethod",
    url="RequestPath",
    status=("DownstreamStatus", "OriginStatus"),
    agent="request_User-Agent",
)
_ISTIO_JSON = _keys(
    time="start_time",
    address=("downstream_remote_address", "x_forwarded_for"),
    host="authority",
    method="method",
    url="path",
    status="response_code",
    agent="user_agent",
)
_FASTLY = _keys(
    mark="request_user_agent",
    time=("timestamp", "time_start"),
    address="client_ip",
    host="host",
    method=("request_method", "request"),
    url="url",
    status="response_status",
    agent="request_user_agent",
)
_AKAMAI = _keys(
    encoding="form",
    time="reqTimeSec",
    address="cliIP",
    host="reqHost",
    method="reqMethod",
    url="reqPath",
    query="queryStr",
    status="statusCode",
    agent="UA",
)
_CLOUDFRONT_JSON = _keys(
    is_utc=True,
    encoding="percent",
    date="date",
    time=("time", "timestamp", "timestamp(ms)"),
    address="c-ip",
    host=("x-host-header", "cs-host", "cs(Host)"),
    method="cs-method",
    url="cs-uri-stem",
    query="cs-uri-query",
    status="sc-status",
    agent=("cs(User-Agent)", "cs-user-agent"),
)
_AZURE = _keys(
    time="time",
    address=("properties.clientIp", "properties.clientIP"),
    host="properties.hostName",
    method="properties.httpMethod",
    url="properties.requestUri",
    status="properties.httpStatusCode",
    agent="properties.userAgent",
)
_GCP = _keys(
    time="timestamp",
    address="httpRequest.remoteIp",
    method="httpRequest.requestMethod",
    url="httpRequest.requestUrl",
    status="httpRequest.status",
    agent="httpRequest.userAgent",
)
_VERCEL = _keys(
    time=("proxy.timestamp", "timestamp"),
    address="proxy.clientIp",
    host=("proxy.host", "host"),
    method="proxy.method",
    url="proxy.path",
    status=("proxy.statusCode", "statusCode"),
)
_VERCEL = replace(_VERCEL, paths={
    **_VERCEL.paths,
    "agent": ("$.proxy.userAgent[0]", "$.proxy.userAgent"),
})  # fmt: skip
_NETLIFY = _keys(
    mark="site_id",
    time="timestamp",
    address="client_ip",
    host="domain",
    method="method",
    url="url",
    status="status_code",
    agent="user_agent",
)

#: The names of fields in JSON that people write with nginx's "escape=json", and in tables.
NAMES = {
    "time": ("time_iso8601", "time_local", "msec", "time", "timestamp", "@timestamp", "datetime", "ts",
             "date"),
    "date": ("date",),
    "address": ("remote_addr", "address", "client_ip", "remote_ip", "client", "ip"),
    "host": ("host", "http_host", "server_name", "vhost"),
    "method": ("request_method", "method"),
    "url": ("request_uri", "uri", "url", "path"),
    "query": ("args", "query_string", "query"),
    "request": ("request",),
    "status": ("status", "status_code", "response_status"),
    "agent": ("http_user_agent", "user_agent", "agent", "useragent", "ua"),
    "signature": ("http_signature", "signature"),
    "signature_input": ("http_signature_input", "signature_input"),
    "signature_agent": ("http_signature_agent", "signature_agent"),
}  # fmt: skip
_NGINX_JSON = JsonFormat(
    {name: tuple(f'$."{each}"' for each in some) for name, some in NAMES.items()}
)

#: The formats, in the order in which they are tried. Of those that read as many lines, the first
#: with a User-Agent counts; lines inside of other lines (`Envelope`) come before others.
FORMATS = {
    each.name: each
    for each in (
        Format("syslog", "https://www.rfc-editor.org/rfc/rfc5424", _wrapped(_SYSLOG, "time", "line")),
        Format("docker-compose", "https://docs.docker.com/reference/cli/docker/compose/logs/", _wrapped(_COMPOSE, "time", "line")),
        Format("kubernetes", "https://kubernetes.io/docs/concepts/cluster-administration/logging/", _wrapped(_CRI, "time", "line")),
        Format("caddy-console", "https://caddyserver.com/docs/caddyfile/directives/log#console", _wrapped(_CONSOLE, "time", "line")),
        Format("traefik", "https://doc.traefik.io/traefik/observability/access-logs/", TextFormat(from_nginx('$address - $user [$time] "$request" $status $size "$referer" "$agent" $number "$router" "$server" ${duration}ms', _NAMES)), _TRAEFIK_ADVICE),
        Format("haproxy-clf", "https://docs.haproxy.org/2.6/configuration.html#8.2.3", _lines(_HAPROXY_CLF, "address", "time", "request", "status", "agent", encoding="haproxy"), _HAPROXY_ADVICE),
        Format("vhost_combined", "https://httpd.apache.org/docs/2.4/logs.html#virtualhost", _apache(f"%v:%p {_COMBINED}")),
        Format("combined", "https://httpd.apache.org/docs/2.4/logs.html#combined", _apache(_COMBINED)),
        Format("haproxy", "https://docs.haproxy.org/2.6/configuration.html#8.2.3", _lines(_HAPROXY, "address", "time", "status", "agent", "request", encoding="haproxy"), _HAPROXY_ADVICE),
        Format("istio", "https://istio.io/latest/docs/tasks/observability/logs/access-log/", TextFormat(from_nginx(_ISTIO, _NAMES, ""))),
        Format("envoy", "https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage", TextFormat(from_nginx(_ENVOY, _NAMES, ""))),
        Format("alb", "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html", TextFormat(from_nginx(_ALB, _NAMES))),
        Format("s3", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html", TextFormat(from_nginx(_S3, _NAMES))),
        Format("cloudfront-realtime", "https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/real-time-logs.html", _lines(_REAL_TIME_LINE, "time", "address", "host", "method", "url", "query", "status", "agent", encoding="percent")),
        Format("heroku", "https://devcenter.heroku.com/articles/http-routing#heroku-router-log-format", _lines(_HEROKU, "time", "method", "url", "host", "address", "status"), "Heroku's router does not log it: log it in the application"),
        Format("common", "https://httpd.apache.org/docs/2.4/logs.html#common", _apache(_COMMON), "use the format combined"),
        Format("caddy", "https://caddyserver.com/docs/caddyfile/directives/log", _CADDY),
        Format("logpush", "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/", _LOGPUSH, "add the field ClientRequestUserAgent to the job"),
        Format("traefik-json", "https://doc.traefik.io/traefik/observability/access-logs/", _TRAEFIK_JSON, _TRAEFIK_ADVICE),
        Format("istio-json", "https://istio.io/latest/docs/tasks/observability/logs/access-log/", _ISTIO_JSON),
        Format("akamai", "https://techdocs.akamai.com/datastream2/docs/log-format", _AKAMAI, "set Log User-Agent Header in the property, and add the field User-Agent to the stream"),
        Format("cloudfront-json", "https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html", _CLOUDFRONT_JSON),
        Format("azure-front-door", "https://learn.microsoft.com/azure/frontdoor/front-door-diagnostics", _AZURE),
        Format("gcp", "https://cloud.google.com/load-balancing/docs/https/https-logging-monitoring", _GCP),
        Format("vercel", "https://vercel.com/docs/drains/reference/logs", _VERCEL),
        Format("fastly", "https://www.fastly.com/documentation/guides/integrations/streaming-logs/", _FASTLY),
        Format("netlify", "https://docs.netlify.com/manage/monitoring/log-drains/", _NETLIFY),
        Format("nginx-json", "https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format", _NGINX_JSON),
        Format("docker", "https://docs.docker.com/engine/logging/drivers/json-file/", Envelope(_keys(time="time", line="log"))),
        Format("loki", "https://grafana.com/docs/loki/latest/query/logcli/", Envelope(_keys(time="timestamp", line="line"))),
        Format("message", "https://www.elastic.co/guide/en/ecs/current/ecs-base.html", Envelope(_keys(time=("@timestamp", "timestamp"), line=("message", "MESSAGE")))),
        Format("w3c", "https://www.w3.org/TR/WD-logfile.html"),
    )
}  # fmt: skip
