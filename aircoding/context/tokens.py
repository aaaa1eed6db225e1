"""Token estimates without a tokenizer: byte classes, scaled per model, safe on the high side.

A real tokenizer needs the network or 139 MB of files on first use, so none is on the default path. The class weights
were set so that the expected count lies within about 16 % of what public measurements of the newest tokenizer suggest
for prose, code, JSON, diffs, logs and Chinese (`docs/explanation/token-estimates.md`, 2026-11).
"""

from __future__ import annotations

import math
import string
from functools import lru_cache

from aircoding.records.snapshot import Estimator
from aircoding.records.usage import TokenEstimate

__all__ = ["BLOCK_OVERHEAD_TOKENS", "estimate_range", "estimate_tokens"]

BLOCK_OVERHEAD_TOKENS = 4
"""What a content block costs besides its text (about 3 to 4 tokens, measured by others; 2026-11)."""

_LETTERS = string.ascii_letters.encode()
_DIGITS = string.digits.encode()
_BLANKS = b" \t\r\n"
_NOT_HIGH = bytes(range(128))

# Tokens per byte of each class: a word piece is about 3 letters, digits of hashes and times hardly join,
# punctuation is mostly a token of its own, runs of blanks mostly join their neighbour, and a
# character outside ASCII (2 to 4 bytes) is a little less than one token.
_PER_LETTER = 0.30
_PER_DIGIT = 0.95
_PER_BLANK = 0.20
_PER_MARK = 0.60
_PER_HIGH_BYTE = 0.28


@lru_cache(maxsize=32_768)
def _raw_tokens(text: str) -> float:
    data = text.encode("utf-8", "surrogatepass")
    size = len(data)
    letters = size - len(data.translate(None, _LETTERS))
    digits = size - len(data.translate(None, _DIGITS))
    blanks = size - len(data.translate(None, _BLANKS))
    high = len(data.translate(None, _NOT_HIGH))
    marks = size - letters - digits - blanks - high
    return letters * _PER_LETTER + digits * _PER_DIGIT + blanks * _PER_BLANK + marks * _PER_MARK + high * _PER_HIGH_BYTE


def estimate_tokens(text: str, estimator: Estimator) -> int:
    """Return the expected number of tokens of `text`; 0 only for an empty text."""
    return math.ceil(_raw_tokens(text) * estimator.factor)


def estimate_range(expected: int, estimator: Estimator) -> TokenEstimate:
    """Return low, expected and high for an expected count; `high` is for hard limits."""
    return TokenEstimate(
        low=math.floor(expected * estimator.low), expected=expected, high=math.ceil(expected * estimator.high)
    )
