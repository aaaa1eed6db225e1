"""Reading a skill on demand: its text, or one of its own files, each once as long as it stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aircoding.agents.tools.artifacts import shorten
from aircoding.agents.tools.outputs import screen_output, withheld
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, refusal
from aircoding.errors import WorkspaceError
from aircoding.ports import SkillShelf
from aircoding.records.calls import Screened, ToolCall, ToolResult
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
from aircoding.records.layers import Form, SegmentKind
from aircoding.records.policy import Act, PathAct
from aircoding.records.skills import SkillText
from aircoding.screening.withholding import blocked_mark

__all__ = ["SKILL_READ"]

_SHOWN_CHARS = 60_000
"""A skill is read as a whole; three times what the specification advises still is."""


def _acts(tool_input: Mapping[str, Any], bench: Workbench) -> tuple[Act, ...]:
    shelf, name = bench.skills(), _text(tool_input, "name")
    path = shelf.resolve(name, _text(tool_input, "path")) if name in shelf.names() else None
    return () if path is None else (PathAct(path=path, access="read"),)


async def _read(call: ToolCall, bench: Workbench, paths: tuple[str, ...]) -> ToolResult | Deed:
    shelf, name, path = bench.skills(), _text(call.input, "name"), _text(call.input, "path")
    if name not in shelf.names():
        return _unknown(bench, shelf)
    if shelf.resolve(name, path) != (paths[0] if paths else None):
        raise WorkspaceError(f"the skill {name} was moved while it was read", hint="read it again")
    found = shelf.read(name, path)
    text = bench.screener.mask(found.text)
    shown, screened = screen_output(bench, text, uri=found.uri, trust=found.trust, digest=found.digest)
    if screened is not None and shown != text:
        mark = _blocked_mark(screened, found.start_line - 1)
        told = refusal(f"{mark}\nThis text is not given to you. Go on without it.")
        return replace(told, screened=screened)
    what = f"the skill {name}" if not path else f"{path} of the skill {name}"
    given = f"You have {what} already, in this session and as it is now: follow the text above."
    if not path and _stands_in_prompt(bench, found, text):
        return ToolResult(text=given)
    answer, artifact = _answer(bench, found, text)
    if _last_answer(call, bench, given) == answer:
        return ToolResult(text=given)
    return ToolResult(text=answer, artifact=artifact, screened=screened)


def _text(tool_input: Mapping[str, Any], key: str) -> str:
    return str(tool_input.get(key) or "").strip()


def _unknown(bench: Workbench, shelf: SkillShelf) -> ToolResult:
    names = shelf.names()
    if not names:
        return refusal("There are no skills here.")
    text = bench.screener.mask("\n".join(f"- {name}" for name in names))
    listed = withheld(bench.screener, text, uri="skills/")
    return refusal(f"There is no skill of that name. There are:\n{listed}")


def _blocked_mark(screened: Screened, before: int) -> str:
    """Return the line that stands for a whole text of which a part may not reach a model; it instructs as a whole."""
    hits = [hit for hit in screened.findings if hit.blocks]
    return blocked_mark(hits[0].kind, screened.source_uri, before + hits[0].start_line, before + hits[-1].end_line)


def _answer(bench: Workbench, found: SkillText, text: str) -> tuple[str, Digest | None]:
    shown, artifact = shorten(text, bench.blobs, shown_chars=_SHOWN_CHARS)
    parts = [f"{found.uri.removeprefix('project:')}:", shown or "(empty)"]
    if found.files:
        listed = bench.screener.mask("\n".join(f"- {name}" for name in found.files))
        folder = f"{found.uri.rsplit('/', 1)[0]}/"
        names = withheld(bench.screener, listed, uri=folder, trust=found.trust)
        parts.append(f"[Its files, for skill_read with path:\n{names}]")
    return "\n\n".join(parts), artifact


def _stands_in_prompt(bench: Workbench, found: SkillText, text: str) -> bool:
    """Whether a trigger or path has brought the same text into the prompt whole."""
    digest = sha256_text(text)
    return any(
        one.kind is SegmentKind.SKILL
        and one.form is Form.WHOLE
        and (one.source.uri, one.source.text_digest) == (found.uri, digest)
        for one in bench.prompt
    )


def _last_answer(call: ToolCall, bench: Workbench, given: str) -> str | None:
    """Return the text that an earlier call for the same was answered with; the one line that says so is none."""
    asked = (_text(call.input, "name"), _text(call.input, "path"))
    for record in reversed(bench.records):
        earlier, result = record.call, record.result
        if earlier.name != call.name or result is None or result.is_error or result.text == given:
            continue
        if (_text(earlier.input, "name"), _text(earlier.input, "path")) == asked:
            return result.text
    return None


SKILL_READ = Tool(name="skill_read", acts=_acts, prepare=_read, brings=None)
