"""The table of words: what each grammar's words say about which use."""

from __future__ import annotations

from collections.abc import Mapping

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

#: Rules of X-Robots-Tag, Robots-Tag and meta robots.
ROBOTS_RULES: Mapping[str, tuple[Use, Stated]] = {
    "noindex": (Use.SEARCH, NO),
    "none": (Use.SEARCH, NO),
    "index": (Use.SEARCH, YES),
    "all": (Use.SEARCH, YES),
    "nosnippet": (Use.SNIPPET, NO),
    "max-snippet:0": (Use.SNIPPET, NO),
    "noarchive": (Use.ARCHIVE, NO),
    "nocache": (Use.ARCHIVE, NO),
    "noai": (Use.AI_TRAIN, NO),
}

_GOOGLE_AI = "https://developers.google.com/search/docs/appearance/ai-features"
_BING_CHAT = "https://blogs.bing.com/webmaster/september-2023/Announcing-new-options-for-webmasters-to-control-usage-of-their-content-in-Bing-Chat"

#: Rules that mean more to the crawlers of an operator, each with the page that says so.
RULES_OF_OPERATORS: Mapping[str, tuple[tuple[str, Use, str], ...]] = {
    "nosnippet": (("Googlebot", Use.AI_INPUT, _GOOGLE_AI),),
    "max-snippet:0": (("Googlebot", Use.AI_INPUT, _GOOGLE_AI),),
    "noarchive": (
        ("bingbot", Use.AI_INPUT, _BING_CHAT),
        ("bingbot", Use.AI_TRAIN, _BING_CHAT),
    ),
}
#: Rules about something else: they are no mistakes.
OTHER_RULES = frozenset(
    ("follow", "nofollow", "noimageindex", "notranslate", "indexifembedded", "noodp", "noydir",
     "max-image-preview", "max-video-preview", "max-snippet", "unavailable_after", "noimageai")
)  # fmt: skip

#: TDMRep: other values are errors, and mean that nothing is stated.
RESERVATIONS: Mapping[str, Stated] = {"0": YES, "1": NO}

#: RSL: the values of "permits" and "prohibits" of the type "usage".
RSL_USAGES: Mapping[str, tuple[Use, ...]] = {
    "all": (Use.SEARCH, Use.AI_INPUT, Use.AI_TRAIN),
    "ai-all": (Use.AI_INPUT, Use.AI_TRAIN),
    "ai-train": (Use.AI_TRAIN,),
    "ai-input": (Use.AI_INPUT,),
    "ai-index": (),
    "search": (Use.SEARCH,),
}
