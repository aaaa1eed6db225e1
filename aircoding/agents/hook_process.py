"""Run a project's hook in a process of its own, confined, with JSON on its input and JSON or text on its output."""

from __future__ import annotations

import asyncio
import functools
import json
import shlex
import sys
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from aircoding.agents.hook_answers import MOST_ANSWER_CHARS
from aircoding.permissions.engine import decide
from aircoding.ports import Sandbox
from aircoding.records.hooks import MOST_REASON_CHARS, HookCall, HookEvent, ProjectHook, ProjectHooks
from aircoding.records.ids import Digest
from aircoding.records.policy import CommandAct, Policy
from aircoding.records.work import CommandOutcome, CommandRequest

__all__ = ["HookProcessError", "project_hook_call"]

_BLOCKS = 2
"""The exit code with which a hook refuses a tool call."""
_ENVIRONMENT = (("PYTHONDONTWRITEBYTECODE", "1"),)
"""What it leaves in a folder that the trust covers would be a change of it."""
_UNCONFINED = "no sandbox confines commands here, and your settings do not allow them unconfined"


class HookProcessError(Exception):
    """The hook was not run, or ended otherwise than it should; the message says why."""


def project_hook_call(
    hook: ProjectHook,
    *,
    trusted: Digest,
    read: Callable[[], ProjectHooks | None],
    sandbox: Sandbox,
    root: str,
    policy_for: Callable[[str], Policy],
) -> HookCall:
    """Return what asks a project's hook.

    Args:
        hook: what stands in `hooks.yaml`.
        trusted: the digest that the user trusts; with any other the hook is not run.
        read: reads the hooks and their files as they are now.
        sandbox: confines the process.
        root: the project root, where it starts; it cannot write there where a sandbox confines it.
        policy_for: the policy of a role.
    """

    async def call(facts: Mapping[str, Any]) -> Any:
        now = await asyncio.to_thread(read)
        if now is None or now.digest != trusted:
            raise HookProcessError("not run: it was changed since it was trusted; see `aircoding hooks trust`")
        policy = policy_for(str(facts["role"]))
        decision = decide(CommandAct(command=_as_judged(hook)), policy)
        # Who trusts the digest has approved the command: an ask is answered, a deny holds. Not so the ask for want of a
        # sandbox: that a hook runs without one is for the settings to say, as it is for any other command.
        if not decision.permits and not decision.asked:
            raise HookProcessError(f"not run: {decision.reason}")
        if not decision.permits and not policy.confined:
            raise HookProcessError(f"not run: {_UNCONFINED}")
        request = CommandRequest(
            command=_command(hook),
            timeout_seconds=hook.timeout_seconds,
            max_output_bytes=4 * MOST_ANSWER_CHARS,
            writable=False,
            env=_ENVIRONMENT,
            input_text=_input(hook, now, facts),
        )
        return _answer(hook, await sandbox.run(request, root=root))

    return call


def _as_judged(hook: ProjectHook) -> str:
    return shlex.join(hook.command) if hook.command else shlex.join(["python3", hook.python])


def _command(hook: ProjectHook) -> str:
    if hook.command:
        return f"exec {shlex.join(hook.command)}"
    return f"exec {shlex.join([sys.executable, '-I', '-c', _child()])}"


@functools.cache
def _child() -> str:
    """Return the program; as text, since a sandbox need not show where we are installed."""
    return files("aircoding.agents").joinpath("hook_child.py").read_text(encoding="utf-8")


def _input(hook: ProjectHook, now: ProjectHooks, facts: Mapping[str, Any]) -> str:
    if hook.command:
        return json.dumps(facts)
    told = {"path": hook.python, "source": now.texts[hook.python], "function": hook.function, "facts": facts}
    return json.dumps(told)


def _answer(hook: ProjectHook, outcome: CommandOutcome) -> Any:
    """Return what a process said.

    Raises:
        HookProcessError: it did not end well, or said what cannot be read.
    """
    if outcome.timed_out:
        raise HookProcessError(f"no answer after {hook.timeout_seconds:g} seconds")
    if outcome.exit_code == _BLOCKS and hook.event is HookEvent.PRE_TOOL_USE:
        return {"decision": "deny", "reason": _end_of(outcome.errors) or f"exit code {_BLOCKS}"}
    if outcome.exit_code != 0:
        raise HookProcessError(f"exit code {outcome.exit_code}: {_end_of(outcome.errors, lines=1)}".rstrip(": "))
    if outcome.truncated:
        raise HookProcessError("its output is too large")
    text = outcome.output.strip()
    if hook.command and text and text[0] not in '{["' and text != "null":
        return outcome.output
    if not text:
        return None
    try:
        return json.loads(text, object_pairs_hook=_object)
    except _RepeatedKeyError as error:
        if hook.event is HookEvent.PRE_TOOL_USE and error.denies:
            return {"decision": "deny", "reason": f"its answer denies, and not only: {error}"}
        raise HookProcessError(f"its output means nothing: {error}") from error
    except (ValueError, RecursionError) as error:
        raise HookProcessError(f"its output is no JSON: {error}") from error


class _RepeatedKeyError(Exception):
    """An object of JSON has a key twice; `denies` tells whether a decision in it is a refusal."""

    def __init__(self, key: str, *, denies: bool) -> None:
        super().__init__(f"the key {key[:80]} stands twice")
        self.denies = denies


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise _RepeatedKeyError(key, denies=("decision", "deny") in pairs)
        made[key] = value
    return made


def _end_of(errors: str, *, lines: int = 20) -> str:
    """Return the last lines of what a process said of its failure; of a traceback the last line says it."""
    return "\n".join(errors.strip().splitlines()[-lines:])[-MOST_REASON_CHARS:]
