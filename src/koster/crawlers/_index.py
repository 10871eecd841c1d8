"""Converts the records of ``ai-crawler-index`` (CC0); the only module that uses that package."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import missing
from ._model import Crawler, Obeys, Purpose

_PURPOSES = {
    "ai-training": Purpose.TRAINING,
    "ai-search": Purpose.AI_SEARCH,
    "user-fetch": Purpose.USER_FETCH,
    "dataset": Purpose.DATASET,
    "search": Purpose.SEARCH,
    "seo": Purpose.SEO,
    "archive": Purpose.ARCHIVE,
    "preview": Purpose.PREVIEW,
    "tool": Purpose.TOOL,
}
_OBEYS = {
    "documented": Obeys.RULES,
    "own-token-only": Obeys.OWN_GROUPS,
    "by-design-no": Obeys.NOTHING,
    "n-a": Obeys.CONTROL,
    "disputed": Obeys.DISPUTED,
}


def crawlers() -> Iterator[Crawler]:
    """Yield the records.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        import ai_crawler_index  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        if error.name != "ai_crawler_index":
            raise
        raise missing("the registry of crawlers", "crawlers") from error
    # "Table reviewed 2026-09-05; every record checked against …"
    checked = str(ai_crawler_index.META["generated_at"])[:10]
    for record in ai_crawler_index.CRAWLERS:
        yield Crawler(
            token=str(record["robots_token"]),
            operator=str(record["operator"]),
            purposes=(_PURPOSES.get(record["category"], Purpose.TOOL),),
            obeys=_OBEYS.get(record["respects_robots_txt"], Obeys.UNDOCUMENTED),
            source=str(record["docs"]),
            checked=checked,
        )
