"""Model calls and tool calls as they cross between loop, provider, tools and store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.records.ids import CallKey, Digest, ManifestId, SessionId, ToolKey
from aircoding.records.policy import Decision, Effect
from aircoding.records.segments import Finding
from aircoding.records.usage import Cost, Usage

__all__ = ["SIMULATED_REQUESTS", "CallRecord", "CallRequest", "Reply", "Screened", "ToolCall", "ToolHead"]
__all__ += ["ToolRecord", "ToolResult"]

SIMULATED_REQUESTS = ("scripted:", "req_emulator_")
"""How `Reply.request_id` begins where no provider answered: tokens and money of such a call are simulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """One try at one model call. `assistant_turns` and `tries` let a scripted model find its place."""

    key: CallKey
    session_id: SessionId
    model: str
    request: Mapping[str, Any]
    max_output_tokens: int
    assistant_turns: int
    tries: int
    """How often this call was begun before (0 for the first try)."""
    timeout_seconds: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A complete answer: canonical blocks, a stop reason that is never empty, usage."""

    content: tuple[Mapping[str, Any], ...]
    stop_reason: str
    usage: Usage
    model: str
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A row of the ledger. `state` is intended, committed, failed, or abandoned (in flight at a crash)."""

    key: CallKey
    tries: int
    session_id: SessionId
    manifest_id: ManifestId
    model: str
    state: str
    started_at: str
    finished_at: str | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    stop_reason: str | None = None
    error: str | None = None
    maybe_billed: bool = False
    reply_digest: Digest | None = None
    reply_model: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call that the model made."""

    key: ToolKey
    session_id: SessionId
    turn: int
    index: int
    tool_use_id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What was found in the output of a tool.

    `source_uri` names the file or the tool that it comes from; lines and bytes of the findings count in its text.
    `original` is the digest of that text, secrets masked, where lines of it were withheld.
    """

    source_uri: str
    findings: tuple[Finding, ...]
    original: Digest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What goes back to the model, and what else happened.

    `text` is what the model sees; `artifact` the digest of the whole output where it was cut.
    `read_digests` and `written_digests` map project paths to the digest that was read or is there now.
    `changed_digests` are those of files that the session knew and that a command of its changed: the model has not
    seen what is there now. An empty digest: the file is gone.
    `tree_digest` says what a command left: a digest over all that differs from the attempt's base; None where it was
    not taken.
    `finished` holds the validated result when the tool was `finish`. `interrupted` says that a crash
    came between intent and result and nobody can tell what the call did (the record's state is `unknown`).
    `screened` is there where something suspicious was found in what the call brought.
    """

    text: str
    is_error: bool = False
    artifact: Digest | None = None
    read_digests: Mapping[str, Digest] = field(default_factory=dict)
    written_digests: Mapping[str, Digest] = field(default_factory=dict)
    changed_digests: Mapping[str, Digest] = field(default_factory=dict)
    tree_digest: Digest | None = None
    finished: Mapping[str, Any] | None = None
    interrupted: bool = False
    screened: Screened | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRecord:
    """A row of `tool_runs`. `state` is intended, committed, or unknown (interrupted, effects unknown)."""

    call: ToolCall
    state: str
    decision: Decision | None
    before_digests: Mapping[str, Digest] = field(default_factory=dict)
    after_digests: Mapping[str, Digest] = field(default_factory=dict)
    result: ToolResult | None = None
    started_at: str = ""
    finished_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHead:
    """A tool call without its input and its result; `effect` is what the policy said of it, None: it was not asked."""

    key: ToolKey
    session_id: SessionId
    turn: int
    index: int
    tool_use_id: str
    name: str
    state: str
    effect: Effect | None
    is_error: bool | None
    started_at: str
    finished_at: str | None
