"""Which rule files our own workers get: those of all tools, each as its owner defined it, each text once.

Everything that was found is either used or left out with its reason. Which folder or listing came first changes
nothing: all choices go by level, by tool and by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import OutcomeKind, Reason
from aircoding.records.segments import Barred
from aircoding.rules.foreign_header import ForeignHeader, HeaderStyle, RuleMode, read_foreign_header
from aircoding.rules.import_walk import MAX_STEPS, ImportWalk, walk_imports
from aircoding.rules.imports import followed_by
from aircoding.rules.mentions import MAX_MENTIONS
from aircoding.rules.owner_rules import OwnReading, group_of, own_reading, read_header
from aircoding.rules.precedence import Level
from aircoding.rules.reach import Reach, folder_reach, joined_reach
from aircoding.rules.rule_names import AGENTS_NAMES, Dialect, RuleName
from aircoding.rules.rule_switches import Excludes, RuleSwitches
from aircoding.rules.rule_use import LeftOut, NeutralRules, UsedFile, funded
from aircoding.rules.tree import Owner, RuleTree, TreeFile, tree_uri

__all__ = ["neutral_rules"]

_LAST = "CLAUDE.local.md"
"""What its owner reads last of all files of a folder."""


def neutral_rules(tree: RuleTree, switches: RuleSwitches, *, root: str = "") -> NeutralRules:
    """Return what becomes of each rule file of a tree.

    Args:
        tree: all rule files with what they import.
        switches: what the user lets in.
        root: the project root's path, for `excludes` that are whole paths.
    """
    chosen = _Choice(tree, switches, root)
    chosen.own_files()
    chosen.shadowed()
    chosen.imported()
    chosen.one_file_once()
    used = funded(tree, [chosen.used[path] for path in sorted(chosen.used)], switches.max_bytes)
    return NeutralRules(
        used=used,
        left_out=tuple(chosen.left_out[path] for path in sorted(chosen.left_out)),
        diagnostics=(*chosen.diagnostics, *chosen.excludes.faults()),
    )


class _Choice:
    """What was decided so far; each step looks at what the steps before let in."""

    def __init__(self, tree: RuleTree, switches: RuleSwitches, root: str) -> None:
        self._tree, self._switches, self._root = tree, switches, root
        self.excludes = Excludes(switches.excludes)
        self._claude_at_root = any(
            file.problem is None
            and file.name is not None
            and file.name.dialect is Dialect.CLAUDE
            and not file.name.folder
            and file.of_project
            for file in tree.files.values()
        )
        self.used: dict[str, UsedFile] = {}
        self.left_out: dict[str, LeftOut] = {}
        self.diagnostics: list[Diagnostic] = []

    def own_files(self) -> None:
        """Decide on each file by itself."""
        for path, file in sorted(self._tree.files.items()):
            if file.name is None or file.owner is Owner.ABOVE:
                continue  # our workers read nothing of the folders above the project
            if file.problem is not None:
                self._leave(path, Reason.UNREADABLE, f"{tree_uri(path)}: {file.problem}")
                continue
            reading = _reading(file, file.name)
            why = self._switched_off(file, file.name) or reading.refused
            if why is not None:
                self.left_out[path] = LeftOut(path=path, why=why, reach=reading.reach)
            else:
                self.used[path] = _used(file, file.name, reading)
            if why is None or why is reading.refused:
                self.diagnostics.extend((*reading.header.diagnostics, *_excluded_agent(path, reading.header)))

    def _switched_off(self, file: TreeFile, name: RuleName) -> Barred | None:
        if file.owner is Owner.MACHINE:
            return None
        if self.excludes.hold(file, self._root):
            return _disabled("`[rules] excludes` in config.toml names it")
        if name.folder and self._tree.is_home and name.dialect is not Dialect.NATIVE:
            return _disabled("the project root is a home folder, whose nested rule files are nobody's project")
        of_user = file.owner is Owner.USER
        off = self._switches.refusal(name.dialect, of_user=of_user, claude_at_root=self._claude_at_root)
        return _disabled(off) if off is not None else None

    def shadowed(self) -> None:
        """Of the names of one group the first counts that holds text; an empty one takes nothing's place (E30)."""
        groups: dict[str, list[tuple[int, str]]] = {}
        for path in self.used:
            file = self._tree.files[path]
            found = group_of(file, file.name, self._switches.agents_fallbacks) if file.name is not None else None
            if found is not None:
                groups.setdefault(found[0], []).append((found[1], path))
        for members in groups.values():
            ordered = [path for _, path in sorted(members)]
            first = next((path for path in ordered if self._tree.files[path].text.strip()), ordered[0])
            for path in ordered:
                if path == first:
                    continue
                if self._tree.files[path].text.strip():
                    detail = f"{tree_uri(first)} in the same folder takes its place"
                    self._drop(path, OutcomeKind.OVERRIDDEN, Reason.OVERRIDDEN, detail)
                elif ordered.index(path) < ordered.index(first):
                    self._remark("info", "rule.empty_override", path, f"it is empty, so {tree_uri(first)} counts")

    def imported(self) -> None:
        """Take in what the files that are used import."""
        walk = walk_imports(self._tree, {path: one.reach for path, one in self.used.items()})
        for path, reached in sorted(walk.reached.items()):
            known = self.used.get(path)
            if known is not None:
                if not known.native:
                    self.used[path] = replace(known, reach=joined_reach(known.reach, reached.reach))
            elif reached.reach.level != Level.MANAGED and self.excludes.hold(self._tree.files[path], self._root):
                self._leave(path, Reason.DISABLED, "`[rules] excludes` in config.toml names it", reached.reach)
            else:
                self.left_out.pop(path, None)
                self.used[path] = _imported(self._tree.files[path], reached.reach, reached.importers, walk)
        for path, refusal in sorted(walk.refused.items()):
            if path not in self.used and path not in self.left_out:
                self._leave(path, refusal.reason, refusal.detail, refusal.reach)
        self._links_as_text(walk)
        self._caps(walk)
        for ring in walk.rings:
            said = " → ".join(tree_uri(path) for path in ring)
            self._remark("info", "rule.import_cycle", ring[0], f"files import each other, each is read once: {said}")

    def _links_as_text(self, walk: ImportWalk) -> None:
        for path, target in walk.bare.items():
            if path in self.used:
                said = f"the file holds only the name of {tree_uri(target)}, which is read in its place"
                self._drop(path, OutcomeKind.OMITTED, Reason.INVALID, said)
                self._remark("warning", "rule.bare_name", path, said, "make it a link, or write `@` before the name")

    def _caps(self, walk: ImportWalk) -> None:
        """Say where a limit ended the reading of imports, so that what is missing is not missed in silence."""
        for path, line in sorted(walk.unread.items()):
            said = f"from line {line} on its imports are not read: more than {MAX_MENTIONS} in one file"
            self._remark("warning", "rule.too_many_imports", path, said, "split the file", line=line)
        if walk.stopped_at is not None:
            said = f"from this file on imports are not followed: more than {MAX_STEPS} in one project"
            self._remark("warning", "rule.too_many_imports", walk.stopped_at, said, "import fewer files")

    def one_file_once(self) -> None:
        """Let a file with several names count once, wherever any of them says (E16, E17)."""
        for names in self._tree.same_files().values():
            live = sorted((path for path in names if path in self.used), key=self._canonical)
            for path in live[1:]:
                first = self.used[live[0]]
                other = self.used[path]
                reach = first.reach if first.native else joined_reach(first.reach, other.reach)
                self.used[live[0]] = replace(
                    first, reach=reach, also=(*first.also, path), last=first.last and other.last
                )
                detail = (
                    f"{tree_uri(path)} and {tree_uri(live[0])} are one file; it counts once, as {tree_uri(live[0])}"
                )
                self._drop(path, OutcomeKind.DUPLICATE, Reason.DUPLICATE, detail)

    def _canonical(self, path: str) -> tuple[int, int, int, int, str]:
        """Of two names of one file the first in this order counts: ours, then the chain from the root, then others."""
        name = self._tree.files[path].name
        group = {Dialect.NATIVE: 0, Dialect.AGENTS: 1}.get(name.dialect, 2) if name is not None else 3
        base = path.rsplit("/", 1)[-1]
        place = AGENTS_NAMES.index(base) if base in AGENTS_NAMES else 0
        return self.used[path].reach.level, group, path.count("/"), place, path

    def _leave(self, path: str, reason: Reason, detail: str, reach: Reach | None = None) -> None:
        outcome = OutcomeKind.OMITTED
        name = self._tree.files[path].name if path in self._tree.files else None
        own = reach or folder_reach(name.folder if name is not None else "")
        self.left_out[path] = LeftOut(path=path, why=Barred(outcome=outcome, reason=reason, detail=detail), reach=own)
        if reason is Reason.UNREADABLE:
            said = f"the rule file was not read: {detail.removeprefix(f'{tree_uri(path)}: ')}"
            self._remark("warning", "rule.unreadable", path, said, "make it a regular text file inside the project")
        elif reason is Reason.PERMISSION:
            self._remark("warning", "rule.import_refused", path, f"the file was not imported: {detail}")

    def _drop(self, path: str, outcome: OutcomeKind, reason: Reason, detail: str) -> None:
        used = self.used.pop(path)
        self.left_out[path] = LeftOut(
            path=path, why=Barred(outcome=outcome, reason=reason, detail=detail), reach=used.reach
        )

    def _remark(
        self,
        severity: Literal["warning", "info"],
        code: str,
        path: str,
        message: str,
        hint: str = "",
        *,
        line: int | None = None,
    ) -> None:
        self.diagnostics.append(
            Diagnostic(severity=severity, code=code, message=message, uri=tree_uri(path), line=line, hint=hint)
        )


def _reading(file: TreeFile, name: RuleName) -> OwnReading:
    if name.dialect is Dialect.NATIVE:
        header = read_foreign_header(file.text, HeaderStyle.PLAIN)
        return OwnReading(header=header, reach=own_reading(file, name).reach)
    return own_reading(file, name)


def _used(file: TreeFile, name: RuleName, reading: OwnReading) -> UsedFile:
    return UsedFile(
        path=file.path,
        header=reading.header,
        reach=reading.reach,
        native=name.dialect is Dialect.NATIVE,
        uncommented=followed_by(file).uncommented,
        last=file.path.rsplit("/", 1)[-1] == _LAST,
    )


def _imported(file: TreeFile, reach: Reach, importers: tuple[str, ...], walk: ImportWalk) -> UsedFile:
    """A header of its own says nothing where another file takes the text in."""
    header = read_header(file)
    if header.broken:
        header = read_foreign_header(file.text, HeaderStyle.PLAIN)
    return UsedFile(
        path=file.path,
        header=replace(header, mode=RuleMode.ALWAYS, patterns=()),
        reach=replace(reach, of_user=reach.of_user and not file.of_project),
        importers=importers,
        uncommented=file.path in walk.uncommented,
    )


def _disabled(detail: str) -> Barred:
    return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.DISABLED, detail=detail)


def _excluded_agent(path: str, header: ForeignHeader) -> Iterable[Diagnostic]:
    if header.excluded_agents:
        said = f"`excludeAgent` is {', '.join(header.excluded_agents)}: Copilot's agents of that name do not get it"
        yield Diagnostic(severity="info", code="rule.exclude_agent", message=said, uri=tree_uri(path))
