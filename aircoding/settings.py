"""Settings: flag > environment > project > user > default (DESIGN section 10).

The project's file is `.air/config.toml`, the user's `~/.air/config.toml`, environment variables are
`AIR_SECTION__KEY`. Both files have the same keys; an unknown key is an error that names its file. What the user shut
out a repository cannot let in again.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from aircoding.errors import ConfigError
from aircoding.homes import air_home, is_air_home
from aircoding.records.rule_choices import MAX_TREE_BYTES, AgentsAndClaude
from aircoding.records.work import CommandLimits
from aircoding.text_files import read_text_file

__all__ = ["ModelSettings", "RulesSettings", "RunSettings", "SandboxSettings", "Settings", "SkillsSettings"]
__all__ += ["ConflictsSettings", "IdentitySettings", "PluginsSettings", "PriceSettings", "StoreSettings"]
__all__ += ["WorktreeSettings", "load_settings"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(_Section):
    """`[model]`: which model works for whom."""

    provider: str | None = None
    """`anthropic:MODEL` or `scripted:FILE`; none: `run` must be told."""
    max_output_tokens: int = Field(default=16_000, ge=1)
    """Most tokens of one answer."""


class RunSettings(_Section):
    """`[run]`: how a run is driven."""

    concurrency: int = Field(default=4, ge=1, le=256)
    """How many attempts go on at once."""
    max_cost_usd: float | None = Field(default=5.0, gt=0)
    """Money after which no model call is begun; none: no limit."""
    max_turns: int = Field(default=40, ge=1)
    """Model calls after which a session ends."""
    max_idle_turns: int = Field(default=8, ge=2)
    """Turns in a row without progress after which a session ends."""
    command_timeout_seconds: float = Field(default=600.0, gt=0)
    """Wall time of one verify or set-up command."""


class WorktreeSettings(_Section):
    """`[worktree]`: how a new worktree is prepared, once for each."""

    setup: tuple[str, ...] = ()
    """Shell commands, run in order at the worktree's root."""
    copy_files: tuple[str, ...] = Field(default=(), alias="copy")
    """Globs of files that git ignores and a worker needs (relative to the project root)."""
    cache: tuple[str, ...] = ()
    """Folders outside the worktree that set-up may write (package caches)."""
    env: dict[str, str] = Field(default_factory=dict)
    """Variables for set-up, verify and shell commands."""
    network: bool = False
    """Whether set-up commands may use the network."""


class SandboxSettings(_Section):
    """`[sandbox]`: what confines commands."""

    backend: Literal["auto", "bubblewrap", "landlock", "seatbelt", "external", "none"] = "auto"
    """`external`: a container or VM that you vouch for (user file only)."""
    allow_unconfined: bool = False
    """Without a sandbox, keep allow as allow (user file only); otherwise allow becomes ask."""
    memory_mb: int = Field(default=8192, gt=0)
    """Writable memory of one process, in MiB (user file only, as the three below)."""
    file_mb: int = Field(default=4096, gt=0)
    """The size of a file that a command writes, in MiB."""
    cpu_seconds: int = Field(default=0, ge=0)
    """Processor time of one process; 0: the command's wall time on every core."""
    processes: int = Field(default=2048, gt=0)
    """Processes and threads of one command together."""

    @property
    def limits(self) -> CommandLimits:
        """The limits of every command."""
        return CommandLimits(
            memory_bytes=self.memory_mb * 1024**2,
            file_bytes=self.file_mb * 1024**2,
            cpu_seconds=self.cpu_seconds,
            processes=self.processes,
        )


class StoreSettings(_Section):
    """`[store]`: where the record is kept."""

    url: str | None = None
    """A database URL; none: `.air/local/air.db`."""
    bodies: Literal["full", "digests"] = "full"
    """`digests`: when a run has ended its texts go, and the account of them stays."""


class RulesSettings(_Section):
    """`[rules]`: which rule files are read (docs/reference/rule-files.md)."""

    agents_md: bool = True
    """The `AGENTS.md` chain."""
    claude: bool = True
    """`CLAUDE.md`, `CLAUDE.local.md`, `.claude/rules`."""
    cursor: bool = True
    """`.cursor/rules`, `.cursorrules`."""
    copilot: bool = True
    """`.github/copilot-instructions.md`, `.github/instructions`."""
    gemini: bool = True
    """`GEMINI.md`."""
    hermes: bool = True
    """`.hermes.md`, `HERMES.md`, `agents.md`."""
    windsurf: bool = True
    """`.windsurf/rules`, `.windsurfrules`."""
    user_files: bool = True
    """The user's own files of these tools, such as `~/.claude/CLAUDE.md` (user file only)."""
    agents_and_claude: AgentsAndClaude = "claude-md-and-agents-md"
    """What holds where a project has both `AGENTS.md` and `CLAUDE.md`."""
    agents_fallbacks: tuple[str, ...] = ()
    """File names that stand for `AGENTS.md` in a folder that has none."""
    excludes: tuple[str, ...] = ()
    """Globs of rule files that are not read; those of the user and of the project add up."""
    max_bytes: int = Field(default=MAX_TREE_BYTES, ge=0)
    """What the files of other tools may hold from the root down to any folder."""


class IdentitySettings(_Section):
    """`[identity]`: as whom the agents of this user work."""

    profile: str = "default"
    """The folder of `~/.air/profiles` whose identity and memory they have (not in a project's file)."""


class SkillsSettings(_Section):
    """`[skills]`: which skills agents are told of."""

    agents: bool = True
    """Those of `.agents/skills`."""
    claude: bool = True
    """Those of `.claude/skills`."""
    index_chars: int = Field(default=8_000, ge=0, le=1_000_000)
    """Most characters of their index in a prompt; beyond it descriptions are left out, never names."""
    disabled: tuple[str, ...] = ()
    """Names of skills that are not used; those of the user and of the project add up."""


class PluginsSettings(_Section):
    """`[plugins]`: which installed plugins take part."""

    disabled: tuple[str, ...] = ()
    """Names of plugins that do not; what the user's and the project's file name counts together."""


class ConflictsSettings(_Section):
    """`[conflicts]`: how contradictions are looked for."""

    judge: bool = False
    """Whether the run's model reads the rules once, for contradictions that code cannot see; it costs a call."""


Price = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class PriceSettings(_Section):
    """`[prices."MODEL"]`: a model's own prices, in US dollars for a million tokens.

    A kind that is not given costs what it would without it: a write for 1 hour as one for 5 minutes, reads and
    writes of the cache as input.
    """

    input: Price
    output: Price
    cache_read: Price | None = None
    cache_write_5m: Price | None = None
    cache_write_1h: Price | None = None


class Settings(_Section):
    """All settings of one call."""

    model: ModelSettings = Field(default_factory=ModelSettings)
    run: RunSettings = Field(default_factory=RunSettings)
    worktree: WorktreeSettings = Field(default_factory=WorktreeSettings)
    sandbox: SandboxSettings = Field(default_factory=SandboxSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    rules: RulesSettings = Field(default_factory=RulesSettings)
    identity: IdentitySettings = Field(default_factory=IdentitySettings)
    skills: SkillsSettings = Field(default_factory=SkillsSettings)
    conflicts: ConflictsSettings = Field(default_factory=ConflictsSettings)
    plugins: PluginsSettings = Field(default_factory=PluginsSettings)
    prices: dict[str, PriceSettings] = Field(default_factory=dict)


_PROJECT = ".air/config.toml"
_MACHINE = "a repository cannot vouch for the machine that it runs on; move the key there"
_USER_ONLY = {
    ("sandbox", "backend"): _MACHINE,
    ("sandbox", "allow_unconfined"): _MACHINE,
    **{("sandbox", key): _MACHINE for key in ("memory_mb", "file_mb", "cpu_seconds", "processes")},
    ("rules", "user_files"): _MACHINE,
    ("identity", "profile"): "a repository cannot choose as whom your agents work; move the key there, "
    "or give --profile or AIR_IDENTITY__PROFILE",
}
"""Keys that a project's file may not hold, and what to do instead."""
_ADDED_UP = frozenset({("rules", "excludes"), ("skills", "disabled"), ("plugins", "disabled")})
"""Lists whose levels add up: a repository must not let in again what the user excluded or switched off."""
_LET_IN = frozenset(
    (section, key)
    for section, kind in (("rules", RulesSettings), ("skills", SkillsSettings))
    for key, field in kind.model_fields.items()
    if field.annotation is bool
)
"""Switches that let text in: where the user's file says false, a project's true does not count."""
_BOOLEAN = TypeAdapter(bool)
_OWN, _ENVIRONMENT = "~/.air/config.toml", "environment"
_PERSONAL = frozenset({_OWN, _ENVIRONMENT})
"""Levels that another machine need not have."""


def load_settings(
    project_root: Path | None, *, flags: Mapping[str, Mapping[str, Any]] | None = None, alone: bool = False
) -> Settings:
    """Read all levels and return what holds.

    Args:
        project_root: where `.air/config.toml` is looked for; None outside a project.
        flags: sections of values that the command line gave; None values are not given.
        alone: only the project's file and `flags` count, so that every machine has the same.

    Raises:
        ConfigError: a file cannot be read, or a key or value in it is wrong; or the user's folder lies in the project.
    """
    merged: dict[str, dict[str, Any]] = {}
    origins: dict[tuple[str, str], str] = {}
    for name, values in _levels(project_root, flags):
        if alone and name in _PERSONAL:
            continue
        for section, keys in values.items():
            for key, value in keys.items():
                values_so_far = merged.setdefault(section, {})
                if value is None or (name == _PROJECT and _is_let_in((section, key), values_so_far.get(key), value)):
                    continue
                values_so_far[key] = _added((section, key), values_so_far.get(key), value)
                origins[section, key] = name
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise _as_config_error(error, origins) from error


def _added(key: tuple[str, str], before: object, value: object) -> object:
    if key in _ADDED_UP and isinstance(before, list) and isinstance(value, list):
        return [*before, *value]
    return value


def _is_let_in(key: tuple[str, str], before: object, value: object) -> bool:
    """Whether a value of the project would let in what the user's file switches off, in any spelling of a boolean."""
    if key == ("store", "bodies"):
        return before == "digests" and value != before  # what the user does not want to be kept is not kept
    return key in _LET_IN and _as_boolean(before) is False and _as_boolean(value) is True


def _as_boolean(value: object) -> bool | None:
    try:
        return _BOOLEAN.validate_python(value)
    except ValidationError:
        return None


def _levels(
    project_root: Path | None, flags: Mapping[str, Mapping[str, Any]] | None
) -> list[tuple[str, Mapping[str, Mapping[str, Any]]]]:
    levels: list[tuple[str, Mapping[str, Mapping[str, Any]]]] = [
        (_OWN, _read(air_home(project_root), "config.toml", inside=False))
    ]
    if project_root is not None and not is_air_home(project_root / ".air"):
        project = _read(project_root, _PROJECT, inside=True)
        for (section, key), hint in _USER_ONLY.items():
            if key in project.get(section, {}):
                message = f"{_PROJECT}: [{section}] {key} may stand only in ~/.air/config.toml"
                raise ConfigError(message, hint=hint)
        levels.append((_PROJECT, project))
    levels.append((_ENVIRONMENT, _from_environment()))
    levels.append(("command line", flags or {}))
    return levels


def _read(folder: Path, name: str, *, inside: bool) -> Mapping[str, Mapping[str, Any]]:
    """Read one file; a project's may be no link out of the project, and neither a device nor a pipe."""
    path, read = folder / name, read_text_file(folder, name, inside=inside)
    if read.absent:
        return {}
    try:
        if read.problem is not None or read.lossy:
            raise ValueError(read.problem or "it is no UTF-8 text")
        data = tomllib.loads(read.text)
    except (ValueError, RecursionError) as error:
        why = "its values are nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ConfigError(f"{path}: cannot be read: {why}", hint=_way_out(why)) from error
    for section, values in data.items():
        if not isinstance(values, dict):
            raise ConfigError(f"{path}: `{section}` must be a section", hint=f"write [{section}] above its keys")
    return data


def _way_out(fault: str) -> str:
    """Return what to do about a file: `init` wrote all headings, so lines that are added below often repeat one."""
    if "twice" in fault:
        return "that heading stands in the file already: put your keys below it"
    return "correct the file"


def _from_environment() -> Mapping[str, Mapping[str, Any]]:
    """Return `AIR_SECTION__KEY` variables of known sections, and the two short names."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in os.environ.items():
        section, _, key = name.removeprefix("AIR_").lower().partition("__")
        if name.startswith("AIR_") and key and section in Settings.model_fields:
            found.setdefault(section, {})[key] = value
    if url := os.environ.get("AIR_DATABASE_URL"):
        found.setdefault("store", {})["url"] = url
    return found


def _as_config_error(error: ValidationError, origins: Mapping[tuple[str, str], str]) -> ConfigError:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    section, key = path[0], path[1] if len(path) > 1 else ""
    origin = origins.get((section, key)) or next(
        (name for (own, _), name in origins.items() if own == section), "settings"
    )
    known = Settings.model_fields.get(section)
    choices = ", ".join(Settings.model_fields) if known is None else _keys(section)
    inner = ".".join(path[2:])
    where = f'[prices."{key}"] {inner}'.rstrip() if section == "prices" and key else f"[{section}] {key}"
    return ConfigError(f"{origin}: {where}: {first['msg']}", hint=f"known here: {choices}")


def _keys(section: str) -> str:
    kind = PriceSettings if section == "prices" else Settings.model_fields[section].annotation
    fields = kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}
    return ", ".join(field.alias or name for name, field in fields.items())
