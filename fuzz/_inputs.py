"""Turns bytes into a robots.txt, agents and URLs, which often match one another.

The first byte chooses between a raw input, which is taken as it is, and one that is built: then
two thirds of the bytes make lines, from tables of directives, names and parts of patterns, and the
last third makes the questions, often from the names and patterns of the file. Each part is read
from its own end, so that a change of one leaves the other alone. Any bytes are valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from . import _tables
from ._tables import spread

#: The first byte of inputs that are taken as they are.
RAW = 0xF0
#: The first byte of inputs whose file, URL or agent is repeated many times, up to `RAW`.
LARGE = 0xE8

#: What separates the file, the agents and the URLs of a raw input, and agents and URLs themselves.
_BETWEEN = b"\xff\0"
_END = b"\0\n"

_MAX_URLS = 16
_MAX_AGENTS = 3

Agent = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A file, and what is asked about it. ``choice`` is a byte for anything else."""

    body: bytes
    agents: tuple[Agent, ...]
    urls: tuple[str, ...]
    choice: int = 0
    is_large: bool = False


def decode(data: bytes) -> Case:
    """Return the case of an input."""
    kind, choice = data[0] if data else 0, data[1] if len(data) > 1 else 0
    rest = data[2:]
    if kind >= RAW:
        return _raw(rest, choice)
    cut = max(len(rest) * 2 // 3 - 8, 0)
    writer = _Writer(iter(rest[:cut]))
    writer.write_lines()
    questions = _Questions(reversed(rest[cut:]), writer)
    agents, urls = questions.all()
    return Case(writer.body(), agents, urls, choice, kind >= LARGE)


def encode_raw(body: bytes, agents: Sequence[Agent], urls: Sequence[str], choice: int = 0) -> bytes:
    """Return the input whose case has these values."""
    names = [each if isinstance(each, str) else "\x1f".join(each) for each in agents]
    parts = [body, *(_END.join(_bytes(each) for each in some) for some in (names, urls))]
    return bytes([RAW, choice]) + _BETWEEN.join(parts)


def as_raw(data: bytes) -> bytes:
    """Return a raw input with the same case, from which bytes can be removed one by one."""
    case = decode(data)
    return data if case.is_large else encode_raw(case.body, case.agents, case.urls, case.choice)


def _raw(rest: bytes, choice: int) -> Case:
    body, _, questions = rest.partition(_BETWEEN)
    agents, _, urls = questions.partition(_BETWEEN)
    return Case(
        body,
        tuple(_agent(each) for each in agents.split(_END)[:_MAX_AGENTS]),
        tuple(_text(each) for each in urls.split(_END)[:_MAX_URLS]),
        choice,
    )


def _agent(raw: bytes) -> Agent:
    names = _text(raw).split("\x1f")
    return names[0] if len(names) == 1 else tuple(names)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def pattern(source: Iterator[int]) -> bytes:
    """Return a pattern of a rule."""
    head = next(source, 0)
    parts = [_tables.STARTS[head & 7]]
    parts += [_tables.SEGMENTS[next(source, 0)] for _ in range(head >> 3 & 7)]
    parts.append(_tables.ENDS[head >> 6])
    return b"".join(parts)


class _Writer:
    """Writes the lines of a file, and remembers its names and patterns."""

    __slots__ = ("lines", "names", "patterns", "source")

    def __init__(self, source: Iterator[int]) -> None:
        self.source = source
        self.lines: list[bytes] = []
        self.names: list[bytes] = []
        self.patterns: list[bytes] = []

    def write_lines(self) -> None:
        """Write all lines; most files begin with a group for everybody."""
        mark = next(self.source, 0)
        self.lines.append(_tables.MARKS[mark])
        if mark & 3:
            self.names.append(b"*")
            self.lines.append(b"User-agent: *\n")
        for operation in self.source:
            _OPERATIONS[operation](self)

    def body(self) -> bytes:
        return b"".join(self.lines)

    def rule(self) -> None:
        source = self.source
        found = pattern(source)
        self.patterns.append(found)
        self._line(_tables.RULE_KEYS[next(source, 0)], found)

    def plain_rule(self) -> None:
        """Add a rule in the usual layout, which takes few bytes of the input."""
        found = pattern(self.source)
        self.patterns.append(found)
        key = b"Allow: " if len(self.patterns) % 2 else b"Disallow: "
        self.lines += (key, found, b"\n")

    def agent(self) -> None:
        name = _tables.NAMES[next(self.source, 0)]
        self.names.append(name)
        self.lines += (b"User-agent: ", name, b"\n")

    def odd_agent(self) -> None:
        name = _tables.NAMES[next(self.source, 0)]
        self.names.append(name)
        self._line(_tables.AGENT_KEYS[next(self.source, 0)], name)

    def made_up_agent(self) -> None:
        """Add a name that is made of parts of patterns."""
        name = pattern(self.source)
        self.names.append(name)
        self._line(b"User-agent", name)

    def _line(self, key: bytes, value: bytes) -> None:
        separator, end = _tables.LAYOUTS[next(self.source, 0)]
        self.lines += (key, separator, value, end)

    def empty_rule(self) -> None:
        self._line(_tables.RULE_KEYS[next(self.source, 0)], b"")

    def setting(self) -> None:
        self.lines += (_tables.SETTINGS[next(self.source, 0)], b"\n")

    def odd_setting(self) -> None:
        key = _tables.SETTINGS[next(self.source, 0)].partition(b":")[0]
        self._line(key, pattern(self.source))

    def blank(self) -> None:
        self.lines.append(b"\n")

    def raw(self) -> None:
        """Add some bytes of the input as they are."""
        size = next(self.source, 0) & 31
        self.lines.append(bytes([next(self.source, 10) for _ in range(size)]))

    def repeat(self) -> None:
        """Repeat the last parts of lines."""
        how = next(self.source, 0)
        if len(self.lines) < 5000:
            self.lines += self.lines[-1 - (how & 15) :] * (2 + (how >> 4))

    def many_rules(self) -> None:
        """Add so many rules that decisions use an index."""
        found = pattern(self.source)[:60]
        self.patterns.append(found)
        for number in range(56):
            self.lines.append(b"%sllow: %s%d\n" % (b"A" if number % 3 else b"Disa", found, number))


_OPERATIONS: Sequence[Callable[[_Writer], None]] = spread(
    (80, [_Writer.plain_rule]),
    (50, [_Writer.rule]),
    (40, [_Writer.agent]),
    (16, [_Writer.odd_agent]),
    (20, [_Writer.setting]),
    (10, [_Writer.empty_rule, _Writer.blank]),
    (8, [_Writer.odd_setting, _Writer.made_up_agent]),
    (6, [_Writer.raw, _Writer.repeat]),
    (1, [_Writer.many_rules]),
)


class _Questions:
    """Makes agents and URLs, often of the names and patterns of a file."""

    __slots__ = ("names", "patterns", "source")

    def __init__(self, source: Iterator[int], writer: _Writer) -> None:
        self.source = source
        self.names = writer.names or [b"FooBot"]
        self.patterns = writer.patterns or [b"/"]

    def all(self) -> tuple[tuple[Agent, ...], tuple[str, ...]]:
        sizes = next(self.source, 0)
        agents = [self._agent() for _ in range(1 + sizes % _MAX_AGENTS)]
        urls = [self._url() for _ in range(1 + (sizes >> 4))]
        return tuple(dict.fromkeys(agents)), tuple(dict.fromkeys(urls))

    def _name(self) -> str:
        number = next(self.source, 0)
        if number < 220:
            return _text(self.names[number % len(self.names)])
        return _text(_tables.NAMES[number])

    def _agent(self) -> Agent:
        how = next(self.source, 0)
        name = self._name()
        if how < 128:
            return name.partition("/")[0]
        if how < 192:
            return _tables.HEADERS[how & 15].format(name)
        if how < 224:
            return (name, self._name()) if how & 1 else (name,)
        return self._raw(how & 31) if how < 232 else name

    def _url(self) -> str:
        how = next(self.source, 0)
        if how < 160:
            path = self._matching(how)
        elif how < 248:
            path = _text(pattern(self.source))
        else:
            return self._raw(how & 7)
        shape = next(self.source, 0)
        return _tables.PREFIXES[shape] + path + _tables.SUFFIXES[255 - shape]

    def _matching(self, how: int) -> str:
        """Return a path that a rule of the file probably matches."""
        found = self.patterns[how % len(self.patterns)]
        filling = _tables.SEGMENTS[next(self.source, 0)]
        path = found.replace(b"*", filling).removesuffix(b"$")
        return _text(path[: len(path) - 1] if how & 15 == 15 else path)

    def _raw(self, size: int) -> str:
        return _text(bytes([next(self.source, 47) for _ in range(size)]))
