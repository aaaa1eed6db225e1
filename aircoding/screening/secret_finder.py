"""Find secrets by their look: one pass says which rules may match, one pass a rule where, and the rule looks there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import re2

from aircoding.records.secret_spans import SecretSpan
from aircoding.screening.offsets import CharOffsets
from aircoding.screening.secret_rules import SecretRule

__all__ = ["RuleFinder", "rule_finder"]

_DFA_BYTES = 16 << 20


class RuleFinder:
    """Finds what some rules describe, in time that grows with the text only; pure.

    Args:
        rules: in order of precedence.
    """

    def __init__(self, rules: Sequence[SecretRule]) -> None:
        self._rules = tuple(rules)
        self._leads = tuple(re2.compile(rule.lead, _options()) for rule in rules)
        self._stems = re2.Set.SearchSet(_options(literal=True, case_sensitive=False))
        self._rule_of_stem: list[int] = []
        for number, rule in enumerate(rules):
            for stem in rule.stems:
                self._stems.Add(stem)
                self._rule_of_stem.append(number)
        self._stems.Compile()

    def find(self, text: str) -> list[SecretSpan]:
        """Return the secrets in a text, rule by rule; they may overlap."""
        data = text.encode("utf-8", "replace")  # a lone surrogate becomes one `?`: as many characters
        numbers = sorted({self._rule_of_stem[stem] for stem in self._stems.Match(data) or ()})
        return [span for number in numbers for span in self._of_rule(text, data, number)]

    def _of_rule(self, text: str, data: bytes, number: int) -> Iterator[SecretSpan]:
        """Yield one rule's secrets. What is no secret may be the name of the next: it is looked at again."""
        rule, lead, place, done = self._rules[number], self._leads[number], CharOffsets(text, data), 0
        for found in lead.finditer(data):
            start = place.of(found.start())
            if start < done:
                continue
            match = rule.pattern.match(text, start)
            if match is not None and rule.check(match):
                yield SecretSpan(*match.span("value"), rule.kind)
                done = match.end("value")


def _options(*, literal: bool = False, case_sensitive: bool = True) -> re2.Options:
    options = re2.Options()
    options.literal, options.case_sensitive, options.max_mem = literal, case_sensitive, _DFA_BYTES
    return options


@lru_cache(maxsize=8)
def rule_finder(rules: tuple[SecretRule, ...]) -> RuleFinder:
    """Return the finder of some rules; the same rules are compiled once."""
    return RuleFinder(rules)
