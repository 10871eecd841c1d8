"""The record of a crawler."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Purpose(enum.StrEnum):
    """What a crawler fetches pages for, in the order of reports."""

    SEARCH = "search"
    """To index and rank them."""
    AI_SEARCH = "AI search"
    """For an assistant to find, answer from and cite."""
    USER_FETCH = "user fetch"
    """A single page that a person requested."""
    TRAINING = "training"
    """To train models on them."""
    DATASET = "data sets"
    """For collections that others train on or buy."""
    ARCHIVE = "archive"
    """To preserve them."""
    PREVIEW = "preview"
    """To show a card where someone shares a link."""
    ADS = "ads"
    """To check pages that advertisements lead to."""
    SEO = "SEO"
    """To sell what links where."""
    TOOL = "tools"
    """Software that anyone can run, and services that check a site for its owner."""


class Obeys(enum.StrEnum):
    """Which rules of a robots.txt a crawler obeys, according to its operator."""

    RULES = "rules"
    """Groups that name it, else those for ``*``."""
    OWN_GROUPS = "own groups"
    """Only groups that name it: it ignores ``*``."""
    NOTHING = "nothing"
    """Nothing: its operator says that it does not read the file."""
    CONTROL = "control"
    """Not a crawler: its group controls how pages fetched by other crawlers may be used."""
    UNDOCUMENTED = "undocumented"
    """Unknown: its operator does not say."""
    DISPUTED = "disputed"
    """Its operator says that it obeys the file, but site owners have observed otherwise."""


#: Descriptions for reports, except for `Obeys.RULES`.
MANNERS = {
    Obeys.OWN_GROUPS: "obeys only groups that name it, not *",
    Obeys.NOTHING: "does not read the file, according to its operator",
    Obeys.CONTROL: "not a crawler: controls how pages fetched by other crawlers may be used",
    Obeys.UNDOCUMENTED: "its operator does not say whether it obeys the file",
    Obeys.DISPUTED: "its operator says that it obeys the file, but site owners report otherwise",
}


@dataclass(frozen=True, slots=True)
class Crawler:
    """A crawler. ``source`` is the URL of the page with these facts."""

    token: str
    operator: str
    purpose: Purpose
    obeys: Obeys
    source: str
