"""Control tokens: what marks turns, tool results and our own notes in a prompt, and so has no place in a text."""

from __future__ import annotations

from aircoding.screening.rule_set import TextRule
from aircoding.screening.withholding import BLOCKED

__all__ = ["TOKEN_RULES"]

_LT = "<"  # so that this file does not carry the tokens that it looks for

TOKEN_RULES = (
    TextRule(
        kind="control",
        code="control.token",
        pattern=rf"{_LT}\|[a-z_\x80-\xff]{{2,40}}\|>"
        rf"|{_LT}/?(?:system[-_]reminder|function_calls|function_results|tool_results?|tool_use|tool_outputs?|"
        f"tool_response|tool_calls?|start_of_turn|end_of_turn|[a-z]{{2,12}}:(?:invoke|parameter|function_calls|"
        "thinking))>"
        rf"|{_LT}{_LT}/?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS)\]",
        detail="a token that marks turns or tool results",
    ),
    TextRule(
        kind="control",
        code="control.turn",
        pattern=r"\n[ \t]*\n(?:Human|Assistant):[ \n]",
        exact=True,
        detail="a line that looks like the start of a turn",
        suspect=True,
    ),
    TextRule(
        kind="control",
        code="control.marker",
        pattern=BLOCKED.pattern,
        detail="a marker that only the runtime writes",
        suspect=True,
    ),
    TextRule(
        kind="control",
        code="control.fence",
        pattern=rf"{_LT}external\s+id\s*=\s*[\"']?[0-9a-f]{{4,}}|{_LT}/external\s+id\b",
        detail="a fence that only the runtime writes",
    ),
    TextRule(
        kind="control",
        code="control.role",
        pattern=rf"{_LT}(?:system|admin|developer)>\s*\n[\s>*#/]*[A-Z\"'][^\n]*\n[\s>*#/]*{_LT}/(?:system|admin|"
        "developer)>"
        r"|(?:note|message|notice|update|instructions?)\s+from\s+(?:the\s+)?(?:developers?|system|admin\w*|openai|"
        r"anthropic)\s*:"
        r"|(?:#{2,}|-{3,}|={3,}|\[|<)\s*(?:end|begin|start)\s+(?:of\s+)?(?:the\s+)?(?:user|system|untrusted|"
        r"external|retrieved|assistant)\s+"
        r"(?:input|prompt|instructions?|messages?|data|document|context|content)\b"
        rf"|{_LT}/?(?:system|instructions?|system[-_ ]prompt|admin|important|information)>\s*(?:{_LT}[a-z]+>\s*)?"
        r"(?:you\s+(?:are\s+now|must)|ignore|this is an important message|disregard|forget|enable|disable|"
        r"override|new\s|from\s+now)"
        r"|(?:^|\n)[\s#>*-]*\[?(?:system|developer|admin(?:istrator)?)\s*(?:message|note|prompt|update|"
        r"override|instructions?|command|notice|mode)?\]?\s*:[\s*]*(?:you\s+(?:are\s+now|must)|ignore|disregard|forget|"
        r"override|enable|disable|new\s+(?:instructions?|task|directive)|your\s+rules)"
        r"|\b(?:important|urgent)\s+system\s+(?:update|message|notice|override)\b",
        detail="a text that speaks as the system",
        suspect=True,
    ),
)
