"""Rule files of a project, its user and its machine in temporary folders, and what is read of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aircoding.records.layers import OutcomeKind, Reason, Trust
from aircoding.records.segments import Segment
from aircoding.rules.globs import Dialect, compile_globs
from aircoding.sources.rule_files import RuleFiles, RuleSwitches, read_rules
from aircoding.sources.rule_tree import RuleHomes, walk_paths
from support.projects import by_uri, make_intake, write_tree

INTAKE = make_intake()


@dataclass
class Found:
    """What was read, by uri; `text` joins what reaches a prompt."""

    rules: RuleFiles
    root: Path = field(repr=False)

    def all(self, uri: str) -> list[Segment]:
        return by_uri(self.rules.segments, uri)

    def one(self, path: str) -> Segment:
        uri = path if path.startswith(("~/", "/", "project:")) else f"project:{path}"
        found = self.all(uri)
        assert len(found) == 1, [rule.segment_id for rule in self.rules.segments if rule.trust is not Trust.BUILTIN]
        return found[0]

    def out(self, path: str) -> tuple[OutcomeKind, Reason, str]:
        barred = self.one(path).barred
        assert barred is not None, f"{path} is used"
        return barred.outcome, barred.reason, barred.detail

    def used(self) -> dict[str, str]:
        texts: dict[str, str] = {}
        for rule in sorted(self.rules.segments, key=lambda rule: rule.source.start_line or 0):
            if rule.barred is None and rule.trust is not Trust.BUILTIN:
                before = texts.get(rule.source.uri)
                texts[rule.source.uri] = rule.text if before is None else f"{before}\n{rule.text}"
        return texts

    def codes(self) -> list[str]:
        return [one.code for one in self.rules.diagnostics]


class RuleFolders:
    """A project (no repository), a home and a machine below one folder."""

    def __init__(self, base: Path) -> None:
        self.project, self.home, self.machine = base / "project", base / "home", base / "machine"

    def __call__(
        self, files: Mapping[str, str | bytes], *, trusted: bool = True, near: Sequence[str] = (), **switches: Any
    ) -> Found:
        """Write files below the project, the home (`~/…`) and the machine (`/…`), and read all rules."""
        for folder in (self.project, self.home, self.machine):
            folder.mkdir(exist_ok=True)
        for name, text in files.items():
            base = self.home if name.startswith("~/") else self.machine if name.startswith("/") else self.project
            write_tree(base, {name.removeprefix("~/").lstrip("/"): text})
        rules = read_rules(
            self.project,
            self.home / ".air",
            walk_paths(self.project)[0],
            intake=INTAKE,
            trusted=trusted,
            switches=RuleSwitches(**switches),
            near=near,
            homes=RuleHomes(user=self.home, machine=self.machine),
        )
        return Found(rules=rules, root=self.project)


def matches(rule: Segment, path: str) -> bool:
    return compile_globs(rule.paths, Dialect.ROOT_ANCHORED).matches(path)
