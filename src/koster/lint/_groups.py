"""Checks of groups and their names."""

from __future__ import annotations

import bisect
import functools
import re
from typing import TYPE_CHECKING

from .. import crawlers
from ..analysis import letters_of
from ..dialects import EXTENDED2, GOOGLE, Names
from ..errors import MissingExtraError
from ..model import RULES, Directive
from ..robots import parse, rules_for_data, selection_of
from ._model import count_noun, truncate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Line
    from ._model import Remark, Subject

#: RFC 9309 §2.2.1.
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")
#: Names such as MJ12bot and archive.org_bot.
_EXTENDED_TOKEN = re.compile(r"[A-Za-z0-9._-]+")
_VERSION = re.compile(r"([A-Za-z0-9._-]+)/[\w.]*\Z")
_HEADER = re.compile(r"Mozilla/|\(compatible|AppleWebKit|Gecko", re.IGNORECASE)
#: Operators whose name is not a product token, unlike Yandex and Pinterest.
_OPERATORS_WITHOUT_TOKEN = {
    "OpenAI",
    "Anthropic",
    "Google",
    "Microsoft",
    "Meta",
    "Amazon",
    "ByteDance",
}
_OPERATORS_WITHOUT_TOKEN |= {"Perplexity", "Mistral AI", "Apple", "DuckDuckGo"}

#: Shorter names have too many similar ones.
_MIN_LETTERS = 6
#: The versions that the engine accepts.
_ROBOT_VERSION = re.compile(r"0*([0-9]{1,9})\.([0-9]+)(?:\.[0-9]+)?")


def orphans(subject: Subject) -> Iterator[Remark]:
    """Find rules before any group."""
    before, _ = subject.lines_by_group
    rules = [line for line in before if line.directive in RULES]
    if rules:
        more = f", and so are {len(rules) - 1} more" if len(rules) > 1 else ""
        yield subject.remark_on_line(
            rules[0],
            f"this rule stands before any User-agent line and is ignored{more}",
            "write User-agent: * before it",
        )


def no_rules(subject: Subject) -> Iterator[Remark]:
    """Find groups without rules whose agents have no other group."""
    with_rules = {
        line.value.lower() for group in subject.groups if group.rules for line in group.agents
    }
    for group in subject.groups:
        left = [
            line.value
            for line in group.agents
            if not group.rules
            and line.value
            and line.value.lower() not in with_rules
            # A group with another spelling of the name may also apply.
            and not selection_of(
                rules_for_data(subject.robots, _agent_for_name(subject, line.value))
            ).rule_lines()
        ]
        if left:
            names = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
            more = (
                ""
                if "*" in left
                else ", and groups for everybody do not count for a robot that is named"
            )
            yield subject.remark_on_value(
                group.agents[0],
                f"the group for {names} has no rules: all is allowed{more}",
                "write Disallow: if that is meant, or remove the group",
            )


def _agent_for_name(subject: Subject, name: str) -> str:
    """Return an agent that a name applies to: Google's parser truncates names."""
    is_cut = subject.robots.dialect.names == Names.LETTERS
    return (letters_of(name) or name) if is_cut else name


def glued(subject: Subject) -> Iterator[Remark]:
    """Find User-agent lines merged into one group despite a directive between them."""
    for group in subject.groups:
        numbers = [line.number for line in group.agents]
        for line in group.others:
            if numbers[0] < line.number < numbers[-1] and line.directive not in RULES:
                after = next(agent for agent in group.agents if agent.number > line.number)
                bound = group.agents[0].value
                if group.rules and after.value.lower() != bound.lower():
                    yield subject.remark_on_value(
                        after,
                        f"{line.directive} ends no group: the rules that follow hold for {bound}, too",
                        "write a rule, such as Disallow:, before the next User-agent line if two groups are meant",
                    )
                break


def repeated(subject: Subject) -> Iterator[Remark]:
    """Find names of several groups."""
    first: dict[str, int] = {}
    reported = set()
    for number, group in enumerate(subject.groups):
        for line in group.agents:
            name = line.value.lower()
            if name and first.setdefault(name, number) != number and (name, number) not in reported:
                reported.add((name, number))
                where = subject.groups[first[name]].agents[0].number
                yield subject.remark_on_value(
                    line,
                    f"{line.value} has a group at line {where} already; RFC 9309 merges them, older robots read the first alone",
                    "make one group of them",
                )


def twice(subject: Subject) -> Iterator[Remark]:
    """Find duplicate names in a group."""
    for group in subject.groups:
        seen: set[str] = set()
        for line in group.agents:
            if line.value and line.value.lower() in seen:
                yield subject.remark_on_value(
                    line,
                    f"{line.value} is named twice in this group",
                    "remove the line",
                    (subject.removal(line),),
                )
            seen.add(line.value.lower())


def not_a_token(subject: Subject) -> Iterator[Remark]:
    """Find names that are not product tokens."""
    for line in subject.lines_of(Directive.USER_AGENT):
        name = line.value
        if not name or name == "*" or _PRODUCT_TOKEN.fullmatch(name):
            continue
        if _is_list(name):
            continue
        version = _VERSION.fullmatch(name)
        if _HEADER.search(name):
            yield subject.remark_on_value(
                line,
                "a whole User-Agent header is no name; robots look for their product token",
                "write the product token alone",
            )
        elif version:
            yield subject.remark_on_value(
                line,
                f"{name} has a version, which robots do not compare",
                f"write {version[1]}",
                (subject.edit_value(line, version[1]),),
            )
        elif "*" in name:
            yield subject.remark_on_value(
                line,
                f"{name}: a star is no part of a name; robots read one at the end as nothing, and others to the letter",
                "write each product token on a line of its own",
            )
        elif not _EXTENDED_TOKEN.fullmatch(name) and name.lower() not in _crawlers():
            read = letters_of(name)
            yield subject.remark_on_value(
                line,
                f"{name} is no product token, which has letters, _ and - alone; Google's parser reads {read!r}",
            )


@functools.cache
def _crawlers() -> dict[str, str]:
    """Return known crawlers by lower-case token; empty if the registry is not installed."""
    try:
        return {each.token.lower(): each.token for each in crawlers.known()}
    except MissingExtraError:
        return {}


@functools.cache
def _crawlers_by_letters() -> dict[str, str]:
    return {_letters_and_digits(lower): token for lower, token in _crawlers().items()}


@functools.cache
def _crawlers_by_operator() -> dict[str, list[str]]:
    """Return known crawlers by operator, if the operator's name is not a token."""
    found: dict[str, list[str]] = {}
    for each in crawlers.known() if _crawlers() else ():
        if each.operator in _OPERATORS_WITHOUT_TOKEN:
            found.setdefault(each.operator.lower(), []).append(each.token)
    return found


def _letters_and_digits(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def nearly_a_crawler(subject: Subject) -> Iterator[Remark]:
    """Find names that are similar to those of known crawlers."""
    for line in subject.lines_of(Directive.USER_AGENT):
        lower = line.value.lower()
        if not _EXTENDED_TOKEN.fullmatch(line.value) or lower in _crawlers():
            continue
        token = _nearest(_letters_and_digits(lower))
        if token and lower.partition("-")[0] not in _crawlers():
            yield subject.remark_on_value(
                line,
                f"no crawler is known that is called {line.value}, but {token} is",
                f"write {token} if that is meant",
            )
        elif lower in _crawlers_by_operator():
            tokens = _crawlers_by_operator()[lower]
            yield subject.remark_on_value(
                line,
                f"{line.value} is who runs crawlers; robots look for the name of the crawler",
                f"write {', '.join(tokens[:3])}{' …' if len(tokens) > 3 else ''}, each on a line of its own",
            )


def _nearest(letters: str) -> str | None:
    """Return the known crawler with the same letters, or one more, fewer or transposed.

    Replaced letters do not count, because they make other names: Roverbot is not rogerbot.
    """
    squeezed = _crawlers_by_letters()
    if letters in squeezed:
        return squeezed[letters]
    if len(letters) < _MIN_LETTERS:
        return None
    return next((squeezed[each] for each in _single_edits(letters) if each in squeezed), None)


def _single_edits(letters: str) -> Iterator[str]:
    """Yield the words with one letter deleted, transposed or inserted after the first one."""
    for at in range(1, len(letters) + 1):
        head, tail = letters[:at], letters[at:]
        if tail:
            yield head + tail[1:]
            yield head + tail[1:2] + tail[:1] + tail[2:]
        yield from (head + letter + tail for letter in "abcdefghijklmnopqrstuvwxyz")


def unusual_token(subject: Subject) -> Iterator[Remark]:
    """Find names with digits or dots."""
    for line in subject.lines_of(Directive.USER_AGENT):
        if _EXTENDED_TOKEN.fullmatch(line.value) and not _PRODUCT_TOKEN.fullmatch(line.value):
            read = letters_of(line.value)
            yield subject.remark_on_value(
                line,
                f"{line.value} has digits or dots, which product tokens have not: robots compare it letter by letter, Google's parser reads {read!r}",
            )


def _is_list(name: str) -> bool:
    return bool(re.fullmatch(r"[\w*.-]+(?:\s*[,;|]\s*[\w*.-]+)+[,;|]?", name))


def several_names(subject: Subject) -> Iterator[Remark]:
    """Find lists of names on one line."""
    for line in subject.lines_of(Directive.USER_AGENT):
        if _is_list(line.value):
            names = [name for name in re.split(r"[\s,;|]+", line.value) if name]
            yield subject.remark_on_value(
                line,
                f"a User-agent line has one name; robots take these {len(names)} for one, which nobody has",
                "write a line for each",
            )


def no_name(subject: Subject) -> Iterator[Remark]:
    """Find User-agent lines without a name."""
    for line in subject.lines_of(Directive.USER_AGENT):
        if not line.value:
            yield subject.remark_on_line(
                line,
                "a User-agent line without a name is for nobody",
                "write User-agent: * if everybody is meant",
            )


def versions(subject: Subject) -> Iterator[Remark]:
    """Find Robot-version lines that are ignored, or cause crawlers to skip a rule set.

    Only the Extended Standard has them, so its rule sets apply: a blank line ends one.
    """
    found = list(subject.lines_of(Directive.ROBOT_VERSION))
    if not found:
        return
    sets = parse(subject.body, EXTENDED2).groups
    starts = [group.line for group in sets]
    has_default = any("*" in group.agents for group in sets)
    first: dict[int, int] = {}
    for line in found:
        number = bisect.bisect(starts, line.number) - 1
        chosen = first.setdefault(number, line.number) if number >= 0 else line.number
        if chosen != line.number and sets[number].version is not None:
            yield subject.remark_on_value(
                line,
                f"Redundant: line {chosen} already sets the Robot-version",
                "Remove this line",
                (subject.removal(line),),
            )
        elif number < 0 or sets[number].version is None:
            yield subject.remark_on_value(
                line,
                "Robot-version is ignored here: it must directly follow the User-agent lines",
                "Move it directly below the User-agent lines",
            )
        else:
            is_default = "*" in sets[number].agents
            yield from _version(subject, line, has_default and not is_default)


def _version(subject: Subject, line: Line, has_default: bool) -> Iterator[Remark]:
    shown = truncate(line.value)
    fix = "Write Robot-version: 2.0"
    skipped = "crawlers that read Robot-version skip these rules"
    if has_default:
        skipped += " and obey the * group"
    version = _ROBOT_VERSION.fullmatch(line.value)
    if not line.value:
        yield subject.remark_on_line(line, "Robot-version has no value", fix)
    elif version is None:
        yield subject.remark_on_value(line, f'Invalid Robot-version "{shown}": it is ignored', fix)
    elif version[1] not in ("1", "2"):
        yield subject.remark_on_value(
            line, f"Robot-version {shown} is not supported: {skipped}", fix
        )
    elif int(version[2][-1]) % 2:
        yield subject.remark_on_value(
            line,
            f"Robot-version {shown} is experimental (odd minor version): {skipped}",
            fix,
        )


def cut_by_google(subject: Subject) -> Iterator[Remark]:
    """Find names that Google's parser confuses with others."""
    names = {line.value.lower() for line in subject.lines_of(Directive.USER_AGENT)}
    for line in subject.lines_of(Directive.USER_AGENT):
        name, read = line.value, letters_of(line.value)
        if read and read != name and read.lower() in names and re.fullmatch(r"[\w.-]+", name):
            group = parse(f"User-agent: {name}\nDisallow: /", GOOGLE)
            if not group.allowed("/", read):
                yield subject.remark_on_value(
                    line,
                    f"Google's parser reads {name} as {read}, which has a group of its own",
                    "do not rely on both being told apart",
                )


def no_groups(subject: Subject) -> Iterator[Remark]:
    """Find files without groups and rules."""
    if not subject.groups and not any(line.directive in RULES for line in subject.directive_lines):
        count = count_noun(len(subject.lines), "line")
        yield subject.remark_on_file(
            f"the file ({count}) has no group: everything is allowed",
            "write User-agent: * and Disallow: to say so",
        )
