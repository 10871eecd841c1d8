"""Runs the same queries on the libraries that `koster.compat` replaces and on their facades.

For the intended differences in `docs/guides/migrate`, an `Original` rewrites a file or URL so that its
library reads it as koster does. All other answers must be equal.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from tests.helpers.grammar import Grammar, Writer

#: A library's answers: one for each question, then those about the whole file.
Answers = list[Any]
Questions = list[tuple[str, str]]

_BASE = Grammar()


#: Line ends of `str.splitlines` and white space of `str.strip` that robots.txt does not have.
_SPACES = ("\x0b", "\x1f", "\x85", "\xa0", "\u2003")


def _plain(grammar: Grammar) -> Grammar:
    """Return a grammar without the white space that only Python's str methods recognize."""
    return replace(grammar, odd=tuple(each for each in grammar.odd if each not in _SPACES))


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True)
class Original:
    """A library on PyPI.

    ``module`` is its import name, ``facade`` that of the module that replaces it. ``answers`` runs
    queries on either. ``text_there`` and ``url_there`` rewrite a file or URL so that the original
    reads it as koster does.
    """

    name: str
    module: str
    facade: str
    grammar: Grammar
    answers: Callable[[Any, str, Questions], Answers]
    text_there: Callable[[str], str] = _unchanged
    url_there: Callable[[str], str] = _unchanged

    def load(self) -> ModuleType | None:
        """Return the original, or None if it is not installed."""
        return _load_module(self.module)


def _load_module(name: str) -> ModuleType | None:
    """Import a module without its package, which may have more dependencies."""
    package, _, _ = name.partition(".")
    spec = importlib.util.find_spec(package)
    if spec is None:
        return None
    if spec.submodule_search_locations is None or "." not in name:
        return importlib.import_module(name)
    path = f"{spec.submodule_search_locations[0]}/{name.rpartition('.')[2]}.py"
    module_spec = importlib.util.spec_from_file_location(f"original_{package}", path)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_spec.name] = module
    module_spec.loader.exec_module(module)
    return module


def _result_or_error(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or the name of the exception it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - exceptions are compared too
        return type(error).__name__


def _without_bom(text: str) -> str:
    return text.removeprefix("\ufeff")


# robotexclusionrulesparser

_DIRECTIVE = r"(?:allow|disallow|user-?agent|sitemap|crawl-delay)"
_SPACE_BEFORE_COLON = re.compile(rf"(?im)^(\ufeff?[ \t]*{_DIRECTIVE})[ \t]+:")


def _ask_rerp(module: Any, text: str, questions: Questions) -> Answers:
    parser = module.RobotExclusionRulesParser()
    parser.parse(text)
    answers: Answers = []
    for agent, url in questions:
        for syntax in (module.GYM2008, module.MK1996):
            answers.append(_result_or_error(lambda: parser.is_allowed(agent, url, syntax)))  # noqa: B023
    answers += [parser.get_crawl_delay(agent) for agent in dict(questions)]
    return [*answers, parser.sitemaps, str(parser)]


def _text_for_rerp(text: str) -> str:
    text = re.sub("\r\n|\r", "\n", text)
    return _SPACE_BEFORE_COLON.sub(r"\1:", text)


def _url_with_path(url: str) -> str:
    parts = urlsplit(url)
    return url if parts.path else url.replace(parts.netloc, parts.netloc + "/", 1)


# webcanon

#: Blank lines between a file and the rule added to it.
_GAP = 1000
_EMPTY_NAME = re.compile(r"(?im)^([ \t]*user-agent[ \t]*:[ \t]*)(?=#|$)")
_NOBODY = "nobody-at-all"


def _text_for_webcanon(text: str) -> str:
    """Add a rule to a last group without rules, and a name to agents without one."""
    text = _EMPTY_NAME.sub(rf"\1{_NOBODY}", re.sub("\r\n|\r", "\n", _without_bom(text)))
    return text + "\n" * _GAP + "Disallow:" if _ends_without_rules(text) else text


def _ends_without_rules(text: str) -> bool:
    directives = re.findall(r"(?im)^[ \t]*(user-agent|allow|disallow)[ \t]*:", text)
    return bool(directives) and directives[-1].lower() == "user-agent"


def _ask_webcanon(module: Any, text: str, questions: Questions) -> Answers:
    policy = module.parse_robots(text)
    answers: Answers = []
    for agent, url in questions:
        verdict, match = module.evaluate_robots(policy, url, agent)
        answers.append((verdict.value, match and (match.allow, match.pattern, match.source_line)))
    answers += [_webcanon_rules(policy.rules_for(agent)) for agent in dict(questions)]
    groups = {name or _NOBODY: _webcanon_rules(rules) for name, rules in policy.groups.items()}
    return [*answers, list(groups.items()), policy.sitemaps]


def _webcanon_rules(rules: list[Any]) -> list[Any]:
    return [
        (rule.allow, rule.pattern, rule.source_line) for rule in rules if rule.source_line < _GAP
    ]


# apetest

#: apetest skips text after an escape and leaves a second escape there undecoded.
_AFTER_ESCAPE = "-" * 12
_SPACED = replace(
    _BASE,
    segments=tuple(each + _AFTER_ESCAPE if "%" in each else each for each in _BASE.segments),
    wild=("*", "$"),
    fills=("", "a", "/b/"),
    # An odd character inside an escape would form another one.
    odd=(),
)
_APE_LOG = logging.getLogger("apetest differential")
_APE_LOG.propagate = False


class _Messages(logging.Handler):
    """Collects log messages."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append((record.levelname, record.getMessage()))


def _ask_apetest(module: Any, text: str, questions: Questions) -> Answers:
    messages = _Messages()
    _APE_LOG.setLevel(logging.DEBUG)
    _APE_LOG.addHandler(messages)
    try:
        records = [list(each) for each in module.scan_robots_txt(text.splitlines(), _APE_LOG)]
        rules = module.parse_robots_txt(records, _APE_LOG)
    finally:
        _APE_LOG.removeHandler(messages)
    answers: Answers = []
    for agent, url in questions:
        path = _result_or_error(lambda: module.unescape_path(urlsplit(url).path))  # noqa: B023
        answers += [path, module.path_allowed(path, module.lookup_robots_rules(rules, agent))]
    return [*answers, rules, records, messages.records]


# Protego

#: Protego gives one-letter names the rank of "*", and a line without a directive ends the agents.
_PROTEGO = replace(
    _plain(_BASE),
    segments=tuple(each for each in _BASE.segments if each != "%3F"),
    names=tuple(each for each in _BASE.names if len(each) != 1 or each == "*"),
    others=tuple(each for each in _BASE.others if not each.startswith(":")),
)


_QUERY = re.compile(r"\?[^\s#]*")


def _slashes_in_query(text: str) -> str:
    """Replace ``%2F`` after a question mark by a slash, as koster reads it."""
    return _QUERY.sub(lambda query: re.sub("%2[fF]", "/", query[0]), text)


def _ask_protego(module: Any, text: str, questions: Questions) -> Answers:
    parser = module.Protego.parse(text)
    answers: Answers = [
        _result_or_error(lambda: parser.can_fetch(url, agent))  # noqa: B023
        for agent, url in questions
    ]
    for agent in dict(questions):
        answers += [parser.crawl_delay(agent), parser.request_rate(agent), parser.visit_time(agent)]
    return [*answers, list(parser.sitemaps), parser.preferred_host]


ORIGINALS = (
    Original(
        "robotexclusionrulesparser 1.7.1", "robotexclusionrulesparser",
        "koster.compat.robotexclusionrulesparser", _BASE, _ask_rerp, _text_for_rerp, _url_with_path,
    ),
    Original(
        "webcanon 0.3.0", "webcanon.robots", "koster.compat.webcanon", _plain(_BASE), _ask_webcanon,
        _text_for_webcanon,
    ),
    Original(
        "apetest 0.1.1", "apetest.robots", "koster.compat.apetest", _SPACED, _ask_apetest,
        _without_bom,
    ),
    Original(
        "Protego 0.7.0", "protego", "koster.compat.protego", _PROTEGO, _ask_protego,
        lambda text: _slashes_in_query(_without_bom(text)), _slashes_in_query,
    ),
)  # fmt: skip


def differences(original: Original, seed: int, count: int) -> Iterator[str]:
    """Ask an original and its facade the same questions; yield each difference in their answers."""
    there = original.load()
    here = importlib.import_module(original.facade)
    assert there is not None
    writer = Writer(original.grammar, seed)
    each = 8
    for _ in range(count // each):
        case = writer.case(each)
        questions = [(agent, original.url_there(url)) for agent, url in case.questions]
        expected = original.answers(there, original.text_there(case.text), questions)
        answers = original.answers(here, case.text, case.questions)
        for number, (ours, theirs) in enumerate(zip(answers, expected, strict=True)):
            if ours != theirs:
                yield (
                    f"{case.text!r}\n  {case.questions}\n"
                    f"  answer {number}: {ours!r}, there {theirs!r}"
                )
                break
