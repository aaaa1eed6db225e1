"""`aircoding plan`: check a plan, show its waves, say what it may cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.audit.verdicts import holds
from aircoding.cli.output import emit, json_option, table
from aircoding.records.words import counted, dollars

if TYPE_CHECKING:
    from aircoding.app.estimates import PlanEstimate
    from aircoding.app.plans import PlanReport
    from aircoding.records.conflicts import Conflict

__all__ = ["plan"]

_MOST_DRIVERS = 4
_TELLING = 1.05
"""Assumptions that raise the cost by less are not worth a line."""

_file = click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    help="The plan; default .air/shared/plan/tasks.yaml of the project.",
)


@click.group()
def plan() -> None:
    """Check a plan, show its waves and its critical path, or estimate what it costs."""


@plan.command()
@_file
@json_option
def check(plan_file: Path | None, as_json: bool) -> None:
    """Say whether a plan can be run: faults with file, line and key, and conflicts found before dispatch."""
    from aircoding.app.plans import check_plan

    report = check_plan(Path.cwd(), plan_file)

    def text() -> str:
        size = f"{counted(report.task_count, 'task')} in {counted(report.wave_count, 'wave')}"
        lines = [f"{report.uri}: {size}; no faults in its form"]
        lines += [
            f"  separated: {a} and {b} write the same paths, so they run one after the other"
            for a, b in report.separated
        ]
        lines += [f"  remark: {remark}" for remark in report.remarks]
        lines += [f"  conflict {one.conflict_id}: {one.detail}{_ruled(one)}" for one in report.conflicts]
        lines += _asked(report)
        lines += [f"  task {task} cannot pass as it stands" for task in report.hopeless]
        return "\n".join(lines)

    emit("plan", report, as_json=as_json, text=text)
    if report.hopeless or any(one.denied for one in report.asked):
        raise SystemExit(1)


def _ruled(conflict: Conflict) -> str:
    """Say what a person ruled; what holds without one stands in the detail."""
    if conflict.ruled_by != "user":
        return ""
    return f"; ruled: {holds(conflict)} ({conflict.ruling})"


def _asked(report: PlanReport) -> list[str]:
    """Return a line for each command that `run` asks about or that is denied, and what to type."""
    places: dict[tuple[str, str, bool], list[str]] = {}
    for one in report.asked:
        places.setdefault((one.command, one.reason, one.denied), []).append(one.where)
    lines = [
        f"  {'the policy denies' if denied else 'run will ask about'} `{command}` ({'; '.join(where)}): {reason}"
        for (command, reason, denied), where in places.items()
    ]
    if any(not denied for _, _, denied in places):
        lines.append(f"  to approve them now: {report.trust_command}")
    return lines


@plan.command()
@_file
@json_option
def show(plan_file: Path | None, as_json: bool) -> None:
    """Show waves, dependencies and the critical path."""
    from aircoding.app.plans import show_plan

    view = show_plan(Path.cwd(), plan_file)

    def text() -> str:
        rows = [
            (number, task.id, task.title, " ".join(task.depends_on), " ".join(task.write_area))
            for number, wave in enumerate(view.waves, 1)
            for task in wave
        ]
        head = f"{view.goal}\n\n" if view.goal else ""
        path = " -> ".join(view.critical_path)
        return head + table(("wave", "task", "title", "depends on", "write area"), rows) + f"\n\ncritical path: {path}"

    emit("plan", view, as_json=as_json, text=text)


@plan.command()
@_file
@click.option("--provider", help="anthropic:MODEL or scripted:FILE; default: that of the settings.")
@json_option
def estimate(plan_file: Path | None, provider: str | None, as_json: bool) -> None:
    """Estimate tokens and money from the first prompts, assembled for real; no model is called."""
    from aircoding.app.estimates import estimate_plan

    found = estimate_plan(Path.cwd(), plan_file, provider=provider)
    emit("estimate", found, as_json=as_json, text=lambda: _estimate_text(found))


def _estimate_text(found: PlanEstimate) -> str:
    bounds = (found.low, found.expected, found.high)
    models = ", ".join(found.unit_prices)
    head = f"{found.uri}: {counted(found.task_count, 'task')}, priced as {models}"
    if found.sampled_tasks < found.task_count:
        head += f"; {found.sampled_tasks} of them were assembled and stand for all"
    if found.simulated:
        head += "; a scripted run pays nothing: this is what its stand-in model would cost"
    rows = [
        ("sessions", *(f"{one.sessions:,.1f}" for one in bounds)),
        ("model calls", *(f"{one.calls:,.0f}" for one in bounds)),
        ("prompt tokens", *(f"{one.prompt_tokens:,}" for one in bounds)),
        ("of them from the cache", *(_share(one.cached_tokens, one.prompt_tokens) for one in bounds)),
        ("output tokens", *(f"{one.output_tokens:,}" for one in bounds)),
        ("money", *(_usd(one.cost_usd) for one in bounds)),
        ("money without the cache", *(_usd(one.cost_without_cache_usd) for one in bounds)),
    ]
    shapes = [
        (shape.role, shape.model, shape.tasks, f"{shape.shared.expected:,}", f"{shape.own.expected:,}")
        for shape in found.shapes
    ]
    assumed = [(one.name, f"{one.low:g}", f"{one.expected:g}", f"{one.high:g}", one.basis) for one in found.assumptions]
    parts = [
        head,
        table(("", "low", "expected", "high"), rows),
        *_estimate_drivers(found),
        *_estimate_remarks(found),
        "first prompts, assembled now, in estimated tokens\n"
        + table(("role", "model", "tasks", "shared by all", "each its own"), shapes),
        "assumptions; low and high take all of them at their ends at once\n"
        + table(("", "low", "expected", "high", "from"), assumed),
    ]
    return "\n\n".join(parts)


def _estimate_drivers(found: PlanEstimate) -> list[str]:
    """Say which assumptions the high end comes from: each alone, the others as expected."""
    strongest = [one for one in found.drivers if one.times >= _TELLING][:_MOST_DRIVERS]
    if not strongest:
        return []
    lines = [f"  x{one.times:.1f}  {one.name}: {one.high:g} instead of {one.expected:g}" for one in strongest]
    return ["\n".join(["what drives the high end, each alone", *lines])]


def _estimate_remarks(found: PlanEstimate) -> list[str]:
    lines = [
        f'the price of {model} is not known: add [prices."{model}"] to ~/.air/config.toml'
        for model, prices in found.unit_prices.items()
        if prices is None
    ]
    if found.limit_usd is not None and (found.high.cost_usd or 0.0) > found.limit_usd:
        lines.append(f"a run pauses at {_usd(found.limit_usd)} ([run] max_cost_usd), and can be resumed with more")
    if found.not_fitting:
        lines.append(f"what must be kept does not fit the window: {', '.join(found.not_fitting)}")
    return ["\n".join(lines)] if lines else []


def _usd(value: float | None) -> str:
    return "unknown" if value is None else dollars(value)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"
