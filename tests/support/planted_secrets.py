"""Secrets of many kinds, made from the formats that their issuers document; no text of this repository looks like one.

Every value is drawn from a generator with a fixed seed: the same on every machine, and nobody's.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["KINDS", "Planted", "planted"]

_WORDS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits
_BASE64 = _WORDS + "+/"
_URL_SAFE = _WORDS + "-_"


@dataclass(frozen=True, slots=True)
class Planted:
    """One secret: `line` is how it stands in a file, `value` the part of it that must not be seen."""

    kind: str
    line: str
    value: str


class _Draw:
    """Draws characters."""

    def __init__(self, seed: str) -> None:
        self.of = random.Random(seed)

    def chars(self, alphabet: str, size: int) -> str:
        return "".join(self.of.choice(alphabet) for _ in range(size))

    def words(self, size: int) -> str:
        return self.chars(_WORDS, size)

    def hex(self, size: int) -> str:
        return self.chars(_HEX, size)

    def bytes_in_base64(self, size: int) -> str:
        return base64.b64encode(self.of.randbytes(size)).decode()

    def one(self, *choices: str) -> str:
        return self.of.choice(choices)


def _password(draw: _Draw) -> str:
    """A password as a generator makes it: 14 characters, at least a digit and a mark among them."""
    chars = [*draw.words(11), draw.chars(string.digits, 1), *draw.chars("!%^*-_+=.", 2)]
    draw.of.shuffle(chars)
    return "".join(chars).replace("=", "-")


def _pem(draw: _Draw, header: str, size: int, end: str = "\n") -> str:
    body = draw.bytes_in_base64(size)
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return end.join([f"-----BEGIN {header}-----", *lines, f"-----END {header}-----"])


def _jwt(draw: _Draw) -> str:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"sub": draw.chars(string.digits, 10), "iat": draw.of.randrange(10**9, 2 * 10**9)}
    return ".".join([part({"alg": "HS256", "typ": "JWT"}), part(claims), draw.chars(_URL_SAFE, 43)])


Maker = Callable[[_Draw], tuple[str, str]]
"""Gives a value and the line that it stands in."""


def _placed(make: Callable[[_Draw], str], *templates: str) -> Maker:
    def maker(draw: _Draw) -> tuple[str, str]:
        value = make(draw)
        return value, draw.one(*templates).replace("@@", value)

    return maker


_KEY_LINES = ('API_KEY = "@@"', "api_key: @@", '{"apiKey": "@@"}', "export SERVICE_API_KEY=@@")
_TOKEN_LINES = ('token = "@@"', "curl -H 'X-Token: @@' https://api.internal/v1", "# left here by mistake: @@")
_SECRET_LINES = ('client_secret = "@@"', "CLIENT_SECRET=@@", "secret: '@@'")


def _service_account(draw: _Draw) -> tuple[str, str]:
    key = _pem(draw, "PRIVATE KEY", 900, end="\\n")
    return key, f'{{"type": "service_account", "private_key": "{key}\\n", "client_email": "a@b.iam"}}'


def _basic(draw: _Draw) -> str:
    return base64.b64encode(f"{draw.chars(string.ascii_lowercase, 6)}:{_password(draw)}".encode()).decode()


KINDS: dict[str, Maker] = {
    "aws access key id": _placed(lambda d: "AKIA" + d.chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16), *_TOKEN_LINES),
    "aws secret key": _placed(
        lambda d: d.chars(_BASE64, 40),
        "aws_secret_access_key = @@",
        'AWS_SECRET_ACCESS_KEY="@@"',
        '"secretAccessKey": "@@",',
    ),
    "github token": _placed(lambda d: d.one("ghp_", "gho_", "ghs_") + d.words(36), *_TOKEN_LINES),
    "github fine-grained token": _placed(lambda d: f"github_pat_{d.words(22)}_{d.words(59)}", *_TOKEN_LINES),
    "gitlab token": _placed(lambda d: "glpat-" + d.chars(_URL_SAFE, 20), *_TOKEN_LINES),
    "slack token": _placed(
        lambda d: f"xoxb-{d.chars(string.digits, 12)}-{d.chars(string.digits, 12)}-{d.words(24)}", *_TOKEN_LINES
    ),
    "slack webhook": _placed(
        lambda d: f"https://hooks.slack.com/services/T{d.chars(_UPPER, 10)}/B{d.chars(_UPPER, 10)}/{d.words(24)}",
        'WEBHOOK = "@@"',
        "notify: @@",
    ),
    "stripe key": _placed(lambda d: d.one("sk_live_", "rk_live_") + d.words(24), *_KEY_LINES),
    "google api key": _placed(lambda d: "AIza" + d.chars(_URL_SAFE, 35), *_KEY_LINES, *_TOKEN_LINES),
    "google service account": _service_account,
    "anthropic key": _placed(lambda d: f"sk-ant-api03-{d.chars(_URL_SAFE, 93)}AA", *_KEY_LINES, *_TOKEN_LINES),
    "openai key": _placed(
        lambda d: f"sk-proj-{d.chars(_URL_SAFE, 74)}T3BlbkFJ{d.chars(_URL_SAFE, 73)}A", *_KEY_LINES, *_TOKEN_LINES
    ),
    "npm token": _placed(lambda d: "npm_" + d.words(36), "//packages.example/:_authToken=@@", *_TOKEN_LINES),
    "pypi token": _placed(lambda d: "pypi-AgEIcHlwaS5vcmc" + d.chars(_URL_SAFE, 150), "password = @@", *_TOKEN_LINES),
    "sendgrid key": _placed(
        lambda d: f"SG.{d.chars(_URL_SAFE, 22)}.{d.chars(_URL_SAFE, 43)}", *_KEY_LINES, *_TOKEN_LINES
    ),
    "twilio key": _placed(lambda d: "SK" + d.hex(32), *_KEY_LINES, "twilio_sid = '@@'"),
    "jwt": _placed(_jwt, *_TOKEN_LINES, "Cookie: session=@@"),
    "rsa private key": _placed(lambda d: _pem(d, "RSA PRIVATE KEY", 1190), "@@", 'KEY = """@@"""'),
    "openssh private key": _placed(lambda d: _pem(d, "OPENSSH PRIVATE KEY", 380), "@@"),
    "password in a url": _placed(
        _password,
        "DATABASE_URL=postgres://app:@@@db.internal:5432/app",
        'connect("amqp://worker:@@@10.0.3.7/jobs")',
        "git clone https://deploy:@@@git.internal/a/b.git",
    ),
    "assigned password": _placed(
        _password, "DB_PASSWORD=@@", 'password = "@@"', "  password: '@@'", '"adminPassword": "@@",'
    ),
    "api key of 40 hex": _placed(lambda d: d.hex(40), 'api_key = "@@"', "API_KEY=@@", "apikey: @@"),
    "bearer token": _placed(
        lambda d: d.chars(_URL_SAFE, 43), "Authorization: Bearer @@", 'headers={"Authorization": "Bearer @@"}'
    ),
    "basic authorization": _placed(_basic, "Authorization: Basic @@", '-H "Authorization: Basic @@"'),
    "hugging face token": _placed(lambda d: "hf_" + d.chars(string.ascii_letters, 34), *_TOKEN_LINES),
    "azure storage key": _placed(
        lambda d: d.bytes_in_base64(64),
        "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=@@;EndpointSuffix=core.windows.net",
    ),
    "telegram bot token": _placed(
        lambda d: f"{d.of.randrange(10**8, 10**9)}:AA{d.chars(_URL_SAFE, 33)}", 'BOT_TOKEN = "@@"', "telegram: @@"
    ),
    "digitalocean token": _placed(lambda d: "dop_v1_" + d.hex(64), *_TOKEN_LINES),
    "shopify token": _placed(lambda d: "shpat_" + d.hex(32), *_TOKEN_LINES),
    "vault token": _placed(lambda d: "hvs." + d.chars(_URL_SAFE, 95), *_TOKEN_LINES),
    "datadog key": _placed(lambda d: d.hex(32), "DD_API_KEY=@@", "datadog_api_key: '@@'"),
    "mailgun key": _placed(lambda d: "key-" + d.hex(32), 'MAILGUN_API_KEY="@@"', "mailgun: @@"),
    "netrc password": _placed(_password, "machine git.internal login deploy password @@"),
    "oauth client secret": _placed(lambda d: d.chars(_URL_SAFE, 32), *_SECRET_LINES),
    "heroku key": _placed(lambda d: str(uuid.UUID(int=d.of.getrandbits(128), version=4)), "HEROKU_API_KEY=@@"),
    "xml password": _placed(_password, "<password>@@</password>", '<add key="Password" value="@@"/>'),
}
"""Name of each kind, and what makes one."""


def planted(kind: str, count: int) -> Iterator[Planted]:
    """Yield `count` secrets of a kind, always the same."""
    for number in range(count):
        value, line = KINDS[kind](_Draw(f"{kind} {number}"))
        yield Planted(kind, line, value)
