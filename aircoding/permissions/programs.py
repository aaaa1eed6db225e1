"""What the engine knows of programs: which ones run others, which arguments are paths, which options are dangerous.

A program that is not here is judged by its name alone; unknown names ask (security facts read 2026-11).
"""

from __future__ import annotations

import re

__all__ = [
    "DANGEROUS_VARIABLES",
    "NO_PATHS",
    "PATTERN_FIRST",
    "PYTHON",
    "SHELLS",
    "SYSTEM_FOLDERS",
    "WRAPPERS",
    "WRITERS",
    "git_words",
    "is_dangerous_variable",
    "sed_is_plain",
]

SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")
"""A program named by a path in one of these is the program of that name; by any other path it is unknown."""

WRAPPERS: dict[str, int] = {
    "command": 0,
    "builtin": 0,
    "nohup": 0,
    "time": 0,
    "nice": 0,
    "ionice": 0,
    "stdbuf": 0,
    "setsid": 0,
    "env": 0,
    "timeout": 1,
    "xargs": 0,
    "exec": 0,
    "chronic": 0,
    "unbuffer": 0,
}
"""Programs that run the command that follows, and how many operands stand before it."""

WRAPPER_OPTIONS_WITH_VALUE: dict[str, frozenset[str]] = {
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n", "--class", "--classdata"}),
    "stdbuf": frozenset({"-i", "-o", "-e", "--input", "--output", "--error"}),
    "env": frozenset({"-u", "--unset", "-C", "--chdir", "-S", "--split-string"}),
    "xargs": frozenset({"-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "--max-args", "--max-procs", "--arg-file"}),
    "time": frozenset({"-f", "-o", "--format", "--output"}),
    "exec": frozenset({"-a"}),
}
__all__ += ["WRAPPER_OPTIONS_WITH_VALUE"]

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "busybox"})
PYTHON = re.compile(r"python(3(\.\d+)?)?$")

NO_PATHS = frozenset({"echo", "printf", "true", "false", ":", "pwd", "test", "[", "date", "sleep", "exit", "return"})
NO_PATHS |= {"break", "continue", "whoami", "uname", "nproc", "which", "type", "basename", "dirname", "seq", "expr"}
NO_PATHS |= {"shift", "wait", "hostname", "id", "tr"}
"""Programs whose operands are text, so that a dynamic one harms nothing."""

PATTERN_FIRST = frozenset({"grep", "egrep", "fgrep", "rg", "sed", "awk", "jq"})
"""Programs whose first operand is a pattern or script, not a path."""

WRITERS: dict[str, str] = {
    "rm": "all",
    "rmdir": "all",
    "mkdir": "all",
    "touch": "all",
    "tee": "all",
    "truncate": "all",
    "chmod": "rest",
    "chown": "rest",
    "chgrp": "rest",
    "mv": "all",
    "cp": "last",
    "ln": "all",
    "install": "last",
    "shred": "all",
    "unlink": "all",
}
"""Programs that write their operands: all of them, all but the first, or the last one."""

DANGEROUS_VARIABLES = frozenset(
    """
    PATH BASH_ENV ENV IFS SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND PAGER MANPAGER EDITOR VISUAL BROWSER LESSOPEN
    LESSCLOSE PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PERL5OPT PERL5LIB RUBYOPT RUBYLIB NODE_OPTIONS
    NODE_PATH JAVA_TOOL_OPTIONS CLASSPATH HOME SHELL TERMINFO CDPATH GCONV_PATH MAKEFLAGS MAKEFILES PYTEST_ADDOPTS
    PYTEST_PLUGINS
    """.split()
)


def is_dangerous_variable(name: str) -> bool:
    """Whether setting a variable can make an allowed command run something else."""
    return name in DANGEROUS_VARIABLES or name.startswith(("LD_", "DYLD_", "GIT_", "BASH_FUNC_", "AIR_"))


_GIT_WITH_VALUE = frozenset({"-C", "--git-dir", "--work-tree", "--namespace", "-c", "--config-env", "--exec-path"})
_GIT_RISKY_GLOBAL = ("-c", "--config-env", "--exec-path", "--git-dir", "--work-tree")
_GIT_RISKY = (
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--ext-diff",
    "--textconv",
    "--output",
    "-o",
    "--open-files-in-pager",
    "-O",
)


def git_words(words: list[str]) -> tuple[list[str], str | None, str | None]:
    """Return git's words without its global options, the folder that `-C` names, and a doubt, if any."""
    place, folder, doubt = 1, None, None
    while place < len(words) and words[place].startswith("-"):
        option, _, value = words[place].partition("=")
        if option in _GIT_RISKY_GLOBAL or any(option.startswith(risky) and len(option) > 2 for risky in ("-c",)):
            doubt = f"`git {option}` changes how git runs"
        takes = option in _GIT_WITH_VALUE and not value
        if option == "-C" and place + 1 < len(words):
            folder = words[place + 1]
        place += 2 if takes else 1
    rest = words[place:]
    for word in rest[1:]:
        option = word.partition("=")[0]
        if option in _GIT_RISKY or word.startswith("ext::"):
            doubt = f"`git {option}` may run a program or write a file"
    return ["git", *rest], folder, doubt


_SED_PLAIN = re.compile(
    r"[\d,$+~\s;{}]*([pdq=]|/[^/\n]*/[,\d$\s]*(/[^/\n]*/)?[pdq]|s(.)[^\n]*?\3[^\n]*?\3[gIp0-9]*)[\s;}]*$"
)


def sed_is_plain(script: str) -> bool:
    """Whether a sed script only prints, deletes or substitutes: `w`, `r`, `e` and the `e` flag do more."""
    return _SED_PLAIN.match(script) is not None
