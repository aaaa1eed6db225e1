"""Role files: front matter is the profile, `## Discipline` joins L0, the rest is L1 (DESIGN section 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from aircoding.errors import ConfigError
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.profiles import LayerSelection, Profile
from aircoding.rules.front_matter import FrontMatter, parse_front_matter
from aircoding.rules.role_rights import narrow_role
from aircoding.rules.sections import split_sections
from aircoding.sources.files import list_folder, read_text_file
from aircoding.sources.resources import list_resources, read_resource

__all__ = ["DETAILS", "TOOL_CATEGORIES", "RoleFiles", "load_profiles", "parse_role", "read_roles"]

DETAILS = ("full", "relevant", "summary", "every")
TOOL_CATEGORIES = ("read", "edit", "execute", "network", "memory", "delegate")
_WRITES = ("none", "area", "plan")
_RULE_KINDS = ("project", "toolchain")
_SELECTABLE = (Layer.L3, Layer.L4, Layer.L5, Layer.L6, Layer.L7, Layer.L8)
_KEYS = ("role", "title", "layers", "writes", "user_facing", "tools", "result", "shares")
_REQUIRED = ("role", "title", "layers", "writes")
_ROLE_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_ROLES_FOLDER = ".air/shared/roles"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleFiles:
    """All roles by id, and remarks on rights that a role of an untrusted project asks for and does not get."""

    profiles: Mapping[str, Profile]
    diagnostics: tuple[Diagnostic, ...]


def load_profiles(project_root: Path | None = None, *, trusted: bool = False) -> Mapping[str, Profile]:
    """Return all roles by id; arguments and errors as `read_roles`."""
    return read_roles(project_root, trusted=trusted).profiles


def read_roles(project_root: Path | None, *, trusted: bool) -> RoleFiles:
    """Read all roles: the packaged ones, then those of the project's `.air/shared/roles/*.md`.

    Args:
        project_root: the project; None: only the packaged roles.
        trusted: whether the user trusts the project; before, its roles grant themselves nothing.

    Raises:
        ConfigError: a role file is wrong, or a project role takes the id of a packaged one.
    """
    profiles = {
        profile.role: profile
        for path in list_resources("prompts/roles", ".md")
        for profile in (parse_role(read_resource(path), f"resource:{path}"),)
    }
    diagnostics: list[Diagnostic] = []
    for name in _project_role_files(project_root):
        profile = parse_role(_read_project_role(project_root, name), f"project:{name}")
        if profile.role in profiles:
            raise ConfigError(
                f"{name}: role: `{profile.role}` is taken by {profiles[profile.role].uri}",
                hint="give the role an id of its own; packaged roles cannot be replaced",
            )
        if not trusted:
            profile, remarks = narrow_role(profile)
            diagnostics += remarks
        profiles[profile.role] = profile
    return RoleFiles(profiles=profiles, diagnostics=tuple(diagnostics))


def _project_role_files(project_root: Path | None) -> tuple[str, ...]:
    if project_root is None:
        return ()
    names, problem = list_folder(project_root / _ROLES_FOLDER)
    if problem is not None:
        raise ConfigError(f"{_ROLES_FOLDER}: cannot be read: {problem}", hint="check the rights of the folder")
    return tuple(f"{_ROLES_FOLDER}/{name}" for name in names if name.endswith(".md"))


def _read_project_role(project_root: Path | None, name: str) -> str:
    assert project_root is not None  # noqa: S101 - names come from below it
    read = read_text_file(project_root, name)
    if read.problem is not None:
        raise ConfigError(f"{name}: cannot be read: {read.problem}", hint="correct the file, or delete it")
    return read.text


def parse_role(text: str, uri: str) -> Profile:
    """Parse one role file strictly.

    Raises:
        ConfigError: with file, line and key of the first fault.
    """
    header = parse_front_matter(text, uri)
    reader = _Reader(header, uri)
    if header.broken or header.diagnostics:
        fault = header.diagnostics[0]
        reader.refuse(fault.message, line=fault.line, hint=fault.hint)
    if not header.present:
        reader.refuse("there is no front matter", line=1, hint=f"begin with `---` and the keys {', '.join(_REQUIRED)}")
    reader.only(header.data, _KEYS, "")
    for key in _REQUIRED:
        if key not in header.data:
            reader.refuse(f"`{key}` is missing", line=1, hint=f"add `{key}:` to the front matter")
    discipline, prompt = _split_discipline(header.body)
    if not prompt:
        reader.refuse("the role has no prompt", line=header.body_start_line, hint="write it below the front matter")
    return Profile(
        role=reader.role_id(),
        title=reader.text("title"),
        layers=reader.layers(),
        writes=reader.one_of("writes", _WRITES),
        user_facing=reader.flag("user_facing"),
        tool_categories=reader.names("tools", header.data.get("tools", []), TOOL_CATEGORIES),
        result_schema=reader.result(),
        shares=reader.shares(),
        discipline=discipline,
        prompt=prompt,
        uri=uri,
    )


def _split_discipline(body: str) -> tuple[str, str]:
    """Return the text below `## Discipline` and everything else, both without blank lines around them."""
    lines = body.split("\n")
    found = next((part for part in split_sections(body) if part.slug == "discipline"), None)
    if found is None:
        return "", body.strip()
    before = "\n".join(lines[: found.start_line - 1]).strip()
    after = "\n".join(lines[found.end_line :]).strip()
    discipline = "\n".join(found.text.split("\n")[1:]).strip()
    return discipline, "\n\n".join(part for part in (before, after) if part)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one header; every fault names file, line and key."""

    header: FrontMatter
    uri: str

    def refuse(self, message: str, *, key: str = "", line: int | None = None, hint: str = "") -> NoReturn:
        place = self.header.lines.get(key.split(".", maxsplit=1)[0].split("[", maxsplit=1)[0], line)
        where = f"{self.uri}:{place}" if place is not None else self.uri
        raise ConfigError(f"{where}: {key + ': ' if key else ''}{message}", hint=hint, code="role.invalid")

    def only(self, data: Mapping[Any, Any], known: tuple[str, ...], prefix: str) -> None:
        for key in data:
            if key not in known:
                self.refuse("unknown key", key=f"{prefix}{key}", line=1, hint=f"known here: {', '.join(known)}")

    def text(self, key: str) -> str:
        value = self.header.data[key]
        if not isinstance(value, str) or not value.strip():
            self.refuse("must be a text", key=key)
        return value.strip()

    def role_id(self) -> str:
        role = self.text("role")
        if not _ROLE_ID.fullmatch(role):
            self.refuse(f"`{role}` is no role id", key="role", hint="lower-case words joined by underscores")
        return role

    def flag(self, key: str) -> bool:
        value = self.header.data.get(key, False)
        if not isinstance(value, bool):
            self.refuse("must be true or false", key=key)
        return value

    def one_of(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.header.data[key]
        if value not in choices:
            self.refuse(f"{value!r} is none of {', '.join(choices)}", key=key)
        return str(value)

    def names(self, key: str, value: Any, choices: tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(value, list):
            self.refuse("must be a list", key=key)
        for item in value:
            if item not in choices:
                self.refuse(f"{item!r} is none of {', '.join(choices)}", key=key)
        return tuple(value)

    def result(self) -> str:
        """Return the name of the result schema; none: the role ends with plain text."""
        value = self.header.data.get("result", "")
        known = tuple(path.split("/")[-1].removesuffix(".json") for path in list_resources(_SCHEMAS, ".json"))
        if value not in ("", *known):
            self.refuse(f"{value!r} is no result schema", key="result", hint=f"known: {', '.join(known)}")
        return str(value)

    def layers(self) -> Mapping[Layer, LayerSelection]:
        value = self.header.data["layers"]
        if not isinstance(value, dict):
            self.refuse("must name layers", key="layers", hint="for instance `L5: {detail: full}`")
        self.only(value, tuple(_SELECTABLE), "layers.")
        return {Layer(name): self._layer(Layer(name), value[name]) for name in sorted(value)}

    def _layer(self, layer: Layer, value: Any) -> LayerSelection:
        key = f"layers.{layer}"
        if value is None:
            value = {}
        if not isinstance(value, dict):
            self.refuse("must be an object", key=key, hint="{detail: full}")
        self.only(value, ("detail", "kinds", "rule_kinds"), f"{key}.")
        detail = value.get("detail", "full")
        if detail not in DETAILS:
            self.refuse(f"{detail!r} is none of {', '.join(DETAILS)}", key=f"{key}.detail")
        if layer is Layer.L5 and detail != "full":
            self.refuse("a task is never shortened", key=f"{key}.detail", hint="write `detail: full`")
        if layer is not Layer.L3 and detail == "every":
            self.refuse("only rules have paths and tags", key=f"{key}.detail", hint="write `detail: full`")
        kinds = self.names(f"{key}.kinds", value.get("kinds", []), tuple(SegmentKind))
        rule_kinds = self.names(f"{key}.rule_kinds", value.get("rule_kinds", []), _RULE_KINDS)
        if rule_kinds and layer is not Layer.L3:
            self.refuse("only L3 holds rules", key=f"{key}.rule_kinds")
        return LayerSelection(detail=detail, kinds=tuple(map(SegmentKind, kinds)), rule_kinds=rule_kinds)

    def shares(self) -> Mapping[Layer, float]:
        value = self.header.data.get("shares", {})
        if not isinstance(value, dict):
            self.refuse("must name layers", key="shares", hint="for instance `L6: 0.4`")
        self.only(value, tuple(_SELECTABLE), "shares.")
        for name, share in value.items():
            if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
                self.refuse(f"{share!r} is no number from 0 to 1", key=f"shares.{name}")
        if sum(value.values()) > 1.000_001:
            self.refuse(f"they add up to {sum(value.values()):g}", key="shares", hint="they are parts of one whole")
        return {Layer(name): float(value[name]) for name in sorted(value)}


_SCHEMAS = "prompts/output-schemas"
