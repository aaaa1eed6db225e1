"""Every rule file that could speak to a worker, as candidates of L3, in an order that no directory listing can change.

Built-in templates, the user's `~/.air/rules`, the project's `.air/shared/rules` and the `AGENTS.md` chain are read;
the files of other tools are listed as disabled. Which of the candidates reach a prompt is decided by the assembler.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import OutcomeKind, Reason, Scope, Trust
from aircoding.records.segments import Barred, Segment
from aircoding.rules.precedence import Level, directory_level
from aircoding.rules.rule_names import AGENTS_NAMES, NATIVE_FOLDER, Dialect, RuleName, classify, folder_glob
from aircoding.sources.files import TextRead, list_folder, printable, read_text_file
from aircoding.sources.resources import list_resources, read_resource
from aircoding.sources.rule_texts import RuleOrigin, RuleText, blank_rule, foreign_rules, native_rules
from aircoding.sources.segments import Intake, barred, unique

__all__ = ["RuleFiles", "RuleSwitches", "read_rules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSwitches:
    """Which rule files the user's settings let in."""

    agents_md: bool = True


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
) -> RuleFiles:
    """Read all rule files of one project and its user.

    Args:
        root: the project root.
        home: the user's `~/.air`.
        paths: project paths in any order, as git lists them.
        intake: makes the segments.
        trusted: whether the user trusts the project; else its files are external text.
        switches: what the settings let in.
        near: paths or globs that the task reads, writes or has touched: in their folders a chain file counts even
            when git ignores it.
    """
    trust = Trust.PROJECT if trusted else Trust.EXTERNAL
    reader = _Reader(root, home, intake, trust, switches or RuleSwitches())
    reader.built_in()
    reader.users()
    native, problems = _walk(root, NATIVE_FOLDER)
    reader.diagnostics.extend(problems)
    names = [name for path in sorted({*_all_paths(root, paths, near), *native}) if (name := classify(path)) is not None]
    for name in sorted(names, key=_canonical_order):
        reader.project(name)
    diagnostics = sorted(set(reader.diagnostics), key=lambda found: (found.uri, found.line or 0, found.code))
    return RuleFiles(segments=unique(reader.segments), diagnostics=tuple(diagnostics))


def _canonical_order(name: RuleName) -> tuple[int, int, int, str]:
    """Of two names of one file the first in this order counts: ours, then the chain from the root, then others."""
    group = {Dialect.NATIVE: 0, Dialect.AGENTS: 1}.get(name.dialect, 2)
    base = name.path.rsplit("/", 1)[-1]
    return group, name.path.count("/"), AGENTS_NAMES.index(base) if base in AGENTS_NAMES else 0, name.path


def _all_paths(root: Path, paths: Iterable[str], near: Iterable[str]) -> set[str]:
    """What git lists, plus what it may ignore and we read all the same: the chain of the task."""
    folders = {""}
    for path in near:
        literal = path.split(":", 1)[0]
        parts = literal.split("/")
        fixed = next((place for place, part in enumerate(parts) if set(part) & set("*?[{")), len(parts))
        folders.update("/".join(parts[:depth]) for depth in range(1, fixed + 1))
    chain = {f"{folder}/{base}".lstrip("/") for folder in folders if ".." not in folder for base in AGENTS_NAMES}
    present = {path for path in chain if os.path.lexists(root / path)}
    return {*paths, *present}


def _walk(root: Path, folder: str) -> tuple[set[str], list[Diagnostic]]:
    """Return all files below a folder, and the folders that cannot be read.

    Links to folders are followed once each, and never out of the project.
    """
    base = os.path.realpath(root)
    found: set[str] = set()
    problems: list[Diagnostic] = []
    seen: set[str] = set()
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        real = os.path.realpath(root / current)
        if real in seen or not (real + "/").startswith(base + "/"):
            continue
        seen.add(real)
        names, problem = list_folder(root / current)
        if problem is not None:
            problems.append(_unreadable_folder(f"project:{printable(current)}", problem))
        for name in names:
            path = f"{current}/{name}"
            if os.path.isdir(root / path):
                waiting.append(path)
            else:
                found.add(path)
    return found, problems


def _unreadable_folder(uri: str, problem: str) -> Diagnostic:
    message = f"the rules in this folder were not read: {problem}"
    return Diagnostic(severity="warning", code="rule.unreadable", message=message, uri=uri, hint="check its rights")


class _Reader:
    """Collects candidates; remembers which files it has seen by device and inode."""

    def __init__(self, root: Path, home: Path, intake: Intake, trust: Trust, switches: RuleSwitches) -> None:
        self._root, self._home, self._intake = root, home, intake
        self._trust, self._switches = trust, switches
        self._seen: dict[tuple[int, int], str] = {}
        self._shadow: dict[str, str] = {}
        self.segments: list[Segment] = []
        self.diagnostics: list[Diagnostic] = []

    def built_in(self) -> None:
        for path in list_resources("rules", ".md"):
            origin = RuleOrigin(uri=f"resource:{path}", trust=Trust.BUILTIN, level=Level.BUILTIN)
            self._native(origin, TextRead(text=read_resource(path)))

    def users(self) -> None:
        names, problem = list_folder(self._home / "rules")
        if problem is not None:
            self.diagnostics.append(_unreadable_folder("user:rules", problem))
        for name in (name for name in names if name.endswith(".md")):
            origin = RuleOrigin(uri=f"user:rules/{name}", trust=Trust.USER, level=Level.USER)
            read = read_text_file(self._home, f"rules/{name}", inside=False)
            if not self._refused(origin, read):
                self._native(origin, read)

    def project(self, name: RuleName) -> None:
        origin = _project_origin(name, self._trust)
        read = read_text_file(self._root, name.path)
        if self._refused(origin, read):
            return
        if name.dialect is Dialect.NATIVE:
            self._native(origin, read)
            return
        self._take(foreign_rules(origin, read, self._intake, why_not=self._barred(name)))

    def _native(self, origin: RuleOrigin, read: TextRead) -> None:
        self._take(native_rules(origin, read, self._intake))

    def _take(self, text: RuleText) -> None:
        self.segments.extend(text.segments)
        self.diagnostics.extend(text.diagnostics)

    def _refused(self, origin: RuleOrigin, read: TextRead) -> bool:
        """Account for a file that is not there, cannot be read, or is another name of one that was read."""
        if read.absent and not read.linked and read.problem == "it is not there":
            return True  # it vanished after the listing: as if it had never been
        if read.problem is not None:
            self._note(origin, OutcomeKind.OMITTED, Reason.UNREADABLE, f"{origin.uri}: {read.problem}")
            warning = Diagnostic(
                severity="warning",
                code="rule.unreadable",
                message=f"the rule file was not read: {read.problem}",
                uri=origin.uri,
                hint="make it a regular text file inside the project",
            )
            self.diagnostics.append(warning)
            return True
        if read.identity is None:
            return False
        known = self._seen.setdefault(read.identity, origin.uri)
        if known == origin.uri:
            return False
        detail = f"{origin.uri} and {known} are one file; it counts once, as {known}"
        self._note(origin, OutcomeKind.DUPLICATE, Reason.DUPLICATE, detail)
        return True

    def _note(self, origin: RuleOrigin, outcome: OutcomeKind, reason: Reason, detail: str) -> None:
        why = Barred(outcome=outcome, reason=reason, detail=detail)
        self.segments.append(barred(blank_rule(origin, self._intake), why))

    def _barred(self, name: RuleName) -> Barred | None:
        """Say why a file of another tool is not let in, or None when it is."""
        if name.dialect is not Dialect.AGENTS:
            detail = f"rule files of the kind {name.dialect.value} are not read by this version; AGENTS.md is"
            return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.DISABLED, detail=detail)
        if not self._switches.agents_md:
            detail = "the AGENTS.md chain is switched off: `[rules] agents_md = false` in config.toml"
            return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.DISABLED, detail=detail)
        first = self._shadow.setdefault(name.folder, name.path)
        if first == name.path:
            return None
        detail = f"project:{printable(first)} in the same folder takes its place"
        return Barred(outcome=OutcomeKind.OVERRIDDEN, reason=Reason.OVERRIDDEN, detail=detail)


def _project_origin(name: RuleName, trust: Trust) -> RuleOrigin:
    uri = f"project:{printable(name.path)}"
    if name.dialect is Dialect.NATIVE:
        return RuleOrigin(uri=uri, trust=trust, level=Level.PROJECT)
    depth = name.folder.count("/") + 1 if name.folder else 0
    return RuleOrigin(
        uri=uri,
        trust=trust,
        level=directory_level(depth) if depth else Level.PROJECT,
        native=False,
        scope=Scope.SESSION if depth else Scope.RUN,
        paths=folder_glob(printable(name.folder)),
        folder=printable(name.folder),
    )
