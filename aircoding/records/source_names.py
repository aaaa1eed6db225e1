"""Sources and their lines as a person writes them."""

from __future__ import annotations

__all__ = ["lines_of", "plain_uri"]


def plain_uri(uri: str) -> str:
    """Return a source as a person would write it: a path of the project without its scheme."""
    return uri.removeprefix("project:")


def lines_of(uri: str, first: int | None, last: int | None) -> str:
    """Return a source with its lines, where it has some: `PATH:FIRST-LAST`."""
    return plain_uri(uri) if first is None or last is None else f"{plain_uri(uri)}:{first}-{last}"
