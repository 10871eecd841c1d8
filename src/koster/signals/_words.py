"""The table of words: what each grammar's words say about which use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..crawlers import Purpose
from ._model import Stated, Use

YES, NO = Stated.YES, Stated.NO

#: What a crawler of a purpose uses pages for.
PURPOSES: Mapping[Purpose, Use] = {
    Purpose.SEARCH: Use.SEARCH,
    Purpose.AI_SEARCH: Use.AI_INPUT,
    Purpose.USER_FETCH: Use.AI_INPUT,
    Purpose.TRAINING: Use.AI_TRAIN,
    Purpose.DATASET: Use.AI_TRAIN,
    Purpose.ARCHIVE: Use.ARCHIVE,
}

#: What a page that nobody may fetch cannot be used for.
OF_FETCHED_PAGES = (Use.SEARCH, Use.SNIPPET, Use.ARCHIVE, Use.AI_INPUT, Use.AI_TRAIN)

CONTENT_SIGNALS: Mapping[str, Use] = {
    "search": Use.SEARCH,
    "ai-input": Use.AI_INPUT,
    "ai-train": Use.AI_TRAIN,
}
SIGNAL_VALUES: Mapping[str, Stated] = {"yes": YES, "no": NO}

CONTENT_USAGES: Mapping[str, Use] = {"search": Use.SEARCH, "train-ai": Use.AI_TRAIN}
USAGE_VALUES: Mapping[str, Stated] = {"y": YES, "n": NO}

#: Rules of X-Robots-Tag, Robots-Tag and meta robots. The numbers of max-snippet are those with a
#: meaning of their own.
ROBOTS_RULES: Mapping[str, tuple[Use, Stated]] = {
    # Google's page on robots meta tags, of 2026-03-24; "index" is from Bing's.
    "noindex": (Use.SEARCH, NO),
    "none": (Use.SEARCH, NO),
    "index": (Use.SEARCH, YES),
    "all": (Use.SEARCH, YES),
    "nosnippet": (Use.SNIPPET, NO),
    "max-snippet:0": (Use.SNIPPET, NO),
    # Bing's page on robots meta tags: Google's says that it ignores both.
    "noarchive": (Use.ARCHIVE, NO),
    "nocache": (Use.ARCHIVE, NO),
    # DeviantArt's post: "not authorized for inclusion in third-party datasets used to train".
    "noai": (Use.AI_TRAIN, NO),
}

_GOOGLE_AI = "https://developers.google.com/search/docs/appearance/ai-features"
_GOOGLE_TAGS = "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag"
_BING_CHAT = "https://blogs.bing.com/webmaster/september-2023/Announcing-new-options-for-webmasters-to-control-usage-of-their-content-in-Bing-Chat"
_BING_GUIDELINES = "https://www.bing.com/webmaster/help/webmaster-guidelines-30fba23a"
_APPLE = "https://support.apple.com/en-us/119829"
_AMAZON = "https://developer.amazon.com/amazonbot"


class OperatorRule(NamedTuple):
    """What a rule means, beyond `ROBOTS_RULES`, to the crawler of an operator: NO for a use.

    Attributes:
        crawler: Its product token.
        use: The use.
        source: The URL of the operator's page that says so.
        in_headers: Whether that page is about headers, too, and not only about HTML.
        unless: Another rule, with which this one does not mean that.
        checked: The day on which the page was read, in a stored copy or a quotation of it.
    """

    crawler: str
    use: Use
    source: str
    in_headers: bool = True
    unless: str = ""
    checked: str = "2026-11-30"


#: Rules that mean more to the crawlers of an operator, each with the page that says so.
RULES_OF_OPERATORS: Mapping[str, tuple[OperatorRule, ...]] = {
    "noindex": (
        OperatorRule("Googlebot", Use.AI_INPUT, _GOOGLE_AI),
        OperatorRule("bingbot", Use.AI_INPUT, _BING_GUIDELINES),
    ),
    "none": (
        OperatorRule("Googlebot", Use.AI_INPUT, _GOOGLE_AI),
        OperatorRule("Applebot", Use.SNIPPET, _APPLE),
        OperatorRule("Applebot", Use.AI_INPUT, _APPLE),
    ),
    "nosnippet": (
        OperatorRule("Googlebot", Use.AI_INPUT, _GOOGLE_TAGS),
        OperatorRule("Applebot", Use.AI_INPUT, _APPLE),
    ),
    "max-snippet:0": (OperatorRule("Googlebot", Use.AI_INPUT, _GOOGLE_TAGS),),
    "noarchive": (
        OperatorRule("bingbot", Use.AI_INPUT, _BING_CHAT, unless="nocache"),
        OperatorRule("bingbot", Use.AI_TRAIN, _BING_CHAT, unless="nocache"),
        OperatorRule("Amazonbot", Use.AI_TRAIN, _AMAZON, in_headers=False),
    ),
}


class OperatorLimit(NamedTuple):
    """What a rule leaves of the uses by an operator's crawler, and the page that says so."""

    crawler: str
    what: str
    source: str
    checked: str = "2026-11-30"


#: Rules that limit what an operator uses of a page. That is neither yes nor no.
LIMITS_OF_OPERATORS: Mapping[str, OperatorLimit] = {
    "nocache": OperatorLimit(
        "bingbot", "only the URL, title and snippet for AI answers and AI training", _BING_CHAT
    ),
    "max-snippet": OperatorLimit(
        "Googlebot", "no more than that as input for AI Overviews and AI Mode", _GOOGLE_TAGS
    ),
}

#: Rules with a value: its commas and colons separate nothing.
RULES_WITH_VALUES = frozenset(
    ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
)
#: Rules about something else: they are no mistakes.
OTHER_RULES = RULES_WITH_VALUES | frozenset(
    ("follow", "nofollow", "noimageindex", "notranslate", "indexifembedded", "noodp", "noydir",
     "nositelinkssearchbox", "noimageai")
)  # fmt: skip

#: TDMRep: other values are errors, and mean that nothing is stated.
RESERVATIONS: Mapping[str, Stated] = {"0": YES, "1": NO}

#: RSL 1.0 §3.4.1.1: the values of "permits" and "prohibits" of the type "usage", and the uses that
#: they include. "all" is any automated processing.
RSL_USAGES: Mapping[str, tuple[Use, ...]] = {
    "all": (Use.SEARCH, Use.AI_INPUT, Use.AI_TRAIN),
    "ai-all": (Use.AI_INPUT, Use.AI_TRAIN),
    "ai-train": (Use.AI_TRAIN,),
    "ai-input": (Use.AI_INPUT,),
    "ai-index": (),
    "search": (Use.SEARCH,),
    # As in the examples of https://rslstandard.org/guide/ai-preferences.
    "train-ai": (Use.AI_TRAIN,),
}
