"""A page for each code of ``koster lint``: texts from its table, examples from its test cases."""

from __future__ import annotations

import re
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koster.lint import CHECKS, Family
from tools.commands import printed

from .markdown import front, outside_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koster.lint import Check

ROOT = Path(__file__).parents[2]
CASES = tomllib.loads((ROOT / "tests" / "findings.toml").read_text("utf-8"))["case"]

#: Longer files are no examples.
_MAX_LINES, _MAX_WIDTH = 12, 100

#: For codes whose findings need more than a file.
_INSTEAD = {
    "S004": "Only the dialect MK1994 has such rules: it compares bytes, and no URL matches a path with bytes that are not UTF-8.",
    "M005": "Run `koster lint --sitemap sitemap.xml robots.txt` with a file, a URL or a sitemap index.",
    "Z001": "Any file of more than 512,000 bytes. Often it lists single pages: block their folder, or use `noindex` in the pages.",
    "Z002": "Any line of more than 16,664 bytes.",
    "Z003": "Any file of more than 16 MiB.",
    "Z004": "Any file with more than 2,000 groups of different crawlers, or with thousands of rules with `*` that match the same URLs.",
}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each page."""
    yield "index.md", _index()
    for check in CHECKS:
        yield f"{check.code}.md", "\n".join(_page(check))


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
            f"| [{check.code}]({check.code}.md) | {check.severity} | {_escape(check.title)} |"
            for check in CHECKS
            if check.family is family
        ]
        lines.append("")
    return "\n".join(lines)


def _page(check: Check) -> Iterator[str]:
    yield from front(f"{check.title}: what the code {check.code} means and how to fix it.")
    yield f"# {check.code}: {_escape(check.title)}"
    yield ""
    yield f"`{check.name}` · {check.severity} · {check.family.value}"
    yield ""
    yield "## Why it matters"
    yield ""
    yield _text(check.why)
    yield ""
    yield from _example(check)
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
    case = _case(check.code)
    if case is None:
        yield _text(_INSTEAD[check.code])
        yield ""
        return
    yield from _file(case["raises"])
    output = _linted(check, case["raises"])
    yield "```console\n$ koster lint --notes robots.txt\n" + output + "```"
    yield ""
    yield "## Fix"
    yield ""
    if "fixed" in case:
        yield "`koster lint --fix` writes this instead:"
        yield ""
        yield from _file(case["fixed"])
    else:
        yield "A similar file without the finding:"
        yield ""
        yield from _file(case["near"])


def _case(code: str) -> dict[str, Any] | None:
    """Return the best example of a code: one that is fixed, and short."""
    cases = [
        case
        for case in CASES
        if case["code"] == code
        and not {"padded", "longer"} & case.keys()
        and _is_short(case["raises"])
    ]
    plain = [case for case in cases if "encoding" not in case] or cases
    return min(plain, key=lambda case: ("fixed" not in case, len(case["raises"])), default=None)


def _is_short(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) <= _MAX_LINES and all(len(line) <= _MAX_WIDTH for line in lines)


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


def _linted(check: Check, text: str) -> str:
    """Return what the command prints, with the findings of this code alone."""
    case = _case(check.code) or {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "robots.txt").write_bytes(text.encode(case.get("encoding", "utf-8")))
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
    return outside_code(text, _escape)


def _escape(text: str) -> str:
    text = re.sub(r"(?<![<`\w])(https://[^\s,;)]+[^\s,;).])", r"<\1>", text)
    return text.replace("|", "\\|").replace("*", "\\*").replace("#", "\\#").replace("[", "\\[")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
