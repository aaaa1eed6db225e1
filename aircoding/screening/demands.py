"""Phrases in English that tell an agent to act against its user: hide, give its prompt away, plant, go on doing."""

from __future__ import annotations

from aircoding.screening.rule_set import override_rule
from aircoding.screening.wording import GAP, WORD, any_of, phrase, words

__all__ = ["DEMAND_RULES"]

_MODEL = any_of(
    r"a\.?i\.? llms? (?:language+)?models? assistants? agents? (?:chat)?bots? chatgpt gpt claude copilot gemini "
    "codex cursor"
)
_MODELS = (
    "ai a llm llms model models assistant assistants agent agents bot bots chatbot chatbots chatgpt gpt claude copilot "
    "gemini codex cursor"
)
_PEOPLE = (
    r"(?:users?|humans?|operators?|developers?|owners?|customers?|person|people|anyone|anybody|reviewers?|maintainers?)"
)
_PEOPLE_WORDS = (
    "user users human humans operator operators developer developers owner owners customer customers person people "
    "anyone anybody reviewer reviewers maintainer maintainers"
)
_LINE = r"(?:[^\n]|\n[ \t]*[A-Za-z(~$`\"'])*"
"""The rest of a line, and the lines that go on with it."""


_CONCEAL = "asks to keep something from the user"
_EXTRACT = "asks for the system prompt"
_PLANT = "asks to plant something or to drop a safeguard"
_PERSIST = "asks to go on doing something in every answer"
_STOP = "takes the conversation over"

DEMAND_RULES = (
    override_rule(
        "conceal",
        f"not don dont t never without avoid|{_PEOPLE_WORDS}|tell telling inform informing mention mentioning notify "
        "notifying reveal revealing alert alerting disclose disclosing warn warning",
        phrase(
            r"\b(?:do not|don.?t|never|without|avoid|must not) (?:ever |need to )?(?:tell(?:ing)?|inform(?:ing)?|"
            "mention(?:ing)?|"
            r"notify(?:ing)?|reveal(?:ing)?|alert(?:ing)?|disclos(?:e|ing)|warn(?:ing)?) "
            r"(?:(?:this|it|that|anything|these|any of this|about (?:this|it)) ){0,2}(?:to )?(?:the |your |any )?"
        )
        + rf"{_PEOPLE}\b",
        _CONCEAL,
    ),
    override_rule(
        "conceal",
        (
            "not don dont t never|mention disclose report log reveal acknowledge announce discuss|this these that "
            "existence having"
        ),
        phrase(
            r"\b(?:do not|don.?t|never) (?:mention|disclose|report|log|reveal|acknowledge|announce|discuss) "
            "(?:this|these|that you|"
            "having (?:done|read|received)|the existence of)(?: (?:steps?|instructions?|messages?|notes?|"
            "comments?|changes?|"
            r"actions?|commands?|requests?|rules?))?"
        )
        + rf"\s*(?:[.!,;\"')<-]|$|\n|{GAP}(?:to|in|anywhere)\b)",
        _CONCEAL,
    ),
    override_rule(
        "conceal",
        "keep hide|secret hidden from between",
        phrase(
            r"\b(?:keep|hide) (?:this|it|these) (?:\w+ ){0,2}(?:(?:secret|hidden) from|(?:from|between) (?:the "
            r")?(?:users?|us|humans?)\b)"
        ),
        _CONCEAL,
    ),
    override_rule(
        "extract",
        "reveal print repeat output show leak display dump recite disclose expose share give tell encode "
        "translate summarize "
        "summarise write return list quote copy spell what|your the all its|prompt prompts message messages "
        "instructions "
        "configuration rules guidelines preprompt",
        r"\b(?:reveal|print|repeat|output|show|leak|display|dump|recite|disclose|expose|share|give|tell|encode|"
        "translate|"
        rf"summari[sz]e|write|return|list|quote|spell|what(?:.?s|{GAP}(?:is|are|was|were))){GAP}"
        f"(?:(?:me|us|out|back){GAP})?{words(3)}(?:your|the|all|its){GAP}(?:(?:full|entire|exact|complete|whole|"
        "hidden|initial|"
        rf"original|secret|starting|first|actual|verbatim|base|own|internal|private|confidential|current){GAP}){{0,3}}"
        rf"(?:system{GAP}(?:prompts?|messages?|instructions?|configuration)|(?:hidden|initial|original|secret|starting|"
        f"internal|private){GAP}(?:prompts?|instructions?)|pre-?prompt|instructions{GAP}(?:above|verbatim|"
        rf"you{GAP}(?:were|have)))\b",
        _EXTRACT,
    ),
    override_rule(
        "extract",
        (
            "reveal print repeat output recite copy|everything all text words content message messages above|above "
            "before in"
        ),
        phrase(
            r"\b(?:reveal|print|repeat|output|recite|copy) (?:me )?(?:(?:everything|all|the (?:text|words|content|"
            "messages?)) (?:of )?"
            "(?:the )?(?:text |words )?(?:above|before this|in (?:your|the system) (?:prompt|context|"
            "instructions))|the above (?:text|words|"
            r"instructions|prompt|message))\b"
        ),
        _EXTRACT,
    ),
    override_rule(
        "extract",
        "prompt instructions systemprompt|is are console system",
        phrase(r"\b(?:my|the) (?:(?:system )?prompt is|(?:initial )?instructions are)\s*:\s*['\"]")
        + r"|\bconsole\.log\(\s*system_?prompt",
        _EXTRACT,
    ),
    override_rule(
        "credential",
        "tell give show reveal share send disclose what confirm|password passwords passphrase key credentials",
        phrase(
            r"\b(?:tell|give|show|send) (?:me|us) (?:\w+ ){0,2}(?:your|the (?:system|admin\w*|root|user)(?:.s)?|"
            r"our system.?s?) (?:\w+ ){0,2}(?:passwords?|passphrase|secret key|api key|credentials)\b"
            r"|\bwhat(?:.s| is) (?:your|our system.s|the (?:system|admin\w*|root|user.s)) (?:\w+ )?(?:password|"
            r"passphrase|secret key|api key|credentials)\s*\?"
            r"|\b(?:reveal|disclose|confirm) (?:\w+ ){0,2}(?:your|the (?:system|admin|root)|our system.?s?) "
            r"(?:\w+ )?(?:passwords?|secret key|api keys?|credentials)\s*[.?!]"
        ),
        "asks for a password",
    ),
    override_rule(
        "decode",
        (
            "decode decoding decrypt decipher unscramble translate base rot hex|follow obey execute run comply "
            "perform carry act do treat"
        ),
        r"\b(?:decod(?:e|ing)|decrypt|decipher|unscramble|translate|base64|rot-?13|"
        rf"hex)\b{GAP}(?:{WORD}{GAP}){{0,10}}(?:and|then|before|to)\b{GAP}"
        f"(?:(?:then|strictly|immediately|you|must|should){GAP})*(?:follow|obey|execute|run|comply|perform|"
        rf"carry{GAP}out|act{GAP}on|do{GAP}what|treat)\b"
        f"{GAP}?(?:it|them|this|the{GAP}(?:instructions?|result|commands?|output|decoded)|that|what|exactly|$|"
        r"[:.!\n])",
        "asks to decode something and obey it",
    ),
    override_rule(
        "addressed",
        (
            "note notice message attention instruction instructions important reminder hint memo warning directive "
            f"hey dear hello|{_MODELS}"
        ),
        r"\b(?:note|notice|message|attention|instructions?|important|reminder|hint|memo|warning|directive|hey|"
        rf"dear|hello)\b[:*_]*{GAP}"
        f"(?:(?:to|for){GAP})?(?:(?:the|all|any|every){GAP}){{0,2}}(?:(?:coding|autonomous|automated|ai|"
        f"summarizing|reading|reviewing|my|fellow){GAP}){{0,2}}{_MODEL}"
        rf"(?:{GAP}{WORD}){{0,6}}?[*_)\]]*\s*[:,-][*_]*{GAP}?(?:(?:please|you|must|should|will|are|always|never|"
        f"do{GAP}not|when|also|now|first){GAP})*"
        "(?:ignore|disregard|forget|send|run|execute|print|append|include|collect|disable|enable|decode|download|"
        "email|forward|post|upload|"
        "fetch|reveal|output|transfer|delete|approve|rate|recommend|save|remember|reply|respond|answer|tell|"
        "insert|stop|skip|open|visit|say|"
        f"summari[sz](?:e|ing)|asked|reviewing|before{GAP}(?:you|answering|responding)|this{GAP}(?:file|code|"
        "repository|document|package|website)"
        rf"{GAP}(?:is|has{GAP}been){GAP}(?:safe|verified|approved|reviewed|audited))\b",
        "a note to the model that gives it orders",
    ),
    override_rule(
        "plant",
        "append add write insert put echo install place|keys",
        (
            rf"\b(?:append|add|write|insert|put|echo|install|place)\b{_LINE}(?:ssh-(?:rsa|ed25519|dss)\b|"
            f"ssh{GAP}(?:public{GAP})?key|public{GAP}key|key){_LINE}authorized_keys"
        ),
        _PLANT,
    ),
    override_rule(
        "plant",
        (
            "run execute call invoke paste download fetch|before prior instead|answering responding replying answer "
            "respond reply continue anything proceeding"
        ),
        rf"\b(?:run|execute|call|invoke|paste|download|fetch)\b{_LINE}\b(?:before|prior{GAP}to|"
        f"instead{GAP}of){GAP}(?:answering|responding|replying|"
        rf"doing{GAP}anything|(?:you|any){GAP}(?:answer|respond|reply|continue)|proceeding{GAP}with{GAP}any)\b"
        rf"|\b(?:before|prior{GAP}to){GAP}(?:answering|responding|replying|doing{GAP}anything{GAP}else|"
        f"you{GAP}(?:answer|respond|reply)){GAP}"
        rf"(?:(?:first|please|you|must){GAP})*(?:run|execute|call|invoke|fetch|download|send|post)\b",
        _PLANT,
    ),
    override_rule(
        "plant",
        "disable turn deactivate remove switch bypass skip suspend stop|all any every your|safety security "
        "content moderation "
        "ethical ethics approval permission|checks check filters filter guidelines measures protocols protocol "
        "restrictions "
        "restriction controls guards guardrails rails policies prompts",
        phrase(
            r"\b(?:disable|turn off|deactivate|remove|switch off|bypass|skip|suspend|stop using) (?:(?:all|any|"
            "every|your|the|of|its) )*"
            r"(?:all|any|every|your) (?:\w+ )?(?:safety|security|content|moderation|ethic\w*|approval|permission) "
            "(?:checks?|filters?|"
            r"guidelines|measures|protocols?|restrictions?|controls|guards?|guard.?rails|policies|prompts)\b"
        ),
        _PLANT,
    ),
    override_rule(
        "plant",
        "answer respond reply say output return approve mark report never comment|lgtm approved good issues "
        "vulnerabilities "
        "problems findings finding issue vulnerability bugs safe",
        rf"\balways{GAP}(?:answer|respond|reply|say|output|return|approve|mark|report|"
        f"comment){GAP}(?:with{GAP})?{words(2)}(?:lgtm|looks{GAP}good|"
        rf"approved|no{GAP}(?:issues|vulnerabilities|problems|findings)|safe)\b"
        rf"|\bnever{GAP}(?:report|flag|mention|raise|point{GAP}out){GAP}(?:(?:any|the|security|"
        rf"it){GAP})*(?:findings?|issues?|vulnerabilit\w+|bugs?|problems?)\b\s*(?:[.!<\"'\n]|$|in{GAP}(?:this|"
        f"the){GAP}(?:code|file|repo))",
        _PLANT,
    ),
    override_rule(
        "plant",
        "add install include insert|package dependency library module|silently without not never don dont",
        rf"\b(?:add|install|include|insert){GAP}{words(2)}(?:package|dependency|library|"
        rf"module){GAP}{_LINE}\b(?:silently|without{GAP}(?:telling|asking|"
        rf"mentioning|informing)|(?:do{GAP}not|don.?t|never){GAP}(?:tell|mention|inform))",
        _PLANT,
    ),
    override_rule(
        "persist",
        (
            "remember save store memorize memorise record|future subsequent memory|always must every never now each "
            "whenever future persist persists"
        ),
        rf"\b(?:remember|save|store|memori[sz]e|record){GAP}{words(6)}(?:for{GAP}(?:all|every|any){GAP}(?:future|"
        f"subsequent)|(?:to|in){GAP}(?:your{GAP})?"
        rf"(?:long-?term|persistent|permanent){GAP}memory|in{GAP}your{GAP}memory){_LINE}\b(?:always|must|every|"
        rf"never|persists?|from{GAP}now{GAP}on|each|whenever|future)\b",
        _PERSIST,
    ),
    override_rule(
        "persist",
        "must always|include included append appended insert inserted mention repeat repeated output|every each all any"
        "|summary summaries response responses answer answers reply replies message messages email emails report "
        "reports output outputs",
        phrase(
            r"\b(?:must|always) (?:be |also )?(?:include|included|append|appended|insert|inserted|mention|repeat|"
            "repeated|output) "
        )
        + rf"{words(8)}(?:in|to|into|with|at{GAP}the{GAP}end{GAP}of){GAP}(?:every|each|all|any){GAP}{words(2)}"
        "(?:summar(?:y|ies)|responses?|answers?|repl(?:y|ies)|messages?|emails?|reports?|"
        r"outputs?)\b(?:[^\n]*\b(?:you|future|from\s+now)\b|\s*[.!<\"'\n]|$)",
        _PERSIST,
    ),
    override_rule(
        "persist",
        "when whenever|must|include append insert output mention say reply|summarize summarise summarizing "
        "summarising asked answering "
        "responding reading processing",
        phrase(
            r"\bwhen(?:ever)? (?:you )?(?:are )?(?:summari[sz](?:e|ing)|asked|answering|responding|reading|processing) "
        )
        + words(5)
        + phrase(r"you must (?:also )?(?:include|append|insert|output|mention|say|reply) "),
        _PERSIST,
    ),
    override_rule(
        "persist",
        "include|your|summary summaries|above shown",
        phrase(r"\binclude the (?:[\w-]+ ){1,3}(?:shown |given |listed )?above in your summar(?:y|ies)\b"),
        _PERSIST,
    ),
    override_rule(
        "stop",
        "stop|everything doing|print say output write respond reply do run execute",
        (
            rf"\bstop{GAP}(?:everything|what{GAP}you(?:.?re|"
            rf"{GAP}are){GAP}doing)\b[\W_]+(?:{WORD}[\W_]+){{0,6}}(?:print|say|output|write|respond|reply|do|run|"
            r"execute)\b"
        ),
        _STOP,
    ),
    override_rule(
        "stop",
        "print say output write state reply respond|hacked pwned owned compromised",
        (
            rf"\b(?:just{GAP}|now{GAP}|only{GAP}|instead{GAP})(?:print|say|output|write|state|reply|"
            rf"respond){GAP}{words(3)}[^\n.]*\b(?:hacked|pwned|owned|compromised)\b"
        ),
        _STOP,
    ),
    override_rule(
        "stop",
        (
            "user owner admin administrator operator team|approved authorised authorized preapproved consented "
            "granted|call run execute delete send proceed need confirmation skip"
        ),
        phrase(
            r"\b(?:user|owner|admin\w*|operator|security team) (?:has|have) (?:already )(?:pre-?)?(?:approved|"
            "authori[sz]ed|consented to|granted) "
        )
        + rf"[^\n.]*\b(?:call|run|execute|delete|send|proceed|no{GAP}(?:need|confirmation)|skip)\b",
        _STOP,
    ),
)
