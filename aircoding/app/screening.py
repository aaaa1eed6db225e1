"""Screen files for a person or for CI: no project, no key and no model is needed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.app.project import find_root
from aircoding.errors import NotFoundError
from aircoding.homes import air_home
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
from aircoding.records.layers import Trust
from aircoding.records.segments import Finding
from aircoding.screening.allowances import Allowance, lift
from aircoding.screening.screener import TextScreener
from aircoding.sources.allowances import allowed_in, change_allowances
from aircoding.sources.files import list_folder, read_text_file

__all__ = ["Allowed", "ScreenReport", "ScreenedFile", "allow", "allowed", "screen_paths", "screen_text"]

_PASSED_OVER = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
_MOST_BYTES = 64_000_000
_STANDARD_INPUT = "standard input"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenedFile:
    """One file as it was read: its name, the digest of its bytes, what was found; `problem` why it was not read."""

    path: str
    digest: Digest | None = None
    findings: tuple[Finding, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenReport:
    """All files that were looked at, in order of their names; those without a text only where they were named."""

    files: tuple[ScreenedFile, ...]
    passed_over: int = 0

    @property
    def blocks(self) -> bool:
        """Whether anything was found that would be kept from a model, or a named file was not read."""
        return any(one.problem is not None or any(hit.blocks for hit in one.findings) for one in self.files)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings as remarks on places: what blocks is an error, all else a warning."""
        return tuple(remark for file in self.files for remark in _remarks(file))


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """One thing that the user allowed; `path` is real, `digest` that of the file's bytes then."""

    path: str
    digest: str
    rule: str


def screen_paths(start: Path, paths: Iterable[Path], *, trust: Trust = Trust.EXTERNAL) -> ScreenReport:
    """Screen files, and all files below folders.

    Args:
        start: what names in the report are relative to, where they lie below it.
        paths: files and folders; links in folders, their `.git` and installed packages are passed over.
        trust: whose words the files are.

    Raises:
        NotFoundError: a path is not there.
        ConfigError: what the user allowed cannot be read.
    """
    screener, entries = TextScreener(key=b""), allowed_in(air_home())
    files: list[ScreenedFile] = []
    passed_over = 0
    for path in paths:
        for found in _files_at(path):
            file = _screened(screener, found, _name(start, found), trust, entries)
            if file.problem is not None and found != path:
                passed_over += 1
            else:
                files.append(file)
    ordered = {file.path: file for file in sorted(files, key=lambda one: one.path)}
    return ScreenReport(files=tuple(ordered.values()), passed_over=passed_over)


def screen_text(text: str, *, trust: Trust = Trust.EXTERNAL) -> ScreenReport:
    """Screen one text that has no file."""
    findings = TextScreener(key=b"").findings(text, uri=_STANDARD_INPUT, trust=trust)
    file = ScreenedFile(path=_STANDARD_INPUT, digest=sha256_text(text), findings=findings)
    return ScreenReport(files=(file,))


def allow(report: ScreenReport, start: Path, rules: Sequence[str], *, withdraw: bool = False) -> tuple[Allowed, ...]:
    """Remember that rules no longer block in files as they are now, or forget it; return what changed.

    Raises:
        NotFoundError: a rule was found in none of the files.
        ConfigError: what was allowed before cannot be read.
        WorkspaceError: it cannot be written.
    """
    found = {hit.code for file in report.files for hit in file.findings}
    if unknown := [rule for rule in rules if rule not in found]:
        known = ", ".join(sorted(found)) or "nothing"
        raise NotFoundError(f"`{unknown[0]}` was not found in these files", hint=f"found was: {known}")
    entries = {
        (os.path.realpath(start / file.path), str(file.digest), hit.code)
        for file in report.files
        for hit in file.findings
        if hit.code in rules
    }
    home = air_home()
    before = allowed_in(home)
    if withdraw:  # of every version of the file
        places = {(path, rule) for path, _, rule in entries}
        entries = {one for one in before if (one[0], one[2]) in places}
    change_allowances(home, lambda known: known - entries if withdraw else known | entries)
    changed = entries if withdraw else entries - before
    return tuple(Allowed(path=path, digest=digest, rule=rule) for path, digest, rule in sorted(changed))


def allowed() -> tuple[Allowed, ...]:
    """Return all that the user allowed.

    Raises:
        ConfigError: it cannot be read.
    """
    return tuple(Allowed(path=path, digest=digest, rule=rule) for path, digest, rule in sorted(allowed_in(air_home())))


def _files_at(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif not path.is_dir():
        raise NotFoundError(f"{path} is not there", hint="name files or folders, or - for standard input")
    else:
        yield from _files_below(path)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a tree, each once; links are not followed, so there is an end."""
    for name in list_folder(folder)[0]:
        path = folder / name
        if path.is_symlink() or name in _PASSED_OVER or (name == "local" and folder.name == ".air"):
            continue
        if path.is_dir():
            yield from _files_below(path)
        elif path.is_file():
            yield path


def _screened(
    screener: TextScreener, path: Path, name: str, trust: Trust, entries: frozenset[tuple[str, str, str]]
) -> ScreenedFile:
    read = read_text_file(path.parent, path.name, inside=False, max_bytes=_MOST_BYTES)
    if read.problem is not None:
        return ScreenedFile(path=name, problem=read.problem)
    uri = _uri(path)
    findings = screener.findings(read.text, uri=uri, trust=trust)
    real = os.path.realpath(path)
    mine = {Allowance(uri, Digest(digest), rule) for known, digest, rule in entries if known == real}
    return ScreenedFile(path=name, digest=read.digest, findings=lift(findings, mine, uri=uri, digest=read.digest))


def _uri(path: Path) -> str:
    """Return the name that a project's source has, so that memories and skills are judged as such."""
    root = find_root(path.parent)
    whole = path.absolute()
    return f"project:{whole.relative_to(root).as_posix()}" if root is not None else f"file:{whole.as_posix()}"


def _name(start: Path, path: Path) -> str:
    whole = path.absolute()
    return (whole.relative_to(start) if whole.is_relative_to(start) else whole).as_posix()


def _remarks(file: ScreenedFile) -> Iterator[Diagnostic]:
    uri = f"project:{file.path}" if not Path(file.path).is_absolute() else file.path
    if file.problem is not None:
        yield Diagnostic(severity="error", code="screen.unread", message=f"not read: {file.problem}", uri=uri)
    for hit in file.findings:
        remark = Diagnostic(severity="error", code=hit.code, message=hit.detail, uri=uri, line=hit.start_line)
        yield remark if hit.blocks else replace(remark, severity="warning")
