"""A session on a real git repository, with everything it needs."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from agents.doubles import SCREENER, SESSION, MemoryEngine, PlainGatherer, ScriptedModel, SteppingClock, brief
from support.contexts import snapshot

from aircoding.agents.deps import SessionDeps
from aircoding.agents.tools.runner import recorded_result, run_tool
from aircoding.context.assembler import assemble
from aircoding.ports import Sandbox
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.digests import sha256_text
from aircoding.records.ids import RunId, tool_key
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Effect, Policy, PolicyLevel, PolicyRule, PolicySubject
from aircoding.records.runs import Run
from aircoding.records.sessions import SessionBrief
from aircoding.records.snapshot import ModelLimits, ToolSpec
from aircoding.sources.role_text import reminders
from aircoding.sources.skill_files import read_skills
from aircoding.sources.skill_shelf import FileShelf
from aircoding.store import Store, open_store
from aircoding.workspace.sandbox import choose_sandbox
from aircoding.workspace.worktree import GitWorktree

TOOLS = Path(__file__).parents[2] / "resources" / "tools"

RESULT_SCHEMA = {
    "type": "object",
    "required": ["status", "summary"],
    "properties": {"status": {"enum": ["done", "blocked", "failed"]}, "summary": {"type": "string"}},
    "additionalProperties": False,
}


def tool_specs() -> tuple[ToolSpec, ...]:
    """Return the packaged tool specs, as a gatherer gives them to an executor."""
    specs = [ToolSpec(**yaml.safe_load(path.read_text("utf-8"))) for path in sorted(TOOLS.glob("*.yaml"))]
    return tuple(replace(spec, input_schema=RESULT_SCHEMA) if spec.name == "finish" else spec for spec in specs)


def rule(subject: PolicySubject, effect: Effect, pattern: str, line: int) -> PolicyRule:
    return PolicyRule(
        subject=subject,
        effect=effect,
        pattern=pattern,
        level=PolicyLevel.PROJECT,
        uri="project:.air/shared/permissions.yaml",
        line=line,
    )


POLICY = Policy(
    rules=(
        rule(PolicySubject.READ, Effect.DENY, "*.pem", 5),
        rule(PolicySubject.WRITE, Effect.DENY, "src/generated/**", 6),
        *(
            rule(PolicySubject.COMMAND, Effect.ALLOW, f"{program} *", 7)
            for program in ("echo", "cat", "python3", "sleep", "touch", "sh", "false", "cp")
        ),
        rule(PolicySubject.COMMAND, Effect.ANNOUNCE, "seq *", 8),
        rule(PolicySubject.COMMAND, Effect.DENY, "curl *", 9),
    ),
    digest=sha256_text("agents test policy"),
    write_area=("src/**",),
    tools=tuple(spec.name for spec in tool_specs()),
)


RUN = Run(
    run_id=RunId("r1"),
    goal="Ten",
    status="running",
    created_at="2026-11-30T12:00:00Z",
    project_root="/nowhere",
    base_commit="0" * 40,
    target_branch="main",
    integration_branch="air/r1/integration",
    provider="scripted:test",
    model="test-model",
    concurrency=1,
    plan_digest=sha256_text("plan"),
    run_revision="rev1",
)


@dataclass
class Session:
    """A session's deps with their parts in reach, on the repository at `root`."""

    deps: SessionDeps
    brief: SessionBrief
    root: Path
    store: Store
    turn: int = 0

    @property
    def tries(self) -> list[tuple[str, bool]]:
        """State and `maybe_billed` of each try on the ledger, in order."""
        with sqlite3.connect(self.store.where) as database:
            found = database.execute("SELECT state, maybe_billed FROM model_calls ORDER BY call_key, tries").fetchall()
        database.close()
        return [(state, bool(billed)) for state, billed in found]

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        return [(event.type, dict(event.payload)) for event in self.deps.events.read("r1")]

    def write(self, path: str, data: str | bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8")

    def call(self, name: str, /, **given: Any) -> ToolCall:
        """Return the next tool call of the session."""
        self.turn += 1
        key = tool_key(SESSION, self.turn, 0)
        return ToolCall(
            key=key, session_id=SESSION, turn=self.turn, index=0, tool_use_id=f"t{self.turn}", name=name, input=given
        )

    async def run(self, call: ToolCall) -> ToolResult:
        """Put a call through the gate."""
        await run_tool(self.deps, self.brief, shown_tools(), call)
        return recorded_result(self.deps, call)

    async def use(self, name: str, /, **given: Any) -> ToolResult:
        return await self.run(self.call(name, **given))

    def under(self, **changes: Any) -> None:
        """Change the policy."""
        policy = replace(self.deps.policy_for(self.brief), **changes)
        self.deps = replace(self.deps, policy_for=lambda _brief: policy)


def shown_tools() -> AssembledContext:
    """Return an assembly with all tools."""
    context = assemble(snapshot(tools=tool_specs()))
    assert isinstance(context, AssembledContext)
    return context


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    (root / "README.md").write_text("Two numbers.\n")
    (root / "key.pem").write_text("two secrets\n")
    (root / ".gitignore").write_text("*.log\n")
    for arguments in (
        ("init", "-q"),
        ("config", "user.email", "a@example.invalid"),
        ("config", "user.name", "a"),
        ("add", "-A"),
        ("commit", "-q", "-m", "First"),
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return root


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """What confines commands on this machine: bubblewrap where it works."""
    return choose_sandbox("auto")


@pytest.fixture
def make_session(repository: Path, sandbox: Sandbox, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Makes the test session, each time on a record of its own; `replies` are what the model says turn by turn."""
    opened: list[Store] = []

    def make(
        replies: Sequence[Any] = (),
        *,
        usd: float | None = 0.25,
        window: int = 200_000,
        system_turns: bool = False,
        **more: Any,
    ) -> Session:
        store = open_store(tmp_path / f"{len(opened)}.db")
        opened.append(store)
        told = brief(worktree=str(repository), **more)
        store.runs.create(RUN)
        store.claim(RUN.run_id)
        store.sessions.open(told)
        limits = ModelLimits(
            model="test-model",
            window_tokens=window,
            max_output_tokens=1_000,
            min_cache_prefix_tokens=0,
            system_turns=system_turns,
        )
        deps = SessionDeps(
            provider=ScriptedModel(tuple(replies), usd=usd),
            engine=MemoryEngine(),
            clock=SteppingClock(),
            screener=SCREENER,
            gatherer=PlainGatherer(POLICY, tool_specs(), limits),
            sandbox=sandbox,
            assemblies=store.assemblies,
            sessions=store.sessions,
            ledger=store.calls,
            tool_log=store.tools,
            events=store.events,
            blobs=store.texts,
            open_worktree=GitWorktree,
            policy_for=lambda _brief: POLICY,
            result_schema_for=lambda _role: RESULT_SCHEMA,
            next_try=lambda error, failed: None if error.action == "stop" or failed > 2 else float(failed),
            reminders=reminders(),
            skills=lambda: FileShelf(lambda: read_skills(repository, tmp_path / "home", trusted=True)),
            is_trusted=lambda: True,
            command_env=(("AIR_WORKER_INDEX", "7"),),
        )
        return Session(deps=deps, brief=told, root=repository, store=store)

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    """The test session, for single tool calls."""
    return make_session()
