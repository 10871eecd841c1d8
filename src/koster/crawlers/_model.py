"""What is known of a crawler."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Purpose(enum.StrEnum):
    """What a crawler fetches pages for; the order is that of reports."""

    SEARCH = "search"
    """To index and rank them."""
    AI_SEARCH = "AI search"
    """For an assistant to find, answer from and cite."""
    USER_FETCH = "user fetch"
    """One page, because a person asked for it."""
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
    """Software that anybody may run, and robots that check a site for its owner."""


class Obeys(enum.StrEnum):
    """What of a robots.txt a crawler obeys, as its operator says."""

    RULES = "rules"
    """Groups that name it, else those for everybody."""
    OWN_GROUPS = "own groups"
    """Groups that name it, and nothing else: ``*`` is not for it."""
    NOTHING = "nothing"
    """Its operator says that it does not read the file: a person asked for the page."""
    CONTROL = "control"
    """Nobody crawls under this name; its group says what others may do with what they fetch."""
    UNDOCUMENTED = "undocumented"
    """Its operator does not say."""
    DISPUTED = "disputed"
    """Its operator says that it does, and site owners have seen otherwise."""


#: What crawlers obey, where that needs words.
MANNERS = {
    Obeys.OWN_GROUPS: "obeys groups that name it, and none for everybody",
    Obeys.NOTHING: "does not read the file, says its operator",
    Obeys.CONTROL: "nobody crawls under this name: it says what others may do with what they fetch",
    Obeys.UNDOCUMENTED: "its operator does not say whether it obeys the file",
    Obeys.DISPUTED: "its operator says that it obeys the file, and site owners have seen otherwise",
}


@dataclass(frozen=True, slots=True)
class Crawler:
    """A crawler by its product token. ``source`` is the page that the facts are from."""

    token: str
    operator: str
    purpose: Purpose
    obeys: Obeys
    source: str
