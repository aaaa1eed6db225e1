"""A small project with files of every tool, and with what goes wrong in practice."""

from __future__ import annotations

EVERY_TOOL: dict[str, str] = {
    "AGENTS.md": "# Rules\n\nRun the tests.\n",
    "CLAUDE.md": "# Claude\n\nSee @docs/style.md and @~/private.md.\n<!-- for people -->\n",
    "GEMINI.md": "Ask @nobody first.\n",
    ".claude/rules/api.md": "---\npaths: ['src/api/**']\n---\nCheck every input.\n",
    ".claude/rules/docs.md": "---\npaths: docs/**\n---\nShort sentences.\n",
    ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nBe brief.\n",
    ".cursor/rules/api.mdc": "---\nglobs: src/api/**\n---\nValidate.\n",
    ".cursor/rules/broken.mdc": "---\nglobs: src/**\nNo end.\n",
    ".cursor/rules/choice.mdc": "---\ndescription: for releases\n---\nTag it.\n",
    ".cursor/rules/plain.md": "Never read.\n",
    ".github/copilot-instructions.md": "Use British spelling.\n",
    ".github/instructions/list.instructions.md": "---\napplyTo: ['src/**']\n---\nNever applied.\n",
    ".github/instructions/api.instructions.md": "---\napplyTo: 'src/api/**'\n---\nValidate.\n",
    ".air/shared/rules/project-rules.md": "## Tests\n\nRun them twice.\n",
    "docs/style.md": "Plain words.\n",
    "src/AGENTS.md": "Source rules.\n",
    "src/api/AGENTS.md": "Interface rules.\n",
    "src/api/CLAUDE.md": "Claude's interface rules.\n",
    "src/api/users.py": "U = 1\n",
    "web/AGENTS.md": "Web rules.\n",
}
"""The files by path; the path that tests ask about is `src/api/users.py`."""

PATH = "src/api/users.py"
