"""Parse a command line into the events of running it: commands, redirects, scopes, joints, and doubts.

tree-sitter-bash gives the tree; only kinds of node that are understood here pass, any other is a doubt that makes the
whole line ask. The walk is one pass without recursion, so its cost grows with the length of the line and neither
depth nor number of commands caps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from aircoding.permissions.shell_words import Word, node_text, read_word, read_words

__all__ = ["Assigned", "Doubt", "Edge", "Event", "Joint", "Redirect", "Simple", "Substituted"]
__all__ += ["assigned_by", "parse_line"]

_STATEMENTS = frozenset(
    "program compound_statement do_group if_statement elif_clause else_clause case_statement case_item".split()
)
_LOOPS = frozenset("while_statement for_statement c_style_for_statement until_statement".split())
_SCOPES = frozenset("subshell command_substitution process_substitution".split())
_CONTAINERS = frozenset(
    "negated_command test_command unary_expression binary_expression parenthesized_expression "
    "ternary_expression postfix_expression variable_assignments string translated_string concatenation command_name "
    "array heredoc_body subscript herestring_redirect heredoc_redirect simple_expansion".split()
)
_LEAVES = frozenset(
    "word number raw_string ansi_c_string string_content variable_name special_variable_name comment file_descriptor "
    "heredoc_start heredoc_end heredoc_content test_operator regex extglob_pattern".split()
)
_WORDS = frozenset(
    "word number string raw_string ansi_c_string concatenation simple_expansion expansion command_substitution "
    "process_substitution arithmetic_expansion translated_string extglob_pattern".split()
)
_STRANGE = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\xa0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f\u2060\u3000\ufeff]")
_SPLIT_WORD = re.compile(r"[^\s\\]\\\n")
_EXECUTES = re.compile(r"\$\{!|\$\{[^}:]*:(?![-+=?])\s*[^\d\s-]")
_LITERAL_INDEX = re.compile(r"\[(?:\d+|[@*])\]$")
_NUMBERS_ONLY = re.compile(r"[\s\d+\-*/%()<>=!&|^~?:,]*$")
_COMPARES_NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_CHAINS = frozenset({"list", "pipeline", "binary_expression"})
"""Nodes that nest by the number of their members."""
_DEEPEST = 400
"""Nesting that is judged; without a bound, reading the text at each depth would take time in the square of it."""
_RESERVED = frozenset("case esac if then elif else fi for while until do done in select function { } [[ ]]".split())
_BACKSLASH_LINE = re.compile(r"\n(?=\\[^\n])")
_TWO_OPEN = re.compile(r"\((?=\()")
_CRASHES = re.compile(r"\{\d*(?:\.\.?\d*)?[^\x00-\xff]")
"""tree-sitter-bash 0.25.1 puts what follows a `{` into `isdigit`, which ends the process past U+00FF."""
_MOST_PARENTHESES = 1000
"""The parser takes time in the square of unclosed parentheses (0.1 s for 2,000 of them, measured)."""
_EXPANDS = re.compile(rb"(?<!\\)(?:\\\\)*(?:\$[({\[]|`)")
_REDIRECTS = frozenset({"heredoc_redirect", "herestring_redirect", "file_redirect"})
_SPECIAL_IN_BODY = re.compile(rb"[$`\\]")
_QUOTES = re.compile(r"[\\'\"]")
_BACKQUOTED = re.compile(r"\\.|`((?:[^`\\]|\\.)*)`", re.DOTALL)
_BACKQUOTED_BYTES = re.compile(rb"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ESCAPED_IN_BACKQUOTES = re.compile(r"\\([\\`$])")
_KEEPS_ITS_TEXT = frozenset("raw_string ansi_c_string comment heredoc_start".split())
"""Leaves in which nothing expands."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """A variable that is set; `value` is None where it is an array or empty."""

    name: str
    value: Word | None


def assigned_by(word: Word) -> Assigned:
    """Return what a word `NAME=value` sets, where a program and not the shell takes it so."""
    name, _, known = word.prefix.partition("=")
    value = None if word.value is None else known
    return Assigned(name, Word(word.raw, value, known, splits=word.splits))


@dataclass(frozen=True, slots=True)
class Simple:
    """One command with the assignments before it; without words these change the shell itself.

    `fed` is the text that it gets as its input, where a here-document or a here-string gives one as it stands.
    """

    words: tuple[Word, ...]
    assignments: tuple[Assigned, ...] = ()
    fed: str | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """A file that a redirect opens."""

    target: Word
    reads: bool
    writes: bool


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that cannot be judged. `unparsed` says that the text around it is not understood at all."""

    reason: str
    unparsed: bool = False


@dataclass(frozen=True, slots=True)
class Substituted:
    """A command whose output the shell puts in its place, where the parser left it as text.

    A `guess` is a text that may hold one; what is left as text in it again is not guessed at another time.
    """

    script: str
    guess: bool = False


_MISREAD = Doubt("a part of it is read in another way than the shell will", unparsed=True)
"""Known faults of the parser: `! case x in x) ls;; esac` ends for it at the first `)`, and a line that begins with a
backslash goes on with the command of the line before."""


class Joint(Enum):
    """How the next command hangs on the one before."""

    AND = "&&"
    OR = "||"
    ANY = ";"


class Edge(Enum):
    """Begin and end of a subshell, and of a loop."""

    SCOPE = "("
    SCOPE_END = ")"
    LOOP = "do"
    LOOP_END = "done"


Event = Simple | Redirect | Doubt | Substituted | Joint | Edge


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def parse_line(command: str, *, guess: bool = True) -> Iterator[Event]:
    """Yield the events of running a command line, in written order. Never raises; what is not understood is a doubt.

    Without `guess`, expansions that the parser leaves as text are a doubt, and not looked at as commands.
    """
    if _STRANGE.search(command):
        yield Doubt("it holds control characters or spaces that shells read in different ways")
    if _SPLIT_WORD.search(command):
        yield Doubt("a line end splits a word")
    if command.count("(") > _MOST_PARENTHESES:
        yield Doubt("it holds more parentheses than are parsed", unparsed=True)
        return
    if _CRASHES.search(command):
        yield Doubt("it holds a `{` before a character that the parser cannot take", unparsed=True)
        return
    if _BACKSLASH_LINE.search(command):
        yield from _events(_BACKSLASH_LINE.sub("\n ", command), guess=False)
    source = _encoded(command)
    root = _parser().parse(source).root_node
    if root.has_error:
        yield Doubt("it cannot be parsed as a shell command", unparsed=True)
        # `((x))` that is no arithmetic is two subshells to bash: what they hold is looked at that way too.
        apart = _TWO_OPEN.sub("( ", command)
        if apart != command:
            yield from _events(apart, guess=False)
    yield from _walk(root, source, guess=guess and not root.has_error)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _events(text: str, *, guess: bool) -> Iterator[Event]:
    source = _encoded(text)
    return _walk(_parser().parse(source).root_node, source, guess=guess)


def _walk(root: Node, source: bytes, *, guess: bool) -> Iterator[Event]:
    stack: list[tuple[Node | Event, int]] = [(root, 0)]
    expands, looked_until, single_until = _EXPANDS.search(source) is not None, 0, 0
    while stack:
        item, depth = stack.pop()
        if not isinstance(item, Node):
            yield item
            continue
        if depth > _DEEPEST:
            yield Doubt("it nests more deeply than is judged", unparsed=True)
            continue
        if item.is_named or item.type == "ERROR":
            if expands and item.start_byte >= looked_until and _leaves_as_text(item, source):
                looked_until = item.end_byte
                yield from _substitutions(node_text(item), guess=guess)
            if expands and item.type == "command_substitution" and source.startswith(b"`", item.start_byte):
                again = _in_backquotes(item, source)
                if again:
                    yield from again
                    continue
            below = depth if item.type in _CHAINS else depth + 1
            if item.type == "test_command":
                single_until = item.end_byte if item.children[0].type == "[" else 0
            compares_texts = item.type == "binary_expression" and item.start_byte < single_until
            parts = item.named_children if compares_texts else _expand(item)
            stack.extend((part, below) for part in reversed(parts))


def _in_backquotes(node: Node, source: bytes) -> list[Event]:
    """Return what runs between backquotes where a backslash stands in them: it is taken away before that is parsed."""
    match = _BACKQUOTED_BYTES.match(source, node.start_byte)
    if match is None:
        return [_MISREAD]
    found: list[Event] = [] if match.end() == node.end_byte else [_MISREAD]
    if b"\\" not in match[1]:
        return found
    inner = match[1].decode("utf-8", "surrogateescape")
    found.append(Substituted(_ESCAPED_IN_BACKQUOTES.sub(r"\1", inner)))
    if '\\"' in inner:  # within double quotes these lose their backslash too
        found.append(Substituted(re.sub(r'\\([\\`$"])', r"\1", inner)))
    return found


def _leaves_as_text(node: Node, source: bytes) -> bool:
    """Whether something that the shell expands stands in a node outside of all its parts."""
    if node.type in _KEEPS_ITS_TEXT or (node.type == "heredoc_body" and _is_quoted(node)):
        return False
    place = node.start_byte
    for child in node.children:
        if child.start_byte > place and _EXPANDS.search(source, place, child.start_byte):
            return True
        place = child.end_byte
    return place < node.end_byte and _EXPANDS.search(source, place, node.end_byte) is not None


def _substitutions(text: str, *, guess: bool) -> Iterator[Event]:
    """Yield what a text runs that the parser left as it is written: what stands between backquotes is known."""
    rest = _BACKQUOTED.sub(" ", text)
    for match in _BACKQUOTED.finditer(text):
        if match[1] is not None:
            yield Substituted(_ESCAPED_IN_BACKQUOTES.sub(r"\1", match[1]))
    if _EXPANDS.search(_encoded(rest)):
        yield Doubt("an expansion that is read in another way than the shell will", unparsed=True)
        if guess:
            yield Substituted(f": {text}", guess=True)


def _expand(node: Node) -> list[Node | Event]:
    """Return what a node stands for: its events, and the nodes within it that are still to be looked at."""
    kind = node.type
    if kind in _LEAVES:
        return []
    children: list[Node | Event] = list(node.named_children)
    if kind == "command":
        command = _command(node, fed=_fed(children))
        return [*([_MISREAD] if _is_misread(node, command) else []), *_inner(children), command]
    if kind in _STATEMENTS:
        doubts = [Doubt("arithmetic may run what a variable holds")] if _is_arithmetic(node) else []
        return [*doubts, *(item for child in children for item in (Joint.ANY, child)), Joint.ANY]
    if kind == "list":
        return _list(node)
    if kind == "pipeline":
        return _pipeline(node)
    if kind in _SCOPES:
        return [Edge.SCOPE, *(item for child in children for item in (Joint.ANY, child)), Edge.SCOPE_END]
    if kind in _LOOPS:
        variable = node.child_by_field_name("variable")
        sets: list[Node | Event] = [Simple((), (Assigned(node_text(variable), None),))] if variable else []
        doubts = [Doubt("arithmetic may run what a variable holds")] if kind == "c_style_for_statement" else []
        body = (item for child in children for item in (Joint.ANY, child))
        return [Edge.LOOP, *sets, *doubts, *body, Joint.ANY, Edge.LOOP_END]
    if kind == "redirected_statement":
        return _redirected(node, children)
    if kind == "heredoc_redirect" and not _ends_at_its_word(node):
        return [_MISREAD, *children]
    return _expand_part(node, kind, children)


def _redirected(node: Node, children: list[Node | Event]) -> list[Node | Event]:
    """Redirects are opened before their command runs; behind a list or a pipeline they belong to its last command."""
    body = node.child_by_field_name("body")
    fed = _fed(children)
    reads_more = body is not None and any(child.type in _REDIRECTS for child in body.named_children)
    if fed is not None and body is not None and body.type == "command" and not reads_more:
        command = _command(body, fed=fed)
        doubtful: list[Node | Event] = [_MISREAD] if _is_misread(body, command) else []
        rest = [child for child in children if child != body]
        if not any(_words_behind(child) for child in rest if isinstance(child, Node)):
            return [*rest, *doubtful, *_inner(body.named_children), command]
    redirects = [child for child in children if child != body]
    more = [word for child in redirects if isinstance(child, Node) for word in _words_behind(child)]
    if body is None:
        return [*redirects, *([Simple(tuple(more))] if more else [])]
    if more:  # `cat > out FILE`: the parser takes FILE for a second target, the shell for an operand
        last_command = _last_command(body)
        whole = (Simple((*_command(last_command).words, *more)),) if last_command is not None else (_MISREAD,)
        redirects += whole
    if body.type not in {"list", "pipeline"}:
        return [*redirects, body]
    items = _list(body) if body.type == "list" else _pipeline(body)
    last = max((place for place, item in enumerate(items) if isinstance(item, Node)), default=0)
    return [*items[:last], *redirects, *items[last:]]


def _ends_at_its_word(node: Node) -> bool:
    """Whether a here-document ends at a line that is its word and nothing else, as it does for the shell."""
    parts = {child.type: child for child in node.children}
    start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
    if start is None or end is None or node_text(end) != _QUOTES.sub("", node_text(start)):
        return False
    body = parts.get("heredoc_body")
    before = (body.text or b"") if body is not None else b""
    if any(line.lstrip(b"\t") == end.text for line in before.split(b"\n")[:-1]):
        return False
    indented = "<<-" in parts and before.endswith(b"\t") and before.rstrip(b"\t")[-1:] in {b"", b"\n"}
    return end.start_point.column == 0 or indented


def _inner(children: Sequence[Node | Event]) -> Iterator[Node | Event]:
    """Yield the parts of a command; what it assigns is its own, so that only the values are still to be looked at."""
    for child in children:
        if isinstance(child, Node) and child.type == "variable_assignment":
            yield from child.named_children
        else:
            yield child


def _is_misread(node: Node, command: Simple) -> bool:
    return bool(command.words and command.words[0].raw in _RESERVED) or _joins_lines(node)


def _fed(children: Sequence[Node | Event]) -> str | None:
    """Return the text that the one here-document or here-string feeds, where nothing else is read and it is known."""
    feeds = [one for one in children if isinstance(one, Node) and one.type in _REDIRECTS]
    if len(feeds) != 1 or feeds[0].type == "file_redirect":
        return None
    parts = feeds[0].named_children
    if feeds[0].type == "herestring_redirect":
        return read_word(parts[0]).value if len(parts) == 1 else None
    if [one.type for one in parts] != ["heredoc_start", "heredoc_body", "heredoc_end"]:
        return None
    plain = _is_quoted(parts[1]) or not _SPECIAL_IN_BODY.search(parts[1].text or b"")
    return node_text(parts[1]) if plain else None


def _words_behind(redirect: Node) -> list[Word]:
    """Return the words behind a redirect's target, which are operands of its command."""
    if redirect.type == "file_redirect":
        return [read_word(node) for node in redirect.children_by_field_name("destination")[1:]]
    if redirect.type == "heredoc_redirect":
        own = [read_word(node) for node in redirect.children_by_field_name("argument")]
        inner = (word for node in redirect.children_by_field_name("redirect") for word in _words_behind(node))
        return [*own, *inner]
    return []


def _last_command(body: Node) -> Node | None:
    node: Node | None = body
    while node is not None and node.type in {"list", "pipeline", "negated_command", "redirected_statement"}:
        node = node.child_by_field_name("body") or (node.named_children[-1] if node.named_children else None)
    return node if node is not None and node.type == "command" else None


def _joins_lines(node: Node) -> bool:
    """Whether the parser took words of two lines for one command."""
    place, data = node.start_byte, node.text or b""
    for child in node.children:
        gap = data[place - node.start_byte : child.start_byte - node.start_byte]
        joined = child.type == "comment" or (child.type == "word" and (child.text or b"").startswith(b"\n"))
        if joined or b"\n" in gap.replace(b"\\\n", b""):
            return True
        place = child.end_byte
    return False


def _pipeline(node: Node) -> list[Node | Event]:
    return [item for child in node.named_children for item in (Edge.SCOPE, child, Edge.SCOPE_END)]


def _expand_part(node: Node, kind: str, children: list[Node | Event]) -> list[Node | Event]:
    """The same for what stands within commands."""
    if kind in {"declaration_command", "unset_command"}:
        return [*([_MISREAD] if _joins_lines(node) else []), *_inner(children), _declaration(node)]
    if kind == "variable_assignment":
        return [*children, Simple((), (_assigned(node),))]
    if kind == "file_redirect":
        misread = _joins_lines(node) or (
            len(node.children_by_field_name("destination")) > 1
            and (node.parent is None or node.parent.type not in {"redirected_statement", "heredoc_redirect"})
        )
        return [*([_MISREAD] if misread else []), *_redirect(node), *children]
    if kind == "function_definition":
        return [Doubt("it redefines what a name runs"), Joint.ANY, *children, Joint.ANY]
    if kind in {"expansion", "arithmetic_expansion", "subscript", "binary_expression", "unary_expression"}:
        return [*_doubts_of_expansion(node, kind), *children]
    if kind in _CONTAINERS:
        return children
    if kind == "ERROR" or node.is_missing:
        return [Doubt("a part of it is no shell that is understood", unparsed=True), *children]
    return [Doubt(f"a `{kind}` is not judged"), *children]


def _list(node: Node) -> list[Node | Event]:
    items: list[Node | Event] = []
    for child in node.children:
        if child.is_named:
            items.append(child)
        elif child.type in {"&&", "||"}:
            items.append(Joint(child.type))
        else:
            items.append(Joint.ANY)
    return items


def _is_arithmetic(node: Node) -> bool:
    return node.type == "compound_statement" and (node.text or b"").startswith(b"((")


def _is_quoted(body: Node) -> bool:
    """Whether the word behind `<<` is quoted, so that nothing in the body expands."""
    starts = [child for child in (body.parent.children if body.parent else ()) if child.type == "heredoc_start"]
    return bool(starts) and any(char in node_text(starts[0]) for char in "'\"\\")


def _doubts_of_expansion(node: Node, kind: str) -> list[Node | Event]:
    if kind in {"binary_expression", "unary_expression"}:
        return [Doubt("a test that may run what a variable holds")] if _doubtful_test(node) else []
    text = node_text(node)
    if kind == "expansion":
        doubtful = text.endswith("@P}") or _EXECUTES.match(text) is not None
        reason = "an expansion that may run what a variable holds"
    elif kind == "subscript":
        doubtful = _LITERAL_INDEX.search(text) is None
        reason = "an index that may run what a variable holds"
    else:
        doubtful = _NUMBERS_ONLY.match(text.strip("$()[]")) is None
        reason = "arithmetic may run what a variable holds"
    return [Doubt(reason)] if doubtful else []


def _doubtful_test(node: Node) -> bool:
    """`-v`, `-R` and, in `[[`, comparisons of numbers take operands as arithmetic, which runs substitutions in them."""
    operator = node.child_by_field_name("operator")
    name = node_text(operator) if operator is not None else ""
    if name in {"-v", "-R"}:
        return True
    sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    return name in _COMPARES_NUMBERS and not all(side is None or _is_number(side) for side in sides)


def _is_number(node: Node) -> bool:
    if node.type not in {"simple_expansion", "string"}:
        return node.type == "number"
    return node.end_byte - node.start_byte <= len('"$?"') and node_text(node).strip('"') in {"$?", "$#", "$$"}


def _command(node: Node, *, fed: str | None = None) -> Simple:
    words: list[Word] = []
    assignments: list[Assigned] = []
    for child in node.named_children:
        if child.type == "variable_assignment":
            assignments.append(_assigned(child))
        elif child.type == "command_name":
            words.append(read_word(child))
        elif child.type in _WORDS:
            words += read_words(child)
    return Simple(tuple(words), tuple(assignments), fed)


def _assigned(node: Node) -> Assigned:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    text = node_text(name) if name is not None else ""
    return Assigned(text.partition("[")[0], read_word(value) if value is not None and value.type != "array" else None)


def _declaration(node: Node) -> Simple:
    """`export`, `declare`, `local`, `unset`: a builtin with words and assignments behind it."""
    first = node.children[0]
    words = [Word(node_text(first), node_text(first), node_text(first))]
    words += [
        read_word(child)
        for child in node.named_children
        if child.type in _WORDS or child.type in {"variable_name", "subscript"}
    ]
    return Simple(
        tuple(words), tuple(_assigned(child) for child in node.named_children if child.type == "variable_assignment")
    )


def _redirect(node: Node) -> list[Node | Event]:
    target = node.child_by_field_name("destination")
    if target is None:
        return []
    word = read_word(target)
    operators = {child.type for child in node.children if not child.is_named}
    if operators & {">&", "<&", ">&-", "<&-"} and word.value is not None and word.value.rstrip("-").isdigit():
        return []
    if word.value == "-" and operators & {">&", "<&"}:
        return []
    odd = not operators or "ERROR" in {child.type for child in node.children}
    return [Redirect(word, reads=odd or "<" in operators or "<&" in operators, writes=odd or operators != {"<"})]
