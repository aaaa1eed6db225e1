"""Judge a command line: every simple command, wrapper, script, redirect, path and host in it, at every depth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from aircoding.permissions.clients import CLIENTS, client_uses
from aircoding.permissions.compiled import compiled
from aircoding.permissions.folders import Folders
from aircoding.permissions.git_acts import git_uses
from aircoding.permissions.hosts import host_of_url, judge_host
from aircoding.permissions.judgements import by_engine, by_rule
from aircoding.permissions.locations import locate
from aircoding.permissions.odd_commands import odd_uses
from aircoding.permissions.operands import program_uses
from aircoding.permissions.paths import judge_glob, judge_path, judge_tree
from aircoding.permissions.program_rules import UNKNOWN_PROGRAM, denied_among, judge_program, program_of
from aircoding.permissions.programs import ACTORS, holds_command, is_dangerous_variable
from aircoding.permissions.shell_parse import (
    Assigned,
    Doubt,
    Edge,
    Event,
    Joint,
    Redirect,
    Simple,
    Substituted,
    parse_line,
)
from aircoding.permissions.shell_words import Word, static_word
from aircoding.permissions.uses import Script, Uses
from aircoding.permissions.wrappers import hands_on, possible_scripts, runs_others
from aircoding.records.policy import Effect, Judgement, Policy, PolicySubject

__all__ = ["judge_command"]

_REPARSED_FACTOR = 16
_REPARSED_BYTES = 65_536
"""Scripts within a line are parsed again; together at most this many times its length, so that judging stays linear.
What lies deeper asks, or is denied where a denied word stands in it."""

_DEVICE_HOST = re.compile(r"/dev/(?:tcp|udp)/([^/]*)")
_ROUGH_BREAK = re.compile(r"[\s;|&(){}<>`$,=]+")
_ROUGH_TARGET = re.compile(r">[>|&]?\s*([^\s;|&()<>]+)")
_ROUGH_QUOTES = re.compile(r"[\\'\"]")
_FOLDER_COMMANDS = frozenset({"cd", "pushd", "popd", "chdir"})
_MOST_WRAPPERS = 100
"""Wrappers in front of one command before the rest asks: each of them looks at all the words behind it."""
_MOST_NESTED = 16
"""`find -exec find -exec ...` or unknown programs within each other before the rest asks: each is judged with all that
stands in it."""


def judge_command(command: str, cwd: str, policy: Policy) -> tuple[Judgement, ...]:
    """Return the judgements of all that a command line would do, each once; never empty."""
    line = _Line(command, Folders(frozenset({cwd})), policy, _REPARSED_FACTOR * len(command) + _REPARSED_BYTES)
    line.run()
    if not line.judgements:
        return (by_engine(Effect.ALLOW, PolicySubject.COMMAND, command, "nothing", "it runs nothing"),)
    return tuple(dict.fromkeys(line.judgements))


@dataclass(frozen=True, slots=True)
class _Pending:
    """A command still to be judged; `guessed` when an unknown program before it may run it."""

    words: tuple[Word, ...]
    depth: int = 0
    hops: int = 0
    guessed: bool = False
    fed: str | None = None
    assigns: bool = False

    def guess(self) -> list[_Pending]:
        """Return the command that this one may run if its program, which is not known, runs its operands."""
        for place, word in enumerate(self.words[1:], 1):
            if word.value and _is_known(word.value.rpartition("/")[2]):
                return [_Pending(self.words[place:], self.depth + 1, guessed=True)]
        return []


class _Line:
    """One walk over the events of a line and of the scripts in it."""

    def __init__(self, command: str, folders: Folders, policy: Policy, budget: int) -> None:
        self.judgements: list[Judgement] = []
        self._policy = policy
        self._folders = folders
        self._loops = [0]
        self._budget = budget
        self._doubted: set[tuple[Doubt, str]] = set()
        self._work: list[Iterator[Event]] = [parse_line(command)]
        self._texts = [command]

    def run(self) -> None:
        """Take events until none is left; a script's events come before the rest of the line that holds it."""
        while self._work:
            event = next(self._work[-1], None)
            if event is None:
                self._work.pop()
                self._texts.pop()
            else:
                self._event(event)

    def _event(self, event: Event) -> None:
        if isinstance(event, Simple):
            self._simple(event)
        elif isinstance(event, Redirect):
            self._redirect(event)
        elif isinstance(event, Doubt):
            self._doubt(event)
        elif isinstance(event, Substituted):
            self._script(Script(event.script), guess=not event.guess)
        elif isinstance(event, Joint):
            self._folders.join(event)
        elif event is Edge.SCOPE:
            self._folders.enter()
            self._loops.append(0)
        elif event is Edge.SCOPE_END:
            self._folders.leave()
            self._loops.pop()
        else:
            self._loops[-1] += 1 if event is Edge.LOOP else -1

    def _doubt(self, doubt: Doubt) -> None:
        """Ask once for each reason and text, however many parts of it raise the doubt."""
        text = self._texts[-1]
        if (doubt, text) in self._doubted:
            return
        self._doubted.add((doubt, text))
        self._ask(text, "not understood", doubt.reason)
        if doubt.unparsed:
            self._rough(text)

    def _ask(self, text: str, pattern: str, reason: str) -> None:
        self.judgements.append(by_engine(Effect.ASK, PolicySubject.COMMAND, text, pattern, reason))

    def _simple(self, command: Simple) -> None:
        for assigned in command.assignments:
            self._assigned(assigned)
        pending = [_Pending(command.words, fed=command.fed, assigns=bool(command.assignments))] if command.words else []
        while pending:
            item = pending.pop()
            if item.depth > _MOST_NESTED or item.hops > _MOST_WRAPPERS:
                self._ask(_text(item.words), "nesting", "it nests too deeply to be judged")
                self._rough(_text(item.words))
                continue
            before = len(self.judgements)
            inner = self._program(item)
            if item.guessed:  # only what must be refused counts: the whole asks already
                self.judgements[before:] = [one for one in self.judgements[before:] if one.effect is Effect.DENY]
            pending += reversed(inner)
        if not (command.words and command.words[0].value in _FOLDER_COMMANDS):
            self._folders.ran()

    def _assigned(self, assigned: Assigned) -> None:
        if assigned.name == "PYTHONPATH" and self._lies_inside(assigned.value):
            return
        if is_dangerous_variable(assigned.name):
            text = assigned.value.raw if assigned.value else ""
            text = text if text.startswith(f"{assigned.name}=") else f"{assigned.name}={text}"
            self._ask(text, "variable", f"{assigned.name} can change what a command runs or reaches")
            if holds_command(assigned.name) and assigned.value is not None and assigned.value.value is not None:
                self._script(Script(assigned.value.value, possible=True))

    def _lies_inside(self, value: Word | None) -> bool:
        """Whether every folder of a search path lies in the worktree, where tests run the worker's code anyway."""
        if value is None or value.value is None:
            return False
        parts = value.value.split(":")
        return all(part and not part.startswith(("/", "~")) and ".." not in part for part in parts)

    def _program(self, item: _Pending) -> list[_Pending]:
        """Judge one program with what it uses, and return the commands that it runs or may run."""
        words = item.words
        program = program_of(words[0], self._folders.here, self._policy)
        if program is None:
            self._ask(_text(words), "dynamic program", "the program is known only when it runs")
            return self._guess(item)
        name = program.name
        if name in _FOLDER_COMMANDS:
            self._change_folder(name, words)
            return []
        handed = runs_others(name, words, item.fed)
        uses = handed
        argv = words
        if uses is None:
            if name in CLIENTS:
                uses = client_uses(name, words)
            elif name == "git":
                argv, uses = git_uses(words)
            else:
                uses = odd_uses(name, words, assigns=item.assigns) or program_uses(name, words)
        only_hands_on = handed is not None and name != "find"
        judged = judge_program(program, argv, words, self._policy, only_hands_on=only_hands_on)
        self.judgements += judged
        self._judge_uses(uses, words)
        fed = item.fed if name != "xargs" else None
        depth = item.depth + (name == "find")
        handed_on = [_Pending(one, depth, item.hops + 1, item.guessed, fed) for one in uses.commands]
        return handed_on + (self._guess(item) if any(one.pattern == UNKNOWN_PROGRAM for one in judged) else [])

    def _guess(self, item: _Pending) -> list[_Pending]:
        """An unknown program may run its operands: what is refused among them is refused, and one deed is judged."""
        if not item.guessed:  # else the unknown program before has looked at these words too
            self.judgements += denied_among(item.words, self._policy)
            for script in possible_scripts(item.words):
                self._script(script)
        return item.guess()

    def _judge_uses(self, uses: Uses, words: tuple[Word, ...]) -> None:
        for reason in dict.fromkeys(uses.doubts):
            self._ask(_text(words), "risky use", reason)
        for reason in uses.denials:
            self.judgements.append(
                by_engine(Effect.DENY, PolicySubject.COMMAND, _text(words), "runs a program", reason)
            )
        for assigned in uses.assigned:
            self._assigned(assigned)
        folders = self._folders.here
        if uses.folder is not None:
            folders = self._moved(uses.folder)
        for word, access in uses.paths:
            self._path(word, access, folders)
        for url in uses.urls:
            self._url(url)
        for script in reversed(uses.scripts):
            self._script(script)

    def _script(self, script: Script, *, guess: bool = True) -> None:
        self._budget -= len(script.text)
        if self._budget < 0:
            self._ask(script.text, "nesting", "it nests scripts too deeply to be judged")
            self._rough(script.text)
            return
        if script.possible:
            self._possible(script)
            return
        events = parse_line(script.text, guess=guess)
        self._work.append(_apart(events) if script.apart else events)
        self._texts.append(script.text)

    def _possible(self, script: Script) -> None:
        """A text that may run: only what must be refused in it counts, since the command that holds it asks already."""
        line = _Line(script.text, Folders(self._folders.here), self._policy, self._budget)
        line.run()
        self._budget = line.left_over
        self.judgements += [one for one in line.judgements if one.effect is Effect.DENY]

    @property
    def left_over(self) -> int:
        """What may still be parsed again, in characters."""
        return self._budget

    def _redirect(self, redirect: Redirect) -> None:
        known = redirect.target.value if redirect.target.value is not None else redirect.target.prefix
        device = _DEVICE_HOST.match(known)
        if device:
            self.judgements.append(judge_host(device[1], self._policy))
            return
        for access, used in (("read", redirect.reads), ("write", redirect.writes)):
            if used:
                self._path(redirect.target, access, self._folders.here)

    def _path(self, word: Word, access: str, folders: frozenset[str] | None) -> None:
        if word.value is None:
            self._dynamic_path(word, access)
            return
        fixed = word.value.startswith(("/", "~", "file:"))
        if folders is None and not fixed:
            self._ask(word.raw, "dynamic folder", "a path in a folder that is known only when it runs")
        for cwd in sorted({"."} if fixed or folders is None else folders):
            if access == "tree":
                self.judgements.append(judge_tree(word.value, self._policy, cwd=cwd, glob=word.glob))
            elif word.glob:
                self.judgements.append(judge_glob(word.value, access, self._policy, cwd=cwd))
            else:
                self.judgements.append(judge_path(word.value, access, self._policy, cwd=cwd))

    def _dynamic_path(self, word: Word, access: str) -> None:
        """A path that only a run tells asks; where even its known beginning is denied, it is denied."""
        self._ask(word.raw, "dynamic path", "a path that is known only when it runs")
        folder, slash, _ = word.prefix.rpartition("/")
        if slash:
            self._denied_path(f"{folder}/x", "read" if access == "read" else "write")

    def _url(self, url: Word) -> None:
        text = url.value if url.value is not None else url.prefix
        if text.lower().startswith("file:"):
            self._path(url, "read", self._folders.here)
            return
        known = url.value is not None or "/" in text.partition("://")[2]
        if url.value is None:
            self._ask(url.raw, "dynamic address", "an address that is known only when it runs")
        if known:
            self.judgements.append(judge_host(host_of_url(text), self._policy))

    def _change_folder(self, name: str, words: tuple[Word, ...]) -> None:
        operands = [word for word in words[1:] if not word.prefix.startswith("-") or word.value == "-"]
        target = operands[0] if operands else static_word("~")
        if self._loops[-1]:
            self._ask(_text(words), "folder in a loop", "it changes the folder within a loop")
        if name == "popd" or target.value == "-" or target.prefix[:1] == "+":
            self._ask(_text(words), "dynamic folder", "it goes to a folder that is known only when it runs")
            self._folders.moved(None)
            return
        self._path(target, "read", self._folders.here)
        self._folders.moved(self._moved(target))

    def _moved(self, target: Word) -> frozenset[str] | None:
        """Return where the folders of now lead by a path; a folder that links lead elsewhere asks by the sandbox."""
        here = self._folders.here
        if target.value is None or target.glob or here is None:
            return None
        return frozenset(locate(target.value, cwd, self._policy) for cwd in here)

    def _rough(self, text: str) -> None:
        """Deny a text that is not understood where a denied program or a denied path stands in it."""
        denied = compiled(self._policy).commands.denied_programs()
        plain = _ROUGH_QUOTES.sub("", text)
        for target in dict.fromkeys(_ROUGH_TARGET.findall(plain)):
            self._denied_path(target, "write")
        for word in dict.fromkeys(_ROUGH_BREAK.split(plain)):
            name = word.rpartition("/")[2].lower()
            if name in denied:
                rules = compiled(self._policy).commands.narrowing((name,))
                rule = max(rules, key=lambda rule: rule.effect.rank)
                self.judgements.append(by_rule(rule, text, "a denied program stands in a line that is not understood"))
            elif "/" in word or word.startswith((".", "~")):
                self._denied_path(word, "read")

    def _denied_path(self, path: str, access: str) -> None:
        for cwd in sorted(self._folders.here or {"."}):
            judgement = judge_path(path, access, self._policy, cwd=cwd)
            if judgement.effect is Effect.DENY:
                self.judgements.append(judgement)


def _apart(events: Iterator[Event]) -> Iterator[Event]:
    yield Edge.SCOPE
    yield from events
    yield Edge.SCOPE_END


def _is_known(name: str) -> bool:
    """Whether a program is one whose deeds are judged by its operands, or that runs others."""
    return name in ACTORS or name in CLIENTS or hands_on(name)


def _text(words: tuple[Word, ...]) -> str:
    return " ".join(word.raw for word in words)
