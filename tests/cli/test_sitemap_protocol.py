"""What sitemaps contain that the protocol does not allow: said by ``check`` and ``lint``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_sitemaps import errors, index, run, urlset
from tests.helpers import server
from tests.helpers.server import Answer, Site


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDisallow: /cart\n")
    return path


def ignored(site: str, them: str = "it") -> str:
    return f". Search engines ignore {them} unless {site}/robots.txt names this sitemap"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_bare_ampersand_ends_a_sitemap(robots: Path, tmp_path: Path, form: str) -> None:
    """What was read counts, and the exit code says that it is not all."""
    path = tmp_path / "s.xml"
    path.write_bytes(urlset("https://e.com/1", "https://e.com/?a=1&b=2", "https://e.com/cart"))
    result = run("check", "--robots", robots, "--sitemap", path, "--format", form)
    why = "is not valid XML: line 4: bare &: write &amp;; read 1 URL before that"
    assert errors(result) == [f"koster: {path}: {why}"]
    if form == "json":
        assert [each["url"] for each in json.loads(result.stdout)] == ["https://e.com/1"]
    else:
        assert result.stdout.endswith("1 URL from 1 sitemap; 1 error\n")
    assert result.exit_code == 3
    linted = run("lint", "--notes", "--sitemap", path, robots, "--format", form)
    assert why in linted.stderr
    assert f"Not checked completely: {path}: {why}" in linted.stdout
    assert linted.exit_code == 3


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file or directory"),
        (b"", "is empty"),
        (urlset(), "the sitemaps have no URLs: no URL was checked"),
        (urlset("/x"), "1 URL is not absolute, such as /x"),
    ],
)
def test_findings_say_that_a_sitemap_was_not_read(
    robots: Path, tmp_path: Path, content: bytes | None, why: str
) -> None:
    """An empty list would say that no rule blocks a URL."""
    path = tmp_path / "s.xml"
    if content is not None:
        path.write_bytes(content)
    result = run("lint", "--sitemap", path, "--sitemap", path, robots, "--format", "json")
    (finding,) = json.loads(result.stdout)
    assert (finding["code"], finding["line"], result.exit_code) == ("Z004", 1, 3)
    assert finding["message"].startswith("Not checked completely: ")
    assert finding["message"].endswith(why)


def test_more_urls_than_the_protocol_allows(robots: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text("".join(f"https://e.com/{number}\n" for number in range(50_000)))
    arguments = ("check", "--robots", robots, "--sitemap", path)
    assert errors(run(*arguments)) == []
    with path.open("a") as file:
        file.write("https://e.com/cart\n")
    result = run(*arguments)
    limit = "lists 50,001 URLs, more than 50,000, the protocol's limit: split it"
    assert errors(result) == [f"koster: {path}: {limit}"]
    (finding,) = json.loads(
        run("lint", "--select", "M009", "--sitemap", path, robots, "-f", "json").stdout
    )
    assert (finding["code"], finding["message"]) == ("M009", f"{path}: {limit}")
    # All are read, the last one, too.
    assert "1 of 50,001 URLs blocked" in result.stdout
    assert result.exit_code == 1


def test_urls_of_other_sites_are_counted(site: Site) -> None:
    """Another host, another scheme and another port; each has an example."""
    site.robots(body=b"")
    with server.running() as other, server.running() as named:
        other.robots(body=f"Sitemap: {site.url}/another.xml".encode())
        named.robots(body=f"Sitemap: {site.url}/s.xml".encode())
        secure = site.url.replace("http:", "https:")
        urls = [f"{site.url}/1", *[f"{other.url}/{n}" for n in range(3)], f"{named.url}/1"]
        site.pages["/s.xml"] = Answer(body=urlset(*urls, f"{secure}/2", f"{site.url.upper()}/3"))
        result = run("check", "--sitemap", f"{site.url}/s.xml")
    ports = [each.url.rpartition(":")[2] for each in (other, site)]
    about, about_secure = (
        each for each in errors(result) if each.startswith(f"koster: {site.url}/s")
    )
    assert about == (
        f"koster: {site.url}/s.xml: 3 URLs have port {ports[0]} instead of {ports[1]}, such as "
        f"{other.url}/0{ignored(other.url, 'them')}"
    )
    assert f"1 URL is on {secure} instead of {site.url}, such as {secure}/2" in about_secure
    assert "6 of 7 URLs" not in result.stdout
    assert "7 URLs from 1 sitemap\n" in result.stdout


@pytest.mark.parametrize(
    ("urls", "what", "other"),
    [
        (
            ["https://e.com/1", "http://e.com/2", "http://E.com:80/3"],
            "2 URLs begin with http:// instead of https://, such as http://e.com/2",
            "http://e.com",
        ),
        (
            ["http://e.com/1", "https://e.com/2"],
            "1 URL begins with https:// instead of http://, such as https://e.com/2",
            "https://e.com",
        ),
        (
            ["https://e.com/1", "https://www.e.com/2"],
            "1 URL is on https://www.e.com instead of https://e.com, such as https://www.e.com/2",
            "https://www.e.com",
        ),
        (
            ["https://e.com/1", "https://e.com:8443/2"],
            "1 URL has port 8443 instead of 443, such as https://e.com:8443/2",
            "https://e.com:8443",
        ),
    ],
)
def test_a_file_lists_one_site(
    robots: Path, tmp_path: Path, urls: list[str], what: str, other: str
) -> None:
    """The site of a file on disk is unknown: its first URL tells it."""
    path = tmp_path / "s.xml"
    path.write_bytes(urlset(*urls))
    result = run("check", "--robots", robots, "--sitemap", path)
    them = "them" if what.startswith("2") else "it"
    assert errors(result) == [f"koster: {path}: {what}{ignored(other, them)}"]
    assert result.exit_code == 0


def test_one_site_in_many_spellings(robots: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text(
        "https://e.com\nHTTPS://E.COM/1\nhttps://e.com:443/2\nhttps://u@e.com/3\nhttps://e.com?q\n"
    )
    assert errors(run("check", "--robots", robots, "--sitemap", path)) == []


def test_the_given_robots_txt_may_name_the_sitemap(site: Site, tmp_path: Path) -> None:
    site.pages["/s.xml"] = Answer(body=urlset("https://e.com/1"))
    robots = tmp_path / "robots.txt"
    for text, count in ((f"Sitemap: {site.url}/s.xml", 0), (f"Sitemap: {site.url}/t.xml", 1)):
        robots.write_text(text)
        for command in (("check", "--robots"), ("lint", "--select", "M009")):
            result = run(*command, robots, "--sitemap", f"{site.url}/s.xml")
            assert result.output.count("Search engines ignore") == count


def test_indexes_in_indexes_and_other_namespaces(robots: Path, tmp_path: Path) -> None:
    (tmp_path / "i.xml").write_bytes(index("https://e.com/j.xml"))
    (tmp_path / "j.xml").write_bytes(index("https://e.com/s.xml"))
    body = urlset("https://e.com/cart")
    (tmp_path / "s.xml").write_bytes(body.replace(b"http://www.site", b"https://www.site"))
    result = run("check", "--robots", robots, "--sitemap", tmp_path / "i.xml")
    wrong = '"https://www.sitemaps.org/schemas/sitemap/0.9"'
    right = wrong.replace("https", "http")
    assert errors(result) == [
        f"koster: {tmp_path}/j.xml: is an index in an index, which the protocol does not allow",
        f"koster: {tmp_path}/s.xml: has the namespace {wrong}: write {right}",
    ]
    assert (result.exit_code, "1 of 1 URL blocked" in result.stdout) == (1, True)
