"""Gemini CLI: GEMINI.md of the user, from the git root to the working directory, and on the way to what is touched.

From google-gemini/gemini-cli (read 2026-08-21). All texts are joined and sent with every prompt; nothing is cut.
"""

from __future__ import annotations

import posixpath

from aircoding.rules.imports import FOLLOWED, FileImport
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tools.account import Cause, Tool, ToolAccount, ToolOptions, When
from aircoding.rules.tools.importing import ImportingReader, ImportRules
from aircoding.rules.tools.ledger import Condition, Ledger, Place, chain_folders, condition, nested_folders, place
from aircoding.rules.tree import Owner, RuleTree, TreeFile, beside

__all__ = ["explain_gemini"]

_ORDER = "the user's file, then from the git root to the working directory; what is touched comes after"


def explain_gemini(tree: RuleTree, path: str, options: ToolOptions) -> ToolAccount:
    """Return what Gemini CLI, started in `options.cwd`, has once a tool has touched the path."""
    ledger = Ledger(Tool.GEMINI, tree, path, options)
    reader = ImportingReader(ledger, _rules(ledger))
    names = tuple(dict.fromkeys(name for name in options.context_names if name))
    for name in names:
        reader.load(f"~/.gemini/{name}", When.START, "the user's own memory")
    folders = chain_folders(options.cwd) if tree.is_repository else (options.cwd,)
    for folder in folders:
        for name in names:
            where = f"in {folder}" if folder else "at the root"
            reader.load(beside(folder, name), When.START, where)
    for folder in nested_folders(path, options.cwd):
        for name in names:
            reader.load(beside(folder, name), When.TOUCH, f"in {folder}, loaded when a file below it is touched")
    ledger.rest(lambda file: _why_not(file, names, ledger))
    return ledger.account(_ORDER)


def _rules(ledger: Ledger) -> ImportRules:
    following = FOLLOWED[Dialect.GEMINI]

    def missing(importer: str, one: FileImport) -> None:
        first = one.written.lstrip('@"')[:1]
        if first.isalpha() or first in "./":
            message = f"`{one.written}` names no file: Gemini CLI puts an error comment in its place"
            hint = "write it in backticks where no file is meant"
            ledger.warn("gemini.import_missing", message, importer, line=one.line, hint=hint)

    return ImportRules(
        following=following,
        cap=f"Gemini CLI follows {following.hops}",
        refusal="it lies outside the folders that Gemini CLI may import from",
        allows=lambda importer, target: target.owner is Owner.PROJECT or importer.owner is Owner.USER,
        text_of=lambda file: file.text,
        barred=lambda _file: None,
        missing=missing,
    )


def _why_not(file: TreeFile, names: tuple[str, ...], ledger: Ledger) -> tuple[Cause, str] | None:
    if not file.of_project or posixpath.basename(file.path) not in names:
        return None
    if condition(file) is Condition.NO_FILE:
        return Cause.EMPTY, f"nothing to read: {file.problem}"
    where = place(file.folder, ledger.path, ledger.options.cwd)
    if where is Place.CHAIN:
        return Cause.CWD, "there is no .git, so nothing above the working directory is read"
    if where is Place.BESIDE:
        cwd = ledger.options.cwd or "the root"
        return Cause.CWD, f"it lies neither above nor below the working directory ({cwd})"
    return Cause.ELSEWHERE, "it speaks for another folder"
