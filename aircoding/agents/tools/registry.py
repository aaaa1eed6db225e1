"""All tools by name; which of them a role has is the policy's business."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from aircoding.agents.tools.artifacts import ARTIFACT_READ
from aircoding.agents.tools.files import FS_EDIT, FS_READ, FS_WRITE
from aircoding.agents.tools.finish import FINISH
from aircoding.agents.tools.memory import MEMORY_WRITE
from aircoding.agents.tools.search import FS_GLOB, FS_GREP
from aircoding.agents.tools.shell import SHELL
from aircoding.agents.tools.skills import SKILL_READ
from aircoding.agents.tools.workbench import Tool

__all__ = ["TOOLS"]

_ALL = (FS_READ, FS_EDIT, FS_WRITE, FS_GLOB, FS_GREP, SHELL, ARTIFACT_READ, SKILL_READ, MEMORY_WRITE, FINISH)

TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in _ALL})
"""Name to tool; the specs that a model sees are `resources/tools/NAME.yaml`."""
