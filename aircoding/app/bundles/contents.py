"""The contents of a bundle, checked: every file against its digest, every text and part against its own."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from aircoding.audit.sharing import UnknownReferenceError, expand
from aircoding.errors import InternalError, StoreError
from aircoding.records.bundles import BUNDLE_FILES, BUNDLE_FORMAT, BundleFile, BundleManifest
from aircoding.records.digests import canonical_json, fingerprint, sha256_bytes, sha256_text
from aircoding.records.ids import Digest
from aircoding.sources.bundle_files import MANIFEST_NAME, BundleError

__all__ = ["Contents", "read_contents"]

Value = TypeVar("Value")

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
"""What may be the name of a run: it names a lock file as well."""
_MOST_LINE_BYTES = 256_000_000
_MOST_CHARS = 512_000_000
"""How much text one line may name, and how many values it may hold."""
_FAULTS = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError, InternalError)
_STORE_FAULTS = frozenset(
    {"store.damaged", "store.order", "store.text", "store.call_committed", "store.tool_committed"}
)
"""What the store says of a line; all else it says of itself."""


class Contents:
    """A bundle's lines. `digest` is over the digests of its files: equal contents have equal ones."""

    def __init__(self, path: Path, files: Mapping[str, Path], manifest: BundleManifest, digest: Digest) -> None:
        self.path, self.manifest, self.digest = path, manifest, digest
        self._files = files
        self._texts: dict[str, bytes] = {}
        self._parts: dict[str, bytes] = {}
        self.named: list[str] = []

    def take(self, name: str, read: Callable[[Mapping[str, Any]], Value]) -> Iterator[Value]:
        """Yield what `read` makes of each line of a file, references resolved.

        Raises:
            BundleError: a line is not what it should be; file and line are named.
        """
        for number, raw in enumerate(self._raw_lines(name), start=1):
            yield self.at(name, number, self._read, read, raw)

    def _read(self, read: Callable[[Mapping[str, Any]], Value], raw: bytes) -> Value:
        return read(self.whole(_object(raw)))

    def load(self) -> None:
        """Read texts and parts, and check each against its digest.

        Raises:
            BundleError: one is not what its digest says.
        """
        for number, raw in enumerate(self._raw_lines("texts.jsonl"), start=1):
            self.at("texts.jsonl", number, self._load_text, raw)
        for number, raw in enumerate(self._raw_lines("parts.jsonl"), start=1):
            self.at("parts.jsonl", number, self._load_part, raw)

    def text(self, digest: str) -> str:
        """Return a text; raises KeyError."""
        return zlib.decompress(self._texts[digest]).decode("utf-8")

    def whole(self, value: Any) -> Any:
        """Return a value with its texts and parts in place."""
        return expand(
            value, text=self.text, part=lambda digest: json.loads(self._parts[digest]), most_chars=_MOST_CHARS
        )

    def _load_text(self, raw: bytes) -> None:
        value = _object(raw)
        if "named" in value:
            self.text(value["named"])
            self.named.append(value["named"])
            return
        if sha256_text(value["text"]) != value["digest"]:
            raise ValueError("the text does not have this digest")
        self._texts[value["digest"]] = zlib.compress(value["text"].encode("utf-8"), 1)

    def _load_part(self, raw: bytes) -> None:
        value = _object(raw)
        encoded = canonical_json(value["value"])
        if sha256_bytes(encoded) != value["part"]:
            raise ValueError("the value does not have this digest")
        self._parts[value["part"]] = encoded

    def _raw_lines(self, name: str) -> Iterator[bytes]:
        with self._files[name].open("rb") as file:
            while raw := file.readline(_MOST_LINE_BYTES):
                yield raw

    def at(self, name: str, number: int, body: Callable[..., Value], *given: Any) -> Value:
        """Return what `body` makes of a line and of what is given.

        Raises:
            BundleError: the line is not what it should be.
        """
        try:
            return body(*given)
        except BundleError:
            raise
        except StoreError as error:
            if error.code not in _STORE_FAULTS:
                raise
            self.refuse(name, number, error.message)
        except _FAULTS as error:
            self.refuse(name, number, _words(error))

    def refuse(self, name: str, number: int, why: str) -> NoReturn:
        """Say what is wrong with a line.

        Raises:
            BundleError: always.
        """
        raise BundleError(
            f"{self.path}: {name}, line {number}: {why[:300]}", hint="ask for the bundle again; nothing was taken in"
        )


def _words(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{str(error)[:80]} is missing"
    if isinstance(error, RecursionError):
        return "its values are nested too deeply"
    if isinstance(error, UnicodeError):
        return "it is no valid Unicode"
    if isinstance(error, (json.JSONDecodeError, UnknownReferenceError)) or type(error) is ValueError:
        return str(error)
    return f"it is not as a bundle has it ({error})"


def _object(raw: bytes) -> Mapping[str, Any]:
    if not raw.endswith(b"\n"):
        raise ValueError("the line is cut off")
    value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_once)
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    canonical_json(value)  # refuses lone surrogates, which no text of ours holds
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: two readers could take it for two things."""
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)[:80]!r} stands twice in one object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def read_contents(path: Path, files: Mapping[str, Path]) -> Contents:
    """Return the contents of a bundle whose files are as its manifest says.

    Raises:
        BundleError: it has no manifest, one of another version, or a file that is not as the manifest says.
    """
    if MANIFEST_NAME not in files:
        raise BundleError(f"{path}: it has no {MANIFEST_NAME}", hint="name a bundle that `aircoding export` wrote")
    raw = files[MANIFEST_NAME].read_bytes()[:1_000_001]
    manifest = _manifest(path, raw)
    if not _RUN_ID.fullmatch(manifest.run_id):
        raise BundleError(f"{path}: {manifest.run_id[:80]!r} is no name of a run", hint="it is no bundle of ours")
    told = {file.name: file for file in manifest.files}
    missing = sorted(set(BUNDLE_FILES) - (told.keys() & files.keys()))
    if missing:
        raise BundleError(f"{path}: it lacks {missing[0]}", hint="ask for the bundle again: it may be incomplete")
    for name in BUNDLE_FILES:
        _check(path, files[name], told[name])
    digest = fingerprint(sorted((file.name, file.sha256) for file in manifest.files))
    contents = Contents(path, files, manifest, digest)
    contents.load()
    return contents


def _manifest(path: Path, raw: bytes) -> BundleManifest:
    from aircoding.store.decode import decode

    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=_once)
        version = value["format"]
        if version != BUNDLE_FORMAT:
            raise BundleError(
                f"{path}: it has format {str(version)[:20]}; this program knows {BUNDLE_FORMAT}",
                hint="upgrade aircoding, or export it with an older one",
                code="bundle.version",
            )
        return decode(BundleManifest, value, what=MANIFEST_NAME)
    except (*_FAULTS, StoreError) as error:
        why = error.message if isinstance(error, StoreError) else _words(error)
        raise BundleError(
            f"{path}: {MANIFEST_NAME}: {why[:300]}", hint="name a bundle that `aircoding export` wrote"
        ) from error


def _check(path: Path, file: Path, told: BundleFile) -> None:
    """Compare a file with what the manifest says of it."""
    digest, size, lines = hashlib.sha256(), 0, 0
    with file.open("rb") as content:
        while piece := content.read(1 << 20):
            digest.update(piece)
            size, lines = size + len(piece), lines + piece.count(b"\n")
    if (digest.hexdigest(), size, lines) != (told.sha256, told.size_bytes, told.lines):
        raise BundleError(
            f"{path}: {told.name} is not as {MANIFEST_NAME} says: {lines} lines and {size} bytes instead of"
            f" {told.lines} and {told.size_bytes}" + ("" if size != told.size_bytes else ", with another digest"),
            hint="it was changed or cut off; ask for the bundle again",
        )
