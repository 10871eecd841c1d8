"""What goes in and comes out of the API, with examples: from this OpenAPI is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, model_validator

from ..analysis import Extent
from ..crawlers import Obeys, Purpose
from ..dialects import DIALECTS, RFC9309, dialect_named
from ..errors import UnknownDialectError
from ..lint import Severity
from ..model import Reason

#: Longer ones no browser sends, and no crawler is called so.
MAX_URL = 8_192
MAX_AGENT = 1_024
MAX_SITE = 2_048


#: No request has as many fields; each one that is not known would be told.
_MOST_FIELDS = 20
#: Entries of a list, whatever a service is told to take.
_MOST_ENTRIES = 10_000


def _known_dialect(name: str) -> str:
    """Return the name of a dialect as it is written.

    Raises:
        ValueError: there is none.
    """
    try:
        return dialect_named(name).name
    except UnknownDialectError as error:
        raise ValueError(str(error)) from error


def _whole_text(text: str) -> str:
    r"""Return text that is one.

    JSON can spell half of a character (``"\ud800"``), of which no bytes come.

    Raises:
        ValueError: it holds such a half.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"character {error.start + 1} is half of one (a lone surrogate)") from None
    return text


Text = Annotated[str, AfterValidator(_whole_text)]
DialectName = Annotated[
    str,
    AfterValidator(_known_dialect),
    Field(description="A dialect, by its name.", json_schema_extra={"enum": list(DIALECTS)}),
]
Agent = Annotated[Text, Field(min_length=1, max_length=MAX_AGENT)]
Url = Annotated[Text, Field(min_length=1, max_length=MAX_URL)]
SiteUrl = Annotated[Text, Field(min_length=1, max_length=MAX_SITE)]
Robots = Annotated[
    Text | None, Field(description="The text of a robots.txt.", examples=["User-agent: *"])
]
Site = Annotated[
    SiteUrl | None,
    Field(description="Any address on a site whose robots.txt is fetched; or its name."),
]

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

_TEXT = "User-agent: *\nDisallow: /private\nAllow: /private/press\n"


def _documented(example: dict[str, Any]) -> ConfigDict:
    """Return how a request is read: what it does not know it refuses, rather than overlook it."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class File(BaseModel):
    """A robots.txt: its text, or the site that has it. One of them is to be given."""

    model_config = _documented({"robots": _TEXT})

    robots: Robots = None
    site: Site = None

    @model_validator(mode="before")
    @classmethod
    def _few(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > _MOST_FIELDS:
            raise ValueError(f"has more than {_MOST_FIELDS} fields")
        return given

    @model_validator(mode="after")
    def _one(self) -> File:
        if (self.robots is None) == (self.site is None):
            raise ValueError("give either robots, a text, or site, an address")
        return self


class _Query(BaseModel):
    """What stands behind the question mark: nothing that is not known."""

    model_config = ConfigDict(extra="forbid")


class CheckQuery(_Query):
    """A URL, and who asks for it."""

    url: Annotated[
        Url,
        Field(
            description="A whole URL; https is meant where it has no scheme.",
            examples=["https://example.com/private"],
        ),
    ]
    agent: Agent = "*"
    dialect: DialectName = RFC9309.name


class FetchQuery(_Query):
    """A site, and how statuses are read."""

    site: Annotated[
        SiteUrl,
        Field(description="Any address on the site, or its name.", examples=["example.com"]),
    ]
    dialect: DialectName = RFC9309.name
    max_age: Annotated[
        int | None,
        Field(
            ge=60,
            description="Seconds; a copy that was had longer ago is asked for again.",
        ),
    ] = None


class AgentsQuery(_Query):
    """Which crawlers are wanted."""

    purpose: Annotated[Purpose | None, Field(description="Those alone.")] = None


class DecideRequest(File):
    """Every URL is asked about for every robot."""

    model_config = _documented(
        {
            "robots": _TEXT,
            "agents": ["FooBot"],
            "urls": ["/private/x", "https://example.com/private/press/1"],
        }
    )

    agents: Annotated[
        list[Agent],
        FailFast(),
        Field(
            min_length=1,
            max_length=_MOST_ENTRIES,
            description="Product tokens, or whole User-Agent headers; * is any robot without a "
            "group of its own.",
        ),
    ] = ["*"]
    urls: Annotated[
        list[Url],
        FailFast(),
        Field(
            min_length=1,
            max_length=_MOST_ENTRIES,
            description="URLs or paths. With site, URLs of that site.",
        ),
    ]
    dialect: DialectName = RFC9309.name


class LintRequest(File):
    """A file, and how it is read."""

    model_config = _documented({"robots": "User-agent: *\nDisallow: admin\n"})

    dialects: Annotated[
        list[DialectName],
        Field(
            min_length=1,
            max_length=len(DIALECTS),
            description="How the file is read, and which others are compared with that.",
        ),
    ] = ["RFC9309", "GOOGLE"]


class DiffRequest(BaseModel):
    """Two files, before and after a change."""

    model_config = _documented(
        {
            "before": {"robots": "User-agent: *\nDisallow: /a\n"},
            "after": {"robots": "User-agent: *\nDisallow: /a/\n"},
        }
    )

    before: File
    after: File
    dialect: DialectName = RFC9309.name


class AuditRequest(File):
    """A file, and the crawlers that are asked about: all known ones, if none are named."""

    model_config = _documented({"robots": "User-agent: GPTBot\nDisallow: /\n", "agents": []})

    agents: Annotated[
        list[Agent],
        FailFast(),
        Field(max_length=1_000, description="Product tokens of known crawlers."),
    ] = []
    dialect: DialectName = RFC9309.name


class DisagreeRequest(File):
    """A file, the dialect it is meant in, others, and the robots that are asked about."""

    model_config = _documented(
        {
            "robots": "User-agent: *\nDisallow: /a b\nDisallow: /*.pdf$\n",
            "dialects": ["GOOGLE", "MK1996"],
        }
    )

    agents: Annotated[list[Agent], FailFast(), Field(min_length=1, max_length=50)] = ["*"]
    dialect: DialectName = RFC9309.name
    dialects: Annotated[list[DialectName], Field(min_length=1, max_length=len(DIALECTS))] = list(
        DIALECTS
    )


class Decided(BaseModel):
    """Whether a URL may be fetched, and why."""

    allowed: bool
    reason: Reason
    line: Annotated[int | None, Field(description="The line that decided, from 1.")]
    rule: Annotated[str | None, Field(description="What it says.", examples=["Disallow: /a"])]


class DecisionRecord(Decided):
    """The answer to a question."""

    agent: str
    url: str
    sentence: Annotated[str, Field(description="The same for a person.")]


class Hop(BaseModel):
    """A request of a fetch."""

    url: str
    status: Annotated[int | None, Field(description="None: no answer came.")]
    headers: dict[str, str]
    why: Annotated[str | None, Field(description="What went wrong, or what this leads to.")]
    seconds: float


class Fetched(BaseModel):
    """What fetching a site's robots.txt gave."""

    site: Annotated[str, Field(description="Its origin.", examples=["https://example.com"])]
    dialect: str
    outcome: Literal["file", "unavailable", "unreachable", "forbidden"]
    why: str | None
    url: Annotated[str, Field(description="Where the file came from in the end.")]
    hops: list[Hop]
    stale: Annotated[bool, Field(description="An old copy: the site cannot be reached.")]
    downgraded: Annotated[bool, Field(description="A redirect led from HTTPS to HTTP.")]
    cut: Annotated[bool, Field(description="The file is longer than the 500 KiB that are read.")]
    charset: Annotated[str | None, Field(description="What it is in, if not in UTF-8.")]
    fetched: Annotated[Moment, Field(description="When the site last gave or confirmed this.")]
    expires: Annotated[Moment, Field(description="Until when it is not asked again.")]
    unreachable_since: Moment | None
    sitemaps: list[str]


class FetchedFile(Fetched):
    """The same, with the file."""

    body: Annotated[str | None, Field(description="None: there is no file.")]


class DecideResponse(BaseModel):
    """The decisions, by robot and then by URL, in the order in which they were asked for."""

    dialect: str
    decisions: list[DecisionRecord]
    fetch: Annotated[Fetched | None, Field(description="With site: where the rules are from.")] = (
        None
    )


class CheckResponse(BaseModel):
    """A decision by a URL's own site."""

    dialect: str
    decision: DecisionRecord
    fetch: Fetched


class EditRecord(BaseModel):
    """Bytes of the file, in UTF-8, that are to be others."""

    start: int
    end: int
    text: str


class FindingRecord(BaseModel):
    """Something that the file's author should know; lines and columns count from 1."""

    line: int
    column: int
    end_column: int
    code: Annotated[str, Field(examples=["P001"])]
    severity: Severity
    message: str
    suggestion: str | None
    url: Annotated[str | None, Field(description="One that proves it.")]
    fixable: bool
    edits: list[EditRecord]
    name: str
    title: Annotated[str, Field(description="What findings with this code are.")]
    why: Annotated[str, Field(description="What comes of it, and what to do.")]
    source: str


class LintResponse(BaseModel):
    """The findings, by place."""

    findings: list[FindingRecord]
    more: Annotated[int, Field(description="Findings that are left out: 1,000 are told.")] = 0
    fetch: Fetched | None = None


class DifferenceRecord(BaseModel):
    """A URL that is decided differently; a shortest one for this pair of rules."""

    url: str
    opened: bool
    before: Decided
    after: Decided


class SettingRecord(BaseModel):
    """What is said besides rules, where it differs."""

    name: str
    before: list[str]
    after: list[str]


class ChangeRecord(BaseModel):
    """What changes for some robots; * are those without a group of their own."""

    agents: list[str]
    proved: Annotated[bool, Field(description="There is no other difference.")]
    differences: list[DifferenceRecord]
    settings: list[SettingRecord]


class DiffResponse(BaseModel):
    """What two files say differently: for robots, and for the whole site."""

    decides_alike: Annotated[bool, Field(description="Proved: nobody may fetch anything else.")]
    proved: bool
    changes: list[ChangeRecord]
    settings: list[SettingRecord]


class AuditedCrawler(BaseModel):
    """What a crawler may not fetch."""

    token: str
    operator: str
    purpose: Purpose
    obeys: Obeys
    source: str
    disallowed: Extent
    named: bool
    line: int | None
    rule: str | None
    closing: Annotated[int, Field(description="How many rules close a part of the site.")]
    url: Annotated[str | None, Field(description="One that it may not fetch.")]
    proved: bool


class PreferenceRecord(BaseModel):
    """What the file says about a use of its content."""

    directive: str
    key: str
    value: str
    path: str | None
    line: int


class AuditResponse(BaseModel):
    """Who may fetch what."""

    dialect: str
    summary: str
    crawlers: list[AuditedCrawler]
    preferences: list[PreferenceRecord]
    licenses: list[str]
    sitemaps: list[str]
    fetch: Fetched | None = None


class DisagreementRecord(BaseModel):
    """What a dialect reads differently for a robot."""

    agent: str
    dialect: str
    proved: bool
    differences: Annotated[
        list[DifferenceRecord],
        Field(description="Before: as the file is meant; after: as this dialect reads it."),
    ]


class DisagreeResponse(BaseModel):
    """Those who read the file otherwise; who is not named reads it alike, which is proved."""

    dialect: str
    dialects: list[str]
    disagreements: list[DisagreementRecord]
    fetch: Fetched | None = None


class CrawlerRecord(BaseModel):
    """A known crawler."""

    token: str
    operator: str
    purpose: Purpose
    obeys: Obeys
    source: str


class AgentsResponse(BaseModel):
    """The known crawlers, by purpose and token."""

    agents: list[CrawlerRecord]


class DialectRecord(BaseModel):
    """A way to read the file."""

    name: str
    source: str
    default: bool


class DialectsResponse(BaseModel):
    """The dialects."""

    dialects: list[DialectRecord]


class State(BaseModel):
    """How the service is."""

    status: Literal["ok", "ready", "stopping"]
    version: str
