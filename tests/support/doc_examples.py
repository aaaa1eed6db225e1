"""The commands that a page of the docs shows, and running them as a reader would."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from aircoding.cli.main import main

__all__ = ["DOCS", "Block", "blocks_of", "commands_of", "run_command"]

DOCS = Path(__file__).parents[2] / "docs"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = {"", "sh", "console"}


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str


def blocks_of(page: Path) -> tuple[Block, ...]:
    """Return the fenced blocks of a page, in order."""
    return tuple(Block(language, text) for language, text in _FENCE.findall(page.read_text("utf-8")))


def commands_of(page: Path) -> tuple[str, ...]:
    """Return the lines of a page that call `aircoding`, without prompt and remark."""
    found = []
    for block in blocks_of(page):
        if block.language not in _SHELL:
            continue
        for line in block.text.splitlines():
            command = line.removeprefix("$ ").strip()
            if command.startswith("aircoding ") and (block.language != "console" or line.startswith("$ ")):
                found.append(re.sub(r"\s+# .*$", "", command))
    return tuple(found)


def run_command(command: str, given: Mapping[str, str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run one command in this process; words that are placeholders are replaced. Return its code and all it printed."""
    words = [given.get(word, word) for word in shlex.split(command)[1:]]
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(words)
    printed = capsys.readouterr()
    code = ended.value.code
    return code if isinstance(code, int) else 0, printed.out + printed.err
