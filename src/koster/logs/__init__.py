"""Access logs against robots.txt: which crawlers obeyed the file that they may have held.

`judge` judges requests in Arrow tables, `analyze` reads log files and reports on each crawler, as
``koster logs`` does. `koster.bulk.duckdb` and `koster.bulk.spark` judge requests in DuckDB and
Spark. They need the extra ``logs``.

>>> from koster.logs import Version, Versions
>>> versions = Versions("mine", (Version("1", None, b"User-agent: *\\nDisallow: /private/"),))
>>> versions.names
()
"""

from __future__ import annotations

from ..errors import missing

try:
    # The extra "bulk" does not bring it.
    import apachelogs  # noqa: F401
except ImportError as error:
    raise missing("koster.logs", "logs") from error

from ..bulk.judging import GRACE, JUDGED, TOLERANCE, Judge, Verdict, judge
from ._dns import ReverseDns
from ._follow import Violation, follow
from ._identity import Identified
from ._known_formats import FORMATS
from ._patterns import FormatError
from ._run import EVENTS, Options, UnknownCrawlerError, UnknownHostError, analyze
from ._summary import BrokenRule, CrawlerReport, Example, Pace, Report
from ._versions import Version, Versions

__all__ = [
    "EVENTS",
    "FORMATS",
    "GRACE",
    "JUDGED",
    "TOLERANCE",
    "BrokenRule",
    "CrawlerReport",
    "Example",
    "FormatError",
    "Identified",
    "Judge",
    "Options",
    "Pace",
    "Report",
    "ReverseDns",
    "UnknownCrawlerError",
    "UnknownHostError",
    "Verdict",
    "Version",
    "Versions",
    "Violation",
    "analyze",
    "follow",
    "judge",
]
