"""Write files below a project's root, whose links a repository chose: never through one, and never outside of it.

A folder on the way may be a link that stays inside the project; the file itself may be none. What was checked is what
is written: the folder is walked without following links and held open, and the file gets its name in that folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from aircoding.errors import ConfigError
from aircoding.records.printable import printable
from aircoding.sources.files import list_folder

__all__ = ["create_project_text", "project_folder", "replace_project_text", "require_project_place"]
__all__ += ["require_unlinked_folder"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_CODE = "project.link"


def require_project_place(root: Path, name: str, *, replaced: bool) -> None:
    """Refuse a place at which a file cannot be made, or with `replaced` not be replaced; nothing is made.

    Raises:
        ConfigError: a folder on the way is none or leads out of the project, or the replaced file is a link or no
            regular file.
    """
    folder, _ = _walked(root, name)
    for above in (folder, *folder.parents):
        if os.path.lexists(above):
            if not above.is_dir():
                raise _no_folder(root, above)
            break
    if not replaced:
        return
    with contextlib.suppress(FileNotFoundError):
        _refuse_odd(name, os.lstat(folder / Path(name).name))


def create_project_text(root: Path, name: str, text: str) -> bool:
    """Write a file that is not there yet; False when something, were it a link, has its name already.

    Raises:
        ConfigError: a folder on the way is none, or leads out of the project.
        OSError: it cannot be written; it is then not there.
    """
    folder = _opened(root, name)
    own = Path(name).name
    try:
        with contextlib.suppress(FileNotFoundError):
            os.stat(own, dir_fd=folder, follow_symlinks=False)
            return False
        try:
            _write(folder, own, text, 0o666)
        except FileExistsError:
            return False
        return True
    finally:
        os.close(folder)


def replace_project_text(root: Path, name: str, text: str, *, new_mode: int = 0o644) -> None:
    """Put a new file in the place of the old one in one step; its rights stay, one that was not there has `new_mode`.

    Args:
        root: the project's root.
        name: POSIX path below it; missing folders are made.
        text: what the file holds then.
        new_mode: rights of a file that was not there.

    Raises:
        ConfigError: see `require_project_place`.
        OSError: it cannot be written; the old file is then as it was.
    """
    folder = _opened(root, name)
    own = Path(name).name
    partial = f".{own}.{secrets.token_hex(8)}"
    mode = new_mode
    try:
        with contextlib.suppress(FileNotFoundError):
            found = os.stat(own, dir_fd=folder, follow_symlinks=False)
            _refuse_odd(name, found)
            mode = stat.S_IMODE(found.st_mode) & 0o777
        _write(folder, partial, text, 0o600, mode)
        try:
            os.rename(partial, own, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(partial, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def require_unlinked_folder(root: Path, name: str) -> None:
    """Refuse a folder for files that others write by their paths: it leads out, or something in it is a link.

    Raises:
        ConfigError: it is so, or the folder cannot be read.
    """
    require_project_place(root, f"{name}/file", replaced=False)
    names, problem = list_folder(root / name)
    if problem is not None:
        raise ConfigError(f"{name} cannot be read: {problem}", hint="check the rights of the folder")
    for one in names:
        if (root / name / one).is_symlink():
            _refuse_odd(f"{name}/{one}", os.lstat(root / name / one))


def project_folder(root: Path, name: str) -> Path:
    """Make the folder of the file `name`, and return where it really lies.

    Raises:
        ConfigError: it is none, or leads out of the project.
        OSError: it cannot be made.
    """
    os.close(_opened(root, name))
    return _walked(root, name)[0]


def _walked(root: Path, name: str) -> tuple[Path, Path]:
    """Return the real folder of a file and the real root; refuse a folder that leads out, or into git's own."""
    base = Path(os.path.realpath(root))
    current = base
    for part in Path(name).parent.parts:
        place = current / part
        current = Path(os.path.realpath(place))
        inner = current.relative_to(base).parts if current.is_relative_to(base) else None
        if inner is None or any(each.casefold() == ".git" for each in inner):
            where = "out of the project" if inner is None else "into .git"
            raise ConfigError(
                f"{_shown(base, place)} is a link that leads {where} ({printable(os.readlink(place))}); "
                f"{printable(name)} is not written through it",
                hint="look who made the link, then make it a folder of the project",
                code=_CODE,
            )
    return current, base


def _opened(root: Path, name: str) -> int:
    """Open the folder of a file, making what is missing, without following a link once the way is known."""
    folder, base = _walked(root, name)
    current = os.open(base, _FOLDER)
    done = base
    try:
        for part in folder.relative_to(base).parts:
            done = done / part
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=current)
            try:
                step = os.open(part, _FOLDER, dir_fd=current)
            except OSError as error:
                if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                    raise _no_folder(root, done) from error
                raise
            os.close(current)
            current = step
    except BaseException:
        os.close(current)
        raise
    return current


def _write(folder: int, own: str, text: str, mode: int, final_mode: int | None = None) -> None:
    """Write a new file in a folder, on disk before anything counts on it; nothing stays where it fails."""
    data = text.encode("utf-8", "backslashreplace")
    descriptor = os.open(own, _NEW, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if final_mode is not None:
                os.fchmod(file.fileno(), final_mode)
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(own, dir_fd=folder)
        raise


def _refuse_odd(name: str, found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    what = "a link" if stat.S_ISLNK(found.st_mode) else "no regular file"
    raise ConfigError(
        f"{printable(name)} is {what}; nothing is written through it",
        hint="look who made it, then remove it or make it a file",
        code=_CODE,
    )


def _no_folder(root: Path, path: Path) -> ConfigError:
    what = "is a link that leads in a circle, or changes" if path.is_symlink() else "is no folder"
    return ConfigError(f"{_shown(Path(os.path.realpath(root)), path)} {what}", hint="make it a folder", code=_CODE)


def _shown(base: Path, path: Path) -> str:
    return printable(path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path))
