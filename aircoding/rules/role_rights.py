"""What a role of a project may be given before its user trusts the project: no right that it grants itself."""

from __future__ import annotations

from dataclasses import replace

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.profiles import Profile

__all__ = ["UNTRUSTED_CATEGORIES", "narrow_role"]

UNTRUSTED_CATEGORIES = ("read", "edit", "execute")
"""Tools whose every use the policy judges by path or command; the others reach out of the worktree."""


def narrow_role(profile: Profile) -> tuple[Profile, tuple[Diagnostic, ...]]:
    """Return a role without what it may only have in a trusted project, and a remark where something was cut."""
    kept = tuple(one for one in profile.tool_categories if one in UNTRUSTED_CATEGORIES)
    cut = [f"its tools of `{one}`" for one in dict.fromkeys(profile.tool_categories) if one not in kept]
    writes = profile.writes
    if writes == "plan":
        writes = "area"
        cut.append("its right to write the plan (`writes: area` holds)")
    if not cut:
        return profile, ()
    remark = Diagnostic(
        severity="warning",
        code="role.narrowed",
        message=f"the role `{profile.role}` does not have {', '.join(cut)}: you do not trust this project yet",
        uri=profile.uri,
        hint="read the role, then `aircoding permissions trust`",
    )
    return replace(profile, tool_categories=kept, writes=writes), (remark,)
