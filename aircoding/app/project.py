"""Open a project: its repository, its settings, where its record is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from aircoding.errors import ConfigError, NotFoundError, ProjectError, StoreError
from aircoding.homes import air_home, is_air_home
from aircoding.sources.files import read_text_file
from aircoding.sources.project_files import require_unlinked_folder
from aircoding.sources.trust import is_trusted

if TYPE_CHECKING:
    from aircoding.settings import Settings
    from aircoding.store import Store
    from aircoding.workspace.repository import GitRepository

__all__ = ["Project", "as_profile", "find_root", "open_project", "open_record", "open_recorded"]
__all__ += ["recorded_root"]

_PLAN = ".air/shared/plan/tasks.yaml"
_RECORD = ".air/local/air.db"
_MAX_PLAN_BYTES = 64_000_000
"""About 130,000 tasks; a larger file is taken for a mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A git repository with its settings; `home` is the user's `~/.air`."""

    root: Path
    home: Path
    settings: Settings
    repository: GitRepository

    @property
    def local(self) -> Path:
        """What git ignores: database, worktrees, logs."""
        return self.root / ".air" / "local"

    @property
    def trusted(self) -> bool:
        """Whether the user trusts this project's files to instruct."""
        return is_trusted(self.home, self.root)

    @property
    def database(self) -> str:
        """The database: a URL, or the path of a SQLite file."""
        return self.settings.store.url or str(self.local / "air.db")

    def plan_path(self, plan_file: Path | None) -> Path:
        """Return the plan that was named, or the project's own."""
        return self.root / _PLAN if plan_file is None else plan_file.absolute()

    def read_plan(self, plan_file: Path | None) -> tuple[str, str]:
        """Return a plan's text and its uri.

        Raises:
            NotFoundError: there is no such file.
            ConfigError: it cannot be read as UTF-8 text.
        """
        path = self.plan_path(plan_file)
        try:
            uri = f"project:{path.relative_to(self.root).as_posix()}"
        except ValueError:
            uri = f"file:{path.name}"
        inside = plan_file is None
        read = read_text_file(self.root, _PLAN if inside else str(path), inside=inside, max_bytes=_MAX_PLAN_BYTES)
        if read.absent:
            raise NotFoundError(
                f"there is no plan at {os.path.relpath(path)}",
                hint="write one (docs/reference/plan.md), name one with --plan, or give --goal",
            )
        if read.problem or read.lossy:
            problem = read.problem or "it is no UTF-8 text"
            raise ConfigError(
                f"{os.path.relpath(path)}: the plan cannot be read: {problem}",
                hint="name a regular text file; docs/reference/plan.md shows one",
                code="plan.unreadable",
            )
        return read.text, uri

    def open_store(
        self,
        *,
        create: bool = False,
        write: bool = False,
        migrate: Literal["create", "upgrade", "never"] = "create",
    ) -> Store:
        """Open the record. Without `create` it must be there already.

        Without `create` and `write` the caller only reads: a file that cannot be written (a read-only disk, another
        owner) is then opened as it is, and nothing in it is changed.

        Raises:
            NotFoundError: nothing was recorded yet.
            ConfigError: `.air/local` is a link that leads out of the project, or something in it is a link.
            StoreError: the database cannot be used.
        """
        return open_record(self.root, self.settings, create=create, write=write, migrate=migrate)


def open_record(
    root: Path,
    settings: Settings,
    *,
    create: bool = False,
    write: bool = False,
    migrate: Literal["create", "upgrade", "never"] = "create",
) -> Store:
    """Open the record of the project in `root`, as `Project.open_store` does; nothing of git is needed for it."""
    require_unlinked_folder(root, ".air/local")
    database = settings.store.url or str(root / ".air" / "local" / "air.db")
    if "://" not in database:
        if not create and not Path(database).exists():
            raise NotFoundError(
                "nothing is on record in this project yet",
                hint="start with `aircoding run`, or take a run in with `aircoding import BUNDLE`",
            )
        Path(database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    from aircoding.store import open_store

    try:
        return open_store(database, migrate=migrate)
    except StoreError as error:
        if create or write or error.code != "store.read_only":
            raise
        return open_store(database, read_only=True, migrate=migrate)


def as_profile(project: Project, name: str | None) -> Project:
    """Return the project with a user's profile; without a name as it is.

    Raises:
        ConfigError: it is no name of a profile.
        NotFoundError: there is no such profile.
    """
    from aircoding.settings import IdentitySettings
    from aircoding.sources.profile_files import require_profile

    chosen = name or project.settings.identity.profile
    require_profile(project.home, chosen)
    settings = project.settings.model_copy(update={"identity": IdentitySettings(profile=chosen)})
    return replace(project, settings=settings)


def open_project(start: Path, *, flags: Mapping[str, Mapping[str, Any]] | None = None) -> Project:
    """Find the repository around `start` and read its settings.

    Raises:
        ProjectError: `start` is in no repository, or in one without a commit.
        ConfigError: a settings file is wrong.
    """
    from aircoding.settings import load_settings
    from aircoding.workspace.repository import open_repository

    repository = open_repository(start)
    root = Path(repository.root)
    return Project(root=root, home=air_home(root), settings=load_settings(root, flags=flags), repository=repository)


def open_recorded(start: Path, *, create: bool = False) -> Project:
    """Open a project whose record alone is asked or filled: that needs no commit, and no repository.

    Args:
        start: a folder of the project.
        create: where there is neither a repository nor a record, take `start` itself for the project.

    Raises:
        ProjectError: `start` is in no repository and has no record, or is the worktree of an attempt.
        ConfigError: a settings file is wrong.
    """
    from aircoding.settings import load_settings
    from aircoding.workspace.repository import GitRepository

    root = recorded_root(start, create=create)
    return Project(root=root, home=air_home(root), settings=load_settings(root), repository=GitRepository(str(root)))


def recorded_root(start: Path, *, create: bool = False) -> Path:
    """Return the folder that the record of `start` belongs to, without a look into git (see `open_recorded`).

    Raises:
        ProjectError: there is none.
    """
    root = find_root(start)
    if root is not None and (root / ".git").is_file():
        return open_project(start).root  # says what is wrong, or knows which worktree it is
    if root is not None:
        return root
    whole = start.absolute()
    root = next((folder for folder in (whole, *whole.parents) if (folder / _RECORD).is_file()), None)
    if root is not None:
        return root
    if not create:
        raise ProjectError(
            f"{start} is in no git repository, and nothing is on record here",
            hint="go to a repository, or take a run in here: `aircoding import BUNDLE`",
            code="project.none",
        )
    if is_air_home(whole / ".air"):
        raise ProjectError(
            f"{start} is your home folder, whose .air is yours and no project's",
            hint="make a folder for what is taken in, and go there",
            code="project.home",
        )
    return whole


def find_root(start: Path) -> Path | None:
    """Return the repository around `start`; one without a commit, or without git on this machine, will do."""
    whole = start.absolute()
    return next((folder for folder in (whole, *whole.parents) if (folder / ".git").exists()), None)
