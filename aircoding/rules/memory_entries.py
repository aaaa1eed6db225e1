"""Memory as entries: read from a text, counted against the limit of its store, changed one entry at a time.

A store is a plain text that people may edit; a line with nothing but a section sign parts two entries (the form of
Hermes' `memory_tool.py`, read 2026-08). Nothing here reads a disk.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from aircoding.errors import ConfigError, NotFoundError

__all__ = ["MemoryEntry", "MemoryKind", "add_entry", "edit_entry", "file_text", "find_entry", "heading"]
__all__ += ["read_entries", "remove_entry", "used_chars"]

_SIGN = "\u00a7"
_BETWEEN = f"\n{_SIGN}\n"


class MemoryKind(StrEnum):
    """Whose notes a store holds; the value is the word of the command line."""

    NOTES = "notes"
    USER = "user"
    PROJECT = "project"

    @property
    def file_name(self) -> str:
        """The file's name in the folder of the profile or of the project."""
        return "USER.md" if self is MemoryKind.USER else "MEMORY.md"

    @property
    def limit_chars(self) -> int:
        """Most characters of all entries with what parts them (Hermes' limits, which the seed shows)."""
        return 1_375 if self is MemoryKind.USER else 2_200

    @property
    def label(self) -> str:
        """What the store is called in a prompt."""
        return {
            MemoryKind.NOTES: "MEMORY (your notes)",
            MemoryKind.USER: "USER (about the person)",
            MemoryKind.PROJECT: "PROJECT MEMORY (notes on this project)",
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry:
    """One remembered thing with its lines in the file (from 1)."""

    text: str
    start_line: int
    end_line: int


def read_entries(text: str) -> tuple[MemoryEntry, ...]:
    """Return the entries of a store in order; blank ones are none. Never raises."""
    entries: list[MemoryEntry] = []
    held: list[tuple[int, str]] = []
    for number, line in enumerate([*text.split("\n"), _SIGN], 1):
        if line.strip() != _SIGN:
            held.append((number, line))
            continue
        filled = [place for place, (_, one) in enumerate(held) if one.strip()]
        if filled:
            lines = held[filled[0] : filled[-1] + 1]
            whole = "\n".join(one for _, one in lines).strip()
            entries.append(MemoryEntry(text=whole, start_line=lines[0][0], end_line=lines[-1][0]))
        held = []
    return tuple(entries)


def file_text(texts: Sequence[str]) -> str:
    """Return what a store's file holds for these entries; the inverse of `read_entries`."""
    return _BETWEEN.join(texts) + "\n" if texts else ""


def used_chars(texts: Sequence[str]) -> int:
    """Return how many characters count against the limit: the entries and what parts them."""
    return len(_BETWEEN.join(texts))


def heading(kind: MemoryKind, texts: Sequence[str]) -> str:
    """Return the line above a store in a prompt: `MEMORY (your notes) — 1% used, 14/2200 chars`."""
    used = used_chars(texts)
    return f"{kind.label} \u2014 {round(100 * used / kind.limit_chars)}% used, {used}/{kind.limit_chars} chars"


def add_entry(kind: MemoryKind, texts: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the entries with `text` as the last; the same ones where they hold it already.

    Raises:
        ConfigError: the text is no entry, or the store would be over its limit.
    """
    entry = _entry(text)
    return tuple(texts) if entry in texts else _within(kind, texts, (*texts, entry))


def edit_entry(kind: MemoryKind, texts: Sequence[str], which: str, text: str) -> tuple[str, ...]:
    """Return the entries with `text` in the place of the one that `which` finds.

    Raises:
        ConfigError: the text is no entry, or the store would be over its limit.
        NotFoundError: no entry, or more than one, holds `which`.
    """
    place, entry = find_entry(texts, which), _entry(text)
    return _within(kind, texts, (*texts[:place], entry, *texts[place + 1 :]))


def remove_entry(texts: Sequence[str], which: str) -> tuple[str, ...]:
    """Return the entries without the one that `which` finds.

    Raises:
        NotFoundError: no entry, or more than one, holds `which`.
    """
    place = find_entry(texts, which)
    return (*texts[:place], *texts[place + 1 :])


def find_entry(texts: Sequence[str], which: str) -> int:
    """Return the place of the one entry that is `which`, or else holds it.

    Raises:
        NotFoundError: no entry, or more than one, holds it.
    """
    same = [place for place, text in enumerate(texts) if text == which.strip()]
    found = same or [place for place, text in enumerate(texts) if which.strip() and which in text]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(
            f"no entry holds {_shown(which)}",
            hint="`aircoding memory show` lists them; name words of the one that you mean",
            code="memory.unknown",
        )
    raise NotFoundError(
        f"{len(found)} entries hold {_shown(which)}",
        hint="name more words of the one that you mean",
        code="memory.ambiguous",
    )


def _entry(text: str) -> str:
    entry = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not entry:
        raise ConfigError("an entry needs words", hint="say what is to be remembered", code="memory.invalid")
    if any(line.strip() == _SIGN for line in entry.split("\n")):
        raise ConfigError(
            f"a line with nothing but {_SIGN} parts two entries, so none can hold one",
            hint="add them one by one",
            code="memory.invalid",
        )
    if any(_is_unseen(char) for char in entry):
        raise ConfigError(
            "the text holds characters that cannot be seen or are no UTF-8",
            hint="write it in plain characters",
            code="memory.invalid",
        )
    return entry


def _is_unseen(char: str) -> bool:
    """Whether a character is none of a text: ends of lines that only some programs know are none."""
    return not char.isprintable() and char not in "\n\t" and unicodedata.category(char) != "Zs"


def _within(kind: MemoryKind, before: Sequence[str], after: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what is over the limit; what makes a store smaller that was over it already is let through."""
    used, limit = used_chars(after), kind.limit_chars
    if used <= limit or used < used_chars(before):
        return after
    raise ConfigError(
        f"the {kind.value} memory holds {used_chars(before)} of {limit} characters in {len(before)} entries; "
        f"with this it would hold {used}, {used - limit} too many",
        hint="put entries together that belong together (`aircoding memory edit`), or remove what no longer counts",
        code="memory.full",
    )


def _shown(text: str) -> str:
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"
