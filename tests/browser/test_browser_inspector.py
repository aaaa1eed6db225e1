"""The inspector's page in a real browser: nothing runs, nothing is fetched, all of it can be read and reached."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from support.browsers import chromium, opened
from support.contexts import segment
from support.inspected import context_of, hostile_context, long_context, ordinary_context

from aircoding.audit.inspection import inspect
from aircoding.audit.texts import request_texts
from aircoding.pages.inspector import inspector_page
from aircoding.records.manifest import AssembledContext
from aircoding.records.printable import visible

READ_BLOCKS = """() => {
  const blocks = {};
  let pointer = null;
  for (const node of document.querySelectorAll("#blocks h3, #blocks .t > div")) {
    if (node.matches("h3")) { pointer = node.querySelector("code").textContent; blocks[pointer] = null; continue; }
    const joined = blocks[pointer] !== null && node.dataset.n !== "+" ? "\\n" : "";
    blocks[pointer] = (blocks[pointer] ?? "") + joined + node.textContent;
  }
  return blocks;
}"""

LONG = long_context(1_200)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def page_of(folder: Path, context: AssembledContext) -> Path:
    file = folder / "page.html"
    file.write_text(inspector_page(inspect(context)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(tmp_path_factory.mktemp("ordinary"), ordinary_context())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(tmp_path_factory.mktemp("hostile"), hostile_context())


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(tmp_path_factory.mktemp("long"), LONG)


def sought(page: Page, words: str) -> str:
    page.fill("#search-words", words)
    page.press("#search-words", "Enter")
    return page.inner_text("#search-count")


def asked(page: Page, name: str) -> str:
    page.fill("#ask-name", name)
    page.press("#ask-name", "Enter")
    return page.inner_text("#ask-count") + page.inner_text("#ask-found")


def expected_blocks(context: AssembledContext) -> dict[str, str]:
    return {pointer: visible(text.removesuffix("\n")) for pointer, text in request_texts(context)}


def test_hostile_text_is_read_and_does_nothing(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile) as watched:
        page = watched.page
        page.mouse.move(300, 400)
        asked(page, "<img src=x onerror=window.ran=1>")
        sought(page, "<script>")
        for number in range(3):
            page.click("#search-back", delay=number)
        for link in page.query_selector_all("#blocks .h"):
            link.focus()
        assert page.evaluate("window.ran") is None
        assert page.evaluate(READ_BLOCKS) == expected_blocks(hostile_context())
        outside = page.inner_text("#left-out")
        assert "<script>window.ran = 1" in outside
        assert "\\u{202e}" in outside
        assert page.query_selector_all("main img, main iframe, main link, #blocks script, #left-out script") == []
        watched.assert_quiet(hostile)


def test_a_conflict_leads_to_its_parties_and_they_to_what_holds(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile) as watched:
        page = watched.page
        assert page.inner_text("#conflicts h3") == "indentation"
        assert "nobody has won yet" in page.inner_text("#conflicts")
        page.click("#conflicts a >> text=tabs.md")
        assert page.evaluate("document.activeElement.textContent").endswith("tabs.md:1-1 · in conflict")
        assert "indentation: nobody has won yet" in page.inner_text("#provenance-facts")


def test_without_scripts_all_of_it_can_be_read(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile, java_script_enabled=False) as watched:
        text = watched.page.inner_text("main")
        assert "selected by: profile executor" in text
        assert "need JavaScript" in text
        assert not watched.page.is_visible("#search")
        for block in expected_blocks(hostile_context()).values():
            for line in block.split("\n"):
                assert " ".join(line.split()) in " ".join(text.split())
        assert {one.partition("#")[0] for one in watched.asked} == {hostile.as_uri()}
        assert watched.said == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 1280)])
def test_no_rule_of_accessibility_is_broken(browser: Browser, hostile: Path, scheme: Any, width: int) -> None:
    with opened(browser, hostile, width=width, color_scheme=scheme) as watched:
        page = watched.page
        asked(page, "rules")
        sought(page, "window")
        page.focus("#s-3 .h")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page itself scrolls sideways"


def test_by_keyboard_alone_a_piece_tells_where_it_comes_from(browser: Browser, ordinary: Path) -> None:
    with opened(browser, ordinary) as watched:
        page = watched.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the prompt"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        facts = page.inner_text("#provenance-facts")
        assert visible(ordinary_context().manifest.segments[0].segment_id) in facts
        first = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") != first
        assert page.inner_text("#provenance-facts") != facts


def test_hover_shows_the_whole_account_of_a_piece(browser: Browser, ordinary: Path) -> None:
    context = ordinary_context()
    number, record = next((n, r) for n, r in enumerate(context.manifest.segments, 1) if r.rule_id == "tabs")
    with opened(browser, ordinary) as watched:
        watched.page.hover(f"#s-{number} .t")
        facts = watched.page.inner_text("#provenance-facts")
        for fact in (".air/shared/rules/tabs.md:1-3", "tabs", "L3 Rules and preferences", record.selected_by):
            assert fact in facts
        assert record.source.digest in facts
        lines = watched.page.eval_on_selector_all(f"#s-{number} .t > div", "all => all.map(one => one.dataset.s)")
        assert lines == ["1", "2", "3"]


def test_search_finds_what_is_not_drawn_yet_and_goes_there(browser: Browser, long: Path) -> None:
    with opened(browser, long) as watched:
        page = watched.page
        drawn = page.evaluate("document.querySelectorAll('#blocks .s').length")
        assert drawn < 1_000
        page.fill("#search-words", "OF MODULE 1132:")
        page.wait_for_function("() => document.querySelector('#search-found li')")
        assert page.inner_text("#search-count") == "4 places in the prompt, 0 sources of that name, 0 texts left out."
        page.press("#search-words", "Enter")
        assert page.inner_text("#search-count") == "1 of 4"
        box = page.locator(".s.on").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 800
        assert "module_1132.py" in page.inner_text("#provenance-facts")
        assert page.evaluate("CSS.highlights.get('found').size") == 1
        assert sought(page, "module_77.py") == "1 of 1"
        assert sought(page, "nowhere at all") == "Nothing found."


def test_a_link_and_an_address_lead_to_a_piece_that_is_not_drawn_yet(browser: Browser, long: Path) -> None:
    late = len(LONG.manifest.segments) - 3
    with opened(browser, long, address=f"#s-{late}") as watched:
        box = watched.page.locator(f"#s-{late}").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 800
    with opened(browser, long) as watched:
        page = watched.page
        page.click("#layers tbody tr:last-child a")
        number = page.evaluate("location.hash.slice(3)")
        box = page.locator(f"#s-{number}").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 800
        assert page.evaluate("document.activeElement.hash") == f"#s-{number}"
        watched.assert_quiet(long)


def test_a_long_prompt_is_drawn_whole_for_paper(browser: Browser, long: Path) -> None:
    with opened(browser, long) as watched:
        watched.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert watched.page.evaluate(READ_BLOCKS) == expected_blocks(LONG)


def test_the_question_names_what_is_in_what_is_out_and_what_was_never_considered(
    browser: Browser, ordinary: Path
) -> None:
    with opened(browser, ordinary) as watched:
        page = watched.page
        assert asked(page, "tabs.md").startswith("It was included: .air/shared/rules/tabs.md:1-3 (L3")
        out = asked(page, "docs")
        assert "path_not_matched" in out
        assert "Decided at .air/shared/rules/docs.md:4" in out
        assert "To change it: add a glob" in out
        assert asked(page, "one.py").startswith("It was included: src/one.py:1-")
        assert "was never considered" in asked(page, "README.md")
        watched.assert_quiet(ordinary)


def test_what_was_left_out_is_shown_by_reason(browser: Browser, ordinary: Path) -> None:
    with opened(browser, ordinary) as watched:
        page = watched.page
        shown = "[...document.querySelectorAll('#omissions tbody tr')].filter(row => !row.hidden).length"
        total = page.evaluate(shown)
        page.select_option("#reason", "path_not_matched")
        assert page.evaluate(shown) == 2
        page.select_option("#reason", "")
        assert page.evaluate(shown) == total


def test_a_line_of_a_million_characters_comes_in_portions(browser: Browser, tmp_path: Path) -> None:
    wall = "0123456789" * 100_000 + "the end"
    file = page_of(tmp_path, context_of(segment(f"first\n{wall}", uri="project:wall.txt"), window_tokens=8_000_000))
    with opened(browser, file) as watched:
        page = watched.page
        assert sought(page, "wall.txt").startswith("1 of ")
        drawn = "document.querySelector('.s:has(.more)').textContent.length"
        before = page.evaluate(drawn)
        assert before < 80_000
        page.click(".more")
        assert before + 60_000 < page.evaluate(drawn) < before + 80_000
        assert sought(page, "THE END") == "1 of 1"
        assert page.evaluate("document.querySelector('.s.on').textContent.endsWith('the end')")
        assert page.query_selector(".more") is None
        watched.assert_quiet(file)


def test_the_page_holds_its_prompt_as_data_that_any_program_reads(browser: Browser, ordinary: Path) -> None:
    with opened(browser, ordinary) as watched:
        data = json.loads(watched.page.text_content("#prompt-data") or "")
        texts = {block["pointer"]: block["pieces"] for block in data["blocks"]}
        assert set(texts) == set(expected_blocks(ordinary_context()))
