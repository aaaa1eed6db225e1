"""What other tools make of the rule files around a path, how they differ, and which files there are."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from aircoding.app.rule_folders import RuleFolder, open_folder, read_folder
from aircoding.app.rule_sources import rule_homes
from aircoding.errors import UsageError
from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.tools.account import Tool, ToolAccount, ToolOptions
from aircoding.rules.tools.compare import Comparison, compare_accounts
from aircoding.rules.tools.explain import FOREIGN_TOOLS, explain_as
from aircoding.rules.tools.listing import RuleFileEntry, list_rule_files
from aircoding.rules.tree import RuleTree, tree_uri

__all__ = ["compare_rules", "explain_rules_as", "list_rules"]


def explain_rules_as(start: Path, given: str, tool: Tool, options: ToolOptions, *, cwd: str | None) -> ToolAccount:
    """Return what a tool that is started in `cwd` (none: the root) makes of the files around a path.

    Raises:
        UsageError: the path, or the working directory, is none of this project.
    """
    folder = open_folder(start, given)
    options = _placed(folder, start, options, cwd)
    names = (*options.fallback_names, *options.context_names)
    tree = read_folder(folder, cwd=options.cwd, names=names, approved=options.approved)
    return _with_problems(explain_as(tree, folder.path, tool, options), tree)


def _placed(folder: RuleFolder, start: Path, options: ToolOptions, cwd: str | None) -> ToolOptions:
    home = rule_homes().user
    return replace(
        options,
        cwd=_inside(folder, start, cwd) if cwd is not None else "",
        root=str(folder.root),
        home=str(home) if home is not None else options.home,
    )


def _inside(folder: RuleFolder, start: Path, cwd: str) -> str:
    absolute = Path(os.path.normpath(os.path.join(start, cwd)))
    if not absolute.is_relative_to(folder.root):
        raise UsageError(f"--cwd {cwd} lies outside {folder.root}", hint="name a folder of the project of PATH")
    path = absolute.relative_to(folder.root).as_posix()
    return "" if path == "." else path


def _with_problems(account: ToolAccount, tree: RuleTree) -> ToolAccount:
    """Add what the reader of the tree said, under the names that the account has."""
    path_of = {tree_uri(path): path for path in tree.files}
    said = (replace(one, uri=path_of.get(one.uri, one.uri)) for one in tree.diagnostics)
    return replace(account, warnings=(*said, *account.warnings))


def compare_rules(start: Path, given: str, *, cwd: str | None) -> Comparison:
    """Return what each tool, and a worker of ours with the role executor, makes of the files around a path.

    Raises:
        UsageError: the path, or the working directory, is none of this project.
    """
    from aircoding.app.worker_rules import WorkerRequest, explain_in

    folder = open_folder(start, given)
    options = _placed(folder, start, ToolOptions(), cwd)
    tree = read_folder(folder, cwd=options.cwd)
    # What git ignores in the folder where a tool is started is nothing to a worker of ours.
    ours = explain_in(folder, read_folder(folder) if options.cwd else tree, WorkerRequest()).files
    return compare_accounts([ours, *(explain_as(tree, folder.path, tool, options) for tool in FOREIGN_TOOLS)])


def list_rules(start: Path, tool: Tool | None) -> tuple[tuple[RuleFileEntry, ...], tuple[Diagnostic, ...]]:
    """Return every rule file around a folder, or those that a tool reads for some path, and what else was found.

    Raises:
        ConfigError: a settings file is wrong.
    """
    folder = open_folder(start)
    tree = read_folder(folder)
    return list_rule_files(tree, tool), tree.diagnostics
