"""`tasks.yaml`: read with every fault at once, and written (DESIGN section 9)."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import yaml

from aircoding.graph.faults import FaultList, plan_error
from aircoding.graph.plan_fields import PLAN_FIELDS, TASK_FIELDS, Field
from aircoding.graph.plan_values import FieldFault, cut, kind_of
from aircoding.graph.structure import add_structure_faults
from aircoding.records.ids import TaskId
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.front_matter import normalise
from aircoding.rules.yaml_reader import YamlFault, YamlList, YamlMap, YamlNode, YamlScalar, read_yaml

__all__ = ["MAX_PLAN_BYTES", "parse_plan", "plan_text"]

MAX_PLAN_BYTES = 64_000_000
"""A longer file is no plan that people or agents work with; 10,000 tasks have about 6 MB."""
_MAX_DEPTH = 8
_DEFAULTS = TaskSpec(id=TaskId("default"), title="default")


def parse_plan(text: str, uri: str = "") -> Plan:
    """Return the plan that a text holds.

    Raises:
        PlanError: it holds none that can be run; `diagnostics` have every fault with its line.
    """
    faults = FaultList(uri)
    plan = _read_plan(text, faults)
    if faults.found or plan is None:
        raise plan_error(uri, faults.found)
    return plan


def _read_plan(text: str, faults: FaultList) -> Plan | None:
    if len(text) > MAX_PLAN_BYTES:
        faults.add("too_long", f"the file is longer than {MAX_PLAN_BYTES:,} characters", None, "split the plan")
        return None
    try:
        root = read_yaml(normalise(text), max_depth=_MAX_DEPTH)
    except YamlFault as fault:
        faults.add("yaml", f"it is no YAML: {fault.message}", fault.line)
        return None
    if root is None:
        faults.add("empty", "the file is empty", 1, "start from `aircoding init`, which writes an example")
        return None
    if not isinstance(root, YamlMap):
        faults.add("type", f"a plan is a mapping, this is {kind_of(root)}", root.line, "start with `version: 1`")
        return None
    known = (*PLAN_FIELDS, "tasks")
    values = _read_fields(root, PLAN_FIELDS, known, "the plan", faults)
    tasks = _read_tasks(root, faults)
    return Plan(tasks=tasks, **values) if "goal" in values else None


def _read_tasks(root: YamlMap, faults: FaultList) -> tuple[TaskSpec, ...]:
    entry = root.entries.get("tasks")
    if entry is None:
        faults.add("missing", "the plan has no `tasks`", root.line, "add `tasks:` with a list of tasks")
        return ()
    if not isinstance(entry.node, YamlList):
        faults.add("type", f"`tasks` is {kind_of(entry.node)}, not a list", entry.line, "write `- id: T1` below it")
        return ()
    if not entry.node.items:
        faults.add("no_tasks", "the plan has no tasks", entry.line, "write `- id: T1` below `tasks:`")
        return ()
    read = [_read_task(node, number, faults) for number, node in enumerate(entry.node.items, 1)]
    tasks = tuple(task for task in read if task is not None)
    add_structure_faults(tasks, faults, complete=len(tasks) == len(read))
    return tasks


def _read_task(node: YamlNode, number: int, faults: FaultList) -> TaskSpec | None:
    if not isinstance(node, YamlMap):
        faults.add("type", f"task {number} is {kind_of(node)}, not a mapping", node.line, "write `- id: T1`")
        return None
    named = node.entries.get("id")
    owner = f"task {number}"
    if named is not None and isinstance(named.node, YamlScalar) and named.node.text.strip():
        owner = f"task {cut(named.node.text)}"
    values = _read_fields(node, TASK_FIELDS, tuple(TASK_FIELDS), owner, faults)
    if "id" not in values or "title" not in values:
        return None if "id" not in values else TaskSpec(**{"title": "", **values}, line=node.line)
    return TaskSpec(**values, line=node.line)


def _read_fields(
    node: YamlMap, fields: Mapping[str, Field], known: tuple[str, ...], owner: str, faults: FaultList
) -> dict[str, Any]:
    """Return the values that can be read; note a fault for each other one."""
    values: dict[str, Any] = {}
    for key, entry in node.entries.items():
        field = fields.get(key)
        if field is not None:
            try:
                values[key] = field.read(entry.node)
            except FieldFault as fault:
                for one in (fault, *fault.others):
                    faults.add("value", f"{owner}: `{key}` {one.message}", one.line, one.hint)
        elif key not in known:
            faults.add("unknown_key", f"{owner} has an unknown key `{cut(key)}`", entry.line, _nearest(key, known))
    for key, line, first in node.repeated:
        faults.add("repeated_key", f"{owner} gives `{cut(key)}` twice, first on line {first}", line, "keep one of them")
    for key, field in fields.items():
        if field.required and key not in node.entries:
            faults.add("missing", f"{owner} has no `{key}`", node.line, f"add `{key}: ...`")
    return values


def _nearest(key: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(key[:64], known, n=1, cutoff=0.5)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"


def plan_text(plan: Plan) -> str:
    """Return a plan as YAML that `parse_plan` reads back; values that are the default are left out."""
    tasks = [_task_values(task) for task in plan.tasks]
    return yaml.dump(
        {"version": plan.version, "goal": plan.goal, "tasks": tasks},
        Dumper=yaml.CSafeDumper,
        sort_keys=False,
        allow_unicode=True,
        width=120,
    )


def _task_values(task: TaskSpec) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in TASK_FIELDS:
        value = getattr(task, key)
        if key in ("id", "title") or value != getattr(_DEFAULTS, key):
            values[key] = list(value) if isinstance(value, tuple) else value
    if "retry" in values:
        values["retry"] = {"max_attempts": task.retry.max_attempts, "escalate": list(task.retry.escalate)}
    return values
