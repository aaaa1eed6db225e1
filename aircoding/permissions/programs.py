"""What the engine knows of programs: which operands are paths, which options write files or run other programs.

A program that is not here is judged by the lines of the policy and by its operands as paths that are read; what no line
names asks. Facts from the programs' manuals (read 2026-11).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

__all__ = [
    "ACTORS",
    "BUILTINS",
    "DASH_O_IS_FLAG",
    "OPAQUE",
    "PROGRAMS",
    "PYTHON_MODULES",
    "SYSTEM_FOLDERS",
    "TOOL_FOLDERS",
    "WRITE_OPTIONS",
    "Operands",
    "Program",
    "canonical_program",
    "holds_command",
    "is_dangerous_variable",
    "sed_is_plain",
]

SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"})
"""A program named by a path in one of these is the program of that name."""

TOOL_FOLDERS = frozenset({".venv/bin", "venv/bin", "node_modules/.bin"})
"""The same for a project's own tools, where the worker may not write them."""

_PYTHON = re.compile(r"python(?:\d+(?:\.\d+)?)?$")
_PIP = re.compile(r"pip(?:\d+(?:\.\d+)?)?$")


def canonical_program(name: str) -> str:
    """Return the one name under which a program is judged: `python3.11` is `python`, `pip3` is `pip`."""
    if _PYTHON.match(name):
        return "python"
    return "pip" if _PIP.match(name) else name


class Operands(Enum):
    """What the operands of a program are."""

    READ = "read"
    TEXT = "text"
    WRITTEN = "written"
    MOVED = "written, each with all below it"
    LAST_WRITTEN = "last written"
    SECOND_WRITTEN = "second written"
    PATTERN = "pattern, then read"
    MODE = "mode, then written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program. Option names are as written, long ones also by any beginning that tells them.

    `values` take a text as the next word, `writes` a file that is written; `risky` run a program, delete, or leave the
    machine; `in_place` make the operands written; `tree` make the operands whole folders; `pattern_in` bring the
    pattern that is else the first operand.
    """

    operands: Operands = Operands.READ
    values: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    risky: frozenset[str] = frozenset()
    in_place: frozenset[str] = frozenset()
    tree: frozenset[str] = frozenset()
    pattern_in: frozenset[str] = frozenset()


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WRITING = frozenset({Operands.WRITTEN, Operands.MOVED, Operands.LAST_WRITTEN, Operands.MODE})
_TEXT = Program(operands=Operands.TEXT)
_GREP = Program(
    operands=Operands.PATTERN,
    values=_set("-A -B -C -m --max-count --context --after-context --before-context"),
    pattern_in=_set("-e -f --regexp --file"),
)
_TREE = _set("-r -R -a -d --recursive --archive")

PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(("echo", "tr", "sleep", "whoami", "uname", "nproc", "which", "seq", "expr", "id", "pwd"), _TEXT),
    **dict.fromkeys(("basename", "dirname", ":", "true", "false", "exit", "return", "break", "continue"), _TEXT),
    **dict.fromkeys(("shift", "wait", "times", "umask", "type"), _TEXT),
    "printf": Program(operands=Operands.TEXT, risky=_set("-v")),
    "make": Program(
        values=_set("-j -l -o -W --jobs --load-average --old-file --what-if"),
        risky=_set("-E --eval -e --environment-overrides"),
    ),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": Program(
        operands=Operands.PATTERN,
        values=_set("-A -B -C -m -g -t -T -r -j -M --glob --type --type-not --max-count --replace --iglob --sort"),
        risky=_set("-z --search-zip --pre --pre-glob --hostname-bin"),
        pattern_in=_set("-e -f --regexp --file --files --type-list"),
    ),
    "sed": Program(
        operands=Operands.PATTERN,
        risky=_set("-f --file"),
        in_place=_set("-i --in-place"),
        pattern_in=_set("-e --expression"),
    ),
    "jq": Program(
        operands=Operands.PATTERN, values=_set("--indent --arg --argjson"), pattern_in=_set("-f --from-file")
    ),
    "sort": Program(
        values=_set("-k -t -S --key --field-separator --buffer-size --parallel"),
        writes=_set("-o --output -T --temporary-directory"),
        risky=_set("--compress-program"),
    ),
    "uniq": Program(operands=Operands.SECOND_WRITTEN),
    "tree": Program(writes=_set("-o")),
    "file": Program(risky=_set("-C --compile -z --uncompress -Z --uncompress-noreport")),
    "date": Program(risky=_set("-s --set")),
    "base64": Program(writes=_set("-o --output")),
    "tee": Program(operands=Operands.WRITTEN),
    "touch": Program(operands=Operands.WRITTEN, values=_set("-d -t --date")),
    "mkdir": Program(operands=Operands.WRITTEN, values=_set("-m --mode")),
    "rmdir": Program(operands=Operands.WRITTEN),
    "unlink": Program(operands=Operands.WRITTEN),
    "shred": Program(operands=Operands.WRITTEN),
    "truncate": Program(operands=Operands.WRITTEN, values=_set("-s --size")),
    "rm": Program(operands=Operands.WRITTEN, tree=_TREE),
    "mv": Program(operands=Operands.MOVED, writes=_set("-t --target-directory")),
    "cp": Program(operands=Operands.LAST_WRITTEN, writes=_set("-t --target-directory")),
    "ln": Program(operands=Operands.LAST_WRITTEN, writes=_set("-t --target-directory")),
    "install": Program(operands=Operands.LAST_WRITTEN, writes=_set("-t --target-directory")),
    "chmod": Program(operands=Operands.MODE, tree=_TREE),
    "chown": Program(operands=Operands.MODE, tree=_TREE),
    "chgrp": Program(operands=Operands.MODE, tree=_TREE),
}

ACTORS = frozenset(
    {"git", "dd", *(name for name, known in PROGRAMS.items() if known.operands in _WRITING or known.in_place)}
)
"""Programs that write what their operands name."""

BUILTINS = frozenset(
    ": true false exit return break continue shift wait times export declare local readonly typeset unset set umask "
    "cd pushd popd test [ trap eval exec command builtin read".split()
)
"""The shell's own commands: judged by what they do, without a line of the policy."""

OPAQUE = frozenset("python perl ruby node deno bun php lua tclsh awk gawk mawk nawk osascript".split())
"""Interpreters: what they run cannot be judged from outside."""

PYTHON_MODULES = frozenset({"pip", "pytest", "mypy", "ruff", "unittest", "venv"})
"""Modules that are judged under their own name too when run by `python -m`."""

WRITE_OPTIONS = _set(
    "--output --output-file --outfile --out --out-file --output-dir --outdir --out-dir --output-document --log-file "
    "--logfile --junitxml --junit-xml --basetemp --target-directory --dest --destination --report-log "
    "--directory-prefix --dump"
)
"""Long options that name a file to write, whichever program has them."""

DASH_O_IS_FLAG = _set("grep egrep fgrep rg ls ps find pytest python git mypy set ssh id du")
"""Programs whose `-o` names no file; for all others it is taken to."""

_DANGEROUS = frozenset(
    "PATH ENV IFS SHELLOPTS BASHOPTS PS4 PAGER MANPAGER EDITOR VISUAL BROWSER LESS LESSOPEN LESSCLOSE HOME SHELL "
    "TERMINFO CDPATH GCONV_PATH CLASSPATH TMPDIR MAKEFLAGS MAKEFILES CC CXX AR CFLAGS CXXFLAGS LDFLAGS RUSTFLAGS "
    "GOFLAGS POSIXLY_CORRECT GLOBIGNORE PWD OLDPWD FPATH HOSTALIASES LOCPATH OPENSSL_CONF".split()
)
_DANGEROUS_PREFIXES = tuple(
    "LD_ DYLD_ GIT_ BASH PYTHON PERL RUBY NODE_ NPM_ npm_ JAVA _JAVA PIP_ UV_ CARGO_ RUSTC_ CURL_ WGET SSL_ PYTEST_ "
    "AIR_ XDG_ DOCKER_ LUA_ PHP AWS_ RIPGREP_ GREP_ MALLOC_ PROMPT_ FZF_ TOX_ COVERAGE_ MYPY SSH_ DBUS_".split()
)
_DANGEROUS_ENDS = re.compile(
    r"(?i)(?:^|_)(?:proxy|pager|editor|command|cmd|opts|options|askpass|hook|wrapper|preload)$"
)
_HARMLESS_VARIABLES = frozenset(
    "PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED PYTHONUTF8 PYTHONIOENCODING PYTHONFAULTHANDLER "
    "NODE_ENV".split()
)


def is_dangerous_variable(name: str) -> bool:
    """Whether setting a variable can make an allowed command run, read or reach something else."""
    if name in _HARMLESS_VARIABLES:
        return False
    return name in _DANGEROUS or name.startswith(_DANGEROUS_PREFIXES) or _DANGEROUS_ENDS.search(name) is not None


_HOLDS_COMMAND = re.compile(
    r"(?i)(?:^|_)(?:pager|editor|visual|browser|command|cmd|askpass|external_diff|ssh|lessopen|lessclose)$|^PS\d$|^SHELL$"
)


def holds_command(name: str) -> bool:
    """Whether a variable holds a command that some program runs."""
    return _HOLDS_COMMAND.search(name) is not None


_SED_LINE = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*+/[IM]?)"
_SED_ADDRESS = rf"(?:{_SED_LINE}(?:,[ \t]*[+~]?{_SED_LINE})?[ \t]*!?[ \t]*)?"
_SED_SUBSTITUTE = r"s([/|#,@:!])(?:(?!\1)[^\\\n]|\\.)*+\1(?:(?!\1)[^\\\n]|\\.)*+\1[gIip0-9]*"
_SED_COMMAND = rf"(?:[pdqP=nNDgGhHx]|{_SED_SUBSTITUTE}|y/(?:[^/\\\n]|\\.)*+/(?:[^/\\\n]|\\.)*+/)?"
_SED_PLAIN = re.compile(rf"(?:[\s;{{}}]*{_SED_ADDRESS}{_SED_COMMAND}[ \t]*(?=[\s;}}]|$))*+[\s;{{}}]*$")


def sed_is_plain(script: str) -> bool:
    """Whether a sed script only prints, deletes or substitutes: `w`, `r`, `e` and the flags `e`, `w` do more."""
    return _SED_PLAIN.match(script) is not None
