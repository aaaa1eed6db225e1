"""Replay a record after everything that its requests were made of has changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import aircoding
from aircoding.sources.resources import resource_root
from support.demo_runs import air, rows

__all__ = ["assert_all_replayed", "change_tree", "changed_program"]

_SETTINGS = ".air/config.toml"


def changed_program(folder: Path) -> Path:
    """Copy the program to `folder` with another text in each prompt, rule and tool that it brings."""
    package = Path(aircoding.__file__).resolve().parent
    # What is compiled comes along: a copy keeps the times of files, so that it holds there too.
    shutil.copytree(package, folder / "aircoding", ignore=shutil.ignore_patterns("_resources"))
    shutil.copytree(resource_root(), folder / "resources", ignore=shutil.ignore_patterns("__pycache__", "demo"))
    changed = 0
    for name in ("prompts", "rules", "tools"):
        for path in (folder / "resources" / name).rglob("*"):
            if path.suffix in {".md", ".yaml"}:
                path.write_text(path.read_text().replace("the", "another"))
                changed += 1
    assert changed > 20
    return folder


def change_tree(root: Path) -> None:
    """Rewrite or delete every file of the working tree but the settings: rules, roles, policy, plan, sources."""
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    own = [path for path in paths if not _is_kept(path.relative_to(root).as_posix())]
    assert len(own) > 3
    for number, path in enumerate(own):
        if number % 3 == 2:
            path.unlink()
        else:
            path.write_text(f"Not what it was, {number}.\n")


def _is_kept(path: str) -> bool:
    return path.startswith((".git/", ".air/local/")) or path == _SETTINGS


def assert_all_replayed(root: Path, program: Path) -> None:
    """Change the tree, and let a changed program rebuild every recorded request: each has its recorded digest."""
    change_tree(root)
    recorded = {str(one) for (one,) in rows(root, "SELECT manifest_id FROM assemblies")}
    replayed: set[str] = set()
    for (run,) in rows(root, "SELECT run_id FROM runs"):
        ended = air(root, "context", "replay", "--all", str(run), "--json", program=program)
        assert ended.code == 0, ended.output
        replays: list[dict[str, object]] = ended.result["replays"]  # type: ignore[assignment]
        assert [one for one in replays if not one["equal"]] == []
        replayed |= {str(one["manifest_id"]) for one in replays}
    assert replayed == recorded
    assert recorded
