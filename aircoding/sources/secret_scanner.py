"""Kingfisher (`kingfisher-secret-scanner`, Apache-2.0) as a second finder of secrets, where it is installed.

It only scans text in this process: nothing is validated, revoked or sent. Its rules take about a second to load, and
some ten the first time on a machine, when it compiles them into its own cache (`KF_RULE_CACHE_DIR`). So they are
loaded with the first text that could hold a token.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from aircoding.errors import ConfigError
from aircoding.records.secret_spans import SecretSpan
from aircoding.screening.offsets import char_offsets

if TYPE_CHECKING:
    from kingfisher_sdk import Finding, Scanner

__all__ = ["KingfisherScanner", "could_hold_token", "installed_scanner", "scanner_fault", "scanner_version"]

_PACKAGE = "kingfisher-secret-scanner"
_KIND_CHARS = 32
_RUN = re.compile(r"[A-Za-z0-9_+/=.~-]{16,}")
_HEX = re.compile(r"[0-9A-Fa-f.-]+")
_NAMED = re.compile(r"(?i)key|token|secret|passw|auth|cred")


def scanner_version() -> str | None:
    """Return the version of the scanner that is installed, or None; nothing of it is imported."""
    try:
        return version(_PACKAGE) if find_spec("kingfisher_sdk") is not None else None
    except PackageNotFoundError:
        return None


def scanner_fault() -> str | None:
    """Return why the scanner that is installed cannot be used here; None: it can, or there is none. It is imported."""
    if scanner_version() is None:
        return None
    try:
        import kingfisher_sdk  # noqa: F401 - whether it can be imported is the question
    except (ImportError, OSError) as error:
        return str(error)
    return None


def installed_scanner() -> KingfisherScanner | None:
    """Return the scanner of this process, or None where it is not installed."""
    return _SCANNER if scanner_version() is not None else None


def could_hold_token(text: str) -> bool:
    """Whether a text has a run that could be a token: 16 characters or more, with digits in it or in capitals.

    A plain digest is none, unless the text also speaks of keys: commits and checksums stand everywhere.
    """
    named: bool | None = None
    for run in _RUN.finditer(text):
        value = run[0]
        if not any(map(str.isalpha, value)) or (sum(map(str.isdigit, value)) < 2 and not value.isupper()):
            continue
        if not _HEX.fullmatch(value):
            return True
        if named is None:
            named = _NAMED.search(text) is not None
        if named:
            return True
    return False


class KingfisherScanner:
    """Finds what Kingfisher's rules describe; implements `ports.SecretScanner`. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scanner: Scanner | None = None

    @property
    def loaded(self) -> bool:
        """Whether its rules have been loaded."""
        return self._scanner is not None

    def find(self, text: str) -> list[SecretSpan]:
        """Return the secrets of a text; the same text always gives the same.

        Raises:
            ConfigError: it is installed and cannot be loaded.
        """
        if not could_hold_token(text):
            return []
        data = text.encode("utf-8", "replace")  # a lone surrogate becomes one `?`: as many characters
        found = [place for one in self._ready().scan(data) if one.visible for place in _places(one, data)]
        char = char_offsets(text, data, (offset for start, end, _ in found for offset in (start, end)))
        return [SecretSpan(char[start], char[end], kind) for start, end, kind in found]

    def _ready(self) -> Scanner:
        with self._lock:
            if self._scanner is None:
                self._scanner = _load()
            return self._scanner


def _load() -> Scanner:
    try:
        from kingfisher_sdk import Rules, Scanner

        return Scanner(Rules(), base64=False)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        hint = f"install it again, or remove it: pip uninstall {_PACKAGE}"
        raise ConfigError(f"{_PACKAGE} is installed and cannot be loaded: {error}", hint=hint) from error


def _places(found: Finding, data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the bytes of a finding. Where they are not those of the secret, it is looked for within, then everywhere.

    Kingfisher counts in what it decoded, which need not be what it was given.
    """
    start, end = found.location["start_offset"], found.location["end_offset"]
    secret, kind = found.secret.encode(), _kind(found.rule_id)
    if not secret or data[start:end] == secret:
        yield start, end, kind
        return
    within = data.find(secret, start, end)
    if within >= 0:
        yield within, within + len(secret), kind
        return
    at = data.find(secret)
    while at >= 0:
        yield at, at + len(secret), kind
        at = data.find(secret, at + len(secret))


def _kind(rule_id: str) -> str:
    """Return `github_pat` for `betterleaks.github-pat`."""
    return re.sub(r"[^a-z0-9]+", "_", rule_id.rpartition(".")[2].lower())[:_KIND_CHARS] or "secret"


_SCANNER = KingfisherScanner()
