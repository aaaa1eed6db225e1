"""`aircoding conflicts`: what contradicts what, who won, and a person's ruling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.audit.verdicts import holds, reason
from aircoding.cli.output import emit, json_option, table
from aircoding.cli.paging import emit_paged, page_options

if TYPE_CHECKING:
    from aircoding.app.conflicts import ConflictEntry, RuledConflict
    from aircoding.app.questions.asking import Page

__all__ = ["conflicts"]

_KINDS = ("policy", "architecture", "user_rule", "evidence", "provider")


@click.group()
def conflicts() -> None:
    """List contradictions that were found in prompts and plans, show one, rule on one.

    In whose prompts they stood is a question of `aircoding context conflicts`.
    """


@conflicts.command("list")
@click.argument("run_id", required=False)
@click.option("--state", type=click.Choice(["open", "ruled"]), help="open: nobody has won yet.")
@click.option("--kind", type=click.Choice(_KINDS))
@click.option("--task", "task_id", help="Only those in prompts of this task's workers.")
@page_options()
@json_option
def list_(
    run_id: str | None, state: str | None, kind: str | None, task_id: str | None, page: Page, as_json: bool
) -> None:
    """List the conflicts of RUN_ID, or each one on record as the newest run had it."""
    from aircoding.app.conflicts import list_conflicts

    found = list_conflicts(Path.cwd(), run_id=run_id, state=state, kind=kind, task_id=task_id, page=page)
    emit_paged(found, as_json=as_json, text=lambda: _list_text(found.conflicts))


@conflicts.command()
@click.argument("conflict_id")
@json_option
def show(conflict_id: str, as_json: bool) -> None:
    """Show a conflict: both parties, what holds, who ruled, what can be done."""
    from aircoding.app.conflicts import show_conflict

    found = show_conflict(Path.cwd(), conflict_id)
    emit("conflict", found, as_json=as_json, text=lambda: _show_text(found))


@conflicts.command()
@click.argument("conflict_id")
@click.argument("why")
@click.option("--winner", help="The party that holds: 1, 2, or its name (user_rule).")
@click.option("--accept", is_flag=True, help="The task may go on all the same (architecture, provider).")
@click.option("--run", "run_id", help="Only for this run; default every run from now on.")
@json_option
def rule(conflict_id: str, why: str, winner: str | None, accept: bool, run_id: str | None, as_json: bool) -> None:
    """Rule on a conflict, with the reason WHY. A policy always holds: nobody can rule against it here."""
    from aircoding.app.conflicts import RuleRequest, rule_conflict

    request = RuleRequest(
        start=Path.cwd(), conflict_id=conflict_id, why=why, winner=winner, accept=accept, run_id=run_id
    )
    ruled = rule_conflict(request)
    emit("ruling", ruled, as_json=as_json, text=lambda: _ruled_text(ruled))


def _list_text(found: tuple[ConflictEntry, ...]) -> str:
    rows = [
        (
            entry.conflict.conflict_id,
            entry.conflict.state,
            holds(entry.conflict),
            " ".join(entry.tasks[:4]) + (" ..." if len(entry.tasks) > 4 else ""),
            entry.conflict.detail,
        )
        for entry in found
    ]
    if not rows:
        return "no conflicts on record; `aircoding plan check` shows those that are known before a run"
    return table(("conflict", "state", "what holds", "tasks", "what contradicts what"), rows)


def _show_text(entry: ConflictEntry) -> str:
    conflict = entry.conflict
    lines = [
        f"{conflict.conflict_id}: {conflict.kind.value} conflict, {conflict.state}",
        conflict.detail,
        *(f"  party {number}: {party}" for number, party in enumerate(conflict.parties, 1)),
        f"what holds: {holds(conflict)}",
        f"why: {reason(conflict)}",
        f"goes to: main, {conflict.route.value}" if conflict.route.value != "main" else "goes to: main",
        f"run: {entry.run_id or 'none yet'}; tasks: {' '.join(entry.tasks) or '-'}",
    ]
    how = "--accept" if conflict.blocking else "--winner 1|2"
    if conflict.kind.value in ("architecture", "provider", "user_rule"):
        lines.append(f'rule on it with: aircoding conflicts rule {conflict.conflict_id} {how} "why"')
    return "\n".join(lines)


def _ruled_text(ruled: RuledConflict) -> str:
    conflict = ruled.conflict
    return f"{conflict.conflict_id}: {holds(conflict)} ({conflict.ruling})\n{ruled.next_step}"
