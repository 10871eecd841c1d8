"""What commands say of a site that does not answer with a robots.txt, and ``--header``."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from koster._cli.root import koster
from koster.cache import SqliteCache
from tests.helpers import server
from tests.helpers.server import Answer, Site

PASSWORD = "Basic c3RhZ2luZzpzZWNyZXQ="
HEADER = ("--header", f"Authorization: {PASSWORD}")
GOOGLE = "https://developers.google.com/crawling/docs/robots-txt/robots-txt-spec#http-status-codes"
#: Commands that read a site; ``{}`` is its address.
READING = ("lint {}", "audit {}", "diff {} {}", "fmt {}", "check {}/x", "check --robots {} /x")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(koster, [str(each) for each in arguments])


def run_line(line: str, site: Site, *options: str | Path) -> Result:
    return run(*line.replace("{}", site.url).split(), *options)


@pytest.mark.parametrize("line", READING)
@pytest.mark.parametrize("status", [500, 502, 503, 599])
def test_5xx(site: Site, line: str, status: int) -> None:
    site.robots(status)
    result = run_line(line, site)
    explained = [each for each in result.stderr.splitlines() if "fetching its" not in each]
    assert explained == [
        (
            "koster: 5xx: crawlers that follow RFC 9309 (§2.3.1.4) fetch nothing, or go by a cached copy "
            "of the file; after about 30 days they may fetch everything"
        ),
        (
            "koster: 5xx: Google fetches nothing for 12 hours; then, up to 30 days, it goes by its last "
            "good copy, or fetches everything if it has none"
        ),
        (
            "koster: 5xx: after 30 days, Google fetches everything if the rest of the site works, else "
            f"nothing ({GOOGLE})"
        ),
    ]
    assert result.exit_code == 3
    assert "fetching its robots.txt failed (" in result.output


@pytest.mark.parametrize("line", READING)
def test_429(site: Site, line: str) -> None:
    site.robots(429)
    result = run_line(line, site)
    assert "429: under RFC 9309 (§2.3.1.3), crawlers may fetch everything, as for any 4xx" in (
        result.stderr
    )
    assert "429, as 5xx: Google fetches nothing for 12 hours" in result.stderr
    assert result.exit_code == 3


@pytest.mark.parametrize(
    ("status", "body", "unread"),
    [
        (403, b"", "robots.txt: 403 Forbidden"),
        (200, b"User-agent: *\n" + b"#" * 600_000, "robots.txt: only its first 500 KiB are read"),
    ],
)
def test_an_audit_says_first_what_was_not_read(
    site: Site, status: int, body: bytes, unread: str
) -> None:
    site.robots(status, body=body)
    lines = run("audit", site.url).stdout.splitlines()
    assert lines[0] == f"Not read: {unread}"
    assert "Undecided     all uses" in lines


@pytest.mark.parametrize("line", READING)
@pytest.mark.parametrize("status", [401, 403])
def test_sites_behind_a_password(site: Site, line: str, status: int) -> None:
    site.robots(status)
    result = run_line(line, site)
    assert result.exit_code == 0
    assert f"{status}: under RFC 9309 (§2.3.1.3), crawlers may fetch everything; so may Google" in (
        result.stderr
    )
    assert 'For a staging site behind a password: --header "Authorization: Basic …"' in (
        result.stderr
    )
    assert "o problems found" not in result.stdout
    refused = run_line(line, site, *HEADER)
    assert "the site does not accept the --header that you gave" in refused.stderr


def test_no_answer_at_all(unused: int) -> None:
    result = run("audit", f"http://127.0.0.1:{unused}")
    assert "if crawlers cannot fetch it either: crawlers that follow RFC 9309" in result.stderr
    assert "if crawlers cannot fetch it either: Google fetches nothing" in result.stderr


@pytest.mark.parametrize("status", [404, 410, 418])
def test_sites_without_a_file(site: Site, status: int) -> None:
    site.robots(status)
    result = run("lint", site.url)
    assert re.fullmatch(r"koster: .*: has no robots.txt \(.*\); all is allowed\n", result.stderr)
    assert result.stdout.startswith("Nothing was checked: no robots.txt was read")
    assert result.exit_code == 0


@pytest.mark.parametrize("line", READING)
def test_redirects_to_a_login_page(site: Site, line: str) -> None:
    site.robots(302, headers={"Location": "/login"})
    site.pages["/login"] = Answer(body=b"<!doctype html><html><body>Log in")
    result = run_line(line, site)
    what = f"its robots.txt redirects to {site.url}/login, perhaps a login page"
    assert result.stderr.count(what) == 1


@pytest.mark.parametrize("line", READING)
def test_the_cached_copy_of_a_site_that_is_down(site: Site, line: str, tmp_path: Path) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /y\n")
    path = tmp_path / "cache.sqlite"
    assert run("lint", "--cache", path, site.url).stderr == ""
    before = datetime.now(UTC) - timedelta(hours=2)
    with closing(SqliteCache(path)) as cache:
        entry = cache.get(site.url)
        assert entry is not None
        cache.put(site.url, replace(entry, fetched=before, expires=before))
    site.robots(503)
    result = run_line(line, site, "--cache", path)
    assert result.exit_code == 0
    assert result.stderr == (
        f"koster: {site.url}: fetching its robots.txt failed (503 Service Unavailable); this is the "
        f"cached copy of {before:%Y-%m-%d %H:%M} UTC\n"
    )


def test_several_sites_are_explained_once(site: Site) -> None:
    site.robots(503)
    with server.running() as other:
        other.robots(502)
        for command in (("lint", site.url, other.url), ("check", f"{site.url}/", f"{other.url}/")):
            assert run(*command).stderr.count("5xx: Google fetches nothing for 12 hours") == 1


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_machine_formats_stay_as_they_are(site: Site, form: str) -> None:
    site.robots(503)
    result = run("lint", "-f", form, site.url)
    json.loads(result.stdout)
    assert "5xx: " not in result.stdout
    assert "5xx: Google" in result.stderr


# --header


class Staging:
    """A site that answers only with the password."""

    def __init__(self, site: Site) -> None:
        self.site = site

    @property
    def sent(self) -> list[tuple[str, str | None]]:
        return [(path, headers.get("Authorization")) for path, headers in self.site.requests]


@pytest.mark.parametrize("line", [*READING, "fetch {}", "compose --keep {} --close /y/ -q"])
def test_headers_are_sent_to_the_site(site: Site, line: str, tmp_path: Path) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /private\n")
    cache = tmp_path / "cache.sqlite"
    result = run_line(line, site, *HEADER, "--header", "X-Preview: 1", "--cache", cache)
    assert set(Staging(site).sent) == {("/robots.txt", PASSWORD)}
    assert {headers["X-Preview"] for _, headers in site.requests} == {"1"}
    assert PASSWORD not in result.output
    assert not cache.exists()


def test_expectations_get_headers(site: Site, tmp_path: Path) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /private\n")
    path = tmp_path / "robots.expect.toml"
    path.write_text(f'robots = "{site.url}"\n[[expect]]\nagent = "Googlebot"\nallow = "/"\n')
    assert run("test", path, *HEADER).exit_code == 0
    assert Staging(site).sent == [("/robots.txt", PASSWORD)]


def test_headers_go_to_no_other_site(site: Site, tmp_path: Path) -> None:
    """Redirects, robots.txt files and sitemaps name other sites: they get no password."""
    with server.running() as other:
        other.robots(body=b"User-agent: *\nDisallow: /cart\n")
        site.robots(
            body=f"User-agent: *\nSitemap: {site.url}/own\nSitemap: {other.url}/s\n".encode()
        )
        for path in ("/own", "/moved"):
            site.pages[path] = Answer(302, headers={"Location": f"{other.url}/s"})
        entries = "".join(f"{each.url}/cart\n" for each in (site, other))
        other.pages["/s"] = Answer(body=entries.encode())
        assert "M008" not in run("lint", site.url, *HEADER).stdout
        sitemap = ("--sitemap", f"{site.url}/moved")
        run("lint", site.url, *sitemap, *HEADER)
        assert run("check", *sitemap, *HEADER, "-f", "json").exit_code == 1
        (tmp_path / "i.xml").write_text(
            f"<sitemapindex><sitemap><loc>{other.url}/s</loc></sitemap></sitemapindex>"
        )
        run("check", f"{site.url}/x", "--sitemap", tmp_path / "i.xml", *HEADER)
        site.robots(302, headers={"Location": f"{other.url}/robots.txt"})
        run("audit", site.url, *HEADER)
        assert {sent for _, sent in Staging(site).sent} == {PASSWORD}
        assert {path for path, _ in other.requests} == {"/robots.txt", "/s"}
        assert {sent for _, sent in Staging(other).sent} == {None}


def test_sitemaps_of_the_named_site_get_headers(site: Site) -> None:
    site.robots(body=f"User-agent: *\nSitemap: {site.url}/s\n".encode())
    site.pages["/s"] = Answer(body=f"{site.url}/x\n".encode())
    run("lint", site.url, *HEADER)
    run("check", "--sitemap", f"{site.url}/s", *HEADER)
    assert {path for path, _ in site.requests} == {"/robots.txt", "/s"}
    assert {sent for _, sent in Staging(site).sent} == {PASSWORD}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("secret", 'must be "NAME: VALUE"'),
        (": secret", 'must be "NAME: VALUE"'),
        ("Authorization:", 'must be "NAME: VALUE"'),
        ("Basic secret: x", 'must be "NAME: VALUE"'),
        ("X: secret\r\nY: z", "not printable ASCII"),
        ("X: secret\u20ac", "not printable ASCII"),
        ("Host: secret", "must not contain Host"),
        ("Range: secret", "must not contain Range"),
        ("User-Agent: secret", "use --user-agent"),
    ],
)
def test_invalid_headers_are_usage_errors(site: Site, header: str, message: str) -> None:
    result = run("lint", site.url, "--header", header)
    assert result.exit_code == 2
    assert message in " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())
    assert "secret" not in result.output
    assert site.requests == []


def test_a_header_is_given_once(site: Site) -> None:
    result = run("lint", site.url, *HEADER, "--header", "authorization: x")
    assert result.exit_code == 2
    assert "is given twice" in result.stderr
