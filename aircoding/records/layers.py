"""The words of the layer model (DESIGN sections 1 to 3); their values are part of the JSON contract."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Form", "Layer", "Mode", "OutcomeKind", "Reason", "Scope", "SegmentKind", "Trust"]


class Layer(StrEnum):
    """The semantic order of a prompt; a later layer specialises an earlier one."""

    L0 = "L0"
    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4 = "L4"
    L5 = "L5"
    L6 = "L6"
    L7 = "L7"
    L8 = "L8"
    L9 = "L9"

    @property
    def heading(self) -> str:
        """The heading under which the layer stands in a prompt."""
        return _TITLES[self]


_TITLES = {
    Layer.L0: "Runtime invariant",
    Layer.L1: "Role and mode",
    Layer.L2: "Safety and permissions",
    Layer.L3: "Rules and preferences",
    Layer.L4: "Architecture and plan",
    Layer.L5: "Task and acceptance",
    Layer.L6: "Code and evidence",
    Layer.L7: "Conversation and decisions",
    Layer.L8: "Tool history",
    Layer.L9: "Immediate instruction",
}


class Scope(StrEnum):
    """How widely bytes are shared; decides where they sit for the prompt cache."""

    FLEET = "fleet"
    RUN = "run"
    SESSION = "session"
    TURN = "turn"


class Trust(StrEnum):
    """Who may instruct: builtin > user > project > agent > external."""

    BUILTIN = "builtin"
    USER = "user"
    PROJECT = "project"
    AGENT = "agent"
    EXTERNAL = "external"

    @property
    def rank(self) -> int:
        """Higher instructs lower; builtin is 4, external 0."""
        return _TRUST_RANK[self]


_TRUST_RANK = {Trust.BUILTIN: 4, Trust.USER: 3, Trust.PROJECT: 2, Trust.AGENT: 1, Trust.EXTERNAL: 0}


class Mode(StrEnum):
    """What is composed: everything, what a sub-agent needs, or the must-keep layers only."""

    FULL = "full"
    MINIMAL = "minimal"
    NONE = "none"


class Form(StrEnum):
    """How much of a segment is in the request; each form holds less than the one before."""

    WHOLE = "whole"
    EXCERPT = "excerpt"
    REFERENCE = "reference"
    NONE = "none"


class OutcomeKind(StrEnum):
    """What became of a candidate (DESIGN section 3, `outcome`)."""

    INCLUDED = "included"
    EXCERPTED = "excerpted"
    REFERENCED = "referenced"
    OMITTED = "omitted"
    OVERRIDDEN = "overridden"
    DUPLICATE = "duplicate"
    QUARANTINED = "quarantined"


class Reason(StrEnum):
    """Why a candidate is not in the request as it stands (DESIGN section 3, `reason`)."""

    NOT_IN_PROFILE = "not_in_profile"
    MODE = "mode"
    PATH_NOT_MATCHED = "path_not_matched"
    TAG_NOT_MATCHED = "tag_not_matched"
    TRIGGER_NOT_MATCHED = "trigger_not_matched"
    TOPIC_NOT_MATCHED = "topic_not_matched"
    BUDGET = "budget"
    OVERRIDDEN = "overridden"
    DUPLICATE = "duplicate"
    QUARANTINED = "quarantined"
    UNREADABLE = "unreadable"
    INVALID = "invalid"
    DISABLED = "disabled"
    STALE = "stale"
    PERMISSION = "permission"


class SegmentKind(StrEnum):
    """What a segment is; profiles and conflict detection select by it."""

    INVARIANT = "invariant"
    ROLE = "role"
    IDENTITY = "identity"
    GUIDANCE = "guidance"
    POLICY = "policy"
    RULE = "rule"
    SKILLS_INDEX = "skills_index"
    SKILL = "skill"
    MEMORY = "memory"
    CONTEXT = "context"
    PLAN = "plan"
    ADR = "adr"
    GRAPH = "graph"
    TASK = "task"
    DEPENDENCY = "dependency"
    FILE = "file"
    ARTIFACT = "artifact"
    DIAGNOSTIC = "diagnostic"
    FINDING = "finding"
    SUMMARY = "summary"
    DECISION = "decision"
    CONFLICT = "conflict"
    MESSAGE = "message"
    TOOL = "tool"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    FAILURE = "failure"
    INSTRUCTION = "instruction"
    OUTPUT_FORMAT = "output_format"
    OMISSION_NOTE = "omission_note"
    NOTICE = "notice"
    STEERING = "steering"
    TIME = "time"
