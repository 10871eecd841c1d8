"""Logs that somebody wrote to make koster slow."""

from __future__ import annotations

from pathlib import Path

import pytest

from koster.logs import Options, Report, Version, Versions, _requests, analyze
from tests.helpers.support import sampled

ROBOTS = Versions("test", (Version("1", None, b"User-agent: *\nDisallow: /private/"),))


def read(folder: Path, text: str) -> tuple[Report, list[str]]:
    """Return what was found in a log, and the URLs of crawlers."""
    path = folder / "access.log"
    path.write_text(text)
    urls: list[str] = []
    report = analyze(
        [str(path)], ROBOTS, Options(), lambda batch: urls.extend(batch["url"].to_pylist())
    )
    return report, urls


def test_w3c_logs_whose_fields_change_with_each_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    parse = _requests._parse_lines
    monkeypatch.setattr(_requests, "_parse_lines", lambda *them: calls.append(1) or parse(*them))  # type: ignore[func-returns-value]
    one = "#Fields: date time cs-uri-stem cs(User-Agent) c-ip\n2026-03-10 12:00:00 /{} GPTBot 1.2.3.4\n"
    other = "#Fields: cs-uri-stem cs(User-Agent) c-ip date time\n/{} GPTBot 1.2.3.4 2026-03-10 12:00:00\n"
    lines = ((one if number % 3 else other).format(number) for number in range(2_000))
    report, urls = read(tmp_path, "".join(lines))
    # For each list of fields: once for the first moment, and once for the requests.
    assert len(calls) == 4
    assert urls == [f"/{number}" for number in range(2_000)]
    assert (report.lines, report.unreadable) == (2_000, 0)


@pytest.mark.parametrize(
    ("header", "unreadable"),
    sampled(
        [("x-{}", 6), ("sc-status " * 250, 0), ("sc-status " * 252, 70), ("x " * 10_000, 70)], 2
    ),
)
def test_lists_of_w3c_fields_are_limited(tmp_path: Path, header: str, unreadable: int) -> None:
    fields = f"#Fields: date time cs-uri-stem cs(User-Agent) c-ip {header}\n"
    line = "2026-03-10 12:00:00 /a GPTBot 1.2.3.4" + " -" * 252 + "\n"
    report, _ = read(tmp_path, "".join(fields.format(number) + line for number in range(70)))
    assert (report.lines, report.unreadable) == (70, unreadable)


def test_a_single_line_that_is_too_long(tmp_path: Path) -> None:
    (error,) = read(tmp_path, "x" * 600_000)[0].errors
    assert error.endswith("access.log: the first line is too long for a log")
