"""Which rule files a project's agents get: the settings in the reader's terms, and where the user's own files lie."""

from __future__ import annotations

import os
from pathlib import Path

from aircoding.settings import RulesSettings
from aircoding.sources.rule_files import RuleSwitches
from aircoding.sources.rule_tree import RuleHomes

__all__ = ["rule_homes", "rule_switches"]


def rule_switches(settings: RulesSettings) -> RuleSwitches:
    """Return the section `[rules]` as the reader of rule files takes it."""
    return RuleSwitches(**settings.model_dump())


def rule_homes() -> RuleHomes:
    """Return where other tools keep what is not the project's: `HOME`, `CODEX_HOME`, and the machine's `/etc`."""
    home, codex = os.path.expanduser("~"), os.environ.get("CODEX_HOME")
    user = Path(home) if os.path.isabs(home) else None
    return RuleHomes(user=user, machine=Path("/"), codex_home=Path(codex) if codex else None)
