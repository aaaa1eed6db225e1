"""Topic files of memory: recalled for requests that they speak of, ranked once for sessions that start together.

The files are digested for every request (DESIGN section 2), so that what is kept can never be older than they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from aircoding.records.digests import fingerprint
from aircoding.records.ids import Digest
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.printable import shown_path
from aircoding.records.segments import Barred, Segment
from aircoding.rules.memory_entries import MemoryKind
from aircoding.rules.memory_recall import TopicEntry, recall, topic_entries
from aircoding.sources.files import TextRead, list_folder, printable, read_text_file
from aircoding.sources.segments import Intake, barred

__all__ = ["MAX_TOPIC_BYTES", "MAX_TOPIC_FILES", "TopicFolder", "TopicMemory", "topic_folders"]

MAX_TOPIC_BYTES = 262_144
"""A larger topic file is not read (256 KiB, as much as is taken of a rule file)."""
MAX_TOPIC_FILES = 256
"""Files of one folder that are read; more are counted in an outcome."""
_TTL = timedelta(minutes=5)
_MOST_KEPT = 64
_STORES = frozenset(kind.file_name for kind in MemoryKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFolder:
    """A folder of topic files: `name` below `base`, as what it is called in records, and whose word it is."""

    base: Path
    name: str
    scheme: str
    trust: Trust

    def files(self) -> tuple[tuple[str, ...], str | None]:
        """Return the topic files by their path below `base`, and why they cannot be listed."""
        names, problem = list_folder(self.base / self.name)
        topics = (name for name in names if name.endswith(".md") and name not in _STORES)
        return tuple(f"{self.name}/{name}" for name in topics), problem

    @property
    def is_project(self) -> bool:
        """Whether it lies in the project, whose links may not leave it."""
        return self.scheme == "project"


def topic_folders(root: Path | None, home: Path, profile: str, *, trusted: bool) -> tuple[TopicFolder, ...]:
    """Return the folders of a profile and, inside a project, of the project."""
    own = TopicFolder(base=home, name=f"profiles/{profile}/memory", scheme="user", trust=Trust.USER)
    if root is None:
        return (own,)
    trust = Trust.PROJECT if trusted else Trust.EXTERNAL
    return (own, TopicFolder(base=root, name=".air/shared/memory", scheme="project", trust=trust))


@dataclass(slots=True)
class TopicMemory:
    """What was recalled in the last five minutes, by what it depends on: the topics, and the bytes of the files."""

    _kept: dict[Digest, tuple[datetime, tuple[Segment, ...]]] = field(default_factory=dict)

    def candidates(
        self, folders: tuple[TopicFolder, ...], topics: frozenset[str] | None, *, now: str, intake: Intake
    ) -> tuple[Segment, ...]:
        """Return a candidate for each entry, those that do not match barred with the reason.

        Args:
            folders: where the files lie.
            topics: of the request; None: nothing is recalled, and each file is one candidate.
            now: the time, RFC 3339.
            intake: makes the segments.
        """
        at, read = datetime.fromisoformat(now), [_read(folder) for folder in folders]
        key = fingerprint([sorted(topics) if topics is not None else None, [one.key for one in read]])
        kept = self._kept.get(key)
        if kept is None or not timedelta() <= at - kept[0] < _TTL:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            found = tuple(segment for one in read for segment in _recalled(one, topics, intake))
            kept = self._kept[key] = (at, found)
        return kept[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _FolderRead:
    """A folder with its files as they were read, how many more there are, and why it could not be listed."""

    folder: TopicFolder
    files: tuple[tuple[str, TextRead], ...]
    left: int
    problem: str | None

    @property
    def key(self) -> list[object]:
        """What tells it from any other; no time or size of a file can stand for its bytes."""
        own = [os.fsencode(self.folder.base).hex(), self.folder.name, self.folder.trust.value, self.problem, self.left]
        return [*own, *([os.fsencode(name).hex(), read.digest, read.problem] for name, read in self.files)]


def _read(folder: TopicFolder) -> _FolderRead:
    names, problem = folder.files()
    files = tuple(
        (name, read_text_file(folder.base, name, inside=folder.is_project, max_bytes=MAX_TOPIC_BYTES))
        for name in names[:MAX_TOPIC_FILES]
    )
    return _FolderRead(folder=folder, files=files, left=len(names) - len(files), problem=problem)


def _recalled(one: _FolderRead, topics: frozenset[str] | None, intake: Intake) -> Iterator[Segment]:
    folder = one.folder
    if one.problem is not None:
        yield _out(_blank(folder, folder.name, intake), Reason.UNREADABLE, f"{folder.name}: {one.problem}")
    if one.left:
        detail = f"{one.left} files beyond the {MAX_TOPIC_FILES} that are read of {folder.name}"
        yield _out(_blank(folder, folder.name, intake), Reason.BUDGET, detail)
    found: list[tuple[str, TextRead, TopicEntry]] = []
    for name, read in one.files:
        if read.problem is not None:
            yield _out(_blank(folder, name, intake, read), Reason.UNREADABLE, f"{printable(name)}: {read.problem}")
            continue
        entries = topic_entries(read.text, name)
        if not entries:
            yield _out(_blank(folder, name, intake, read), Reason.INVALID, f"{printable(name)} holds no text")
        elif topics is None:
            last = entries[-1].end_line
            whole = TopicEntry(name="", title="", text=read.text.strip(), start_line=1, end_line=last)
            yield _segment(folder, name, read, whole, intake)
        else:
            found += [(name, read, entry) for entry in entries]
    if topics is not None:
        yield from _ranked(folder, found, topics, intake)


def _ranked(
    folder: TopicFolder, found: list[tuple[str, TextRead, TopicEntry]], topics: frozenset[str], intake: Intake
) -> Iterator[Segment]:
    said = recall(topics, [(f"{_stem(name)} {entry.title}", entry.text) for name, _, entry in found])
    for (name, read, entry), one in zip(found, said, strict=True):
        segment = _segment(folder, name, read, entry, intake)
        if one.topics:
            yield replace(segment, relevance_terms=one.topics)
        else:
            yield _out(segment, Reason.TOPIC_NOT_MATCHED, _why_not(topics))


def _why_not(topics: frozenset[str]) -> str:
    shown = sorted(topics)[:12]
    more = f" and {len(topics) - len(shown)} more" if len(topics) > len(shown) else ""
    return f"the request is about {', '.join(shown) or 'nothing that has a name'}{more}; this entry is not"


def _stem(name: str) -> str:
    return printable(name.rsplit("/", 1)[-1].removesuffix(".md"))


def _segment(folder: TopicFolder, name: str, read: TextRead, entry: TopicEntry, intake: Intake) -> Segment:
    uri = f"{folder.scheme}:{printable(name)}"
    return intake.segment(
        entry.text,
        layer=Layer.L3,
        scope=Scope.SESSION,
        kind=SegmentKind.MEMORY,
        trust=folder.trust,
        uri=uri,
        digest=read.digest,
        title=f"MEMORY ON A TOPIC ({shown_path(uri)})",
        fragment=entry.name,
        start_line=entry.start_line,
        end_line=entry.end_line,
    )


def _blank(folder: TopicFolder, name: str, intake: Intake, read: TextRead | None = None) -> Segment:
    nothing = TopicEntry(name="", title="", text="", start_line=1, end_line=1)
    return _segment(folder, name, read or TextRead(), nothing, intake)


def _out(segment: Segment, reason: Reason, detail: str) -> Segment:
    return barred(segment, Barred(outcome=OutcomeKind.OMITTED, reason=reason, detail=detail))
