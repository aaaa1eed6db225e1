"""`aircoding status`: runs, or the tasks of one run."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option, table
from aircoding.records.words import dollars

__all__ = ["status"]


@click.command()
@click.argument("run_id", required=False)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Most runs to list.")
@json_option
def status(run_id: str | None, limit: int, as_json: bool) -> None:
    """Show the newest runs, or the tasks of one run."""
    from aircoding.app.run_results import run_status, runs_status

    if run_id is None:
        runs = runs_status(Path.cwd(), limit=limit)
        rows = [
            (row.run_id, row.status, row.created_at[:19], f"{row.done}/{row.total}", row.cost, row.goal) for row in runs
        ]
        headings = ("run", "status", "started", "done", "cost", "goal")
        emit("runs", runs, as_json=as_json, text=lambda: table(headings, rows))
        return
    state = run_status(Path.cwd(), run_id)

    def text() -> str:
        tasks = [(task.task_id, task.title, task.state, task.attempt, task.reason) for task in state.tasks]
        limit = "no limit" if state.max_cost_usd is None else f"at most {dollars(state.max_cost_usd)}"
        confined = f"; sandbox: {state.sandbox}" if state.sandbox else ""
        return f"{state.summary}; {limit}{confined}\n\n" + table(("task", "title", "state", "attempts", "why"), tasks)

    emit("run", state, as_json=as_json, text=text)
