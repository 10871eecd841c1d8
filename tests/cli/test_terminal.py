"""Terminal output: text from files, names and servers cannot send control sequences."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.helpers import server
from tests.helpers.forked_commands import Command

pty = pytest.importorskip("pty")

#: ESC, BEL, backspace, CR, DEL, C1's CSI, bidi controls and invisible characters.
HOSTILE = "\x1b]0;owned\x07\x1b[31m\x1b[2J\b\r\x7f\x9b31m\u202e\u2066\u200b\ufeff\U000e0041\u2028"

#: What rich writes to a terminal: colors, and cursor movements for a progress bar.
_RICH = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\r?\x1b\[[0-9]*[AK]")

FILE = f"""\
User-agent: *
Comment: {HOSTILE.replace(chr(13), "")}
Disallow: /{HOSTILE.replace(chr(13), "")}
Disalow: /x{HOSTILE.replace(chr(13), "")}
{HOSTILE.replace(chr(13), "")}: unknown
Crawl-delay: {HOSTILE.replace(chr(13), "")}
Sitemap: {HOSTILE.replace(chr(13), "")}
Content-Signal: {HOSTILE.replace(chr(13), "")}=no

User-agent: Bot {HOSTILE.replace(chr(13), "")}
Disallow: /
"""


def run_on_a_terminal(folder: Path, *arguments: str) -> str:
    """Return what a command prints on a terminal, standard output and error together."""
    parent, child = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    process = Command(*arguments, stdout=child, stderr=child, cwd=folder, env=env)
    blocks = []

    def read() -> None:
        try:
            while block := os.read(parent, 65536):
                blocks.append(block)
        except OSError:
            # The other end is closed.
            pass

    reader = threading.Thread(target=read)
    reader.start()
    assert process.wait(60) in (0, 1, 2, 3)
    # The child may have ended before the terminal was read: it is kept open until here.
    os.close(child)
    reader.join()
    os.close(parent)
    # The terminal turns each LF into CR LF.
    return b"".join(blocks).decode("utf-8").replace("\r\n", "\n")


def control_characters(output: str) -> list[str]:
    """Return the characters that a terminal may obey or that are invisible."""
    text = _RICH.sub("", output)
    return [each for each in text if not each.isprintable() and each not in "\n\xa0"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files with hostile names and contents."""
    (tmp_path / f"a{HOSTILE}.txt").write_text(FILE, newline="")
    (tmp_path / f"b{HOSTILE}.txt").write_text(
        f"User-agent: *\nAllow: /{HOSTILE}\nUser-agent: y{HOSTILE}\nDisallow: /y", newline=""
    )
    (tmp_path / f"page{HOSTILE}.txt").write_text("<html>")
    (tmp_path / f"e{HOSTILE}.toml").write_text(
        f'robots = "a.txt"\n[[expect]]\nagent = "x{ESCAPED}"\nallow = "/{ESCAPED}"\n'
    )
    (tmp_path / f"wrong{HOSTILE}.toml").write_text(f'"{ESCAPED}" = 1\n')
    (tmp_path / "urls").write_text(f"/{HOSTILE}\n{HOSTILE}\n")
    (tmp_path / f"rules{HOSTILE}.txt").write_text(
        f"User-agent: GPTBot\nDisallow: /*{ONE_LINE}\nDisallow: /x\nUser-agent: evil{ONE_LINE}bot\nDisallow: /\n"
    )
    line = '1.2.3.4 - - [10/Mar/2026:12:00:00 +0000] "GET /{} HTTP/1.1" 200 1 "-" "{}"\n'
    urls = (f"x{ONE_LINE}", f"{ONE_LINE}{ONE_LINE}", "x")
    agents = ("GPTBot", f"GPTBot {ONE_LINE}", f"evil{ONE_LINE}bot")
    lines = [line.format(url, agent) for url in urls for agent in agents]
    (tmp_path / f"log{HOSTILE}").write_text("".join(lines) + f"{ONE_LINE} is no line\n")
    (tmp_path / f"no-log{HOSTILE}").write_text(f"{ONE_LINE}\n")
    (tmp_path / f"keys{HOSTILE}.jsonl").write_text(f'{{"a{ESCAPED_JSON}": 1}}\n')
    (tmp_path / "ranges").mkdir()
    (tmp_path / "ranges" / f"{HOSTILE}.json").write_text("[]")
    return tmp_path


#: HOSTILE as JSON, and in a line.
ESCAPED_JSON = json.dumps(HOSTILE)[1:-1]
ONE_LINE = HOSTILE.replace("\r", "")

#: HOSTILE as a TOML string.
ESCAPED = "".join(f"\\U{ord(each):08x}" for each in HOSTILE)

A, B, PAGE = f"a{HOSTILE}.txt", f"b{HOSTILE}.txt", f"page{HOSTILE}.txt"
MISSING = f"none{HOSTILE}.txt"
RULES, LOG = f"rules{HOSTILE}.txt", f"log{HOSTILE}"


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--robots", A, "-a", f"x{HOSTILE}", "--at", "now", f"/{HOSTILE}"],
        ["check", "--robots", A, "--robots", B, "--robots", PAGE, "-d", "all", f"x{HOSTILE}"],
        ["check", "--robots", A, "--urls", "urls", "-f", "csv"],
        ["check", "--robots", A, "--urls", "urls", "-f", "json", "-a", f"Bot {HOSTILE}"],
        ["check", "--robots", MISSING, "/"],
        ["check", HOSTILE],
        ["check", "-d", HOSTILE, "/"],
        ["lint", A, B, PAGE, MISSING],
        ["lint", "-f", "github", A, MISSING],
        ["lint", "-f", "sarif", A, MISSING],
        ["lint", "-f", "json", A, MISSING],
        ["lint", "--fix", A],
        ["lint", "--fix", "--write", A],
        ["lint", "--select", HOSTILE, A],
        ["lint", "--explain", HOSTILE],
        # fmt prints the file itself: escaped on a terminal, as raw bytes elsewhere.
        ["fmt", A],
        ["fmt", "--minify", A],
        ["fmt", "--check", A, B, PAGE],
        ["fmt", "--write", A],
        ["diff", A, B],
        ["diff", "-f", "markdown", A, B],
        ["diff", "-f", "json", A, B],
        ["diff", PAGE, MISSING],
        ["audit", A],
        ["audit", "--site", HOSTILE, "-f", "markdown", A],
        ["audit", "--site", HOSTILE, "-f", "html", A],
        ["audit", "-f", "json", A],
        ["test", "--robots", A, f"e{HOSTILE}.toml"],
        ["test", "--robots", A, "-f", "junit", f"e{HOSTILE}.toml", f"wrong{HOSTILE}.toml"],
        ["test", "--robots", A, "-f", "json", f"e{HOSTILE}.toml", f"wrong{HOSTILE}.toml"],
        ["test", f"wrong{HOSTILE}.toml", f"none{HOSTILE}.toml"],
        ["compose", "--close", "/x/", "--keep", A],
        ["compose", "--close", "/x/", "--keep", PAGE],
        ["compose", "--close", f"/{HOSTILE}"],
        ["compose", "--disallow", HOSTILE],
        ["compose", "--others", "allow", "--write", f"none/{HOSTILE}"],
        ["bulk", "facts", MISSING, "-o", "out"],
        ["bulk", "classify", A, "-a", "x", "-o", HOSTILE],
        ["bulk", "report", HOSTILE],
        *(["logs", "--robots", RULES, "-f", form, LOG] for form in ("text", "json", "csv")),
        *(["logs", "--robots", RULES, "-f", form, LOG] for form in ("markdown", "html")),
        ["logs", "--robots", RULES, f"no-log{HOSTILE}", f"keys{HOSTILE}.jsonl", MISSING],
        ["logs", "--robots", RULES, "--ranges", "ranges", LOG],
        ["logs", "--robots", f"git:{RULES}", LOG],
        ["logs", "--robots", RULES, "--log-format", HOSTILE, LOG],
        ["fetch", f"https://{HOSTILE}/"],
        ["fetch", HOSTILE],
        [HOSTILE],
        [f"--{HOSTILE}"],
    ],
    ids=lambda arguments: "-".join(arguments).encode("unicode_escape").decode()[:60],
)
def test_commands_print_no_control_characters(folder: Path, arguments: list[str]) -> None:
    output = run_on_a_terminal(folder, *arguments)
    assert output.strip()
    assert "Traceback" not in output
    assert control_characters(output) == []


@pytest.mark.parametrize("form", ["text", "json", "file"])
def test_site_content_prints_no_control_characters(
    folder: Path, site: server.Site, form: str
) -> None:
    site.robots(
        body=FILE.encode(),
        headers={"Content-Type": "text/plain; charset=iso-8859\x1b1", "ETag": '"\x1b]0;x\x07"'},
    )
    for arguments in (["fetch", "-f", form, site.url], ["check", f"{site.url}/{HOSTILE}"]):
        output = run_on_a_terminal(folder, *arguments)
        assert output.strip()
        assert "Traceback" not in output
        assert control_characters(output) == []


@pytest.mark.parametrize(
    ("charset", "expected"),
    [("iso-8859-1", "the file is in iso-8859-1"), ("iso-8859\x1b1", r"\x1b")],
)
def test_charset_prints_no_control_characters(
    folder: Path, site: server.Site, charset: str, expected: str
) -> None:
    """Python reads many characters in a charset name as a hyphen."""
    site.robots(
        body="User-agent: *\nDisallow: /é\n".encode("latin-1"),
        headers={"Content-Type": f"text/plain; charset={charset}"},
    )
    output = run_on_a_terminal(folder, "fetch", site.url)
    assert expected in output
    assert control_characters(output) == []


def test_fmt_prints_raw_bytes_without_a_terminal(folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"User-agent: *\nDisallow: /\x1b[31m\xff\n")
    process = subprocess.run(
        [sys.executable, "-m", "koster", "fmt", "a.txt"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    assert process.stdout == b"User-agent: *\nDisallow: /\x1b[31m\xff\n"


def test_csv_is_not_escaped_without_a_terminal(folder: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "koster", "check", "--robots", A, "/\x1b[31m", "-f", "csv"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert b'"/\x1b[31m"' in process.stdout
