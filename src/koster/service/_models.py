"""The models of requests and responses, with examples for the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, model_validator

from ..analysis import Extent
from ..crawlers import Obeys, Purpose
from ..dialects import DIALECTS, RFC9309, dialect_named
from ..errors import UnknownDialectError
from ..lint import Severity
from ..model import Reason

#: Maximum characters; browsers and crawlers use shorter ones.
MAX_URL = 8_192
MAX_AGENT = 1_024
MAX_SITE = 2_048


#: Maximum number of fields, because every unknown field is reported.
_MAX_FIELDS = 20
#: Maximum entries of a list, regardless of the settings.
_MAX_ENTRIES = 10_000


def _canonical_dialect(name: str) -> str:
    """Return the canonical name of a dialect.

    Raises:
        ValueError: the dialect is unknown.
    """
    try:
        return dialect_named(name).name
    except UnknownDialectError as error:
        raise ValueError(str(error)) from error


def _reject_surrogates(text: str) -> str:
    r"""Return text without lone surrogates, which JSON can contain (``"\ud800"``).

    Raises:
        ValueError: the text has a lone surrogate.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"character {error.start + 1} is a lone surrogate") from None
    return text


Text = Annotated[str, AfterValidator(_reject_surrogates)]
DialectName = Annotated[
    str,
    AfterValidator(_canonical_dialect),
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
    Field(description="Any URL on a site, or its host name; its robots.txt is fetched."),
]

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

_TEXT = "User-agent: *\nDisallow: /private\nAllow: /private/press\n"


def _request_config(example: dict[str, Any]) -> ConfigDict:
    """Return the configuration of a request with an example; unknown fields are errors."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class File(BaseModel):
    """A robots.txt: either its text or its site."""

    model_config = _request_config({"robots": _TEXT})

    robots: Robots = None
    site: Site = None

    @model_validator(mode="before")
    @classmethod
    def _limit_fields(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and len(fields) > _MAX_FIELDS:
            raise ValueError(f"has more than {_MAX_FIELDS} fields")
        return fields

    @model_validator(mode="after")
    def _require_one_source(self) -> File:
        if (self.robots is None) == (self.site is None):
            raise ValueError("needs exactly one of robots (text) and site (URL)")
        return self


class _Query(BaseModel):
    """The parameters of a query; unknown ones are errors."""

    model_config = ConfigDict(extra="forbid")


class CheckQuery(_Query):
    """A URL and an agent."""

    url: Annotated[
        Url,
        Field(
            description="An absolute URL; https:// is the default scheme.",
            examples=["https://example.com/private"],
        ),
    ]
    agent: Agent = "*"
    dialect: DialectName = RFC9309.name


class FetchQuery(_Query):
    """A site and a dialect."""

    site: Annotated[
        SiteUrl,
        Field(description="Any URL on the site, or its host name.", examples=["example.com"]),
    ]
    dialect: DialectName = RFC9309.name
    max_age: Annotated[
        int | None,
        Field(
            ge=60,
            description="Seconds; an older cache entry is fetched again.",
        ),
    ] = None


class AgentsQuery(_Query):
    """A filter of crawlers."""

    purpose: Annotated[Purpose | None, Field(description="Only crawlers with this purpose.")] = None


class DecideRequest(File):
    """A file, agents and URLs; every URL is decided for every agent."""

    model_config = _request_config(
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
            max_length=_MAX_ENTRIES,
            description="Product tokens or User-Agent headers; * means crawlers without a "
            "group of their own.",
        ),
    ] = ["*"]
    urls: Annotated[
        list[Url],
        FailFast(),
        Field(
            min_length=1,
            max_length=_MAX_ENTRIES,
            description="URLs or paths; with site, URLs of that site.",
        ),
    ]
    dialect: DialectName = RFC9309.name


class LintRequest(File):
    """A file and dialects."""

    model_config = _request_config({"robots": "User-agent: *\nDisallow: admin\n"})

    dialects: Annotated[
        list[DialectName],
        Field(
            min_length=1,
            max_length=len(DIALECTS),
            description="The dialect of the file, then other dialects to compare.",
        ),
    ] = ["RFC9309", "GOOGLE"]


class DiffRequest(BaseModel):
    """Two files, before and after a change."""

    model_config = _request_config(
        {
            "before": {"robots": "User-agent: *\nDisallow: /a\n"},
            "after": {"robots": "User-agent: *\nDisallow: /a/\n"},
        }
    )

    before: File
    after: File
    dialect: DialectName = RFC9309.name


class AuditRequest(File):
    """A file and known crawlers; default: all of them."""

    model_config = _request_config({"robots": "User-agent: GPTBot\nDisallow: /\n", "agents": []})

    agents: Annotated[
        list[Agent],
        FailFast(),
        Field(max_length=1_000, description="Product tokens of known crawlers."),
    ] = []
    dialect: DialectName = RFC9309.name


class DisagreeRequest(File):
    """A file, its intended dialect, other dialects, and agents."""

    model_config = _request_config(
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
    """Whether a URL is allowed, and why."""

    allowed: bool
    reason: Reason
    line: Annotated[int | None, Field(description="The line that decides, from 1.")]
    rule: Annotated[
        str | None, Field(description="The rule that decides.", examples=["Disallow: /a"])
    ]


class DecisionRecord(Decided):
    """A decision about a URL for an agent."""

    agent: str
    url: str
    falls_back_to: Annotated[
        str | None, Field(description="The token whose group applies, if no group has its own.")
    ]
    sentence: Annotated[str, Field(description="The decision as a sentence.")]


class Hop(BaseModel):
    """A request of a fetch."""

    url: str
    status: Annotated[int | None, Field(description="None: no response.")]
    headers: dict[str, str]
    why: Annotated[str | None, Field(description="The error, or the effect of the response.")]
    seconds: float


class Fetched(BaseModel):
    """The result of fetching a site's robots.txt."""

    site: Annotated[str, Field(description="The origin.", examples=["https://example.com"])]
    dialect: str
    outcome: Literal["file", "unavailable", "unreachable", "forbidden"]
    why: str | None
    url: Annotated[str, Field(description="The URL of the file after redirects.")]
    hops: list[Hop]
    stale: Annotated[bool, Field(description="The file is stale, because the site is unreachable.")]
    downgraded: Annotated[bool, Field(description="A redirect led from HTTPS to HTTP.")]
    cut: Annotated[bool, Field(description="The file is truncated at 500 KiB.")]
    charset: Annotated[str | None, Field(description="The original charset, if not UTF-8.")]
    fetched: Annotated[Moment, Field(description="When it was received or last confirmed.")]
    expires: Annotated[Moment, Field(description="It is not fetched again before.")]
    unreachable_since: Moment | None
    sitemaps: list[str]


class FetchedFile(Fetched):
    """The result of a fetch, with the file."""

    body: Annotated[str | None, Field(description="None: no file.")]


class DecideResponse(BaseModel):
    """The decisions in the order of the request: by agent, then by URL."""

    dialect: str
    decisions: list[DecisionRecord]
    fetch: Annotated[Fetched | None, Field(description="With site: the fetch of its file.")] = None


class CheckResponse(BaseModel):
    """A decision by the file of a URL's site."""

    dialect: str
    decision: DecisionRecord
    fetch: Fetched


class EditRecord(BaseModel):
    """A replacement of bytes of the file in UTF-8."""

    start: int
    end: int
    text: str


class FindingRecord(BaseModel):
    """A finding; lines and columns count from 1."""

    line: int
    column: int
    end_column: int
    code: Annotated[str, Field(examples=["P001"])]
    severity: Severity
    message: str
    suggestion: str | None
    url: Annotated[str | None, Field(description="An example URL.")]
    fixable: bool
    edits: list[EditRecord]
    name: str
    title: Annotated[str, Field(description="The description of the code.")]
    why: Annotated[str, Field(description="The consequences, and what to do.")]
    source: str


class LintResponse(BaseModel):
    """The findings, ordered by position."""

    findings: list[FindingRecord]
    more: Annotated[
        int, Field(description="The number of omitted findings, after the first 1,000.")
    ] = 0
    fetch: Fetched | None = None


class DifferenceRecord(BaseModel):
    """A URL with different decisions: a shortest one for this pair of rules."""

    url: str
    opened: bool
    before: Decided
    after: Decided


class SettingRecord(BaseModel):
    """A changed setting besides rules."""

    name: str
    before: list[str]
    after: list[str]


class ChangeRecord(BaseModel):
    """The changes for some agents; * means crawlers without a group of their own."""

    agents: list[str]
    proved: Annotated[bool, Field(description="Proved: there are no other differences.")]
    differences: list[DifferenceRecord]
    settings: list[SettingRecord]


class DiffResponse(BaseModel):
    """The differences between two files, by agent and for the whole site."""

    decides_alike: Annotated[bool, Field(description="Proved: no access changes.")]
    proved: bool
    changes: list[ChangeRecord]
    settings: list[SettingRecord]


class AuditedCrawler(BaseModel):
    """How much is disallowed for a crawler."""

    token: str
    operator: str
    purpose: Annotated[Purpose, Field(description="The main purpose.")]
    purposes: list[Purpose]
    obeys: Obeys
    source: Annotated[str, Field(description="The page with these facts.")]
    checked: Annotated[str, Field(description="The day on which that page was read.")]
    disallowed: Extent
    named: bool
    falls_back_to: Annotated[
        str | None, Field(description="The token whose group applies, if no group has its own.")
    ]
    line: int | None
    rule: str | None
    closing: Annotated[int, Field(description="The number of rules that block something.")]
    url: Annotated[str | None, Field(description="A disallowed URL.")]
    proved: bool


class PreferenceRecord(BaseModel):
    """A preference about a use of the content."""

    directive: str
    key: str
    value: str
    path: str | None
    line: int


class AuditResponse(BaseModel):
    """What known crawlers may fetch."""

    dialect: str
    summary: str
    crawlers: list[AuditedCrawler]
    preferences: list[PreferenceRecord]
    licenses: list[str]
    sitemaps: list[str]
    fetch: Fetched | None = None


class DisagreementRecord(BaseModel):
    """The differences of a dialect for an agent."""

    agent: str
    dialect: str
    proved: bool
    differences: Annotated[
        list[DifferenceRecord],
        Field(description="Before: in the intended dialect; after: in this dialect."),
    ]


class DisagreeResponse(BaseModel):
    """The dialects that decide differently; all others are proved to decide alike."""

    dialect: str
    dialects: list[str]
    disagreements: list[DisagreementRecord]
    fetch: Fetched | None = None


class VerificationRecord(BaseModel):
    """How to verify that a request comes from a crawler."""

    ranges: Annotated[list[str], Field(description="URLs of its published IP ranges.")]
    domains: Annotated[list[str], Field(description="Domains for reverse DNS.")]
    signatures: Annotated[bool, Field(description="It signs its requests (Web Bot Auth).")]


class CrawlerRecord(BaseModel):
    """A known crawler."""

    token: str
    operator: str
    purpose: Annotated[Purpose, Field(description="The main purpose.")]
    purposes: list[Purpose]
    obeys: Obeys
    falls_back_to: Annotated[
        list[str], Field(description="Tokens whose groups apply if no group has its own, in order.")
    ]
    verification: VerificationRecord
    names: Annotated[list[str], Field(description="Names of products that people know it by.")]
    successor: Annotated[str | None, Field(description="The token that has replaced it.")]
    source: Annotated[str, Field(description="The page with these facts.")]
    checked: Annotated[str, Field(description="The day on which that page was read.")]


class AgentsResponse(BaseModel):
    """The known crawlers, by purpose and token."""

    agents: list[CrawlerRecord]


class DialectRecord(BaseModel):
    """A dialect."""

    name: str
    source: str
    default: bool


class DialectsResponse(BaseModel):
    """The dialects."""

    dialects: list[DialectRecord]


class State(BaseModel):
    """The state of the service."""

    status: Literal["ok", "ready", "stopping"]
    version: str
