"""What a plugin is given to register with, and what it registered as frozen values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from aircoding.errors import ConfigError
from aircoding.plugins.plain_values import plain_text, plain_value
from aircoding.plugins.threads import ask_in_thread
from aircoding.records.hooks import (
    CONTRIBUTED_LAYERS,
    DEFAULT_TIMEOUT_SECONDS,
    MOST_TIMEOUT_SECONDS,
    PLUGIN_NAME,
    ContributedSkill,
    ContributedTool,
    Hook,
    HookEvent,
    PluginFailedError,
    SkillTrigger,
)
from aircoding.records.layers import Layer, Trust
from aircoding.records.policy import Act, CommandAct, HostAct, PathAct
from aircoding.records.snapshot import ToolSpec

__all__ = ["ContextRequest", "ContextSource", "PluginContext"]

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TOOL_TIMEOUT_SECONDS = 60.0
_MOST_ACTS = 1_000
_TRUSTS = {trust.value: trust for trust in (Trust.USER, Trust.PROJECT, Trust.AGENT, Trust.EXTERNAL)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """For whom a context source is asked; `profile` is the user's profile by name."""

    profile: str
    role: str
    task: str
    session_id: str
    project_root: str
    mode: str


class ContextSource(Protocol):
    """Something that knows what a session should be told at its start.

    It may carry `layer` (`L3` to `L8`; L3 without one) and `trust` (`user`, `project`, `agent` or `external`; `user`
    without one), for text that it passes on.
    """

    @property
    def name(self) -> str:
        """A name of letters, digits, `.`, `_` and `-`."""
        ...

    async def context(self, request: ContextRequest) -> str:
        """Return a text, or an empty one where there is nothing to say."""
        ...


class PluginContext:
    """Takes what one plugin registers; `register(ctx)` is called with it.

    Args:
        plugin: the name of the entry point.
        tool_categories: the categories that a tool can be of.
    """

    def __init__(self, plugin: str, tool_categories: Sequence[str]) -> None:
        self._plugin, self._categories = plugin, tuple(tool_categories)
        self.hooks: list[Hook] = []
        self.tools: list[ContributedTool] = []
        self.skills: list[ContributedSkill] = []
        self.triggers: list[SkillTrigger] = []

    def context(self, source: ContextSource, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> None:
        """Ask `source` once per session, at its start.

        Raises:
            ConfigError: it is no context source.
        """
        name, ask = _name(getattr(source, "name", None), "a context source"), getattr(source, "context", None)
        layer = _choice(getattr(source, "layer", Layer.L3), {one.value: one for one in CONTRIBUTED_LAYERS}, "layer")
        trust = _choice(getattr(source, "trust", Trust.USER), _TRUSTS, "trust")
        function = _function(ask, f"`context` of {name}")

        async def call(facts: Mapping[str, Any]) -> Any:
            request = ContextRequest(**{each: facts[each] for each in ContextRequest.__slots__})
            return await ask_in_thread(function, request)

        self._hook(name, HookEvent.CONTEXT, call, trust=trust, layer=layer, timeout_seconds=timeout_seconds)

    def hook(
        self,
        event: str,
        function: Callable[[Mapping[str, Any]], Any],
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        trust: str = "user",
    ) -> None:
        """Call `function`, async or not, with the facts of each `event`; it runs in a thread of its own.

        Raises:
            ConfigError: there is no such event, or an argument is none.
        """
        events = {one.value: one for one in HookEvent if one is not HookEvent.CONTEXT}
        chosen, asked = _choice(event, events, "event"), _function(function, f"the hook of {event}")

        async def call(facts: Mapping[str, Any]) -> Any:
            return await ask_in_thread(asked, dict(facts))

        level = _choice(trust, _TRUSTS, "trust")
        self._hook(chosen.value, chosen, call, trust=level, layer=Layer.L3, timeout_seconds=timeout_seconds)

    def skill(self, name: str, description: str, body: str, triggers: Iterable[str] = ()) -> None:
        """Bring a skill.

        Raises:
            ConfigError: a part of it is missing or no text.
        """
        called = _name(name, "a skill")
        texts = (_text(description, "the description"), _text(body, "the body"))
        phrases = _phrases(triggers)
        self.skills.append(
            ContributedSkill(
                name=called,
                description=texts[0],
                body=texts[1],
                source=f"plugin:{self._plugin}",
                triggers=phrases,
            )
        )

    def trigger(self, skill_name: str, phrases: Iterable[str]) -> None:
        """Let phrases call up a skill by its name, also one that is not this plugin's.

        Raises:
            ConfigError: there is no phrase, or one is no text.
        """
        said = _phrases(phrases)
        if not said:
            raise ConfigError(f"trigger({skill_name!r}): no phrase is given", hint="give at least one")
        skill = _name(skill_name, "a skill")
        self.triggers.append(SkillTrigger(skill=skill, phrases=said, source=f"plugin:{self._plugin}"))

    def tool(
        self,
        name: str,
        description: str,
        input_schema: Mapping[str, Any],
        category: str,
        handler: Callable[[Mapping[str, Any], Mapping[str, Any]], Any],
        *,
        acts: Callable[[Mapping[str, Any]], Iterable[Act]] | None = None,
        timeout_seconds: float = _TOOL_TIMEOUT_SECONDS,
    ) -> None:
        """Bring a tool for the roles whose tool categories hold `category`.

        Args:
            name: as the model calls it.
            description: what it does, for the model.
            input_schema: a JSON Schema of an object.
            category: read, edit, execute, network, memory or delegate.
            handler: given the input and the facts of the session, returns what the model is shown.
            acts: given the input, returns what a call would do; without it the policy must allow the tool by name.
            timeout_seconds: after which a call is given up.

        Raises:
            ConfigError: an argument is none of what it must be.
        """
        spec = ToolSpec(
            name=_tool_name(name),
            category=_choice(category, {one: one for one in self._categories}, "category"),
            description=_text(description, f"the description of {name}"),
            input_schema=_schema(input_schema, name),
            uri=f"plugin:{self._plugin}/tools/{name}",
        )
        work = _function(handler, f"the handler of {name}")
        judged = None if acts is None else _function(acts, f"`acts` of {name}")

        async def handle(given: Mapping[str, Any], facts: Mapping[str, Any]) -> Any:
            return await ask_in_thread(work, dict(given), dict(facts))

        async def ask_acts(given: Mapping[str, Any]) -> tuple[Act, ...]:
            assert judged is not None  # noqa: S101 - only then it is handed on
            found: tuple[Act, ...] = await ask_in_thread(judged, dict(given), read=_acts)
            if not found:
                raise PluginFailedError(f"acts of {spec.name} gave none: at least one must be given")
            return found

        limit = _seconds(timeout_seconds)
        tool = ContributedTool(
            spec=spec, handler=handle, acts=None if judged is None else ask_acts, timeout_seconds=limit
        )
        self.tools.append(tool)

    def _hook(
        self, name: str, event: HookEvent, call: Any, *, trust: Trust, layer: Layer, timeout_seconds: float
    ) -> None:
        number = 1 + sum(1 for one in self.hooks if one.event is event and one.name.split("#")[0].endswith(f"/{name}"))
        called = f"{self._plugin}/{name}" + (f"#{number}" if number > 1 else "")
        self.hooks.append(
            Hook(
                name=called,
                event=event,
                source_uri=f"plugin:{called}",
                trust=trust,
                call=call,
                layer=layer,
                timeout_seconds=_seconds(timeout_seconds),
            )
        )


def _acts(value: Any) -> tuple[Act, ...]:
    """Return the acts that a plugin gave as values of ours.

    Raises:
        PluginFailedError: one is no act.
    """
    found: list[Act] = []
    for act in value:
        if type(act) not in (CommandAct, PathAct, HostAct) or len(found) >= _MOST_ACTS:
            raise PluginFailedError(f"acts must give CommandAct, PathAct or HostAct, at most {_MOST_ACTS}")
        values = plain_value({one.name: getattr(act, one.name) for one in fields(act)})
        wrong = [one.name for one in fields(act) if type(values[one.name]).__name__ != one.type]
        if wrong:
            raise PluginFailedError(f"`{wrong[0]}` of {type(act).__name__} is of another kind than it has to be")
        found.append(type(act)(**values))
    return tuple(found)


def _name(value: object, what: str) -> str:
    if isinstance(value, str) and re.fullmatch(PLUGIN_NAME, value):
        return plain_text(value)
    raise ConfigError(f"{what} has the name {value!r}", hint="use letters, digits, `.`, `_` and `-`, at most 64")


def _tool_name(value: object) -> str:
    if isinstance(value, str) and _TOOL_NAME.fullmatch(value):
        return plain_text(value)
    raise ConfigError(f"a tool has the name {value!r}", hint="use letters, digits, `_` and `-`, at most 64")


def _text(value: object, what: str) -> str:
    text = plain_text(value) if isinstance(value, str) else ""
    if text.strip() and _is_storable(text):
        return text.strip()
    raise ConfigError(f"{what} is no text", hint="give words, in characters that UTF-8 can hold")


def _is_storable(value: str) -> bool:
    return "\0" not in value and not any("\ud800" <= char <= "\udfff" for char in value)


def _phrases(values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise ConfigError("triggers are a list of phrases, not one text", hint='write ("one", "two")')
    return tuple(_text(value, "a phrase") for value in values)


def _choice(value: object, known: Mapping[str, Any], what: str) -> Any:
    name = getattr(value, "value", value)
    if isinstance(name, str) and name in known:
        return known[name]
    raise ConfigError(f"{value!r} is no {what}", hint=f"known: {', '.join(known)}")


def _function(value: object, what: str) -> Callable[..., Any]:
    if callable(value):
        return value
    raise ConfigError(f"{what} cannot be called", hint="give a function")


def _seconds(value: object) -> float:
    if isinstance(value, int | float) and math.isfinite(value) and 0 < value <= MOST_TIMEOUT_SECONDS:
        return float(value)
    raise ConfigError(f"timeout_seconds is {value!r}", hint=f"give more than 0 and at most {MOST_TIMEOUT_SECONDS:g}")


def _schema(value: object, name: str) -> Mapping[str, Any]:
    """Return a copy of a schema that no later change of the plugin's object reaches."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        copy = json.loads(json.dumps(value, allow_nan=False))
        Draft202012Validator.check_schema(copy)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"the input schema of {name} is no JSON: {error}", hint="give a JSON Schema") from error
    except SchemaError as error:
        raise ConfigError(f"the input schema of {name}: {error.message}", hint="give a JSON Schema") from error
    if not isinstance(copy, dict) or copy.get("type") != "object":
        raise ConfigError(f"the input schema of {name} is of no object", hint='begin with {"type": "object"}')
    return copy
