"""One way in: the account of any tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aircoding.rules.tools.account import Tool, ToolAccount, ToolOptions
from aircoding.rules.tools.claude_code import explain_claude_code
from aircoding.rules.tools.codex import explain_codex
from aircoding.rules.tools.copilot import explain_copilot
from aircoding.rules.tools.cursor import explain_cursor
from aircoding.rules.tools.gemini import explain_gemini
from aircoding.rules.tools.hermes import explain_hermes
from aircoding.rules.tree import RuleTree

__all__ = ["FOREIGN_TOOLS", "explain_as"]

_TOOLS: Mapping[Tool, Callable[[RuleTree, str, ToolOptions], ToolAccount]] = {
    Tool.CODEX: explain_codex,
    Tool.CLAUDE_CODE: explain_claude_code,
    Tool.CURSOR: explain_cursor,
    Tool.COPILOT: explain_copilot,
    Tool.GEMINI: explain_gemini,
    Tool.HERMES: explain_hermes,
}
FOREIGN_TOOLS = tuple(_TOOLS)
"""The tools whose reading is known; our own workers are told apart by the gatherer that feeds them."""


def explain_as(tree: RuleTree, path: str, tool: Tool, options: ToolOptions | None = None) -> ToolAccount:
    """Return what a tool makes of a tree for one project path, which need not exist. Never raises for any tree.

    Raises:
        KeyError: `tool` is none of FOREIGN_TOOLS.
    """
    return _TOOLS[tool](tree, path, options or ToolOptions())
