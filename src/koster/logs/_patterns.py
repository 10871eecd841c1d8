"""Formats of log lines as regular expressions with a named group for each field.

A format is given as an Apache LogFormat, an nginx log_format, or the names of the fields of a W3C
extended log. The expressions are those of RE2, which matches in linear time.

Fields: ``time`` (or ``date`` and ``time``), ``address``, ``host``, ``method`` and ``url`` (with
``query``), or ``request`` for the whole request line, ``status``, ``agent``, and the headers of
signatures.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apachelogs.directives import PARAMETERIZED_DIRECTIVES, PLAIN_DIRECTIVES, format2regex
from apachelogs.errors import Error as ApacheError
from apachelogs.util import FieldType

from .._wording import joined
from ..errors import KosterError


class FormatError(KosterError, ValueError):
    """A log format is invalid, or lacks a field that is needed."""


@dataclass(frozen=True, slots=True)
class LinePattern:
    """How to read the lines of a format.

    Attributes:
        regex: The expression for a line, with a group for each field.
        fields: The names of the groups. ``time_2`` and so on are further parts of the time.
        time: The strptime format of the parts of the time, joined by spaces. Empty: see
            `koster.logs._times`.
        encoding: How text is encoded: see `koster.logs._decoding`.
        comment: What comments begin with, if there are comments.
        is_utc: Whether times without a zone are UTC by definition.
        starts: Where each field begins in the expression, by its name in the format.
    """

    regex: str
    fields: tuple[str, ...]
    time: str = ""
    encoding: str = "escapes"
    comment: str = ""
    is_utc: bool = False
    starts: tuple[tuple[str, int], ...] = ()


#: Quoted text, with its escapes; a word; anything, as little as possible.
_TEXT = r'(?:[^"\\]|\\.)*?'
_WORD = r"\S*?"
_ANY = r".*?"
_DIGITS = r"\d*"
#: A path that is followed by its query without a space.
_PATH, _QUOTED_PATH = r'[^?\s"]*', r'[^?"]*'
_FIELD = {
    # Not a lone hyphen, which stands for what is missing.
    "address": r'[^\s"-]\S*?',
    # Users may have brackets in their names.
    "time": r"\[[^\[\]]*\]",
    "status": r"(?:\d{3}|-)",
    # It may be followed by a path without a space.
    "host": r'(?:[^/\s"\\]|\\.)*',
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
_WORDS = frozenset("AbBDHlmPkLTXIOS")
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
    "date": "date", "time": "time", "timestamp": "time", "c-ip": "address", "cs-ip": "address",
    "cs-method": "method", "cs-uri-stem": "url", "cs-uri": "url", "cs-uri-query": "query",
    "sc-status": "status", "cs(user-agent)": "agent", "cs-user-agent": "agent",
    "c-user-agent": "agent", "cs-host": "host", "cs(host)": "host", "x-host-header": "host",
    "cs(signature)": "signature", "cs(signature-input)": "signature_input",
    "cs(signature-agent)": "signature_agent",
}  # fmt: skip

#: A value of a W3C log. Tomcat and Akamai write text in quotes, in which quotes are doubled.
_W3C_VALUE = r'("(?:[^"]|"")*"|\S+)'


def from_apache(text: str) -> LinePattern:
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
    digits = FieldType(_DIGITS, None)
    with_names["p"] = dict.fromkeys(PARAMETERIZED_DIRECTIVES["p"], ("", digits))
    texts = {
        key: ("header" if key == "i" else "", any_text)
        for key, value in PARAMETERIZED_DIRECTIVES.items()
        if isinstance(value, tuple)
    }
    # In configuration files the quotes of a format are escaped.
    text = _bare(text).replace('\\"', '"').replace("\\t", "\t")
    times: list[str] = []
    try:
        groups, regex = format2regex(
            text, plain, with_names | texts | {"t": lambda name: _apache_time(name, times)}
        )
    except ApacheError as error:
        raise FormatError(f"invalid LogFormat: {error}") from error
    names = [_apache_field(name) for name, _, _ in groups]
    return _pattern(regex, names, [label for _, label, _ in groups], " ".join(times))


def _apache_regex(key: str) -> str:
    field = _DIRECTIVES.get(key)
    if key == "p":
        return _DIGITS
    if field in _FIELD:
        return _FIELD[field]
    return _WORD if key in _WORDS else f"(?:{_TEXT})"


def _apache_time(name: str, times: list[str]) -> tuple[list[Any], str]:
    """Return the group and the expression of ``%{...}t``; add its format to ``times``."""
    name = name.removeprefix("begin:").removeprefix("end:")
    if name in ("msec_frac", "usec_frac"):
        return [("", name, None)], r"(\d+)"
    if name in _EPOCH:
        return [("time", name, None)], f"({_EPOCH[name]})"
    times.append(name)
    part = "time" if len(times) == 1 else f"time_{len(times)}"
    return [(part, name, None)], f"({_ANY})"


def _apache_field(name: Any) -> str:
    """Return the field of a group: a name, or the kind of a directive and its argument."""
    kind, argument = name if isinstance(name, tuple) else (name, "")
    kind = kind.removeprefix("final_").removeprefix("original_")
    return _HEADERS.get(argument.lower(), "") if kind == "header" else kind


def from_nginx(
    text: str, variables: Mapping[str, str] = VARIABLES, encoding: str = "escapes"
) -> LinePattern:
    r"""Return the pattern of an nginx log_format, or of another one with variables.

    Args:
        text: The format.
        variables: The field of each variable.
        encoding: How text is encoded; text that is not may have quotes in quotes.

    Raises:
        FormatError: it lacks a field.

    >>> from_nginx('$remote_addr [$time_local] "$request" $status "$http_user_agent"').fields
    ('address', 'time', 'request', 'status', 'agent')
    """
    regex, names, labels = "", [], []
    quoted = _TEXT if encoding == "escapes" else _ANY
    text = _bare(text).replace("\\t", "\t").replace("$is_args$args", "${is_args_and_args}")
    parts = re.split(r"(\$\{\w+\}|\$\w+)", text)
    for number, part in enumerate(parts):
        if number % 2 == 0:
            regex += re.escape(part)
            continue
        after = parts[number + 1][:1]
        variable = part.strip("${}")
        field = variables.get(variable, "")
        is_adjacent = not parts[number + 1] and number + 2 < len(parts)
        if variable == "is_args_and_args":
            # Without a query nginx writes a hyphen.
            regex += rf"(?:\?({quoted})|-)"
            field = "query"
        elif variable.endswith("port"):
            regex += f"({_DIGITS})"
        elif field == "url" and is_adjacent:
            is_quoted = sum(text.count('"') for text in parts[:number:2]) % 2
            regex += f"({_QUOTED_PATH if is_quoted else _PATH})"
        elif field == "time":
            regex += r'([^\[\]"]*?)'
        elif after == '"' and field != "host":
            regex += f"({quoted})"
        elif field in _NGINX_WORDS:
            regex += f"({_FIELD[field]})"
        else:
            regex += f"({_ANY})"
        names.append(field)
        labels.append(part)
    return replace(_pattern(regex, names, labels), encoding=encoding)


def from_w3c(names: Sequence[str]) -> LinePattern:
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
    regex = r"[ \t]".join([_W3C_VALUE] * len(fields))
    found = _pattern(regex, fields, names)
    return replace(found, encoding=_w3c_encoding(names), comment="#", is_utc=True)


def is_w3c_field(name: str) -> bool:
    """Return whether a W3C log may have a field of this name, which koster reads."""
    return name.lower() in _W3C


def _w3c_encoding(names: Sequence[str]) -> str:
    """Return how text is encoded: CloudFront and Akamai do as in URLs, IIS writes + for a space."""
    if "cs-ip" in names:
        return "akamai"
    is_cloudfront = any(name.startswith("x-edge-") for name in names) or "cs-user-agent" in names
    return "w3c" if is_cloudfront else "plus"


def check_fields(fields: Iterable[str]) -> None:
    """Check that a format has what is needed: a time, a request, and who made it.

    Raises:
        FormatError: it has not.
    """
    needed = {"time": {"time"}, "request": {"request", "url"}, "User-Agent": {"agent", "address"}}
    lacking = [name for name, some in needed.items() if not some & set(fields)]
    if lacking:
        raise FormatError(f"the format has no {joined(lacking, 'and no')}")


_LOG_FORMAT = re.compile(r'\s*LogFormat\s+"((?:[^"\\]|\\.)*)"(?:\s+\S+)?\s*', re.DOTALL)
_NGINX_FORMAT = re.compile(
    r"\s*(?:log_format\s+\S+\s+)?(?:escape=\w+\s+)?('.*')\s*;?\s*", re.DOTALL
)


def _bare(text: str) -> str:
    """Return a format without the directive and the quotes that it may be copied with."""
    if match := _LOG_FORMAT.fullmatch(text):
        return match[1]
    if match := _NGINX_FORMAT.fullmatch(text):
        return "".join(re.findall(r"'([^']*)'", match[1]))
    text = text.strip()
    return text[1:-1] if text.startswith('"') and text.endswith('\\""') else text


def _pattern(
    regex: str, names: Sequence[str], labels: Sequence[str], time: str = ""
) -> LinePattern:
    """Return a pattern; the first group of each field is used."""
    used: list[str] = []
    numbers = iter(names)

    def name_group(_match: re.Match[str]) -> str:
        name = next(numbers)
        if not name or name in used:
            return "\0(?:"
        used.append(name)
        return f"\0(?P<{name}>"

    marked = "^" + re.sub(r"(?<!\\)\((?!\?)", name_group, regex)
    check_fields(used)
    before, *groups = marked.split("\0")
    starts = itertools.accumulate(map(len, groups), initial=len(before))
    regex = marked.replace("\0", "")
    # Some servers append fields; the last one must not have spaces then.
    more = "" if regex.endswith((f"{_ANY})", f"{_TEXT})", f"{_TEXT}))")) else r"(?:[ \t].*)?"
    return LinePattern(
        rf"{regex}{more}[\r\n]*$",
        tuple(used),
        time,
        starts=tuple(zip(labels, starts, strict=False)),
    )
