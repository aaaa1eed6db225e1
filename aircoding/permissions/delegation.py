"""A delegated worker's rights: what it may do, its parent may do too (DESIGN section 6).

Two policies cannot be written as one: each has its own write area, role and denied paths. So the child carries its
parent's policy, and the engine judges each act under both; the stricter word holds.
"""

from __future__ import annotations

from dataclasses import replace

from aircoding.records.digests import fingerprint
from aircoding.records.policy import Policy

__all__ = ["delegate_policy"]


def delegate_policy(child: Policy, parent: Policy) -> Policy:
    """Return the policy of a worker that works for another one: nothing that `parent` refuses or asks about is allowed.

    Approvals hold only where both have them; somebody can be asked, and a sandbox stands behind it, only if that is so
    for both. The digest is of both, so that what was approved for either alone is not approved for the worker.
    """
    return replace(
        child,
        parent=parent,
        digest=fingerprint([child.digest, parent.digest]),
        tools=tuple(tool for tool in child.tools if tool in parent.tools),
        mask_env=tuple(sorted({*child.mask_env, *parent.mask_env})),
        interactive=child.interactive and parent.interactive,
        confined=child.confined and parent.confined,
        approved=child.approved & parent.approved,
    )
