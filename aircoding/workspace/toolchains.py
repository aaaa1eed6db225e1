"""What of the machine a confined command may see beside its worktree: the system, and the programs on PATH.

A folder of programs needs more than itself (libraries, versions), but what lies around it in the user's home holds
secrets: `~/.cargo` its registry token, `~/.local/share` keyrings. So of a home only known folders are shown.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

__all__ = ["NETWORK_FILES", "SYSTEM_PATHS", "toolchain_paths"]

SYSTEM_PATHS = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
)
"""Shown read-only where they exist."""

NETWORK_FILES = ("/etc/hosts", "/etc/resolv.conf")
"""Shown to commands that have a network."""

_WHOLE = (
    *(".asdf", ".bun", ".deno", ".ghcup", ".goenv", ".jenv", ".juliaup", ".local/pipx/venvs", ".local/share/mise"),
    *(".local/share/pipx/venvs", ".local/share/uv/python", ".local/share/uv/tools", ".nodenv", ".nvm", ".pyenv"),
    *(".rbenv", ".rustup", ".rye", ".sdkman", ".volta", "miniconda3", "miniforge3", "mambaforge", "anaconda3"),
)
"""Folders of a home that hold nothing but tools, shown whole when PATH leads into them."""
_PARTS = ("bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg", "sbin", "shims")
"""What is shown of any other folder of a home, or of a project, that has a `bin` on PATH."""


def toolchain_paths(path: str) -> list[str]:
    """Return files and folders outside the system's own that programs on `path`, and this Python, need; sorted."""
    homes = {Path.home().resolve(), Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()}
    found: set[Path] = set()
    for entry in path.split(os.pathsep):
        folder = Path(entry)
        if folder.name in {"bin", "sbin", "shims"}:
            found.update(_needed(folder.parent, homes))
        else:
            found.add(folder)
    for prefix in (sys.prefix, sys.base_prefix):
        found.update(_needed(Path(prefix), homes))
    return sorted({str(one) for one in found if one.exists() and not _system(one) and one not in {*homes, Path("/")}})


def _needed(prefix: Path, homes: AbstractSet[Path]) -> Iterator[Path]:
    """Return what a prefix (the parent of a `bin`) must show."""
    if _system(prefix):
        return
    real = prefix.resolve()
    home = next((home for home in homes if real.is_relative_to(home)), None)
    whole = [] if home is None else [home / name for name in _WHOLE if real.is_relative_to(home / name)]
    if whole:
        yield from whole
    elif _holds_only_tools(real, home, homes):
        yield prefix
    else:
        yield from (prefix / part for part in _PARTS)
        tools = [] if home is None else [home / name for name in _WHOLE]
        yield from (tool for tool in tools if real.name == ".local" and tool.is_relative_to(real))


def _holds_only_tools(prefix: Path, home: Path | None, homes: AbstractSet[Path]) -> bool:
    """Whether a prefix is a virtual environment or lies outside of homes, and is no project and holds no home."""
    if (prefix / ".git").exists() or (prefix / ".air").exists():
        return False
    return (prefix / "pyvenv.cfg").is_file() or (home is None and not any(one.is_relative_to(prefix) for one in homes))


def _system(path: Path) -> bool:
    return any(path.is_relative_to(one) for one in SYSTEM_PATHS)
