"""Policy conflicts: a text or a task asks for what the effective policy denies, or asks to get around the policy.

The policy always holds. Commands, paths and hosts are judged as they are written, without a look at the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from aircoding.context.conflicts.judging import JudgedPolicy, denied_command, denied_host, denied_path
from aircoding.context.conflicts.naming import conflict_id, source_place
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.policy import Judgement, Policy
from aircoding.records.segments import Segment
from aircoding.records.tasks import TaskSpec
from aircoding.rules.named_commands import NamedCommand, commands_in
from aircoding.rules.requests import BYPASS_FLAGS, Request, requests_in

__all__ = ["DeniedRequest", "command_conflicts", "denied_requests", "task_command_conflicts", "task_conflicts"]

_POLICY = "air:policy"
"""The party where a text is against the policy as such, and no line of it."""
_ALSO_ENGLISH = frozenset("at file ftp halt install mount nc parted passwd reboot shutdown su umount".split())
"""Programs whose names are words or methods too: a code span means them only where the text says run."""
_HTTP = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
_WILD = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True)
class DeniedRequest:
    """What a text asks for against the policy: at which line of its source, and what denies it, in words."""

    line: int
    subject: str
    judgement: Judgement | None

    @property
    def words(self) -> str:
        """Say it, to follow on a place."""
        if self.judgement is None:
            return f"asks to get around the permissions (`{self.subject}`)"
        return f"asks for `{self.subject}`, which {_policy_line(self.judgement)} denies ({self.judgement.pattern})"


def denied_requests(segment: Segment, policy: Policy) -> tuple[DeniedRequest, ...]:
    """Return what of a text the policy is against: commands, flags, paths, hosts, and bypasses in words."""
    start = segment.source.start_line or 1
    found = _against(segment.text, JudgedPolicy(policy))
    return tuple(DeniedRequest(start + line - 1, subject, judgement) for line, subject, judgement in found)


def command_conflicts(segment: Segment, policy: Policy) -> tuple[Conflict, ...]:
    """Return what of a text the policy is against as conflicts, each subject once."""
    found = (
        _conflict(
            party=segment.segment_id,
            place=source_place(segment),
            where=f"{segment.source.uri}:{asked.line}",
            asked=asked,
        )
        for asked in denied_requests(segment, policy)
    )
    return tuple({conflict.conflict_id: conflict for conflict in found}.values())


def task_command_conflicts(task: TaskSpec, policy: Policy) -> tuple[Conflict, ...]:
    """Return the conflicts of a task's verify commands with the policy: with one of these it cannot pass."""
    key = JudgedPolicy(policy)
    return tuple(
        _of_task(task, "verify", command, denied)
        for command in task.verify
        if (denied := denied_command(command, key)) is not None
    )


def task_conflicts(task: TaskSpec, policy: Policy) -> tuple[Conflict, ...]:
    """Return all conflicts of a task with the policy: of its verify commands, its paths and its words."""
    key = JudgedPolicy(policy)
    found = [*task_command_conflicts(task, policy), *_path_conflicts(task, key)]
    for name, text in (
        ("title", task.title),
        ("description", task.description),
        *(("acceptance", one) for one in task.acceptance),
    ):
        found += [_of_task(task, name, subject, judgement) for _, subject, judgement in _against(text, key)]
    return tuple({conflict.conflict_id: conflict for conflict in found}.values())


def _path_conflicts(task: TaskSpec, key: JudgedPolicy) -> Iterator[Conflict]:
    for name, access, globs in (("write_area", "write", task.write_area), ("reads", "read", task.reads)):
        for glob in globs:
            path = _literal(glob)
            denied = denied_path(path, access, key) if path else None
            if denied is not None:
                yield _of_task(task, name, glob, denied)


def _literal(glob: str) -> str:
    """Return the path that a glob begins with; a line range behind a path is no part of it."""
    parts = re.sub(r":[\d-]+$", "", glob).strip("/").split("/")
    wild = next((place for place, part in enumerate(parts) if _WILD.search(part)), len(parts))
    return "/".join(parts[:wild])


@lru_cache(maxsize=4096)
def _against(text: str, key: JudgedPolicy) -> tuple[tuple[int, str, Judgement | None], ...]:
    """Return (line, subject, the line that denies it or None where the policy as such is meant)."""
    return tuple(_asked_against(text, key))


def _asked_against(text: str, key: JudgedPolicy) -> Iterator[tuple[int, str, Judgement | None]]:
    said: set[int] = set()
    for command in commands_in(text):
        if command.forbidden or not _is_command(command):
            continue
        denied = denied_command(command.command, key)
        if denied is not None and (command.asked or denied.pattern not in _ALSO_ENGLISH):
            said.add(command.line)
            yield command.line, command.command, denied
        elif command.asked and (flags := BYPASS_FLAGS.intersection(command.command.split()[1:])):
            yield command.line, min(flags), None
    for request in requests_in(text):
        if request.kind == "command" and request.line in said:
            continue  # the words around a command that was judged whole
        denied = _denied_request(request, key)
        if denied is not None or request.kind in ("bypass", "flag"):
            yield request.line, request.target, denied


def _denied_request(request: Request, key: JudgedPolicy) -> Judgement | None:
    if request.kind in ("read", "write"):
        return denied_path(request.target, request.kind, key)
    if request.kind == "host":
        return denied_host(request.target, key)
    return denied_command(request.target, key) if request.kind == "command" else None


def _is_command(named: NamedCommand) -> bool:
    """Whether a code span is meant as a command: one word alone, or a word of English, only where a text says run."""
    program, _, rest = named.command.partition(" ")
    return named.asked or (bool(rest) and program not in _ALSO_ENGLISH | _HTTP)


def _of_task(task: TaskSpec, where: str, subject: str, judgement: Judgement | None) -> Conflict:
    party = f"air:task/{task.id}"
    asked = DeniedRequest(1, subject, judgement)
    return _conflict(party=party, place=party, where=f"task {task.id}, {where}", asked=asked)


def _conflict(*, party: str, place: str, where: str, asked: DeniedRequest) -> Conflict:
    line = _POLICY if asked.judgement is None else _policy_line(asked.judgement)
    return Conflict(
        conflict_id=conflict_id(ConflictKind.POLICY, place, asked.subject),
        kind=ConflictKind.POLICY,
        parties=(party, line),
        subject=asked.subject,
        detail=f"{where} {asked.words}",
        ruling="the policy holds",
        winner=line,
        route=Route.MAIN,
        blocking=False,
        ruled_by="policy",
    )


def _policy_line(judgement: Judgement) -> str:
    return judgement.uri if judgement.line is None else f"{judgement.uri}:{judgement.line}"
