"""A native rule file: its header, its sections, its rules (DESIGN section 5).

A header that cannot be read as it was meant neither drops the file's rules nor lets them apply more widely: each rule
carries the `fault` and must be quarantined.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.front_matter import FrontMatter, parse_front_matter
from aircoding.rules.globs import Dialect, glob_faults, split_globs
from aircoding.rules.sections import Section, split_sections

__all__ = ["RULE_KINDS", "Rule", "RuleFile", "parse_rule_file"]

RULE_KINDS = ("project", "toolchain")
_KEYS = ("kind", "paths", "tags", "required", "id", "description")
_SCOPES_OF_OTHERS = frozenset({"globs", "applyTo", "alwaysApply", "trigger"})
"""Keys by which Cursor, Copilot and Windsurf narrow a rule; to pass over one would widen the rule."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a file: a section with what its header says of it.

    `identity` is the name under which a later level overrides it; `rule_id` the explicit id, which
    does so across file names. `paths` are root-anchored globs (none: unscoped). Lines count from 1
    in the file, both ends included. `fault` says why the rule must not be applied.
    """

    identity: str
    rule_id: str | None
    kind: str
    level: int
    uri: str
    title: str
    text: str
    start_line: int
    end_line: int
    paths: tuple[str, ...] = ()
    paths_line: int | None = None
    tags: tuple[str, ...] = ()
    tags_line: int | None = None
    required: bool = False
    fault: Diagnostic | None = None


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The rules of a file in order, and all remarks on it (faults among them)."""

    rules: tuple[Rule, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class _Header:
    kind: str
    rule_id: str | None = None
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    required: bool = False


def parse_rule_file(text: str, uri: str, level: int) -> RuleFile:
    """Read a native rule file. Never raises."""
    matter = parse_front_matter(text, uri)
    header, remarks = _read_header(matter, uri)
    diagnostics = [*matter.diagnostics, *remarks]
    fault = next((one for one in diagnostics if one.severity == "error"), None)
    sections = split_sections(matter.body)
    if matter.broken:
        sections = _whole(matter.body)
    if not sections:
        empty = Diagnostic(severity="info", code="rule_file.empty", message="the file holds no rule", uri=uri, line=1)
        return RuleFile((), (*diagnostics, empty))
    name = uri.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    rules = tuple(
        Rule(
            identity=f"{name}#{section.slug}",
            rule_id=None,
            kind=header.kind,
            level=level,
            uri=uri,
            title=section.title,
            text=section.text,
            start_line=section.start_line + matter.body_start_line - 1,
            end_line=section.end_line + matter.body_start_line - 1,
            paths=header.paths,
            paths_line=matter.lines.get("paths"),
            tags=header.tags,
            tags_line=matter.lines.get("tags"),
            required=header.required,
            fault=fault,
        )
        for section in sections
    )
    return RuleFile(_with_explicit_id(rules, header.rule_id), tuple(diagnostics))


def _whole(body: str) -> tuple[Section, ...]:
    """A file whose header is broken stands as one piece, so that it is quarantined as one."""
    if not body.strip():
        return ()
    return (
        Section(slug="_", title="", text=body.strip("\n"), start_line=1, end_line=body.rstrip("\n").count("\n") + 1),
    )


def _with_explicit_id(rules: tuple[Rule, ...], rule_id: str | None) -> tuple[Rule, ...]:
    """An id names the file's one rule; of several, each takes its section's slug behind it."""
    if rule_id is None:
        return rules
    if len(rules) == 1:
        return (replace(rules[0], identity=rule_id, rule_id=rule_id),)
    ids = (f"{rule_id}#{rule.identity.rsplit('#', 1)[1]}" for rule in rules)
    return tuple(replace(rule, identity=one, rule_id=one) for rule, one in zip(rules, ids, strict=True))


def _read_header(matter: FrontMatter, uri: str) -> tuple[_Header, list[Diagnostic]]:
    remarks: list[Diagnostic] = []

    def remark(severity: str, key: str, message: str, hint: str) -> None:
        remarks.append(
            Diagnostic(
                severity="error" if severity == "error" else "warning",
                code=f"rule_file.{key if key in _KEYS else 'unknown_key'}",
                message=message,
                uri=uri,
                line=matter.lines.get(key),
                hint=hint,
            )
        )

    for key in matter.data:
        if key not in _KEYS:
            remark(*_unknown_key(key))
    kind = matter.text("kind") if "kind" in matter.data else _kind_by_name(uri)
    if kind not in RULE_KINDS:
        remark("error", "kind", f"`kind` is {matter.data.get('kind')!r}", f"write {' or '.join(RULE_KINDS)}")
        kind = "project"
    rule_id = matter.text("id")
    if "id" in matter.data and (rule_id is None or not _ID.fullmatch(rule_id)):
        remark("error", "id", f"`id` is {matter.data.get('id')!r}", "use letters, digits, `.`, `_`, `/` and `-`")
        rule_id = None
    required = matter.flag("required")
    if "required" in matter.data and required is None:
        remark("error", "required", f"`required` is {matter.data.get('required')!r}", "write true or false")
    tags = matter.texts("tags") if "tags" in matter.data else ()
    if tags is None or ("tags" in matter.data and not any(tags)):
        remark("error", "tags", "`tags` is no list of words", "write `tags: [api, docs]`")
        tags = ()
    paths = _read_paths(matter, remark) if "paths" in matter.data else ()
    split_tags = tuple(part.strip() for tag in tags for part in tag.split(",") if part.strip())
    return _Header(kind, rule_id, paths, split_tags, required or False), remarks


def _unknown_key(key: str) -> tuple[str, str, str, str]:
    """A key that may be meant to narrow the rule is a fault; another one is only passed over, and said so."""
    if key in _SCOPES_OF_OTHERS:
        return "error", key, f"`{key}` is a key of another tool's rule files", "write `paths: [globs]` instead"
    near = get_close_matches(key, _KEYS, n=1, cutoff=0.75)
    if near and near[0] != "description":
        return "error", key, f"`{key}` is no key of a rule file", f"did you mean `{near[0]}`?"
    return "warning", key, f"`{key}` is no key of a rule file; it was passed over", f"known: {', '.join(_KEYS)}"


def _kind_by_name(uri: str) -> str:
    return "toolchain" if "toolchain" in uri.rsplit("/", 1)[-1] else "project"


def _read_paths(matter: FrontMatter, remark: Callable[[str, str, str, str], None]) -> tuple[str, ...]:
    """Return the globs that can be read; with none left the rule would match nothing, which is a fault."""
    given = matter.texts("paths")
    if given is None:
        remark("error", "paths", "`paths` is no list of globs", 'put each glob in quotes: `paths: ["src/**"]`')
        return ()
    globs = tuple(glob for text in given for glob in split_globs(text))
    faults = glob_faults(globs, Dialect.ROOT_ANCHORED)
    good = tuple(glob for glob, fault in zip(globs, faults, strict=True) if fault is None)
    for glob, fault in zip(globs, faults, strict=True):
        if fault is not None:
            severity = "warning" if good else "error"
            remark(severity, "paths", f"`{glob}` matches nothing: {fault}", "correct the glob; the others are in force")
    if not globs:
        remark("error", "paths", "`paths` is empty", "name a glob, or remove the key if the rule holds everywhere")
    return good
