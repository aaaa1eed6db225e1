"""What `aircoding skills` does: list what is offered and why not, show one, check files by the specification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from aircoding.app.extensions import load_plugins_of
from aircoding.app.policies import open_policies
from aircoding.app.project import Project, find_root
from aircoding.errors import AirError, NotFoundError
from aircoding.homes import air_home
from aircoding.plugins.loading import GROUP
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.hooks import Extensions, PluginFault
from aircoding.records.printable import shown_path
from aircoding.rules.skill_checks import check_skill
from aircoding.settings import Settings, SkillsSettings, load_settings
from aircoding.sources.files import printable, read_text_file
from aircoding.sources.skill_files import PROJECT_FOLDERS, FoundSkill, SkillSet, SkillSwitches, read_skills
from aircoding.sources.skill_walk import SkillWalk, skill_file_in
from aircoding.sources.trust import is_trusted
from aircoding.workspace.repository import GitRepository

__all__ = ["SkillCheck", "SkillList", "SkillText", "SkillView", "check_skills", "list_skills", "show_skill"]
__all__ += ["skill_switches"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillView:
    """One skill file. `why_not` is empty for a skill that is used; `where` is its path as a person would write it."""

    name: str
    description: str
    where: str
    usable: bool
    why_not: str
    triggers: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    model_invocable: bool = True
    user_invocable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillList:
    """All skills, those that are used first, what is wrong with their files, and which plugins take no part."""

    skills: tuple[SkillView, ...]
    diagnostics: tuple[Diagnostic, ...]
    faults: tuple[PluginFault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText:
    """One skill with its header and its body."""

    skill: SkillView
    header: Mapping[str, Any]
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillCheck:
    """What a strict reader finds: how many files it read, and its findings. Information is no fault."""

    files: int
    findings: tuple[Diagnostic, ...]

    @property
    def faults(self) -> tuple[Diagnostic, ...]:
        """Errors and warnings."""
        return tuple(one for one in self.findings if one.severity != "info")


def skill_switches(settings: SkillsSettings) -> SkillSwitches:
    """Return the section `[skills]` as the reader of skills takes it."""
    return SkillSwitches(**settings.model_dump())


def list_skills(start: Path) -> SkillList:
    """Return every skill that could reach an agent here, those of plugins too; outside a repository the user's own.

    Raises:
        ConfigError: a settings file is wrong.
    """
    found, faults = _read(start)
    views = sorted((_view(one) for one in found.found), key=lambda view: (not view.usable, view.name, view.where))
    return SkillList(skills=tuple(views), diagnostics=found.diagnostics, faults=faults)


def show_skill(start: Path, name: str) -> SkillText:
    """Return the skill of that name that is used, else the first file that gives one of that name.

    Raises:
        NotFoundError: there is none.
        ConfigError: a settings file is wrong.
    """
    found, faults = _read(start)
    every = found.found
    named = sorted((one for one in every if one.name == name), key=lambda one: one.barred is not None)
    if not named:
        names = ", ".join(sorted({one.name for one in every})) or "none"
        absent = "".join(f"; {one.name} takes no part: {one.reason}" for one in faults)
        raise NotFoundError(f"there is no skill `{name}`", hint=f"there are: {names}{absent}", code="skill.unknown")
    skill = named[0].skill
    return SkillText(
        skill=_view(named[0]),
        header=skill.header if skill is not None else {},
        body=skill.body if skill is not None else "",
    )


def check_skills(start: Path, paths: Iterable[Path]) -> SkillCheck:
    """Hold skills to the letter of the specification.

    Args:
        start: where the project is looked for.
        paths: skill files, their folders, or folders of skills; none: those of the project and its user.

    Raises:
        NotFoundError: a path is not there, or holds no skill.
    """
    files: list[tuple[Path, str]] = []
    findings: list[Diagnostic] = []
    given = tuple(paths)
    for path in given:
        files += _files_at(path, findings)
    root = find_root(start)
    if not given:
        places = [*((root, folder) for folder in PROJECT_FOLDERS if root is not None), (air_home(), "skills")]
        for base, folder in places:
            walk = SkillWalk()
            if base is not None:
                scheme = "user" if base == air_home() else "project"
                files += [(base, path) for path in walk.files(base, folder, scheme, inside=scheme == "project")]
            findings += walk.diagnostics
    for base, name in files:
        findings += _findings(base, name, start)
    return SkillCheck(files=len(files), findings=tuple(findings))


def _files_at(path: Path, findings: list[Diagnostic]) -> list[tuple[Path, str]]:
    whole = path.absolute()
    if not whole.exists():
        raise NotFoundError(f"{path} is not there", hint="name a SKILL.md, its folder, or a folder of skills")
    if not whole.is_dir():
        return [(whole.parent.parent, f"{whole.parent.name}/{whole.name}")]
    own = skill_file_in([one.name for one in whole.iterdir()])
    if own is not None:
        return [(whole.parent, f"{whole.name}/{own}")]
    walk = SkillWalk()
    found = [(whole.parent, name) for name in walk.files(whole.parent, whole.name, "file", inside=False)]
    findings += walk.diagnostics
    if not found and not walk.diagnostics:
        raise NotFoundError(f"{path} holds no SKILL.md", hint="name a SKILL.md, its folder, or a folder of skills")
    return found


def _findings(base: Path, name: str, start: Path) -> tuple[Diagnostic, ...]:
    whole = base / name
    uri = printable(str(whole.relative_to(start)) if whole.is_relative_to(start) else str(whole))
    read = read_text_file(base, name, inside=False)
    if read.problem is not None:
        hint = "make it a regular text file"
        return (
            Diagnostic(severity="error", code="skill.unreadable", message=read.problem, uri=uri, line=1, hint=hint),
        )
    return check_skill(read.text, folder=printable(name.split("/")[-2]), uri=uri)


def _read(start: Path) -> tuple[SkillSet, tuple[PluginFault, ...]]:
    root = find_root(start)
    home = air_home(root)
    trusted = root is not None and is_trusted(home, root)
    settings = load_settings(root)
    loaded = _plugins(root, settings) if root is not None else Extensions()
    found = read_skills(
        root,
        home,
        trusted=trusted,
        switches=skill_switches(settings.skills),
        plugins=loaded.skills,
        triggers=loaded.triggers,
    )
    return found, loaded.faults


def _plugins(root: Path, settings: Settings) -> Extensions:
    """Return what plugins bring; where the policy that judges them cannot be read the files are shown all the same."""
    project = Project(root=root, home=air_home(root), settings=settings, repository=GitRepository(str(root)))
    try:
        return load_plugins_of(project, open_policies(project, confined=True))
    except AirError as error:
        names = sorted({point.name for point in entry_points(group=GROUP)})
        return Extensions(faults=tuple(PluginFault(name=name, reason=f"not loaded: {error.message}") for name in names))


def _view(found: FoundSkill) -> SkillView:
    skill = found.skill
    shown = SkillView(
        name=found.name,
        description=skill.description if skill is not None else "",
        where=shown_path(found.uri),
        usable=found.barred is None,
        why_not=found.barred.detail if found.barred is not None else "",
    )
    if skill is None:
        return shown
    return SkillView(
        name=shown.name,
        description=shown.description,
        where=shown.where,
        usable=shown.usable,
        why_not=shown.why_not,
        triggers=skill.triggers,
        paths=skill.paths,
        allowed_tools=skill.allowed_tools,
        model_invocable=skill.model_invocable,
        user_invocable=skill.user_invocable,
    )
