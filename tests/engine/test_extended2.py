"""An Extended Standard for Robot Exclusion: each of its examples, with what it says of it.

Where the document's own wording and its example disagree, docs/dialects.md says which is
followed; those URLs stand apart below.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import politeness

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

#: The site that the examples are about, as far as their rules and words tell.
PAGES = ("/index.html", "/products.html", "/overview.html", "/thankyou.html")
ORDERS = ("/order.shtml", "/order.cgi")
IMAGES = ("/images/index.html", "/images/logo.gif", "/images/photo.jpg")
BLACKHOLE = (
    *("/blackhole/index.html", "/blackhole/info98.shtml", "/blackhole/info99.html"),
    *("/blackhole/info99.gif", "/blackhole/info8.html", "/blackhole/info/page2.shtml"),
    *("/blackhole/info7.html", "/blackhole/info/page1.html"),
)
SITE = (*PAGES, *ORDERS, *IMAGES, *BLACKHOLE)

FIRST, EARLIER = koster.EXTENDED2, koster.EXTENDED2_1996


def allowed_of(agent: str, dialect: koster.Dialect) -> set[str]:
    rules = koster.parse(FILE, dialect).rules_for(agent)
    return {url for url in SITE if rules.allowed("http://www.frommitz.biz" + url)}


def rules(agent: str, dialect: koster.Dialect = FIRST) -> koster.Rules:
    return koster.parse(FILE, dialect).rules_for(agent)


def at(clock: str) -> datetime:
    return datetime.combine(datetime(2026, 11, 21), time.fromisoformat(clock), UTC)


@pytest.mark.parametrize("dialect", [FIRST, EARLIER], ids=str)
@pytest.mark.parametrize("agent", ["fredsbot", "pandabot", "chives", "Fredsbot/1.0"])
def test_fredsbot_only_gets_the_four_pages(agent: str, dialect: koster.Dialect) -> None:
    assert allowed_of(agent, dialect) == set(PAGES)


@pytest.mark.parametrize("dialect", [FIRST, EARLIER], ids=str)
def test_popularsite_gets_what_is_not_excluded(dialect: koster.Dialect) -> None:
    assert allowed_of("popularsite", dialect) == {
        *PAGES,
        *("/blackhole/index.html", "/blackhole/info7.html", "/blackhole/info/page1.html"),
    }


#: "these we don't want indexed", "nor this one", "any references to server side include files
#: are not allowed": but an earlier Allow lets them in, and rules hold in the order they appear.
LET_IN_BY_AN_EARLIER_ALLOW = {
    *("/blackhole/info99.html", "/blackhole/info99.gif", "/blackhole/info8.html"),
    *("/blackhole/info98.shtml", "/blackhole/info/page2.shtml"),
}


@pytest.mark.parametrize("agent", ["alfred", "newchives", "oscarbot"])
def test_alfred_gets_index_pages_and_what_is_allowed_by_name(agent: str) -> None:
    assert allowed_of(agent, FIRST) - LET_IN_BY_AN_EARLIER_ALLOW == {
        *("/index.html", "/images/index.html", "/blackhole/index.html"),
        *("/blackhole/info7.html", "/blackhole/info/page1.html"),
    }
    decision = rules(agent).decide("/blackhole/info99.html")
    assert decision.allowed
    assert str(decision.rule) == "Allow: /blackhole/info*"
    assert allowed_of(agent, FIRST) > LET_IN_BY_AN_EARLIER_ALLOW


def test_alfred_is_let_in_to_images_only_by_name() -> None:
    assert rules("alfred").allowed("/images/index.html")
    assert not rules("alfred").allowed("/images/logo.gif")
    assert not rules("alfred").allowed("/order.cgi")
    assert not rules("alfred").allowed("/order.shtml")


def test_under_the_wording_of_1996_disallow_star_leaves_explicit_allows() -> None:
    explicit = {"/images/index.html", "/blackhole/index.html"}
    assert allowed_of("alfred", EARLIER) == explicit
    for agent in ("hackerbot", "suckemdry", "vacuumweb"):
        assert allowed_of(agent, EARLIER) == set()


def test_alfred_under_the_wording_of_1996_without_disallow_star() -> None:
    """Without that line all comes out that the document says of the example."""
    file = FILE.replace("Disallow: *\t\t\t# nothing else will be allowed\n", "")
    robots = koster.parse(file, EARLIER)
    assert {url for url in SITE if robots.allowed(url, "alfred")} == {
        *("/index.html", "/images/index.html", "/blackhole/index.html"),
        *("/blackhole/info7.html", "/blackhole/info/page1.html"),
    }


def test_hackerbot_gets_index_pages_one_in_thirty_minutes() -> None:
    assert allowed_of("hackerbot", FIRST) == {url for url in SITE if url.endswith("index.html")}
    assert rules("hackerbot").interval(at("12:00")) == 30 * 60
    assert rules("hackerbot").request_rates[0].requests == 1


def test_suckemdry_gets_html_in_the_morning() -> None:
    assert allowed_of("suckemdry", FIRST) == {url for url in SITE if url.endswith(".html")}
    rules_of = rules("suckemdry")
    for clock, is_open in [
        *(("05:59:59", False), ("06:00", True), ("08:45", True), ("08:45:59", True)),
        *(("08:46", False), ("23:00", False)),
    ]:
        assert (rules_of.open_at(at(clock)), clock) == (is_open, clock)
    assert rules_of.next_open(at("09:00")) == at("06:00").replace(day=22)


@pytest.mark.parametrize("agent", ["vacuumweb", "spanwebbot", "spiderbot"])
def test_vacuumweb_is_slowed_down_by_the_hour_and_told_why(agent: str) -> None:
    assert allowed_of(agent, FIRST) == {url for url in SITE if url.endswith(".html")}
    rules_of = rules(agent)
    for clock, seconds in [
        *(("13:00", 600), ("16:59:59", 600), ("17:00", 1200), ("23:59:59", 1200)),
        *(("00:00", 1200), ("04:59:59", 1200), ("05:00", 12), ("12:59:59", 12)),
    ]:
        assert (rules_of.interval(at(clock)), clock) == (seconds, clock)
    assert rules_of.comments == (
        "because you guys try all the time, I'm gonna limit you",
        "to how many documents you can retrieve.  So there!",
    )


@pytest.mark.parametrize("dialect", [FIRST, EARLIER], ids=str)
def test_no_other_robot_gets_anything(dialect: koster.Dialect) -> None:
    assert allowed_of("otherbot", dialect) == set()
    assert rules("otherbot", dialect).decide("/").rule == koster.Rule(
        koster.Directive.DISALLOW, "/", len(FILE.splitlines()), False, 11
    )


def test_an_empty_file_welcomes_all() -> None:
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


def test_a_normalized_rate_is_one_document_in_so_many_seconds() -> None:
    robots = koster.parse("User-agent: *\nRequest-rate: 100/24h", FIRST)
    assert robots.rules_for("a").interval(at("00:00")) == 864


def test_of_rates_without_a_time_the_fewest_documents_count() -> None:
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
        # Of several windows the slowest rate counts.
        (("1/60", "1/10 0600-0659", "1/20 0630-0729"), "06:45", 20),
        (("1/60", "1/10 0600-0659", "1/20 0630-0729"), "06:15", 10),
        # Outside of all, the slowest without a window.
        (("1/60", "1/90", "1/10 0600-0659"), "08:00", 90), (("1/10 0600-0659",), "08:00", None),
    ],
)  # fmt: skip
def test_inside_its_window_a_rate_replaces_those_without(
    lines: tuple[str, ...], clock: str, seconds: int | None, dialect: koster.Dialect
) -> None:
    body = "\n".join(["User-agent: *", *(f"Request-rate: {line}" for line in lines)])
    rules_of = koster.parse(body, dialect).rules_for("a")
    assert rules_of.interval(at(clock)) == seconds
    last = politeness.Fetch(at(clock), 0)
    if "0659" in body and clock != "06:59:59":
        expected = at(clock) + timedelta(seconds=seconds or 10)
        assert politeness.next_request(rules_of, last, at(clock)) == expected


def test_elsewhere_the_slowest_of_all_rates_that_apply_counts() -> None:
    body = "User-agent: *\nRequest-rate: 1/60\nRequest-rate: 1/10 0600-0659"
    for dialect in (koster.RFC9309, FIRST):
        rules_of = koster.parse(body, dialect).rules_for("a")
        assert rules_of.interval(at("06:30")) == (60 if dialect is koster.RFC9309 else 10)
        assert rules_of.dialect is dialect


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
    ("agent", "closed"),
    [
        ("FredsBot", "/fred"), ("FredsBot/2.1", "/fred"), ("FredsBot2", "/fred"),
        ("Mozilla/5.0 (compatible; FredsBot/2.1; +https://fred.example/)", "/fred"),
        ("Mozilla/5.0 (compatible;FredsBot/2.1)", "/fred"), ("libwww/1.0 FredsBot/2.1", "/fred"),
        # In order: the first product that has a rule set, wherever that stands in the file.
        ("FredsBot/2.1 PandaBot/1.0", "/fred"), ("PandaBot/1.0 FredsBot/2.1", "/panda"),
        ("Other/1 (FredsBot; like PandaBot)", "/fred"), ("fred bot/1.0", "/two"),
        ("Mozilla/5.0 (Fred Bot)", "/two"),
        # A name begins a product, and an address is not one.
        ("MyFredsBot/1.0", "/all"), ("Mozilla/5.0 (Big-FredsBot)", "/all"),
        ("Mozilla/5.0 (+https://fredsbot.example/ pandabot@example.com)", "/all"),
        ("Mozilla/5.0 (fred)", "/all"), ("", "/all"), ("Mozilla/5.0 ()", "/all"),
    ],
)  # fmt: skip
def test_a_header_finds_its_rule_set_by_its_product_tokens(
    agent: str, closed: str, dialect: koster.Dialect
) -> None:
    rules_of = koster.parse(SETS, dialect).rules_for(agent)
    assert [path for path in ("/panda", "/fred", "/two", "/all") if not rules_of.allowed(path)] == [
        closed
    ]


def test_a_rule_set_is_skipped_by_its_version_for_a_header_too() -> None:
    body = (
        "User-agent: fredsbot\nRobot-version: 2.1\nDisallow: /fred\n\nUser-agent: *\nDisallow: /all"
    )
    rules_of = koster.parse(body, FIRST).rules_for("Mozilla/5.0 (FredsBot/2.1)")
    assert (rules_of.allowed("/fred"), rules_of.allowed("/all")) == (True, False)


@pytest.mark.parametrize("header", ["b" + " ba" * 2_700, "x" + "a" * 8_000 + " (y; z)"])
def test_a_header_among_many_names_takes_no_time(header: str) -> None:
    names = [f"User-agent: {'a' * number}" for number in range(1, 800)]
    names += [f"User-agent: c{number}" for number in range(30_000)]
    robots = koster.parse("\n".join([*names, "Disallow: /"]), FIRST)
    assert all(robots.allowed("/", f"{header}{number}") for number in range(20))


@given(
    st.lists(st.text("ab ", min_size=1, max_size=4).map(str.strip), max_size=6),
    st.text("ab (;/", max_size=12),
)
def test_the_first_word_that_a_name_begins_decides(names: list[str], header: str) -> None:
    body = "\n\n".join(f"User-agent: {name}\nDisallow: /{n}" for n, name in enumerate(names))
    starts = [word.start() for word in re.finditer(r"[^ ();,]+", header)]
    rests = [header[start:] for start in starts] if len(starts) > 1 else [header]
    expected = next(
        (n for rest in rests for n, name in enumerate(names) if name and rest.startswith(name)),
        None,
    )
    asked = koster.parse(body, FIRST).rules_for(header)
    closed = [n for n in range(len(names)) if not asked.allowed(f"/{n}")]
    assert closed == ([] if expected is None else [expected])


@pytest.mark.parametrize("window", ["06:00 08:45", "0600-0845", "0600 - 0845", "06:00-08:45"])
def test_both_wordings_of_times(window: str) -> None:
    robots = koster.parse(
        f"User-agent: *\nVisit-time: {window}\nRequest-rate: 1/10m {window}", FIRST
    )
    rules_of = robots.rules_for("a")
    assert [str(each) for each in rules_of.visit_times] == ["06:00-08:45"]
    assert rules_of.interval(at("07:00")) == 600
    assert rules_of.interval(at("09:00")) is None


def test_several_windows_and_one_over_midnight() -> None:
    robots = koster.parse("User-agent: *\nVisit-time: 2300-0100\nVisit-time: 12:00 12:59", FIRST)
    rules_of = robots.rules_for("a")
    clocks = ("22:59", "23:00", "00:30", "01:00:30", "01:01", "12:59:59", "13:00")
    assert [rules_of.open_at(at(clock)) for clock in clocks] == [
        *(False, True, True, True, False, True, False)
    ]
    assert rules_of.next_open(at("01:01")) == at("12:00")


@pytest.mark.parametrize(("fetch", "seconds"), [(0.1, 10), (5.0, 10), (6.0, 12), (60.0, 120)])
def test_the_rule_of_thumb(fetch: float, seconds: float) -> None:
    assert politeness.RULE_OF_THUMB.interval(fetch) == seconds
    rules_of = rules("fredsbot")
    last = politeness.Fetch(at("12:00"), fetch)
    expected = at("12:00").timestamp() + seconds
    assert politeness.next_request(rules_of, last, at("12:00")).timestamp() == expected
    assert politeness.next_request(rules_of, last, at("13:00")) == at("13:00")


def test_what_the_site_asks_for_goes_before_the_rule_of_thumb() -> None:
    last = politeness.Fetch(at("12:00"), 100.0)
    assert politeness.next_request(rules("hackerbot"), last, at("12:00")) == at("12:30")
    assert politeness.next_request(rules("vacuumweb"), last, at("12:00:05")) == at("12:00:12")


def test_a_slower_rate_holds_from_when_its_window_begins() -> None:
    last = politeness.Fetch(at("12:59:59"), 0.1)
    assert politeness.next_request(rules("vacuumweb"), last, at("12:59:59")) == at("13:09:59")


def test_the_next_request_waits_for_the_visit_time() -> None:
    early = rules("suckemdry")
    assert politeness.next_request(early, None, at("05:00")) == at("06:00")
    assert politeness.next_request(early, None, at("06:30")) == at("06:30")
    last = politeness.Fetch(at("08:45:55"), 0.1)
    assert politeness.next_request(early, last, at("08:45:55")) == at("06:00").replace(day=22)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        politeness.next_request(rules("fredsbot"), None, datetime(2026, 1, 1))


def rated(*rates: str) -> koster.Rules:
    lines = [f"Request-rate: {rate}" for rate in rates]
    return koster.parse("\n".join(["User-agent: *", *lines]), FIRST).rules_for("a")


def test_the_next_request_waits_for_every_slower_rate_on_the_way() -> None:
    slower = rated("1/10m 0000-0009", "1/30m 0010-0029", "1/60m 0030-2359")
    last = politeness.Fetch(at("00:00"), 1)
    assert politeness.next_request(slower, last, at("00:00")) == at("01:00")


def test_the_next_request_does_not_wait_for_a_rate_that_is_over_before() -> None:
    between = rated("1/10m 0000-0009", "1/24h 0010-0014", "1/10m 0015-2359")
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
def test_the_next_request_is_the_first_minute_at_which_all_is_well(
    rates: list[tuple[int, ...]],
    untimed: list[int],
    visits: list[tuple[int, ...]],
    began: int,
    waited: int,
) -> None:
    lines = [
        *(f"Request-rate: 1/{minutes}m" for minutes in untimed),
        *(f"Request-rate: 1/{n}m {a:02}{b:02}-{c:02}{d:02}" for n, a, b, c, d in rates),
        *("Visit-time: {:02}{:02}-{:02}{:02}".format(*visit) for visit in visits),
    ]
    rules_of = koster.parse("\n".join(["User-agent: *", *lines]), FIRST).rules_for("a")
    start = at("00:00") + timedelta(minutes=began)
    default = politeness.Pace(0, 60)

    def is_due(moment: datetime) -> bool:
        pace = max(rules_of.interval(start) or 60, rules_of.interval(moment) or 60)
        return rules_of.open_at(moment) and (moment - start).total_seconds() >= pace

    now = start + timedelta(minutes=waited)
    expected = now
    while not is_due(expected):
        expected += timedelta(minutes=1)
    last = politeness.Fetch(start, 0)
    assert politeness.next_request(rules_of, last, now, default) == expected


@pytest.mark.parametrize("line", ["Crawl-delay: 1e300", "Crawl-delay: 1e12", "Crawl-delay: 1e400"])
def test_no_delay_raises(line: str) -> None:
    rules_of = koster.parse(f"User-agent: *\n{line}\nDisallow:").rules_for("a")
    found = politeness.next_request(rules_of, politeness.Fetch(at("12:00"), 1), at("12:00"))
    assert found.year == (2026 if line.endswith("400") else 9999)


def test_the_longest_rate_does_not_raise() -> None:
    found = politeness.next_request(
        rated("1/999999999d"), politeness.Fetch(at("12:00"), 1), at("12:00")
    )
    assert found.year == 9999


def test_what_is_no_fetch_is_refused() -> None:
    with pytest.raises(ValueError, match="began must have a time zone"):
        politeness.Fetch(datetime(2026, 1, 1), 1)
    for seconds in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            politeness.Fetch(at("12:00"), seconds)
    last = politeness.Fetch(at("12:00"), 1)
    with pytest.raises(ValueError, match="time zone"):
        politeness.next_request(rules("fredsbot"), last, datetime(2026, 1, 1))


def test_a_window_until_midnight_ends_there() -> None:
    rules_of = koster.parse("User-agent: *\nVisit-time: 1200-2400", FIRST).rules_for("a")
    assert [rules_of.open_at(at(clock)) for clock in ("23:59:59", "00:00:30")] == [True, False]
    assert str(koster.VisitTime(time(1), time(1), 1)) == "all day"


def test_what_leads_up_to_a_version_is_read_once() -> None:
    body = b"User-agent: *\n" + b"#\n" * 200_000 + b"Robot-version: 2.0\nDisallow: /a*"
    rules_of = koster.parse(body, FIRST).rules_for("a")
    assert [rules_of.decide("/ab").allowed for _ in range(200)] == [False] * 200


def test_many_rates_and_windows_take_no_time() -> None:
    lines = [
        f"Request-rate: 1/{number}s {number % 24:02}{number % 60:02}-{number % 23:02}{number % 59:02}"
        for number in range(1, 20_000)
    ] + [f"Visit-time: {number % 24:02}00-{number % 24:02}01" for number in range(20_000)]
    rules_of = koster.parse("\n".join(["User-agent: *", *lines]), FIRST).rules_for("a")
    found = politeness.next_request(rules_of, politeness.Fetch(at("12:00"), 1), at("12:00"))
    assert rules_of.open_at(found)
    assert (found - at("12:00")).total_seconds() >= (rules_of.interval(found) or 0)
