"""What plugins and project hooks contribute: where they are asked, what they answered, what they registered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aircoding.records.ids import Digest
from aircoding.records.layers import Layer, Trust
from aircoding.records.policy import Act, Effect
from aircoding.records.snapshot import ToolSpec

__all__ = [
    "CONTRIBUTED_LAYERS",
    "DEFAULT_TIMEOUT_SECONDS",
    "MOST_REASON_CHARS",
    "MOST_TEXT_CHARS",
    "MOST_TIMEOUT_SECONDS",
    "PLUGIN_NAME",
    "ContributedSkill",
    "ContributedTool",
    "Contribution",
    "Extensions",
    "Hook",
    "HookAnswer",
    "HookCall",
    "HookEvent",
    "HookResult",
    "PluginFailedError",
    "PluginFault",
    "ProjectHook",
    "ProjectHooks",
    "SkillTrigger",
]

MOST_TEXT_CHARS = 16_000
"""Most characters of one text of a hook that reach a prompt; more is cut at a line."""
MOST_REASON_CHARS = 500
"""Most characters of what is kept of why a plugin or a hook failed, or refused."""
DEFAULT_TIMEOUT_SECONDS = 10.0
MOST_TIMEOUT_SECONDS = 600.0
PLUGIN_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
"""How plugins and hooks may be called: their names stand in uris and in headings of prompts."""
CONTRIBUTED_LAYERS = (Layer.L3, Layer.L4, Layer.L5, Layer.L6, Layer.L7, Layer.L8)
"""Where contributed context may stand: never among what is built in, never as what to do now."""

HookCall = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Asks one hook: given the facts of the occasion, returns what it said, or raises."""


class PluginFailedError(Exception):
    """Code of a plugin raised or returned nonsense; the message says what, and no object of the plugin is in it."""


class HookEvent(StrEnum):
    """The occasions on which hooks are asked."""

    CONTEXT = "context"
    BEFORE_PROMPT_BUILD = "before_prompt_build"
    PRE_LLM_CALL = "pre_llm_call"
    INSTRUCTIONS_LOADED = "instructions_loaded"
    PRE_TOOL_USE = "pre_tool_use"
    POST_TOOL_USE = "post_tool_use"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One hook. `source_uri` says whose it is (`plugin:NAME/…`, `hook:NAME/…`), `trust` how its words are screened.

    `layer` is where the text of a context source stands.
    """

    name: str
    event: HookEvent
    source_uri: str
    trust: Trust
    call: HookCall
    layer: Layer = Layer.L3
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAnswer:
    """What a hook said, read: texts with their layer (None: a steering entry), or a narrower decision."""

    texts: tuple[tuple[Layer | None, str], ...] = ()
    decision: Effect | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """What came of asking one hook once; a hook that gave two texts has two results.

    `occasion` names when in the session it was asked, `position` orders the results of one. `state` is `returned` or
    `failed`. `reason` says why it failed or decided as it did; `cut_chars` how much of its text was left out.
    """

    occasion: str
    position: int
    turn: int
    hook: str
    event: HookEvent
    source_uri: str
    trust: Trust
    state: str
    layer: Layer | None = None
    text: str = ""
    decision: Effect | None = None
    reason: str = ""
    cut_chars: int = 0
    duration_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """A text that stands in the session's own part of a prompt, as it was recorded when it was given."""

    source_uri: str
    trust: Trust
    layer: Layer
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributedSkill:
    """A skill that a plugin brings; `source` is the label of the plugin, with which its uri begins."""

    name: str
    description: str
    body: str
    source: str
    triggers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTrigger:
    """Phrases with which a plugin calls up a skill that may be another's."""

    skill: str
    phrases: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributedTool:
    """A tool that a plugin brings.

    `handler` is given the input and the facts of the session and returns what the model is shown. `acts` says what a
    call would do, for the PermissionEngine; None: nobody can tell, and the policy must allow the tool by its name.
    """

    spec: ToolSpec
    handler: Callable[[Mapping[str, Any], Mapping[str, Any]], Awaitable[Any]]
    acts: Callable[[Mapping[str, Any]], Awaitable[tuple[Act, ...]]] | None
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectHook:
    """One hook of a project's `hooks.yaml`: a function of a Python file, or a command; the other is empty."""

    name: str
    event: HookEvent
    python: str = ""
    function: str = ""
    command: tuple[str, ...] = ()
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS

    @property
    def source_uri(self) -> str:
        """How what it says is named."""
        return f"hook:{self.name}/{self.event.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectHooks:
    """A project's hooks with all that a user trusts by trusting them.

    `files` are the digests of `hooks.yaml` and of the files that it names, `texts` those of Python files, `digest` is
    one of everything. `covered` are by a hook's name the files that its words name. `faults` say what is wrong; with
    one, no hook of the file holds.
    """

    hooks: tuple[ProjectHook, ...]
    files: Mapping[str, Digest]
    texts: Mapping[str, str]
    digest: Digest
    covered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFault:
    """A plugin, a hook or a tool of one that takes no part, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """All that was registered and holds: hooks in the order in which they are asked, and what else plugins bring."""

    hooks: tuple[Hook, ...] = ()
    tools: Mapping[str, ContributedTool] = field(default_factory=dict)
    skills: tuple[ContributedSkill, ...] = ()
    triggers: tuple[SkillTrigger, ...] = ()
    faults: tuple[PluginFault, ...] = ()
