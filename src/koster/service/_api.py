"""The API: `ROUTES` is the table of its routes, `Api` has their handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from pydantic import BaseModel

from .._reports.records import of_crawler, of_policy_token
from .._version import VERSION
from .._worker import answers
from .._worker.files import File, NamedFile, UnreadOutcome
from .._worker.refusals import answer_too_large
from ..compose import PRESETS, compose, intentions_of
from ..crawlers import POLICY_TOKENS, Purpose, known
from ..dialects import DIALECTS, RFC9309, dialect_named
from ..fetch._page_signals import Sources
from ..signals import MAX_HTML
from . import _costs as costs
from . import _models as models
from . import _requests as requests
from ._gate import ServiceState, max_response
from ._limits import client_address
from ._metrics import Metrics
from ._pages import COST as PAGE_COST
from ._pages import Pages
from ._problems import Problem, of_refusal, stopping
from ._settings import ServiceSettings
from ._sites import Sites, origin_or_problem, to_url
from ._work import Workers


@dataclass(frozen=True, slots=True)
class Api:
    """The handlers of requests. A method's docstring describes its route in the OpenAPI document."""

    settings: ServiceSettings
    state: ServiceState
    sites: Sites
    pages: Pages
    workers: Workers
    metrics: Metrics

    async def decide(self, question: requests.DecideRequest, request: Request) -> Response:
        """Decides every URL for every agent, by the text of a file or by a site's own file."""
        agents, urls, name = question.agents, question.urls, question.dialect
        self._check_size(agents, urls)
        self.metrics.questions.inc(len(agents) * len(urls))
        file = await self._load(question, name, request, allows_none=True)
        is_small = costs.is_small(file, dialect_named(name), agents, urls)
        answer = await self.workers.answer(
            request, answers.decide, file, name, agents, urls, is_small=is_small
        )
        return _json(answer)

    def _check_size(self, agents: Sequence[str], urls: Sequence[str], files: int = 1) -> None:
        """Check the number of questions, and the size of the response.

        Raises:
            Problem: a limit is exceeded.
        """
        count, limit = files * len(agents) * len(urls), self.settings.max_questions
        if count > limit:
            fewer = "agents or URLs" if files == 1 else "files, agents or URLs"
            detail = f"{count:,} questions, the maximum is {limit:,}: send fewer {fewer}"
            raise Problem(422, "too-many-questions", detail)
        maximum = max_response(self.settings)
        # The response repeats each URL for each agent, also in the sentence.
        if 2 * files * len(agents) * sum(map(len, urls)) > maximum:
            raise of_refusal(answer_too_large(maximum))

    async def files(self, question: requests.FilesRequest, request: Request) -> Response:
        """Returns for each file how much it blocks, and decides every URL, or says its problem."""
        agents, urls = question.agents, question.urls
        # To classify a file is a question, too.
        self._check_size(agents, urls or ["/"], len(question.files))
        self.metrics.questions.inc(len(question.files) * len(agents) * max(1, len(urls)))
        files = [NamedFile(each.id, _content_of(each)) for each in question.files]
        return _json(
            await self.workers.run(request, answers.files, files, question.dialect, agents, urls)
        )

    async def check(
        self, request: Request, query: Annotated[requests.CheckQuery, Query()]
    ) -> Response:
        """Fetches the robots.txt of the URL's site, or takes it from the cache."""
        reject_duplicates(request)
        url, agent = to_url(query.url), query.agent
        file = await self.sites.outcome(url, query.dialect, client_address(request), "url")
        self.metrics.questions.inc()
        is_small = costs.is_small(file, file.dialect, [agent], [url])
        return _json(
            await self.workers.answer(request, answers.check, file, url, agent, is_small=is_small)
        )

    async def fetch(
        self, request: Request, query: Annotated[requests.FetchQuery, Query()]
    ) -> Response:
        """Returns the file, each hop of the fetch, and when it expires."""
        reject_duplicates(request)
        url, client = to_url(query.site), client_address(request)
        file = await self.sites.outcome(url, query.dialect, client, "site", query.max_age)
        is_small = costs.is_small(file, file.dialect)
        return _json(await self.workers.answer(request, answers.fetch, file, is_small=is_small))

    async def lint(self, question: requests.LintRequest, request: Request) -> Response:
        """Returns findings, each with its position, its consequences, and often edits that fix it."""
        dialects = list(dict.fromkeys(question.dialects))
        file = await self._load(question, dialects[0], request)
        return _json(await self.workers.run(request, answers.lint, file, dialects))

    async def diff(self, question: requests.DiffRequest, request: Request) -> Response:
        """Returns changes by crawler, with URLs and lines; "no change" is proved."""
        name = question.dialect
        before = await self._load(question.before, name, request, "/before/site")
        after = await self._load(question.after, name, request, "/after/site")
        return _json(await self.workers.run(request, answers.diff, before, after, name))

    async def audit(self, question: requests.AuditRequest, request: Request) -> Response:
        """Returns how much of the site each crawler may fetch and why, and preferences on its use."""
        tokens = {crawler.token.lower() for crawler in known()}
        for number, agent in enumerate(question.agents):
            if agent.lower() not in tokens:
                raise of_refusal(answers.unknown_crawler(agent, number))
        name = question.dialect
        file = await self._load(question, name, request)
        return _json(
            await self.workers.run(request, answers.audit_crawlers, file, name, question.agents)
        )

    async def signals(self, question: requests.SignalsRequest, request: Request) -> Response:
        """Returns what is stated about each use, to whom, and by which sources; no legal advice."""
        url, crawlers = question.url, question.crawlers
        if question.is_fetched:
            return await self._page_signals(request, url, "/url", crawlers, question.dialect)
        if not url.startswith("/"):
            origin_or_problem(url, "/url")
        robots = None if question.robots is None else question.robots.encode("utf-8")
        sources = _sources(question)
        answer, _ = await self.workers.run(
            request, answers.signals, robots, sources, crawlers, question.dialect, _now()
        )
        return _json(answer)

    async def page_signals(
        self, request: Request, query: Annotated[requests.SignalsQuery, Query()]
    ) -> Response:
        """Fetches the page, and what its site has: robots.txt, tdmrep.json and licenses."""
        reject_duplicates(request)
        crawlers = [] if query.crawler is None else [query.crawler]
        return await self._page_signals(request, query.url, "url", crawlers, query.dialect)

    async def _page_signals(
        self, request: Request, url: str, pointer: str, crawlers: list[str], dialect: str
    ) -> Response:
        now = _now()
        page = to_url(url)
        file = await self.sites.outcome(
            page, dialect, client_address(request), pointer, cost=PAGE_COST
        )
        return _json(await self.pages.signals(request, page, file, crawlers, now))

    async def disagree(self, question: requests.DisagreeRequest, request: Request) -> Response:
        """Returns for each agent the dialects that decide differently, with example URLs."""
        name = question.dialect
        file = await self._load(question, name, request)
        return _json(
            await self.workers.run(
                request, answers.disagree, file, name, question.dialects, question.agents
            )
        )

    async def agents(
        self, request: Request, query: Annotated[requests.AgentsQuery, Query()]
    ) -> Response:
        """Returns tokens, operators, purposes and whether they obey robots.txt, each with its source."""
        reject_duplicates(request)
        return _json(_agents(query.purpose, _today()))

    async def dialects(self) -> Response:
        """Returns the dialects, each with its source."""
        return _json(_dialects())

    async def presets(self) -> Response:
        """Returns the presets, each with its file, who stays allowed, and why."""
        return _json(_presets())

    async def healthz(self) -> models.State:
        """Returns 200 even while the service is busy."""
        return models.State(status="ok", version=VERSION)

    async def readyz(self) -> models.State:
        """Returns 503 once the service is stopping."""
        if self.state.is_stopping:
            raise stopping()
        return models.State(status="ready", version=VERSION)

    async def _load(
        self,
        file: requests.File,
        dialect: str,
        request: Request,
        pointer: str = "/site",
        *,
        allows_none: bool = False,
    ) -> File:
        """Return the bytes of a file, or the outcome of its fetch.

        Raises:
            Problem: the site has no file, and is not allowed to have none.
        """
        if file.site is None:
            return (file.robots or "").encode("utf-8")
        outcome = await self.sites.outcome(
            to_url(file.site), dialect, client_address(request), pointer
        )
        if outcome.body is None and not allows_none:
            raise _no_file(outcome, pointer)
        return outcome


#: Method, path, handler, model of the response, and summary.
ROUTES: tuple[tuple[str, str, Callable[..., Awaitable[Any]], type, str], ...] = (
    ("POST", "/v1/decide", Api.decide, models.DecideResponse, "Decide many URLs for many agents"),
    ("POST", "/v1/files", Api.files, models.FilesResponse, "Classify many files, and decide by each"),
    ("GET", "/v1/check", Api.check, models.CheckResponse, "Decide one URL by its site's file"),
    ("GET", "/v1/fetch", Api.fetch, models.FetchedFile, "Fetch a site's robots.txt"),
    ("POST", "/v1/lint", Api.lint, models.LintResponse, "Find mistakes in a file"),
    ("POST", "/v1/diff", Api.diff, models.DiffResponse, "Compare two files"),
    ("POST", "/v1/audit", Api.audit, models.AuditResponse, "Show what known crawlers may fetch"),
    ("POST", "/v1/signals", Api.signals, models.SignalsResponse, "Show what a site says about the use of a page"),
    ("GET", "/v1/signals", Api.page_signals, models.SignalsResponse, "Fetch a page, and show what is said about its use"),
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


def _sources(question: requests.SignalsRequest) -> Sources:
    """Return the sources in a request; of the page, no more than is read."""
    html = None if question.html is None else question.html.encode("utf-8")[: MAX_HTML + 1]
    return Sources(
        url=question.url,
        headers=question.headers,
        html=html,
        # Whatever it says about itself.
        charset="utf-8",
        tdmrep=None if question.tdmrep is None else question.tdmrep.encode("utf-8"),
        licenses={url: text.encode("utf-8") for url, text in question.licenses.items()},
        notes=(),
        unread=(),
    )


def _content_of(file: requests.FileOfBatch) -> bytes | str:
    return (file.body_base64 or "") if file.robots is None else file.robots.encode("utf-8")


def _json(answer: bytes) -> Response:
    # Validating it against its model would take longer than making it.
    return Response(answer, media_type="application/json")


def _encode(model: BaseModel) -> bytes:
    return model.model_dump_json().encode("utf-8")


def _now() -> datetime:
    return datetime.now(UTC)


def _today() -> date:
    return _now().date()


@lru_cache(maxsize=2 * (len(Purpose) + 1))
def _agents(purpose: Purpose | None, today: date) -> bytes:
    records = [
        models.CrawlerRecord.model_validate(of_crawler(each, today))
        for each in known()
        if purpose is None or purpose in each.purposes
    ]
    policies = [
        models.PolicyTokenRecord.model_validate(of_policy_token(each))
        for each in POLICY_TOKENS
        if purpose in (None, each.purpose)
    ]
    return _encode(models.AgentsResponse(agents=records, policy_tokens=policies))


@cache
def _dialects() -> bytes:
    records = [
        models.DialectRecord(name=each.name, source=each.source, default=each is RFC9309)
        for each in DIALECTS.values()
    ]
    return _encode(models.DialectsResponse(dialects=records))


@cache
def _presets() -> bytes:
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
    return _encode(models.PresetsResponse(presets=records))


def prepare() -> None:
    """Make the answers that are always the same."""
    for purpose in (None, *Purpose):
        _agents(purpose, _today())
    _dialects()
    _presets()


def _no_file(outcome: UnreadOutcome, pointer: str) -> Problem:
    detail = f"{outcome.origin} has no robots.txt: {outcome.why or outcome.reason}"
    return Problem(422, "no-file", detail, [{"detail": detail, "pointer": pointer}])


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
