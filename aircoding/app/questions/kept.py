"""Whether what a question needs is kept: an account answers without its texts, a text does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aircoding.errors import NotFoundError

if TYPE_CHECKING:
    from aircoding.records.ids import ManifestId
    from aircoding.records.manifest import AssembledContext
    from aircoding.store import Store

__all__ = ["require_texts", "whole_or_account"]


def require_texts(store: Store, run_id: str) -> None:
    """Refuse a question about texts that are not kept: `not found` must not read as `was never there`.

    Raises:
        NotFoundError: there is no such run, or its texts were let go.
    """
    at = store.runs.get(run_id).texts_let_go_at
    if at is not None:
        raise NotFoundError(
            f"the texts of run {run_id} are not kept since {at}: what its prompts said cannot be looked up",
            hint="why-not, who-saw, costs and status still answer: its account is kept",
            code="not_found.text",
        )


def whole_or_account(store: Store, manifest_id: ManifestId) -> tuple[AssembledContext, bool]:
    """Return an assembly, and whether its request is there: where its texts are not kept only its account is."""
    try:
        return store.assemblies.get(manifest_id), True
    except NotFoundError as error:
        if error.code != "not_found.text":
            raise
        return store.assemblies.account(manifest_id), False
