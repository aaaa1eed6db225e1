"""Where the user's files lie; apart from the settings, whose library is heavy.

What lies there speaks with the user's voice, so it may be no folder that a repository can fill.
"""

from __future__ import annotations

import os
from pathlib import Path

from aircoding.errors import ConfigError

__all__ = ["air_home", "home_from", "is_air_home", "user_home"]


def air_home(project_root: Path | None = None) -> Path:
    """Return the user's folder: `AIR_HOME`, else `~/.air`.

    Args:
        project_root: the project that is opened, if any; where it is a repository, the folder may not lie in it,
            unless the user's whole home is that repository.

    Raises:
        ConfigError: the folder is relative, or lies in the project.
    """
    set_home = home_from("AIR_HOME")
    home = set_home or user_home() / ".air"
    if project_root is not None and os.path.lexists(project_root / ".git") and _lies_in(home, project_root):
        raise ConfigError(
            f"{home}: the user's folder lies inside the project {project_root}, which then could speak as the user",
            hint="set AIR_HOME to a folder outside of it",
            code="home.inside",
        )
    return home


def is_air_home(folder: Path) -> bool:
    """Whether a folder is the user's by its own name, as in a home that is a repository; a link to it is not."""
    home = air_home()
    return folder.name == home.name and os.path.realpath(folder.parent) == os.path.realpath(home.parent)


def user_home() -> Path:
    """Return the user's home folder.

    Raises:
        ConfigError: HOME is relative, or there is none.
    """
    try:
        home = Path.home()
    except RuntimeError as error:
        raise ConfigError("the user has no home folder", hint="set HOME or AIR_HOME", code="home.none") from error
    return _absolute("HOME", home)


def home_from(variable: str) -> Path | None:
    """Return the folder that a variable names, `~` resolved; None: it is not set.

    Raises:
        ConfigError: the folder is relative: it would be another one in each project.
    """
    value = os.environ.get(variable)
    if not value:
        return None
    return _absolute(variable, Path(os.path.expanduser(value)))


def _lies_in(folder: Path, root: Path) -> bool:
    real = os.path.realpath(root)
    return Path(os.path.realpath(folder)).is_relative_to(real) and os.path.realpath(user_home()) != real


def _absolute(variable: str, folder: Path) -> Path:
    if folder.is_absolute():
        return folder
    raise ConfigError(
        f"{variable} is the relative path {str(folder)!r}: in a repository its files would be taken for the user's",
        hint=f"set {variable} to a whole path, such as {'/home/you' if variable == 'HOME' else '~/.air'}",
        code="home.relative",
    )
