"""The one table of what `lint` finds: codes, their severity, why they matter, and who finds them.

The documentation of the codes, ``koster lint --explain`` and the rules of SARIF are made from it.
Adding a check is one entry here, and its cases in ``tests/findings.toml``.
"""

from __future__ import annotations

from . import _bytes, _groups, _lines, _patterns, _semantics, _values
from ._model import Check, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE
_RFC = "RFC 9309"
_GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/robots/robots_txt"
_GOOGLE_LINES = "google/robotstxt, reporting_robots.cc"
_RENDERING = (
    "https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics"
)

CHECKS = (
    # Bytes and encoding.
    Check("B001", "html", _E, "The file is an HTML page.",
        "Robots find no rule in it and may fetch everything. Mostly a server answers every unknown address with its start page: let it answer /robots.txt with the file, or with 404.",
        f"{_RFC} §2.3: the file is text/plain", _bytes.html),
    Check("B002", "not-utf-8-but-wide", _E, "The file is in UTF-16 or UTF-32.",
        "Robots read UTF-8. To most of them such a file has no rules.", f"{_RFC} §2.3", _bytes.wide),
    Check("B003", "byte-order-mark", _N, "The file begins with a UTF-8 byte order mark.",
        "Google and all who follow RFC 9309's practice skip it; to some older libraries the first line, often the first User-agent, is lost.", f"{_GOOGLE}; google/robotstxt, robots.cc", _bytes.bom),
    Check("B004", "not-utf-8", _W, "The file has octets that are not UTF-8.",
        "Robots compare octets: a path in another encoding is another path. In a comment it does no harm.", f"{_RFC} §2.3", _bytes.not_utf8),
    Check("B005", "invisible-character", _W, "A line has a character that nobody sees, or a space that is none.",
        "To robots it is part of the key or the path, which then is another one. It mostly comes from a text processor or a web page.", f"{_RFC} §2.2: the grammar has spaces and tabs alone", _bytes.invisible),
    Check("B006", "look-alike", _W, "A key is written with letters or signs that only look like those that are meant.",
        "Cyrillic and Greek letters and full-width signs are other characters: robots pass over the line.", f"{_RFC} §2.2; Unicode Technical Standard 39", _bytes.look_alike),
    Check("B007", "control-character", _W, "A line has a control character.",
        "It is part of the path to most robots, and the end of the line to some.", "google/robotstxt, robots.cc", _bytes.controls),
    Check("B008", "lone-carriage-return", _N, "A line ends with a carriage return alone.",
        "RFC 9309 takes it for the end of a line; tools that do not take the whole file for one line.", f"{_RFC} §2.2: EOL = CR / LF / CRLF", _bytes.lone_returns),
    Check("B009", "tag", _W, "A line is a tag of HTML.",
        "Robots pass over it; but something put it there, and may have put more.", f"{_RFC} §2.2", _bytes.page_in_parts),
    # Lines and keys.
    Check("L001", "missing-colon", _W, "A key stands before white space, without a colon.",
        "Google reads two words without a colon as key and value; RFC 9309 does not ask for that, and others pass over the line.", _GOOGLE_LINES, _lines.no_colon),
    Check("L002", "no-directive", _W, "A line is neither a key with a value nor a comment.",
        "Robots pass over it. Remarks begin with #.", f"{_RFC} §2.2", _lines.no_line),
    Check("L003", "misspelt-key", _W, "A key is a misspelling that Google reads all the same.",
        "Other robots pass over the line.", "google/robotstxt, robots.cc: kAllowFrequentTypos", _lines.misspelt),
    Check("L004", "typo", _W, "A key is no key, but nearly one.",
        "Robots pass over the line.", f"{_RFC} §2.2.4", _lines.typo),
    Check("L005", "unknown-key", _N, "A key is none that any standard knows.",
        "Robots pass over the line, and other lines are not affected.", f"{_RFC} §2.2.4", _lines.unknown),
    Check("L006", "ignored-key", _N, "Robots that matter ignore this key.",
        "It does no harm, and does not do what it says for those robots.", "google/robotstxt, reporting_robots.cc: kUnsupportedTags; the operators' pages", _lines.ignored),
    Check("L007", "glued-comment", _W, "A comment begins in the middle of a word.",
        "# begins a comment wherever it stands. What follows it is not part of the value.", f"{_RFC} §2.2", _lines.glued_comment),
    Check("L008", "fragment", _W, "A path has what looks like a fragment.",
        "# begins a comment, so that the rule is shorter, and holds for more, than it looks. Robots never ask for fragments.", f"{_RFC} §2.2; RFC 3986 §3.5", _lines.fragment),
    # Groups.
    Check("G001", "rule-before-agent", _E, "A rule stands before any User-agent line.",
        "It belongs to no group and is ignored.", f"{_RFC} §2.2.1", _groups.orphans),
    Check("G002", "group-without-rules", _W, "A group has no rules.",
        "The robots that it names may fetch everything: groups for everybody do not count for them.", f"{_RFC} §2.2.1", _groups.no_rules),
    Check("G003", "glued-groups", _W, "A line between two User-agent lines does not end the group.",
        "Only Allow and Disallow close a list of agents. In `User-agent: A / Crawl-delay: 5 / User-agent: B / Disallow: /` the rule holds for A as well.", f"{_RFC} §2.2.4", _groups.glued),
    Check("G004", "several-groups", _N, "A robot has several groups.",
        "RFC 9309 merges them; robots that follow the older standards read the first alone.", f"{_RFC} §2.2.1", _groups.repeated),
    Check("G005", "not-a-product-token", _W, "A name is no product token.",
        "Product tokens have letters, _ and -, and robots look for their own, not for a header, a version or a pattern.", f"{_RFC} §2.2.1", _groups.not_a_token),
    Check("G006", "several-names", _E, "A User-agent line has several names.",
        "Robots take them for one name, which nobody has: the group is for nobody.", f"{_RFC} §2.2.1", _groups.several_names),
    Check("G007", "no-name", _W, "A User-agent line has no name.",
        "The group is for nobody.", f"{_RFC} §2.2.1", _groups.no_name),
    Check("G008", "robot-version", _W, "A Robot-version does not choose a version.",
        "It counts directly after the User-agent lines; odd minor versions are for trials, and their groups are passed over.", "An Extended Standard for Robot Exclusion", _groups.versions),
    Check("G009", "no-groups", _N, "The file says nothing to any robot.",
        "Everything is allowed. That may be meant.", f"{_RFC} §2.2.2", _groups.no_groups),
    Check("G010", "named-twice", _N, "A group names a robot twice.",
        "It does no harm.", f"{_RFC} §2.2.1", _groups.twice),
    Check("G011", "cut-name", _W, "Google's parser takes a name for that of another group.",
        "It reads names up to the first character that is no letter, _ or -: AI2Bot is AI.", "google/robotstxt, robots.cc: ExtractUserAgent", _groups.cut_by_google),
    Check("G012", "name-with-digits", _N, "A name has digits or dots.",
        "Product tokens have letters, _ and -. Robots such as MJ12bot have digits all the same; Google's parser cuts such names.", f"{_RFC} §2.2.1; google/robotstxt, robots.cc: ExtractUserAgent", _groups.odd_token),
    # Patterns.
    Check("P001", "no-leading-slash", _E, "A pattern begins with neither a slash nor a star.",
        "Paths begin with a slash: the rule matches nothing.", f"{_RFC} §2.2.2", _patterns.no_slash),
    Check("P002", "host", _E, "A pattern has a host.",
        "Rules are for the site that serves the file, and begin with a path: the rule matches nothing.", f"{_RFC} §2.2.2", _patterns.host),
    Check("P003", "dollar-in-the-middle", _W, "A dollar sign stands in the middle of a pattern.",
        "It anchors a pattern at its end alone. Elsewhere it is a literal dollar sign.", f"{_RFC} §2.2.3", _patterns.dollar),
    Check("P004", "idle-star", _N, "A star says nothing.",
        "A pattern matches whatever begins like it, so that a star at the end changes nothing but its length, which decides between rules.", f"{_RFC} §2.2.2", _patterns.stars),
    Check("P005", "space", _W, "A pattern has a space in it.",
        "Paths have none: it matches %20 alone. Often two paths, or two directives, stand on one line.", f"{_RFC} §2.2; RFC 3986 §3.3", _patterns.spaces),
    Check("P006", "bad-escape", _W, "A percent sign is not followed by two hex digits.",
        "Dialects differ on what it then means.", f"{_RFC} §2.2.2; RFC 3986 §2.1", _patterns.bad_escape),
    Check("P007", "regular-expression", _W, "A pattern looks like a regular expression.",
        "All but * and a $ at the end is literal.", f"{_RFC} §2.2.3", _patterns.regex),
    Check("P008", "first-parameter-alone", _N, "A pattern matches a query parameter where it comes first alone.",
        "After another parameter it follows &, not ?.", "RFC 3986 §3.4", _patterns.query),
    # Semantics.
    Check("S001", "dead-rule", _W, "A rule decides nothing: others count for more wherever it matches.",
        "It can be removed, or one of the others is wrong. Of the rules that match a URL the longest counts, Allow on a tie.", f"{_RFC} §2.2.2; proved by koster.analysis", _semantics.covered),
    Check("S002", "contradiction", _W, "A path is both allowed and disallowed.",
        "The longer pattern holds, and Allow on a tie; robots that follow older standards take the first.", f"{_RFC} §2.2.2", _semantics.contradicted),
    Check("S003", "rule-twice", _N, "A rule stands twice.",
        "It does no harm.", f"{_RFC} §2.2.2", _semantics.repeated),
    Check("S004", "matches-no-path", _W, "No URL has a path like this.",
        "The rule decides nothing.", "proved by koster.analysis", _semantics.no_path),
    Check("S005", "robots-txt-rule", _N, "A rule is about /robots.txt itself.",
        "That may always be fetched.", f"{_RFC} §2.2.2", _semantics.itself),
    Check("S006", "everything-closed", _W, "Robots without a group of their own may fetch nothing.",
        "The site will not be found by search engines that are not named. On a test site that is meant.", f"{_RFC} §2.2.2", _semantics.all_closed),
    Check("S007", "search-closed", _W, "A large search engine may fetch nothing, where others may.",
        "The site will not be found there.", _GOOGLE, _semantics.search_closed),
    Check("S008", "resources-closed", _W, "Search robots may not fetch style sheets or scripts.",
        "They render pages before they index them, and judge them without what they may not fetch.", _RENDERING, _semantics.resources),
    Check("S009", "said-already", _N, "A wider rule says the same.",
        "It does no harm; of rules that say the same one has to be kept up.", f"{_RFC} §2.2.2; proved by koster.analysis", _semantics.said_already),
    Check("S010", "nothing-to-allow", _N, "An Allow is an exception from nothing.",
        "What no rule disallows is allowed. Whoever wants to close the rest of the site has to disallow it.", f"{_RFC} §2.2.2; proved by koster.analysis", _semantics.nothing_to_allow),
    # Sitemaps.
    Check("M001", "relative-sitemap", _E, "A sitemap has no scheme and host.",
        "Robots pass over it.", "https://www.sitemaps.org/protocol.html#submit_robots", _values.relative_sitemap),
    Check("M002", "sitemap-closed", _W, "A sitemap may not be fetched.",
        "A robot that heeds the file cannot read it. On another host other rules hold.", "https://www.sitemaps.org/protocol.html#submit_robots", _semantics.sitemap_closed),
    Check("M003", "bad-sitemap", _W, "A sitemap is no URL.",
        "Robots pass over it.", "https://www.sitemaps.org/protocol.html#submit_robots", _values.bad_sitemap),
    Check("M004", "sitemap-twice", _N, "A sitemap is named twice.",
        "It does no harm.", "https://www.sitemaps.org/protocol.html#submit_robots", _values.sitemap_twice),
    # Preferences and extensions.
    Check("E001", "bad-crawl-delay", _W, "A Crawl-delay is no number.",
        "Robots ignore it.", "https://www.bing.com/webmasters/help/how-to-create-a-robots-txt-file-cb7c31ec", _values.bad_delay),
    Check("E002", "bad-request-rate", _W, "A Request-rate is none.",
        "Robots ignore it.", "An Extended Standard for Robot Exclusion", _values.bad_rate),
    Check("E003", "bad-visit-time", _W, "A Visit-time is no window of the day.",
        "Robots ignore it.", "An Extended Standard for Robot Exclusion", _values.bad_time),
    Check("E004", "bad-content-signal", _W, "A Content-Signal is none that its vocabulary knows.",
        "It says nothing.", "https://contentsignals.org/", _values.bad_signal),
    Check("E005", "bad-content-usage", _W, "A Content-Usage is none that its vocabulary knows.",
        "It says nothing.", "draft-ietf-aipref-attach, draft-ietf-aipref-vocab", _values.bad_usage),
    Check("E006", "contradicting-preferences", _W, "A group has a preference both ways.",
        "The stricter one counts for robots that read it so; others may take either.", "https://contentsignals.org/", _values.contradicting),
    Check("E007", "long-crawl-delay", _N, "A Crawl-delay is very long.",
        "A robot that heeds it reads a few pages a day; many cap it.", "https://www.bing.com/webmasters/help/how-to-create-a-robots-txt-file-cb7c31ec", _values.long_delay),
    Check("E008", "several-crawl-delays", _N, "A group has several Crawl-delays.",
        "Robots differ on which of them counts.", f"{_RFC} says nothing of it", _values.several_delays),
    Check("E009", "bad-license", _W, "A licence is no URL.",
        "RSL wants the address of a licence file.", "https://rslstandard.org/rsl", _values.bad_license),
    Check("E010", "bad-clean-param", _W, "A Clean-param is not what Yandex reads.",
        "Yandex ignores it.", "https://yandex.com/support/webmaster/en/robot-workings/clean-param", _values.bad_clean_param),
    # Limits.
    Check("Z001", "too-large", _E, "The file has more than 500 KiB.",
        "Robots must read 500 KiB, and many read no more: what follows does not hold.", f"{_RFC} §2.5", _values.too_long),
    Check("Z002", "long-line", _W, "A line is longer than Google's parser reads.",
        "The rest of the line does not count.", "google/robotstxt, robots.cc: kMaxLineLen", _values.long_line),
    Check("Z003", "not-read", _E, "The file is longer than koster reads.",
        "What follows was not looked at.", "docs/library.md", _values.beyond_koster),
    # Portability.
    Check("D001", "read-differently", _N, "Dialects read the file differently.",
        "The URL shows it: one dialect lets the robot fetch it, the other does not.", "proved by koster.analysis", _semantics.dialects),
)  # fmt: skip

CHECK_OF = {check.code: check for check in CHECKS}
