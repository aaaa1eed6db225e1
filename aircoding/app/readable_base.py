"""Let the earlier side of a comparison be read where its settings cannot: those of the later side stand in for them.

A change that mends a broken policy is a change like any other, and what else it does is to be told.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.sides import Side
from aircoding.app.views import WorkerViews
from aircoding.errors import ConfigError
from aircoding.sources.roles import read_roles

__all__ = ["Readable", "readable_base"]

_SETTINGS = ".air/config.toml"
_POLICY = ".air/shared/permissions.yaml"
_ROLES = ".air/shared/roles"
_PLAN = ".air/shared/plan/tasks.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """The views of the earlier side, and the files of it that could not be read, each with why."""

    views: WorkerViews
    unread: dict[str, str]


def readable_base(base: Side, head: Side, views_of: Callable[[Side], WorkerViews]) -> Readable:
    """Return the views of the earlier side; what of its settings cannot be read is taken from the later side.

    The private folder of `base` is changed. The later side must be in order.

    Args:
        base: the earlier side.
        head: the later one.
        views_of: opens the views of a side.

    Raises:
        ConfigError: something else than these files is wrong, such as a setting of the user's own.
    """
    unread: dict[str, str] = {}
    while True:
        try:
            views = views_of(base)
        except ConfigError as error:
            _stand_in(base, head, _SETTINGS, error, unread)
            continue
        try:
            _ = views.policies
        except ConfigError as error:
            _stand_in(base, head, _ROLES if _has_wrong_roles(base) else _POLICY, error, unread)
            continue
        try:
            _ = views.plan
        except ConfigError as error:
            _stand_in(base, head, _PLAN, error, unread)
            continue
        return Readable(views=views, unread=unread)


def _has_wrong_roles(base: Side) -> bool:
    try:
        read_roles(base.root, trusted=True)
    except ConfigError:
        return True
    return False


def _stand_in(base: Side, head: Side, path: str, error: ConfigError, unread: dict[str, str]) -> None:
    """Put what the later side has at a path, or nothing where it has none, in the place of what cannot be read."""
    if path in unread:
        raise ConfigError(f"{base.label}: {error.message}", hint=error.hint, diagnostics=error.diagnostics) from error
    first = " ".join(error.message.split("\n", 2)[:2])
    unread[path] = first.replace(f"{base.root}/", "")
    old, new = base.root / path, head.root / path
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old)
    else:
        old.unlink(missing_ok=True)
    if os.path.lexists(new):
        _copy(new, old)


def _copy(new: Path, old: Path) -> None:
    old.parent.mkdir(parents=True, exist_ok=True)
    if new.is_dir() and not new.is_symlink():
        shutil.copytree(new, old, symlinks=True)
    else:
        shutil.copy2(new, old, follow_symlinks=False)
