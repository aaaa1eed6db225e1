"""`init`: make `.air/` with commented files; what is there already stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aircoding.app.project import open_project
from aircoding.errors import WorkspaceError
from aircoding.sources.project_files import create_project_text, require_project_place
from aircoding.sources.resources import read_resource
from aircoding.sources.trust import is_trusted, trust_project

__all__ = ["CONFIG", "PERMISSIONS", "InitReport", "initialise", "packaged_text"]

CONFIG, PERMISSIONS = ".air/config.toml", ".air/shared/permissions.yaml"

_FILES = (
    (CONFIG, "init/config.toml"),
    (".air/.gitignore", "init/gitignore"),
    (PERMISSIONS, "init/permissions.yaml"),
    (".air/shared/rules/project-rules.md", "rules/project-rules.md"),
    (".air/shared/rules/toolchain-rules.md", "rules/toolchain-rules.md"),
    (".air/shared/plan/plan.md", "init/plan.md"),
    (".air/shared/plan/tasks.yaml", "init/tasks.yaml"),
    (".air/shared/context-tests/example.yaml", "init/context-tests.yaml"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitReport:
    """Each file and whether it was made; whether the project is trusted now; what to do next."""

    files: tuple[tuple[str, bool], ...]
    trusted: bool
    next_command: str


def initialise(start: Path, *, trust: bool) -> InitReport:
    """Write the files that are missing; with `trust`, remember that this project may instruct agents.

    Nothing is made where one of the places is not the project's own.

    Raises:
        ConfigError: a folder of the files is none, or a link that leads out of the project.
        WorkspaceError: a file cannot be written.
    """
    project = open_project(start)
    for name, _ in _FILES:
        require_project_place(project.root, name, replaced=False)
    files = tuple((name, _write_new(project.root, name, read_resource(resource))) for name, resource in _FILES)
    if trust:
        trust_project(project.home, project.root)
    return InitReport(
        files=files,
        trusted=is_trusted(project.home, project.root),
        next_command="edit .air/shared/plan/tasks.yaml, then `aircoding plan check`",
    )


def packaged_text(name: str) -> str:
    """Return what `init` writes into one of its files."""
    return read_resource(dict(_FILES)[name])


def _write_new(root: Path, name: str, text: str) -> bool:
    try:
        return create_project_text(root, name, text)
    except OSError as error:
        raise WorkspaceError(
            f"{root / name}: cannot be written: {error.strerror}", hint="check rights and free space"
        ) from error
