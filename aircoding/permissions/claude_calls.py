"""What a tool call of Claude Code would do, as acts that the engine judges, and the answer that its hook expects.

The `PreToolUse` protocol (its documentation, read 2026-11): one JSON object on standard input with `hook_event_name`,
`cwd`, `tool_name`, `tool_input`; the answer is `hookSpecificOutput.permissionDecision` allow, ask or deny.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aircoding.permissions.hosts import has_scheme, host_of_url
from aircoding.records.policy import Act, CommandAct, Decision, Effect, HostAct, PathAct, ToolAct

__all__ = ["MalformedCallError", "acts_of_call", "answer_to_call", "is_inert"]

_INERT = frozenset(
    "TodoRead TodoWrite TaskCreate TaskGet TaskList TaskUpdate TaskOutput TaskStop BashOutput KillBash KillShell "
    "AskUserQuestion EnterPlanMode ExitPlanMode Task Agent ToolSearch".split()
)
"""Tools that touch no file, host or program themselves; what an agent does that they start is asked about by itself."""
_LONGEST_COMMAND = 200_000
"""Judged within seconds; a hook that takes longer than it is given lets the call go on."""
_GLOB = frozenset("*?[{")


class MalformedCallError(ValueError):
    """A call is not as the protocol says; the text names what is wrong. It must never be allowed."""


def is_inert(tool: str) -> bool:
    """Whether a tool does nothing that a policy is about, so that no decision is given."""
    return tool in _INERT


def acts_of_call(tool: str, given: Mapping[str, Any], *, cwd: str) -> tuple[Act, ...]:
    """Return the acts of a call; paths are absolute and as written, for the caller to resolve.

    A tool that is not known here (an MCP server's, a web search, a newer one) is one opaque act by its name.

    Raises:
        MalformedCallError: a field is missing or of another kind.
    """
    known = _ACTS.get(tool)
    return known(given, cwd) if known is not None else (ToolAct(tool=tool, opaque=True),)


def answer_to_call(decisions: Iterable[Decision]) -> dict[str, Any]:
    """Return the hook's answer: the strictest of the decisions, with its reason; what is announced is also shown."""
    every = list(decisions)
    if not every:
        raise MalformedCallError("a call without an act has no decision")
    strictest = max(every, key=lambda decision: decision.effect.rank)
    effect = Effect.ALLOW if strictest.effect is Effect.ANNOUNCE else strictest.effect
    answer: dict[str, Any] = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": effect.value,
            "permissionDecisionReason": f"aircoding: {strictest.reason}",
        }
    }
    if strictest.effect is Effect.ANNOUNCE:
        answer["systemMessage"] = f"aircoding announces: {strictest.act} ({strictest.reason})"
    return answer


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value:
        raise MalformedCallError(f"`tool_input.{key}` must be a text")
    return value


def _optional(given: Mapping[str, Any], key: str) -> str | None:
    return _text(given, key) if given.get(key) is not None else None


def _command(given: Mapping[str, Any], cwd: str) -> tuple[Act, ...]:
    command = _text(given, "command")
    if len(command) > _LONGEST_COMMAND:
        raise MalformedCallError(f"a command of more than {_LONGEST_COMMAND} characters is not judged in a hook's time")
    return (CommandAct(command=command, cwd=cwd),)


def _file(key: str, *accesses: str) -> Callable[[Mapping[str, Any], str], tuple[Act, ...]]:
    def acts(given: Mapping[str, Any], cwd: str) -> tuple[Act, ...]:
        path = _absolute(_text(given, key), cwd)
        return tuple(PathAct(path=path, access=access) for access in accesses)

    return acts


def _absolute(path: str, cwd: str) -> str:
    return path if path.startswith(("/", "~", "file:")) else posixpath.join(cwd, path)


def _glob(given: Mapping[str, Any], cwd: str) -> tuple[Act, ...]:
    """Names are listed, nothing is read: the folder counts, and the part of the pattern that leads out of it."""
    folder = _absolute(_optional(given, "path") or ".", cwd)
    fixed: list[str] = []
    for part in _text(given, "pattern").split("/"):
        if _GLOB & set(part):
            break
        fixed.append(part)
    prefix = "/".join(fixed)
    begins = ("/" + prefix.lstrip("/")) if given["pattern"].startswith("/") else posixpath.join(folder, prefix)
    return (PathAct(path=folder, access="read"), PathAct(path=begins, access="read"))


def _grep(given: Mapping[str, Any], cwd: str) -> tuple[Act, ...]:
    """What is found is shown: the folder or file, and the names that it is narrowed to, are read."""
    _text(given, "pattern")
    place = _absolute(_optional(given, "path") or ".", cwd)
    names = _optional(given, "glob")
    acts: tuple[Act, ...] = (PathAct(path=place, access="read"),)
    if names is None:
        return acts
    whole = names if names.startswith("/") else posixpath.join(place, names)
    return (*acts, PathAct(path=whole, access="read", glob=bool(_GLOB & set(names))))


def _fetch(given: Mapping[str, Any], _cwd: str) -> tuple[Act, ...]:
    url = _text(given, "url")
    if url.lower().startswith("file:"):
        return (PathAct(path=url, access="read"),)
    if not has_scheme(url) and ":" in url.partition("/")[0]:
        raise MalformedCallError("`tool_input.url` is no address of the web")
    return (HostAct(host=host_of_url(url)),)


_ACTS: Mapping[str, Callable[[Mapping[str, Any], str], tuple[Act, ...]]] = {
    "Bash": _command,
    "Read": _file("file_path", "read"),
    "Edit": _file("file_path", "read", "write"),
    "MultiEdit": _file("file_path", "read", "write"),
    "Write": _file("file_path", "write"),
    "NotebookRead": _file("notebook_path", "read"),
    "NotebookEdit": _file("notebook_path", "read", "write"),
    "LS": _file("path", "read"),
    "Glob": _glob,
    "Grep": _grep,
    "WebFetch": _fetch,
}
