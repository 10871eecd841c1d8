"""Checks of what is blocked: the site, its resources, and for whom."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .._asking import rules_for_data
from ..analysis import Extent
from ..crawlers import Purpose, agent_for
from ..model import Line, Rule
from ..robots import Rules
from ._checks import NOTE, WARNING, check
from ._groups import (
    MAX_REPEATED,
    Merged,
    are_few,
    below,
    is_blocked_by_mistake,
    merged,
    separation,
    up_to,
)
from ._model import CheckedFile, Edit, Remark, quote, truncate
from ._names import known_crawlers

#: Rules for all style sheets or scripts of a folder. A rule for single files may be intended.
_RESOURCE = re.compile(r"(?:\A|/)\*[^/]*\.(css|js)(?=[$*?]|\Z)", re.IGNORECASE)
_FOLDER = re.compile(r"/(css|js|javascripts?|stylesheets?|assets|static)/?[*$]?\Z", re.IGNORECASE)
_STYLES = ("css", "stylesheet", "stylesheets")
#: Maximum number of rules about resources to check.
_MAX_RESOURCE_RULES = 1_000
#: Resources of WordPress, Drupal, Next.js, Nuxt, Astro, Magento and bundlers: what a rule that is
#: about them contains, and a URL.
_COMMON_RESOURCES = (
    ("/wp-includes", "/wp-includes/js/jquery/jquery.min.js"),
    ("/wp-includes", "/wp-includes/css/dist/block-library/style.min.css"),
    ("/wp-content", "/wp-content/themes/x/style.css"),
    ("/wp-content", "/wp-content/plugins/x/style.css"),
    ("/_next", "/_next/static/chunks/main.js"),
    ("/_nuxt", "/_nuxt/entry.js"),
    ("/_astro", "/_astro/index.css"),
    ("/core/assets", "/core/assets/vendor/jquery/jquery.min.js"),
    ("/themes", "/themes/x/style.css"),
    ("/pub/static", "/pub/static/frontend/x/style.css"),
    ("/skin/", "/skin/frontend/style.css"),
    ("/dist", "/dist/style.css"),
    ("/build", "/build/main.js"),
    ("?ver", "/style.css?ver=6.8"),
)


@check("S006", "site-blocked", WARNING, "The whole site is blocked for all search engines",
    why="People will not find the site. On a staging site that is intended: add # koster: ignore[S006] to the line.",
    example="User-agent: *\nDisallow: /\n",
    fix="User-agent: *\nDisallow: /\nAllow: /a\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def all_blocked(subject: CheckedFile) -> Iterator[Remark]:
    rule = _blocking_everybody(subject)
    mistake = _mistakes(subject).get("*")
    admitted = _admitted(subject) if rule is not None else []
    if rule is not None and mistake is not None:
        yield _blocked_by_mistake(subject, mistake, "*", "all other crawlers are")
    elif rule is not None and not any(map(_is_search_engine, admitted)):
        what = "everything but single pages" if _allows_home_page(subject) else "the whole site"
        yield Remark(
            subject.rule(rule),
            f"All search engines are blocked from {what}"
            if admitted
            else f"All crawlers are blocked from {what}, search engines included",
            f"Is this intended? Then add {_ignore_comment('S006')}",
            proposal=(_ignore(subject, subject.lines[rule.line - 1], "S006"),),
            url="/any/page",
        )


def _allows_home_page(subject: CheckedFile) -> bool:
    return subject.robots.rules_for("*").allowed("/")


def _is_search_engine(name: str) -> bool:
    crawler = known_crawlers().get(name.lower())
    return crawler is not None and Purpose.SEARCH in crawler.purposes


@check("S012", "allowlist", NOTE, "Only crawlers with a group of their own are allowed",
    why="New crawlers, those of search engines included, are blocked until you add them.",
    example="User-agent: Googlebot\nDisallow:\nUser-agent: *\nDisallow: /\n",
    fix="User-agent: FooBot\nDisallow:\nUser-agent: *\nDisallow: /\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def allowlist(subject: CheckedFile) -> Iterator[Remark]:
    """Find files that block the whole site except for named search engines."""
    rule = _blocking_everybody(subject)
    if rule is None or "*" in _mistakes(subject):
        return
    admitted = list(filter(_is_search_engine, _admitted(subject)))
    if admitted:
        yield Remark(
            subject.rule(rule),
            f"Only crawlers with a group of their own are allowed, such as {admitted[0]}",
        )


def _admitted(subject: CheckedFile) -> list[str]:
    """Return the names in the file whose crawlers are not blocked from the whole site."""
    open_groups: set[int] = set()
    for _, rules in subject.sets:
        if rules.is_named and subject.extent(rules).extent is not Extent.ALL:
            open_groups.update(rules.group_lines)
    return [
        agent.value
        for group in subject.groups
        for agent in group.agents
        if agent.value not in ("", "*") and group.agents[0].number in open_groups
    ]


def _blocking_everybody(subject: CheckedFile) -> Rule | None:
    """Return the rule that blocks the site, or all but single pages of it, for ``*``."""
    rules = subject.robots.rules_for("*")
    if not rules.group_lines:
        return None
    found = subject.extent(rules)
    rule = rules.decide("/").rule
    if found.extent is Extent.ALL:
        return rule if found.is_proved else None
    if rule is not None and rule.allow and rule.pattern.endswith("/$"):
        rule = rules.decide("/any/page").rule
        if rule is not None and not rule.allow and _allows_only_pages(subject, rules):
            return rule
    return None


def _allows_only_pages(subject: CheckedFile, rules: Rules) -> bool:
    allowed = [rule.pattern for rule in subject.rules_of(rules) if rule.allow]
    return all(each.endswith("$") and "*" not in each for each in allowed)


def _ignore_comment(code: str) -> str:
    return f"# koster: ignore[{code}]"


def _ignore(subject: CheckedFile, line: Line, code: str) -> Edit:
    """Return the edit that adds a comment to a line, so that findings there are ignored."""
    end = len(line.text.rstrip())
    return subject.edit(line, end, 0, f"  {_ignore_comment(code)}")


@check("S011", "star-rules-ignored", NOTE, "A crawler ignores the * rules because it has its own group",
    why="A crawler obeys the groups that name it, and the * groups only if no group names it. That may be intended.",
    example="User-agent: *\nDisallow: /admin/\nUser-agent: Googlebot\nDisallow: /search\n",
    fix="User-agent: *\nDisallow: /admin/\nUser-agent: Googlebot\nDisallow: /search\nDisallow: /admin/\nUser-agent: Foo\nDisallow:\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def star_rules_ignored(subject: CheckedFile) -> Iterator[Remark]:
    """Find groups that do not repeat a Disallow of ``*``, once per group."""
    everybody = subject.robots.rules_for("*")
    star_rules = [rule for rule in subject.rules_of(everybody) if rule.pattern]
    first = next(
        (each for each in star_rules if not each.allow and each.pattern.strip("/*$")), None
    )
    url = subject.analysis.likely_url(first.line) if first else None
    if url is None or everybody.allowed(url):
        return
    group_at = {group.agents[0].number: group for group in subject.groups}
    reported = set(everybody.group_lines)
    for name, rules in subject.sets:
        if not rules.is_named or not reported.isdisjoint(rules.group_lines):
            continue
        if _is_partly_blocked(subject, rules) and rules.decide(url).rule is None:
            reported.update(rules.group_lines)
            start = min(rules.group_lines)
            star_lines = subject.once("star lines", lambda: [*dict.fromkeys(map(str, star_rules))])
            missing = _missing(star_lines, subject.rules_of(rules))
            last = (group_at[start].rules or group_at[start].agents)[-1]
            yield Remark(
                subject.value(subject.lines[start - 1]),
                f"{quote(name)} ignores the * rules because it has its own group: {truncate(url)} is allowed",
                "Repeat the * rules in this group if they should apply",
                proposal=(subject.insertion(last, *missing),) if missing else (),
                url=url,
            )


def _missing(star_lines: list[str], rules: list[Rule]) -> list[str]:
    """Return the lines without the rules that a group has; none if they are too many to repeat."""
    if len(star_lines) > len(rules) + MAX_REPEATED:
        return []
    own = set(map(str, rules))
    missing = [line for line in star_lines if line not in own]
    return missing if are_few(missing) else []


def _is_partly_blocked(subject: CheckedFile, rules: Rules) -> bool:
    return any(map(subject.blocks_a_part, rules.group_lines)) and rules.allowed("/")


@check("S007", "search-engine-blocked", WARNING, "A search engine is blocked from the whole site",
    why="People who use it will not find the site. If it is intended, add # koster: ignore[S007] to the line. The search engines are Googlebot and bingbot, or those of the setting crawlers.",
    example="User-agent: Googlebot\nDisallow: /\nUser-agent: *\nDisallow: /a\n",
    fix="User-agent: FooBot\nDisallow: /\nUser-agent: *\nDisallow: /a\n",
    source="https://developers.google.com/search/docs/crawling-indexing/robots/robots_txt")  # fmt: skip
def search_blocked(subject: CheckedFile) -> Iterator[Remark]:
    if subject.extent(subject.robots.rules_for("*")).extent is Extent.ALL:
        return
    mistakes = _mistakes(subject)
    for name in subject.crawlers:
        rules = rules_for_data(subject.robots, agent_for(name))
        rule = rules.decide("/").rule
        if rule is None or subject.extent(rules).extent is not Extent.ALL:
            continue
        mistake = mistakes.get(name.lower())
        if mistake is not None:
            yield _blocked_by_mistake(subject, mistake, name, f"{name} is")
        else:
            yield Remark(
                subject.rule(rule),
                f"{name} is blocked from the whole site",
                f"Is this intended? Then add {_ignore_comment('S007')}",
                proposal=(_ignore(subject, subject.lines[rule.line - 1], "S007"),),
            )


def _mistakes(subject: CheckedFile) -> dict[str, Merged]:
    """Return the groups that are blocked by mistake, by each of their names."""
    return {
        line.value.lower(): each
        for each in merged(subject)
        if is_blocked_by_mistake(subject, each)
        for line in each.agents
    }


def _blocked_by_mistake(subject: CheckedFile, each: Merged, name: str, who_is: str) -> Remark:
    agent = next(line for line in each.agents if line.value.lower() == name.lower())
    part = up_to(each, agent)
    return Remark(
        subject.value(agent),
        f"{each.settings[0].directive} does not end the group: {who_is} blocked together with {truncate(each.second.value)}",
        f"Write an empty Disallow: {below(part)}",
        proposal=separation(subject, part, "Disallow:"),
    )


@check("S008", "resources-blocked", WARNING, "Search engines cannot fetch style sheets or scripts",
    why="They render pages before they index them, and judge them without the files they cannot fetch.",
    example="User-agent: *\nDisallow: /*.js$\n",
    fix="User-agent: *\nDisallow: /*.json$\n",
    source="https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics")  # fmt: skip
def resources(subject: CheckedFile) -> Iterator[Remark]:
    """Find style sheets and scripts that are blocked for search crawlers."""
    reported: set[int] = set()
    resource_count = 0
    seen: set[tuple[int, ...]] = set()
    for name in subject.crawlers:
        rules = rules_for_data(subject.robots, agent_for(name))
        # Crawlers with the same groups have the same rules.
        if rules.group_lines in seen or subject.extent(rules).extent is Extent.ALL:
            continue
        seen.add(rules.group_lines)
        for rule in subject.rules_of(rules):
            if resource_count == _MAX_RESOURCE_RULES:
                break
            url = None if rule.allow or rule.line in reported else _resource_url(rule.pattern)
            resource_count += url is not None
            if url and subject.analysis.may_decide(rules, url):
                decision = rules.decide(url)
                if decision.rule == rule and not decision.allowed:
                    reported.add(rule.line)
                    yield _blocked_resource(subject, rule, name, url)
        for part, url in _COMMON_RESOURCES:
            decision = rules.decide(url)
            by = decision.rule
            if by and not decision.allowed and by.line not in reported and part in by.pattern:
                reported.add(by.line)
                yield _blocked_resource(subject, by, name, url)


def _blocked_resource(subject: CheckedFile, rule: Rule, name: str, url: str) -> Remark:
    kind = "scripts" if ".js" in url else "style sheets"
    exceptions = _resource_exceptions(rule)
    return Remark(
        subject.rule(rule),
        f"{name} cannot fetch {kind} that pages may need, such as {url}",
        f"Add {', '.join(exceptions)}" if exceptions else "Allow the files that pages need",
        proposal=(subject.insertion(subject.lines[rule.line - 1], *exceptions),)
        if exceptions
        else (),
        url=url,
    )


def _resource_exceptions(rule: Rule) -> list[str]:
    """Return the rules that allow style sheets and scripts within a blocked folder."""
    head, query, _ = rule.pattern.partition("?")
    if rule.pattern.endswith("$") or _RESOURCE.search(rule.pattern):
        return []
    folder = _FOLDER.search(rule.pattern)
    kind = folder[1].lower() if folder else ""
    # ".js" alone would also match .json.
    endings = [] if kind.startswith("j") else [f".css{query}"]
    if kind not in _STYLES:
        endings += [f".js{query}"] if query else [".js$", ".js?"]
    return [f"Allow: {head.rstrip('*')}*{ending}" for ending in endings]


def _resource_url(pattern: str) -> str | None:
    """Return an example resource that a pattern matches, if it is about resources."""
    if _RESOURCE.search(pattern):
        path = pattern.rstrip("*$").replace("*", "x")
        return path if path.startswith("/") else f"/{path}"
    folder = _FOLDER.search(pattern)
    if folder:
        kind = "js" if folder[1].lower().startswith("j") else "css"
        path = pattern.rstrip("*$").replace("*", "x").rstrip("/")
        return (
            f"{path if path.startswith('/') else '/' + path}/site.{kind}"
            if not pattern.endswith("$")
            else None
        )
    return None
