"""What becomes of each rule file: all are accounted for, in any order, within any budget."""

from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from aircoding.rules.imports import cycles
from aircoding.rules.neutral import neutral_rules
from aircoding.rules.reach import Reach, joined_reach
from aircoding.rules.rule_budget import Claimant, allotments
from aircoding.rules.rule_names import classify
from aircoding.rules.rule_switches import RuleSwitches
from aircoding.rules.tree import RuleTree, TreeFile, chain

NAMES = [
    *("AGENTS.md", "AGENTS.override.md", "agents.md", "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
    *("src/AGENTS.md", "src/CLAUDE.md", "src/deep/CLAUDE.md", "src/deep/GEMINI.md", "GEMINI.md", ".hermes.md"),
    *(".claude/rules/a.md", ".cursor/rules/b.mdc", ".cursorrules", ".windsurf/rules/c.md", "docs/x.md", "docs/y.md"),
    *(".github/copilot-instructions.md", ".github/instructions/d.instructions.md", ".air/shared/rules/n.md"),
]
TEXTS = [
    *("", "plain", "AGENTS.md", "docs/x.md", "@docs/x.md", "@docs/y.md @AGENTS.md", "@y.md", "@x.md", "@../CLAUDE.md"),
    *("---\npaths: ['src/**']\n---\nx", "---\nglobs: *.py\n---\n@docs/x.md", "---\nunclosed\nx", "<!-- c -->\n## A\nx"),
]
files = st.builds(
    lambda name, text, problem, inode: TreeFile(
        path=name,
        name=classify(name),
        text=text if problem is None else "",
        problem=problem,
        identity=(1, inode),
    ),
    st.sampled_from(NAMES),
    st.sampled_from(TEXTS),
    st.sampled_from([None, None, None, "it is a folder"]),
    st.integers(0, 40),
)
switches = st.builds(
    RuleSwitches,
    claude=st.booleans(),
    agents_md=st.booleans(),
    agents_and_claude=st.sampled_from(
        ["claude-md", "claude-md-or-agents-md", "claude-md-and-agents-md", "managed-only"]
    ),
    max_bytes=st.integers(0, 60),
    excludes=st.sampled_from([(), ("src/**",), ("**/x.md",)]),
)


@given(found=st.lists(files, max_size=14, unique_by=lambda file: file.path), options=switches, data=st.data())
def test_every_file_is_used_or_left_out_whatever_came_first(found, options, data):
    rules = neutral_rules(RuleTree(files={file.path: file for file in found}), options)
    shuffled = data.draw(st.permutations(found))
    assert neutral_rules(RuleTree(files={file.path: file for file in shuffled}), options) == rules
    used, left_out = [one.path for one in rules.used], [one.path for one in rules.left_out]
    assert not set(used) & set(left_out)
    assert {file.path for file in found if file.name is not None} <= {*used, *left_out}
    assert {*used, *left_out} <= {file.path for file in found}
    assert all(one.why.detail for one in rules.left_out)
    identities = [file.identity for file in found if file.path in used]
    assert len(identities) == len(set(identities))


claimants = st.lists(
    st.builds(
        lambda folder, size, number: Claimant(path=f"{folder}/{number}", folder=folder, size_bytes=size),
        st.sampled_from(["", "a", "a/b", "a/b/c", "a/d", "e"]),
        st.integers(0, 50),
        st.integers(0, 10**6),
    ),
    unique_by=lambda one: one.path,
)


@given(found=claimants, limit=st.integers(0, 120))
def test_e33_no_chain_takes_more_than_the_limit_and_no_byte_is_withheld_without_need(found, limit):
    granted = allotments(found, limit)
    by_folder = {}
    for one in found:
        by_folder.setdefault(one.folder, []).append(one)
        assert 0 <= granted[one.path] <= one.size_bytes
    for folder, own in by_folder.items():
        above = chain(f"{folder}/x") if folder else ("",)
        assert sum(granted[one.path] for name in above for one in by_folder.get(name, ())) <= limit
        if not any(name.startswith(f"{folder}/" if folder else "") for name in by_folder if name != folder):
            assert sum(granted[one.path] for one in own) == min(limit, sum(one.size_bytes for one in own))
    if sum(one.size_bytes for one in found) <= limit:
        assert all(granted[one.path] == one.size_bytes for one in found)


edges = st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdef")))


@given(edges=edges)
def test_e21_each_ring_is_one_and_one_is_found_where_there_is_any(edges):
    rings = cycles(edges)
    for ring in rings:
        assert ring[0] == ring[-1]
        assert all(following in edges[name] for name, following in pairwise(ring))
    graph = nx.DiGraph([(name, other) for name, others in edges.items() for other in others])
    assert bool(rings) is not nx.is_directed_acyclic_graph(graph)


reaches = st.builds(
    Reach,
    level=st.integers(0, 9),
    paths=st.sampled_from([(), ("a/**",), ("b/**",), ("a/**", "b/**")]),
    folders=st.sampled_from([(), ("a",), ("b",)]),
    of_user=st.booleans(),
)


@given(one=reaches, two=reaches, three=reaches)
def test_reaches_join_in_any_order(one, two, three):
    assert joined_reach(one, two) == joined_reach(two, one)
    assert joined_reach(joined_reach(one, two), three) == joined_reach(one, joined_reach(two, three))
