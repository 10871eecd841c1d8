"""Writes docs/koster.1, the man page, from the commands and their examples."""

from __future__ import annotations

from pathlib import Path

import click
import jinja2

from koster import __version__
from koster._cli.help import COMMANDS
from koster._cli.root import koster
from tools.commands import Described, described

PAGE = Path(__file__).parents[1] / "docs" / "koster.1"

TEMPLATE = r""".\" Written by make generate: do not edit.
.TH KOSTER 1 "" "koster {{ version | roff }}" "User Commands"
.SH NAME
koster \- {{ koster.sentence | roff }}
.SH SYNOPSIS
.B koster
.I COMMAND
.RI [ OPTIONS "] [" ARGUMENTS ]
.SH DESCRIPTION
{{ koster.more | roff }}
{% macro examples(command) -%}
.PP
.EX
{% for example in command.examples %}
{{ example | roff }}
{% endfor %}
.EE
{%- endmacro %}
{{ examples(koster) }}
{% for group, commands in groups %}
.SH {{ group | upper | roff }}
{% for command in commands %}
.SS "{{ command.usage | roff }}"
{{ command.sentence | roff }}
{{ command.more | roff }}
{{ examples(command) }}
{% for panel, options in command.panels %}
.PP
.I {{ panel | roff }}
{% for names, help in options %}
.TP
.B {{ names | roff }}
{{ help | roff }}
{% endfor %}
{% endfor %}
{% if command.epilog %}
.PP
{{ command.epilog | roff }}
{% endif %}
{% endfor %}
{% endfor %}
.SH EXIT STATUS
{{ koster.epilog | roff }} A command that Ctrl-C stops exits with 130.
.SH ENVIRONMENT
.TP
.B HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY
Proxies to fetch through, without \-\-proxy.
.TP
.B NO_COLOR
If set, output has no colours.
"""


def roff(text: str) -> str:
    """Escape text for troff, in which a line must not begin with a dot or a quote."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    escaped = "".join(each if each.isascii() else rf"\[u{ord(each):04X}]" for each in escaped)
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def page() -> str:
    """Return the man page."""
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["roff"] = roff
    root = click.Context(koster, info_name="koster")
    text = environment.from_string(TEMPLATE).render(
        version=__version__,
        koster=Described("koster", koster, root),
        groups=[(name, list(described(names, root))) for name, names in COMMANDS.items()],
    )
    return "\n".join(line for line in text.splitlines() if line.strip()) + "\n"
