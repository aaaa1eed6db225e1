"""`permissions import`: the permission rules of another tool's file as a proposal. Nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aircoding.errors import ConfigError
from aircoding.permissions.claude_rules import translate_claude_rules
from aircoding.permissions.codex_rules import translate_codex_rules, translate_codex_settings
from aircoding.permissions.foreign_rules import ForeignRules, Untranslated, proposal_text
from aircoding.permissions.gemini_rules import translate_gemini_rules
from aircoding.permissions.opencode_rules import translate_opencode_rules
from aircoding.rules.json_comments import parse_json_with_comments
from aircoding.sources.files import read_text_file

__all__ = ["RuleProposal", "import_permissions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleProposal:
    """A policy file of ours as text, how many lines it has, and each rule that has none, or none that says all."""

    source: str
    tool: str
    text: str
    lines: int
    untranslated: tuple[Untranslated, ...]


def import_permissions(path: Path, tool: str) -> RuleProposal:
    """Translate the rules of one file of `claude`, `codex`, `opencode` or `gemini`.

    Raises:
        ConfigError: the file cannot be read, or holds no permission rules.
    """
    read = read_text_file(path.parent, path.name, inside=False)
    if read.problem is not None:
        raise ConfigError(f"{path}: cannot be read: {read.problem}", hint="name the file with the rules")
    rules = _TRANSLATORS[tool](path, read.text)
    if not rules.lines and not rules.untranslated:
        raise ConfigError(
            f"{path}: it holds no permission rules of {tool}",
            hint="name the file with the rules",
            code="import.nothing",
        )
    return RuleProposal(
        source=str(path),
        tool=tool,
        text=proposal_text(rules, path.name),
        lines=sum(len(lines) for lines in rules.lines.values()),
        untranslated=rules.untranslated,
    )


def _claude(path: Path, text: str) -> ForeignRules:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: it is no JSON: {error}", hint="correct the file") from error
    nothing = ForeignRules(lines={}, untranslated=())
    return translate_claude_rules(data["permissions"]) if isinstance(data, dict) and "permissions" in data else nothing


def _opencode(path: Path, text: str) -> ForeignRules:
    try:
        return translate_opencode_rules(parse_json_with_comments(text))
    except ValueError as error:
        raise ConfigError(f"{path}: it is no JSON: {error}", hint="correct the file") from error


def _codex(path: Path, text: str) -> ForeignRules:
    return translate_codex_settings(text) if path.suffix == ".toml" else translate_codex_rules(text)


def _gemini(_path: Path, text: str) -> ForeignRules:
    return translate_gemini_rules(text)


_TRANSLATORS: Mapping[str, Callable[[Path, str], ForeignRules]] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "gemini": _gemini,
}
