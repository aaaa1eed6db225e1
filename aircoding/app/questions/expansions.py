"""What a reference in a recorded prompt stands for: from the store, and on request the source as it is now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.project import Project, open_recorded
from aircoding.app.questions.selectors import selected_id
from aircoding.audit.counterparts import counterpart
from aircoding.audit.references import Referent, artifacts_named, referents, segment_referent
from aircoding.audit.subjects import matches
from aircoding.errors import NotFoundError
from aircoding.records.ids import Digest, ManifestId
from aircoding.store.within import Within

if TYPE_CHECKING:
    from aircoding.records.manifest import Manifest, SegmentRecord
    from aircoding.store import Store
    from aircoding.store.sightings import Named

__all__ = ["Expansion", "Now", "expand_reference"]

_ARTIFACT = "air:artifact/"
_DIGEST = re.compile(r"[0-9a-f]{6,64}")
_WHOLE_DIGEST = re.compile(r"[0-9a-f]{64}")
_EPOCHS_SEARCHED = 40
"""Last assemblies of the newest run that are looked through, the newest first, when no assembly is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """The source as it is now: whether its bytes are those of then, and the text, masked as it would be in a prompt.

    `text` is of that part of the source that answers to the recorded text, `part` names it. `same_text`: the source is
    another, and the recorded text stands in it all the same. `problem` says why it cannot be read.
    """

    equal: bool
    digest: Digest
    text: str | None
    part: str = ""
    same_text: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """One text that a reference stands for.

    `manifest_id` is the assembly that had it; None: a large output that was named by its whole digest.
    """

    reference: str
    manifest_id: str | None
    referent: Referent
    now: Now | None = None


def expand_reference(
    start: Path, reference: str, *, manifest: str | None = None, now: bool = False
) -> tuple[Expansion, ...]:
    """Return the texts that a reference stands for.

    Args:
        start: a folder of the project.
        reference: see `audit.references.referents`; `air:artifact/DIGEST` too.
        manifest: the assembly that has it, by any selector; None: the newest that has it.
        now: read the source as it is now, too.

    Raises:
        NotFoundError: no assembly has it.
    """
    project = open_recorded(start)
    with project.open_store() as store:
        found = tuple(_found(store, reference.strip(), manifest))
    if not found:
        raise NotFoundError(
            f"nothing on record is called {reference}",
            hint="give a segment's id, a uri, a path or a digest, as `aircoding context show` prints them, "
            "and name the assembly with --manifest",
        )
    return tuple(replace(one, now=_now(project, one.referent)) for one in found) if now else found


def _found(store: Store, reference: str, manifest: str | None) -> Iterator[Expansion]:
    digest = reference.removeprefix(_ARTIFACT)
    is_content = manifest is None and _WHOLE_DIGEST.fullmatch(digest)
    text = store.texts.get(Digest(digest)) if is_content else None
    if text is not None:
        yield Expansion(reference=reference, manifest_id=None, referent=_output(Digest(digest), text))
        return
    named = [selected_id(store, manifest)] if manifest is not None else _holding(store, reference)
    for manifest_id in named:
        found = tuple(_in_assembly(store, manifest_id, reference))
        if found:
            yield from (Expansion(reference=reference, manifest_id=manifest_id, referent=one) for one in found)
            return


def _holding(store: Store, reference: str) -> Iterator[ManifestId]:
    """Yield what may have it: the newest assemblies that name it, then the last ones of the newest run's sessions.

    Those of runs that keep their texts come first.
    """
    ask = store.sightings
    segments = _meant(ask.segments_named(reference), reference)
    outcomes = _meant(ask.outcomes_named(reference), reference)
    for within in (Within(with_texts=True), Within()):
        yield from (ManifestId(seen.manifest_id) for seen in ask.places(segments, within, limit=1)[0])
        yield from (ManifestId(group.newest.manifest_id) for group in ask.outcome_groups(outcomes, within, limit=1)[0])
    last = ask.last_of_epochs(Within(run_id=ask.newest_run()))
    yield from (ManifestId(one) for one in last[::-1][:_EPOCHS_SEARCHED])


def _meant(named: Iterable[Named], reference: str) -> frozenset[int]:
    return frozenset(one.number for one in named if matches(reference, one.uri, one.rule_id, one.segment_id))


def _in_assembly(store: Store, manifest_id: ManifestId, reference: str) -> Iterator[Referent]:
    manifest = store.assemblies.account(manifest_id).manifest
    if store.runs.get(manifest.run_id).texts_let_go_at is not None:
        # Another run may keep the same text: what this one said is still not on record.
        yield from (segment_referent(one, None) for one in _called(manifest, reference))
        return
    try:
        snapshot, context = store.assemblies.snapshot(manifest_id), store.assemblies.get(manifest_id)
    except NotFoundError as error:
        if error.code != "not_found.text":
            raise
        for one in _called(manifest, reference):
            yield segment_referent(one, store.texts.get(one.source.text_digest))
        return
    found = referents(snapshot, reference, context)
    if found:
        yield from (_whole(store, one, context.manifest.run_id) for one in found)
    elif _DIGEST.fullmatch(reference.removeprefix(_ARTIFACT)):
        for digest in artifacts_named(snapshot, reference.removeprefix(_ARTIFACT)):
            yield _output(digest, store.texts.get(digest))


def _whole(store: Store, one: Referent, run_id: str) -> Referent:
    """Return a text that was taken in short as another worker of the run was given it whole, where one was."""
    if not one.short:
        return one
    numbers = _meant(store.sightings.segments_named(one.uri), one.uri)
    for seen in store.sightings.places(numbers, Within(run_id=run_id))[0]:
        source = seen.record.source
        same = (source.digest, source.start_line, source.end_line) == (one.digest, one.start_line, one.end_line)
        if same and source.text_digest != one.text_digest and (text := store.texts.get(source.text_digest)):
            return replace(
                one, segment_id=seen.record.segment_id, text_digest=source.text_digest, text=text, short=False
            )
    return one


def _called(manifest: Manifest, reference: str) -> Iterator[SegmentRecord]:
    """Yield the segments of an assembly that a reference names, where its texts are not all kept."""
    for record in manifest.segments:
        if reference in {record.segment_id, record.source.uri, record.source.uri.removeprefix("project:")}:
            yield record


def _output(digest: Digest, text: str | None) -> Referent:
    return Referent(
        uri=f"{_ARTIFACT}{digest}",
        segment_id=None,
        digest=digest,
        text_digest=digest,
        start_line=None,
        end_line=None,
        text=text,
    )


def _now(project: Project, one: Referent) -> Now:
    from aircoding.app.policies import open_policies
    from aircoding.app.screener import open_screener
    from aircoding.sources.files import read_text_file

    scheme, _, path = one.uri.partition(":")
    root = {"project": project.root, "user": project.home}.get(scheme)
    if root is None:
        return Now(equal=False, digest=Digest(""), text=None, problem="it is no file of the project or of the user")
    read = read_text_file(root, path)
    if read.problem is not None:
        return Now(equal=False, digest=Digest(""), text=None, problem=read.problem)
    equal = read.digest == one.digest
    lines = read.text.split("\n")
    screener = open_screener(project, open_policies(project, confined=True))
    if equal:
        part = "\n".join(lines[one.start_line - 1 : one.end_line]) if one.start_line is not None else read.text
        return Now(equal=True, digest=read.digest, text=screener.mask(part), same_text=True)
    found = counterpart(one, screener.mask(read.text))
    return Now(equal=False, digest=read.digest, text=found.text, part=found.what, same_text=found.same)
