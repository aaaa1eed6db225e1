"""A fleet of workers on the emulator, for measurements of the prompt cache: real product, real SDK, scripted model.

Worktrees, store, assembler, loop, tools and the SDK are the product's own; only the model's answers are scripted, and
its usage is simulated.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx2
from fleet.worlds import RUN, Fleet, done, make_fleet, script

from aircoding.agents.prefix_gate import PrefixGate
from aircoding.emulator.server import Emulator
from aircoding.fleet.drive import drive, workflows
from aircoding.fleet.engine import DirectEngine
from aircoding.ports import Provider
from aircoding.providers.anthropic_messages import AnthropicProvider
from aircoding.providers.prices import cost_of
from aircoding.providers.script import parse_script
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.digests import fingerprint
from aircoding.records.ids import SessionId, call_key
from aircoding.records.usage import Usage
from support.cache_bound import Bound, Prices, blocks_of, bound
from support.provider_calls import capabilities

MODEL = "claude-sonnet-5-5"
MODULES = 6
_SECONDS_TO_FIRST_BYTE = 0.05
"""How long the model takes to begin: long enough that workers who do not wait are under way by then."""

Sent = tuple[SessionId, Mapping[str, Any]]
"""One request as it went over the wire: whose, and its body."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a fleet used, beside the best that its contents allow. All of it simulated."""

    name: str
    usage: Usage
    limit: Bound
    cost_usd: float

    @property
    def share(self) -> float:
        """Tokens that were read from the cache, as a share of all tokens of the prompts."""
        return self.usage.cache_read_tokens / self.usage.prompt_tokens

    @property
    def reads_of_bound(self) -> float:
        return self.usage.cache_read_tokens / self.limit.most_read_tokens

    @property
    def cost_of_bound(self) -> float:
        return self.cost_usd / self.limit.least_cost

    def line(self) -> str:
        return (
            f"{self.name} (simulated): {self.usage.prompt_tokens} prompt tokens, {self.share:.2%} read from the cache,"
            f" {self.reads_of_bound:.2%} of the best possible reads; prompts cost ${self.cost_usd:.4f},"
            f" {self.cost_of_bound:.3f} times the least possible"
        )


class Gated:
    """A provider behind the product's gate, for requests that are sent again without its loop."""

    def __init__(self, inner: Any) -> None:
        self._inner, self._gate = inner, PrefixGate(time.monotonic)

    async def call(self, call: CallRequest) -> Reply:
        key = (call.model, fingerprint(_plain([*call.request["tools"], *call.request["system"]])))
        async with self._gate.passing(key) as passage:
            reply: Reply = await self._inner.call(call, began=passage.began)
            return reply


def _plain(blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks]


def fleet_files() -> dict[str, str]:
    """A project with rules and modules of the size of a small real one."""
    rules = [
        f"- Rule {n}: name things for what they are, keep modules small, and test behaviour {n}." for n in range(150)
    ]
    files = {"AGENTS.md": "# Rules\n\n" + "\n".join(rules) + "\n"}
    for number in range(MODULES):
        lines = [f"def value_{number}_{n}(x: int) -> int:\n    return x * {n} + {number}\n" for n in range(60)]
        files[f"src/module_{number}.py"] = "\n".join(lines)
    return files


def worker_turns(number: int, turns: int) -> list[dict[str, Any]]:
    """What one worker does: reads in parallel, then reads, writes and edits its own files, then it is done."""
    first = {
        "text": f"I look at what module {number} stands on before I change anything.",
        "tools": [
            {"name": "fs_read", "input": {"path": f"src/module_{(number + step) % MODULES}.py"}} for step in range(3)
        ],
    }
    own = f"out/w{number}/note.txt"
    made: list[dict[str, Any]] = [first]
    for turn in range(2, turns):
        if turn == 2:
            use = {"name": "fs_write", "input": {"path": own, "content": f"turn 2 of {number}\n"}}
        elif turn % 2:
            low = 1 + 5 * turn
            path = f"src/module_{(number + turn) % MODULES}.py"
            use = {"name": "fs_read", "input": {"path": path, "start_line": low, "end_line": low + 60}}
        else:
            old = f"turn {2 if turn == 4 else turn - 2} of {number}\n"
            new = f"turn {turn} of {number}\n"
            use = {"name": "fs_edit", "input": {"path": own, "old": old, "new": new}}
        made.append({"text": f"Step {turn} of worker {number}: on with the next part.", "tools": [use]})
    made.append(done())
    return [{**turn, "delay_seconds": _SECONDS_TO_FIRST_BYTE} for turn in made]


@contextmanager
def built_fleet(root: Path, *, workers: int, turns: int) -> Iterator[Fleet]:
    """Make the project, its plan and its run."""
    tasks = [
        {"id": f"W{n}", "title": f"Note on module {n}", "write_area": [f"out/w{n}/**"], "description": f"Part {n}."}
        for n in range(workers)
    ]
    scripts = [script("executor", f"W{n}", *worker_turns(n, turns)) for n in range(workers)]
    fleet = make_fleet(root, tasks, scripts, files=fleet_files(), concurrency=workers, model=MODEL)
    try:
        yield fleet
    finally:
        fleet.store.close()


def emulated(script_text: str) -> tuple[Emulator, AnthropicProvider]:
    """Return an emulator in this process and the provider that calls it through the SDK."""
    emulator = Emulator(parse_script(script_text, uri="project:script.yaml"), capabilities())
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://localhost"}
    transport = httpx2.ASGITransport(app=emulator.app)
    return emulator, AnthropicProvider(capabilities(), environ=environ, transport=transport)


async def run_fleet(fleet: Fleet) -> tuple[list[Sent], Usage]:
    """Drive the fleet on an emulator; return what it sent, in order, and what that used."""
    emulator, provider = emulated((fleet.root / "script.yaml").read_text("utf-8"))
    deps, engine = fleet.deps(), DirectEngine()
    session = replace(deps.session, engine=engine, provider=provider)
    deps = replace(deps, engine=engine, session=session)
    engine.use(workflows(deps))
    status = await drive(deps, stop=asyncio.Event())
    await provider.aclose()
    assert status == "done", [event.payload for event in fleet.events("attempt.finished")]
    return sent_to(emulator), sum((call.usage for call in fleet.store.queries.calls(run_id=RUN) if call.usage), Usage())


def sent_to(emulator: Emulator) -> list[Sent]:
    """Return the requests that an emulator got, in order."""
    return [
        (SessionId(unquote(one.headers["x-air-session"])), one.json)
        for one in emulator.recorder.requests
        if one.path == "/v1/messages"
    ]


def naive(sent: Sequence[Sent]) -> list[Sent]:
    """The same contents as a naive harness lays them out: each session's system prompt begins with the time at which it
    started and the path of its worktree; marks at the end of the system prompt and on the newest block.
    """
    sessions = list(dict.fromkeys(session for session, _ in sent))
    laid: list[Sent] = []
    for session, body in sent:
        number = sessions.index(session)
        head = f"Current time: 2026-11-30T12:00:{number:02}Z\nWorking directory: /work/trees/{session}\n\n"
        system = _plain(body["system"])
        system[0] = {**system[0], "text": head + system[0]["text"]}
        system[-1] = {**system[-1], "cache_control": {"type": "ephemeral"}}
        messages = [{**message, "content": _plain(message["content"])} for message in body["messages"]]
        messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        laid.append((session, {"tools": _plain(body["tools"]), "system": system, "messages": messages}))
    return laid


async def send_all(provider: Provider, sent: Sequence[Sent]) -> Usage:
    """Send requests as sessions that run side by side, each its own in order; nobody waits for a leader."""
    by_session: dict[SessionId, list[Mapping[str, Any]]] = {}
    for session, body in sent:
        by_session.setdefault(session, []).append(body)

    async def one(session: SessionId, bodies: Sequence[Mapping[str, Any]]) -> Usage:
        total = Usage()
        for turn, body in enumerate(bodies):
            total += (await provider.call(call_of(session, turn, body))).usage
        return total

    return sum(await asyncio.gather(*(one(session, bodies) for session, bodies in by_session.items())), Usage())


def call_of(session: SessionId, turn: int, body: Mapping[str, Any], *, max_output_tokens: int = 1_000) -> CallRequest:
    """Return the call of a request that was sent before."""
    return CallRequest(
        key=call_key(session, turn + 1),
        session_id=session,
        model=MODEL,
        request={part: body[part] for part in ("tools", "system", "messages")},
        max_output_tokens=max_output_tokens,
        assistant_turns=turn,
        tries=0,
    )


def prices() -> Prices:
    """Return what a token of a prompt of usual length costs, by the prices that the product uses."""

    def usd(**usage: int) -> float:
        cost = cost_of(MODEL, Usage(**usage)).usd
        assert cost is not None
        return cost / 10_000

    return Prices(
        read=usd(cache_read_tokens=10_000),
        write=usd(cache_write_5m_tokens=10_000),
        plain=usd(input_tokens=10_000),
    )


def measured(name: str, usage: Usage, sent: Sequence[Sent]) -> Measured:
    """Put what was used beside the bound for `sent`; the output is left out on both sides."""
    unit = prices()
    assert usage.cache_write_1h_tokens == 0
    cost = (
        usage.cache_read_tokens * unit.read + usage.cache_write_5m_tokens * unit.write + usage.input_tokens * unit.plain
    )
    limit = bound([blocks_of(body) for _, body in sent], unit)
    return Measured(name=name, usage=usage, limit=limit, cost_usd=cost)
