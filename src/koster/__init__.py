"""koster: may this crawler fetch this URL, and which line says so?

>>> import koster
>>> robots = koster.parse("User-agent: *\\nDisallow: /private")
>>> robots.allowed("https://example.com/private/x", "FooBot")
False
>>> robots.decide("https://example.com/private/x", "FooBot").rule.line
2
"""

from . import _pure

_pure.settle()

from ._files import parse_file
from ._version import VERSION
from .decisions import Decision, Reason
from .dialects import (
    DIALECTS,
    EXTENDED2,
    EXTENDED2_1996,
    GOOGLE,
    GYM2008,
    MK1994,
    MK1996,
    RFC9309,
    Dialect,
    dialect_named,
)
from .errors import (
    CacheError,
    KosterError,
    MissingExtraError,
    OutageError,
    TooSlowError,
    TooSoonError,
    UnknownDialectError,
    UnreadableError,
    UrlError,
)
from .model import Directive, Group, Line, LineKind, Rule
from .robots import RobotsTxt, Rules, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .access import Html, Outcome, Redirects, Unreachable
    from .directives import CleanParam, Preference, RequestRate, VisitTime
    from .fetch import PUBLIC_ONLY as PUBLIC_ONLY
    from .fetch import AsyncRobotsClient as AsyncRobotsClient
    from .fetch import RobotsClient as RobotsClient

#: Whether the hot steps are the compiled ones.
COMPILED: bool = _pure.is_compiled()

__version__ = VERSION

__all__ = [
    "COMPILED",
    "DIALECTS",
    "EXTENDED2",
    "EXTENDED2_1996",
    "GOOGLE",
    "GYM2008",
    "MK1994",
    "MK1996",
    "RFC9309",
    "CacheError",
    "CleanParam",
    "Decision",
    "Dialect",
    "Directive",
    "Group",
    "Html",
    "KosterError",
    "Line",
    "LineKind",
    "MissingExtraError",
    "OutageError",
    "Outcome",
    "Preference",
    "Reason",
    "Redirects",
    "RequestRate",
    "RobotsTxt",
    "Rule",
    "Rules",
    "TooSlowError",
    "TooSoonError",
    "UnknownDialectError",
    "Unreachable",
    "UnreadableError",
    "UrlError",
    "VisitTime",
    "__version__",
    "dialect_named",
    "parse",
    "parse_file",
]

#: Names by the module that is loaded when one of them is first asked for: what only pacing,
#: preferences and fetching need.
_LATE = {
    **dict.fromkeys(("CleanParam", "Preference", "RequestRate", "VisitTime"), "directives"),
    **dict.fromkeys(("Html", "Outcome", "Redirects", "Unreachable"), "access"),
    **dict.fromkeys(("PUBLIC_ONLY", "AsyncRobotsClient", "RobotsClient"), "fetch"),
}


def __getattr__(name: str) -> object:
    """Load what not everybody needs when it is asked for."""
    if name in _LATE:
        from importlib import import_module  # noqa: PLC0415 - only here

        return getattr(import_module(f".{_LATE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from importlib.util import find_spec  # noqa: PLC0415 - only here

    # What an extra brings is not in __all__, and here only if it is installed.
    there = {name for name, module in _LATE.items() if module != "fetch" or find_spec("httpx2")}
    return sorted({*globals(), *there})
