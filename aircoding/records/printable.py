"""Names that somebody else chose, as they may stand in a uri, a prompt or a message."""

from __future__ import annotations

__all__ = ["printable"]


def printable(path: str) -> str:
    """Return a path with bytes that are no UTF-8 and control characters escaped.

    A folder can be named so that its name looks like a heading on a line of its own.
    """
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
