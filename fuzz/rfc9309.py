"""The default dialect decides as the reference does (tests/helpers/reference.py), by the same line."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import koster
from koster._asking import rules_for_data
from koster._charsets import decode_by_bom

from . import _inputs, _tally

# Beside the checkout's own tests, or packed together with this module.
sys.path.append(str(Path(__file__).parent.parent))

from tests.helpers import reference

# The reference reads the file, and each pattern, anew for each question.
for _name in ("groups_of", "canonical", "path_of", "canonical_name", "key_and_value"):
    setattr(reference, _name, lru_cache(1024)(getattr(reference, _name)))


#: The reference takes minutes for a pattern and a URL that are longer.
_MAX_BYTES = 20_000

describe, simplify = _inputs.decode, _inputs.as_raw


def check(data: bytes) -> None:
    """Check one input."""
    case = _inputs.decode(data)
    if len(data) > _MAX_BYTES or len(case.body) > _MAX_BYTES:
        return
    robots = koster.parse(case.body)
    # The reference reads UTF-8.
    body, _ = decode_by_bom(case.body)
    for agent in case.agents:
        name = agent if isinstance(agent, str) else "".join(agent[:1])
        rules = rules_for_data(robots, name)
        for url in case.urls:
            decision = rules.decide(url)
            ours = decision.allowed, decision.rule and decision.rule.line
            theirs = reference.decide(body, url, name)
            assert ours == theirs, (name, url, ours, theirs)
        _tally.add(len(case.urls))
