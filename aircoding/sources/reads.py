"""The files that a task names in `reads`, as L6: `path`, `path:10-40`, or a glob, read from its own worktree."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from aircoding.errors import AirError
from aircoding.permissions.engine import decide
from aircoding.ports import Worktree
from aircoding.records.ids import Digest
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.policy import Decision, PathAct, Policy
from aircoding.records.segments import Barred, Claim, Segment
from aircoding.rules.globs import Dialect, compile_globs, glob_fault
from aircoding.sources.excerpts import reference_line
from aircoding.sources.files import MAX_FILE_BYTES, printable
from aircoding.sources.segments import Intake, barred, unique

__all__ = ["MAX_EXCERPT_BYTES", "MAX_GLOB_FILES", "Read", "current_digests", "parse_read", "read_files"]

MAX_GLOB_FILES = 50
"""Most files that one glob brings in; more than that is no choice of files."""
MAX_EXCERPT_BYTES = 262_144
"""Most of one file that is offered (256 KiB, a third of a window of 200,000 tokens); for more a range is named."""

_RANGED = re.compile(r"(.+):([1-9][0-9]*)(?:-([1-9][0-9]*))?", re.DOTALL)
_SPECIAL = frozenset("*?[{")


@dataclass(frozen=True, slots=True)
class Read:
    """One entry of `reads`: a path or glob, and a range of lines (from 1, both included; None: all)."""

    pattern: str
    start_line: int | None = None
    end_line: int | None = None

    @property
    def is_glob(self) -> bool:
        """Whether the pattern stands for several files."""
        return bool(_SPECIAL & set(self.pattern))


def parse_read(entry: str) -> Read:
    """Read an entry of `reads`; a single number is a range of one line, a backwards range is turned round."""
    found = _RANGED.fullmatch(entry.strip())
    if found is None:
        return Read(entry.strip().removeprefix("./"))
    first = int(found[2])
    last = int(found[3]) if found[3] else first
    return Read(found[1].removeprefix("./"), min(first, last), max(first, last))


def read_files(
    worktree: Worktree, entries: Iterable[str], *, policy: Policy, intake: Intake, trusted: bool
) -> tuple[Segment, ...]:
    """Return a candidate for each file and range that the entries name; what cannot be had is listed with its reason.

    The policy is asked first: what a worker may not read does not reach its prompt by this way either.
    """
    trust = Trust.PROJECT if trusted else Trust.EXTERNAL
    reader = _Reader(worktree, policy, intake, trust)
    return unique(segment for entry in entries for segment in reader.entry(entry))


class _Reader:
    def __init__(self, worktree: Worktree, policy: Policy, intake: Intake, trust: Trust) -> None:
        self._worktree, self._policy, self._intake, self._trust = worktree, policy, intake, trust
        self._paths: tuple[str, ...] | None = None

    def entry(self, entry: str) -> list[Segment]:
        read = parse_read(entry)
        if not read.is_glob:
            return [self._file(read.pattern, read, entry)]
        fault = glob_fault(read.pattern, Dialect.ROOT_ANCHORED)
        if fault is not None:
            return [self._refused(read.pattern, Reason.INVALID, f"`{read.pattern}` in `reads`: {fault}")]
        matches = compile_globs((read.pattern,), Dialect.ROOT_ANCHORED).matches
        found = [path for path in self._all_paths() if matches(path)]
        if not found:
            return [self._refused(read.pattern, Reason.UNREADABLE, f"`{read.pattern}` in `reads` matches no file")]
        files = [self._file(path, read, entry) for path in found[:MAX_GLOB_FILES]]
        if len(found) > MAX_GLOB_FILES:
            detail = f"{len(found) - MAX_GLOB_FILES} more files match `{read.pattern}`; name those that matter"
            files.append(self._refused(read.pattern, Reason.BUDGET, detail))
        return files

    def _all_paths(self) -> tuple[str, ...]:
        if self._paths is None:
            self._paths = self._worktree.paths()
        return self._paths

    def _file(self, path: str, read: Read, entry: str) -> Segment:
        try:
            real = self._worktree.resolve(path)
            if not (_is_utf8(path) and _is_utf8(real)):
                return self._refused(path, Reason.UNREADABLE, f"the name {printable(real)} is no UTF-8")
            decision = decide(PathAct(path=real, access="read"), self._policy)
            if not decision.permits:
                return self._refused(
                    path, Reason.PERMISSION, f"the policy refuses to read it: {refusal_words(decision)}"
                )
            file = self._worktree.read(path, max_bytes=MAX_FILE_BYTES)
        except AirError as error:
            return self._refused(path, Reason.UNREADABLE, error.message.replace(self._worktree.root, "."))
        lines = file.text.split("\n")
        if lines[-1] == "" and len(lines) > 1:
            lines.pop()
        first, last = read.start_line or 1, min(read.end_line or len(lines), len(lines))
        if first > last:
            return self._refused(path, Reason.INVALID, f"`{entry}` in `reads`: the file has {len(lines)} lines")
        text = self._intake.masked_lines(lines, first, last)
        size_bytes = len(text.encode("utf-8", "replace"))
        if size_bytes > MAX_EXCERPT_BYTES:
            detail = f"{size_bytes} bytes are more than {MAX_EXCERPT_BYTES}; name a range of lines in `reads`"
            return self._refused(path, Reason.BUDGET, detail)
        shown = self._intake.masked(printable(path))
        uri = f"project:{shown}"
        segment = self._intake.segment(
            text,
            layer=Layer.L6,
            scope=Scope.SESSION,
            kind=SegmentKind.FILE,
            trust=self._trust,
            uri=uri,
            digest=file.digest,
            title=f"{shown}, lines {first}-{last} of {len(lines)}",
            start_line=first,
            end_line=last,
        )
        return replace(
            segment,
            reference=reference_line(shown, start_line=first, end_line=last),
            claims=(Claim(uri=uri, digest=file.digest),) if shown == path else (),
            relevance_terms=(entry,),
        )

    def _refused(self, path: str, reason: Reason, detail: str) -> Segment:
        segment = self._intake.segment(
            "",
            layer=Layer.L6,
            scope=Scope.SESSION,
            kind=SegmentKind.FILE,
            trust=self._trust,
            uri=f"project:{printable(path)}",
            fragment=reason.value,
        )
        return barred(
            segment, Barred(outcome=OutcomeKind.OMITTED, reason=reason, detail=self._intake.masked(printable(detail)))
        )


def _is_utf8(path: str) -> bool:
    """Whether a name can stand in a decision and a record: bytes of another encoding come as half characters."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def refusal_words(decision: Decision) -> str:
    """Return the reason, with the line of the policy that decided."""
    strongest = max(decision.judgements, key=lambda judgement: judgement.effect.rank, default=None)
    if strongest is None or strongest.uri in decision.reason:
        return decision.reason
    line = f":{strongest.line}" if strongest.line is not None else ""
    return f"{decision.reason} ({strongest.uri}{line})"


def current_digests(
    worktree: Worktree, segments: Collection[Segment], known: Iterable[str] = ()
) -> Mapping[str, Digest]:
    """Return the present digest of each project file that a claim or `known` names (uris); empty: it is gone.

    A file that stands among `segments` was read a moment ago, and is not read again.
    """
    read = {one.source.uri: one.source.digest for one in segments if one.kind is SegmentKind.FILE and one.claims}
    claimed = (claim.uri for segment in segments for claim in segment.claims)
    uris = sorted({uri for uri in (*claimed, *known) if uri.startswith("project:")})
    return {uri: read[uri] if uri in read else _digest(worktree.digest, uri.removeprefix("project:")) for uri in uris}


def _digest(digest_of: Callable[[str], Digest | None], path: str) -> Digest:
    try:
        return digest_of(path) or Digest("")
    except AirError:
        return Digest("")
