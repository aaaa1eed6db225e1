"""Which rule files a project's agents get: the settings in the reader's terms, and where the user's own files lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.errors import ConfigError
from aircoding.homes import air_home, home_from, user_home
from aircoding.rules.rule_switches import RuleSwitches
from aircoding.sources.rule_tree import RuleHomes

if TYPE_CHECKING:
    from aircoding.settings import RulesSettings

__all__ = ["folder_switches", "has_settings", "rule_homes", "rule_switches"]


def rule_switches(settings: RulesSettings) -> RuleSwitches:
    """Return the section `[rules]` as the reader of rule files takes it."""
    return RuleSwitches(**settings.model_dump())


def folder_switches(root: Path) -> RuleSwitches:
    """Return the section `[rules]` as it holds for a folder; without any setting nothing heavy is loaded to say so.

    Raises:
        ConfigError: a settings file is wrong.
    """
    if not has_settings(root):
        return RuleSwitches()
    from aircoding.settings import load_settings

    return rule_switches(load_settings(root).rules)


def has_settings(root: Path) -> bool:
    """Whether any file or variable sets something for a folder."""
    set_here = any(name.startswith("AIR_") and ("__" in name or name == "AIR_DATABASE_URL") for name in os.environ)
    home = air_home(root)
    return set_here or (root / ".air/config.toml").exists() or (home / "config.toml").exists()


def rule_homes() -> RuleHomes:
    """Return where other tools keep what is not the project's: `HOME`, `CODEX_HOME`, and the machine's `/etc`."""
    try:
        user = user_home()
    except ConfigError as error:
        if error.code != "home.none":
            raise
        user = None  # neither HOME nor an entry in the list of users
    return RuleHomes(user=user, machine=Path("/"), codex_home=home_from("CODEX_HOME"))
