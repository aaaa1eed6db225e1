"""A project's hooks: `.air/shared/hooks.yaml`, and the files that it names, under one digest that a user trusts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from aircoding.records.digests import fingerprint
from aircoding.records.hooks import (
    DEFAULT_TIMEOUT_SECONDS,
    MOST_TIMEOUT_SECONDS,
    PLUGIN_NAME,
    HookEvent,
    ProjectHook,
    ProjectHooks,
)
from aircoding.records.ids import Digest
from aircoding.rules.yaml_reader import YamlFault, YamlList, YamlMap, YamlNode, YamlScalar, read_yaml, scalar_value
from aircoding.sources.files import read_text_file
from aircoding.sources.hook_files import CoveredFiles, named_paths

__all__ = ["HOOKS_FILE", "read_project_hooks"]

HOOKS_FILE = ".air/shared/hooks.yaml"
_KEYS = ("name", "event", "python", "command", "timeout_seconds")
_EVENTS = tuple(event.value for event in HookEvent)
_FUNCTION = "hook"
"""What is called in a Python file that names no function."""


class _FaultError(Exception):
    """What is wrong with the file, with its line."""


def read_project_hooks(root: Path) -> ProjectHooks | None:
    """Return the hooks of the project at `root` as the files are now; None: it has no `hooks.yaml`.

    A file with a fault has no hooks: half of what was meant is not run.
    """
    read = read_text_file(root, HOOKS_FILE)
    if read.absent:
        return None
    faults: list[str] = []
    hooks: tuple[ProjectHook, ...] = ()
    try:
        if read.problem is not None or read.lossy:
            raise _FaultError(f"{HOOKS_FILE}: cannot be read: {read.problem or 'it is no UTF-8 text'}")
        hooks = _hooks(read.text)
    except _FaultError as fault:
        faults.append(str(fault))
    files = CoveredFiles(root)
    covered: dict[str, tuple[str, ...]] = {}
    for hook in hooks:
        known = len(files.faults)
        names = (hook.python,) if hook.python else named_paths(root, hook.command)
        inside = {one for name in names for one in files.take(name)}
        covered[hook.name] = tuple(sorted(inside))
        faults += (f"{HOOKS_FILE}: {hook.name}: {fault}" for fault in files.faults[known:])
        if hook.python and not files.faults and hook.python not in files.texts:
            faults.append(f"{HOOKS_FILE}: {hook.name}: {hook.python} cannot be read: it is no text file")
    digests: dict[str, Digest] = {**files.digests, HOOKS_FILE: read.digest}
    return ProjectHooks(
        hooks=() if faults else hooks,
        files=digests,
        texts={hook.python: files.texts.get(hook.python, "") for hook in hooks if hook.python},
        digest=fingerprint(["project hooks", 1, sorted(digests.items())]),
        covered=covered,
        faults=tuple(faults),
    )


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def _hooks(text: str) -> tuple[ProjectHook, ...]:
    try:
        node = read_yaml(text)
    except YamlFault as fault:
        raise _at(fault.line, fault.message) from None
    top = _entries(node, 1, ("version", "hooks"))
    version = top.get("version")
    if not (isinstance(version, YamlScalar) and scalar_value(version) == 1):
        raise _at(1 if version is None else version.line, "`version` must be 1")
    listed = top.get("hooks")
    if not isinstance(listed, YamlList):
        raise _at(1 if listed is None else listed.line, "`hooks` must be a list")
    hooks: dict[str, ProjectHook] = {}
    for item in listed.items:
        hook = _hook(item)
        if hook.name in hooks:
            raise _at(item.line, f"two hooks are called {hook.name}")
        hooks[hook.name] = hook
    return tuple(hooks.values())


def _hook(item: YamlNode) -> ProjectHook:
    entries = _entries(item, item.line, _KEYS)
    name = _text(entries, "name", item.line)
    if re.fullmatch(PLUGIN_NAME, name) is None:
        raise _at(item.line, f"{name!r} is no name: use letters, digits, `.`, `_` and `-`, at most 64")
    event = _text(entries, "event", item.line)
    if event not in _EVENTS:
        raise _at(item.line, f"there is no event {event!r}; known: {', '.join(_EVENTS)}")
    if ("python" in entries) == ("command" in entries):
        raise _at(item.line, f"{name}: give either `python` or `command`")
    python, function = "", ""
    command: tuple[str, ...] = ()
    if "python" in entries:
        python, function = _python(_text(entries, "python", item.line), item.line)
    else:
        command = _words(entries["command"], name)
    return ProjectHook(
        name=name,
        event=HookEvent(event),
        python=python,
        function=function,
        command=command,
        timeout_seconds=_seconds(entries.get("timeout_seconds")),
    )


def _python(given: str, line: int) -> tuple[str, str]:
    path, _, function = given.partition(":")
    if not _is_inside(path) or not path.endswith(".py") or (function and not function.isidentifier()):
        raise _at(line, f"`python: {given}`: name a .py file below the project's root, `path/to/file.py:function`")
    return str(PurePosixPath(path)), function or _FUNCTION


def _words(node: YamlNode, name: str) -> tuple[str, ...]:
    words = node.items if isinstance(node, YamlList) else []
    texts = tuple(word.text for word in words if isinstance(word, YamlScalar))
    if not texts or len(texts) != len(words) or not texts[0] or any("\0" in text for text in texts):
        raise _at(node.line, f"{name}: `command` must be a list of words, the program first")
    return texts


def _seconds(node: YamlNode | None) -> float:
    if node is None:
        return DEFAULT_TIMEOUT_SECONDS
    value = scalar_value(node) if isinstance(node, YamlScalar) and node.plain else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST_TIMEOUT_SECONDS:
        raise _at(node.line, f"`timeout_seconds` must be more than 0 and at most {MOST_TIMEOUT_SECONDS:g}")
    return float(value)


def _text(entries: Mapping[str, YamlNode], key: str, line: int) -> str:
    node = entries.get(key)
    if not isinstance(node, YamlScalar) or not node.text.strip():
        raise _at(line if node is None else node.line, f"`{key}` must be a text")
    return node.text


def _entries(node: YamlNode | None, line: int, known: tuple[str, ...]) -> dict[str, YamlNode]:
    if not isinstance(node, YamlMap):
        raise _at(line if node is None else node.line, f"keys are expected here: {', '.join(known)}")
    for key, at, first in node.repeated:
        raise _at(at, f"`{key}` stands twice; join it with line {first}")
    for key, entry in node.entries.items():
        if key not in known:
            raise _at(entry.line, f"`{key}` is not known; known here: {', '.join(known)}")
    return {key: entry.node for key, entry in node.entries.items()}


def _at(line: int, message: str) -> _FaultError:
    return _FaultError(f"{HOOKS_FILE}:{line}: {message}")
