"""Parse a command line into the simple commands and redirects that it would run, at every depth.

tree-sitter-bash gives the tree; only kinds of node that are understood here pass, any other is a doubt that makes the
whole line ask. The walk is one pass over the tree, so its cost grows with the length of the line and nothing caps it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from aircoding.permissions.shell_words import static_word, word_text

__all__ = ["ParsedLine", "Redirect", "SimpleCommand", "Word", "parse_line"]

_CONTAINERS = frozenset(
    """
    program list pipeline subshell compound_statement redirected_statement negated_command if_statement elif_clause
    else_clause while_statement do_group for_statement case_statement case_item command_substitution
    process_substitution test_command unary_expression binary_expression parenthesized_expression
    variable_assignments string concatenation command_name array expansion simple_expansion arithmetic_expansion
    heredoc_body subscript file_redirect herestring_redirect heredoc_redirect variable_assignment
    """.split()
)
_LEAVES = frozenset(
    """
    word number raw_string ansi_c_string string_content variable_name special_variable_name comment file_descriptor
    heredoc_start heredoc_end heredoc_content test_operator regex extglob_pattern
    """.split()
)
_WORDS = frozenset(
    """
    word number string raw_string ansi_c_string concatenation simple_expansion expansion command_substitution
    process_substitution arithmetic_expansion translated_string
    """.split()
)
_NEW_SCOPE = frozenset({"subshell", "command_substitution", "process_substitution", "pipeline"})


@dataclass(frozen=True, slots=True)
class Word:
    """One word: as written, and what it stands for (None: known only when it runs)."""

    raw: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect of a file: `writes` for `>`, `>>`, `&>`; `scope` as in SimpleCommand."""

    target: Word
    writes: bool
    scope: int


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One command with its leading assignments. `scope` tells subshells apart: `cd` acts within its own."""

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, Word | None], ...]
    scope: int
    parent_scope: int


@dataclass(slots=True)
class ParsedLine:
    """All that a line would do, in written order, and the doubts that make it ask."""

    parts: list[SimpleCommand | Redirect] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def parse_line(command: str) -> ParsedLine:
    """Parse a command line. Never raises; what cannot be understood is a doubt."""
    line = ParsedLine()
    if "\0" in command:
        line.doubts.append("it holds a zero byte")
        return line
    root = _parser().parse(command.encode("utf-8", "surrogatepass")).root_node
    if root.has_error:
        line.doubts.append("it cannot be parsed as a shell command")
    scopes = 0
    stack: list[tuple[Node, int, int]] = [(root, 0, 0)]
    while stack:
        node, scope, parent = stack.pop()
        if not node.is_named or node.type in _LEAVES:
            continue
        _visit(node, scope, parent, line)
        if node.type in _NEW_SCOPE:
            scopes += 1
            scope, parent = scopes, scope
        stack.extend((child, scope, parent) for child in reversed(node.children))
    return line


def _visit(node: Node, scope: int, parent: int, line: ParsedLine) -> None:
    """Note what one node does; its children are visited after it."""
    kind = node.type
    if kind == "command":
        line.parts.append(_command(node, scope, parent))
    elif kind in {"declaration_command", "unset_command"}:
        line.parts.append(_declaration(node, scope, parent))
    elif kind == "file_redirect":
        _redirect(node, scope, line)
    elif kind == "variable_assignment":
        _assignment(node, scope, parent, line)
    elif kind == "expansion" and re.search(r"@[A-Za-z]\}$", word_text(node)):
        line.doubts.append("a parameter expansion with `@` may run code")
    elif kind not in _CONTAINERS and kind != "ERROR":
        line.doubts.append(f"`{kind}` is not judged")


def _word(node: Node) -> Word:
    return Word(word_text(node), static_word(node))


def _command(node: Node, scope: int, parent: int) -> SimpleCommand:
    words: list[Word] = []
    assignments: list[tuple[str, Word | None]] = []
    for child in node.named_children:
        if child.type == "variable_assignment":
            assignments.append(_assigned(child))
        elif child.type == "command_name":
            words.append(_word(child.named_children[0]) if child.named_child_count else _word(child))
        elif child.type in _WORDS:
            words.append(_word(child))
    return SimpleCommand(tuple(words), tuple(assignments), scope, parent)


def _assigned(node: Node) -> tuple[str, Word | None]:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    return (word_text(name) if name else "", _word(value) if value else None)


def _declaration(node: Node, scope: int, parent: int) -> SimpleCommand:
    """`export`, `declare`, `local`, `unset`: a program with assignments behind it."""
    first = node.children[0]
    assignments = tuple(_assigned(child) for child in node.named_children if child.type == "variable_assignment")
    return SimpleCommand((Word(word_text(first), word_text(first)),), assignments, scope, parent)


def _assignment(node: Node, scope: int, parent: int, line: ParsedLine) -> None:
    """An assignment of its own changes what later commands see; one before a command is in that command."""
    if node.parent is None or node.parent.type in {"command", "declaration_command"}:
        return
    line.parts.append(SimpleCommand((), (_assigned(node),), scope, parent))


def _redirect(node: Node, scope: int, line: ParsedLine) -> None:
    target = node.child_by_field_name("destination")
    operator = next((child.type for child in node.children if not child.is_named), "")
    if target is None:
        return
    word = _word(target)
    duplicates = operator in {">&", "<&"} and (word.raw.rstrip("-").isdigit() or word.raw == "-")
    if not duplicates:
        line.parts.append(Redirect(word, writes=">" in operator, scope=scope))
