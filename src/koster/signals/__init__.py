"""What a site says about the use of a page, in every grammar, with the place of each source.

Pure functions of bytes and headers: nothing is fetched. Never a legal verdict: what is here are
stated preferences.

>>> from datetime import datetime, timezone
>>> found = signals(
...     "https://shop.example/press/",
...     robots=b"User-agent: *\\nContent-Signal: ai-train=no, search=yes\\nDisallow: /cart/\\n",
...     now=datetime(2026, 11, 30, tzinfo=timezone.utc),
... )
>>> found.of(Use.AI_TRAIN).stated, found.of(Use.AI_TRAIN).statements[0].where
(<Stated.NO: 'no'>, 'robots.txt, line 2')
"""

from ._combining import USUAL_CRAWLERS, signals, stated_to_everybody
from ._grammars import GRAMMARS
from ._limits import MAX_DOCUMENT, MAX_HTML
from ._model import (
    Answer,
    Conflict,
    Crawl,
    Grammar,
    License,
    Signals,
    Stated,
    Statement,
    Status,
    Unseen,
    Use,
)
from ._robots import use_of
from ._uses import Unstated, UseDecision

__all__ = [
    "GRAMMARS",
    "MAX_DOCUMENT",
    "MAX_HTML",
    "USUAL_CRAWLERS",
    "Answer",
    "Conflict",
    "Crawl",
    "Grammar",
    "License",
    "Signals",
    "Stated",
    "Statement",
    "Status",
    "Unseen",
    "Unstated",
    "Use",
    "UseDecision",
    "signals",
    "stated_to_everybody",
    "use_of",
]
