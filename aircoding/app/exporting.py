"""A recorded run for other programs: its spans, read without one text of a prompt, a reply or a tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding import __version__
from aircoding.app.project import open_recorded
from aircoding.audit.spans import Span, resource_spans, run_span, session_spans
from aircoding.errors import UsageError
from aircoding.records.runs import Run
from aircoding.sources.atomic_files import replace_text

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["SpanExport", "export_spans", "export_spans_to_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanExport:
    """What was exported: one document for the run and one for each of its sessions, each a line.

    `unended` counts spans of what goes on still or was interrupted; `file` is None where the lines went elsewhere.
    """

    run_id: str
    spans: int
    sessions: int
    unended: int
    file: str | None = None


def export_spans(start: Path, run_id: str | None, *, write: Callable[[str], None]) -> SpanExport:
    """Give each line of a run's spans to `write`; no run named: the newest.

    Raises:
        NotFoundError: there is no such run, or none at all.
    """
    return _export(start, run_id, write, None)


def export_spans_to_file(start: Path, run_id: str | None, file: Path) -> SpanExport:
    """Write a run's spans to a file, whole or not at all; one that is there is replaced.

    Raises:
        NotFoundError: there is no such run, or none at all.
        UsageError: the file cannot be written.
    """
    lines: list[str] = []
    export = _export(start, run_id, lines.append, str(file))
    try:
        replace_text(file, "".join(f"{line}\n" for line in lines), new_mode=0o644)
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be written: {error.strerror or error}", hint="name a file in a folder that is there"
        ) from error
    return export


def _export(start: Path, run_id: str | None, write: Callable[[str], None], file: str | None) -> SpanExport:
    spans = documents = unended = 0
    with open_recorded(start).open_store() as store:
        run = store.runs.get(store.sightings.newest_run() if run_id is None else run_id)
        for document in _documents(store, run):
            write(json.dumps(resource_spans(document, version=__version__), separators=(",", ":")))
            documents, spans = documents + 1, spans + len(document)
            unended += sum(1 for span in document if _is_unended(span))
    return SpanExport(run_id=run.run_id, spans=spans, sessions=documents - 1, unended=unended, file=file)


def _documents(store: Store, run: Run) -> Iterator[Sequence[Span]]:
    """Yield a document's spans at a time: those of each session, and the run's own last, which may end with theirs."""
    sessions: list[Span] = []
    for session in store.index.sessions(run.run_id):
        calls = store.queries.calls(session_id=session.session_id, limit=None)
        spans = session_spans(run, session, calls, store.index.tools(session.session_id))
        sessions.append(spans[0])
        yield spans
    yield (run_span(run, sessions),)


def _is_unended(span: Span) -> bool:
    return any(each["key"] == "aircoding.unended" for each in span["attributes"])
