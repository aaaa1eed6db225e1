"""Finding files by name and text: only what git tracks or would track, and only what the policy lets be read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from aircoding.agents.tools.lines import split_lines
from aircoding.agents.tools.outputs import withhold_findings
from aircoding.agents.tools.patterns import RegexError, match_lines
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, in_utf8, refusal
from aircoding.errors import WorkspaceError
from aircoding.permissions.engine import decide
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.ids import Digest
from aircoding.records.layers import Trust
from aircoding.records.policy import Act, PathAct
from aircoding.records.segments import Finding
from aircoding.rules.globs import Dialect, compile_globs, glob_fault

__all__ = ["FS_GLOB", "FS_GREP"]

_PATHS = 200
_HITS = 100
"""How many are shown when the call does not say; the tools' schemas set the most that it can ask for."""
_MAX_FILE_BYTES = 2_000_000
"""A larger file is left out of a search and named."""
_MAX_TOTAL_BYTES = 64_000_000
"""What one search reads at most."""
_HIT_CHARS = 300


class _File(NamedTuple):
    """A file that is searched: its text is masked, its digest of the raw bytes."""

    path: str
    text: str
    digest: Digest


@dataclass(frozen=True, slots=True)
class _Corpus:
    """The files of one search, and what was left out of it."""

    files: tuple[_File, ...]
    denied: int
    large: tuple[str, ...]
    unread: tuple[str, ...]


def _no_acts(_input: Mapping[str, Any], _bench: Workbench) -> tuple[Act, ...]:
    """Each file is judged as it is met: what may not be read is not searched, and the result says so."""
    return ()


async def _glob(call: ToolCall, bench: Workbench, _paths: tuple[str, ...]) -> ToolResult | Deed:
    pattern = str(call.input["pattern"])
    if (faults := _glob_faults([pattern])) is not None:
        return refusal(faults)
    found = _matching(await asyncio.to_thread(bench.worktree.paths), [pattern])
    if not found:
        return ToolResult(text=f"No file matches {pattern}. `*.py` matches at any depth, `src/*.py` only in src.")
    limit = int(call.input.get("limit", _PATHS))
    # A name may hold a line break; it must not look like two files.
    rows = [in_utf8(path).replace("\n", "\\n").replace("\r", "\\r") for path in found[:limit]]
    if len(found) > limit:
        rows.append(f"[{len(found) - limit} more files match: narrow the pattern or raise limit]")
    return ToolResult(text="\n".join(rows))


def _glob_faults(globs: Sequence[str]) -> str | None:
    """Say which globs cannot be read, and how one is written; None when all can."""
    faults = [f"{glob!r}: {fault}" for glob in globs if (fault := glob_fault(glob, Dialect.GITIGNORE))]
    return f"{'; '.join(faults)}. Write globs like `src/**/*.py` or `*.md`." if faults else None


def _matching(paths: Iterable[str], globs: Sequence[str]) -> tuple[str, ...]:
    matcher = compile_globs([glob.removeprefix("./") for glob in globs], Dialect.GITIGNORE)
    return tuple(path for path in paths if matcher.matches(path))


async def _grep(call: ToolCall, bench: Workbench, _paths: tuple[str, ...]) -> ToolResult | Deed:
    wanted, limit = str(call.input["text"]), int(call.input.get("limit", _HITS))
    if "\n" in wanted:
        return refusal(
            "The text holds a line end, and lines are searched one by one. Search for its most telling line."
        )
    globs = [str(glob) for glob in call.input.get("paths") or ["**"]]
    if (faults := _glob_faults(globs)) is not None:
        return refusal(faults)
    corpus = await asyncio.to_thread(_corpus, bench, globs)
    try:
        if call.input.get("regex"):
            hits = await match_lines(wanted, [one.text for one in corpus.files], limit=limit + 1)
        else:
            hits = await asyncio.to_thread(_literal_hits, wanted, corpus, limit + 1)
    except RegexError as error:
        return refusal(str(error))
    return await asyncio.to_thread(_shown, bench, wanted, corpus, hits, limit)


def _corpus(bench: Workbench, globs: Sequence[str]) -> _Corpus:
    files: list[_File] = []
    large: list[str] = []
    unread: list[str] = []
    denied = total = 0
    for path in _matching(bench.worktree.paths(), globs):
        if not decide(PathAct(path=in_utf8(path), access="read"), bench.policy).permits:
            denied += 1
            continue
        try:
            if bench.worktree.resolve(path) != path:
                continue  # a link: what it leads to is judged, and searched, under its own name
            file = bench.worktree.read(path, max_bytes=_MAX_FILE_BYTES)
        except WorkspaceError:
            unread.append(in_utf8(path))  # binary, a link, too large, or gone meanwhile
            continue
        total += file.size_bytes
        if total > _MAX_TOTAL_BYTES:
            large.append(in_utf8(path))
            continue
        files.append(_File(in_utf8(path), bench.screener.mask(file.text), file.digest))
    return _Corpus(tuple(files), denied, tuple(large), tuple(unread))


def _literal_hits(wanted: str, corpus: _Corpus, limit: int) -> list[tuple[int, int]]:
    """Return (text, line) of the lines that hold `wanted`, texts from 0 and lines from 1, at most `limit`."""
    hits: list[tuple[int, int]] = []
    for number, (_, text, _) in enumerate(corpus.files):
        if wanted not in text:
            continue
        for line_number, line in enumerate(split_lines(text), start=1):
            if wanted in line:
                hits.append((number, line_number))
                if len(hits) == limit:
                    return hits
    return hits


def _shown(bench: Workbench, wanted: str, corpus: _Corpus, hits: Sequence[tuple[int, int]], limit: int) -> ToolResult:
    """Return the lines that were hit, each withheld where all of its file, or the file's name, gives reason to."""
    rows: list[str] = []
    found: list[Finding] = []
    of_files: dict[int, tuple[list[str], tuple[Finding, ...]]] = {}
    size_bytes = 0
    for number, line_number in hits[:limit]:
        file = corpus.files[number]
        if number not in of_files:
            of_files[number] = split_lines(file.text), _findings(bench, file)
        lines, findings = of_files[number]
        line = lines[line_number - 1].strip()
        rows.append(f"{file.path}:{line_number}: {line if len(line) <= _HIT_CHARS else line[:_HIT_CHARS] + '…'}")
        end = size_bytes + len(rows[-1].encode("utf-8", "replace"))
        found += [
            replace(one, start=size_bytes, end=end, start_line=len(rows), end_line=len(rows))
            for one in findings
            if one.start_line <= line_number <= one.end_line
        ]
        size_bytes = end + 1
    if not rows:
        rows.append(f"No line with {wanted!r} in {len(corpus.files)} files.")
    rows += _left_out(corpus, more=len(hits) > limit, limit=limit)
    text, screened = withhold_findings(bench, "\n".join(rows), found, uri="air:tool/fs_grep")
    return ToolResult(text=text, screened=screened)


def _findings(bench: Workbench, file: _File) -> tuple[Finding, ...]:
    """Return what is suspicious in a file, and in its name, which stands before each of its lines."""
    uri = f"project:{file.path}"
    found = bench.screener.findings(file.text, uri=uri, trust=bench.file_trust)
    of_name = bench.screener.findings(file.path, uri=uri, trust=Trust.EXTERNAL)
    everywhere = (replace(one, end_line=file.text.count("\n") + 1) for one in of_name)
    return (*bench.screener.lift(found, uri=uri, digest=file.digest), *everywhere)


def _left_out(corpus: _Corpus, *, more: bool, limit: int) -> Iterator[str]:
    if more:
        yield f"[more than {limit} lines match: narrow the text or paths, or raise limit]"
    if corpus.denied:
        yield f"[{corpus.denied} files not searched: the policy does not let them be read]"
    if corpus.unread:
        yield f"[not searched, binary or over {_MAX_FILE_BYTES // 1_000_000} MB: {_some(corpus.unread)}]"
    if corpus.large:
        yield f"[{len(corpus.large)} files not searched, the search had read enough: give narrower paths]"


def _some(paths: tuple[str, ...]) -> str:
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")


FS_GLOB = Tool(name="fs_glob", acts=_no_acts, prepare=_glob)
FS_GREP = Tool(name="fs_grep", acts=_no_acts, prepare=_grep, brings=None)
