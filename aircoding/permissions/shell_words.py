"""Unquote words of a parsed command: what the shell would pass on, or how much of it is known before it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

__all__ = ["Word", "node_text", "read_word", "read_words", "static_word"]

_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_ANSI_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_IN_DOUBLE = re.compile(r"\\([\"\\$`])|\\\n")
_PLAIN_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LIST = re.compile(r"\{([^{}]*,[^{}]*)\}")
_LONGEST_LIST = 4096
_MOST_CHOICES = 32
_IN_BRACES = re.compile(r"\{[^{}]*\}")
_GLOB = re.compile(r"[*?\[]")
_DYNAMIC = frozenset("simple_expansion expansion command_substitution arithmetic_expansion".split())
_PIPE = "/dev/fd/63"
"""What the shell passes on for `<(...)`: a pipe to commands that are judged by themselves."""
_NUMBERS = frozenset({"$$", "$?", "$#", "${$}", "${?}", "${#}"})
"""What the shell itself sets to a number, whatever the line does: which one is no matter for what a word names."""
_HOMES = frozenset({"$HOME", "${HOME}"})
_HERE = frozenset({"$PWD", "${PWD}"})
_BEFORE_HOME = ("=", ":")
_QUOTED = "\x01"
"""Stands for a quoted character in a word's shape, where only unquoted ones have a meaning."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    `value` is what the program gets, None where that is known only when it runs; `prefix` is the part of it that is
    known in any case. An unquoted `~` at the start stays `~`, a quoted one becomes `./~`; `$HOME` is `~` and `$PWD` is
    `.`, since a line that sets one of them asks. `splits` says that what is not known may become several words, `glob`
    that the shell replaces the value by the names that match it.
    """

    raw: str
    value: str | None
    prefix: str = ""
    glob: bool = False
    splits: bool = False


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


def read_words(node: Node) -> list[Word]:
    """Return what an operand stands for: several words where it holds braces that are a plain list (`src/{a,b}.py`)."""
    reading = _Reading()
    reading.node(node)
    raw = node_text(node)
    word = reading.word(raw)
    return reading.alternatives(raw) or [word] if word.value is None else [word]


class _Reading:
    """The characters of a word as they are read, with a shape that tells the unquoted ones."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._shape: list[str] = []
        self._known: int | None = None
        self._folder_at: int | None = None
        self._splits = self._quoting = False

    def word(self, raw: str) -> Word:
        text, shape = "".join(self._text), "".join(self._shape)
        if self._folder_at is not None and text[self._folder_at : self._folder_at + 1] not in {"", "/"}:
            return Word(raw, None, "", splits=True)
        if self._known is not None:
            known = "".join(self._text[: self._known])
            return Word(raw, None, _home("".join(self._shape), known), splits=self._splits)
        return _static(raw, text, shape)

    def alternatives(self, raw: str) -> list[Word]:
        """Return the words that the lists in braces stand for; none where there is more to expand, or too many."""
        text, shape = "".join(self._text), "".join(self._shape)
        if self._known is not None or self._folder_at is not None or len(text) > _LONGEST_LIST:
            return []
        found, done = [("", "")], 0
        for match in _LIST.finditer(shape):
            choices, place = [], match.start() + 1
            for choice in match[1].split(","):
                choices.append((text[place : place + len(choice)], choice))
                place += len(choice) + 1
            if len(found) * len(choices) > _MOST_CHOICES:
                return []
            fixed = (text[done : match.start()], shape[done : match.start()])
            found = [(a + fixed[0] + b, c + fixed[1] + d) for a, c in found for b, d in choices]
            done = match.end()
        words = [_static(raw, before + text[done:], form + shape[done:]) for before, form in found]
        return [] if any(word.value is None for word in words) else words

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
        elif kind in {"simple_expansion", "expansion"}:
            self._variable(node_text(node))
        else:
            self._dynamic()

    def _variable(self, name: str) -> None:
        """Read a variable: few of them are known before the line runs."""
        if name in _NUMBERS:
            self._add_quoted("1")
        elif name in _HOMES | _HERE and self._folder_at is None and self._begins_path():
            self._add("~" if name in _HOMES else ".")
            self._folder_at = sum(map(len, self._text))
        else:
            self._dynamic()

    def _begins_path(self) -> bool:
        return self._known is None and (not self._text or self._text[-1].endswith(_BEFORE_HOME))

    def _string(self, node: Node) -> None:
        """Read a double-quoted string; `$"..."` may be translated, and is taken as it stands."""
        if node.type == "translated_string" and node.named_child_count:
            node = node.named_children[0]
        self._quoting, before = True, self._quoting
        self._pieces(node, inner=True)
        self._quoting = before

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
        self._splits = self._splits or not self._quoting
        if self._known is None:
            self._known = len(self._text)


def _static(raw: str, text: str, shape: str) -> Word:
    """Return a word without variables; braces that still expand, and `~2`, make it one that only a run tells."""
    expands = any("," in braces or ".." in braces for braces in _IN_BRACES.findall(shape))
    if expands or (shape.startswith("~") and shape[1:2] in set("+-0123456789")):
        return Word(raw, None, "", splits=expands)
    text = _home(shape, text)
    return Word(raw, text, text, glob=_GLOB.search(shape) is not None)


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
