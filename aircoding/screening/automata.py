"""Patterns compiled by RE2: they run in time linear in the text, whatever the text is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["regex", "regex_set"]

_MEMORY_BYTES = 16 << 20
"""Most room for the automaton of a pattern; it is built as texts need it, and thrown away when it is full."""


def regex(pattern: str, *, of_bytes: bool = True) -> Any:
    """Return a pattern compiled for texts in UTF-8; the library is loaded when a text is first screened.

    Args:
        pattern: in RE2's syntax, which has no back-references and no looks around.
        of_bytes: the pattern is ASCII and sees a character outside it as some bytes; its automaton is much smaller.
    """
    import re2

    return re2.compile(pattern.encode(), _options(of_bytes))


def regex_set(patterns: Sequence[str], *, of_bytes: bool = True) -> Callable[[bytes], list[int]]:
    """Return what tells which of some patterns match anywhere in a text, in one pass; arguments as in `regex`."""
    import re2

    found = re2.Set.SearchSet(_options(of_bytes))
    for pattern in patterns:
        found.Add(pattern.encode())
    found.Compile()
    return lambda data: sorted(found.Match(data) or ())


def _options(of_bytes: bool) -> Any:
    import re2

    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    if of_bytes:
        options.encoding = options.Encoding.LATIN1
    return options
