"""The system's Chromium, headless, and pages in it that tell of all that they did."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""


@dataclass(frozen=True, slots=True)
class Watched:
    """A page with what it said and asked for since it was opened."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def assert_quiet(self, file: Path) -> None:
        """Fail when the page said anything, asked for anything but its own file, or met its content policy."""
        assert self.said == []
        assert {one.partition("#")[0] for one in self.asked} == {file.as_uri()}
        assert self.page.evaluate("window.violations") == []


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser; skip where there is none."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is installed")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, file: Path, *, address: str = "", width: int = 1280, **more: Any) -> Iterator[Watched]:
    """Open a file in a window of its own."""
    context = browser.new_context(viewport={"width": width, "height": 800}, **more)
    context.set_default_timeout(10_000)
    page = context.new_page()
    watched = Watched(page)
    page.on("console", lambda message: watched.said.append(message.text))
    page.on("pageerror", lambda error: watched.said.append(str(error)))
    page.on("dialog", lambda dialog: watched.said.append(dialog.message))
    page.on("request", lambda request: watched.asked.append(request.url))
    page.add_init_script(_WATCH)
    page.goto(file.as_uri() + address)
    if more.get("java_script_enabled", True):
        page.wait_for_selector("html[data-ready-milliseconds]")
    yield watched
    context.close()
