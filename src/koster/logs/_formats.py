"""The table of log formats, and which of them a file has.

To add a format, add an entry to `FORMATS`, and a sample to ``tests/logs/test_files.py``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._json import parse_json
from .._wording import count_noun
from ..bulk._arrow import pa, pc
from ..bulk._columns import to_text, unchunked
from ._blocks import lines_of
from ._patterns import FormatError, LinePattern, check_fields, from_apache, from_nginx, from_w3c
from ._times import query

#: The lines of a file that its format is detected by.
_SAMPLE_LINES = 200
_SAMPLE_BYTES = 2**18

#: The share of lines that must be readable.
MIN_READABLE = 0.5

_FIELDS = re.compile(rb"^#Fields:(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TextFormat:
    """Lines that an expression matches."""

    pattern: LinePattern

    @property
    def fields(self) -> Collection[str]:
        """The names of its fields."""
        return self.pattern.fields

    @property
    def time(self) -> str:
        """The strptime format of its times; empty: see `koster.logs._times`."""
        return self.pattern.time

    @property
    def comment(self) -> str:
        """What comments begin with; empty: it has no comments."""
        return self.pattern.comment

    def are_valid(self, lines: Any) -> Any:
        """Return which lines have this format."""
        return pc.match_substring_regex(lines, re.sub(r"\(\?P<\w+>", "(?:", self.pattern.regex))

    def columns(self, lines: Any) -> dict[str, Any]:
        """Return the fields of valid lines, as bytes."""
        found = pc.extract_regex(lines, self.pattern.regex)
        columns = {name: found.field(name) for name in self.pattern.fields}
        parts = ["date", "time", *(name for name in columns if name.startswith("time_"))]
        times = [columns.pop(name) for name in parts if name in columns]
        space = pa.scalar(b" ", pa.large_binary())
        columns["time"] = pc.binary_join_element_wise(*times, space)
        return _decoded(columns, self.pattern.decode)

    def segments(self, data: bytes) -> Iterator[tuple[LineFormat, bytes]]:
        """Yield the parts of a block, each with its format."""
        yield self, data


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """Lines that are JSON objects: the paths of each field; the first one that exists counts."""

    paths: Mapping[str, tuple[str, ...]]

    #: As in `TextFormat`.
    time: ClassVar[str] = ""
    comment: ClassVar[str] = ""

    @property
    def fields(self) -> Collection[str]:
        """The names of its fields."""
        return self.paths

    def are_valid(self, lines: Any) -> Any:
        """Return which lines are JSON."""
        found = query(
            to_text(lines),
            "CASE WHEN json_valid(text) THEN json_type(text) = 'OBJECT' ELSE false END AS valid",
        )
        return unchunked(found["valid"]).fill_null(False)

    def columns(self, lines: Any) -> dict[str, Any]:
        """Return the fields of valid lines, as text."""
        columns = ", ".join(
            f"coalesce({', '.join(map(_extract, paths))}) AS {name}"
            for name, paths in self.paths.items()
        )
        found = query(to_text(lines), columns)
        return {name: unchunked(found[name]) for name in self.paths}

    def segments(self, data: bytes) -> Iterator[tuple[LineFormat, bytes]]:
        """Yield the parts of a block, each with its format."""
        yield self, data


#: Matches no line.
_NOTHING = TextFormat(
    LinePattern(r"x^(?P<time>)(?P<url>)(?P<agent>)", ("time", "url", "agent"), comment="#")
)


#: The most lists of fields in a log, and fields in a list: servers write about 30 fields.
_MAX_LISTS = 64
_MAX_FIELDS = 256


@dataclass(slots=True)
class W3cFormat:
    """A W3C extended log, whose ``#Fields:`` lines name the fields of the lines after them.

    Lines after too many different lists are unreadable.
    """

    current: TextFormat = _NOTHING
    known: dict[bytes, TextFormat] = field(default_factory=dict)

    def segments(self, data: bytes) -> Iterator[tuple[LineFormat, bytes]]:
        """Yield the parts of a block, each with its format; lines before any are unreadable.

        Parts with equal lists of fields have the same format.
        """
        start = 0
        for match in _FIELDS.finditer(data):
            if match.start() > start:
                yield self.current, data[start : match.start()]
            self.current = self._format_of(match[1])
            start = match.end() + 1
        if start < len(data):
            yield self.current, data[start:]

    def _format_of(self, names: bytes) -> TextFormat:
        found = self.known.get(names)
        if found is None and len(self.known) < _MAX_LISTS:
            found = self.known[names] = _w3c_format(names)
        return found or _NOTHING


def _w3c_format(names: bytes) -> TextFormat:
    fields = names.decode("latin-1").split(maxsplit=_MAX_FIELDS)
    if len(fields) > _MAX_FIELDS:
        return _NOTHING
    try:
        return TextFormat(from_w3c(fields))
    except FormatError:
        return _NOTHING


def _extract(path: str) -> str:
    return f"json_extract_string(text, '{path}')"


def _decoded(columns: dict[str, Any], decode: str) -> dict[str, Any]:
    """Decode the fields that servers encode."""
    if decode == "escapes":
        for name, column in columns.items():
            if name not in ("time", "address", "status"):
                columns[name] = _unescaped(column)
    elif "agent" in columns:
        agents = columns["agent"].dictionary_encode()
        replace = _unquote if decode == "percent" else _spaces
        values = pa.array(
            [None if each is None else replace(each) for each in agents.dictionary.to_pylist()],
            pa.large_binary(),
        )
        columns["agent"] = values.take(agents.indices)
    return columns


def _spaces(raw: bytes) -> bytes:
    return raw.replace(b"+", b" ")


def _unquote(raw: bytes) -> bytes:
    """Decode percent-encoded text; CloudFront encodes some of it twice."""
    from urllib.parse import unquote_to_bytes  # noqa: PLC0415 - only here

    return unquote_to_bytes(unquote_to_bytes(raw) if b"%25" in raw else raw)


_ESCAPE = re.compile(rb"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_CONTROLS = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"b": b"\b", b"v": b"\v", b"f": b"\f"}


def _unescaped(column: Any) -> Any:
    r"""Decode the escapes of Apache (``\"``, ``\n``, ``\xhh``) and nginx (``\xHH``, ``\u00HH``)."""
    are = pc.match_substring(column, "\\")
    if not pc.any(are).as_py():
        return column
    values = [_ESCAPE.sub(_unescape, each) for each in column.filter(are).to_pylist()]
    return pc.replace_with_mask(column, are, pa.array(values, column.type))


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 3:
        return bytes([int(code[1:], 16)])
    if len(code) == 5:
        # nginx with escape=json.
        return chr(int(code[1:], 16)).encode("utf-8", "replace")
    return _CONTROLS.get(code, code)


@dataclass(frozen=True, slots=True)
class Format:
    """An entry of the table: its name, where it comes from, and how its lines are read."""

    name: str
    source: str
    lines: TextFormat | JsonFormat | None = field(default=None)


def _apache(text: str) -> TextFormat:
    return TextFormat(from_apache(text))


_COMBINED = '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'

#: Variables of `_ALB`, in the order of its lines.
_ALB_VARIABLES = {
    "time": "time", "client": "address", "status": "status", "request": "request", "agent": "agent",
}  # fmt: skip
_ALB = (
    "$type $time $elb $client:$port $target $t1 $t2 $t3 $status $target_status $received $sent "
    '"$request" "$agent"'
)

_CADDY = {
    "time": ("$.ts",),
    "address": ("$.request.client_ip", "$.request.remote_ip"),
    "host": ("$.request.host",),
    "method": ("$.request.method",),
    "url": ("$.request.uri",),
    "status": ("$.status",),
    "agent": ('$.request.headers."User-Agent"[0]',),
    "signature": ('$.request.headers."Signature"[0]',),
    "signature_input": ('$.request.headers."Signature-Input"[0]',),
    "signature_agent": ('$.request.headers."Signature-Agent"[0]',),
}
_LOGPUSH = {
    "time": ("$.EdgeStartTimestamp",),
    "address": ("$.ClientIP",),
    "host": ("$.ClientRequestHost",),
    "method": ("$.ClientRequestMethod",),
    "url": ("$.ClientRequestURI",),
    "status": ("$.EdgeResponseStatus",),
    "agent": ("$.ClientRequestUserAgent",),
    "signature": ('$.RequestHeaders."signature"',),
    "signature_input": ('$.RequestHeaders."signature-input"',),
    "signature_agent": ('$.RequestHeaders."signature-agent"',),
}


def json_path(name: str) -> str:
    """Return the path of a field; dots separate the names of objects."""
    parts = [re.sub(r"[\"'\\*]", "", part) for part in name.split(".")]
    return "$" + "".join(f'."{part}"' for part in parts if part)


def _named(*names: str) -> tuple[str, ...]:
    return tuple(f'$."{name}"' for name in names)


#: The names of fields in JSON that people write with nginx's "escape=json", and in tables.
NAMES = {
    "time": ("time_iso8601", "time_local", "msec", "time", "timestamp", "@timestamp", "datetime", "ts"),
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

#: The formats, in the order in which they are tried.
FORMATS = {
    each.name: each
    for each in (
        Format("vhost_combined", "https://httpd.apache.org/docs/2.4/logs.html#virtualhost", _apache(f"%v:%p {_COMBINED}")),
        Format("combined", "https://httpd.apache.org/docs/2.4/logs.html#combined", _apache(_COMBINED)),
        Format("common", "https://httpd.apache.org/docs/2.4/logs.html#common", _apache('%h %l %u %t "%r" %>s %b')),
        Format("alb", "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html", TextFormat(from_nginx(_ALB, _ALB_VARIABLES))),
        Format("caddy", "https://caddyserver.com/docs/caddyfile/directives/log", JsonFormat(_CADDY)),
        Format("logpush", "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/", JsonFormat(_LOGPUSH)),
        Format("nginx-json", "https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format", JsonFormat({name: _named(*some) for name, some in NAMES.items()})),
        Format("w3c", "https://www.w3.org/TR/WD-logfile.html"),
    )
}  # fmt: skip


def format_of(text: str) -> Format:
    """Return a format by its name, or from a LogFormat (``%h …``) or log_format (``$remote_addr …``).

    Raises:
        FormatError: it is neither.
    """
    if text in FORMATS:
        return FORMATS[text]
    if "%" in text:
        return Format("LogFormat", "", _apache(text))
    if "$" in text:
        return Format("log_format", "", TextFormat(from_nginx(text)))
    raise FormatError(
        f"unknown log format {text!r}: use {', '.join(FORMATS)}, or a LogFormat or log_format string"
    )


def reader_of(found: Format) -> LineFormat | W3cFormat:
    """Return what reads the lines of a file in a format."""
    return found.lines or W3cFormat()


def detect(data: bytes, path: str) -> Format:
    """Return the format that most of the first lines of a file have.

    Raises:
        FormatError: no format fits more than half of them; the message says what the file looks
            like.
    """
    sample = b"\n".join(data[:_SAMPLE_BYTES].split(b"\n")[: _SAMPLE_LINES + 1])
    if b"\n" in sample and len(data) > len(sample):
        sample = sample[: sample.rfind(b"\n") + 1]
    if _FIELDS.search(sample):
        return FORMATS["w3c"]
    lines = lines_of(sample)
    lines = lines.filter(pc.match_substring_regex(lines, r"\S"))
    if not len(lines):
        raise FormatError(f"{path}: the file is empty")
    is_json = sample.lstrip().startswith(b"{")
    best: tuple[float, Format] | None = None
    for each in FORMATS.values():
        if each.lines is None or isinstance(each.lines, JsonFormat) is not is_json:
            continue
        share = _readable(each.lines, lines)
        if best is None or share > best[0]:
            best = share, each
    if best is None or best[0] <= MIN_READABLE:
        readable = round((best[0] if best else 0) * len(lines))
        raise FormatError(
            f"{path}: unknown log format: {readable} of {count_noun(len(lines), 'line')} can be read. "
            f"The file looks like {looks_like(sample)}. If it is a log, name its format with --log-format"
        )
    return best[1]


def _readable(reader: LineFormat, lines: Any) -> float:
    """Return the share of lines that have what is needed in a format."""
    are = reader.are_valid(lines)
    if isinstance(reader, JsonFormat) and pc.any(are).as_py():
        columns = reader.columns(lines.filter(are))
        present = [name for name, column in columns.items() if column.null_count < len(column)]
        try:
            check_fields(present)
        except FormatError:
            return 0.0
    return float(pc.sum(are).as_py() or 0) / len(lines)


_LOOKS = (
    (rb"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[\w+\]", "an nginx error log"),
    (rb"^\[\w{3} \w{3} \d\d [\d:.]+ \d{4}\] \[", "an Apache error log"),
    (rb"^(?:<\d+>)?(?:\w{3} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT\S+) \S+ \S+: ",
     "a log with the prefix of syslog before each line"),
    (rb"^\s*(?:<!doctype|<html)", "an HTML page"),
    (rb"(?i)^\s*(?:user-agent|disallow|allow)\s*:", "a robots.txt"),
    (rb"^[^\n,]*(?:,[^\n,]*){3,}$", "a table (CSV)"),
)  # fmt: skip


def looks_like(sample: bytes) -> str:
    """Return what a file that is no access log looks like, in words."""
    if b"\0" in sample:
        return "binary data"
    first = next((line for line in sample.split(b"\n") if line.strip()), b"")
    try:
        keys = parse_json(first)
    except ValueError:
        keys = None
    if isinstance(keys, dict):
        return f"JSON with the keys {', '.join(list(map(str, keys))[:12])}"
    for expression, words in _LOOKS:
        if re.search(expression, first, re.MULTILINE | re.IGNORECASE):
            return words
    shown = first[:100].decode("utf-8", "replace").strip()
    return f'lines such as "{shown}"'


LineFormat = TextFormat | JsonFormat
