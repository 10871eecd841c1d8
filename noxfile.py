"""Tasks that need an environment of their own: ``nox -l`` lists them."""

from __future__ import annotations

import nox

#: As in the Makefile.
ORIGINALS = (
    "robotexclusionrulesparser==1.7.1",
    "webcanon==0.3.0",
    "apetest==0.1.1",
    "protego==0.7.0",
)
CONSTRAINTS = ("-c", "constraints.txt")

nox.options.sessions = ["tests"]
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_external_run = True


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run the tests, compiled and as plain Python, with each version of Python that is there."""
    session.install(*CONSTRAINTS, "--group", "dev", ".[cli]")
    session.install("--no-deps", *ORIGINALS)
    for pure in ("0", "1"):
        session.run("python", "-m", "pytest", "-q", "-r", "s", env={"KOSTER_PURE": pure})
