"""An Extended Standard for Robot Exclusion: every example in it, with the documented result.

Where the document's wording and its example disagree, docs/reference/dialects/extended2.md says which one koster
follows. Those URLs are listed separately below.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import politeness
from tests.helpers.support import EVERYTHING

FILE = """\
#-----------------------------------------------------------
# The following robots only understand the 1.0 spec, so
# really limit where they can go
#-----------------------------------------------------------

User-agent: fredsbot
User-agent: pandabot
User-agent: chives
Disallow: /images\t\t# anything starting with /images
Disallow: /order.shtml\t\t# don't go there!
Disallow: /order.cgi\t\t# nor there either!
Disallow: /blackhole\t\t# there be bad karma here

User-agent: popularsite
Disallow: /images
Disallow: /order.shtml
Disallow: /order.cgi
Disallow: /blackhole/info98.shtml
Disallow: /blackhole/info99.html
Disallow: /blackhole/info99.gif
Disallow: /blackhole/info8.html
Disallow: /blackhole/info/page2.shtml

User-agent: alfred
User-agent: newchives
User-agent: oscarbot
Robot-version: 2.0\t# uses 2.0 spec
Allow: *index.html\t\t# allow any index pages
Allow: /images/index.html\t# make sure we index this
Allow: /blackhole/index.html\t# and we allow this page to be indexed
Allow: /blackhole/info* \t# as well as these
Disallow: *\t\t\t# nothing else will be allowed
Disallow: *.shtml\t\t# don't index server include files
Disallow: *.cgi \t\t# don't attempt to access cgi scripts
Disallow: *.gif \t\t# no images
Disallow: *.jpg
Disallow: /images*\t\t# don't index here generally
Disallow: /blackhole/info99*\t# these we don't want indexed
Disallow: /blackhole/info8.html # nor this one

User-agent: hackerbot
Robot-version: 2.0\t# uses 2.0 spec
Request-rate: 1/30m\t\t# one document every 30 minutes
Allow: *index.html\t\t# allow any index pages
Disallow: *\t\t\t# but nothing else

User-agent: suckemdry
Robot-version: 2.0
Allow: *.html\t\t\t# only allow HTML pages
Disallow: *\t\t\t# and nothing else
Visit-time: 0600-0845\t\t# and then only between 1 am to 3:45 am EST

User-agent: vacuumweb
User-agent: spanwebbot
User-agent: spiderbot
Robot-version: 2.0
Request-rate: 1/10m 1300-1659\t\t# 8:00 am to noon EST
Request-rate: 1/20m 1700-0459\t\t# noon to 11:59 pm EST
Request-rate: 5/1m  0500-1259\t\t# midnight to 7:59 am EST
Comment: because you guys try all the time, I'm gonna limit you
Comment: to how many documents you can retrieve.  So there!
Allow: *.html
Disallow: *

User-agent: *
Disallow: /
"""

#: The example site, as far as its rules and comments describe it.
PAGES = ("/index.html", "/products.html", "/overview.html", "/thankyou.html")
ORDERS = ("/order.shtml", "/order.cgi")
IMAGES = ("/images/index.html", "/images/logo.gif", "/images/photo.jpg")
BLACKHOLE = (
    "/blackhole/index.html",
    "/blackhole/info98.shtml",
    "/blackhole/info99.html",
    "/blackhole/info99.gif",
    "/blackhole/info8.html",
    "/blackhole/info/page2.shtml",
    "/blackhole/info7.html",
    "/blackhole/info/page1.html",
)
SITE = (*PAGES, *ORDERS, *IMAGES, *BLACKHOLE)

FIRST, EARLIER = koster.EXTENDED2, koster.EXTENDED2_1996


def allowed_urls(agent: str, dialect: koster.Dialect) -> set[str]:
    rules = koster.parse(FILE, dialect).rules_for(agent)
    return {url for url in SITE if rules.allowed("http://www.frommitz.biz" + url)}


def rules_for(agent: str, dialect: koster.Dialect = FIRST) -> koster.Rules:
    return koster.parse(FILE, dialect).rules_for(agent)


def at(clock: str) -> datetime:
    return datetime.combine(datetime(2026, 11, 21), time.fromisoformat(clock), UTC)


@pytest.mark.parametrize("dialect", [FIRST, EARLIER], ids=str)
@pytest.mark.parametrize("agent", ["fredsbot", "pandabot", "chives", "Fredsbot/1.0"])
def test_fredsbot_only_gets_the_four_pages(agent: str, dialect: koster.Dialect) -> None:
    assert allowed_urls(agent, dialect) == set(PAGES)


@pytest.mark.parametrize("dialect", [FIRST, EARLIER], ids=str)
def test_popularsite_gets_all_that_is_not_disallowed(dialect: koster.Dialect) -> None:
    assert allowed_urls("popularsite", dialect) == {
        *PAGES,
        "/blackhole/index.html",
        "/blackhole/info7.html",
        "/blackhole/info/page1.html",
    }


#: "these we don't want indexed", "nor this one", "any references to server side include files
#: are not allowed": but an earlier Allow matches them, and the first matching rule wins.
ALLOWED_BY_AN_EARLIER_RULE = {
    "/blackhole/info99.html",
    "/blackhole/info99.gif",
    "/blackhole/info8.html",
    "/blackhole/info98.shtml",
    "/blackhole/info/page2.shtml",
}


@pytest.mark.parametrize("agent", ["alfred", "newchives", "oscarbot"])
def test_alfred_gets_index_pages_and_explicitly_allowed_urls(agent: str) -> None:
    assert allowed_urls(agent, FIRST) - ALLOWED_BY_AN_EARLIER_RULE == {
        "/index.html",
        "/images/index.html",
        "/blackhole/index.html",
        "/blackhole/info7.html",
        "/blackhole/info/page1.html",
    }
    decision = rules_for(agent).decide("/blackhole/info99.html")
    assert decision.allowed
    assert str(decision.rule) == "Allow: /blackhole/info*"
    assert allowed_urls(agent, FIRST) > ALLOWED_BY_AN_EARLIER_RULE


def test_alfred_gets_only_explicitly_allowed_images() -> None:
    assert rules_for("alfred").allowed("/images/index.html")
    assert not rules_for("alfred").allowed("/images/logo.gif")
    assert not rules_for("alfred").allowed("/order.cgi")
    assert not rules_for("alfred").allowed("/order.shtml")


def test_1996_wording_disallow_star_leaves_explicit_allows() -> None:
    explicit = {"/images/index.html", "/blackhole/index.html"}
    assert allowed_urls("alfred", EARLIER) == explicit
    for agent in ("hackerbot", "suckemdry", "vacuumweb"):
        assert allowed_urls(agent, EARLIER) == set()


def test_1996_wording_alfred_without_disallow_star() -> None:
    """Without that line, the result is what the document says about the example."""
    file = FILE.replace("Disallow: *\t\t\t# nothing else will be allowed\n", "")
    robots = koster.parse(file, EARLIER)
    assert {url for url in SITE if robots.allowed(url, "alfred")} == {
        "/index.html",
        "/images/index.html",
        "/blackhole/index.html",
        "/blackhole/info7.html",
        "/blackhole/info/page1.html",
    }


def test_hackerbot_gets_index_pages_one_in_thirty_minutes() -> None:
    assert allowed_urls("hackerbot", FIRST) == {url for url in SITE if url.endswith("index.html")}
    assert rules_for("hackerbot").interval(at("12:00")) == 30 * 60
    assert rules_for("hackerbot").request_rates[0].requests == 1


def test_suckemdry_gets_html_in_the_morning() -> None:
    assert allowed_urls("suckemdry", FIRST) == {url for url in SITE if url.endswith(".html")}
    rules = rules_for("suckemdry")
    for clock, is_open in [
        ("05:59:59", False),
        ("06:00", True),
        ("08:45", True),
        ("08:45:59", True),
        ("08:46", False),
        ("23:00", False),
    ]:
        assert (rules.open_at(at(clock)), clock) == (is_open, clock)
    assert rules.next_open(at("09:00")) == at("06:00").replace(day=22)


@pytest.mark.parametrize("agent", ["vacuumweb", "spanwebbot", "spiderbot"])
def test_vacuumweb_gets_hourly_rates_and_comments(agent: str) -> None:
    assert allowed_urls(agent, FIRST) == {url for url in SITE if url.endswith(".html")}
    rules = rules_for(agent)
    for clock, seconds in [
        ("13:00", 600),
        ("16:59:59", 600),
        ("17:00", 1200),
        ("23:59:59", 1200),
        ("00:00", 1200),
        ("04:59:59", 1200),
        ("05:00", 12),
        ("12:59:59", 12),
    ]:
        assert (rules.interval(at(clock)), clock) == (seconds, clock)
    assert rules.comments == (
        "because you guys try all the time, I'm gonna limit you",
        "to how many documents you can retrieve.  So there!",
    )


@pytest.mark.parametrize("dialect", [FIRST, EARLIER], ids=str)
def test_other_crawlers_get_nothing(dialect: koster.Dialect) -> None:
    assert allowed_urls("otherbot", dialect) == set()
    assert rules_for("otherbot", dialect).decide("/").rule == koster.Rule(
        koster.Directive.DISALLOW, "/", len(FILE.splitlines()), False, 11
    )


def test_empty_file_allows_everything() -> None:
    assert koster.parse("", FIRST).allowed("/", "fredsbot")


@pytest.mark.parametrize(
    ("value", "requests", "seconds"),
    [("10/60", 10, 60), ("10/10m", 10, 600), ("20/1h", 20, 3600), ("100/24h", 100, 86400),
     ("1/30s", 1, 30)],
)  # fmt: skip
def test_rates(value: str, requests: int, seconds: int) -> None:
    robots = koster.parse(f"User-agent: *\nRequest-rate: {value}", FIRST)
    (rate,) = robots.rules_for("a").request_rates
    assert (rate.requests, rate.seconds, rate.start) == (requests, seconds, None)


def test_interval_is_seconds_per_document() -> None:
    robots = koster.parse("User-agent: *\nRequest-rate: 100/24h", FIRST)
    assert robots.rules_for("a").interval(at("00:00")) == 864


def test_slowest_rate_without_a_window_applies() -> None:
    robots = koster.parse(
        "User-agent: *\nRequest-rate: 10/60\nRequest-rate: 100/24h\nRequest-rate: 20/1h", FIRST
    )
    assert robots.rules_for("a").interval(at("00:00")) == 864


@pytest.mark.parametrize("dialect", [FIRST, EARLIER], ids=str)
@pytest.mark.parametrize(
    ("lines", "clock", "seconds"),
    [
        # Quoted: "the robot is to use the given rate" between "the times given".
        (("1/60", "1/10 0600-0659"), "06:30", 10), (("1/60", "1/10 0600-0659"), "07:00", 60),
        (("1/10 0600-0659", "1/60"), "06:59:59", 10), (("1/5", "1/10 0600-0659"), "06:00", 10),
        # In several windows at once, the slowest rate applies.
        (("1/60", "1/10 0600-0659", "1/20 0630-0729"), "06:45", 20),
        (("1/60", "1/10 0600-0659", "1/20 0630-0729"), "06:15", 10),
        # Outside all windows, the slowest rate without a window applies.
        (("1/60", "1/90", "1/10 0600-0659"), "08:00", 90), (("1/10 0600-0659",), "08:00", None),
    ],
)  # fmt: skip
def test_rate_with_a_window_replaces_rates_without_one(
    lines: tuple[str, ...], clock: str, seconds: int | None, dialect: koster.Dialect
) -> None:
    body = "\n".join(["User-agent: *", *(f"Request-rate: {line}" for line in lines)])
    rules = koster.parse(body, dialect).rules_for("a")
    assert rules.interval(at(clock)) == seconds
    last = politeness.Fetch(at(clock), 0)
    if "0659" in body and clock != "06:59:59":
        expected = at(clock) + timedelta(seconds=seconds or 10)
        assert politeness.next_request(rules, last, at(clock)) == expected


def test_other_dialects_use_the_slowest_rate_that_applies() -> None:
    body = "User-agent: *\nRequest-rate: 1/60\nRequest-rate: 1/10 0600-0659"
    for dialect in (koster.RFC9309, FIRST):
        rules = koster.parse(body, dialect).rules_for("a")
        assert rules.interval(at("06:30")) == (60 if dialect is koster.RFC9309 else 10)
        assert rules.dialect is dialect


# User agents: "a general match string", as in version 1.0.

SETS = """\
User-agent: pandabot
Disallow: /panda

User-agent: fredsbot
Disallow: /fred

User-agent: Fred Bot
Disallow: /two

User-agent: *
Disallow: /all
"""


@pytest.mark.parametrize("dialect", [FIRST, EARLIER], ids=str)
@pytest.mark.parametrize(
    ("agent", "disallowed"),
    [
        ("FredsBot", "/fred"), ("FredsBot/2.1", "/fred"), ("FredsBot2", "/fred"),
        ("Mozilla/5.0 (compatible; FredsBot/2.1; +https://fred.example/)", "/fred"),
        ("Mozilla/5.0 (compatible;FredsBot/2.1)", "/fred"), ("libwww/1.0 FredsBot/2.1", "/fred"),
        # The first product in the header that has a rule set, wherever that is in the file.
        ("FredsBot/2.1 PandaBot/1.0", "/fred"), ("PandaBot/1.0 FredsBot/2.1", "/panda"),
        ("Other/1 (FredsBot; like PandaBot)", "/fred"), ("fred bot/1.0", "/two"),
        ("Mozilla/5.0 (Fred Bot)", "/two"),
        # A name matches the start of a product; an address is not a product.
        ("MyFredsBot/1.0", "/all"), ("Mozilla/5.0 (Big-FredsBot)", "/all"),
        ("Mozilla/5.0 (+https://fredsbot.example/ pandabot@example.com)", "/all"),
        ("Mozilla/5.0 (fred)", "/all"), ("", "/all"), ("Mozilla/5.0 ()", "/all"),
    ],
)  # fmt: skip
def test_header_matches_rule_sets_by_product_tokens(
    agent: str, disallowed: str, dialect: koster.Dialect
) -> None:
    rules = koster.parse(SETS, dialect).rules_for(agent)
    assert [path for path in ("/panda", "/fred", "/two", "/all") if not rules.allowed(path)] == [
        disallowed
    ]


def test_newer_robot_version_is_skipped_for_a_header() -> None:
    body = (
        "User-agent: fredsbot\nRobot-version: 2.1\nDisallow: /fred\n\nUser-agent: *\nDisallow: /all"
    )
    rules = koster.parse(body, FIRST).rules_for("Mozilla/5.0 (FredsBot/2.1)")
    assert (rules.allowed("/fred"), rules.allowed("/all")) == (True, False)


@pytest.mark.parametrize("header", ["b" + " ba" * 2_700, "x" + "a" * 8_000 + " (y; z)"])
def test_header_among_many_names_is_fast(header: str) -> None:
    names = [f"User-agent: {'a' * number}" for number in range(1, 800)]
    count = (30_000 if EVERYTHING else 10_000) if koster.COMPILED else 3_000
    names += [f"User-agent: c{number}" for number in range(count)]
    robots = koster.parse("\n".join([*names, "Disallow: /"]), FIRST)
    assert all(robots.allowed("/", f"{header}{number}") for number in range(20))


@given(
    st.lists(st.text("ab ", min_size=1, max_size=4).map(str.strip), max_size=6),
    st.text("ab (;/", max_size=12),
)
def test_first_header_word_that_starts_with_a_name_decides(names: list[str], header: str) -> None:
    body = "\n\n".join(f"User-agent: {name}\nDisallow: /{n}" for n, name in enumerate(names))
    starts = [word.start() for word in re.finditer(r"[^ ();,]+", header)]
    suffixes = [header[start:] for start in starts] if len(starts) > 1 else [header]
    expected = next(
        (
            n
            for suffix in suffixes
            for n, name in enumerate(names)
            if name and suffix.startswith(name)
        ),
        None,
    )
    rules = koster.parse(body, FIRST).rules_for(header)
    disallowed = [n for n in range(len(names)) if not rules.allowed(f"/{n}")]
    assert disallowed == ([] if expected is None else [expected])


@pytest.mark.parametrize("window", ["06:00 08:45", "0600-0845", "0600 - 0845", "06:00-08:45"])
def test_both_time_formats(window: str) -> None:
    robots = koster.parse(
        f"User-agent: *\nVisit-time: {window}\nRequest-rate: 1/10m {window}", FIRST
    )
    rules = robots.rules_for("a")
    assert [str(each) for each in rules.visit_times] == ["06:00-08:45"]
    assert rules.interval(at("07:00")) == 600
    assert rules.interval(at("09:00")) is None


def test_several_windows_and_one_over_midnight() -> None:
    robots = koster.parse("User-agent: *\nVisit-time: 2300-0100\nVisit-time: 12:00 12:59", FIRST)
    rules = robots.rules_for("a")
    clocks = ("22:59", "23:00", "00:30", "01:00:30", "01:01", "12:59:59", "13:00")
    are_open = [False, True, True, True, False, True, False]
    assert [rules.open_at(at(clock)) for clock in clocks] == are_open
    assert rules.next_open(at("01:01")) == at("12:00")


@pytest.mark.parametrize(("fetch", "seconds"), [(0.1, 10), (5.0, 10), (6.0, 12), (60.0, 120)])
def test_rule_of_thumb_interval(fetch: float, seconds: float) -> None:
    assert politeness.RULE_OF_THUMB.interval(fetch) == seconds
    rules = rules_for("fredsbot")
    last = politeness.Fetch(at("12:00"), fetch)
    expected = at("12:00").timestamp() + seconds
    assert politeness.next_request(rules, last, at("12:00")).timestamp() == expected
    assert politeness.next_request(rules, last, at("13:00")) == at("13:00")


def test_site_rates_override_the_rule_of_thumb() -> None:
    last = politeness.Fetch(at("12:00"), 100.0)
    assert politeness.next_request(rules_for("hackerbot"), last, at("12:00")) == at("12:30")
    assert politeness.next_request(rules_for("vacuumweb"), last, at("12:00:05")) == at("12:00:12")


def test_slower_rate_applies_when_its_window_begins() -> None:
    last = politeness.Fetch(at("12:59:59"), 0.1)
    assert politeness.next_request(rules_for("vacuumweb"), last, at("12:59:59")) == at("13:09:59")


def test_next_request_waits_for_the_visit_time() -> None:
    morning = rules_for("suckemdry")
    assert politeness.next_request(morning, None, at("05:00")) == at("06:00")
    assert politeness.next_request(morning, None, at("06:30")) == at("06:30")
    last = politeness.Fetch(at("08:45:55"), 0.1)
    assert politeness.next_request(morning, last, at("08:45:55")) == at("06:00").replace(day=22)


def test_naive_datetime_is_rejected() -> None:
    with pytest.raises(ValueError, match="time zone"):
        politeness.next_request(rules_for("fredsbot"), None, datetime(2026, 1, 1))


def rules_with_rates(*rates: str) -> koster.Rules:
    lines = [f"Request-rate: {rate}" for rate in rates]
    return koster.parse("\n".join(["User-agent: *", *lines]), FIRST).rules_for("a")


def test_next_request_waits_for_each_slower_rate() -> None:
    slower = rules_with_rates("1/10m 0000-0009", "1/30m 0010-0029", "1/60m 0030-2359")
    last = politeness.Fetch(at("00:00"), 1)
    assert politeness.next_request(slower, last, at("00:00")) == at("01:00")


def test_next_request_ignores_a_rate_whose_window_ends_first() -> None:
    between = rules_with_rates("1/10m 0000-0009", "1/24h 0010-0014", "1/10m 0015-2359")
    last = politeness.Fetch(at("00:00"), 1)
    assert politeness.next_request(between, last, at("00:00")) == at("00:15")


@given(
    st.lists(
        st.tuples(
            st.integers(1, 90), st.integers(0, 23), st.integers(0, 59), st.integers(0, 23),
            st.integers(0, 59),
        ),
        max_size=3,
    ),
    st.lists(st.integers(1, 90), max_size=2),
    st.lists(st.tuples(*[st.integers(0, 23), st.integers(0, 59)] * 2), max_size=2),
    st.integers(0, 1439),
    st.integers(0, 200),
)  # fmt: skip
def test_next_request_is_the_first_minute_that_all_rules_allow(
    rates: list[tuple[int, ...]],
    rates_without_window: list[int],
    visit_times: list[tuple[int, ...]],
    start_minute: int,
    minutes_waited: int,
) -> None:
    lines = [
        *(f"Request-rate: 1/{minutes}m" for minutes in rates_without_window),
        *(f"Request-rate: 1/{n}m {a:02}{b:02}-{c:02}{d:02}" for n, a, b, c, d in rates),
        *("Visit-time: {:02}{:02}-{:02}{:02}".format(*window) for window in visit_times),
    ]
    rules = koster.parse("\n".join(["User-agent: *", *lines]), FIRST).rules_for("a")
    start = at("00:00") + timedelta(minutes=start_minute)
    default = politeness.Pace(0, 60)

    def is_due(moment: datetime) -> bool:
        pace = max(rules.interval(start) or 60, rules.interval(moment) or 60)
        return rules.open_at(moment) and (moment - start).total_seconds() >= pace

    now = start + timedelta(minutes=minutes_waited)
    expected = now
    while not is_due(expected):
        expected += timedelta(minutes=1)
    last = politeness.Fetch(start, 0)
    assert politeness.next_request(rules, last, now, default) == expected


@pytest.mark.parametrize("line", ["Crawl-delay: 1e300", "Crawl-delay: 1e12", "Crawl-delay: 1e400"])
def test_huge_crawl_delay_does_not_raise(line: str) -> None:
    rules = koster.parse(f"User-agent: *\n{line}\nDisallow:").rules_for("a")
    due = politeness.next_request(rules, politeness.Fetch(at("12:00"), 1), at("12:00"))
    assert due.year == (2026 if line.endswith("400") else 9999)


def test_longest_rate_does_not_raise() -> None:
    due = politeness.next_request(
        rules_with_rates("1/999999999d"), politeness.Fetch(at("12:00"), 1), at("12:00")
    )
    assert due.year == 9999


def test_invalid_fetch_is_rejected() -> None:
    with pytest.raises(ValueError, match="began must have a time zone"):
        politeness.Fetch(datetime(2026, 1, 1), 1)
    for seconds in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            politeness.Fetch(at("12:00"), seconds)
    last = politeness.Fetch(at("12:00"), 1)
    with pytest.raises(ValueError, match="time zone"):
        politeness.next_request(rules_for("fredsbot"), last, datetime(2026, 1, 1))


def test_window_until_midnight_ends_at_midnight() -> None:
    rules = koster.parse("User-agent: *\nVisit-time: 1200-2400", FIRST).rules_for("a")
    assert [rules.open_at(at(clock)) for clock in ("23:59:59", "00:00:30")] == [True, False]
    assert str(koster.VisitTime(time(1), time(1), 1)) == "all day"


def test_lines_before_a_robot_version_are_read_once() -> None:
    body = b"User-agent: *\n" + b"#\n" * 200_000 + b"Robot-version: 2.0\nDisallow: /a*"
    rules = koster.parse(body, FIRST).rules_for("a")
    assert [rules.decide("/ab").allowed for _ in range(200)] == [False] * 200


def test_many_rates_and_windows_are_fast() -> None:
    count = 20_000 if EVERYTHING else 6_000
    lines = [
        f"Request-rate: 1/{number}s {number % 24:02}{number % 60:02}-{number % 23:02}{number % 59:02}"
        for number in range(1, count)
    ] + [f"Visit-time: {number % 24:02}00-{number % 24:02}01" for number in range(count)]
    rules = koster.parse("\n".join(["User-agent: *", *lines]), FIRST).rules_for("a")
    due = politeness.next_request(rules, politeness.Fetch(at("12:00"), 1), at("12:00"))
    assert rules.open_at(due)
    assert (due - at("12:00")).total_seconds() >= (rules.interval(due) or 0)
