"""Gemini CLI: GEMINI.md of the user, from the git root to the working directory, and on the way to what is touched.

From google-gemini/gemini-cli (read 2026-08-21). All texts are joined and sent with every prompt; nothing is cut.
"""

from __future__ import annotations

import posixpath

from aircoding.rules.mentions import Mention
from aircoding.rules.tools.account import Cause, Tool, ToolAccount, ToolOptions, When
from aircoding.rules.tools.importing import ImportingReader, ImportRules
from aircoding.rules.tools.ledger import Condition, Ledger, Place, chain_folders, condition, nested_folders, place
from aircoding.rules.tree import RuleTree, TreeFile

__all__ = ["MAX_DEPTH", "explain_gemini"]

MAX_DEPTH = 5
"""How deep imports go (memoryImportProcessor, read 2026-08-21)."""
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
            reader.load(f"{folder}/{name}" if folder else name, When.START, where)
    for folder in nested_folders(path, options.cwd):
        for name in names:
            reader.load(f"{folder}/{name}", When.TOUCH, f"in {folder}, loaded when a file below it is touched")
    ledger.rest(lambda file: _why_not(file, names, ledger))
    return ledger.account(_ORDER)


def _rules(ledger: Ledger) -> ImportRules:
    def missing(importer: str, mention: Mention) -> None:
        if mention.targets[0][0].isalpha() or mention.targets[0][0] in "./":
            message = f"`{mention.written}` names no file: Gemini CLI puts an error comment in its place"
            hint = "write it in backticks where no file is meant"
            ledger.warn("gemini.import_missing", message, importer, line=mention.line, hint=hint)

    return ImportRules(
        max_hops=MAX_DEPTH,
        cap=f"Gemini CLI follows {MAX_DEPTH}",
        refusal="it lies outside the folders that Gemini CLI may import from",
        allows=lambda importer, target: not target.startswith(("~/", "/")) or importer.startswith("~/"),
        text_of=lambda file: (file.text, file.text),
        barred=lambda _path: None,
        missing=missing,
    )


def _why_not(file: TreeFile, names: tuple[str, ...], ledger: Ledger) -> tuple[Cause, str] | None:
    if file.path.startswith(("~/", "/")) or posixpath.basename(file.path) not in names:
        return None
    if condition(file) is Condition.NO_FILE:
        return Cause.EMPTY, f"nothing to read: {file.problem}"
    where = place(posixpath.dirname(file.path), ledger.path, ledger.options.cwd)
    if where is Place.CHAIN:
        return Cause.CWD, "there is no .git, so nothing above the working directory is read"
    if where is Place.BESIDE:
        cwd = ledger.options.cwd or "the root"
        return Cause.CWD, f"it lies neither above nor below the working directory ({cwd})"
    return Cause.ELSEWHERE, "it speaks for another folder"
