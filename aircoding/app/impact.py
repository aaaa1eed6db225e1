"""What a change of rules, roles, policies, skills or the plan does to what agents see: both sides, and who differs."""

from __future__ import annotations

import os
import random
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.changed_files import ChangedFile, changed_files, file_states
from aircoding.app.rule_folders import open_folder
from aircoding.app.rule_sources import folder_switches
from aircoding.app.sides import Side, open_revision, open_working_tree
from aircoding.app.tool_impact import ToolImpact
from aircoding.app.worker_impact import WorkerImpact
from aircoding.audit.impact import Effect, SeenChange, join_effects
from aircoding.errors import UsageError
from aircoding.rules.tools.account import Tool, ToolOptions

__all__ = ["Impact", "ImpactRequest", "find_impact"]


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
class Impact:
    """The whole answer. `viewers` are the roles and tools that were asked, the counts of what was compared.

    `unread` are settings of the base that could not be read: those of the later side stood in for them, so that of what
    their change does nothing is in `effects`. With these files no worker could have begun.
    """

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
    unread: tuple[str, ...]
    notes: tuple[str, ...]


def find_impact(request: ImpactRequest) -> Impact:
    """Compare what agents see before and after a change; nothing is checked out, recorded or sent.

    Raises:
        UsageError: a revision names no commit; this is no repository; a path lies outside of it.
        ConfigError: a role is unknown; a settings file, a policy, a role or the plan of the later side is wrong.
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
    changed = changed_files(base, head)
    notes = [*base.notes, *(one for one in head.notes if one not in base.notes)]
    found: list[SeenChange] = []
    roles: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    tasks: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    if request.tools:
        tools = ToolImpact(base, head, request.options)
        sources = tools.sources()
        found += tools.paths(request.tools, paths)
    else:
        workers = WorkerImpact(base, head, request.roles)
        roles, unread, tasks = workers.roles, workers.unread, workers.task_ids
        sources = workers.sources()
        found += [*workers.as_such(), *workers.tasks(), *workers.paths(paths)]
        notes += workers.notes
    effects = join_effects(found, {"path": paths})
    return Impact(
        base=base.label,
        head=head.label,
        viewers=tuple(tool.value for tool in request.tools) or roles,
        roles=roles,
        path_count=len(paths),
        task_count=len(tasks[0] & tasks[1]),
        tasks_added=tuple(sorted(tasks[1] - tasks[0])),
        tasks_removed=tuple(sorted(tasks[0] - tasks[1])),
        files=tuple(file_states(changed, effects, sources=sources, unread=unread)),
        effects=effects,
        unread=unread,
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
