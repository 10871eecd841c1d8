"""check and test warn about crawlers to which the ``*`` rules of a file do not apply."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from koster._cli.root import koster as command

WARNING = "AdsBot-Google ignores the rules for *, as its operator says"


@pytest.mark.parametrize(
    ("file", "warns"),
    [
        ("User-agent: *\nDisallow: /a\n", True),
        ("User-agent: *\nDisallow: /a\nUser-agent: AdsBot-Google\nDisallow: /a\n", False),
        ("User-agent: Googlebot\nDisallow: /a\n", False),
    ],
)
def test_commands_warn_of_crawlers_that_ignore_the_star_rules(
    tmp_path: Path, file: str, warns: bool
) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(file)
    expected = tmp_path / "e.toml"
    expected.write_text(
        'robots = "robots.txt"\n[[expect]]\nagent = "AdsBot-Google"\ndisallow = "/a"\n'
    )
    check = ["check", "--robots", str(path), "--agent", "AdsBot-Google", "--agent", "FooBot", "/a"]
    for arguments in (check, ["test", str(expected)]):
        result = CliRunner().invoke(command, arguments)
        assert (WARNING in result.stderr) is warns
        assert "FooBot ignores" not in result.stderr
