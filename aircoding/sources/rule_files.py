"""Every rule file that could speak to a worker, as candidates of L3, in an order that no directory listing can change.

Built-in templates, the user's `~/.air/rules`, the project's `.air/shared/rules` and the rule files of other tools are
read, each as its owner defined it. Which of the candidates reach a prompt is decided by the assembler.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from aircoding.errors import ConfigError
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import OutcomeKind, Reason, Trust
from aircoding.records.policy import Policy
from aircoding.records.segments import Barred, Segment
from aircoding.rules.foreign_header import RuleMode
from aircoding.rules.neutral import neutral_rules
from aircoding.rules.precedence import Level
from aircoding.rules.reach import Reach
from aircoding.rules.rule_switches import RuleSwitches
from aircoding.rules.rule_use import LeftOut, UsedFile
from aircoding.rules.tree import RuleTree, TreeFile, tree_uri
from aircoding.sources.confirmations import ConfirmedRule, confirmed_rules, is_confirmed
from aircoding.sources.files import TextRead, list_folder, read_text_file
from aircoding.sources.foreign_texts import foreign_rules, left_out, pointer
from aircoding.sources.import_approvals import approved_imports
from aircoding.sources.import_permission import within_policy
from aircoding.sources.packaged_policy import packaged_policy
from aircoding.sources.resources import list_resources, read_resource
from aircoding.sources.rule_origin import RuleOrigin
from aircoding.sources.rule_texts import RuleText, blank_rule, native_rules
from aircoding.sources.rule_tree import RuleHomes, read_rule_tree
from aircoding.sources.segments import Intake, barred, unique
from aircoding.sources.tree_files import text_of

__all__ = ["RuleFiles", "RuleSwitches", "read_rules"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFiles:
    """All candidates by segment id, and what is wrong with their files."""

    segments: tuple[Segment, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_rules(
    root: Path,
    home: Path,
    paths: Iterable[str],
    *,
    intake: Intake,
    trusted: bool,
    switches: RuleSwitches | None = None,
    near: Iterable[str] = (),
    homes: RuleHomes | None = None,
    tree: RuleTree | None = None,
    policy_of: Callable[[], Policy] = packaged_policy,
    known_as: Path | None = None,
) -> RuleFiles:
    """Read all rule files of one project, of its user and of the machine.

    Args:
        root: the project root.
        home: the user's `~/.air`.
        paths: project paths in any order, as git lists them.
        intake: makes the segments.
        trusted: whether the user trusts the project; else its files are external text.
        switches: what the settings let in.
        near: paths or globs that the task reads, writes or has touched: in their folders a chain file counts even
            when git ignores it.
        homes: where the files of other tools lie that are not the project's; none: they are not looked at.
        tree: the rule files, where they were read already with what the settings and approvals let in.
        policy_of: the policy that judges what project files import.
        known_as: the root under which the user's records know the project, where it is read from another folder.
    """
    switches, homes = switches or RuleSwitches(), homes or RuleHomes()
    reader = _Reader(intake, Trust.PROJECT if trusted else Trust.EXTERNAL)
    confirmed = reader.user_record(lambda: confirmed_rules(home, known_as or root), frozenset[ConfirmedRule]())
    reader.built_in()
    reader.users(home)
    if tree is None:
        approved = reader.user_record(lambda: approved_imports(home, known_as or root), frozenset[str]())
        tree = read_rule_tree(
            root, paths, near=near, homes=homes, approved=approved, agents_fallbacks=switches.agents_fallbacks
        )
    tree = within_policy(tree, root, policy_of)
    reader.diagnostics.extend(tree.diagnostics)
    rules = neutral_rules(tree, switches, root=os.path.realpath(root))
    reader.diagnostics.extend(rules.diagnostics)
    for used in rules.used:
        reader.used(tree.files[used.path], used)
    for one in rules.left_out:
        reader.left_out(tree, one)
    diagnostics = sorted(set(reader.diagnostics), key=lambda found: (found.uri, found.line or 0, found.code))
    segments = (replace(one, confirmed=True) if is_confirmed(one, confirmed) else one for one in reader.segments)
    return RuleFiles(segments=unique(segments), diagnostics=tuple(diagnostics))


class _Reader:
    """Collects candidates and remarks."""

    def __init__(self, intake: Intake, trust: Trust) -> None:
        self._intake, self._trust = intake, trust
        self.segments: list[Segment] = []
        self.diagnostics: list[Diagnostic] = []

    def built_in(self) -> None:
        for path in list_resources("rules", ".md"):
            origin = RuleOrigin(uri=f"resource:{path}", trust=Trust.BUILTIN, level=Level.BUILTIN)
            self._take(native_rules(origin, TextRead(text=read_resource(path)), self._intake))

    def users(self, home: Path) -> None:
        """Read the user's own rules in `~/.air/rules`."""
        names, problem = list_folder(home / "rules")
        if problem is not None:
            self._warn("user:rules", f"the rules in this folder were not read: {problem}", "check its rights")
        for name in (name for name in names if name.endswith(".md")):
            origin = RuleOrigin(uri=f"user:rules/{name}", trust=Trust.USER, level=Level.USER)
            read = read_text_file(home, f"rules/{name}", inside=False)
            if read.vanished:
                continue  # as if it had never been
            if read.problem is None:
                self._take(native_rules(origin, read, self._intake))
                continue
            detail = f"{origin.uri}: {read.problem}"
            why = Barred(outcome=OutcomeKind.OMITTED, reason=Reason.UNREADABLE, detail=detail)
            self.segments.append(barred(blank_rule(origin, self._intake), why))
            self._warn(origin.uri, f"the rule file was not read: {read.problem}", "make it a regular text file")

    def used(self, file: TreeFile, used: UsedFile) -> None:
        """Take the text of a file, or a line that names it where the agent decides whether to read it."""
        read = text_of(file)
        self._take(self._intake.once((used, read.digest, self._trust), lambda: self._text(read, used)))

    def _text(self, read: TextRead, used: UsedFile) -> RuleText:
        origin = self._origin(used)
        if used.native:
            return native_rules(origin, read, self._intake)
        if used.header.mode in (RuleMode.DESCRIBED, RuleMode.MANUAL):
            return pointer(origin, read, self._intake, used.header)
        return foreign_rules(origin, read, self._intake, used)

    def left_out(self, tree: RuleTree, one: LeftOut) -> None:
        """Account for a file that is not used; its text is kept for whoever asks what it would change."""
        file = tree.find(one.path)
        read = text_of(file) if file is not None else TextRead()
        key = (one, read.digest, self._trust)
        make = partial(left_out, _origin(one.path, one.reach, self._trust), read, self._intake, one.why)
        self._take(self._intake.once(key, make))

    def _origin(self, used: UsedFile) -> RuleOrigin:
        origin = _origin(used.path, used.reach, self._trust)
        return replace(
            origin,
            native=used.native,
            also=tuple(tree_uri(path) for path in used.also),
            importers=tuple(tree_uri(path) for path in used.importers),
            sequence=int(used.last),
        )

    def user_record(self, read: Callable[[], _T], otherwise: _T) -> _T:
        """Return what a file in the user's folder holds; a broken one holds nothing, and that is said."""
        try:
            return read()
        except ConfigError as error:
            self._warn("user:", error.message, error.hint or "")
            return otherwise

    def _take(self, text: RuleText) -> None:
        self.segments.extend(text.segments)
        self.diagnostics.extend(text.diagnostics)

    def _warn(self, uri: str, message: str, hint: str) -> None:
        code = "rule.unreadable"
        self.diagnostics.append(Diagnostic(severity="warning", code=code, message=message, uri=uri, hint=hint))


def _origin(path: str, reach: Reach, trust: Trust) -> RuleOrigin:
    return RuleOrigin(
        uri=tree_uri(path),
        trust=Trust.USER if reach.of_user else trust,
        level=reach.level,
        native=False,
        paths=reach.paths,
        folders=reach.folders,
    )
