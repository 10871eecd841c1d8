"""Checks of the effect of rules, by `koster.analysis`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..analysis import Cause, Extent, classify, difference
from ..model import Directive
from ..robots import rules_for_data
from ._model import count_noun, truncate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Decision, Rule
    from ..robots import Rules
    from ._model import Remark, Subject

#: Large search engines that render pages, and so need their scripts and style sheets.
_RENDERING_CRAWLERS = ("Googlebot", "bingbot")
_RESOURCE = re.compile(r"\.(css|js)(?=[$*?]|\Z)", re.IGNORECASE)
_FOLDER = re.compile(r"/(css|js|javascripts?|stylesheets?|assets|static)/?[*$]?\Z", re.IGNORECASE)
#: Maximum number of rules about resources to check.
_MAX_RESOURCE_RULES = 1_000
#: Resources of pages made with WordPress, Drupal, Next.js, Nuxt, Astro, Magento, and bundlers.
_COMMON_RESOURCES = (
    "/wp-includes/js/jquery/jquery.min.js",
    "/wp-includes/css/dist/block-library/style.min.css",
    "/wp-content/themes/site/style.css",
    "/wp-content/plugins/any/style.css",
    "/_next/static/chunks/main.js",
    "/_nuxt/entry.js",
    "/_astro/index.css",
    "/core/assets/vendor/jquery/jquery.min.js",
    "/themes/site/style.css",
    "/pub/static/frontend/site.css",
    "/skin/frontend/site.css",
    "/dist/site.css",
    "/build/site.js",
    "/style.css?ver=6.8",
)
#: Allowing everything explicitly is legitimate.
_EVERYTHING = re.compile(r"[/*]+\$?")
_NOT = {True: "", False: " not"}
#: Maximum number of rules listed in a message.
_MAX_LISTED = 3


def _same_path(rule: Rule, other: Rule) -> bool:
    return rule.pattern.rstrip("*") == other.pattern.rstrip("*")


def covered(subject: Subject) -> Iterator[Remark]:
    """Find rules that others override."""
    for dead, name in subject.analysis.surely_dead:
        if dead.cause is Cause.COVERED and not any(
            _same_path(dead.rule, each) for each in dead.covered_by
        ):
            who = "" if name == "*" else f" for {name}"
            yield subject.remark_on_rule(
                dead.rule,
                f"this rule decides nothing{who}: {_format_rules(dead.covered_by)} {'counts' if len(dead.covered_by) == 1 else 'count'} for more wherever it matches",
                "remove it, or the other",
            )


def _format_rules(rules: tuple[Rule, ...]) -> str:
    reported = [f"line {rule.line} ({truncate(str(rule))})" for rule in rules[:_MAX_LISTED]]
    more = len(rules) - _MAX_LISTED
    return ", ".join(reported) + (f" and {count_noun(more, 'more rule')}" if more > 0 else "")


def contradicted(subject: Subject) -> Iterator[Remark]:
    """Find paths that are allowed and disallowed."""
    for dead, _ in subject.analysis.surely_dead:
        others = [each for each in dead.covered_by if _same_path(dead.rule, each)]
        if others and others[0].allow != dead.rule.allow:
            yield subject.remark_on_rule(
                dead.rule,
                f"line {others[0].line} says the opposite of the same path, and holds: {others[0]}",
                "remove one of the two",
            )


def repeated(subject: Subject) -> Iterator[Remark]:
    """Find duplicate rules."""
    for dead, _ in subject.analysis.surely_dead:
        others = [each for each in dead.covered_by if _same_path(dead.rule, each)]
        if others and others[0].allow == dead.rule.allow:
            line = subject.lines[dead.rule.line - 1]
            # Only an identical rule in the same group is equivalent in every dialect.
            is_safe = others[0].pattern == dead.rule.pattern and subject.share_a_group(
                dead.rule.line, others[0].line
            )
            edits = (subject.removal(line),) if is_safe else ()
            yield subject.remark_on_rule(
                dead.rule, f"line {others[0].line} says the same", "remove the line", edits
            )


def redundant(subject: Subject) -> Iterator[Remark]:
    """Find rules made redundant by a wider one."""
    for idle in subject.analysis.surely_idle:
        if idle.instead is not None:
            yield subject.remark_on_rule(
                idle.rule,
                f"line {idle.instead.line} ({truncate(str(idle.instead))}) says so already: without this rule nothing changes",
            )


def needless_allow(subject: Subject) -> Iterator[Remark]:
    """Find Allow rules without a Disallow that they make an exception to."""
    for idle in subject.analysis.surely_idle:
        if (
            idle.instead is None
            and idle.rule.allow
            and not _EVERYTHING.fullmatch(idle.rule.pattern)
        ):
            yield subject.remark_on_rule(
                idle.rule,
                "nothing disallows what this allows: the rule changes nothing",
                "disallow what it is to be an exception from, if a rule is missing",
                url=idle.url,
            )


def no_path(subject: Subject) -> Iterator[Remark]:
    """Find patterns that no path can match."""
    for dead, _ in subject.analysis.surely_dead:
        if dead.cause is Cause.NO_PATH and dead.rule.pattern.startswith(("/", "*")):
            yield subject.remark_on_rule(
                dead.rule, "no URL has a path like this: the rule decides nothing"
            )


def robots_txt_rule(subject: Subject) -> Iterator[Remark]:
    """Find rules that match only /robots.txt."""
    for dead, _ in subject.analysis.surely_dead:
        if dead.cause is Cause.ROBOTS_TXT:
            yield subject.remark_on_rule(
                dead.rule,
                "/robots.txt itself may always be fetched: this rule decides nothing",
                "remove it",
            )


def all_blocked(subject: Subject) -> Iterator[Remark]:
    """Find files that block the whole site for ``*``."""
    for name, rules in subject.sets:
        if not rules.is_named and name == "*" and rules.group_lines:
            found = classify(rules, subject.budget)
            rule = rules.decide("/").rule
            if found.extent is Extent.ALL and found.is_proved:
                if rule is not None:
                    yield subject.remark_on_rule(
                        rule,
                        "robots that no other group names may fetch nothing of this site",
                        "remove the rule if the site is to be found",
                    )
            elif rule is not None and rule.allow and rule.pattern.endswith("/$"):
                rule = rules.decide("/any/page").rule
                if rule is not None and not rule.allow and _allows_only_pages(rules):
                    yield subject.remark_on_rule(
                        rule,
                        "robots that no other group names may fetch single pages, and nothing else of this site",
                        "remove the rule if the site is to be found",
                        url="/any/page",
                    )


def _allows_only_pages(rules: Rules) -> bool:
    allowed = [rule.pattern for group in rules.groups for rule in group.rules if rule.allow]
    return all(each.endswith("$") and "*" not in each for each in allowed)


def star_rules_ignored(subject: Subject) -> Iterator[Remark]:
    """Find groups that do not repeat a Disallow of ``*``, once per group."""
    everybody = subject.robots.rules_for("*")
    reported: set[int] = set()
    for name, rules in subject.sets:
        if not rules.is_named or not _is_partly_blocked(rules):
            continue
        lines = set(rules.group_lines)
        rule = next(
            (
                rule
                for group in everybody.groups
                for rule in group.rules
                if not rule.allow and rule.pattern.strip("/*$") and group.line not in lines
            ),
            None,
        )
        url = subject.likely_urls.get(rule.line) if rule else None
        if (
            rule
            and url
            and not everybody.allowed(url)
            and rules.allowed(url)
            and not lines & reported
        ):
            reported |= lines
            yield subject.remark_on_value(
                subject.lines[min(lines) - 1],
                f"what everybody is told does not hold for {_quote(name)}, which has a group of its own: it may fetch {truncate(url)} (line {rule.line})",
                "repeat in this group what is to hold here, too",
                url=url,
            )


def _is_partly_blocked(rules: Rules) -> bool:
    closed = [rule.pattern for group in rules.groups for rule in group.rules if not rule.allow]
    return any(each.strip("/*$") for each in closed) and rules.allowed("/")


def _quote(name: str) -> str:
    """Return a name, in quotation marks unless it is a plain token."""
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


def search_blocked(subject: Subject) -> Iterator[Remark]:
    """Find search crawlers that are blocked, while ``*`` is not."""
    everybody = subject.robots.rules_for("*")
    if classify(everybody, subject.budget).extent is Extent.ALL:
        return
    for name in _RENDERING_CRAWLERS:
        rules = rules_for_data(subject.robots, name)
        if rules.is_named and classify(rules, subject.budget).extent is Extent.ALL:
            rule = rules.decide("/").rule
            if rule is not None:
                yield subject.remark_on_rule(
                    rule,
                    f"{name} may fetch nothing of this site, while robots without a name may",
                    "remove the rule if the site is to be found",
                )


def resources(subject: Subject) -> Iterator[Remark]:
    """Find style sheets and scripts that are blocked for search crawlers."""
    reported = set()
    resource_count = 0
    for name in _RENDERING_CRAWLERS:
        rules = rules_for_data(subject.robots, name)
        for group in rules.groups:
            for rule in group.rules:
                url = None if rule.allow or rule.line in reported else _resource_url(rule.pattern)
                resource_count += url is not None
                if url and resource_count <= _MAX_RESOURCE_RULES:
                    decision = rules.decide(url)
                    if decision.rule == rule and not decision.allowed:
                        reported.add(rule.line)
                        yield _blocked_resource(subject, rule, name, url)
        for url in _COMMON_RESOURCES:
            decision = rules.decide(url)
            by = decision.rule
            if by and not decision.allowed and by.line not in reported and _is_about(by, url):
                reported.add(by.line)
                yield _blocked_resource(subject, by, name, url)


def _is_about(rule: Rule, url: str) -> bool:
    """Return whether a rule's pattern names the folder of a resource."""
    folders = re.findall(r"[a-z_]{4,}", url.rpartition("/")[0]) or ["?ver="]
    return any(folder in rule.pattern for folder in folders)


def _blocked_resource(subject: Subject, rule: Rule, name: str, url: str) -> Remark:
    kind = "scripts" if ".js" in url else "style sheets"
    return subject.remark_on_rule(
        rule,
        f"{name} renders pages before it indexes them, and may not fetch {kind} such as {url}",
        "allow what pages are made with",
        url=url,
    )


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


def dialects(subject: Subject) -> Iterator[Remark]:
    """Find URLs that other dialects decide differently, once per rule."""
    own = subject.robots.dialect
    for dialect in subject.dialects:
        if dialect == own:
            continue
        other = subject.analysis.read_by(dialect)
        reported: set[int] = set()
        for name, rules in subject.sets:
            theirs = rules_for_data(other, name)
            if not rules.group_lines and not theirs.group_lines:
                continue
            found = difference(rules, theirs, subject.budget).found
            # Report each line once, and differences without a rule once.
            for each in found:
                rule = each.before.rule or each.after.rule
                line = rule.line if rule else 0
                if rule is None or line in reported:
                    continue
                reported.add(line)
                who = "a robot without a group" if name == "*" else _quote(name)
                here, there = each.before, each.after
                first = (
                    f"{who} may{_NOT[here.allowed]} fetch {each.url} by {own} ({_decider(here)})"
                )
                then = f"may{_NOT[there.allowed]} by {dialect} ({_decider(there)})"
                yield subject.remark_on_rule(rule, f"{first}, and {then}", url=each.url)
                if rules.is_named != theirs.is_named:
                    break


def _decider(decision: Decision) -> str:
    return f"line {decision.rule.line}" if decision.rule else str(decision.reason)


def sitemap_blocked(subject: Subject) -> Iterator[Remark]:
    """Find sitemaps that are blocked."""
    rules = subject.robots.rules_for("*")
    for line in subject.lines_of(Directive.SITEMAP):
        if line.value.lower().startswith(("http://", "https://")):
            if rules.allowed(line.value) or subject.robots.allowed(line.value, "Googlebot"):
                continue
            decision = rules.decide(line.value)
            if decision.rule is not None:
                yield subject.remark_on_value(
                    line,
                    f"the rules of line {decision.rule.line} ({decision.rule}) keep robots from fetching this sitemap, if it is on this site",
                    "allow its path",
                    url=line.value,
                )
