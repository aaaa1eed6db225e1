"""Whether a request holds a trigger of a skill: a whole word or phrase, whatever its case."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["matching_trigger"]

_FIRST_IDEOGRAPH = "\u2e80"
"""From here on scripts have no blanks between words, so that a word has no edge to look for."""


def matching_trigger(triggers: Iterable[str], text: str) -> str | None:
    """Return the first trigger that stands in `text`, or None."""
    folded = text.casefold()
    return next((one for one in triggers if _pattern(one).search(folded)), None)


@lru_cache(maxsize=4096)
def _pattern(trigger: str) -> re.Pattern[str]:
    words = trigger.casefold().split()
    if not words:
        return re.compile(r"(?!)")
    phrase = r"\s+".join(map(re.escape, words))
    before = "" if words[0][0] >= _FIRST_IDEOGRAPH else r"(?<!\w)"
    after = "" if words[-1][-1] >= _FIRST_IDEOGRAPH else r"(?!\w)"
    return re.compile(f"{before}{phrase}{after}")
