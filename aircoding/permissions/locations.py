"""What a path means: inside the worktree (relative), outside (absolute), or below a home folder."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from aircoding.records.policy import Policy

__all__ = ["home_paths", "is_inside", "locate", "strip_file_scheme"]

_PROC_ROOT = re.compile(r"/proc/[^/]+(?:/task/[^/]+)?/root(?=/|$)")
_HOMES = re.compile(r"/(?:(?:home|Users)/[^/]+|root)(?=/|$)")
_FILE_URL = re.compile(r"file:(?://[^/]*)?(?=/)", re.IGNORECASE)


def strip_file_scheme(path: str) -> str:
    """Return the path of a `file:` URL, decoded once; any other text as it is."""
    match = _FILE_URL.match(path)
    return unquote(path[match.end() :]) if match else path


def locate(path: str, cwd: str, policy: Policy) -> str:
    """Return a path without `.`, `..` and aliases: relative when inside the worktree (`.` for its root), else absolute.

    It is read as written, without a look at the disk. `~name/x` stays so; `../x` does where the worktree is not known.
    """
    text = strip_file_scheme(path)
    if text == "~" or text.startswith("~/"):
        if not policy.home:
            return posixpath.normpath(text)
        text = policy.home + text[1:]
    elif text.startswith("~"):
        return posixpath.normpath(text)
    elif not text.startswith("/"):
        text = posixpath.join(cwd, text)
    full = posixpath.normpath(text)
    if not full.startswith(("/", "~")) and (full == ".." or full.startswith("../")) and policy.root:
        full = posixpath.normpath(posixpath.join(policy.root, full))
    if full.startswith("/"):
        full = _without_aliases(full)
        if policy.root and (full == policy.root or full.startswith(policy.root.rstrip("/") + "/")):
            return full[len(policy.root.rstrip("/")) + 1 :] or "."
    return full


def _without_aliases(path: str) -> str:
    """`//x` is `/x`, and `/proc/self/root/x` too."""
    path = "/" + path.lstrip("/")
    match = _PROC_ROOT.match(path)
    while match:
        path = "/" + path[match.end() :].lstrip("/")
        match = _PROC_ROOT.match(path)
    return path


def is_inside(location: str) -> bool:
    """Whether a located path lies in the worktree."""
    return not location.startswith(("/", "~")) and location != ".." and not location.startswith("../")


def home_paths(location: str, policy: Policy) -> tuple[str, ...]:
    """Return what a path is below the home folders that it lies in (`.` for one itself): ours, or anyone's."""
    found: list[str] = []
    if location.startswith("~"):
        found.append(location.partition("/")[2] or ".")
    if policy.home and (location == policy.home or location.startswith(policy.home.rstrip("/") + "/")):
        found.append(location[len(policy.home.rstrip("/")) + 1 :] or ".")
    match = _HOMES.match(location)
    if match:
        found.append(location[match.end() + 1 :] or ".")
    return tuple(dict.fromkeys(found))
