"""The robots.txt parsers that koster is compared with: one entry each.

A new parser is an entry here, and the lines that ask it in the program of its language (folder
``subjects``). Versions are exact; those of Debian and CPython are whatever is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RFC = ("rfc9309",)
#: Google's own parser, and its ports.
GOOGLE = ("rfc9309", "google")
#: Older than the RFC: what its documentation names, and the RFC to compare it with the others.
OF_1994 = ("rfc9309", "1994")
OF_1996 = ("rfc9309", "1996")
NIKITA = ("rfc9309", "1996", "2008")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """A parser.

    Attributes:
        name: What it is called; unique.
        language: What it is written in.
        registry: Where it comes from: PyPI, npm, Debian or CPython.
        key: What its program in ``subjects`` knows it by; on PyPI and npm the package's name.
        homepage: Its page.
        packages: What to install; with exact versions on PyPI and npm.
        dialects: The standards that it claims to follow, and rfc9309.
        program: The file in ``subjects`` that asks it.
        needs: Python code that an interpreter must run without an error to import it.
        dependencies: pip installs what it depends on.
        source: It is built from source, in an environment of its own.
        check: A command that succeeds if it is installed.
    """

    name: str
    language: str
    registry: str
    key: str
    homepage: str
    packages: tuple[str, ...]
    dialects: tuple[str, ...] = RFC
    program: str = "python.py"
    needs: str = ""
    dependencies: bool = True
    source: bool = False
    check: tuple[str, ...] = ()


def _github(path: str) -> str:
    return f"https://github.com/{path}"


def _pypi(key: str, version: str, homepage: str, language: str = "Python", **more: Any) -> Parser:
    given: dict[str, Any] = {"name": key, "packages": (f"{key}=={version}",), **more}
    return Parser(language=language, registry="PyPI", key=key, homepage=homepage, **given)


def _npm(key: str, version: str, homepage: str, **more: Any) -> Parser:
    given: dict[str, Any] = {"name": key, "packages": (f"{key}@{version}",), **more}
    fixed: dict[str, Any] = {
        "language": "JavaScript",
        "registry": "npm",
        "program": "javascript.js",
    }
    return Parser(key=key, homepage=homepage, **fixed, **given)


def _debian(name: str, language: str, package: str, homepage: str, **more: Any) -> Parser:
    fixed: dict[str, Any] = {"registry": "Debian", "packages": (package,)}
    return Parser(name=name, key=name, language=language, homepage=homepage, **fixed, **more)


def _crawler(name: str, homepage: str, **more: Any) -> Parser:
    fixed: dict[str, Any] = {"program": "crawlers.py", "check": (name, "--version")}
    return _debian(name, "C", name, homepage, **fixed, **more)


PARSERS = (
    # Ports of Google's parser.
    _pypi("jwm.robotstxt", "1.0.8", _github("jwmorley73/jwm.robotstxt"), "C++", dialects=GOOGLE),
    _pypi("fast-robotstxt", "1.1.0", _github("nzrsky/robotstxt"), "C++", dialects=GOOGLE),
    _pypi("gpyrobotstxt", "1.0.0", _github("Cocon-Se/gpyrobotstxt"), dialects=GOOGLE),
    _pypi(
        "sqlite-robotstxt", "0.0.1a3", _github("asg017/sqlite-robotstxt"), "Rust", dialects=GOOGLE,
        needs="import sqlite3; sqlite3.Connection.enable_load_extension",
    ),
    # Python libraries.
    _pypi("protego", "0.7.0", _github("scrapy/protego")),
    _pypi("robotspy", "0.13.0", _github("andreburgaud/robotspy")),
    _pypi("reppy", "0.4.14", _github("seomoz/reppy"), "C++", source=True),
    _pypi("reppy2", "0.3.6", _github("seomoz/reppy")),
    _pypi(
        "robotexclusionrulesparser", "1.7.1", "http://nikitathespider.com/python/rerp/",
        dialects=NIKITA,
    ),
    _pypi(
        "robots-txt-parser", "1.0.1", _github("katoni/robotexclusionrulesparser"),
        name="robots-txt-parser (PyPI)", dialects=NIKITA,
    ),
    _pypi("webcanon", "0.3.0", _github("webcanon/webcanon")),
    _pypi(
        "fastrobots", "0.3.0", _github("sekinal/fastrobots"), "Rust",
        needs="import sys; assert sys.version_info[:2] == (3, 12)",
    ),
    _pypi("robotsparsetools", "1.3.3", _github("mino-38/robotsparsetools")),
    _pypi("robotstxt", "1.1.2", _github("chrisevans77/robotstxt_package")),
    _pypi(
        "ai-crawler-robots", "1.0.10",
        "https://www.pathwren.workers.dev/c/pypi-registry/ai-crawler-robots/",
    ),
    _pypi("susbot", "2.2.1", "https://sus.bot/", "Rust"),
    _pypi("respectscraper", "0.2.0", _github("Zakhele-TechWannabe/respectscraper")),
    _pypi("linkchecker", "10.6.0", "https://linkchecker.github.io/linkchecker/", dialects=OF_1996),
    _pypi(
        "apetest", "0.1.1", "https://boxingbeetle.com/tools/ape/", dialects=OF_1994,
        dependencies=False,
    ),
    # One for each interpreter that is there.
    Parser(
        name="urllib.robotparser", language="Python", registry="CPython", key="urllib.robotparser",
        packages=(), homepage="https://docs.python.org/3/library/urllib.robotparser.html",
        dialects=OF_1996,
    ),
    # JavaScript libraries.
    _npm("robots-parser", "3.0.1", _github("samclarke/robots-parser")),
    _npm(
        "robots-txt-parser", "2.0.3", _github("chrisakroyd/robots-txt-parser"),
        name="robots-txt-parser (npm)",
    ),
    _npm(
        "robots-txt-guard", "1.0.2", _github("Woorank/robots-txt-guard"),
        packages=("robots-txt-guard@1.0.2", "robots-txt-parse@2.0.1"),
    ),
    _npm("robots", "0.10.1", _github("ekalinin/robots.js")),
    _npm("@crawlee/utils", "3.18.1", _github("apify/crawlee")),
    _npm("exclusion", "0.2.0", _github("russellsteadman/netscrape")),
    # Libraries of other languages.
    _debian(
        "WWW::RobotRules", "Perl", "libwww-robotrules-perl",
        "https://metacpan.org/pod/WWW::RobotRules",
        dialects=OF_1994, program="perl.pl", check=("perl", "-MWWW::RobotRules", "-e", "1"),
    ),
    _debian(
        "webrobots", "Ruby", "ruby-webrobots", _github("knu/webrobots"),
        program="ruby.rb", check=("ruby", "-rwebrobots", "-e", "1"),
    ),
    # Programs: what they fetch tells what they allow.
    _crawler("wget", "https://www.gnu.org/software/wget/", dialects=OF_1996),
    _crawler("wget2", "https://gitlab.com/gnuwget/wget2", dialects=OF_1994),
    _crawler("httrack", "https://www.httrack.com/"),
)  # fmt: skip
