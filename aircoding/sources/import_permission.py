"""What a project's rule files import is read for a worker: it gets no file that the worker itself may not read."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from aircoding.permissions.engine import decide
from aircoding.records.policy import PathAct, Policy
from aircoding.rules.tree import Owner, RuleTree, TreeFile
from aircoding.sources.files import printable
from aircoding.sources.reads import refusal_words

__all__ = ["within_policy"]


def within_policy(tree: RuleTree, root: Path, policy_of: Callable[[], Policy]) -> RuleTree:
    """Return the tree with each imported project file refused that the policy does not let be read.

    `policy_of` is asked only where something is imported.
    """
    imported = [
        file
        for file in tree.files.values()
        if file.name is None and file.owner is Owner.PROJECT and file.problem is None
    ]
    if not imported:
        return tree
    policy, base = policy_of(), os.path.realpath(root)
    refused = {file.path: why for file in imported if (why := _refusal(file, base, policy)) is not None}
    judged = {
        path: replace(file, text="", raw=b"", problem=refused[path]) if path in refused else file
        for path, file in tree.files.items()
    }
    return replace(tree, files=judged)


def _refusal(file: TreeFile, base: str, policy: Policy) -> str | None:
    """Judge the path as it is written, and where its links lead."""
    inner = file.path.removeprefix("./")
    real = os.path.relpath(os.path.realpath(os.path.join(base, inner)), base)
    for path in dict.fromkeys((inner, printable(real))):
        decision = decide(PathAct(path=path, access="read"), policy)
        if not decision.permits:
            return f"the policy refuses to read it: {refusal_words(decision)}"
    return None
