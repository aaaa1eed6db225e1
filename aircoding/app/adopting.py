"""`init --from TOOL`: set a project up with the files that it has for another tool. None of them is changed."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from aircoding.app.agent_roles import ROLES, AdoptedAgent, adopt_agents
from aircoding.app.initialise import CONFIG, PERMISSIONS, InitReport, initialise, packaged_text
from aircoding.app.policies import open_policies
from aircoding.app.project import Project, open_project
from aircoding.app.rule_sources import rule_homes, rule_switches
from aircoding.app.skills import skill_switches
from aircoding.errors import ConfigError, UsageError, WorkspaceError
from aircoding.permissions.claude_rules import translate_claude_rules
from aircoding.permissions.foreign_rules import Untranslated, proposal_text
from aircoding.records.layers import Reason
from aircoding.records.policy import Policy
from aircoding.rules.adoption import (
    CLAUDE_SETTINGS,
    AdoptedFile,
    AdoptedSkill,
    ForeignTool,
    Reading,
    adopted_files,
)
from aircoding.rules.neutral import neutral_rules
from aircoding.rules.toml_text import with_flag
from aircoding.settings import Settings, load_settings
from aircoding.sources.files import read_text_file
from aircoding.sources.import_approvals import approved_imports
from aircoding.sources.import_permission import within_policy
from aircoding.sources.packaged_policy import packaged_policy
from aircoding.sources.project_files import replace_project_text, require_project_place
from aircoding.sources.rule_tree import read_rule_tree
from aircoding.sources.skill_files import read_skills
from aircoding.sources.skill_walk import LINK_AS_TEXT
from aircoding.workspace.worktree import GitWorktree

__all__ = ["Adoption", "PermissionProposal", "adopt"]

_PROPOSED = ".air/shared/permissions.from-claude.yaml"
"""Where the proposal goes when the project has a policy of its own already."""
_HIDDEN = (CLAUDE_SETTINGS, ".claude/settings.local.json")
"""Files that people keep out of git, and that are told of all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionProposal:
    """What became of the tool's permission rules: the file with the lines, and each rule that has none.

    `path` is None where there was nothing to write, `is_own` says that the proposal is the project's policy now.
    """

    path: str | None
    lines: int
    is_own: bool
    untranslated: tuple[Untranslated, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What `init --from` did. `switches` are the keys of `.air/config.toml` that let the tool's files in.

    `kept_off` are those that do not count, since the user's own file or the environment switches them off.
    """

    tool: str
    init: InitReport
    files: tuple[AdoptedFile, ...]
    switches: tuple[str, ...]
    kept_off: tuple[str, ...]
    permissions: PermissionProposal | None
    agents: tuple[AdoptedAgent, ...]
    next_commands: tuple[str, ...]


def adopt(start: Path, tool: ForeignTool, *, trust: bool) -> Adoption:
    """Make `.air/` for a project that has files of another tool, and let them in.

    Raises:
        UsageError: the project has no such files.
        ConfigError: `.air/config.toml` cannot be read, or not be changed line by line; or a place of the files is a
            link, or lies below one that leads out of the project.
        WorkspaceError: a file cannot be written.
    """
    project = open_project(start)
    if not _files(project, tool):
        raise UsageError(
            f"this project has no files of {tool.value}",
            hint="`aircoding init` prepares a project without them",
            code="init.nothing",
        )
    switches = tuple(_switches(tool))
    config = _config(project, switches)
    for name in (CONFIG, _PROPOSED, f"{ROLES}/role.md"):
        require_project_place(project.root, name, replaced=True)
    init = initialise(start, trust=trust)
    _write(project.root, CONFIG, config)
    settings = load_settings(project.root)
    kept_off = [(section, key) for section, key in switches if not getattr(getattr(settings, section), key)]
    files = _files(open_project(start), tool)
    permissions = _permissions(project, init) if tool is ForeignTool.CLAUDE else None
    agents = adopt_agents(project.root, (file.path for file in files)) if tool is ForeignTool.CLAUDE else ()
    return Adoption(
        tool=tool.value,
        init=init,
        files=files,
        switches=tuple(f"[{section}] {key}" for section, key in switches),
        kept_off=tuple(f"[{section}] {key}" for section, key in kept_off),
        permissions=permissions,
        agents=agents,
        next_commands=(*_to_let_in(is_kept_off=bool(kept_off)), *_next(files, permissions, agents)),
    )


def _files(project: Project, tool: ForeignTool) -> tuple[AdoptedFile, ...]:
    """Say what becomes of each file of the tool by the settings as they are: read as for a worker."""
    root = project.root
    listed = GitWorktree(str(root)).paths()
    paths = (*listed, *(path for path in _HIDDEN if os.path.lexists(root / path)))
    switches = rule_switches(project.settings.rules)
    tree = read_rule_tree(
        root,
        paths,
        homes=rule_homes(),
        approved=approved_imports(project.home, root),
        agents_fallbacks=switches.agents_fallbacks,
    )
    tree = within_policy(tree, root, lambda: _worker_policy(project))
    rules = neutral_rules(tree, switches, root=os.path.realpath(root))
    return adopted_files(tree, rules, tool, skills=_skills(project))


def _worker_policy(project: Project) -> Policy:
    """Return what an executor may read; where roles or policies are not in order, what holds without them."""
    try:
        return open_policies(project, confined=True).for_any_worker()
    except ConfigError:
        return packaged_policy()


def _skills(project: Project) -> dict[str, AdoptedSkill]:
    """Return what becomes of the project's skills by their folders; of a link that is a file here, by its path."""
    read = read_skills(
        project.root, project.home, trusted=project.trusted, switches=skill_switches(project.settings.skills)
    )
    usable = {one.name for one, _ in read.usable}
    found = {}
    for one in read.found:
        if not one.is_project:
            continue
        twice = one.barred is not None and one.barred.reason is Reason.DUPLICATE and one.name in usable
        why = f"it belongs to the skill {one.name}" if one.barred is None else one.barred.detail
        found[posixpath.dirname(one.path)] = AdoptedSkill(
            usable=one.barred is None or twice, why=why.replace("project:", "")
        )
    links = (one for one in read.diagnostics if one.code == LINK_AS_TEXT and one.uri.startswith("project:"))
    return found | {one.uri.removeprefix("project:"): AdoptedSkill(usable=False, why=one.message) for one in links}


def _switches(tool: ForeignTool) -> Iterator[tuple[str, str]]:
    """Yield the keys that let the tool's files in; one that this version does not know would make the file an error."""
    wanted = (("rules", tool.value), *((("skills", "claude"),) if tool is ForeignTool.CLAUDE else ()))
    for section, key in wanted:
        kind = Settings.model_fields[section].annotation if section in Settings.model_fields else None
        if isinstance(kind, type) and issubclass(kind, BaseModel) and key in kind.model_fields:
            yield section, key


def _config(project: Project, switches: tuple[tuple[str, str], ...]) -> str:
    read = read_text_file(project.root, CONFIG)
    if read.problem is not None and not read.absent:
        raise ConfigError(f"{CONFIG}: cannot be read: {read.problem}", hint="correct the file, or delete it")
    text = packaged_text(CONFIG) if read.absent else read.text
    for section, key in switches:
        text = with_flag(text, section, key, value=True)
    return text


def _permissions(project: Project, init: InitReport) -> PermissionProposal | None:
    """Translate Claude Code's rules. A policy that the project has already stays as it is."""
    read = read_text_file(project.root, CLAUDE_SETTINGS)
    if read.absent:
        return None
    if read.problem is not None:
        return PermissionProposal(path=None, lines=0, is_own=False, untranslated=(), problem=read.problem)
    try:
        data = json.loads(read.text)
    except (ValueError, RecursionError) as error:
        return PermissionProposal(path=None, lines=0, is_own=False, untranslated=(), problem=f"it is no JSON: {error}")
    if not isinstance(data, dict) or "permissions" not in data:
        return None
    rules = translate_claude_rules(data["permissions"])
    count = sum(len(lines) for lines in rules.lines.values())
    if not count:
        return PermissionProposal(path=None, lines=0, is_own=False, untranslated=rules.untranslated)
    path = _place(project, proposal_text(rules, CLAUDE_SETTINGS), made=(PERMISSIONS, True) in init.files)
    return PermissionProposal(path=path, lines=count, is_own=path == PERMISSIONS, untranslated=rules.untranslated)


def _place(project: Project, text: str, *, made: bool) -> str:
    """Write the proposal where it takes nobody's words away, and return where."""
    own = read_text_file(project.root, PERMISSIONS)
    if made or (not own.linked and own.text in {packaged_text(PERMISSIONS), text}):
        _write(project.root, PERMISSIONS, text)
        return PERMISSIONS
    _write(project.root, _PROPOSED, text)
    return _PROPOSED


def _write(root: Path, name: str, text: str) -> None:
    try:
        if read_text_file(root, name).raw != text.encode("utf-8", "backslashreplace"):
            replace_project_text(root, name, text)
    except OSError as error:
        raise WorkspaceError(
            f"{root / name}: cannot be written: {error.strerror}", hint="check rights and free space"
        ) from error


def _to_let_in(*, is_kept_off: bool) -> tuple[str, ...]:
    said = "to let them in, take what switches them off out of ~/.air/config.toml or the environment"
    return (said,) if is_kept_off else ()


def _next(
    files: tuple[AdoptedFile, ...], permissions: PermissionProposal | None, agents: tuple[AdoptedAgent, ...]
) -> Iterator[str]:
    if permissions is not None and permissions.path is not None:
        done = "" if permissions.is_own else f", and take into {PERMISSIONS} what you want"
        yield f"read {permissions.path}{done}, then `aircoding permissions trust`"
    made = next((agent.role for agent in agents if agent.made), None)
    if made is not None:
        yield "read the new roles in .air/shared/roles/, then `aircoding permissions trust`: untrusted ones say nothing"
        yield f"see what a role is told: `aircoding context build --role {made}`"
    if any(file.reading is not Reading.NEVER for file in files):
        yield "see what a worker is told: `aircoding context build --role executor --path FILE`"
    yield "edit .air/shared/plan/tasks.yaml, then `aircoding plan check`"
