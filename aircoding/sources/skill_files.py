"""Every skill that could be offered, each used or with the reason why not, in an order that no listing can change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.digests import sha256_text
from aircoding.records.hooks import ContributedSkill, SkillTrigger
from aircoding.records.ids import Digest
from aircoding.records.layers import OutcomeKind, Reason, Trust
from aircoding.records.segments import Barred
from aircoding.rules.skill_file import Skill, parse_skill
from aircoding.sources.files import TextRead, printable, read_text_file
from aircoding.sources.skill_walk import SkillWalk

__all__ = ["PROJECT_FOLDERS", "FoundSkill", "SkillSet", "SkillSwitches", "read_skills"]

PROJECT_FOLDERS = (".air/shared/skills", ".agents/skills", ".claude/skills")
"""Of one name the first counts; the user's own come after them (client guide: project overrides user)."""
MAX_SKILL_BYTES = 262_144
"""A larger file is no skill (256 KiB; the specification advises 5,000 tokens)."""

_USER_FOLDER = "skills"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSwitches:
    """The section `[skills]` of the settings: which skills are let in, and how long their index may be."""

    agents: bool = True
    claude: bool = True
    index_chars: int = 8_000
    disabled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSkill:
    """One skill file. `root` and `path` say where it lies (none: it came as a value); `barred` why it is not used.

    `uri` is `project:PATH`, `user:PATH`, or that of whoever gave it. `skill` is None where the file is none.
    """

    name: str
    uri: str
    trust: Trust
    digest: Digest
    skill: Skill | None = None
    root: Path | None = None
    path: str = ""
    barred: Barred | None = None

    @property
    def is_project(self) -> bool:
        """Whether it lies in the project."""
        return self.uri.startswith("project:")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSet:
    """All skills in the order in which they count, and what is wrong with their files."""

    found: tuple[FoundSkill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def usable(self) -> tuple[tuple[FoundSkill, Skill], ...]:
        """Those that may reach an agent, by name."""
        good = ((one, one.skill) for one in self.found if one.barred is None and one.skill is not None)
        return tuple(sorted(good, key=lambda pair: pair[0].name))

    @property
    def on_demand(self) -> tuple[tuple[FoundSkill, Skill], ...]:
        """Those that an agent is told of and may ask for."""
        return tuple(pair for pair in self.usable if pair[1].model_invocable)


def read_skills(
    root: Path | None,
    home: Path,
    *,
    trusted: bool,
    switches: SkillSwitches | None = None,
    plugins: Iterable[ContributedSkill] = (),
    triggers: Iterable[SkillTrigger] = (),
) -> SkillSet:
    """Read the skills of a project and its user.

    Args:
        root: the project root; None outside a project.
        home: the user's `~/.air`.
        trusted: whether the user trusts the project; else its skills are listed and not offered.
        switches: what the settings let in.
        plugins: skills that plugins bring; they come last.
        triggers: phrases of plugins that call up skills, whoever gives these.
    """
    reader = _Reader(switches or SkillSwitches(), trusted=trusted)
    for folder in PROJECT_FOLDERS if root is not None else ():
        reader.folder(root or home, folder, "project")
    reader.folder(home, _USER_FOLDER, "user")
    for one in sorted(plugins, key=lambda one: (one.source, one.name)):
        reader.value(one)
    diagnostics = sorted(set(reader.walk.diagnostics), key=lambda one: (one.uri, one.line or 0, one.code, one.message))
    return SkillSet(found=_triggered(reader.found, triggers), diagnostics=tuple(diagnostics))


def _triggered(found: Iterable[FoundSkill], triggers: Iterable[SkillTrigger]) -> tuple[FoundSkill, ...]:
    """Give each skill the phrases that plugins call it up with, besides its own."""
    more: dict[str, dict[str, None]] = {}
    for one in triggers:
        more.setdefault(one.skill, {}).update(dict.fromkeys(one.phrases))
    return tuple(
        replace(one, skill=replace(one.skill, triggers=tuple({**dict.fromkeys(one.skill.triggers), **more[one.name]})))
        if one.skill is not None and one.name in more
        else one
        for one in found
    )


class _Reader:
    """Collects skills; remembers which files and names count already."""

    def __init__(self, switches: SkillSwitches, *, trusted: bool) -> None:
        self._switches, self._trusted = switches, trusted
        self._files: dict[tuple[int, int], str] = {}
        self._names: dict[str, str] = {}
        self.walk = SkillWalk()
        self.found: list[FoundSkill] = []

    def folder(self, root: Path, folder: str, scheme: str) -> None:
        inside = scheme == "project"
        for path in self.walk.files(root, folder, scheme, inside=inside):
            read = read_text_file(root, path, inside=inside, max_bytes=MAX_SKILL_BYTES)
            if not read.vanished:
                self._file(root, folder, path, scheme, read)

    def _file(self, root: Path, folder: str, path: str, scheme: str, read: TextRead) -> None:
        own_folder = printable(path.split("/")[-2])
        uri = f"{scheme}:{printable(path)}"
        trust = Trust.USER if scheme == "user" else Trust.PROJECT if self._trusted else Trust.EXTERNAL
        found = FoundSkill(name=own_folder, uri=uri, trust=trust, digest=read.digest, root=root, path=path)
        if read.problem is not None:
            message = f"the skill was not read: {read.problem}"
            self._remark("unreadable", message, uri, "make it a regular text file", severity="error")
            self._bar(found, OutcomeKind.OMITTED, Reason.UNREADABLE, f"{uri}: {read.problem}")
            return
        known = self._files.get(read.identity) if read.identity is not None else None
        if known is not None:
            detail = f"{uri} and {known} are one file; it counts once, as {known}"
            self._bar(found, OutcomeKind.DUPLICATE, Reason.DUPLICATE, detail)
            return
        if read.lossy:
            self._remark("encoding", "the file is no UTF-8; bytes were replaced", uri, "save it as UTF-8")
        file = parse_skill(read.text, folder=own_folder, uri=uri)
        self.walk.diagnostics.extend(file.diagnostics)
        if file.skill is None:
            fault = next((one for one in file.diagnostics if one.severity == "error"), file.diagnostics[0])
            detail = f"{uri}:{fault.line or 1}: {fault.message}" + (f"; {fault.hint}" if fault.hint else "")
            self._bar(found, OutcomeKind.OMITTED, Reason.INVALID, detail)
            return
        found = replace(found, name=file.skill.name, skill=file.skill)
        if self._take(found, self._folder_refusal(folder)) and read.identity is not None:
            self._files[read.identity] = uri

    def value(self, given: ContributedSkill) -> None:
        body = given.body.strip("\n")
        skill = Skill(
            name=given.name,
            description=given.description,
            body=body,
            body_start_line=1,
            body_end_line=body.count("\n") + 1,
            triggers=given.triggers,
        )
        uri = f"{given.source}/skills/{printable(given.name)}/SKILL.md"
        digest = sha256_text(given.body)
        # Whoever installs a plugin lets it instruct.
        self._take(FoundSkill(name=given.name, uri=uri, trust=Trust.USER, digest=digest, skill=skill), None)

    def _folder_refusal(self, folder: str) -> Barred | None:
        """Say why nothing in a folder is offered, or None."""
        for key, own in (("agents", PROJECT_FOLDERS[1]), ("claude", PROJECT_FOLDERS[2])):
            if folder == own and not getattr(self._switches, key):
                detail = f"skills in {own} are switched off: `[skills] {key} = false` in config.toml"
                return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.DISABLED, detail=detail)
        if folder in PROJECT_FOLDERS and not self._trusted:
            detail = (
                "the project is not trusted, so its skills are not offered; look at them, "
                "then trust it with `aircoding permissions trust`"
            )
            return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.PERMISSION, detail=detail)
        return None

    def _take(self, found: FoundSkill, refusal: Barred | None) -> bool:
        """Let a skill in unless something stands against it; whether it is in."""
        winner = self._names.get(found.name)
        if refusal is not None:
            self.found.append(replace(found, barred=refusal))
        elif found.name in self._switches.disabled:
            detail = f"`{found.name}` is switched off: `[skills] disabled` in config.toml names it"
            self._bar(found, OutcomeKind.OMITTED, Reason.DISABLED, detail)
        elif winner is not None:
            detail = f"{found.uri} and {winner} are both named `{found.name}`; {winner} counts"
            self._remark("collision", detail, found.uri, "rename one of them, or switch one off")
            self._bar(found, OutcomeKind.OVERRIDDEN, Reason.OVERRIDDEN, detail)
        else:
            self._names[found.name] = found.uri
            self.found.append(found)
            return True
        return False

    def _bar(self, found: FoundSkill, outcome: OutcomeKind, reason: Reason, detail: str) -> None:
        self.found.append(replace(found, barred=Barred(outcome=outcome, reason=reason, detail=detail)))

    def _remark(
        self, code: str, message: str, uri: str, hint: str, *, severity: Literal["error", "warning"] = "warning"
    ) -> None:
        remark = Diagnostic(severity=severity, code=f"skill.{code}", message=message, uri=uri, hint=hint)
        self.walk.diagnostics.append(remark)
