"""Read the operands and options of a program: which are files that it reads or writes, which URLs, which risks.

What is not known of an option is taken the safe way: its value counts as a path that is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aircoding.permissions.hosts import has_scheme
from aircoding.permissions.programs import (
    DASH_O_IS_FLAG,
    PROGRAMS,
    WRITE_OPTIONS,
    Operands,
    Program,
    sed_is_plain,
)
from aircoding.permissions.shell_parse import assigned_by
from aircoding.permissions.shell_words import Word, static_word
from aircoding.permissions.uses import Uses

__all__ = ["program_uses", "use_operand"]

_PLAIN = Program()
_FILE_OF_PATTERNS = frozenset({"-f", "--file", "--from-file"})
_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]")


@dataclass(slots=True)
class _Reader:
    name: str
    program: Program
    words: Sequence[Word]
    uses: Uses
    operands: list[Word] = field(default_factory=list)
    scripts: list[Word] = field(default_factory=list)
    pattern_given: bool = False
    in_place: bool = False
    tree: bool = False
    target_given: bool = False
    place: int = 1

    def run(self) -> None:
        while self.place < len(self.words):
            word = self.words[self.place]
            self.place += 1
            text = word.value if word.value is not None else word.prefix
            if word.value == "--":
                self.operands += self.words[self.place :]
                break
            if not text.startswith("-") or text == "-":
                self._may_be_option(word)
                self.operands.append(word)
            elif text.startswith("--"):
                self._long(word, text)
            else:
                self._short(word, text)

    def _may_be_option(self, word: Word) -> None:
        """A word that only a run tells may be an option, or several: of a program whose options do more, it asks."""
        behind_text = self.program.operands is Operands.TEXT and self.operands
        if self.program.risky and not behind_text and word.value is None and (word.splits or not word.prefix):
            self.uses.doubts.append(f"which options `{self.name}` gets is known only when it runs")

    def _next(self) -> Word | None:
        if self.place >= len(self.words):
            return None
        self.place += 1
        value = self.words[self.place - 1]
        if value.splits:
            self.uses.doubts.append(f"how many words `{self.name}` gets is known only when it runs")
        return value

    def _long(self, word: Word, text: str) -> None:
        name, assigned, rest = text.partition("=")
        value = Word(word.raw, rest if word.value is not None else None, rest) if assigned else None
        self._flags(name)
        program = self.program
        if _names(name, program.writes) or name in WRITE_OPTIONS:
            self.target_given = True
            self._use(value or self._next(), "write")
        elif _names(name, program.pattern_in):
            self._pattern(name, value or self._next())
        elif name in program.values:
            if value is None:
                self._next()
        elif value is not None:
            self._use(value, "read")

    def _short(self, word: Word, text: str) -> None:
        for number, letter in enumerate(text[1:], 2):
            option, rest = f"-{letter}", text[number:]
            attached = Word(word.raw, rest if word.value is not None else None, rest) if rest else None
            self._flags(option)
            if option in self.program.writes or (option == "-o" and number == 2 and self._o_writes()):
                self.target_given = True
                self._use(attached or self._next(), "write")
                return
            if option in self.program.pattern_in:
                self._pattern(option, attached or self._next())
                return
            if option in self.program.values:
                if attached is None:
                    self._next()
                return
            if option in self.program.in_place:
                return
        if self.program.operands is not Operands.TEXT:
            self._attached(word, text)

    def _attached(self, word: Word, text: str) -> None:
        """An option may carry a path right behind its letter."""
        odd = _NOT_ALNUM.search(text, 2)
        for start in {2, odd.start() if odd else 2}:
            if text[start:]:
                self._use(Word(word.raw, text[start:] if word.value is not None else None, text[start:]), "read")

    def _flags(self, option: str) -> None:
        program = self.program
        if _names(option, program.risky):
            self.uses.doubts.append(f"`{self.name} {option}` may run a program, delete files or change what runs")
        self.in_place = self.in_place or _names(option, program.in_place)
        self.tree = self.tree or _names(option, program.tree)

    def _pattern(self, option: str, value: Word | None) -> None:
        self.pattern_given = True
        if option.startswith("--file") and option not in _FILE_OF_PATTERNS:
            if value is not None:  # `--files` takes no value: what stands behind it is a path
                self.operands.append(value)
        elif value is not None and option in _FILE_OF_PATTERNS:
            self._use(value, "read")
        elif value is not None:
            self.scripts.append(value)

    def _o_writes(self) -> bool:
        return self.name not in DASH_O_IS_FLAG and self.program.operands is not Operands.TEXT

    def _use(self, word: Word | None, access: str) -> None:
        if word is not None and word.value != "-":
            use_operand(word, access, self.uses)


def program_uses(name: str, words: Sequence[Word]) -> Uses:
    """Return what a program uses that is judged by its operands alone."""
    reader = _Reader(name, PROGRAMS.get(name, _PLAIN), words, Uses())
    reader.run()
    if reader.program.operands is Operands.PATTERN and not reader.pattern_given and reader.operands:
        reader.scripts.append(reader.operands.pop(0))
    if name == "sed":
        _sed_scripts(reader)
    if name == "make":
        _make_variables(reader)
    for word, access in _accesses(reader):
        if word.value != "-":
            use_operand(word, access, reader.uses)
    return reader.uses


def _accesses(reader: _Reader) -> list[tuple[Word, str]]:
    """Return the operands with what is done to them."""
    operands, kind = reader.operands, reader.program.operands
    written = "tree" if reader.tree else "write"
    if kind is Operands.TEXT:
        return []
    if reader.in_place or kind is Operands.WRITTEN:
        return [(word, written) for word in operands]
    if kind is Operands.MOVED:
        return [(word, "tree") for word in operands]
    if kind is Operands.MODE:
        return [(word, written) for word in operands[1:]]
    if kind is Operands.SECOND_WRITTEN:
        return [(word, "write" if place == 1 else "read") for place, word in enumerate(operands)]
    if kind is Operands.LAST_WRITTEN and not reader.target_given:
        last = len(operands) - 1
        if last == 0 and operands[0].value is not None:
            own_name = operands[0].value.rstrip("/").rpartition("/")[2] or "."
            return [(operands[0], "read"), (static_word(own_name), "write")]
        return [(word, "write" if place == last else "read") for place, word in enumerate(operands)]
    return [(word, "read") for word in operands]


def _sed_scripts(reader: _Reader) -> None:
    for script in reader.scripts:
        if script.value is None or not sed_is_plain(script.value):
            reader.uses.doubts.append("the sed script may write files or run programs, or is known only when it runs")


def _make_variables(reader: _Reader) -> None:
    """`make NAME=value` sets a variable: `SHELL=x` is what every line of it runs by."""
    named = [word for word in reader.operands if "=" in word.prefix]
    reader.operands = [word for word in reader.operands if "=" not in word.prefix and "/" in word.prefix]
    for word in named:
        reader.uses.assigned.append(assigned_by(word))


def use_operand(word: Word, access: str, uses: Uses) -> None:
    """Note an operand as a URL when it is one, else as a path."""
    if has_scheme(word.value if word.value is not None else word.prefix):
        uses.urls.append(word)
    elif word.value != "":
        uses.paths.append((word, access))


def _names(name: str, options: frozenset[str]) -> bool:
    """Whether an option is one of some; programs take a long one by any beginning that tells it from others."""
    if name in options:
        return True
    return name.startswith("--") and len(name) > 3 and any(option.startswith(name) for option in options)
