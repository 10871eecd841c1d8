"""Files that commands read and write: their charsets, attributes, and changes of others."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import server
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import koster
from koster._charsets import to_utf8
from koster.cli import _files, _writing
from koster.cli._root import koster as command
from koster.errors import UnreadableError

pytestmark = pytest.mark.any_mode

TEXT = "user-agent: *\nDisalow: /private\n"
PLAIN = "User-agent: *\nDisallow: /private\n"
WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


def run(*arguments: str | Path, given: bytes = b"") -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments], input=given)


def wide(text: str, charset: str) -> bytes:
    return ("\ufeff" + text).encode(charset)


def as_a_client_reads(data: bytes, url: str = "/private/x") -> bool:
    body, _ = to_utf8(data, None, is_whole=True)
    return koster.parse(body).allowed(url, "AnyBot")


@pytest.fixture(params=WIDE)
def charset(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "robots.txt"
    path.write_text(TEXT)
    return path


# What a client reads, the commands read; what they write is UTF-8.


@pytest.mark.parametrize("options", [[], ["--minify"]])
def test_fmt_writes_utf_8_and_clients_read_the_same(
    path: Path, charset: str, options: list[str]
) -> None:
    path.write_bytes(wide(TEXT, charset))
    assert not as_a_client_reads(path.read_bytes())
    result = run("fmt", *options, "--write", path)
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == PLAIN.encode()
    assert not as_a_client_reads(path.read_bytes())
    assert result.stderr == (f"koster: {path}: written as UTF-8; it was in {charset.upper()}\n")


def test_fmt_prints_utf_8(charset: str) -> None:
    result = run("fmt", "-", given=wide(TEXT, charset))
    assert (result.exit_code, result.stdout) == (0, PLAIN)
    assert f"printed as UTF-8; it was in {charset.upper()}" in result.stderr


def test_fmt_checks_the_charset(path: Path, charset: str) -> None:
    path.write_bytes(wide(PLAIN, charset))
    result = run("fmt", "--check", path)
    assert result.exit_code == 1
    assert result.stdout == (f"{path}: would be reformatted as UTF-8; it is in {charset.upper()}\n")
    assert run("fmt", "--write", path).exit_code == 0
    assert run("fmt", "--check", path).exit_code == 0


def test_lint_tells_the_charset_and_what_a_client_reads(path: Path, charset: str) -> None:
    path.write_bytes(wide("User-agent: *\nDisallow: admin\n", charset))
    result = run("lint", path)
    assert result.exit_code == 1
    assert f"error B002 the file is in {charset.upper()}" in result.stdout
    assert f"{path}:2:11 error P001" in result.stdout
    assert "--fix fixes 1" in result.stderr


@pytest.mark.parametrize("text", [TEXT, PLAIN])
def test_lint_fixes_the_charset(path: Path, charset: str, text: str) -> None:
    path.write_bytes(wide(text, charset))
    result = run("lint", "--fix", path)
    assert result.exit_code == 1
    assert f"{path}: would be written as UTF-8; it was in {charset.upper()}\n" in result.stdout
    assert path.read_bytes() == wide(text, charset)
    result = run("lint", "--fix", "--write", path)
    assert result.exit_code == 0
    assert f"{path}: written as UTF-8; it was in {charset.upper()}\n" in result.stdout
    assert "every robot may fetch what it might before: proved" in result.stdout
    assert path.read_bytes().decode("utf-8").lower() == PLAIN.lower()
    assert not as_a_client_reads(path.read_bytes())


def test_lint_leaves_a_charset_that_it_was_not_to_look_at(path: Path, charset: str) -> None:
    path.write_bytes(wide(PLAIN, charset))
    result = run("lint", "--select", "P", "--fix", "--write", path)
    assert "nothing can be fixed automatically" in result.stdout
    assert path.read_bytes() == wide(PLAIN, charset)


def test_edits_for_machines_are_those_of_the_file(path: Path, charset: str) -> None:
    """They count bytes, of which UTF-16 has others."""
    path.write_bytes(wide(TEXT, charset))
    assert not any(each["edits"] for each in json.loads(run("lint", "-f", "json", path).stdout))
    (log,) = json.loads(run("lint", "-f", "sarif", path).stdout)["runs"]
    assert log["results"]
    assert not [each for each in log["results"] if "fixes" in each]


def test_others_read_what_clients_read(path: Path, tmp_path: Path, charset: str) -> None:
    other = tmp_path / "utf-8.txt"
    path.write_bytes(wide(PLAIN, charset))
    other.write_text(PLAIN)
    warning = f"robots.txt: is in {charset.upper()}; crawlers that read only UTF-8 find no rules"
    for arguments, code in (
        (["check", "--robots", path, "/private/x"], 1),
        (["diff", path, other], 0),
        (["audit", path], 0),
    ):
        result = run(*arguments)
        assert (result.exit_code, warning in result.stderr) == (code, True), result.output
    assert "Search: partly blocked" in run("audit", path).stdout
    expectations = tmp_path / "e.toml"
    expectations.write_text('robots = "robots.txt"\n[[expect]]\ndisallow = "/private/x"\n')
    assert run("test", expectations).exit_code == 0
    result = run("compose", "--close", "/x/", "--keep", path, "--write", path, "--quiet")
    assert result.exit_code == 0
    assert path.read_text().startswith(f"{PLAIN}Disallow: /x/\n")
    assert f"is in {charset.upper()}; the new file is in UTF-8" in result.stderr


def test_a_site_s_file_is_printed_as_utf_8(site: server.Site) -> None:
    site.robots(body=TEXT.encode("utf-16"), headers={"Content-Type": "text/plain"})
    result = run("fmt", site.url)
    assert result.stdout == PLAIN
    assert "printed as UTF-8; it was in UTF-16-LE" in result.stderr


@pytest.mark.parametrize(
    "body",
    [
        PLAIN.encode("utf-16-le"),
        PLAIN.encode("utf-32-be"),
        b"<!doctype html>\n<pre>\nUser-agent: *\nDisallow: /\n</pre>\n",
        wide("<!doctype html>\nuser-agent: *\n", "utf-16-le"),
        b"\x1f\x8b\x08\0\nuser-agent: *\n",
        b"\0\0\0\0\0\0\0\0\nuser-agent: *\n",
        b"crawlers are welcome here\n",
        # A byte order mark of UTF-16 before something else.
        b"\xff\xfe" + PLAIN.encode(),
    ],
    ids=range(8),
)
@pytest.mark.parametrize(
    "arguments",
    [["fmt"], ["fmt", "--minify"], ["lint", "--fix"], ["compose", "--others", "allow"]],
    ids=" ".join,
)
def test_what_no_rule_can_be_read_in_is_never_written(
    path: Path, arguments: list[str], body: bytes
) -> None:
    path.write_bytes(body)
    more = ["--keep", path, "--write", path] if arguments[0] == "compose" else ["--write", path]
    result = run(*arguments, *more)
    assert result.exit_code in ((1, 3) if arguments[0] == "lint" else (3,))
    assert path.read_bytes() == body or b"\xff\xfe" == body[:2] == path.read_bytes()[:2]
    assert os.listdir(path.parent) == [path.name]


def test_fixes_do_not_make_a_file_of_another_charset(path: Path) -> None:
    """Without the control character, the bytes after it are a byte order mark of UTF-16."""
    body = b"\x01\xff\xfeallow: /\nUser-agent: *\nDisallow: /private\n"
    path.write_bytes(body)
    result = run("lint", "--select", "B007", "--fix", "--write", path)
    assert result.exit_code == 3
    assert "would begin like UTF-16-LE; nothing was written" in result.stderr
    assert path.read_bytes() == body


@settings(max_examples=60)
@given(st.text("abé:/*\n# \u4e2d", max_size=30), st.sampled_from([*WIDE, "utf-8", "utf-8-sig"]))
def test_whatever_is_written_clients_read_the_same(
    tmp_path_factory: pytest.TempPathFactory, text: str, charset: str
) -> None:
    path = tmp_path_factory.mktemp("x") / "robots.txt"
    whole = f"User-agent: *\nDisallow: /private\nAllow: /{text}\n"
    before = wide(whole, charset) if charset in WIDE else whole.encode(charset)
    path.write_bytes(before)
    for options in ([], ["--minify"]):
        code = run("fmt", *options, "--write", path).exit_code
        assert code in (0, 1)
        if code == 0:
            path.read_bytes().decode("utf-8")
        for url in ("/private/x", "/a", "/é", "/", "/b:/"):
            assert as_a_client_reads(path.read_bytes(), url) == as_a_client_reads(before, url)


# What others did in the meantime.


@pytest.fixture
def meddling(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[[], object]]]:
    """Functions that are called when a new file has been written, before it gets its name."""
    calls: list[Callable[[], object]] = []
    real = _writing._write_beside

    def written(target: Path, body: bytes) -> str:
        name = real(target, body)
        for call in calls:
            call()
        return name

    monkeypatch.setattr(_writing, "_write_beside", written)
    return calls


def told(path: Path, result: Result) -> bytes:
    """What is in the file that a command kept beside a file that had changed."""
    assert result.exit_code == 3, result.output
    assert f"{path}: changed on disk after koster read it; not overwritten" in result.stderr
    (new,) = (each for each in path.parent.iterdir() if ".koster-" in each.name)
    assert f"The new content is in {new}\n" in result.stderr
    assert new.name.startswith(f"{path.name}.koster-")
    return new.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["fmt"], PLAIN),
        (["fmt", "--minify"], PLAIN),
        (["lint", "--fix"], "user-agent: *\nDisallow: /private\n"),
    ],
    ids=str,
)
def test_a_change_in_the_meantime_is_kept(
    path: Path, arguments: list[str], expected: str, meddling: list[Callable[[], object]]
) -> None:
    other = "User-agent: *\nDisallow: /new\n"
    meddling.append(lambda: path.write_text(other))
    result = run(*arguments, "--write", path)
    assert path.read_text() == other
    assert told(path, result) == expected.encode()


def test_compose_keeps_a_change_in_the_meantime(
    path: Path, meddling: list[Callable[[], object]]
) -> None:
    meddling.append(lambda: path.write_text("changed"))
    result = run("compose", "--close", "/x/", "--keep", path, "--write", path, "--quiet")
    assert path.read_text() == "changed"
    assert b"Disallow: /x/" in told(path, result)


def test_compose_does_not_overwrite_a_file_that_came_in_the_meantime(
    tmp_path: Path, meddling: list[Callable[[], object]]
) -> None:
    path = tmp_path / "robots.txt"
    meddling.append(lambda: path.write_text("new"))
    result = run("compose", "--others", "allow", "--write", path, "--quiet")
    assert path.read_text() == "new"
    assert b"User-agent: *" in told(path, result)


@pytest.mark.parametrize(
    "meddle",
    [
        lambda path: path.unlink(),
        # The same bytes, written by somebody who has not finished.
        lambda path: os.utime(path, ns=(1, 1)),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["removed", "touched", "folder"],
)
def test_what_else_counts_as_a_change(
    path: Path, meddle: Callable[[Path], object], meddling: list[Callable[[], object]]
) -> None:
    meddling.append(lambda: meddle(path))
    assert told(path, run("fmt", "--write", path)) == b"User-agent: *\nDisallow: /private\n"


def test_a_file_that_is_named_twice_is_written_once(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    result = run("fmt", "--write", path, path, link)
    assert (result.exit_code, result.stderr) == (0, "")
    assert path.read_text() == PLAIN
    assert {each.name for each in tmp_path.iterdir()} == {path.name, link.name}


def test_the_kept_file_has_the_mode_of_the_other(
    path: Path, meddling: list[Callable[[], object]]
) -> None:
    path.chmod(0o640)
    meddling.append(lambda: path.write_text("x"))
    run("fmt", "--write", path)
    (new,) = (each for each in path.parent.iterdir() if each != path)
    assert new.stat().st_mode & 0o7777 == 0o640


# Attributes.


def test_other_hard_links_are_told(path: Path, tmp_path: Path) -> None:
    os.link(path, tmp_path / "one")
    result = run("fmt", "--write", path)
    assert result.exit_code == 0
    assert result.stderr == f"koster: {path}: the file has another hard link with the old content\n"
    assert (tmp_path / "one").read_text() == TEXT
    path.write_text(TEXT)
    os.link(path, tmp_path / "two")
    os.link(path, tmp_path / "three")
    assert "has other hard links with the old content" in run("fmt", "--write", path).stderr


def _has_attributes(folder: Path) -> bool:
    try:
        os.setxattr(folder, "user.koster", b"x")
    except (AttributeError, OSError):
        return False
    return True


@pytest.fixture
def with_attributes(path: Path) -> Path:
    if not _has_attributes(path):
        pytest.skip("the file system has no extended attributes")
    return path


def test_extended_attributes_stay(with_attributes: Path) -> None:
    path = with_attributes
    os.setxattr(path, "user.note", b"a\0b")
    result = run("lint", "--fix", "--write", path)
    assert result.stderr.startswith("nothing found")
    assert os.getxattr(path, "user.note") == b"a\0b"
    assert os.getxattr(path, "user.koster") == b"x"
    # As if it were written for the first time.
    path.write_text(TEXT)
    assert run("compose", "--others", "allow", "--quiet", "--write", path).exit_code == 0
    assert os.getxattr(path, "user.note") == b"a\0b"


def test_an_attribute_that_cannot_be_kept_is_told(
    with_attributes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.setxattr

    def setxattr(path: str, name: str, value: bytes) -> None:
        if name == "user.koster":
            raise PermissionError(1, "Operation not permitted")
        real(path, name, value)

    monkeypatch.setattr(os, "setxattr", setxattr)
    result = run("fmt", "--write", with_attributes)
    assert result.exit_code == 0
    assert result.stderr == (
        f"koster: {with_attributes}: could not keep the extended attribute user.koster\n"
    )
    assert with_attributes.read_text() == PLAIN


@pytest.mark.skipif(sys.platform != "linux", reason="ACLs are attributes on Linux")
def test_access_control_lists_stay(with_attributes: Path) -> None:
    """As `setfacl -m u:12345:r` makes them: a version, then entries of tag, permissions and id."""
    entries = [(1, 6, -1), (2, 4, 12345), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
    acl = (2).to_bytes(4, "little") + b"".join(
        tag.to_bytes(2, "little")
        + perm.to_bytes(2, "little")
        + user.to_bytes(4, "little", signed=True)
        for tag, perm, user in entries
    )
    try:
        os.setxattr(with_attributes, "system.posix_acl_access", acl)
    except OSError:
        pytest.skip("the file system has no access control lists")
    mode = with_attributes.stat().st_mode
    assert run("fmt", "--write", with_attributes).exit_code == 0
    assert os.getxattr(with_attributes, "system.posix_acl_access") == acl
    assert with_attributes.stat().st_mode == mode


def test_an_owner_that_cannot_be_kept_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o4755)
    real = os.stat

    def chown(path: str, uid: int, gid: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    def made(name: object, *args: object, **options: object) -> os.stat_result:
        found = real(name, *args, **options)  # type: ignore[call-overload]
        if ".koster-" not in str(name):
            return found
        return os.stat_result([*found[:4], found.st_uid + 1, *found[5:10]])

    monkeypatch.setattr(os, "chown", chown)
    monkeypatch.setattr(os, "stat", made)
    result = run("fmt", "--write", path)
    assert result.stderr == f"koster: {path}: could not keep its owner or group\n"
    # Nobody's rights are given to another owner.
    assert path.stat().st_mode & 0o7777 == 0o755


def test_nothing_is_left_behind_when_a_write_fails(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(UnreadableError, match="No space left on device"):
        _writing.replace(str(path), b"x", _files.read_version(str(path)))
    assert os.listdir(path.parent) == [path.name]
    assert path.read_text() == TEXT


# Clients read the first 500 KiB.


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize("arguments", [["fmt", "--minify"], ["lint", "--fix", "--select", "L,B"]])
def test_a_long_file_is_compared_as_far_as_clients_read_it(
    path: Path, arguments: list[str], charset: str
) -> None:
    """Made shorter, or UTF-8, a rule that nobody read would be read."""
    padding = ("#" + " padding" * 100 + "\n") * 500
    more = padding if charset == "utf-8" else ""
    text = f"user-agent: *\nDisalow: /a\n{padding}{more}Disallow: /b\n"
    before = text.encode() if charset == "utf-8" else wide(text, charset)
    assert len(before) > 512_000
    assert as_a_client_reads(before, "/b")
    path.write_bytes(before)
    result = run(*arguments, "--write", path)
    if arguments[0] == "fmt":
        assert result.exit_code == 1
        assert "the first 500 KiB, which crawlers read, would have other rules" in result.stderr
        assert path.read_bytes() == before
    else:
        # With lint it is told.
        is_read = not as_a_client_reads(path.read_bytes(), "/b")
        assert is_read == (charset != "utf-8")
        assert ("may no longer fetch /b" in result.stdout) == is_read
    path.write_bytes(before)
    assert "Z001" in run("lint", path).stdout


def test_a_file_that_becomes_too_long_is_not_written(path: Path) -> None:
    """Each line gets a space, so that the last rule is no longer read."""
    body = b"User-agent:*\n" + b"Disallow:/a\n" * 1_000 + (b"#" * 997 + b"\n") * 500
    body += b"Disallow:/b\n"
    assert 511_000 < len(body) < 512_000
    path.write_bytes(body)
    result = run("fmt", "--write", path)
    assert result.exit_code == 1
    assert path.read_bytes() == body
