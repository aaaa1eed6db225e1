"""A `SKILL.md` as it may be used: read leniently, and what was made good or given up is said with its line.

The open specification (agentskills, read 2026-08) with the keys of Claude Code, and `triggers` of our own. What is
wrong by the letter is the business of `rules.skill_checks`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.front_matter import FrontMatter
from aircoding.rules.globs import Dialect, glob_faults, split_globs
from aircoding.rules.skill_header import read_skill_header

__all__ = ["KEPT_DESCRIPTION_CHARS", "MAX_TRIGGERS", "Skill", "SkillFile", "name_fault", "parse_skill"]

KEPT_DESCRIPTION_CHARS = 1_536
"""Most of a description with `when_to_use` (Claude Code cuts there; documentation read 2026-08)."""
MAX_NAME_CHARS = 64
MAX_TRIGGERS = 50
MAX_TRIGGER_CHARS = 100
"""A longer trigger is a sentence, and no request holds it word by word."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TOOL = re.compile(r"[^\s,(]+(?:\([^)\n]*\))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill. Lines count from 1 in the file; `header` keeps every key, known or not.

    `allowed_tools` is what its author asks for; it grants nothing. Without `model_invocable` a model is neither told
    of the skill nor given it on demand.
    """

    name: str
    description: str
    body: str
    body_start_line: int
    body_end_line: int
    description_line: int | None = None
    triggers: tuple[str, ...] = ()
    triggers_line: int | None = None
    paths: tuple[str, ...] = ()
    paths_line: int | None = None
    allowed_tools: tuple[str, ...] = ()
    model_invocable: bool = True
    user_invocable: bool = True
    header: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """The skill of a file, or None where it cannot be used, and all remarks on it."""

    skill: Skill | None
    diagnostics: tuple[Diagnostic, ...]


def name_fault(name: str) -> str | None:
    """Say what is wrong with a name by the specification, or None."""
    if not 1 <= len(name) <= MAX_NAME_CHARS:
        return f"it has {len(name)} characters; 1 to {MAX_NAME_CHARS} are allowed"
    if name.startswith("-") or name.endswith("-"):
        return "it starts or ends with a hyphen"
    if "--" in name:
        return "it has two hyphens in a row"
    return None if _NAME.fullmatch(name) else "it may hold only lower-case letters a-z, digits and hyphens"


def parse_skill(text: str, *, folder: str, uri: str = "") -> SkillFile:
    """Read a skill leniently. Never raises.

    Args:
        text: the whole file.
        folder: the name of its folder, which names a skill that has no good name of its own.
        uri: for the remarks.
    """
    matter = read_skill_header(text, uri)
    reader = _Reader(matter, uri)
    if matter.broken:
        return SkillFile(skill=None, diagnostics=matter.diagnostics)
    description = reader.description()
    if description is None:
        return SkillFile(skill=None, diagnostics=tuple(reader.remarks))
    name = reader.name(folder)
    lines = matter.body.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    first, last = (filled[0], filled[-1]) if filled else (0, 0)
    skill = Skill(
        name=name,
        description=description,
        body="\n".join(lines[first : last + 1]) if filled else "",
        body_start_line=matter.body_start_line + first,
        body_end_line=matter.body_start_line + last,
        description_line=matter.lines.get("description"),
        triggers=reader.triggers(),
        triggers_line=matter.lines.get("triggers"),
        paths=reader.paths(),
        paths_line=matter.lines.get("paths"),
        allowed_tools=reader.allowed_tools(),
        model_invocable=not reader.flag("disable-model-invocation", default=False, unclear=True),
        user_invocable=reader.flag("user-invocable", default=True, unclear=True),
        header=matter.data,
    )
    return SkillFile(skill=skill, diagnostics=tuple(reader.remarks))


class _Reader:
    """Takes one header apart and remarks on what it finds."""

    def __init__(self, matter: FrontMatter, uri: str) -> None:
        self._matter, self._uri = matter, uri
        self.remarks: list[Diagnostic] = list(matter.diagnostics)

    def _remark(self, key: str, message: str, hint: str, severity: Literal["error", "warning"] = "warning") -> None:
        line = self._matter.lines.get(key, 1)
        code = f"skill.{key.replace('-', '_')}"
        self.remarks.append(
            Diagnostic(severity=severity, code=code, message=message, uri=self._uri, line=line, hint=hint)
        )

    def _text(self, key: str) -> str | None:
        """Return a scalar as it was written; `null` is none."""
        text = self._matter.text(key) if self._matter.data.get(key) is not None else None
        return text.strip() or None if text is not None else None

    def description(self) -> str | None:
        own = self._text("description")
        if own is None:
            given = "description" in self._matter.data
            message = "`description` is empty or no text" if given else "there is no `description`"
            hint = "say in one or two sentences what the skill does and when to use it"
            self._remark("description", f"{message}, so the skill cannot be offered", hint, "error")
            return None
        when = self._text("when_to_use")
        whole = f"{own} {when}" if when is not None else own
        if len(whole) > KEPT_DESCRIPTION_CHARS:
            message = f"the description has {len(whole)} characters; it is cut at {KEPT_DESCRIPTION_CHARS}"
            self._remark("description", message, "move the rest into the body")
        return whole[:KEPT_DESCRIPTION_CHARS]

    def name(self, folder: str) -> str:
        own = self._text("name")
        if own is None:
            self._remark("name", f"there is no `name`; the folder's name `{folder}` is used", f"add `name: {folder}`")
            return folder
        fault = name_fault(own)
        if fault is not None:
            message = f"`name` is no name of a skill: {fault}; the folder's name `{folder}` is used"
            self._remark("name", message, "use lower-case letters, digits and single hyphens")
            return folder
        if own != folder:
            self._remark("name", f"`{own}` is not the name of its folder, `{folder}`", "rename one of them")
        return own

    def flag(self, key: str, *, default: bool, unclear: bool) -> bool:
        """Return a boolean; a value that is none is taken as `unclear` says, and said."""
        if key not in self._matter.data:
            return default
        value = self._matter.flag(key)
        if value is None:
            self._remark(key, f"`{key}` is {self._matter.data[key]!r}; it is taken as {str(unclear).lower()}", _BOOLEAN)
        return unclear if value is None else value

    def triggers(self) -> tuple[str, ...]:
        if self._matter.data.get("triggers") is None:
            return ()
        listed = self._matter.texts("triggers")
        if listed is None:
            self._remark("triggers", "`triggers` is no list of words; it was passed over", _TRIGGERS)
            return ()
        parts = listed if isinstance(self._matter.data["triggers"], list) else tuple(listed[0].split(","))
        found = tuple(dict.fromkeys(" ".join(part.split()) for part in parts))
        good = tuple(one for one in found if any(map(str.isalnum, one)) and len(one) <= MAX_TRIGGER_CHARS)
        if len(good) < len(found):
            message = f"of {len(found)} triggers {len(found) - len(good)} are empty, signs only, or too long"
            self._remark("triggers", message, f"use words or phrases of at most {MAX_TRIGGER_CHARS} characters")
        if len(good) > MAX_TRIGGERS:
            message = f"there are {len(good)} triggers; the first {MAX_TRIGGERS} count"
            self._remark("triggers", message, "keep those that tell this skill from others")
        return good[:MAX_TRIGGERS]

    def paths(self) -> tuple[str, ...]:
        if self._matter.data.get("paths") is None:
            return ()
        listed = self._matter.texts("paths")
        if listed is None:
            self._remark("paths", "`paths` is no list of globs; it was passed over", 'write `paths: ["src/**"]`')
            return ()
        globs = tuple(glob for text in listed for glob in split_globs(text))
        faults = glob_faults(globs, Dialect.ROOT_ANCHORED)
        for glob, fault in zip(globs, faults, strict=True):
            if fault is not None:
                self._remark("paths", f"`{glob}` matches nothing: {fault}", "correct the glob")
        return tuple(glob for glob, fault in zip(globs, faults, strict=True) if fault is None)

    def allowed_tools(self) -> tuple[str, ...]:
        """Return the tools that are asked for: one text, parted by blanks or commas, or Claude's list."""
        if self._matter.data.get("allowed-tools") is None:
            return ()
        listed = self._matter.texts("allowed-tools")
        if listed is None:
            self._remark("allowed-tools", "`allowed-tools` is no text; it was passed over", "write `Read Grep`")
            return ()
        return listed if isinstance(self._matter.data["allowed-tools"], list) else tuple(_TOOL.findall(listed[0]))


_BOOLEAN = "write true or false"
_TRIGGERS = "write `triggers: [deploy, roll back]`, or `triggers: deploy, roll back`"
