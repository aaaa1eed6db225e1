"""Which turn of a script answers a call: a pure function of the session and its counts, so that a resume goes on."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.errors import ProviderError
from aircoding.providers.script import Match, Script, ScriptedError, ScriptFile, Turn
from aircoding.records.ids import SessionId, session_parts

__all__ = ["ANY_SESSION", "Step", "choose_turn", "session_match"]

ANY_SESSION = Match()
"""What a caller without a session is: only a script with an empty match is for it."""


@dataclass(frozen=True, slots=True)
class Step:
    """The turn that is due, and the error that strikes this try of it."""

    turn: Turn
    error: ScriptedError | None


def session_match(session: SessionId) -> Match:
    """Return role, task, attempt and n of a session id.

    Raises:
        ProviderError: it is no session id.
    """
    try:
        _, task, attempt, role, n = session_parts(session)
    except ValueError:
        raise _stop(f"{session!r} is no session id (run:task:attempt:role:n).", "") from None
    return Match(role=role, task=task, attempt=attempt, n=n)


def choose_turn(
    file: ScriptFile, session: Match, *, assistant_turns: int, tries: int, refused_finish: str = ""
) -> Step:
    """Return the step of a session that has given `assistant_turns` answers and begun this call `tries` times.

    `refused_finish` is what was said of a result that its newest answer gave in vain.

    Raises:
        ProviderError: no script is for the session, or its script is at its end. Nothing can be retried.
    """
    script = next((script for script in file.scripts if _is_for(script, session)), None)
    if script is None:
        raise _stop(
            f"No script in {file.uri} matches {session}.",
            f"Add a script with `match: {session}` (or a part of it) to {file.uri}.",
        )
    if assistant_turns >= len(script.turns):
        raise _stop(
            f"The script for {script.match} in {file.uri}, line {script.line}, has {len(script.turns)} turns; "
            f"{session} asks for turn {assistant_turns + 1}."
            + (f" Its finish was refused: {refused_finish}" if refused_finish else ""),
            "Add a turn, or let an earlier turn call finish with a valid result.",
        )
    turn = script.turns[assistant_turns]
    error = turn.error if turn.error is not None and turn.error.strikes(tries) else None
    return Step(turn, error)


def _is_for(script: Script, session: Match) -> bool:
    return script.match.covers(session)


def _stop(message: str, hint: str) -> ProviderError:
    return ProviderError(message, kind="invalid_request", action="stop", hint=hint)
