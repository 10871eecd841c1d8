"""Checks of who is blocked from the whole site."""

from __future__ import annotations

from collections.abc import Iterator

from .._asking import rules_for_data
from ..analysis import Extent
from ..crawlers import Purpose, agent_for
from ..model import Rule
from ..robots import Rules
from ._checks import NOTE, WARNING, check
from ._joined import blocked_by_accident
from ._model import CheckedFile, GroupLines, Remark, first_names
from ._names import known_crawlers


@check("S006", "site-blocked", WARNING, "The whole site is blocked for all search engines",
    why="People will not find the site. On a staging site that is intended: add # koster: ignore[S006] to the line.",
    example="User-agent: *\nDisallow: /\n",
    fix="User-agent: *\nDisallow: /\nAllow: /a\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def all_blocked(subject: CheckedFile) -> Iterator[Remark]:
    rule = _blocking_everybody(subject)
    if rule is None or "*" in blocked_by_accident(subject):
        return
    admitted = _admitted(subject)
    if not any(map(_is_search_engine, admitted)):
        what = "everything but single pages" if _allows_home_page(subject) else "the whole site"
        who = "All search engines are blocked" if admitted else "All crawlers are blocked"
        included = "" if admitted else ", search engines included"
        yield _blocked(subject, rule, "*", f"{who} from {what}{included}", "S006")


def _blocked(subject: CheckedFile, rule: Rule, name: str, message: str, code: str) -> Remark:
    """Return the remark on a rule that blocks the site: at the name, if it is one of several."""
    group = _group_of(subject, rule)
    ignore = f"if it is meant, add # koster: ignore[{code}]"
    at = next((line for line in group.agents if line.value.lower() == name.lower()), None)
    accidents = blocked_by_accident(subject)
    others = [
        line.value
        for line in group.agents
        if line is not at and line.value and line.value.lower() not in accidents
    ]
    if at is not None and others:
        what = (
            f"block only {first_names(others)}, and allow the site for all other crawlers"
            if name == "*"
            else f"allow the site for {name}"
        )
        suggestion = f"Remove this line to {what}; {ignore}"
        removal = (subject.removal(at),)
        return Remark(subject.value(at), message, suggestion, proposal=removal, url="/any/page")
    how, edits = subject.rule_removal(subject.lines[rule.line - 1])
    who = "search engines" if name == "*" else name
    suggestion = f"{how} to allow the site for {who}; {ignore}"
    return Remark(subject.rule(rule), message, suggestion, proposal=edits, url="/any/page")


def _group_of(subject: CheckedFile, rule: Rule) -> GroupLines:
    return next(
        group for group in subject.groups if any(line.number == rule.line for line in group.others)
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
    if rule is None or "*" in blocked_by_accident(subject):
        return
    admitted = list(filter(_is_search_engine, _admitted(subject)))
    if admitted:
        yield Remark(
            subject.rule(rule),
            f"Only crawlers with a group of their own are allowed, such as {admitted[0]}",
            "Add a group for each crawler that should be allowed",
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
        usual = rules.decide("/any/page").rule
        return (usual or rule) if found.is_proved else None
    if rule is not None and rule.allow and rule.pattern.endswith("/$"):
        rule = rules.decide("/any/page").rule
        if rule is not None and not rule.allow and allows_only_pages(subject, rules):
            return rule
    return None


def allows_only_pages(subject: CheckedFile, rules: Rules) -> bool:
    """Return whether only single pages are allowed."""
    allowed = [rule.pattern for rule in subject.rules_of(rules) if rule.allow]
    return all(each.endswith("$") and "*" not in each for each in allowed)


@check("S007", "search-engine-blocked", WARNING, "A search engine is blocked from the whole site",
    why="People who use it will not find the site. If it is intended, add # koster: ignore[S007] to the line. The search engines are Googlebot and bingbot, or those of the setting crawlers.",
    example="User-agent: Googlebot\nDisallow: /\nUser-agent: *\nDisallow: /a\n",
    fix="User-agent: FooBot\nDisallow: /\nUser-agent: *\nDisallow: /a\n",
    source="https://developers.google.com/search/docs/crawling-indexing/robots/robots_txt")  # fmt: skip
def search_blocked(subject: CheckedFile) -> Iterator[Remark]:
    if subject.extent(subject.robots.rules_for("*")).extent is Extent.ALL:
        return
    accidents = blocked_by_accident(subject)
    for name in subject.crawlers:
        rules = rules_for_data(subject.robots, agent_for(name))
        rule = rules.decide("/").rule
        if rule is None or subject.extent(rules).extent is not Extent.ALL:
            continue
        if name.lower() not in accidents:
            yield _blocked(subject, rule, name, f"{name} is blocked from the whole site", "S007")
