"""The routes of the API, version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from pydantic_core import to_json

from .. import COMPILED, _answers
from .._json import scalars
from .._records import of_outcome
from ..agents import known
from ..dialects import DIALECTS, RFC9309, Patterns, dialect_named
from ..robots import parse
from . import _models as models
from ._gate import LARGEST_ANSWER
from ._limits import client_of
from ._problems import Problem, answer_too_large
from ._sites import as_url, is_on

if TYPE_CHECKING:
    from ..access import Outcome
    from ..dialects import Dialect
    from ._metrics import Metrics
    from ._settings import Settings
    from ._sites import Sites
    from ._work import Workers

#: What is decided in the server at once, in some milliseconds at worst (see docs/performance.md):
#: bytes of the file, questions, robots and characters of their names, the bytes of the file times
#: the robots, and that times the bytes of the URLs. More is worked on beside.
_FILE = 64 * 1024 if COMPILED else 8 * 1024
#: Shell patterns take longer.
_SHELL_FILE = 2 * 1024
_QUESTIONS = 200 if COMPILED else 50
_AGENTS = 20
_NAMES = 4_096
_READ = 256 * 1024 if COMPILED else 32 * 1024
_WORK = 80_000_000 if COMPILED else 2_000_000


def add_routes(  # noqa: C901, PLR0915 - one route after another
    api: FastAPI, settings: Settings, sites: Sites, workers: Workers, metrics: Metrics
) -> None:
    """Add the routes to the application itself: a router of their own would look them up twice."""
    largest = max(settings.max_body, LARGEST_ANSWER)

    async def fetched(site: str, dialect: str, request: Request, pointer: str) -> Outcome:
        return await sites.outcome(as_url(site), dialect, client_of(request), pointer)

    async def text_of(
        file: models.File, dialect: str, request: Request, pointer: str = "/site"
    ) -> tuple[bytes, Outcome | None]:
        """Return a file's bytes, and what fetching it gave; a site without one has none."""
        if file.site is None:
            return (file.robots or "").encode("utf-8"), None
        outcome = await fetched(file.site, dialect, request, pointer)
        if outcome.robots is None:
            detail = f"{outcome.origin} has no file to look at: {outcome.why or outcome.reason}"
            raise Problem(422, "no-file", detail, [{"detail": detail, "pointer": pointer}])
        return outcome.robots.body, outcome

    @api.post(
        "/v1/decide",
        operation_id="decide",
        summary="May robots fetch URLs?",
        response_model=models.DecideResponse,
    )
    async def decide(question: models.DecideRequest, request: Request) -> Response:
        """Every URL is decided about for every robot, by a text or by a site's own file."""
        agents, urls, name = question.agents, question.urls, question.dialect
        count = len(agents) * len(urls)
        if count > settings.max_questions:
            many = f"{count:,} questions are more than {settings.max_questions:,}"
            detail = f"{many}: ask about fewer robots or URLs"
            raise Problem(422, "too-many-questions", detail)
        # Each URL is in the answer for each robot, also in the sentence.
        if 2 * len(agents) * sum(map(len, urls)) > largest:
            raise answer_too_large(largest)
        metrics.questions.inc(count)
        outcome = None
        if question.site is None:
            body = (question.robots or "").encode("utf-8")
        else:
            outcome = await fetched(question.site, name, request, "/site")
            for number, url in enumerate(urls):
                if not is_on(url, outcome):
                    detail = f"{url} is not on {outcome.origin}, whose rules say nothing about it"
                    where = {"detail": detail, "pointer": f"/urls/{number}"}
                    raise Problem(422, "another-site", detail, [where])
            body = b"" if outcome.robots is None else outcome.robots.body
        if outcome is not None and outcome.robots is None:
            told = [
                _answers.decision_told(outcome.decide(url, agent))
                for agent in agents
                for url in urls
            ]
        elif _is_small(body, dialect_named(name), agents, urls):
            told = _answers.decided(parse(body, dialect_named(name)), agents, urls)
        else:
            told = await workers.run(request, _answers.decide, body, name, agents, urls)
        answer = {"dialect": name, "decisions": told, "fetch": None}
        if outcome is not None:
            fetch = of_outcome(outcome)
            del fetch["body"]
            answer = scalars(answer | {"fetch": fetch})
        # It is as the model says, and not looked at again: that takes as long as the rest.
        return Response(to_json(answer), media_type="application/json")

    @api.get("/v1/check", operation_id="check", summary="May a robot fetch a URL, says its site?")
    async def check(
        request: Request, query: Annotated[models.CheckQuery, Query()]
    ) -> models.CheckResponse:
        """The robots.txt of the URL's own site is fetched, or had from the cache."""
        each_once(request)
        url = as_url(query.url)
        outcome = await sites.outcome(url, query.dialect, client_of(request), "url")
        metrics.questions.inc()
        told = _answers.decision_told(outcome.decide(url, query.agent))
        answer = {"dialect": query.dialect, "decision": told, "fetch": of_outcome(outcome)}
        return models.CheckResponse.model_validate(scalars(answer))

    @api.get("/v1/fetch", operation_id="fetch", summary="What is a site's robots.txt?")
    async def fetch(
        request: Request, query: Annotated[models.FetchQuery, Query()]
    ) -> models.FetchedFile:
        """The file, each hop on the way to it, and for how long it holds."""
        each_once(request)
        url, client = as_url(query.site), client_of(request)
        outcome = await sites.outcome(url, query.dialect, client, "site", query.max_age)
        return models.FetchedFile.model_validate(scalars(of_outcome(outcome)))

    @api.post("/v1/lint", operation_id="lint", summary="What should the file's author know?")
    async def lint(question: models.LintRequest, request: Request) -> models.LintResponse:
        """Findings, each with its place, what comes of it, and often the edits that mend it."""
        dialects = list(dict.fromkeys(question.dialects))
        body, outcome = await text_of(question, dialects[0], request)
        cut, charset = (outcome.is_cut, outcome.charset) if outcome else (False, None)
        answer = await workers.run(request, _answers.lint, body, dialects, cut, charset)
        return models.LintResponse.model_validate(answer | _told(outcome))

    @api.post("/v1/diff", operation_id="diff", summary="What does a change of the file change?")
    async def diff(question: models.DiffRequest, request: Request) -> models.DiffResponse:
        """For whom, on which URLs and by which lines; that nothing changes is proved."""
        name = question.dialect
        before, _ = await text_of(question.before, name, request, "/before/site")
        after, _ = await text_of(question.after, name, request, "/after/site")
        answer = await workers.run(request, _answers.diff, before, after, name)
        return models.DiffResponse.model_validate(answer)

    @api.post("/v1/audit", operation_id="audit", summary="Which known crawlers may fetch what?")
    async def audit(question: models.AuditRequest, request: Request) -> models.AuditResponse:
        """All, some or none of the site, by which line; and what is said about uses of it."""
        tokens = {crawler.token.lower() for crawler in known()}
        for number, agent in enumerate(question.agents):
            if agent.lower() not in tokens:
                detail = f"no crawler is known as {agent}; GET /v1/agents lists them"
                where = {"detail": detail, "pointer": f"/agents/{number}"}
                raise Problem(422, "unknown-agent", detail, [where])
        name = question.dialect
        body, outcome = await text_of(question, name, request)
        answer = await workers.run(request, _answers.audited, body, name, question.agents)
        return models.AuditResponse.model_validate({"dialect": name} | answer | _told(outcome))

    @api.post("/v1/disagree", operation_id="disagree", summary="Who reads the file differently?")
    async def disagree(
        question: models.DisagreeRequest, request: Request
    ) -> models.DisagreeResponse:
        """For each robot the dialects that decide otherwise, with URLs that show it."""
        name = question.dialect
        dialects = [each for each in dict.fromkeys(question.dialects) if each != name]
        body, outcome = await text_of(question, name, request)
        agents = list(dict.fromkeys(question.agents))
        found = await workers.run(request, _answers.disagreeing, body, name, dialects, agents)
        answer = {"dialect": name, "dialects": dialects, "disagreements": found}
        return models.DisagreeResponse.model_validate(answer | _told(outcome))

    @api.get("/v1/agents", operation_id="agents", summary="Which crawlers are known?")
    async def agents(
        request: Request, query: Annotated[models.AgentsQuery, Query()]
    ) -> models.AgentsResponse:
        """Their tokens, operators, purposes and manners, each with its source."""
        each_once(request)
        found = [each for each in known() if query.purpose in (None, each.purpose)]
        records = [
            models.CrawlerRecord(
                token=each.token,
                operator=each.operator,
                purpose=each.purpose,
                heeds=each.heeds,
                source=each.source,
            )
            for each in found
        ]
        return models.AgentsResponse(agents=records)

    @api.get("/v1/dialects", operation_id="dialects", summary="In which ways can a file be read?")
    async def dialects() -> models.DialectsResponse:
        """The dialects, each with its source."""
        records = [
            models.DialectRecord(name=each.name, source=each.source, default=each is RFC9309)
            for each in DIALECTS.values()
        ]
        return models.DialectsResponse(dialects=records)


def _is_small(body: bytes, dialect: Dialect, agents: list[str], urls: list[str]) -> bool:
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


def each_once(request: Request) -> None:
    """See whether each parameter of a query was given once: of two, one would be overlooked.

    Raises:
        Problem: it was not.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if names.count(name) > 1:
            detail = f"{name} is given more than once"
            raise Problem(422, "invalid", detail, [{"detail": detail, "parameter": name}])


def _told(outcome: Outcome | None) -> dict[str, Any]:
    """Return what fetching gave, for an answer."""
    return {} if outcome is None else {"fetch": scalars(of_outcome(outcome))}
