"""`doctor`: look at this machine and this project; each finding comes with its fix."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aircoding.app.policies import open_policies
from aircoding.app.project import Project, open_project
from aircoding.errors import AirError, ConfigError
from aircoding.homes import air_home
from aircoding.sources.secret_scanner import scanner_fault, scanner_version
from aircoding.workspace.doctor_facts import LEAST_GIT, MachineFacts, machine_facts, unwritable, worktree_fault

__all__ = ["HealthFinding", "examine"]

_LEAST_FREE_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFinding:
    """One thing that was looked at: `ok`, `warning` or `error`, and what to do."""

    subject: str
    state: Literal["ok", "warning", "error"]
    detail: str
    fix: str = ""


def examine(start: Path) -> tuple[HealthFinding, ...]:
    """Look at git, sandbox, keys, disk, and the project with its settings, policy, trust and database."""
    facts = machine_facts(start)
    findings = [_git(facts), _sandbox(facts), *_keys(), _scanner(), _disk(facts), _home()]
    try:
        project = open_project(start)
    except AirError as error:
        return (*findings, HealthFinding(subject="project", state="error", detail=error.message, fix=error.hint))
    findings.append(HealthFinding(subject="project", state="ok", detail=str(project.root)))
    checks: tuple[Callable[[Project], HealthFinding], ...] = (_worktrees, _set_up, _policy, _trust, _database, _index)
    return (*findings, *(check(project) for check in checks))


def _git(facts: MachineFacts) -> HealthFinding:
    if facts.git_suffices:
        return HealthFinding(subject="git", state="ok", detail=facts.git or "")
    fix = f"install git {'.'.join(str(part) for part in LEAST_GIT)} or newer"
    return HealthFinding(subject="git", state="error", detail=facts.git or "it cannot be run", fix=fix)


def _worktrees(project: Project) -> HealthFinding:
    fault = worktree_fault(project.root)
    if fault:
        fix = "see what git says; `git worktree prune` may help"
        return HealthFinding(subject="worktrees", state="error", detail=fault, fix=fix)
    return HealthFinding(subject="worktrees", state="ok", detail="can be made")


def _sandbox(facts: MachineFacts) -> HealthFinding:
    report = facts.sandbox
    if report.backend == "none":
        fix = "install bubblewrap (package `bubblewrap`), or work in a container and say so in ~/.air/config.toml"
        return HealthFinding(subject="sandbox", state="warning", detail="; ".join(report.reasons), fix=fix)
    better = (
        f" (not bubblewrap: {'; '.join(report.reasons)})" if report.backend == "landlock" and report.reasons else ""
    )
    gaps = f"; it does not hold: {'; '.join(report.gaps)}" if report.gaps else ""
    return HealthFinding(subject="sandbox", state="ok", detail=f"{report.backend}{better}{gaps}")


def _keys() -> list[HealthFinding]:
    if os.environ.get("ANTHROPIC_API_KEY"):
        return [HealthFinding(subject="key for anthropic", state="ok", detail="ANTHROPIC_API_KEY is set")]
    fix = "set ANTHROPIC_API_KEY to work with a model; the demo and scripted runs need none"
    return [HealthFinding(subject="key for anthropic", state="warning", detail="ANTHROPIC_API_KEY is not set", fix=fix)]


def _scanner() -> HealthFinding:
    version, fault = scanner_version(), scanner_fault()
    if version is None:
        detail = "our own rules alone look for secrets"
        fix = "pip install 'aircoding[scanner]' finds more kinds"
        return HealthFinding(subject="secret scanner", state="ok", detail=detail, fix=fix)
    if fault is not None:
        fix = "install kingfisher-secret-scanner again, or remove it"
        return HealthFinding(subject="secret scanner", state="error", detail=f"cannot be loaded: {fault}", fix=fix)
    detail = f"kingfisher-secret-scanner {version}, beside our own rules"
    return HealthFinding(subject="secret scanner", state="ok", detail=detail)


def _disk(facts: MachineFacts) -> HealthFinding:
    free = facts.free_bytes
    if free < _LEAST_FREE_BYTES:
        fix = "free some space: worktrees and the record need it"
        return HealthFinding(subject="disk", state="warning", detail=f"{free // 1_000_000} MB free", fix=fix)
    return HealthFinding(subject="disk", state="ok", detail=f"{free // 1_000_000_000} GB free")


def _home() -> HealthFinding:
    try:
        home = air_home()
    except ConfigError as error:
        return HealthFinding(subject="home", state="error", detail=error.message, fix=error.hint)
    fault = unwritable(home)
    if fault:
        fix = "make it writable, or set AIR_HOME to a folder of yours"
        return HealthFinding(subject="home", state="error", detail=f"{home} cannot be written: {fault}", fix=fix)
    return HealthFinding(subject="home", state="ok", detail=str(home))


def _set_up(project: Project) -> HealthFinding:
    if (project.root / ".air").is_dir():
        return HealthFinding(subject="set-up", state="ok", detail=".air/ is there")
    return HealthFinding(subject="set-up", state="warning", detail="no .air/ here", fix="aircoding init")


def _policy(project: Project) -> HealthFinding:
    try:
        policies = open_policies(project, confined=True)
    except AirError as error:
        return HealthFinding(subject="policy", state="error", detail=error.message, fix=error.hint)
    lines = sum(len(file.rules) for file in policies.files)
    return HealthFinding(subject="policy", state="ok", detail=f"{lines} lines from {len(policies.files)} files")


def _trust(project: Project) -> HealthFinding:
    if project.trusted:
        return HealthFinding(subject="trust", state="ok", detail="this project's files may instruct agents")
    fix = "read its rules, then `aircoding permissions trust`"
    detail = "this project's files are shown to agents as external text"
    return HealthFinding(subject="trust", state="warning", detail=detail, fix=fix)


def _database(project: Project) -> HealthFinding:
    if "://" not in project.database and not Path(project.database).exists():
        return HealthFinding(subject="database", state="ok", detail="nothing on record yet")
    try:
        with project.open_store(migrate="never") as store:
            state = store.schema_state()
    except AirError as error:
        return HealthFinding(subject="database", state="error", detail=error.message, fix=error.hint)
    if state.current != state.head:
        fix = "aircoding db upgrade"
        return HealthFinding(subject="database", state="error", detail=f"schema {state.current}", fix=fix)
    return HealthFinding(subject="database", state="ok", detail=f"schema {state.current}")


def _index(project: Project) -> HealthFinding:
    """Look for the index of words: where it is missing, nothing fails, but two questions are slower and less sure."""
    from aircoding.store.text_index import has_fts5
    from aircoding.store.text_search import MOST_TEXTS

    is_file = "://" not in project.database
    try:
        if is_file and not Path(project.database).exists():
            indexed = has_fts5()
        else:
            with project.open_store(migrate="never") as store:
                indexed = store.search.is_indexed()
    except AirError as error:
        return HealthFinding(subject="text index", state="error", detail=error.message, fix=error.hint)
    if indexed:
        return HealthFinding(subject="text index", state="ok", detail="`why TEXT --run all` looks in all texts")
    unable = is_file and not has_fts5()
    lacking = "SQLite of this Python has no FTS5" if unable else "this database has no index of words"
    return HealthFinding(
        subject="text index",
        state="warning",
        detail=f"{lacking}: `why` and `why-not` with a TEXT read the newest {MOST_TEXTS} texts themselves",
        fix="it is slower, and the answer counts what was not searched; ask one run (--run), or use a Python whose"
        " sqlite3 has FTS5 and a new record",
    )
