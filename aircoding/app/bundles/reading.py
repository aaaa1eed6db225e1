"""Take a bundle into the record: checked as a whole first, then written in one transaction, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.bundles.contents import Contents, read_contents
from aircoding.app.bundles.intake import Clock, Intake
from aircoding.app.bundles.lines import Lines
from aircoding.app.project import open_recorded
from aircoding.errors import NotFoundError, UsageError
from aircoding.records.bundles import BUNDLE_FILES, REPORT_NAME
from aircoding.records.words import counted
from aircoding.sources.bundle_files import opened_bundle
from aircoding.workspace.clock import SystemClock
from aircoding.workspace.placement import hide_local_state

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["ImportReport", "import_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What was taken in. `known` says that the same bundle was on record already, and nothing was done."""

    run_id: str
    known: bool
    texts: str
    assemblies: int
    redacted: int
    events: int


def import_run(start: Path, bundle: Path, *, say: Callable[[str], None] = lambda _: None) -> ImportReport:
    """Take the run of a bundle into the project's record; nothing but the record is written.

    A folder that is in no repository becomes the place of a record of its own. `say` is told what goes on.

    Raises:
        ProjectError: `start` is the user's home folder, and no repository.
        BundleError: it is no bundle, or is not what it says of itself.
        UsageError: another run of that name is on record here.
        StoreError: the database cannot be written.
    """
    project = open_recorded(start, create=True)
    with opened_bundle(bundle, frozenset((*BUNDLE_FILES, REPORT_NAME))) as files:
        contents = read_contents(bundle, files)
        lines = Lines(contents)
        say(f"checking {bundle.name}")
        for _ in lines.everything():  # first without holding the database
            pass
        with project.open_store(create=True) as store:
            hide_local_state(str(project.root))
            known = _is_known(store, contents)
            if not known:
                clock = Clock(SystemClock().now())
                at = clock.at
                say(f"writing {counted(lines.assemblies_seen, 'recorded prompt')} of run {contents.manifest.run_id}")
                store.together(lambda inside: Intake(inside, contents, clock, at).all(), now=clock)
    return ImportReport(
        run_id=contents.manifest.run_id,
        known=known,
        texts=contents.manifest.texts,
        assemblies=lines.assemblies_seen,
        redacted=lines.redacted_seen,
        events=lines.events_seen,
    )


def _is_known(store: Store, contents: Contents) -> bool:
    """Whether this very bundle was taken in before.

    Raises:
        UsageError: another run of that name is on record.
    """
    run_id = contents.manifest.run_id
    try:
        there = store.runs.get(run_id)
    except NotFoundError:
        return False
    if there.imported_from == contents.digest:
        return True
    whose = "was taken in from another bundle" if there.imported_at is not None else "is one of this project's own"
    raise UsageError(
        f"a run {run_id} is on record already; it {whose}",
        hint="look at it with `aircoding status`, or take the bundle in elsewhere",
        code="bundle.run_known",
    )
