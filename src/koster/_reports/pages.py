"""Self-contained HTML pages from templates. Needs Jinja."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..errors import missing
from .plain import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def page(template: str, **values: object) -> str:
    """Return a page. All values are escaped, including control characters.

    Raises:
        MissingExtraError: Jinja is not installed.
    """
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> Environment:
    try:
        import jinja2  # noqa: PLC0415 - only for pages
    except ImportError as error:
        raise missing("HTML pages", "cli") from error
    return jinja2.Environment(
        loader=jinja2.PackageLoader("koster._reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
