"""Why a text stands in prompts, why another does not, and who saw it."""

from __future__ import annotations

import re
from pathlib import Path

from aircoding.app.project import open_project
from aircoding.app.questions.assemblies import full_id, last_of_sessions, require_task
from aircoding.app.questions.kept import require_texts
from aircoding.app.run_results import newest_run
from aircoding.audit.considerations import Consideration, why_not
from aircoding.audit.places import Place, why
from aircoding.audit.witnesses import Witness, who_saw
from aircoding.records.ids import ManifestId

__all__ = ["who_saw_subject", "why_not_subject", "why_text"]


def why_text(start: Path, text: str, *, run_id: str | None, manifest_id: str | None) -> tuple[Place, ...]:
    """Return where a text stands in recorded prompts, each place once per session."""
    with open_project(start).open_store() as store:
        if manifest_id is not None:
            return why([store.assemblies.get(ManifestId(full_id(store, manifest_id)))], text)
        run = run_id or newest_run(store)
        require_texts(store, run)
        places: list[Place] = []
        seen: set[tuple[str, str, int]] = set()
        for head in store.index.heads(run_id=run):
            for place in why([store.assemblies.get(ManifestId(head.manifest_id))], text):
                mark = (place.session_id, place.block, place.start)
                if mark not in seen:
                    seen.add(mark)
                    places.append(place)
        return tuple(places)


def why_not_subject(
    start: Path, subject: str, *, run_id: str | None, task_id: str | None, role: str | None, manifest_id: str | None
) -> tuple[Consideration, ...]:
    """Return each time that a path or rule was considered, the newest assembly of each session."""
    with open_project(start).open_store() as store:
        if manifest_id is not None:
            return why_not([store.assemblies.account(ManifestId(full_id(store, manifest_id))).manifest], subject)
        run = run_id or newest_run(store)
        require_task(store, run, task_id)
        return why_not(last_of_sessions(store, run, task_id, role), subject)


def who_saw_subject(start: Path, subject: str, *, run_id: str | None, role: str | None) -> tuple[Witness, ...]:
    """Return which tasks' workers had a subject in a prompt. `PATH@DIGEST` asks for one version."""
    name, found, digest = subject.rpartition("@")
    if not found or not re.fullmatch(r"[0-9a-f]{4,64}", digest):
        name, digest = subject, ""
    with open_project(start).open_store() as store:
        manifests = last_of_sessions(store, run_id or newest_run(store), None, role)
        return who_saw(manifests, name, digest=digest or None)
