"""Packaged resources: prompts, tools, schemas, default rules; found in a checkout, an editable install and a wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath

import aircoding
from aircoding.errors import InternalError
from aircoding.records.digests import sha256_bytes, sorted_json
from aircoding.records.ids import Digest

__all__ = ["list_resources", "prompts_digest", "read_resource", "resource_root"]

_PROMPT_FOLDERS = ("prompts", "rules", "tools")
"""What of the resources can enter a prompt; its digest stands in every manifest as `versions.prompts`."""


@cache
def resource_root() -> Path:
    """Return the folder of the resources: `aircoding/_resources` in a wheel, `resources/` beside a checkout.

    Raises:
        InternalError: neither is there; the installation is damaged.
    """
    package = Path(aircoding.__file__).resolve().parent
    for folder in (package / "_resources", package.parent / "resources"):
        if (folder / "prompts").is_dir():
            return folder
    raise InternalError(
        f"the packaged resources are missing beside {package}", hint="install aircoding again", code="resources.missing"
    )


@cache
def read_resource(path: str) -> str:
    """Return the text of a resource, line ends as line feeds.

    Args:
        path: relative to the resources, POSIX separators (`prompts/runtime-invariant.md`).

    Raises:
        InternalError: there is no such resource.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise InternalError(f"{path!r} names no resource", code="resources.missing")
    try:
        return resource_root().joinpath(*parts).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InternalError(
            f"the packaged resource {path} cannot be read: {error}",
            hint="install aircoding again",
            code="resources.missing",
        ) from error


@cache
def list_resources(folder: str, suffix: str = "") -> tuple[str, ...]:
    """Return the paths of all resources below a folder whose name ends in `suffix`, sorted."""
    root = resource_root()
    found = (path for path in (root / folder).rglob("*") if path.is_file() and path.name.endswith(suffix))
    return tuple(sorted(path.relative_to(root).as_posix() for path in found))


@cache
def prompts_digest() -> Digest:
    """Return one digest of everything packaged that can enter a prompt, names included."""
    texts = {
        path: sha256_bytes(read_resource(path).encode("utf-8"))
        for folder in _PROMPT_FOLDERS
        for path in list_resources(folder)
        if path.endswith((".md", ".json", ".yaml"))
    }
    return sha256_bytes(sorted_json(texts))
