"""Path patterns in which `*` crosses folders, as gitignore globs, in which it does not."""

from __future__ import annotations

import itertools
import re

from aircoding.permissions.foreign_rules import NoEquivalent
from aircoding.rules.globs import Dialect, glob_fault

__all__ = ["wildcard_globs"]

_MOST_GLOBS = 16
_OTHER_MEANING = frozenset("[]{}\\!#")
_WILD = re.compile(r"\*+|\?")


def wildcard_globs(pattern: str) -> tuple[str, ...]:
    """Return globs that together match all that a whole-path pattern matches: `*` any characters, `?` one.

    Raises:
        NoEquivalent: no glob here says it.
    """
    text = re.sub(r"^\$(HOME|\{HOME\})(?=/|$)", "~", pattern.strip())
    if not text.isprintable() or _OTHER_MEANING & set(text) or "$" in text:
        raise NoEquivalent("it holds characters that mean something else in a path here")
    if ".." in text.split("/") or text in ("", ".", "./", "~") or (text.startswith("~") and not text.startswith("~/")):
        raise NoEquivalent("only paths in the project, from `/` and from `~/` can be said")
    globs = tuple(_anchored(one) for one in _spellings(text.removeprefix("./")))
    for glob in globs:
        if (fault := glob_fault(glob, Dialect.GITIGNORE)) is not None:
            raise NoEquivalent(fault)
    return globs


def _spellings(text: str) -> list[str]:
    """Spell each wildcard out: within one folder, and across folders. What matches a folder matches all below it."""
    parts: list[tuple[str, ...]] = []
    end = 0
    for found in _WILD.finditer(text):
        parts.append((text[end : found.start()],))
        first, last = found.start() == 0, found.end() == len(text)
        if found[0] == "?":
            inner = not first and not last and "/" not in (text[found.start() - 1], text[found.end()])
            parts.append(("?", "/") if inner else ("?",))  # a path has no empty folder
        elif last:
            parts.append(("*",))
        elif first:
            parts.append(("**/*",) if "/" in text[found.end() :] else ("*",))
        else:
            parts.append(("*", "*/**/*"))
        end = found.end()
    parts.append((text[end:],))
    spelled = list(itertools.islice(("".join(one) for one in itertools.product(*parts)), _MOST_GLOBS + 1))
    if len(spelled) > _MOST_GLOBS:
        raise NoEquivalent(f"its wildcards make more than {_MOST_GLOBS} globs")
    return spelled


def _anchored(glob: str) -> str:
    """A path is one from the project's root, unless it begins with a wildcard."""
    return glob if glob.startswith(("/", "~/", "*")) else f"./{glob}"
