"""The models of requests, with examples for the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, model_validator

from ..crawlers import Purpose, policy_token
from ..dialects import DIALECTS, RFC9309, dialect_named
from ..errors import UnknownDialectError

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


#: The limit makes pydantic reject lone surrogates, which JSON can contain (``"\ud800"``).
Text = Annotated[str, Field(min_length=0)]
DialectName = Annotated[
    str,
    AfterValidator(_canonical_dialect),
    Field(
        description="A dialect, by its name in any case.",
        json_schema_extra={"enum": list(DIALECTS)},
    ),
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

_TEXT = "User-agent: *\nDisallow: /private\nAllow: /private/press\n"
_AGENTS = "Product tokens or User-Agent headers; * means crawlers without a group of their own."


def _validated_crawler(name: str) -> str:
    """Return the name of a crawler.

    Raises:
        ValueError: it is everybody's, which is always there, or that of no crawler.
    """
    if name.strip() in ("", "*"):
        raise ValueError("must be the name of a crawler; the answers begin with everybody's")
    if policy_token(name) is not None:
        raise ValueError("is a policy token, not a crawler: it is read for every crawler")
    return name


CrawlerName = Annotated[Agent, AfterValidator(_validated_crawler)]


def _request_config(example: dict[str, Any]) -> ConfigDict:
    """Return the configuration of a request with an example; unknown fields are errors."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class _Fields(BaseModel):
    """An object of a request."""

    @model_validator(mode="before")
    @classmethod
    def _limit_fields(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and len(fields) > _MAX_FIELDS:
            raise ValueError(f"has more than {_MAX_FIELDS} fields")
        return fields


class File(_Fields):
    """A robots.txt: either its text or its site."""

    model_config = _request_config({"robots": _TEXT})

    robots: Robots = None
    site: Site = None

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
            description=_AGENTS,
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


class FileOfBatch(_Fields):
    """A robots.txt: either its text, or its bytes in base64."""

    model_config = _request_config({"id": "example.com", "robots": _TEXT})

    id: Annotated[
        Text | None, Field(max_length=MAX_SITE, description="Your name for it, in the answer, too.")
    ] = None
    robots: Robots = None
    body_base64: Annotated[Text | None, Field(description="The bytes of a robots.txt.")] = None

    @model_validator(mode="after")
    def _require_one_source(self) -> FileOfBatch:
        if (self.robots is None) == (self.body_base64 is None):
            raise ValueError("needs exactly one of robots (text) and body_base64 (bytes)")
        return self


class FilesRequest(_Fields):
    """Many files, agents, and URLs that are decided by each file."""

    model_config = _request_config(
        {
            "files": [
                {"id": "a.example", "robots": _TEXT},
                {"id": "b.example", "body_base64": "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo="},
            ],
            "agents": ["FooBot"],
            "urls": ["/private/x"],
        }
    )

    files: Annotated[list[FileOfBatch], FailFast(), Field(min_length=1, max_length=_MAX_ENTRIES)]
    agents: Annotated[
        list[Agent],
        FailFast(),
        Field(min_length=1, max_length=_MAX_ENTRIES, description=_AGENTS),
    ] = ["*"]
    urls: Annotated[
        list[Url],
        FailFast(),
        Field(max_length=_MAX_ENTRIES, description="URLs or paths, if any."),
    ] = []
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


_PAGE_URL = "https://shop.example/press/"


class SignalsQuery(_Query):
    """The page to fetch, and a crawler."""

    url: Annotated[
        Url,
        Field(
            description="The absolute URL of a page; https:// is the default scheme.",
            examples=[_PAGE_URL],
        ),
    ]
    crawler: Annotated[
        CrawlerName | None,
        Field(description="A crawler. Default: those with another answer than everybody."),
    ] = None
    dialect: DialectName = RFC9309.name


class SignalsRequest(_Fields):
    """A page: only its URL, to fetch it and what its site has, or the texts of its sources."""

    model_config = _request_config(
        {
            "url": _PAGE_URL,
            "robots": "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n",
            "headers": [["X-Robots-Tag", "noarchive"]],
        }
    )

    url: Annotated[
        Url, Field(description="The URL of the page; with the text of a source, also its path.")
    ]
    robots: Robots = None
    headers: Annotated[
        list[tuple[Text, Text]],
        FailFast(),
        Field(max_length=200, description="The headers of the response: names and values."),
    ] = []
    html: Annotated[Text | None, Field(description="The page; 256 KiB are read.")] = None
    tdmrep: Annotated[Text | None, Field(description="/.well-known/tdmrep.json of the site.")] = (
        None
    )
    licenses: Annotated[
        dict[Url, Text],
        Field(max_length=20, description="Licenses (RSL) that apply to the page, by their URLs."),
    ] = {}
    crawlers: Annotated[
        list[CrawlerName],
        FailFast(),
        Field(
            max_length=50,
            description="Crawlers. Default: those with another answer than everybody.",
        ),
    ] = []
    dialect: DialectName = RFC9309.name

    @property
    def is_fetched(self) -> bool:
        """Whether the page is to be fetched, as no source is given."""
        return not self.model_fields_set & {"robots", "headers", "html", "tdmrep", "licenses"}


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
