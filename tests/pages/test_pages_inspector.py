"""Pages stand alone: what may run in them is named by digest, and what somebody else wrote cannot become markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inspected import hostile_context, ordinary_context

import aircoding.pages
from aircoding.audit.inspection import inspect
from aircoding.pages.drawing import environment, inline_asset
from aircoding.pages.inspector import inspector_page
from aircoding.pages.text import script_json, shown
from aircoding.records.printable import is_unseen, visible

STATIC = Path(aircoding.pages.__file__).parent / "static"
_TEXT = st.text(st.sampled_from("ab<>&'\"\u202e\u2028\x00\n\t\U000e0041é") | st.characters(exclude_categories=["Cs"]))


class Elements(HTMLParser):
    """The elements of a page with their attributes; `inside` is the text of styles and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found[-1:] and self.found[-1][0] in ("style", "script") and data.strip():
            self.inside.append((self.found[-1][1].get("type") or self.found[-1][0], data))


@pytest.mark.parametrize("hostile", [False, True])
def test_the_policy_names_the_one_style_and_the_one_script_and_nothing_else(hostile: bool) -> None:
    page = Elements(inspector_page(inspect(hostile_context() if hostile else ordinary_context())))

    (policy,) = [str(a["content"]) for tag, a in page.found if a.get("http-equiv") == "Content-Security-Policy"]
    digest = {
        kind: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for kind, text in page.inside
        if kind in ("style", "script")
    }
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest['script']}'; style-src 'sha256-{digest['style']}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert sorted(kind for kind, _ in page.inside) == ["application/json", "script", "style"]
    for tag, attributes in page.found:
        assert not {
            name for name in attributes if name.startswith("on") or name in ("style", "src", "srcset", "action")
        }
        assert tag not in ("iframe", "object", "embed", "base", "img", "audio", "video")
        for name in ("href", "xlink:href"):
            assert attributes.get(name, "#") in ("data:,", "#") or str(attributes[name]).startswith("#")
    assert page.found[2] == ("meta", {"charset": "utf-8"})
    assert "http-equiv" in page.found[3][1], "what stands before a policy is not held by it"


def test_no_asset_makes_markup_of_text_or_names_another_place() -> None:
    for asset in STATIC.iterdir():
        text = inline_asset(asset.name)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(|setHTML", text)
        assert not re.search(r"https?:|//[a-z]+\.|url\(|@import|\bfetch\b|XMLHttp|WebSocket|sendBeacon", text)


@given(_TEXT)
def test_shown_text_reads_as_it_would_on_a_terminal_and_holds_no_markup(text: str) -> None:
    marked = shown(text)
    plain = marked.replace('<span class="unseen">', "").replace("</span>", "")

    assert "<" not in plain
    assert ">" not in plain
    assert html.unescape(plain) == visible(text)


@given(st.recursive(_TEXT, lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner), max_leaves=10))
def test_data_for_a_script_comes_back_and_cannot_end_its_element(value: object) -> None:
    written = str(script_json(value))

    assert json.loads(written) == value
    assert not re.search("[<>&]", written)
    assert not any(is_unseen(char) for char in written)


def test_templates_escape_and_refuse_a_name_that_is_not_given() -> None:
    made = environment()

    assert made.from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"
    with pytest.raises(jinja2.UndefinedError):
        made.from_string("{{ y }}").render()


def test_the_summary_says_in_words_what_is_in_and_what_is_out() -> None:
    page = inspector_page(inspect(ordinary_context()))

    assert re.search(r"\d+ pieces of text from \d+ sources: about [\d,]+ tokens, .* of the window of 200,000\.", page)
    assert "2 texts considered, and left out or shortened: 2 because a rule for other paths" in page
    assert "Nothing was found that contradicts." in page
