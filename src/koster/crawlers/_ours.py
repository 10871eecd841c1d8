"""The table of crawlers that ``ai-crawler-index`` lacks, or whose facts are outdated there.

Each entry has its source: the page of its operator, or of others if the operator has none. The
fallbacks are those that the operator documents on that page; ``*`` always comes last.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from ._model import Crawler, Obeys, Purpose, Verification

#: The days on which these sources were read. Pass ``checked`` for entries that are read later.
_crawler = partial(Crawler, checked="2026-11-22")
_read_later = partial(Crawler, checked="2026-11-30")

SEARCH, AI_SEARCH, USER_FETCH, TRAINING, DATASET = (
    Purpose.SEARCH,
    Purpose.AI_SEARCH,
    Purpose.USER_FETCH,
    Purpose.TRAINING,
    Purpose.DATASET,
)
ARCHIVE, PREVIEW, ADS, SEO, TOOL = (
    Purpose.ARCHIVE,
    Purpose.PREVIEW,
    Purpose.ADS,
    Purpose.SEO,
    Purpose.TOOL,
)
RULES, OWN_GROUPS, MAY_IGNORE = Obeys.RULES, Obeys.OWN_GROUPS, Obeys.MAY_IGNORE
NOTHING, CONTROL, UNDOCUMENTED, DISPUTED, RETIRED = (
    Obeys.NOTHING,
    Obeys.CONTROL,
    Obeys.UNDOCUMENTED,
    Obeys.DISPUTED,
    Obeys.RETIRED,
)

# Pages.
_GOOGLE_COMMON = (
    "https://developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers"
)
_GOOGLE_SPECIAL = (
    "https://developers.google.com/crawling/docs/crawlers-fetchers/google-special-case-crawlers"
)
_GOOGLE_USER = (
    "https://developers.google.com/crawling/docs/crawlers-fetchers/google-user-triggered-fetchers"
)
_MICROSOFT = "https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0"
_APPLE = "https://support.apple.com/en-us/119829"
_YANDEX = "https://www.yandex.com/support/webmaster/en/robot-workings/user-agent"
_YANDEX_ALICE = "https://yandex.ru/support/webmaster/en/alice"
_OPENAI = "https://developers.openai.com/api/docs/bots"
_ANTHROPIC = "https://support.claude.com/en/articles/8896518-does-anthropic-crawl-data-from-the-web-and-how-can-site-owners-block-the-crawler"
_META = "https://developers.facebook.com/docs/sharing/webmasters/web-crawlers/"
_META_SHARING = "https://developers.secure.facebook.com/docs/sharing/webmasters/crawler/"
_AMAZON = "https://developer.amazon.com/amazonbot"
_PERPLEXITY = "https://docs.perplexity.ai/docs/resources/perplexity-crawlers"
_MISTRAL_AI = "https://docs.mistral.ai/en/robots"
_MOONSHOT_AI = "https://www.kimi.com/policies/kimi-crawlers"
_KNOWN_BOTS = "https://github.com/arcjet/well-known-bots/blob/main/well-known-bots.json"
_COHERE = "https://docs.cohere.com/docs/cohere-web-crawlers"
_COMMUNITY_NOTES = "https://atiemppo.com/GEO-CRAWLER-NOTES/"
_COMMUNITY_LIST = "https://github.com/ai-robots-txt/ai.robots.txt/blob/main/robots.json"
_AHREFS = "https://ahrefs.com/robot"
_CLOUDFLARE = (
    "https://developers.cloudflare.com/ai-search/configuration/data-source/website/parse-types/"
)
_COC_COC = "https://help.coccoc.com/en/search-engine/robots-txt"
_DIFFBOT = "https://docs.diffbot.com/docs/does-crawl-respect-robotstxt"
_NAVER = "https://searchadvisor.naver.com/guide/seo-basic-firewall"
_OPEN_WEB_SEARCH_EU = "https://openwebsearch.eu/owler/"
_PARALLEL = "https://parallel.ai/parallel-web-systems-bots"
_QWANT = "https://help.qwant.com/bot"
_SLACK = "https://api.slack.com/robots"
_WEBZ_IO = "https://webz.io/bot.html"

# Ways to verify that a request comes from a crawler.
_GOOGLE_COMMON_CHECK = Verification(
    ranges=("https://developers.google.com/static/crawling/ipranges/common-crawlers.json",),
    domains=("googlebot.com",),
)
_GOOGLE_SPECIAL_CHECK = Verification(
    ranges=("https://developers.google.com/static/crawling/ipranges/special-crawlers.json",),
    domains=("google.com",),
)
_GOOGLE_USER_CHECK = Verification(
    ranges=(
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers-google.json",
    ),
    domains=("gae.googleusercontent.com", "google.com"),
)
_MICROSOFT_CHECK = Verification(
    ranges=("https://www.bing.com/toolbox/bingbot.json",), domains=("search.msn.com",)
)
_YANDEX_CHECK = Verification(
    ranges=("https://yandex.com/ips",), domains=("yandex.ru", "yandex.com")
)
_ANTHROPIC_CHECK = Verification(ranges=("https://claude.com/crawling/bots.json",))
_META_CHECK = Verification(ranges=("https://www.facebook.com/peering/geofeed",))
_SIGNED = Verification(signatures=True)
_AHREFS_CHECK = Verification(
    ranges=(
        "https://api.ahrefs.com/v3/public/crawler-ip-ranges",
        "https://api.ahrefs.com/v3/public/crawler-ips",
    ),
    domains=("ahrefs.com", "ahrefs.net"),
)
_COC_COC_CHECK = Verification(domains=("coccoc.com",))
_MOJEEK_CHECK = Verification(domains=("mojeek.com",))
_QWANT_CHECK = Verification(domains=("qwant.com",))

# What Amazon says about copies of a robots.txt: "Amazon will fetch host-level robots.txt files or
# use a cached copy from the last 30 days. When a file can't be fetched, Amazon will behave as if it
# does not exist." An earlier text lists why: blocked requests, parsing errors, timeouts, and 3xx,
# 4xx and 5xx.
_AMAZON_COPY = timedelta(days=30)
_AMAZON_NOTE = (
    "It may use a copy from the last 30 days while it cannot fetch the file; koster logs sees only "
    "the failures that a log has: no blocked connections, no timeouts and no parsing errors"
)

CRAWLERS = (
    # Google.
    _crawler("Googlebot", "Google", (SEARCH, AI_SEARCH), RULES, _GOOGLE_COMMON, verification=_GOOGLE_COMMON_CHECK, names=("Google Search", "AI Overviews", "AI Mode")),
    _crawler("Googlebot-Image", "Google", (SEARCH,), RULES, _GOOGLE_COMMON, falls_back_to=("Googlebot",), verification=_GOOGLE_COMMON_CHECK, names=("Google Images",)),
    _crawler("Googlebot-Video", "Google", (SEARCH,), RULES, _GOOGLE_COMMON, falls_back_to=("Googlebot",), verification=_GOOGLE_COMMON_CHECK, names=("Google Video",)),
    _crawler("Googlebot-News", "Google", (SEARCH,), RULES, _GOOGLE_COMMON, falls_back_to=("Googlebot",), verification=_GOOGLE_COMMON_CHECK, names=("Google News",)),
    _crawler("Storebot-Google", "Google", (SEARCH,), RULES, _GOOGLE_COMMON, verification=_GOOGLE_COMMON_CHECK, names=("Google Shopping", "Google StoreBot")),
    _crawler("Google-InspectionTool", "Google", (TOOL,), RULES, _GOOGLE_COMMON, falls_back_to=("Googlebot",), verification=_GOOGLE_COMMON_CHECK, names=("Search Console", "Rich Results Test")),
    _crawler("GoogleOther", "Google", (TOOL,), RULES, _GOOGLE_COMMON, verification=_GOOGLE_COMMON_CHECK),
    _crawler("GoogleOther-Image", "Google", (TOOL,), RULES, _GOOGLE_COMMON, falls_back_to=("GoogleOther",), verification=_GOOGLE_COMMON_CHECK),
    _crawler("GoogleOther-Video", "Google", (TOOL,), RULES, _GOOGLE_COMMON, falls_back_to=("GoogleOther",), verification=_GOOGLE_COMMON_CHECK),
    _crawler("Google-CloudVertexBot", "Google", (AI_SEARCH, TOOL), RULES, _GOOGLE_COMMON, falls_back_to=("Googlebot",), verification=_GOOGLE_COMMON_CHECK, names=("Vertex AI",)),
    _crawler("Google-Extended", "Google", (TRAINING, AI_SEARCH), CONTROL, _GOOGLE_COMMON, names=("Gemini", "Bard", "Vertex AI")),
    _read_later("APIs-Google", "Google", (TOOL,), OWN_GROUPS, _GOOGLE_SPECIAL, verification=_GOOGLE_SPECIAL_CHECK),
    _read_later("AdsBot-Google", "Google", (ADS,), OWN_GROUPS, _GOOGLE_SPECIAL, verification=_GOOGLE_SPECIAL_CHECK, names=("Google Ads",)),
    _read_later("AdsBot-Google-Mobile", "Google", (ADS,), OWN_GROUPS, _GOOGLE_SPECIAL, verification=_GOOGLE_SPECIAL_CHECK, names=("Google Ads",)),
    _read_later("AdsBot-Google-Mobile-Apps", "Google", (ADS,), OWN_GROUPS, _GOOGLE_SPECIAL, falls_back_to=("AdsBot-Google",), verification=_GOOGLE_SPECIAL_CHECK, names=("Google Ads",)),
    _read_later("Mediapartners-Google", "Google", (ADS,), OWN_GROUPS, _GOOGLE_SPECIAL, verification=_GOOGLE_SPECIAL_CHECK, names=("AdSense", "Google AdSense", "Google Ad Manager")),
    _read_later("Google-Safety", "Google", (TOOL,), NOTHING, _GOOGLE_SPECIAL, verification=_GOOGLE_SPECIAL_CHECK),
    _read_later("Google-CWS", "Google", (TOOL,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("Chrome Web Store",)),
    _read_later("FeedFetcher-Google", "Google", (TOOL,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("Google News", "WebSub")),
    _read_later("Google-Agent", "Google", (USER_FETCH,), MAY_IGNORE, _GOOGLE_USER, verification=Verification(ranges=("https://developers.google.com/static/crawling/ipranges/user-triggered-agents.json",), domains=("gae.googleusercontent.com", "google.com"), signatures=True), names=("Gemini", "Project Mariner")),
    _read_later("GoogleMessages", "Google", (PREVIEW,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("Google Messages",)),
    _read_later("Google-GeminiNotebook", "Google", (USER_FETCH,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("NotebookLM", "Gemini Notebook")),
    _read_later("Google-NotebookLM", "Google", (USER_FETCH,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("NotebookLM",), successor="Google-GeminiNotebook"),
    _read_later("Google-Pinpoint", "Google", (USER_FETCH,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("Pinpoint",)),
    _read_later("GoogleProducer", "Google", (TOOL,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("Google Publisher Center", "Google News")),
    _read_later("Google-Read-Aloud", "Google", (USER_FETCH,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("Read Aloud",)),
    _read_later("Google-Site-Verification", "Google", (TOOL,), MAY_IGNORE, _GOOGLE_USER, verification=_GOOGLE_USER_CHECK, names=("Search Console",)),
    # Microsoft.
    _crawler("bingbot", "Microsoft", (SEARCH, AI_SEARCH), RULES, _MICROSOFT, verification=_MICROSOFT_CHECK, names=("Bing", "Copilot")),
    _crawler("AdIdxBot", "Microsoft", (ADS,), RULES, _MICROSOFT, verification=_MICROSOFT_CHECK, names=("Bing", "Bing Ads")),
    _crawler("BingPreview", "Microsoft", (PREVIEW,), RULES, _MICROSOFT, verification=_MICROSOFT_CHECK, names=("Bing",)),
    _crawler("MicrosoftPreview", "Microsoft", (PREVIEW,), RULES, _MICROSOFT, names=("Teams", "Outlook")),
    _crawler("BingVideoPreview", "Microsoft", (PREVIEW,), RULES, _MICROSOFT, names=("Bing",)),
    _crawler("AzureAI-SearchBot", "Microsoft", (AI_SEARCH,), UNDOCUMENTED, "https://aicrawlercheck.com/directory/ai-bots/azureai-searchbot", checked="2026-11-21"),
    # Apple.
    _crawler("Applebot", "Apple", (SEARCH, AI_SEARCH, TRAINING), RULES, _APPLE, falls_back_to=("Googlebot",), verification=Verification(ranges=("https://search.developer.apple.com/applebot.json",), domains=("applebot.apple.com",)), names=("Siri", "Spotlight", "Safari")),
    _crawler("Applebot-Extended", "Apple", (TRAINING,), CONTROL, _APPLE, names=("Apple Intelligence",)),
    _crawler("iTMS", "Apple", (TOOL,), NOTHING, _APPLE, verification=Verification(domains=("applebot.apple.com",)), names=("Apple Podcasts",)),
    # Yandex.
    _crawler("YandexBot", "Yandex", (SEARCH, AI_SEARCH), RULES, _YANDEX, falls_back_to=("Yandex",), verification=_YANDEX_CHECK, names=("Alice",)),
    _crawler("YandexImages", "Yandex", (SEARCH,), RULES, _YANDEX, falls_back_to=("Yandex",), verification=_YANDEX_CHECK),
    _crawler("YandexVideo", "Yandex", (SEARCH,), RULES, _YANDEX, falls_back_to=("Yandex",), verification=_YANDEX_CHECK),
    _crawler("YandexMedia", "Yandex", (SEARCH,), RULES, _YANDEX, falls_back_to=("Yandex",), verification=_YANDEX_CHECK),
    _crawler("YandexBlogs", "Yandex", (SEARCH,), RULES, _YANDEX, falls_back_to=("Yandex",), verification=_YANDEX_CHECK),
    _crawler("YandexWebmaster", "Yandex", (TOOL,), RULES, _YANDEX, falls_back_to=("Yandex",), verification=_YANDEX_CHECK),
    _crawler("YandexMarket", "Yandex", (SEARCH,), RULES, _YANDEX, falls_back_to=("Yandex",), verification=_YANDEX_CHECK, names=("Yandex Market",)),
    _crawler("YandexMobileBot", "Yandex", (TOOL,), OWN_GROUPS, _YANDEX, verification=_YANDEX_CHECK),
    _crawler("YandexCalendar", "Yandex", (USER_FETCH,), OWN_GROUPS, _YANDEX, verification=_YANDEX_CHECK),
    _crawler("YandexFavicons", "Yandex", (SEARCH,), OWN_GROUPS, _YANDEX, verification=_YANDEX_CHECK),
    _crawler("YandexScreenshotBot", "Yandex", (TOOL,), OWN_GROUPS, _YANDEX, verification=_YANDEX_CHECK),
    _crawler("YandexRenderResourcesBot", "Yandex", (SEARCH,), OWN_GROUPS, _YANDEX, verification=_YANDEX_CHECK),
    _crawler("YandexComBot", "Yandex", (SEARCH,), OWN_GROUPS, _YANDEX, verification=_YANDEX_CHECK),
    _crawler("YandexDirect", "Yandex", (ADS,), OWN_GROUPS, _YANDEX, verification=_YANDEX_CHECK, names=("Yandex Direct", "Yandex Advertising Network")),
    _crawler("YandexMetrika", "Yandex", (TOOL,), MAY_IGNORE, _YANDEX, verification=_YANDEX_CHECK, names=("Yandex Metrica",)),
    _crawler("YandexAdditional", "Yandex", (AI_SEARCH,), CONTROL, _YANDEX_ALICE, names=("Alice", "Yandex AI")),
    _crawler("YandexAdditionalBot", "Yandex", (AI_SEARCH,), CONTROL, _YANDEX_ALICE, names=("Alice", "Yandex AI")),
    # OpenAI.
    _crawler("GPTBot", "OpenAI", (TRAINING,), RULES, _OPENAI, verification=Verification(ranges=("https://openai.com/gptbot.json",)), names=("ChatGPT", "GPT")),
    _crawler("OAI-SearchBot", "OpenAI", (AI_SEARCH,), RULES, _OPENAI, verification=Verification(ranges=("https://openai.com/searchbot.json",)), names=("ChatGPT", "ChatGPT search", "SearchGPT")),
    _crawler("ChatGPT-User", "OpenAI", (USER_FETCH,), MAY_IGNORE, _OPENAI, verification=Verification(ranges=("https://openai.com/chatgpt-user.json",)), names=("ChatGPT", "Custom GPTs", "GPT Actions")),
    _read_later("OAI-AdsBot", "OpenAI", (ADS,), RULES, "https://help.openai.com/en/articles/20001243-advertiser-guidance-for-allowing-openai-web-crawlers", verification=Verification(ranges=("https://openai.com/adsbot.json",)), names=("ChatGPT", "ChatGPT ads")),
    _read_later("ChatGPT Agent", "OpenAI", (USER_FETCH,), UNDOCUMENTED, "https://help.openai.com/en/articles/11845367-chatgpt-agent-allowlisting", verification=_SIGNED, names=("ChatGPT",), note='Its operator names no product token: its requests have the header Signature-Agent: "https://chatgpt.com"'),
    # Anthropic.
    _read_later("ClaudeBot", "Anthropic", (TRAINING,), RULES, _ANTHROPIC, verification=_ANTHROPIC_CHECK, names=("Claude",)),
    _read_later("Claude-SearchBot", "Anthropic", (AI_SEARCH,), RULES, _ANTHROPIC, verification=_ANTHROPIC_CHECK, names=("Claude",)),
    _read_later("Claude-User", "Anthropic", (USER_FETCH,), RULES, _ANTHROPIC, verification=_ANTHROPIC_CHECK, names=("Claude", "Claude Code")),
    _read_later("anthropic-ai", "Anthropic", (TRAINING,), RETIRED, _ANTHROPIC),
    _read_later("Claude-Web", "Anthropic", (AI_SEARCH,), RETIRED, _ANTHROPIC),
    # Meta.
    _crawler("meta-externalagent", "Meta", (TRAINING, AI_SEARCH), RULES, _META, names=("Meta AI", "Llama", "Facebook", "Instagram", "WhatsApp")),
    _crawler("meta-externalfetcher", "Meta", (USER_FETCH,), MAY_IGNORE, _META, verification=_META_CHECK, names=("Meta AI", "Llama", "Facebook", "WhatsApp")),
    _crawler("meta-webindexer", "Meta", (AI_SEARCH,), RULES, _META, names=("Meta AI", "Llama", "Facebook")),
    _crawler("meta-externalads", "Meta", (ADS,), RULES, "https://crawlerpolicy.com/sources/meta-externalagent", names=("Facebook", "Facebook ads")),
    _crawler("facebookexternalhit", "Meta", (PREVIEW,), MAY_IGNORE, _META_SHARING, verification=_META_CHECK, names=("Facebook", "Instagram", "Messenger")),
    _crawler("FacebookBot", "Meta", (TRAINING,), UNDOCUMENTED, "https://developers.facebook.com/docs/sharing/bot/", names=("Facebook",), successor="meta-externalagent"),
    _crawler("facebookcatalog", "Meta", (PREVIEW,), MAY_IGNORE, _META_SHARING, names=("Facebook",)),
    # Amazon.
    _read_later("Amazonbot", "Amazon", (TRAINING, AI_SEARCH), RULES, _AMAZON, verification=Verification(ranges=("https://developer.amazon.com/amazonbot/ip-addresses/",), domains=("crawl.amazonbot.amazon",)), names=("Alexa", "Rufus"), old_copy=_AMAZON_COPY, note=_AMAZON_NOTE),
    _read_later("Amzn-SearchBot", "Amazon", (AI_SEARCH,), RULES, _AMAZON, verification=Verification(ranges=("https://developer.amazon.com/amazonbot/searchbot-ip-addresses/",)), names=("Alexa", "Rufus"), old_copy=_AMAZON_COPY, note=_AMAZON_NOTE),
    _read_later("Amzn-User", "Amazon", (USER_FETCH,), MAY_IGNORE, _AMAZON, verification=Verification(ranges=("https://developer.amazon.com/amazonbot/live-ip-addresses/",)), names=("Alexa",), old_copy=_AMAZON_COPY, note=_AMAZON_NOTE),
    _crawler("bedrockbot", "Amazon", (AI_SEARCH,), RULES, "https://docs.aws.amazon.com/bedrock/latest/userguide/webcrawl-data-source-connector.html", names=("AWS", "Bedrock")),
    _crawler("amazon-QBusiness", "Amazon", (AI_SEARCH,), RULES, "https://docs.aws.amazon.com/amazonq/latest/business-use-dg/stop-web-crawler.html", names=("AWS", "Amazon Q")),
    _read_later("amazon-kendra", "Amazon", (AI_SEARCH,), RULES, "https://docs.aws.amazon.com/kendra/latest/dg/stop-web-crawler.html", names=("AWS", "Amazon Kendra")),
    _read_later("AmazonAdBot", "Amazon", (ADS,), RULES, "https://adbot.amazon.com/", verification=Verification(domains=("amazonadbot.com",)), names=("Amazon Ads",)),
    _read_later("NovaAct", "Amazon", (USER_FETCH,), UNDOCUMENTED, "https://github.com/aws/nova-act", names=("AWS", "Nova Act"), note="Its User-Agent header has Agent-NovaAct, which koster logs does not recognize"),
    # Perplexity.
    _read_later("PerplexityBot", "Perplexity", (AI_SEARCH,), RULES, _PERPLEXITY, verification=Verification(ranges=("https://www.perplexity.com/perplexitybot.json",))),
    _read_later("Perplexity-User", "Perplexity", (USER_FETCH,), MAY_IGNORE, _PERPLEXITY, verification=Verification(ranges=("https://www.perplexity.com/perplexity-user.json",)), names=("Comet",)),
    # Mistral AI.
    _crawler("MistralAI-User", "Mistral AI", (USER_FETCH,), RULES, _MISTRAL_AI, verification=Verification(ranges=("https://mistral.ai/mistralai-user-ips.json",)), names=("Mistral", "Le Chat", "Vibe")),
    _crawler("MistralAI-Index", "Mistral AI", (AI_SEARCH,), RULES, _MISTRAL_AI, verification=Verification(ranges=("https://mistral.ai/mistralai-index-ips.json",)), names=("Mistral", "Le Chat", "Vibe")),
    _crawler("MistralAI-Training", "Mistral AI", (TRAINING,), RULES, _MISTRAL_AI, names=("Mistral", "Le Chat", "Vibe")),
    # Moonshot AI.
    _crawler("KimiBot", "Moonshot AI", (TRAINING,), RULES, _MOONSHOT_AI, verification=Verification(ranges=("https://www.kimi.ai/policies/kimibot.json",)), names=("Kimi", "Moonshot")),
    _crawler("Kimi-SearchBot", "Moonshot AI", (AI_SEARCH,), RULES, _MOONSHOT_AI, verification=Verification(ranges=("https://www.kimi.ai/policies/kimi-searchbot.json",)), names=("Kimi", "Moonshot")),
    _crawler("Kimi-User", "Moonshot AI", (USER_FETCH,), MAY_IGNORE, _MOONSHOT_AI, verification=Verification(ranges=("https://www.kimi.ai/policies/kimi-user.json",)), names=("Kimi", "Moonshot")),
    # Cohere.
    _crawler("cohere-ai", "Cohere", (USER_FETCH,), UNDOCUMENTED, _COHERE, names=("Command",), successor="Coherebot"),
    _crawler("cohere-training-data-crawler", "Cohere", (TRAINING,), UNDOCUMENTED, _COHERE, names=("Command",), successor="Coherebot"),
    _crawler("Coherebot", "Cohere", (TRAINING,), UNDOCUMENTED, _COHERE, names=("Command",)),
    # xAI.
    _crawler("GrokBot", "xAI", (TRAINING,), UNDOCUMENTED, _COMMUNITY_NOTES, names=("Grok", "X", "Twitter")),
    _crawler("xAI-Grok", "xAI", (TRAINING,), UNDOCUMENTED, _COMMUNITY_NOTES, names=("Grok", "X", "Twitter")),
    _crawler("Grok-DeepSearch", "xAI", (USER_FETCH,), UNDOCUMENTED, "https://datafa.st/crawlers/xai-grok-deepsearch", names=("Grok", "X", "Twitter")),
    # DeepSeek.
    _crawler("DeepSeekBot", "DeepSeek", (TRAINING,), UNDOCUMENTED, _COMMUNITY_LIST),
    # ByteDance.
    _crawler("Bytespider", "ByteDance", (TRAINING, SEARCH), DISPUTED, "https://robotstxtstudio.com/crawlers/bytespider", names=("TikTok", "Doubao", "Toutiao", "Douyin")),
    # Ahrefs.
    _read_later("AhrefsBot", "Ahrefs", (SEO, SEARCH), RULES, _AHREFS, verification=_AHREFS_CHECK, names=("Yep",)),
    _read_later("AhrefsSiteAudit", "Ahrefs", (SEO,), RULES, _AHREFS, verification=_AHREFS_CHECK),
    # Ai2.
    _read_later("AI2Bot-DeepResearchEval", "Allen Institute for AI", (USER_FETCH,), UNDOCUMENTED, "https://github.com/rlresearch/dr-tulu", names=("Ai2", "DR Tulu")),
    # Alibaba.
    _crawler("QwenBot", "Alibaba", (TRAINING, AI_SEARCH), UNDOCUMENTED, "https://www.xseek.io/docs/qwen-user-agents", names=("Qwen", "Tongyi")),
    # Arquivo.pt.
    _crawler("Arquivo-web-crawler", "Arquivo.pt", (ARCHIVE,), UNDOCUMENTED, "https://usehall.com/agents/arquivo-web-crawler"),
    # Brave.
    _crawler("Bravebot", "Brave", (SEARCH, AI_SEARCH), RULES, "https://search.brave.com/help/brave-search-crawler", falls_back_to=("Googlebot",), names=("Brave Search", "Leo")),
    # Bright Data.
    _crawler("Brightbot", "Bright Data", (DATASET,), DISPUTED, "https://docs.brightdata.com/general/brightbot_webmaster"),
    # Cloudflare.
    _read_later("Cloudflare-AI-Search", "Cloudflare", (AI_SEARCH,), RULES, _CLOUDFLARE, names=("AutoRAG", "AI Search")),
    _read_later("Cloudflare-AI-Search-External", "Cloudflare", (AI_SEARCH,), RULES, _CLOUDFLARE, names=("AutoRAG", "AI Search")),
    _read_later("Cloudflare-AutoRAG", "Cloudflare", (AI_SEARCH,), RETIRED, "https://developers.cloudflare.com/changelog/post/2025-09-25-ai-search-more-models/", names=("AutoRAG",), successor="Cloudflare-AI-Search"),
    _crawler("CloudflareBrowserRenderingCrawler", "Cloudflare", (TOOL,), RULES, "https://developers.cloudflare.com/changelog/2026-03-10-br-crawl-endpoint", verification=_SIGNED, names=("Browser Run",)),
    # Cognition.
    _crawler("Devin", "Cognition", (USER_FETCH,), UNDOCUMENTED, _COMMUNITY_LIST),
    # Common Crawl.
    _crawler("CCBot", "Common Crawl", (DATASET, ARCHIVE), RULES, "https://commoncrawl.org/faq", verification=Verification(ranges=("https://index.commoncrawl.org/ccbot.json",), domains=("crawl.commoncrawl.org",))),
    # Cốc Cốc.
    _crawler("coccocbot-web", "Cốc Cốc", (SEARCH,), RULES, _COC_COC, falls_back_to=("coccocbot",), verification=_COC_COC_CHECK, names=("Coc Coc",)),
    _crawler("coccocbot-image", "Cốc Cốc", (SEARCH,), RULES, _COC_COC, falls_back_to=("coccocbot",), verification=_COC_COC_CHECK, names=("Coc Coc",)),
    _crawler("coccocbot-fast", "Cốc Cốc", (SEARCH,), RULES, _COC_COC, falls_back_to=("coccocbot",), verification=_COC_COC_CHECK, names=("Coc Coc",)),
    _crawler("coccocbot-ads", "Cốc Cốc", (ADS,), RULES, _COC_COC, falls_back_to=("coccocbot",), verification=_COC_COC_CHECK, names=("Coc Coc",)),
    _crawler("coccocbot-shopping", "Cốc Cốc", (SEARCH,), RULES, _COC_COC, falls_back_to=("coccocbot",), verification=_COC_COC_CHECK, names=("Coc Coc",)),
    # Diffbot.
    _crawler("Diffbot", "Diffbot", (SEARCH, DATASET), RULES, _DIFFBOT),
    _crawler("Diffbot-User", "Diffbot", (USER_FETCH,), UNDOCUMENTED, _DIFFBOT),
    # Discord.
    _read_later("Discordbot", "Discord", (PREVIEW,), UNDOCUMENTED, _KNOWN_BOTS),
    # DuckDuckGo.
    _read_later("DuckDuckBot", "DuckDuckGo", (SEARCH,), RULES, "https://duckduckgo.com/duckduckgo-help-pages/results/duckduckbot/", verification=Verification(ranges=("https://duckduckgo.com/duckduckbot.json",))),
    _read_later("DuckAssistBot", "DuckDuckGo", (AI_SEARCH,), RULES, "https://duckduckgo.github.io/duckduckgo-help-pages/results/duckassistbot/", verification=Verification(ranges=("https://duckduckgo.com/duckassistbot.json",), signatures=True), names=("DuckAssist", "Search Assist", "Duck.ai"), change_delay=timedelta(hours=72)),
    # Exa.
    _crawler("ExaSearchBot", "Exa", (AI_SEARCH,), UNDOCUMENTED, _COMMUNITY_LIST, verification=_SIGNED),
    # Huawei.
    _crawler("PetalBot", "Huawei", (SEARCH, AI_SEARCH), RULES, "https://aspiegel.com/petalbot", verification=Verification(domains=("petalsearch.com", "aspiegel.com")), names=("Petal", "Petal Search", "Celia")),
    _crawler("PanguBot", "Huawei", (TRAINING,), UNDOCUMENTED, "https://webmasterid.com/ai-crawlers/huawei-pangubot", checked="2026-11-21"),
    # Hunter (Velen).
    _crawler("VelenPublicWebCrawler", "Hunter (Velen)", (DATASET,), RULES, "https://velen.io/", names=("Hunter", "Velen")),
    # img2dataset (project).
    _crawler("img2dataset", "img2dataset (project)", (DATASET,), NOTHING, "https://github.com/rom1504/img2dataset", names=("LAION",)),
    # Internet Archive.
    _crawler("ia_archiver", "Internet Archive", (ARCHIVE,), DISPUTED, "https://www.archive.org/about/exclude.php", names=("Wayback Machine", "Alexa"), successor="archive.org_bot"),
    # Kagi.
    _crawler("kagi-fetcher", "Kagi", (USER_FETCH,), UNDOCUMENTED, _COMMUNITY_LIST),
    _crawler("Kagibot", "Kagi", (SEARCH,), RULES, "https://kagi.com/bot", falls_back_to=("Googlebot",), verification=Verification(domains=("kagibot.org",))),
    # Linkup.
    _crawler("LinkupBot", "Linkup", (AI_SEARCH,), UNDOCUMENTED, _COMMUNITY_LIST),
    # Mail.ru (VK).
    _crawler("Mail.RU_Bot", "Mail.ru (VK)", (SEARCH,), RULES, "https://trackabot.com/bot/mail.ru_bot/", verification=Verification(domains=("mail.ru",)), names=("Mail.ru",)),
    # Majestic.
    _crawler("MJ12bot", "Majestic", (SEO,), RULES, "https://mj12bot.com"),
    # Manus (Butterfly Effect).
    _crawler("Manus-User", "Manus (Butterfly Effect)", (USER_FETCH,), UNDOCUMENTED, _COMMUNITY_LIST, names=("Manus",)),
    # Mojeek.
    _crawler("MojeekBot", "Mojeek", (SEARCH,), RULES, "https://www.mojeek.com/bot.html", verification=_MOJEEK_CHECK),
    _crawler("FeedFetcher-Mojeek", "Mojeek", (SEARCH,), UNDOCUMENTED, "https://www.mojeek.de/support/search/crawling/feedfetcher.html", verification=_MOJEEK_CHECK),
    # Mozilla.
    _read_later("Mozilla-Tabstack", "Mozilla", (TOOL,), OWN_GROUPS, "https://docs.tabstack.ai/trust/controlling-access", names=("Tabstack",)),
    # Moz.
    _crawler("rogerbot", "Moz", (SEO,), RULES, "https://moz.com/help/moz-procedures/crawlers/rogerbot"),
    _crawler("dotbot", "Moz", (SEO,), RULES, "https://moz.com/help/guides/moz-procedures/what-is-rogerbot"),
    # Naver.
    _crawler("Yeti", "Naver", (SEARCH,), UNDOCUMENTED, _NAVER),
    _crawler("Ads-Naver", "Naver", (ADS,), UNDOCUMENTED, _NAVER),
    _crawler("Blueno", "Naver", (PREVIEW,), UNDOCUMENTED, _NAVER),
    # Open Web Search EU.
    _crawler("Owler", "Open Web Search EU", (SEARCH, DATASET), UNDOCUMENTED, _OPEN_WEB_SEARCH_EU, names=("OpenWebSearch",)),
    _crawler("GenAI", "Open Web Search EU", (TRAINING,), CONTROL, _OPEN_WEB_SEARCH_EU, names=("OpenWebSearch",)),
    # Parallel.
    _crawler("ShapBot", "Parallel", (AI_SEARCH,), RULES, _PARALLEL, verification=Verification(ranges=("https://docs.parallel.ai/resources/shapbot.json",))),
    _crawler("Shap-User", "Parallel", (USER_FETCH,), MAY_IGNORE, _PARALLEL),
    # Pinterest.
    _crawler("Pinterestbot", "Pinterest", (SEARCH, PREVIEW), RULES, "https://help.pinterest.com/nb/business/article/pinterest-crawler", verification=Verification(domains=("pinterest.com",))),
    # Qihoo 360.
    _crawler("360Spider", "Qihoo 360", (SEARCH,), UNDOCUMENTED, "https://www.so.com/help/help_3_2.html", checked="2026-11-21"),
    # Qwant.
    _crawler("Qwantbot", "Qwant", (SEARCH,), RULES, _QWANT, verification=_QWANT_CHECK),
    _crawler("Qwantbot-news", "Qwant", (SEARCH,), RULES, _QWANT, verification=_QWANT_CHECK, names=("Qwant News",)),
    _crawler("Qwantify", "Qwant", (SEARCH,), RULES, "https://help.qwant.com/bot/", verification=_QWANT_CHECK, successor="Qwantbot"),
    # SE Ranking.
    _crawler("BLEXBot", "SE Ranking", (SEO,), RULES, "https://help.seranking.com/hc/en-us/articles/17126130916636-BLEXBot-Crawler", verification=Verification(domains=("seranking.com",)), names=("WebMeUp",)),
    # Semrush.
    _crawler("SemrushBot", "Semrush", (SEO,), RULES, "https://zh.semrush.com/bot/"),
    # Serpstat.
    _crawler("serpstatbot", "Serpstat", (SEO,), RULES, "https://serpstatbot.com/"),
    # Seznam.
    _crawler("SeznamBot", "Seznam", (SEARCH,), RULES, "https://o-seznam.cz/napoveda/vyhledavani/en/crawling-control", verification=Verification(domains=("seznam.cz",))),
    _crawler("SeznamReadLaterBot", "Seznam", (PREVIEW,), UNDOCUMENTED, "https://napoveda.seznam.cz/en/seznambot-crawler"),
    # Slack.
    _crawler("Slackbot-LinkExpanding", "Slack", (PREVIEW,), NOTHING, _SLACK),
    _crawler("Slackbot", "Slack", (TOOL, PREVIEW), NOTHING, _SLACK),
    _crawler("Slack-ImgProxy", "Slack", (PREVIEW,), NOTHING, _SLACK),
    # Sogou.
    _crawler("Sogou web spider", "Sogou", (SEARCH,), RULES, "https://www.sogou.com/docs/help/webmasters.htm", checked="2026-11-21"),
    # Stripe.
    _read_later("Stripebot", "Stripe", (TOOL,), RULES, "https://docs.stripe.com/stripebot-crawler", verification=Verification(domains=("crawl.stripe.com",))),
    # Tavily.
    _crawler("TavilyBot", "Tavily", (AI_SEARCH,), RULES, "https://docs.tavily.com/documentation/search-crawler", falls_back_to=("Googlebot",)),
    # Telegram.
    _read_later("TelegramBot", "Telegram", (PREVIEW,), UNDOCUMENTED, _KNOWN_BOTS),
    # Turnitin.
    _crawler("TurnitinBot", "Turnitin", (TOOL,), RULES, "https://turnitin.com/robot/crawlerinfo.html", names=("iThenticate",)),
    # Webz.io.
    _crawler("webzio", "Webz.io", (DATASET,), UNDOCUMENTED, _WEBZ_IO, names=("Omgili",)),
    _crawler("webzio-extended", "Webz.io", (TRAINING,), CONTROL, _WEBZ_IO, names=("Omgili",)),
    # X.
    _crawler("Twitterbot", "X", (PREVIEW,), RULES, "https://developer.x.com/en/docs/x-for-websites/cards/guides/getting-started", checked="2026-11-21"),
    # Yahoo.
    _crawler("Slurp", "Yahoo", (SEARCH,), RULES, "https://help.yahoo.com/kb/search-for-desktop/SLN22600.html", names=("Yahoo Search",)),
    # You.com.
    _crawler("YouBot", "You.com", (SEARCH, AI_SEARCH), RULES, "https://docs.you.com/youbot", verification=_SIGNED),
    # Zhipu AI.
    _crawler("ChatGLM-Spider", "Zhipu AI", (TRAINING,), UNDOCUMENTED, _COMMUNITY_LIST, names=("Zhipu", "ChatGLM", "Z.ai")),
)  # fmt: skip

#: Crawlers that reports list first.
WELL_KNOWN = (
    "Googlebot", "bingbot", "DuckDuckBot", "YandexBot", "Baiduspider", "Applebot",
    "OAI-SearchBot", "PerplexityBot", "Claude-SearchBot", "ChatGPT-User", "Claude-User",
    "Perplexity-User", "GPTBot", "ClaudeBot", "Google-Extended", "meta-externalagent",
    "Applebot-Extended", "Bytespider", "Amazonbot", "CCBot", "archive.org_bot",
    "facebookexternalhit", "Twitterbot", "AdsBot-Google", "Mediapartners-Google",
    "AhrefsBot", "SemrushBot",
)  # fmt: skip
