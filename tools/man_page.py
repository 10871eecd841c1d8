"""Writes docs/koster.1, the man page, from the commands and their examples: ``make man``."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import jinja2

from koster import __version__
from koster.cli._examples import EXAMPLES
from koster.cli._help import COMMANDS
from koster.cli._root import koster

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[1] / "docs" / "koster.1"

TEMPLATE = r""".\" Written by make man: do not edit.
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


class Described:
    """A command as the page shows it."""

    def __init__(self, path: str, command: click.Command, context: click.Context) -> None:
        self.usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        text = inspect.cleandoc(command.callback.__doc__ or "").split("\n\n")
        self.sentence, self.more = (" ".join(each.split()) for each in text)
        self.examples = EXAMPLES[path]
        self.epilog = command.epilog or ""
        panels: dict[str, list[tuple[str, str]]] = {}
        for option in command.params:
            if isinstance(option, click.Option):
                panel = getattr(option, "panel", None) or "Options"
                panels.setdefault(panel, []).append((_names(option, context), _help(option)))
        self.panels = list(panels.items())


def _names(option: click.Option, context: click.Context) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    return names if option.is_flag else f"{names} {option.make_metavar(context)}"


def _help(option: click.Option) -> str:
    default = f" Default: {option.default}." if option.show_default else ""
    return f"{option.help}{default}"


def _described(names: tuple[str, ...], parent: click.Context) -> Iterator[Described]:
    """Yield commands, each followed by those in it."""
    for name in names:
        command = parent.command.get_command(parent, name)
        context = click.Context(command, parent=parent, info_name=name)
        yield Described(context.command_path.removeprefix("koster "), command, context)
        if isinstance(command, click.Group):
            yield from _described(tuple(command.list_commands(context)), context)


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
        groups=[(name, list(_described(names, root))) for name, names in COMMANDS.items()],
    )
    return "\n".join(line for line in text.splitlines() if line.strip()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    sys.stdout.write(f"{PAGE}\n")
