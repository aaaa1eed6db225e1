"""Which files differ between two sides, and which of them anybody sees."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aircoding.app.sides import Side
from aircoding.audit.impact import Effect, sources_of
from aircoding.rules.tree import tree_uri
from aircoding.sources.skill_files import PROJECT_FOLDERS
from aircoding.workspace.worktree import GitWorktree

__all__ = ["ChangedFile", "changed_files", "file_states"]

_OURS = (".air/shared/", ".air/config.toml", *(f"{folder}/" for folder in PROJECT_FOLDERS))
_TESTS = ".air/shared/context-tests/"
_DECIDING = (
    *(".air/config.toml", ".air/shared/permissions.yaml"),
    *(".air/shared/plan/tasks.yaml", ".air/shared/roles/"),
)
"""Files that let in, or keep out, texts of other files."""
_MADE_FROM = {
    "air:policy": (".air/shared/permissions.yaml", ".air/shared/plan/tasks.yaml"),
    "air:task": (".air/shared/plan/tasks.yaml",),
    "air:plan": (".air/shared/plan/tasks.yaml", ".air/shared/plan/plan.md"),
    "air:skills": PROJECT_FOLDERS,
}
"""Texts of a prompt that are no file's own, and what they are made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A changed file. `source`: prompts are made from it. `state` is `reaches`, `reaches_nobody` or `unsure`."""

    path: str
    status: str
    source: bool
    state: str


def changed_files(base: Side, head: Side) -> Mapping[str, str]:
    """Return the status of each file that differs between the sides, such as `added`, `modified` or `deleted`.

    Raises:
        WorkspaceError: git cannot tell what changed in the working tree.
    """
    if not head.objects:
        changes = GitWorktree(str(head.project_root)).changes(base.commit)
        return {one.path: "added" if one.status == "untracked" else one.status for one in changes}
    status: dict[str, str] = {}
    for path in sorted({*base.objects, *head.objects}):
        if base.objects.get(path) != head.objects.get(path):
            gone, new = path not in head.objects, path not in base.objects
            status[path] = "deleted" if gone else "added" if new else "modified"
    return status


def file_states(
    changed: Mapping[str, str], effects: Sequence[Effect], *, sources: Collection[str], unread: Collection[str]
) -> Iterator[ChangedFile]:
    """Say of each changed file whether anybody sees it.

    An effect on the text of a file that did not change comes from one that decides about it (settings, a role): where
    one such file changed it is that one, and where several did it cannot be told which.

    Args:
        changed: the files with their status.
        effects: what differs for readers.
        sources: the files that prompts are made from, beside the program's own.
        unread: files and folders of the base that could not be read: what their change does cannot be told.
    """
    about = [_files_of(effect, changed) for effect in effects]
    reached = {path for files in about for path in files}
    unsure = {path for path in changed if any(f"{path}/".startswith(f"{one}/") for one in unread)}
    deciding = [path for path in changed if path.startswith(_DECIDING) and path not in unsure]
    if not all(about):
        if len(deciding) == 1:
            reached.add(deciding[0])
        else:
            unsure |= set(deciding or changed)
    for path, status in changed.items():
        source = path in sources or (path.startswith(_OURS) and not path.startswith(_TESTS))
        state = "reaches" if path in reached else "unsure" if source and path in unsure else "reaches_nobody"
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
