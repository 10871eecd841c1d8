"""Checks of lines and directives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .._wording import joined
from ..model import RULES, Directive, Line, LineKind
from ._bytes import look_alikes
from ._checks import ERROR, NOTE, WARNING, check
from ._directives import DIRECTIVES, UNREAD, intended_directive, intended_directives, without_effect
from ._ignoring import unknown_codes
from ._model import CheckedFile, Place, Remark, corrected, effect_of, truncate
from ._names import operator_of

_DIRECTIVE_WITHOUT_COLON = re.compile(
    r"\s*("
    + "|".join(
        sorted(
            (each for directive in Directive for each in directive.spellings), key=len, reverse=True
        )
    )
    + r")(?:\s*=\s*|\s+|\Z)",
    re.IGNORECASE,
)
#: The operators whose crawlers ignore a directive of groups. Only those that say so.
_IGNORED_BY = {
    Directive.CRAWL_DELAY: ("Google", "Yandex"),
    Directive.REQUEST_RATE: ("Google", "Microsoft", "Yandex"),
    Directive.VISIT_TIME: ("Google", "Microsoft", "Yandex"),
    Directive.CLEAN_PARAM: ("Google", "Microsoft"),
    Directive.CONTENT_SIGNAL: ("Google",),
    Directive.CONTENT_USAGE: ("Google",),
}
#: Lines of git between two versions, and a path on a line of its own.
_CONFLICT = re.compile(r"(?:<{7}|>{7}) |={7}\Z|\|{7}(?: |\Z)")
_LONE_PATH = re.compile(r"\s*(?:- )?(/[^\s:]*)\s*")
_FRAGMENT = re.compile(r"#[!/\w.=&-]+")


@check("L001", "missing-colon", WARNING, "A directive has no colon",
    why="Google reads two words without a colon as directive and value. RFC 9309 does not require that, and other crawlers may ignore the line.",
    example="User-agent: *\nDisallow /a\n",
    fix="User-agent: *\nDisallow: /a\n",
    source="google/robotstxt, reporting_robots.cc")  # fmt: skip
def no_colon(subject: CheckedFile) -> Iterator[Remark]:
    """Find known directives followed by white space instead of a colon."""
    for line in subject.directive_lines:
        # In most lines the colon directly follows the directive.
        if line.text.startswith(":", len(line.key)) or not line.value:
            continue
        if ":" in line.text[: subject.value_start(line)]:
            continue
        at = line.text.find(line.key)
        gap = subject.value_start(line) - at - len(line.key)
        yield Remark(
            subject.key(line),
            f"Missing colon after {line.key}: Google reads the line, other crawlers may ignore it",
            f"Write {line.key}: {_intended_value(line)}",
            edits=(subject.edit(line, at + len(line.key), gap, ": "),),
        )


def _intended_value(line: Line) -> str:
    is_all = line.directive in RULES and line.value.lower() in ("all", "everything", "any")
    return "/" if is_all else line.value


@check("L002", "not-a-directive", WARNING, "A line is neither a directive nor a comment",
    why="Crawlers ignore the line. Comments start with #.",
    example="User-agent=*\nDisallow: /a\n",
    fix="User-agent: *\nDisallow: /a\n",
    source="RFC 9309 §2.2")  # fmt: skip
def malformed(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_by_kind[LineKind.MALFORMED]:
        if line.text.lstrip("\ufeff \t").startswith("<"):
            continue
        text = line.text.partition("#")[0]
        if _CONFLICT.match(text):
            continue
        match = _DIRECTIVE_WITHOUT_COLON.match(text)
        path = _LONE_PATH.fullmatch(text)
        if path:
            yield corrected(
                subject.text(line),
                "Path without a directive: crawlers ignore this line",
                f"Write Disallow: {truncate(path[1])}",
                (subject.edit(line, path.start(1), 0, "Disallow: "),),
                f"Disallow: {path[1]}",
            )
            continue
        value = text[match.end() :].rstrip() if match else ""
        if match and value:
            yield corrected(
                subject.text(line),
                f"Missing colon after {match[1]}: crawlers ignore this line",
                f"Write {match[1]}: {truncate(value)}",
                (subject.edit(line, match.end(1), match.end() - match.end(1), ": "),),
                f"{match[1]}: {value}",
            )
        elif match:
            yield Remark(
                subject.text(line),
                f"{match[1]} has no colon and no value: crawlers ignore this line",
                f"Write {match[1]}: with a value, or remove the line",
                proposal=(subject.removal(line),),
            )
        else:
            yield Remark(
                subject.text(line),
                "Not a directive: crawlers ignore this line",
                "Start comments with #",
                edits=(subject.edit(line, len(line.text) - len(line.text.lstrip()), 0, "# "),),
            )


@check("L014", "merge-conflict", ERROR, "The file has a merge conflict",
    why="Git writes both versions into the file, between lines with < = and >. Crawlers ignore these lines, and obey both versions.",
    example="User-agent: *\n<<<<<<< HEAD\nDisallow: /a\n=======\nDisallow: /b\n" + 7 * ">" + " main\n",
    fix="User-agent: *\nDisallow: /a\n",
    source="https://git-scm.com/docs/git-merge#_how_conflicts_are_presented")  # fmt: skip
def conflict(subject: CheckedFile) -> Iterator[Remark]:
    marks = [line for line in subject.lines if _CONFLICT.match(line.text)]
    if any(line.text.startswith(("<", ">")) for line in marks):
        yield Remark(
            subject.text(marks[0]),
            f"Merge conflict up to line {marks[-1].number}: crawlers obey both versions",
            "Keep one version, and remove the lines of git",
        )


@check("L003", "misspelled-directive", WARNING, "A directive is misspelled, but Google reads it",
    why="Other crawlers may ignore the line.",
    example="User-agent: *\nDissallow: /a\n",
    fix="User-agent: *\nDisallow: /a\n",
    source="google/robotstxt, robots.cc: kAllowFrequentTypos")  # fmt: skip
def misspelt(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.directive_lines:
        directive = line.directive
        if directive is not None and line.key.lower() not in (directive.spellings[0], ""):
            at = line.text.find(line.key)
            yield Remark(
                subject.key(line),
                f"Misspelled {directive}: Google reads this line, other crawlers may ignore it",
                f"Write {directive}",
                edits=(subject.edit(line, at, len(line.key), str(directive)),),
            )


@check("L004", "typo", WARNING, "Probable typo in a directive, or a sitemap's URL without one",
    why="Crawlers ignore the line.",
    example="User-agent: *\nDisllow: /a\n",
    fix="User-agent: *\nDisallow: /a\n",
    source="RFC 9309 §2.2.4")  # fmt: skip
def typo(subject: CheckedFile) -> Iterator[Remark]:
    """Find unknown directives that are probably typos, and URLs without a directive."""
    intended = intended_directives(subject)
    for line in subject.unknown_lines:
        name = intended.get(line.key)
        at = line.text.find(line.key)
        if name:
            yield corrected(
                subject.key(line),
                f'Unknown directive "{truncate(line.key)}": crawlers ignore this line',
                f"Did you mean {name}?",
                (subject.edit(line, at, len(line.key), name),),
                f"{name}: {line.value}",
            )
        elif _is_sitemap_url(line):
            yield Remark(
                subject.text(line),
                "Sitemap URL without a directive: crawlers ignore this line",
                "Write Sitemap: before it",
                edits=(subject.edit(line, at, 0, "Sitemap: "),),
            )


def _is_sitemap_url(line: Line) -> bool:
    return line.key.lower() in ("http", "https") and "sitemap" in line.value.lower()


@check("L005", "unknown-directive", NOTE, "Unknown directive",
    why="Crawlers ignore the line. Other lines are not affected.",
    example="User-agent: *\nDisallow: /a\nOwner: me\n",
    fix="User-agent: *\nDisallow: /a\n# Owner: me\n",
    source="RFC 9309 §2.2.4")  # fmt: skip
def unknown(subject: CheckedFile) -> Iterator[Remark]:
    reported = set()
    intended = intended_directives(subject)
    for line in subject.unknown_lines:
        if _CONFLICT.match(line.text):
            continue
        key = line.key.lower()
        is_known = key in UNREAD or without_effect(line) is not None
        is_typo = line.key in intended or _is_sitemap_url(line)
        if key not in reported and not (is_known or is_typo or line in look_alikes(subject)):
            reported.add(key)
            supported = DIRECTIVES.get(key)
            yield Remark(
                subject.key(line),
                f"{subject.robots.dialect.name} does not support {supported}: this line has no effect"
                if supported
                else f'Unknown directive "{truncate(line.key)}": crawlers ignore this line',
                "" if supported else "Start comments with #",
            )


@check("L011", "ignored-directive", WARNING, "The crawlers of this group ignore this directive",
    why="It has no effect: the operators of all crawlers that the group names say that they do not support it.",
    example="User-agent: Googlebot\nUser-agent: AdsBot-Google\nDisallow: /a\nCrawl-delay: 5\n",
    fix="User-agent: Googlebot\nUser-agent: bingbot\nDisallow: /a\nCrawl-delay: 5\n",
    source="google/robotstxt, reporting_robots.cc: kUnsupportedTags; the operators' pages")  # fmt: skip
def ignored_by_all(subject: CheckedFile) -> Iterator[Remark]:
    """Find directives in groups that bind only crawlers which ignore them."""
    for line, ignoring, others in _ignored(subject):
        if ignoring and not others:
            yield Remark(
                subject.key(line),
                f"{_names_ignoring(ignoring)} {line.directive}",
                "Remove the line, or move it to a group of other crawlers",
                proposal=(subject.removal(line),),
            )


@check("L006", "partly-ignored", NOTE, "Some crawlers ignore this directive",
    why="It does no harm, but has no effect on the crawlers that the message names.",
    example="User-agent: *\nDisallow: /a\nHost: e.com\n",
    fix="User-agent: *\nDisallow: /a\nSitemap: https://e.com/noindex\n",
    source="google/robotstxt, reporting_robots.cc: kUnsupportedTags; the operators' pages")  # fmt: skip
def ignored_by_some(subject: CheckedFile) -> Iterator[Remark]:
    """Find directives in groups that bind crawlers which ignore them, among others."""
    for line, ignoring, others in _ignored(subject):
        if ignoring and others:
            yield Remark(
                subject.key(line),
                f"{_names_ignoring(ignoring)} {line.directive}",
                "Keep it for other crawlers, or remove it",
            )
    for key in subject.lines_by_key.keys() & UNREAD.keys():
        message, suggestion = UNREAD[key]
        yield Remark(subject.key(subject.lines_by_key[key][0]), message, suggestion)


def _names_ignoring(names: list[str]) -> str:
    return f"{' and '.join(names)} ignores" if len(names) == 1 else f"{_all(names)} ignore"


def _all(names: list[str]) -> str:
    return joined(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} others"


def _ignored(subject: CheckedFile) -> list[tuple[Line, list[str], bool]]:
    """Return what `_find_ignored` yields, computed once."""
    return subject.once("ignored directives", lambda: list(_find_ignored(subject)))


def _find_ignored(subject: CheckedFile) -> Iterator[tuple[Line, list[str], bool]]:
    """Yield the directives in groups that some operators ignore.

    Each comes with the names in the group whose operators ignore it, and whether there are others.
    A group for ``*`` applies to crawlers of these operators that no group names.
    """
    unnamed = [
        (name, operator_of(name))
        for name in ("Googlebot", "bingbot", "YandexBot")
        if not subject.robots.rules_for(name).is_named
    ]
    for group in subject.groups:
        settings = [line for line in group.others if line.directive in _IGNORED_BY]
        if not settings:
            continue
        names = {line.value.lower(): line.value for line in group.agents if line.value}
        known = [(name, operator_of(name)) for name in names.values()]
        known = [(name, operator) for name, operator in known if operator]
        found: dict[Directive | None, tuple[list[str], bool]] = {}
        for line in settings:
            if line.directive not in found:
                operators = _IGNORED_BY[line.directive] if line.directive else ()
                ignoring = [name for name, operator in known if operator in operators]
                has_others = len(ignoring) < len(names)
                if not ignoring and "*" in names:
                    ignoring = [name for name, operator in unnamed if operator in operators]
                found[line.directive] = ignoring, has_others
            yield line, *found[line.directive]


@check("L010", "obsolete-directive", WARNING, "No crawler obeys this line in a robots.txt",
    why="It has no effect, so what it was meant to protect is open. Whether a page is indexed is controlled in the page or its headers, and only crawlers that may fetch the page see that. Crawlers that train models obey groups that name them.",
    example="User-agent: *\nDisallow: /a\nNoindex: /b\n",
    fix="User-agent: *\nDisallow: /a\nCrawl-delay: 5\n",
    source="https://developers.google.com/search/blog/2019/07/a-note-on-unsupported-rules-in-robotstxt")  # fmt: skip
def obsolete(subject: CheckedFile) -> Iterator[Remark]:
    unknown = subject.lines_by_kind[LineKind.UNKNOWN]
    for line in [*subject.lines_of(Directive.NOINDEX), *unknown]:
        instead = without_effect(line)
        if instead and line.number not in subject.read_only_by_google:
            message = f"No crawler obeys {truncate(line.key)} in a robots.txt"
            yield Remark(subject.key(line), message, instead)


@check("L009", "google-only", ERROR, "Only Google reads an unknown directive, as a known one",
    why="Google compares only the beginning of a directive: it reads `DisallowAITraining: /` as `Disallow: /`. Other crawlers ignore the line.",
    example="User-agent: *\nDisallowed: /admin\n",
    fix="User-agent: *\nDisallow: /admin\n",
    source="google/robotstxt, robots.cc: ParsedRobotsKey::KeyIsDisallow")  # fmt: skip
def read_by_google(subject: CheckedFile) -> Iterator[Remark]:
    """Find unknown directives that only Google's parser reads, because it compares prefixes."""
    for number, directive in subject.read_only_by_google.items():
        line = subject.lines[number - 1]
        if line in look_alikes(subject):
            continue
        at = line.text.find(line.key)
        message = (
            f'Google reads "{truncate(line.key)}" as {directive}; other crawlers ignore the line'
        )
        meant = f"{directive}: {line.value}"
        if intended_directive(line.key) == str(directive):
            edits = (subject.edit(line, at, len(line.key), str(directive)),)
            yield corrected(subject.key(line), message, f"Write {directive}", edits, meant)
        else:
            effect = effect_of(meant)
            yield Remark(
                subject.key(line),
                message,
                f"Write # before it: for Google, it {effect}" if effect else "Write # before it",
                proposal=(subject.edit(line, at, 0, "# "),),
            )


@check("L007", "comment-in-value", WARNING, "A comment starts in the middle of a word",
    why="# starts a comment wherever it is. What follows is not part of the value.",
    example="User-agent: *\nDisallow: /a#not this one\n",
    fix="User-agent: *\nDisallow: /a #not this one\n",
    source="RFC 9309 §2.2")  # fmt: skip
def glued_comment(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.directive_lines:
        at = _glued_comment_start(subject, line)
        if at is None or (
            line.value.startswith("/") and _FRAGMENT.fullmatch(line.text[at:].strip())
        ):
            continue
        words = line.text[at:].split()
        yield Remark(
            Place(line.number, at, len(words[0]) if words else 1),
            f'"#" starts a comment: the value is only {truncate(line.value)}',
            "Put a space before the comment, or write %23 for a literal #",
            edits=(subject.edit(line, at, 0, " "),),
        )


@check("L008", "fragment", WARNING, "A path has what looks like a fragment",
    why="# starts a comment, so the rule is shorter and matches more than it seems to. Crawlers never request fragments.",
    example="User-agent: *\nDisallow: /page#top\n",
    fix="User-agent: *\nDisallow: /page%23top # top\n",
    source="RFC 9309 §2.2; RFC 3986 §3.5")  # fmt: skip
def fragment(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.rules:
        at = _glued_comment_start(subject, line)
        if at is None or not line.value.startswith("/"):
            continue
        if _FRAGMENT.fullmatch(line.text[at:].strip()):
            yield Remark(
                Place(line.number, at, len(line.text.rstrip()) - at),
                f'"#" starts a comment: the rule applies to all of {truncate(line.value)}',
                f"Write {line.value}, or %23 for a literal #",
                proposal=(subject.edit(line, at, len(line.text) - at, ""),),
            )


def _glued_comment_start(subject: CheckedFile, line: Line) -> int | None:
    """Return the column of a comment without a space before it."""
    if line.comment is None or not line.value:
        return None
    at = subject.comment_start(line)
    return at if at > 0 and not line.text[at - 1].isspace() else None


@check("L012", "unknown-code", WARNING, "A koster: ignore comment has an unknown code, or no brackets",
    why="It ignores nothing.",
    example="User-agent: *\nDisallow: /a/ # koster: ignore S009\n",
    fix="User-agent: *\nDisallow: /a/ # koster: ignore # why\n",
    source="koster: ignore comments")  # fmt: skip
def unknown_ignores(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines if b"koster" in subject.body else ():
        for code, start in unknown_codes(line.text, subject.codes):
            yield Remark(
                Place(line.number, start, len(code)),
                f'"{truncate(code)}" ignores nothing: it is not a code of koster lint',
                "Write # koster: ignore[S006]; koster lint --explain all lists the codes",
            )
