"""What stands in for the world in tests of the agents: a frozen clock, a scripted model, an engine in memory.

Files, commands, permissions and screening are the real ones.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.contexts import TASK, snapshot

from aircoding.context.freezing import frozen_from
from aircoding.errors import ProviderError
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.hooks import Contribution
from aircoding.records.ids import SessionId
from aircoding.records.layers import Mode
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Policy
from aircoding.records.sessions import SessionBrief, SteeringEntry
from aircoding.records.snapshot import Message, ModelLimits, Snapshot, ToolSpec
from aircoding.records.usage import Cost, Usage
from aircoding.screening.screener import TextScreener
from aircoding.sources.contributions import contributed_segments
from aircoding.sources.role_text import steering_segments
from aircoding.sources.segments import Intake

SECRET = "sk-test-0123456789abcdef"
SCREENER = TextScreener(key=b"a test's own key", known_values=(SECRET,))
MARKED_SECRET = SCREENER.mask(SECRET)
SESSION = SessionId("r1:T1:1:executor:1")


class SteppingClock:
    """One second later at each look; sleeping is written down and takes no time."""

    def __init__(self) -> None:
        self.seconds = 0
        self.slept: list[float] = []

    def now(self) -> str:
        self.seconds += 1
        return f"2026-11-30T12:{self.seconds // 60:02}:{self.seconds % 60:02}Z"

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


class MemoryEngine:
    """Steps as a durable engine keeps them: JSON, by order; a replay that asks for another step is an error."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, str]] = []
        self._position = 0

    def restart(self) -> None:
        """Begin again, as a new process does."""
        self._position = 0

    async def step(self, name: str, body: Callable[[], Awaitable[Any]]) -> Any:
        if self._position < len(self.recorded):
            recorded_name, result = self.recorded[self._position]
            assert recorded_name == name, f"step {self._position} was {recorded_name}, now it is {name}"
        else:
            result = json.dumps(await body())
            assert len(result) < 1_000, "a step result holds ids and digests, no bodies"
            self.recorded.append((name, result))
        self._position += 1
        return json.loads(result)

    async def start(self, workflow: str, key: str, *arguments: str) -> None:
        raise NotImplementedError

    async def result(self, key: str) -> Any:
        raise NotImplementedError

    async def first(self, keys: Iterable[str]) -> str:
        raise NotImplementedError

    async def cancel(self, key: str) -> None:
        raise NotImplementedError


Move = Reply | ProviderError | BaseException
"""What the model does when it is called."""


@dataclass
class ScriptedModel:
    """Answers turn N with its N-th reply; failures of a turn come first, one a try."""

    replies: Sequence[Reply]
    failures: dict[int, list[BaseException]] = field(default_factory=dict)
    usd: float | None = 0.25
    calls: list[CallRequest] = field(default_factory=list)

    def limits(self, model: str) -> ModelLimits:
        return ModelLimits(model=model, window_tokens=200_000, max_output_tokens=8_000)

    def cost(self, model: str, usage: Usage) -> Cost:
        return Cost(usd=self.usd, price_source="test")

    async def call(self, call: CallRequest, *, began: Callable[[], None] | None = None) -> Reply:
        self.calls.append(call)
        await asyncio.sleep(0)
        pending = self.failures.get(call.assistant_turns + 1)
        if pending:
            raise pending.pop(0)
        return self.replies[call.assistant_turns]


@dataclass
class PlainGatherer:
    """Gives the standing segments and the recorded conversation."""

    policy: Policy
    tools: tuple[ToolSpec, ...]
    limits: ModelLimits

    def freeze_run(self) -> str:
        return "rev1"

    def gather(
        self,
        brief: SessionBrief,
        *,
        turn: int,
        messages: Sequence[Message],
        frozen: AssembledContext | None,
        epoch: int = 1,
        steering: Sequence[SteeringEntry] = (),
        contributed: Sequence[Contribution] = (),
    ) -> Snapshot:
        return snapshot(
            *steering_segments(steering, intake=Intake(SCREENER)),
            *contributed_segments(contributed, intake=Intake(SCREENER)),
            turn=turn,
            epoch=epoch,
            run_revision=brief.run_revision,
            messages=messages,
            frozen=None if frozen is None else frozen_from(frozen),
            tools=self.tools,
            policy=self.policy,
            limits=self.limits,
        )


def brief(
    *, role: str = "executor", worktree: str = "/nowhere", base_commit: str = "HEAD", **more: Any
) -> SessionBrief:
    """Return the brief of the test session."""
    return SessionBrief(
        session_id=SessionId(f"r1:T1:1:{role}:1"),
        role=role,
        model="test-model",
        mode=Mode.FULL,
        task=TASK,
        worktree=worktree,
        base_commit=base_commit,
        run_revision="rev1",
        instruction="Do it.",
        **more,
    )


def says(*content: dict[str, Any], stop_reason: str = "tool_use") -> Reply:
    """Return a reply."""
    usage = Usage(input_tokens=100, output_tokens=10)
    return Reply(content=content, stop_reason=stop_reason, usage=usage, model="test-model")


def uses(name: str, identity: str | None = None, **given: Any) -> dict[str, Any]:
    """Return a tool_use block; its id is made of its words."""
    made = re.sub(r"\W+", "_", f"{name}_{sorted(given.items())}")[:40]
    return {"type": "tool_use", "id": identity or made, "name": name, "input": given}
