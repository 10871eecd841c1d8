"""The routes of the API: `ROUTES` is the table of them, `Api` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from pydantic_core import to_json

from .. import COMPILED
from .._version import VERSION
from ..crawlers import known
from ..dialects import DIALECTS, RFC9309, Patterns, dialect_named
from ..reports._json import scalars
from ..reports.records import of_outcome
from ..robots import parse
from ..worker import answers
from . import _models as models
from ._gate import LARGEST_ANSWER
from ._limits import client_of
from ._problems import Problem, answer_too_large, stopping
from ._sites import as_url, is_on

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from ..access import Outcome
    from ..dialects import Dialect
    from ._gate import State
    from ._metrics import Metrics
    from ._settings import Settings
    from ._sites import Sites
    from ._work import Workers

#: What the server decides itself, in a few milliseconds at worst (see docs/performance.md): bytes
#: of the file, questions, agents and characters of their names, the bytes of the file times the
#: agents, and that times the bytes of the URLs. A worker answers larger questions.
_FILE = 64 * 1024 if COMPILED else 8 * 1024
#: Shell patterns take longer.
_SHELL_FILE = 2 * 1024
_QUESTIONS = 200 if COMPILED else 50
_AGENTS = 20
_NAMES = 4_096
_READ = 256 * 1024 if COMPILED else 32 * 1024
_WORK = 80_000_000 if COMPILED else 2_000_000


@dataclass(frozen=True, slots=True)
class Api:
    """The answers to requests. The docstring of a method describes its route."""

    settings: Settings
    state: State
    sites: Sites
    workers: Workers
    metrics: Metrics

    async def decide(self, question: models.DecideRequest, request: Request) -> Response:
        """Every URL is decided about for every robot, by a text or by a site's own file."""
        agents, urls, name = question.agents, question.urls, question.dialect
        self._check_count(agents, urls)
        self.metrics.questions.inc(len(agents) * len(urls))
        outcome = None
        if question.site is not None:
            outcome = await self._outcome(question.site, name, request, "/site")
            _check_site(urls, outcome)
        if outcome is not None and outcome.robots is None:
            decisions = [
                answers.decision_record(outcome.decide(url, agent))
                for agent in agents
                for url in urls
            ]
        else:
            robots = outcome.robots if outcome else None
            body = robots.body if robots else (question.robots or "").encode("utf-8")
            if _is_small(body, dialect_named(name), agents, urls):
                decisions = answers.decided(parse(body, dialect_named(name)), agents, urls)
            else:
                decisions = await self.workers.run(
                    request, answers.decide, body, name, agents, urls
                )
        answer = {"dialect": name, "decisions": decisions, "fetch": None}
        if outcome is not None:
            fetch = of_outcome(outcome)
            del fetch["body"]
            answer = scalars(answer | {"fetch": fetch})
        # Validating the answer against the model would take as long as the rest.
        return Response(to_json(answer), media_type="application/json")

    def _check_count(self, agents: Sequence[str], urls: Sequence[str]) -> None:
        """Check that a question is not too large, and its answer will not be."""
        count, most = len(agents) * len(urls), self.settings.max_questions
        if count > most:
            detail = f"{count:,} questions are more than {most:,}: ask about fewer robots or URLs"
            raise Problem(422, "too-many-questions", detail)
        largest = max(self.settings.max_body, LARGEST_ANSWER)
        # Each URL is in the answer for each robot, also in the sentence.
        if 2 * len(agents) * sum(map(len, urls)) > largest:
            raise answer_too_large(largest)

    async def check(
        self, request: Request, query: Annotated[models.CheckQuery, Query()]
    ) -> models.CheckResponse:
        """The robots.txt of the URL's own site is fetched, or had from the cache."""
        check_once(request)
        url = as_url(query.url)
        outcome = await self.sites.outcome(url, query.dialect, client_of(request), "url")
        self.metrics.questions.inc()
        decision = answers.decision_record(outcome.decide(url, query.agent))
        answer = {"dialect": query.dialect, "decision": decision, "fetch": of_outcome(outcome)}
        return models.CheckResponse.model_validate(scalars(answer))

    async def fetch(
        self, request: Request, query: Annotated[models.FetchQuery, Query()]
    ) -> models.FetchedFile:
        """The file, each hop on the way to it, and for how long it holds."""
        check_once(request)
        url, client = as_url(query.site), client_of(request)
        outcome = await self.sites.outcome(url, query.dialect, client, "site", query.max_age)
        return models.FetchedFile.model_validate(scalars(of_outcome(outcome)))

    async def lint(self, question: models.LintRequest, request: Request) -> models.LintResponse:
        """Findings, each with its place, what comes of it, and often the edits that fix it."""
        dialects = list(dict.fromkeys(question.dialects))
        body, outcome = await self._body_of(question, dialects[0], request)
        cut, charset = (outcome.is_cut, outcome.charset) if outcome else (False, None)
        answer = await self.workers.run(request, answers.lint, body, dialects, cut, charset)
        return models.LintResponse.model_validate(answer | _fetch_record(outcome))

    async def diff(self, question: models.DiffRequest, request: Request) -> models.DiffResponse:
        """For whom, on which URLs and by which lines; that nothing changes is proved."""
        name = question.dialect
        before, _ = await self._body_of(question.before, name, request, "/before/site")
        after, _ = await self._body_of(question.after, name, request, "/after/site")
        answer = await self.workers.run(request, answers.diff, before, after, name)
        return models.DiffResponse.model_validate(answer)

    async def audit(self, question: models.AuditRequest, request: Request) -> models.AuditResponse:
        """All, some or none of the site, by which line; and what is said about uses of it."""
        tokens = {crawler.token.lower() for crawler in known()}
        for number, agent in enumerate(question.agents):
            if agent.lower() not in tokens:
                detail = f"no crawler is known as {agent}; GET /v1/agents lists them"
                where = {"detail": detail, "pointer": f"/agents/{number}"}
                raise Problem(422, "unknown-agent", detail, [where])
        name = question.dialect
        body, outcome = await self._body_of(question, name, request)
        answer = await self.workers.run(request, answers.audited, body, name, question.agents)
        record = {"dialect": name} | answer | _fetch_record(outcome)
        return models.AuditResponse.model_validate(record)

    async def disagree(
        self, question: models.DisagreeRequest, request: Request
    ) -> models.DisagreeResponse:
        """For each robot the dialects that decide otherwise, with URLs that show it."""
        name = question.dialect
        dialects = [each for each in dict.fromkeys(question.dialects) if each != name]
        body, outcome = await self._body_of(question, name, request)
        agents = list(dict.fromkeys(question.agents))
        found = await self.workers.run(request, answers.disagreeing, body, name, dialects, agents)
        answer = {"dialect": name, "dialects": dialects, "disagreements": found}
        return models.DisagreeResponse.model_validate(answer | _fetch_record(outcome))

    async def agents(
        self, request: Request, query: Annotated[models.AgentsQuery, Query()]
    ) -> models.AgentsResponse:
        """Their tokens, operators, purposes and manners, each with its source."""
        check_once(request)
        records = [
            models.CrawlerRecord(
                token=each.token,
                operator=each.operator,
                purpose=each.purpose,
                obeys=each.obeys,
                source=each.source,
            )
            for each in known()
            if query.purpose in (None, each.purpose)
        ]
        return models.AgentsResponse(agents=records)

    async def dialects(self) -> models.DialectsResponse:
        """The dialects, each with its source."""
        records = [
            models.DialectRecord(name=each.name, source=each.source, default=each is RFC9309)
            for each in DIALECTS.values()
        ]
        return models.DialectsResponse(dialects=records)

    async def healthz(self) -> models.State:
        """Answered whatever else the service is busy with."""
        return models.State(status="ok", version=VERSION)

    async def readyz(self) -> models.State:
        """Refused once the service is stopping."""
        if self.state.is_stopping:
            raise stopping()
        return models.State(status="ready", version=VERSION)

    async def _outcome(self, site: str, dialect: str, request: Request, pointer: str) -> Outcome:
        return await self.sites.outcome(as_url(site), dialect, client_of(request), pointer)

    async def _body_of(
        self, file: models.File, dialect: str, request: Request, pointer: str = "/site"
    ) -> tuple[bytes, Outcome | None]:
        """Return a file, and the outcome of fetching it.

        Raises:
            Problem: the site has no file.
        """
        if file.site is None:
            return (file.robots or "").encode("utf-8"), None
        outcome = await self._outcome(file.site, dialect, request, pointer)
        if outcome.robots is None:
            detail = f"{outcome.origin} has no file to look at: {outcome.why or outcome.reason}"
            raise Problem(422, "no-file", detail, [{"detail": detail, "pointer": pointer}])
        return outcome.robots.body, outcome


#: Method, path, what answers, the model of its answer, and its summary.
ROUTES: tuple[tuple[str, str, Callable[..., Awaitable[Any]], type, str], ...] = (
    ("POST", "/v1/decide", Api.decide, models.DecideResponse, "May robots fetch URLs?"),
    ("GET", "/v1/check", Api.check, models.CheckResponse, "May a robot fetch a URL, says its site?"),
    ("GET", "/v1/fetch", Api.fetch, models.FetchedFile, "What is a site's robots.txt?"),
    ("POST", "/v1/lint", Api.lint, models.LintResponse, "What should the file's author know?"),
    ("POST", "/v1/diff", Api.diff, models.DiffResponse, "What does a change of the file change?"),
    ("POST", "/v1/audit", Api.audit, models.AuditResponse, "Which known crawlers may fetch what?"),
    ("POST", "/v1/disagree", Api.disagree, models.DisagreeResponse, "Who reads the file differently?"),
    ("GET", "/v1/agents", Api.agents, models.AgentsResponse, "Which crawlers are known?"),
    ("GET", "/v1/dialects", Api.dialects, models.DialectsResponse, "In which ways can a file be read?"),
    ("GET", "/healthz", Api.healthz, models.State, "Is the service there?"),
    ("GET", "/readyz", Api.readyz, models.State, "Does it take requests?"),
)  # fmt: skip


def add_routes(app: FastAPI, api: Api) -> None:
    """Add the routes to the application itself: a router of their own would look them up twice."""
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


def _check_site(urls: Sequence[str], outcome: Outcome) -> None:
    """Check that URLs belong to the site that was fetched.

    Raises:
        Problem: one does not.
    """
    for number, url in enumerate(urls):
        if not is_on(url, outcome):
            detail = f"{url} is not on {outcome.origin}, whose rules say nothing about it"
            where = {"detail": detail, "pointer": f"/urls/{number}"}
            raise Problem(422, "another-site", detail, [where])


def _is_small(body: bytes, dialect: Dialect, agents: Sequence[str], urls: Sequence[str]) -> bool:
    """Tell whether a question takes so little that the server itself may answer it."""
    readings = [dialect.reading, *dialect.versions.values()]
    has_shell = any(reading.patterns == Patterns.SHELL for reading in readings)
    return (
        len(body) <= (_SHELL_FILE if has_shell else _FILE)
        and len(agents) <= _AGENTS
        and len(agents) * len(urls) <= _QUESTIONS
        and sum(map(len, agents)) <= _NAMES
        and len(body) * len(agents) <= _READ
        and len(body) * len(agents) * sum(map(len, urls)) <= _WORK
    )


def check_once(request: Request) -> None:
    """Check that each parameter of a query was given once: of two, one would be ignored.

    Raises:
        Problem: it was not.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if names.count(name) > 1:
            detail = f"{name} is given more than once"
            raise Problem(422, "invalid", detail, [{"detail": detail, "parameter": name}])


def _fetch_record(outcome: Outcome | None) -> dict[str, Any]:
    """Return the outcome of fetching a file as a part of an answer."""
    return {} if outcome is None else {"fetch": scalars(of_outcome(outcome))}
