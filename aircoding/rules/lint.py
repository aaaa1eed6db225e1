"""What is wrong with the rule files of a tree, as their owners wrote them: found from the files alone.

Contradictions and what the policy denies need more than the files and are added by the caller. Codes are stable.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.foreign_header import HeaderStyle, RuleMode
from aircoding.rules.globs import Dialect as GlobDialect
from aircoding.rules.globs import compile_globs, outlines
from aircoding.rules.imports import followed_by, imports_of
from aircoding.rules.owner_rules import header_style, read_header
from aircoding.rules.rule_file import parse_rule_file
from aircoding.rules.rule_names import Dialect, within
from aircoding.rules.sections import split_sections
from aircoding.rules.tree import Owner, RuleTree, Target, TreeFile, tree_uri

__all__ = ["CHECKS", "lint_tree"]

CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "lint.header": "A header cannot be read as it was meant.",
        "lint.unreadable": "A rule file cannot be read.",
        "lint.encoding": "A rule file is no UTF-8.",
        "lint.empty": "A rule file holds no text.",
        "lint.unmatched": "A glob matches no file of the project.",
        "lint.never": "No tool applies the rule on its own.",
        "lint.import": "An import leads nowhere.",
        "lint.duplicate": "The same text stands twice.",
        "lint.budget": "A file, or a chain of files, is longer than a tool reads.",
        "lint.contradiction": "Two rules contradict.",
        "lint.denied": "A rule asks for what the policy denies.",
    }
)
"""Every check by its code, in one sentence."""

_SHORTEST_DUPLICATE = 80
"""Characters below which two sections may say the same by chance."""


def lint_tree(tree: RuleTree) -> tuple[Diagnostic, ...]:
    """Return all findings on the project's own rule files, by file and line."""
    found = list(_duplicates(tree))
    own = [file for file in tree.files.values() if file.name is not None and file.of_project]
    for file in own:
        if file.problem is not None:
            found.append(_finding("lint.unreadable", file, None, f"it is not read: {file.problem}", "make it a text"))
            continue
        found.extend(one for check in _CHECKS for one in check(tree, file))
    return tuple(sorted(set(found), key=lambda one: (one.uri, one.line or 0, one.code, one.message)))


def _finding(code: str, file: TreeFile, line: int | None, message: str, hint: str) -> Diagnostic:
    return Diagnostic(
        severity="warning",
        code=code,
        message=message,
        uri=tree_uri(file.path),
        line=line,
        hint=hint,
    )


def _text(_tree: RuleTree, file: TreeFile) -> Iterator[Diagnostic]:
    if file.lossy:
        yield _finding("lint.encoding", file, None, "it is no UTF-8; bytes were replaced", "save it as UTF-8")
    if not file.text.strip():
        yield _finding("lint.empty", file, 1, "it holds no text", "write a rule, or remove the file")


def _headers(_tree: RuleTree, file: TreeFile) -> Iterator[Diagnostic]:
    native = file.name is not None and file.name.dialect is Dialect.NATIVE
    remarks = (
        parse_rule_file(file.text, tree_uri(file.path), 0).diagnostics if native else read_header(file).diagnostics
    )
    own_form = header_style(file) in {HeaderStyle.CURSOR, HeaderStyle.WINDSURF}
    for remark in remarks:
        if remark.severity != "info" and not (own_form and remark.code == "front_matter.lenient"):
            yield replace(remark, code="lint.header")


def _globs(tree: RuleTree, file: TreeFile) -> Iterator[Diagnostic]:
    """Name each glob that no file matches; without a listing of the project nothing can be said."""
    if not tree.paths or file.name is None:
        return
    if file.name.dialect is Dialect.NATIVE:
        rules = parse_rule_file(file.text, tree_uri(file.path), 0).rules
        patterns, line = (rules[0].paths, rules[0].paths_line) if rules else ((), None)
        prefix = ""
    else:
        header = read_header(file)
        patterns, line = (header.patterns, header.patterns_line) if header.mode is RuleMode.GLOB else ((), None)
        prefix = file.name.folder if file.name.dialect in {Dialect.CLAUDE_RULES, Dialect.CURSOR} else ""
    for pattern in patterns:
        if not _listing(tree.paths).any_match(within(prefix, pattern)):
            hint = "correct the glob (they begin at the project root), or remove it"
            yield _finding("lint.unmatched", file, line, f"`{pattern}` matches no file of the project", hint)


class _Listing:
    """The project's paths in order, so that a glob is tried only on those below the folders that it names."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = sorted(paths)
        self._known: dict[str, bool] = {}

    def any_match(self, pattern: str) -> bool:
        """Whether a glob matches any path."""
        if pattern not in self._known:
            matcher = compile_globs((pattern,), GlobDialect.ROOT_ANCHORED)
            below = (path for outline in outlines(pattern) for path in self._below("/".join(outline.folders)))
            self._known[pattern] = any(matcher.matches(path) for path in below)
        return self._known[pattern]

    def _below(self, folder: str) -> list[str]:
        if not folder:
            return self._paths
        # `0` follows `/`: between the two lie all paths of the folder.
        return self._paths[bisect_left(self._paths, f"{folder}/") : bisect_left(self._paths, f"{folder}0")]


@lru_cache(maxsize=4)
def _listing(paths: frozenset[str]) -> _Listing:
    return _Listing(paths)


def _never(_tree: RuleTree, file: TreeFile) -> Iterator[Diagnostic]:
    if file.name is None or file.name.dialect is Dialect.NATIVE:
        return
    if file.name.dialect is Dialect.CURSOR and file.path.endswith(".md"):
        yield _finding("lint.never", file, None, "Cursor reads only .mdc files here", "name it .mdc")
        return
    header = read_header(file)
    named = any(one.code.startswith("rule_header.") for one in header.diagnostics)  # the key that was meant to say when
    if header.mode is RuleMode.MANUAL and not header.broken and not named:
        yield _finding("lint.never", file, 1, header.why_mode, "say when it applies, in its header")


def _imports(tree: RuleTree, file: TreeFile) -> Iterator[Diagnostic]:
    """Name imports that look like paths of Markdown files and are not there, and links that became text (E20)."""
    found = imports_of(file, followed_by(file))
    if found.bare is not None and (target := found.bare.found_in(tree)) is not None:
        message = f"all it holds is the name {found.bare.written}: a link that a copy without links turned into text"
        yield _finding("lint.import", file, 1, message, f"make it a link to {target.name} again")
    for one in found.mentions:
        if not any(target.name.endswith(".md") for target in one.targets):
            continue
        if all(target.owner is Owner.ABOVE for target in one.targets):
            message = f"`{one.written}` leads out of the project"
            hint = "move the file into the project, or write it as ~/… or /…, which you can approve"
            yield _finding("lint.import", file, one.line, message, hint)
        elif (target := one.found_in(tree)) is not None and _is_kept_out(tree, target):
            message = f"`{one.written}` lies outside the project and is not imported"
            hint = f"move the file into the project, or let it in: `aircoding rules approve {target.name}`"
            yield _finding("lint.import", file, one.line, message, hint)
        elif not any(tree.is_there(target.name) or target.owner is not Owner.PROJECT for target in one.targets):
            yield _finding("lint.import", file, one.line, f"`{one.written}` is not there", "correct the path")
    if found.unread_line is not None:
        message = "from here on its imports are not read, there are too many"
        yield _finding("lint.import", file, found.unread_line, message, "split the file")


def _is_kept_out(tree: RuleTree, target: Target) -> bool:
    return target.owner is not Owner.PROJECT and target.name in tree.present


def _duplicates(tree: RuleTree) -> Iterator[Diagnostic]:
    """Name each section whose words stand in an earlier file too; two names of one file are no duplicate."""
    first: dict[str, tuple[TreeFile, int]] = {}
    seen: set[tuple[int, int]] = set()
    repeats: dict[tuple[str, str], list[tuple[TreeFile, int, int]]] = {}
    for path in sorted(tree.files, key=lambda path: (path.count("/"), path)):
        file = tree.files[path]
        if file.problem is not None or file.name is None or not file.of_project or file.identity in seen:
            continue
        if file.identity is not None:
            seen.add(file.identity)
        for words, line in _sections(file):
            known, there = first.setdefault(words, (file, line))
            if (known, there) != (file, line):
                repeats.setdefault((path, known.path), []).append((file, line, there))
    for (_, known_path), places in sorted(repeats.items(), key=lambda item: item[0]):
        file, line, there = places[0]
        more = f", and {len(places) - 1} more sections with it" if len(places) > 1 else ""
        message = f"the same text stands in {known_path}:{there}{more}"
        yield _finding("lint.duplicate", file, line, message, "keep one; a link or an import serves several tools")


def _sections(file: TreeFile) -> Iterator[tuple[str, int]]:
    """Yield the words of each section that is long enough to be no accident, and its line in the file."""
    header = read_header(file)
    for section in split_sections(header.body):
        words = " ".join(section.text.split())
        if len(words) >= _SHORTEST_DUPLICATE:
            yield words, section.start_line + header.body_start_line - 1


_CHECKS: tuple[Callable[[RuleTree, TreeFile], Iterator[Diagnostic]], ...] = (_text, _headers, _globs, _never, _imports)
