"""What a worker of ours has of the rule files, from what the stages of its assembly kept and noted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import Form, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import OutcomeRecord
from aircoding.records.printable import shown_path
from aircoding.records.segments import Segment
from aircoding.rules.tools.account import Cause, FileEntry, Tool, ToolAccount, Verdict, When
from aircoding.rules.tree import RuleTree, chain

__all__ = ["BUILT_IN", "PlacedRule", "RuleEntry", "WorkerAccount", "explain_worker", "plain_paths"]

_ORDER = "as they stand in the prompt: what every worker of the role has, then what is this task's; later refines"
_CAUSES: Mapping[Reason, Cause] = {
    Reason.PATH_NOT_MATCHED: Cause.GLOB,
    Reason.TAG_NOT_MATCHED: Cause.SCOPE,
    Reason.NOT_IN_PROFILE: Cause.SCOPE,
    Reason.MODE: Cause.SCOPE,
    Reason.BUDGET: Cause.CAP,
    Reason.OVERRIDDEN: Cause.SHADOWED,
    Reason.DUPLICATE: Cause.DUPLICATE,
    Reason.QUARANTINED: Cause.HEADER,
    Reason.UNREADABLE: Cause.UNREADABLE,
    Reason.INVALID: Cause.EMPTY,
    Reason.DISABLED: Cause.SWITCH,
    Reason.PERMISSION: Cause.IMPORT,
}
"""What is invalid and no damage (that is quarantined) holds nothing that could count."""
_POINTED = "a line names it with its description: the agent reads it when that fits"
BUILT_IN = "built in: "
"""How the name of a file that ships with this program begins."""
_URI = re.compile(r"\b(?:project|resource|user):[^\s,;:`()]+")
_EMPTY_DETAIL = "there is no rule in it"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRule:
    """A rule that is in the prompt, in the form that it has there."""

    segment: Segment
    form: Form
    text: str
    selected_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEntry:
    """One rule: a part of a file with its lines, what became of it and why, and what it took the place of.

    `name` is what `rules confirm` takes, `confirmed` says that the user confirmed the text as it is.
    """

    path: str
    uri: str
    rule_id: str | None
    start_line: int | None
    end_line: int | None
    kind: SegmentKind
    outcome: OutcomeKind
    reason: Reason | None
    why: str
    by: str
    scope: Scope
    trust: Trust
    required: bool
    size_bytes: int
    kept_bytes: int
    kept_chars: int
    name: str = ""
    confirmed: bool = False
    position: int | None = None
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerAccount:
    """For which worker, its files, and the rules in them one by one."""

    role: str
    tags: tuple[str, ...]
    trusted: bool
    files: ToolAccount
    rules: tuple[RuleEntry, ...]


def explain_worker(
    tree: RuleTree,
    path: str,
    *,
    role: str,
    tags: tuple[str, ...],
    trusted: bool,
    candidates: Sequence[Segment],
    placed: Sequence[PlacedRule],
    outcomes: Sequence[OutcomeRecord],
    diagnostics: Sequence[Diagnostic],
    path_of: Mapping[str, str],
    name_of: Callable[[Segment], str],
    notes: tuple[str, ...] = (),
) -> WorkerAccount:
    """Return the account of one assembly's rules.

    Args:
        tree: all rule files, for those that gave no candidate.
        path: what the worker would write.
        role: the worker's.
        tags: those of its task.
        trusted: whether the project may instruct.
        candidates: every rule that was considered.
        placed: those that are in, in the order of the prompt.
        outcomes: what the stages noted of the others, and of those that are in but not whole.
        diagnostics: what the reader of the files said.
        path_of: the name in the tree of each uri.
        name_of: the name by which a rule is confirmed.
        notes: what else a reader of the account should know.
    """
    rules = tuple(_rules(candidates, placed, outcomes, path_of, name_of))
    entries = _file_entries(tree, rules, path)
    remarks = tuple(
        replace(one, uri=path_of.get(one.uri, one.uri), message=plain_paths(one.message)) for one in diagnostics
    )
    account = ToolAccount.of(Tool.WORKER, path, "", _ORDER, entries, warnings=remarks, notes=notes)
    return WorkerAccount(role=role, tags=tags, trusted=trusted, files=account, rules=rules)


def _rules(
    candidates: Sequence[Segment],
    placed: Sequence[PlacedRule],
    outcomes: Sequence[OutcomeRecord],
    path_of: Mapping[str, str],
    name_of: Callable[[Segment], str],
) -> Iterable[RuleEntry]:
    positions = {rule.segment.segment_id: (number, rule) for number, rule in enumerate(placed, 1)}
    said = {one.segment_id: one for one in outcomes}
    known = {segment.segment_id: segment for segment in candidates}
    known.update({rule.segment.segment_id: rule.segment for rule in placed})
    beaten: dict[tuple[str, str | None], list[str]] = {}
    for one in outcomes:
        loser = known.get(one.segment_id)
        if loser is not None and one.outcome is OutcomeKind.OVERRIDDEN:
            beaten.setdefault((one.by, loser.identity), []).append(one.uri)
    entries = []
    for name, segment in known.items():
        found, note = positions.get(name), said.get(name)
        entry = _rule(segment, found[1] if found else None, note, path_of)
        position = found[0] if found is not None else None
        entry = replace(entry, name=name_of(segment), confirmed=segment.confirmed)
        beats = beaten.get((segment.source.uri, segment.identity), ()) if position is not None else ()
        entries.append(replace(entry, position=position, overrides=tuple(sorted(set(beats)))))
    return sorted(entries, key=lambda one: (one.position is None, one.position or 0, one.path, one.start_line or 0))


def _rule(
    segment: Segment, placed: PlacedRule | None, note: OutcomeRecord | None, path_of: Mapping[str, str]
) -> RuleEntry:
    uri = segment.source.uri
    blocked = note is not None and note.outcome is OutcomeKind.QUARANTINED
    text = placed.text if placed is not None and not blocked else ""
    why = note.detail if note is not None else placed.selected_by if placed is not None else _EMPTY_DETAIL
    return RuleEntry(
        path=path_of.get(uri, _plain_name(uri)),
        uri=uri,
        rule_id=segment.rule_id or segment.identity,
        start_line=segment.source.start_line,
        end_line=segment.source.end_line,
        kind=segment.kind,
        outcome=note.outcome if note is not None else OutcomeKind.INCLUDED,
        reason=note.reason if note is not None else None,
        why=why,
        by=note.by if note is not None else "",
        scope=segment.scope,
        trust=segment.trust,
        required=segment.required,
        size_bytes=len(segment.text.encode("utf-8", "surrogatepass")),
        kept_bytes=len(text.encode("utf-8", "surrogatepass")),
        kept_chars=len(text),
    )


def plain_paths(text: str) -> str:
    """Return a text with the uris of files written as a person would write them."""
    return _URI.sub(lambda found: _plain_name(found.group()), text)


def _plain_name(uri: str) -> str:
    """Return a uri that names no file of the tree as a person would write it."""
    return f"{BUILT_IN}{uri.removeprefix('resource:')}" if uri.startswith("resource:") else shown_path(uri)


def _file_entries(tree: RuleTree, rules: Sequence[RuleEntry], about: str) -> tuple[FileEntry, ...]:
    of_file: dict[str, list[RuleEntry]] = {}
    for rule in rules:
        of_file.setdefault(rule.path, []).append(rule)
    same = {name: names for names in tree.same_files().values() for name in names}
    entries = [_of_file(tree, path, found, same.get(path, (path,)), about) for path, found in of_file.items()]
    for path, file in tree.files.items():
        if path in of_file:
            continue
        why = "nothing imports it" if file.name is None else "our workers do not read it"
        entries.append(_entry(tree, path, same.get(path, (path,)), Verdict.NOT_LOADED, why, cause=Cause.NAME))
    ranked = sorted(entries, key=lambda one: (one.position is None, one.position or 0, one.path))
    taken = [replace(one, position=number) for number, one in enumerate(ranked, 1) if one.position is not None]
    return (*taken, *(one for one in ranked if one.position is None))


def _speaks_to(tree: RuleTree, path: str, about: str) -> bool:
    """Whether a file speaks for a folder that a path lies in."""
    file = tree.find(path)
    return file is None or file.name is None or file.name.folder in chain(about)


def _of_file(tree: RuleTree, path: str, rules: Sequence[RuleEntry], names: tuple[str, ...], about: str) -> FileEntry:
    inside = [rule for rule in rules if rule.position is not None and rule.kept_bytes]
    outside = [rule for rule in rules if rule not in inside]
    overrides = tuple(sorted({plain_paths(name) for rule in inside for name in rule.overrides}))
    if not inside:
        why = plain_paths("; ".join(dict.fromkeys(rule.why for rule in outside)))
        cause = _cause(outside)
        if not _speaks_to(tree, path, about):
            cause = Cause.ELSEWHERE
        return _entry(tree, path, names, Verdict.NOT_LOADED, why, cause=cause)
    if all(rule.kind is SegmentKind.GUIDANCE for rule in inside):
        entry = _entry(tree, path, names, Verdict.DESCRIBED, _POINTED, cause=Cause.SCOPE)
        return replace(entry, when=When.START, position=min(rule.position or 0 for rule in inside))
    cut = [rule for rule in rules if rule.outcome is not OutcomeKind.INCLUDED]
    told = dict.fromkeys(f"lines {rule.start_line}-{rule.end_line}: {_cut_why(rule)}" for rule in cut)
    whys = dict.fromkeys(rule.why for rule in inside if rule not in cut)
    entry = _entry(
        tree,
        path,
        names,
        Verdict.PARTLY if any(rule.reason is not Reason.DUPLICATE for rule in cut) else Verdict.LOADED,
        plain_paths("; ".join([", ".join(whys), *told]).strip("; ")),
        cause=_cause(cut) if cut else None,
    )
    return replace(
        entry,
        when=When.START,  # what a task plans to write is known when its session starts
        position=min(rule.position or 0 for rule in inside),
        size_bytes=entry.size_bytes or sum(rule.size_bytes for rule in rules),
        kept_bytes=sum(rule.kept_bytes for rule in inside),
        kept_chars=sum(rule.kept_chars for rule in inside),
        shadows=overrides,
    )


def _cut_why(rule: RuleEntry) -> str:
    return f"duplicate: {rule.why}" if rule.reason is Reason.DUPLICATE else rule.why


def _cause(rules: Sequence[RuleEntry]) -> Cause:
    """Return what weighs most of the causes of some rules: what was lost before what does not apply."""
    found = [_cause_of(rule) for rule in rules]
    order = (Cause.UNREADABLE, Cause.HEADER, Cause.CAP, Cause.SWITCH, Cause.SHADOWED, Cause.DUPLICATE, Cause.SCOPE)
    return next((cause for cause in order if cause in found), found[0] if found else Cause.OTHER)


def _cause_of(rule: RuleEntry) -> Cause:
    if rule.outcome is OutcomeKind.QUARANTINED:
        return Cause.HEADER
    return _CAUSES.get(rule.reason, Cause.OTHER) if rule.reason is not None else Cause.EMPTY


def _entry(
    tree: RuleTree, path: str, names: tuple[str, ...], verdict: Verdict, why: str, *, cause: Cause | None
) -> FileEntry:
    file = tree.find(path)
    dialect = file.name.dialect.value if file is not None and file.name is not None else None
    return FileEntry(
        path=path,
        names=names,
        dialect=dialect,
        verdict=verdict,
        why=why,
        cause=cause,
        size_bytes=file.size_bytes if file is not None else 0,
        size_chars=len(file.text) if file is not None else 0,
    )
