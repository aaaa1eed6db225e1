"""What a session is given: the ports and the functions that it works with, chosen by `app`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.agents.cache_watch import CacheWatch
from aircoding.errors import ProviderError
from aircoding.ports import (
    AssemblyLog,
    BlobStore,
    CallLedger,
    Clock,
    Engine,
    EventLog,
    Gatherer,
    Provider,
    Sandbox,
    Screener,
    SessionLog,
    ToolLog,
    Worktree,
)
from aircoding.records.policy import Policy
from aircoding.records.sessions import SessionBrief

__all__ = ["NextTry", "SessionDeps"]

NextTry = Callable[[ProviderError, int], float | None]
"""Given a failure and how many tries have failed (1 for the first): seconds to wait, or None to give up.

It caps what the provider asked for; the caller waits what it says.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDeps:
    """The same for all sessions of a run; what differs stands in the brief.

    `policy_for` returns the effective policy of the brief's task and role as it is now, `result_schema_for`
    the JSON Schema of a role's result, `open_worktree` the files at `brief.worktree`. `command_env` is
    exported to every command (`AIR_WORKER_INDEX` and what `[worktree] env` sets). `cache_watch` sees every call;
    without one no call is forecast and no miss is told.
    """

    provider: Provider
    engine: Engine
    clock: Clock
    screener: Screener
    gatherer: Gatherer
    sandbox: Sandbox
    assemblies: AssemblyLog
    sessions: SessionLog
    ledger: CallLedger
    tool_log: ToolLog
    events: EventLog
    blobs: BlobStore
    open_worktree: Callable[[str], Worktree]
    policy_for: Callable[[SessionBrief], Policy]
    result_schema_for: Callable[[str], Mapping[str, Any]]
    next_try: NextTry
    command_env: tuple[tuple[str, str], ...] = ()
    cache_watch: CacheWatch | None = None
