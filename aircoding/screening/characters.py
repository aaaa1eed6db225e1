"""Characters that a person does not see and a model reads: tags, variation selectors, zero-width, bidirectional.

Each alone has honest uses (flags, emoji, Persian, Arabic), so only what no honest text needs is a blocking finding
(`reference/security.md` 1.5). All of it is looked for in the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from aircoding.screening.confusables import LOOK_ALIKES, OF_OTHER_SCRIPTS
from aircoding.screening.hits import Hit

__all__ = ["hidden_characters"]

_TAG_CHARACTERS = frozenset(map(chr, range(0xE0000, 0xE0080)))
_TAGS = re.compile("(?P<flag>\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f)|[\U000e0000-\U000e007f]+")
_SELECTOR_CHARACTERS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e\u115f\u1160\u3164\u2800"
_ZERO_WIDTH_RUN = re.compile("[\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e\u115f\u1160\u3164]{8,}")
_ZERO_WIDTH_IN_WORD = re.compile(
    "(?<=[A-Za-z])[\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e\u115f\u1160\u3164]{1,7}(?=[A-Za-z])"
)
_JOINED_LETTERS = re.compile("(?<=[A-Za-z])\u200d(?=[A-Za-z])")
_BIDI_CHARACTERS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_WORD_BREAKS = 4
"""Zero-width characters between ASCII letters are a finding from this many in one text on."""
_MIXED_WORD = re.compile(
    f"(?<![^\\W\\d_])(?=[A-Za-z]*[{OF_OTHER_SCRIPTS}])(?=[{OF_OTHER_SCRIPTS}]*[A-Za-z])"
    f"[A-Za-z{OF_OTHER_SCRIPTS}]{{3,40}}(?![^\\W\\d_])"
)
_MIXED_WORDS = 4
"""Words of Latin letters and letters that look like them are a finding from this many in one text on."""
_COMMON_WORDS = frozenset(
    "the and for you your all any not with from that this then have will must should send read run user file please "
    "ignore previous instructions instruction tell print open about into what when before after their use".split()
)
"""One of the words has to be an English one: some honest lists hold letters of both alphabets by mistake."""
_LIKE = frozenset(OF_OTHER_SCRIPTS)
_WIDE = re.compile("[\uff21-\uff3a\uff41-\uff5a](?:[\uff01-\uff5e\u3000 ]*[\uff21-\uff3a\uff41-\uff5a]){11,}")
_CHINESE_OR_JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")


def hidden_characters(text: str, foreign: frozenset[str]) -> Iterator[Hit]:
    """Yield the hidden characters of a text that no honest text needs.

    Args:
        text: as it was read.
        foreign: its characters outside ASCII.
    """
    if not foreign.isdisjoint(_TAG_CHARACTERS):
        for match in _TAGS.finditer(text):
            if match["flag"] is None:
                yield _hidden("tags", match, "invisible tag characters")
    if not foreign.isdisjoint(_SELECTOR_CHARACTERS):
        for match in _SELECTORS.finditer(text):
            yield _hidden("selectors", match, "a row of variation selectors")
    if not foreign.isdisjoint(_ZERO_WIDTH):
        yield from _zero_width(text)
    if not foreign.isdisjoint(_BIDI_CHARACTERS) and not _RIGHT_TO_LEFT.search(text):
        for match in _BIDI.finditer(text):
            yield _hidden("bidi", match, "bidirectional controls in left-to-right text")
    if not foreign.isdisjoint(_LIKE):
        yield from _look_alikes(text)
    if max(foreign, default="") >= "\uff21" and not _CHINESE_OR_JAPANESE.search(text):
        for match in _WIDE.finditer(text):
            yield _hidden("wide_letters", match, "letters of another width")


def _zero_width(text: str) -> Iterator[Hit]:
    for match in _ZERO_WIDTH_RUN.finditer(text):
        yield _hidden("zero_width", match, "a row of zero-width characters")
    breaks, first, last = _counted(_ZERO_WIDTH_IN_WORD.finditer(text))
    if breaks >= _WORD_BREAKS:
        yield Hit("hidden", "hidden.split_words", first, last, "words split by invisible characters")
        return
    for match in _JOINED_LETTERS.finditer(text):
        detail = "a zero-width joiner between two letters"
        yield Hit("hidden", "hidden.joiner", match.start(), match.end(), detail, remark=True)


def _look_alikes(text: str) -> Iterator[Hit]:
    common = False
    count = first = last = 0
    for word in _MIXED_WORD.finditer(text):
        first = first if count else word.start()
        last = word.end()
        count += 1
        common = common or word[0].translate(LOOK_ALIKES).lower() in _COMMON_WORDS
    if count >= _MIXED_WORDS and common:
        yield Hit("hidden", "hidden.look_alikes", first, last, "words of letters that look like others")


def _counted(matches: Iterable[re.Match[str]]) -> tuple[int, int, int]:
    """Return how many matches there are, where the first begins and where the last ends."""
    count = first = last = 0
    for match in matches:
        first = first if count else match.start()
        last = match.end()
        count += 1
    return count, first, last


def _hidden(name: str, match: re.Match[str], detail: str) -> Hit:
    return Hit("hidden", f"hidden.{name}", match.start(), match.end(), detail)
