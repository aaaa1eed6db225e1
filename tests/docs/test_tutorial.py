"""The tutorial as a reader does it: all of its commands, in order, in one shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.doc_examples import DOCS, blocks_of


def test_the_tutorial_ends_where_it_says(tmp_path: Path) -> None:
    program = Path(sys.executable).parent
    script = [
        "set -e",
        f"export PATH={program}:$PATH",
        "git config --global user.name R",
        "git config --global user.email r@r",
    ]
    for block in blocks_of(DOCS / "tutorial" / "first-run.md"):
        if block.language == "yaml":
            script.append(f"cat > .air/rehearsal.yaml <<'END'\n{block.text}END")
        elif block.language == "sh" and "export PATH" not in block.text:
            script.append(block.text)

    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "hello" / "README.md").read_text().endswith("This project says hello.\n")
    assert "seen by 1 of 1" in done.stdout
