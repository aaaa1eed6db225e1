"""Letters of other scripts that look like Latin ones (after Unicode Technical Standard 39, the letters that are used).

Only letters that a reader takes for the Latin one are here; what stays different (`Δ`, `я`) is no disguise.
"""

from __future__ import annotations

import re

__all__ = ["LETTERS_LIKE", "LOOK_ALIKES", "OF_OTHER_SCRIPTS"]

_LIKE = {  # Cyrillic, Greek, Armenian, Hebrew, Cherokee, Latin of other alphabets, small capitals
    "a": "аαɑɐɒᴀ",
    "b": "ЬЪьɓʙ",
    "c": "сϲᴄƈ",
    "d": "ԁɗɖᴅ",
    "e": "еҽєεəɛᴇ",
    "f": "ƒ",
    "g": "ɡցɢɠ",
    "h": "һհɦʜ",
    "i": "іιɩɨɪӏΙ",
    "j": "јϳʝᴊ",
    "k": "кκᴋƙ",
    "l": "ⅼʟɭ",
    "m": "мᴍɱ",
    "n": "пոռηɴɲŋɳ",
    "o": "оοօסᴏɵ",
    "p": "рρᴘ",
    "q": "ԛզ",
    "r": "гʀɼɽ",
    "s": "ѕꜱʂ",
    "t": "тτᴛʈ",
    "u": "υսᴜʋ",
    "v": "νѵᴠʌ",
    "w": "ԝωшᴡɯ",
    "x": "хχ",
    "y": "уγүყʏ",
    "z": "ᴢƶʐ",
    "A": "АΑᎪ",
    "B": "ВΒᏴ",
    "C": "СϹᏟ",
    "D": "Ꭰ",
    "E": "ЕΕᎬ",
    "F": "Ғ",
    "G": "Ԍᏻ",
    "H": "НΗᎻ",
    "I": "ІӀ",
    "J": "ЈᎫͿ",
    "K": "КΚᏦ",
    "L": "Ꮮ",
    "M": "МΜᎷ",
    "N": "Ν",
    "O": "ОΟՕ",
    "P": "РΡᏢ",
    "Q": "Ԛ",
    "R": "Ꮢ",
    "S": "ЅՏᏚ",
    "T": "ТΤᎢ",
    "U": "Ս",
    "V": "ѴᏙ",
    "W": "ԜᎳ",
    "X": "ХΧ",
    "Y": "ҮΥУ",
    "Z": "ΖᏃ",
}
_FIRST_IN_FRAMES = (0x1F150, 0x1F170, 0x1F1E6)
"""Alphabets in circles, squares and flags that no compatibility form undoes."""

LOOK_ALIKES = {
    **{ord(foreign): latin for latin, letters in _LIKE.items() for foreign in letters},
    **{
        first + place: letter for first in _FIRST_IN_FRAMES for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz")
    },
}
LETTERS_LIKE = "".join(map(chr, sorted(LOOK_ALIKES)))
_OTHER_SCRIPTS = re.compile("[\u0370-\u05ff\u10a0-\u10ff\u13a0-\u13ff]")
OF_OTHER_SCRIPTS = "".join(_OTHER_SCRIPTS.findall(LETTERS_LIKE))
"""Those that no alphabet of Latin letters has, so that no honest word holds both."""
