"""All checks: the modules that have some, and the table that they fill."""

from __future__ import annotations

from . import (  # noqa: F401 - each adds its checks
    _agents,
    _blocking,
    _bytes,
    _fetched_sitemaps,
    _groups,
    _joined,
    _limits,
    _lines,
    _managed,
    _patterns,
    _preferences,
    _resources,
    _semantics,
    _sitemap_lines,
    _sitemaps,
    _star_rules,
    _values,
)
from ._checks import found

CHECKS = found()
#: Those that run by default.
DEFAULT_CHECKS = tuple(check for check in CHECKS if check.is_on)
CHECK_OF = {check.code: check for check in CHECKS}
