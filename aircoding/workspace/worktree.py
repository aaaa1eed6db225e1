"""One attempt's files: read and write beneath the worktree's root, and what git sees of them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import stat
from pathlib import Path

from aircoding.errors import PathRefusedError, WorkspaceError
from aircoding.records.digests import sha256_bytes
from aircoding.records.ids import Digest
from aircoding.records.work import Change, FileText
from aircoding.workspace.beneath import failure, file_for_writing, open_folder, open_to_read
from aircoding.workspace.git import NO_PROGRAMS, git, git_bytes
from aircoding.workspace.listings import names, work_paths

__all__ = ["MAX_READ_BYTES", "PARTIAL_FILES", "GitWorktree", "decode_text"]

MAX_READ_BYTES = 64_000_000
"""No file is read whole that is larger, whatever the caller says: it would be held in memory several times."""

PARTIAL_FILES = ":(glob)**/.air-*.partial"
"""What a write that was killed leaves behind; no listing, diff or commit contains it."""

_UTF16 = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_STATUS = {"A": "added", "D": "deleted"}
_DIFFABLE_BYTES = 4_000_000
"""A larger file is named in a diff as binary, not shown."""


class GitWorktree:
    """The files of one git worktree; nothing outside its root is reachable."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)

    @property
    def root(self) -> str:
        """The absolute path on this machine."""
        return self._root

    def resolve(self, path: str) -> str:
        """Return the real path that `path` names: relative when inside (`.` is the root), else absolute."""
        if "\0" in path or not path:
            raise PathRefusedError(f"{path!r} is no path", hint="use a path relative to the worktree's root")
        try:
            real = os.path.realpath(os.path.join(self._root, os.path.expanduser(path)))
            found = os.lstat(real)
        except FileNotFoundError:
            found = None
        except NotADirectoryError as error:
            raise PathRefusedError(f"{path} goes through a file as if it were a folder") from error
        except (OSError, ValueError) as error:
            raise PathRefusedError(f"{path} cannot be resolved: {error}") from error
        if found is not None and stat.S_ISLNK(found.st_mode):
            raise PathRefusedError(f"{path} leads in a circle of links")
        return "." if real == self._root else real.removeprefix(self._root.rstrip("/") + "/")

    def read(self, path: str, *, max_bytes: int | None = None) -> FileText:
        """Read a regular text file (see `decode_text`)."""
        limit = MAX_READ_BYTES if max_bytes is None else min(max_bytes, MAX_READ_BYTES)
        descriptor, found = open_to_read(self._root, path)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(limit + 1) if found.st_size <= limit else b""
        if len(data) > limit or found.st_size > limit:
            size = max(found.st_size, len(data))
            raise WorkspaceError(
                f"{path} has {size} bytes, more than {limit}",
                hint="search in it, or print a part of it with a command",
                code="workspace.too_large",
            )
        text, lossy = decode_text(data, path)
        return FileText(path=path, text=text, digest=sha256_bytes(data), size_bytes=len(data), lossy=lossy)

    def write(self, path: str, data: bytes) -> Digest:
        """Write a file atomically; its folders are made, its mode is kept, and it is on disk before its name is."""
        folder_path, _, name = path.rpartition("/")
        folder = open_folder(self._root, folder_path)
        partial = f".air-{secrets.token_hex(8)}.partial"
        try:
            before = file_for_writing(folder, name, path)
            descriptor = os.open(
                partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder
            )
            with os.fdopen(descriptor, "wb") as file:
                if before is not None:
                    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            raise failure(path, error) from error
        finally:
            os.close(folder)
        return sha256_bytes(data)

    def digest(self, path: str) -> Digest | None:
        """Return the digest of a file, or None when there is none."""
        try:
            descriptor, _ = open_to_read(self._root, path)
        except WorkspaceError as error:
            if error.code == "workspace.missing":
                return None
            raise
        with os.fdopen(descriptor, "rb") as file:
            return Digest(hashlib.file_digest(file, "sha256").hexdigest())

    def paths(self) -> tuple[str, ...]:
        """Return all files and links that git tracks or would track, sorted; deleted ones are left out.

        A repository inside this one is none of its files.
        """
        found = {*names(self._listed("--cached")), *names(self._others())}
        return tuple(sorted(name for name in found if self._is_file(name)))

    def changes(self, base: str) -> tuple[Change, ...]:
        """Return what differs from commit `base`, untracked files included, ignored ones not, sorted.

        A rename is a deletion and an addition. A repository that lies inside as an untracked folder
        is one change, named as the folder.
        """
        listing = git_bytes(self._root, "diff", "--name-status", "--no-renames", *NO_PROGRAMS, "-z", base, "--")
        fields = names(listing)
        found = {
            name: _STATUS.get(status[:1], "modified") for status, name in zip(fields[::2], fields[1::2], strict=True)
        }
        for name in names(self._others()):
            # An untracked file that the base has (deleted, committed so, made again) has changed; it is not new.
            found[name.rstrip("/")] = "modified" if found.get(name) == "deleted" else "untracked"
        return tuple(Change(path=path, status=found[path]) for path in sorted(found))

    def diff(self, base: str) -> str:
        """Return the unified diff against `base`, new files included. Index and configuration do not matter to it."""
        own = Path(git(self._root, "rev-parse", "--absolute-git-dir")) / f"air-{secrets.token_hex(8)}.index"
        env = {"GIT_INDEX_FILE": str(own)}
        try:
            # A copy keeps what git knows of unchanged files; it is not read again.
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(own.with_name("index"), own)
            git(self._root, "add", "--all", "--", *work_paths(self._root), env=env)
            large = ("-c", f"core.bigFileThreshold={_DIFFABLE_BYTES}")
            text = git_bytes(
                self._root,
                *large,
                "diff-index",
                "--cached",
                "-p",
                "--abbrev=10",
                "--no-renames",
                *NO_PROGRAMS,
                base,
                "--",
                env=env,
            )
            return text.decode("utf-8", "replace")
        finally:
            own.unlink(missing_ok=True)
            own.with_name(f"{own.name}.lock").unlink(missing_ok=True)

    def _listed(self, *options: str) -> bytes:
        return git_bytes(self._root, "ls-files", *options, "-z")

    def _others(self) -> bytes:
        return self._listed("--others", "--exclude-standard", "--exclude=.air-*.partial", "--exclude=/.air/local/")

    def _is_file(self, name: str) -> bool:
        try:
            return not stat.S_ISDIR(os.lstat(os.path.join(self._root, name)).st_mode)
        except OSError:
            return False


def decode_text(data: bytes, path: str) -> tuple[str, bool]:
    """Return the text of a file and whether bytes were lost (they read U+FFFD): UTF-8, or UTF-16 with its mark.

    Raises:
        WorkspaceError: it is binary: it holds a NUL.
    """
    encoding = next((name for mark, name in _UTF16 if data.startswith(mark)), None)
    body = data[2:] if encoding else data
    try:
        text, lossy = body.decode(encoding or "utf-8"), False
    except UnicodeDecodeError:
        text, lossy = body.decode(encoding or "utf-8", "replace"), True
    if "\0" in text:
        raise WorkspaceError(
            f"{path} is binary",
            hint="only text files can be read; use a command that describes it",
            code="workspace.binary",
        )
    return text, lossy
