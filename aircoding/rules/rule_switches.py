"""Which rule files the user lets in: a switch for each tool, what holds where two tools overlap, and what is left out.

No switch reaches what the machine's administrator put down.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.rule_choices import MAX_TREE_BYTES, AgentsAndClaude
from aircoding.rules.globs import Dialect as GlobDialect
from aircoding.rules.globs import compile_globs, glob_fault
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tree import Owner, TreeFile

__all__ = ["Excludes", "RuleSwitches"]

_KEYS = {
    Dialect.AGENTS: "agents_md",
    Dialect.CLAUDE: "claude",
    Dialect.CLAUDE_RULES: "claude",
    Dialect.CURSOR: "cursor",
    Dialect.COPILOT: "copilot",
    Dialect.GEMINI: "gemini",
    Dialect.HERMES: "hermes",
    Dialect.WINDSURF: "windsurf",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSwitches:
    """The section `[rules]` of the settings; docs/reference/rule-files.md says what each key does."""

    agents_md: bool = True
    claude: bool = True
    cursor: bool = True
    copilot: bool = True
    gemini: bool = True
    hermes: bool = True
    windsurf: bool = True
    user_files: bool = True
    agents_and_claude: AgentsAndClaude = "claude-md-and-agents-md"
    agents_fallbacks: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    max_bytes: int = MAX_TREE_BYTES

    def refusal(self, dialect: Dialect, *, of_user: bool, claude_at_root: bool) -> str | None:
        """Return which key leaves a file out, in words, or None.

        Args:
            dialect: whose file it is.
            of_user: whether it is the user's own and not the project's.
            claude_at_root: whether the project root has a file of the `CLAUDE.md` family.
        """
        key = _KEYS.get(dialect)
        if key is None:
            return None
        if not getattr(self, key):
            return f"files of the kind {dialect.value} are switched off: `[rules] {key} = false` in config.toml"
        if of_user and not self.user_files:
            return "the user's files of other tools are switched off: `[rules] user_files = false` in config.toml"
        return self._between(dialect, claude_at_root=claude_at_root)

    def _between(self, dialect: Dialect, *, claude_at_root: bool) -> str | None:
        choice = self.agents_and_claude
        off = f'`[rules] agents_and_claude = "{choice}"` in config.toml'
        if dialect is Dialect.AGENTS and choice == "claude-md":
            return f"CLAUDE.md is read in place of AGENTS.md: {off}"
        if dialect is Dialect.AGENTS and choice == "claude-md-or-agents-md" and claude_at_root:
            return f"the project root has a CLAUDE.md, so AGENTS.md is not read: {off}"
        if dialect in (Dialect.AGENTS, Dialect.CLAUDE) and choice == "managed-only":
            return f"of AGENTS.md and CLAUDE.md only managed files are read: {off}"
        return None


class Excludes:
    """The globs of `[rules] excludes`, tried on a project path, and on the whole path where a glob begins so."""

    def __init__(self, globs: tuple[str, ...]) -> None:
        self._globs = globs
        relative = [glob for glob in globs if not glob.startswith(("/", "~/"))]
        absolute = [glob.lstrip("/") for glob in globs if glob.startswith("/")]
        self._relative = compile_globs(relative, GlobDialect.ROOT_ANCHORED)
        self._absolute = compile_globs(absolute, GlobDialect.ROOT_ANCHORED)
        self._home = compile_globs((glob[2:] for glob in globs if glob.startswith("~/")), GlobDialect.ROOT_ANCHORED)

    def hold(self, file: TreeFile, root: str) -> bool:
        """Whether a file is excluded; `root` is the project root's path, or empty."""
        if not self._globs:
            return False
        path = file.inner
        if self._relative.matches(path):
            return True
        if file.owner is Owner.USER:
            return self._home.matches(path)
        return self._absolute.matches(posixpath.join(root, path).lstrip("/") if file.of_project else path)

    def faults(self) -> tuple[Diagnostic, ...]:
        """Return a diagnostic for each glob that cannot be read: it excludes nothing."""
        found = ((glob, glob_fault(glob.removeprefix("~/"), GlobDialect.ROOT_ANCHORED)) for glob in self._globs)
        return tuple(
            Diagnostic(
                severity="warning",
                code="rule.excludes",
                message=f"`{glob}` in `[rules] excludes` excludes nothing: {fault}",
                uri="config.toml",
                hint="correct the glob",
            )
            for glob, fault in found
            if fault is not None
        )
