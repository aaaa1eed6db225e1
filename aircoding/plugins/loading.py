"""Find the installed plugins, let each register, and tell which could not; none of them ends the command."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from aircoding.errors import ConfigError
from aircoding.plugins.plain_values import in_words
from aircoding.plugins.registering import PluginContext
from aircoding.records.hooks import MOST_REASON_CHARS, PLUGIN_NAME, ContributedTool, Extensions, PluginFault

__all__ = ["GROUP", "load_plugins"]

GROUP = "aircoding.plugins"
_LOAD_SECONDS = 10.0


def load_plugins(
    *,
    disabled: Collection[str],
    tool_categories: Sequence[str],
    taken_tools: Collection[str],
    seconds: float = _LOAD_SECONDS,
) -> Extensions:
    """Return what the plugins registered, by the plugins' names in order.

    A plugin registers all or nothing; a tool whose name is taken is refused alone.

    Args:
        disabled: names of entry points that the settings switch off.
        tool_categories: the categories that a tool can be of.
        taken_tools: names of our own tools.
        seconds: how long one plugin may take to be imported and to register.
    """
    contexts: list[PluginContext] = []
    faults: list[PluginFault] = []
    seen: set[str] = set()
    for point in sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        if point.name in disabled:
            continue
        if point.name in seen:
            faults.append(
                PluginFault(name=point.name, reason=f"another plugin has this name; {point.value} is left out")
            )
            continue
        seen.add(point.name)
        context = PluginContext(point.name, tool_categories)
        reason = _registered(point, context, seconds)
        if reason:
            faults.append(PluginFault(name=point.name, reason=reason))
        else:
            contexts.append(context)
    tools, refused = _without_collisions((tool for one in contexts for tool in one.tools), taken_tools)
    return Extensions(
        hooks=tuple(hook for one in contexts for hook in one.hooks),
        tools=tools,
        skills=tuple(skill for one in contexts for skill in one.skills),
        triggers=tuple(trigger for one in contexts for trigger in one.triggers),
        faults=(*faults, *refused),
    )


def _registered(point: EntryPoint, context: PluginContext, seconds: float) -> str:
    """Import a plugin and let it register; return what went wrong, or nothing.

    It is done in a daemon thread, so that an import that never ends is given up.
    """
    if re.fullmatch(PLUGIN_NAME, point.name) is None:
        return "the name of its entry point is none: use letters, digits, `.`, `_` and `-`"
    said: list[str] = []

    def work() -> None:
        try:
            _register(point.load())(context)
            said.append("")
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit too
            said.append(_in_words(error) or "it failed without a word")

    thread = threading.Thread(target=work, name=f"aircoding-plugin-{point.name}", daemon=True)
    thread.start()
    thread.join(seconds)
    return said[0][:MOST_REASON_CHARS] if said else f"it was not loaded after {seconds:g} seconds"


def _in_words(error: BaseException) -> str:
    """Say what went wrong; what we refuse ourselves has its way out."""
    said = in_words(error)
    return f"{said.removeprefix('ConfigError: ')} ({error.hint})" if isinstance(error, ConfigError) and said else said


def _register(found: Any) -> Callable[[PluginContext], Any]:
    register = getattr(found, "register", None)
    if not callable(register):
        raise TypeError("it has no `register(ctx)`")
    return register  # type: ignore[no-any-return]  # what it returns is not looked at


def _without_collisions(
    tools: Iterable[ContributedTool], taken: Collection[str]
) -> tuple[dict[str, ContributedTool], list[PluginFault]]:
    kept: dict[str, ContributedTool] = {}
    refused: list[PluginFault] = []
    for tool in tools:
        name = tool.spec.name
        owner = "aircoding" if name in taken else kept[name].spec.uri if name in kept else ""
        if owner:
            refused.append(PluginFault(name=tool.spec.uri, reason=f"the name {name} is taken by {owner}"))
        else:
            kept[name] = tool
    return kept, refused
