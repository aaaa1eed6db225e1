"""Name a recorded assembly as a person would: by id, by session and turn, by run, task and role, or as the one before.

Every command that takes an assembly can take a selector.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aircoding.app.questions.finding import full_id
from aircoding.errors import NotFoundError
from aircoding.records.ids import OF_RUN, ManifestId, SessionId, session_parts
from aircoding.records.manifest import AssemblyHead, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aircoding.store import Store

__all__ = ["previous_id", "selected_id"]

_HINT = "`aircoding context list` shows what there is; name it by id, SESSION@TURN, RUN/TASK, RUN/TASK/ROLE or RUN/ROLE"
_TURN = re.compile(r"(.+)@(\d{1,9})")
_NEWEST = "newest"
_COLONS = 4
"""In a session's id: `run:task:attempt:role:n`."""
_FIRST_ROLE = "executor"


def selected_id(store: Store, given: str) -> ManifestId:
    """Return the id of the assembly that a selector names.

    `m-…` is an id or its start; `RUN:TASK:ATTEMPT:ROLE:N` a session; `RUN/TASK` the task's executor, `RUN/TASK/ROLE`
    another role of it, `RUN/ROLE` a role that works for the run itself (RUN may be `newest`, and `@run` may stand for
    the task), of which the newest session counts. `@TURN` behind any of them but an id asks for one turn; without it
    the last one counts.

    Raises:
        NotFoundError: there is none.
        UsageError: an id's start fits several.
    """
    match = _TURN.fullmatch(given)
    name, turn = (match[1], int(match[2])) if match is not None else (given, None)
    if "/" in name and ":" not in name:
        session = _newest_session(store, name)
    elif name.count(":") >= _COLONS:
        session = name
    else:
        return ManifestId(full_id(store, given))
    found = store.index.heads(session_id=session, turn=turn, newest_first=True, limit=1) if session is not None else ()
    if not found:
        raise NotFoundError(f"no assembly {given} is on record{_turns(store, session)}", hint=_HINT)
    return ManifestId(found[0].manifest_id)


def previous_id(store: Store, manifest: Manifest) -> ManifestId:
    """Return the assembly before one: of its session, else the last of the session or the attempt before.

    Raises:
        NotFoundError: it is the first of its task and role.
    """
    heads = store.index.heads(run_id=manifest.run_id, task_id=manifest.task_id or OF_RUN, role=manifest.role)
    place = _place(manifest.session_id, manifest.turn)
    earlier = [(_place(head.session_id, head.turn), head.manifest_id) for head in heads]
    earlier = [each for each in earlier if each[0] < place]
    if not earlier:
        raise NotFoundError(
            f"{manifest.manifest_id} is the first of its task and role: nothing stands before it",
            hint="name two assemblies; `aircoding context list` shows what there is",
        )
    return ManifestId(max(earlier)[1])


def _place(session_id: str, turn: int) -> tuple[int, int, int]:
    """Return the place of an assembly among those of its task and role: attempt, number of the session, turn."""
    _, _, attempt, _, number = session_parts(SessionId(session_id))
    return attempt, number, turn


def _newest_session(store: Store, name: str) -> str | None:
    """Return the newest session that `RUN/TASK`, `RUN/TASK/ROLE` or `RUN/ROLE` names; a task goes before a role."""
    given, _, rest = name.partition("/")
    run = store.sightings.newest_run() if given == _NEWEST else store.runs.get(given).run_id
    for task, role in _meanings(rest):
        newest = store.index.heads(run_id=run, task_id=task, role=role, newest_first=True, limit=1)
        if newest:
            return newest[0].session_id
    return None


def _meanings(rest: str) -> Iterator[tuple[str, str]]:
    """Yield what may be meant behind the run, as task and role. A task's id may hold a slash."""
    yield rest, _FIRST_ROLE
    task, slash, role = rest.rpartition("/")
    yield (task, role) if slash else (OF_RUN, rest)


def _turns(store: Store, session: str | None) -> str:
    heads: tuple[AssemblyHead, ...] = store.index.heads(session_id=session) if session is not None else ()
    return f"; it has the turns {heads[0].turn} to {heads[-1].turn}" if heads else ""
