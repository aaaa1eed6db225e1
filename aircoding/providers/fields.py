"""Read the fields of a YAML tree strictly: every fault is kept with its file, line and key, none is guessed away."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from aircoding.errors import ConfigError
from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.yaml_reader import (
    Entry,
    YamlFault,
    YamlList,
    YamlMap,
    YamlNode,
    YamlScalar,
    read_yaml,
    scalar_value,
)

__all__ = ["Fields"]


class Fields:
    """One file under reading. A reader returns None where a value is missing or faulty; `diagnostics` say why.

    `code` is the stable code of its diagnostics; `where` in the readers is the key as the person wrote it.
    """

    def __init__(self, uri: str, code: str) -> None:
        self.uri = uri
        self.diagnostics: list[Diagnostic] = []
        self._code = code

    def fault(self, message: str, line: int, hint: str = "") -> None:
        """Remember that something is wrong at a line (from 1)."""
        self.diagnostics.append(
            Diagnostic(severity="error", code=self._code, message=message, uri=self.uri, line=line, hint=hint)
        )

    def raise_faults(self) -> None:
        """Do nothing for a file that is in order.

        Raises:
            ConfigError: it is not; the message tells the first fault, the diagnostics all of them.
        """
        if not self.diagnostics:
            return
        first = self.diagnostics[0]
        more = f" (and {len(self.diagnostics) - 1} more)" if len(self.diagnostics) > 1 else ""
        raise ConfigError(
            f"{self.uri}, line {first.line}: {first.message}{more}",
            hint=first.hint,
            code=self._code,
            diagnostics=tuple(self.diagnostics),
        )

    def top(self, text: str) -> YamlNode | None:
        """Return the tree of the whole text, or None when it is empty or no YAML."""
        try:
            root = read_yaml(text)
        except YamlFault as fault:
            self.fault(f"it is no YAML that is read here: {fault.message}", fault.line)
            return None
        if root is None:
            self.fault("the file is empty", 1)
        return root

    def entries(
        self, node: YamlNode | None, where: str, *, known: Collection[str], required: Collection[str] = ()
    ) -> Mapping[str, Entry]:
        """Return the known keys of a mapping; unknown, repeated and missing ones are faults."""
        if node is None:
            return {}
        if not isinstance(node, YamlMap):
            self.fault(f"`{where}` must hold keys ({', '.join(known)})", node.line)
            return {}
        for key, line, first in node.repeated:
            self.fault(f"`{where}`: `{key}` stands twice, first in line {first}", line)
        for key, entry in node.entries.items():
            if key not in known:
                self.fault(f"`{where}`: unknown key `{key}`", entry.line, f"known keys: {', '.join(known)}")
        for key in required:
            if key not in node.entries:
                self.fault(f"`{where}`: `{key}` is missing", node.line)
        return {key: entry for key, entry in node.entries.items() if key in known}

    def items(self, entry: Entry | None, where: str) -> Iterator[YamlNode]:
        """Yield the items of a list that is not empty; nothing where the key is missing."""
        if entry is None:
            return
        node = entry.node
        if not isinstance(node, YamlList) or not node.items:
            self.fault(f"`{where}` must be a list of at least one", entry.line)
            return
        yield from node.items

    def text(self, entry: Entry | None, where: str) -> str | None:
        """Return a text that is not empty; a number or word without quotes is taken as written."""
        if entry is None:
            return None
        node = entry.node
        if not isinstance(node, YamlScalar) or not node.text.strip() or scalar_value(node) is None:
            self.fault(f"`{where}` must be a text", entry.line)
            return None
        return node.text

    def whole(self, entry: Entry | None, where: str, *, minimum: int) -> int | None:
        """Return a whole number of at least `minimum`."""
        value = self._scalar(entry)
        if entry is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
            self.fault(f"`{where}` must be a whole number of at least {minimum}", entry.line)
            return None
        return value

    def seconds(self, entry: Entry | None, where: str) -> float | None:
        """Return a duration in seconds, 0 included."""
        value = self._scalar(entry)
        if entry is None:
            return None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or value < 0:
            self.fault(f"`{where}` must be seconds, 0 or more", entry.line)
            return None
        return float(value)

    def flag(self, entry: Entry | None, where: str) -> bool | None:
        """Return true or false."""
        value = self._scalar(entry)
        if entry is None:
            return None
        if not isinstance(value, bool):
            self.fault(f"`{where}` must be true or false", entry.line)
            return None
        return value

    def word(self, entry: Entry | None, where: str, *, choices: Collection[str]) -> str | None:
        """Return one of `choices`."""
        if entry is None:
            return None
        node = entry.node
        if not isinstance(node, YamlScalar) or node.text not in choices:
            self.fault(f"`{where}` must be one of {', '.join(choices)}", entry.line)
            return None
        return node.text

    @staticmethod
    def _scalar(entry: Entry | None) -> str | int | float | bool | None:
        return scalar_value(entry.node) if entry is not None and isinstance(entry.node, YamlScalar) else None
