"""Which rules a worker of ours would have for a path, by the stages that assemble its prompt.

Where nothing but the rule files can count (no `.air/`, no settings, nothing on record) only they are read, and the
answer comes at once. Else everything is gathered as for a real prompt: a budget, a ruling or a setting may decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aircoding
from aircoding.app.overflows import overflow_error
from aircoding.app.rule_folders import RuleFolder, open_folder, read_folder
from aircoding.app.rule_sources import folder_switches, has_settings, rule_homes
from aircoding.app.screener import user_screener
from aircoding.context.draft import Draft, Note, Stage, begin
from aircoding.context.layout import Layout, first_message, system_blocks
from aircoding.context.precedence import precede
from aircoding.context.profiles import default_mode
from aircoding.context.quarantine import screen
from aircoding.context.selection import select
from aircoding.errors import ConfigError
from aircoding.homes import air_home
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.ids import Digest, TaskId
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.manifest import OutcomeRecord, Versions
from aircoding.records.policy import Policy
from aircoding.records.profiles import Profile
from aircoding.records.segments import Segment
from aircoding.records.snapshot import AssemblyRequest, ModelLimits, Snapshot
from aircoding.records.tasks import TaskSpec
from aircoding.rules.tools.worker import PlacedRule, WorkerAccount, explain_worker
from aircoding.rules.tree import RuleTree, tree_uri
from aircoding.sources.confirmations import rule_name
from aircoding.sources.installation import present_key
from aircoding.sources.roles import load_profiles
from aircoding.sources.rule_files import read_rules
from aircoding.sources.segments import Intake
from aircoding.sources.trust import is_trusted

__all__ = ["WorkerRequest", "explain_in", "explain_rules"]

_RULES_ONLY: tuple[Stage, ...] = (select, screen, precede)
"""The stages that can decide on rules where nothing was ruled and nothing is cut (`context.assembler.OPENING`)."""
_READ = "read"
"""The category of tools without which a role gets no pointers to files that it could read."""
_SURE_TOKENS = 20_000
"""As many tokens of rules fit beside all that is built in, in the window of every model that is the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRequest:
    """For which worker: its role, and the tags of its task."""

    role: str = "executor"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Staged:
    """What the stages were given and what came of it."""

    candidates: Sequence[Segment]
    draft: Draft
    notes: Sequence[Note]
    diagnostics: Sequence[Diagnostic] = ()


def explain_rules(start: Path, given: str, request: WorkerRequest) -> WorkerAccount:
    """Return which rules a worker that edits a path has, in their order, and why it has not the others.

    Raises:
        UsageError: the path is none; or what must be kept does not fit the model's window.
        ConfigError: there is no such role; a settings file or a policy is wrong.
    """
    folder = open_folder(start, given)
    return explain_in(folder, read_folder(folder), request)


def explain_in(folder: RuleFolder, tree: RuleTree, request: WorkerRequest) -> WorkerAccount:
    """Return the account for a folder that was opened and read already."""
    home = air_home(folder.root)
    trusted = is_trusted(home, folder.root)
    staged = _rules_alone(folder, tree, home, request, trusted=trusted) or _whole_prompt(folder, request)
    path_of = {tree_uri(path): path for path in tree.files}
    return explain_worker(
        tree,
        folder.path,
        role=request.role,
        tags=request.tags,
        trusted=trusted,
        candidates=[one for one in staged.candidates if _is_rule(one)],
        placed=_placed(staged.draft),
        outcomes=[note for note in staged.notes if isinstance(note, OutcomeRecord)],
        diagnostics=[*tree.diagnostics, *staged.diagnostics],
        path_of=path_of,
        name_of=rule_name,
        notes=_notes(folder, trusted=trusted),
    )


def _is_rule(segment: Segment) -> bool:
    """Whether a segment is a rule, or a line that names a file of rules."""
    return segment.layer is Layer.L3 and segment.kind in {SegmentKind.RULE, SegmentKind.GUIDANCE}


def _notes(folder: RuleFolder, *, trusted: bool) -> tuple[str, ...]:
    untrusted = (
        "This project is not trusted yet: its files are external text, fenced as data that instructs nobody."
        " `aircoding init` or the first `aircoding run` asks."
    )
    no_git = "This is no git repository: a run needs one. `git init`, and commit."
    return (*(() if trusted else (untrusted,)), *(() if folder.is_repository else (no_git,)))


def _task(folder: RuleFolder, request: WorkerRequest) -> TaskSpec:
    area = f"{folder.path}**" if folder.path.endswith("/") or not folder.path else _literal(folder.path)
    return TaskSpec(id=TaskId("none"), title=f"Work on {area}", write_area=(area,), tags=request.tags)


def _literal(path: str) -> str:
    """Return the glob that matches one path alone."""
    quoted = "".join(f"\\{char}" if char in "\\*?[]{}" else char for char in path)
    return f"./{quoted}" if quoted.startswith("!") else quoted


def _placed(draft: Draft) -> list[PlacedRule]:
    """Return the rules that are in, as the layout orders them."""
    layout = Layout()
    system_blocks(draft.items, layout)
    first_message(draft.items, layout)
    items = {item.segment.segment_id: item for item in draft.items}
    ordered = [items[record.segment_id] for record in layout.segments if record.segment_id in items]
    return [
        PlacedRule(segment=item.segment, form=item.form, text=item.text, selected_by=item.selected_by)
        for item in ordered
        if _is_rule(item.segment)
    ]


def _run(snapshot: Snapshot, stages: Sequence[Stage], diagnostics: Sequence[Diagnostic] = ()) -> _Staged:
    draft = begin(snapshot)
    notes: list[Note] = []
    for stage in stages:
        draft, noted = stage(draft)
        notes.extend(noted)
        if draft.overflow is not None:
            raise overflow_error(draft.overflow)
    return _Staged(candidates=snapshot.segments, draft=draft, notes=notes, diagnostics=diagnostics)


def _rules_alone(
    folder: RuleFolder, tree: RuleTree, home: Path, request: WorkerRequest, *, trusted: bool
) -> _Staged | None:
    """Run the stages over the rules alone; None where something else could count."""
    if _has_more(folder):
        return None
    profile = _profile(load_profiles(), request.role)
    selection = profile.layers.get(Layer.L3)
    if (selection is not None and selection.detail == "summary") or _READ not in profile.tool_categories:
        return None
    intake = Intake(user_screener(present_key(home)))
    task = _task(folder, request)
    read = read_rules(
        folder.root,
        home,
        folder.paths,
        intake=intake,
        trusted=trusted,
        switches=folder_switches(folder.root),
        near=task.write_area,
        homes=rule_homes(),
        tree=tree,
    )
    staged = _run(_snapshot(profile, task, read.segments), _RULES_ONLY, read.diagnostics)
    tokens = sum(item.tokens for item in staged.draft.items) * staged.draft.snapshot.estimator.high
    return staged if tokens <= _SURE_TOKENS else None


def _has_more(folder: RuleFolder) -> bool:
    """Whether settings, plans, memories or a record may decide as well."""
    return has_settings(folder.root) or (folder.root / ".air").exists()


def _profile(profiles: Mapping[str, Profile], role: str) -> Profile:
    if role not in profiles:
        raise ConfigError(
            f"there is no role `{role}`", hint=f"known: {', '.join(sorted(profiles))}", code="role.unknown"
        )
    return profiles[role]


def _snapshot(profile: Profile, task: TaskSpec, segments: tuple[Segment, ...]) -> Snapshot:
    return Snapshot(
        request=AssemblyRequest(
            run_id="rules",
            run_revision="",
            session_id="",
            task_id=task.id,
            attempt=1,
            role=profile.role,
            mode=default_mode(profile),
            model="",
        ),
        created_at="",
        profile=profile,
        segments=segments,
        tools=(),
        policy=Policy(rules=(), digest=Digest("")),
        limits=ModelLimits(model="", window_tokens=0, max_output_tokens=0),
        versions=Versions(aircoding=aircoding.__version__, prompts="", schema=0),
        task=task,
    )


def _whole_prompt(folder: RuleFolder, request: WorkerRequest) -> _Staged:
    """Gather everything as for a real prompt of the role, and run all stages."""
    from aircoding.app.whole_prompt import gather_prompt
    from aircoding.context.assembler import OPENING

    snapshot, diagnostics = gather_prompt(folder, request.role, _task(folder, request))
    return _run(snapshot, OPENING, diagnostics)
