"""What tools are given and what they give back; no tool acts on its own, the runner does."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.agents.touched import last_digests
from aircoding.errors import WorkspaceError
from aircoding.ports import BlobStore, Memories, Sandbox, Screener, SkillShelf, Worktree
from aircoding.records.calls import ToolCall, ToolRecord, ToolResult
from aircoding.records.ids import Digest
from aircoding.records.layers import Trust
from aircoding.records.manifest import SegmentRecord
from aircoding.records.policy import Act, Policy
from aircoding.records.sessions import SessionBrief

__all__ = ["Deed", "Tool", "Workbench", "digest_or_gone", "in_utf8", "known_digests", "refusal"]

_LINES = re.compile(r":[\d-]+$")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """All that one tool call may use. `records` are the session's tool calls before it, in order.

    `prompt` is what stands in the request that the call answers, `file_trust` the trust of the project's files.
    """

    brief: SessionBrief
    worktree: Worktree
    policy: Policy
    sandbox: Sandbox
    blobs: BlobStore
    screener: Screener
    records: tuple[ToolRecord, ...]
    result_schema: Mapping[str, Any]
    skills: Callable[[], SkillShelf]
    file_trust: Trust
    prompt: tuple[SegmentRecord, ...] = ()
    command_env: tuple[tuple[str, str], ...] = ()
    memories: Memories | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A change that is about to be made.

    `before` and `after` are the digests of its files (a path without a digest is not there); a deed
    whose effects cannot be told beforehand, a command, has neither.
    """

    act: Callable[[], Awaitable[ToolResult]]
    before: Mapping[str, Digest] = field(default_factory=dict)
    after: Mapping[str, Digest] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    `acts` resolves what the call would do, for the engine to judge, and touches nothing; that of a plugin's tool is
    awaited. `prepare` is called after
    permission, with exactly the paths that were judged: a link that was swapped meanwhile leads nowhere else. It
    returns the result of a call that only reads, or the deed of one that changes something. `standing` returns the
    present digest of what an intent names, for a tool whose deeds are not about files of the worktree. `brings` is the
    trust of the text that it returns, for the screener; None: it has screened that itself, by its source.
    """

    name: str
    acts: Callable[[Mapping[str, Any], Workbench], tuple[Act, ...] | Awaitable[tuple[Act, ...]]]
    prepare: Callable[[ToolCall, Workbench, tuple[str, ...]], Awaitable[ToolResult | Deed]]
    standing: Callable[[Workbench, str], Digest | None] | None = None
    brings: Trust | None = Trust.EXTERNAL


def refusal(text: str) -> ToolResult:
    """Return an error result: what is wrong and what to do next."""
    return ToolResult(text=text, is_error=True)


def in_utf8(text: str) -> str:
    """Return a text that UTF-8 can hold: half characters, as in file names of other encodings, become U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def known_digests(bench: Workbench) -> dict[str, Digest]:
    """Return the present digest of each file that the session was shown, has read or has written; empty: gone."""
    shown = (_LINES.sub("", read) for read in bench.brief.task.reads)
    return {path: digest_or_gone(bench.worktree, path) for path in sorted({*shown, *last_digests(bench.records)})}


def digest_or_gone(worktree: Worktree, path: str) -> Digest:
    """Return the digest of a file; empty for what is gone, or no file that can be read."""
    try:
        return worktree.digest(path) or Digest("")
    except WorkspaceError:
        return Digest("")
