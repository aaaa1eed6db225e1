"""Read a text file whose name somebody else chose: never outside its root, never hanging, never by surprise."""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from aircoding.records.digests import sha256_bytes
from aircoding.records.ids import Digest

__all__ = ["MAX_FILE_BYTES", "TextRead", "list_folder", "read_text_file"]

MAX_FILE_BYTES = 4_194_304
"""Larger files are not read as text (4 MiB; Claude Code skips larger memory files, documentation read 2026-08)."""

_EMPTY_DIGEST = sha256_bytes(b"")
_FORBIDDEN = (".git", ".air/local")
"""Parts of a project that no link may lead into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRead:
    """What a file held. `digest` is of its raw bytes; `text` has line feeds and no byte order mark.

    `problem` says why nothing could be read (`absent` then tells a missing file from a refused one, `vanished` one of
    which not even a link is there: a listing that names it is older than its end, E39); `lossy` that
    bytes which are no UTF-8 were replaced; `identity` is the file's device and inode; `raw` are its bytes as they are.
    """

    text: str = ""
    digest: Digest = _EMPTY_DIGEST
    size_bytes: int = 0
    lossy: bool = False
    absent: bool = False
    vanished: bool = False
    problem: str | None = None
    identity: tuple[int, int] | None = None
    linked: bool = False
    raw: bytes = field(default=b"", repr=False)


def read_text_file(root: Path, name: str, *, inside: bool = True, max_bytes: int = MAX_FILE_BYTES) -> TextRead:
    """Read `name` below `root`. Never raises.

    Args:
        root: the folder that the name is relative to.
        name: POSIX path.
        inside: refuse a link that leaves `root`, or leads into its `.git` or `.air/local`.
        max_bytes: refuse a larger file.
    """
    path = root / name
    try:
        real = Path(os.path.realpath(path, strict=True))
        linked = real != Path(os.path.realpath(root)) / name
        if inside and linked and (refusal := _leaves(real, root)) is not None:
            return TextRead(problem=refusal, linked=True)
        handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        vanished = not path.is_symlink()
        problem = "it is not there" if vanished else "its link leads nowhere"
        return TextRead(absent=True, vanished=vanished, problem=problem)
    except OSError as error:
        return TextRead(problem=_said(error))
    try:
        return _read(handle, linked=linked, max_bytes=max_bytes)
    except OSError as error:
        return TextRead(problem=_said(error), linked=linked)
    finally:
        os.close(handle)


def list_folder(path: Path) -> tuple[list[str], str | None]:
    """Return the names in a folder, sorted, and why it could not be read; a folder that is not there has none."""
    try:
        return sorted(os.listdir(path)), None
    except (FileNotFoundError, NotADirectoryError):
        return [], None
    except OSError as error:
        return [], _said(error)


def _leaves(real: Path, root: Path) -> str | None:
    base = Path(os.path.realpath(root))
    if not real.is_relative_to(base):
        return "it is a link that leaves the project"
    inner = real.relative_to(base).as_posix()
    if any(inner == part or inner.startswith(f"{part}/") for part in _FORBIDDEN):
        return f"it is a link into {inner.split('/')[0]}"
    return None


def _said(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _read(handle: int, *, linked: bool, max_bytes: int) -> TextRead:
    status = os.fstat(handle)
    identity = (status.st_dev, status.st_ino)
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
        return TextRead(problem=f"it is {kind}", identity=identity, linked=linked)
    data = b""
    while len(data) <= max_bytes and (part := os.read(handle, max_bytes + 1 - len(data))):
        data += part
    size = max(status.st_size, len(data))
    if len(data) > max_bytes:
        too_large = f"it has {size} bytes, more than {max_bytes}"
        return TextRead(problem=too_large, size_bytes=size, identity=identity, linked=linked)
    decoded, lossy = _decode(data)
    problem = "it is a binary file" if decoded is None else None
    return TextRead(
        text=decoded or "",
        digest=sha256_bytes(data),
        size_bytes=len(data),
        lossy=lossy,
        problem=problem,
        identity=identity,
        linked=linked,
        raw=data,
    )


def _decode(data: bytes) -> tuple[str | None, bool]:
    """Return the text and whether bytes were replaced; None for a binary file (a zero byte, no UTF-16 mark)."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
    elif b"\0" in data:
        return None, False
    else:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors="replace")
    lossy = "\ufffd" in text and "\ufffd".encode() not in data
    return text.replace("\r\n", "\n").replace("\r", "\n"), lossy
