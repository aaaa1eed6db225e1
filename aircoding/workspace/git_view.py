"""What of the repository a confined command may see: enough for `git status`, `diff`, `log`, and no more.

The common folder is shown in parts, read-only, and its configuration is a filtered copy: the user's own may hold
credentials in addresses and headers, and name programs.
"""

from __future__ import annotations

from pathlib import Path

from aircoding.workspace.git import git_bytes, linked_git_dir
from aircoding.workspace.listings import names

__all__ = ["SHOWN", "alternates", "git_binds"]

SHOWN = ("HEAD", "info", "objects", "packed-refs", "refs", "reftable", "shallow")
"""What of a repository's common folder is shown, beside its configuration."""
_SETTINGS = ("core.", "extensions.", "user.")
_DROPPED = (
    *("core.askpass", "core.attributesfile", "core.editor", "core.excludesfile", "core.fsmonitor", "core.gitproxy"),
    *("core.hookspath", "core.pager", "core.sshcommand", "core.worktree"),
)


def git_binds(root: str, scratch: Path) -> list[str]:
    """Return bubblewrap's arguments for the git side of the worktree at `root`; `scratch` takes the filtered copy.

    A `.git` that a worker forged, to be shown another folder, gives none: then git does not work there.
    """
    link = Path(root, ".git")
    if link.is_dir() and not link.is_symlink():
        return [*_common_binds(link, scratch, hide=True), "--remount-ro", str(link)]
    own = linked_git_dir(root)
    if own is None:
        return ["--ro-bind", str(link), str(link)] if link.is_file() else []
    common = own.parent.parent
    return [*_common_binds(common, scratch), "--ro-bind", str(own), str(own), "--ro-bind", str(link), str(link)]


def _common_binds(common: Path, scratch: Path, *, hide: bool = False) -> list[str]:
    arguments = ["--tmpfs" if hide else "--dir", str(common)]
    shown = [common / name for name in (*SHOWN, *(("index",) if hide else ()))]
    for path in (*shown, *alternates(common / "objects")):
        arguments += ["--ro-bind-try", str(path), str(path)]
    config = scratch / "git-config"
    config.write_text(_filtered(common / "config"), encoding="utf-8", errors="surrogateescape")
    return [*arguments, "--ro-bind", str(config), str(common / "config")]


def alternates(objects: Path) -> list[Path]:
    """Return other object folders that this repository borrows from."""
    try:
        lines = (objects / "info" / "alternates").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    return [objects / line for line in lines if line and not line.startswith("#")]


def _filtered(config: Path) -> str:
    if not config.is_file():
        return ""
    lines = []
    for entry in names(git_bytes(config.parent, "config", "--file", str(config), "--list", "-z")):
        key, _, value = entry.partition("\n")
        section, _, name = key.rpartition(".")
        if key.startswith(_SETTINGS) and key not in _DROPPED and "." not in section:
            quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            lines.append(f'[{section}]\n\t{name} = "{quoted}"\n')
    return "".join(lines)
