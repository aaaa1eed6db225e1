"""Choices about rule files that settings and rules share."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["MAX_TREE_BYTES", "AgentsAndClaude"]

MAX_TREE_BYTES = 500_000
"""What the files of other tools may hold together, from the root down to any folder: the largest such limit that a
tool has (Hermes, 500,000 characters; Codex takes 32 KiB; read 2026-08). The window decides long before."""

AgentsAndClaude: TypeAlias = Literal["claude-md", "claude-md-or-agents-md", "claude-md-and-agents-md", "managed-only"]
"""Claude Code's four values (documentation of v2.1.277)."""
