"""Rules on tools and on the choice among them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from aircoding.providers.validation_request import Fault, Request

__all__ = ["TOOL_FIELDS", "TOOL_RULES"]

TOOL_FIELDS = frozenset(
    {
        "allowed_callers",
        "cache_control",
        "defer_loading",
        "description",
        "eager_input_streaming",
        "input_examples",
        "input_schema",
        "name",
        "strict",
        "type",
    }
)
"""Fields of a tool of the caller's own (SDK 2.14.0; a test holds them against it)."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_PROVIDERS_OWN = re.compile(r"[a-z0-9_]+_\d{8}|tool_search_tool_(bm25|regex)|mcp_toolset")
_CHOICES = ("any", "auto", "none", "tool")
_CACHED_SCHEMAS = 512
_INVALID_SCHEMA = (
    "JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn "
    "more about tool use at https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview."
)


def _is_custom(tool: Mapping[str, Any]) -> bool:
    return tool.get("type") in (None, "custom")


def _tool_kinds(request: Request) -> Iterator[Fault]:
    for number, tool in enumerate(request.tools):
        if not _is_custom(tool) and not _PROVIDERS_OWN.fullmatch(str(tool["type"])):
            text = (
                f"tools.{number}: Input tag '{tool['type']}' found using 'type' does not match any of the expected "
                "tags: 'custom' and the provider's own, such as 'bash_20250124'"
            )
            yield Fault(f"/tools/{number}/type", "tool_kind", text)
            continue
        for name in tool:
            if _is_custom(tool) and name not in TOOL_FIELDS:
                text = f"tools.{number}.custom.{name}: Extra inputs are not permitted"
                yield Fault(f"/tools/{number}/{name}", "unknown_field", text)


def _tool_names(request: Request) -> Iterator[Fault]:
    seen: set[str] = set()
    for number, tool in enumerate(request.tools):
        if not _is_custom(tool) and "name" not in tool:
            continue  # the provider's toolsets have none
        name, pointer = str(tool.get("name", "")), f"/tools/{number}/name"
        if not _NAME.fullmatch(name):
            text = f"tools.{number}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            yield Fault(pointer, "tool_name", text)
        if name in seen:
            yield Fault(pointer, "tool_name", "tools: Tool names must be unique.")
        seen.add(name)


def _tool_schemas(request: Request) -> Iterator[Fault]:
    for number, tool in enumerate(request.tools):
        if not _is_custom(tool):
            continue  # a tool of the provider's own brings its schema
        where, pointer = f"tools.{number}.custom.input_schema", f"/tools/{number}/input_schema"
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping):
            yield Fault(f"/tools/{number}", "tool_schema", f"{where}: Field required")
        elif schema.get("type") != "object":
            yield Fault(pointer, "tool_schema", f"{where}.type: Input should be 'object'")
        elif schema.keys() & {"oneOf", "allOf", "anyOf"}:  # (u)
            text = f"{where}: input_schema does not support oneOf, allOf, or anyOf at the top level"
            yield Fault(pointer, "tool_schema", text)
        elif not _is_schema(json.dumps(schema, sort_keys=True)):
            yield Fault(pointer, "tool_schema", f"{where}: {_INVALID_SCHEMA}")


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _is_schema(text: str) -> bool:
    """Tools stay the same over a session, so each schema is looked at once."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(json.loads(text))
    except SchemaError:
        return False
    return True


def _deferred_unmarked(request: Request) -> Iterator[Fault]:
    for number, tool in enumerate(request.tools):
        if tool.get("defer_loading") and tool.get("cache_control"):  # (u)
            text = f"tools.{number}: cache_control cannot be set for tools with defer_loading"
            yield Fault(f"/tools/{number}", "marks", text)


def _tool_choice(request: Request) -> Iterator[Fault]:
    choice = request.body.get("tool_choice")
    if not isinstance(choice, Mapping):
        return
    kind = choice.get("type")
    if kind not in _CHOICES:
        tags = ", ".join(f"'{name}'" for name in _CHOICES)
        text = f"tool_choice: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
        yield Fault("/tool_choice/type", "tool_choice", text)
        return
    if not request.tools:
        text = f"tool_choice.{kind} may only be specified while providing tools"
        yield Fault("/tool_choice", "tool_choice", text)
    elif kind == "tool" and str(choice.get("name")) not in {str(tool.get("name")) for tool in request.tools}:
        text = f"Tool '{choice.get('name')}' not found in provided tools"
        yield Fault("/tool_choice/name", "tool_choice", text)


def _forced_tools(request: Request) -> Iterator[Fault]:
    choice, thinking = request.body.get("tool_choice"), request.body.get("thinking")
    if not isinstance(choice, Mapping) or choice.get("type") not in ("any", "tool"):
        return
    thinks = isinstance(thinking, Mapping) and thinking.get("type") == "enabled"
    if thinks or not request.row.forced_tools:
        yield Fault("/tool_choice", "tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")


TOOL_RULES = (_tool_kinds, _tool_names, _tool_schemas, _deferred_unmarked, _tool_choice, _forced_tools)
