"""Checks of preferences that are stated in several grammars at once, and of policy tokens."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from datetime import UTC, datetime

from ..crawlers import POLICY_PREFIX, POLICY_TOKENS, policy_token
from ..model import Directive
from ..signals import Conflict, Use, signals
from ._checks import WARNING, check
from ._model import CheckedFile, Place, Remark, truncate

#: The page whose preferences are compared: what is stated there is stated about most of a site.
_PAGE = "/some/usual/page"
#: How similar a typo is to the name of a policy token, without its signs.
_SIMILAR = 0.85
_LETTERS = str.maketrans("", "", "_-. ")
_BY_LETTERS = {each.token.translate(_LETTERS): each.token for each in POLICY_TOKENS}
#: Nothing in a robots.txt depends on the time.
_ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)


@check("E012", "unknown-policy-token", WARNING, "A policy token is unknown",
    why="Nobody obeys its group: crawlers look for the exact name.",
    example="User-agent: __usage_ai_training\nDisallow: /\n",
    fix="User-agent: __usage_ai-training\nDisallow: /\n",
    source=POLICY_TOKENS[0].source)  # fmt: skip
def unknown_policy_token(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.USER_AGENT):
        if policy_token(line.value):
            continue
        near = _nearest(line.value)
        if near is not None or line.value.lower().startswith(POLICY_PREFIX):
            known = ", ".join(each.token for each in POLICY_TOKENS)
            yield Remark(
                subject.value(line),
                f'Unknown policy token "{truncate(line.value)}": nobody obeys this group',
                f"Did you mean {near}? The rules below then apply to it"
                if near
                else f"Known: {known}",
                proposal=(subject.edit_value(line, near),) if near else (),
            )


def _nearest(name: str) -> str | None:
    """Return the policy token that a name is probably a typo of, or None."""
    letters = name.lower().translate(_LETTERS)
    # A file may have 60,000 names: nearly all have another length, and need no comparison.
    tokens = [
        token
        for token in _BY_LETTERS
        if 2 * min(len(token), len(letters)) >= _SIMILAR * (len(token) + len(letters))
    ]
    near = difflib.get_close_matches(letters, tokens, n=1, cutoff=_SIMILAR) if tokens else []
    return _BY_LETTERS[near[0]] if near else None


@check("E013", "contradicting-grammars", WARNING, "Preferences in several grammars contradict one another",
    why="A crawler that reads one of them does what another one forbids. Those that read all of them apply the most restrictive one.",
    example="User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=y\nDisallow: /a\n",
    fix="User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=n\nDisallow: /a\n",
    source="draft-ietf-aipref-vocab-08 §6.1")  # fmt: skip
def contradicting_grammars(subject: CheckedFile) -> Iterator[Remark]:
    if not _states_preferences(subject):
        return
    found: dict[tuple[int | None, int | None], Conflict] = {}
    for each in signals(_PAGE, robots=subject.robots, now=_ANY_TIME).conflicts:
        if _is_contradiction(each):
            found.setdefault((each.yes.line, each.no.line), each)
    for each in found.values():
        line = subject.lines[(each.yes.line or 1) - 1]
        no = f"line {each.no.line} ({truncate(each.no.text)})"
        yield Remark(
            Place(line.number, 0, len(line.text.rstrip())),
            f"{_USES.get(each.use, each.use)} is allowed here, and {no} forbids it",
            "Say the same in both",
        )


def _is_contradiction(conflict: Conflict) -> bool:
    """Return whether two statements contradict each other, and are probably meant to agree.

    Google-Extended also controls the use in answers; those who block it mean training.
    """
    kinds = {conflict.yes.grammar.name, conflict.no.grammar.name}
    return len(kinds) == 2 and (conflict.use is Use.AI_TRAIN or "control-token" not in kinds)


_USES = {Use.AI_TRAIN: "AI training", Use.AI_INPUT: "Use in AI answers", Use.SEARCH: "Search"}


def _states_preferences(subject: CheckedFile) -> bool:
    """Return whether a file states preferences besides rules for crawlers."""
    if subject.lines_of(Directive.CONTENT_SIGNAL) or subject.lines_of(Directive.CONTENT_USAGE):
        return True
    agents = subject.lines_of(Directive.USER_AGENT)
    return any(line.value.lower().startswith(POLICY_PREFIX) for line in agents)
