"""When a rule file of another tool applies, read from its header as that tool reads it.

One internal form for all of them (compatibility table, "Cursor .mdc / Copilot applyTo / Windsurf trigger"): a mode, and
globs that are anchored at the folder that the file speaks for. What the tool passes over in silence is a diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.front_matter import FrontMatter, parse_front_matter
from aircoding.rules.globs import Dialect, glob_faults, split_globs

__all__ = ["ForeignHeader", "HeaderStyle", "RuleMode", "read_foreign_header"]

_REMEMBERED_CHARS = 65_536
"""A project's rules are asked about for thousands of paths; the headers of longer texts are read each time."""


class HeaderStyle(StrEnum):
    """Whose header it is. `plain` files have none: a `---` at their start is text."""

    PLAIN = "plain"
    CLAUDE = "claude"
    CURSOR = "cursor"
    COPILOT = "copilot"
    WINDSURF = "windsurf"


class RuleMode(StrEnum):
    """When a rule applies: always, when a path matches, when the agent asks for it by description or by name."""

    ALWAYS = "always"
    GLOB = "glob"
    DESCRIBED = "described"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignHeader:
    """What a header says. `patterns` are the globs that can be read, in the ROOT_ANCHORED dialect.

    `broken`: there is a header and nobody can tell what it means, so that the text must not be applied on its own.
    `excluded_agents` are Copilot's `excludeAgent`. `why_mode` says in words why the mode is what it is.
    """

    mode: RuleMode
    why_mode: str
    body: str
    body_start_line: int
    patterns: tuple[str, ...] = ()
    patterns_line: int | None = None
    description: str = ""
    excluded_agents: tuple[str, ...] = ()
    broken: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


def read_foreign_header(text: str, style: HeaderStyle, uri: str = "") -> ForeignHeader:
    """Read the header of a text as the tool of `style` does. Never raises."""
    return _remembered(text, style, uri) if len(text) <= _REMEMBERED_CHARS else _read(text, style, uri)


def _read(text: str, style: HeaderStyle, uri: str) -> ForeignHeader:
    if style is HeaderStyle.PLAIN:
        return ForeignHeader(mode=RuleMode.ALWAYS, why_mode="it has no header", body=text, body_start_line=1)
    matter = parse_front_matter(text, uri)
    header = ForeignHeader(
        mode=RuleMode.MANUAL,
        why_mode="its header cannot be read",
        body=matter.body,
        body_start_line=matter.body_start_line,
        description=(matter.text("description") or "").strip(),
        broken=matter.broken,
        diagnostics=tuple(_as_remark(one, style) for one in matter.diagnostics),
    )
    return header if matter.broken else _without_effect(_READERS[style](matter, header, uri), matter, style, uri)


_remembered = lru_cache(maxsize=1024)(_read)


def _as_remark(found: Diagnostic, style: HeaderStyle) -> Diagnostic:
    """Unquoted globs are how Cursor and Windsurf themselves write a header: worth a remark, no fault (E06)."""
    is_usual = style in {HeaderStyle.CURSOR, HeaderStyle.WINDSURF} and found.code == "front_matter.lenient"
    return replace(found, severity="info") if is_usual else found


def _without_effect(header: ForeignHeader, matter: FrontMatter, style: HeaderStyle, uri: str) -> ForeignHeader:
    """Name each key that is meant to say when the rule applies and that its tool passes over."""
    own = _SCOPE_KEYS[style]
    for key in matter.data:
        near = get_close_matches(key, own, n=1, cutoff=0.75)
        if key in own or (key not in _ALL_SCOPE_KEYS and not near):
            continue
        meant = near[0] if near else own[0]
        message = f"`{key}` is no key of {_OWNERS[style]}, which passes over it: {header.why_mode}"
        header = _with(header, uri, matter, key, message, f"write `{meant}`")
        header = replace(header, why_mode=f"{header.why_mode} (its `{key}` says nothing to {_OWNERS[style]})")
    return header


_OWNERS = {
    HeaderStyle.CLAUDE: "Claude Code",
    HeaderStyle.CURSOR: "Cursor",
    HeaderStyle.COPILOT: "Copilot",
    HeaderStyle.WINDSURF: "Windsurf",
}
_SCOPE_KEYS = {
    HeaderStyle.CLAUDE: ("paths",),
    HeaderStyle.CURSOR: ("globs", "alwaysApply"),
    HeaderStyle.COPILOT: ("applyTo", "excludeAgent"),
    HeaderStyle.WINDSURF: ("trigger", "globs"),
}
"""The keys by which each tool tells when a rule applies; the first is what another tool's key most likely means."""
_ALL_SCOPE_KEYS = frozenset(key for keys in _SCOPE_KEYS.values() for key in keys)


def _claude(matter: FrontMatter, header: ForeignHeader, uri: str) -> ForeignHeader:
    """`paths`: a list or a comma string; without it the rule loads at launch (E06 to E13)."""
    if "paths" not in matter.data:
        return replace(header, mode=RuleMode.ALWAYS, why_mode="it has no `paths`")
    given = matter.texts("paths")
    if given is None:
        return _with(
            header, uri, matter, "paths", "`paths` is no list of globs", 'write `paths: ["src/**"]`', broken=True
        )
    globs = tuple(glob for text in given for glob in split_globs(text))
    if not globs:
        return replace(header, mode=RuleMode.ALWAYS, why_mode="its `paths` is empty")
    return _scoped(header, uri, matter, "paths", globs)


def _cursor(matter: FrontMatter, header: ForeignHeader, uri: str) -> ForeignHeader:
    """`alwaysApply` (a true boolean), else `globs`, else `description`, else by name only."""
    always = matter.data.get("alwaysApply")
    if always is True or (always == "true" and _lenient(matter)):
        return replace(header, mode=RuleMode.ALWAYS, why_mode="`alwaysApply` is true")
    if "alwaysApply" in matter.data and always not in (False, None) and not _lenient(matter):
        message = f"`alwaysApply` is {always!r}, which does not count as true"
        header = _with(header, uri, matter, "alwaysApply", message, "write `alwaysApply: true` without quotes")
    given = matter.texts("globs") if matter.data.get("globs") is not None else ()
    if given is None:
        return _with(header, uri, matter, "globs", "`globs` is no list of globs", "write `globs: src/**`", broken=True)
    globs = tuple(_any_depth(glob) for text in given for glob in split_globs(text))
    if globs:
        return _scoped(header, uri, matter, "globs", globs)
    if header.description:
        return replace(header, mode=RuleMode.DESCRIBED, why_mode="it has a `description` only: the agent decides")
    what = "its header has no" if matter.present else "it has no header, so no"
    why = f"{what} `alwaysApply: true`, `globs` or `description`: it applies when somebody names it"
    return replace(header, mode=RuleMode.MANUAL, why_mode=why)


def _copilot(matter: FrontMatter, header: ForeignHeader, uri: str) -> ForeignHeader:
    """`applyTo`: one string, comma separated; anything else is never applied on its own (E07, E08)."""
    agents = matter.texts("excludeAgent") or ()
    header = replace(header, excluded_agents=tuple(one.strip() for text in agents for one in text.split(",") if one))
    if "applyTo" not in matter.data:
        return replace(header, mode=RuleMode.MANUAL, why_mode="it has no `applyTo`: it is never applied on its own")
    given = matter.text("applyTo")
    if given is None:
        header = _with(
            header,
            uri,
            matter,
            "applyTo",
            "`applyTo` is no single text, so it is never applied",
            "write one comma list",
        )
        return replace(header, mode=RuleMode.MANUAL, why_mode="its `applyTo` is a list, which Copilot passes over")
    globs = split_globs(given)
    return _scoped(header, uri, matter, "applyTo", globs) if globs else replace(header, why_mode="`applyTo` is empty")


def _windsurf(matter: FrontMatter, header: ForeignHeader, uri: str) -> ForeignHeader:
    """`trigger`: always_on, glob, model_decision, manual; without one it lands as manual and does nothing."""
    trigger = (matter.text("trigger") or "").strip()
    if trigger == "always_on":
        return replace(header, mode=RuleMode.ALWAYS, why_mode="`trigger` is always_on")
    if trigger == "model_decision":
        return replace(header, mode=RuleMode.DESCRIBED, why_mode="`trigger` is model_decision: the agent decides")
    if trigger == "glob":
        given = matter.texts("globs") or ()
        globs = tuple(_any_depth(glob) for text in given for glob in split_globs(text))
        if globs:
            return _scoped(header, uri, matter, "globs", globs)
        header = _with(header, uri, matter, "trigger", "`trigger` is glob, and there are no `globs`", "add `globs`")
        return replace(header, why_mode="`trigger` is glob without `globs`")
    why = "`trigger` is manual" if trigger == "manual" else "it has no `trigger` that is known: it applies when named"
    return replace(header, mode=RuleMode.MANUAL, why_mode=why)


_READERS: Mapping[HeaderStyle, Callable[[FrontMatter, ForeignHeader, str], ForeignHeader]] = {
    HeaderStyle.CLAUDE: _claude,
    HeaderStyle.CURSOR: _cursor,
    HeaderStyle.COPILOT: _copilot,
    HeaderStyle.WINDSURF: _windsurf,
}


def _lenient(matter: FrontMatter) -> bool:
    """Whether the header was read as plain lines, so that `true` came as a word."""
    return any(one.code == "front_matter.lenient" for one in matter.diagnostics)


def _any_depth(glob: str) -> str:
    """A Cursor or Windsurf glob without a slash is meant for files of any folder."""
    return glob if "/" in glob.rstrip("/") or glob in ("*", "**") else f"**/{glob}"


def _scoped(header: ForeignHeader, uri: str, matter: FrontMatter, key: str, globs: tuple[str, ...]) -> ForeignHeader:
    """Keep the globs that can be read; each other one is named. With none left the rule matches nothing."""
    faults = glob_faults(globs, Dialect.ROOT_ANCHORED)
    good = tuple(glob for glob, fault in zip(globs, faults, strict=True) if fault is None)
    for glob, fault in zip(globs, faults, strict=True):
        if fault is not None:
            header = _with(header, uri, matter, key, f"`{glob}` matches nothing: {fault}", "correct the glob")
    return replace(
        header,
        mode=RuleMode.GLOB,
        why_mode=f"`{key}` is {', '.join(globs)}",
        patterns=good,
        patterns_line=matter.lines.get(key),
    )


def _with(
    header: ForeignHeader,
    uri: str,
    matter: FrontMatter,
    key: str,
    message: str,
    hint: str,
    *,
    broken: bool = False,
) -> ForeignHeader:
    remark = Diagnostic(
        severity="error" if broken else "warning",
        code=f"rule_header.{key}",
        message=message,
        uri=uri,
        line=matter.lines.get(key),
        hint=hint,
    )
    return replace(header, diagnostics=(*header.diagnostics, remark), broken=header.broken or broken)
