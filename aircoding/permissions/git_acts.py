"""`git`: its subcommand whatever options stand before it, and what makes it run programs, write or connect."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aircoding.permissions.hosts import has_scheme
from aircoding.permissions.operands import use_operand
from aircoding.permissions.shell_words import Word, static_word
from aircoding.permissions.uses import Script, Uses

__all__ = ["git_uses"]

_HARMLESS_GLOBAL = frozenset(
    "--no-pager --no-optional-locks --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs "
    "--icase-pathspecs --no-lazy-fetch --version --help".split()
)
_GLOBAL_WITH_VALUE = frozenset(
    "-C -c --git-dir --work-tree --namespace --config-env --exec-path --super-prefix".split()
)
_PLAIN_KEYS = frozenset(
    "user.name user.email core.quotepath core.abbrev core.autocrlf core.longpaths diff.renames diff.context "
    "diff.algorithm diff.noprefix diff.mnemonicprefix diff.colormoved diff.interhunkcontext log.date log.decorate "
    "log.follow init.defaultbranch merge.conflictstyle status.short status.branch status.showuntrackedfiles "
    "grep.linenumber column.ui".split()
)
_PLAIN_SECTIONS = ("color.", "advice.")
_PLAIN_SETTINGS = frozenset(
    {
        ("core.pager", "cat"),
        ("core.pager", ""),
        ("core.fsmonitor", "false"),
        ("commit.gpgsign", "false"),
        ("tag.gpgsign", "false"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
        ("pager.log", "false"),
        ("pager.diff", "false"),
        ("pager.show", "false"),
        ("protocol.ext.allow", "never"),
    }
)
"""Settings that run nothing, whatever their value, and those that do not with this one."""
_RISKY = (
    "--ext-diff --textconv --upload-pack --receive-pack --exec --open-files-in-pager --no-verify --recurse-submodules "
    "--upload-archive --template --paginate --edit --gpg-sign --separate-git-dir"
)
_RISKY_LONG = tuple(_RISKY.split())
_RISKY_SHORT = {"grep": "O", "commit": "nS", "push": "f", "rebase": "x", "log": "", "bisect": ""}
_WRITES = ("--output", "--output-directory")
_DASH_O_WRITES = frozenset({"archive", "format-patch"})
_TEXT_OPTIONS = {
    "commit": frozenset(
        "-m --message --author --date -C -c --reuse-message --fixup --squash --trailer --cleanup".split()
    ),
    "tag": frozenset("-m --message -u --local-user".split()),
    "log": frozenset(
        "-n --max-count --since --until --after --before --author --grep --format --pretty -S -G -L".split()
    ),
    "show": frozenset("--format --pretty".split()),
    "diff": frozenset("-S -G --diff-filter".split()),
    "grep": frozenset("-e -A -B -C -m".split()),
}
_LOCAL = frozenset(
    "status diff log show rev-parse ls-files ls-tree blame grep branch tag add commit rev-list cat-file describe "
    "shortlog reset checkout switch restore merge rebase stash clean mv rm init reflog cherry-pick revert "
    "merge-base".split()
)
_CONNECTS = frozenset("clone fetch pull push ls-remote remote submodule archive bundle".split())
_SCP_LIKE = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!/?/)")
_HELPER = re.compile(r"[\w+-]+::")
_CONFIG_READS = frozenset(
    "--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l get list".split()
)

_CONFIG_CHANGES = frozenset(
    "--add --replace-all --unset --unset-all --rename-section --remove-section -e --edit".split()
)
_CONFIG_VERBS = frozenset("set unset rename-section remove-section edit".split())


def git_uses(words: Sequence[Word]) -> tuple[tuple[Word, ...], Uses]:
    """Return git's words without its global options, and what it uses."""
    uses = Uses()
    place = _skip_global(words, uses)
    rest = tuple(words[place:])
    if rest and rest[0].value is None:
        uses.doubts.append("git's subcommand is known only when it runs")
    sub = (rest[0].value or "") if rest else ""
    if sub == "config":
        _config(rest, uses)
    else:
        _operands(sub, rest, uses)
    return (words[0], *rest), uses


def _skip_global(words: Sequence[Word], uses: Uses) -> int:
    place = 1
    while place < len(words):
        text = words[place].value if words[place].value is not None else words[place].prefix
        if text is None or not text.startswith("-"):
            break
        option, assigned, _ = text.partition("=")
        takes = option in _GLOBAL_WITH_VALUE and not assigned
        following = words[place + 1] if takes and place + 1 < len(words) else None
        if option == "-C" and following is not None:
            uses.folder = following if uses.folder is None else Word("-C", None)
            uses.read(following)
        elif option in {"-c", "--config-env"}:
            _setting(option, following if takes else words[place], uses)
        elif option not in _HARMLESS_GLOBAL:
            uses.doubts.append(f"`git {option}` changes how git runs")
            target = following or Word(words[place].raw, words[place].value and text.partition("=")[2], "")
            if option in {"--git-dir", "--work-tree", "--exec-path"} and target.value:
                uses.read(target)
        place += 2 if takes else 1
    return place


def _setting(option: str, word: Word | None, uses: Uses) -> None:
    """`-c key=value`: few keys only change how git writes; a value that git would run is judged as a command."""
    text = word.value if word is not None else None
    key, assigned, value = (text or "").partition("=")
    if option == "-c" and text is not None and _is_harmless(key, value):
        return
    uses.doubts.append(f"`git {option} {key or '…'}` changes how git runs")
    command = value.removeprefix("!")
    if assigned and " " in command and not has_scheme(command):
        uses.scripts.append(Script(command, possible=True))


def _is_harmless(key: str, value: str) -> bool:
    name = key.lower()
    if name in _PLAIN_KEYS or name.startswith(_PLAIN_SECTIONS):
        return True
    return (name, value.lower()) in _PLAIN_SETTINGS


def _operands(sub: str, rest: Sequence[Word], uses: Uses) -> None:
    texts = _TEXT_OPTIONS.get(sub, frozenset())
    place, operands = 1, 0
    only_operands = False
    while place < len(rest):
        word = rest[place]
        text = word.value if word.value is not None else word.prefix
        place += 1
        if text == "--":
            only_operands = True
        elif not only_operands and text.startswith("-") and text != "-":
            place += _option(sub, word, text, rest[place] if place < len(rest) else None, texts, uses)
        else:
            # Behind the repository come names of commits, which may hold a colon and name no host.
            names_commits = operands > 0 and sub in {"push", "fetch", "pull", "ls-remote"}
            _operand(sub, word, uses, only_path=only_operands or names_commits)
            operands += 1


def _option(sub: str, word: Word, text: str, following: Word | None, texts: frozenset[str], uses: Uses) -> int:
    """Note what an option does and return how many words behind it are its value."""
    name, assigned, rest = text.partition("=")
    value = Word(word.raw, rest if word.value is not None else None, rest) if assigned else following
    if any(_abbreviates(name, risky) for risky in _RISKY_LONG) or _risky_short(sub, text):
        uses.doubts.append(f"`git {sub} {name}` may run a program or skip a check")
    if any(_abbreviates(name, option) for option in _WRITES) or (name == "-o" and sub in _DASH_O_WRITES):
        if value is not None:
            uses.write(value)
        return 0 if assigned else 1
    last_letter = f"-{text[-1]}" if re.match(r"-[A-Za-z]+$", text) else ""
    if name in texts or last_letter in texts:
        if value is not None and value.splits:
            uses.doubts.append("how many words git gets is known only when it runs")
        return 0 if assigned else 1
    if assigned and value is not None and sub not in {"log", "show"}:
        _operand(sub, value, uses, only_path=False)
    return 0


def _risky_short(sub: str, text: str) -> bool:
    letters = _RISKY_SHORT.get(sub, "")
    cluster = re.match(r"-([A-Za-z]+)", text)
    return not text.startswith("--") and cluster is not None and any(letter in cluster[1] for letter in letters)


def _abbreviates(name: str, option: str) -> bool:
    return name == option or (len(name) > 4 and option.startswith(name))


def _operand(sub: str, word: Word, uses: Uses, *, only_path: bool) -> None:
    text = word.value if word.value is not None else word.prefix
    if _HELPER.match(text) and sub not in _LOCAL:
        uses.denials.append(f"`{text}` makes git run a program as its transport")
        return
    if sub not in _LOCAL and not only_path:
        scp = _SCP_LIKE.match(text) if sub in _CONNECTS else None
        if has_scheme(text):
            uses.urls.append(word)
            return
        if scp is not None:
            uses.urls.append(static_word(f"ssh://{scp[1]}"))
            return
    use_operand(word if not has_scheme(text) else static_word("."), "read", uses)
    _, colon, path = text.partition(":")
    if colon and path and word.value is not None:
        uses.read(static_word(path))  # `HEAD:path` reads that path out of the history


def _config(rest: Sequence[Word], uses: Uses) -> None:
    """Git's configuration names programs that git runs: writing it is writing its file."""
    values = [word.value if word.value is not None else word.prefix for word in rest[1:]]
    target: Word | None = static_word(".git/config")
    for place, value in enumerate(values):
        if value == "--global":
            target = static_word("~/.gitconfig")
        elif value == "--system":
            target = static_word("/etc/gitconfig")
        elif value in {"-f", "--file"}:
            target = rest[place + 2] if place + 2 < len(rest) else None
        elif value.startswith("--file="):
            target = static_word(value.partition("=")[2])
    operands = [value for value in values if not value.startswith("-")]
    changes = bool(_CONFIG_CHANGES & set(values)) or (bool(operands) and operands[0] in _CONFIG_VERBS)
    reads = not changes and (bool(_CONFIG_READS & set(values)) or len(operands) <= 1)
    if target is not None and not reads:
        uses.write(target)
    elif target is not None and target.value != ".git/config":
        uses.read(target)
