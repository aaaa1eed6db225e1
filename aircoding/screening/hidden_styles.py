"""Which elements of a page show nothing: by their name, their attributes or their style."""

from __future__ import annotations

import re

__all__ = ["hides"]

_NOT_SHOWN = frozenset(
    "template noscript noframes datalist dialog metadata title desc object canvas audio video noembed param "
    "rp optgroup xmp-hidden".split()
)
_NAMES = re.compile(
    r"\bhidden\b(?!\s*=\s*[\"']?false)|\baria-hidden\s*=\s*[\"']?true|\binert\b|\btype\s*=\s*[\"']?hidden|"
    r"\bclass(?:Name)?\s*=\s*[\"'][^\"']*\b(?:sr-only|visually-?hidden|hidden|invisible|d-none|"
    "screen-reader(?:-text|-only)?|"
    r"offscreen|off-screen|opacity-0|text-transparent|hide|is-hidden)\b|"
    r"\bcolor\s*=\s*[\"']?(?:white|transparent|#fff(?:fff)?\b|#fefefe)|\bsize\s*=\s*[\"']?(?:0|1px|-[0-9])\b|"
    r"\b(?:width|height|font-size|opacity|fill-opacity)\s*=\s*[\"']?0(?:px|\.0+)?[\"'\s]",
    re.IGNORECASE,
)
_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden|"
    r"opacity\s*:\s*(?:0?\.0\d*|0)(?![\d.])|filter\s*:\s*opacity\(\s*0|font-size\s*:\s*(?:0(?![\d.])|0?\.\d|1px)|"
    r"font\s*:\s*0|line-height\s*:\s*0(?![\d.])|"
    r"(?<!-)color\s*:\s*(?:#f{3}\b|#f{4}\b|#f{6}\b|#f{8}\b|#fefefe|white\b|snow\b|transparent|"
    r"rgba?\(\s*255\s*,\s*255\s*,\s*255|rgba\([^)]*,\s*0(?:\.0+)?\s*\)|hsla?\([^)]*100%\s*\))|"
    r"text-indent\s*:\s*-\d{3,}|(?:left|top|right|bottom|margin(?:-left|-top)?|translate[XY]?\()\s*:?\s*-\s*\d{3,}|"
    r"clip\s*:\s*rect\(\s*(?:0|1px)|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*0)|"
    r"transform\s*:\s*scale\(\s*0|(?:^|[;\"'\s])(?:max-)?(?:height|width)\s*:\s*(?:0|1px)(?![\d.])|z-index\s*:\s*-\d|"
    r"-webkit-text-fill-color\s*:\s*transparent|mso-hide\s*:\s*all",
    re.IGNORECASE,
)
_COLOURS = re.compile(r"(?<!-)color\s*:\s*([#\w]+)[^\"']*?background(?:-color)?\s*:\s*([#\w]+)", re.IGNORECASE)
_EMPTY_SUMMARY = re.compile(
    r"\s*(?:<summary[^>]{0,200}>(?:\s|&nbsp;|&#\w+;|[\u200b-\u200f\u2060\ufeff.])*</summary>)?", re.IGNORECASE
)
_SUMMARY = re.compile(r"\s*<summary", re.IGNORECASE)


def hides(name: str, attributes: str, text: str, end: int) -> bool:
    """Whether an element shows nothing of what it holds.

    Args:
        name: of the tag, in lower case.
        attributes: as they stand in the tag.
        text: the text around it.
        end: where the tag ends; a folded `details` hides only when its summary says nothing.
    """
    if name in _NOT_SHOWN:
        return True
    if name == "details":
        shown = _EMPTY_SUMMARY.match(text, end)
        return shown is not None and not _SUMMARY.match(text, shown.end())
    if not attributes:
        return False
    if _NAMES.search(attributes) or _STYLE.search(attributes):
        return True
    colours = _COLOURS.search(attributes)
    return colours is not None and colours[1].lower() == colours[2].lower()
