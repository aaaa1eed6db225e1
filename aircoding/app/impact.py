"""What a change of rules, roles, policies, skills or the plan does to what agents see: both sides, and who differs.

The costly part, an assembly, is done for one path of each group whose rules are chosen alike, and only where something
that could reach the group differs between the sides.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.app.rule_folders import open_folder
from aircoding.app.rule_sources import folder_switches, rule_homes
from aircoding.app.sides import Side, open_revision, open_working_tree
from aircoding.app.views import Asked, ToolViews, WorkerViews, known_roles, path_task
from aircoding.audit.impact import ContextChange, Effect, compare_views, join_effects, sources_of
from aircoding.audit.views import View
from aircoding.errors import AirError, ConfigError, UsageError
from aircoding.homes import air_home
from aircoding.records.ids import Digest
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.globs import Dialect, compile_globs
from aircoding.rules.tools.account import Tool, ToolOptions
from aircoding.rules.tools.path_groups import path_keys
from aircoding.rules.tree import tree_uri
from aircoding.sources.skill_files import PROJECT_FOLDERS
from aircoding.workspace.worktree import GitWorktree

__all__ = ["ChangedFile", "Impact", "ImpactRequest", "find_impact"]

_Found = tuple[str, str, str | None, ContextChange, int, int]
_USUAL_ROLE = "executor"
_OURS = (".air/shared/", ".air/config.toml", *(f"{folder}/" for folder in PROJECT_FOLDERS))
_TESTS = ".air/shared/context-tests/"
_MADE_FROM = {
    "air:policy": (".air/shared/permissions.yaml", ".air/shared/plan/tasks.yaml"),
    "air:task": (".air/shared/plan/tasks.yaml",),
    "air:plan": (".air/shared/plan/tasks.yaml", ".air/shared/plan/plan.md"),
    "air:skills": PROJECT_FOLDERS,
}
"""Texts of a prompt that are no file's own, and what they are made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactRequest:
    """What is compared. Without `tools` our own workers are; without `head` the working tree is the later side.

    Without `paths` all paths are taken, or `sample` of them, drawn by `seed`. `roles` replace those that the plan
    and the profiles have; among these is none that takes every rule whatever its paths.
    """

    start: Path
    base: str
    head: str | None = None
    tools: tuple[Tool, ...] = ()
    roles: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0
    options: ToolOptions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A changed file. `source`: prompts are made from it. `state` is `reaches`, `reaches_nobody` or `unsure`."""

    path: str
    status: str
    source: bool
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """The whole answer. `viewers` are the roles and tools that were asked, the counts of what was compared."""

    base: str
    head: str
    viewers: tuple[str, ...]
    roles: tuple[str, ...]
    path_count: int
    task_count: int
    tasks_added: tuple[str, ...]
    tasks_removed: tuple[str, ...]
    files: tuple[ChangedFile, ...]
    effects: tuple[Effect, ...]
    notes: tuple[str, ...]


def find_impact(request: ImpactRequest) -> Impact:
    """Compare what agents see before and after a change; nothing is checked out, recorded or sent.

    Raises:
        UsageError: a revision names no commit; this is no repository; a path lies outside of it.
        ConfigError: a role is unknown; a settings file or a policy of a side is wrong.
        WorkspaceError: an object is not in this clone.
    """
    folder = open_folder(request.start)
    if not folder.is_repository:
        raise UsageError(
            f"{folder.root} is no git repository, so there is nothing to compare with",
            hint="`git init`, and commit; or look at one state with `aircoding rules explain`",
            code="project.none",
        )
    more = folder_switches(folder.root).agents_fallbacks
    options = request.options or ToolOptions()
    names = frozenset((*more, *options.fallback_names, *options.context_names))
    with ExitStack() as opened:
        base = opened.enter_context(open_revision(folder.root, request.base, more=names))
        if request.head is None:
            head = opened.enter_context(open_working_tree(folder.root, more=names))
        else:
            head = opened.enter_context(open_revision(folder.root, request.head, more=names))
        return _compared(base, head, request)


def _compared(base: Side, head: Side, request: ImpactRequest) -> Impact:
    paths = _paths(base, head, request)
    changed = _changed_files(base, head)
    sources: set[str] = set()
    notes = [*base.notes, *(one for one in head.notes if one not in base.notes)]
    found: list[_Found] = []
    workers: _Workers | None = None
    if request.tools:
        tools = _Tools(base, head, request)
        sources |= tools.sources()
        found += tools.paths(request.tools, paths)
    else:
        workers = _Workers(base, head, request)
        sources |= workers.sources()
        found += [*workers.as_such(), *workers.tasks(), *workers.paths(paths)]
        notes += workers.notes
    effects = join_effects(found, {"path": paths})
    tasks = workers.task_ids if workers is not None else (frozenset(), frozenset())
    roles = workers.roles if workers is not None else ()
    return Impact(
        base=base.label,
        head=head.label,
        viewers=tuple(tool.value for tool in request.tools) or roles,
        roles=roles,
        path_count=len(paths),
        task_count=len(tasks[0] & tasks[1]),
        tasks_added=tuple(sorted(tasks[1] - tasks[0])),
        tasks_removed=tuple(sorted(tasks[0] - tasks[1])),
        files=tuple(_states(changed, effects, sources)),
        effects=effects,
        notes=tuple(notes),
    )


def _paths(base: Side, head: Side, request: ImpactRequest) -> tuple[str, ...]:
    if request.paths:
        return tuple(dict.fromkeys(_inside(head.project_root, request.start, path) for path in request.paths))
    every = sorted({*base.paths, *head.paths})
    if request.sample is None or request.sample >= len(every):
        return tuple(every)
    return tuple(sorted(random.Random(request.seed).sample(every, request.sample)))  # noqa: S311 - a sample


def _inside(root: Path, start: Path, given: str) -> str:
    absolute = Path(os.path.normpath(os.path.join(start, given)))
    if not given or "\0" in given or not absolute.is_relative_to(root):
        raise UsageError(f"{given!r} is no path below {root}", hint="name a path of this repository")
    path = absolute.relative_to(root).as_posix()
    if absolute.is_dir() or given.endswith("/"):
        return "" if path == "." else f"{path}/"
    return path


def _changed_files(base: Side, head: Side) -> Mapping[str, str]:
    """Return the status of each file that differs between the sides."""
    if not head.objects:
        commit = base.commit
        changes = GitWorktree(str(head.project_root)).changes(commit)
        return {one.path: "added" if one.status == "untracked" else one.status for one in changes}
    status: dict[str, str] = {}
    for path in sorted({*base.objects, *head.objects}):
        if base.objects.get(path) != head.objects.get(path):
            gone, new = path not in head.objects, path not in base.objects
            status[path] = "deleted" if gone else "added" if new else "modified"
    return status


def _states(changed: Mapping[str, str], effects: Sequence[Effect], sources: Collection[str]) -> Iterator[ChangedFile]:
    """Say of each changed file whether anybody sees it; unsure where an effect is about no changed file."""
    about = [_files_of(effect, changed) for effect in effects]
    reached = frozenset(path for files in about for path in files)
    sure = all(about)
    for path, status in changed.items():
        source = path in sources or (path.startswith(_OURS) and not path.startswith(_TESTS))
        state = "reaches" if path in reached else "reaches_nobody" if sure or not source else "unsure"
        yield ChangedFile(path=path, status=status, source=source, state=state)


def _files_of(effect: Effect, changed: Mapping[str, str]) -> frozenset[str]:
    uris = sources_of(effect)
    names = {tree_uri(path): path for path in changed}
    own = {path for uri, path in names.items() if any(one == uri or one.startswith(f"{uri}:") for one in uris)}
    made = {
        path
        for start, files in _MADE_FROM.items()
        if any(uri.startswith(start) for uri in uris)
        for path in changed
        if path.startswith(files)
    }
    return frozenset(own | made)


class _Workers:
    """Our own workers on both sides."""

    def __init__(self, base: Side, head: Side, request: ImpactRequest) -> None:
        home = air_home(head.project_root)
        self._sides = (base, head)
        self._views = (
            WorkerViews(base, home=home, homes=rule_homes()),
            WorkerViews(head, home=home, homes=rule_homes()),
        )
        self.notes: list[str] = []
        self._plans = (self._plan(0), self._plan(1))
        self._here = tuple(frozenset(self._on_side(number, _roles_of)) for number in (0, 1))
        self.roles = request.roles or tuple(role for role in known_roles(self._views) if not self._takes_every(role))
        for role in self.roles:
            if not any(role in known for known in self._here):
                known = ", ".join(known_roles(self._views))
                raise ConfigError(f"there is no role `{role}`", hint=f"known: {known}", code="role.unknown")
        planned = {role for plan in self._plans if plan is not None for task in plan.tasks for role in _roles(task)}
        self._path_roles = request.roles or tuple(sorted({_USUAL_ROLE, *planned} & set(self.roles)))
        self._chosen = frozenset(request.roles)
        self._snapshots: dict[tuple[int, str, TaskSpec], Snapshot] = {}

    def _plan(self, number: int) -> Plan | None:
        try:
            return self._views[number].plan
        except UsageError as error:
            first = error.message.split("\n", 2)
            self.notes.append(f"{self._sides[number].label}: its tasks are not compared: {' '.join(first[:2])}")
            return None

    def _on_side(self, number: int, ask: object) -> Iterable[str]:
        try:
            return ask(self._views[number])  # type: ignore[operator, no-any-return]
        except ConfigError as error:
            raise ConfigError(f"{self._sides[number].label}: {error.message}", hint=error.hint) from error

    def _takes_every(self, role: str) -> bool:
        """Whether a role has all rules, whatever their paths: that a rule reaches it says nothing."""
        profiles = [one.policies.profiles[role] for one in self._views if role in one.policies.profiles]
        return any(selection.detail == "every" for one in profiles for selection in one.layers.values())

    @property
    def task_ids(self) -> tuple[frozenset[str], frozenset[str]]:
        """The ids of the tasks of both plans."""
        first, second = (frozenset(task.id for task in plan.tasks) if plan else frozenset() for plan in self._plans)
        return first, second

    def sources(self) -> set[str]:
        """Return the project files that rules and tasks are read from."""
        uris = {one.source.uri for views in self._views for one in views.rules()}
        reads = {read.split(":", 1)[0] for plan in self._plans if plan for task in plan.tasks for read in task.reads}
        return {uri.removeprefix("project:") for uri in uris if uri.startswith("project:")} | reads

    def as_such(self) -> Iterator[_Found]:
        """Compare each role without a task."""
        for role in self.roles:
            task = path_task(())
            yield from self._differs(role, "role", None, task, task)

    def tasks(self) -> Iterator[_Found]:
        """Compare each task that both plans have, for each role that takes part in it."""
        before, after = self._plans
        for task in before.tasks if before is not None else ():
            now = after.task(task.id) if after is not None else None
            if now is None:
                continue
            for role in sorted({*_roles(task), *_roles(now)}):
                if not self._chosen or role in self._chosen:
                    yield from self._differs(role, "task", task.id, task, now)

    def paths(self, paths: Sequence[str]) -> Iterator[_Found]:
        """Compare every path, each group of those that are treated alike by one of them."""
        for role in self._path_roles:
            if not all(role in known for known in self._here):
                continue
            nothing = path_task(())
            snapshots = [self._snapshot(number, role, nothing) for number in (0, 1)]
            scopes = sorted({scope for one in snapshots for scope in _scopes(one)})
            different = _differing(*snapshots)
            for key, group in _grouped(paths, scopes).items():
                if different is None or any(not one or scopes.index(one) in key for one in different):
                    task = path_task((group[0],))
                    for change, before, after in self._change_for(role, task, task):
                        for path in group:
                            yield role, "path", path, change, before, after

    def _differs(
        self, role: str, kind: str, subject: str | None, before: TaskSpec, after: TaskSpec
    ) -> Iterator[_Found]:
        if not all(role in known for known in self._here):
            if kind == "role":
                gone = role in self._here[0]
                view = self._view(0 if gone else 1, role, before)
                change = compare_views(view, View(parts=())) if gone else compare_views(View(parts=()), view)
                if change is not None:
                    yield role, kind, subject, change, view.tokens if gone else 0, 0 if gone else view.tokens
            return
        first, second = self._snapshot(0, role, before), self._snapshot(1, role, after)
        if before == after and _differing(first, second) == frozenset():
            return
        for change, old, new in self._change_for(role, before, after):
            yield role, kind, subject, change, old, new

    def _change_for(self, role: str, before: TaskSpec, after: TaskSpec) -> Iterator[tuple[ContextChange, int, int]]:
        old, new = self._view(0, role, before), self._view(1, role, after)
        change = compare_views(old, new)
        if change is not None:
            yield change, old.tokens, new.tokens

    def _snapshot(self, number: int, role: str, task: TaskSpec) -> Snapshot:
        key = (number, role, task)
        if key not in self._snapshots:
            try:
                self._snapshots[key] = self._views[number].snapshot(Asked(role=role, task=task))
            except AirError as error:
                if not isinstance(error, UsageError):
                    raise
                raise ConfigError(f"{self._sides[number].label}: {error.message}", hint=error.hint) from error
        return self._snapshots[key]

    def _view(self, number: int, role: str, task: TaskSpec) -> View:
        try:
            return self._views[number].view(self._snapshot(number, role, task))
        except UsageError as error:
            if error.code != "context.overflow":
                raise
            return View(parts=(), conflicts=(f"it cannot be assembled: {error.message}",))


def _roles_of(views: WorkerViews) -> Iterable[str]:
    return views.policies.profiles


def _roles(task: TaskSpec) -> tuple[str, ...]:
    """Return the roles that may take part in a task."""
    return tuple(dict.fromkeys((task.role, *task.roles, *task.retry.escalate)))


def _scopes(snapshot: Snapshot) -> Iterator[tuple[str, ...]]:
    """Yield every list of globs that a path decides on."""
    yield from (one.paths for one in snapshot.segments if one.paths)
    yield from (adr.interfaces for adr in snapshot.adrs if adr.interfaces)


def _grouped(paths: Iterable[str], scopes: Sequence[tuple[str, ...]]) -> Mapping[frozenset[int], Sequence[str]]:
    matchers = [compile_globs(scope, Dialect.ROOT_ANCHORED) for scope in scopes]
    groups: dict[frozenset[int], list[str]] = {}
    for path in paths:
        plain = f"{path}_" if path.endswith("/") or not path else path
        key = frozenset(number for number, matcher in enumerate(matchers) if matcher.matches(plain))
        groups.setdefault(key, []).append(path)
    return groups


_NO_DIGEST = Digest("")


def _differing(before: Snapshot, after: Snapshot) -> frozenset[tuple[str, ...]] | None:
    """Return the globs of the candidates that differ, `()` for one without; None: something else differs.

    Where a candidate with globs differs, only paths that match one of its globs can see that.
    """
    if (before.tools, before.policy.rules, before.limits, before.adrs, before.profile) != (
        after.tools,
        after.policy.rules,
        after.limits,
        after.adrs,
        after.profile,
    ):
        return None
    old, new = [_plain(one) for one in before.segments], [_plain(one) for one in after.segments]
    if old == new:
        return frozenset()
    first, second = set(old), set(new)
    every = any(selection.detail == "every" for selection in before.profile.layers.values())
    scopes = {() if one.triggers or every else one.paths for one in first ^ second}
    same = [one for one in old if one in second], [one for one in new if one in first]
    return frozenset(scopes) if same[0] == same[1] else None


def _plain(segment: Segment) -> Segment:
    """Return a candidate without what its reader does not see: the bytes of the whole file, where its header stands."""
    source = replace(segment.source, digest=_NO_DIGEST, start_line=None, end_line=None)
    return replace(segment, source=source, paths_line=None, tags_line=None, triggers_line=None)


class _Tools:
    """Other tools on both sides."""

    def __init__(self, base: Side, head: Side, request: ImpactRequest) -> None:
        homes = rule_homes()
        self._views = tuple(ToolViews(side, homes=homes, options=request.options) for side in (base, head))

    def sources(self) -> set[str]:
        """Return the project files that are rule files, or that one imports."""
        return {file.inner for one in self._views for file in one.tree.files.values() if file.of_project}

    def paths(self, tools: Sequence[Tool], paths: Sequence[str]) -> Iterator[_Found]:
        """Compare what each tool loads for every path."""
        first, second = (path_keys(one.tree, paths) for one in self._views)
        groups: dict[object, list[str]] = {}
        for path in paths:
            groups.setdefault((first[path], second[path]), []).append(path)
        for tool, group in itertools.product(tools, groups.values()):
            old, new = (one.view(tool, group[0]) for one in self._views)
            change = compare_views(old, new)
            if change is not None:
                for path in group:
                    yield tool.value, "path", path, change, old.tokens, new.tokens
