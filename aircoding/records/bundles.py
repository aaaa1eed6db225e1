"""A bundle: one recorded run as files of JSON Lines, to be read elsewhere; its field names are a contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aircoding.records.ids import Digest

__all__ = ["BUNDLE_FILES", "BUNDLE_FORMAT", "REPORT_NAME", "BundleFile", "BundleManifest", "Redaction"]

BUNDLE_FORMAT = 1
"""The version of what is written; a reader refuses one that it does not know."""

BUNDLE_FILES = (
    "texts.jsonl",
    "parts.jsonl",
    "run.jsonl",
    "events.jsonl",
    "sessions.jsonl",
    "messages.jsonl",
    "steering.jsonl",
    "assemblies.jsonl",
    "snapshots.jsonl",
    "calls.jsonl",
    "tools.jsonl",
    "hooks.jsonl",
    "rulings.jsonl",
)
"""What a bundle holds beside `manifest.json`, in the order in which it is read."""

REPORT_NAME = "report.html"
"""A page of the run for people; a reader leaves it alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFile:
    """One file of a bundle: its lines, its size, the sha256 of its bytes."""

    name: str
    lines: int
    size_bytes: int
    sha256: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """What was masked on the way out: markers by kind of secret, and how many assemblies are marked `redacted` for it.

    `machine_names` counts values outside of prompts in which a path, the user or the host was masked. `paths` says
    whether prompts were masked so as well; where not, `texts_with_paths` counts the texts that
    name a home folder.
    """

    secrets: Mapping[str, int] = field(default_factory=dict)
    assemblies: int = 0
    machine_names: int = 0
    paths: bool = False
    texts_with_paths: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleManifest:
    """What a bundle says of itself. `texts` is `full`, or `none` where it holds the account without the texts."""

    format: int
    aircoding: str
    run_id: str
    made_at: str
    texts: str
    redaction: Redaction
    files: tuple[BundleFile, ...]
