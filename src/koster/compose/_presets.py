"""Presets: what owners of sites most often want. To add one, add an entry to the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..crawlers import Purpose, known
from ._intentions import ALLOW, DISALLOW, Intentions

_SEARCH = "Search engines: people find your site there. Applebot, too; whether its pages train models is up to Applebot-Extended"
_AI_SEARCH = "AI search (OAI-SearchBot, Claude-SearchBot, PerplexityBot): assistants cite and link your pages"
_USER_REQUESTS = (
    "User requests (ChatGPT-User, Claude-User): somebody asked an assistant about your page"
)
_PREVIEWS = "Link previews: links to your site show a title and a picture"
_THE_REST = "Archives, SEO tools, ads and other tools"


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset.

    Attributes:
        name: Its name.
        title: What it does, in one sentence.
        allowed: Who stays allowed, and why.
        source: Where its paths come from, if it has some.
        intentions: Returns what it stands for; some need the registry of crawlers.
    """

    name: str
    title: str
    allowed: tuple[str, ...]
    source: str
    intentions: Callable[[], Intentions]


def _collectors() -> dict[str, str]:
    """Return the crawlers that collect data sets beside their main purpose."""
    return {
        each.token: DISALLOW
        for each in known()
        if Purpose.DATASET in each.purposes[1:] and each.purpose is not Purpose.TRAINING
    }


def _no_ai_training() -> Intentions:
    return Intentions(
        purposes={Purpose.TRAINING: DISALLOW, Purpose.DATASET: DISALLOW},
        names=_collectors(),
        signals=("ai-train=no",),
    )


def _block_ai() -> Intentions:
    return Intentions(
        purposes={
            Purpose.TRAINING: DISALLOW,
            Purpose.DATASET: DISALLOW,
            Purpose.AI_SEARCH: DISALLOW,
            Purpose.USER_FETCH: DISALLOW,
        },
        names=_collectors(),
        signals=("ai-train=no", "ai-input=no"),
    )


def _paths(closed: Iterable[str], opened: Iterable[str] = ()) -> Callable[[], Intentions]:
    intentions = Intentions(closed=tuple(closed), opened=tuple(opened))
    return lambda: intentions


_EVERYBODY = ("All crawlers, except on these paths",)

PRESETS = (
    Preset(
        "no-ai-training",
        "Block AI training and data sets; stay in search and AI search",
        (_SEARCH, _AI_SEARCH, _USER_REQUESTS, _PREVIEWS, _THE_REST),
        "",
        _no_ai_training,
    ),
    Preset(
        "block-ai",
        "Block AI training, data sets, AI search and user requests; stay in search engines",
        (_SEARCH, _PREVIEWS, _THE_REST),
        "",
        _block_ai,
    ),
    Preset(
        "allow-all",
        "Allow everything for all crawlers",
        ("All crawlers",),
        "",
        lambda: Intentions(others=ALLOW),
    ),
    Preset(
        "staging",
        "Block all crawlers from a site that is not public",
        ("Nobody. robots.txt does not hide a site: protect it with a password, too",),
        "",
        lambda: Intentions(others=DISALLOW),
    ),
    Preset(
        "wordpress",
        "Block the dashboard of WordPress",
        (*_EVERYBODY, "admin-ajax.php: themes and plugins need it on public pages"),
        "https://developer.wordpress.org/reference/functions/do_robots/",
        _paths(["/wp-admin/"], ["/wp-admin/admin-ajax.php"]),
    ),
    Preset(
        "shopify",
        "Block carts, checkouts, accounts, search results and filtered collections of Shopify",
        _EVERYBODY,
        "https://help.shopify.com/en/manual/promoting-marketing/seo/editing-robots-txt",
        _paths(
            [
                "/admin",
                "/cart",
                "/orders",
                "/checkout",
                "/account",
                "/search",
                "/policies/",
                "/collections/*sort_by*",
                "/collections/*+*",
                "/collections/*%2B*",
                "/blogs/*+*",
                "/blogs/*%2B*",
                "/*preview_theme_id*",
                "/*preview_script_id*",
            ]
        ),
    ),
    Preset(
        "magento",
        "Block checkouts, accounts, search results and session URLs of Magento",
        (*_EVERYBODY, "/static/ and /media/: pages need their style sheets, scripts and pictures"),
        "https://experienceleague.adobe.com/en/docs/commerce-operations/implementation-playbook/best-practices/launch/robots-txt",
        _paths(
            [
                "/checkout/",
                "/customer/",
                "/catalogsearch/",
                "/catalog/product_compare/",
                "/wishlist/",
                "/sendfriend/",
                "/review/",
                "/*SID=",
            ]
        ),
    ),
    Preset(
        "django",
        "Block the admin site and the account pages of Django",
        _EVERYBODY,
        "https://docs.djangoproject.com/en/stable/ref/contrib/admin/",
        _paths(["/admin/", "/accounts/"]),
    ),
)

_BY_NAME = {preset.name: preset for preset in PRESETS}


def intentions_of(names: Iterable[str]) -> Intentions:
    """Return what some presets stand for together.

    Raises:
        KeyError: there is no preset with a name.
        MissingExtraError: a preset needs the registry of crawlers, which is not installed.
    """
    found = Intentions()
    for name in names:
        found = combined(found, _BY_NAME[name].intentions())
    return found


def combined(first: Intentions, second: Intentions) -> Intentions:
    """Return the intentions of both; where they contradict each other, those of the second."""
    signals = {each.partition("=")[0]: each for each in (*first.signals, *second.signals)}
    return replace(
        second,
        purposes={**first.purposes, **second.purposes},
        names={**first.names, **second.names},
        others=first.others if second.others is None else second.others,
        closed=tuple(dict.fromkeys((*first.closed, *second.closed))),
        opened=tuple(dict.fromkeys((*first.opened, *second.opened))),
        delay=first.delay if second.delay is None else second.delay,
        sitemaps=tuple(dict.fromkeys((*first.sitemaps, *second.sitemaps))),
        signals=tuple(signals.values()),
    )
