"""What our own workers see on both sides of a change, and who of them sees something else.

The costly part, an assembly, is done for one path of each group whose rules are chosen alike, and only where something
that could reach the group differs between the sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from aircoding.app.overflows import OVERFLOW_CODE
from aircoding.app.readable_base import readable_base
from aircoding.app.rule_sources import rule_homes
from aircoding.app.sides import Side
from aircoding.app.views import ViewRequest, WorkerViews, known_roles, path_task
from aircoding.audit.impact import ContextChange, SeenChange, Viewer, compare_views
from aircoding.audit.views import View
from aircoding.errors import ConfigError, UsageError
from aircoding.homes import air_home
from aircoding.records.ids import Digest
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.globs import Dialect, compile_globs

__all__ = ["WorkerImpact"]

_USUAL_ROLE = "executor"
_BASE, _HEAD = 0, 1
_NO_DIGEST = Digest("")


class WorkerImpact:
    """Our own workers on both sides.

    Args:
        base: the earlier side; what of its settings cannot be read is as on the later side, and named in `unread`.
        head: the later side.
        roles: only these; empty: those that the plans and the profiles have.

    Raises:
        ConfigError: there is no such role; a settings file, a policy, a role or the plan of the later side is wrong.
    """

    def __init__(self, base: Side, head: Side, roles: Sequence[str] = ()) -> None:
        self._labels = (base.label, head.label)
        later = _opened(head)
        earlier = readable_base(base, head, _views)
        self.unread = tuple(earlier.unread)
        self.notes = [f"{base.label}: {why}; {path} is taken from {head.label}" for path, why in earlier.unread.items()]
        self._views = (earlier.views, later)
        self._plans: tuple[Plan | None, Plan | None] = (earlier.views.plan, later.plan)
        self._here = tuple(frozenset(one.policies.profiles) for one in self._views)
        self.roles = tuple(roles) or tuple(role for role in known_roles(self._views) if not self._takes_every(role))
        for role in self.roles:
            if not any(role in known for known in self._here):
                known = ", ".join(known_roles(self._views))
                raise ConfigError(f"there is no role `{role}`", hint=f"known: {known}", code="role.unknown")
        planned = {role for plan in self._plans if plan is not None for task in plan.tasks for role in _roles(task)}
        self._path_roles = tuple(roles) or tuple(sorted({_USUAL_ROLE, *planned} & set(self.roles)))
        self._chosen = frozenset(roles)
        self._snapshots: dict[tuple[int, str, TaskSpec], Snapshot] = {}

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

    def as_such(self) -> Iterator[SeenChange]:
        """Compare each role without a task."""
        for role in self.roles:
            task = path_task(())
            yield from self._differs(Viewer(role, "role", None), task, task)

    def tasks(self) -> Iterator[SeenChange]:
        """Compare each task that both plans have, for each role that takes part in it."""
        before, after = self._plans
        for task in before.tasks if before is not None else ():
            now = after.task(task.id) if after is not None else None
            if now is None:
                continue
            for role in sorted({*_roles(task), *_roles(now)}):
                if not self._chosen or role in self._chosen:
                    yield from self._differs(Viewer(role, "task", task.id), task, now)

    def paths(self, paths: Sequence[str]) -> Iterator[SeenChange]:
        """Compare every path, each group of those that are treated alike by one of them."""
        for role in self._path_roles:
            if not all(role in known for known in self._here):
                continue
            nothing = path_task(())
            snapshots = [self._snapshot(number, role, nothing) for number in (_BASE, _HEAD)]
            scopes = sorted({scope for one in snapshots for scope in _scopes(one)})
            different = _differing(*snapshots)
            for key, group in _grouped(paths, scopes).items():
                if different is None or any(not one or scopes.index(one) in key for one in different):
                    task = path_task((group[0],))
                    change = self._change(Viewer(role, "path", group[0]), task, task)
                    if change is not None:
                        yield from (replace(change, viewer=Viewer(role, "path", path)) for path in group)

    def _differs(self, viewer: Viewer, before: TaskSpec, after: TaskSpec) -> Iterator[SeenChange]:
        role = viewer.name
        if not all(role in known for known in self._here):
            if viewer.kind == "role":
                yield from self._whole(viewer, before)
            return
        first, second = self._snapshot(_BASE, role, before), self._snapshot(_HEAD, role, after)
        if before == after and _differing(first, second) == frozenset():
            return
        change = self._change(viewer, before, after)
        if change is not None:
            yield change

    def _whole(self, viewer: Viewer, task: TaskSpec) -> Iterator[SeenChange]:
        """Yield all that a role sees which is new, or gone."""
        gone = viewer.name in self._here[_BASE]
        view = self._view(_BASE if gone else _HEAD, viewer.name, task)
        nothing = View(parts=())
        before, after = (view, nothing) if gone else (nothing, view)
        change = compare_views(before, after)
        if change is not None:
            yield _seen(viewer, change, before, after)

    def _change(self, viewer: Viewer, before: TaskSpec, after: TaskSpec) -> SeenChange | None:
        old, new = self._view(_BASE, viewer.name, before), self._view(_HEAD, viewer.name, after)
        change = compare_views(old, new)
        return None if change is None else _seen(viewer, change, old, new)

    def _snapshot(self, number: int, role: str, task: TaskSpec) -> Snapshot:
        key = (number, role, task)
        if key not in self._snapshots:
            try:
                self._snapshots[key] = self._views[number].snapshot(ViewRequest(role=role, task=task))
            except UsageError as error:
                raise ConfigError(f"{self._labels[number]}: {error.message}", hint=error.hint) from error
        return self._snapshots[key]

    def _view(self, number: int, role: str, task: TaskSpec) -> View:
        try:
            return self._views[number].view(self._snapshot(number, role, task))
        except UsageError as error:
            if error.code != OVERFLOW_CODE:
                raise
            return View(parts=(), conflicts=(f"it cannot be assembled: {error.message}",))


def _views(side: Side) -> WorkerViews:
    return WorkerViews(side, home=air_home(side.project_root), homes=rule_homes())


def _opened(side: Side) -> WorkerViews:
    """Return the views of a side of which all that they are made from was read: what is wrong there is told first."""
    try:
        views = _views(side)
        _ = views.policies, views.plan
    except ConfigError as error:
        message = f"{side.label}: {error.message.replace(f'{side.root}/', '')}"
        raise ConfigError(message, hint=error.hint, diagnostics=error.diagnostics) from error
    return views


def _seen(viewer: Viewer, change: ContextChange, before: View, after: View) -> SeenChange:
    return SeenChange(viewer=viewer, change=change, tokens_before=before.tokens, tokens_after=after.tokens)


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
