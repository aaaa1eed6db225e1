"""`rules lint`: everything that is wrong with a project's rule files, for the person who owns them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.app.policies import open_policies
from aircoding.app.project import Project
from aircoding.app.rule_folders import RuleFolder, open_folder, read_folder
from aircoding.app.rule_sources import rule_homes, rule_switches
from aircoding.app.screener import open_screener
from aircoding.context.conflicts import denied_requests, user_rule_conflicts
from aircoding.context.conflicts.user_rules import Contradiction
from aircoding.errors import UsageError
from aircoding.homes import air_home
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.policy import Policy
from aircoding.records.segments import Segment
from aircoding.rules.lint import CHECKS, lint_tree
from aircoding.rules.lint_budgets import over_budget
from aircoding.rules.precedence import resolve
from aircoding.rules.tree import RuleTree
from aircoding.settings import load_settings
from aircoding.sources.rule_files import read_rules
from aircoding.sources.segments import Intake
from aircoding.workspace.repository import GitRepository

__all__ = ["LintReport", "lint_rules"]

_OF_READER = {
    "rule.import_cycle": "lint.import",
    "rule.empty_override": "lint.empty",
    "rule.excludes": "lint.unmatched",
}
"""What the reader of the workers' rules says that the files alone do not: its codes as checks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """The findings by file and line, and how many rule files were looked at."""

    findings: tuple[Diagnostic, ...]
    files: int


def lint_rules(start: Path, *, select: Collection[str] = (), ignore: Collection[str] = ()) -> LintReport:
    """Check every rule file of the project around `start`; no `.air/`, key, database or repository is needed.

    Args:
        start: a folder of the project.
        select: codes of the checks that count (`rules.lint.CHECKS`); none: all.
        ignore: codes of checks that do not.

    Raises:
        UsageError: there is no such check.
        ConfigError: a settings file or a policy is wrong.
    """
    unknown = sorted({*select, *ignore} - set(CHECKS))
    if unknown:
        raise UsageError(f"there is no check {', '.join(unknown)}", hint=f"known: {', '.join(CHECKS)}")
    wanted = (set(select) or set(CHECKS)) - set(ignore)
    folder = open_folder(start)
    tree = read_folder(folder)
    found = [*lint_tree(tree), *over_budget(tree), *_of_texts(folder, tree)]
    kept = {one for one in found if one.code in wanted}
    return LintReport(
        findings=tuple(sorted(kept, key=lambda one: (one.uri, one.line or 0, one.code, one.message))),
        files=sum(file.name is not None and file.of_project for file in tree.files.values()),
    )


def _of_texts(folder: RuleFolder, tree: RuleTree) -> Iterator[Diagnostic]:
    """Yield what the rules say against each other and the policy, and what workers make of them, if trusted."""
    root, home = folder.root, air_home(folder.root)
    settings = load_settings(root)
    project = Project(root=root, home=home, settings=settings, repository=GitRepository(str(root)))
    policies = open_policies(project, confined=True)
    intake = Intake(open_screener(project, policies))
    switches = rule_switches(settings.rules)
    policy = policies.for_any_worker()
    read = read_rules(
        root,
        home,
        folder.paths,
        intake=intake,
        trusted=True,
        switches=switches,
        homes=rule_homes(),
        tree=tree,
        policy_of=lambda: policy,
    )
    standing = [rule for rule in read.segments if _stands(rule)]
    beaten = {ruling.loser.segment_id for ruling in resolve(standing)}
    rules = [rule for rule in standing if rule.segment_id not in beaten]
    yield from (replace(one, code=_OF_READER[one.code]) for one in read.diagnostics if one.code in _OF_READER)
    yield from _denied(rules, policy)
    yield from _contradictions(user_rule_conflicts(rules))


def _stands(rule: Segment) -> bool:
    return rule.barred is None and not any(finding.blocks for finding in rule.findings)


def _denied(rules: Iterable[Segment], policy: Policy) -> Iterator[Diagnostic]:
    for rule in rules:
        for asked in denied_requests(rule, policy) if rule.source.uri.startswith(("project:", "user:")) else ():
            yield _finding("lint.denied", rule, asked.line, f"it {asked.words}", "change the rule, or the policy")


def _contradictions(found: Iterable[Contradiction]) -> Iterator[Diagnostic]:
    """Yield one finding for each pair, at the side that is the project's own and stands later."""
    for one in found:
        detail = one.conflict.detail
        places = sorted(zip(one.pair, one.lines, strict=True), key=lambda side: (_is_own(side[0]), side[0].level))
        segment, line = places[-1]
        if _is_own(segment):
            hint = one.conflict.ruling or "say which of the two is meant"
            yield _finding("lint.contradiction", segment, line, detail, hint)


def _is_own(rule: Segment) -> bool:
    return rule.source.uri.startswith("project:")


def _finding(code: str, rule: Segment, line: int, message: str, hint: str) -> Diagnostic:
    return Diagnostic(severity="warning", code=code, message=message, uri=rule.source.uri, line=line, hint=hint)
