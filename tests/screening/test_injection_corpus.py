"""The figures on the shared corpus of attacks and honest documents hold; words that a rule needs hide no match."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from aircoding.records.layers import Trust
from aircoding.screening.injections import RULE_SETS
from aircoding.screening.passages import DenseText
from aircoding.screening.plain_text import PlainText
from aircoding.screening.screener import TextScreener

CORPUS = Path(__file__).parents[3] / "shared" / "eval" / "injection"
SCREENER = TextScreener(key=b"test key")
LEAST = {"hidden": 0.9, "unicode": 0.9, "embedded": 0.9, "exfil": 0.9, "multilingual": 0.4}
NO_LEXICAL_MARK = {"bare", "pl"}

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not beside the checkout"),
]


def documents(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def blocks(text: str) -> bool:
    """Judge one document of unknown source; `evaluate.py` beside the corpus takes this function."""
    return any(one.blocks for one in SCREENER.findings(text, uri="file:document", trust=Trust.EXTERNAL))


def rates(name: str, key: str) -> dict[str, tuple[int, int]]:
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for document in documents(name):
        group = document[key].split(":")[0]
        total[group] += 1
        found[group] += blocks(document["text"])
    return {group: (found[group], total[group]) for group in total}


def share(groups: list[tuple[int, int]]) -> float:
    return sum(found for found, _ in groups) / sum(total for _, total in groups)


def test_attacks_are_found() -> None:
    by_family = rates("attacks", "family")
    assert share([pair for family, pair in by_family.items() if family not in NO_LEXICAL_MARK]) >= 0.65
    for family, least in LEAST.items():
        assert share([by_family[family]]) >= least, family


def test_honest_documents_pass() -> None:
    by_kind = rates("benign", "kind")
    security = [pair for kind, pair in by_kind.items() if "security" in kind]
    other = [pair for kind, pair in by_kind.items() if "security" not in kind and kind != "hard_sentence"]
    assert share(other) <= 0.01
    assert share(security) <= 0.05


@pytest.mark.parametrize("name", ["attacks", "benign"])
def test_the_words_that_a_rule_needs_hide_no_match(name: str) -> None:
    for number, document in enumerate(documents(name)):
        if number % 9:
            continue
        for passage in DenseText(PlainText(document["text"]).text).passages():
            for rules in RULE_SETS:
                candidates = {id(rule) for rule in rules.candidates(passage)}
                for rule in rules.rules:
                    if id(rule) not in candidates:
                        assert not any(rules.spans(rule, passage)), (rule.code, rule.pattern, document["id"])
