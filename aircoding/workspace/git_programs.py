"""Programs that a repository's own configuration names, and what git is told in their place.

A clone does not bring this configuration, but what works in the repository can write it. Settings with one name are
switched off for every call (`git`); those whose names hold a name of their own must be looked for.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["replaced_programs"]

_SECTIONS = re.compile(rb"\[\s*(credential|core|filter|gpg|include|includeif|merge|remote)\b", re.IGNORECASE)
_CORE_PROGRAMS = re.compile(rb"(askpass|sshcommand|gitproxy|alternaterefscommand)", re.IGNORECASE)
_REMOTE_PROGRAMS = re.compile(rb"(uploadpack|receivepack|vcs)", re.IGNORECASE)
_LARGE_FILES = frozenset({"git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs filter-process"})
"""What `git lfs install --local` writes: the program is the user's own, from PATH."""
_INSTEAD = (
    (re.compile(r"filter\..*\.(clean|smudge|process)", re.DOTALL), ""),
    (re.compile(r"merge\..*\.driver", re.DOTALL), "git merge-file --quiet --marker-size=%L %A %O %B"),
    (re.compile(r"credential\.(.*\.)?helper", re.DOTALL), ""),
    (re.compile(r"core\.(askpass|gitproxy)"), ""),
    (re.compile(r"core\.sshcommand"), "ssh"),
    (re.compile(r"core\.alternaterefscommand"), "true"),
    (re.compile(r"gpg\.(.*\.)?program", re.DOTALL), "false"),
    (re.compile(r"remote\..*\.uploadpack", re.DOTALL), "git-upload-pack"),
    (re.compile(r"remote\..*\.receivepack", re.DOTALL), "git-receive-pack"),
)


def replaced_programs(root: str | Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables that make git leave out the programs that the configuration of the repository at `root` names.

    Filters are dropped and a merge driver becomes git's own merge; those of Git LFS stay, since its files cannot be
    read without. Mostly no such section is there, and no program is started to see that.
    """
    if not _may_name_programs(root):
        return {}
    done = subprocess.run(
        ["git", "config", "--list", "--show-scope", "--includes", "-z"],
        cwd=root,
        env=dict(environment),
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    fields = os.fsdecode(done.stdout).split("\0")
    told: dict[str, str] = {}
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        instead = next((instead for pattern, instead in _INSTEAD if pattern.fullmatch(key)), None)
        if scope in {"local", "worktree"} and instead is not None and value not in _LARGE_FILES:
            told[key] = instead
            if key.startswith("filter."):
                told[f"{key.rpartition('.')[0]}.required"] = "false"
    variables = {"GIT_CONFIG_COUNT": f"{len(told)}"} if told else {}
    for number, (key, value) in enumerate(told.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _may_name_programs(root: str | Path) -> bool:
    """Look for such sections in the configuration's files; when one cannot be found or read, git is asked."""
    folder = next((one for one in (Path(root), *Path(root).parents) if os.path.lexists(one / ".git")), None)
    if folder is None:
        return True
    try:
        return any(_names_programs(file.read_bytes()) for file in _configurations(folder / ".git") if file.exists())
    except (OSError, UnicodeDecodeError):
        return True


def _names_programs(text: bytes) -> bool:
    kinds = {found[1].lower() for found in _SECTIONS.finditer(text)}
    if kinds <= {b"core", b"remote"}:
        return bool(_CORE_PROGRAMS.search(text) or _REMOTE_PROGRAMS.search(text))
    return True


def _configurations(link: Path) -> tuple[Path, ...]:
    own = link
    if link.is_file():
        own = Path(link.parent, link.read_text(encoding="utf-8").partition(":")[2].strip())
    common = own
    if (own / "commondir").is_file():
        common = Path(own, (own / "commondir").read_text(encoding="utf-8").strip())
    return common / "config", own / "config.worktree"
