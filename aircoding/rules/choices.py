"""What a person knows of the words of rules: things of which a project has one, other names, parts of a project.

Only plain and general entries: each makes two directives comparable that other words would keep apart.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["MANNERS", "areas_in", "choice_of", "kind_of", "normal"]

_INSTALLING = (
    "package manager|dependency|package|installing dependency|installing package|install dependency|install package"
)
_CHOICES: tuple[tuple[str, str, str], ...] = (
    ("indentation", "tab|hard tab|space|soft tab", "indentation|indent|code indentation"),
    ("quote", "single quote|double quote", "string|string literal|quote"),
    ("line ending", "lf|crlf|lf line ending|crlf line ending|unix line ending|windows line ending", "line ending"),
    ("package manager", "npm|pnpm|yarn|bun", _INSTALLING),
    ("python packages", "pip|poetry|uv|pipenv|conda", _INSTALLING),
    ("javascript tests", "jest|vitest|mocha|jasmine", "test|unit test|testing|test runner|test framework"),
    ("python tests", "pytest|unittest|nose", "test|unit test|testing|test runner|test framework"),
    ("naming", "camelcase|snake_case|kebab-case|pascalcase", "naming|name"),
    ("english", "british english|american english|british spelling|american spelling", "spelling|comment|text|english"),
    ("javascript formatting", "prettier|biome|standard", "formatting|code formatting"),
    ("python formatting", "black|ruff format|yapf|autopep8", "formatting|code formatting"),
    ("import", "absolute import|relative import", "import"),
    ("export", "named export|default export", "export|exporting"),
    ("rebasing", "merge commit|rebase|squash merge", "integrating branch|merging|merging branch"),
)
"""(name, things of which one is chosen, purposes that say no more than the name)."""

_ANY_END = frozenset(
    {"indentation", "quote", "package manager", "javascript tests", "python tests", "naming", "english"}
)
"""Choices that bind for narrower ends too (`snake_case for file names`); a rebase can go with a squash merge."""
_ALTERNATIVES: tuple[frozenset[str], ...] = tuple(
    frozenset(things.split("|"))
    for things in (
        "postgresql|mysql|mariadb|sqlite|mongodb",
        "redux|mobx|zustand|recoil|jotai",
        "react|vue|angular|svelte",
        "webpack|vite|parcel",
        "axios|fetch|ky",
        "httpx|requests|aiohttp",
        "sqlalchemy|peewee|django orm",
        "prisma|typeorm|sequelize",
        "playwright|cypress|selenium",
        "rest|graphql|grpc",
        "print|logging module|loguru",
        "uuid|integer|auto-increment integer",
        "utc|local time",
        "github actions|gitlab ci|circleci|jenkins",
        "mit|apache-2.0|gpl-3.0|bsd-3-clause",
        "main|master|trunk",
        "google style|numpy style|sphinx style",
    )
)
"""Kinds of things of which one is enough for one and the same end, but of which a project may well have several."""

MANNERS: tuple[frozenset[str], ...] = (
    frozenset("english german french spanish italian portuguese dutch japanese chinese russian korean".split()),
    frozenset({"utc", "local time"}),
)
"""Of each group one is chosen for what is done `in` it: `Answer in English`, `Store dates in UTC`."""

_SAME = {
    "indenting": "indentation",
    "indent": "indentation",
    "package management": "package manager",
    "dependency management": "package manager",
    "managing package": "package manager",
    "managing dependency": "package manager",
    "type annotation": "type hint",
    "postgre": "postgresql",
    "logger": "logging",
    "log": "logging",
    "snake case": "snake_case",
    "camel case": "camelcase",
    "kebab case": "kebab-case",
    "pascal case": "pascalcase",
    "en-gb": "british english",
    "en-us": "american english",
}
_NUMBERS = {"one": "1", "two": "2", "three": "3", "four": "4", "six": "6", "eight": "8", "ten": "10"}
_FILLER = frozenset("the a an any all your our only just always this that these those its every plain new".split())
_KEPT_S = re.compile(r"(?:ss|us|is|js|os|css|aws|https?|nginx|redis|kubernetes|pandas|rails|express)$")
_WORD = re.compile(r"[^\s,]+")
_QUOTES = re.compile(r"[`\"\u201c\u201d'\u2018\u2019]")
_AREAS = {
    "python": "python|py|django|flask|fastapi",
    "javascript": "javascript|js|node|nodejs",
    "typescript": "typescript|ts|react|vue|svelte|angular|nextjs",
    "java": "java|kotlin",
    "go": "go|golang",
    "rust": "rust",
    "ruby": "ruby|rails",
    "php": "php",
    "c": "c|c++|cpp",
    "sql": "sql|database|databases|migration|migrations",
    "css": "css|scss|html|tailwind",
    "yaml": "yaml|yml|json|toml",
    "shell": "shell|bash|scripts|script",
    "markdown": "markdown|docs|documentation|changelog|readme",
    "frontend": "frontend|front-end|ui|web|client",
    "backend": "backend|back-end|server|api|apis",
    "mobile": "mobile|ios|android|swift",
    "test": "test|tests|testing|unit|integration|e2e",
    "ci": "ci|pipeline|pipelines|workflow|workflows|deployment|infrastructure|infra|terraform|docker",
    "production": "production|prod|release|releases|staging",
    "development": "development|dev|local|locally",
    "legacy": "legacy|old|deprecated",
    "makefile": "makefile|makefiles",
    "examples": "example|examples|demo|demos|notebook|notebooks",
}
_AREA_OF = {word: area for area, words in _AREAS.items() for word in words.split("|")}


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """Return a phrase in one spelling: lower case, singular, without articles and quotes, one word for one thing."""
    words = [_NUMBERS.get(word, _singular(word)) for word in _WORD.findall(_QUOTES.sub("", text.lower()))]
    plain = " ".join(word.rstrip(".:;!?") or word for word in words if word not in _FILLER)
    return _SAME.get(plain, plain)


def _singular(word: str) -> str:
    if len(word) <= 3 or not word.endswith("s") or _KEPT_S.search(word) or "." in word:
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


@lru_cache(maxsize=4096)
def choice_of(thing: str, purpose: str) -> tuple[str, str] | None:
    """Return (choice, member) of a normal thing that is one of a known choice; None where it is used for other ends."""
    bare = _bare(thing)
    for name, members, purposes in _CHOICES:
        if bare in members.split("|") and (purpose in ("", name) or purpose in purposes.split("|")):
            return name, thing
    return None


def kind_of(thing: str) -> int | None:
    """Return a number for the known kind that a normal thing is one of, None where it is of none.

    Two things of one kind are alternatives where they are wanted for one and the same end.
    """
    return _KIND_OF.get(_bare(thing))


def _bare(thing: str) -> str:
    bare = re.sub(r"^\d+[- ](?=space)|-(?:only|based)$", "", thing)
    return re.sub(r" (?:indentation|for indentation)$", "", bare)


_KIND_OF = {
    normal(member): number
    for number, members in enumerate(
        (*(things.split("|") for name, things, _ in _CHOICES if name in _ANY_END), *_ALTERNATIVES)
    )
    for member in members
}


def areas_in(text: str) -> frozenset[str]:
    """Return the languages and parts of a project that a heading or a lead names."""
    words = re.findall(r"[\w+#-]+", text.lower())
    return frozenset(_AREA_OF[word] for word in words if word in _AREA_OF)
