"""Codex: one file per folder from the git root down to the working directory, on one budget of bytes.

Followed to the letter: `codex-rs/core/src/agents_md.rs`, read 2026-08. The budget is spent from the root on, so that
the file nearest to the work is the first to be cut.
"""

from __future__ import annotations

import posixpath

from aircoding.rules.rule_names import AGENTS_NAMES
from aircoding.rules.tools.account import Cause, Tool, ToolAccount, ToolOptions, When
from aircoding.rules.tools.ledger import Condition, Ledger, Place, chain_folders, condition, place
from aircoding.rules.tree import RuleTree, TreeFile, beside

__all__ = ["explain_codex"]

_GLOBAL = tuple(f"~/.codex/{name}" for name in AGENTS_NAMES)
_ORDER = "the user's file, then from the root to the working directory; the last one is the nearest"


def explain_codex(tree: RuleTree, path: str, options: ToolOptions) -> ToolAccount:
    """Return what Codex, started in `options.cwd`, reads; the path changes only what counts as lost."""
    ledger = Ledger(Tool.CODEX, tree, path, options)
    _user(ledger)
    chosen = _chosen(tree, options)
    _chain(ledger, chosen)
    ledger.rest(lambda file: _why_not(file, ledger, chosen))
    return ledger.account(_ORDER)


def _names(options: ToolOptions) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*AGENTS_NAMES, *(name for name in options.fallback_names if name))))


def _user(ledger: Ledger) -> None:
    """The user's file: the first that is not empty, whole, outside the budget."""
    for path in _GLOBAL:
        file = ledger.tree.find(path)
        if file is None or ledger.unusable(path):
            continue
        if not file.text.strip():
            ledger.skip(path, Cause.EMPTY, "it is empty")
        elif any(ledger.loaded(other) for other in _GLOBAL):
            ledger.skip(path, Cause.SHADOWED, f"{_GLOBAL[0]} is taken in its place")
        else:
            ledger.take(path, When.START, "the user's own file; it does not count against the budget")


def _chosen(tree: RuleTree, options: ToolOptions) -> dict[str, str]:
    """Return for each folder the first name that is a regular file: existence decides, not content (E30, E31)."""
    folders = chain_folders(options.cwd) if tree.is_repository else (options.cwd,)
    chosen: dict[str, str] = {}
    for folder in folders:
        for name in _names(options):
            path = beside(folder, name)
            if condition(tree.find(path)) is not Condition.NO_FILE:
                chosen[folder] = path
                break
    return chosen


def _chain(ledger: Ledger, chosen: dict[str, str]) -> None:
    tree, cap = ledger.tree, ledger.options.max_bytes
    failing = next((path for path in chosen.values() if condition(tree.find(path)) is Condition.UNREADABLE), None)
    left = cap
    for folder, path in chosen.items():
        file = tree.files[path]
        if cap <= 0:
            ledger.skip(path, Cause.CAP, "project_doc_max_bytes is 0, which switches project files off")
        elif failing is not None:
            problem = tree.files[failing].problem
            why = f"{failing} cannot be read ({problem}), and Codex then reads no project file"
            ledger.skip(path, Cause.UNREADABLE, why)
        elif condition(file) is Condition.LEAVES:
            ledger.unusable(path)
        elif left <= 0:
            why = f"the {cap} bytes of project_doc_max_bytes are used up by the files above it"
            ledger.skip(path, Cause.CAP, why)
        else:
            left -= _read(ledger, folder, file, left)


def _read(ledger: Ledger, folder: str, file: TreeFile, left: int) -> int:
    """Read one file of the chain and return what it takes of the budget; whitespace takes nothing."""
    cap, path = ledger.options.max_bytes, file.path
    size = max(file.size_bytes, len(file.raw))
    # A file too large for us to read is no reason for Codex not to: it cuts it.
    kept = file.raw[:left] if file.raw or not file.size_bytes else None
    text = kept.decode("utf-8", "replace") if kept is not None else ""
    if kept is not None and not text.strip():
        ledger.skip(path, Cause.EMPTY, "it is empty, and takes nothing of the budget")
        return 0
    used = len(kept) if kept is not None else min(left, size)
    shadows = tuple(_beside(ledger, folder, path))
    where = f"the folder {folder}" if folder else "the root"
    if used < size:
        why = f"cut after {used} of {size} bytes: the chain has {cap} (project_doc_max_bytes), and {left} were left"
        ledger.take(path, When.START, why, kept=text, kept_bytes=used, cause=Cause.CAP, shadows=shadows)
        ledger.warn("codex.cut", why, path, hint="shorten the files above it, or raise project_doc_max_bytes")
    else:
        why = f"the file of {where}; {left - used} of {cap} bytes are left after it"
        ledger.take(path, When.START, why, kept=text, kept_bytes=used, shadows=shadows)
    if kept is not None and "\ufffd" in text and "\ufffd".encode() not in kept and used == size:
        ledger.warn("codex.lossy", "bytes that are no UTF-8 are replaced", path)
    return used


def _beside(ledger: Ledger, folder: str, path: str) -> list[str]:
    others = (beside(folder, name) for name in _names(ledger.options))
    return [other for other in others if other != path and condition(ledger.tree.find(other)) is not Condition.NO_FILE]


def _why_not(file: TreeFile, ledger: Ledger, chosen: dict[str, str]) -> tuple[Cause, str] | None:
    folder, base = file.folder, posixpath.basename(file.path)
    if not file.of_project or base not in _names(ledger.options):
        return None
    cwd = ledger.options.cwd
    where = place(folder, ledger.path, cwd)
    if condition(file) is Condition.NO_FILE:
        return Cause.EMPTY, f"nothing to read: {file.problem}"
    if where is Place.ELSEWHERE:
        return Cause.ELSEWHERE, "it speaks for another folder"
    if folder in chosen:
        return Cause.SHADOWED, f"{posixpath.basename(chosen[folder])} in the same folder is taken in its place"
    if where is Place.CHAIN:
        return Cause.CWD, "there is no .git, so only the working directory is read"
    below = f"Codex reads nothing below its working directory, {cwd or 'the root'}"
    return Cause.CWD, f"{below}: start it in the file's folder to have it"
