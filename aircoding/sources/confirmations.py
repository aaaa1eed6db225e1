"""Rules that the user confirmed: kept in `~/.air`, never in a front matter, which a repository could forge.

A confirmation is of one text of one rule of one project; a changed text has none.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from aircoding.records.ids import Digest
from aircoding.records.segments import Segment, place_of
from aircoding.sources.project_choices import ProjectChoices

__all__ = ["ConfirmedRule", "confirm_rule", "confirmed_rules", "is_confirmed", "rule_name", "unconfirm_rule"]

_CONFIRMED = ProjectChoices(file_name="confirmed.json", without="rules then have to be confirmed anew")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedRule:
    """What was confirmed: the name of the rule, and the digest of the text that it had."""

    rule: str
    text_digest: Digest


def rule_name(rule: Segment) -> str:
    """Return the name by which a rule is confirmed: its identity, else its place (`project:AGENTS.md#tests`)."""
    return rule.identity or place_of(rule.segment_id).split(":", 1)[1]


def confirmed_rules(home: Path, root: Path) -> frozenset[ConfirmedRule]:
    """Return what the user confirmed for the project at `root`.

    Args:
        home: the user's `~/.air`.
        root: the project root.

    Raises:
        ConfigError: `confirmed.json` is damaged.
    """
    pairs = (choice.rsplit("@", 1) for choice in _CONFIRMED.read(home, root) if "@" in choice)
    return frozenset(ConfirmedRule(rule=rule, text_digest=Digest(digest)) for rule, digest in pairs)


def is_confirmed(rule: Segment, confirmed: Collection[ConfirmedRule]) -> bool:
    """Whether the user confirmed the text that a rule has now."""
    if not confirmed or rule.barred is not None:
        return False
    return ConfirmedRule(rule=rule_name(rule), text_digest=rule.source.text_digest) in confirmed


def confirm_rule(home: Path, root: Path, rule: Segment) -> None:
    """Remember the text of a rule as confirmed for the project at `root`; earlier texts of it no longer are.

    Raises:
        ConfigError: `confirmed.json` is damaged.
        WorkspaceError: it cannot be written.
    """
    name = rule_name(rule)
    choice = f"{name}@{rule.source.text_digest}"
    _CONFIRMED.change(home, root, lambda known: {*_others(known, name), choice})


def unconfirm_rule(home: Path, root: Path, rule: str) -> bool:
    """Take the confirmation of a rule back, by its name; return whether there was one.

    Raises:
        ConfigError: `confirmed.json` is damaged.
        WorkspaceError: it cannot be written.
    """
    if all(one.rule != rule for one in confirmed_rules(home, root)):
        return False
    _CONFIRMED.change(home, root, lambda known: _others(known, rule))
    return True


def _others(known: frozenset[str], rule: str) -> frozenset[str]:
    return frozenset(choice for choice in known if choice.rsplit("@", 1)[0] != rule)
