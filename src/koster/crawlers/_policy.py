"""The table of policy tokens: names in User-agent lines that state a preference of the site.

They belong to no operator, and no request has them in its User-Agent. To add one, add an entry.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._model import Purpose

#: How the names of all policy tokens begin.
POLICY_PREFIX = "__usage_"


@dataclass(frozen=True, slots=True)
class Follower:
    """An operator, what it says about a policy token, the page, and the day it was read."""

    operator: str
    says: str
    source: str
    checked: str


@dataclass(frozen=True, slots=True)
class PolicyToken:
    """A token that stands for a use of pages, not for a crawler.

    Attributes:
        token: Its name in a User-agent line.
        purpose: The use that its rules are about.
        title: What it states, in a few words.
        specification: The document that defines it, with its date.
        source: The URL of that document.
        checked: The day on which it was read.
        spelled_in: The URL of the text that has its spelling; ``source``, if it is that one.
        open: Questions that the text that was read does not decide.
        followers: Who says that they follow it.
    """

    token: str
    purpose: Purpose
    title: str
    specification: str
    source: str
    checked: str
    spelled_in: str
    open: tuple[str, ...]
    followers: tuple[Follower, ...]

    @property
    def is_spelling_certain(self) -> bool:
        """Whether its spelling is from the document that defines it."""
        return self.spelled_in == self.source


POLICY_TOKENS = (
    # Of the document, only its abstract and header could be read.
    PolicyToken(
        "__usage_ai-training",
        Purpose.TRAINING,
        "whether pages may be used for AI training",
        "draft-kelley-aipref-training-preference-signal-00, 2026-10-30",
        "https://datatracker.ietf.org/doc/draft-kelley-aipref-training-preference-signal/",
        "2026-11-30",
        "https://github.com/umutxyp/Seo-Promt-Master/releases/tag/v2.2.0",
        (
            "whether rules for * apply to it if no group names it",
            "which counts if a crawler's own group says something else",
        ),
        (
            Follower(
                "Google",
                "intends to support it",
                "https://developers.google.com/crawling/docs/changelog",
                "2026-11-30",
            ),
        ),
    ),
)


def policy_token(name: str) -> PolicyToken | None:
    """Return the policy token with a name (case-insensitive, perhaps with a version), or None.

    >>> policy_token("__USAGE_AI-Training").token
    '__usage_ai-training'
    """
    wanted = name.partition("/")[0].strip().lower()
    return next((each for each in POLICY_TOKENS if each.token == wanted), None)
