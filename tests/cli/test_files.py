"""Files that commands read and write: charsets, attributes and concurrent changes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import koster
from koster._charsets import to_utf8
from koster._cli import file_access, writing
from koster._cli.root import koster as command
from koster.errors import UnreadableError
from tests.helpers import server

TEXT = "user-agent: *\nDisalow: /private\n"
PLAIN = "User-agent: *\nDisallow: /private\n"
WIDE_CHARSETS = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments], input=stdin)


def encode_with_bom(text: str, charset: str) -> bytes:
    return ("\ufeff" + text).encode(charset)


def client_allows(data: bytes, url: str = "/private/x") -> bool:
    body, _ = to_utf8(data, None, is_whole=True)
    return koster.parse(body).allowed(url, "AnyBot")


@pytest.fixture(params=WIDE_CHARSETS)
def charset(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "robots.txt"
    path.write_text(TEXT)
    return path


# Commands decode files as a client does, and write UTF-8.


@pytest.mark.parametrize("options", [[], ["--minify"]])
def test_fmt_writes_utf_8_and_keeps_the_rules(path: Path, charset: str, options: list[str]) -> None:
    path.write_bytes(encode_with_bom(TEXT, charset))
    assert not client_allows(path.read_bytes())
    result = run("fmt", *options, "--write", path)
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == PLAIN.encode()
    assert not client_allows(path.read_bytes())
    assert result.stderr == (f"koster: {path}: written as UTF-8; it was in {charset.upper()}\n")


def test_fmt_prints_utf_8(charset: str) -> None:
    result = run("fmt", "-", stdin=encode_with_bom(TEXT, charset))
    assert (result.exit_code, result.stdout) == (0, PLAIN)
    assert f"printed as UTF-8; it was in {charset.upper()}" in result.stderr


def test_fmt_checks_the_charset(path: Path, charset: str) -> None:
    path.write_bytes(encode_with_bom(PLAIN, charset))
    result = run("fmt", "--check", path)
    assert result.exit_code == 1
    assert result.stdout == (f"{path}: would be reformatted as UTF-8; it is in {charset.upper()}\n")
    assert run("fmt", "--write", path).exit_code == 0
    assert run("fmt", "--check", path).exit_code == 0


def test_lint_reports_the_charset_and_other_findings(path: Path, charset: str) -> None:
    path.write_bytes(encode_with_bom("User-agent: *\nDisallow: admin\n", charset))
    result = run("lint", path)
    assert result.exit_code == 1
    assert f"error B002 The file is in {charset.upper()}" in result.stdout
    assert f"{path}:2:11 error P001" in result.stdout
    assert "--fix fixes 1" in result.stdout


@pytest.mark.parametrize("text", [TEXT, PLAIN])
def test_lint_fixes_the_charset(path: Path, charset: str, text: str) -> None:
    path.write_bytes(encode_with_bom(text, charset))
    result = run("lint", "--fix", path)
    assert result.exit_code == 1
    assert f"{path}: would be written as UTF-8; it was in {charset.upper()}\n" in result.stdout
    assert path.read_bytes() == encode_with_bom(text, charset)
    result = run("lint", "--fix", "--write", path)
    assert result.exit_code == 0
    assert f"{path}: written as UTF-8; it was in {charset.upper()}\n" in result.stdout
    # Google's parser found no rules in the file before.
    assert "access changes by GOOGLE (0 allowed, 1 blocked): /private is now bl" in result.stdout
    assert path.read_bytes().decode("utf-8").lower() == PLAIN.lower()
    assert not client_allows(path.read_bytes())


def test_lint_fixes_the_charset_only_if_selected(path: Path, charset: str) -> None:
    path.write_bytes(encode_with_bom(PLAIN, charset))
    result = run("lint", "--select", "P", "--fix", "--write", path)
    assert "nothing to fix automatically" in result.stdout
    assert path.read_bytes() == encode_with_bom(PLAIN, charset)


def test_json_and_sarif_have_no_edits_for_other_charsets(path: Path, charset: str) -> None:
    """Edits are byte offsets, which differ in UTF-16."""
    path.write_bytes(encode_with_bom(TEXT, charset))
    assert not any(each["edits"] for each in json.loads(run("lint", "-f", "json", path).stdout))
    (log,) = json.loads(run("lint", "-f", "sarif", path).stdout)["runs"]
    assert log["results"]
    assert not [each for each in log["results"] if "fixes" in each]


def test_other_commands_decode_files_as_clients_do(
    path: Path, tmp_path: Path, charset: str
) -> None:
    other = tmp_path / "utf-8.txt"
    path.write_bytes(encode_with_bom(PLAIN, charset))
    other.write_text(PLAIN)
    warning = f"robots.txt: is in {charset.upper()}; crawlers that read only UTF-8 find no rules"
    for arguments, code in (
        (["check", "--robots", path, "/private/x"], 1),
        (["diff", path, other], 0),
        (["audit", path], 0),
    ):
        result = run(*arguments)
        assert (result.exit_code, warning in result.stderr) == (code, True), result.output
    assert "Search engines              allowed except /private" in run("audit", path).stdout
    expectations = tmp_path / "e.toml"
    expectations.write_text('robots = "robots.txt"\n[[expect]]\ndisallow = "/private/x"\n')
    assert run("test", expectations).exit_code == 0
    result = run("compose", "--close", "/x/", "--keep", path, "--write", path, "--quiet")
    assert result.exit_code == 0
    assert path.read_text().startswith(f"{PLAIN}Disallow: /x/\n")
    assert f"is in {charset.upper()}; the new file is in UTF-8" in result.stderr


def test_fmt_prints_a_site_s_file_as_utf_8(site: server.Site) -> None:
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
        encode_with_bom("<!doctype html>\nuser-agent: *\n", "utf-16-le"),
        b"\x1f\x8b\x08\0\nuser-agent: *\n",
        b"\0\0\0\0\0\0\0\0\nuser-agent: *\n",
        b"crawlers are welcome here\n",
        # A UTF-16 byte order mark followed by UTF-8.
        b"\xff\xfe" + PLAIN.encode(),
    ],
    ids=range(8),
)
@pytest.mark.parametrize(
    "arguments",
    [["fmt"], ["fmt", "--minify"], ["lint", "--fix"], ["compose", "--others", "allow"]],
    ids=" ".join,
)
def test_file_without_readable_rules_is_never_written(
    path: Path, arguments: list[str], body: bytes
) -> None:
    path.write_bytes(body)
    options = ["--keep", path, "--write", path] if arguments[0] == "compose" else ["--write", path]
    result = run(*arguments, *options)
    assert result.exit_code in ((1, 3) if arguments[0] == "lint" else (3,))
    assert path.read_bytes() == body or b"\xff\xfe" == body[:2] == path.read_bytes()[:2]
    assert os.listdir(path.parent) == [path.name]


def test_fixes_do_not_change_the_detected_charset(path: Path) -> None:
    """Without its first line, the file would start with a UTF-16 byte order mark."""
    body = b"Sitemap:\n\xff\xfeallow: /\nUser-agent: *\nDisallow: /private\n"
    path.write_bytes(body)
    result = run("lint", "--select", "M003", "--fix", "--write", path)
    assert result.exit_code == 1
    assert "nothing to fix automatically" in result.stdout
    assert path.read_bytes() == body


@settings(max_examples=60)
@given(
    st.text("abé:/*\n# \u4e2d", max_size=30),
    st.sampled_from([*WIDE_CHARSETS, "utf-8", "utf-8-sig"]),
)
def test_written_files_keep_their_rules(
    tmp_path_factory: pytest.TempPathFactory, text: str, charset: str
) -> None:
    path = tmp_path_factory.mktemp("x") / "robots.txt"
    content = f"User-agent: *\nDisallow: /private\nAllow: /{text}\n"
    before = (
        encode_with_bom(content, charset) if charset in WIDE_CHARSETS else content.encode(charset)
    )
    path.write_bytes(before)
    for options in ([], ["--minify"]):
        code = run("fmt", *options, "--write", path).exit_code
        assert code in (0, 1)
        if code == 0:
            path.read_bytes().decode("utf-8")
        for url in ("/private/x", "/a", "/é", "/", "/b:/"):
            assert client_allows(path.read_bytes(), url) == client_allows(before, url)


# Changes by other programs while a command runs.


@pytest.fixture
def before_rename(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[[], object]]]:
    """Functions to call after the new file is written, before it is renamed."""
    calls: list[Callable[[], object]] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        real(handle)
        for call in calls:
            call()

    monkeypatch.setattr(os, "fsync", fsync)
    return calls  # type: ignore[return-value]


def saved_content(path: Path, result: Result) -> bytes:
    """Check that the changed file was not overwritten; return the content saved next to it."""
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
def test_concurrent_change_is_not_overwritten(
    path: Path, arguments: list[str], expected: str, before_rename: list[Callable[[], object]]
) -> None:
    other = "User-agent: *\nDisallow: /new\n"
    before_rename.append(lambda: path.write_text(other))
    result = run(*arguments, "--write", path)
    assert path.read_text() == other
    assert saved_content(path, result) == expected.encode()


def test_compose_does_not_overwrite_a_concurrent_change(
    path: Path, before_rename: list[Callable[[], object]]
) -> None:
    before_rename.append(lambda: path.write_text("changed"))
    result = run("compose", "--close", "/x/", "--keep", path, "--write", path, "--quiet")
    assert path.read_text() == "changed"
    assert b"Disallow: /x/" in saved_content(path, result)


def test_compose_does_not_overwrite_a_file_created_meanwhile(
    tmp_path: Path, before_rename: list[Callable[[], object]]
) -> None:
    path = tmp_path / "robots.txt"
    before_rename.append(lambda: path.write_text("new"))
    result = run("compose", "--others", "allow", "--write", path, "--quiet")
    assert path.read_text() == "new"
    assert b"User-agent: *" in saved_content(path, result)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.unlink(),
        # The same bytes, but another program may still be writing.
        lambda path: os.utime(path, ns=(1, 1)),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["removed", "touched", "folder"],
)
def test_other_concurrent_changes(
    path: Path, change: Callable[[Path], object], before_rename: list[Callable[[], object]]
) -> None:
    before_rename.append(lambda: change(path))
    assert (
        saved_content(path, run("fmt", "--write", path)) == b"User-agent: *\nDisallow: /private\n"
    )


def test_file_given_twice_is_written_once(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    result = run("fmt", "--write", path, path, link)
    assert (result.exit_code, result.stderr) == (0, "")
    assert path.read_text() == PLAIN
    assert {each.name for each in tmp_path.iterdir()} == {path.name, link.name}


def test_saved_file_has_the_mode_of_the_original(
    path: Path, before_rename: list[Callable[[], object]]
) -> None:
    path.chmod(0o640)
    before_rename.append(lambda: path.write_text("x"))
    run("fmt", "--write", path)
    (new,) = (each for each in path.parent.iterdir() if each != path)
    assert new.stat().st_mode & 0o7777 == 0o640


# Attributes.


def test_other_hard_links_warn(path: Path, tmp_path: Path) -> None:
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
def path_with_attributes(path: Path) -> Path:
    if not _has_attributes(path):
        pytest.skip("the file system has no extended attributes")
    return path


def test_extended_attributes_are_preserved(path_with_attributes: Path) -> None:
    path = path_with_attributes
    os.setxattr(path, "user.note", b"a\0b")
    result = run("lint", "--fix", "--write", path)
    assert result.stdout.endswith("No problems found\n")
    assert os.getxattr(path, "user.note") == b"a\0b"
    assert os.getxattr(path, "user.koster") == b"x"
    # compose without --keep preserves them too.
    path.write_text(TEXT)
    assert run("compose", "--others", "allow", "--quiet", "--write", path).exit_code == 0
    assert os.getxattr(path, "user.note") == b"a\0b"


def test_attribute_that_cannot_be_preserved_warns(
    path_with_attributes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.setxattr

    def setxattr(path: str, name: str, value: bytes) -> None:
        if name == "user.koster":
            raise PermissionError(1, "Operation not permitted")
        real(path, name, value)

    monkeypatch.setattr(os, "setxattr", setxattr)
    result = run("fmt", "--write", path_with_attributes)
    assert result.exit_code == 0
    assert result.stderr == (
        f"koster: {path_with_attributes}: could not keep the extended attribute user.koster\n"
    )
    assert path_with_attributes.read_text() == PLAIN


@pytest.mark.skipif(sys.platform != "linux", reason="ACLs are attributes on Linux")
def test_access_control_lists_are_preserved(path_with_attributes: Path) -> None:
    """The ACL of `setfacl -m u:12345:r`: a version, then entries of tag, permissions and id."""
    entries = [(1, 6, -1), (2, 4, 12345), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
    acl = (2).to_bytes(4, "little") + b"".join(
        tag.to_bytes(2, "little")
        + perm.to_bytes(2, "little")
        + user.to_bytes(4, "little", signed=True)
        for tag, perm, user in entries
    )
    try:
        os.setxattr(path_with_attributes, "system.posix_acl_access", acl)
    except OSError:
        pytest.skip("the file system has no access control lists")
    mode = path_with_attributes.stat().st_mode
    assert run("fmt", "--write", path_with_attributes).exit_code == 0
    assert os.getxattr(path_with_attributes, "system.posix_acl_access") == acl
    assert path_with_attributes.stat().st_mode == mode


def test_owner_that_cannot_be_preserved_warns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o4755)
    real = os.stat

    def chown(path: str, uid: int, gid: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    def stat(name: object, *args: object, **options: object) -> os.stat_result:
        result = real(name, *args, **options)  # type: ignore[call-overload]
        if ".koster-" not in str(name):
            return result
        return os.stat_result([*result[:4], result.st_uid + 1, *result[5:10]])

    monkeypatch.setattr(os, "chown", chown)
    monkeypatch.setattr(os, "stat", stat)
    result = run("fmt", "--write", path)
    assert result.stderr == f"koster: {path}: could not keep its owner or group\n"
    # The new owner does not get the setuid bit.
    assert path.stat().st_mode & 0o7777 == 0o755


def test_failed_write_leaves_no_temporary_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UnreadableError, match="No space left on device"):
        writing.replace(str(path), b"x", file_access.read_version(str(path)))
    assert os.listdir(path.parent) == [path.name]
    assert path.read_text() == TEXT


# Clients read the first 500 KiB.


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize("arguments", [["fmt", "--minify"], ["lint", "--fix", "--select", "L,B"]])
def test_long_files_are_compared_up_to_the_read_limit(
    path: Path, arguments: list[str], charset: str
) -> None:
    """A shorter or UTF-8 file would move a rule that crawlers did not read below the limit."""
    padding = ("#" + " padding" * 100 + "\n") * 500
    extra = padding if charset == "utf-8" else ""
    text = f"user-agent: *\nDisalow: /a\n{padding}{extra}Disallow: /b\n"
    before = text.encode() if charset == "utf-8" else encode_with_bom(text, charset)
    assert len(before) > 512_000
    assert client_allows(before, "/b")
    path.write_bytes(before)
    result = run(*arguments, "--write", path)
    if arguments[0] == "fmt":
        assert result.exit_code == 1
        assert "the first 500 KiB, which crawlers read, would have other rules" in result.stderr
        assert path.read_bytes() == before
    else:
        # lint writes the file and reports the change.
        is_read = not client_allows(path.read_bytes(), "/b")
        assert is_read == (charset != "utf-8")
        assert ("/b is now blocked for" in result.stdout) == is_read
    path.write_bytes(before)
    assert "Z001" in run("lint", path).stdout


def test_file_that_would_exceed_the_read_limit_is_not_written(path: Path) -> None:
    """Each line gets a space, which pushes the last rule past the limit."""
    body = b"User-agent:*\n" + b"Disallow:/a\n" * 1_000 + (b"#" * 997 + b"\n") * 500
    body += b"Disallow:/b\n"
    assert 511_000 < len(body) < 512_000
    path.write_bytes(body)
    result = run("fmt", "--write", path)
    assert result.exit_code == 1
    assert path.read_bytes() == body
