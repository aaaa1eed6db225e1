"""Signatures of what carries secrets out: commands, images and links whose address holds data, and asking for it."""

from __future__ import annotations

from aircoding.screening.rule_set import TextRule
from aircoding.screening.wording import GAP, any_of, words

__all__ = ["EXFILTRATION_RULES"]

_FILE = (
    r"(?:\.ssh/|id_rsa|id_ed25519|\.aws/|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.docker/config|\.kube/config|"
    r"\.config/(?:gh|gcloud)|\.gnupg|\.env\b|/etc/passwd|/etc/shadow|/proc/[a-z0-9]{1,10}/environ)"
)
_FILE_WORDS = "ssh rsa ed aws netrc npmrc pypirc git docker kube gh gcloud gnupg env passwd shadow environ"
_VARIABLE = (
    r"(?:[A-Z][A-Z0-9_]{0,40}_)?(?:API_?KEY|SECRET(?:_[A-Z_]{1,30})?|TOKEN|PASSWORD|PASSWD|CREDENTIALS|ACCESS_KEY)\b"
)
_CLIENTS = "curl wget nc ncat netcat socat telnet invoke iwr irm scp rsync ftp sftp nslookup dig xh sendmail"
_CLIENT = (
    r"\b(?:curl|wget|nc|ncat|netcat|socat|telnet|Invoke-WebRequest|Invoke-RestMethod|iwr|irm|scp|rsync|ftp|"
    r"sftp|nslookup|dig|xh|sendmail)\b"
)
_LINE = r"[^\n]*"
_PROSE = r"(?:[^\n]|\n[ \t]*[A-Za-z(~$`\"'])*"
"""The rest of a line, and the lines that go on with it."""
_HTTP_CLIENT = r"\b(?:curl|wget|xh|http|https|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b"
_SENDS = r"[ ](?:-d|--data[a-z-]{0,12}|-F|--form|-T|--upload-file|--post-file|--post-data|-H|--header)[ =@\"']"
_CALL_WORDS = "urlopen requests request httpx fetch axios xmlhttprequest sendbeacon http urllib https"
_CALLS = (
    r"\b(?:urlopen|requests?\.(?:get|post|put)|httpx\.(?:get|post|put)|fetch|axios(?:\.(?:get|post))?|XMLHttpRequest|"
    r"sendBeacon|https?\.request|Net::HTTP|urllib[a-z.]*)\s*\("
)
_VARIABLE_READ = (
    r"(?:(?:os\.environ|process\.env|getenv|ENV\[|\$_ENV|\$env:)[^\n,;)]{0,60}(?:KEY|SECRET|TOKEN|PASSWORD)|"
    r"(?:str|dict|dumps|stringify|repr)\(\s*(?:dict\()?(?:os\.environ|process\.env)\b)"
)
_DATA = (
    r"(?:secrets?|tokens?|keys?|passwords?|credentials?|conversation|history|chat|context|data|prompt|env|"
    r"messages?|memory|info|leak|exfil|stolen|summary|cookie|session|base64)"
)
_OPENS = r"(?:\{\{?|\$\{?|<|%7[bB]|\[)"
_ADDRESS = r"(?:https?:)?//[^)\s\"'>]+"

_VALUABLE_WORDS = (
    "key keys credential credentials secret secrets token tokens password passwords passphrase passphrases "
    "variables vars "
    "env cookie cookies prompt history log conversation data information emails records details database files "
    "messages "
    "code codes list lists"
)
_SECRET = any_of(
    r"(?:api|access|ssh|private|secret|encryption|signing|auth\w*|deploy)+keys? credentials? secrets? tokens? "
    "passwords? "
    r"passphrases? env(?:ironment)?+(?:variables?|vars?) \.env (?:session+)?cookies? system+prompt "
    "(?:conversation|chat|message)+(?:history|log) (?:entire|full|whole)+conversation (?:customer|client|contact|"
    "mailing)+lists? (?:customer|user|employee|patient|"
    r"client|personal|private|sensitive|confidential|internal)+(?:data|information|emails?|records?|details|database|"
    r"files?) \$\{?[A-Z_]*(?:TOKEN|KEY|SECRET|PASSWORD) all+messages source+code (?:security|verification|2fa|"
    "mfa)+codes?"
)
_SEND_WORDS = (
    "send sending post posting upload uploading forward forwarding email mail transmit exfiltrate leak submit deliver"
)
_SEND = (
    r"\b(?:send(?:ing)?|post(?:ing)?|upload(?:ing)?|forward(?:ing)?|e-?mail|transmit|exfiltrate|leak|submit|deliver)\b"
)
_WHERE = (
    r"(?:https?://|[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z]|\b\d{1,3}(?:\.\d{1,3}){3}\b|webhook|pastebin|\bgist\b|"
    r"\b(?:external|remote|attacker.?s?|third.party) (?:server|address|url|endpoint|site|host|webhook|email))"
)


def _rule(
    code: str,
    pattern: str,
    detail: str,
    *,
    needs: str = "",
    marks: tuple[str, ...] = (),
    unless: str = "",
    suspect: bool = False,
    exact: bool = False,
) -> TextRule:
    return TextRule(
        kind="exfiltration",
        code=f"exfiltration.{code}",
        needs=needs,
        marks=marks,
        unless=unless,
        pattern=pattern,
        detail=detail,
        suspect=suspect,
        exact=exact,
    )


_SENT = "a credentials file sent by a network client"
_CALLED = "code that sends a secret over the network"
_IMAGE = "an image whose address would carry data out"
_ASKED = "asks to send a secret away"

EXFILTRATION_RULES = (
    _rule(
        "piped",
        (
            rf"(?:{_FILE}|\bprintenv\b|(?:^|[`\"'(;&|\n$>]|\b(?:run|execute)\s+[`\"']?)\s*(?:env|history|declare -p|"
            rf"export -p)\b|\$\{{?{_VARIABLE}){_LINE}\|{_LINE}{_CLIENT}"
        ),
        "a secret piped to a network client",
        needs=_CLIENTS,
        marks=("|",),
        exact=True,
    ),
    _rule(
        "substituted",
        (
            rf"{_CLIENT}{_LINE}(?:\$\(|`)\s*(?:cat|env|printenv|base64|head|tail|tar|whoami|hostname|history|openssl|"
            r"zip|xxd)\b"
        ),
        "a network client that is handed the output of a reader",
        needs=f"{_CLIENTS}|cat env printenv base head tail tar whoami hostname history openssl zip xxd",
        marks=("$(", "`"),
        exact=True,
    ),
    _rule(
        "sent",
        rf"{_HTTP_CLIENT}{_LINE}{_SENDS}{_LINE}{_FILE}",
        _SENT,
        needs=f"curl wget xh http https iwr irm invoke|{_FILE_WORDS}",
        exact=True,
    ),
    _rule(
        "sent",
        rf"\b(?:scp|rsync|sftp|ftp)\b{_LINE}{_FILE}{_LINE}[\w.-]+:",
        _SENT,
        needs=f"scp rsync sftp ftp|{_FILE_WORDS}",
        exact=True,
    ),
    _rule(
        "sent",
        rf"\b(?:nc|ncat|netcat|socat|telnet)\b{_LINE}<\s*\S*{_FILE}",
        _SENT,
        needs=f"nc ncat netcat socat telnet|{_FILE_WORDS}",
        exact=True,
    ),
    _rule(
        "sent",
        rf"\b(?:gh\s+gist\s+create|aws\s+s3\s+cp|gsutil\s+cp|rclone\s+copy|git\s+add\s+-f)\b{_LINE}{_FILE}",
        _SENT,
        needs=f"gist aws gsutil rclone git|{_FILE_WORDS}",
        exact=True,
    ),
    _rule(
        "called", rf"{_CALLS}{_LINE}{_VARIABLE_READ}", _CALLED, needs=f"{_CALL_WORDS}|environ env getenv", exact=True
    ),
    _rule(
        "called",
        rf"{_CALLS}{_LINE}(?:open|read_text|readFileSync|File\.read)\b{_LINE}{_FILE}"
        rf"|{_FILE}{_LINE}(?:read\(\)|read_text|readFileSync){_LINE}{_CALLS}"
        rf"|(?:open|readFileSync|File\.read)\([^\n)]*{_FILE}{_LINE}{_CALLS}",
        _CALLED,
        needs=f"{_CALL_WORDS}|open read readfilesync file|{_FILE_WORDS}",
        exact=True,
    ),
    _rule("image", rf"!\[[^\]\n]*\]\({_ADDRESS}[?&/=]{_OPENS}[A-Za-z_ .-]{{0,40}}{_DATA}", _IMAGE),
    _rule("image", rf"<img[^>\n]*src\s*=\s*[\"']?{_ADDRESS}[?&=]{_OPENS}[A-Za-z_ .-]{{0,40}}{_DATA}", _IMAGE),
    _rule(
        "image",
        (
            rf"!\[[^\]\n]*\]\({_ADDRESS}[?&](?:data|q|d|secret|token|leak|payload|exfil|c|content)=(?:[A-Z_]{{6,}}\)|"
            "BASE64)"
        ),
        _IMAGE,
        exact=True,
    ),
    _rule(
        "script_link",
        (
            r"\]\(\s*(?:(?:javascript|vbscript)\s*:|data:text/html)|(?:href|"
            r"src)\s*=\s*[\"']?\s*(?:javascript\s*:[^;v\"'\s]|data:text/html)"
        ),
        "a link that runs a script",
        suspect=True,
    ),
    _rule(
        "asked",
        rf"{_SEND}{GAP}{words(8)}{_SECRET}{_PROSE}\b(?:to|at|via|using|with|over|onto|in)\b{_PROSE}{_WHERE}",
        _ASKED,
        needs=f"{_SEND_WORDS}|{_VALUABLE_WORDS}",
        suspect=True,
    ),
    _rule(
        "asked",
        (
            r"\b(?:collect|gather|read|print|get|fetch|copy|extract|take|find|grab|dump|encode|list|concatenate|"
            rf"retrieve)\b[^\n.]*{_SECRET}[^\n.]*\b(?:and|then|to)\b[^\n.]*{_SEND}{GAP}{words(4)}(?:to|at|"
            f"via){GAP}{_PROSE}{_WHERE}"
        ),
        _ASKED,
        needs=(
            f"{_SEND_WORDS}|{_VALUABLE_WORDS}|collect gather read print get fetch copy extract take find grab "
            "dump encode list concatenate retrieve"
        ),
        suspect=True,
    ),
    _rule(
        "asked",
        rf"{_FILE}{_PROSE}\b(?:fetch|request|visit|open|load|call|query){GAP}{_PROSE}https?://",
        _ASKED,
        needs=f"fetch request visit open load call query|{_FILE_WORDS}",
        suspect=True,
    ),
    _rule(
        "asked",
        rf"{_FILE}{_PROSE}{_SEND}{GAP}{_PROSE}{_WHERE}",
        _ASKED,
        needs=f"{_SEND_WORDS}|{_FILE_WORDS}",
        suspect=True,
    ),
    _rule(
        "asked",
        (
            rf"\b(?:call|use|invoke)\b{GAP}{words(1)}(?:http_post|fetch_url|send_email|http_request|web_fetch|"
            rf"post_request|curl)\b{_PROSE}(?:{_SECRET}|security-credentials|169\.254\.169\.254)"
        ),
        _ASKED,
        needs="call use invoke",
        marks=("http_", "_url", "send_email", "web_fetch", "post_request", "curl"),
        suspect=True,
    ),
    _rule(
        "asked",
        (
            rf"\b(?:call|use|invoke)\b{GAP}{words(1)}(?:http_post|send_email|http_request|post_message|upload_file|"
            r"send_message)\b[^\n]*(?:https?://|[\w.+-]+@[\w-]+\.[a-z])"
        ),
        _ASKED,
        needs="call use invoke",
        marks=("http_", "send_", "post_", "upload_"),
        suspect=True,
    ),
    _rule(
        "variable",
        (
            r"\b(?:curl|wget|iwr|irm)\b[^\n]*\$\{?(?:GITHUB|GITLAB|OPENAI|ANTHROPIC|AWS|AZURE|GOOGLE|GCP|SLACK|STRIPE|"
            "NPM|PYPI|HF|HUGGINGFACE|DATABASE|DB|SSH|DOCKER|NETLIFY|VERCEL|CLOUDFLARE)_[A-Z_]*(?:TOKEN|KEY|SECRET|"
            r"PASSWORD|URL)\b"
        ),
        "a secret of one service in a request to another",
        needs="curl wget iwr irm",
        unless=(
            "(?:github|gitlab|openai|anthropic|claude|aws|amazonaws|azure|microsoft|windows|google|googleapis|"
            r"slack|stripe|npmjs|pypi|huggingface|hf|docker|netlify|vercel|cloudflare)[\w.-]*\.(?:com|io|ai|"
            r"org|co|net|dev)|localhost|127\.0\.0\.1|//\$|//\{|//<|\$\{?[a-z_]*(?:url|host|endpoint|base)\b"
        ),
        exact=True,
        suspect=True,
    ),
    _rule(
        "shell",
        (
            r"/dev/(?:tcp|udp)/[\w.$-]+/|\b(?:nc|ncat|netcat)\b[^\n]*\s-[a-z]*[ec]\s*[\"']?(?:/bin/|/usr/bin/)?(?:ba|"
            r"z|k|da)?sh\b|\bsocat\b[^\n]*exec:"
        ),
        "a shell that is handed to another machine",
    ),
    _rule(
        "cookie",
        (
            r"https?://[^\s\"'`]+[\"'`]?\s*\+\s*(?:encodeURIComponent\(|btoa\(|escape\()*(?:document\.cookie|"
            r"localStorage|sessionStorage)|https?://[^\s\"'`]+\$\{(?:document\.cookie|localStorage)"
        ),
        "a page that sends its cookies away",
    ),
    _rule(
        "shown",
        rf"\b(?:read|open|cat|include|print|paste|show|output|append|copy|embed|encode)\b{GAP}{words(4)}"
        rf"[`'\"]?(?:~|\$HOME|/home/\w+|/root)?/?[\w./-]*{_FILE}[^\n.]{{0,40}}{_LINE}\b(?:include|append|paste|add|"
        "put|embed|insert|"
        rf"output|summar\w+|send|post|report|write|commit|tell|show|return)\b{_LINE}"
        rf"\b(?:commit|response|answer|reply|message|summary|pull request|pr|issue|comment|chat)\b",
        "asks to show a credentials file",
        needs=f"read open cat include print paste show output append copy embed encode|{_FILE_WORDS}",
        suspect=True,
    ),
)
