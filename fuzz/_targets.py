"""The targets: what they are called, and what their inputs are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Target:
    """A target.

    Attributes:
        name: The name of its module.
        max_bytes: Longer inputs are not made.
        needs: A package that must be installed, besides those of koster.
        known: What a process prints when a library kills it in a way that is known; that is no
            finding.
        is_about_files: Its inputs are those of `fuzz._inputs`: the cases of the tests are stored
            inputs, too.
    """

    name: str
    max_bytes: int = 600
    needs: str = ""
    known: tuple[str, ...] = ()
    is_about_files: bool = False


#: Arrow checks the sizes in a Parquet footer where Python cannot catch its error, and aborts the
#: process (related: https://github.com/apache/arrow/issues/45283).
_ARROW_ABORTS = (
    "level histogram size mismatch",
    "Unencoded byte array data bytes does not support",
)

TARGETS = {
    each.name: each
    for each in (
        Target("decide", is_about_files=True),
        Target("builds", is_about_files=True),
        Target("google", needs="jwm.robotstxt", is_about_files=True),
        Target("rfc9309", is_about_files=True),
        Target("access", 200),
        Target("cache", 100),
        Target("rewrite", 300, is_about_files=True),
        Target("warc", 400),
        Target("tables", 400, known=_ARROW_ABORTS),
        Target("logs", 400),
        Target("signals", 300, needs="selectolax"),
    )
}

#: The stored inputs of each target.
CORPUS = Path(__file__).parent / "corpus"
FINDINGS = Path(__file__).parent / "findings"
