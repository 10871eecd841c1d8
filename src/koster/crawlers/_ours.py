"""The table of crawlers that ``ai-crawler-index`` lacks, or lists with another purpose.

Each entry has a source: the page of its operator, if there is one.
"""

from __future__ import annotations

from ._model import Crawler, Obeys, Purpose

_GOOGLE_SPECIAL = (
    "https://developers.google.com/search/docs/crawling-indexing/google-special-case-crawlers"
)
_BING = "https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0"
_YANDEX = "https://yandex.com/support/webmaster/en/robot-workings/check-yandex-robots"
_AMAZON = "https://crawlerpolicy.com/sources/amazonbot"

CRAWLERS = (
    # Search engines.
    Crawler("360Spider", "Qihoo 360", Purpose.SEARCH, Obeys.UNDOCUMENTED, "https://www.so.com/help/help_3_2.html"),
    Crawler("Sogou web spider", "Sogou", Purpose.SEARCH, Obeys.RULES, "https://www.sogou.com/docs/help/webmasters.htm"),
    Crawler("Slurp", "Yahoo", Purpose.SEARCH, Obeys.RULES, "https://help.yahoo.com/kb/SLN22600.html"),
    Crawler("coccocbot-web", "Cốc Cốc", Purpose.SEARCH, Obeys.RULES, "https://help.coccoc.com/en/search-engine/robots-txt"),
    # Assistants, and what people ask them for.
    Crawler("AzureAI-SearchBot", "Microsoft", Purpose.AI_SEARCH, Obeys.UNDOCUMENTED, "https://aicrawlercheck.com/directory/ai-bots/azureai-searchbot"),
    Crawler("Amzn-SearchBot", "Amazon", Purpose.AI_SEARCH, Obeys.RULES, _AMAZON),
    Crawler("Amzn-User", "Amazon", Purpose.USER_FETCH, Obeys.RULES, _AMAZON),
    # Amazon says that what Amazonbot fetches may train its models.
    Crawler("Amazonbot", "Amazon", Purpose.TRAINING, Obeys.RULES, _AMAZON),
    Crawler("PanguBot", "Huawei", Purpose.TRAINING, Obeys.UNDOCUMENTED, "https://webmasterid.com/ai-crawlers/huawei-pangubot"),
    # The index lists some of these as tools.
    Crawler("AdsBot-Google", "Google", Purpose.ADS, Obeys.OWN_GROUPS, _GOOGLE_SPECIAL),
    Crawler("AdsBot-Google-Mobile", "Google", Purpose.ADS, Obeys.OWN_GROUPS, _GOOGLE_SPECIAL),
    Crawler("Mediapartners-Google", "Google", Purpose.ADS, Obeys.OWN_GROUPS, _GOOGLE_SPECIAL),
    Crawler("AdsBot-Google-Mobile-Apps", "Google", Purpose.ADS, Obeys.OWN_GROUPS, _GOOGLE_SPECIAL),
    Crawler("YandexDirect", "Yandex", Purpose.ADS, Obeys.OWN_GROUPS, _YANDEX),
    Crawler("AdIdxBot", "Microsoft", Purpose.ADS, Obeys.RULES, _BING),
    # Cards of shared links.
    Crawler("Twitterbot", "X", Purpose.PREVIEW, Obeys.RULES, "https://developer.x.com/en/docs/x-for-websites/cards/guides/getting-started"),
)  # fmt: skip

#: Crawlers that reports list first.
WELL_KNOWN = (
    *("Googlebot", "bingbot", "DuckDuckBot", "YandexBot", "Baiduspider", "Applebot"),
    *("OAI-SearchBot", "PerplexityBot", "Claude-SearchBot", "ChatGPT-User", "Claude-User"),
    *("Perplexity-User", "GPTBot", "ClaudeBot", "Google-Extended", "meta-externalagent"),
    *("Applebot-Extended", "Bytespider", "Amazonbot", "CCBot", "archive.org_bot"),
    *("facebookexternalhit", "Twitterbot", "AdsBot-Google", "Mediapartners-Google"),
    *("AhrefsBot", "SemrushBot"),
)  # fmt: skip
