"""How a model's prompts are measured: by an estimator that learns from the record, or by the provider when asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from aircoding.app.models import capabilities
from aircoding.app.project import Project
from aircoding.context.calibration import RECENT_SAMPLES, Calibration, calibrated, observe
from aircoding.errors import NotFoundError
from aircoding.records.manifest import AssembledContext
from aircoding.records.snapshot import Estimator

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["count_exactly", "estimator_now", "estimators_of"]


def estimators_of(store: Store) -> Callable[[str], Estimator]:
    """Return what gives the estimator of a model from the calls that are on record by then."""

    def of(model: str) -> Estimator:
        return calibrated(reduce(observe, store.usage.newest(model, limit=RECENT_SAMPLES), Calibration()))

    return of


def estimator_now(project: Project, model: str) -> Estimator:
    """Return the estimator of a model by the project's record; the plain one where nothing is on record yet."""
    try:
        store = project.open_store(migrate="never")  # a build only reads; it waits for no migration
    except NotFoundError:
        return Estimator()
    with store:
        return estimators_of(store)(model)


def count_exactly(context: AssembledContext) -> int:
    """Return the input tokens of an assembly as the provider counts them; only the count is asked for.

    Raises:
        CredentialsError: no key is set.
        ProviderError: the provider could not be asked, or refused the request.
    """
    import asyncio

    from aircoding.providers.anthropic_messages import AnthropicProvider

    provider = AnthropicProvider(capabilities())

    async def ask() -> int:
        try:
            return await provider.count_tokens(context.manifest.model, context.request)
        finally:
            await provider.aclose()

    return asyncio.run(ask())
