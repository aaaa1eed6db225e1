"""The project that the generated fleet worked on: its modules, its tree of rules, its plan, as they were at a version.

A version is a state of the rules; they change every few dozen runs.
"""

from __future__ import annotations

import random

from bench.fleet_words import Words

__all__ = [
    "CHANGED_RULE",
    "EVERYWHERE",
    "PACKAGES",
    "SCOPED_RULE",
    "STANDING_RULE",
    "modules_of",
    "package_of",
    "path_of",
    "project_files",
]

PACKAGES = ("orders", "billing", "stock", "search", "mail", "users", "reports", "gateway", "ledger", "pricing")
_MODULES = ("store", "views", "models", "queue", "rules", "client", "parse", "totals")
EVERYWHERE = "Name every amount with its unit, and never round before the last step."
"""A sentence of a rule that every worker has, at every version."""
STANDING_RULE = "project-rules.md#amounts"
CHANGED_RULE = "project-rules.md#reviews"
"""A rule that every version words anew."""
SCOPED_RULE = "billing.md#invoices"
"""A rule for one package: other workers were told that it is not for them."""
_SECTIONS = ("Amounts", "Reviews", "Names", "Errors", "Tests", "Commits", "Logging", "Dates")


def path_of(package: str, module: str) -> str:
    """Return where a module lies."""
    return f"src/{package}/{module}.py"


def package_of(path: str) -> str:
    """Return the package that a path below `src` lies in."""
    return path.split("/")[1]


def modules_of(package: str) -> tuple[str, ...]:
    """Return the paths of a package's modules."""
    return tuple(path_of(package, module) for module in _MODULES)


def project_files(words: Words, seed: int, version: int) -> dict[str, str]:
    """Return all files of the project as they are at a version of its rules."""
    files: dict[str, str] = {".air/config.toml": "[run]\nconcurrency = 8\n", ".gitignore": ".air/local/\n"}
    for package in PACKAGES:
        for path in modules_of(package):
            files[path] = words.code(random.Random(f"{seed}/{path}"), 130)
    files |= _rules(words, seed, version)
    return files | _plan(words, seed)


def _section(words: Words, seed: int, name: str, title: str, version: int, *, lines: int = 3) -> str:
    """Return one section; of all sections about one in twelve is worded anew at a version."""
    last = max(
        (one for one in range(version + 1) if one == 0 or random.Random(f"{name}/{title}/{one}").random() < 0.08),
        default=0,
    )
    if title == "Reviews":
        last = version
    chance = random.Random(f"{seed}/{name}/{title}/{last}")
    first = EVERYWHERE if (name, title) == ("project-rules.md", "Amounts") else ""
    said = [f"- {one}" for one in words.prose(chance, 16 * lines).split("\n")]
    return "\n".join([f"## {title}", "", *([f"- {first}"] if first else []), *said, "", ""])


def _rules(words: Words, seed: int, version: int) -> dict[str, str]:
    def body(name: str, titles: tuple[str, ...], *, lines: int = 3) -> str:
        return "".join(_section(words, seed, name, title, version, lines=lines) for title in titles)

    folder = ".air/shared/rules"
    files = {
        f"{folder}/project-rules.md": body("project-rules.md", _SECTIONS[:6]),
        f"{folder}/toolchain-rules.md": body("toolchain-rules.md", ("Setup", "Checks", "Builds", "Release")),
        f"{folder}/security.md": "---\nkind: project\ntags: [security]\n---\n" + body("security.md", ("Keys", "Input")),
    }
    for package in PACKAGES:
        head = f'---\nkind: project\npaths: ["src/{package}/**"]\n---\n'
        titles = ("Invoices", "Rounding") if package == "billing" else ("Shapes", "Limits", "Callers")
        files[f"{folder}/{package}.md"] = head + body(f"{package}.md", titles)
    files["AGENTS.md"] = body("AGENTS.md", ("Working here", "Layout"))
    for package in PACKAGES[:6]:
        files[f"src/{package}/AGENTS.md"] = body(f"src/{package}/AGENTS.md", ("Here", "Never"), lines=2)
    for number, package in enumerate(PACKAGES[4:9]):
        head = f"---\nglobs: src/{package}/**\nalwaysApply: false\ndescription: How {package} is written\n---\n"
        files[f".cursor/rules/r{number}.mdc"] = head + body(f"r{number}.mdc", ("Style", "Types"), lines=2)
    for number, package in enumerate(PACKAGES[2:8]):
        head = f'---\npaths: ["src/{package}/*.py"]\n---\n'
        files[f".claude/rules/c{number}.md"] = head + body(f"c{number}.md", ("Do", "Avoid"), lines=2)
    if version % 2:
        files[f"{folder}/layout.md"] = "---\nkind: project\n---\n## Indents\n\n- Always use tabs for indentation.\n"
        files["AGENTS.md"] += "## Indents\n\n- Never use tabs for indentation.\n"
    if version % 3 == 1:
        files[f"{folder}/toolchain-rules.md"] += "## Install\n\n- Run `sudo make install` before the tests.\n"
    return files


def _plan(words: Words, seed: int) -> dict[str, str]:
    chance = random.Random(f"{seed}/plan")
    sections = [f"## {package.title()}\n\n{words.prose(chance, 64)}\n\n" for package in PACKAGES[:5]]
    files = {".air/shared/plan/plan.md": "# Plan\n\n" + "".join(sections)}
    for number in range(1, 4):
        head = f"---\nid: ADR-{number}\nstatus: accepted\ninterfaces: [src/gateway/client{number}.py]\n---\n"
        files[f".air/shared/plan/adr/{number:04}.md"] = f"{head}# Decision {number}\n\n{words.prose(chance, 80)}\n"
    return files
