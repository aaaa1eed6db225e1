"""Plugins: what an entry point of the group `aircoding.plugins` registers; acts are here for their authors."""

from __future__ import annotations

from aircoding.records.policy import Act, CommandAct, HostAct, PathAct

__all__ = ["Act", "CommandAct", "HostAct", "PathAct"]
