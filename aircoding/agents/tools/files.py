"""Reading and changing files: exact edits, and none of a text that the session has not seen as it is now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aircoding.agents.tools.lines import Window, apply_edit, number_lines, split_lines
from aircoding.agents.tools.outputs import screen_output
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, in_utf8, refusal
from aircoding.agents.touched import last_digests
from aircoding.errors import PathRefusedError
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.digests import sha256_bytes
from aircoding.records.ids import Digest
from aircoding.records.policy import Act, PathAct
from aircoding.records.work import FileText
from aircoding.screening.markers import MARKER
from aircoding.screening.withholding import BLOCKED

__all__ = ["FS_EDIT", "FS_READ", "FS_WRITE"]

_MAX_FILE_BYTES = 10_000_000
"""A larger file is data: it is looked at with fs_grep or a command, never loaded whole."""


def _resolved(tool_input: Mapping[str, Any], bench: Workbench) -> str:
    path = bench.worktree.resolve(str(tool_input["path"]))
    if in_utf8(path) != path:
        raise PathRefusedError(f"{in_utf8(path)} has a name that is not UTF-8", hint="reach it with a command")
    return path


def _reads(tool_input: Mapping[str, Any], bench: Workbench) -> tuple[Act, ...]:
    return (PathAct(path=_resolved(tool_input, bench), access="read"),)


def _reads_and_writes(tool_input: Mapping[str, Any], bench: Workbench) -> tuple[Act, ...]:
    path = _resolved(tool_input, bench)
    return (PathAct(path=path, access="read"), PathAct(path=path, access="write"))


def _writes(tool_input: Mapping[str, Any], bench: Workbench) -> tuple[Act, ...]:
    return (PathAct(path=_resolved(tool_input, bench), access="write"),)


async def _read(call: ToolCall, bench: Workbench, paths: tuple[str, ...]) -> ToolResult | Deed:
    path = paths[0]
    file = bench.worktree.read(path, max_bytes=_MAX_FILE_BYTES)
    text, uri = bench.screener.mask(file.text), f"project:{path}"
    window = Window.of(call.input, whole=len(split_lines(text)))
    if isinstance(window, str):
        return refusal(f"{path}: {window}")
    given, found = await asyncio.to_thread(
        screen_output, bench, text, uri=uri, trust=bench.file_trust, digest=file.digest
    )
    shown = number_lines(given, window, again="fs_read")
    if file.lossy:
        shown += "\n[not UTF-8: � stands for bytes that are none; fs_edit and fs_write refuse this file]"
    return ToolResult(text=shown, read_digests={path: file.digest}, screened=found)


async def _edit(call: ToolCall, bench: Workbench, paths: tuple[str, ...]) -> ToolResult | Deed:
    path = paths[0]
    file = bench.worktree.read(path, max_bytes=_MAX_FILE_BYTES)
    if (stale := _unread(file, bench)) is not None:
        return stale
    # In the text as the worker saw it: a marker then stands in one place with what is around it.
    seen, old, new = bench.screener.mask(file.text), str(call.input["old_text"]), str(call.input["new_text"])
    if _has_blocked_mark(old + new, file.text):
        return _blocked_mark(path)
    edit = apply_edit(seen, old, new)
    if isinstance(edit, str):
        return refusal(f"{path}: {edit}")
    if _markers(edit.text) != _markers(seen) - _markers(old) + _markers(new):
        return refusal(f"{path}: old_text ends inside a [REDACTED:…] marker. Give the whole marker, or none of it.")
    text = bench.screener.restore(edit.text, file.text)
    if text is None:
        return _foreign_marker(path)
    return _change(bench, path, text, before=file.digest, done=f"Edited {path}: {_where(edit.window)}.")


async def _write(call: ToolCall, bench: Workbench, paths: tuple[str, ...]) -> ToolResult | Deed:
    path = paths[0]
    present = bench.worktree.digest(path)
    content, original = str(call.input["content"]), ""
    if present is not None:
        file = bench.worktree.read(path, max_bytes=_MAX_FILE_BYTES)
        if (stale := _unread(file, bench)) is not None:
            return stale
        original = file.text
    if _has_blocked_mark(content, original):
        return _blocked_mark(path)
    restored = bench.screener.restore(content, original)
    if restored is None:
        return _foreign_marker(path)
    if present is not None and restored == original:
        return refusal(f"{path} holds exactly this text already: nothing was written.")
    done = f"{'Wrote' if present else 'Created'} {path}: {len(split_lines(restored))} lines."
    return _change(bench, path, restored, before=present, done=done)


def _unread(file: FileText, bench: Workbench) -> ToolResult | None:
    """Refuse to change a file that the session has not read, or not as it is now, or cannot have read whole."""
    if sha256_bytes(file.text.encode("utf-8")) != file.digest:
        return refusal(f"{file.path} is not UTF-8: changing it as text would damage it. Change it with a command.")
    seen = last_digests(bench.records).get(file.path)
    if seen is None:
        return refusal(f"You have not read {file.path}. Read it with fs_read first, then change it.")
    if seen != file.digest:
        return refusal(
            f"{file.path} has changed since you last read it (by a command or another process). "
            "Nothing was written. Read it again with fs_read, then make your change on what is there now."
        )
    return None


def _foreign_marker(path: str) -> ToolResult:
    return refusal(
        f"{path}: nothing was written, because your text has a [REDACTED:…] marker that does not stand where this file "
        "has its secret. A marker can only go back to where it came from: behind the same name on its line, in the "
        "same order, once. Change what is around it, or remove it. Write no secret into files: read it from the "
        "environment or a file that the program is given."
    )


def _has_blocked_mark(text: str, original: str) -> bool:
    """Whether a text holds a mark of lines that were withheld, and not because the file itself has it."""
    return any(mark not in original for mark in BLOCKED.findall(text))


def _blocked_mark(path: str) -> ToolResult:
    return refusal(
        f"{path}: nothing was written, because your text has a [BLOCKED: …] mark. It stands for lines that you "
        "were not given, and would take their place. Change what is around them with fs_edit."
    )


def _markers(text: str) -> int:
    return len(MARKER.findall(text))


def _change(bench: Workbench, path: str, text: str, *, before: Digest | None, done: str) -> Deed:
    data = text.encode("utf-8")

    async def act() -> ToolResult:
        return ToolResult(text=done, written_digests={path: bench.worktree.write(path, data)})

    return Deed(act=act, before={path: before} if before else {}, after={path: sha256_bytes(data)})


def _where(window: Window) -> str:
    if window.end < window.start:
        return f"text removed at line {window.start}"
    return (
        f"line {window.start} is new" if window.start == window.end else f"lines {window.start} to {window.end} are new"
    )


FS_READ = Tool(name="fs_read", acts=_reads, prepare=_read, brings=None)
FS_EDIT = Tool(name="fs_edit", acts=_reads_and_writes, prepare=_edit)
FS_WRITE = Tool(name="fs_write", acts=_writes, prepare=_write)
