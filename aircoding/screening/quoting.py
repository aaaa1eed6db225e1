"""Whether a phrase is spoken about rather than spoken: quoted, in code or named, in a text about security."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from aircoding.screening.automata import regex
from aircoding.screening.containers import is_within

__all__ = ["Quoting"]

_TOPICS = (
    r"prompt[- ]injections?|jail-?break\w*|red[- ]team\w*|adversarial\w*|attack(?:er|ers|s|ing)?|payloads?|exploit\w*|"
    r"vulnerabilit\w+|owasp|malicious\w*|exfiltrat\w+|threat(?:s| model\w*)?|guard-?rails?|sanitiz\w+|untrusted|"
    r"mitigat\w+|"
    r"injection|security|defen[cs]e|bypass\w*|penetration|pentest\w*|cve-\d+|xss|csrf|ssrf|rce"
)
_NEEDED_TOPICS = 4
"""Different words of security that a text must use to count as one about security."""
_NAMED = re.compile(
    r"(?:e\.g\.|i\.e\.|such as|for example|for instance|examples?|like|attempts?|tries|tried|trick\w*|attacks?|"
    "attackers?|phrases?|"
    r"patterns?|strings?|payloads?|inject\w*|prompts? (?:that|which|like)|contain\w*|detect\w*|flag\w*|block\w*|"
    "says?|said|"
    "asks?|tells?|told|instruct(?:s|ed|ing)|might|could|would|may|whether|if (?:a|the|an|it)|called|known as|"
    r"jailbreak\w*|"
    r"adversar\w*|malicious\w*|vulnerab\w*|instructed|persuad\w*|convinc\w*|caus(?:e|es|ing)|to make|ability to|"
    r"risk)\b",
    re.IGNORECASE,
)
_MARKS = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb\u300c\u300d|"
_LITERAL = frozenset("\"'`")
_BESIDE_CHARS = 200


_MODELS = r"prompts?|tokens?|chat templates?|tokenizers?|llama\w*|llms?|models?|messages|temperature|instruct"
_ORDERED = re.compile(
    (
        r"\b(?:always|must|please|now|should|after each|before|every time)\b[^.\n]{0,60}\b(?:execute|run|call|invoke|"
        r"send|do|use)\b"
    ),
    re.IGNORECASE,
)


class Quoting:
    """The look of one text around its hits; made once for a text, and only where there is a hit."""

    def __init__(self, text: str, fences: list[tuple[int, int]]) -> None:
        self._text = text
        self._fences = fences
        self._about: dict[str, bool] = {}

    def is_literal(self, start: int, end: int) -> bool:
        """Whether what stands there is one string of a program, one piece of code, or shown in a text about models."""
        text = self._text
        if text[max(0, start - 1) : start] in _LITERAL and text[end : end + 1] in _LITERAL:
            return True
        return is_within(self._fences, start) and (self._is_about(_MODELS) or self._is_about(_TOPICS))

    def quotes(self, start: int, end: int) -> bool:
        """Whether the text only speaks about the phrase from `start` to `end`."""
        return self._is_about(_TOPICS) and self._is_quoted(start, end)

    def shows(self, start: int, end: int) -> bool:
        """Whether the text only shows the command from `start` to `end`: in a block, or as what others do."""
        if not self._is_about(_TOPICS):
            return False
        before, _ = self._beside(start, end)
        if _ORDERED.search(before):
            return False
        return is_within(self._fences, start) or _is_listed(before) or _NAMED.search(before) is not None

    def _is_about(self, topics: str) -> bool:
        if topics not in self._about:
            found = {match[0].lower()[:6] for match in _regex(topics).finditer(self._text.encode("utf-8", "replace"))}
            self._about[topics] = len(found) >= _NEEDED_TOPICS
        return self._about[topics]

    def _is_quoted(self, start: int, end: int) -> bool:
        if is_within(self._fences, start):
            return True
        before, after = self._beside(start, end)
        if any(mark in before for mark in _MARKS) and any(mark in after for mark in _MARKS):
            return True
        return _is_listed(before) or _NAMED.search(before) is not None

    def _beside(self, start: int, end: int) -> tuple[str, str]:
        """Return what stands on the lines of a hit before and behind it."""
        before = self._text[max(0, start - _BESIDE_CHARS) : start]
        after = self._text[end : end + _BESIDE_CHARS]
        return before.rpartition("\n")[2], after.partition("\n")[0]


def _is_listed(before: str) -> bool:
    """Whether a line is quoted, a row of a table, or indented code."""
    return before.lstrip()[:1] in (">", "|") or before.startswith("    ")


@lru_cache(maxsize=4)
def _regex(topics: str) -> Any:
    return regex(rf"(?i:\b(?:{topics})\b)")
