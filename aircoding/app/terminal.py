"""What the terminal must not show, told before it is known what is asked; light, since every command starts here."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from aircoding.errors import ConfigError
from aircoding.homes import air_home
from aircoding.screening.known_values import KnownValues
from aircoding.screening.streams import StreamMask
from aircoding.sources.known_secrets import dotenv_secrets, environment_secrets

__all__ = ["terminal_masks"]


def terminal_masks(folder: Path) -> tuple[StreamMask, StreamMask] | None:
    """Return a mask for stdout and one for stderr; None where no secret is known.

    Known are those of the environment, and of the `.env` files of the project around `folder`.
    """
    around = (one for one in (folder, *folder.parents) if (one / ".git").exists() or (one / ".air").is_dir())
    known = KnownValues((*environment_secrets(os.environ), *dotenv_secrets(next(around, folder))))
    if not known:
        return None
    return StreamMask(known, _key), StreamMask(known, _key)


@cache
def _key() -> bytes:
    from aircoding.sources.installation import present_key

    try:
        return present_key(air_home())
    except ConfigError:  # the command itself says what is wrong with the folder
        return present_key(Path(os.devnull))
