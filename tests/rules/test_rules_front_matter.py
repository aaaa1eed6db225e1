"""Cases E01 to E06 and E47, and that no text raises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.rules.front_matter import MAX_HEADER_BYTES, parse_front_matter
from aircoding.rules.yaml_reader import YamlFault, plain_value, read_yaml


def codes(text: str) -> list[tuple[str, int | None]]:
    return [(one.code, one.line) for one in parse_front_matter(text, "project:x.md").diagnostics]


def test_a_header_with_lines():
    matter = parse_front_matter("---\nkind: project\npaths:\n  - src/**\n---\nBody\n")
    assert matter.data == {"kind": "project", "paths": ["src/**"]}
    assert matter.lines == {"kind": 2, "paths": 3}
    assert (matter.body, matter.body_start_line, matter.broken, matter.present) == ("Body\n", 6, False, True)


def test_byte_order_mark_and_line_ends():
    assert parse_front_matter("\ufeff---\r\nkind: project\r\n---\rhi\r\n").data == {"kind": "project"}
    assert parse_front_matter("---\r\na: 1\r\n---\rhi\r\n").body == "hi\n"
    assert parse_front_matter("a\ufeffb").body == "a\ufeffb"


def test_closing_fence_at_the_end_of_the_file():
    matter = parse_front_matter("---\nkind: project\n---")
    assert (matter.data, matter.body, matter.broken) == ({"kind": "project"}, "", False)


def test_no_header():
    matter = parse_front_matter("# Title\n\n---\n\ntext\n---\n")
    assert (matter.present, matter.broken, matter.body_start_line) == (False, False, 1)


def test_unclosed_header_is_broken():
    matter = parse_front_matter("---\nkind: project\npaths: src/**\n\nAlways do this.")
    assert matter.broken
    assert matter.data == {}
    assert codes("---\nkind: project\n") == [("front_matter.unclosed", 1)]


def test_a_fence_inside_the_header_does_not_end_it():
    assert parse_front_matter("---\ndescription: a --- b\n---\nx").data == {"description": "a --- b"}
    text = "---\nkind: project\n--- \npaths: src/**\n---\nx"
    assert parse_front_matter(text).broken, "the part behind would be lost"


def test_a_closing_fence_with_blanks_counts_where_there_is_no_other():
    assert parse_front_matter("---\nkind: project\n--- \nx").data == {"kind": "project"}
    assert codes("---\nkind: project\n---\t\nx") == [("front_matter.fence", 3)]


def test_a_header_that_starts_late_is_broken():
    assert codes("\n---\npaths: src/**\n---\nx") == [("front_matter.misplaced", 2)]
    assert codes("\n---\nJust a rule between lines.\n---\n") == []


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("paths: **/*.ts", "paths", "**/*.ts"),
        ("globs: *.tsx", "globs", "*.tsx"),
        ("paths: {a,b}/** # both", "paths", "{a,b}/**"),
        ("paths: [**/*.ts, src/{a,b}/*]", "paths", ["**/*.ts", "src/{a,b}/*"]),
        ("paths:\n  - **/*.ts\n  - '*.md'", "paths", ["**/*.ts", "*.md"]),
        ("description: Use this: always", "description", "Use this: always"),
    ],
)
def test_headers_that_yaml_refuses(line, key, value):
    matter = parse_front_matter(f"---\n{line}\n---\n")
    assert matter.data == {key: value}
    assert [one.code for one in matter.diagnostics] == ["front_matter.lenient"]


@pytest.mark.parametrize(
    ("header", "code", "line"),
    [
        ("kind: project\npaths: [a, b", "front_matter.invalid", 3),
        ("kind: project\nfoo: *x", "front_matter.invalid", 3),
        ("a: &x 1\nb: *x", "front_matter.invalid", 2),
        ("paths: *a\nid: &x", "front_matter.invalid", 3),
        ("- a", "front_matter.invalid", 2),
        ("kind: project\nkind: toolchain", "front_matter.repeated_key", 3),
        ("paths: *a\npaths: *b", "front_matter.invalid", 3),
        ("paths: '*a", "front_matter.invalid", 2),
    ],
)
def test_headers_that_nobody_can_read_name_the_line(header, code, line):
    text = f"---\n{header}\n---\nx"
    assert parse_front_matter(text).broken
    assert codes(text) == [(code, line)]


def test_values_asked_for_in_a_form():
    matter = parse_front_matter("---\nid: 3000\nname: yes\nrequired: on\ntags: [1, b]\nkind: x\nversion:\n---\n")
    assert (matter.text("id"), matter.text("name"), matter.text("version")) == ("3000", "yes", None)
    assert (matter.flag("required"), matter.flag("kind"), matter.flag("tags")) == (True, None, None)
    assert (matter.texts("tags"), matter.texts("kind"), matter.texts("none")) == (("1", "b"), ("x",), None)
    assert parse_front_matter('---\nrequired: "false"\n---\n').flag("required") is False


def test_bounds():
    assert codes("---\na: " + "x" * MAX_HEADER_BYTES + "\n---\n") == [("front_matter.too_long", 1)]
    assert parse_front_matter("---\na: " + "[" * 5000 + "\n---\n").broken
    assert parse_front_matter("---\n" + "- " * 5000 + "\n---\n").broken
    assert parse_front_matter("---\na: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n").broken


@given(st.text(st.sampled_from("-: \n\r\ufeff*[]{},#'\"abkindpaths\t&!|>\x00\ud800"), max_size=80))
@settings(max_examples=400, deadline=None)
def test_no_text_raises_and_none_is_lost(text):
    for one in (text, "---\n" + text, "---\n" + text + "\n---\nx"):
        matter = parse_front_matter(one)
        assert matter.broken == any(fault.severity == "error" for fault in matter.diagnostics)
        assert matter.lines.keys() == matter.data.keys()
        if not matter.present:
            assert matter.body == one.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.text("ab: -#'\n", max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text("ab", min_size=1), inner, max_size=3)),
    max_leaves=8,
)


@given(VALUES)
@settings(max_examples=200, deadline=None)
def test_the_reader_gives_what_was_dumped(value):
    import yaml

    assert plain_value(read_yaml(yaml.dump(value, Dumper=yaml.CSafeDumper))) == value


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a: *x", "`*x` is an alias in YAML; aliases are not read", 1),
        ("b: 1\na: &x 1", "`&x` is an anchor in YAML; anchors are not read", 2),
        ("a: !!python/object:os 1", "the tag `tag:yaml.org,2002:python/object:os` is not read", 1),
        ("a: 1\n---\nb: 2", "a second document starts here", 2),
        ("? [a]\n: b", "a key must be plain text", 1),
        ("a: \x01", "a character that YAML does not allow (control characters are not allowed)", 1),
        ("a: 1\nb: \ud800", "half of a surrogate pair", 2),
        ("\ta: 1", "a value that starts with a special character needs quotes, and tabs do not indent", 1),
    ],
)
def test_faults_of_yaml_in_words(text, message, line):
    with pytest.raises(YamlFault) as caught:
        read_yaml(text)
    assert (caught.value.message, caught.value.line) == (message, line)


def test_plain_words_of_yaml_1_1_stay_text():
    assert plain_value(read_yaml("[yes, on, NO, 1:30, 0o7, 0x1f, 1_000, true, 1.5, 1e3, ~, 2020-01-01]")) == [
        *("yes", "on", "NO", "1:30", "0o7", "0x1f", "1_000"),
        *(True, 1.5, 1000.0, None, "2020-01-01"),
    ]
