"""A page for each code of ``koster lint``: what its check says about itself."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from koster.lint import CHECKS, Family, lint, with_edits
from tools.commands import printed

from .markdown import front, outside_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koster.lint import Check


def pages() -> Iterator[tuple[str, str, str]]:
    """Yield the file name of each page, its text, and where that is in the repository."""
    yield "index.md", _index(), "src/koster/lint/_checks.py"
    for check in CHECKS:
        module = check.find.__module__.replace(".", "/")
        yield f"{check.code}.md", "\n".join(_page(check)), f"src/{module}.py"


def _index() -> str:
    lines = [
        *front("Every code of koster lint, by topic, with its severity."),
        "# Lint codes",
        "",
        "[`koster lint`](../commands/lint.md) reports findings with these codes. `koster lint --explain CODE` prints a code's",
        "page in short. [Check and fix a file](../../guides/owners/check-and-fix.md) shows how to work with them, and",
        "[Configuration](../configuration.md) how to turn codes off.",
        "",
    ]
    for family in Family:
        lines += [
            f"## {_capital(family.value)}",
            "",
            "| code | severity | finding |",
            "|---|---|---|",
        ]
        lines += [
            f"| [{check.code}]({check.code}.md) | {check.severity} | {escape(check.title)} |"
            for check in CHECKS
            if check.family is family
        ]
        lines.append("")
    return "\n".join(lines)


def _page(check: Check) -> Iterator[str]:
    yield from front(f"{check.title}: what the code {check.code} means and how to fix it.")
    yield f"# {check.code}: {escape(check.title)}"
    yield ""
    yield f"`{check.name}` · {check.severity} · {check.family.value}"
    yield ""
    yield "## Why it matters"
    yield ""
    yield _text(check.why)
    yield ""
    yield from _example(check)
    if not check.is_on:
        yield "## Turn it on"
        yield ""
        yield f"It runs only where its code is selected: `--select {check.code}`."
        yield ""
    yield "## Turn it off"
    yield ""
    yield "For one line, with a comment at its end:"
    yield ""
    yield f"```robots\nDisallow: /example  # koster: ignore[{check.code}]\n```"
    yield ""
    yield "For a project, in `koster.toml` ([Configuration](../configuration.md)):"
    yield ""
    yield f'```toml\nignore = ["{check.code}"]\n```'
    yield ""
    yield "## Source"
    yield ""
    yield _source(check.source)
    yield ""


def _example(check: Check) -> Iterator[str]:
    yield "## Example"
    yield ""
    if not check.fix:
        yield _text(check.example)
        yield ""
        return
    yield from _file(check.example)
    body = check.example.encode(check.encoding)
    yield f"```console\n$ koster lint --notes robots.txt\n{_linted(check, body)}```"
    yield ""
    yield "## Fix"
    yield ""
    if with_edits(body, lint(body, checks=[check])) == check.fix.encode():
        yield "`koster lint --fix` writes this instead:"
    else:
        yield "A similar file without the finding:"
    yield ""
    yield from _file(check.fix)


def _file(text: str) -> Iterator[str]:
    shown = _visible(text)
    if shown != text.replace("\r\n", "\n"):
        yield "Characters that cannot be seen are shown as escapes."
        yield ""
    yield f"```robots\n{shown.rstrip()}\n```"
    yield ""


def _visible(text: str) -> str:
    """Return a text with escapes for what cannot be seen; line ends stay."""
    text = text.replace("\r\n", "\n")
    return "".join(each if each == "\n" or each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _linted(check: Check, body: bytes) -> str:
    """Return what the command prints, with the findings of this code alone."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "robots.txt").write_bytes(body)
        output = printed(["lint", "--notes", "--select", check.code, "robots.txt"], place)
    assert check.code in output, (check.code, output)
    return _visible(output)


def _source(source: str) -> str:
    parts = []
    for part in source.split("; "):
        section = re.search(r"RFC (\d+)(?: §([\d.]+))?", part)
        if part.startswith("https://"):
            parts.append(f"<{part}>")
        elif section:
            anchor = f"#section-{section[2]}" if section[2] else ""
            url = f"https://www.rfc-editor.org/rfc/rfc{section[1]}{anchor}"
            parts.append(f"[{section[0]}]({url}){_text(part[section.end() :])}")
        else:
            parts.append(_text(part))
    return "; ".join(parts)


def _text(text: str) -> str:
    """Return a text of the table as Markdown: stars are no emphasis, addresses are links."""
    return outside_code(text, escape)


def escape(text: str) -> str:
    """Return a text for Markdown, with addresses as links."""
    text = re.sub(r"(?<![<`\w])(https://[^\s,;)]+[^\s,;).])", r"<\1>", text)
    return text.replace("|", "\\|").replace("*", "\\*").replace("#", "\\#").replace("[", "\\[")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
