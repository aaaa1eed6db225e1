"""What was read of a rule file as a file of a tree, and back: the only place where the one becomes the other."""

from __future__ import annotations

from aircoding.rules.rule_names import RuleName
from aircoding.rules.tree import Owner, TreeFile, tree_name
from aircoding.sources.files import TextRead

__all__ = ["text_of", "tree_file"]


def tree_file(owner: Owner, inner: str, name: RuleName | None, read: TextRead) -> TreeFile:
    """Return a file of a tree.

    Args:
        owner: whose it is.
        inner: its path below the project root, the user's home, or the root of the disk.
        name: what rule file it is.
        read: what it held.
    """
    return TreeFile(
        path=tree_name(owner, inner),
        name=name,
        owner=owner,
        text=read.text,
        raw=read.raw,
        digest=read.digest,
        size_bytes=read.size_bytes,
        lossy=read.lossy,
        absent=read.absent,
        problem=read.problem,
        identity=read.identity,
        linked=read.linked,
    )


def text_of(file: TreeFile) -> TextRead:
    """Return what was read of a file of a tree."""
    return TextRead(
        text=file.text,
        raw=file.raw,
        digest=file.digest,
        size_bytes=file.size_bytes,
        lossy=file.lossy,
        absent=file.absent,
        problem=file.problem,
        identity=file.identity,
        linked=file.linked,
    )
