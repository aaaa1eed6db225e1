"""Small snapshots for tests of the pure rooms."""

from __future__ import annotations

from collections.abc import Sequence

from aircoding.records.digests import sha256_text
from aircoding.records.ids import SegmentId, TaskId
from aircoding.records.layers import Layer, Mode, Scope, SegmentKind, Trust
from aircoding.records.manifest import Versions
from aircoding.records.policy import Policy
from aircoding.records.profiles import LayerSelection, Profile
from aircoding.records.segments import Segment, Source
from aircoding.records.snapshot import AssemblyRequest, Frozen, Message, ModelLimits, Snapshot, ToolSpec
from aircoding.records.tasks import TaskSpec

EXECUTOR = Profile(
    role="executor",
    title="Executor",
    layers={layer: LayerSelection() for layer in (Layer.L3, Layer.L4, Layer.L5, Layer.L6, Layer.L8)},
    writes="area",
    user_facing=False,
    tool_categories=("read", "edit", "execute"),
    result_schema="worker-result",
    shares={Layer.L3: 0.2, Layer.L4: 0.1, Layer.L6: 0.5, Layer.L8: 0.2},
    discipline="Read before you edit.",
    prompt="You carry out one task.",
    uri="resource:prompts/roles/executor.md",
)

LIMITS = ModelLimits(model="test-model", window_tokens=200_000, max_output_tokens=8_000, min_cache_prefix_tokens=0)

READ_TOOL = ToolSpec(
    name="fs_read",
    category="read",
    description="Read a file.",
    input_schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def segment(
    text: str,
    *,
    layer: Layer = Layer.L6,
    scope: Scope = Scope.SESSION,
    kind: SegmentKind = SegmentKind.FILE,
    trust: Trust = Trust.PROJECT,
    uri: str = "project:a.py",
    **more: object,
) -> Segment:
    """Return a segment whose id is made of layer, uri and text."""
    digest = sha256_text(text)
    return Segment(
        segment_id=SegmentId(f"{layer}:{uri}@{digest[:8]}"),
        layer=layer,
        scope=scope,
        trust=trust,
        kind=kind,
        source=Source(uri=uri, digest=digest, text_digest=digest, start_line=1, end_line=text.count("\n") + 1),
        text=text,
        **more,  # type: ignore[arg-type]
    )


def standing_segments() -> tuple[Segment, ...]:
    """Return what every prompt has: L0, L1, L2, the task, the instruction and the time."""
    builtin = {"trust": Trust.BUILTIN}
    return (
        segment(
            "Protocol.", layer=Layer.L0, scope=Scope.FLEET, kind=SegmentKind.INVARIANT, uri="resource:l0", **builtin
        ),
        segment("Role.", layer=Layer.L1, scope=Scope.FLEET, kind=SegmentKind.ROLE, uri="resource:l1", **builtin),
        segment("Policy.", layer=Layer.L2, scope=Scope.FLEET, kind=SegmentKind.POLICY, uri="resource:l2", **builtin),
        segment("Task.", layer=Layer.L5, kind=SegmentKind.TASK, uri="air:task/T1", **builtin),
        segment("Do it.", layer=Layer.L9, scope=Scope.TURN, kind=SegmentKind.INSTRUCTION, uri="resource:l9", **builtin),
        segment(
            "Current time: 2026-11-30T12:00:00Z",
            layer=Layer.L9,
            scope=Scope.TURN,
            kind=SegmentKind.TIME,
            uri="air:clock",
            **builtin,
        ),
    )


TASK = TaskSpec(id=TaskId("T1"), title="Items", write_area=("src/a.py",))

POLICY = Policy(rules=(), digest=sha256_text("policy"), write_area=TASK.write_area)


def snapshot(
    *segments: Segment,
    standing: bool = True,
    task: TaskSpec | None = TASK,
    limits: ModelLimits = LIMITS,
    profile: Profile = EXECUTOR,
    policy: Policy = POLICY,
    mode: Mode = Mode.FULL,
    turn: int = 1,
    messages: Sequence[Message] = (),
    frozen: Frozen | None = None,
    tools: Sequence[ToolSpec] = (READ_TOOL,),
    epoch: int = 1,
    run_revision: str = "rev1",
    **more: object,
) -> Snapshot:
    """Return a snapshot of an executor's turn."""
    return Snapshot(
        request=AssemblyRequest(
            run_id="r1",
            run_revision=run_revision,
            session_id="r1:T1:1:executor:1",
            task_id="T1",
            attempt=1,
            role=profile.role,
            mode=mode,
            model=limits.model,
            turn=turn,
            epoch=epoch,
        ),
        created_at="2026-11-30T12:00:00Z",
        profile=profile,
        segments=(*(standing_segments() if standing else ()), *segments),
        tools=tuple(tools),
        policy=policy,
        limits=limits,
        versions=Versions(aircoding="0", prompts="p", schema=1),
        task=task,
        messages=tuple(messages),
        frozen=frozen,
        **more,  # type: ignore[arg-type]
    )


def message(index: int, role: str, *content: dict[str, object]) -> Message:
    """Return a recorded message of the test session."""
    return Message(index=index, role=role, content=content, uri=f"air:session/r1:T1:1:executor:1/message/{index}")
