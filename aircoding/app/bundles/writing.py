"""Write a recorded run as a bundle: all that the store holds of it, secrets masked once more."""

from __future__ import annotations

import getpass
import hashlib
import json
import socket
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from aircoding import __version__
from aircoding.app.bundles.records import RunRecords
from aircoding.app.policies import open_policies
from aircoding.app.project import Project, open_recorded
from aircoding.app.screener import open_screener
from aircoding.audit.redaction import MachineNames, Secrets
from aircoding.audit.sharing import Shared
from aircoding.errors import UsageError
from aircoding.pages.run_report import run_report_page
from aircoding.records.bundles import BUNDLE_FILES, BUNDLE_FORMAT, REPORT_NAME, BundleFile, BundleManifest, Redaction
from aircoding.records.digests import canonical_json
from aircoding.records.ids import Digest
from aircoding.records.jsonable import jsonable
from aircoding.records.runs import Run
from aircoding.screening.markers import MARKER
from aircoding.sources.bundle_files import MANIFEST_NAME, pack_bundle
from aircoding.workspace.clock import SystemClock

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["BundleReport", "export_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleReport:
    """What was written, and where; `size_bytes` is that of its files before they were packed."""

    file: str
    run_id: str
    texts: str
    assemblies: int
    size_bytes: int
    redaction: Redaction


def export_run(
    start: Path,
    run_id: str | None,
    output: Path | None,
    *,
    texts: bool,
    mask_paths: bool,
    say: Callable[[str], None] = lambda _: None,
) -> BundleReport:
    """Write a run as a bundle; none named: the newest.

    Args:
        start: a folder of the project.
        run_id: which run.
        output: a `.tar.gz`, a `.zip`, or a folder; none: `RUN.tar.gz` in the present folder.
        texts: whether the texts go with it; without them it is the account alone.
        mask_paths: whether home folders are masked in prompts as well, which are then no longer byte for byte.
        say: is told what goes on.

    Raises:
        NotFoundError: there is no such run, or none at all.
        UsageError: the file cannot be written.
    """
    project = open_recorded(start)
    with project.open_store() as store, tempfile.TemporaryDirectory(prefix="aircoding-export-") as made:
        run = store.runs.get(store.sightings.newest_run() if run_id is None else run_id)
        target = Path(f"{run.run_id}.tar.gz") if output is None else output
        if not target.absolute().parent.is_dir():
            raise UsageError(f"{target}: its folder is not there", hint="name a file in a folder that is there")
        say(f"reading and masking run {run.run_id}")
        manifest, counts = _write(project, store, run, Path(made), texts=texts, mask_paths=mask_paths)
        say(f"packing {target}")
        names = [MANIFEST_NAME, *(file.name for file in manifest.files), REPORT_NAME]
        pack_bundle(Path(made), names, target)
    return BundleReport(
        file=str(target),
        run_id=run.run_id,
        texts=manifest.texts,
        assemblies=counts["assemblies.jsonl"],
        size_bytes=sum(file.size_bytes for file in manifest.files),
        redaction=manifest.redaction,
    )


def _write(
    project: Project, store: Store, run: Run, folder: Path, *, texts: bool, mask_paths: bool
) -> tuple[BundleManifest, Mapping[str, int]]:
    secrets = Secrets(open_screener(project, open_policies(project, confined=True)).mask, MARKER)
    names = machine_names(project, run)
    with ExitStack() as stack:
        files = {name: stack.enter_context(_Lines.at(folder / name)) for name in BUNDLE_FILES}
        with_paths = [0]

        def keep_text(digest: Digest, text: str) -> None:
            with_paths[0] += names.names_home(text)
            files["texts.jsonl"].add({"digest": digest, "text": text})

        def keep_part(digest: Digest, value: Any) -> None:
            files["parts.jsonl"].add({"part": digest, "value": value})

        records = RunRecords(
            store,
            run,
            secrets=secrets,
            names=names,
            shared=Shared(keep_text, keep_part),
            texts=texts and run.texts_let_go_at is None,
            mask_paths=mask_paths,
        )
        for name, lines in records.files():
            for line in lines:
                files[name].add(line)
        (folder / REPORT_NAME).write_text(run_report_page(records.report()), encoding="utf-8", newline="\n")
        written = tuple(files[name].ended(name) for name in BUNDLE_FILES)
    manifest = BundleManifest(
        format=BUNDLE_FORMAT,
        aircoding=__version__,
        run_id=run.run_id,
        made_at=SystemClock().now(),
        texts="full" if records.texts else "none",
        redaction=Redaction(
            secrets=dict(sorted(secrets.kinds.items())),
            assemblies=records.redacted,
            machine_names=names.masked,
            paths=mask_paths,
            texts_with_paths=with_paths[0],
        ),
        files=written,
    )
    text = json.dumps(jsonable(manifest), ensure_ascii=False, indent=2) + "\n"
    (folder / MANIFEST_NAME).write_text(text, encoding="utf-8", newline="\n")
    return manifest, {file.name: file.lines for file in written}


def machine_names(project: Project, run: Run) -> MachineNames:
    """Return what masks the names of the machine on which a run was driven, as far as they are known here."""
    folders = {
        str(Path.home()): "~",
        str(project.home): "~/.air",
        run.project_root: "/project",
        str(project.root): "/project",
    }
    names: dict[str, str] = {}
    with suppress(OSError, KeyError, ImportError):
        names[getpass.getuser()] = "USER"
    names[socket.gethostname()] = "HOST"
    return MachineNames(folders, {name: word for name, word in names.items() if name not in _ORDINARY})


_ORDINARY = frozenset({"root", "user", "admin", "runner", "ubuntu", "debian", "localhost", "main", "project", "test"})
"""Names that say nothing of anybody, and that are words of any text."""


class _Lines:
    """One file of lines as it grows."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._lines = self._bytes = 0

    @classmethod
    def at(cls, path: Path) -> _Lines:
        return cls(path.open("wb"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, value: Any) -> None:
        line = canonical_json(value) + b"\n"
        self._file.write(line)
        self._digest.update(line)
        self._lines, self._bytes = self._lines + 1, self._bytes + len(line)

    def ended(self, name: str) -> BundleFile:
        self._file.flush()
        return BundleFile(name=name, lines=self._lines, size_bytes=self._bytes, sha256=Digest(self._digest.hexdigest()))
