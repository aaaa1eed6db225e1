"""Unquote words of a parsed command: what the shell would pass on, or how much of it is known before it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

__all__ = ["Word", "node_text", "read_word", "static_word"]

_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_ANSI_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_IN_DOUBLE = re.compile(r"\\([\"\\$`])|\\\n")
_PLAIN_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_GLOB = re.compile(r"[*?\[]")
_DYNAMIC = frozenset("simple_expansion expansion command_substitution arithmetic_expansion".split())
_PIPE = "/dev/fd/63"
"""What the shell passes on for `<(...)`: a pipe to commands that are judged by themselves."""
_QUOTED = "\x01"
"""Stands for a quoted character in a word's shape, where only unquoted ones have a meaning."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    `value` is what the program gets, None where that is known only when it runs; `prefix` is the part of it that is
    known in any case. An unquoted `~` at the start stays `~`, a quoted one becomes `./~`. `glob` says that the shell
    replaces the value by the names that match it.
    """

    raw: str
    value: str | None
    prefix: str = ""
    glob: bool = False


def static_word(text: str) -> Word:
    """Return a word that is known as it stands."""
    return Word(text, text, text)


def node_text(node: Node) -> str:
    """Return a node as it is written."""
    return (node.text or b"").decode("utf-8", "surrogateescape")


def read_word(node: Node) -> Word:
    """Return what a word stands for."""
    reading = _Reading()
    reading.node(node)
    return reading.word(node_text(node))


class _Reading:
    """The characters of a word as they are read, with a shape that tells the unquoted ones."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._shape: list[str] = []
        self._known: int | None = None

    def word(self, raw: str) -> Word:
        text, shape = "".join(self._text), "".join(self._shape)
        if self._known is not None:
            known = "".join(self._text[: self._known])
            return Word(raw, None, _home("".join(self._shape), known))
        if _BRACES.search(shape) or (shape.startswith("~") and shape[1:2] in set("+-0123456789")):
            return Word(raw, None, "")
        text = _home(shape, text)
        return Word(raw, text, text, glob=_GLOB.search(shape) is not None)

    def node(self, node: Node) -> None:
        """Read a node; what is not understood is dynamic."""
        kind = node.type
        if kind == "command_name":
            self._pieces(node)
        elif kind in {"word", "number", "variable_name", "special_variable_name", "extglob_pattern"}:
            if node.named_child_count:
                self._pieces(node)
            else:
                self._plain(node_text(node))
        elif kind == "raw_string":
            self._add_quoted(node_text(node)[1:-1])
        elif kind == "ansi_c_string":
            self._add_quoted(_ansi_c(node_text(node)[2:-1]))
        elif kind in {"string", "translated_string"}:
            self._string(node)
        elif kind == "concatenation":
            self._pieces(node)
        elif kind == "process_substitution":
            self._add_quoted(_PIPE)
        else:
            self._dynamic()

    def _string(self, node: Node) -> None:
        """Read a double-quoted string; `$"..."` may be translated, and is taken as it stands."""
        if node.type == "translated_string" and node.named_child_count:
            node = node.named_children[0]
        self._pieces(node, inner=True)

    def _pieces(self, node: Node, *, inner: bool = False) -> None:
        """Read the children of a node in order, and what stands between them as text."""
        add = self._double if inner else self._plain
        data = node.text or b""
        start, stop = node.start_byte, node.end_byte
        place, end = (start + 1, stop - 1) if inner else (start, stop)
        for child in node.named_children:
            if inner and child.type not in _DYNAMIC:
                continue
            if child.start_byte > place:
                add(data[place - start : child.start_byte - start].decode("utf-8", "surrogateescape"))
            self.node(child)
            place = child.end_byte
        if place < end:
            add(data[place - start : end - start].decode("utf-8", "surrogateescape"))

    def _plain(self, text: str) -> None:
        done = 0
        for match in _PLAIN_ESCAPE.finditer(text):
            self._add(text[done : match.start()])
            if match[1] != "\n":
                self._add_quoted(match[1])
            done = match.end()
        self._add(text[done:])

    def _double(self, text: str) -> None:
        self._add_quoted(_IN_DOUBLE.sub(lambda match: match[1] or "", text))

    def _add(self, text: str) -> None:
        if text:
            self._text.append(text)
            self._shape.append(text)

    def _add_quoted(self, text: str) -> None:
        self._text.append(text)
        self._shape.append(_QUOTED * len(text))

    def _dynamic(self) -> None:
        if self._known is None:
            self._known = len(self._text)


def _home(shape: str, text: str) -> str:
    """Keep a quoted `~` from meaning the home folder."""
    return f"./{text}" if text.startswith("~") and not shape.startswith("~") else text


def _ansi_c(text: str) -> str:
    def char(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "xuU" and len(code) > 1:
            value = int(code[1:], 16)
            return chr(value) if value < 0x110000 else "\ufffd"
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        if code[0] == "c" and len(code) > 1:
            return chr(ord(code[1]) & 0x1F)
        return _ANSI.get(code, code if code in "\\'\"?" else f"\\{code}")

    # A zero byte ends the string: what stands behind it is dropped by the shell.
    return _ANSI_ESCAPE.sub(char, text).partition("\0")[0]
