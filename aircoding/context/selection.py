"""Stage 1, select: by what the source says of its candidate, by profile, mode, paths and tags."""

from __future__ import annotations

from dataclasses import replace

from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.context.profiles import mode_excerpt, mode_refusal, profile_refusal
from aircoding.context.tokens import estimate_tokens
from aircoding.records.layers import Form, OutcomeKind, Reason, SegmentKind, Trust
from aircoding.records.segments import Segment
from aircoding.records.selections import Selection, in_words
from aircoding.records.snapshot import Snapshot
from aircoding.rules.globs import Dialect, compile_globs, overlap
from aircoding.rules.skill_triggers import matching_trigger

__all__ = ["select"]


def select(draft: Draft) -> tuple[Draft, tuple[Note, ...]]:
    """Let candidates in; each one that stays out gets its outcome here."""
    snapshot = draft.snapshot
    items: list[Item] = []
    notes: list[Note] = []
    for segment in draft.waiting:
        tokens = estimate_tokens(segment.text, snapshot.estimator)
        refusal = _refusal(snapshot, segment)
        if refusal is not None:
            kind, reason, detail, by = refusal
            notes.append(outcome(segment, kind, reason, detail, tokens=tokens, by=by))
            continue
        item = Item(segment, Form.WHOLE, segment.text, tokens, _why_in(snapshot, segment))
        short = mode_excerpt(snapshot.request.mode, segment)
        if short is not None:
            item = _shortened(item, short, snapshot)
            notes.append(_mode_note(snapshot, segment, saved_tokens=tokens - item.tokens))
        items.append(item)
    return Draft(snapshot, (), tuple(items)), tuple(notes)


def _shortened(item: Item, text: str, snapshot: Snapshot) -> Item:
    return replace(item, form=Form.EXCERPT, text=text, tokens=estimate_tokens(text, snapshot.estimator))


def _mode_note(snapshot: Snapshot, segment: Segment, *, saved_tokens: int) -> Note:
    mode = snapshot.request.mode.value
    detail = f"mode {mode} keeps one line of {segment.kind.value}"
    return outcome(segment, OutcomeKind.EXCERPTED, Reason.MODE, detail, tokens=saved_tokens, by=f"mode:{mode}")


def _refusal(snapshot: Snapshot, segment: Segment) -> tuple[OutcomeKind, Reason, str, str] | None:
    if segment.barred is not None:
        barred = segment.barred
        return barred.outcome, barred.reason, barred.detail, segment.source.uri
    profile = snapshot.profile
    detail = profile_refusal(profile, segment)
    if detail is not None:
        return OutcomeKind.OMITTED, Reason.NOT_IN_PROFILE, detail, profile.uri
    detail = mode_refusal(snapshot.request.mode, segment)
    if detail is not None:
        return OutcomeKind.OMITTED, Reason.MODE, detail, f"mode:{snapshot.request.mode.value}"
    if _takes_every(snapshot, segment) or _trigger(snapshot, segment) is not None:
        return None
    detail = _trigger_refusal(segment)
    if detail is not None:
        return OutcomeKind.OMITTED, Reason.TRIGGER_NOT_MATCHED, detail, _at(segment, segment.triggers_line)
    detail = _path_refusal(snapshot, segment)
    if detail is not None:
        return OutcomeKind.OMITTED, Reason.PATH_NOT_MATCHED, detail, _at(segment, segment.paths_line)
    detail = _tag_refusal(snapshot, segment)
    if detail is not None:
        return OutcomeKind.OMITTED, Reason.TAG_NOT_MATCHED, detail, _at(segment, segment.tags_line)
    return None


def _takes_every(snapshot: Snapshot, segment: Segment) -> bool:
    """Whether the role retrieves a layer whatever its paths and tags: who compares the rules needs all of them."""
    selection = snapshot.profile.layers.get(segment.layer)
    return selection is not None and selection.detail == "every"


def _at(segment: Segment, line: int | None) -> str:
    return f"{segment.source.uri}:{line}" if line is not None else segment.source.uri


def _path_refusal(snapshot: Snapshot, segment: Segment) -> str | None:
    if not segment.paths or _matching_path(snapshot, segment) is not None:
        return None
    globs = ", ".join(segment.paths)
    area = ", ".join(_planned_writes(snapshot)) or "nothing"
    return f"its globs are {globs}; the task plans to write {area} and has read nothing that matches"


def _planned_writes(snapshot: Snapshot) -> tuple[str, ...]:
    return snapshot.task.write_area if snapshot.task is not None else ()


def _matching_path(snapshot: Snapshot, segment: Segment) -> str | None:
    """Return the path or write glob for which a path-scoped segment is in: both count (DESIGN section 3)."""
    matcher = compile_globs(segment.paths, Dialect.ROOT_ANCHORED)
    reads = snapshot.task.reads if snapshot.task is not None else ()
    for path in sorted({*snapshot.touched_paths, *(read.split(":", 1)[0] for read in reads)}):
        if matcher.matches(path):
            return path
    for area in _planned_writes(snapshot):
        if any(overlap(area, glob) for glob in segment.paths):
            return area
    return None


def _tag_refusal(snapshot: Snapshot, segment: Segment) -> str | None:
    if not segment.tags:
        return None
    tags = snapshot.task.tags if snapshot.task is not None else ()
    if set(tags) & set(segment.tags):
        return None
    carried = ", ".join(tags) or "no tags"
    return f"`tags` is {', '.join(segment.tags)}; the task carries {carried}"


def _trigger(snapshot: Snapshot, segment: Segment) -> str | None:
    """Return the trigger of a skill that stands in what the session is asked to do."""
    return matching_trigger(segment.triggers, _asked(snapshot)) if segment.triggers else None


def _asked(snapshot: Snapshot) -> str:
    """Return the request of the session: the task's words and tags, and the user's instruction."""
    task = snapshot.task
    words = (task.title, task.description, *task.acceptance, *task.tags) if task is not None else ()
    said = (
        one.text for one in snapshot.segments if one.kind is SegmentKind.INSTRUCTION and one.trust is not Trust.BUILTIN
    )
    return "\n".join((*words, *said))


def _trigger_refusal(segment: Segment) -> str | None:
    """Say why a text stays out that no trigger brings in; one with `paths` may come in by them."""
    if not segment.triggers or segment.paths:
        return None
    return f"`triggers` is {', '.join(segment.triggers)}; the task and its instruction hold none of them"


def _why_in(snapshot: Snapshot, segment: Segment) -> str:
    by, what = _selected_by(snapshot, segment)
    return in_words(Selection(by=by, what=what, importer=segment.importers[0] if segment.importers else None))


def _selected_by(snapshot: Snapshot, segment: Segment) -> tuple[str, str]:
    if _takes_every(snapshot, segment):
        return "profile", snapshot.profile.role
    if (trigger := _trigger(snapshot, segment)) is not None:
        return "trigger", trigger
    if segment.paths:
        return "path", _matching_path(snapshot, segment) or ""
    if segment.tags:
        carried = set(snapshot.task.tags) if snapshot.task is not None else set()
        return "tag", ", ".join(sorted(carried & set(segment.tags)))
    return "profile", snapshot.profile.role
