"""How a long process collects garbage: one setting, for runs and for what measures them."""

from __future__ import annotations

import gc

__all__ = ["settle"]

_YOUNG_OBJECTS = 20_000


def settle() -> None:
    """Let collections leave out what is loaded by now, and come seldom.

    Modules and tables stay until the end. An assembly makes some 100,000 objects, none of them in circles: looking
    at them every 700, as is the default, costs it a tenth of its time.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 20, 20)
