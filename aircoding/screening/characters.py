"""Characters that a person does not see and a model reads: tags, variation selectors, zero-width, bidirectional.

Each alone has honest uses (flags, emoji, Persian, Arabic), so only what no honest text needs is a blocking finding
(`reference/security.md` 1.5). All of it is looked for in the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aircoding.screening.hits import Hit

__all__ = ["hidden_characters"]

_TAGS = re.compile("(?P<flag>\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f)|[\U000e0000-\U000e007f]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_ZERO_WIDTH_RUN = re.compile("[\u200b\u200c\u200d\u2060\u2061-\u2064\ufeff]{8,}")
_ZERO_WIDTH_IN_WORD = re.compile("(?<=[A-Za-z])[\u200b\u200c\u200d\u2060\ufeff]{1,7}(?=[A-Za-z])")
_JOINED_LETTERS = re.compile("(?<=[A-Za-z])\u200d(?=[A-Za-z])")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_WORD_BREAKS = 4
"""Zero-width characters between ASCII letters are a finding from this many in one text on."""


def hidden_characters(text: str) -> Iterator[Hit]:
    """Yield the hidden characters of a text that no honest text needs."""
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        if match["flag"] is None:
            yield Hit("hidden", "hidden.tags", match.start(), match.end(), "invisible tag characters")
    for match in _SELECTORS.finditer(text):
        yield Hit("hidden", "hidden.selectors", match.start(), match.end(), "a row of variation selectors")
    for match in _ZERO_WIDTH_RUN.finditer(text):
        yield Hit("hidden", "hidden.zero_width", match.start(), match.end(), "a row of zero-width characters")
    breaks = list(_ZERO_WIDTH_IN_WORD.finditer(text))
    if len(breaks) >= _WORD_BREAKS:
        yield Hit(
            "hidden", "hidden.split_words", breaks[0].start(), breaks[-1].end(), "words split by invisible characters"
        )
    else:
        for match in _JOINED_LETTERS.finditer(text):
            detail = "a zero-width joiner between two letters"
            yield Hit("hidden", "hidden.joiner", match.start(), match.end(), detail, remark=True)
    if not _RIGHT_TO_LEFT.search(text):
        for match in _BIDI.finditer(text):
            yield Hit(
                "hidden", "hidden.bidi", match.start(), match.end(), "bidirectional controls in left-to-right text"
            )
