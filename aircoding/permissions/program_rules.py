"""Which program a command names, and what the command lines of the policy say of it."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aircoding.permissions.compiled import compiled
from aircoding.permissions.judgements import by_engine, by_rule
from aircoding.permissions.locations import is_inside, locate
from aircoding.permissions.paths import judge_path
from aircoding.permissions.programs import (
    BUILTINS,
    OPAQUE,
    PYTHON_MODULES,
    SYSTEM_FOLDERS,
    TOOL_FOLDERS,
    canonical_program,
)
from aircoding.permissions.shell_words import Word
from aircoding.records.policy import Effect, Judgement, Policy, PolicyRule, PolicySubject

__all__ = ["UNKNOWN_PROGRAM", "ProgramName", "denied_among", "judge_program", "program_of"]

UNKNOWN_PROGRAM = "unknown program"
"""What a judgement goes by when no line names the program."""

_MOST_TIMES = 50
"""How often one name among the words of an unknown program is looked at with all that stands behind it."""
_PYTHON_FLAGS = frozenset("-B -E -I -s -S -u -v -q -O -OO -b -bb -P -d".split())
_PYTHON_VALUES = frozenset("-W -X".split())
_SHORTER = {
    "npm": {"t": "test", "tst": "test", "i": "install", "run-script": "run", "clean-install": "ci", "add": "install"},
    "pnpm": {"i": "install", "t": "test"},
    "yarn": {},
}


@dataclass(frozen=True, slots=True)
class ProgramName:
    """A program: the name that it is judged by, and by which a deny knows it, whatever folder it is named in."""

    name: str
    denied_as: str


def program_of(word: Word, folders: frozenset[str] | None, policy: Policy) -> ProgramName | None:
    """Return the program that a word names, or None when that is known only when it runs.

    A path into a system folder is the program itself, and so is one into the project's own tools where the worker may
    not write them. Any other path is a program of its own, which a line must name as a path.
    """
    if not word.value or word.glob:
        return None
    if "/" not in word.value:
        name = canonical_program(word.value)
        return ProgramName(name, name)
    base = canonical_program(posixpath.basename(word.value))
    places = {locate(word.value, cwd, policy) for cwd in folders or ()} or {word.value}
    if len(places) == 1:
        place = next(iter(places))
        folder = posixpath.dirname(place)
        if folder in SYSTEM_FOLDERS:
            return ProgramName(base, base)
        if folder in TOOL_FOLDERS and judge_path(place, "write", policy).effect.rank >= Effect.ASK.rank:
            return ProgramName(base, base)
        return ProgramName(f"./{place}" if is_inside(place) else place, base)
    return ProgramName(word.value, base)


def judge_program(
    program: ProgramName, argv: Sequence[Word], words: Sequence[Word], policy: Policy, *, only_hands_on: bool
) -> list[Judgement]:
    """Return what the lines of the policy say of one command.

    `argv` is the command without options that stand before its subcommand. With `only_hands_on` the command does
    nothing but run another one, which is judged by itself, so that it needs no line of its own.
    """
    index = compiled(policy).commands
    if only_hands_on and not (index.names(program.name) or index.names(program.denied_as)):
        return []
    forms = _forms(program.name, [word.value for word in argv])
    whole = [word.value for word in words[1:]]  # a deny may name an option that stands before the subcommand
    strict_forms = [*forms, [program.denied_as, *forms[0][1:]], [program.name, *whole]]
    different = [form for place, form in enumerate(strict_forms) if form not in strict_forms[:place]]
    narrowing = [rule for form in different for rule in index.narrowing(form)]
    text = " ".join(word.raw for word in words)
    strict = max(narrowing, key=lambda rule: rule.effect.rank, default=None)
    if strict is not None:
        verb = "is refused by the policy" if strict.effect is Effect.DENY else "needs a person's approval"
        return [by_rule(strict, text, f"`{strict.pattern}` {verb}")]
    widening = [rule for form in forms for rule in index.widening(form)]
    loose = max(widening, key=_width, default=None)
    if loose is not None and any(rule.widens for rule in widening):
        verb = "announces" if loose.effect is Effect.ANNOUNCE else "allows"
        return [by_rule(loose, text, f"the policy {verb} `{loose.pattern}`")]
    if only_hands_on:
        return []
    if program.name in BUILTINS:
        return [by_engine(Effect.ALLOW, PolicySubject.COMMAND, text, "shell builtin", "the shell's own command")]
    # A path is shown as a policy line would have to name it, a bare name as it was written (`python3`, not `python`).
    shown = program.name if "/" in program.name else argv[0].value
    why = f"no line of the policy names `{shown}`"
    if program.name in OPAQUE:
        why = f"what `{shown}` runs cannot be judged from outside, and no line of the policy allows it"
    return [by_engine(Effect.ASK, PolicySubject.COMMAND, text, UNKNOWN_PROGRAM, why)]


def _width(rule: PolicyRule) -> int:
    return rule.effect.rank


def _forms(name: str, values: list[str | None]) -> list[list[str | None]]:
    """Return the argv under every name that it goes by: as given, without flags, and as the module that it runs."""
    forms: list[list[str | None]] = [[name, *values[1:]]]
    if name == "python":
        place = 1
        while place < len(values) and values[place] in _PYTHON_FLAGS | _PYTHON_VALUES:
            place += 2 if values[place] in _PYTHON_VALUES else 1
        if place > 1:
            forms.append([name, *values[place:]])
        module = values[place + 1] if len(values) > place + 1 and values[place] == "-m" else None
        if module in PYTHON_MODULES:
            forms.append([module, *values[place + 2 :]])
    shorter = _SHORTER.get(name)
    if shorter and len(values) > 1 and values[1] in shorter:
        forms.append([name, shorter[values[1] or ""], *values[2:]])
    return forms


def denied_among(words: Sequence[Word], policy: Policy) -> list[Judgement]:
    """Return the deny that holds if an unknown program runs its operands and a refused one is among them."""
    values = [None if word.value is None else _base_name(word.value) for word in words]
    index = compiled(policy).commands
    times: Counter[str] = Counter()
    for place in range(1, len(values)):
        name = values[place]
        if name is None or not index.names(name):
            continue
        times[name] += 1
        if times[name] > _MOST_TIMES:  # a line that refuses the bare name has held at its first time
            continue
        for rule in index.narrowing(values, place):
            if rule.effect is Effect.DENY:
                text = " ".join(word.raw for word in words)
                return [by_rule(rule, text, f"an unknown program may run `{values[place]}`, which is refused")]
    return []


def _base_name(value: str) -> str:
    return canonical_program(value.rpartition("/")[2]) if "/" in value and "://" not in value else value
