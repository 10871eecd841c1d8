"""The settings of the middleware, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

from ...access import Html, Unreachable
from ...dialects import Dialect, dialect_named
from ...signals import Unstated, Use
from ...signals._uses import check_extra, uses_named

Choice = TypeVar("Choice", Unreachable, Html, Unstated)

_OWN = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"


@dataclass(frozen=True, slots=True)
class KosterSettings:
    """The settings that begin with ``KOSTER_``, but for the cache.

    Attributes:
        dialect: How files and statuses are read (``KOSTER_DIALECT``).
        timeout: Seconds for a robots.txt, in all (``KOSTER_TIMEOUT``).
        max_interval: Pages of a site that wants more seconds between requests are refused
            (``KOSTER_MAX_INTERVAL``).
        unreachable: The policy for unreachable sites (``KOSTER_UNREACHABLE``).
        html: What an HTML page in place of a robots.txt means (``KOSTER_HTML``).
        retries: How often a page of an unreachable site is tried again
            (``KOSTER_RETRY_UNREACHABLE``).
        uses: What pages are used for (``KOSTER_USES``).
        unstated: Whether that is allowed where a site states nothing (``KOSTER_UNSTATED``).
        marks_items: Whether items of pages that may not be used are marked, not dropped
            (``KOSTER_ITEMS``).
    """

    dialect: Dialect
    timeout: float
    max_interval: float
    unreachable: Unreachable
    html: Html
    retries: int
    uses: tuple[Use, ...]
    unstated: Unstated
    marks_items: bool


def read_settings(settings: Any) -> KosterSettings:
    """Return the settings of a crawler; values from the command line are strings.

    Raises:
        MissingExtraError: ``KOSTER_USES`` needs the extra ``signals``.
        ValueError: a value is invalid.
    """
    return KosterSettings(
        dialect=dialect_named(settings.get("KOSTER_DIALECT", "RFC9309")),
        timeout=_seconds(settings, "KOSTER_TIMEOUT", 10.0),
        max_interval=_seconds(settings, "KOSTER_MAX_INTERVAL", 300.0),
        unreachable=_choice(settings, "KOSTER_UNREACHABLE", Unreachable.DISALLOW),
        html=_choice(settings, "KOSTER_HTML", Html.NO_RULES),
        retries=_count(settings, "KOSTER_RETRY_UNREACHABLE"),
        uses=_uses(settings),
        unstated=_choice(settings, "KOSTER_UNSTATED", Unstated.DISALLOW),
        marks_items=_marks_items(settings),
    )


def _uses(settings: Any) -> tuple[Use, ...]:
    names = [name.strip() for name in settings.getlist("KOSTER_USES")]
    if not names:
        return ()
    try:
        found = uses_named(names)
    except ValueError as error:
        raise ValueError(f"KOSTER_USES: {error}") from None
    check_extra()
    return found


def _marks_items(settings: Any) -> bool:
    value = settings.get("KOSTER_ITEMS", "drop")
    if value not in ("drop", "mark"):
        raise ValueError(f'KOSTER_ITEMS must be "drop" or "mark", not {value!r}')
    return bool(value == "mark")


def check_alone(settings: Any) -> None:
    """Check that Scrapy's own middleware is off.

    Raises:
        ValueError: it is on: it would fetch each robots.txt again, and block other pages.
    """
    from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
    from scrapy.utils.misc import load_object

    active = settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    for key, priority in active.items():
        if priority is not None and load_object(key) is RobotsTxtMiddleware:
            raise ValueError(
                "Scrapy's own robots.txt middleware is on, beside that of koster: "
                f'set "{_OWN}": None in DOWNLOADER_MIDDLEWARES'
            )


def _seconds(settings: Any, name: str, default: float) -> float:
    value = settings.get(name, default)
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not seconds > 0 or (seconds == math.inf and name == "KOSTER_TIMEOUT"):
        raise ValueError(f"{name} must be a number of seconds above 0, not {value!r}")
    return seconds


def _count(settings: Any, name: str) -> int:
    value = settings.get(name, 0)
    try:
        count = -1 if isinstance(value, (bool, float)) else int(value)
    except (TypeError, ValueError):
        count = -1
    if count < 0:
        raise ValueError(f"{name} must be a whole number of tries, 0 or more, not {value!r}")
    return count


def _choice(settings: Any, name: str, default: Choice) -> Choice:
    value = settings.get(name, default)
    kind = type(default)
    try:
        return value if isinstance(value, kind) else kind(str(value).lower())
    except ValueError:
        allowed = " or ".join(f'"{each.value}"' for each in kind)
        raise ValueError(f"{name} must be {allowed}, not {value!r}") from None
