"""The files of a bundle on disk: a folder, a `.tar.gz` or a `.zip`. Reading takes the bundle for hostile.

Only the names of a bundle are looked at, only regular files, and of each no more bytes than its manifest says: so
nothing is ever written under a name of somebody else's, and a small archive cannot grow without end.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from aircoding.errors import UsageError

__all__ = ["MANIFEST_NAME", "BundleError", "opened_bundle", "pack_bundle", "unpacked_size_limit"]

MANIFEST_NAME = "manifest.json"
_MOST_MANIFEST_BYTES = 1_000_000
_MOST_BYTES = 4_000_000_000
"""What all files of a bundle may hold together, unpacked."""
_MOST_MEMBERS = 64
_CHUNK_BYTES = 1 << 20
_ENTRY_TIME = 315_532_800
"""1980-01-01: the first moment that a zip file can hold; the same bundle gives the same bytes."""


class BundleError(UsageError):
    """A bundle is damaged or is none; nothing was taken in."""

    code = "bundle"


def unpacked_size_limit() -> int:
    """Return how many bytes all files of a bundle may hold together."""
    return _MOST_BYTES


def pack_bundle(folder: Path, names: Sequence[str], output: Path) -> None:
    """Put the files of a folder into `output`: an archive by its ending, else a folder that is not there or is empty.

    Either is there whole or not at all.

    Raises:
        UsageError: it cannot be written, or the folder holds something.
    """
    try:
        if output.name.endswith((".tar.gz", ".tgz", ".zip")):
            handle, made = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
            try:
                with os.fdopen(handle, "wb") as file:
                    (_zip if output.name.endswith(".zip") else _tar)(folder, names, file)
                    file.flush()
                    os.fsync(file.fileno())
                Path(made).chmod(0o600)
                Path(made).replace(output)
            except BaseException:
                Path(made).unlink(missing_ok=True)
                raise
            return
        if output.exists() and (not output.is_dir() or any(output.iterdir())):
            raise UsageError(f"{output} is there already", hint="name a new folder, or a file that ends in .tar.gz")
        output.parent.mkdir(parents=True, exist_ok=True)
        made = tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name}.")
        try:
            for name in names:
                shutil.copyfile(folder / name, Path(made) / name)
            Path(made).replace(output)  # over a folder that is empty, or none
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        raise UsageError(
            f"{output}: cannot be written: {error.strerror or error}", hint="name a file in a folder that is there"
        ) from error


def _tar(folder: Path, names: Sequence[str], file: IO[bytes]) -> None:
    with (
        gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = (folder / name).stat().st_size, _ENTRY_TIME, 0o600
            with (folder / name).open("rb") as content:
                archive.addfile(entry, content)


def _zip(folder: Path, names: Sequence[str], file: IO[bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            with (folder / name).open("rb") as content, archive.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(content, target, _CHUNK_BYTES)


@contextlib.contextmanager
def opened_bundle(path: Path, known: frozenset[str]) -> Iterator[Mapping[str, Path]]:
    """Give the files of a bundle by name, for as long as the block lasts.

    Args:
        path: a folder, or an archive, which is unpacked into a temporary folder.
        known: the names that a bundle may have beside its manifest; others are refused.

    Raises:
        BundleError: it is no bundle, or holds what a bundle does not.
    """
    if path.is_dir():
        yield _folder(path, known)
        return
    with tempfile.TemporaryDirectory(prefix="aircoding-bundle-") as folder:
        try:
            with path.open("rb") as file:
                start = file.read(4)
                file.seek(0)
                members = _unzipped(file) if start.startswith(b"PK") else _untarred(file)
                files = _unpacked(members, Path(folder), known, path)
        except OSError as error:
            raise BundleError(
                f"{path}: cannot be read: {error.strerror or error}", hint="name a bundle that `export` wrote"
            ) from error
        except (EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
            raise BundleError(
                f"{path}: it is no bundle, or was cut off: {error}", hint="ask for it again: it may be incomplete"
            ) from error
        yield files


def _folder(path: Path, known: frozenset[str]) -> Mapping[str, Path]:
    files: dict[str, Path] = {}
    for entry in sorted(path.iterdir()):
        if entry.name not in known and entry.name != MANIFEST_NAME:
            continue  # a note that somebody laid beside them is nobody's business
        if entry.is_symlink() or not entry.is_file():
            raise BundleError(f"{entry}: it is no regular file", hint="a bundle holds plain files only")
        files[entry.name] = entry
    return files


def _untarred(file: IO[bytes]) -> Iterator[tuple[str, int, IO[bytes] | None]]:
    with tarfile.open(fileobj=file, mode="r|gz") as archive:
        for entry in archive:
            yield entry.name, entry.size, archive.extractfile(entry) if entry.isreg() else None


def _unzipped(file: IO[bytes]) -> Iterator[tuple[str, int, IO[bytes] | None]]:
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist()[: _MOST_MEMBERS + 1]:
            kind = (entry.external_attr >> 16) & 0o170000
            is_file = not entry.is_dir() and kind in (0, 0o100000) and not entry.flag_bits & 1
            yield entry.filename, entry.file_size, archive.open(entry) if is_file else None


def _unpacked(
    members: Iterator[tuple[str, int, IO[bytes] | None]], folder: Path, known: frozenset[str], path: Path
) -> Mapping[str, Path]:
    files: dict[str, Path] = {}
    left = _MOST_BYTES
    for number, (name, size, content) in enumerate(members):
        if number >= _MOST_MEMBERS:
            raise BundleError(f"{path}: it holds more than {_MOST_MEMBERS} files", hint="this is no bundle of ours")
        plain = name.removeprefix("./")
        if plain not in known and plain != MANIFEST_NAME:
            raise BundleError(
                f"{path}: it holds {name[:200]!r}, which no bundle has",
                hint="this is no bundle of ours, or a newer one",
            )
        if content is None or plain in files:
            what = "twice" if plain in files else "not as a regular file"
            raise BundleError(f"{path}: it holds {plain} {what}", hint="this is no bundle of ours")
        most = min(left, _MOST_MANIFEST_BYTES if plain == MANIFEST_NAME else left)
        if size > most:
            raise BundleError(f"{path}: {plain} is larger than a bundle may be", hint="it was not written by `export`")
        files[plain] = folder / plain
        left -= _copied(content, files[plain], most, f"{path}: {plain}")
    return files


def _copied(content: IO[bytes], target: Path, most: int, what: str) -> int:
    size = 0
    with target.open("wb") as file:
        while piece := content.read(_CHUNK_BYTES):
            size += len(piece)
            if size > most:
                raise BundleError(f"{what} is larger than a bundle may be", hint="it was not written by `export`")
            file.write(piece)
    return size
