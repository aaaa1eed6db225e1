"""An assembly as a page of HTML that stands alone: as text, or as a file that only its owner can read."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from aircoding.audit.inspection import inspect
from aircoding.errors import UsageError
from aircoding.records.manifest import AssembledContext
from aircoding.sources.atomic_files import replace_text

__all__ = ["PageFile", "inspector_text", "write_inspector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """A page that was written: of which assembly, where, how large."""

    manifest_id: str
    file: str
    size_bytes: int


def inspector_text(context: AssembledContext) -> str:
    """Return the page of an assembly."""
    from aircoding.pages.inspector import inspector_page

    return inspector_page(inspect(context))


def write_inspector(context: AssembledContext, file: Path) -> PageFile:
    """Write the page of an assembly, whole or not at all; a file that is there is replaced and keeps its rights.

    A new file can be read by its owner alone: the page holds the whole prompt.

    Raises:
        UsageError: the file cannot be written, or the name is that of a folder, a link, or anything else than a file.
    """
    try:
        _refuse_all_but_files(file)
        page = inspector_text(context)
        replace_text(file, page)
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be written: {error.strerror or error}", hint="name a file in a folder that is there"
        ) from error
    return PageFile(manifest_id=context.manifest_id, file=str(file), size_bytes=len(page.encode("utf-8")))


def _refuse_all_but_files(file: Path) -> None:
    try:
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "no regular file"
        raise UsageError(f"{file} is {kind}", hint="name a file, or `-` for stdout")
