"""Judge a command line: every simple command, wrapper, redirect, path and host in it, at every depth."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from aircoding.permissions.hosts import CLIENTS, client_hosts, judge_host, sends_data
from aircoding.permissions.paths import judge_path, lexical_path
from aircoding.permissions.programs import (
    NO_PATHS,
    PATTERN_FIRST,
    PYTHON,
    SHELLS,
    SYSTEM_FOLDERS,
    WRAPPER_OPTIONS_WITH_VALUE,
    WRAPPERS,
    WRITERS,
    git_words,
    is_dangerous_variable,
    sed_is_plain,
)
from aircoding.permissions.shell_parse import Redirect, SimpleCommand, Word, parse_line
from aircoding.records.policy import Effect, Judgement, Policy, PolicyLevel, PolicyRule, PolicySubject

__all__ = ["judge_command"]

_SAFE_GLOB = re.compile(r"[\w./*?\[\]{},+@%-]+$")
_MAX_NESTING = 40


@dataclass(slots=True)
class _Line:
    """The judgements of one line as they come, and the folder that each scope is in."""

    policy: Policy
    cwd: dict[int, str | None]
    judgements: list[Judgement] = field(default_factory=list)
    nesting: int = 0

    def add(self, effect: Effect, text: str, reason: str) -> None:
        self.judgements.append(_own(effect, text, reason))


def judge_command(command: str, cwd: str, policy: Policy, *, nesting: int = 0) -> tuple[Judgement, ...]:
    """Return the judgements of all that a command line would do; never empty."""
    parsed = parse_line(command)
    line = _Line(policy, {0: cwd}, nesting=nesting)
    for doubt in parsed.doubts:
        line.add(Effect.ASK, command, doubt)
    if parsed.doubts:
        _denied_words(command, line)
    for part in parsed.parts:
        if part.scope not in line.cwd:
            parent = part.parent_scope if isinstance(part, SimpleCommand) else 0
            line.cwd[part.scope] = line.cwd.get(parent, cwd)
        if isinstance(part, Redirect):
            _path(part.target, "write" if part.writes else "read", part.scope, line)
        else:
            _simple(part, line)
    if not line.judgements:
        line.add(Effect.ALLOW, command, "it runs nothing")
    return tuple(line.judgements)


def _denied_words(command: str, line: _Line) -> None:
    """A line that cannot be understood is denied where a denied program's name stands in it."""
    words = set(re.findall(r"[\w.+-]+", command))
    for rule in line.policy.rules:
        if rule.subject is PolicySubject.COMMAND and rule.effect is Effect.DENY and rule.pattern.split()[0] in words:
            line.judgements.append(_by_rule(rule, command, "a denied word stands in a line that cannot be understood"))


def _simple(command: SimpleCommand, line: _Line) -> None:
    for name, value in command.assignments:
        if is_dangerous_variable(name):
            line.add(Effect.ASK, f"{name}={value.raw if value else ''}", f"{name} can change what a command runs")
    if command.words:
        _program(list(command.words), command.scope, line)


def _program(words: list[Word], scope: int, line: _Line) -> None:
    """Judge one program with its operands; wrappers hand on to the program that they run."""
    text = " ".join(word.raw for word in words)
    name = _program_name(words[0].value, line, text)
    if name is None:
        return
    if line.nesting > _MAX_NESTING:
        line.add(Effect.ASK, text, "it nests too deeply to be judged")
        return
    special = _SPECIAL.get(name)
    if special is not None:
        special(name, words, scope, line)
    elif name in SHELLS:
        _shell(name, words, scope, line)
    elif name in WRAPPERS:
        _wrapper(name, words, scope, line)
    elif PYTHON.match(name):
        _plain(["python", *_values(words[1:])], words, scope, line)
    else:
        _plain([name, *_values(words[1:])], words, scope, line)


def _program_name(value: str | None, line: _Line, text: str) -> str | None:
    """Return the name of a program, or None after a judgement when it has no plain one."""
    if value is None:
        line.add(Effect.ASK, text, "the program is known only when it runs")
        return None
    if not value:
        line.add(Effect.ASK, text, "the program has no name")
        return None
    if "/" not in value:
        return value
    folder, _, name = value.rpartition("/")
    if f"{folder}/" in SYSTEM_FOLDERS:
        return name
    rules = _matching_rules([name], line.policy, effects={Effect.DENY})
    if rules:
        line.judgements.append(_by_rule(rules[0], text, "a denied program by another path"))
        return None
    own = _matching_rules([value], line.policy, effects={Effect.ALLOW, Effect.ANNOUNCE})
    if own:
        return value
    line.add(Effect.ASK, text, f"{value} is a program of unknown content")
    return None


def _values(words: list[Word]) -> list[str | None]:
    return [word.value for word in words]


def _matching_rules(words: list[str | None], policy: Policy, *, effects: set[Effect] | None = None) -> list[PolicyRule]:
    """Return the lines that match an argv, strongest first.

    A line with `*` last, and any ask or deny, matches every argv that begins with its words; an
    allow or announce without `*` matches that argv only.
    """
    found = [
        rule
        for rule in policy.rules
        if rule.subject is PolicySubject.COMMAND
        and (effects is None or rule.effect in effects)
        and _rule_matches(rule, words)
    ]
    return sorted(found, key=lambda rule: -rule.effect.rank)


def _rule_matches(rule: PolicyRule, words: list[str | None]) -> bool:
    wanted = rule.pattern.split()
    open_end = wanted[-1].endswith("*")
    tail = wanted[-1][:-1] if open_end else None
    if open_end:
        wanted = wanted[:-1]
    elif rule.effect.rank >= Effect.ASK.rank:
        open_end = True
    if wanted and PYTHON.match(wanted[0]):
        wanted = ["python", *wanted[1:]]
    if len(words) < len(wanted) or any(word != want for word, want in zip(words, wanted, strict=False)):
        return False
    if tail:
        rest = words[len(wanted)] if len(words) > len(wanted) else None
        return rest is not None and rest.startswith(tail)
    return open_end or len(words) == len(wanted)


def _plain(argv: list[str | None], words: list[Word], scope: int, line: _Line) -> None:
    """Judge a program by the lines that match its argv, then its operands as paths."""
    text = " ".join(word.raw for word in words)
    rules = _matching_rules(argv, line.policy)
    name = argv[0] or ""
    if rules:
        line.judgements.append(_by_rule(rules[0], text, _RULE_REASON[rules[0].effect]))
    elif name not in {":", "true", "false"}:
        line.add(Effect.ASK, text, f"no line of the policy names `{name}`")
        _denied_operands(words, text, line)
    if name in CLIENTS:
        _client(argv, text, line)
        return
    _operands(name, words, scope, line)


_RULE_REASON = {
    Effect.ALLOW: "a line allows it",
    Effect.ANNOUNCE: "a line asks to announce it",
    Effect.ASK: "a line asks for confirmation",
    Effect.DENY: "a line denies it",
}


def _denied_operands(words: list[Word], text: str, line: _Line) -> None:
    """An unknown program may run its operands: a denied program among them denies the whole."""
    for place in range(1, len(words)):
        values = _values(words[place:])
        for rule in _matching_rules(values, line.policy, effects={Effect.DENY}):
            line.judgements.append(_by_rule(rule, text, "an unknown program may run a denied one"))
            return


def _client(argv: list[str | None], text: str, line: _Line) -> None:
    for host in client_hosts(argv):
        line.judgements.append(judge_host(host, line.policy))
    if sends_data([word or "" for word in argv]):
        line.add(Effect.ASK, text, "it may send data, or go where another file says")


def _operands(name: str, words: list[Word], scope: int, line: _Line) -> None:
    """Judge the operands of a program as paths that it reads or writes."""
    if name in NO_PATHS:
        return
    operands = [word for word in words[1:] if not (word.value or "").startswith("-") or word.value == "-"]
    mode = WRITERS.get(name)
    skip = 1 if name in PATTERN_FIRST and not any(word.value in {"-e", "-f"} for word in words) else 0
    for place, word in enumerate(operands[skip:]):
        writes = mode == "all" or (mode == "rest" and place > 0) or (mode == "last" and place == len(operands) - 1)
        _path(word, "write" if writes else "read", scope, line)
    for word in words[1:]:
        option, assigned, value = (word.value or "").partition("=")
        if assigned and option.startswith("-") and value.startswith(("/", "~", "..")):
            _path(Word(value, value), "read", scope, line)


def _path(word: Word, access: str, scope: int, line: _Line) -> None:
    cwd = line.cwd.get(scope, ".")
    value = word.value
    if value is None and _SAFE_GLOB.match(word.raw):
        value = word.raw
    if value is None:
        line.add(Effect.ASK, word.raw, "a path that is known only when it runs")
    elif cwd is None and not value.startswith("/"):
        line.add(Effect.ASK, word.raw, "a path in a folder that is known only when it runs")
    elif value not in {"", "-"}:
        line.judgements.append(judge_path(lexical_path(value, cwd or "."), access, line.policy))


def _cd(name: str, words: list[Word], scope: int, line: _Line) -> None:
    target = words[1] if len(words) > 1 else Word("~", "~")
    _path(target, "read", scope, line)
    here = line.cwd.get(scope)
    known = target.value is not None and here is not None and target.value != "-"
    line.cwd[scope] = lexical_path(target.value or ".", here or ".") if known else None
    if not known:
        line.add(Effect.ASK, f"{name} {target.raw}", "the folder is known only when it runs")


def _wrapper(name: str, words: list[Word], scope: int, line: _Line) -> None:
    """Skip a wrapper's own options and operands, and judge the program that it runs."""
    place, valued = 1, WRAPPER_OPTIONS_WITH_VALUE.get(name, frozenset())
    denied = _matching_rules([name, *_values(words[1:])], line.policy, effects={Effect.DENY, Effect.ASK})
    if denied:
        line.judgements.append(_by_rule(denied[0], " ".join(word.raw for word in words), "a line governs it"))
    while place < len(words):
        value = words[place].value
        if value == "--":
            place += 1
            break
        if value is not None and name == "env" and re.match(r"\w+=", value):
            if is_dangerous_variable(value.partition("=")[0]):
                line.add(Effect.ASK, value, "a variable that can change what a command runs")
        elif value is not None and name == "env" and value.startswith(("-S", "--split-string")):
            line.add(Effect.ASK, words[place].raw, "env splits a text into a command")
            return
        elif value is None or not value.startswith("-"):
            break
        elif value in valued:
            place += 1
        place += 1
    place += WRAPPERS[name]
    if place < len(words):
        line.nesting += 1
        _program(words[place:], scope, line)
        line.nesting -= 1
    elif name not in {"env", "time", "command", "exec"}:
        line.add(Effect.ASK, name, "nothing stands behind it to judge")


def _shell(name: str, words: list[Word], scope: int, line: _Line) -> None:
    """Judge the text behind `-c`; a shell that reads a script or its input asks."""
    rest = words[1:] if name != "busybox" else words[2:]
    for place, word in enumerate(rest):
        if word.value is not None and re.match(r"-[a-z]*c[a-z]*$", word.value):
            script = rest[place + 1] if place + 1 < len(rest) else None
            _nested(script, words, scope, line)
            return
    line.add(Effect.ASK, " ".join(word.raw for word in words), "a shell that runs text from elsewhere")


def _eval(name: str, words: list[Word], scope: int, line: _Line) -> None:
    if all(word.value is not None for word in words):
        text = " ".join(word.value or "" for word in words[1:])
        _nested(Word(text, text), words, scope, line)
    else:
        line.add(Effect.ASK, " ".join(word.raw for word in words), f"`{name}` of a text known only when it runs")


def _nested(script: Word | None, words: list[Word], scope: int, line: _Line) -> None:
    text = " ".join(word.raw for word in words)
    if script is None or script.value is None:
        line.add(Effect.ASK, text, "the script is known only when it runs")
    elif line.nesting >= _MAX_NESTING:
        line.add(Effect.ASK, text, "it nests too deeply to be judged")
    else:
        inner = judge_command(script.value, line.cwd.get(scope) or ".", line.policy, nesting=line.nesting + 1)
        line.judgements.extend(inner)


def _source(name: str, words: list[Word], scope: int, line: _Line) -> None:
    del scope
    line.add(Effect.ASK, " ".join(word.raw for word in words), f"`{name}` runs a file or changes what names mean")


def _find(name: str, words: list[Word], scope: int, line: _Line) -> None:
    """`find`: judge its folders, and the command behind `-exec`."""
    place = 1
    while place < len(words) and not (words[place].value or "").startswith(("-", "(", "!")):
        _path(words[place], "read", scope, line)
        place += 1
    line.judgements.extend(_named(name, words, line))
    while place < len(words):
        value = words[place].value
        if value in {"-exec", "-execdir", "-ok", "-okdir"}:
            end = next((n for n in range(place + 1, len(words)) if words[n].value in {";", "+"}), len(words))
            inner = [Word("FOUND", "FOUND") if word.value == "{}" else word for word in words[place + 1 : end]]
            if inner:
                line.nesting += 1
                _program(inner, scope, line)
                line.nesting -= 1
            place = end
        elif value in {"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}:
            line.add(Effect.ASK, f"find {value}", "it deletes or writes what it finds")
        place += 1


def _named(name: str, words: list[Word], line: _Line) -> list[Judgement]:
    text = " ".join(word.raw for word in words)
    rules = _matching_rules([name, *_values(words[1:])], line.policy)
    if rules:
        return [_by_rule(rules[0], text, _RULE_REASON[rules[0].effect])]
    return [_own(Effect.ASK, text, f"no line of the policy names `{name}`")]


def _git(name: str, words: list[Word], scope: int, line: _Line) -> None:
    """`git`: the subcommand counts, whatever global options stand before it."""
    del name
    text = " ".join(word.raw for word in words)
    if any(word.value is None for word in words[:2]):
        line.add(Effect.ASK, text, "the subcommand is known only when it runs")
        return
    plain, folder, doubt = git_words([word.value if word.value is not None else word.raw for word in words])
    if doubt:
        line.add(Effect.ASK, text, doubt)
    if folder is not None:
        _path(Word(folder, folder), "read", scope, line)
    rules = _matching_rules([*plain], line.policy)
    if rules:
        line.judgements.append(_by_rule(rules[0], text, _RULE_REASON[rules[0].effect]))
    elif len(plain) > 1 or not any(word in text for word in ("--version", "--help")):
        line.add(Effect.ASK, text, f"no line of the policy names `git {plain[1] if len(plain) > 1 else ''}`")
    for word in plain[2:]:
        if word.startswith(("/", "~", "../")):
            _path(Word(word, word), "read", scope, line)


def _sed(name: str, words: list[Word], scope: int, line: _Line) -> None:
    values = _values(words[1:])
    in_place = any(value is not None and re.match(r"(-[nErsz]*i|--in-place)", value) for value in values)
    script = next((value for value in values if value is None or not value.startswith("-")), None)
    if script is None or not sed_is_plain(script) or any(value in {"-f", "--file"} for value in values):
        line.add(Effect.ASK, " ".join(word.raw for word in words), "a sed script that may write or run something")
    line.judgements.extend(_named(name, words, line))
    operands = [word for word in words[1:] if not (word.value or "").startswith("-")]
    for word in operands[1:]:
        _path(word, "write" if in_place else "read", scope, line)


_SPECIAL: dict[str, Callable[[str, list[Word], int, _Line], None]] = {
    "cd": _cd,
    "pushd": _cd,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "alias": _source,
    "trap": _source,
    "enable": _source,
    "find": _find,
    "git": _git,
    "sed": _sed,
    "export": lambda *_: None,
    "declare": lambda *_: None,
    "typeset": lambda *_: None,
    "local": lambda *_: None,
    "readonly": lambda *_: None,
    "unset": lambda *_: None,
    "set": lambda *_: None,
}


def _by_rule(rule: PolicyRule, text: str, reason: str) -> Judgement:
    return Judgement(
        effect=rule.effect,
        subject=PolicySubject.COMMAND,
        text=text,
        pattern=rule.pattern,
        level=rule.level,
        uri=rule.uri,
        line=rule.line,
        reason=reason,
    )


def _own(effect: Effect, text: str, reason: str) -> Judgement:
    return Judgement(
        effect=effect,
        subject=PolicySubject.COMMAND,
        text=text,
        pattern="",
        level=PolicyLevel.DEFAULTS,
        uri="policy:defaults",
        line=None,
        reason=reason,
    )
