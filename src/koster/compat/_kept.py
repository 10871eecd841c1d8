# cython: nonecheck=True, binding=False, embedsignature.format=clinic
"""The decisions of facades that keep a parsed file; compiled.

Code that keeps a file asks often, so a call from Python would be most of a facade's cost
(``make bench``, facades). Each class here is the base of a facade, and decides about the arguments
that are usual; the facade's own method about others. What a decision needs is not in the object's
dictionary, which would be another place in memory.
"""

from __future__ import annotations

from .. import _text
from ._http import escapes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..robots import RobotsTxt

#: The syntaxes of robotexclusionrulesparser.
MK1996 = 1
GYM2008 = 2

#: Escapes that the libraries read as the character.
PROTEGO_ESCAPES = escapes_of("?&=")
REPPY_ESCAPES = escapes_of("/&=")


class KeptFile:
    """The base of these classes: copied and pickled like any object, with a parsed file."""

    _robots: RobotsTxt

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._robots), self.__getstate__()


def _restored(kind: Any, robots: RobotsTxt, members: tuple[tuple[str, object], ...] = ()) -> Any:
    """Make an object without its constructor; its dictionary follows."""
    file = kind.__new__(kind)
    file._robots = robots
    for name, value in members:
        setattr(file, name, value)
    return file


class ProtegoFile(KeptFile):
    """The base of `koster.compat.protego.Protego`."""

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Return whether the user agent may fetch the URL."""
        if type(url) is str and type(user_agent) is str and _text.is_ascii(user_agent):
            return _verdict(self._robots, _decoded(url, PROTEGO_ESCAPES), user_agent)
        return self._can_fetch(url, user_agent)

    def _can_fetch(self, url: str, user_agent: str) -> bool:
        raise NotImplementedError


class ReppyFile(KeptFile):
    """The base of `koster.compat.reppy.Robots`."""

    #: The usual start of this host's URLs, once it was asked for one.
    _own_prefix: str | None

    def allowed(self, path: str | bytes, name: str | bytes) -> bool:
        """Return whether a crawler may fetch a path or URL; URLs of other hosts are disallowed."""
        if type(path) is str and type(name) is str and _starts_with(path, self._own_prefix):
            return _verdict(self._robots, _decoded(path, REPPY_ESCAPES), name)
        return self._allowed(path, name)

    def _allowed(self, path: str | bytes, name: str | bytes) -> bool:
        raise NotImplementedError


class RerpFile(KeptFile):
    """The base of `koster.compat.robotexclusionrulesparser.RobotExclusionRulesParser`."""

    # The default is GYM2008: `inspect` does not look up names for compiled methods.
    def is_allowed(self, user_agent: str, url: str, syntax: int = 2) -> bool:
        """Return whether the user agent may visit the URL.

        Raises:
            ValueError: ``syntax`` is neither `GYM2008` nor `MK1996`.
        """
        if (
            syntax is GYM2008
            and type(url) is str
            and type(user_agent) is str
            and _text.is_ascii(user_agent)
        ):
            return _verdict(self._robots, normalized(url), user_agent)
        return self._is_allowed(user_agent, url, syntax)

    def _is_allowed(self, user_agent: str, url: str, syntax: int) -> bool:
        raise NotImplementedError


class RobotparserFile(KeptFile):
    """The base of `koster.compat.robotparser.RobotFileParser`."""

    #: Whether the status of `read` disallows or allows everything.
    disallow_all: bool
    allow_all: bool
    #: When the file was last parsed, in seconds since the epoch; 0 before that.
    last_checked: float

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("disallow_all", "allow_all", "last_checked")
        members = tuple([(name, getattr(self, name)) for name in names])
        return _restored, (type(self), self._robots, members), self.__getstate__()

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Return whether the user agent may fetch the URL; False before anything is parsed."""
        if self.disallow_all:
            return False
        if self.allow_all:
            return True
        if not self.last_checked:
            return False
        if type(url) is str and type(useragent) is str and _text.is_ascii(url):
            return _verdict(self._robots, url, useragent)
        return self._can_fetch(useragent, url)

    def _can_fetch(self, useragent: str, url: str) -> bool:
        raise NotImplementedError


def _verdict(robots: RobotsTxt, url: str, agent: str) -> bool:
    return robots._rules_for(agent, "/")._verdict(url)


def _starts_with(text: str, prefix: str | None) -> bool:
    return prefix is not None and text.startswith(prefix)


def _decoded(url: str, escapes: tuple[tuple[str, str], ...]) -> str:
    """Replace some escapes by their characters."""
    if _text.has(url, "%"):
        for escape, character in escapes:
            if escape in url:
                url = url.replace(escape, character)
    return url


def normalized(url: str) -> str:
    """Return a URL as robotexclusionrulesparser reads it.

    Its fragment is part of the path, and parameters and a query that are empty are not there.
    """
    size = len(url)
    if not _text.has(url, "#") and not _text.has(url, ";") and (size == 0 or url[size - 1] != "?"):
        return url
    rest, _, fragment = url.partition("#")
    path, _, query = rest.partition("?")
    if path.endswith(";") and path.find(";", path.rfind("/") + 1) == len(path) - 1:
        path = path[:-1]
    if query:
        path += "?" + query
    return path + "%23" + fragment if fragment else path
