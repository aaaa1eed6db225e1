"""What the rules read and what they give back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aircoding.providers.capabilities import ModelRow

__all__ = ["Fault", "Place", "Request", "as_blocks"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A broken rule: a JSON pointer into the body, a stable code, and the API's own text."""

    pointer: str
    code: str
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A block of a message and where it stands."""

    message: int
    block: int
    role: str
    value: Mapping[str, Any]

    @property
    def pointer(self) -> str:
        """As a JSON pointer."""
        return f"/messages/{self.message}/content/{self.block}"

    @property
    def dotted(self) -> str:
        """As the API writes it."""
        return f"messages.{self.message}.content.{self.block}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A body of the right shape, the model it is for, and the version whose rules hold.

    `betas` are the values of the header `anthropic-beta`, None where they are not known; `own_signatures` says that
    every thinking block must have been signed by `providers.thinking`, which only the emulator can demand.
    """

    body: Mapping[str, Any]
    row: ModelRow
    api_version: str
    prompt_tokens: int | None = None
    betas: frozenset[str] | None = None
    own_signatures: bool = False
    places: Sequence[Place] = field(init=False)
    """Every block of every message in order; found once, since most rules go through them."""

    def __post_init__(self) -> None:
        places = [
            Place(number, index, str(message["role"]), block)
            for number, message in enumerate(self.messages)
            for index, block in enumerate(as_blocks(message["content"]))
        ]
        object.__setattr__(self, "places", places)

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages."""
        messages: Sequence[Mapping[str, Any]] = self.body["messages"]
        return messages

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The tools; none is an empty list."""
        tools: Sequence[Mapping[str, Any]] = self.body.get("tools") or ()
        return tools

    @property
    def system(self) -> Sequence[Mapping[str, Any]]:
        """The system prompt as blocks."""
        return as_blocks(self.body.get("system"))

    @property
    def is_current(self) -> bool:
        """Whether the rules of version 2026-10-21 and later hold."""
        return self.api_version >= "2026-10-21"


def as_blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    """Return content as blocks: a bare text is one text block, nothing is none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks: Sequence[Mapping[str, Any]] = content or ()
    return blocks
