"""Commands whose words are neither options nor files: the shell's own that set variables, and `dd`."""

from __future__ import annotations

from collections.abc import Sequence

from aircoding.permissions.programs import is_dangerous_variable
from aircoding.permissions.shell_words import Word
from aircoding.permissions.uses import Uses

__all__ = ["odd_uses"]

_DECLARES = frozenset({"export", "declare", "local", "readonly", "typeset", "unset"})
_SHOWS_ALL = "it shows every variable, secret ones too"
_HARMLESS_ATTRIBUTES = frozenset("xrgaAlup")


def odd_uses(name: str, words: Sequence[Word], *, assigns: bool = False) -> Uses | None:
    """Return what a command with words of its own kind uses, or None when `name` is none of them.

    `assigns` says that variables are set before or behind its name.
    """
    if name in _DECLARES:
        return _declared(name, words, assigns=assigns)
    if name in {"test", "["}:
        return _tested(words)
    if name == "read":
        return _named(words)
    if name == "dd":
        return _copied(words)
    if name == "set":
        doubts = [] if all(word.value is not None for word in words) else ["options that are known only when it runs"]
        return Uses(doubts=doubts or ([_SHOWS_ALL] if len(words) == 1 else []))
    return None


def _declared(name: str, words: Sequence[Word], *, assigns: bool) -> Uses:
    uses = Uses()
    for word in words[1:]:
        value = word.value
        if value is None:
            uses.doubts.append("the name of a variable is known only when it runs")
        elif value.startswith(("-", "+")):
            if name != "unset" and not set(value[1:]) <= _HARMLESS_ATTRIBUTES:
                uses.doubts.append(f"`{name} {value}` changes how a variable is evaluated")
        elif "[" in value:
            uses.doubts.append("an index that may run what a variable holds")
        elif ("=" in value or name == "unset") and is_dangerous_variable(value.partition("=")[0]):
            uses.doubts.append(f"{value.partition('=')[0]} can change what a command runs or reaches")
    if not assigns and all((word.value or "").startswith("-") for word in words[1:]):
        uses.doubts.append(_SHOWS_ALL)
    return uses


_TEST_OPERATORS = frozenset("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o".split())


def _tested(words: Sequence[Word]) -> Uses:
    """`test` and `[`: `-v` and `-R` run what an index holds, so that no operator may come out of a variable."""
    uses = Uses()
    operands = words[1:-1] if words[0].value == "[" else words[1:]
    for place, word in enumerate(operands):
        following = operands[place + 1].value if place + 1 < len(operands) else "="
        may_be_operator = word.value is None and word.prefix in {"", "-"} and following not in _TEST_OPERATORS
        if word.splits or word.value in {"-v", "-R"} or may_be_operator:
            uses.doubts.append("a test that may run what a variable holds")
    return uses


def _copied(words: Sequence[Word]) -> Uses:
    """`dd` names its files as `if=` and `of=`."""
    uses = Uses()
    for word in words[1:]:
        name, _, path = word.prefix.partition("=")
        if name in {"if", "of"}:
            target = Word(word.raw, path if word.value is not None else None, path)
            uses.paths.append((target, "read" if name == "if" else "write"))
    return uses


def _named(words: Sequence[Word]) -> Uses:
    """`read` sets the variables that it names from its input."""
    uses = Uses()
    for word in words[1:]:
        if word.value is None or "[" in word.value:
            uses.doubts.append("the name of a variable is known only when it runs")
        elif is_dangerous_variable(word.value):
            uses.doubts.append(f"{word.value} can change what a command runs or reaches")
    return uses
