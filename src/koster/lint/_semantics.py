"""Checks of the effect of rules, by `koster.analysis`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .._asking import rules_for_data
from .._wording import count_noun
from ..analysis import Cause, Extent
from ..crawlers import Purpose, agent_for
from ..dialects import GOOGLE
from ._groups import (
    MAX_REPEATED,
    are_few,
    below,
    is_blocked_by_mistake,
    merged,
    separation,
    up_to,
)
from ._model import Remark, truncate, truncate_rule
from ._names import crawlers_of, known_crawlers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..analysis import DeadRule
    from ..decisions import Decision
    from ..model import Line, Rule
    from ..robots import Rules
    from ._groups import Merged
    from ._model import CheckedFile, Edit

#: All in a folder. Single files and families of them may be left out on purpose.
_RESOURCE = re.compile(r"(?:\A|/)\*[^/]*\.(css|js)(?=[$*?]|\Z)", re.IGNORECASE)
_FOLDER = re.compile(r"/(css|js|javascripts?|stylesheets?|assets|static)/?[*$]?\Z", re.IGNORECASE)
_STYLES = ("css", "stylesheet", "stylesheets")
#: Maximum number of rules about resources to check.
_MAX_RESOURCE_RULES = 1_000
#: Resources of pages made with WordPress, Drupal, Next.js, Nuxt, Astro, Magento, and bundlers: a
#: part of the rules that are about them, and an example.
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
#: Allowing everything explicitly is legitimate.
_EVERYTHING = re.compile(r"[/*]+\$?")
#: Who reads a file by a dialect.
_READERS = {GOOGLE: "Google"}
#: Maximum number of rules listed in a message.
_MAX_LISTED = 3


def covered(subject: CheckedFile) -> Iterator[Remark]:
    """Find rules that rules with the opposite verdict override."""
    for dead, name in subject.analysis.surely_dead:
        if dead.cause is Cause.COVERED and dead.twin is None and _is_opposed(dead):
            removal, proposal = subject.rule_removal(subject.lines[dead.rule.line - 1])
            who = "" if name == "*" else f" for {_quote(name)}"
            yield Remark(
                subject.rule(dead.rule),
                f"Rule has no effect{who}: overridden by {_format_rules(dead.covered_by)}",
                f"{removal}, or make its path longer than the one that overrides it",
                proposal=proposal,
            )


def _is_opposed(dead: DeadRule) -> bool:
    return any(each.allow != dead.rule.allow for each in dead.covered_by)


def _format_rules(rules: tuple[Rule, ...]) -> str:
    reported = [f"line {rule.line} ({truncate_rule(rule)})" for rule in rules[:_MAX_LISTED]]
    more = len(rules) - _MAX_LISTED
    return ", ".join(reported) + (f" and {count_noun(more, 'more rule')}" if more > 0 else "")


def contradicted(subject: CheckedFile) -> Iterator[Remark]:
    """Find paths that are allowed and disallowed."""
    for dead, _ in subject.analysis.surely_dead:
        if dead.twin is not None and dead.twin.allow != dead.rule.allow:
            removal, proposal = subject.rule_removal(subject.lines[dead.rule.line - 1])
            yield Remark(
                subject.rule(dead.rule),
                f"Contradicts line {dead.twin.line} ({truncate_rule(dead.twin)}), which applies",
                f"{removal}, or remove line {dead.twin.line}",
                proposal=proposal,
            )


def repeated(subject: CheckedFile) -> Iterator[Remark]:
    """Find duplicate rules."""
    for dead, _ in subject.analysis.surely_dead:
        if dead.twin is not None and dead.twin.allow == dead.rule.allow:
            removal, edits = subject.rule_removal(subject.lines[dead.rule.line - 1])
            # Only an identical rule in the same group is equivalent in every dialect.
            is_safe = dead.twin.pattern == dead.rule.pattern and subject.share_a_group(
                dead.rule.line, dead.twin.line
            )
            yield Remark(
                subject.rule(dead.rule),
                f"Duplicate of line {dead.twin.line}",
                removal,
                edits=edits if is_safe else (),
                proposal=() if is_safe else edits,
            )


def redundant(subject: CheckedFile) -> Iterator[Remark]:
    """Find rules that other rules with the same verdict cover."""
    covering = {
        idle.rule.line: (idle.rule, idle.instead)
        for idle in subject.analysis.surely_idle
        if idle.instead is not None
    }
    covering |= {
        dead.rule.line: (dead.rule, dead.covered_by[0])
        for dead, _ in subject.analysis.surely_dead
        if dead.cause is Cause.COVERED and dead.twin is None and not _is_opposed(dead)
    }
    for _, (rule, instead) in sorted(covering.items()):
        removal, proposal = subject.rule_removal(subject.lines[rule.line - 1])
        yield Remark(
            subject.rule(rule),
            f"Redundant: line {instead.line} ({truncate_rule(instead)}) already covers this",
            removal,
            proposal=proposal,
        )


def needless_allow(subject: CheckedFile) -> Iterator[Remark]:
    """Find Allow rules without a Disallow that they make an exception to."""
    for idle in subject.analysis.surely_idle:
        if (
            idle.instead is None
            and idle.rule.allow
            and not _EVERYTHING.fullmatch(idle.rule.pattern)
        ):
            removal, proposal = subject.rule_removal(subject.lines[idle.rule.line - 1])
            yield Remark(
                subject.rule(idle.rule),
                "Allow has no effect: no rule blocks this path",
                f"{removal}, or disallow the rest if only this should be allowed",
                proposal=proposal,
                url=idle.url,
            )


def no_path(subject: CheckedFile) -> Iterator[Remark]:
    """Find patterns that no path can match."""
    for dead, _ in subject.analysis.surely_dead:
        if dead.cause is Cause.NO_PATH and dead.rule.pattern.startswith(("/", "*")):
            yield Remark(subject.rule(dead.rule), "Rule has no effect: no URL can have this path")


def robots_txt_rule(subject: CheckedFile) -> Iterator[Remark]:
    """Find rules that match only /robots.txt."""
    for dead, _ in subject.analysis.surely_dead:
        if dead.cause is Cause.ROBOTS_TXT:
            removal, proposal = subject.rule_removal(subject.lines[dead.rule.line - 1])
            yield Remark(
                subject.rule(dead.rule),
                "Rule has no effect: /robots.txt is always allowed",
                removal,
                proposal=proposal,
            )


def all_blocked(subject: CheckedFile) -> Iterator[Remark]:
    """Find files that block the whole site for every search engine."""
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
                f"{_quote(name)} ignores the * rules because it has its own group: {truncate(url)} is allowed",
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


def _quote(name: str) -> str:
    """Return a name, in quotation marks unless it is a plain token."""
    name = truncate(name)
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


def search_blocked(subject: CheckedFile) -> Iterator[Remark]:
    """Find search crawlers that are blocked, while ``*`` is not."""
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
    # A plain .js would also match .json.
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


def dialects(subject: CheckedFile) -> Iterator[Remark]:
    """Find URLs that other dialects decide differently, once per rule.

    Google's dialect matters only to Google's crawlers.
    """
    own = subject.robots.dialect
    for dialect in subject.dialects:
        if dialect == own:
            continue
        reported: set[int] = set()
        for agent, rules in _google_sets(subject) if dialect == GOOGLE else subject.sets:
            theirs = subject.analysis.rules_by(dialect, agent)
            if theirs is None:
                break
            if not rules.group_lines and not theirs.group_lines:
                continue
            # Report each line once, and differences without a rule once.
            for each in subject.analysis.difference(rules, theirs).found:
                rule = each.before.rule or each.after.rule
                if rule is None or rule.line in reported:
                    continue
                reported.add(rule.line)
                name = agent if isinstance(agent, str) else agent[0]
                yield Remark(
                    subject.rule(rule),
                    f"{_READERS.get(dialect, str(dialect))} reads this differently: {each.url} is {_verdict(each.after)} for {_who(name)}, {_verdict(each.before)} by {own}",
                    url=each.url,
                )
            if rules.is_named != theirs.is_named:
                break


def _google_sets(subject: CheckedFile) -> list[tuple[str | tuple[str, ...], Rules]]:
    """Return Google's crawlers and their rules, once for the groups that apply to some of them."""
    found: dict[object, tuple[str | tuple[str, ...], Rules]] = {}
    google = crawlers_of("Google")
    for agent in [each.tokens for each in google] or [("Googlebot",)]:
        rules = rules_for_data(subject.robots, agent)
        theirs = subject.analysis.rules_by(GOOGLE, agent)
        lines = None if theirs is None else theirs.group_lines
        found.setdefault((rules.group_lines, lines), (agent, rules))
    return list(found.values())


def _who(name: str) -> str:
    return "crawlers without a group" if name == "*" else _quote(name)


def _verdict(decision: Decision) -> str:
    verdict = "allowed" if decision.allowed else "blocked"
    return f"{verdict} (line {decision.rule.line})" if decision.rule else verdict
