"""The tables that ``make bench`` wrote, and a chart of the first one."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2

ROOT = Path(__file__).parents[2]
#: Written by ``make bench``.
TABLES = ROOT / "docs" / "_details" / "benchmarks.md"

_SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
#: Bars of more than this time would leave nothing of the others: the chart leaves them out.
_MAX_SECONDS = 1e-3

_CHART = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 460 {{ height }}" width="460" height="{{ height }}" role="img" aria-labelledby="t d">
<title id="t">Time to parse a robots.txt and decide about one URL</title>
<desc id="d">{% for bar in bars %}{{ bar.name }}: {{ bar.shown }}. {% endfor %}</desc>
<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2430; } .title { font-weight: 600; font-size: 14px; }
  .soft { fill: #5b6270; font-size: 12.5px; } .page { fill: #f6f7fa; } .bar { fill: #a9b0bf; } .ours { fill: #5c6bc0; }
  @media (prefers-color-scheme: dark) { text { fill: #e6e8ee; } .soft { fill: #a3abbb; } .page { fill: #11141c; } .bar { fill: #596073; } .ours { fill: #7986cb; } }
</style>
<rect width="460" height="{{ height }}" rx="10" class="page"/>
<text x="20" y="32" class="title">Parse a robots.txt and decide about one URL</text>
<text x="20" y="52" class="soft">{{ heading }}; time per file, from Python</text>
{% for bar in bars %}
<text x="20" y="{{ bar.y + 14 }}">{{ bar.name }}</text>
<rect x="200" y="{{ bar.y }}" width="{{ bar.width }}" height="18" rx="3" class="{{ 'ours' if bar.name == 'koster' else 'bar' }}"/>
<text x="{{ 208 + bar.width }}" y="{{ bar.y + 14 }}" class="soft">{{ bar.shown }}</text>
{% endfor %}
</svg>
"""


def tables() -> str:
    """Return the tables, with headings for a page that has them below a heading of level 2."""
    text = re.sub(r"^##", "###", TABLES.read_text("utf-8").strip(), flags=re.MULTILINE)
    return re.sub(r"^\|.*\|(?=\n\|---)", _with_headings, text, flags=re.MULTILINE)


def _with_headings(row: re.Match[str]) -> str:
    """Return the first row of a table; screen readers read the heading of each column."""
    cells = [cell.strip() for cell in row[0].strip("|").split("|")]
    names = ["work", *["note"] * len(cells)]
    return "| " + " | ".join(cell or name for cell, name in zip(cells, names, strict=False)) + " |"


def chart() -> str:
    """Return the chart of the first table as SVG."""
    text = TABLES.read_text("utf-8")
    heading = re.search(r"^## Parse and one decision: (.+)$", text, re.MULTILINE)
    assert heading, f"{TABLES} has no table of parsers"
    rows = re.findall(
        r"^\| (\S.*?) *\| ([\d.]+) (ns|µs|ms|s) ",
        text[heading.end() :].partition("\n## ")[0],
        re.MULTILINE,
    )
    found = [
        (name, float(number) * _SECONDS[unit], f"{number} {unit}") for name, number, unit in rows
    ]
    shown = sorted((each for each in found if each[1] <= _MAX_SECONDS), key=lambda each: each[1])
    longest = shown[-1][1]
    bars = [
        {
            "name": name,
            "shown": time,
            "width": round(max(2, 180 * seconds / longest)),
            "y": 68 + 28 * number,
        }
        for number, (name, seconds, time) in enumerate(shown)
    ]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_CHART).render(
        bars=bars, heading=heading[1], height=80 + 28 * len(bars)
    )
