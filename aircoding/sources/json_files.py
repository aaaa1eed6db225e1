"""Read a small JSON file whose bytes may be anything: too many, too deep, no text, no file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aircoding.sources.files import read_text_file

__all__ = ["JsonRead", "read_json_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonRead:
    """What a file held; `problem` says why nothing could be read, `absent` and `vanished` are those of `TextRead`."""

    value: Any = None
    absent: bool = False
    vanished: bool = False
    problem: str | None = None


def read_json_file(root: Path, name: str, *, inside: bool) -> JsonRead:
    """Read `name` below `root` as JSON. Never raises.

    Args:
        root: the folder that the name is relative to.
        name: POSIX path.
        inside: refuse a link that leaves `root`.
    """
    read = read_text_file(root, name, inside=inside)
    if read.problem is not None:
        return JsonRead(absent=read.absent, vanished=read.vanished, problem=read.problem)
    if read.lossy:
        return JsonRead(problem="it is no UTF-8 text")
    try:
        return JsonRead(value=json.loads(read.text))
    except RecursionError:
        return JsonRead(problem="it is damaged: its values are nested too deeply")
    except ValueError as error:
        return JsonRead(problem=f"it is no JSON: {error}")
