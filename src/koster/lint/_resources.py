"""Checks of what pages need to look as they should: style sheets, scripts, fonts and images."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from operator import eq
from typing import NamedTuple

from .._asking import rules_for_data
from .._wording import joined
from ..analysis import Extent
from ..crawlers import agent_for
from ..model import Rule
from ..robots import Rules
from ._blocking import allows_only_pages
from ._checks import NOTE, WARNING, check
from ._model import CheckedFile, Edit, Remark, truncate

#: Rules for all style sheets, scripts or fonts of a folder. A rule for single files may be intended.
_TYPE = re.compile(r"(?:\A|/)\*[^/]*\.(css|js|woff2?)(?=[$*?]|\Z)", re.IGNORECASE)
_FOLDER = re.compile(
    r"/(css|stylesheets?|js|javascripts?|assets|fonts|static|dist|build|themes?|templates|skins)/?[*$]?\Z",
    re.IGNORECASE,
)
#: Folders that have other things on some sites.
_UNSURE = re.compile(r"/(?:static|dist|build|themes?|templates|skins|fonts)\b", re.IGNORECASE)
_FOLDER_FILES = {
    "css": ("site.css",), "stylesheet": ("site.css",), "stylesheets": ("site.css",),
    "js": ("site.js",), "javascript": ("site.js",), "javascripts": ("site.js",),
    "fonts": ("site.woff2",),
}  # fmt: skip
_ANY_FILES = ("site.css", "site.js", "site.woff2", "photo.jpg")
#: Maximum number of rules to look at.
_MAX_RULES = 1_000
#: The size of a prefix that is about a folder: ``/wp-*`` is about /wp-content/.
_MIN_PREFIX = 4

#: What a rule contains that is about resources of a framework, and URLs of these. Sources: the
#: documentation of Next.js, Nuxt, Astro, SvelteKit, Gatsby, WordPress, Drupal, Magento, MediaWiki
#: and Cloudflare Images.
_FRAMEWORKS = {
    "/_next": (
        "/_next/static/css/site.css", "/_next/static/chunks/main.js",
        "/_next/static/media/font.woff2", "/_next/image?url=%2Fphoto.jpg&w=640&q=75",
    ),
    "/_nuxt": ("/_nuxt/entry.css", "/_nuxt/entry.js", "/_nuxt/font.woff2", "/_nuxt/photo.jpg"),
    "/_astro": ("/_astro/index.css", "/_astro/index.js", "/_astro/font.woff2", "/_astro/photo.jpg"),
    "/_app": ("/_app/immutable/assets/site.css", "/_app/immutable/entry/start.js"),
    "/page-data": ("/page-data/index/page-data.json", "/page-data/app-data.json"),
    "/wp-includes": (
        "/wp-includes/css/dist/block-library/style.min.css",
        "/wp-includes/js/jquery/jquery.min.js", "/wp-includes/fonts/dashicons.woff2",
    ),
    "/wp-content": (
        "/wp-content/themes/x/style.css", "/wp-content/plugins/x/style.css",
        "/wp-content/plugins/x/script.js", "/wp-content/themes/x/font.woff2",
    ),
    "/assets": ("/assets/site.css", "/assets/site.js", "/assets/font.woff2", "/assets/photo.jpg"),
    "/pub/static": ("/pub/static/frontend/x/style.css", "/pub/static/frontend/x/script.js"),
    "/skin/": ("/skin/frontend/style.css", "/skin/frontend/script.js"),
    "/load.php": ("/load.php?modules=site.styles&only=styles",),
    "/_ipx": ("/_ipx/w_640/photo.jpg",),
    "/typo3temp": ("/typo3temp/assets/css/site.css", "/typo3temp/assets/js/site.js"),
    "/bundles": ("/bundles/storefront/site.css", "/bundles/storefront/site.js"),
    "/w/load.php": ("/w/load.php?modules=site.styles&only=styles",),
    "/cdn-cgi/image": ("/cdn-cgi/image/width=640/photo.jpg",),
}  # fmt: skip
#: Folders that their makers advise to block but for a part: a URL of that, what allows it, its name.
_EXCEPTIONS = {
    "/w/": (
        "/w/load.php?modules=site.styles&only=styles",
        ("Allow: /w/load.php",),
        "the style sheets and scripts of MediaWiki",
    ),
    "/cdn-cgi/": (
        "/cdn-cgi/image/width=640/photo.jpg",
        ("Allow: /cdn-cgi/image/",),
        "the images that Cloudflare resizes",
    ),
    "/core/": (
        "/core/themes/x/style.css",
        ("Allow: /core/*.css$", "Allow: /core/*.css?", "Allow: /core/*.js$", "Allow: /core/*.js?"),
        "the style sheets and scripts of Drupal",
    ),
}
_WITH_QUERIES = ("/site.css?ver=6", "/site.js?ver=6")
_AT_THE_TOP = ("/site.css", "/site.js")
#: What allows style sheets and scripts, with queries and without: ``.js`` would allow .json, too.
_ALLOW_QUERIES = ("Allow: /*.css?", "Allow: /*.js?")
_ALLOW_ALL = ("Allow: /*.css$", "Allow: /*.css?", "Allow: /*.js$", "Allow: /*.js?")

_KINDS = (
    (".css", "style sheets"), ("only=styles", "style sheets"), (".js?", "scripts"),
    (".js\0", "scripts"), (".woff2", "fonts"), (".json", "data of the pages"), ("", "images"),
)  # fmt: skip


class _Blocked(NamedTuple):
    """A rule that blocks resources for a search engine, and what to do about it."""

    rule: Rule
    name: str
    urls: list[str]
    suggestion: str
    proposal: tuple[Edit, ...]
    is_sure: bool


@check("S008", "resources-blocked", WARNING, "Search engines cannot fetch style sheets, scripts, fonts or images",
    why="They render pages before they index them, and judge them without the files they cannot fetch. Frameworks advise not to block the folders of these files.",
    example="User-agent: *\nDisallow: /*.js$\n",
    fix="User-agent: *\nDisallow: /*.json$\n",
    source="https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics")  # fmt: skip
def resources(subject: CheckedFile) -> Iterator[Remark]:
    yield from _remarks(subject, is_sure=True)


@check("S014", "resources-maybe-blocked", NOTE, "Search engines cannot fetch what may be style sheets or scripts",
    why="On many sites such a folder has style sheets and scripts, and pages are rendered without them. If this one has not, the rule is fine.",
    example="User-agent: *\nDisallow: /static/\n",
    fix="User-agent: *\nDisallow: /statics/\n",
    source="https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics")  # fmt: skip
def perhaps_resources(subject: CheckedFile) -> Iterator[Remark]:
    yield from _remarks(subject, is_sure=False)


def _remarks(subject: CheckedFile, *, is_sure: bool) -> Iterator[Remark]:
    for each in subject.once("blocked resources", lambda: list(_blocked(subject))):
        if each.is_sure == is_sure:
            kinds = joined(dict.fromkeys(map(_kind, each.urls)))
            may = "" if is_sure else "what may be "
            yield Remark(
                subject.rule(each.rule),
                f"{each.name} cannot fetch {may}{kinds}, such as {each.urls[0]}",
                each.suggestion,
                proposal=each.proposal,
                url=each.urls[0],
            )


def _kind(url: str) -> str:
    return next(kind for part, kind in _KINDS if part in f"{url}\0")


def _blocked(subject: CheckedFile) -> Iterator[_Blocked]:
    """Yield the rules that block resources, each once."""
    reported: set[int] = set()
    seen: set[tuple[int, ...]] = set()
    for name in subject.crawlers:
        rules = rules_for_data(subject.robots, agent_for(name))
        # Crawlers with the same groups have the same rules.
        if rules.group_lines in seen or subject.extent(rules).extent is Extent.ALL:
            continue
        seen.add(rules.group_lines)
        for rule, urls in _by_rule(subject, rules).items():
            if rule.line not in reported:
                reported.add(rule.line)
                advice = _advice(subject, rule, urls)
                yield _Blocked(rule, name, urls, *advice)


def _by_rule(subject: CheckedFile, rules: Rules) -> dict[Rule, list[str]]:
    """Return the resources that rules block, by the rule that is about them."""
    found: dict[Rule, list[str]] = {}
    for url, is_about in _questions(subject, rules):
        decision = rules.decide(url)
        if decision.rule is not None and not decision.allowed and is_about(decision.rule.pattern):
            urls = found.setdefault(decision.rule, [])
            if url not in urls:
                urls.append(url)
    return found


def _questions(subject: CheckedFile, rules: Rules) -> Iterator[tuple[str, Callable[[str], bool]]]:
    """Yield resources, and whether a pattern is about them and not about something else."""
    for part, urls in _FRAMEWORKS.items():
        for url in urls:
            yield url, partial(_has, part=part)
    for folder, exception in _EXCEPTIONS.items():
        yield exception[0], partial(_is_for, folder=folder)
    for url in _WITH_QUERIES:
        if rules.allowed(url.partition("?")[0]):
            yield url, partial(_has, part="?")
    if not allows_only_pages(subject, rules):
        for url in _AT_THE_TOP:
            yield url, partial(_is_for, folder="/")
    patterns = [rule.pattern for rule in subject.rules_of(rules) if not rule.allow]
    for pattern in list(filter(_files, patterns))[:_MAX_RULES]:
        yield from (
            (url, partial(eq, pattern))
            for url in _files(pattern)
            if subject.analysis.may_decide(rules, url)
        )


def _has(pattern: str, part: str) -> bool:
    literal = pattern.partition("*")[0]
    return part in pattern or (len(literal) >= _MIN_PREFIX and part.startswith(literal))


def _is_for(pattern: str, folder: str) -> bool:
    return pattern.rstrip("*") in (folder, folder.strip("/"))


def _files(pattern: str) -> list[str]:
    """Return examples of the files that a pattern is about, if it is about resources.

    >>> _files("/*.css$"), _files("/theme/js/"), _files("/cart/")
    (['/x.css'], ['/theme/js/site.js'], [])
    """
    path = pattern.rstrip("*$").replace("*", "x")
    path = path if path.startswith("/") else f"/{path}"
    if _TYPE.search(pattern):
        return [path]
    folder = _FOLDER.search(pattern)
    if folder is None or pattern.endswith("$"):
        return []
    names = _FOLDER_FILES.get(folder[1].lower(), _ANY_FILES)
    return [f"{path.rstrip('/')}/{name}" for name in names]


def _is_sure(pattern: str) -> bool:
    """Return whether a pattern is surely about resources that pages need."""
    is_framework = any(part in pattern for part in _FRAMEWORKS)
    return is_framework or not (_UNSURE.search(pattern) or ".woff" in pattern)


def _advice(
    subject: CheckedFile, rule: Rule, urls: list[str]
) -> tuple[str, tuple[Edit, ...], bool]:
    """Return what to do about a rule, the edits that do it, and whether the rule is surely wrong."""
    line = subject.lines[rule.line - 1]
    exception = _EXCEPTIONS.get(rule.pattern.rstrip("*"))
    if exception:
        _, added, what = exception
        suggestion = f"Add {joined(added)}, which allows {what}, if the site has these"
        return suggestion, (subject.insertion(line, *added),), False
    is_everything = not rule.pattern.strip("/*")
    if is_everything or urls[0] in _WITH_QUERIES:
        added = _ALLOW_ALL if is_everything else _ALLOW_QUERIES
        if all(len(each) - len("Allow: ") > len(rule.pattern) for each in added):
            suggestion = f"Add {joined(added)}, which allows them"
            return suggestion, (subject.insertion(line, *added),), True
    removal, edits = subject.rule_removal(line)
    suggestion = f"{removal}, which allows {truncate(rule.pattern)}"
    return suggestion, edits, _is_sure(rule.pattern)
