"""The commands of a plan that a person must approve before it runs, judged as `run` judges them on this machine."""

from __future__ import annotations

from aircoding.app.policies import open_policies
from aircoding.app.project import Project
from aircoding.fleet.approvals import AskedCommand, commands_to_approve
from aircoding.records.tasks import Plan
from aircoding.workspace.sandbox import choose_sandbox

__all__ = ["asked_commands"]


def asked_commands(project: Project, plan: Plan) -> tuple[AskedCommand, ...]:
    """Return the verify and set-up commands that would not run as things stand; without a sandbox that is each.

    Raises:
        ConfigError: a policy file is wrong, or the sandbox that the settings name does not hold here.
    """
    sandbox = project.settings.sandbox
    confined = sandbox.allow_unconfined or choose_sandbox(sandbox.backend).report.backend != "none"
    policies = open_policies(project, confined=confined)
    return commands_to_approve(plan, project.settings.worktree.setup, policies.for_task)
