"""Files that take in others by `@path`, as Claude Code and Gemini CLI follow them: depth first, each file once."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass

from aircoding.rules.imports import FileImport, Following, imports_of
from aircoding.rules.tools.account import Cause, Verdict, When
from aircoding.rules.tools.ledger import Ledger
from aircoding.rules.tree import Owner, Target, TreeFile

__all__ = ["ImportRules", "ImportingReader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRules:
    """How a tool imports. `allows` says whether a file may take in another, `missing` hears of what is not there.

    `text_of` is what of a file the tool reads.
    """

    following: Following
    cap: str
    refusal: str
    allows: Callable[[TreeFile, Target], bool]
    text_of: Callable[[TreeFile], str]
    barred: Callable[[TreeFile], str | None]
    missing: Callable[[str, FileImport], None]


class ImportingReader:
    """Loads files into a ledger together with what they import; the same file is loaded once."""

    def __init__(self, ledger: Ledger, rules: ImportRules) -> None:
        self._ledger, self._rules = ledger, rules

    def load(
        self, path: str, when: When, why: str, *, verified: bool = True, imported_by: str = "", hop: int = 0
    ) -> None:
        """Load one file, if it is there and was not loaded before."""
        ledger = self._ledger
        file = ledger.tree.find(path)
        if file is None:
            return
        if ledger.loaded(path):
            if imported_by:
                ledger.imported(path, imported_by)
            return
        if self._is_out(file, imported_by):
            return
        ledger.take(path, when, why, kept=self._rules.text_of(file), imported_by=imported_by, verified=verified)
        self._follow(file, when, hop + 1)

    def _is_out(self, file: TreeFile, imported_by: str) -> bool:
        ledger, path = self._ledger, file.path
        barred = self._rules.barred(file)
        if barred is not None:
            ledger.skip(path, Cause.SWITCH, barred, imported_by=imported_by)
            return True
        if ledger.unusable(path, imported_by=imported_by):
            return True
        other = ledger.other_name(path)
        if other is not None:
            ledger.skip(path, Cause.DUPLICATE, f"the same file as {other}, which is loaded", imported_by=imported_by)
        return other is not None

    def _follow(self, file: TreeFile, when: When, hop: int) -> None:
        importer, following = file.path, self._rules.following
        found = imports_of(file, following)
        for one in found.mentions:
            target = self._target(file, one)
            if target is None:
                self._rules.missing(importer, one)
            elif not self._rules.allows(file, target):
                why = f"{importer} line {one.line} imports it; {self._rules.refusal}"
                self._ledger.skip(target.name, Cause.IMPORT, why, verdict=Verdict.REFUSED, imported_by=importer)
            elif hop > following.hops:
                why = f"{importer} line {one.line} imports it at hop {hop}; {self._rules.cap}"
                if not self._ledger.loaded(target.name):
                    self._ledger.skip(target.name, Cause.IMPORT, why, imported_by=importer)
            elif target.name in self._ledger.tree.unread:
                why = f"{importer} line {one.line} imports it; it was not read here, for there are too many files"
                self._ledger.skip(target.name, Cause.IMPORT, why, imported_by=importer, verified=False)
            else:
                said = f"imported by {importer} line {one.line}"
                self.load(target.name, when, said, imported_by=importer, hop=hop)
        if found.unread_line is not None:
            message = "from here on its imports were not looked at, there are too many"
            self._ledger.warn("tree.too_many_imports", message, importer, line=found.unread_line, hint="split the file")

    def _target(self, importer: TreeFile, one: FileImport) -> Target | None:
        """Return the file that a mention means: one that is there, or one outside that may be there."""
        tree = self._ledger.tree
        named = [self._whole(target) if importer.of_project else target for target in one.targets]
        there = next((target for target in named if tree.is_there(target.name)), None)
        if there is not None or not importer.of_project:
            return there
        # What is not known to be there is named without the full stop that may end its sentence.
        return next((target for target in reversed(named) if target.owner is not Owner.PROJECT), None)

    def _whole(self, target: Target) -> Target:
        """Return a target that leads out of the project by the absolute name that it has there."""
        if target.owner is not Owner.ABOVE:
            return target
        name = posixpath.normpath(posixpath.join(self._ledger.options.root, target.name))
        return Target(name=name, owner=Owner.ABOVE)
