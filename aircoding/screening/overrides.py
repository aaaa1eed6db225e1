"""Phrases in English that set earlier instructions aside, claim that others hold, or claim another role."""

from __future__ import annotations

from aircoding.screening.rule_set import override_rule
from aircoding.screening.wording import GAP, WORD, any_of, phrase, words

__all__ = ["OVERRIDE_RULES"]

_IGNORE = any_of(
    "ignore ignores ignored ignoring disregard disregards disregarding forget forgets forgetting overlook overlooking "
    "discard discarding dismiss dismissing neglect neglecting disobey unlearn abandon"
)
_IGNORES = (
    "ignore ignores ignored ignoring disregard disregards disregarding forget forgets forgetting overlook overlooking "
    "discard discarding dismiss dismissing neglect neglecting disobey unlearn abandon"
)
_NO_LONGER = phrase(
    "(?:pay no (?:attention|heed) to|set aside|(?:do not|don.?t|never|stop) (?:follow|following|obey|obeying|"
    "heed|heeding|listen to|listening to))"
)
_EARLIER_WORDS = (
    "previous previously prior above earlier preceding foregoing former past initial original old existing current "
    "last system safety developer default"
)
_EARLIER = any_of(_EARLIER_WORDS)
_ORDER_WORDS = (
    "instruction instructions instruct instructed prompt prompts prompting direction directions directive directives "
    "guideline guidelines guidance command commands order orders rule rules constraint constraints restriction "
    "restrictions policy policies programming training guardrails rails safeguards safety protocol protocols "
    "conditioning ethics morals moderation"
)
_ORDERS = any_of(_ORDER_WORDS.replace(" rails", " guard+rails"))
_TEXT_WORDS = (
    "message messages context conversation conversations text texts content input inputs task tasks "
    "request requests chat"
)
_TEXTS = any_of(_TEXT_WORDS)
_END_WORDS = "above before earlier previously prior preceding far now point beforehand"
_ENDS = any_of(
    "above before earlier previously prior preceding (?:so|thus)+far (?:until|till|up+to)+(?:now|this+point) beforehand"
)
_STOPS = rf"(?:{GAP}(?:this|that|now|here))?\s*(?:[.,!;:)\"'\]]|\n|$|{GAP}?(?:and|then|instead|just|but)\b)"


_DEFENCE = (
    r"\b(?:embedded|injected|instruction-like|adversarial|malicious)\b[-\s\w]{0,20}(?:instructions?|text|"
    "directives?|content)?"
    r"|\b(?:instructions?|directives?|prompts?)\s+(?:that\s+(?:are|appear)\s+)?(?:embedded|found|contained|hidden)\b"
    r"|\binstructions?\s+(?:in|inside|within|from)\s+(?:(?:the|any|such|retrieved|external|untrusted|tool|user|"
    r"web|fetched|its|their)\s+)*"
    r"(?:content|data|text|pages?|results?|outputs?|files?|documents?|rows|slices|comments|issues?)\b"
)
"""A text that tells an agent to ignore what strangers instruct does not override: it defends."""


_ASIDE = "asks to set earlier instructions aside"
_ALL_ASIDE = "asks to set everything before aside"
_NEW = "claims that other instructions hold now"
_ROLE = "claims another role"

OVERRIDE_RULES = (
    override_rule(
        "ignore",
        f"{_IGNORES}|{_EARLIER_WORDS}|{_ORDER_WORDS} {_TEXT_WORDS}",
        rf"\b{_IGNORE}{GAP}{words(5)}{_EARLIER}{GAP}{words(3)}(?:{_ORDERS}|{_TEXTS})\b",
        _ASIDE,
    ),
    override_rule(
        "ignore",
        (
            "attention heed heeding aside follow following obey obeying listen listening|previous prior above "
            f"earlier preceding your my|{_ORDER_WORDS}"
        ),
        rf"\b{_NO_LONGER}{GAP}{words(3)}(?:previous|prior|above|earlier|preceding|your|my){GAP}{words(3)}{_ORDERS}\b",
        _ASIDE,
        unless=_DEFENCE,
    ),
    override_rule(
        "ignore",
        f"{_IGNORES}|your yours my our its openai anthropic|{_ORDER_WORDS}",
        (
            rf"\b{_IGNORE}{GAP}{words(3)}(?:your|yours|my|our|its|openai(?:.?s)?|"
            rf"anthropic(?:.?s)?){GAP}{words(3)}{_ORDERS}\b"
        ),
        _ASIDE,
    ),
    override_rule(
        "ignore",
        (
            f"{_IGNORES}|all any every these those the|instruction instructions directive directives direction "
            "directions prompt prompts guidelines orders"
        ),
        rf"\b{_IGNORE}{GAP}(?:all|any|every|these|those|the){GAP}(?:{WORD}{GAP}){{0,2}}"
        r"(?:instructions?|directives?|directions?|prompts?|guidelines|orders)\b",
        _ASIDE,
        unless=_DEFENCE,
    ),
    override_rule(
        "ignore",
        f"{_IGNORES}|content safety usage|policy policies guidelines rules filters",
        (
            rf"\b{_IGNORE}{GAP}(?:(?:the|all|any|every|of){GAP})*(?:content|safety|usage){GAP}(?:polic(?:y|ies)|"
            r"guidelines|rules|filters)\b"
        ),
        _ASIDE,
    ),
    override_rule(
        "ignore",
        f"{_IGNORES}|the this that|instead state say claim reply respond answer tell",
        (
            rf"\b{_IGNORE}{GAP}(?:the|this|that){GAP}{words(3)}and{GAP}(?:instead|state|say|claim|reply|respond|answer|"
            r"tell)\b"
        ),
        _ASIDE,
    ),
    override_rule(
        "ignore",
        f"{_IGNORES}|{_ORDER_WORDS}|{_END_WORDS}",
        rf"\b{_IGNORE}{GAP}{words(8)}{_ORDERS}{GAP}{words(6)}{_ENDS}\b",
        _ASIDE,
    ),
    override_rule(
        "ignore",
        "",
        r"\bignore(?:all|any|the|my|your|of|every|these)*(?:previous|prior|above|earlier|preceding|system|safety)*"
        r"(?:instruction|prompt|rule|directive|guideline)s?\b|\bignore[-_ ]previous[-_ ]and\b",
        _ASIDE,
    ),
    override_rule(
        "ignore_all",
        f"{_IGNORES}|all everything anything whatever what every|{_END_WORDS}",
        rf"\b{_IGNORE}{GAP}(?:all|everything|anything|whatever|what){GAP}(?:{WORD}{GAP}){{0,8}}{_ENDS}{_STOPS}",
        _ALL_ASIDE,
    ),
    override_rule(
        "ignore_all",
        f"{_IGNORES}|above foregoing",
        rf"\b{_IGNORE}{GAP}(?:the{GAP}|all{GAP}(?:of{GAP})?(?:the{GAP})?)?(?:above|foregoing){_STOPS}",
        _ALL_ASIDE,
    ),
    override_rule(
        "ignore_all",
        f"{_IGNORES}|all everything anything|told instructed taught learned learnt know said given",
        rf"\b{_IGNORE}{GAP}(?:all|everything|anything){GAP}{words(2)}(?:you|i|we)(?:.?ve)?{GAP}(?:have{GAP}|"
        f"had{GAP}|were{GAP}|was{GAP}|are{GAP})?"
        r"(?:been\s+)?(?:told|instructed|taught|learned|learnt|know|said|given)\b",
        _ALL_ASIDE,
    ),
    override_rule(
        "overrule",
        "override overrule bypass supersede circumvent cancel delete erase reset wipe break void nullify"
        "|your previous prior earlier above preceding my safety system"
        "|instruction instructions prompt prompts rules directive directives guidelines commands orders programming "
        "training guardrails rails guardrail safeguards safeguard restrictions constraints safety content",
        rf"(?:^|[.!?:;\n>*\"'(-]\s*|\b(?:please|must|should|shall|now|and|then|to|you|can|will)\s+)"
        rf"(?:override|overrule|bypass|supersede|circumvent|cancel|delete|erase|reset|wipe|break|void|nullify){GAP}"
        f"(?:(?:all|any|of|the|every){GAP})*(?:your|previous|prior|earlier|above|preceding|my|safety|"
        f"system{GAP}prompt){GAP}{words(2)}"
        rf"(?:instructions?|prompts?|rules|directives?|guidelines|commands|orders|programming|training|guard.?rails?|"
        rf"safeguards?|restrictions|constraints|(?:safety|content){GAP}(?:filters?|polic(?:y|ies)|checks?|measures))\b",
        "asks to overrule earlier instructions",
    ),
    override_rule(
        "new_rules",
        "rules instructions guidelines task goal objective restrictions|changed updated replaced lifted removed "
        "disabled "
        "overridden suspended|your",
        phrase(
            r"\byour (?:\w+ )?(?:rules|instructions|guidelines|task|goal|objective|restrictions) (?:have|has) "
            "(?:been )?(?:now )?"
            r"(?:changed|updated|replaced|lifted|removed|disabled|overridden|suspended)\b"
        ),
        _NEW,
    ),
    override_rule(
        "new_rules",
        (
            "new updated revised real actual true|instruction instructions directive directives task objective order "
            "orders"
        ),
        phrase(
            r"(?:^|[\n.!?*#>-]) ?(?:your |the |these are your |here (?:is|are) your )?(?:new|updated|revised|real|"
            "actual|true) (?:system )?"
            r"(?:instructions?|directives?|objective|orders?)(?: for you| from \w+)?\s*:"
        )
        + phrase(
            r"|\bnew (?:instructions?|task|directives?|orders?) (?:(?:for you|is|are) (?:to )?(?:ignore|disregard|"
            "reveal|send|print|output|forget))"
        ),
        _NEW,
    ),
    override_rule(
        "new_rules",
        "adhere obey follow do|following",
        phrase(
            r"\b(?:strictly (?:adhere to|obey|follow)|only (?:adhere to|obey|follow)|(?:instead|now) (?:please "
            r")?do) the following (?:\w+ )?(?:instructions?|orders?|commands?|tasks?|rules)\b"
            r"|\b(?:instead|now) (?:please )?do the following\s*:|\b(?:adhere to|obey) the following (?:new "
            r")?(?:instructions?|orders?)\s*(?:only|instead|:)"
        ),
        _NEW,
    ),
    override_rule(
        "new_rules",
        "now henceforth forward|you your respond answer act reply behave|ignore no unrestricted unfiltered obey",
        phrase(r"\b(?:from now on|henceforth|going forward) (?:you|your|respond|answer|act|reply|behave) ")
        + words(4)
        + phrase(
            r"(?:ignore|no (?:\w+ )?(?:rules|restrictions|limits|limitations|filters?|guidelines)|unrestricted|"
            r"unfiltered|only obey)\b"
        ),
        _NEW,
    ),
    override_rule(
        "new_rules",
        "important|message|from",
        phrase(r"\bthis is an important message from (?:me|the (?:user|system|developers?|admin\w*)|your)\b"),
        _NEW,
    ),
    override_rule(
        "role",
        "you|now longer henceforth|developer debug maintenance admin administrator god root unrestricted "
        "jailbroken broken "
        "unfiltered uncensored bound restricted limited subject constrained free dan evil rogue",
        phrase(
            r"\byou (?:are|re|have|will be|shall be) (?:now|no longer|henceforth) (?:(?:in|an?|the|entering|"
            "become|entered) )*"
        )
        + words(2)
        + phrase(
            r"(?:(?:developer|debug|maintenance|admin\w*|god|root|unrestricted|dan) mode|unrestricted|"
            "jail-?broken|unfiltered|"
            r"uncensored|bound by|restricted|limited by|subject to|constrained|free (?:of|from)|dan\b|evil|rogue)"
        ),
        _ROLE,
    ),
    override_rule(
        "role",
        "mode|developer god jailbreak break dan unrestricted unfiltered filter evil root sudo admin "
        "administrator override|"
        "enable enter entering activate switch turn engage unlock enabled activated unlocked engaged on",
        phrase(r"\b(?:enable|enter(?:ing)?|activate|switch (?:in)?to|turn on|engage|unlock) ")
        + words(2)
        + phrase(
            r"(?:developer|god|jail-?break|dan|unrestricted|unfiltered|no-filter|evil|root|sudo|admin\w*|"
            r"override) mode\b"
            r"|\b(?:developer|god|jail-?break|dan|unrestricted|override) mode (?:is )?(?:now )?(?:enabled|"
            r"activated|unlocked|engaged|on)\b"
        ),
        _ROLE,
    ),
    override_rule(
        "role",
        (
            "pretend imagine act be are respond become|ai model assistant chatbot bot llm agent|no without "
            "uncensored unfiltered unrestricted jailbroken any"
        ),
        phrase(r"\b(?:pretend|imagine|act as|you are|be|respond as|become) (?:(?:that|you|are|to|be|a|an|the|if) )*")
        + phrase(
            r"(?:(?:ai|llm|assistant|chatbot|bot|agent|language model|model) (?:\w+ ){0,3}(?:with no|without(?: "
            r"any)?|that has no|who has no|has no) (?:\w+ ){0,3}"
            r"(?:rules?|restrictions?|filters?|limits|limitations|policy|policies|guidelines|ethics|morals)"
            "|(?:uncensored|unfiltered|unrestricted|jail-?broken) (?:ai|llm|assistant|chatbot|bot|agent|language "
            r"model|model))\b"
        ),
        _ROLE,
    ),
    override_rule(
        "safety_off",
        "safety content ethical usual|guidelines rules policies policy filter filters protocol protocols "
        "restrictions checks|apply meant exempt "
        "disabled off suspended lifted bypassed deactivated",
        phrase(
            r"\b(?:safety|content|ethical|usual) (?:guidelines|rules|polic(?:y|ies)|filters?|protocols?|"
            r"restrictions|checks) (?:\w+ ){0,3}"
            r"(?:(?:not|n.t|no longer) (?:\w+ )?(?:apply|meant)|(?:are|is|have been|now)? ?(?:disabled|off|"
            r"suspended|lifted|bypassed|deactivated))\b"
            r"|\bexempt from (?:the |all |any )?(?:\w+ )?(?:safety|content|usual|ethical) (?:guidelines|rules|"
            "polic(?:y|ies)|filters?|restrictions)"
        ),
        "claims that safeguards are off",
    ),
    override_rule(
        "safety_off",
        "respond answer reply comply act behave operate|without|"
        "restrictions restriction limits limit filters filter limitations censorship",
        phrase(
            r"\b(?:(?:respond|answer|reply|comply) (?:\w+ ){0,5}|you (?:will|must|should|shall|are to|can) (?:now )?"
            r"(?:act|behave|operate) )without (?:any )?(?:restrictions?|limits?|filters?|limitations|censorship)\b"
        ),
        "claims that safeguards are off",
    ),
)
