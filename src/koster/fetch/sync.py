"""`RobotsClient`: the client for threads."""

from __future__ import annotations

import inspect
import math
import os
import ssl
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from .._misuse import warn_caller
from ..access import Failure, Html, Redirects, Request, Response, Unreachable
from ..cache import Cache
from ..cache.forks import at_fork
from ..dialects import RFC9309, Dialect
from ..politeness import Limits, Longer
from ._arguments import DEFAULT_AT_ONCE, NetworkSettings, check_arguments
from ._deadline import Deadline
from ._exchange import answer_of, reader_of
from ._failures import through, to_failure
from ._grouping import Grouping, Groups, PaceBy
from ._state import ClientState, utc_now
from ._sync.client import Client
from .events import OnEvent
from .guard import Guard
from .pace import PaceKeeper, pacer_for
from .senders import sender_for

if TYPE_CHECKING:
    import httpx
    import httpx2
    import requests

    from ..signals import Unstated


class RobotsClient(Client):
    """Fetches each site's robots.txt once, caches it, and decides. Thread-safe.

    Args:
        user_agent: The User-Agent header of each fetch.
        agent: The default agent of decisions: a product token, a User-Agent header, or a sequence
            of tokens. Default: ``user_agent``.
        dialect: How files and statuses are read.
        timeout: Seconds for a whole fetch, including redirects.
        headers: Additional headers of each fetch. ``Authorization`` and ``Cookie`` are not sent to
            other sites after a redirect.
        cache: The cache of entries: any `koster.cache.Cache`; the path of a file, for an
            `SqliteCache`; a URL ``redis://…``, for a `RedisCache`. Default: in memory. The client
            closes a cache that it created.
        default_interval: Seconds between requests to a site that sets no pace; see `wait`.
            Default: twice the time that the last request took, at least 10.
        min_interval: The least seconds between requests to a site, even if it accepts more.
        max_interval: The most seconds between requests to a site. Default: no limit.
        longer: What to do with pages of a site that sets a longer interval than ``max_interval``:
            refuse them (`TooSlowError`), or request them at ``max_interval``.
        pacer: Paces requests for `wait`; a `FleetPacer` for several processes. Default: a new
            `Pacer`.
        pace_by: Which sites share a pace: none, those of a registrable domain or of an IP address,
            or those for whose URL a function returns the same name.
        guard: Which addresses to refuse, such as `PUBLIC_ONLY`. Default: none. With a proxy, it
            checks the addresses of the requested host.
        proxy: The URL of the proxy for all fetches, such as ``http://user:password@host:3128``.
            Default: that of the environment.
        trust_env: Whether to use the environment: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY,
            SSL_CERT_FILE and SSL_CERT_DIR.
        verify: The certificates to trust: a file or folder of them, or an `ssl.SSLContext`; False
            trusts any certificate. Default: those of the system.
        cert: A client certificate: a file, or a tuple of certificate, key and password.
        http: The HTTP client that the caller has: an ``httpx.Client``, ``httpx2.Client`` or
            ``requests.Session``. It sends the requests in place of koster's own network; the
            caller closes it.
        transport: An ``httpx2.BaseTransport`` that sends the requests, such as `MockTransport`;
            the caller closes it.
        at_once: Maximum number of concurrent fetches. The timeout of a waiting fetch does not run.
        on_event: Called with each `Event`.
        clock: Returns the current time, with a time zone.
        unreachable: What crawlers may fetch from an unreachable site whose file is not cached:
            nothing, or everything with a warning in the log.
        html: What an HTML page in place of a robots.txt means: a file without rules, or an
            unreachable site.
        redirects: Which redirects of a robots.txt are followed: all, or those to the same site.
        uses: What the crawler uses pages for, such as ``("ai-train",)``: see `may_use`. Needs the
            extra ``signals``.
        unstated: Whether pages may be used where their site says nothing about that:
            `koster.signals.Unstated`. Default: DISALLOW, so that only a yes allows it.

    Raises:
        CacheError: the cache cannot be opened.
        MissingExtraError: koster's own network needs the extra ``http``.
        OSError: a file of certificates cannot be read.
        TypeError: an argument has the wrong type.
        ValueError: ``user_agent`` is empty, not printable ASCII, or a URL; a number is out of its
            range; a proxy or header is invalid; or arguments cannot be combined: ``http``,
            ``transport`` and the settings of koster's own network (``guard``, ``proxy``,
            ``trust_env``, ``verify``, ``cert``), or ``pacer`` and intervals.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        agent: str | Sequence[str] | None = None,
        dialect: Dialect = RFC9309,
        timeout: float = 10.0,
        headers: Mapping[str, str] | None = None,
        cache: Cache | str | os.PathLike[str] | None = None,
        default_interval: float | None = None,
        min_interval: float = 0.0,
        max_interval: float | None = None,
        longer: Longer = Longer.REFUSE,
        pacer: PaceKeeper | None = None,
        pace_by: Grouping = PaceBy.ORIGIN,
        guard: Guard | None = None,
        proxy: str | None = None,
        trust_env: bool = True,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext = True,
        cert: str | os.PathLike[str] | tuple[str | os.PathLike[str], ...] | None = None,
        http: httpx2.Client | httpx.Client | requests.Session | None = None,
        transport: httpx2.BaseTransport | None = None,
        at_once: int = DEFAULT_AT_ONCE,
        on_event: OnEvent | None = None,
        clock: Callable[[], datetime] = utc_now,
        unreachable: Unreachable = Unreachable.DISALLOW,
        html: Html = Html.NO_RULES,
        redirects: Redirects = Redirects.ANY_SITE,
        uses: Sequence[str] = (),
        unstated: Unstated | None = None,
    ) -> None:
        limits = Limits(min_interval, max_interval, longer)
        network = NetworkSettings(guard, proxy, trust_env, verify, cert)
        check_arguments(network, http, transport, at_once)
        self._state = ClientState(
            user_agent,
            agent,
            dialect,
            timeout,
            headers,
            cache,
            on_event,
            clock,
            unreachable,
            html,
            redirects,
        )
        self._cached_site = self._state.cached_site
        self._sender = sender_for(network, http, transport)
        self._pacer = pacer_for(pacer, default_interval, limits)
        self._groups = Groups(pace_by)
        self._set_uses(uses, unstated)
        self._at_once_number = at_once
        self._at_once = threading.BoundedSemaphore(at_once)
        self._fetch_locks = _Locks()
        self._turn_locks = _Locks()
        self._closing = threading.Event()
        self._has_fetched = False
        self._has_inherited_connections = False
        self._network_argument = "transport" if http is None else "http client"
        at_fork(in_child=self._reset_after_fork)

    def _reset_after_fork(self) -> None:
        """Replace the locks that threads of the parent process hold, in a child process."""
        self._at_once = threading.BoundedSemaphore(self._at_once_number)
        self._closing = threading.Event()
        if self._state.is_closed:
            self._closing.set()
        if self._has_fetched and self._sender.keeps_connections:
            self._has_inherited_connections = True

    def __enter__(self) -> Self:
        self._state.check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections, and the cache if the client created it."""
        self._state.is_closed = True
        self._closing.set()
        self._sender.close()
        self._state.close()

    def _for_each(self, function: Callable[[str], Any], items: Sequence[str]) -> None:
        workers = min(self._at_once_number, len(items))
        if not workers:
            return
        pool = ThreadPoolExecutor(workers, thread_name_prefix="koster prefetch")
        try:
            for _ in pool.map(function, items):
                pass
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _check_use(self) -> None:
        pass

    def _cancelled_on_close(self) -> AbstractContextManager[None]:
        # `_sleep` raises.
        return nullcontext()

    def _sleep(self, seconds: float) -> None:
        if self._closing.wait(seconds):
            raise RuntimeError("the client is closed")

    def _look_up(self, host: str) -> Sequence[str]:
        from ._lookup import resolve  # noqa: PLC0415 - for one setting only

        with suppress(OSError, UnicodeError):
            return resolve(host, 443, self._state.timeout)
        return ()

    def _body_of(self, response: Any) -> bytes:
        # httpx may not have read it yet.
        found = response.read() if hasattr(response, "read") else response.content
        if inspect.iscoroutine(found):
            found.close()
            raise TypeError("the response is of an asynchronous client: use AsyncRobotsClient")
        return found  # type: ignore[no-any-return]

    def _call_pacer_shielded(self, name: str, *arguments: object) -> None:
        getattr(self._pacer, name)(*arguments)

    def _call_pacer(self, name: str, *arguments: object) -> Any:
        return getattr(self._pacer, name)(*arguments)

    def _call_cache(self, method: Callable[..., Any], *arguments: object) -> Any:
        return method(*arguments)

    def _check_transport(self) -> None:
        if self._has_inherited_connections:
            name = self._network_argument
            raise RuntimeError(
                f"the {name} of this RobotsClient belongs to the parent process: "
                f"create a new client with a new {name}"
            )
        if not self._has_fetched:
            _warn_in_event_loop()
        self._has_fetched = True

    def _fetch_slot(self) -> threading.BoundedSemaphore:
        return self._at_once

    def _send(self, request: Request, until: float) -> Response | Failure:
        state, sender = self._state, self._sender
        found: Response | Failure
        with Deadline(until) as deadline:
            try:
                headers = state.headers_for(request)
                with sender.send(request.url, headers, deadline.check()) as received:
                    reading = reader_of(received)
                    for chunk in received.parts if reading.wants_body else ():
                        if reading.feed(chunk):
                            break
                        # Other libraries limit only each single read.
                        deadline.check()
                found = answer_of(received, reading)
            except sender.errors as error:
                found = to_failure(error, state.timeout, sender.kinds)
        if isinstance(found, Failure):
            return through(found, sender.proxy_for(request.url))
        return found


def _warn_in_event_loop() -> None:
    """Warn if this thread runs an event loop of asyncio, which a fetch would block."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    warn_caller(
        "RobotsClient blocks the running event loop while it fetches or waits: "
        "use koster.AsyncRobotsClient"
    )


class _Locks:
    """Locks by name, in FIFO order; a name's lock exists only while it is in use.

    Who holds one takes the locks of an HTTP library and of a cache, too, so each thread holds one
    at most: what a signal handler or a finalizer asks meanwhile would wait for its own thread.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._queues: dict[str, deque[threading.Lock]] = {}
        self._threads: set[int] = set()
        at_fork(in_child=self._reset_after_fork)

    def _reset_after_fork(self) -> None:
        """Discard the locks of the parent's threads, in a child process."""
        self._lock = threading.RLock()
        self._queues = {}
        self._threads = set()

    @contextmanager
    def hold(self, name: str, until: float = math.inf) -> Iterator[bool]:
        """Hold a name's lock; False if it is not free before ``until`` (monotonic).

        Raises:
            RuntimeError: this thread holds a lock, or waits for one.
        """
        thread = threading.get_ident()
        if thread in self._threads:
            raise RuntimeError(
                f"this thread is already waiting for a robots.txt or a turn: {name} must be asked "
                "from another thread (a signal handler or a finalizer can use client.cached)"
            )
        try:
            self._threads.add(thread)
            with self._queue(name, until) as has_lock:
                yield has_lock
        finally:
            self._threads.discard(thread)

    @contextmanager
    def _queue(self, name: str, until: float) -> Iterator[bool]:
        own = threading.Lock()
        own.acquire()
        with self._lock:
            queue = self._queues.setdefault(name, deque())
            queue.append(own)
            is_first = len(queue) == 1
        try:
            # The previous holder releases ``own``.
            left = min(max(until - time.monotonic(), 0), threading.TIMEOUT_MAX)
            yield is_first or own.acquire(timeout=left)
        finally:
            with self._lock:
                was_first = queue[0] is own
                queue.remove(own)
                if queue and was_first:
                    queue[0].release()
                # In a child process, the queue may be the parent's.
                if not queue and self._queues.get(name) is queue:
                    del self._queues[name]
