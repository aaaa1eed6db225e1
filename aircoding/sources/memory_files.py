"""The stores of memory on disk, and as candidates of L3 when a session starts (DESIGN section 10, on disk)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.errors import ConfigError, WorkspaceError
from aircoding.records.digests import sha256_text
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.segments import Barred, Segment
from aircoding.rules.memory_entries import MemoryKind, file_text, heading, read_entries
from aircoding.rules.memory_recall import recall
from aircoding.sources.agent_entries import AgentEntries, read_agent_entries, write_agent_entries
from aircoding.sources.atomic_files import alone_in, replace_text
from aircoding.sources.files import TextRead, read_text_file
from aircoding.sources.profile_files import checked_profile
from aircoding.sources.project_files import project_folder, replace_project_text
from aircoding.sources.segments import Intake, barred

__all__ = ["AgentMemories", "MemoryStore", "memory_segments", "memory_stores"]

_PROJECT_FOLDER = ".air/shared/memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStore:
    """One file of entries: `name` below `base`, and how it is called in records.

    Raises (all methods that change it):
        ConfigError: the file as it is cannot be read, or the change is refused.
        WorkspaceError: it cannot be written.
    """

    kind: MemoryKind
    base: Path
    name: str
    uri: str

    def read(self) -> TextRead:
        """Read the file; one that is not there is empty. Never raises."""
        return read_text_file(self.base, self.name, inside=self.kind is MemoryKind.PROJECT)

    def entries(self) -> tuple[str, ...]:
        """Return the entries as they are now.

        Raises:
            ConfigError: the file cannot be read.
        """
        read = self.read()
        if read.absent and not (self.base / self.name).is_symlink():
            return ()
        if read.problem is not None or read.lossy:
            raise ConfigError(
                f"{self.base / self.name}: the memory cannot be read: {read.problem or 'it is no UTF-8 text'}",
                hint="correct the file; nothing in it was changed",
                code="memory.unreadable",
            )
        return tuple(entry.text for entry in read_entries(read.text))

    def written_by_agents(self) -> AgentEntries:
        """Return which entries agents wrote. Never raises."""
        return read_agent_entries(self.base, self.name, inside=self.kind is MemoryKind.PROJECT)

    def change(self, edit: Callable[[tuple[str, ...]], tuple[str, ...]], *, by_agent: bool = False) -> tuple[str, ...]:
        """Apply `edit` to the entries as they are on disk at that moment; return those that stand there then.

        Writers wait for each other, so each works on what the one before left; readers see the old file or the new.
        An entry that an agent wrote is noted as its word before it stands there, never after.
        """
        path = self.base / self.name
        try:
            with alone_in(self._folder()):
                before = self.entries()
                after = edit(before)
                if after != before:
                    self._put(before, after, by_agent=by_agent)
        except OSError as error:
            raise WorkspaceError(
                f"{path}: cannot be written: {error.strerror}", hint="check rights and free space"
            ) from error
        return after

    def _put(self, before: tuple[str, ...], after: tuple[str, ...], *, by_agent: bool) -> None:
        known, new = self.written_by_agents(), frozenset(map(sha256_text, set(after) - set(before)))
        known.require_readable()
        own = known.digests | new if by_agent else known.digests - new
        if by_agent:
            write_agent_entries(self.name, own, before=known, write=self._write)
        self._write(self.name, file_text(after))
        standing = own & frozenset(map(sha256_text, after))
        write_agent_entries(self.name, standing, before=self.written_by_agents(), write=self._write)

    def _write(self, name: str, text: str) -> None:
        """Write the store or what is kept beside it; a project's links are never followed, the user's own are."""
        if self._is_private:
            replace_text(self.base / name, text, new_mode=0o600)
        else:
            replace_project_text(self.base, name, text)

    @property
    def _is_private(self) -> bool:
        return self.kind is not MemoryKind.PROJECT

    def _folder(self) -> Path:
        """Make the folders of the file; a profile's are the user's alone."""
        if not self._is_private:
            self.base.mkdir(exist_ok=True)
            return project_folder(self.base, self.name)
        current = self.base
        for part in (".", *Path(self.name).parent.parts):
            current = current / part
            current.mkdir(exist_ok=True, mode=0o700)
        return current


def memory_stores(root: Path | None, home: Path, profile: str) -> tuple[MemoryStore, ...]:
    """Return the stores of a profile and, inside a project, the project's.

    Raises:
        ConfigError: the profile's name is none.
    """
    checked_profile(profile)
    own = tuple(
        _store(kind, home, f"profiles/{profile}/{kind.file_name}", "user")
        for kind in (MemoryKind.NOTES, MemoryKind.USER)
    )
    if root is None:
        return own
    return (*own, _store(MemoryKind.PROJECT, root, f"{_PROJECT_FOLDER}/{MemoryKind.PROJECT.file_name}", "project"))


def _store(kind: MemoryKind, base: Path, name: str, scheme: str) -> MemoryStore:
    return MemoryStore(kind=kind, base=base, name=name, uri=f"{scheme}:{name}")


class AgentMemories:
    """The stores that agents may write; implements `ports.Memories`. What is known of the user stays the user's.

    Args:
        root: the project.
        home: the user's `~/.air`.
        profile: the user's profile.
        trusted: whether the user trusts the project; what agents learn in another is not remembered.
    """

    def __init__(self, root: Path, home: Path, profile: str, *, trusted: Callable[[], bool]) -> None:
        self._trusted = trusted
        stores = memory_stores(root, home, profile)
        self._stores = {store.kind.value: store for store in stores if store.kind is not MemoryKind.USER}

    def closed(self) -> str:
        """Say why no agent may write now; empty: one may."""
        return "" if self._trusted() else "the user does not trust this project, so nothing of it is remembered"

    def entries(self, kind: str) -> tuple[str, ...]:
        """Return the entries of a store as they are now; raises as `MemoryStore.entries`."""
        return self._stores[kind].entries()

    def change(self, kind: str, edit: Callable[[tuple[str, ...]], tuple[str, ...]]) -> tuple[str, ...]:
        """Change a store as an agent; raises as `MemoryStore.change`."""
        return self._stores[kind].change(edit, by_agent=True)


def memory_segments(
    stores: tuple[MemoryStore, ...], *, intake: Intake, trusted: bool, topics: frozenset[str] = frozenset()
) -> tuple[Segment, ...]:
    """Return a candidate for each entry; a hit then takes out one entry, not the store.

    Both stores of a profile are told once one of them is there, so that an empty one is known to be empty. Entries that
    share a topic with the request are worth more where space is short.
    """
    reads = [(store, store.read()) for store in stores]
    has_profile = any(not read.absent for store, read in reads if store.kind is not MemoryKind.PROJECT)
    segments: list[Segment] = []
    for store, read in reads:
        if read.absent and not (has_profile and store.kind is not MemoryKind.PROJECT):
            continue
        segments.extend(_candidates(store, read, intake, topics, trusted=trusted))
    return tuple(segments)


def _candidates(
    store: MemoryStore, read: TextRead, intake: Intake, topics: frozenset[str], *, trusted: bool
) -> Iterator[Segment]:
    own = Trust.USER if store.kind is not MemoryKind.PROJECT else Trust.PROJECT if trusted else Trust.EXTERNAL
    entries = read_entries(read.text)
    title = heading(store.kind, [entry.text for entry in entries])

    def candidate(text: str, trust: Trust, fragment: str, start: int | None = None, end: int | None = None) -> Segment:
        return intake.segment(
            text,
            layer=Layer.L3,
            scope=Scope.SESSION,
            kind=SegmentKind.MEMORY,
            trust=trust,
            uri=store.uri,
            digest=read.digest,
            title=title,
            fragment=fragment,
            start_line=start,
            end_line=end,
            shortened=False,
        )

    def out(fragment: str, detail: str) -> Segment:
        why = Barred(outcome=OutcomeKind.OMITTED, reason=Reason.UNREADABLE, detail=detail)
        return barred(candidate("", own, fragment), why)

    if read.problem is not None and not read.absent:
        yield out("", f"{store.uri}: {read.problem}")
        return
    agents = store.written_by_agents()
    if agents.problem is not None:
        yield out("agents", f"{agents.name}: {agents.problem}; until it can be read, every entry counts as an agent's")
    if not entries:
        yield candidate("(empty)", Trust.BUILTIN, "empty")
    recalled = recall(topics, [("", entry.text) for entry in entries], wide=False)
    for number, (entry, one) in enumerate(zip(entries, recalled, strict=True), 1):
        trust = min(own, Trust.AGENT, key=lambda each: each.rank) if agents.wrote(entry.text) else own
        segment = candidate(entry.text, trust, f"{number}", entry.start_line, entry.end_line)
        yield replace(segment, relevance_terms=one.topics)
