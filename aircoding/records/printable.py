"""What somebody else wrote, as it may stand in a uri, a prompt, a message or a page; and what a uri is called there."""

from __future__ import annotations

import unicodedata

__all__ = ["is_unseen", "printable", "shown_escape", "shown_path", "visible", "visible_line"]

_KEPT = frozenset("\n\t")
_LINE_SEPARATORS = frozenset({"Zl", "Zp"})


def is_unseen(char: str) -> bool:
    """Whether a character shows nothing of its own: control, bidirectional, invisible, a foreign end of a line."""
    category = unicodedata.category(char)
    return char not in _KEPT and (category.startswith("C") or category in _LINE_SEPARATORS)


def shown_escape(char: str) -> str:
    """Return what stands for an unseen character."""
    return f"\\u{{{ord(char):04x}}}"


def visible(text: str) -> str:
    """Return `text` with control, bidirectional and invisible characters, and foreign ends of a line, as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(shown_escape(char) if is_unseen(char) else char for char in text)


def visible_line(text: str) -> str:
    """Return `text` as `visible` does, on one line: what somebody else wrote cannot begin a line of our own."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def printable(path: str) -> str:
    """Return a path with bytes that are no UTF-8 and control characters escaped.

    A folder can be named so that its name looks like a heading on a line of its own.
    """
    if path.isprintable():
        return path
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def shown_path(uri: str) -> str:
    """Return a source as a person would write it: the path of a file, of anything else the uri."""
    scheme, colon, path = uri.partition(":")
    if not colon or uri.startswith(("~/", "/")):
        return uri
    if scheme == "resource":
        return f"Default {path.rsplit('/', 1)[-1]}"
    return {"project": path, "user": f"~/.air/{path}"}.get(scheme, uri)
