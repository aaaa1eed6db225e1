"""`permissions trust`: what the user vouches for, kept in `~/.air` where no repository can write."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from aircoding.app.approving import asked_commands
from aircoding.app.initialise import PERMISSIONS
from aircoding.app.plans import load_plan
from aircoding.app.policies import open_policies
from aircoding.app.project import Project, open_project
from aircoding.records.words import counted
from aircoding.sources.files import read_text_file
from aircoding.sources.installation import approve
from aircoding.sources.rule_tree import read_rule_tree
from aircoding.sources.skill_files import read_skills
from aircoding.sources.trust import trust_project as remember_project
from aircoding.sources.trust import trusted_policy
from aircoding.workspace.worktree import GitWorktree

__all__ = [
    "TrustReport",
    "policy_changes",
    "project_files_in_words",
    "trust_plan",
    "trust_project",
    "untrusted_in_words",
]

_PLAN = ".air/shared/plan/tasks.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustReport:
    """What was trusted, a line each, and how the project's policy differs from the one that was trusted before."""

    lines: tuple[str, ...]
    policy_changes: tuple[str, ...] = ()


def project_files_in_words(start: Path) -> str:
    """Return what `permissions trust` lets instruct: rule files and skills, counted, the plan and the policy."""
    project = open_project(start)
    rules, skills = _instructing(project)
    parts = [
        counted(rules, "rule file"),
        counted(skills, "skill"),
        *(
            f"{what} ({path})" if (project.root / path).is_file() else f"no {what}"
            for what, path in (("plan", _PLAN), ("policy", PERMISSIONS))
        ),
    ]
    return f"{', '.join(parts)} of {project.root.name}"


def untrusted_in_words(project: Project) -> str:
    """Return what becomes of a project's own files while the user does not trust it; empty where there is nothing."""
    if project.trusted:
        return _changed_policy_in_words(project)
    rules, skills = _instructing(project)
    if not rules and not skills and not (project.root / PERMISSIONS).is_file():
        return ""
    return (
        f"this project is not trusted: agents get its rules ({counted(rules, 'file')}) as external text that instructs"
        f" nobody, none of its skills ({skills}), and its policy can only narrow;"
        " read them, then `aircoding permissions trust`"
    )


def _changed_policy_in_words(project: Project) -> str:
    """Return what becomes of a policy that is not as it was trusted; empty where it is, or there is none."""
    now = read_text_file(project.root, PERMISSIONS)
    if now.problem is not None or now.text == trusted_policy(project.home, project.root):
        return ""
    return (
        f"{PERMISSIONS} is not as you trusted it: its denies and asks hold, what it allows does not;"
        " `aircoding permissions trust` shows what changed"
    )


def _instructing(project: Project) -> tuple[int, int]:
    """Return how many rule files and skills of its own a project has."""
    rules = read_rule_tree(project.root, GitWorktree(str(project.root)).paths()).files.values()
    skills = [one for one in read_skills(project.root, project.home, trusted=True).found if one.is_project]
    return sum(1 for one in rules if one.name is not None), len(skills)


def policy_changes(start: Path) -> tuple[str, ...]:
    """Return the lines of a unified diff from the project's policy as it was trusted to what it is now.

    Nothing is left out of it: where it was never trusted, every line is new.
    """
    project = open_project(start)
    now = read_text_file(project.root, PERMISSIONS)
    before = trusted_policy(project.home, project.root) or ""
    after = "" if now.problem is not None else now.text
    names = ("as trusted", "as it is")
    return tuple(unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="", n=2))


def trust_project(start: Path) -> TrustReport:
    """Let this project's files instruct agents, and its policy allow, as it is now.

    Raises:
        ConfigError: a policy file is wrong: what nothing can be judged by is not trusted either.
    """
    project = open_project(start)
    open_policies(project, confined=True)
    changes = policy_changes(start)
    remember_project(project.home, project.root)
    return TrustReport(lines=(f"trusted: {project_files_in_words(start)}",), policy_changes=changes)


def trust_plan(start: Path, plan_file: Path) -> TrustReport:
    """Approve the verify and set-up commands of a plan as they are now; a changed command asks again."""
    project = open_project(start)
    plan = load_plan(project, plan_file)
    asked = asked_commands(project, plan)
    granted = [one for one in asked if not one.denied]
    approve(project.home, project.root, [one.fingerprint for one in granted])
    lines = [f"approved: `{one.command}` ({one.where})" for one in granted]
    lines += [f"denied all the same: `{one.command}` ({one.where}): {one.reason}" for one in asked if one.denied]
    return TrustReport(lines=tuple(lines) or ("nothing to approve: the policy allows every command of the plan",))
