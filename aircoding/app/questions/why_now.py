"""Why a subject would not reach a worker that began now: nothing need be on record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from aircoding.app.contexts import BuildRequest, build_context
from aircoding.app.project import open_project
from aircoding.app.questions.asking import Page, on_page
from aircoding.app.questions.unconsidered import AskedAbout, explain_absence
from aircoding.app.questions.why import WhyNot
from aircoding.audit.considerations import why_not
from aircoding.audit.sightings import sightings

__all__ = ["why_not_now"]


def why_not_now(
    request: BuildRequest, subject: str, *, page: Page, say: Callable[[str], None] = lambda _text: None
) -> WhyNot:
    """Return what would become of a subject in the prompt that is asked for, assembled from the files as they are.

    Raises:
        NotFoundError: the plan has no such task.
        UsageError: what must be kept does not fit the model's window.
    """
    outcomes = sightings([build_context(request, say=say).manifest]).outcomes
    found = why_not(outcomes, subject)
    if request.task_id is None:  # the prompt was made of a task that nobody planned
        found = tuple(replace(one, task_id=None) for one in found)
    shown = on_page(found, page)
    answer = WhyNot(run_id=None, considerations=shown, total=len(found), offset=page.offset, sessions=1, now=True)
    if found:
        return answer
    named = ((seen.record.uri.removeprefix("project:"), seen.record.rule_id) for seen in outcomes)
    names = frozenset(name for pair in named for name in pair if name and not name.startswith("air:"))
    root = open_project(request.start).root
    absence = explain_absence(root, request.start, subject, AskedAbout(names=names, task_id=request.task_id))
    return replace(answer, absence=absence)
