"""Programs that run other programs: what they run, and what else they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from aircoding.permissions.operands import use_operand
from aircoding.permissions.shell_parse import assigned_by
from aircoding.permissions.shell_words import Word, static_word
from aircoding.permissions.uses import Script, Uses

__all__ = ["SHELLS", "WRAPPERS", "hands_on", "possible_scripts", "runs_others"]

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})
"""Shells: what stands behind `-c` is parsed again."""

_REPLACES = re.compile(r"-(?:[a-zA-Z0-9]*[Ii]|-replace=?)(.*)", re.DOTALL)
_SPLITS = re.compile(r"(?:-[0iv]*S|--sp?l?i?t?-?s?t?r?i?n?g?=?)(.*)", re.DOTALL)
_TAKES_SCRIPT = re.compile(r"-[a-zA-Z]*[cex]|--(?:command|exec|execute|run|eval)")
_JOIN_THEIR_WORDS = frozenset("watch viddy hyperfine parallel entr".split())
"""Programs that hand their operands to a shell as text."""
_CLUSTER_WITH_C = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*$")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
_DYNAMIC = Word("…", None)
_NAME_TESTS = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename"})
_MOST_NAMES = 8
"""Names in one `find` that are judged one by one; more of them ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wrapper:
    """A program that runs what follows its options and `operands` operands; `adds` words that only a run tells."""

    operands: int = 0
    values: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    asks: frozenset[str] = frozenset()
    tells: frozenset[str] = frozenset()
    adds: bool = False


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


WRAPPERS: dict[str, _Wrapper] = {
    **dict.fromkeys(("builtin", "nohup", "setsid", "chronic", "unbuffer", "coproc", "noglob", "nocorrect"), _Wrapper()),
    "command": _Wrapper(tells=_set("-v -V")),
    "exec": _Wrapper(values=_set("-a")),
    "time": _Wrapper(values=_set("-f --format"), writes=_set("-o --output")),
    "timeout": _Wrapper(operands=1, values=_set("-s -k --signal --kill-after")),
    "nice": _Wrapper(values=_set("-n --adjustment")),
    "ionice": _Wrapper(values=_set("-c -n -t --class --classdata")),
    "chrt": _Wrapper(operands=1, values=_set("-T -P -D")),
    "taskset": _Wrapper(operands=1),
    "stdbuf": _Wrapper(values=_set("-i -o -e --input --output --error")),
    "busybox": _Wrapper(),
    "toybox": _Wrapper(),
    "xargs": _Wrapper(
        values=_set("-n -P -L -d -E -s --max-args --max-procs --max-lines --delimiter --max-chars"),
        reads=_set("-a --arg-file"),
        adds=True,
    ),
    "env": _Wrapper(values=_set("-u --unset"), asks=_set("-C --chdir")),
}


def runs_others(name: str, words: Sequence[Word], fed: str | None = None) -> Uses | None:
    """Return what a program that runs others would run, or None when it is none or runs nothing this time.

    `fed` is the text of its input where that is known.
    """
    if name in WRAPPERS:
        return _wrapped(name, words)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words)
    return _shell(words, fed) if name in SHELLS else None


def hands_on(name: str) -> bool:
    """Whether a program of that name may run another one."""
    return name in WRAPPERS or name in _SPECIAL or name in SHELLS


def _wrapped(name: str, words: Sequence[Word]) -> Uses | None:
    wrapper, uses = WRAPPERS[name], Uses()
    place = 1
    while place < len(words):
        value = words[place].value
        if value == "--":
            place += 1
            break
        if name == "env" and _ASSIGNMENT.match(words[place].prefix):
            uses.assigned.append(assigned_by(words[place]))
            place += 1
            continue
        if value is None or not value.startswith("-") or value == "-":
            break
        if name == "env" and (split := _SPLITS.match(value)):
            return _split_string(split[1], words[place:], uses)
        if value in wrapper.tells:
            return Uses()
        place += _wrapper_option(name, wrapper, value, words[place + 1] if place + 1 < len(words) else None, uses)
    inner = tuple(words[place + wrapper.operands :])
    if not inner:
        return Uses() if name in {"exec", "command", "builtin", "time"} else None
    if any(word.splits for word in words[1 : place + wrapper.operands]):
        uses.doubts.append(f"which words `{name}` takes for its command is known only when it runs")
    if wrapper.adds:
        inner = (*(_put_in(word, uses.placeholder) for word in inner), _DYNAMIC)
    uses.commands.append(inner)
    return uses


def _put_in(word: Word, placeholder: str) -> Word:
    """Return a word in which another program puts names that only a run tells."""
    if not placeholder or word.value is None or placeholder not in word.value:
        return word
    return Word(word.raw, None, word.value.partition(placeholder)[0])


def _wrapper_option(name: str, wrapper: _Wrapper, value: str, following: Word | None, uses: Uses) -> int:
    """Note what an option of a wrapper does and return how many words it takes."""
    option, assigned, rest = value.partition("=")
    target = static_word(rest) if assigned else following
    takes = 1 if assigned else 2
    if option in wrapper.asks:
        uses.doubts.append(f"`{name} {option}` changes where its command runs")
        return takes
    if option in wrapper.writes and target is not None:
        uses.write(target)
        return takes
    if option in wrapper.reads and target is not None:
        uses.read(target)
        return takes
    if name == "xargs" and (replaces := _REPLACES.match(value)):
        given = replaces[1] or (following.value if value == "-I" and following is not None else None)
        uses.placeholder = given or "{}"
        return 2 if value == "-I" else 1
    return takes if option in wrapper.values else 1


def _split_string(attached: str, words: Sequence[Word], uses: Uses) -> Uses:
    """`env -S TEXT`: the text becomes words; the shell's splitting of it is at least as wide."""
    text = attached or ((words[1].value or "") if len(words) > 1 else "")
    rest = words[1:] if attached else words[2:]
    if not text or (not attached and words[1].value is None):
        uses.doubts.append("env splits a text that is known only when it runs")
    uses.scripts.append(Script(" ".join([text, *(_quoted(word.value) for word in rest if word.value is not None)])))
    if any(word.value is None for word in rest):
        uses.doubts.append("a word of the command is known only when it runs")
    return uses


def _quoted(text: str | None) -> str:
    return "'" + (text or "").replace("'", "'\\''") + "'"


def possible_scripts(words: Sequence[Word]) -> list[Script]:
    """Return the texts that a program which is not known may hand to a shell."""
    joins = (words[0].value or "").rpartition("/")[2] in _JOIN_THEIR_WORDS
    texts = [
        word.value
        for before, word in pairwise(words)
        if word.value and (joins or (before.value is not None and _TAKES_SCRIPT.fullmatch(before.value)))
    ]
    return [Script(text, possible=True) for text in texts if " " in text or "\n" in text]


def _shell(words: Sequence[Word], fed: str | None) -> Uses:
    """A shell: judge the text behind `-c`; one that reads a script or its input asks, and a denied text denies."""
    uses = Uses()
    place, reads_text = 1, False
    while place < len(words):
        value = words[place].value
        if value is None or not value.startswith(("-", "+")) or value in {"-", "--"}:
            place += value in {"-", "--"}
            break
        if value in {"-o", "+o", "-O", "+O"}:
            place += 1
        elif value.startswith("--") and value not in {"--norc", "--noprofile", "--posix", "--login", "--verbose"}:
            uses.doubts.append(f"`{words[0].raw} {value}` runs another file first")
        reads_text = reads_text or _CLUSTER_WITH_C.match(value) is not None
        place += 1
    script = words[place] if place < len(words) else None
    if not reads_text:
        uses.doubts.append("a shell that runs a script or its input, which cannot be judged")
        if script is not None:
            uses.read(script)
        if fed is not None:
            uses.scripts.append(Script(fed, possible=True))
    elif script is None or script.value is None:
        uses.doubts.append("the script is known only when it runs")
    else:
        uses.scripts.append(Script(script.value))
    return uses


def _eval(words: Sequence[Word]) -> Uses:
    uses = Uses()
    if any(word.value is None or word.glob for word in words[1:]):
        uses.doubts.append("`eval` of a text that is known only when it runs")
    else:
        uses.scripts.append(Script(" ".join(word.value or "" for word in words[1:]), apart=False))
    return uses


def _trap(words: Sequence[Word]) -> Uses:
    uses = Uses()
    operands = [word for word in words[1:] if word.value not in {"--", "-p", "-l"}]
    if len(operands) > 1:
        if operands[0].value is None:
            uses.doubts.append("the trap is known only when it runs")
        elif operands[0].value not in {"-", ""}:
            uses.scripts.append(Script(operands[0].value))
    return uses


def _alias(words: Sequence[Word]) -> Uses:
    """An alias changes what a later name runs, so it asks; its text is judged all the same."""
    uses = Uses(doubts=["an alias changes what a name runs"])
    uses.scripts += [Script(word.value.partition("=")[2]) for word in words[1:] if word.value and "=" in word.value]
    return uses


def _source(words: Sequence[Word]) -> Uses:
    uses = Uses(doubts=["it runs a file in this shell, which cannot be judged"])
    if len(words) > 1:
        uses.read(words[1])
    return uses


def _find(words: Sequence[Word]) -> Uses:
    """`find`: its folders are read; what stands behind `-exec` is run on what it finds."""
    uses = Uses()
    place = 1
    while place < len(words) and (words[place].prefix[:2] in {"-H", "-L", "-P", "-D", "-O"}):
        place += 1
    roots: list[Word] = []
    while place < len(words) and not words[place].prefix.startswith(("-", "(", "!", ")")):
        roots.append(words[place])
        place += 1
    for root in roots or [static_word(".")]:
        use_operand(root, "read", uses)
    found = _found(roots[0] if roots else static_word("."), words[place:], uses)
    while place < len(words):
        value = words[place].value
        if value in {"-exec", "-execdir", "-ok", "-okdir"}:
            end = place + 1
            while end < len(words) and words[end].value not in {";", "+"}:
                end += 1
            inner = words[place + 1 : end]
            uses.commands += [
                tuple(one if word.value == "{}" else _put_in(word, "{}") for word in inner) for one in found if inner
            ]
            place = end
        elif value == "-delete":
            uses.doubts.append("`find -delete` deletes what it finds")
        elif value in {"-fprint", "-fprint0", "-fprintf", "-fls"} and place + 1 < len(words):
            uses.write(words[place + 1])
        elif value in {"-newer", "-samefile", "-files0-from"} and place + 1 < len(words):
            uses.read(words[place + 1])
        place += 1
    return uses


def _found(root: Word, tests: Sequence[Word], uses: Uses) -> tuple[Word, ...]:
    """Return words for what find hands on: names below its folder that its own tests let through."""
    names = list(_wanted_names([test.value for test in tests]))
    if len(names) > _MOST_NAMES:
        uses.doubts.append("find hands on more kinds of names than are judged")
    if root.value is None:
        return (_DYNAMIC,)
    base = root.value.rstrip("/") or "/"
    return tuple(Word("{}", f"{base}/{name.lstrip('/')}", base, glob=True) for name in names[:_MOST_NAMES]) or (
        static_word(f"{base}/found"),
    )


def _wanted_names(tests: Sequence[str | None]) -> Iterator[str]:
    """Yield the names that a find asks for; what it turns round (`!`) or prunes it does not hand on."""
    for place, (test, name) in enumerate(pairwise(tests)):
        if test in _NAME_TESTS and name is not None:
            turned = place > 0 and tests[place - 1] in {"!", "-not"}
            pruned = place + 2 < len(tests) and tests[place + 2] == "-prune"
            if not turned and not pruned:
                yield name


_SPECIAL: dict[str, Callable[[Sequence[Word]], Uses]] = {
    "eval": _eval,
    "trap": _trap,
    "alias": _alias,
    "source": _source,
    ".": _source,
    "find": _find,
}
