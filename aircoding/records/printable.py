"""Names that somebody else chose, as they may stand in a uri, a prompt or a message; and what a uri is called there."""

from __future__ import annotations

__all__ = ["printable", "shown_path"]


def printable(path: str) -> str:
    """Return a path with bytes that are no UTF-8 and control characters escaped.

    A folder can be named so that its name looks like a heading on a line of its own.
    """
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
