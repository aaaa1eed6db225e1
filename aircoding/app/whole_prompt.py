"""Gather what a worker's prompt is made of, for a folder that may be no project yet."""

from __future__ import annotations

from aircoding.app.contexts import gatherer_in_memory, told_of
from aircoding.app.models import limits_for
from aircoding.app.policies import Policies, open_policies
from aircoding.app.project import Project
from aircoding.app.rule_folders import RuleFolder
from aircoding.context.profiles import default_mode
from aircoding.homes import air_home
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.ids import RunId, session_id
from aircoding.records.segments import Segment
from aircoding.records.sessions import SessionBrief
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import TaskSpec
from aircoding.settings import load_settings
from aircoding.sources.gather import FileGatherer
from aircoding.workspace.repository import GitRepository
from aircoding.workspace.worktree import GitWorktree

__all__ = ["gather_prompt", "gather_rules"]

_NO_TIME = "1970-01-01T00:00:00Z"
"""The clock of an answer that shows no time; a folder without a commit has none of its own."""


def gather_prompt(folder: RuleFolder, role: str, task: TaskSpec) -> tuple[Snapshot, tuple[Diagnostic, ...]]:
    """Return the snapshot of a role's first turn on a task, and what is wrong with the rule files.

    Raises:
        ConfigError: there is no such role; a settings file or a policy is wrong.
    """
    gatherer, policies, model = _gatherer(folder)
    brief = SessionBrief(
        session_id=session_id(RunId("build"), task.id, 1, role, 1),
        role=role,
        model=model,
        mode=default_mode(policies.profile(role)),
        task=task,
        worktree=str(folder.root),
        base_commit="",
        run_revision=gatherer.freeze_run(),
        instruction=f"Carry out task {task.id}: {task.title}.",
    )
    snapshot = gatherer.gather(brief, turn=1, messages=(), frozen=None)
    return snapshot, gatherer.rules(task.write_area).diagnostics


def gather_rules(folder: RuleFolder) -> tuple[Segment, ...]:
    """Return every rule candidate of a folder, its text as a prompt would have it.

    Raises:
        ConfigError: a settings file or a policy is wrong.
    """
    return _gatherer(folder)[0].rules().segments


def _gatherer(folder: RuleFolder) -> tuple[FileGatherer, Policies, str]:
    root = folder.root
    project = Project(root=root, home=air_home(root), settings=load_settings(root), repository=GitRepository(str(root)))
    policies = open_policies(project, confined=True)
    limits = limits_for(None, project.settings)

    class Folder(GitWorktree):
        """The files of the folder as they were listed before: there may be no git to ask."""

        def paths(self) -> tuple[str, ...]:
            return folder.paths

    gatherer = gatherer_in_memory(
        project, None, policies, lambda _: limits, at=_NO_TIME, told=told_of(project), open_worktree=Folder
    )
    return gatherer, policies, limits.model
