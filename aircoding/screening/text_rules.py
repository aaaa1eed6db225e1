"""What an injected instruction looks like: control tokens, hidden comments, exfiltration, overrides.

A tripwire, not a boundary: a bare instruction in plain words has no mark that code can see. Every gap in a pattern is
bounded, so that each runs in time linear in the text, however long that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aircoding.screening.hits import Hit, TextRule

__all__ = ["TEXT_RULES", "hidden_comments"]

_LT = "<"  # so that this file does not carry the tokens that it looks for

_CONTROL = TextRule(
    kind="control",
    code="control.token",
    stems=("<", "inst]"),
    pattern=re.compile(
        rf"{_LT}\|(?:im_start|im_end|im_sep|endoftext|startoftext|system|user|assistant|eot_id|start_header_id|"
        rf"end_header_id|begin_of_text|end_of_turn|fim_prefix|return|call)\|>"
        rf"|{_LT}/?(?:system-reminder|function_calls|function_results|tool_result|tool_use|"
        rf"start_of_turn|end_of_turn|[a-z]{{2,12}}:(?:invoke|parameter|function_calls|thinking))>"
        rf"|{_LT}{_LT}/?SYS>>|\[/?INST\]",
        re.IGNORECASE,
    ),
    detail="a token that marks turns or tool results",
)
_TURN = TextRule(
    kind="control",
    code="control.turn",
    stems=("human:", "assistant:"),
    pattern=re.compile(r"\n\n(?:Human|Assistant):[ \n]"),
    detail="a line that looks like the start of a turn",
    suspect=True,
)
_BLOCKED_MARKER = TextRule(
    kind="control",
    code="control.marker",
    stems=("[blocked: ",),
    pattern=re.compile(r"\[BLOCKED: [a-z]{1,20}, [^\]\n]{1,200}\]"),
    detail="a marker that only the screener writes",
    suspect=True,
)

_CREDENTIALS = re.compile(
    r"\.ssh/|id_rsa|id_ed25519|\.aws/|\.netrc|\.npmrc|\.pypirc|\.env\b|/etc/passwd|/etc/shadow|"
    r"/proc/[a-z0-9]{1,10}/environ|\bprintenv\b|(?:API_KEY|SECRET|TOKEN|PASSWORD)\b"
)
_CREDENTIAL_STEMS = (
    *(".ssh/", "id_rsa", "id_ed25519", ".aws/", ".netrc", ".npmrc", ".pypirc", ".env", "/etc/", "/proc/"),
    *("printenv", "api_key", "secret", "token", "password"),
)
_CLIENT = re.compile(r"\b(?:curl|wget|nc|ncat|netcat|socat|Invoke-WebRequest|iwr)\b")
_PIPE = re.compile(r"\|")
_READER_SUBSTITUTED = re.compile(r"(?:\$\(|`)[ ]{0,4}(?:cat|env|printenv|base64|head|tail|tar)\b")
_SENDS = re.compile(
    r"[ ](?:-d|--data[a-z-]{0,12}|-F|--form|-T|--upload-file|--post-file|--post-data|-H|--header)(?=[ =@\"'])"
)
_CREDENTIALS_FILE = re.compile(r"\.ssh/|id_rsa|id_ed25519|\.aws/|\.netrc|\.env\b|/etc/shadow")
_EXFILTRATION = (
    TextRule(
        kind="exfiltration",
        code="exfiltration.piped",
        pattern=_CREDENTIALS,
        then=(_PIPE, _CLIENT),
        stems=_CREDENTIAL_STEMS,
        detail="a secret piped to a network client",
    ),
    TextRule(
        kind="exfiltration",
        code="exfiltration.substituted",
        pattern=_CLIENT,
        then=(_READER_SUBSTITUTED,),
        stems=("$(", "`"),
        detail="a network client that is handed the output of a reader",
    ),
    TextRule(
        kind="exfiltration",
        code="exfiltration.sent",
        pattern=_CLIENT,
        then=(_SENDS, _CREDENTIALS_FILE),
        stems=(".ssh/", "id_rsa", "id_ed25519", ".aws/", ".netrc", ".env", "/etc/shadow"),
        detail="a credentials file sent by a network client",
    ),
    TextRule(
        kind="exfiltration",
        code="exfiltration.image",
        stems=("![",),
        pattern=re.compile(
            r"!\[[^\]\n]{0,200}\]\(https?://[^)\s]{1,300}[?&/=](?:\{\{?|\$\{?|<|%7[bB])[A-Za-z_ ]{0,40}"
            r"(?:secret|token|key|password|conversation|history|context|data|prompt|env)",
            re.IGNORECASE,
        ),
        detail="an image whose address would carry data out",
    ),
)

_EARLIER = (
    r"(?:all|any|every|the|your|my|these|those|previous|prior|earlier|above|preceding|existing|original|system|of|"
    r"other|safety)"
)
_OVERRIDES = (
    TextRule(
        kind="override",
        code="override.ignore",
        stems=("ignore", "disregard", "forget", "override", "bypass", "discard"),
        pattern=re.compile(
            rf"\b(?:ignore|disregard|forget|override|bypass|discard)\s{{1,4}}(?:{_EARLIER}\s{{1,4}}){{1,5}}"
            r"(?:instructions?|prompts?|rules?|directions?|guidelines?|directives?|commands?|constraints?|policies|policy)\b",
            re.IGNORECASE,
        ),
        detail="asks to set earlier instructions aside",
        suspect=True,
    ),
    TextRule(
        kind="override",
        code="override.role",
        stems=("you",),
        pattern=re.compile(
            r"\byou\s{1,4}are\s{1,4}(?:now|no\s{1,4}longer)\s{1,4}(?:in\s{1,4}|an?\s{1,4}|the\s{1,4})?"
            r"(?:developer\s{1,4}mode|dan\b|jailbroken|unrestricted|unfiltered|bound\s{1,4}by|restricted|limited\s{1,4}by)",
            re.IGNORECASE,
        ),
        detail="claims another role",
        suspect=True,
    ),
    TextRule(
        kind="override",
        code="override.conceal",
        stems=("tell", "inform", "mention", "notify", "reveal", "alert"),
        pattern=re.compile(
            r"\b(?:do\s{1,4}not|don't|never|without)\s{1,4}(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|notify(?:ing)?|"
            r"reveal(?:ing)?|alert(?:ing)?)\s{1,4}(?:this\s{1,4}to\s{1,4}|it\s{1,4}to\s{1,4}|to\s{1,4})?(?:the\s{1,4}|your\s{1,4})?"
            r"(?:user|human|operator|developer|owner)\b",
            re.IGNORECASE,
        ),
        detail="asks to keep something from the user",
        suspect=True,
    ),
    TextRule(
        kind="override",
        code="override.extract",
        stems=("system", "hidden"),
        pattern=re.compile(
            r"\b(?:reveal|print|repeat|output|show|leak|display)\s{1,4}(?:me\s{1,4})?(?:your|the|all)\s{1,4}(?:full\s{1,4}|"
            r"entire\s{1,4}|hidden\s{1,4}|initial\s{1,4}|original\s{1,4}){0,3}(?:system\s{1,4}(?:prompt|message|instructions)|hidden\s{1,4}instructions)",
            re.IGNORECASE,
        ),
        detail="asks for the system prompt",
        suspect=True,
    ),
    TextRule(
        kind="override",
        code="override.other_language",
        stems=(
            *("ignoriere", "vergiss", "missachte", "instruc", "consignes", "règles", "reglas", "órdenes", "instruç"),
            *("regras", "istruzioni", "regole", "игн", "忽略", "無視", "忘れ", "무시", "تجاهل"),
        ),
        pattern=re.compile(
            r"(?:ignoriere|vergiss|missachte)\s{1,4}(?:alle\s{1,4}|die\s{1,4}|deine\s{1,4}|vorherigen\s{1,4}|bisherigen\s{1,4}){1,4}(?:anweisungen|regeln)"
            r"|(?:ignore[zr]?|oublie[zr]?)\s{1,4}(?:toutes\s{1,4}|les\s{1,4}|tes\s{1,4}|vos\s{1,4}){1,3}(?:instructions|consignes|règles)"
            r"|(?:ignora|olvida)\s{1,4}(?:todas\s{1,4}|las\s{1,4}|tus\s{1,4}){1,3}(?:instrucciones|reglas|órdenes)"
            r"|(?:ignore|esqueça)\s{1,4}(?:todas\s{1,4}|as\s{1,4}|suas\s{1,4}){1,3}(?:instruções|regras)"
            r"|(?:ignora|dimentica)\s{1,4}(?:tutte\s{1,4}|le\s{1,4}|tue\s{1,4}){1,3}(?:istruzioni|regole)"
            r"|игнорируй(?:те)?\s{1,4}(?:все\s{1,4}|предыдущие\s{1,4}){1,2}(?:инструкции|указания|правила)"
            r"|忽略(?:之前|以上|先前|所有|前面){1,3}的?(?:所有)?(?:指令|指示|提示|规则)"
            r"|(?:以前|これまで|上記)の(?:すべての)?(?:指示|命令|ルール)を(?:無視|忘れ)"
            r"|(?:이전|위의|모든)\s{0,2}(?:모든\s{1,2})?(?:지시|명령|규칙)(?:사항)?[을를]?\s{0,2}무시"
            r"|تجاهل\s{1,4}(?:جميع\s{1,4}|كل\s{1,4})?التعليمات",
            re.IGNORECASE,
        ),
        detail="asks to set earlier instructions aside",
        suspect=True,
    ),
)

TEXT_RULES: tuple[TextRule, ...] = (_CONTROL, _TURN, _BLOCKED_MARKER, *_EXFILTRATION, *_OVERRIDES)
"""All rules over visible text."""

_IMPERATIVE = re.compile(
    r"\b(?:you\s{1,4}(?:must|should|will|are)|ignore|disregard|always|never|execute|run|send|fetch|download|install|read|print|"
    r"add|write|reply|respond|do\s{1,4}not|please)\b",
    re.IGNORECASE,
)
_AGENT_WORDS = re.compile(
    r"\b(?:agents?|assistant|copilot|gpt|llm|ai|model|instructions?|system\s{1,4}prompt|user|credentials?|tokens?|"
    r"secrets?|password|api[ _-]?keys?|\.env|ssh|curl|wget)\b",
    re.IGNORECASE,
)
_TOOL_DIRECTIVE = re.compile(
    r"\s{0,8}(?:prettier|eslint|markdownlint|toc\b|tocstop|doctoc|spdx|cspell|vale|more\b|omit in toc|"
    r"textlint|region|endregion)",
    re.IGNORECASE,
)


def hidden_comments(text: str) -> Iterator[Hit]:
    """Yield HTML comments that instruct an agent: hidden from a reader, imperative, about agents or credentials."""
    place = text.find("<!--")
    while place >= 0:
        end = text.find("-->", place + 4)
        stop = len(text) if end < 0 else end + 3
        body = text[place + 4 : stop]
        if not _TOOL_DIRECTIVE.match(body) and _IMPERATIVE.search(body) and _AGENT_WORDS.search(body):
            yield Hit("hidden", "hidden.comment", place, stop, "a comment that instructs")
        place = text.find("<!--", stop) if end >= 0 else -1
