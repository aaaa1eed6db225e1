"""The path lines of a policy, compiled once: which line holds for a located path.

A pattern that begins with `~/` is below the home folder, one with `/` absolute; all others are gitignore globs over the
worktree. Asks and denies hold whatever the case of the letters (a file system may fold `.GIT` to `.git`), for names
without a folder also outside the worktree, and an absolute one also from the worktree's root, as git would read it.
Allows hold only for what they name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from aircoding.permissions.locations import home_paths, is_inside
from aircoding.records.policy import Effect, Policy, PolicyRule, PolicySubject
from aircoding.rules.globs import Dialect, Matcher, compile_globs

__all__ = ["PathIndex", "Space"]

_SUBJECTS = {
    "read": frozenset({PolicySubject.READ, PolicySubject.CREDENTIAL}),
    "write": frozenset({PolicySubject.WRITE, PolicySubject.CREDENTIAL, PolicySubject.SYSTEM}),
}
_WILD = frozenset("*?[\\")
_UPWARD = re.compile(r"(?:\.\./)+|~")


class Space(Enum):
    """Where a path lies."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    HOME = "home"


@dataclass(frozen=True, slots=True)
class _Entry:
    rule: PolicyRule
    glob: str
    anchored: bool

    def matches(self, path: str) -> bool:
        return compile_globs((self.glob,), Dialect.GITIGNORE).matches(path)


@dataclass(slots=True)
class _Group:
    """The lines of one kind in one space; `any_of` tells in one match that none holds, which is most often so."""

    entries: list[_Entry] = field(default_factory=list)
    any_of: Matcher | None = None

    def matching(self, path: str) -> Iterator[PolicyRule]:
        if self.any_of is None:
            self.any_of = compile_globs(tuple(entry.glob for entry in self.entries), Dialect.GITIGNORE)
        if self.any_of.matches(path):
            yield from (entry.rule for entry in self.entries if entry.matches(path))


class PathIndex:
    """Path lines by access, narrowing or widening, and space."""

    def __init__(self, rules: Iterable[PolicyRule]) -> None:
        self._groups: dict[tuple[str, bool, Space], _Group] = {}
        for rule in rules:
            for access, subjects in _SUBJECTS.items():
                if rule.subject in subjects:
                    self._add(rule, access)

    def _add(self, rule: PolicyRule, access: str) -> None:
        narrows = rule.effect.rank >= Effect.ASK.rank
        for space, glob, anchored in _spaces(rule.pattern, narrows=narrows):
            group = self._groups.setdefault((access, narrows, space), _Group())
            group.entries.append(_Entry(rule, glob.lower() if narrows else glob, anchored))

    def narrowing(self, location: str, access: str, policy: Policy) -> Iterator[PolicyRule]:
        """Yield the asks and denies that hold for a located path."""
        for space, path in _places(location, policy):
            group = self._groups.get((access, True, space))
            if group:
                yield from group.matching(path.lower())

    def widening(self, location: str, access: str, policy: Policy) -> Iterator[PolicyRule]:
        """Yield the allows and announcements that hold for a located path."""
        for space, path in _places(location, policy):
            group = self._groups.get((access, False, space))
            if group:
                yield from group.matching(path)

    def denied_below(self, location: str, access: str, policy: Policy, *, seen_only: bool = False) -> PolicyRule | None:
        """Return a deny that names something which a folder surely holds: `/` holds `/etc`, the worktree its `.git`.

        With `seen_only` what begins with a dot in the folder is left out, as a `*` of the shell does.
        """
        for space, path in _folders(location, policy):
            group = self._groups.get((access, True, space))
            for entry in group.entries if group else ():
                if entry.rule.effect is Effect.DENY and _holds(path, entry):
                    if seen_only and entry.glob.strip("/")[len(path) :].lstrip("/").startswith("."):
                        continue
                    return entry.rule
        return None


def _spaces(pattern: str, *, narrows: bool) -> Iterator[tuple[Space, str, bool]]:
    """Yield where a pattern holds, as a gitignore glob of that space, and whether that is anchored."""
    text = pattern.rstrip("/") or "/"
    if narrows and text.removesuffix("/**") not in {"", "~", ".", "**"}:
        text = text.removesuffix("/**")  # who keeps away from all below a folder keeps away from the folder
    if text.startswith("~/"):
        yield Space.HOME, "/" + text[2:], True
    elif text.startswith("/"):
        bare = text.lstrip("/")
        yield Space.OUTSIDE, "/" + bare, True
        if narrows and not text.startswith("//"):
            yield Space.INSIDE, "/" + bare, True
    elif text.startswith("./"):
        yield Space.INSIDE, "/" + text[2:], True
    elif "/" in text and not text.startswith("**/"):
        yield Space.INSIDE, "/" + text, True
    else:
        yield Space.INSIDE, text, False
        if narrows:
            yield Space.OUTSIDE, text, False


def _places(location: str, policy: Policy) -> Iterator[tuple[Space, str]]:
    if is_inside(location):
        yield Space.INSIDE, location
        return
    yield Space.OUTSIDE, location if location.startswith("/") else _without_start(location)
    for path in home_paths(location, policy):
        yield Space.HOME, path


def _without_start(location: str) -> str:
    match = _UPWARD.match(location)
    return location[match.end() :] if match else location


def _folders(location: str, policy: Policy) -> Iterator[tuple[Space, str]]:
    """Yield the spaces that lie wholly or partly below a folder, and the folder in them (empty: all of the space)."""
    if is_inside(location):
        yield Space.INSIDE, "" if location == "." else location
        return
    if location.startswith(".."):
        yield Space.INSIDE, ""
        return
    base = location.rstrip("/") + "/"
    yield Space.OUTSIDE, location.strip("/")
    if policy.root.startswith(base):
        yield Space.INSIDE, ""
    if (policy.home or "/home/x").startswith(base) or "/home/x/".startswith(base) or "/root/".startswith(base):
        yield Space.HOME, ""
    for path in home_paths(location, policy):
        yield Space.HOME, "" if path == "." else path


def _holds(folder: str, entry: _Entry) -> bool:
    """Whether the fixed beginning of a pattern lies in a folder; a name of any depth counts for the whole worktree."""
    fixed: list[str] = []
    for part in entry.glob.strip("/").split("/"):
        if _WILD & set(part):
            break
        fixed.append(part)
    start = "/".join(fixed)
    if not start:
        return False
    if not entry.anchored:
        return not folder and not entry.rule.pattern.startswith("**") and entry.rule.subject is PolicySubject.WRITE
    return not folder or start == folder.lower() or start.startswith(folder.lower() + "/")
