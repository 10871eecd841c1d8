"""What crawlers do on a site that does not answer with a robots.txt: by status and crawler.

Sources: RFC 9309 §2.3.1 and §2.4; Google's page on the robots.txt specification, read on
2026-11-30.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .._contents import is_page
from .._reports import screen
from ..decisions import Reason

if TYPE_CHECKING:
    from ..access import Outcome
    from .fetch_options import FetchOptions

GOOGLE_SOURCE = (
    "https://developers.google.com/crawling/docs/robots-txt/robots-txt-spec#http-status-codes"
)

#: Statuses of sites behind a password, a firewall or a proxy.
_CLOSED = (401, 403, 407)
_TOO_MANY = 429

_RFC_5XX = (
    "crawlers that follow RFC 9309 (§2.3.1.4) fetch nothing, or go by a cached copy of the file; "
    "after about 30 days they may fetch everything"
)
_RFC_4XX = "under RFC 9309 (§2.3.1.3), crawlers may fetch everything"
_RFC_429 = f"{_RFC_4XX}, as for any 4xx; some fetch nothing, as koster does"
_GOOGLE_5XX = (
    "Google fetches nothing for 12 hours; then, up to 30 days, it goes by its last good copy, or "
    "fetches everything if it has none"
)
_GOOGLE_LATER = (
    "after 30 days, Google fetches everything if the rest of the site works, else nothing "
    f"({GOOGLE_SOURCE})"
)
_GOOGLE_4XX = f"so may Google ({GOOGLE_SOURCE})"


def headline(outcome: Outcome) -> str:
    """Return that a site has no file, or none that everyone may read."""
    status = outcome.hops[-1].status if outcome.hops else None
    if status in _CLOSED:
        return f"{outcome.origin}: its robots.txt is not public ({outcome.why})"
    return f"{outcome.origin}: has no robots.txt ({outcome.why}); all is allowed"


def explain(outcomes: Iterable[Outcome], settings: FetchOptions) -> None:
    """Print what crawlers do on sites without a file, on standard error: each line once a run."""
    for outcome in outcomes:
        for line in _lines(outcome, settings):
            if line not in settings.explained:
                settings.explained.add(line)
                screen.complain(line)


def _lines(outcome: Outcome, settings: FetchOptions) -> Iterator[str]:
    """Yield what an outcome means for crawlers."""
    status = outcome.hops[-1].status if outcome.hops else None
    if outcome.robots is not None:
        yield from _about_file(outcome)
    elif outcome.unreachable_since is not None or outcome.reason is Reason.UNREACHABLE:
        yield from _unreachable(status)
    elif status in _CLOSED:
        yield f"{status}: {_RFC_4XX}; {_GOOGLE_4XX}"
        yield _with_password(settings)


def _unreachable(status: int | None) -> Iterator[str]:
    if status is not None and status != _TOO_MANY and status < 500:
        # The standard says nothing about the others.
        return
    what = "if crawlers cannot fetch it either" if status is None else "5xx"
    if status == _TOO_MANY:
        yield f"429: {_RFC_429}"
        what = "429, as 5xx"
    else:
        yield f"{what}: {_RFC_5XX}"
    yield f"{what}: {_GOOGLE_5XX}"
    yield f"{what}: {_GOOGLE_LATER}"


def _about_file(outcome: Outcome) -> Iterator[str]:
    """Yield what is wrong with a file: an old copy, or a page to which the site redirects."""
    if outcome.is_stale:
        yield (
            f"{outcome.origin}: fetching its robots.txt failed ({outcome.why}); this is the cached "
            f"copy of {outcome.fetched:%Y-%m-%d %H:%M} UTC"
        )
    elif len(outcome.hops) > 1 and is_page(outcome.entry.body):
        yield (
            f"{outcome.origin}: its robots.txt redirects to {outcome.url}, perhaps a login page; "
            "--header can send what opens a staging site"
        )


def _with_password(settings: FetchOptions) -> str:
    if settings.headers:
        return "the site does not accept the --header that you gave"
    return (
        "if crawlers need no password, a firewall may block only koster. For a staging site "
        'behind a password: --header "Authorization: Basic …"'
    )
