"""Take the picture of the inspector's page that the documentation shows: `python -m support.pictures FILE`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from aircoding.app.contexts import BuildRequest, build_context
from aircoding.app.demo import make_demo_project
from aircoding.app.questions.pages import write_inspector
from support.browsers import chromium, opened

PIECE = "licence-header.md"


def take(picture: Path) -> None:
    """Show what a worker of the demo would see, at a rule that it has, and save what the window shows."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AIR_HOME"] = f"{folder}/home"
        project = make_demo_project(Path(folder) / "project")
        page_file = Path(folder) / "page.html"
        write_inspector(build_context(BuildRequest(start=project, role="executor", task_id="T10")), page_file)
        with chromium() as browser, opened(browser, page_file, color_scheme="light") as watched:
            piece = watched.page.locator(".s", has_text=PIECE).first
            piece.evaluate("node => scrollTo(0, node.getBoundingClientRect().top + scrollY - 200)")
            piece.hover()
            picture.parent.mkdir(parents=True, exist_ok=True)
            watched.page.screenshot(path=picture)


if __name__ == "__main__":
    take(Path(sys.argv[1]))
