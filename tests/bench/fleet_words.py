"""Texts that read like a repository: prose and code from one vocabulary, by a fixed seed.

They compress about as real code does: words by Zipf's law, a few shapes of lines, names that are the author's own.
"""

from __future__ import annotations

import itertools
import random

__all__ = ["Words"]

_SYLLABLES = "ac al am an ar be bil can ce con cor da de di el en er ex fa fi for ge ho im in ip is it ka la le li lo"
_SYLLABLES += " ma me mi mo na ne ni no ob or pa pe pla po pre pro qu ra re ri ro sa se si so sta su ta te ti to tra"
_SYLLABLES += " tu un up ur va ve vi wa we ze"
_COMMON = """the of to a in is for and that this it not with as on be by when are from or must each only one no new
all its before after value path name key row list state error result order total index line file text size count
return call test read write check store item user page node task time date open close first last next"""
_SHAPES = (
    "    {0} = self.{1}({2}, {3}={4})",
    "    if {0}.{1} is None or {2} > {3}:",
    '        raise {0}Error(f"{1} {{{2}}} has no {3}")',
    "    for {0} in {1}.{2}({3}):",
    "        {0}[{1}.{2}] = {3} + {4}",
    "    return {0}({1}, {2})",
    "    # {0} {1} {2} {3} {4}",
    "    {0}, {1} = {2}.split({3}), len({4})",
    "        {0}.append(({1}, {2}.{3}))",
    '    assert {0}.{1} == {2}, "{3} {4}"',
    '    {0}: dict[str, {1}] = {{"{2}": {3}, "{4}": None}}',
    "    with {0}.{1}({2}) as {3}:",
    "def {0}_{1}({2}: {3}, *, {4}: int = 0) -> None:",
    '    """Return the {0} {1} of a {2} {3}."""',
    "",
)


class Words:
    """A vocabulary of one project. The same seed gives the same texts in the same order of calls."""

    def __init__(self, seed: int, *, size: int = 6_000) -> None:
        chance = random.Random(seed)
        syllables = _SYLLABLES.split()
        made = dict.fromkeys(_COMMON.split())
        while len(made) < size:
            made["".join(chance.choices(syllables, k=chance.choice((2, 2, 3, 3, 4))))] = None
        self._words = list(made)
        self._weights = list(itertools.accumulate(1 / (rank + 8) for rank in range(size)))

    def some(self, chance: random.Random, count: int) -> list[str]:
        """Return words, common ones more often."""
        return chance.choices(self._words, cum_weights=self._weights, k=count)

    def prose(self, chance: random.Random, count: int) -> str:
        """Return sentences of `count` words in all, in lines of some 16 words."""
        words = self.some(chance, count)
        lines = []
        for start in range(0, count, 16):
            line = " ".join(words[start : start + 16])
            lines.append(line[:1].upper() + line[1:] + ".")
        return "\n".join(lines)

    def code(self, chance: random.Random, lines: int) -> str:
        """Return `lines` lines that look like Python, each with words of its own."""
        shapes = chance.choices(_SHAPES, k=lines)
        own = self.some(chance, 12 + lines // 3)  # a file speaks of a few things again and again
        words = iter(chance.choices(own, cum_weights=self._weights[: len(own)], k=5 * lines))
        filled = [shape.format(*itertools.islice(words, 5)) for shape in shapes]
        return "\n".join(filled) + "\n"
