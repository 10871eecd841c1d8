"""The limits that koster holds itself to, and how far this run is from them."""

from __future__ import annotations

from .measure import table

_LEAST, _MOST = "at least", "at most"
#: Work, the number of a run that it is measured by, and what that must be. Ratios are of one run:
#: what is in seconds, too, depends on the machine.
# fmt: off
LIMITS = (
    ("parse and one decision, of Protego's time", "parse Protego", _LEAST, 20, " ×"),
    ("the same, of jwm.robotstxt's", "parse jwm.robotstxt", _LEAST, 7, " ×"),
    ("the same, of Google's parser, in C++ without Python", "parse Google", _LEAST, 1.5, " ×"),
    ("decisions asked again and again, of Protego's", "again Protego", _LEAST, 30, " ×"),
    ("the same, in ns", "again", _MOST, 200, " ns"),
    ("decisions on 5,000 kept files, of Protego's", "kept Protego", _LEAST, 30, " ×"),
    ("the same, of reppy's", "kept reppy", _LEAST, 4, " ×"),
    ("a decision of a client that has the site, of these", "client", _MOST, 5, " ×"),
    ("100,000 plain rules, of 10 rules", "growth", _MOST, 3, " ×"),
    ("memory of a parsed file beyond twice its bytes", "memory", _MOST, 2048, " bytes"),
    ("the worst pattern of 1 KiB on 2 KiB", "hostile", _MOST, 1, " ms"),
    ("plain Python, of Protego's time", "plain", _MOST, 3, " ×"),
    ("facades on kept files, of native calls", "facade", _MOST, 1.5, " ×"),
    ("import koster, of import dataclasses", "import", _MOST, 2, " ×"),
    ("the start of koster check, of import dataclasses", "start", _MOST, 6, " ×"),
    ("lint, fmt, diff, audit or disagree: largest exponent", "exponent", _MOST, 1.2, ""),
    ("the slowest of these on such a file of 1 MB", "hard", _MOST, 5, " s"),
    ("lint of the slowest real file", "lint", _MOST, 100, " ms"),
    ("the same, of susbot's slowest", "lint susbot", _MOST, 1, " ×"),
    ("fmt --minify of the slowest real file", "minify", _MOST, 500, " ms"),
    ("5,000 sites with one client, of httpx2 alone", "origins", _LEAST, 0.8, " ×"),
    ("classify for 24 crawlers, of a Protego loop", "classify Protego", _LEAST, 20, " ×"),
    ("koster bulk classify, on one core", "archives", _LEAST, 35_000, " files/s"),
    ("the same, --dialect google", "archives google", _LEAST, 35_000, " files/s"),
    ("the same by CPU, of fastwarc that only reads", "archives fastwarc", _LEAST, 0.4, " ×"),
    ("the same on two cores, of one", "two cores", _LEAST, 1.85, " ×"),
)
# fmt: on


def run(measured: dict[str, float]) -> None:
    """Print the table."""
    print("## The limits of this project\n")
    print("Margin: 1 × is the limit itself, more is better.\n")
    rows = []
    for work, name, word, limit, unit in LIMITS:
        asked = f"{word} {_number(limit)}{unit}"
        if name not in measured:
            rows.append([work, asked, "not measured", ""])
            continue
        margin = measured[name] / limit if word == _LEAST else limit / measured[name]
        cell = f"{margin:.2f} ×{'' if margin >= 1 else ', missed'}"
        rows.append([work, asked, f"{_number(measured[name])}{unit}", cell])
    table(["work", "limit", "measured", "margin"], rows)


def _number(value: float) -> str:
    """Format a number: large ones with all their digits."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"
