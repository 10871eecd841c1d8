"""The limits that koster holds itself to, and how far this run is from them."""

from __future__ import annotations

from dataclasses import dataclass

from .measure import table


@dataclass(frozen=True)
class Limit:
    """A limit: the ratio ``name`` must be at least or at most ``limit``.

    ``between`` says what is between koster and a better number.
    """

    work: str
    name: str
    limit: float
    is_minimum: bool
    unit: str
    between: str

    def row(self, measured: dict[str, float]) -> list[str]:
        """Return the cells of the table."""
        value = measured.get(self.name)
        word = "at least" if self.is_minimum else "at most"
        asked = f"{word} {_number(self.limit)}{self.unit}"
        if value is None:
            return [self.work, asked, "not measured", "", self.between]
        margin = value / self.limit if self.is_minimum else self.limit / value
        holds = "" if margin >= 1 else ", missed"
        cell = f"{_number(value)}{self.unit}"
        return [self.work, asked, cell, f"{margin:.2f} ×{holds}", self.between]


def _number(value: float) -> str:
    """Format a number: large ones with all their digits."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


_PARSING = "preparing the rules is half of it, reading the lines two fifths"
_COLD = "the URL and the rules come from memory, one after the other"

LIMITS = (
    Limit("parse and one decision, of Protego's time", "parse Protego", 20, True, " ×", _PARSING),
    Limit("the same, of jwm.robotstxt's", "parse jwm.robotstxt", 7, True, " ×", _PARSING),
    Limit(
        *("the same, of Google's parser, in C++ without Python", "parse Google", 1.5, True, " ×"),
        f"{_PARSING}; CONTRIBUTING.md says how to measure it",
    ),
    Limit(
        *("decisions asked again and again, of Protego's", "again Protego", 30, True, " ×"),
        "a third of it is a call that does nothing",
    ),
    Limit("the same, in ns", "again", 200, False, " ns", "the same"),
    Limit("decisions on 5,000 kept files, of Protego's", "cold Protego", 30, True, " ×", _COLD),
    Limit("the same, of reppy's", "cold reppy", 4, True, " ×", _COLD),
    Limit(
        *("decisions on 100,000 kept files, of Protego's", "colder Protego", 30, True, " ×"),
        _COLD,
    ),
    Limit("the same, of reppy's", "colder reppy", 4, True, " ×", _COLD),
    Limit(
        *("100,000 plain rules, of 10 rules", "growth", 3, False, " ×"),
        "each step down the index is another place in memory",
    ),
    Limit(
        *("memory of a parsed file beyond twice its bytes", "memory", 2048, False, " bytes"),
        "12 bytes for each line",
    ),
    Limit(
        *("the worst pattern of 1 KiB on 2 KiB", "hostile", 1, False, " ms"),
        "shell patterns of EXTENDED2",
    ),
    Limit(
        *("lint, fmt, diff, audit or disagree: largest exponent", "exponent", 1.2, False, ""),
        "large files are more objects than the caches of the processor hold",
    ),
    Limit(
        *("the slowest of these on 100,000 such lines", "hard", 5, False, " s"),
        "searches for URLs, within their budget",
    ),
    Limit(
        *("import koster, of import dataclasses", "import", 2, False, " ×"),
        "dataclasses itself is two fifths of it",
    ),
    Limit(
        *("the start of koster check", "start", 150, False, " ms"),
        "click and rich-click are a quarter of it, koster another",
    ),
    Limit(
        *("plain Python, of Protego's time", "plain", 3, False, " ×"),
        "bytes are read one at a time",
    ),
    Limit(
        *("facades on kept files, of native calls", "facade", 1.5, False, " ×"),
        "one more call from Python",
    ),
    Limit(
        *(
            "a decision of a client that has the site, of 5,000 kept files",
            "client",
            5,
            False,
            " ×",
        ),
        "the URL is split to find its site, and read as browsers do",
    ),
    Limit(
        *("lint of the slowest real file", "lint", 100, False, " ms"),
        "each of 1,200 rules is compared with those that match the same URLs",
    ),
    Limit(
        *("fmt --minify of the slowest real file", "minify", 500, False, " ms"),
        "searches among a thousand rules with stars, within their budget",
    ),
    Limit(
        *("koster bulk classify, on one core", "archives", 35_000, True, " files/s"),
        "half is zlib; fastwarc takes four fifths of it, only to read the records",
    ),
    Limit(
        *("the same, --dialect google", "archives google", 35_000, True, " files/s"),
        "the same",
    ),
    Limit(
        *("the same, on two cores", "two cores", 1.85, True, " × one"),
        "the start of its processes; two separate runs at once are hardly faster",
    ),
)


def run(measured: dict[str, float]) -> None:
    """Print the table."""
    print("## The limits of this project\n")
    print("Margin: 1 × is the limit itself, more is better.\n")
    rows = [each.row(measured) for each in LIMITS]
    table(["work", "limit", "measured", "margin", "what is behind it"], rows)
