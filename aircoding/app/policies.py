"""The effective policy of a project's roles and tasks, from its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.app.project import Project
from aircoding.errors import AirError, ConfigError
from aircoding.permissions.policy import build_policy, require_valid
from aircoding.permissions.policy_file import PolicyFile, parse_policy_file
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.ids import Digest
from aircoding.records.policy import Policy, PolicyLevel
from aircoding.records.profiles import Profile
from aircoding.records.sessions import SessionBrief
from aircoding.records.snapshot import ToolSpec
from aircoding.records.tasks import TaskSpec
from aircoding.sources.files import TextRead, read_text_file
from aircoding.sources.installation import approved
from aircoding.sources.packaged_policy import packaged_policy_files
from aircoding.sources.role_text import tool_specs
from aircoding.sources.roles import read_roles
from aircoding.sources.trust import PROJECT_POLICY, is_trusted, trusted_policy

__all__ = ["LivePolicies", "Policies", "open_policies", "read_policies"]

_PLAN_FLOOR = ".air/**"
"""The line of the floor that the architecture designer's right to write the plan lifts."""


@dataclass
class Policies:
    """Policies of one project. `confined` says whether a sandbox stands behind each decision.

    `project_trusted` says that the project's policy is as the user trusted it: only then does it allow.
    """

    files: tuple[PolicyFile, ...]
    profiles: dict[str, Profile]
    project_trusted: bool
    confined: bool
    approvals: frozenset[Digest]
    plugin_tools: tuple[ToolSpec, ...] = ()
    role_remarks: tuple[Diagnostic, ...] = ()
    """What roles of an untrusted project ask for and do not get."""

    def for_role(self, profile: Profile, task: TaskSpec | None) -> Policy:
        """Return what a role may do; with a task, in that task."""
        area = task.write_area if task is not None else ()
        if profile.writes == "plan":
            area = (".air/shared/plan/**",)
        policy = build_policy(
            self.files,
            project_trusted=self.project_trusted,
            may_write=profile.writes != "none",
            write_area=area,
            denied_paths=task.denied_paths if task is not None else (),
            floor_exceptions=(_PLAN_FLOOR,) if profile.writes == "plan" else (),
            tools=tuple(tool.name for tool in tool_specs(profile)),
            confined=self.confined,
            approved=self.approvals,
        )
        # No part of the digest: which plugins are installed must not undo what a person approved.
        brought = (tool.name for tool in self.plugin_tools if tool.category in profile.tool_categories)
        return replace(policy, tools=(*policy.tools, *brought)) if self.plugin_tools else policy

    def for_brief(self, brief: SessionBrief) -> Policy:
        """Return what a session may do."""
        return self.for_role(self.profile(brief.role), brief.task)

    def for_task(self, task: TaskSpec) -> Policy:
        """Return what verify and set-up commands of a task may do: what its own role may."""
        return self.for_role(self.profile(task.role), task)

    def for_any_worker(self) -> Policy:
        """Return what the role that carries out tasks may do, whatever the task: rules are read for it."""
        return self.for_role(self.profile("executor"), None)

    def profile(self, role: str) -> Profile:
        """Return a role's profile.

        Raises:
            ConfigError: there is no such role.
        """
        if role not in self.profiles:
            known = ", ".join(sorted(self.profiles))
            raise ConfigError(f"there is no role `{role}`", hint=f"known: {known}", code="role.unknown")
        return self.profiles[role]

    @property
    def masked_names(self) -> frozenset[str]:
        """Variables whose values no command and no prompt may hold."""
        return frozenset(name for file in self.files for name in file.mask_env)


class LivePolicies:
    """A project's policies as its files are now: they are read again when one has changed.

    A file that is wrong while a run goes on changes nothing: the last version that was in order holds, and `report`
    is told once for each such version.
    """

    def __init__(self, project: Project, policies: Policies, *, report: Callable[[str], None]) -> None:
        self._project, self._policies, self._report = project, policies, report
        self._seen = self._digest()

    def now(self) -> Policies:
        """Return the policies that hold now."""
        digest = self._digest()
        if digest != self._seen:
            self._seen = digest
            try:
                policies = open_policies(self._project, confined=self._policies.confined)
                self._policies = replace(policies, plugin_tools=self._policies.plugin_tools)
            except AirError as error:
                self._report(error.message)
        return self._policies

    def _digest(self) -> tuple[tuple[Digest, str | None], ...]:
        """What the policies come of; a version of the project's policy that is trusted meanwhile counts at once."""
        home = self._project.home
        reads = (_read_own(home), _read_shared(self._project.root), read_text_file(home, "trust.json", inside=False))
        return tuple((read.digest, read.problem) for read in reads)


def _read_own(home: Path) -> TextRead:
    return read_text_file(home, "permissions.yaml", inside=False)


def _read_shared(root: Path) -> TextRead:
    return read_text_file(root, PROJECT_POLICY)


def open_policies(project: Project, *, confined: bool) -> Policies:
    """Read the floor, the defaults, the user's and the project's policy.

    Raises:
        ConfigError: a file is wrong; nothing is judged by a policy that is half read.
    """
    return read_policies(project.root, project.home, confined=confined)


def read_policies(root: Path, home: Path, *, confined: bool) -> Policies:
    """Read the same of any folder: it needs to be no repository, and to hold no `.air`.

    Raises:
        ConfigError: a file is wrong.
    """
    files = list(packaged_policy_files())
    files += _file(_read_own(home), "user:permissions.yaml", PolicyLevel.USER)
    shared = _read_shared(root)
    files += _file(shared, f"project:{PROJECT_POLICY}", PolicyLevel.PROJECT)
    require_valid(files)
    trusted = is_trusted(home, root)
    roles = read_roles(root, trusted=trusted)
    return Policies(
        files=tuple(files),
        profiles=dict(roles.profiles),
        project_trusted=trusted and trusted_policy(home, root) == shared.text,
        confined=confined,
        approvals=approved(home, root),
        role_remarks=roles.diagnostics,
    )


def _file(read: TextRead, uri: str, level: PolicyLevel) -> list[PolicyFile]:
    if read.vanished:
        return []
    if read.problem is not None or read.lossy:
        why = read.problem or "it is no UTF-8 text"
        raise ConfigError(f"{uri}: cannot be read: {why}", hint="correct or delete the file")
    return [parse_policy_file(read.text, uri=uri, level=level)]
