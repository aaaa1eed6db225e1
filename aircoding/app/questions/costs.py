"""What prompts and answers cost: by task, role and model as it was billed, by layer as a share of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aircoding.app.questions.asking import record_of
from aircoding.audit.cost_shares import LayerCost, layer_costs
from aircoding.records.accounting import Spent

__all__ = ["By", "Costs", "costs"]

By = Literal["task", "role", "layer", "model"]

_COLUMNS: dict[str, tuple[Literal["run_id", "task_id", "role", "model"], ...]] = {
    "task": ("run_id", "task_id"),
    "role": ("role",),
    "model": ("model",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What was spent in all (`whole`), and by what was asked for: `rows` of tasks, roles or models, or `layers`.

    `run_id` None: of all runs. `total` counts rows of all pages.
    """

    run_id: str | None
    by: By
    whole: Spent
    rows: tuple[Spent, ...] = ()
    layers: tuple[LayerCost, ...] = ()
    total: int = 0


def costs(start: Path, *, run_id: str | None, by: By, limit: int, offset: int) -> Costs:
    """Return what a run cost (None: the newest, `all`: every one), what cost most first; layers in their order.

    Raises:
        NotFoundError: there is no such run.
    """
    with record_of(start) as (_, store):
        if run_id is None:
            run_id = store.sightings.newest_run()
        run_id = None if run_id == "all" else store.runs.get(run_id).run_id
        (whole,) = store.accounting.spent((), run_id=run_id)
        if by == "layer":
            layers = layer_costs(store.accounting.paid_calls(run_id=run_id))
            return Costs(run_id=run_id, by=by, whole=whole, layers=layers, total=len(layers))
        rows = store.accounting.spent(_COLUMNS[by], run_id=run_id)
    return Costs(run_id=run_id, by=by, whole=whole, rows=rows[offset : offset + limit], total=len(rows))
