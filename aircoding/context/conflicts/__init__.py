"""Stage 4 of an assembly: contradictions that code can find, who wins, and who must handle them (DESIGN section 4)."""

from aircoding.context.conflicts.architecture import architecture_conflicts
from aircoding.context.conflicts.policy import (
    command_conflicts,
    denied_requests,
    task_command_conflicts,
    task_conflicts,
)
from aircoding.context.conflicts.rulings import apply_ruling, may_rule
from aircoding.context.conflicts.stage import detect
from aircoding.context.conflicts.user_rules import user_rule_conflicts

__all__ = [
    "apply_ruling",
    "architecture_conflicts",
    "command_conflicts",
    "denied_requests",
    "detect",
    "may_rule",
    "task_command_conflicts",
    "task_conflicts",
    "user_rule_conflicts",
]
