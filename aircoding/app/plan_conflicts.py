"""Contradictions that are known before dispatch: of tasks, and of the rules and plan documents that they get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aircoding.app.policies import Policies, open_policies
from aircoding.app.project import Project
from aircoding.app.rule_sources import rule_homes, rule_switches
from aircoding.app.rulings import recorded_rulings
from aircoding.app.screener import open_screener
from aircoding.app.skills import skill_switches
from aircoding.context.conflicts import (
    apply_ruling,
    architecture_conflicts,
    command_conflicts,
    task_command_conflicts,
    task_conflicts,
    user_rule_conflicts,
)
from aircoding.records.conflicts import Conflict
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import Layer
from aircoding.records.segments import Segment
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.globs import Dialect, compile_globs, overlap
from aircoding.rules.precedence import resolve
from aircoding.sources.plan_docs import PlanDocs, read_plan_docs, run_plan, task_plan
from aircoding.sources.rule_files import RuleFiles, read_rules
from aircoding.sources.segments import Intake
from aircoding.sources.skill_files import read_skills

__all__ = ["PlanConflicts", "find_conflicts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanConflicts:
    """The conflicts, each once, with what people ruled on them, and the tasks that cannot pass as they stand.

    `faults` are those of rule files, decisions and skills: what is quarantined for them takes no part; and what roles
    of an untrusted project ask for and do not get.
    """

    conflicts: tuple[Conflict, ...]
    hopeless: tuple[str, ...]
    faults: tuple[Diagnostic, ...]


def find_conflicts(project: Project, plan: Plan) -> PlanConflicts:
    """Return the conflicts that a plan's workers would meet: with the policy, with decisions, between their rules.

    A task cannot pass when the policy denies its own verify command, or when an open conflict stops it.
    """
    policies = open_policies(project, confined=True)
    intake = Intake(open_screener(project, policies))
    docs = read_plan_docs(project.root, intake=intake, trusted=project.trusted)
    rulings = {ruling.conflict_id: ruling for ruling in recorded_rulings(project)}
    found: list[Conflict] = []
    hopeless: list[str] = []
    for task in plan.tasks:
        policy = policies.for_task(task)
        blocking = [apply_ruling(one, rulings.get(one.conflict_id)) for one in architecture_conflicts(task, docs.adrs)]
        found += [*task_conflicts(task, policy), *blocking]
        if task_command_conflicts(task, policy) or any(one.blocking and one.state == "open" for one in blocking):
            hopeless.append(task.id)
    files = _rules(project, plan, intake, policies)
    found += _of_texts(files.segments, plan, policies, docs, intake)
    between = user_rule_conflicts(_reaching(files.segments, plan))
    found += (apply_ruling(one.conflict, rulings.get(one.conflict.conflict_id)) for one in between)
    unique = {conflict.conflict_id: conflict for conflict in found}
    return PlanConflicts(
        conflicts=tuple(unique.values()),
        hopeless=tuple(hopeless),
        faults=(*docs.diagnostics, *files.diagnostics, *_skill_faults(project), *policies.role_remarks),
    )


def _reaching(rules: Sequence[Segment], plan: Plan) -> list[Segment]:
    """Return the rules that hold and that some task's worker gets."""
    standing = [rule for rule in rules if _stands(rule)]
    beaten = {ruling.loser.segment_id for ruling in resolve(standing)}
    return [
        rule for rule in standing if rule.segment_id not in beaten and any(_reaches(rule, task) for task in plan.tasks)
    ]


def _of_texts(
    rules: Sequence[Segment], plan: Plan, policies: Policies, docs: PlanDocs, intake: Intake
) -> Iterator[Conflict]:
    """Yield the conflicts of rules and plan documents, judged once for all tasks of one role and the same denies."""
    groups: dict[tuple[str, tuple[str, ...]], list[TaskSpec]] = {}
    for task in plan.tasks:
        for role in (role for role in _roles_of(task) if role in policies.profiles):
            groups.setdefault((role, task.denied_paths), []).append(task)
    for (role, _), tasks in groups.items():
        profile = policies.profile(role)
        policy, layers = policies.for_role(profile, tasks[0]), profile.layers
        texts = [rule for rule in rules if Layer.L3 in layers]
        if Layer.L4 in layers:
            texts += run_plan(docs, layers[Layer.L4])
            texts += [text for task in tasks for text in task_plan(docs, task, layers[Layer.L4], intake=intake)]
        for text in {text.segment_id: text for text in texts if _stands(text)}.values():
            conflicts = command_conflicts(text, policy)
            if conflicts and any(_reaches(text, task) for task in tasks):
                yield from conflicts


def _roles_of(task: TaskSpec) -> tuple[str, ...]:
    """Return the roles that work on a task: its own, those that take part, and the one that it escalates to."""
    return tuple(dict.fromkeys((task.role, *task.roles, *task.retry.escalate)))


def _rules(project: Project, plan: Plan, intake: Intake, policies: Policies) -> RuleFiles:
    root = project.root
    return read_rules(
        root,
        project.home,
        project.repository.open_worktree(str(root)).paths(),
        intake=intake,
        trusted=project.trusted,
        switches=rule_switches(project.settings.rules),
        near={path for task in plan.tasks for path in (*task.reads, *task.write_area)},
        homes=rule_homes(),
        policy_of=policies.for_any_worker,
    )


def _skill_faults(project: Project) -> tuple[Diagnostic, ...]:
    switches = skill_switches(project.settings.skills)
    found = read_skills(project.root, project.home, trusted=project.trusted, switches=switches)
    return tuple(one for one in found.diagnostics if one.severity == "error")


def _stands(text: Segment) -> bool:
    return text.barred is None and not any(finding.blocks for finding in text.findings)


def _reaches(rule: Segment, task: TaskSpec) -> bool:
    """Whether a rule's paths and tags let it into the prompt of a task's worker when it starts."""
    if rule.tags and not set(rule.tags) & set(task.tags):
        return False
    if not rule.paths:
        return True
    globs = compile_globs(rule.paths, Dialect.ROOT_ANCHORED)
    return any(globs.matches(read.split(":", 1)[0]) for read in task.reads) or any(
        overlap(area, glob) for area in task.write_area for glob in rule.paths
    )
