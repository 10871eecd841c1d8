"""Crawl-delays and preferences: those that the author wants, and those of an existing file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..model import Directive, Line
from ..robots import RobotsTxt, Rules
from ._intentions import Intentions

#: Directives that a new group takes over from the group that its crawlers obeyed before.
_KEPT = (Directive.REQUEST_RATE, Directive.VISIT_TIME, Directive.CONTENT_USAGE)


class Settings:
    """The wanted settings besides rules, and those that the existing file already has."""

    def __init__(self, intentions: Intentions, old: RobotsTxt) -> None:
        star_rules = old.rules_for("*")
        self._delay = intentions.delay
        self._signals = dict(_parse_signal(each) for each in intentions.signals)
        self._has_delay = star_rules.crawl_delay is not None
        #: The Content-Signals for the whole file, and those of the groups for ``*``.
        self._keys_of_file, self._keys = (
            {each.key for each in found if each.directive is Directive.CONTENT_SIGNAL}
            for found in (old.preferences, star_rules.preferences)
        )

    def lines_for(self, rules: Rules) -> list[str]:
        """Return the settings of a new group for crawlers that had some rules."""
        found = [f"Crawl-delay: {each}" for each in rules.values(Directive.CRAWL_DELAY)]
        return [
            *(found if self._delay is None else self._delay_line()),
            *(f"{each}: {value}" for each in _KEPT for value in rules.values(each)),
            *self.signals_for(rules),
        ]

    def signals_for(self, rules: Rules) -> list[str]:
        """Return the Content-Signals of a new group for crawlers that had some rules."""
        values = rules.values(Directive.CONTENT_SIGNAL)
        keys = {key for value in values for key in _parse_signals(value)}
        kept = [f"Content-Signal: {self._updated(value)}" for value in values]
        return [*kept, *self._signals_without(keys | self._keys_of_file)]

    def _delay_line(self) -> list[str]:
        return [] if self._delay is None else [f"Crawl-delay: {self._delay:g}"]

    def update_delay(self, line: Line, text: str) -> str:
        """Return a kept line, with the delay that is wanted."""
        is_updated = line.directive is Directive.CRAWL_DELAY and self._delay is not None
        return self._delay_line()[0] if is_updated else text

    def update_signals(self, line: Line, text: str) -> str:
        """Return a kept line that applies to all crawlers, with the preferences that are wanted."""
        if line.directive is not Directive.CONTENT_SIGNAL:
            return text
        updated = self._updated(line.value)
        return text if updated == line.value else f"Content-Signal: {updated}"

    def _updated(self, value: str) -> str:
        """Return the value of a Content-Signal line, with the preferences that are wanted."""
        existing = _parse_signals(value)
        wanted = {key: self._signals.get(key, each) for key, each in existing.items()}
        return value if wanted == existing else _format_signals(wanted)

    def missing_lines(self, lines: Iterable[Line], *, is_star_group: bool) -> list[str]:
        """Return the settings that a kept group lacks; preferences are added only for ``*``."""
        own = any(line.directive is Directive.CRAWL_DELAY for line in lines)
        delay = [] if own or (is_star_group and self._has_delay) else self._delay_line()
        return [*delay, *self.missing_signals()] if is_star_group else delay

    def missing_signals(self) -> list[str]:
        """Return the Content-Signals that the groups for ``*`` lack."""
        return self._signals_without(self._keys)

    def _signals_without(self, keys: set[str]) -> list[str]:
        missing = {key: value for key, value in self._signals.items() if key not in keys}
        return [f"Content-Signal: {_format_signals(missing)}"] if missing else []


def _format_signals(signals: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in signals.items())


def _parse_signals(value: str) -> dict[str, str]:
    return dict(_parse_signal(each) for each in value.split(","))


def _parse_signal(signal: str) -> tuple[str, str]:
    key, _, value = signal.partition("=")
    return key.strip().lower(), value.strip().lower()
