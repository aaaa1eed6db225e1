"""Where a plan is wrong: collected, so that a person sees every fault at once."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.errors import PlanError
from aircoding.records.diagnostics import Diagnostic

__all__ = ["FaultList", "plan_error"]

_SHOWN = 20
"""How many faults the message itself lists; `diagnostics` hold all."""


class FaultList:
    """Collects the faults of one file."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._found: list[Diagnostic] = []

    def add(self, code: str, message: str, line: int | None, hint: str = "") -> None:
        """Note a fault; `code` is put below `plan.`."""
        self._found.append(
            Diagnostic(severity="error", code=f"plan.{code}", message=message, uri=self._uri, line=line, hint=hint)
        )

    @property
    def found(self) -> tuple[Diagnostic, ...]:
        """All faults by line."""
        return tuple(sorted(self._found, key=lambda fault: fault.line or 0))


def plan_error(uri: str, faults: Iterable[Diagnostic]) -> PlanError:
    """Return the error that shows a plan's faults, each with its line and its way out."""
    listed = tuple(faults)
    lines = [_shown(fault) for fault in listed[:_SHOWN]]
    if len(listed) > _SHOWN:
        lines.append(f"  and {len(listed) - _SHOWN} more")
    count = "1 fault" if len(listed) == 1 else f"{len(listed)} faults"
    return PlanError(
        f"{_name(uri)} has {count}:\n" + "\n".join(lines),
        hint="Correct the plan; `aircoding plan check` shows it again without running anything.",
        diagnostics=listed,
    )


def _shown(fault: Diagnostic) -> str:
    place = f"  line {fault.line}: " if fault.line else "  "
    return place + fault.message + (f" ({fault.hint})" if fault.hint else "")


def _name(uri: str) -> str:
    return uri.split(":", 1)[-1] or "The plan"
