"""The scripted model's file: what it says, turn by turn, to which session (DESIGN section 9).

    model: claude-sonnet-5-5          # stand-in for limits and prices; optional
    scripts:
    - match: {role, task, attempt, n}  # each optional; the first script that matches a session is its script
      turns:
      - text: ...
        thinking: ...
        tools: [{name: ..., input: {...}}]
        stop_reason: max_tokens        # else `tool_use` with tools, `end_turn` without
        delay_seconds: 0.5             # before the first byte
        pace_seconds: 0.1              # between two stream events, with a ping each time; over HTTP only
        error: {status: 529, times: 2, retry_after_seconds: 1, should_retry: true}   # or {stream: cut, times: 1}

An error strikes the first `times` tries of its turn; a turn that is only an error fails on every try.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.providers.fields import Fields
from aircoding.rules.yaml_reader import Entry, YamlMap, YamlNode, plain_value

__all__ = [
    "DEFAULT_MODEL",
    "STATUSES",
    "STOP_REASONS",
    "STREAM_FAULTS",
    "Match",
    "Script",
    "ScriptFile",
    "ScriptedError",
    "ScriptedTool",
    "Turn",
    "parse_script",
]

DEFAULT_MODEL = "claude-sonnet-5-5"
"""The stand-in model where the file names none."""

STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529)
STREAM_FAULTS = ("cut", "error_event", "early_end", "hang", "stall")
"""How a stream can fail after it began: the connection is cut, an `error` event comes (overloaded), it ends without
`message_stop`, nothing more comes, or only pings come."""
STOP_REASONS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "pause_turn", "refusal")

_TURN_KEYS = ("text", "thinking", "tools", "stop_reason", "delay_seconds", "pace_seconds", "error")
_MATCH_KEYS = ("role", "task", "attempt", "n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which sessions a script is for; None matches any."""

    role: str | None = None
    task: str | None = None
    attempt: int | None = None
    n: int | None = None

    def __str__(self) -> str:
        given = [f"{key}: {getattr(self, key)}" for key in _MATCH_KEYS if getattr(self, key) is not None]
        return "{" + ", ".join(given) + "}"

    def covers(self, other: Match) -> bool:
        """Whether every session that `other` matches is matched here too."""
        return all(getattr(self, key) in (None, getattr(other, key)) for key in _MATCH_KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTool:
    """A tool call of a turn."""

    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedError:
    """A failure: an HTTP status, or one of STREAM_FAULTS. `times` is None where every try fails."""

    status: int | None = None
    stream: str | None = None
    times: int | None = 1
    retry_after_seconds: float | None = None
    should_retry: bool | None = None
    """What the header `x-should-retry` says; None where it is not sent."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that come with the status."""
        headers = {}
        if self.retry_after_seconds is not None:
            headers["retry-after"] = f"{self.retry_after_seconds:g}"
        if self.should_retry is not None:
            headers["x-should-retry"] = str(self.should_retry).lower()
        return headers

    def strikes(self, tries: int) -> bool:
        """Whether it strikes a call that was begun `tries` times before."""
        return self.times is None or tries < self.times


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer. `line` is where it stands in the file."""

    line: int
    text: str | None = None
    thinking: str | None = None
    tools: tuple[ScriptedTool, ...] = ()
    stop_reason: str = "end_turn"
    delay_seconds: float = 0.0
    pace_seconds: float = 0.0
    error: ScriptedError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The turns of the sessions that `match`."""

    match: Match
    turns: tuple[Turn, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFile:
    """A whole file; `uri` is how messages name it."""

    uri: str
    scripts: tuple[Script, ...]
    model: str = DEFAULT_MODEL


def parse_script(text: str, *, uri: str) -> ScriptFile:
    """Read a script file.

    Raises:
        ConfigError: it is not in order; the diagnostics name file, line and key of every fault.
    """
    fields = Fields(uri, "script.invalid")
    top = fields.entries(fields.top(text), "the file", known=("model", "scripts"), required=("scripts",))
    model = fields.text(top.get("model"), "model") or DEFAULT_MODEL
    scripts = [_script(fields, node) for node in fields.items(top.get("scripts"), "scripts")]
    _refuse_unreachable(fields, scripts)
    fields.raise_faults()
    return ScriptFile(uri=uri, scripts=tuple(scripts), model=model)


def _script(fields: Fields, node: YamlNode) -> Script:
    given = fields.entries(node, "scripts", known=("match", "turns"), required=("match", "turns"))
    turns = tuple(_turn(fields, turn) for turn in fields.items(given.get("turns"), "turns"))
    return Script(match=_match(fields, given.get("match")), turns=turns, line=node.line)


def _match(fields: Fields, entry: Entry | None) -> Match:
    given = fields.entries(entry.node if entry else None, "match", known=_MATCH_KEYS)
    return Match(
        role=fields.text(given.get("role"), "match.role"),
        task=fields.text(given.get("task"), "match.task"),
        attempt=fields.whole(given.get("attempt"), "match.attempt", minimum=1),
        n=fields.whole(given.get("n"), "match.n", minimum=1),
    )


def _turn(fields: Fields, node: YamlNode) -> Turn:
    given = fields.entries(node, "turns", known=_TURN_KEYS)
    text = fields.text(given.get("text"), "turns.text")
    thinking = fields.text(given.get("thinking"), "turns.thinking")
    tools = tuple(_tool(fields, tool) for tool in fields.items(given.get("tools"), "turns.tools"))
    silent = not given.keys() & {"text", "thinking", "tools"}
    error = _error(fields, given.get("error"), always=silent)
    if silent and "error" not in given:
        fields.fault("`turns`: a turn says nothing: it needs text, thinking, tools or an error", node.line)
    stop_reason = fields.word(given.get("stop_reason"), "turns.stop_reason", choices=STOP_REASONS)
    return Turn(
        line=node.line,
        text=text,
        thinking=thinking,
        tools=tools,
        stop_reason=stop_reason or ("tool_use" if tools else "end_turn"),
        delay_seconds=fields.seconds(given.get("delay_seconds"), "turns.delay_seconds") or 0.0,
        pace_seconds=fields.seconds(given.get("pace_seconds"), "turns.pace_seconds") or 0.0,
        error=error,
    )


def _tool(fields: Fields, node: YamlNode) -> ScriptedTool:
    given = fields.entries(node, "turns.tools", known=("name", "input"), required=("name", "input"))
    name = fields.text(given.get("name"), "turns.tools.name") or ""
    entry = given.get("input")
    if entry is not None and not isinstance(entry.node, YamlMap):
        fields.fault("`turns.tools.input` must hold keys (`{}` for none)", entry.line)
    value = plain_value(entry.node) if entry is not None else {}
    return ScriptedTool(name=name, input=value if isinstance(value, dict) else {})


def _error(fields: Fields, entry: Entry | None, *, always: bool) -> ScriptedError | None:
    if entry is None:
        return None
    known = ("status", "stream", "times", "retry_after_seconds", "should_retry")
    given = fields.entries(entry.node, "turns.error", known=known)
    if ("status" in given) == ("stream" in given):
        fields.fault("`turns.error` needs either `status` or `stream`", entry.line)
    status = fields.whole(given.get("status"), "turns.error.status", minimum=100)
    if status is not None and status not in STATUSES:
        fields.fault(f"`turns.error.status`: {status} is none of {', '.join(map(str, STATUSES))}", entry.line)
    for key in ("retry_after_seconds", "should_retry"):
        if key in given and "status" not in given:
            fields.fault(f"`turns.error.{key}` goes with a `status`", entry.line)
    if always and "times" in given:
        fields.fault("`turns.error.times`: the turn says nothing after its error, so every try fails", entry.line)
    return ScriptedError(
        status=status,
        stream=fields.word(given.get("stream"), "turns.error.stream", choices=STREAM_FAULTS),
        times=None if always else fields.whole(given.get("times"), "turns.error.times", minimum=1) or 1,
        retry_after_seconds=fields.seconds(given.get("retry_after_seconds"), "turns.error.retry_after_seconds"),
        should_retry=fields.flag(given.get("should_retry"), "turns.error.should_retry"),
    )


def _refuse_unreachable(fields: Fields, scripts: list[Script]) -> None:
    """The first match wins, so a script behind one that covers it would never be played."""
    for position, script in enumerate(scripts):
        earlier = next((other for other in scripts[:position] if other.match.covers(script.match)), None)
        if earlier is not None:
            fields.fault(
                f"`match` {script.match} is never reached: {earlier.match} in line {earlier.line} matches before it",
                script.line,
                "put the more precise match first",
            )
