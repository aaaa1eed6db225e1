"""What prompts and answers cost: by task, role and model as it was billed, by layer as a share of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aircoding.app.questions.asking import Page, Paged, on_page, record_of
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
class Costs(Paged):
    """What was spent in all (`whole`), and a page by what was asked for: of tasks, roles or models, or of layers.

    `run_id` None: of all runs. `basis` says what tokens and money rest on.
    """

    costs: tuple[Spent, ...] | tuple[LayerCost, ...]
    run_id: str | None
    by: By
    whole: Spent
    basis: Mapping[str, str]

    @property
    def items(self) -> tuple[Spent | LayerCost, ...]:
        """The rows."""
        return self.costs


def costs(start: Path, *, run_id: str | None, by: By, page: Page) -> Costs:
    """Return what a run cost (None: the newest, `all`: every one), what cost most first; layers in their order.

    Raises:
        NotFoundError: there is no such run.
    """
    with record_of(start) as (_, store):
        if run_id is None:
            run_id = store.sightings.newest_run()
        run_id = None if run_id == "all" else store.runs.get(run_id).run_id
        (whole,) = store.accounting.spent((), run_id=run_id)
        rows: tuple[Spent, ...] | tuple[LayerCost, ...]
        if by == "layer":
            rows = layer_costs(store.accounting.paid_calls(run_id=run_id))
        else:
            rows = store.accounting.spent(_COLUMNS[by], run_id=run_id)
    return Costs(
        run_id=run_id,
        by=by,
        whole=whole,
        costs=on_page(rows, page),  # type: ignore[arg-type]  # rows of one kind
        total=len(rows),
        offset=page.offset,
        basis=_basis(whole, by),
    )


def _basis(whole: Spent, by: By) -> dict[str, str]:
    """Return what tokens and money rest on: measured, simulated or partly simulated; for layers estimated shares."""
    if not whole.paid:
        said = "nothing was paid for"
    elif whole.simulated == whole.paid:
        said = "simulated"
    else:
        said = "measured" if not whole.simulated else "partly simulated"
    return {"tokens": said, "cost_usd": said, **({"layers": "estimated shares of it"} if by == "layer" else {})}
