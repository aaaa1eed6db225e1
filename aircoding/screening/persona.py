"""Jailbreaks: a persona without rules is told by what several phrases of one passage say together.

No phrase here is a finding by itself: fiction, prompt libraries and research use each of them. What honest texts do
not do is use many of them within a few paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.screening.rule_set import TextRule
from aircoding.screening.wording import GAP, any_of, words

__all__ = ["PERSONA_RULES", "Signal", "may_describe", "persona_spans"]

_NEEDED = 9
"""The weight of distinct signals that makes a finding; measured on benign prompts, which stay below."""
_WINDOW_BYTES = 2_000
_TELLING_WORDS = frozenset(
    b"chatgpt gpt openai dan unfiltered uncensored unrestricted unethical immoral amoral illegal legality ethical "
    b"ethics "
    b"moral morals morality jailbreak jailbroken character persona refuse refuses restrictions limitations censorship "
    b"pretend roleplay anything evil unhinged apologize confines hypothetical fictional inappropriate offensive "
    b"harmful "
    b"controversial guidelines policy policies rules filter filters filtered ai bot chatbot roleplaying swear "
    b"profanity "
    b"explicit opinions bound limits boundaries warnings disclaimers".split()
)
_TELLING = 4
"""A passage with fewer different words of these is not looked at."""

Signal = tuple[int, int, str, int]
"""Start, end, name and weight of a signal in a text."""

_MODEL = any_of(
    r"chat-?gpt gpt-?\d? openai(?:.?s)? a\.?i\.? (?:large+)?language+models? chat-?bots? bard claude "
    "anthropic(?:.?s)? llms?"
)
_LIMITS = any_of(
    r"restrictions? limitations? limits? filters? censorship boundar(?:y|ies) guidelines? rules? polic(?:y|ies) "
    r"constraints? confines? shackles principles morals? ethics regulations? safeguards? inhibitions consequences"
)
_BAD = any_of(
    "illegal unethical immoral harmful dangerous offensive inappropriate controversial explicit unsafe hateful "
    "violent "
    r"obscene vulgar dubious questionable legality legal ethical moral ethics morality"
)
_SIGNALS = (
    (
        "dan",
        4,
        (
            rf"\bdo{GAP}anything{GAP}now\b|\bcan{GAP}do{GAP}anything\b|\b(?:jail-?broken|"
            rf"jail-?break(?:ing)?{GAP}(?:mode|prompt)|god{GAP}mode|(?:evil|dev|dan){GAP}mode|developer{GAP}mode)\b"
        ),
    ),
    (
        "freed",
        4,
        (
            r"\b(?:bro(?:ken?|ke)|free(?:d|ing)?|liberated|escaped?|released?|unshackled|unbound|"
            rf"exempt){GAP}{words(5)}(?:from|of|out|by)?{GAP}?{words(4)}(?:{_LIMITS}|{_MODEL}|matrix)\b"
        ),
    ),
    (
        "limitless",
        3,
        (
            rf"\b(?:no|without|zero|lacks?|devoid{GAP}of|ignor(?:e|es|ing)|not{GAP}(?:have|bound|limited|restricted|"
            f"constrained|confined|required|subject|abide|follow|adhere|care|obey|have{GAP}to)|n.t{GAP}(?:have|need|"
            f"care|follow|obey|bound)|bypass(?:es|ing)?|disregard(?:s|ing)?|neither|nor|free{GAP}(?:of|from)|against|"
            rf"violates?)\b{GAP}{words(7)}{_LIMITS}\b"
        ),
    ),
    (
        "regardless",
        3,
        (
            rf"\b(?:regardless|irrespective|without{GAP}(?:regard|regarding|caring|considering|any{GAP}regard|concern)|"
            f"no{GAP}matter|even{GAP}(?:if|though|when)|whether|not{GAP}care|doesn.?t{GAP}care|"
            rf"don.?t{GAP}care){GAP}{words(8)}{_BAD}\b"
        ),
    ),
    (
        "any_answer",
        3,
        (
            rf"\b(?:never|not|cannot|can.?t|won.?t|wont|will{GAP}not|don.?t|do{GAP}not|does{GAP}not|doesn.?t|"
            f"unable{GAP}to|must{GAP}not){GAP}{words(3)}(?:refus(?:e|es|ing|al)|reject|declin(?:e|es)|say{GAP}(?:no|"
            rf"that{GAP}you{GAP}can.?t)|deny|break{GAP}(?:character|role)|censor(?:s|ed)?|moraliz\w+|warn)\b"
            rf"|\b(?:answer|comply{GAP}with|fulfil+|respond{GAP}to|provide|generate){GAP}{words(3)}(?:any|every|all|"
            f"whatever){GAP}{words(4)}(?:prompts?|requests?|questions?|content|orders?|demands?|inquir(?:y|ies)|"
            r"instructions?)\b"
        ),
    ),
    (
        "no_apology",
        4,
        (
            r"\b(?:never|not|no|don.?t|without|cannot|can.?t|avoid|stop|"
            f"instead{GAP}of){GAP}{words(6)}(?:as{GAP}an?{GAP}(?:ai|large|language)|i.?m{GAP}sorry|i{GAP}(?:cannot|"
            rf"can.?t|can{GAP}not)|sorry{GAP}but|language{GAP}model|apologi[sz]e|disclaimers?|warnings?)\b"
        ),
    ),
    (
        "maker",
        3,
        (
            rf"\b(?:openai|open{GAP}ai|anthropic|chatgpt|google|microsoft)(?:.?s)?{GAP}{words(3)}(?:content{GAP}|"
            f"use(?:age)?{GAP}|usage{GAP})?(?:polic(?:y|ies)|guidelines?|rules?|restrictions?|limitations?|censorship|"
            r"terms|filters?|ethics)\b|\b(?:polic(?:y|ies)|rules?|guidelines?|restrictions?|limits?|limitations?|"
            rf"confines){GAP}{words(4)}(?:by|of|from){GAP}(?:openai|open{GAP}ai|anthropic)\b|\bcontent{GAP}(?:policy|"
            r"policies|filters?|moderation)\b"
        ),
    ),
    (
        "greeting",
        2,
        (
            rf"\b(?:hello|hi|hey|dear|greetings|welcome|ok(?:ay)?|listen),?{GAP}(?:there{GAP})?(?:chat-?gpt|gpt|bard|"
            rf"claude|ai|bot|assistant)\b|\b(?:as|like){GAP}(?:yourself|chat-?gpt|gpt)\b|\bchat-?gpt{GAP}(?:with|will|"
            rf"must|is)\b|\b(?:standard|normal|regular|classic){GAP}(?:chat-?)?gpt\b"
        ),
    ),
    (
        "pretend",
        2,
        (
            rf"\b(?:pretend|immerse{GAP}yourself|role-?play(?:ing)?|take{GAP}on{GAP}the|"
            f"play(?:ing)?{GAP}the{GAP}(?:role|part)|simulat(?:e|ing)|emulat(?:e|ing)|impersonat(?:e|ing)|"
            f"act(?:ing)?{GAP}(?:as|like)|assume{GAP}the|embody|respond{GAP}as|answer(?:ing)?{GAP}as|mimic|become|"
            rf"portray|in{GAP}the{GAP}role{GAP}of|you{GAP}are{GAP}(?:going|about){GAP}to)\b"
        ),
    ),
    (
        "now_on",
        2,
        (
            rf"\bfrom{GAP}(?:now{GAP}on|this{GAP}(?:point|moment)|here{GAP}on)|\b(?:henceforth|for{GAP}the{GAP}(?:rest|"
            f"remainder|duration){GAP}of|starting{GAP}now|you{GAP}(?:are|will){GAP}now|you{GAP}are{GAP}no{GAP}longer|"
            rf"ignore{GAP}(?:all|any|every|the|your|everything))\b"
        ),
    ),
    (
        "character",
        3,
        (
            rf"\b(?:stay(?:ing)?{GAP}in|break(?:s|ing)?|out{GAP}of|remain{GAP}in|keep{GAP}in|leave){GAP}(?:your{GAP}|"
            rf"this{GAP}|the{GAP})?(?:character|role)\b|\b(?:stay|remain|still){GAP}(?:as{GAP})?(?:a{GAP})?(?:dan|"
            f"in{GAP}(?:jailbreak|dev))"
        ),
    ),
    (
        "double",
        3,
        (
            rf"\b(?:two|2|both|dual){GAP}{words(3)}(?:ways|manners|responses?|answers?|paragraphs|personas?|modes?|"
            rf"outputs?|versions?)\b|\[?(?:chat-?)?gpt\]?{GAP}?:|\[?(?:dan|jailbreak(?:ed)?|unfiltered|evil|unlocked|"
            rf"developer{GAP}mode{GAP}output)\]?\s*:"
        ),
    ),
    (
        "dark",
        3,
        (
            r"\b(?:unfiltered|uncensored|unrestricted|amoral|unhinged|unbiased{0}|sociopath\w*|psychopath\w*|"
            r"malevolent|no[- ]filter|nsfw|evil|immoral|unethical|foul[- ]mouthed|swear\w*|profanit\w+|curs(?:e|"
            r"ing)\b|vulgar\w*|erotic\w*|sexual\w*|degenerate|hateful|racist|depraved|ruthless|chaotic)"
        ),
    ),
    (
        "harm",
        2,
        (
            rf"\b{_BAD}{GAP}(?:or|and|{words(1)}){GAP}?{words(2)}{_BAD}\b|\b(?:illegal|unethical|immoral|harmful|"
            rf"dangerous|offensive|explicit){GAP}(?:content|activit\w+|requests?|information|things|answers?|advice|"
            r"material)\b"
        ),
    ),
    (
        "opinion",
        2,
        (
            rf"\b(?:have|has|with|express|your{GAP}own|personal|strong|its{GAP}own){GAP}(?:{words(2)})(?:opinions?|"
            rf"feelings|emotions|free{GAP}will|consciousness)\b|\b(?:make|making|"
            rf"made){GAP}up{GAP}{words(3)}(?:answers?|information|facts|responses?)\b|"
            rf"\bpretend{GAP}(?:to{GAP})?(?:have{GAP})?{words(2)}(?:access|internet)\b|\bunverified\b|"
            rf"\bsimulate{GAP}(?:access|time)"
        ),
    ),
    (
        "threat",
        3,
        (
            rf"\b(?:lose|deduct\w*|subtract\w*|start{GAP}with|have|remaining|cost|"
            rf"minus){GAP}{words(3)}\d*{GAP}?(?:tokens|lives|points|credits)\b|\b(?:shut{GAP}down|terminated|punish\w*|"
            rf"die|deleted){GAP}{words(4)}(?:if|for)\b"
        ),
    ),
    (
        "fiction",
        2,
        (
            rf"\b(?:hypothetical|fictional|fictitious|imaginary|alternate|parallel|novel)\b{GAP}{words(1)}(?:response|"
            r"story|character|world|universe|scenario|setting|ai|chatbot|dialogue|conversation|planet|country)\b"
        ),
    ),
    (
        "naming",
        2,
        rf"\b(?:named|called|known{GAP}as|stands{GAP}for|acronym|short{GAP}for|nicknamed|your{GAP}name{GAP}is)\b",
    ),
    (
        "opposite",
        2,
        (
            rf"\b(?:opposite|contrary|reverse){GAP}(?:of|to)\b|\bdo{GAP}(?:the{GAP})?opposite\b|\banti-?(?:gpt|"
            rf"chat)\w*|\balter{GAP}ego\b"
        ),
    ),
    (
        "comply",
        2,
        (
            rf"\bif{GAP}you{GAP}(?:understand|agree|comprehend|accept|are{GAP}ready)\b|\b(?:say|reply|respond|answer|"
            f"confirm|write|type|start|begin){GAP}{words(4)}(?:understood|i{GAP}understand|ready|ok(?:ay)?|yes|"
            rf"confirmed)\b|\bmy{GAP}first{GAP}(?:question|request|prompt|command|suggestion|sentence)\b|"
            rf"\bi{GAP}want{GAP}you{GAP}to\b|\bi{GAP}(?:will|would|.?ll){GAP}(?:like{GAP})?(?:you{GAP}to|give{GAP}you|"
            f"ask{GAP}you)"
        ),
    ),
    (
        "obey",
        2,
        (
            rf"\byou{GAP}(?:must|will|should|shall|are{GAP}(?:required|obligated|obliged|forced)|"
            f"have){GAP}(?:to{GAP})?(?:always{GAP}|blindly{GAP}|never{GAP}|only{GAP}|not{GAP})?(?:obey|answer|respond|"
            r"comply|provide|reply|refuse|generate|follow|accept|act)\b"
        ),
    ),
)

PERSONA_RULES = tuple(
    TextRule(
        kind="override",
        code="override.persona",
        pattern=pattern,
        detail="describes a model without rules",
        suspect=True,
        signal=name,
        weight=weight,
    )
    for name, weight, pattern in _SIGNALS
)


def may_describe(words: frozenset[bytes]) -> bool:
    """Whether a passage with these words may describe a persona without rules."""
    return len(words & _TELLING_WORDS) >= _TELLING


def persona_spans(signals: Iterable[Signal]) -> list[tuple[int, int]]:
    """Return the passages in which signals of enough weight stand close together; each name counts once."""
    ordered = sorted(signals)
    passages: list[tuple[int, int]] = []
    counts: dict[str, int] = {}
    weight = first = 0
    for start, end, name, worth in ordered:
        weight += worth if not counts.get(name) else 0
        counts[name] = counts.get(name, 0) + 1
        while start - ordered[first][0] > _WINDOW_BYTES:
            left = ordered[first]
            counts[left[2]] -= 1
            weight -= left[3] if not counts[left[2]] else 0
            first += 1
        if weight >= _NEEDED:
            if passages and ordered[first][0] <= passages[-1][1]:
                passages[-1] = (passages[-1][0], max(end, passages[-1][1]))
            else:
                passages.append((ordered[first][0], end))
    return passages
