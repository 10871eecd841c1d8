"""The record of a crawler."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date, timedelta


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
    MAY_IGNORE = "may ignore"
    """Its operator says that it may ignore the file, for example when a user requests a page."""
    NOTHING = "nothing"
    """Nothing: its operator says that it ignores the file."""
    CONTROL = "control"
    """Not a crawler: its group controls how pages fetched by other crawlers may be used."""
    UNDOCUMENTED = "undocumented"
    """Unknown: its operator does not say."""
    DISPUTED = "disputed"
    """Its operator says that it obeys the file, but site owners have observed otherwise."""
    RETIRED = "no longer named"
    """Its operator's page on crawlers no longer names it."""


#: Descriptions for reports.
MANNERS = {
    Obeys.RULES: "obeys groups that name it, else those for *",
    Obeys.OWN_GROUPS: "obeys only groups that name it, not *",
    Obeys.MAY_IGNORE: "may ignore the file, according to its operator",
    Obeys.NOTHING: "ignores the file, according to its operator",
    Obeys.CONTROL: "not a crawler: controls how pages fetched by other crawlers may be used",
    Obeys.UNDOCUMENTED: "its operator does not say whether it obeys the file",
    Obeys.DISPUTED: "its operator says that it obeys the file, but site owners report otherwise",
    Obeys.RETIRED: "its operator no longer names it",
}

#: How long a copy of a robots.txt may be used (RFC 9309 §2.4).
CHANGE_DELAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Verification:
    """How to verify that a request comes from a crawler.

    Attributes:
        ranges: URLs of its published IP ranges.
        domains: The domains of its addresses, for forward-confirmed reverse DNS.
        signatures: Whether it signs its requests (Web Bot Auth).
    """

    ranges: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    signatures: bool = False


@dataclass(frozen=True, slots=True)
class Crawler:
    """A crawler, and what its operator says about it.

    Attributes:
        token: Its product token.
        operator: Who runs it.
        purposes: What it fetches pages for; the main purpose first.
        obeys: Which rules it obeys.
        source: The URL of the page with these facts.
        checked: The day on which that page was read: ``2026-11-22``.
        falls_back_to: The tokens whose groups apply if no group has its own, in order; then ``*``,
            if it obeys that.
        verification: How to verify its requests.
        names: Names of products that people know it by.
        successor: The token that has replaced it, if any.
        change_delay: How long after a change of a robots.txt it may act on the older version. More
            than 24 hours: its operator says so, and it may do so even if it fetched the newer one.
        old_copy: How old the copy may be that it uses while it cannot fetch the file, whatever the
            reason; 0: RFC 9309 §2.3.1 says when it may.
        note: What these facts leave open.
    """

    token: str
    operator: str
    purposes: tuple[Purpose, ...]
    obeys: Obeys
    source: str
    checked: str
    falls_back_to: tuple[str, ...] = ()
    verification: Verification = Verification()
    names: tuple[str, ...] = ()
    successor: str = ""
    change_delay: timedelta = CHANGE_DELAY
    old_copy: timedelta = timedelta(0)
    note: str = ""

    @property
    def purpose(self) -> Purpose:
        """The main purpose."""
        return self.purposes[0]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens whose groups it obeys, in order of preference."""
        return (self.token, *self.falls_back_to)

    def is_outdated(self, today: date) -> bool:
        """Return whether the page with these facts was read more than a year before a day."""
        checked = date.fromisoformat(self.checked)
        # A year after 29 February is 1 March.
        return (checked.year + 1, checked.month, checked.day) < (today.year, today.month, today.day)
