# Made from koster/fetch/_async/uses.py by `make generate`. Do not edit.
"""Whether pages may be used: from their robots.txt, responses, and the documents of their sites."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from ...access import MAX_REDIRECTS, Failure, Outcome, Request, Response, status_phrase, wants_body
from ...cache.memory import LRUCache
from ...errors import UrlError
from ...origins import origin_of, redirect_target
from ...signals import Unstated, Use, UseDecision
from ...signals._uses import (
    MISSING,
    TDMREP_PATH,
    Document,
    check_extra,
    decide_use,
    has_html,
    page_of,
    uses_named,
    wanted_documents,
)
from .._hosts import to_ascii
from .._page_responses import parts_of
from .._state import ClientState

#: Seconds for which documents are kept, and those that could not be read.
_FRESH, _RETRY = 24 * 60 * 60, 10 * 60
_MAX_DOCUMENTS = 10_000
_MAX_BYTES = 32 << 20


class _Client(Protocol):
    """What is needed of the client."""

    _fetch_locks: Any
    _state: ClientState

    def _fetch_slot(self) -> AbstractContextManager[object]: ...

    def robots(self, url: str) -> Outcome: ...

    def _get(self, request: Request, until: float) -> Response | Failure: ...

    def _body_of(self, response: Any) -> bytes: ...

    def _now(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class _Kept:
    document: Document
    until: float


class Uses:
    """Decides whether a client's crawler may use pages.

    Raises:
        MissingExtraError: the extra ``signals`` is missing.
        TypeError: an argument has the wrong type.
        ValueError: a use is unknown.
    """

    def __init__(self, client: _Client, uses: Sequence[str], unstated: Unstated | None) -> None:
        if not isinstance(unstated, (Unstated, type(None))):
            raise TypeError(
                "unstated must be koster.signals.Unstated.DISALLOW or ALLOW, "
                f"not {type(unstated).__name__}"
            )
        self._uses = uses_named(uses)
        check_extra()
        self._client = client
        self._unstated = unstated or Unstated.DISALLOW
        self._documents: LRUCache[tuple[str, bool], _Kept] = LRUCache(
            _MAX_DOCUMENTS, _MAX_BYTES, lambda kept: len(kept.document.content or b"") + 500
        )

    def decide(
        self, url: str, agent: str | Sequence[str], response: object, html: bytes | None
    ) -> UseDecision:
        """Return whether the crawler may use a page; see `Client.may_use`."""
        _check_bytes("html", html)
        page = None
        if response is not None:
            parts = parts_of(response)
            body = (html or None) if parts.is_head else html
            if body is None and not parts.is_head and has_html(parts.status, parts.headers):
                body = self._client._body_of(response)  # noqa: SLF001
                _check_bytes("the body of the response", body)
            page = page_of(parts.url, parts.status, parts.headers, body)
        robots = self._client.robots(url)
        # The file of a site counts less than the page, which is not known before.
        wants_site_file = page is not None and Use.TDM in self._uses
        site_file = robots.origin + TDMREP_PATH if wants_site_file else None
        documents: dict[str, Document] = {}
        while True:
            found = decide_use(
                url,
                robots,
                agent,
                self._uses,
                page=page,
                documents=documents,
                unstated=self._unstated,
                now=self._client._now(),  # noqa: SLF001
            )
            wanted = list(wanted_documents(found.signals, documents, site_file))
            if not wanted or not found.decision:
                return found
            for each in wanted:
                documents[each] = self._document(each, robots.origin, site_file)

    def _document(self, url: str, site: str, site_file: str | None) -> Document:
        """Return a document: a kept one, or fetched now."""
        # As the file of a site it may be missing, as a license not.
        key = url, url == site_file
        document = self._kept(key)
        if document is None:
            with self._client._fetch_locks.hold(url):  # noqa: SLF001
                # Another caller may have fetched it meanwhile.
                document = self._kept(key) or self._fetch(url, site, is_site_file=key[1])
                until = self._seconds() + (_RETRY if document.why else _FRESH)
                self._documents.put(key, _Kept(document, until))
        return document

    def _kept(self, key: tuple[str, bool]) -> Document | None:
        kept = self._documents.get(key)
        return kept.document if kept is not None and self._seconds() < kept.until else None

    def _seconds(self) -> float:
        return self._client._now().timestamp()  # noqa: SLF001

    def _fetch(self, url: str, site: str, *, is_site_file: bool) -> Document:
        """Fetch a document that a site names: of all sites, only that one gets the headers."""
        with self._client._fetch_slot():  # noqa: SLF001
            until = time.monotonic() + self._client._state.timeout  # noqa: SLF001
            try:
                origin = origin_of(site, to_ascii)
                target = redirect_target(url, url, to_ascii)
                for _ in range(MAX_REDIRECTS + 1):
                    if is_site_file and origin_of(target, to_ascii) != origin:
                        return Document(None, f"{url}: redirects to another site, {target}")
                    answer = self._client._get(Request(origin, target), until)  # noqa: SLF001
                    if isinstance(answer, Failure):
                        return Document(None, f"{url}: {answer.why}")
                    if not (300 <= answer.status < 400 and "location" in answer.headers):
                        return _document_in(answer, url, is_optional=is_site_file)
                    target = redirect_target(target, answer.headers["location"], to_ascii)
            except UrlError as error:
                return Document(None, f"{url}: {error}")
            return Document(None, f"{url}: more than {MAX_REDIRECTS} redirects")


def _check_bytes(name: str, body: object) -> None:
    if not isinstance(body, (bytes, type(None))):
        raise TypeError(f"{name} must be bytes, not {type(body).__name__}")


def _document_in(answer: Response, url: str, *, is_optional: bool) -> Document:
    """Return the document in a response."""
    if not wants_body(answer.status):
        is_missing = is_optional and answer.status in MISSING
        return Document(None, "" if is_missing else f"{url}: {status_phrase(answer.status)}")
    if not answer.is_whole:
        return Document(None, f"{url}: too large, or cut")
    return Document(answer.body)
