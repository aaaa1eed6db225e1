"""Architecture decision records: `.air/shared/plan/adr/*.md`, read strictly."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.tasks import Adr
from aircoding.rules.front_matter import FrontMatter, parse_front_matter
from aircoding.rules.globs import Dialect, glob_fault, split_globs

__all__ = ["AdrFile", "parse_adr", "with_successors"]

STATUSES = ("proposed", "accepted", "superseded")
_HEADING = re.compile(r"# +(.+?) *#*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrFile:
    """One record as its file gives it. `fault` says why it must not be used; `adr` is what could be read of it."""

    adr: Adr
    body: str
    body_start_line: int
    fault: Diagnostic | None = None


def parse_adr(text: str, uri: str) -> AdrFile:
    """Read one record. Never raises: what is wrong is its `fault`, with the line."""
    matter = parse_front_matter(text, uri)
    faults = [fault for fault in matter.diagnostics if fault.severity == "error"]

    def fault(key: str, message: str, hint: str) -> None:
        line = matter.lines.get(key, 1)
        faults.append(Diagnostic(severity="error", code=f"adr.{key}", message=message, uri=uri, line=line, hint=hint))

    adr_id, status = matter.text("id") or "", matter.text("status") or ""
    if not adr_id:
        fault("id", "`id` is missing", "add `id:` to the front matter")
    if status not in STATUSES:
        fault("status", f"`status` is {status!r}", f"write {', '.join(STATUSES[:-1])} or {STATUSES[-1]}")
    interfaces = _list(matter, "interfaces")
    for glob in interfaces:
        problem = glob_fault(glob, Dialect.ROOT_ANCHORED)
        if problem is not None:
            fault("interfaces", f"`{glob}` matches nothing: {problem}", "correct the glob")
    adr = Adr(
        id=adr_id,
        status=status,
        title=_title(matter.body) or uri.rsplit("/", 1)[-1].removesuffix(".md"),
        interfaces=interfaces,
        supersedes=_list(matter, "supersedes"),
        uri=uri,
    )
    return AdrFile(
        adr=adr, body=matter.body, body_start_line=matter.body_start_line, fault=faults[0] if faults else None
    )


def _list(matter: FrontMatter, key: str) -> tuple[str, ...]:
    return tuple(part for text in matter.texts(key) or () for part in split_globs(text))


def _title(body: str) -> str | None:
    found = next((match for line in body.split("\n") if (match := _HEADING.fullmatch(line))), None)
    return found[1] if found else None


def with_successors(files: Iterable[AdrFile]) -> tuple[AdrFile, ...]:
    """Return the files by uri, an accepted record that another accepted one supersedes marked as superseded."""
    ordered = sorted(files, key=lambda file: file.adr.uri)
    gone = {
        old
        for file in ordered
        if file.fault is None and file.adr.status == "accepted"
        for old in file.adr.supersedes
        if old != file.adr.id
    }
    return tuple(
        replace(file, adr=replace(file.adr, status="superseded"))
        if file.adr.status == "accepted" and file.adr.id in gone
        else file
        for file in ordered
    )
