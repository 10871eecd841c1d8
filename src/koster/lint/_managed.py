"""The check of lines that a service puts above the owner's own: they are changed elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from .._contents import lines_of_cloudflare
from ..model import Directive
from ._checks import NOTE, check
from ._model import CheckedFile, Place, Remark, first_names

MANAGED_CODE = "L013"
CHANGE_ELSEWHERE = "Cloudflare writes {line}: change it in its dashboard"


@check(MANAGED_CODE, "managed-by-cloudflare", NOTE, "Lines are written by Cloudflare",
    why="Cloudflare puts them above the file of the site, and the site cannot change them. Groups with the same name are merged: of the rules that match a URL the longest applies, Allow on a tie. Crawlers that a group of Cloudflare names ignore the * rules of the site.",
    example="# BEGIN Cloudflare Managed content\nUser-agent: GPTBot\nDisallow: /\n# END Cloudflare Managed Content\nUser-agent: *\nDisallow: /admin/\n",
    fix="User-agent: *\nDisallow: /admin/\n",
    source="https://developers.cloudflare.com/bots/additional-configurations/managed-robots-txt/")  # fmt: skip
def managed_by_cloudflare(subject: CheckedFile) -> Iterator[Remark]:
    managed = managed_lines(subject)
    if not managed:
        return
    blocked: dict[str, str] = {}
    own: set[str] = set()
    for group in subject.groups:
        names = {line.value.lower(): line.value for line in group.agents if line.value}
        if group.agents[0].number not in managed:
            own |= names.keys()
        elif any(
            line.value == "/" and line.directive is Directive.DISALLOW for line in group.rules
        ):
            blocked |= names
    shared = [name for lower, name in blocked.items() if lower in own]
    what = (
        f": they block {first_names(list(blocked.values()))} from the whole site" if blocked else ""
    )
    merged = (
        f"; your rules for {first_names(shared)} are merged with them, and of these the longest path applies"
        if shared
        else ""
    )
    yield Remark(
        Place(managed[-1], 0, len(subject.lines[managed[-1] - 1].text)),
        f"Lines {managed[0]} to {managed[-1]} are written by Cloudflare{what}",
        f"Change them in Cloudflare's dashboard{merged}",
    )


def managed_lines(subject: CheckedFile) -> range:
    """Return the numbers of the lines that Cloudflare writes, with the comments above them."""
    return subject.once("managed lines", lambda: lines_of_cloudflare(subject.robots))
