"""What a session is given: the ports and the functions that it works with, chosen by `app`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.agents.cache_watch import CacheWatch
from aircoding.agents.hooks import HookDispatcher
from aircoding.agents.prefix_gate import PrefixGate
from aircoding.agents.run_budget import RunBudget
from aircoding.agents.tools.workbench import Tool
from aircoding.errors import ProviderError
from aircoding.ports import (
    AssemblyLog,
    BlobStore,
    CallLedger,
    Clock,
    Engine,
    EventLog,
    Gatherer,
    Memories,
    Provider,
    Sandbox,
    Screener,
    SessionLog,
    SkillShelf,
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


def _as_briefed(brief: SessionBrief) -> str:
    return brief.run_revision


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDeps:
    """The same for all sessions of a run; what differs stands in the brief.

    `policy_for` returns the effective policy of the brief's task and role as it is now, `result_schema_for`
    the JSON Schema of a role's result, `open_worktree` the files at `brief.worktree`. `reminders` are the packaged
    texts of steering by uri, `skills` opens the skills that can be read now. `revision_for` returns the run revision
    that holds now (`reload` makes a new one).
    `command_env` is exported to every command (`AIR_WORKER_INDEX` and what `[worktree] env` sets). `budget` is the
    money of the run, `gate` lets one call per shared prefix go first, `cache_watch` forecasts what each call reads
    from the cache and tells of a miss; without them nothing is held back and nothing is forecast. `hooks` asks plugins
    and project hooks, `plugin_tools` are the tools that plugins bring, by name. `memories` are the stores that roles
    with the memory tool write; without them it refuses. `is_trusted` says whether the user trusts the project: if not,
    its files are the words of a stranger.
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
    reminders: Mapping[str, str]
    skills: Callable[[], SkillShelf]
    is_trusted: Callable[[], bool]
    revision_for: Callable[[SessionBrief], str] = _as_briefed
    command_env: tuple[tuple[str, str], ...] = ()
    budget: RunBudget | None = None
    gate: PrefixGate | None = None
    cache_watch: CacheWatch | None = None
    hooks: HookDispatcher | None = None
    plugin_tools: Mapping[str, Tool] = field(default_factory=dict)
    memories: Memories | None = None
