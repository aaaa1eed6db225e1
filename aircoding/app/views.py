"""What workers and other tools see of one side of a comparison; every source of the side is read once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from aircoding.app.contexts import Told, gatherer_in_memory
from aircoding.app.models import limits_for
from aircoding.app.overflows import overflow_error
from aircoding.app.policies import Policies, open_policies
from aircoding.app.project import Project
from aircoding.app.sides import Side
from aircoding.audit.views import View, account_view, context_view
from aircoding.context.assembler import assemble
from aircoding.context.profiles import default_mode
from aircoding.errors import NotFoundError, UsageError
from aircoding.graph.plan_file import parse_plan
from aircoding.records.ids import RunId, TaskId, session_id
from aircoding.records.layers import Mode
from aircoding.records.manifest import Overflow
from aircoding.records.segments import Segment
from aircoding.records.sessions import SessionBrief
from aircoding.records.snapshot import Estimator, ModelLimits, Snapshot
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.tools.account import Tool, ToolOptions
from aircoding.rules.tools.explain import explain_as
from aircoding.rules.tree import RuleTree
from aircoding.screening.screener import TextScreener
from aircoding.settings import load_settings
from aircoding.sources.gather import FileGatherer
from aircoding.sources.rule_files import RuleFiles
from aircoding.sources.rule_tree import RuleHomes
from aircoding.workspace.repository import GitRepository
from aircoding.workspace.worktree import GitWorktree

__all__ = ["ToolViews", "ViewRequest", "WorkerViews", "known_roles", "literal_glob", "path_task"]

_NO_TIME = "1970-01-01T00:00:00Z"
"""The clock of what is compared: no two sides may differ by their time."""
_KEY = b"the same on every machine, so that a masked secret has the same id"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRequest:
    """For which worker: its role, its task, and where they are not the usual ones its mode, model and window."""

    role: str
    task: TaskSpec
    mode: str | None = None
    model: str | None = None
    window_tokens: int | None = None


def literal_glob(path: str) -> str:
    """Return the glob that matches one path alone; of a folder (with `/` at its end) all in it."""
    quoted = "".join(f"\\{char}" if char in "\\*?[]{}" else char for char in path)
    area = f"{quoted}**" if path.endswith("/") else quoted
    return f"./{area}" if area.startswith("!") else area


def path_task(paths: Sequence[str], tags: tuple[str, ...] = ()) -> TaskSpec:
    """Return the task of somebody who writes some paths; its words name none of them."""
    area = tuple(literal_glob(path) for path in paths)
    title = "Work on what the task may write" if paths else "No task"
    return TaskSpec(id=TaskId("none"), title=title, write_area=area, tags=tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Laid(Project):
    """A project that lies in a private folder: its files count as those of a project that the user trusts."""

    @property
    def trusted(self) -> bool:
        return True


class _ReadOnce(FileGatherer):
    """A gatherer over files that do not change; none of them is near a task and ignored by git."""

    _kept: RuleFiles | None = None

    def rules(self, near: Sequence[str] = ()) -> RuleFiles:  # noqa: ARG002 - see the class
        if self._kept is None:
            self._kept = super().rules()
        return self._kept


class WorkerViews:
    """Prompts of our own workers.

    Args:
        side: the files.
        home: the user's `~/.air`; None: as for a user who has nothing of their own, so that every machine agrees.
        homes: where the user's rule files of other tools lie.
    """

    def __init__(self, side: Side, *, home: Path | None = None, homes: RuleHomes | None = None) -> None:
        self._side = side
        settings = load_settings(side.root, alone=home is None)
        self._project = _Laid(
            root=side.root,
            home=home or side.root.parent / "nobody",
            settings=settings,
            repository=GitRepository(str(side.root)),
        )
        self._homes = homes or RuleHomes()
        self._revision: str | None = None
        self._limits: dict[str | None, ModelLimits] = {}

    @cached_property
    def policies(self) -> Policies:
        """The policies of the side's roles."""
        return open_policies(self._project, confined=True)

    @cached_property
    def plan(self) -> Plan | None:
        """The project's plan; None: it has none.

        Raises:
            PlanError: with every fault.
        """
        try:
            text, uri = self._project.read_plan(None)
        except NotFoundError:
            return None
        return parse_plan(text, uri)

    @cached_property
    def _gatherer(self) -> FileGatherer:
        side = self._side

        class Folder(GitWorktree):
            def paths(self) -> tuple[str, ...]:
                return side.paths

        return gatherer_in_memory(
            self._project,
            self._plan_or_none(),
            self.policies,
            self._limits_of,
            at=_NO_TIME,
            told=Told(),
            open_worktree=Folder,
            screener=TextScreener(key=_KEY),
            estimator=Estimator(),
            homes=self._homes,
            known_as=side.project_root,
            kind=_ReadOnce,
        )

    def _limits_of(self, model: str | None) -> ModelLimits:
        if model not in self._limits:
            self._limits[model] = limits_for(model, self._project.settings)
        return self._limits[model]

    def _plan_or_none(self) -> Plan | None:
        try:
            return self.plan
        except UsageError:
            return None

    def rules(self) -> tuple[Segment, ...]:
        """Return every rule candidate of the side."""
        return self._gatherer.rules().segments

    def snapshot(self, asked: ViewRequest) -> Snapshot:
        """Return the inputs of a worker's first turn.

        Raises:
            ConfigError: there is no such role; a settings file or a policy is wrong.
        """
        gatherer = self._gatherer
        if self._revision is None:
            self._revision = gatherer.freeze_run()
        profile = self.policies.profile(asked.role)
        limits = self._limits_of(asked.model or asked.task.model)
        brief = SessionBrief(
            session_id=session_id(RunId("build"), asked.task.id, 1, asked.role, 1),
            role=asked.role,
            model=limits.model,
            mode=Mode(asked.mode) if asked.mode else default_mode(profile),
            task=asked.task,
            worktree=str(self._side.root),
            base_commit="",
            run_revision=self._revision,
            instruction=f"Carry out task {asked.task.id}: {asked.task.title}.",
        )
        snapshot = gatherer.gather(brief, turn=1, messages=(), frozen=None)
        if asked.window_tokens is not None:
            snapshot = replace(snapshot, limits=replace(snapshot.limits, window_tokens=asked.window_tokens))
        return snapshot

    def view(self, snapshot: Snapshot) -> View:
        """Assemble and return what the worker sees.

        Raises:
            UsageError: what must be kept does not fit the window.
        """
        built = assemble(snapshot)
        if isinstance(built, Overflow):
            raise overflow_error(built)
        return context_view(built)


class ToolViews:
    """What another tool loads of the side's rule files.

    Args:
        side: the files.
        homes: where the user's own files lie; None: they are not looked at.
        options: how the tool is set and where it is started.
    """

    def __init__(self, side: Side, *, homes: RuleHomes | None = None, options: ToolOptions | None = None) -> None:
        home = homes.user if homes is not None else None
        usual = options or ToolOptions()
        self.options = replace(usual, root=str(side.root), home=str(home) if home is not None else usual.home)
        self._side, self._homes = side, homes or RuleHomes()

    @cached_property
    def tree(self) -> RuleTree:
        """The rule files."""
        return self._side.tree(self._homes, approved=self.options.approved)

    def view(self, tool: Tool, path: str) -> View:
        """Return what a tool has loaded once it works on a path."""
        return account_view(explain_as(self.tree, path, tool, self.options))


def known_roles(views: Collection[WorkerViews]) -> tuple[str, ...]:
    """Return every role that one of the sides has, sorted."""
    return tuple(sorted({role for one in views for role in one.policies.profiles}))
