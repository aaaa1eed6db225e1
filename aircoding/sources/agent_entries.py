"""Which entries of a store agents wrote: digests in a file beside it, so that the store itself stays plain text.

An agent's entry has `agent` trust: it is screened strictly and overrides nothing. An entry that a person edits has
another digest, and is the person's from then on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aircoding.errors import ConfigError
from aircoding.records.digests import sha256_text
from aircoding.sources.json_files import read_json_file

__all__ = ["AgentEntries", "read_agent_entries", "write_agent_entries"]

_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntries:
    """What is known of a store's writers. With a `problem` nothing is known, and each entry may be an agent's."""

    name: str
    digests: frozenset[str] = frozenset()
    problem: str | None = None

    def wrote(self, text: str) -> bool:
        """Whether an agent wrote the entry, or may have."""
        return self.problem is not None or sha256_text(text) in self.digests

    def require_readable(self) -> None:
        """Refuse to change a store of which nobody can tell who wrote what.

        Raises:
            ConfigError: the file is damaged.
        """
        if self.problem is not None:
            raise ConfigError(
                f"{self.name}: which entries agents wrote cannot be read: {self.problem}",
                hint="restore the file, or delete it: what stands in the store then counts as written by a person",
                code="memory.unreadable",
            )


def read_agent_entries(base: Path, store: str, *, inside: bool) -> AgentEntries:
    """Read what is known of the writers of the store `store` below `base`. Never raises."""
    name = _name(store)
    read = read_json_file(base, name, inside=inside)
    if read.vanished:
        return AgentEntries(name=name)
    if read.problem is not None:
        return AgentEntries(name=name, problem=read.problem)
    data = read.value
    digests = data.get("digests") if isinstance(data, dict) and data.get("version") == _VERSION else None
    if not isinstance(digests, list) or not all(isinstance(one, str) for one in digests):
        return AgentEntries(name=name, problem="it has another form than this program writes")
    return AgentEntries(name=name, digests=frozenset(digests))


def write_agent_entries(
    store: str, digests: frozenset[str], *, before: AgentEntries, write: Callable[[str, str], None]
) -> None:
    """Write down which entries agents wrote, by `write` (name and text); without any the file is not made.

    Raises:
        OSError: it cannot be written.
    """
    if digests != before.digests:
        write(_name(store), json.dumps({"version": _VERSION, "digests": sorted(digests)}, indent=1) + "\n")


def _name(store: str) -> str:
    return f"{store.removesuffix('.md')}.agents.json"
