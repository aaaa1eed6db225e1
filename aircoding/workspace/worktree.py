"""One attempt's files: read and write beneath the worktree's root, and what git sees of them."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from aircoding.errors import PathRefusedError, WorkspaceError
from aircoding.records.digests import sha256_bytes
from aircoding.records.ids import Digest
from aircoding.records.work import Change, FileText
from aircoding.workspace.beneath import open_beneath, open_folder, regular_size
from aircoding.workspace.git import git, git_bytes

__all__ = ["GitWorktree"]

_BOMS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_STATUS = {"A": "added", "M": "modified", "D": "deleted", "T": "modified"}


class GitWorktree:
    """The files of one git worktree; nothing outside its root is reachable."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)

    @property
    def root(self) -> str:
        """The absolute path on this machine."""
        return self._root

    def resolve(self, path: str) -> str:
        """Return the real path that `path` names: relative when inside, else absolute."""
        if "\0" in path or not path:
            raise PathRefusedError(f"{path!r} is no path")
        try:
            real = os.path.realpath(os.path.join(self._root, os.path.expanduser(path)))
        except OSError as error:
            raise PathRefusedError(f"{path} cannot be resolved: {error.strerror}") from error
        if real == self._root:
            return "."
        prefix = self._root + os.sep
        return real.removeprefix(prefix)

    def read(self, path: str, *, max_bytes: int | None = None) -> FileText:
        """Read a regular text file; bytes that are no UTF-8 become U+FFFD and `lossy` says so."""
        data = self._bytes(path, max_bytes)
        text, lossy = _decode(data, path)
        return FileText(path=path, text=text, digest=sha256_bytes(data), size_bytes=len(data), lossy=lossy)

    def _bytes(self, path: str, max_bytes: int | None) -> bytes:
        descriptor = open_beneath(self._root, path)
        try:
            size = regular_size(descriptor, path)
        except PathRefusedError:
            os.close(descriptor)
            raise
        with os.fdopen(descriptor, "rb") as file:
            if max_bytes is not None and size > max_bytes:
                raise WorkspaceError(
                    f"{path} has {size} bytes, more than {max_bytes}",
                    hint="read a part of it",
                    code="workspace.too_large",
                )
            return file.read()

    def write(self, path: str, data: bytes) -> Digest:
        """Write a file atomically; its folders are made, its mode is kept."""
        folder, _, name = path.rpartition("/")
        mode = self._writable_mode(path)
        parent = open_folder(self._root, folder, create=True)
        temporary = f".{name[:40]}.{secrets.token_hex(6)}.partial"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), mode)
            os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise WorkspaceError(f"{path} cannot be written: {error.strerror}") from error
        finally:
            os.close(parent)
        return sha256_bytes(data)

    def _writable_mode(self, path: str) -> int:
        """Return the mode that the file has or will get; links and files with several names are refused."""
        try:
            descriptor = open_beneath(self._root, path)
        except PathRefusedError:
            raise
        except WorkspaceError as error:
            if error.code != "workspace.missing":
                raise
            if os.path.islink(os.path.join(self._root, path)):
                raise PathRefusedError(f"{path} is a link to nowhere") from error
            return 0o644
        try:
            regular_size(descriptor, path)
            found = os.fstat(descriptor)
            if found.st_nlink > 1:
                raise PathRefusedError(f"{path} has more than one name (hard link)")
            if os.path.islink(os.path.join(self._root, path)):
                raise PathRefusedError(f"{path} is a link", hint="write the file that it names")
            return found.st_mode & 0o777
        finally:
            os.close(descriptor)

    def digest(self, path: str) -> Digest | None:
        """Return the digest of a file, or None when there is none."""
        try:
            return sha256_bytes(self._bytes(path, None))
        except WorkspaceError as error:
            if error.code == "workspace.missing":
                return None
            raise

    def paths(self) -> tuple[str, ...]:
        """Return all paths that git tracks or would track, sorted; what is deleted is left out."""
        listing = git_bytes(self._root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
        names = {name.decode("utf-8", "surrogateescape") for name in listing.split(b"\0") if name}
        return tuple(sorted(name for name in names if os.path.lexists(os.path.join(self._root, name))))

    def changes(self, base: str) -> tuple[Change, ...]:
        """Return what differs from commit `base`, untracked files included, ignored ones not, sorted."""
        listing = git_bytes(
            self._root, "diff", "--name-status", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", base, "--"
        )
        fields = [field.decode("utf-8", "surrogateescape") for field in listing.split(b"\0") if field]
        found = {
            name: _STATUS.get(status[0], "modified") for status, name in zip(fields[::2], fields[1::2], strict=True)
        }
        others = git_bytes(self._root, "ls-files", "--others", "--exclude-standard", "-z")
        for name in others.split(b"\0"):
            if name:
                found.setdefault(name.decode("utf-8", "surrogateescape"), "untracked")
        return tuple(Change(path=path, status=found[path]) for path in sorted(found))

    def diff(self, base: str) -> str:
        """Return the unified diff against `base`, new files included; the index is left as it is."""
        index = Path(self._root) / git(self._root, "rev-parse", "--git-path", "index")
        own = str(index) + f".{secrets.token_hex(4)}.diff"
        env = {"GIT_INDEX_FILE": own}
        try:
            git(self._root, "read-tree", "HEAD", env=env)
            git(self._root, "add", "--all", "--", ".", ":(exclude).air/local", env=env)
            return git_bytes(
                self._root, "diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", base, "--", env=env
            ).decode("utf-8", "replace")
        finally:
            Path(own).unlink(missing_ok=True)


def _decode(data: bytes, path: str) -> tuple[str, bool]:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[2:].decode(encoding, "replace"), False
    if b"\0" in data[:8192]:
        hint = "only text files can be read; use a command that describes it"
        raise WorkspaceError(f"{path} is binary", hint=hint, code="workspace.binary")
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True
