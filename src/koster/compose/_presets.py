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
    Preset(
        "nextjs",
        "Block the API routes of Next.js",
        (
            *_EVERYBODY,
            "/_next/: pages need their style sheets, scripts and pictures",
            "/api/og: link previews get their pictures there",
            "Next.js suggests it for some API routes only. Do not use it if pages load their text from /api/",
        ),
        "https://nextjs.org/learn/seo/crawling-and-indexing/robots-txt",
        _paths(["/api/"], ["/api/og"]),
    ),
    Preset(
        "mediawiki",
        "Block edit pages, histories, diffs and searches of a MediaWiki with articles in /wiki/ and the rest in /w/",
        (
            *_EVERYBODY,
            "/w/load.php and pictures: articles need their style sheets, scripts and pictures",
        ),
        "https://www.mediawiki.org/wiki/Manual:Robots.txt",
        _paths(["/w/index.php?"]),
    ),
    Preset(
        "discourse",
        "Block the admin pages, logins, search results and API keys of Discourse",
        (
            *_EVERYBODY,
            "/assets/: pages need their style sheets and scripts",
            "What Discourse blocks for all but Googlebot, such as /badges and RSS feeds",
        ),
        "https://github.com/discourse/discourse/blob/main/app/controllers/robots_txt_controller.rb",
        _paths(
            [
                "/admin/",
                "/auth/",
                "/email/",
                "/search",
                "/session",
                "/user-api-key",
                "/*?*api_key",
            ]
        ),
    ),
    Preset(
        "drupal",
        "Block the admin, login, comment and search pages of Drupal",
        (
            *_EVERYBODY,
            "/core/ and /profiles/: Drupal blocks them except style sheets, scripts and pictures, which pages need",
        ),
        "https://github.com/drupal/drupal/blob/HEAD/core/assets/scaffold/files/robots.txt",
        _paths(
            [
                *(
                    f"{start}{path}"
                    for start in ("", "/index.php")
                    for path in (
                        "/admin/",
                        "/comment/reply/",
                        "/filter/tips",
                        "/node/add/",
                        "/search/",
                        "/user/register",
                        "/user/password",
                        "/user/login",
                        "/user/logout",
                    )
                ),
                "/media/oembed",
                "/*/media/oembed",
            ]
        ),
    ),
    Preset(
        "joomla",
        "Block the administration and the system folders of Joomla",
        (
            *_EVERYBODY,
            "/components/, /modules/ and /plugins/: Joomla blocks them, but extensions keep style sheets and scripts there",
        ),
        "https://github.com/joomla/joomla-cms/blob/HEAD/robots.txt.dist",
        _paths(
            [
                "/administrator/",
                "/api/",
                "/bin/",
                "/cache/",
                "/cli/",
                "/includes/",
                "/installation/",
                "/language/",
                "/layouts/",
                "/libraries/",
                "/logs/",
                "/tmp/",  # noqa: S108
            ]
        ),
    ),
    Preset(
        "ghost",
        "Block the admin pages, newsletter links, counters and webmentions of Ghost",
        _EVERYBODY,
        "https://github.com/TryGhost/Ghost/blob/main/ghost/core/core/frontend/public/robots.txt",
        _paths(
            [
                "/ghost/",
                "/email/",
                "/members/api/comments/counts/",
                "/r/",
                "/webmentions/receive/",
                "/.ghost/analytics/api/",
            ]
        ),
    ),
    Preset(
        "prestashop",
        "Block carts, orders, accounts, search results and sorted lists of PrestaShop",
        (
            *_EVERYBODY,
            "/modules/ and /js/: PrestaShop blocks them except style sheets, scripts and pictures, which pages need",
            "Carts and accounts at friendly URLs, such as /cart: their names depend on the language of the shop. Add them with --close",
        ),
        "https://github.com/PrestaShop/PrestaShop/blob/develop/classes/Tools.php",
        _paths(
            [
                *(
                    f"/*{sign}{name}="
                    for sign in "?&"
                    for name in ("order", "tag", "id_currency", "search_query", "back", "n")
                ),
                *(
                    f"/*controller={name}"
                    for name in (
                        "address",
                        "authentication",
                        "cart",
                        "discount",
                        "get-file",
                        "guest-tracking",
                        "history",
                        "identity",
                        "my-account",
                        "order",
                        "password",
                        "pdf-invoice",
                        "pdf-order-return",
                        "pdf-order-slip",
                        "registration",
                        "search",
                    )
                ),
            ]
        ),
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
