"""Read every source once and freeze it: the one place where a snapshot comes from (DESIGN section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import aircoding
from aircoding.context.calibration import estimator_named
from aircoding.context.freezing import frozen_from
from aircoding.context.profiles import mode_refusal, profile_refusal
from aircoding.errors import ConfigError, NotFoundError
from aircoding.permissions.in_words import policy_in_words, task_policy_in_words
from aircoding.ports import BlobStore, Clock, Screener, Worktree
from aircoding.records.conflicts import Ruling, Suspicion
from aircoding.records.hooks import ContributedSkill, Contribution, SkillTrigger
from aircoding.records.ids import Digest, SessionId, session_parts
from aircoding.records.layers import Layer, Mode, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext, Versions
from aircoding.records.policy import Policy
from aircoding.records.profiles import Profile
from aircoding.records.segments import Segment
from aircoding.records.sessions import SessionBrief, SteeringEntry
from aircoding.records.snapshot import AssemblyRequest, Estimator, Message, ModelLimits, Snapshot, ToolSpec
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.memory_recall import request_topics
from aircoding.sources.changes import changed_since
from aircoding.sources.contributions import contributed_segments
from aircoding.sources.detail import at_detail
from aircoding.sources.memory_files import memory_segments, memory_stores
from aircoding.sources.plan_docs import PlanDocs, read_plan_docs, run_plan, task_plan
from aircoding.sources.profile_files import DEFAULT_PROFILE, identity_segments
from aircoding.sources.reads import current_digests, read_files
from aircoding.sources.resources import prompts_digest
from aircoding.sources.revision import FrozenRole, Revision, revision_from_text, revision_text
from aircoding.sources.role_text import SKILL_TOOL, instruction_segments, role_segments, steering_segments, tool_specs
from aircoding.sources.roles import load_profiles
from aircoding.sources.routed import Routed, routed_segments
from aircoding.sources.rule_files import RuleFiles, RuleSwitches, read_rules
from aircoding.sources.rule_tree import RuleHomes
from aircoding.sources.segments import Intake, unique
from aircoding.sources.skill_files import SkillSet, SkillSwitches, read_skills
from aircoding.sources.skill_segments import body_segments, changed_index, index_segments
from aircoding.sources.task_text import evidence_segments, graph_segment, task_segments
from aircoding.sources.topic_memory import TopicMemory, topic_folders

__all__ = ["MANIFEST_SCHEMA", "FileGatherer", "Project"]

MANIFEST_SCHEMA = 1
"""Version of the manifest's JSON contract (`resources/schemas/manifest.json`)."""


def _plain(_model: str) -> Estimator:
    return Estimator()


def _nothing_touched(_session: SessionId) -> tuple[str, ...]:
    return ()


def _nothing_known(_session: SessionId) -> Mapping[str, Digest]:
    return {}


def _nothing_ruled(_run: str) -> tuple[Ruling, ...]:
    return ()


def _nothing_suspected(_run: str) -> tuple[Suspicion, ...]:
    return ()


def _nothing_routed(_run: str, _role: str) -> Routed:
    return Routed()


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Where the sources lie: the project root, the user's `~/.air`, and whether the project may instruct."""

    root: Path
    home: Path
    trusted: bool
    switches: RuleSwitches = field(default_factory=RuleSwitches)
    homes: RuleHomes = field(default_factory=RuleHomes)
    """Where rule files of other tools lie that are not the project's; none: they are not looked at."""
    profile: str = DEFAULT_PROFILE
    """The user's profile: as whom the agents speak, and whose memory they have."""
    skills: SkillSwitches = field(default_factory=SkillSwitches)
    plugin_skills: tuple[ContributedSkill, ...] = ()
    skill_triggers: tuple[SkillTrigger, ...] = ()
    known_as: Path | None = None
    """The root under which the user's records know the project, where it is read from another folder."""
    memory_root: Path | None = None
    """Where the project's memory lies: the main checkout of a linked worktree. None: the root."""

    def read_skills(self) -> SkillSet:
        """Return every skill as its file is now."""
        return read_skills(
            self.root,
            self.home,
            trusted=self.trusted,
            switches=self.skills,
            plugins=self.plugin_skills,
            triggers=self.skill_triggers,
        )


class FileGatherer:
    """Makes snapshots of the project's files; implements `ports.Gatherer`.

    Rules, plan documents and roles are read from the project root, where the user keeps them: what a worker wrote
    in its own worktree must not instruct the worker that reviews it. Files of the task come from the worktree.

    Args:
        project: where the sources lie.
        plan: the task graph, for the roles that see it; None outside a run.
        open_worktree: opens the files at a path of this machine.
        blobs: keeps the run revision.
        screener: masks and screens what enters.
        clock: the only time there is.
        policy_for: the effective policy of a role, and of its task when one is given.
        limits_for: what a model can take.
        estimator_for: how the tokens of a model are estimated now; an epoch keeps the one that it began with.
        touched_by: paths that a session has read or written so far (`agents.touched.touched_paths`).
        baselines_of: the digest of each path that a session itself last read or wrote (`agents.touched.baselines`).
        ruled_in: what people ruled on conflicts, as far as it counts for a run.
        suspected_in: what a model said of the rules, as far as it counts for a run.
        routed_to: what of a run a role must be told: conflicts, and for the coordinator what its workers did not get.
        plugin_tools: what plugins bring; each role has those of its categories.
    """

    def __init__(
        self,
        *,
        project: Project,
        plan: Plan | None,
        open_worktree: Callable[[str], Worktree],
        blobs: BlobStore,
        screener: Screener,
        clock: Clock,
        policy_for: Callable[[Profile, TaskSpec | None], Policy],
        limits_for: Callable[[str], ModelLimits],
        estimator_for: Callable[[str], Estimator] = _plain,
        touched_by: Callable[[SessionId], Sequence[str]] = _nothing_touched,
        baselines_of: Callable[[SessionId], Mapping[str, Digest]] = _nothing_known,
        ruled_in: Callable[[str], tuple[Ruling, ...]] = _nothing_ruled,
        suspected_in: Callable[[str], tuple[Suspicion, ...]] = _nothing_suspected,
        routed_to: Callable[[str, str], Routed] = _nothing_routed,
        plugin_tools: Sequence[ToolSpec] = (),
    ) -> None:
        self._plugin_tools = tuple(plugin_tools)
        self._project, self._plan, self._estimator_for = project, plan, estimator_for
        self._open_worktree, self._blobs, self._clock = open_worktree, blobs, clock
        self._policy_for, self._limits_for = policy_for, limits_for
        self._touched_by, self._baselines_of = touched_by, baselines_of
        self._ruled_in, self._suspected_in, self._routed_to = ruled_in, suspected_in, routed_to
        self._intake = Intake(screener)
        self._revisions: dict[str, Revision] = {}
        self._topics = TopicMemory()

    def freeze_run(self) -> str:
        """Read all text of fleet and run scope for every role, keep it, and return the run revision (its digest).

        Raises:
            ConfigError: a role file or a policy is wrong.
        """
        text = revision_text(self._revision_now())
        return self._blobs.put(text)

    def rules(self, near: Sequence[str] = ()) -> RuleFiles:
        """Return every rule candidate as the files are now, with what is wrong with them."""
        root = self._project.root
        return read_rules(
            root,
            self._project.home,
            self._open_worktree(str(root)).paths(),
            intake=self._intake,
            trusted=self._project.trusted,
            switches=self._project.switches,
            near=near,
            homes=self._project.homes,
            policy_of=lambda: self._policy_for(load_profiles()["executor"], None),
            known_as=self._project.known_as,
        )

    def _revision_now(self) -> Revision:
        profiles = load_profiles(self._project.root, trusted=self._project.trusted)
        rules = tuple(segment for segment in self.rules().segments if segment.scope is Scope.RUN)
        skills = self._project.read_skills()
        shared = (*rules, *self._skills_index(skills))
        parts = {role: self._shared(profile, shared) for role, profile in profiles.items()}
        every = unique(segment for segments in parts.values() for segment in segments)
        return Revision(
            prompts=prompts_digest(),
            segments={segment.segment_id: segment for segment in every},
            roles={
                role: FrozenRole(
                    profile=profile,
                    tools=tool_specs(profile, self._plugin_tools, skills=bool(skills.on_demand)),
                    segment_ids=tuple(segment.segment_id for segment in parts[role]),
                )
                for role, profile in sorted(profiles.items())
            },
            rules=tuple(segment.segment_id for segment in rules),
        )

    def _skills_index(self, skills: SkillSet) -> tuple[Segment, ...]:
        return index_segments(skills, intake=self._intake, index_chars=self._project.skills.index_chars)

    def _shared(self, profile: Profile, rules: tuple[Segment, ...]) -> tuple[Segment, ...]:
        """Return what every worker of a role gets: no task, worktree, branch or time is in it."""
        docs = read_plan_docs(self._project.root, intake=self._intake, trusted=self._project.trusted)
        graph = (graph_segment(self._plan, intake=self._intake),) if self._plan is not None else ()
        policy = policy_in_words(self._policy_for(profile, None))
        return unique(
            (
                *role_segments(
                    profile,
                    tool_specs(profile, self._plugin_tools),
                    intake=self._intake,
                    trusted=self._project.trusted,
                ),
                *identity_segments(self._project.home, self._project.profile, intake=self._intake),
                self._policy_segment(policy, Scope.FLEET, f"air:policy/{profile.role}"),
                *at_detail(profile, Layer.L3, rules),
                *run_plan(docs, profile.layers.get(Layer.L4)),
                *at_detail(profile, Layer.L4, graph),
            )
        )

    def _policy_segment(self, text: str, scope: Scope, uri: str) -> Segment:
        return self._intake.segment(
            text,
            layer=Layer.L2,
            scope=scope,
            kind=SegmentKind.POLICY,
            trust=Trust.BUILTIN,
            uri=uri,
            shortened=False,
        )

    def gather(
        self,
        brief: SessionBrief,
        *,
        turn: int,
        messages: Sequence[Message],
        frozen: AssembledContext | None,
        epoch: int = 1,
        steering: Sequence[SteeringEntry] = (),
        contributed: Sequence[Contribution] = (),
        touched_paths: Sequence[str] | None = None,
    ) -> Snapshot:
        """Return the snapshot for one turn.

        Args:
            brief: the session.
            turn: from 1.
            messages: what the session has recorded so far.
            frozen: the last assembly of this epoch; None opens one.
            epoch: its number, from 1.
            steering: what is due in this turn.
            contributed: what plugins and hooks gave for this session and this epoch.
            touched_paths: what the session has read or written; None: `touched_by` is asked.

        Raises:
            NotFoundError: the run revision that the brief names is not kept.
            ConfigError: the run has no such role.
        """
        revision = self._revision(brief.run_revision)
        role = self._role(revision, brief.role)
        profile = role.profile
        touched = tuple(sorted(set(self._touched_by(brief.session_id) if touched_paths is None else touched_paths)))
        policy = self._policy_for(profile, brief.task)
        now, run = self._clock.now(), session_parts(brief.session_id)[0]
        docs = read_plan_docs(self._project.root, intake=self._intake, trusted=self._project.trusted)
        worktree = self._open_worktree(brief.worktree)
        rules = self.rules((*brief.task.reads, *brief.task.write_area, *touched)).segments
        skills = self._project.read_skills()
        segments = unique(
            (
                *revision.of_role(brief.role),
                *self._changed(brief.role, revision, rules, docs),
                *self._changed_skills(role, brief.mode, revision, skills),
                *self._own(brief, profile, policy, worktree, rules),
                *at_detail(profile, Layer.L3, body_segments(skills, intake=self._intake)),
                *task_plan(docs, brief.task, profile.layers.get(Layer.L4), intake=self._intake),
                *self._routed(brief, profile),
                *_contributed(profile, contributed, self._intake),
                *instruction_segments(brief, profile, now=now, intake=self._intake),
                *steering_segments(steering, intake=self._intake),
            )
        )
        baselines = {f"project:{path}": digest for path, digest in self._baselines_of(brief.session_id).items()}
        shown = frozen.manifest.segments if frozen is not None else ()
        watched = (*baselines, *(record.source.uri for record in shown if record.kind is SegmentKind.FILE))
        return Snapshot(
            request=_request(brief, turn, epoch),
            created_at=now,
            profile=profile,
            segments=segments,
            tools=role.tools,
            policy=policy,
            limits=self._limits_for(brief.model),
            estimator=self._estimator(brief.model, frozen),
            versions=Versions(aircoding=aircoding.__version__, prompts=revision.prompts, schema=MANIFEST_SCHEMA),
            task=brief.task,
            messages=tuple(messages),
            frozen=frozen_from(frozen) if frozen is not None else None,
            touched_paths=touched,
            digests=current_digests(worktree, segments, watched),
            baselines=baselines,
            adrs=docs.adrs,
            rulings=self._ruled_in(run),
            suspicions=self._suspected_in(run),
        )

    def _own(
        self,
        brief: SessionBrief,
        profile: Profile,
        policy: Policy,
        worktree: Worktree,
        rules: tuple[Segment, ...],
    ) -> tuple[Segment, ...]:
        """Return the session's own segments."""
        task = brief.task
        scoped = tuple(segment for segment in rules if segment.scope is not Scope.RUN)
        return (
            self._policy_segment(task_policy_in_words(policy), Scope.SESSION, f"air:policy/{task.id}"),
            *at_detail(profile, Layer.L3, scoped),
            *self._memories(brief),
            *task_segments(brief, intake=self._intake),
            *at_detail(
                profile,
                Layer.L6,
                read_files(worktree, task.reads, policy=policy, intake=self._intake, trusted=self._project.trusted),
            ),
            *evidence_segments(brief.evidence, intake=self._intake),
        )

    def _memories(self, brief: SessionBrief) -> tuple[Segment, ...]:
        """Return what is remembered; what the request is about comes first, and only that of the topic files."""
        own, intake, task = self._project, self._intake, brief.task
        topics = None
        if brief.mode is Mode.FULL:
            paths = (*task.reads, *task.write_area)
            topics = request_topics(title=task.title, description=task.description, tags=task.tags, paths=paths)
        root = own.memory_root or own.root
        stores = memory_stores(root, own.home, own.profile)
        folders = topic_folders(root, own.home, own.profile, trusted=own.trusted)
        return (
            *memory_segments(stores, intake=intake, trusted=own.trusted, topics=topics or frozenset()),
            *self._topics.candidates(folders, topics, now=self._clock.now(), intake=intake),
        )

    def _changed(
        self, role: str, revision: Revision, rules: tuple[Segment, ...], docs: PlanDocs
    ) -> tuple[Segment, ...]:
        """Return what of the run's frozen text is another by now: rules, plan documents, the role's policy."""
        profile = revision.roles[role].profile
        frozen = [one for one in revision.of_role(role) if profile_refusal(profile, one) is None]
        shared = [one for one in rules if one.scope is Scope.RUN]
        own_rules = [one for one in revision.run_rules() if profile_refusal(profile, one) is None]
        policy = policy_in_words(self._policy_for(profile, None))
        return (
            *at_detail(profile, Layer.L3, changed_since(own_rules, shared, intake=self._intake)),
            *changed_since(
                [one for one in frozen if one.kind in {SegmentKind.PLAN, SegmentKind.ADR}],
                run_plan(docs, profile.layers.get(Layer.L4)),
                intake=self._intake,
            ),
            *changed_since(
                [one for one in frozen if one.kind is SegmentKind.POLICY],
                [self._policy_segment(policy, Scope.FLEET, f"air:policy/{profile.role}")],
                intake=self._intake,
            ),
        )

    def _changed_skills(
        self, role: FrozenRole, mode: Mode, revision: Revision, skills: SkillSet
    ) -> tuple[Segment, ...]:
        """Return what of the skills index is another by now; what is gone is told only to those who had the index."""
        frozen = [one for one in revision.of_role(role.profile.role) if one.kind is SegmentKind.SKILLS_INDEX]
        has_tool = any(tool.name == SKILL_TOOL for tool in role.tools)
        changed = changed_index(frozen, self._skills_index(skills), intake=self._intake, has_tool=has_tool)
        had = any((profile_refusal(role.profile, one) or mode_refusal(mode, one)) is None for one in frozen)
        return tuple(one for one in changed if had or one.kind is not SegmentKind.NOTICE)

    def _routed(self, brief: SessionBrief, profile: Profile) -> tuple[Segment, ...]:
        if Layer.L7 not in profile.layers:
            return ()
        run = session_parts(brief.session_id)[0]
        return routed_segments(run, self._routed_to(run, profile.role), intake=self._intake)

    def _revision(self, name: str) -> Revision:
        if name not in self._revisions:
            text = self._blobs.get(Digest(name))
            if text is None:
                raise NotFoundError(
                    f"the frozen text of run revision {name[:12]} is not kept",
                    hint="start a new run; `aircoding doctor` says what is kept",
                )
            self._revisions = {name: revision_from_text(text)}
        return self._revisions[name]

    def _role(self, revision: Revision, role: str) -> FrozenRole:
        if role not in revision.roles:
            raise ConfigError(
                f"there is no role `{role}`",
                hint=f"known in this run: {', '.join(sorted(revision.roles))}; add others in .air/shared/roles/",
                code="role.unknown",
            )
        return revision.roles[role]

    def _estimator(self, model: str, frozen: AssembledContext | None) -> Estimator:
        """Return the estimator of the epoch; one that an older version began is measured anew."""
        kept = estimator_named(frozen.manifest.estimator) if frozen is not None else None
        return kept or self._estimator_for(model)


def _contributed(profile: Profile, contributed: Sequence[Contribution], intake: Intake) -> tuple[Segment, ...]:
    segments = contributed_segments(contributed, intake=intake)
    return tuple(part for segment in segments for part in at_detail(profile, segment.layer, (segment,)))


def _request(brief: SessionBrief, turn: int, epoch: int) -> AssemblyRequest:
    run, task, attempt, _, _ = session_parts(brief.session_id)
    return AssemblyRequest(
        run_id=run,
        run_revision=brief.run_revision,
        session_id=brief.session_id,
        task_id=task,
        attempt=attempt,
        role=brief.role,
        mode=brief.mode,
        model=brief.model,
        turn=turn,
        epoch=epoch,
    )
