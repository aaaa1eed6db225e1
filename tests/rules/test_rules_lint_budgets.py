"""Files that a tool cuts: the chain of Codex against one budget, Hermes file by file."""

from aircoding.rules.lint_budgets import over_budget
from aircoding.rules.rule_names import classify
from aircoding.rules.tree import RuleTree, TreeFile


def found(sizes: dict[str, int]) -> list[tuple[str, str]]:
    files = {
        path: TreeFile(path=path, name=classify(path), text="x" * size, raw=b"x" * size, size_bytes=size)
        for path, size in sizes.items()
    }
    return [(one.uri, one.message) for one in over_budget(RuleTree(files=files))]


def test_e33_a_chain_is_read_from_the_root_until_the_budget_is_gone() -> None:
    chain = {"AGENTS.md": 15_000, "a/AGENTS.md": 15_000, "a/b/AGENTS.md": 5_000, "a/b/c/AGENTS.md": 10}
    assert found(chain) == [
        (
            "project:a/b/AGENTS.md",
            (
                "Codex, started in its folder, reads the first 2768 of its 5000 bytes: 32768 bytes are read in all"
                " after 30000 bytes of the files above it"
            ),
        ),
        (
            "project:a/b/c/AGENTS.md",
            (
                "Codex, started in its folder, reads nothing of it: 32768 bytes are read in all"
                " after 35000 bytes of the files above it"
            ),
        ),
    ]


def test_a_file_beside_the_chain_takes_nothing_from_it() -> None:
    assert found({"AGENTS.md": 20_000, "a/AGENTS.md": 12_000, "b/AGENTS.md": 12_000}) == []


def test_an_override_takes_the_place_of_the_file_beside_it() -> None:
    assert found({"AGENTS.md": 19_000, "AGENTS.override.md": 100, "a/AGENTS.md": 20_000}) == []


def test_e32_hermes_keeps_so_many_characters_of_a_file() -> None:
    assert [uri for uri, _ in found({"AGENTS.md": 20_001, "CLAUDE.md": 20_000, "GEMINI.md": 90_000})] == [
        "project:AGENTS.md"
    ]
