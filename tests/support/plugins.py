"""Plugins as an installer leaves them: a module and its `.dist-info`, in a folder that goes on the path."""

from __future__ import annotations

from pathlib import Path

__all__ = ["install_plugin"]


def install_plugin(folder: Path, name: str, source: str, *, module: str | None = None) -> Path:
    """Write a distribution with one entry point of the group `aircoding.plugins`; return the folder."""
    module = module or f"{name.replace('-', '_').replace('.', '_')}_plugin"
    information = folder / f"{module}-1.0.dist-info"
    information.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(source, encoding="utf-8", errors="surrogatepass")
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[aircoding.plugins]\n{name} = {module}\n")
    return folder
