"""koster: may this robot fetch this URL, and which line says so?

>>> import koster
>>> robots = koster.parse("User-agent: *\\nDisallow: /private")
>>> robots.allowed("https://example.com/private/x", "FooBot")
False
>>> robots.decide("https://example.com/private/x", "FooBot").rule.line
2
"""

from . import _pure

_pure.settle()

from ._version import VERSION
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
from .errors import KosterError, UnknownDialectError, UnreadableError
from .model import (
    Decision,
    Directive,
    Group,
    Line,
    LineKind,
    Reason,
    Rule,
)
from .robots import RobotsTxt, Rules, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._values import CleanParam, Preference, RequestRate, VisitTime

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
    "CleanParam",
    "Decision",
    "Dialect",
    "Directive",
    "Group",
    "KosterError",
    "Line",
    "LineKind",
    "Preference",
    "Reason",
    "RequestRate",
    "RobotsTxt",
    "Rule",
    "Rules",
    "UnknownDialectError",
    "UnreadableError",
    "VisitTime",
    "__version__",
    "dialect_named",
    "parse",
]

_LATE = ("CleanParam", "Preference", "RequestRate", "VisitTime")


def __getattr__(name: str) -> object:
    """Load the values that only pacing and preferences need when they are asked for."""
    if name in _LATE:
        from . import _values  # noqa: PLC0415 - see there

        return getattr(_values, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
