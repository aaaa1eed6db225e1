"""Unquote words of a parsed command: what the shell would pass on, or None where that is known only when it runs."""

from __future__ import annotations

import re

from tree_sitter import Node

__all__ = ["static_word", "word_text"]

_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_ANSI_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_GLOB = re.compile(r"(?<!\\)[*?\[]")
_BRACES = re.compile(r"(?<![\\$])\{[^{}\s]*(,|\.\.)[^{}\s]*\}")


def word_text(node: Node) -> str:
    """Return a node as it is written."""
    return (node.text or b"").decode("utf-8", "replace")


def static_word(node: Node) -> str | None:
    """Return what a word stands for, or None when an expansion, a glob or a brace makes it dynamic."""
    kind = node.type
    if kind in {"word", "number", "variable_name", "command_name", "special_variable_name", "test_operator"}:
        if node.named_child_count and kind == "command_name":
            return static_word(node.named_children[0])
        return _plain_word(word_text(node))
    if kind == "raw_string":
        return word_text(node)[1:-1]
    if kind == "ansi_c_string":
        return _ansi_c(word_text(node)[2:-1])
    if kind in {"string", "translated_string"}:
        if any(child.type != "string_content" for child in node.named_children):
            return None
        text = word_text(node)
        return re.sub(r"\\([\"\\$`\n])", r"\1", text[text.index('"') + 1 : -1])
    if kind == "concatenation":
        parts = [static_word(child) for child in node.children]
        if any(part is None for part in parts):
            return None
        raw = "".join(word_text(child) for child in node.children if child.type == "word" or not child.is_named)
        return None if _BRACES.search(raw) else "".join(part for part in parts if part is not None)
    if not node.is_named:
        return word_text(node)
    return None


def _plain_word(text: str) -> str | None:
    if _GLOB.search(text) or _BRACES.search(text):
        return None
    return re.sub(r"\\(\n|.)", lambda match: "" if match[1] == "\n" else match[1], text, flags=re.DOTALL)


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
        return _ANSI.get(code, code)

    return _ANSI_ESCAPE.sub(char, text)
