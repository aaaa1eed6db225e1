"""A rule file that is tried: read as the project would read it if it lay at some path."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.app.policies import open_policies
from aircoding.app.project import Project
from aircoding.app.rule_sources import rule_homes, rule_switches
from aircoding.app.screener import open_screener
from aircoding.errors import NotFoundError, UsageError
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import Trust
from aircoding.records.segments import Segment
from aircoding.rules.precedence import Level
from aircoding.rules.rule_names import NATIVE_FOLDER, classify
from aircoding.sources.files import TextRead, read_text_file
from aircoding.sources.import_approvals import approved_imports
from aircoding.sources.rule_files import read_rules
from aircoding.sources.rule_origin import RuleOrigin
from aircoding.sources.rule_texts import native_rules
from aircoding.sources.rule_tree import read_rule_tree
from aircoding.sources.segments import Intake
from aircoding.workspace.worktree import GitWorktree

__all__ = ["TriedRule", "read_tried_rule"]

_USER_RULES = "~/.air/rules/"
_OWN_IDENTITY = (-1, -1)
"""Stands for device and inode: the file that is tried is no other name of the file that it was read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedRule:
    """A rule file as it was taken in: where it was read, as what, and the candidates that it gives.

    What it imports is among the candidates, as it lies there now.
    """

    file: str
    uri: str
    trust: Trust
    segments: tuple[Segment, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_tried_rule(project: Project, start: Path, given: str, *, near: tuple[str, ...]) -> TriedRule:
    """Return a rule file as the project would read it, with its trust and its screening of today.

    A file that lies where rules are read from is taken for that one, any other for one of `.air/shared/rules`.

    Args:
        project: whose rules they would be.
        start: what a relative file is relative to.
        given: `FILE`, or `FILE=PATH` for another path of the project or of `~/.air/rules`.
        near: paths of the task, as `sources.rule_files.read_rules` has them.

    Raises:
        NotFoundError: there is no such file.
        UsageError: it cannot be read, or no rules are read from that path.
    """
    file, as_path = _split(start, given)
    absolute = Path(os.path.normpath(start / file))
    read = read_text_file(absolute.parent, absolute.name, inside=False)
    if read.absent:
        raise NotFoundError(f"there is no file {file}", hint="give --with FILE or --with FILE=PATH")
    if read.problem is not None:
        raise UsageError(f"{file} cannot be read: {read.problem}", hint="name a regular text file")
    path = _as_path(project, absolute, as_path)
    intake = Intake(open_screener(project, open_policies(project, confined=True)))
    read = replace(read, identity=_OWN_IDENTITY, linked=False)
    if path.startswith(_USER_RULES):
        return _users(file, path.removeprefix(_USER_RULES), read, intake)
    return _projects(project, file, path, read, intake, near)


def _split(start: Path, given: str) -> tuple[str, str | None]:
    file, found, as_path = given.rpartition("=")
    return (file, as_path) if found and not (start / given).exists() else (given, None)


def _as_path(project: Project, absolute: Path, as_path: str | None) -> str:
    """Return the path that the file is taken for: of the project, or in `~/.air/rules`."""
    if as_path is None:
        if absolute.parent == project.home / "rules":
            return f"{_USER_RULES}{absolute.name}"
        inside = absolute.relative_to(project.root).as_posix() if absolute.is_relative_to(project.root) else ""
        if _is_rule_file(project, inside):
            return inside
        return f"{NATIVE_FOLDER}/{absolute.stem}.md"
    if as_path.startswith(_USER_RULES) and "/" not in as_path.removeprefix(_USER_RULES) and as_path.endswith(".md"):
        return as_path
    path = os.path.normpath(as_path)
    if os.path.isabs(path) or path.startswith("..") or not _is_rule_file(project, path):
        raise UsageError(
            f"no rules are read from {as_path}",
            hint=f"name a path such as {NATIVE_FOLDER}/NAME.md, AGENTS.md in any folder, or {_USER_RULES}NAME.md",
        )
    return path


def _is_rule_file(project: Project, path: str) -> bool:
    return classify(path) is not None or path.rsplit("/", 1)[-1] in project.settings.rules.agents_fallbacks


def _users(file: str, name: str, read: TextRead, intake: Intake) -> TriedRule:
    origin = RuleOrigin(uri=f"user:rules/{name}", trust=Trust.USER, level=Level.USER)
    rules = native_rules(origin, read, intake)
    return TriedRule(
        file=file, uri=origin.uri, trust=Trust.USER, segments=rules.segments, diagnostics=rules.diagnostics
    )


def _projects(
    project: Project, file: str, path: str, read: TextRead, intake: Intake, near: tuple[str, ...]
) -> TriedRule:
    switches, homes = rule_switches(project.settings.rules), rule_homes()
    paths = (*GitWorktree(str(project.root)).paths(), path)
    policies = open_policies(project, confined=True)
    tree = read_rule_tree(
        project.root,
        paths,
        near=near,
        homes=homes,
        approved=approved_imports(project.home, project.root),
        agents_fallbacks=switches.agents_fallbacks,
        instead={path: read},
    )
    found = read_rules(
        project.root,
        project.home,
        paths,
        intake=intake,
        trusted=project.trusted,
        switches=switches,
        near=near,
        homes=homes,
        tree=tree,
        policy_of=policies.for_any_worker,
    )
    uri = f"project:{path}"
    segments = tuple(one for one in found.segments if one.source.uri == uri or uri in one.importers)
    return TriedRule(
        file=file,
        uri=uri,
        trust=Trust.PROJECT if project.trusted else Trust.EXTERNAL,
        segments=segments,
        diagnostics=tuple(one for one in found.diagnostics if one.uri == uri),
    )
