"""The API: `ROUTES` is the table of its routes, `Api` has their handlers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from pydantic_core import to_json

from .. import COMPILED
from .._asking import rules_for_data
from .._version import VERSION
from ..compose import PRESETS, compose, intentions_of
from ..crawlers import agent_for, known
from ..dialects import DIALECTS, RFC9309, Patterns, dialect_named
from ..reports._json import scalars
from ..reports.records import of_crawler, of_outcome
from ..robots import parse
from ..worker import answers
from . import _models as models
from . import _requests as requests
from ._gate import MAX_RESPONSE
from ._limits import client_address
from ._problems import Problem, response_too_large, stopping
from ._sites import is_on_site, to_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from ..access import Outcome
    from ..dialects import Dialect
    from ._gate import State
    from ._metrics import Metrics
    from ._settings import Settings
    from ._sites import Sites
    from ._work import Workers

#: Limits of what the server itself decides, in a few milliseconds at worst (docs/about/performance.md):
#: bytes of the file, agents times URLs, agents, characters of agents, bytes times agents, and that
#: times characters of URLs. A worker process handles larger requests.
_MAX_FILE = 64 * 1024 if COMPILED else 8 * 1024
#: The limit for dialects with shell patterns, which are slower.
_MAX_SHELL_FILE = 2 * 1024
_MAX_QUESTIONS = 200 if COMPILED else 50
_MAX_AGENTS = 20
_MAX_AGENT_CHARACTERS = 4_096
_MAX_BYTES_READ = 256 * 1024 if COMPILED else 32 * 1024
_MAX_WORK = 80_000_000 if COMPILED else 2_000_000


@dataclass(frozen=True, slots=True)
class Api:
    """The handlers of requests. A method's docstring describes its route in the OpenAPI document."""

    settings: Settings
    state: State
    sites: Sites
    workers: Workers
    metrics: Metrics

    async def decide(self, question: requests.DecideRequest, request: Request) -> Response:
        """Decides every URL for every agent, by the text of a file or by a site's own file."""
        agents, urls, name = question.agents, question.urls, question.dialect
        self._check_size(agents, urls)
        self.metrics.questions.inc(len(agents) * len(urls))
        outcome = None
        if question.site is not None:
            outcome = await self._outcome(question.site, name, request, "/site")
            _check_site(urls, outcome)
        if outcome is not None and outcome.robots is None:
            empty = parse(b"", outcome.dialect)
            decisions = [
                answers.decision_record(outcome.decide_by(rules, url))
                for rules in (rules_for_data(empty, agent_for(agent)) for agent in agents)
                for url in urls
            ]
        else:
            robots = outcome.robots if outcome else None
            body = robots.body if robots else (question.robots or "").encode("utf-8")
            if _is_small(body, dialect_named(name), agents, urls):
                decisions = answers.decision_records(parse(body, dialect_named(name)), agents, urls)
            else:
                decisions = await self.workers.run(
                    request, answers.decide, body, name, agents, urls
                )
        answer = {"dialect": name, "decisions": decisions, "fetch": None}
        if outcome is not None:
            fetch = of_outcome(outcome)
            del fetch["body"]
            answer = scalars(answer | {"fetch": fetch})
        # Validating the response against the model would double the time.
        return Response(to_json(answer), media_type="application/json")

    def _check_size(self, agents: Sequence[str], urls: Sequence[str]) -> None:
        """Check the number of questions, and the size of the response.

        Raises:
            Problem: a limit is exceeded.
        """
        count, limit = len(agents) * len(urls), self.settings.max_questions
        if count > limit:
            detail = f"{count:,} questions, the maximum is {limit:,}: send fewer agents or URLs"
            raise Problem(422, "too-many-questions", detail)
        max_response = max(self.settings.max_body, MAX_RESPONSE)
        # The response repeats each URL for each agent, also in the sentence.
        if 2 * len(agents) * sum(map(len, urls)) > max_response:
            raise response_too_large(max_response)

    async def check(
        self, request: Request, query: Annotated[requests.CheckQuery, Query()]
    ) -> models.CheckResponse:
        """Fetches the robots.txt of the URL's site, or takes it from the cache."""
        reject_duplicates(request)
        url = to_url(query.url)
        outcome = await self.sites.outcome(url, query.dialect, client_address(request), "url")
        self.metrics.questions.inc()
        decision = answers.decision_record(outcome.decide(url, agent_for(query.agent)))
        answer = {"dialect": query.dialect, "decision": decision, "fetch": of_outcome(outcome)}
        return models.CheckResponse.model_validate(scalars(answer))

    async def fetch(
        self, request: Request, query: Annotated[requests.FetchQuery, Query()]
    ) -> models.FetchedFile:
        """Returns the file, each hop of the fetch, and when it expires."""
        reject_duplicates(request)
        url, client = to_url(query.site), client_address(request)
        outcome = await self.sites.outcome(url, query.dialect, client, "site", query.max_age)
        return models.FetchedFile.model_validate(scalars(of_outcome(outcome)))

    async def lint(self, question: requests.LintRequest, request: Request) -> models.LintResponse:
        """Returns findings, each with its position, its consequences, and often edits that fix it."""
        dialects = list(dict.fromkeys(question.dialects))
        body, outcome = await self._load_body(question, dialects[0], request)
        cut, charset = (outcome.is_cut, outcome.charset) if outcome else (False, None)
        answer = await self.workers.run(request, answers.lint, body, dialects, cut, charset)
        return models.LintResponse.model_validate(answer | _fetch_record(outcome))

    async def diff(self, question: requests.DiffRequest, request: Request) -> models.DiffResponse:
        """Returns changes by crawler, with URLs and lines; "no change" is proved."""
        name = question.dialect
        before, _ = await self._load_body(question.before, name, request, "/before/site")
        after, _ = await self._load_body(question.after, name, request, "/after/site")
        answer = await self.workers.run(request, answers.diff, before, after, name)
        return models.DiffResponse.model_validate(answer)

    async def audit(
        self, question: requests.AuditRequest, request: Request
    ) -> models.AuditResponse:
        """Returns how much of the site each crawler may fetch and why, and preferences on its use."""
        tokens = {crawler.token.lower() for crawler in known()}
        for number, agent in enumerate(question.agents):
            if agent.lower() not in tokens:
                detail = f"unknown crawler {agent}: GET /v1/agents lists all"
                where = {"detail": detail, "pointer": f"/agents/{number}"}
                raise Problem(422, "unknown-agent", detail, [where])
        name = question.dialect
        body, outcome = await self._load_body(question, name, request)
        answer = await self.workers.run(
            request, answers.audit_crawlers, body, name, question.agents
        )
        record = {"dialect": name} | answer | _fetch_record(outcome)
        return models.AuditResponse.model_validate(record)

    async def disagree(
        self, question: requests.DisagreeRequest, request: Request
    ) -> models.DisagreeResponse:
        """Returns for each agent the dialects that decide differently, with example URLs."""
        name = question.dialect
        dialects = [each for each in dict.fromkeys(question.dialects) if each != name]
        body, outcome = await self._load_body(question, name, request)
        agents = list(dict.fromkeys(question.agents))
        found = await self.workers.run(request, answers.disagree, body, name, dialects, agents)
        answer = {"dialect": name, "dialects": dialects, "disagreements": found}
        return models.DisagreeResponse.model_validate(answer | _fetch_record(outcome))

    async def agents(
        self, request: Request, query: Annotated[requests.AgentsQuery, Query()]
    ) -> models.AgentsResponse:
        """Returns tokens, operators, purposes and whether they obey robots.txt, each with its source."""
        reject_duplicates(request)
        records = [
            models.CrawlerRecord.model_validate(of_crawler(each))
            for each in known()
            if query.purpose is None or query.purpose in each.purposes
        ]
        return models.AgentsResponse(agents=records)

    async def dialects(self) -> models.DialectsResponse:
        """Returns the dialects, each with its source."""
        records = [
            models.DialectRecord(name=each.name, source=each.source, default=each is RFC9309)
            for each in DIALECTS.values()
        ]
        return models.DialectsResponse(dialects=records)

    async def presets(self) -> models.PresetsResponse:
        """Returns the presets, each with its file, who stays allowed, and why."""
        return _presets()

    async def healthz(self) -> models.State:
        """Returns 200 even while the service is busy."""
        return models.State(status="ok", version=VERSION)

    async def readyz(self) -> models.State:
        """Returns 503 once the service is stopping."""
        if self.state.is_stopping:
            raise stopping()
        return models.State(status="ready", version=VERSION)

    async def _outcome(self, site: str, dialect: str, request: Request, pointer: str) -> Outcome:
        return await self.sites.outcome(to_url(site), dialect, client_address(request), pointer)

    async def _load_body(
        self, file: requests.File, dialect: str, request: Request, pointer: str = "/site"
    ) -> tuple[bytes, Outcome | None]:
        """Return the body of a file, and the outcome of its fetch, if any.

        Raises:
            Problem: the site has no file.
        """
        if file.site is None:
            return (file.robots or "").encode("utf-8"), None
        outcome = await self._outcome(file.site, dialect, request, pointer)
        if outcome.robots is None:
            detail = f"{outcome.origin} has no robots.txt: {outcome.why or outcome.reason}"
            raise Problem(422, "no-file", detail, [{"detail": detail, "pointer": pointer}])
        return outcome.robots.body, outcome


#: Method, path, handler, model of the response, and summary.
ROUTES: tuple[tuple[str, str, Callable[..., Awaitable[Any]], type, str], ...] = (
    ("POST", "/v1/decide", Api.decide, models.DecideResponse, "Decide many URLs for many agents"),
    ("GET", "/v1/check", Api.check, models.CheckResponse, "Decide one URL by its site's file"),
    ("GET", "/v1/fetch", Api.fetch, models.FetchedFile, "Fetch a site's robots.txt"),
    ("POST", "/v1/lint", Api.lint, models.LintResponse, "Find mistakes in a file"),
    ("POST", "/v1/diff", Api.diff, models.DiffResponse, "Compare two files"),
    ("POST", "/v1/audit", Api.audit, models.AuditResponse, "Show what known crawlers may fetch"),
    ("POST", "/v1/disagree", Api.disagree, models.DisagreeResponse, "Find dialects that decide differently"),
    ("GET", "/v1/agents", Api.agents, models.AgentsResponse, "List known crawlers"),
    ("GET", "/v1/dialects", Api.dialects, models.DialectsResponse, "List dialects"),
    ("GET", "/v1/presets", Api.presets, models.PresetsResponse, "List presets with their files"),
    ("GET", "/healthz", Api.healthz, models.State, "Liveness check"),
    ("GET", "/readyz", Api.readyz, models.State, "Readiness check"),
)  # fmt: skip


def add_routes(app: FastAPI, api: Api) -> None:
    """Add the routes to the application itself: a separate router would double the lookups."""
    for method, path, endpoint, model, summary in ROUTES:
        name = endpoint.__name__
        app.add_api_route(
            path,
            getattr(api, name),
            methods=[method],
            operation_id=name,
            summary=summary,
            response_model=model,
        )


@cache
def _presets() -> models.PresetsResponse:
    records = [
        models.PresetRecord(
            name=each.name,
            title=each.title,
            allowed=list(each.allowed),
            source=each.source or None,
            robots=compose(intentions_of([each.name])).body.decode("utf-8"),
        )
        for each in PRESETS
    ]
    return models.PresetsResponse(presets=records)


def _check_site(urls: Sequence[str], outcome: Outcome) -> None:
    """Check that URLs belong to the site that was fetched.

    Raises:
        Problem: one does not.
    """
    for number, url in enumerate(urls):
        if not is_on_site(url, outcome):
            detail = f"{url} is not on {outcome.origin}: its rules do not apply"
            where = {"detail": detail, "pointer": f"/urls/{number}"}
            raise Problem(422, "another-site", detail, [where])


def _is_small(body: bytes, dialect: Dialect, agents: Sequence[str], urls: Sequence[str]) -> bool:
    """Return whether a request is small enough for the server itself."""
    readings = [dialect.reading, *dialect.versions.values()]
    has_shell = any(reading.patterns == Patterns.SHELL for reading in readings)
    return (
        len(body) <= (_MAX_SHELL_FILE if has_shell else _MAX_FILE)
        and len(agents) <= _MAX_AGENTS
        and len(agents) * len(urls) <= _MAX_QUESTIONS
        and sum(map(len, agents)) <= _MAX_AGENT_CHARACTERS
        and len(body) * len(agents) <= _MAX_BYTES_READ
        and len(body) * len(agents) * sum(map(len, urls)) <= _MAX_WORK
    )


def reject_duplicates(request: Request) -> None:
    """Check that a query repeats no parameter, because only one would count.

    Raises:
        Problem: it does.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if names.count(name) > 1:
            detail = f"duplicate parameter {name}"
            raise Problem(422, "invalid", detail, [{"detail": detail, "parameter": name}])


def _fetch_record(outcome: Outcome | None) -> dict[str, Any]:
    return {} if outcome is None else {"fetch": scalars(of_outcome(outcome))}
