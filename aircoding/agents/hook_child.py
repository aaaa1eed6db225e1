"""The process in which a project's Python hook runs: the very text that was digested, not the file as it is by then.

It imports nothing of ours: its source is handed to an isolated interpreter, which may see no more than the system.
"""

import asyncio
import inspect
import json
import os
import sys
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Read what is asked from standard input and write the answer; what the hook prints goes to its errors."""
    told: dict[str, Any] = json.load(sys.stdin)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    names: dict[str, Any] = {"__name__": "aircoding_hook", "__file__": told["path"]}
    exec(compile(told["source"], told["path"], "exec", dont_inherit=True), names)  # noqa: S102 - the text that the user trusts
    if not callable(names.get(told["function"])):
        sys.exit(f"{told['path']} has no function {told['function']}")
    value = names[told["function"]](told["facts"])
    if inspect.isawaitable(value):

        async def ended() -> Any:
            return await value

        value = asyncio.run(ended())
    json.dump(value, answer, allow_nan=False)
    answer.flush()


if __name__ == "__main__":
    main()
