"""Semantics: what the rules come to, by `koster.analysis`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..analysis import Cause, Extent, classify, difference
from ..model import Directive
from ._model import remark_count, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Decision, Rule
    from ..robots import Rules
    from ._model import Remark, Subject

#: Large search engines, which render pages to index them: they want what a page is made with.
_RENDER = ("Googlebot", "bingbot")
_RESOURCE = re.compile(r"\.(css|js)(?=[$*?]|\Z)", re.IGNORECASE)
_FOLDER = re.compile(r"/(css|js|javascripts?|stylesheets?|assets|static)/?[*$]?\Z", re.IGNORECASE)
#: So many rules about resources are looked at.
_TRIED = 1_000
#: What pages of widespread systems are made with: WordPress, Drupal, Next.js, Nuxt, Astro, Magento,
#: and what bundlers write.
_USUAL = (
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
#: Allowing everything is a statement, not a rule that does not work.
_EVERYTHING = re.compile(r"[/*]+\$?")
_NOT = {True: "", False: " not"}
#: So many coverers are named.
_NAMED = 3


def _same(rule: Rule, other: Rule) -> bool:
    return rule.pattern.rstrip("*") == other.pattern.rstrip("*")


def covered(subject: Subject) -> Iterator[Remark]:
    """Find rules in whose place others decide."""
    for dead, name in subject.all_sets.surely_dead:
        if dead.cause is Cause.COVERED and not any(
            _same(dead.rule, each) for each in dead.covered_by
        ):
            who = "" if name == "*" else f" for {name}"
            yield subject.rule(
                dead.rule,
                f"this rule decides nothing{who}: {_listed(dead.covered_by)} {'counts' if len(dead.covered_by) == 1 else 'count'} for more wherever it matches",
                "remove it, or the other",
            )


def _listed(rules: tuple[Rule, ...]) -> str:
    told = [f"line {rule.line} ({shortened(str(rule))})" for rule in rules[:_NAMED]]
    more = len(rules) - _NAMED
    return ", ".join(told) + (f" and {remark_count(more, 'more rule')}" if more > 0 else "")


def contradicted(subject: Subject) -> Iterator[Remark]:
    """Find paths that are allowed and disallowed."""
    for dead, _ in subject.all_sets.surely_dead:
        others = [each for each in dead.covered_by if _same(dead.rule, each)]
        if others and others[0].allow != dead.rule.allow:
            yield subject.rule(
                dead.rule,
                f"line {others[0].line} says the opposite of the same path, and holds: {others[0]}",
                "remove one of the two",
            )


def repeated(subject: Subject) -> Iterator[Remark]:
    """Find rules that stand twice."""
    for dead, _ in subject.all_sets.surely_dead:
        others = [each for each in dead.covered_by if _same(dead.rule, each)]
        if others and others[0].allow == dead.rule.allow:
            line = subject.lines[dead.rule.line - 1]
            # To every dialect it is the same only where it is so to the letter, in one group.
            is_safe = others[0].pattern == dead.rule.pattern and subject.share_a_group(
                dead.rule.line, others[0].line
            )
            edits = (subject.edit_away(line),) if is_safe else ()
            yield subject.rule(
                dead.rule, f"line {others[0].line} says the same", "remove the line", edits
            )


def said_already(subject: Subject) -> Iterator[Remark]:
    """Find rules that decide what a wider one would decide alike."""
    for idle in subject.all_sets.surely_idle:
        if idle.instead is not None:
            yield subject.rule(
                idle.rule,
                f"line {idle.instead.line} ({shortened(str(idle.instead))}) says so already: without this rule nothing changes",
            )


def nothing_to_allow(subject: Subject) -> Iterator[Remark]:
    """Find Allow where nothing is disallowed."""
    for idle in subject.all_sets.surely_idle:
        if (
            idle.instead is None
            and idle.rule.allow
            and not _EVERYTHING.fullmatch(idle.rule.pattern)
        ):
            yield subject.rule(
                idle.rule,
                "nothing disallows what this allows: the rule changes nothing",
                "disallow what it is to be an exception from, if a rule is missing",
                url=idle.url,
            )


def no_path(subject: Subject) -> Iterator[Remark]:
    """Find patterns that no path is like."""
    for dead, _ in subject.all_sets.surely_dead:
        if dead.cause is Cause.NO_PATH and dead.rule.pattern.startswith(("/", "*")):
            yield subject.rule(dead.rule, "no URL has a path like this: the rule decides nothing")


def itself(subject: Subject) -> Iterator[Remark]:
    """Find rules about the file itself."""
    for dead, _ in subject.all_sets.surely_dead:
        if dead.cause is Cause.ROBOTS_TXT:
            yield subject.rule(
                dead.rule,
                "/robots.txt itself may always be fetched: this rule decides nothing",
                "remove it",
            )


def all_closed(subject: Subject) -> Iterator[Remark]:
    """Find that everybody may fetch nothing."""
    for name, rules in subject.sets:
        if not rules.is_named and name == "*" and rules.group_lines:
            found = classify(rules, subject.budget)
            rule = rules.decide("/").rule
            if found.extent is Extent.ALL and found.is_proved:
                if rule is not None:
                    yield subject.rule(
                        rule,
                        "robots that no other group names may fetch nothing of this site",
                        "remove the rule if the site is to be found",
                    )
            elif rule is not None and rule.allow and rule.pattern.endswith("/$"):
                rule = rules.decide("/any/page").rule
                if rule is not None and not rule.allow and _all_are_pages(rules):
                    yield subject.rule(
                        rule,
                        "robots that no other group names may fetch single pages, and nothing else of this site",
                        "remove the rule if the site is to be found",
                        url="/any/page",
                    )


def _all_are_pages(rules: Rules) -> bool:
    """Tell whether each path that is allowed is one."""
    allowed = [rule.pattern for group in rules.groups for rule in group.rules if rule.allow]
    return all(each.endswith("$") and "*" not in each for each in allowed)


def not_for_the_named(subject: Subject) -> Iterator[Remark]:
    """Find groups whose robots do not obey what everybody is told, once a group."""
    everybody = subject.robots.rules_for("*")
    told: set[int] = set()
    for name, rules in subject.sets:
        if not rules.is_named or not _has_part_closed(rules):
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
        url = subject.likely.get(rule.line) if rule else None
        if rule and url and not everybody.allowed(url) and rules.allowed(url) and not lines & told:
            told |= lines
            yield subject.value(
                subject.lines[min(lines) - 1],
                f"what everybody is told does not hold for {_quoted(name)}, which has a group of its own: it may fetch {shortened(url)} (line {rule.line})",
                "repeat in this group what is to hold here, too",
                url=url,
            )


def _has_part_closed(rules: Rules) -> bool:
    """Tell whether a part of the site is closed, and not all or nothing."""
    closed = [rule.pattern for group in rules.groups for rule in group.rules if not rule.allow]
    return any(each.strip("/*$") for each in closed) and rules.allowed("/")


def _quoted(name: str) -> str:
    """Return the name of a robot, in quotation marks where it is none that a robot has."""
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


def search_closed(subject: Subject) -> Iterator[Remark]:
    """Find search robots that may fetch nothing, where others may."""
    everybody = subject.robots.rules_for("*")
    if classify(everybody, subject.budget).extent is Extent.ALL:
        return
    for name in _RENDER:
        rules = subject.robots.rules_for(name)
        if rules.is_named and classify(rules, subject.budget).extent is Extent.ALL:
            rule = rules.decide("/").rule
            if rule is not None:
                yield subject.rule(
                    rule,
                    f"{name} may fetch nothing of this site, while robots without a name may",
                    "remove the rule if the site is to be found",
                )


def resources(subject: Subject) -> Iterator[Remark]:
    """Find style sheets and scripts that search robots may not fetch."""
    told = set()
    tried = 0
    for name in _RENDER:
        rules = subject.robots.rules_for(name)
        for group in rules.groups:
            for rule in group.rules:
                url = None if rule.allow or rule.line in told else _resource(rule.pattern)
                tried += url is not None
                if url and tried <= _TRIED:
                    decision = rules.decide(url)
                    if decision.rule == rule and not decision.allowed:
                        told.add(rule.line)
                        yield _closed(subject, rule, name, url)
        for url in _USUAL:
            decision = rules.decide(url)
            by = decision.rule
            if by and not decision.allowed and by.line not in told and _is_about(by, url):
                told.add(by.line)
                yield _closed(subject, by, name, url)


def _is_about(rule: Rule, url: str) -> bool:
    """Tell whether a rule names the folder of a resource, and not just all or the like."""
    folders = re.findall(r"[a-z_]{4,}", url.rpartition("/")[0]) or ["?ver="]
    return any(folder in rule.pattern for folder in folders)


def _closed(subject: Subject, rule: Rule, name: str, url: str) -> Remark:
    kind = "scripts" if ".js" in url else "style sheets"
    return subject.rule(
        rule,
        f"{name} renders pages before it indexes them, and may not fetch {kind} such as {url}",
        "allow what pages are made with",
        url=url,
    )


def _resource(pattern: str) -> str | None:
    """Return a style sheet or script that a pattern matches, if it is about those."""
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
    """Find what the dialects that are to be compared read otherwise, once for each pair of rules."""
    own = subject.robots.dialect
    for dialect in subject.dialects:
        if dialect == own:
            continue
        other = subject.all_sets.read_by(dialect)
        told: set[int] = set()
        for name, rules in subject.sets:
            theirs = other.rules_for(name)
            if not rules.group_lines and not theirs.group_lines:
                continue
            found = difference(rules, theirs, subject.budget).found
            # One for a line, and one for whatever no line of this set has to do with.
            for each in found:
                rule = each.before.rule or each.after.rule
                line = rule.line if rule else 0
                if rule is None or line in told:
                    continue
                told.add(line)
                who = "a robot without a group" if name == "*" else _quoted(name)
                here, there = each.before, each.after
                first = f"{who} may{_NOT[here.allowed]} fetch {each.url} by {own} ({_by(here)})"
                then = f"may{_NOT[there.allowed]} by {dialect} ({_by(there)})"
                yield subject.rule(rule, f"{first}, and {then}", url=each.url)
                if rules.is_named != theirs.is_named:
                    break


def _by(decision: Decision) -> str:
    return f"line {decision.rule.line}" if decision.rule else str(decision.reason)


def sitemap_closed(subject: Subject) -> Iterator[Remark]:
    """Find sitemaps that nobody may fetch."""
    rules = subject.robots.rules_for("*")
    for line in subject.of(Directive.SITEMAP):
        if line.value.lower().startswith(("http://", "https://")):
            if rules.allowed(line.value) or subject.robots.allowed(line.value, "Googlebot"):
                continue
            decision = rules.decide(line.value)
            if decision.rule is not None:
                yield subject.value(
                    line,
                    f"the rules of line {decision.rule.line} ({decision.rule}) keep robots from fetching this sitemap, if it is on this site",
                    "allow its path",
                    url=line.value,
                )
