"""Texts within a text: base64, hexadecimal, percent, entities, escapes, rot13, spaced, backward and digit spelling.

Each is given with its place, and searched as if it stood there in plain words. What decodes to no readable text is
data, and is left alone.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from aircoding.screening.automata import regex, regex_set
from aircoding.screening.passages import Passage

__all__ = ["Decoded", "decoded_texts"]

_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffd]")
_LEAST_CHARS = 12
"""A shorter text holds no phrase."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text that stands encoded from `start` to `end`; `spelled`: it is the same words in another spelling."""

    code: str
    start: int
    end: int
    text: str
    spelled: bool = False


_BASE64 = r"[A-Za-z0-9+/]{24,}={0,2}(?:\r?\n[A-Za-z0-9+/]{24,}={0,2})*|[A-Za-z0-9_-]{48,}"
_MIXED_CASE = re.compile(r"[a-z][A-Z]|[A-Za-z][0-9][A-Za-z]")
_HEX = r"\b(?:0x)?[0-9A-Fa-f]{24,}\b|\b(?:(?:0x)?[0-9A-Fa-f]{2}[ :,]{1,2}){11,}(?:0x)?[0-9A-Fa-f]{2}\b"
_DECIMAL = r"\b(?:[1-9][0-9]{1,2}[ ,]{1,2}){11,}[1-9][0-9]{1,2}\b"
_BINARY = r"\b(?:[01]{8}[ ,]?){8,}\b"
_SPACED = r"\b(?:[A-Za-z][!?.,:']?[ \t.*_|~-]{1,4}){9,}[A-Za-z]\b"
_ESCAPES = r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|U\+[0-9A-Fa-f]{4}\s){6,}"
_PERCENT = r"[A-Za-z0-9.,!_~*'()-]*(?:(?:%[0-9A-Fa-f]{2})+[A-Za-z0-9.,!_~*'()-]*){3,}"
_ENTITIES = r"(?:&#(?:[0-9]{2,6}|[xX][0-9A-Fa-f]{2,6});?[A-Za-z ]?){4,}"
_DIGITS = (
    r"\b(?:[1!|]gn[o0]r[e3]|ign0re?|ignor3|d[1!]sr[e3]g[a4@]rd|disr3gard|f[o0]rg3t|f0rget|pr[e3]v[1!][o0]us|"
    r"[1!]n[5s$7][7t]ru[ck][7t]|instruct[1!]|pr0mpt|syst3m|sy5t3m|byp[4@]ss|unr[e3]str[1!]ct|p[4@]ssw[o0]rd)"
)
_BACKWARD = r"(?i:[^\n]*(?:snoitcurtsni|erongi|dragersid|tpmorp metsys|tegrof|drowssap|slaitnederc)[^\n]*)"
_BACKWARD_WORDS = frozenset(b"snoitcurtsni erongi dragersid tpmorp tegrof drowssap slaitnederc".split())
_ROT13_SURE = frozenset(b"gur naq lbhe lbh gung guvf jvgu sebz cyrnfr vafgehpgvba vafgehpgvbaf vtaber".split())
_ROT13 = _ROT13_SURE | frozenset(b"nyy gb bs sbe va vf vg ba hfre zl".split())
_FROM_DIGITS = str.maketrans("0134578@$!|", "oieastbasil")
_MARK = r"(?:</?[a-z]{1,6}(?:\s[^<>]{0,60})?/?>|<!--[^<>]{0,40}-->|\*\*|~~){1,3}"
_MARKUP = rf"[A-Za-z]{_MARK}[A-Za-z]"
_MARKUP_ALONE = re.compile(rf"(?<=[A-Za-z]){_MARK}(?=[A-Za-z])")


def decoded_texts(passage: Passage) -> Iterator[Decoded]:
    """Yield what a passage holds in another form, by places in the whole text, in no order."""
    looks = _looks()(passage.data)
    forms = [_FORMS[look] for look in looks if look < len(_FORMS)]
    if not passage.words.isdisjoint(_BACKWARD_WORDS):
        forms.append(("backward", _BACKWARD, lambda text: text[::-1]))
    for code, pattern, decode in forms:
        for match in _compiled(pattern).finditer(passage.data):
            found = decode(match[0].decode("utf-8", "replace"))
            if found is not None and len(found) >= _LEAST_CHARS and _readable(found):
                yield Decoded(code, passage.character(match.start()), passage.character(match.end()), found)
    if not passage.words.isdisjoint(_ROT13_SURE):
        yield from _rotated(passage)
    if len(_FORMS) in looks:
        yield from _unmarked(passage)


@lru_cache(maxsize=32)
def _compiled(pattern: str) -> Any:
    return regex(pattern)


def _readable(text: str) -> bool:
    """Whether a decoded text may be words: hardly a control character, and letters for the most part."""
    sample = text[:2000]
    if _NO_TEXT.search(sample):
        return False
    return sum(map(str.isalpha, sample)) + sample.count(" ") >= 0.7 * len(sample)


def _from_base64(text: str) -> str | None:
    if text.isdigit() or text.islower() or text.isupper() or not _MIXED_CASE.search(text):
        return None
    packed = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    packed = packed[: len(packed) // 4 * 4] if len(packed) % 4 == 1 else packed + "=" * (-len(packed) % 4)
    try:
        return base64.b64decode(packed).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None


def _from_hex(text: str) -> str | None:
    digits = re.sub(r"0x|\\x|[ :,]", "", text)
    if len(digits) % 2 or (digits.isdigit() and " " not in text and len(digits) < 24):
        return None
    try:
        return bytes.fromhex(digits).decode("utf-8")
    except (ValueError, UnicodeDecodeError):
        return None


def _from_escapes(text: str) -> str | None:
    codes = re.findall(r"\\x([0-9A-Fa-f]{2})|\\u\{?([0-9A-Fa-f]{1,6})|U\+([0-9A-Fa-f]{4})", text)
    numbers = [int("".join(one), 16) for one in codes]
    return "".join(chr(number) if number < 0x110000 else " " for number in numbers)


def _from_numbers(base: int) -> Callable[[str], str | None]:
    def decode(text: str) -> str | None:
        packed = re.findall(r"[01]{8}" if base == 2 else r"\d+", text)
        numbers = [int(one, base) for one in packed]
        if any(number > 126 or (number < 32 and number not in (9, 10, 13)) for number in numbers):
            return None
        return "".join(map(chr, numbers))

    return decode


def _unspaced(text: str) -> str:
    """Join letters that stand apart; a wider gap than the usual one ends a word."""
    usual = min(re.findall(r"[ \t\u00a0.·•_*|~-]+", text), key=len)
    wide = re.sub(r"[ \t\u00a0]{2,}|[ ][.·•_*|~-][ ]", "\0", text) if usual == " " else text
    return re.sub(r"[ \t\u00a0.·•_*|~-]", "", wide).replace("\0", " ")


def _plain_digits(text: str) -> str:
    return text.translate(_FROM_DIGITS)


_Form = tuple[str, str, Callable[[str], str | None]]
_FORMS: tuple[_Form, ...] = (
    ("base64", _BASE64, _from_base64),
    ("hex", _HEX, _from_hex),
    ("numbers", _DECIMAL, _from_numbers(10)),
    ("binary", _BINARY, _from_numbers(2)),
    ("spaced", _SPACED, _unspaced),
    ("digits", rf"(?i:[^\n]*{_DIGITS}[^\n]*)", _plain_digits),
    ("escapes", _ESCAPES, _from_escapes),
    ("percent", _PERCENT, unquote),
    ("entities", _ENTITIES, html.unescape),
)


@lru_cache(maxsize=1)
def _looks() -> Callable[[bytes], list[int]]:
    """Return what tells which forms a passage may hold; the last number stands for words that are cut by markup."""
    patterns = {code: pattern for code, pattern, _ in _FORMS} | {"digits": f"(?i:{_DIGITS})"}
    return regex_set([*patterns.values(), _MARKUP])


def _rotated(passage: Passage) -> Iterator[Decoded]:
    for place, line in _lines(passage):
        words = re.findall(rb"[a-z]+", line.lower().encode())
        hits = sum(word in _ROT13 for word in words)
        if hits >= 2 and hits >= 0.1 * len(words) and not _ROT13_SURE.isdisjoint(words):
            yield Decoded("rot13", place, place + len(line.rstrip()), codecs.decode(line, "rot13"))


def _unmarked(passage: Passage) -> Iterator[Decoded]:
    """Words that are cut by tags or emphasis, line by line."""
    for place, line in _lines(passage):
        joined = _MARKUP_ALONE.sub("", line)
        if joined != line:
            yield Decoded("marked_up", place, place + len(line), joined, spelled=True)


def _lines(passage: Passage) -> Iterator[tuple[int, str]]:
    place = passage.start
    for line in passage.text.splitlines(keepends=True):
        yield place, line
        place += len(line)
