"""What a change of files does to what agents see: view against view, the same changes put together. Pure."""

from __future__ import annotations

import difflib
import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from aircoding.audit.views import LeftOut, Part, View

__all__ = ["ChangedPart", "ContextChange", "Effect", "Reader", "RemovedPart", "SeenChange", "Viewer"]
__all__ += ["compact_paths", "compare_views", "join_effects", "line_diff", "sources_of"]

_DIFF_CHARS = 200_000
"""A longer text is not compared line by line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPart:
    """A part that is in before and after, with another text or in another form; `diff` has its lines."""

    before: Part
    after: Part
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedPart:
    """A part that is in no more; `left_out` says why where it was still considered."""

    part: Part
    left_out: LeftOut | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChange:
    """How one view differs from another. `moved` are parts that stand elsewhere among those that stayed."""

    added: tuple[Part, ...] = ()
    removed: tuple[RemovedPart, ...] = ()
    changed: tuple[ChangedPart, ...] = ()
    moved: tuple[Part, ...] = ()
    conflicts_added: tuple[str, ...] = ()
    conflicts_removed: tuple[str, ...] = ()

    @property
    def token_change(self) -> int:
        """How many tokens more there are in what changed."""
        more = sum(part.tokens for part in self.added) - sum(one.part.tokens for one in self.removed)
        return more + sum(one.after.tokens - one.before.tokens for one in self.changed)


class Viewer(NamedTuple):
    """Who looks at a context: a role or a tool, by its name, for a subject of one kind: `role`, `task` or `path`.

    The subject is a task's id or a path; a role as such has none.
    """

    name: str
    kind: str
    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenChange:
    """One viewer whose context differs, and how; the tokens are those of its whole context."""

    viewer: Viewer
    change: ContextChange
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who has another context: a role or a tool, for one of the three kinds `role`, `task` and `path`.

    `subjects` are task ids or paths (none for a role as such), `shown` the same in short. The tokens are those of the
    largest whole context among them, with all that changed in it.
    """

    viewer: str
    kind: str
    subjects: tuple[str, ...]
    shown: tuple[str, ...]
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What changed, and all who see it. Somebody may see several effects; nobody sees a part of one."""

    change: ContextChange
    readers: tuple[Reader, ...]


def compare_views(before: View, after: View) -> ContextChange | None:
    """Return how a view became another one; None where an agent sees the same."""
    old = {part.place: part for part in before.parts}
    new = {part.place: part for part in after.parts}
    both = [(old[place], new[place]) for place in old if place in new]
    out = {one.place: one for one in after.left_out}
    change = ContextChange(
        added=tuple(part for place, part in new.items() if place not in old),
        removed=tuple(
            RemovedPart(part=part, left_out=out.get(place)) for place, part in old.items() if place not in new
        ),
        changed=tuple(
            ChangedPart(before=a, after=b, diff=line_diff(a.text, b.text))
            for a, b in both
            if _content(a) != _content(b)
        ),
        moved=_moved([a.place for a, _ in both], [place for place in new if place in old], new),
        conflicts_added=tuple(one for one in after.conflicts if one not in before.conflicts),
        conflicts_removed=tuple(one for one in before.conflicts if one not in after.conflicts),
    )
    return None if change == ContextChange() else change


def _content(part: Part) -> tuple[str, str, str, str]:
    return part.layer, part.scope, part.form, part.text


def _moved(before: Sequence[str], after: Sequence[str], parts: Mapping[str, Part]) -> tuple[Part, ...]:
    """Return the fewest parts whose move explains another order."""
    if before == after:
        return ()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    kept = {before[block.a + n] for block in matcher.get_matching_blocks() for n in range(block.size)}
    return tuple(parts[place] for place in after if place not in kept)


@lru_cache(maxsize=256)  # one change of a file stands before thousands of paths
def line_diff(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that differ, `-` before and `+` after, with one line around them."""
    if len(before) + len(after) > _DIFF_CHARS:
        return ("the texts are too long to be compared by line",)
    if before.split() == after.split():
        return ("only blanks and line ends differ",) if before != after else ()
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    return tuple(lines)[2:]  # without the names of two files


def join_effects(found: Iterable[SeenChange], known: Mapping[str, Collection[str]]) -> tuple[Effect, ...]:
    """Take changes apart, and put those together that the same readers have; the most widely seen stand first.

    Args:
        found: whose context differs, in any order.
        known: for each kind all subjects that were compared.
    """
    single: dict[object, ContextChange] = {}
    readers: dict[object, dict[Viewer, SeenChange]] = {}
    taken_apart: dict[int, tuple[ContextChange, list[tuple[object, ContextChange]]]] = {}
    for seen in found:
        change = seen.change
        # One change stands for a whole group of paths: it is taken apart once, and kept so that its id stays its own.
        if id(change) not in taken_apart:
            taken_apart[id(change)] = change, [(_signature(one), one) for one in _singles(change)]
        for key, one in taken_apart[id(change)][1]:
            single.setdefault(key, one)
            readers.setdefault(key, {})[seen.viewer] = seen
    together: dict[frozenset[Viewer], list[object]] = {}
    for key, who in readers.items():
        together.setdefault(frozenset(who), []).append(key)
    effects = [
        Effect(change=_joined([single[key] for key in keys]), readers=tuple(_readers(readers[keys[0]], known)))
        for keys in together.values()
    ]
    return tuple(sorted(effects, key=_weight))


def _singles(change: ContextChange) -> Iterator[ContextChange]:
    yield from (ContextChange(added=(one,)) for one in change.added)
    yield from (ContextChange(removed=(one,)) for one in change.removed)
    yield from (ContextChange(changed=(one,)) for one in change.changed)
    if change.moved:
        yield ContextChange(moved=change.moved)
    yield from (ContextChange(conflicts_added=(one,)) for one in change.conflicts_added)
    yield from (ContextChange(conflicts_removed=(one,)) for one in change.conflicts_removed)


def _joined(changes: Sequence[ContextChange]) -> ContextChange:
    return ContextChange(
        added=tuple(one for change in changes for one in change.added),
        removed=tuple(one for change in changes for one in change.removed),
        changed=tuple(one for change in changes for one in change.changed),
        moved=tuple(one for change in changes for one in change.moved),
        conflicts_added=tuple(one for change in changes for one in change.conflicts_added),
        conflicts_removed=tuple(one for change in changes for one in change.conflicts_removed),
    )


def _weight(effect: Effect) -> tuple[int, list[str]]:
    subjects = sum(len(reader.subjects) or 1 for reader in effect.readers)
    return -subjects, sorted(part.place for part in _parts(effect.change))


def _signature(change: ContextChange) -> object:
    return (
        tuple((part.place, part.text, part.form) for part in change.added),
        tuple((one.part.place, one.part.text, one.part.form) for one in change.removed),
        tuple((one.before.place, one.before.text, one.after.text, one.after.form) for one in change.changed),
        tuple(part.place for part in change.moved),
        change.conflicts_added,
        change.conflicts_removed,
    )


def _readers(who: Mapping[Viewer, SeenChange], known: Mapping[str, Collection[str]]) -> Iterator[Reader]:
    by_viewer: dict[tuple[str, str], list[Viewer]] = {}
    for one in who:
        by_viewer.setdefault((one.name, one.kind), []).append(one)
    for (viewer, kind), found in sorted(by_viewer.items(), key=lambda item: (_KINDS.index(item[0][1]), item[0])):
        subjects = tuple(sorted(one.subject for one in found if one.subject is not None))
        largest = max((who[one] for one in found), key=lambda seen: seen.tokens_after)
        yield Reader(
            viewer=viewer,
            kind=kind,
            subjects=subjects,
            shown=compact_paths(subjects, known.get(kind, ())) if kind == "path" else subjects,
            tokens_before=largest.tokens_before,
            tokens_after=largest.tokens_after,
        )


_KINDS = ("role", "task", "path")


def _parts(change: ContextChange) -> list[Part]:
    return [
        *change.added,
        *(one.part for one in change.removed),
        *(one.after for one in change.changed),
        *change.moved,
    ]


def sources_of(effect: Effect) -> frozenset[str]:
    """Return the uris of all that an effect is about, without the part behind `#`."""
    return frozenset(part.uri.partition("#")[0] for part in _parts(effect.change))


def compact_paths(paths: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """Return some of the known paths in short: folders that are in as a whole, endings that are, then single names."""
    chosen = set(paths)
    everything = chosen | set(known)
    if len(chosen) == len(everything) and len(chosen) > 1:
        return ("**",)
    return tuple(_compact("", chosen, everything))


def _compact(folder: str, chosen: set[str], known: set[str]) -> list[str]:
    """Return names for what is chosen below a folder: whole folders, or whole endings where that is shorter."""
    if len(chosen) <= 1:
        return sorted(chosen)
    if chosen == known:
        return [f"{folder}**"]
    endings, rest = _whole_endings(chosen, known)
    by_folder = _by_folder(folder, chosen, known)
    if not endings:
        return by_folder
    by_ending = [*(f"{folder}**/*{ending}" for ending in endings), *_by_folder(folder, rest, known)]
    return by_ending if len(by_ending) < len(by_folder) else by_folder


def _whole_endings(chosen: set[str], known: set[str]) -> tuple[list[str], set[str]]:
    """Return the endings of which every known path is chosen, and what is chosen beside them."""
    counts = Counter(posixpath.splitext(path)[1] for path in known)
    own = Counter(posixpath.splitext(path)[1] for path in chosen)
    whole = sorted(ending for ending, count in own.items() if ending and count > 1 and count == counts[ending])
    return whole, {path for path in chosen if posixpath.splitext(path)[1] not in whole}


def _by_folder(folder: str, chosen: set[str], known: set[str]) -> list[str]:
    below: dict[str, tuple[set[str], set[str]]] = {}
    for path in known:
        first, slash, _ = path[len(folder) :].partition("/")
        own, every = below.setdefault(f"{folder}{first}{slash}", (set(), set()))
        every.add(path)
        if path in chosen:
            own.add(path)
    names: list[str] = []
    for name, (own, every) in sorted(below.items()):
        if own:
            names += _compact(name, own, every) if name.endswith("/") and name != folder else sorted(own)
    return names
