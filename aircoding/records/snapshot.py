"""All inputs of one assembly, clock included, read once and frozen (DESIGN section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.records.conflicts import Ruling, Suspicion
from aircoding.records.ids import Digest
from aircoding.records.layers import Mode
from aircoding.records.manifest import AssembledContext, Versions
from aircoding.records.policy import Policy
from aircoding.records.profiles import Profile
from aircoding.records.segments import Finding, Segment
from aircoding.records.tasks import Adr, TaskSpec

__all__ = ["AssemblyRequest", "Estimator", "Frozen", "Message", "ModelLimits", "ScreenedBlock", "Snapshot"]
__all__ += ["ToolSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyRequest:
    """What is asked for: whose prompt, for which turn."""

    run_id: str
    run_revision: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    mode: Mode
    model: str
    turn: int = 1
    epoch: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """What of a model the assembler must know; `providers.capabilities` fills it in."""

    model: str
    window_tokens: int
    max_output_tokens: int
    min_cache_prefix_tokens: int = 1024
    cache_marks: bool = True
    system_turns: bool = False
    tools: bool = True
    images: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimator:
    """How tokens are estimated: a weight per byte class, times a factor per model.

    `factor` scales the raw count to the expected one; `low` and `high` scale the expected one. `samples` is the number
    of calls that they were learned from. `name` tells version and numbers: equal names give equal counts (see
    `context.calibration`).
    """

    name: str = "byte-class-2"
    factor: float = 1.0
    low: float = 0.8
    high: float = 1.25
    samples: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool as the model sees it; `category` is read, edit, execute, network, memory, delegate or finish.

    `uri` says who brings it; empty: it is packaged.
    """

    name: str
    category: str
    description: str
    input_schema: Mapping[str, Any]
    uri: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One recorded message of the session, in canonical blocks; `index` counts from 0."""

    index: int
    role: str
    content: tuple[Mapping[str, Any], ...]
    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenedBlock:
    """A block of a recorded message in which something suspicious was found, and the source that it came from."""

    uri: str
    source_uri: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What this epoch has sent already: the last assembly, and how many recorded messages it held."""

    context: AssembledContext
    message_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The frozen inputs. Equal snapshots give equal bytes.

    `touched_paths` are paths that the session has read or written, `baselines` the digest of each file that it
    last read or wrote itself, `digests` the present digest of each file that a claim, an excerpt or a baseline
    names (both by uri; an empty digest: it is gone), `adrs` the accepted decisions, `rulings` what people ruled on
    conflicts before, `suspicions` what a model said of the run's rules, `screened` what was found in `messages`.
    """

    request: AssemblyRequest
    created_at: str
    profile: Profile
    segments: tuple[Segment, ...]
    tools: tuple[ToolSpec, ...]
    policy: Policy
    limits: ModelLimits
    versions: Versions
    task: TaskSpec | None = None
    messages: tuple[Message, ...] = ()
    frozen: Frozen | None = None
    touched_paths: tuple[str, ...] = ()
    digests: Mapping[str, Digest] = field(default_factory=dict)
    baselines: Mapping[str, Digest] = field(default_factory=dict)
    adrs: tuple[Adr, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    estimator: Estimator = field(default_factory=Estimator)
    screened: tuple[ScreenedBlock, ...] = ()
