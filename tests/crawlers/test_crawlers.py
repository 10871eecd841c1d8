"""The registry of crawlers: facts with sources, fallback chains, and names that people use."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import koster
import koster.bulk
from koster import crawlers
from koster._cli.root import koster as command
from koster._reports.agents import Agents
from koster._reports.registry import render
from koster._worker import answers
from koster.audit import audit
from koster.crawlers import Crawler, Obeys, Purpose, _ours
from koster.diff import compare
from koster.expectations import Expectation, Expectations, check
from koster.logs._identity import Identities


def test_registry_is_consistent() -> None:
    known = crawlers.known()
    assert len({each.token.lower() for each in known}) == len(known) > 200
    assert {each.purpose for each in known} == set(Purpose)
    assert {each.obeys for each in known} == set(Obeys)
    assert crawlers.named("gptbot") == crawlers.named("GPTBot")
    assert crawlers.named("nobody") is None
    assert {each.token for each in crawlers.of_purposes([Purpose.ADS])} >= {"AdsBot-Google"}


def test_every_fact_has_a_source_and_a_day() -> None:
    for crawler in crawlers.known():
        _check_facts(crawler)


def _check_facts(crawler: Crawler) -> None:
    assert crawler.source.startswith("https://")
    assert date(2026, 9, 1) <= date.fromisoformat(crawler.checked) <= date(2030, 1, 1)
    assert crawler.purposes
    assert len(set(crawler.purposes)) == len(crawler.purposes)
    assert crawler.operator
    assert all(url.startswith("https://") for url in crawler.verification.ranges)
    assert all(re.fullmatch(r"[a-z0-9.-]+", each) for each in crawler.verification.domains)
    assert crawler.token not in crawler.falls_back_to
    assert crawler.successor != crawler.token


def test_table_has_each_token_once() -> None:
    tokens = [each.token.lower() for each in _ours.CRAWLERS]
    assert len(set(tokens)) == len(tokens)
    assert set(_ours.WELL_KNOWN) <= {each.token for each in crawlers.known()}


def _facts(token: str) -> tuple[Obeys, list[Purpose]]:
    crawler = crawlers.named(token)
    assert crawler is not None
    return crawler.obeys, list(crawler.purposes)


def test_corrections_of_the_index() -> None:
    assert _facts("ChatGPT-User") == (Obeys.MAY_IGNORE, [Purpose.USER_FETCH])
    assert _facts("Meta-ExternalFetcher") == (Obeys.MAY_IGNORE, [Purpose.USER_FETCH])
    assert _facts("OAI-AdsBot") == (Obeys.RULES, [Purpose.ADS])
    assert _facts("DeepSeekBot") == (Obeys.UNDOCUMENTED, [Purpose.TRAINING])
    assert _facts("Amazonbot") == (Obeys.RULES, [Purpose.TRAINING, Purpose.AI_SEARCH])
    assert _facts("Bytespider") == (Obeys.DISPUTED, [Purpose.TRAINING, Purpose.SEARCH])
    assert _facts("Applebot")[1] == [Purpose.SEARCH, Purpose.AI_SEARCH, Purpose.TRAINING]
    assert _facts("AdsBot-Google")[0] is Obeys.OWN_GROUPS


#: Facts of operators' pages, by token.
RULES, OWN_GROUPS, MAY_IGNORE = Obeys.RULES, Obeys.OWN_GROUPS, Obeys.MAY_IGNORE
NEWER = {
    "AhrefsBot": (RULES, [Purpose.SEO, Purpose.SEARCH]),
    "AI2Bot-DeepResearchEval": (Obeys.UNDOCUMENTED, [Purpose.USER_FETCH]),
    "amazon-kendra": (RULES, [Purpose.AI_SEARCH]),
    "AmazonAdBot": (RULES, [Purpose.ADS]),
    "anthropic-ai": (Obeys.RETIRED, [Purpose.TRAINING]),
    "ChatGPT Agent": (Obeys.UNDOCUMENTED, [Purpose.USER_FETCH]),
    "Claude-Web": (Obeys.RETIRED, [Purpose.AI_SEARCH]),
    "Cloudflare-AI-Search": (RULES, [Purpose.AI_SEARCH]),
    "Cloudflare-AI-Search-External": (RULES, [Purpose.AI_SEARCH]),
    "Cloudflare-AutoRAG": (Obeys.RETIRED, [Purpose.AI_SEARCH]),
    "Discordbot": (Obeys.UNDOCUMENTED, [Purpose.PREVIEW]),
    "DuckDuckBot": (RULES, [Purpose.SEARCH]),
    "Mozilla-Tabstack": (OWN_GROUPS, [Purpose.TOOL]),
    "NovaAct": (Obeys.UNDOCUMENTED, [Purpose.USER_FETCH]),
    "Stripebot": (RULES, [Purpose.TOOL]),
    "TelegramBot": (Obeys.UNDOCUMENTED, [Purpose.PREVIEW]),
}


@pytest.mark.parametrize(("token", "facts"), NEWER.items())
def test_newer_facts(token: str, facts: tuple[Obeys, list[Purpose]]) -> None:
    assert _facts(token) == facts
    assert _record(token).checked == "2026-11-30"


def _record(token: str) -> Crawler:
    crawler = crawlers.named(token)
    assert crawler is not None
    return crawler


def test_names_that_operators_dropped() -> None:
    retired = {each.token for each in crawlers.known() if each.obeys is Obeys.RETIRED}
    assert retired == {"anthropic-ai", "Claude-Web", "Cloudflare-AutoRAG"}
    assert _record("Cloudflare-AutoRAG").successor == "Cloudflare-AI-Search"
    assert "its operator no longer names it" in _run("agents", "anthropic-ai").stdout
    assert "Claude-Web" not in crawlers.suggestions("Claude")[:3]
    body = "User-agent: *\nDisallow: /a\n\nUser-agent: anthropic-ai\nDisallow: /\n"
    assert "no longer named by its operator" in _run("audit", "-", "--all", body=body).stdout
    # Nobody misses rules of * in a group that only such a name has.
    closed = body.replace("Disallow: /\n", "Disallow: /b\n")
    assert "S011" not in _run("lint", "-", "--notes", body=closed).stdout
    used = closed.replace("anthropic-ai", "ClaudeBot")
    assert "S011" in _run("lint", "-", "--notes", body=used).stdout


def test_addresses_are_where_operators_publish_them() -> None:
    ipranges = "https://developers.google.com/static/crawling/ipranges/"
    for each in crawlers.known():
        if each.operator == "Google":
            assert all(url.startswith(ipranges) for url in each.verification.ranges)
    assert "https://duckduckgo.com/duckduckbot.json" in _record("DuckDuckBot").verification.ranges
    ahrefs = _record("AhrefsBot").verification
    assert "https://api.ahrefs.com/v3/public/crawler-ip-ranges" in ahrefs.ranges
    assert ahrefs.domains == ("ahrefs.com", "ahrefs.net")
    perplexity = _record("PerplexityBot").verification.ranges
    assert perplexity == ("https://www.perplexity.com/perplexitybot.json",)
    # No page of Telegram says from where it fetches previews.
    assert _record("TelegramBot").verification.ranges == ()


def test_sources_are_of_sites_that_exist() -> None:
    assert not [each.token for each in crawlers.known() if "darkvisitors.com" in each.source]


def test_notes_say_what_facts_leave_open() -> None:
    noted = {each.token for each in crawlers.known() if each.note}
    assert noted == {"Amazonbot", "Amzn-SearchBot", "Amzn-User", "ChatGPT Agent", "NovaAct"}
    assert "names no product token" in _run("agents", "ChatGPT Agent").stdout
    # If this changes, its note is wrong.
    agent = "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36 Agent-NovaAct/0.9"
    assert Identities().claimed(agent) == -1


def test_products() -> None:
    assert "Google Ad Manager" in _record("Mediapartners-Google").names
    assert "Claude Code" in _record("Claude-User").names
    assert "AutoRAG" in _record("Cloudflare-AI-Search").names


# The age of facts.


@pytest.mark.parametrize(
    ("checked", "today", "expected"),
    [
        ("2026-11-30", date(2026, 11, 30), False),
        ("2026-11-30", date(2027, 11, 30), False),
        ("2026-11-30", date(2027, 12, 1), True),
        ("2026-11-30", date(2030, 1, 1), True),
        ("2028-02-29", date(2029, 2, 28), False),
        ("2028-02-29", date(2029, 3, 1), True),
    ],
)
def test_facts_are_old_after_a_year(checked: str, today: date, expected: bool) -> None:
    crawler = Crawler("A", "B", (Purpose.TOOL,), Obeys.RULES, "https://e", checked)
    assert crawler.is_outdated(today) is expected


WORDS = "checked more than a year ago"


def _shown(tokens: tuple[str, ...], today: date, form: str, *, exact: bool = False) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        render(Agents(tuple(map(_record, tokens)), (), today, exact), form)
    return output.getvalue()


def test_agents_mark_old_facts() -> None:
    """Index of 2026-09-05, corrections of 2026-11-22."""
    tokens, then = ("Googlebot", "Baiduspider"), date(2027, 10, 1)
    google, baidu = _shown(tokens, then, "text").splitlines()[1:3]
    assert google.endswith(" rules")
    assert baidu.endswith(f" rules; {WORDS}")
    records = json.loads(_shown(tokens, then, "json"))
    assert [each["checked_more_than_a_year_ago"] for each in records] == [False, True]
    for today, expected in ((then, True), (date(2026, 11, 30), False)):
        last = _shown(("Baiduspider",), today, "text", exact=True).splitlines()[-1]
        assert re.fullmatch(r"Checked on +2026-09-05(?P<old> \(.*\))?", last)
        assert (WORDS in last) is expected


def test_no_fact_is_older_than_a_year() -> None:
    """In the year of these sources: later, this is what `make facts` is for."""
    assert not [each for each in crawlers.known() if each.is_outdated(date(2026, 11, 30))]


def test_agents_say_how_long_changes_take() -> None:
    duck = _run("agents", "DuckAssistBot").stdout
    assert re.search(r"^Changes +take effect after 72 hours$", duck, re.MULTILINE)
    amazon = _run("agents", "Amazonbot").stdout
    assert re.search(r"^Old copies +of up to 30 days, if fetches fail$", amazon, re.MULTILINE)
    # The data has less than Amazon's page says: this is said.
    assert "koster logs sees only the failures that a log has" in " ".join(amazon.split())
    fields = ("change_delay_hours", "old_copy_days")
    found = {}
    for token in ("DuckAssistBot", "Amazonbot", "GPTBot"):
        (record,) = json.loads(_run("agents", token, "-f", "json").stdout)
        found[token] = [record[field] for field in fields]
    assert found == {"DuckAssistBot": [72, None], "Amazonbot": [24, 30], "GPTBot": [24, None]}


def test_missing_registry_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ai_crawler_index", None)
    crawlers.known.cache_clear()
    try:
        with pytest.raises(koster.MissingExtraError, match=r"koster\[crawlers\]"):
            crawlers.known()
        assert crawlers.agent_for("Googlebot-Image") == ("Googlebot-Image", "Googlebot")
        # Our own records need no other package.
        crawler = crawlers.named("googlebot")
        assert crawler is not None
        assert crawler.token == "Googlebot"
        with pytest.raises(koster.MissingExtraError):
            crawlers.named("FooBot")
    finally:
        crawlers.known.cache_clear()


def test_broken_registry_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "ai_crawler_index":
                raise ModuleNotFoundError("No module named 'what_it_needs'", name="what_it_needs")

    monkeypatch.delitem(sys.modules, "ai_crawler_index")
    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    with pytest.raises(ModuleNotFoundError, match="what_it_needs") as caught:
        list(crawlers._index.crawlers())
    assert not isinstance(caught.value, koster.MissingExtraError)


# Fallback chains.

#: Each chain with the sentence that documents it: from the page of its record.
CHAINS = {
    "Googlebot-Image": ("Googlebot",),
    "Googlebot-News": ("Googlebot",),
    "Googlebot-Video": ("Googlebot",),
    "Google-InspectionTool": ("Googlebot",),
    "Google-CloudVertexBot": ("Googlebot",),
    "GoogleOther-Image": ("GoogleOther",),
    "GoogleOther-Video": ("GoogleOther",),
    "AdsBot-Google-Mobile-Apps": ("AdsBot-Google",),
    "Applebot": ("Googlebot",),
    "Kagibot": ("Googlebot",),
    "Bravebot": ("Googlebot",),
    "TavilyBot": ("Googlebot",),
    **{
        f"Yandex{name}": ("Yandex",)
        for name in ("Bot", "Images", "Video", "Media", "Blogs", "Webmaster", "Market")
    },
    **{f"coccocbot-{name}": ("coccocbot",) for name in ("web", "image", "fast", "ads", "shopping")},
}
#: Tokens without a documented fallback, though their names look as if they had one.
ALONE = (
    "Googlebot", "GoogleOther", "Storebot-Google", "AdsBot-Google", "AdsBot-Google-Mobile",
    "Applebot-Extended", "bingbot", "AdIdxBot", "BingPreview", "YandexDirect", "Google-Extended",
)  # fmt: skip


def test_every_chain_has_a_case() -> None:
    assert {each.token: each.falls_back_to for each in crawlers.known() if each.falls_back_to} == (
        CHAINS
    )
    for token in ALONE:
        assert crawlers.agent_for(token) == token


@pytest.mark.parametrize(("token", "fallbacks"), CHAINS.items())
def test_chain(token: str, fallbacks: tuple[str, ...]) -> None:
    (fallback,) = fallbacks
    body = f"User-agent: *\nAllow: /\n\nUser-agent: {fallback}\nDisallow: /\n"
    agent = crawlers.agent_for(token)
    assert agent == (token, fallback)
    assert crawlers.agent_for(f"{token.upper()}/2.0") == (f"{token.upper()}/2.0", fallback)
    robots = koster.parse(body)
    decision = robots.decide("/a", agent)
    assert not decision
    assert decision.rule is not None
    assert decision.rule.line == 5
    assert decision.falls_back_to == fallback
    assert (
        str(decision) == f"{token} may not fetch /a: line 5, Disallow: / (falls back to {fallback})"
    )
    assert robots.rules_for(agent).named_as == fallback
    # Its own group comes first, and everybody's last.
    own = koster.parse(f"{body}\nUser-agent: {token}\nDisallow: /b\n").decide("/a", agent)
    assert (own.allowed, own.falls_back_to) == (True, "")
    star = koster.parse("User-agent: *\nDisallow: /\n").decide("/a", agent)
    assert (star.allowed, star.falls_back_to) == (False, "")
    # As the crawler is asked elsewhere.
    crawler = crawlers.named(token)
    assert crawler is not None
    (verdict,) = audit(robots, [crawler]).verdicts
    assert (verdict.extent.value, verdict.how) == ("all", f"falls back to {fallback}")
    (cell,) = koster.bulk.classify(pa.array([body]), [token]).to_pylist()[0]
    assert cell == {"agent": token, "written": False, "effective": "all", "line": 5}
    (decided,) = koster.bulk.decide(pa.array([body]), "/a", token).to_pylist()
    assert decided["line"] == 5
    answer = answers.decide(10_000, body.encode(), "RFC9309", [token], ["/a"])
    (record,) = json.loads(answer)["decisions"]
    assert (record["agent"], record["allowed"], record["falls_back_to"]) == (token, False, fallback)


BLOCKED = "User-agent: Googlebot\nDisallow: /\n"


def _run(*arguments: str, body: str = BLOCKED) -> Any:
    return CliRunner().invoke(command, arguments, input=body.encode())


def test_commands_use_the_chain(tmp_path: Any) -> None:
    result = _run("check", "--robots", "-", "-a", "Googlebot-Image", "/a")
    assert result.exit_code == 1
    assert "robots.txt:2: Disallow: / (falls back to Googlebot)" in result.stdout.replace(
        "<stdin>", "robots.txt"
    )
    result = _run("check", "--robots", "-", "-a", "Googlebot-Image", "-f", "json", "/a")
    (answer,) = json.loads(result.stdout)
    assert (answer["agent"], answer["falls_back_to"]) == ("Googlebot-Image", "Googlebot")
    (tmp_path / "robots.txt").write_text(BLOCKED)
    (tmp_path / "robots.expect.toml").write_text(
        'robots = "robots.txt"\n[[expect]]\nagent = "Googlebot-Image"\nallow = "/a"\n'
    )
    result = _run("test", str(tmp_path / "robots.expect.toml"))
    assert result.exit_code == 1
    assert "it is blocked (line 2: Disallow: /; falls back to Googlebot)" in result.stdout
    result = _run("audit", "-", "-f", "json")
    crawler = {each["token"]: each for each in json.loads(result.stdout)["crawlers"]}
    image = crawler["Googlebot-Image"]
    assert (image["disallowed"], image["falls_back_to"], image["line"]) == ("all", "Googlebot", 2)
    assert (image["source"], image["checked"]) != ("", "")
    assert crawler["AdsBot-Google"]["disallowed"] == "none"


def test_expectations_use_the_chain() -> None:
    question = Expectation("Googlebot-Image", "/a", allowed=True)
    expected = Expectations(robots=None, dialect=koster.RFC9309, questions=(question,))
    (result,) = check(expected, koster.parse(BLOCKED))
    assert "it is blocked (line 2: Disallow: /; falls back to Googlebot)" in result.why


def test_diff_uses_the_chain() -> None:
    comparison = compare(koster.parse(BLOCKED), koster.parse(""), ["Applebot", "bingbot"])
    (change,) = comparison.changes
    assert "Applebot" in change.agents
    assert "bingbot" not in change.agents


def test_bulk_classifies_chains_beside_other_agents() -> None:
    bodies = [BLOCKED, None, "User-agent: Googlebot-Image\nDisallow: /x", "", BLOCKED]
    agents = ["GPTBot", "Googlebot-Image", "Applebot", "Googlebot"]
    rows = koster.bulk.classify(pa.array(bodies), agents).to_pylist()
    assert rows[1] is None
    assert [[cell["effective"] for cell in row] for row in rows if row] == [
        ["none", "all", "all", "all"],
        ["none", "some", "none", "none"],
        ["none", "none", "none", "none"],
        ["none", "all", "all", "all"],
    ]
    assert [cell["agent"] for cell in rows[0]] == agents
    empty = koster.bulk.classify(pa.array([], pa.string()), agents)
    assert len(empty) == 0


def test_the_library_takes_names_as_they_are() -> None:
    assert koster.parse(BLOCKED).allowed("/a", "Googlebot-Image")


# Names that people use.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Google", ["Googlebot"]),
        ("google", ["Googlebot", "Google-Extended"]),
        ("ChatGPT", ["ChatGPT-User", "GPTBot", "OAI-SearchBot"]),
        ("OpenAI", ["GPTBot", "OAI-SearchBot", "ChatGPT-User"]),
        ("Claude", ["ClaudeBot", "Claude-SearchBot", "Claude-User"]),
        ("Anthropic", ["ClaudeBot"]),
        ("Bing", ["bingbot"]),
        ("Apple", ["Applebot", "Applebot-Extended"]),
        ("Gemini", ["Google-Extended"]),
        ("Gogglebot", ["Googlebot"]),
        ("GPT-Bot", ["GPTBot"]),
        ("perplexity", ["PerplexityBot", "Perplexity-User"]),
        ("nothing like it", []),
        (" ", []),
    ],
)
def test_suggestions(text: str, expected: list[str]) -> None:
    found = list(crawlers.suggestions(text))
    assert found[: len(expected)] == expected or set(expected) <= set(found)
    assert found[:1] == expected[:1]
    assert len(found) <= 5


def test_check_suggests_crawlers_for_a_brand() -> None:
    result = _run("check", "--robots", "-", "-a", "Google", "-a", "Yandex", "-a", "FooBot", "/a")
    (line,) = result.stderr.splitlines()
    assert line.startswith(
        "koster: Google is a company or product, not a crawler. Did you mean Googlebot, "
    )
    assert result.stdout.count("\n") == 4


def test_matching() -> None:
    tokens = {each.token for each in crawlers.matching("google")}
    assert {"Googlebot", "Googlebot-Image", "AdsBot-Google", "FeedFetcher-Google"} <= tokens
    assert {each.operator for each in crawlers.matching("anthropic")} == {"Anthropic"}
    assert crawlers.matching("nothing like it") == ()


# The command.


def test_agents_lists_all() -> None:
    result = _run("agents")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["Crawler", "Operator", "Purpose", "Obeys"]
    assert len(lines) == 1 + len(crawlers.known()) + len(crawlers.POLICY_TOKENS)
    assert lines[-1].split() == [
        "__usage_ai-training",
        "training",
        "a",
        "policy",
        "token:",
        "no",
        "crawler",
    ]
    assert lines[1].startswith("Googlebot ")


def test_agents_searches() -> None:
    result = _run("agents", "google")
    assert result.exit_code == 0
    assert all("oogle" in line for line in result.stdout.splitlines()[1:])
    assert re.search(
        r"^Google-Agent +Google +user fetch +may ignore(;.*)?$", result.stdout, re.MULTILINE
    )


def test_agents_explains() -> None:
    result = _run("agents", "googlebot-image/1.0")
    assert result.exit_code == 0
    facts = dict(re.split(r"  +", line, maxsplit=1) for line in result.stdout.splitlines())
    # Later it says how old they are.
    facts["Checked on"] = facts["Checked on"][:10]
    assert facts == {
        "Crawler": "Googlebot-Image",
        "Operator": "Google",
        "Known as": "Google Images",
        "Purpose": "search",
        "Robots.txt": "obeys groups that name it, else those for *",
        "Falls back to": "Googlebot, if no group names Googlebot-Image",
        "IP ranges": "https://developers.google.com/static/crawling/ipranges/common-crawlers.json",
        "Reverse DNS": "googlebot.com",
        "Source": "https://developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers",
        "Checked on": "2026-11-22",
    }
    assert "may ignore the file, according to its operator" in _run("agents", "ChatGPT-User").stdout
    assert "Google-GeminiNotebook" in _run("agents", "Google-NotebookLM").stdout
    assert "signs its requests (Web Bot Auth)" in _run("agents", "Google-Agent").stdout


def test_agents_json() -> None:
    result = _run("agents", "Applebot", "-f", "json")
    (record,) = json.loads(result.stdout)
    assert record["purposes"] == ["search", "AI search", "training"]
    assert record["falls_back_to"] == ["Googlebot"]
    assert record["verification"]["domains"] == ["applebot.apple.com"]
    assert record["source"].startswith("https://support.apple.com/")
    every = json.loads(_run("agents", "-f", "json").stdout)
    assert len(every) == len(crawlers.known()) + len(crawlers.POLICY_TOKENS)


def test_agents_explains_policy_tokens() -> None:
    for name in ("__usage_ai-training", "__USAGE_AI-Training"):
        result = _run("agents", name)
        assert result.exit_code == 0
        facts = re.split(r"  +|\n", result.stdout)
        assert facts[:2] == ["Policy token", "__usage_ai-training"]
        assert "draft-kelley-aipref-training-preference-signal-00, 2026-10-30" in facts
        assert facts.count("Undecided") == 2
        assert any(
            each.startswith("intends to support it: https://developers.google.com/")
            for each in facts
        )
    (record,) = json.loads(_run("agents", "__usage_ai-training", "-f", "json").stdout)
    assert record["spelling_certain"] is False
    assert [each["operator"] for each in record["followers"]] == ["Google"]


def test_no_list_of_crawlers_has_policy_tokens() -> None:
    tokens = {each.token for each in crawlers.POLICY_TOKENS}
    assert tokens.isdisjoint(each.token for each in crawlers.known())
    assert tokens.isdisjoint(crawlers.expand_agent("@training"))


def test_agents_suggests() -> None:
    result = _run("agents", "Gogglebot")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "koster: no known crawler matches 'Gogglebot'. Did you mean Googlebot?\n"
    )
    result = _run("agents", "nothing like it", "-f", "json")
    assert (result.exit_code, json.loads(result.stdout)) == (1, [])
    assert result.stderr == "koster: no known crawler matches 'nothing like it'\n"


def test_agents_without_the_registry() -> None:
    code = (
        "import sys; sys.modules['ai_crawler_index'] = None; sys.argv = ['koster', 'agents']; "
        "from koster._cli import main; main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.returncode == 2
    assert "pip install 'koster[crawlers]'" in process.stderr


def test_audit_shows_sources_and_days() -> None:
    days = sorted(each.checked for each in koster.crawlers.known())
    text = _run("audit", "-").stdout
    assert f"Facts about crawlers checked {days[0]} to {days[-1]}; --all shows" in text
    applebot = koster.crawlers.named("Applebot")
    assert applebot is not None
    source, day = applebot.source, applebot.checked
    whole = _run("audit", "-", "--all").stdout
    (row,) = [line for line in whole.splitlines() if line.startswith("Applebot ")]
    assert row.split()[-2:] == [day, source]
    assert f"<{source}>, {day}" in _run("audit", "-", "-f", "markdown").stdout
    page = _run("audit", "-", "-f", "html").stdout
    assert f'<a href="{source}" rel="noreferrer" title="The page with these facts">{day}' in page
    assert "falls back to Googlebot; also AI search, training" in page
