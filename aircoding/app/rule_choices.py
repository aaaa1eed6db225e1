"""What a person decides on rules: which are confirmed, and which files outside the project they may import."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.rule_folders import RuleFolder, open_folder, read_folder
from aircoding.app.rule_sources import rule_homes
from aircoding.app.whole_prompt import gather_rules
from aircoding.errors import NotFoundError, UsageError
from aircoding.homes import air_home
from aircoding.records.layers import SegmentKind, Trust
from aircoding.records.segments import Segment
from aircoding.rules.imports import FOLLOWED, followed_by, imports_of
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tree import Owner
from aircoding.sources.confirmations import confirm_rule, confirmed_rules, is_confirmed, rule_name, unconfirm_rule
from aircoding.sources.import_approvals import approve_import, approved_imports, withdraw_import

__all__ = ["ChoiceMade", "approve_outside", "confirm", "unconfirm"]

_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceMade:
    """What was decided on, the project that it holds for, and whether anything is another now."""

    subject: str
    root: str
    changed: bool


def confirm(start: Path, name: str) -> ChoiceMade:
    """Confirm a rule as its text is now: where two rules contradict it then beats one that nobody confirmed.

    Raises:
        NotFoundError: the project has no rule of that name.
        UsageError: it has more than one.
    """
    folder = open_folder(start)
    rule = _rule(folder, name)
    before = is_confirmed(rule, confirmed_rules(air_home(folder.root), folder.root))
    confirm_rule(air_home(), folder.root, rule)
    return ChoiceMade(subject=name, root=str(folder.root), changed=not before)


def _rule(folder: RuleFolder, name: str) -> Segment:
    rules = [one for one in gather_rules(folder) if one.kind is SegmentKind.RULE and one.trust is not Trust.BUILTIN]
    usable = [one for one in rules if one.barred is None]
    found = [one for one in usable if rule_name(one) == name]
    if not found:
        known = sorted({rule_name(one) for one in usable})
        more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
        names = f"it has {', '.join(known[:_NAMED])}{more}" if known else "it has none of its own"
        raise NotFoundError(
            f"the project has no rule `{name}`", hint=f"{names}; `aircoding rules explain PATH --rules` names them"
        )
    if len(found) > 1:
        places = ", ".join(sorted(one.source.uri for one in found))
        raise UsageError(
            f"more than one rule has the name `{name}`: {places}", hint="give one of them an `id` of its own"
        )
    return found[0]


def unconfirm(start: Path, name: str) -> ChoiceMade:
    """Take the confirmation of a rule back.

    Raises:
        NotFoundError: no such rule was confirmed.
    """
    root = open_folder(start).root
    if not unconfirm_rule(air_home(), root, name):
        known = sorted(one.rule for one in confirmed_rules(air_home(), root))
        hint = f"confirmed are {', '.join(known)}" if known else "none is confirmed in this project"
        raise NotFoundError(f"`{name}` was not confirmed", hint=hint)
    return ChoiceMade(subject=name, root=str(root), changed=True)


def approve_outside(start: Path, given: str, *, withdraw: bool) -> ChoiceMade:
    """Let rule files of the project import a file outside, or take that back.

    A file below the user's home is approved by both its names, for a shell turns `~` into the longer one.

    Raises:
        UsageError: the file lies inside the project, where imports need no approval; it is a folder; or no rule file
            of the project imports it.
        NotFoundError: it is not there; or it was not approved.
    """
    folder = open_folder(start)
    root = folder.root
    names = _outside_names(start, root, given)
    before = approved_imports(air_home(root), root)
    if withdraw:
        if not [name for name in names if withdraw_import(air_home(), root, name)]:
            known = ", ".join(sorted(before)) or "nothing"
            raise NotFoundError(f"{given} was not approved", hint=f"approved here: {known}")
        return ChoiceMade(subject=names[0], root=str(root), changed=True)
    _require_import(folder, given, names)
    for name in names:
        approve_import(air_home(), root, name)
    return ChoiceMade(subject=names[0], root=str(root), changed=not set(names) <= before)


def _outside_names(start: Path, root: Path, given: str) -> tuple[str, ...]:
    home = rule_homes().user
    expanded = str(home / given[2:]) if given.startswith("~/") and home is not None else given
    path = Path(os.path.normpath(os.path.join(start, expanded)))
    if path.is_relative_to(root):
        raise UsageError(f"{given} lies inside the project", hint="imports of the project's own files need no approval")
    if home is not None and path.is_relative_to(home) and path != home:
        return f"~/{path.relative_to(home).as_posix()}", str(path)
    return (str(path),)


def _require_import(folder: RuleFolder, given: str, names: tuple[str, ...]) -> None:
    """Refuse what an approval would do nothing for, and name the imports that wait for one."""
    imports = _outside_imports(folder, names)
    waiting = sorted(imports - approved_imports(air_home(), folder.root))
    more = f" and {len(waiting) - _NAMED} more" if len(waiting) > _NAMED else ""
    hint = f"not approved yet: {', '.join(waiting[:_NAMED])}{more}" if waiting else "no import waits for an approval"
    path = Path(names[-1])
    if not path.exists():
        raise NotFoundError(f"{given} is not there", hint=hint)
    if not path.is_file():
        raise UsageError(f"{given} is no file; a rule file imports one file", hint=hint)
    if not imports & set(names):
        raise UsageError(f"no rule file of the project imports {given}", hint=f"{hint}; `@~/…` in a CLAUDE.md is one")


def _outside_imports(folder: RuleFolder, approved: tuple[str, ...]) -> frozenset[str]:
    """Return the files outside that rule files of the project import and that are there, by the names used there."""
    home = rule_homes().user
    tree = read_folder(folder, approved=approved)
    # What is only imported is followed as by Claude Code: its own file cannot say whose it is.
    importing = (file for file in tree.files.values() if file.of_project and file.problem is None)
    named = (
        target
        for file in importing
        for one in imports_of(file, FOLLOWED[Dialect.CLAUDE] if file.name is None else followed_by(file)).mentions
        for target in one.targets
    )
    outside = {one.name for one in named if one.owner in {Owner.USER, Owner.MACHINE}}
    return frozenset(
        name for name in outside if (home / name[2:] if home and name.startswith("~/") else Path(name)).exists()
    )
