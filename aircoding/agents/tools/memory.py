"""What agents remember for later sessions: one entry at a time, with the limits and refusals of `aircoding memory`.

The digests of a call's intent are those of entries, not of the store: other writers may change it in between, and
whether this entry stands there is what tells after a crash if the call was carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aircoding.agents.tools.outputs import withheld
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, refusal
from aircoding.errors import ConfigError, NotFoundError
from aircoding.ports import Memories, Screener
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
from aircoding.records.layers import Trust
from aircoding.records.policy import Act
from aircoding.rules.memory_entries import MemoryKind, add_entry, edit_entry, remove_entry, used_chars

__all__ = ["MEMORY_WRITE"]

_Entries = tuple[str, ...]
_NEEDS = {"add": ("text",), "replace": ("which", "text"), "remove": ("which",)}


def _acts(_input: Mapping[str, Any], _bench: Workbench) -> tuple[Act, ...]:
    """The use of the tool is the act, which the runner has judged: no path of the worktree is touched."""
    return ()


async def _prepare(call: ToolCall, bench: Workbench, _paths: tuple[str, ...]) -> ToolResult | Deed:
    action, kind, memories = str(call.input["action"]), MemoryKind(call.input["store"]), bench.memories
    missing = [name for name in _NEEDS[action] if not str(call.input.get(name, "")).strip()]
    if missing:
        return refusal(f"memory_write: to {action} an entry, give {' and '.join(missing)}. Nothing was changed.")
    if memories is None:
        return refusal("memory_write: there is no memory to write to here. Go on without it.")
    if closed := memories.closed():
        return refusal(f"memory_write: {closed}. Nothing was changed. Go on without it.")
    text = str(call.input.get("text", ""))
    if action != "remove" and (fault := _fault(text, kind, bench)) is not None:
        return refusal(f"memory_write: {fault}. Nothing was changed.")
    edit = _edit(call.input, kind)
    try:
        before = memories.entries(kind.value)
        after = edit(before)
    except (ConfigError, NotFoundError) as error:
        return _refused(error.message, error.hint, memories, kind, bench.screener)
    if after == before:
        return ToolResult(text=f"It is remembered already: {kind.value}, {_room(kind, before)}.")
    return _deed(memories, kind, edit, bench.screener, before=before, after=after)


def _edit(given: Mapping[str, Any], kind: MemoryKind) -> Callable[[_Entries], _Entries]:
    which, text = str(given.get("which", "")), str(given.get("text", ""))
    if given["action"] == "add":
        return lambda entries: add_entry(kind, entries, text)
    if given["action"] == "replace":
        return lambda entries: edit_entry(kind, entries, which, text)
    return lambda entries: remove_entry(entries, which)


def _deed(
    memories: Memories,
    kind: MemoryKind,
    edit: Callable[[_Entries], _Entries],
    screener: Screener,
    *,
    before: _Entries,
    after: _Entries,
) -> Deed:
    async def act() -> ToolResult:
        try:
            entries = memories.change(kind.value, edit)
        except (ConfigError, NotFoundError) as error:
            return _refused(error.message, error.hint, memories, kind, screener)
        return ToolResult(
            text=f"Done: {kind.value}, {_room(kind, entries)}. Later sessions have it, this one does not."
        )

    gone, new = set(before) - set(after), set(after) - set(before)
    return Deed(act=act, before=_named(kind, gone), after=_named(kind, new))


def _named(kind: MemoryKind, texts: set[str]) -> dict[str, Digest]:
    digests = (sha256_text(text) for text in sorted(texts))
    return {f"memory:{kind.value}/{digest[:12]}": digest for digest in digests}


def _standing(bench: Workbench, name: str) -> Digest | None:
    """Return the digest of an entry that an intent names, or None where no such entry stands in its store."""
    kind = name.removeprefix("memory:").partition("/")[0]
    if bench.memories is None:
        return None
    digests = {f"memory:{kind}/{digest[:12]}": digest for digest in map(sha256_text, bench.memories.entries(kind))}
    return digests.get(name)


def _fault(text: str, kind: MemoryKind, bench: Workbench) -> str | None:
    """Say why a text may not be remembered; what would be masked or blocked later is refused now."""
    if bench.screener.mask(text) != text or bench.screener.restore(text, "") is None:
        return "the text holds a secret; name the variable or the file in which it is kept, not its value"
    uri = f"air:memory/{kind.value}"
    blocking = [one for one in bench.screener.findings(text, uri=uri, trust=Trust.AGENT) if one.blocks]
    if blocking:
        return (
            f"the text would be blocked in a prompt ({blocking[0].detail or blocking[0].code}); say it in other words"
        )
    return None


def _refused(message: str, hint: str, memories: Memories, kind: MemoryKind, screener: Screener) -> ToolResult:
    """Tell what is wrong, and the entries as they are, so that some can be put together."""
    try:
        entries = memories.entries(kind.value)
    except ConfigError:
        entries = ()
    uri = f"air:memory/{kind.value}"
    shown = "".join(f"\n- {withheld(screener, entry, uri=uri, trust=Trust.AGENT)}" for entry in entries)
    listed = f"\nThe entries as they are:{shown}" if shown else ""
    return refusal(f"memory_write: {message}. {hint[:1].upper()}{hint[1:]}. Nothing was changed.{listed}")


def _room(kind: MemoryKind, entries: _Entries) -> str:
    return f"{used_chars(entries)} of {kind.limit_chars} characters"


MEMORY_WRITE = Tool(name="memory_write", acts=_acts, prepare=_prepare, standing=_standing)
