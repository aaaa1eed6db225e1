"""`aircoding plan`: check a plan, show its waves."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option, table

__all__ = ["plan"]

_file = click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    help="The plan; default .air/shared/plan/tasks.yaml of the project.",
)


@click.group()
def plan() -> None:
    """Check a plan, or show its waves and its critical path."""


@plan.command()
@_file
@json_option
def check(plan_file: Path | None, as_json: bool) -> None:
    """Say whether a plan can be run: faults with file, line and key, and conflicts found before dispatch."""
    from aircoding.app.plans import check_plan

    report = check_plan(Path.cwd(), plan_file)

    def text() -> str:
        lines = [f"{report.uri}: {report.task_count} tasks in {report.wave_count} waves; no faults in its form"]
        lines += [
            f"  separated: {a} and {b} write the same paths, so they run one after the other"
            for a, b in report.separated
        ]
        lines += [f"  remark: {remark}" for remark in report.remarks]
        lines += [f"  conflict {conflict.conflict_id}: {conflict.detail}" for conflict in report.conflicts]
        lines += [f"  task {task} cannot pass as it stands" for task in report.hopeless]
        return "\n".join(lines)

    emit("plan", report, as_json=as_json, text=text)
    if report.hopeless:
        raise SystemExit(1)


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
