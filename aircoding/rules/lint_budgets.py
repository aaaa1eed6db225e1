"""Rule files that are longer than a tool reads: what it would lose, and from which file on."""

from __future__ import annotations

from collections.abc import Iterator

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.rule_names import AGENTS_NAMES, Dialect
from aircoding.rules.tools.account import CODEX_MAX_BYTES, HERMES_MAX_CHARS
from aircoding.rules.tree import RuleTree, TreeFile, beside, chain, tree_uri

__all__ = ["over_budget"]

_OF_HERMES = frozenset({Dialect.AGENTS, Dialect.CLAUDE, Dialect.HERMES})


def over_budget(tree: RuleTree) -> Iterator[Diagnostic]:
    """Yield each file that a tool cuts or does not reach.

    Codex reads one chain from the root to its working directory against one budget; Hermes has one for each file.
    """
    for path in sorted(tree.files):
        file = tree.files[path]
        if file.name is None or file.problem is not None or not file.of_project:
            continue
        if file.name.dialect is Dialect.AGENTS:
            yield from _codex(tree, file)
        if file.name.dialect in _OF_HERMES and len(file.text) > HERMES_MAX_CHARS:
            message = f"it has {len(file.text)} characters; Hermes keeps {HERMES_MAX_CHARS}, most of the beginning"
            yield _finding(file, message, "split it, or move a part into a file of a folder")


def _codex(tree: RuleTree, file: TreeFile) -> Iterator[Diagnostic]:
    """Say what of a file is left where its folder is Codex' working directory."""
    read = [found for folder in chain(file.inner) if (found := _first(tree, folder)) is not None]
    if not read or read[-1].path != file.path or not file.text.strip():
        return
    before = sum(one.size_bytes for one in read[:-1] if one.text.strip())
    left = max(0, CODEX_MAX_BYTES - before)
    if file.size_bytes <= left:
        return
    kept = f"the first {left} of its {file.size_bytes} bytes" if left else "nothing of it"
    above = f" after {before} bytes of the files above it" if before else ""
    message = f"Codex, started in its folder, reads {kept}: {CODEX_MAX_BYTES} bytes are read in all{above}"
    yield _finding(file, message, "shorten this file or those above it")


def _first(tree: RuleTree, folder: str) -> TreeFile | None:
    """Return the one file that Codex takes in a folder."""
    names = (beside(folder, base) for base in AGENTS_NAMES)
    return next((file for name in names if (file := tree.readable(name)) is not None), None)


def _finding(file: TreeFile, message: str, hint: str) -> Diagnostic:
    return Diagnostic(
        severity="warning", code="lint.budget", message=message, uri=tree_uri(file.path), line=1, hint=hint
    )
