"""Which estimator measures a model's prompts: learned from the record, plain where there is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from aircoding.app.project import Project
from aircoding.context.calibration import RECENT_SAMPLES, Calibration, calibrated, observe
from aircoding.errors import NotFoundError
from aircoding.records.snapshot import Estimator

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["estimator_now", "estimators_of"]


def estimators_of(store: Store) -> Callable[[str], Estimator]:
    """Return what gives the estimator of a model from the calls that are on record by then."""

    def of(model: str) -> Estimator:
        return calibrated(reduce(observe, store.usage.newest(model, limit=RECENT_SAMPLES), Calibration()))

    return of


def estimator_now(project: Project, model: str) -> Estimator:
    """Return the estimator of a model by the project's record; the plain one where nothing is on record yet."""
    try:
        store = project.open_store()
    except NotFoundError:
        return Estimator()
    with store:
        return estimators_of(store)(model)
