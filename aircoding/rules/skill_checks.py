"""Every fault of a `SKILL.md` by the letter of the open specification, for `aircoding skills check`."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import Literal

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.front_matter import FrontMatter
from aircoding.rules.skill_file import name_fault, parse_skill
from aircoding.rules.skill_header import EXTENSION_KEYS, SPECIFIED_KEYS, read_skill_header

__all__ = ["check_skill"]

SPECIFIED_DESCRIPTION_CHARS = 1_024
"""Most that the specification allows; the lenient reader keeps more."""
MAX_COMPATIBILITY_CHARS = 500
MAX_BODY_LINES = 500
MAX_BODY_BYTES = 20_000
"""About 5,000 tokens of prose."""

_OWN_REMARKS = frozenset({"skill.triggers", "skill.paths"})
"""Keys that the specification does not know are judged as the lenient reader judges them."""


def check_skill(text: str, *, folder: str, uri: str = "") -> tuple[Diagnostic, ...]:
    """Return what is wrong, in line order; keys that only some tools understand are told as information.

    Args:
        text: the whole file.
        folder: the name of its folder, which must be that of the skill.
        uri: for the remarks.
    """
    matter = read_skill_header(text, uri)
    check = _Check(matter, uri)
    if matter.broken:
        return tuple(check.found)
    if not matter.present:
        check.say("header", "there is no header", "begin with `---`, `name:`, `description:` and `---`")
        return tuple(check.found)
    check.keys()
    check.name(folder)
    check.limited("description", SPECIFIED_DESCRIPTION_CHARS, needed=True)
    check.limited("license", None)
    check.limited("compatibility", MAX_COMPATIBILITY_CHARS)
    check.limited("allowed-tools", None)
    check.metadata()
    check.body()
    lenient = parse_skill(text, folder=folder, uri=uri).diagnostics
    found = (*check.found, *(one for one in lenient if one.code in _OWN_REMARKS))
    return tuple(sorted(found, key=lambda one: (one.line or 0, one.code, one.message)))


class _Check:
    def __init__(self, matter: FrontMatter, uri: str) -> None:
        self._matter, self._uri = matter, uri
        # What is read leniently is a fault all the same: another tool will refuse it.
        self.found = [
            replace(one, severity="error") if one.code == "front_matter.lenient" else one for one in matter.diagnostics
        ]

    def say(
        self,
        key: str,
        message: str,
        hint: str,
        *,
        severity: Literal["error", "warning", "info"] = "error",
        line: int | None = None,
    ) -> None:
        place = line if line is not None else self._matter.lines.get(key, 1)
        code = f"skill.{key.replace('-', '_')}"
        self.found.append(
            Diagnostic(severity=severity, code=code, message=message, uri=self._uri, line=place, hint=hint)
        )

    def keys(self) -> None:
        for key in self._matter.data:
            line = self._matter.lines.get(key)
            if key in EXTENSION_KEYS:
                message = f"`{key}` is no key of the specification; it is understood here, and not by every tool"
                self.say("extension_key", message, "", severity="info", line=line)
            elif key not in SPECIFIED_KEYS:
                near = get_close_matches(key, (*SPECIFIED_KEYS, *EXTENSION_KEYS), n=1, cutoff=0.75)
                hint = f"did you mean `{near[0]}`?" if near else "put it below `metadata:`"
                self.say("unknown_key", f"`{key}` is no key of a skill", hint, line=line)

    def _text(self, key: str) -> str | None:
        """Return a value that is text; anything else is told."""
        value = self._matter.data.get(key)
        if isinstance(value, str):
            return value
        if key in self._matter.data:
            what = {list: "a list", dict: "an object", type(None): "empty"}.get(type(value), f"{value!r}, no text")
            hint = "write one text, its parts with blanks between them" if type(value) is list else "put it in quotes"
            self.say(key, f"`{key}` is {what}", hint)
        return None

    def name(self, folder: str) -> None:
        if "name" not in self._matter.data:
            self.say("name", "there is no `name`", f"add `name: {folder}`")
        name = self._text("name")
        if name is None:
            return
        fault = name_fault(name)
        if fault is not None:
            self.say("name", f"`{name}` is no name of a skill: {fault}", "use `a-z`, `0-9` and single hyphens")
        if name != folder:
            self.say("name", f"`{name}` is not the name of its folder, `{folder}`", "rename one of them")

    def limited(self, key: str, most_chars: int | None, *, needed: bool = False) -> None:
        if needed and key not in self._matter.data:
            self.say(key, f"there is no `{key}`", "say what the skill does and when to use it")
        text = self._text(key)
        if text is None or most_chars is None:
            return
        if not text.strip():
            self.say(key, f"`{key}` is empty", "fill it in, or remove the key")
        if len(text) > most_chars:
            self.say(key, f"`{key}` has {len(text)} characters; 1 to {most_chars} are allowed", "shorten it")

    def metadata(self) -> None:
        value = self._matter.data.get("metadata")
        if "metadata" in self._matter.data and not isinstance(value, dict):
            self.say("metadata", "`metadata` is no object", "write `key: value` lines below it")
        for key, one in value.items() if isinstance(value, dict) else ():
            if not isinstance(one, str):
                self.say("metadata", f"`metadata.{key}` is {one!r}, no text", "put it in quotes")

    def body(self) -> None:
        lines = self._matter.body.rstrip().split("\n")
        size_bytes = len(self._matter.body.encode("utf-8", "surrogatepass"))
        start = self._matter.body_start_line
        hint = "move parts into files of the skill's folder and name them in the body"
        if not self._matter.body.strip():
            self.say(
                "body", "there is no body", "write below the header how it is done", severity="warning", line=start
            )
        if len(lines) > MAX_BODY_LINES:
            message = f"the body has {len(lines)} lines; at most {MAX_BODY_LINES} are advised"
            self.say("body", message, hint, severity="warning", line=start + MAX_BODY_LINES)
        if size_bytes > MAX_BODY_BYTES:
            message = f"the body has {size_bytes} bytes, more than some 5,000 tokens"
            self.say("body", message, hint, severity="warning", line=start)
