"""Formats of log lines as regular expressions with a named group for each field.

A format is given as an Apache LogFormat, an nginx log_format, or the names of the fields of a W3C
extended log. The expressions are those of RE2, which matches in linear time.

Fields: ``time`` (or ``date`` and ``time``), ``address``, ``host``, ``method`` and ``url`` (with
``query``), or ``request`` for the whole request line, ``status``, ``agent``, and the headers of
signatures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._wording import joined
from ..errors import KosterError, missing

try:
    from apachelogs.directives import PARAMETERIZED_DIRECTIVES, PLAIN_DIRECTIVES, format2regex
    from apachelogs.errors import Error as ApacheError
    from apachelogs.util import FieldType
except ImportError as error:
    raise missing("koster.logs", "logs") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class FormatError(KosterError, ValueError):
    """A log format is invalid, or lacks a field that is needed."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """How to read the lines of a format.

    Attributes:
        regex: The expression for a line, with a group for each field.
        fields: The names of the groups.
        time: The strptime format of the time. Empty: see `koster.logs._times`.
        decode: How text is encoded: ``"escapes"`` (``\\x22``), ``"plus"`` (``+`` is a space) or
            ``"percent"``.
    """

    regex: str
    fields: tuple[str, ...]
    time: str = ""
    decode: str = "escapes"


#: Quoted text, with its escapes; a word; anything, as little as possible.
_TEXT = r'(?:[^"\\]|\\.)*?'
_WORD = r"\S*?"
_ANY = r".*?"
_FIELD = {
    # Not a lone hyphen, which stands for what is missing.
    "address": r'[^\s"-]\S*?',
    "time": r"\[[^\]]*\]",
    "status": r"(?:\d{3}|-)",
    "host": r"\S*?",
    "method": r"\S*?",
    "query": r'(?:\?(?:[^"\\]|\\.)*?)?',
}

#: The fields of Apache's directives, and of nginx's variables.
_DIRECTIVES = {
    "a": "address", "h": "address", "t": "time", "r": "request", "m": "method", "U": "url",
    "q": "query", "s": "status", "v": "host", "V": "host",
}  # fmt: skip
_HEADERS = {
    "user-agent": "agent", "host": "host", "signature": "signature",
    "signature-input": "signature_input", "signature-agent": "signature_agent",
}  # fmt: skip
#: Directives whose values have no spaces.
_WORDS = frozenset("AbBDlmPkLTXIOS")
#: ``%t`` in these formats is the seconds of the epoch, or a fraction of them.
_EPOCH = {"sec": r"\d+", "msec": r"\d+", "usec": r"\d+"}

VARIABLES = {
    "remote_addr": "address", "realip_remote_addr": "address", "time_local": "time",
    "time_iso8601": "time", "msec": "time", "request": "request", "request_method": "method",
    "request_uri": "url", "uri": "url", "document_uri": "url", "args": "query",
    "query_string": "query", "status": "status", "host": "host", "http_host": "host",
    "server_name": "host", "http_user_agent": "agent", "http_signature": "signature",
    "http_signature_input": "signature_input", "http_signature_agent": "signature_agent",
}  # fmt: skip
_NGINX_WORDS = frozenset({"address", "status", "method", "host"})

_W3C = {
    "date": "date", "time": "time", "c-ip": "address", "cs-method": "method",
    "cs-uri-stem": "url", "cs-uri": "url", "cs-uri-query": "query", "sc-status": "status",
    "cs(user-agent)": "agent", "cs-host": "host", "cs(host)": "host", "x-host-header": "host",
    "cs(signature)": "signature", "cs(signature-input)": "signature_input",
    "cs(signature-agent)": "signature_agent",
}  # fmt: skip


def from_apache(text: str) -> Pattern:
    r"""Return the pattern of an Apache LogFormat.

    Raises:
        FormatError: it is invalid, or lacks a field.

    >>> from_apache('%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"').fields
    ('address', 'time', 'request', 'status', 'agent')
    """
    plain: dict[str, Any] = {
        key: (_DIRECTIVES.get(key, ""), FieldType(_apache_regex(key), None))
        for key in PLAIN_DIRECTIVES
        if key != "%"
    }
    plain["%"] = (None, FieldType("%", None))
    any_text = FieldType(f"(?:{_TEXT})", None)
    address = FieldType(_FIELD["address"], None)
    with_names = {
        key: dict.fromkeys(names, ("address" if key == "a" else "", any_text))
        for key, names in PARAMETERIZED_DIRECTIVES.items()
        if isinstance(names, dict)
    }
    with_names["a"] = {"c": ("address", address)}
    texts = {
        key: ("header" if key == "i" else "", any_text)
        for key, value in PARAMETERIZED_DIRECTIVES.items()
        if isinstance(value, tuple)
    }
    # In configuration files the quotes of a format are escaped.
    text = text.strip().replace('\\"', '"')
    times: list[str] = []
    try:
        groups, regex = format2regex(
            text, plain, with_names | texts | {"t": lambda name: _apache_time(name, times)}
        )
    except ApacheError as error:
        raise FormatError(f"invalid LogFormat: {error}") from error
    names = [_apache_field(name) for name, _, _ in groups]
    return _pattern(regex, names, times[0] if times else "")


def _apache_regex(key: str) -> str:
    field = _DIRECTIVES.get(key)
    if key == "p":
        return r"\d*"
    if field in _FIELD:
        return _FIELD[field]
    return _WORD if key in _WORDS else f"(?:{_TEXT})"


def _apache_time(name: str, times: list[str]) -> tuple[list[Any], str]:
    """Return the group and the expression of ``%{...}t``; add its format to ``times``."""
    name = name.removeprefix("begin:").removeprefix("end:")
    if name in ("msec_frac", "usec_frac"):
        return [("", name, None)], r"(\d+)"
    times.append("" if name in _EPOCH else name)
    return [("time", name, None)], f"({_EPOCH.get(name, _ANY)})"


def _apache_field(name: Any) -> str:
    """Return the field of a group: a name, or the kind of a directive and its argument."""
    kind, argument = name if isinstance(name, tuple) else (name, "")
    kind = kind.removeprefix("final_").removeprefix("original_")
    return _HEADERS.get(argument.lower(), "") if kind == "header" else kind


def from_nginx(text: str, variables: Mapping[str, str] = VARIABLES) -> Pattern:
    r"""Return the pattern of an nginx log_format.

    Raises:
        FormatError: it lacks a field.

    >>> from_nginx('$remote_addr [$time_local] "$request" $status "$http_user_agent"').fields
    ('address', 'time', 'request', 'status', 'agent')
    """
    regex, names = "", []
    # A format may be copied with the quotes of its lines.
    text = re.sub(r"'\s*\n\s*'", "", text.strip()).strip("';")
    parts = re.split(r"(\$\{\w+\}|\$\w+)", text)
    for number, part in enumerate(parts):
        if number % 2 == 0:
            regex += re.escape(part)
            continue
        after = parts[number + 1][:1]
        field = variables.get(part.strip("${}"), "")
        if after == '"':
            regex += f"({_TEXT})"
        elif field in _NGINX_WORDS:
            regex += f"({_FIELD[field]})"
        else:
            regex += f"({_ANY})"
        names.append(field)
    return _pattern(regex, names)


def from_w3c(names: Sequence[str]) -> Pattern:
    """Return the pattern of a W3C extended log from the names of its fields.

    Raises:
        FormatError: a field is missing.

    >>> from_w3c("date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent)".split()).fields
    ('date', 'time', 'address', 'method', 'url', 'status', 'agent')
    """
    fields = [_W3C.get(name.lower(), "") for name in names]
    # CloudFront has the viewer's host besides its own.
    if "x-host-header" in names:
        fields = [
            "" if field == "host" and name != "x-host-header" else field
            for field, name in zip(fields, names, strict=True)
        ]
    # CloudFront encodes text as in URLs, IIS writes + for a space.
    is_cloudfront = any(name.startswith("x-edge-") for name in names)
    regex = r"[ \t]".join([r"(\S+)"] * len(fields))
    return _pattern(regex, fields, decode="percent" if is_cloudfront else "plus")


def check_fields(fields: Iterable[str]) -> None:
    """Check that a format has what is needed: a time, a request, and who made it.

    Raises:
        FormatError: it has not.
    """
    needed = {"time": {"time"}, "request": {"request", "url"}, "User-Agent": {"agent", "address"}}
    lacking = [name for name, some in needed.items() if not some & set(fields)]
    if lacking:
        raise FormatError(f"the format has no {joined(lacking, 'and no')}")


def _pattern(regex: str, names: list[str], time: str = "", decode: str = "escapes") -> Pattern:
    """Return a pattern; the first group of each field is used."""
    used: list[str] = []
    numbers = iter(names)

    def name_group(_match: re.Match[str]) -> str:
        name = next(numbers)
        if not name or name in used:
            return "(?:"
        used.append(name)
        return f"(?P<{name}>"

    regex = re.sub(r"(?<!\\)\((?!\?)", name_group, regex)
    check_fields(used)
    # Some servers append fields.
    return Pattern(f"^{regex}(?:[ \\t].*)?[\\r\\n]*$", tuple(used), time, decode)
