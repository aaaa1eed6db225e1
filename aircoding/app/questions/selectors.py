"""Name a recorded assembly as a person would: by id, by session and turn, by run, task and role, or as the one before.

Every command that takes an assembly can take a selector.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aircoding.app.questions.finding import full_id
from aircoding.errors import NotFoundError
from aircoding.records.ids import ManifestId, SessionId, session_parts
from aircoding.records.manifest import AssemblyHead, Manifest

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["previous_id", "selected_id"]

_HINT = "`aircoding context list` shows what there is; name it by id, SESSION@TURN, RUN/TASK or RUN/TASK/ROLE"
_TURN = re.compile(r"(.+)@(\d{1,9})")
_NEWEST = "newest"


def selected_id(store: Store, given: str) -> ManifestId:
    """Return the id of the assembly that a selector names.

    `m-…` is an id or its start; `RUN:TASK:ATTEMPT:ROLE:N` a session; `RUN/TASK` the task's executor, `RUN/TASK/ROLE`
    another role of it (RUN may be `newest`), of which the newest session counts. `@TURN` behind any of them but an id
    asks for one turn; without it the last one counts.

    Raises:
        NotFoundError: there is none.
        UsageError: an id's start fits several.
    """
    match = _TURN.fullmatch(given)
    name, turn = (match[1], int(match[2])) if match is not None else (given, None)
    if "/" in name and ":" not in name:
        heads = _of_task(store, name)
    elif name.count(":") >= _COLONS:
        heads = _of_session(store, name)
    else:
        return ManifestId(full_id(store, given))
    of_turn = [head for head in heads if turn is None or head.turn == turn]
    if not of_turn:
        had = f"; it has the turns {heads[0].turn} to {heads[-1].turn}" if heads else ""
        raise NotFoundError(f"no assembly {given} is on record{had}", hint=_HINT)
    return ManifestId(of_turn[-1].manifest_id)


_COLONS = 4
"""In a session's id: `run:task:attempt:role:n`."""
_FIRST_ROLE = "executor"


def previous_id(store: Store, manifest: Manifest) -> ManifestId:
    """Return the assembly before one: of its session, else the last of the session or the attempt before.

    Raises:
        NotFoundError: it is the first of its task and role.
    """
    own = session_parts(SessionId(manifest.session_id))
    before: list[tuple[tuple[int, int, int], str]] = []
    for head in store.index.heads(run_id=manifest.run_id, role=manifest.role):
        _, task, attempt, _, number = session_parts(SessionId(head.session_id))
        if task == own[1]:
            before.append(((attempt, number, head.turn), head.manifest_id))
    earlier = [each for each in before if each[0] < (own[2], own[4], manifest.turn)]
    if not earlier:
        raise NotFoundError(
            f"{manifest.manifest_id} is the first of its task and role: nothing stands before it",
            hint="name two assemblies; `aircoding context list` shows what there is",
        )
    return ManifestId(max(earlier)[1])


def _of_session(store: Store, session: str) -> Sequence[AssemblyHead]:
    run = session.split(":", 1)[0]
    return [head for head in store.index.heads(run_id=run) if head.session_id == session]


def _of_task(store: Store, name: str) -> Sequence[AssemblyHead]:
    """Return the assemblies of the newest session of a task and role."""
    given, _, rest = name.partition("/")
    run = store.sightings.newest_run() if given == _NEWEST else store.runs.get(given).run_id
    heads = store.index.heads(run_id=run)
    tasks = {head.task_id for head in heads}
    task, role = (rest, _FIRST_ROLE) if rest in tasks else (rest.rpartition("/")[0], rest.rpartition("/")[2])
    own = [head for head in heads if head.task_id == task and head.role == role]
    return [head for head in own if head.session_id == own[-1].session_id]
