"""The sessions of the generated fleet: who worked on what, what they were told, and what they did in each turn."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.fleet_project import PACKAGES, modules_of
from bench.fleet_words import Words

from aircoding.context.conversation import append_message
from aircoding.context.fitting import window_overflow
from aircoding.context.layout import Layout
from aircoding.context.manifest import seal
from aircoding.context.marks import Request, without_marks
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest, RunId, SessionId, TaskId, session_id
from aircoding.records.layers import Layer, Mode, SegmentKind
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.sessions import Evidence, SessionBrief
from aircoding.records.snapshot import Message, Snapshot
from aircoding.records.tasks import TaskSpec
from aircoding.records.work import FileText

__all__ = ["MODEL", "FilesInMemory", "Plotted", "appended", "conversation", "plotted_sessions", "with_marker"]

MODEL = "claude-sonnet-5-5"


class FilesInMemory:
    """A worktree (`ports.Worktree`, its reading half) that stands on no disk: files as a run found them."""

    root = "/worktree"

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._digests: dict[str, Digest] = {}

    def resolve(self, path: str) -> str:
        return path

    def read(self, path: str, *, max_bytes: int | None = None) -> FileText:
        text = self._files[path]
        digest = self.digest(path)
        assert digest is not None
        return FileText(path=path, text=text, digest=digest, size_bytes=len(text.encode()))

    def digest(self, path: str) -> Digest | None:
        if path not in self._digests and path in self._files:
            self._digests[path] = sha256_text(self._files[path])
        return self._digests.get(path)

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plotted:
    """A session before it happens: its brief, how many turns it takes, and the model's window."""

    brief: SessionBrief
    turns: int
    window_tokens: int


def plotted_sessions(run_id: str, revision: str, words: Words, chance: random.Random) -> Iterator[Plotted]:
    """Return some ten sessions: an executor and a reviewer for each of four tasks, a debugger, the coordinator."""
    packages = chance.sample(PACKAGES, 4)
    for number, package in enumerate(packages, 1):
        task = _task(f"T{number}", package, words, chance)
        for role in ("executor", "debugger", "reviewer") if number == 1 else ("executor", "reviewer"):
            brief = _brief(run_id, role, task, revision, _evidence(role, words, chance))
            narrow = chance.random() < 0.15
            yield Plotted(brief=brief, turns=chance.randint(7, 13), window_tokens=40_000 if narrow else 200_000)
    plan = TaskSpec(id=TaskId("P"), title="Lead the run", description=words.prose(chance, 48))
    yield Plotted(brief=_brief(run_id, "main", plan, revision, ()), turns=chance.randint(7, 13), window_tokens=200_000)


def _task(name: str, package: str, words: Words, chance: random.Random) -> TaskSpec:
    own = modules_of(package)
    other = modules_of(chance.choice(PACKAGES))
    return TaskSpec(
        id=TaskId(name),
        title=" ".join(words.some(chance, 6)),
        description=words.prose(chance, 90),
        write_area=(f"src/{package}/**",),
        reads=(*chance.sample(own, 3), *chance.sample(other, 2)),
        acceptance=tuple(words.prose(chance, 14) for _ in range(3)),
        verify=(f"pytest tests/{package}",),
        tags=("security",) if chance.random() < 0.2 else (),
    )


def _brief(run_id: str, role: str, task: TaskSpec, revision: str, evidence: tuple[Evidence, ...]) -> SessionBrief:
    return SessionBrief(
        session_id=session_id(RunId(run_id), task.id, 1, role, 1),
        role=role,
        model=MODEL,
        mode=Mode.FULL,
        task=task,
        worktree="/worktree",
        base_commit="0" * 40,
        run_revision=revision,
        instruction="",
        evidence=evidence,
    )


def _evidence(role: str, words: Words, chance: random.Random) -> tuple[Evidence, ...]:
    if role == "reviewer":
        text = "".join(f"+{line}\n" for line in words.code(chance, 60).split("\n"))
        return (Evidence(uri="air:diff", layer=Layer.L6, kind=SegmentKind.ARTIFACT, title="The change", text=text),)
    if role == "debugger":
        text = words.code(chance, 40) + "E   AssertionError\n"
        return (Evidence(uri="air:failure", layer=Layer.L8, kind=SegmentKind.FAILURE, title="The failure", text=text),)
    return ()


def conversation(plotted: Plotted, words: Words, chance: random.Random) -> Iterator[tuple[tuple[Message, ...], str]]:
    """Return what each turn but the last adds: the model's message with the results, and the path that it touched."""
    session, task = plotted.brief.session_id, plotted.brief.task
    own = modules_of(task.write_area[0].split("/")[1]) if task.write_area else modules_of("orders")
    for turn in range(1, plotted.turns):
        far = chance.random() < 0.08
        path = chance.choice(modules_of(chance.choice(PACKAGES)) if far else own)
        name = chance.choice(("fs_read", "fs_read", "shell", "fs_edit"))
        said = {"type": "text", "text": words.prose(chance, 40)}
        use = {
            "type": "tool_use",
            "id": f"toolu_01{chance.getrandbits(100):025x}",
            "name": name,
            "input": _input(name, path, words, chance),
        }
        shown = _log(path, words, chance) if name == "shell" else words.code(chance, 24 if name == "fs_edit" else 130)
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": [{"type": "text", "text": shown}]}
        yield (
            (
                _message(session, 2 * turn - 2, "assistant", said, use),
                _message(session, 2 * turn - 1, "user", result),
            ),
            path if name != "shell" else "",
        )


def _log(path: str, words: Words, chance: random.Random) -> str:
    """Return what running tests prints: a line for each test, and one failure with its place."""
    names = words.some(chance, 80)
    lines = [f"tests/{path[4:]}::test_{one} PASSED [{number * 100 // 80:3}%]" for number, one in enumerate(names)]
    return "\n".join([*lines, "FAILED", words.code(chance, 12), f"{path}:{chance.randint(9, 130)}: AssertionError"])


def _input(name: str, path: str, words: Words, chance: random.Random) -> dict[str, Any]:
    if name == "fs_edit":
        return {"path": path, "old": words.code(chance, 6), "new": words.code(chance, 8)}
    return {"command": f"pytest {path}"} if name == "shell" else {"path": path}


def _message(session: SessionId, index: int, role: str, *content: dict[str, Any]) -> Message:
    return Message(index=index, role=role, content=content, uri=f"air:session/{session}/message/{index}")


def with_marker(message: Message, sentence: str) -> Message:
    """Return a message of results that holds a sentence besides."""
    block = dict(message.content[0])
    block["content"] = [{"type": "text", "text": block["content"][0]["text"] + sentence + "\n"}]
    return replace(message, content=(block,))


def appended(snapshot: Snapshot) -> AssembledContext | Overflow:
    """Return what `assemble` gives for a turn that brings nothing but messages, without a look at the candidates.

    Nine turns of ten are such; the stages would look at every rule again, only to leave all as it was.
    """
    frozen = snapshot.frozen
    assert frozen is not None
    before, sent = frozen.context, frozen.context.manifest
    request = Request(without_marks(before.tools), without_marks(before.system), without_marks(before.messages))
    layout = Layout(list(sent.segments), list(sent.layout))
    for message in snapshot.messages[frozen.message_count :]:
        append_message(request.messages, message, layout, snapshot.estimator)
    if (overflow := window_overflow(snapshot, layout.segments)) is not None:
        return overflow
    ends = [mark.mark for mark in sent.cache if mark.mark.startswith(("/system/", "/messages/0/"))]
    return seal(snapshot, request, layout, ends, outcomes=sent.outcomes, conflicts=sent.conflicts)
