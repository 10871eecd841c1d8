"""The check of sitemaps that a site's robots.txt names, and that could not be read there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from .._wording import count_noun
from ..model import Directive
from ._checks import WARNING, Check, check
from ._model import WHOLE_FILE, CheckedFile, Remark

#: The code of the check. It finds nothing until `with_fetched` gives it what was fetched.
CODE = "M008"

_PARTLY_CHECKED = "Z004"
#: Longer URLs in messages are cut.
_MAX_URL = 200


@dataclass(frozen=True, slots=True)
class FetchedSitemaps:
    """What was wrong with the sitemaps of a file, by URL: each a part of a sentence.

    ``problems``: search engines do not find a sitemap there either. ``unchecked``: koster may not
    fetch it, but search engines may.
    """

    problems: Mapping[str, str] = field(default_factory=dict)
    unchecked: Mapping[str, str] = field(default_factory=dict)

    def remarks(self, subject: CheckedFile) -> Iterator[Remark]:
        """Yield a remark for the first line with each sitemap that was not found."""
        left = dict(self.problems)
        for line in subject.lines_of(Directive.SITEMAP):
            why = left.pop(line.value, None)
            if why is not None:
                yield Remark(
                    subject.value(line),
                    f"Sitemap not found: {why}",
                    "Correct the URL, or serve the sitemap there",
                    url=line.value,
                )

    def partly_checked(self) -> Iterator[Remark]:
        """Yield a remark if sitemaps could not be checked."""
        if self.unchecked:
            url, why = next(iter(self.unchecked.items()))
            yield Remark(
                WHOLE_FILE,
                f"Not checked completely: {count_noun(len(self.unchecked), 'sitemap')} could not be "
                f"fetched, such as {url[:_MAX_URL]} ({why})",
                "Check that search engines can fetch it",
            )


@check(CODE, "sitemap-not-found", WARNING, "There is no sitemap at the URL of a Sitemap line",
    why="Search engines cannot read the sitemap. Where a site is checked, koster lint requests the first five sitemaps that its robots.txt names, one after the other, and reads only their beginning. It finds errors such as 404 and 503, failed lookups of names, empty files, and HTML pages. For a file on disk nothing is requested.",
    example="Run `koster lint https://shop.example` with the address of a site whose sitemap is missing.",
    source="https://www.sitemaps.org/protocol.html#submit_robots")  # fmt: skip
def nothing_fetched(_subject: CheckedFile) -> Iterable[Remark]:
    # `with_fetched` puts the results in its place.
    return ()


def with_fetched(checks: Iterable[Check], fetched: FetchedSitemaps) -> tuple[Check, ...]:
    """Return checks; that of sitemaps that are not found is about these results."""
    return tuple(_with_fetched(check, fetched) for check in checks)


def _with_fetched(check: Check, fetched: FetchedSitemaps) -> Check:
    if check.code == CODE:
        return replace(check, find=fetched.remarks)
    if check.code == _PARTLY_CHECKED:
        find = check.find
        return replace(check, find=lambda subject: (*find(subject), *fetched.partly_checked()))
    return check
