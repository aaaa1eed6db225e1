"""Files that take in others by `@path`, as Claude Code and Gemini CLI follow them: depth first, each file once."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aircoding.rules.mentions import Mention, mentions
from aircoding.rules.tools.account import Cause, Verdict, When
from aircoding.rules.tools.ledger import Ledger
from aircoding.rules.tree import TreeFile, import_target

__all__ = ["ImportRules", "ImportingReader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRules:
    """How a tool imports. `allows` says whether a file may take in another, `missing` hears of what is not there.

    `text_of` is what of a file the tool reads, and the same with its lines where they stand in the file; `max_hops` how
    far imports are followed.
    """

    max_hops: int
    cap: str
    refusal: str
    allows: Callable[[str, str], bool]
    text_of: Callable[[TreeFile], tuple[str, str]]
    barred: Callable[[str], str | None]
    missing: Callable[[str, Mention], None]


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
        text, numbered = self._rules.text_of(file)
        ledger.take(path, when, why, kept=text, imported_by=imported_by, verified=verified)
        self._follow(path, numbered, when, hop + 1)

    def _is_out(self, file: TreeFile, imported_by: str) -> bool:
        ledger, path = self._ledger, file.path
        barred = self._rules.barred(path)
        if barred is not None:
            ledger.skip(path, Cause.SWITCH, barred, imported_by=imported_by)
            return True
        if ledger.unusable(path, imported_by=imported_by):
            return True
        other = ledger.other_name(path)
        if other is not None:
            ledger.skip(path, Cause.DUPLICATE, f"the same file as {other}, which is loaded", imported_by=imported_by)
        return other is not None

    def _follow(self, importer: str, text: str, when: When, hop: int) -> None:
        for mention in mentions(text):
            target = self._target(importer, mention)
            if target is None:
                self._rules.missing(importer, mention)
            elif not self._rules.allows(importer, target):
                why = f"{importer} line {mention.line} imports it; {self._rules.refusal}"
                self._ledger.skip(target, Cause.IMPORT, why, verdict=Verdict.REFUSED, imported_by=importer)
            elif hop > self._rules.max_hops:
                why = f"{importer} line {mention.line} imports it at hop {hop}; {self._rules.cap}"
                if not self._ledger.loaded(target):
                    self._ledger.skip(target, Cause.IMPORT, why, imported_by=importer)
            else:
                said = f"imported by {importer} line {mention.line}"
                self.load(target, when, said, imported_by=importer, hop=hop)

    def _target(self, importer: str, mention: Mention) -> str | None:
        """Return the file that a mention means: one that is there, or one outside that may be there."""
        named = list(self._named(importer, mention))
        there = next((name for name in named if self._ledger.tree.find(name) is not None), None)
        # What is not known to be there is named without the full stop that may end its sentence.
        return there or next((name for name in reversed(named) if _outside(name) and not _outside(importer)), None)

    def _named(self, importer: str, mention: Mention) -> Iterator[str]:
        for written in mention.targets:
            name = import_target(importer, written)
            if name is None and not _outside(importer):
                # It leads out of the project: there it has an absolute name.
                root = self._ledger.options.root
                name = posixpath.normpath(posixpath.join(root, posixpath.dirname(importer), written))
            if name is not None:
                yield name


def _outside(name: str) -> bool:
    return name.startswith(("~/", "/"))
