"""The models of responses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ..analysis import Extent
from ..crawlers import Obeys, Purpose
from ..decisions import Reason
from ..lint import Severity
from ..signals import Stated, Use

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


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
    html: Annotated[bool, Field(description="The file is an HTML page: it has no rules.")]
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


class ClassifiedAgent(BaseModel):
    """How much of a site a file blocks for an agent."""

    agent: str
    written: Annotated[bool, Field(description="A group names the agent.")]
    effective: Annotated[
        Extent | None, Field(description="How much of the site is blocked. None: not proved.")
    ]
    line: Annotated[int | None, Field(description="The line that blocks, from 1.")]


class FileProblem(BaseModel):
    """Why a file of a batch cannot be read: nothing is known about it."""

    code: Literal["not-base64", "compressed"]
    detail: str


class FileRecord(BaseModel):
    """The answers about a file, or its problem; the others are None."""

    id: str | None
    html: Annotated[bool | None, Field(description="The file is an HTML page: it has no rules.")]
    agents: list[ClassifiedAgent] | None
    decisions: Annotated[list[DecisionRecord] | None, Field(description="By agent, then by URL.")]
    problem: FileProblem | None


class FilesResponse(BaseModel):
    """The answers about files, in the order of the request."""

    dialect: str
    files: list[FileRecord]


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
    fixable: Annotated[bool, Field(description="Whether edits carry out the suggestion.")]
    edits: list[EditRecord]
    proposal: Annotated[
        list[EditRecord],
        Field(description="The suggestion as edits, if they may change what is allowed."),
    ]
    name: str
    title: Annotated[str, Field(description="The description of the code.")]
    why: Annotated[str, Field(description="The consequences, and what to do.")]
    source: str
    docs: Annotated[str, Field(description="The URL of the code's page in the documentation.")]


class LintResponse(BaseModel):
    """The findings, ordered by position."""

    findings: list[FindingRecord]
    more: Annotated[
        int,
        Field(description="The number of omitted findings: only the 1,000 most severe are listed."),
    ] = 0
    most_important: Annotated[
        int | None,
        Field(description="The index in findings of the one to look at first; None: no findings."),
    ] = None
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
    access: Annotated[str, Field(examples=["allowed except /cart/"])]
    how: Annotated[str, Field(description="Which group applies.", examples=["the * group"])]
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


class OverviewRow(BaseModel):
    """What applies to the crawlers of some purposes."""

    label: Annotated[str, Field(examples=["Search engines"])]
    purposes: list[Purpose]
    disallowed: Annotated[Extent, Field(description="How much, for most of them.")]
    text: Annotated[str, Field(examples=["allowed except /cart/; Applebot: blocked"])]


class AuditedPolicyToken(BaseModel):
    """What a file states with a policy token, which names a use of pages in place of a crawler."""

    token: str
    purpose: Purpose
    stated: Annotated[bool, Field(description="Whether a group names it.")]
    access: Annotated[str, Field(description="In that group; without one, unstated or undecided.")]
    line: int | None
    rule: str | None
    proved: bool
    source: str
    checked: str


class StatementRecord(BaseModel):
    """What a source states about a use."""

    kind: Annotated[str, Field(description="The grammar.", examples=["content-signal"])]
    where: Annotated[str, Field(description="The place.", examples=["robots.txt, line 2"])]
    line: Annotated[int | None, Field(description="The line, if it is in the robots.txt.")]
    text: Annotated[str, Field(description="The words there.")]
    stated: Stated
    for_: Annotated[str, Field(alias="for", description="A crawler; * is everybody.")]
    standing: Annotated[str, Field(description="How binding the specification is.")]


class AuditedUse(BaseModel):
    """What a file states to everybody about a use of the start page."""

    use: Use
    stated: Stated
    sources: list[StatementRecord]
    elsewhere: Annotated[
        list[StatementRecord], Field(description="What is stated about other paths, if it differs.")
    ]


class AuditResponse(BaseModel):
    """What known crawlers may fetch."""

    dialect: str
    overview: list[OverviewRow]
    crawlers: list[AuditedCrawler]
    preferences: list[PreferenceRecord]
    licenses: list[str]
    sitemaps: list[str]
    uses: list[AuditedUse]
    unread: Annotated[
        list[str], Field(description="What could not be read, and why: then no use is unstated.")
    ]
    policy_tokens: list[AuditedPolicyToken]
    fetch: Fetched | None = None


class CrawlRecord(BaseModel):
    """Whether a crawler may fetch a page."""

    crawler: str
    allowed: bool
    line: Annotated[int | None, Field(description="The line that decides, from 1.")]
    rule: str | None


class UseRecord(BaseModel):
    """What is stated about a use, to everybody or to a crawler."""

    use: Use
    stated: Stated
    for_: Annotated[str, Field(alias="for", description="A crawler; * is everybody.")]
    sources: list[StatementRecord]


class UnseenRecord(BaseModel):
    """What a crawler never sees, or what has no effect."""

    signal: str
    where: str
    crawler: Annotated[str, Field(description="A crawler; * is everybody.")]
    because: str


class ConflictRecord(BaseModel):
    """Two statements that contradict each other; the most restrictive one counts."""

    use: Use
    for_: Annotated[str, Field(alias="for", description="A crawler; * is everybody.")]
    yes: StatementRecord
    no: StatementRecord


class LicenseRecord(BaseModel):
    """A license that a source names."""

    url: str
    where: str


class SignalsResponse(BaseModel):
    """What a site says about the use of a page: stated preferences, not legal advice."""

    url: Annotated[str, Field(description="The page, after redirects.")]
    fetched: Annotated[Moment | None, Field(description="None: nothing was fetched.")]
    crawl: list[CrawlRecord]
    uses: Annotated[list[UseRecord], Field(description="To everybody, then to single crawlers.")]
    unseen: list[UnseenRecord]
    conflicts: list[ConflictRecord]
    licenses: list[LicenseRecord]
    notes: Annotated[list[str], Field(description="What was ignored, and why.")]
    unread: Annotated[
        list[str],
        Field(description="What could not be read, and why: then nothing is unstated."),
    ]


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
    change_delay_hours: Annotated[
        int, Field(description="How long it may act on a robots.txt that has changed.")
    ]
    old_copy_days: Annotated[
        int | None,
        Field(description="How old a copy it may use while it cannot fetch the file."),
    ]
    note: Annotated[str | None, Field(description="What these facts leave open.")]
    source: Annotated[str, Field(description="The page with these facts.")]
    checked: Annotated[str, Field(description="The day on which that page was read.")]
    checked_more_than_a_year_ago: bool


class FollowerRecord(BaseModel):
    """What an operator says about a policy token."""

    operator: str
    says: str
    source: str
    checked: str


class PolicyTokenRecord(BaseModel):
    """A policy token: it names a use of pages in place of a crawler."""

    token: str
    purpose: Purpose
    title: Annotated[str, Field(description="What it states.")]
    specification: str
    source: str
    checked: str
    spelled_in: Annotated[str, Field(description="The page that its spelling is from.")]
    spelling_certain: Annotated[bool, Field(description="Whether that is the specification.")]
    open: Annotated[list[str], Field(description="Questions that are not decided.")]
    followers: list[FollowerRecord]


class AgentsResponse(BaseModel):
    """The known crawlers, by purpose and token, and the policy tokens."""

    agents: list[CrawlerRecord]
    policy_tokens: list[PolicyTokenRecord]


class DialectRecord(BaseModel):
    """A dialect."""

    name: str
    source: str
    default: bool


class DialectsResponse(BaseModel):
    """The dialects."""

    dialects: list[DialectRecord]


class PresetRecord(BaseModel):
    """A preset of koster compose, with its file."""

    name: Annotated[str, Field(examples=["no-ai-training"])]
    title: Annotated[str, Field(description="What it does.")]
    allowed: Annotated[list[str], Field(description="Who stays allowed, and why.")]
    source: Annotated[str | None, Field(description="The page with its paths, if it has some.")]
    robots: Annotated[str, Field(description="The text of the robots.txt.")]


class PresetsResponse(BaseModel):
    """The presets."""

    presets: list[PresetRecord]


class State(BaseModel):
    """The state of the service."""

    status: Literal["ok", "ready", "stopping"]
    version: str
