"""`docs/reference/permission-defaults.md` is made of what ships: `AIR_UPDATE=1` writes it anew."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from aircoding.permissions.programs import DASH_O_IS_FLAG, OPAQUE, PROGRAMS, PYTHON_MODULES
from aircoding.permissions.wrappers import WRAPPERS
from aircoding.sources.packaged_policy import packaged_policy_files

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "permission-defaults.md"


def generated() -> str:
    lines = [
        "# What ships: the floor, the defaults, the programs that are known",
        "",
        "Made from the program (`AIR_UPDATE=1 pytest tests/docs`). [How patterns are read](permissions.md).",
    ]
    for title, file in zip(("The floor: nothing lifts it", "The defaults"), packaged_policy_files(), strict=True):
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for rule in file.rules:
            found[rule.subject.value, rule.effect.value].append(f"`{rule.pattern}`")
        lines += ["", f"## {title}", "", "| about | decision | lines |", "| --- | --- | --- |"]
        lines += [f"| {subject} | {effect} | {', '.join(names)} |" for (subject, effect), names in found.items()]
        if file.mask_env:
            lines += ["", f"Variables that no command sees: {_listed(file.mask_env)}."]
    risky = {name: known.risky for name, known in PROGRAMS.items() if known.risky}
    lines += ["", "## Programs that run what stands behind them", "", f"{_listed(sorted(WRAPPERS))}, a shell's `-c`,"]
    lines += ["`find -exec`, `eval`, `trap`, `alias`, `source`.", "", "## Interpreters: what they run asks", ""]
    lines += [f"{_listed(sorted(OPAQUE))}.", "", "## Options that ask", "", "| program | options |", "| --- | --- |"]
    lines += [f"| `{name}` | {_listed(sorted(options))} |" for name, options in sorted(risky.items())]
    lines += ["", "## Read in another way", ""]
    lines += [f"`python -m` of {_listed(sorted(PYTHON_MODULES))} is judged as that program too."]
    lines += [f"`-o` names a file that is written, but for {_listed(sorted(DASH_O_IS_FLAG))}."]
    return "\n".join(lines) + "\n"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def test_the_page_tells_what_ships() -> None:
    if os.environ.get("AIR_UPDATE"):
        PAGE.write_text(generated(), "utf-8")
    assert PAGE.read_text("utf-8") == generated()
