"""What this program prints, with the secrets that it knows masked: all text goes through here, whoever wrote it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from aircoding.app.terminal import terminal_masks
from aircoding.screening.streams import StreamMask

__all__ = ["masked_terminal"]


@contextmanager
def masked_terminal() -> Iterator[None]:
    """Mask known secrets in stdout and stderr meanwhile; without any, both stay what they are."""
    masks = terminal_masks(Path.cwd())
    if masks is None:
        yield
        return
    before = sys.stdout, sys.stderr
    output, errors = (_Masked(stream, mask) for stream, mask in zip(before, masks, strict=True))
    sys.stdout, sys.stderr = cast("TextIO", output), cast("TextIO", errors)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for one in (output, errors):
            one.finish()


class _Masked:
    """A text stream behind a mask; what is not about writing is the stream's own."""

    def __init__(self, stream: TextIO, mask: StreamMask) -> None:
        self._stream, self._mask = stream, mask
        self.buffer = _MaskedBytes(stream, mask)

    def write(self, text: str) -> int:
        self._stream.write(self._mask.feed(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def finish(self) -> None:
        """Write what is held back; a stream that is closed, or whose reader is gone, takes nothing more."""
        try:
            self._stream.write(self._mask.close())
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _MaskedBytes:
    """The bytes below a text stream, for whoever writes UTF-8 whatever the terminal's encoding is."""

    def __init__(self, stream: TextIO, mask: StreamMask) -> None:
        self._stream, self._mask = stream, mask

    def write(self, data: bytes) -> int:
        text = self._mask.feed(bytes(data).decode("utf-8", "surrogateescape"))
        self._stream.flush()
        self._stream.buffer.write(text.encode("utf-8", "surrogateescape"))
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream.buffer, name)
