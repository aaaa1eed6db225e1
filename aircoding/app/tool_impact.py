"""What other tools load on both sides of a change, and for which paths they load something else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from aircoding.app.rule_sources import rule_homes
from aircoding.app.sides import Side
from aircoding.app.views import ToolViews
from aircoding.audit.impact import SeenChange, Viewer, compare_views
from aircoding.rules.tools.account import Tool, ToolOptions
from aircoding.rules.tools.path_groups import path_keys

__all__ = ["ToolImpact"]


class ToolImpact:
    """Other tools on both sides, as `options` say that they are set."""

    def __init__(self, base: Side, head: Side, options: ToolOptions | None) -> None:
        homes = rule_homes()
        self._views = tuple(ToolViews(side, homes=homes, options=options) for side in (base, head))

    def sources(self) -> set[str]:
        """Return the project files that are rule files, or that one imports."""
        return {file.inner for one in self._views for file in one.tree.files.values() if file.of_project}

    def paths(self, tools: Sequence[Tool], paths: Sequence[str]) -> Iterator[SeenChange]:
        """Compare what each tool loads for every path."""
        first, second = (path_keys(one.tree, paths) for one in self._views)
        groups: dict[object, list[str]] = {}
        for path in paths:
            groups.setdefault((first[path], second[path]), []).append(path)
        for tool, group in itertools.product(tools, groups.values()):
            old, new = (one.view(tool, group[0]) for one in self._views)
            change = compare_views(old, new)
            if change is not None:
                for path in group:
                    viewer = Viewer(tool.value, "path", path)
                    yield SeenChange(viewer=viewer, change=change, tokens_before=old.tokens, tokens_after=new.tokens)
