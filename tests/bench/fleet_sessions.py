"""The sessions of the generated fleet: who worked on what, what they were told, and what they did in each turn.

A run has some hundred assemblies in few, long sessions, as coding agents work: three executors of 24 to 34 turns, a
reviewer and a debugger of a few. A prompt begins at some 11,000 tokens (system, tools, rules, plan, task, files) and
grows by some 700 a turn; over a session that makes 20,000 for each prompt. A turn reads a stretch of a file, runs the
tests, or edits. What is read is the file as the session has it by then, with numbered lines: the same stretch of an
unchanged file gives the same text again, in that session and in others, as it does in real ones. What models say,
what they edit and what tests print is new each time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.fleet_project import PACKAGES, modules_of
from bench.fleet_words import Words

from aircoding.agents.tools.lines import Window, number_lines, split_lines
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
    """Return five sessions: an executor for each of three tasks, a debugger and a reviewer for the first of them."""
    for number, package in enumerate(chance.sample(PACKAGES, 3), 1):
        task = _task(f"T{number}", package, words, chance)
        for role in ("executor", "debugger", "reviewer") if number == 1 else ("executor",):
            brief = _brief(run_id, role, task, revision, _evidence(role, words, chance))
            turns = chance.randint(24, 34) if role == "executor" else chance.randint(4, 10)
            narrow = chance.random() < 0.15
            yield Plotted(brief=brief, turns=turns, window_tokens=40_000 if narrow else 200_000)


def _task(name: str, package: str, words: Words, chance: random.Random) -> TaskSpec:
    own = modules_of(package)
    other = modules_of(chance.choice(PACKAGES))
    return TaskSpec(
        id=TaskId(name),
        title=" ".join(words.some(chance, 6)),
        description=words.prose(chance, 90),
        write_area=(f"src/{package}/**",),
        reads=(chance.choice(own), chance.choice(other)),
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


def conversation(
    plotted: Plotted, files: Mapping[str, str], words: Words, chance: random.Random
) -> Iterator[tuple[tuple[Message, ...], str]]:
    """Return what each turn but the last adds: the model's message with the results, and the path that it touched.

    Edits change what later turns of this session read, not `files`.
    """
    session, task = plotted.brief.session_id, plotted.brief.task
    own = modules_of(task.write_area[0].split("/")[1])
    now = dict(files)
    for turn in range(1, plotted.turns):
        far = chance.random() < 0.08
        path = chance.choice(modules_of(chance.choice(PACKAGES)) if far else own)
        name = chance.choices(("fs_read", "shell", "fs_edit"), (9, 6, 5))[0]
        given, shown = _ACTS[name](path, now, words, chance)
        said = {"type": "text", "text": words.prose(chance, 40)}
        use = {"type": "tool_use", "id": f"toolu_01{chance.getrandbits(100):025x}", "name": name, "input": given}
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": [{"type": "text", "text": shown}]}
        yield (
            (
                _message(session, 2 * turn - 2, "assistant", said, use),
                _message(session, 2 * turn - 1, "user", result),
            ),
            path if name != "shell" else "",
        )


def _read(path: str, files: dict[str, str], words: Words, chance: random.Random) -> tuple[dict[str, Any], str]:
    whole = len(split_lines(files[path]))
    start = chance.randrange(1, whole, 40)
    window = Window(start, min(start + chance.choice((39, 39, 79)), whole))
    shown = number_lines(files[path], window, again="fs_read")
    return {"path": path, "start_line": window.start, "end_line": window.end}, shown


def _run_tests(path: str, files: dict[str, str], words: Words, chance: random.Random) -> tuple[dict[str, Any], str]:
    """Return what running tests prints: a line for each test, and one failure with its place."""
    names = words.some(chance, 16)
    lines = [f"tests/{path[4:]}::test_{one} PASSED [{number * 100 // 16:3}%]" for number, one in enumerate(names)]
    ends = f"{path}:{chance.randint(9, 130)}: AssertionError"
    return {"command": f"pytest {path}"}, "\n".join([*lines, "FAILED", words.code(chance, 8), ends])


def _edit(path: str, files: dict[str, str], words: Words, chance: random.Random) -> tuple[dict[str, Any], str]:
    lines = split_lines(files[path])
    first = chance.randrange(len(lines) - 6)
    old, new = "\n".join(lines[first : first + 6]), words.code(chance, 8).rstrip("\n")
    files[path] = "\n".join([*lines[:first], new, *lines[first + 6 :], ""])
    ends = first + len(new.split("\n"))
    return {"path": path, "old": old, "new": new}, f"Edited {path}: lines {first + 1} to {ends}."


_ACTS = {"fs_read": _read, "shell": _run_tests, "fs_edit": _edit}


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
