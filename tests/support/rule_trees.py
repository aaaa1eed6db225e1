"""Rule trees as values: files by name, without a disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aircoding.rules.front_matter import normalise
from aircoding.rules.rule_names import Dialect, RuleName, classify
from aircoding.rules.tools.account import FileEntry, ToolAccount
from aircoding.rules.tree import Owner, RuleTree, TreeFile

__all__ = ["by_path", "loaded", "lost", "tree_of"]


def tree_of(
    files: Mapping[str, str | bytes],
    *,
    links: Mapping[str, str] | None = None,
    problems: Mapping[str, TreeFile] | None = None,
    is_repository: bool = True,
    is_home: bool = False,
) -> RuleTree:
    """Return a tree; `links` are further names of a file, `problems` files that could not be read."""
    found: dict[str, TreeFile] = {}
    for number, (path, given) in enumerate(files.items(), 1):
        raw = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
        text = normalise(raw.decode("utf-8", "replace"))
        found[path] = TreeFile(
            path=path,
            name=_name(path),
            owner=_owner(path),
            text=text,
            raw=raw,
            size_bytes=len(raw),
            lossy="\ufffd" in text and "\ufffd".encode() not in raw,
            identity=(1, number),
        )
    for path, target in (links or {}).items():
        file = found[target]
        found[path] = TreeFile(
            path=path,
            name=_name(path),
            owner=_owner(path),
            text=file.text,
            raw=file.raw,
            size_bytes=file.size_bytes,
            identity=file.identity,
            linked=True,
        )
    found.update(problems or {})
    return RuleTree(files=found, paths=frozenset(found), is_repository=is_repository, is_home=is_home)


def _owner(path: str) -> Owner:
    if path.startswith("~/"):
        return Owner.USER
    if path.startswith("/"):
        return Owner.MACHINE if path.startswith("/etc/") else Owner.ABOVE
    return Owner.PROJECT


def _name(path: str) -> RuleName | None:
    if path.startswith("~/.claude/rules/"):
        return RuleName(path=path, dialect=Dialect.CLAUDE_RULES, folder="")
    name = classify(path.lstrip("~/"))
    if name is None or not path.startswith(("~/", "/")):
        return name
    return RuleName(path=path, dialect=name.dialect, folder="")


def by_path(account: ToolAccount) -> Mapping[str, FileEntry]:
    """Return the entries by path; a path that came twice fails."""
    found = {one.path: one for one in account.entries}
    assert len(found) == len(account.entries)
    return found


def loaded(account: ToolAccount) -> list[str]:
    """Return what is loaded, in its order."""
    return [one.path for one in account.entries if one.position is not None]


def lost(account: ToolAccount) -> Iterable[str]:
    """Return what is lost, by name."""
    return sorted(account.lost)
