"""What became of a subject in one recorded prompt: by its name, by its text, or why it was never considered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.questions.asking import Page, on_page
from aircoding.app.questions.selectors import selected_id
from aircoding.app.questions.tool_reads import ToolReads, tool_reads
from aircoding.app.questions.unconsidered import AskedAbout, explain_absence
from aircoding.app.questions.why import WhyNot
from aircoding.audit.considerations import Consideration, grouped, why_not
from aircoding.audit.sightings import sightings
from aircoding.records.source_names import plain_uri
from aircoding.store.within import Within

if TYPE_CHECKING:
    from aircoding.records.manifest import Manifest
    from aircoding.records.runs import Run
    from aircoding.store import Store

__all__ = ["why_not_in_one"]


def why_not_in_one(store: Store, root: Path, start: Path, subject: str, given: str, page: Page) -> WhyNot:
    """Return what became of a path, rule or text in one prompt, as `why_not_subject` does for those of runs.

    Args:
        store: the record.
        root: the project.
        start: where the question is asked.
        subject: a path, a rule, `FILE#section`, or a text.
        given: the assembly, by any selector.
        page: how much of the answer.

    Raises:
        NotFoundError: there is no such assembly.
    """
    manifest = store.assemblies.account(selected_id(store, given)).manifest
    outcomes = sightings([manifest]).outcomes
    reads = _reads(store, subject, manifest)
    found = why_not(outcomes, subject)
    if found:
        return _answer(manifest, found, page, reads)
    run = store.runs.get(manifest.run_id)
    absence = explain_absence(root, start, subject, _asked_about(store, manifest, run))
    if absence.is_name and not absence.near:
        holding = store.search.among(subject, {one.record.segment_id for one in outcomes})
        found = grouped(one for one in outcomes if one.record.segment_id in holding)
        if found:
            return replace(_answer(manifest, found, page, reads), by_text=True)
        if run.texts_let_go_at is not None:
            return replace(_answer(manifest, (), page, reads), runs_without_texts=1)
    return replace(_answer(manifest, (), page, reads), absence=absence)


def _answer(manifest: Manifest, found: tuple[Consideration, ...], page: Page, reads: ToolReads) -> WhyNot:
    return WhyNot(
        run_id=manifest.run_id,
        considerations=on_page(found, page),
        total=len(found),
        offset=page.offset,
        sessions=1 if found else 0,
        reads=reads,
    )


def _reads(store: Store, subject: str, manifest: Manifest) -> ToolReads:
    """Return the calls for the file that stand in the prompt: calls of other turns and epochs of its session do not."""
    here = {record.segment_id for record in manifest.segments}
    of_session = tool_reads(store, subject, Within(session_id=manifest.session_id))
    calls = tuple(one for one in of_session.calls if one.record.segment_id in here)
    return ToolReads(calls=calls, total=len(calls))


def _asked_about(store: Store, manifest: Manifest, run: Run) -> AskedAbout:
    files = {plain_uri(note.uri) for note in manifest.outcomes if not note.uri.startswith("air:")}
    return AskedAbout(
        names=frozenset(files | {note.rule_id for note in manifest.outcomes if note.rule_id}),
        base_commit=run.base_commit,
        task_id=manifest.task_id,
        plan=store.texts.get(run.plan_digest),
    )
