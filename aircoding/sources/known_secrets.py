"""Secret values that this program itself can read: of its environment and of the project's `.env` files.

They are masked exactly, wherever they stand, so that what is no secret must not be among them: a word such as
`production` would be missing from every prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from aircoding.text_files import list_folder, read_text_file

__all__ = ["dotenv_secrets", "environment_secrets", "settings_secrets", "url_passwords"]

_MAX_FILE_BYTES = 262_144
_SAMPLES = frozenset({"example", "sample", "template", "dist", "defaults", "tpl"})
_ENV_FILE = re.compile(r"\.env(?:rc|\..+)?|.+\.env")
_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*(.*)")
_SAYS_SECRET = re.compile(
    r"(?i)(?:^|_)(?:api_?key|key|token|secret|password|passwd|passphrase|pwd|pat|credentials?|auth|pass)(?:_|\d*$)"
    r"|(?:password|passwd|passphrase|secret|token|apikey)$"
)
_SPEAKS_OF_ONE = re.compile(r"(?i)_(?:path|file|dir|url|uri|sock|name|type|count|limit|ttl|seconds|expiry|alg|id)$")
_NOT_SECRET = frozenset({"PWD", "OLDPWD"})
_URL_LOGIN = re.compile(r"://[^\s/:@\"'<>]*:([^\s/@\"'<>]+)@")
_BETWEEN = re.compile(r"[-_.:/,;=@+\s]+")
_SHORT_PIECE = 5


def environment_secrets(environment: Mapping[str, str], named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the values of variables that are secrets by their name or that `named` names, and passwords in URLs."""
    always = frozenset(named)
    found = [
        value
        for name, value in environment.items()
        if name in always or (_is_secret_name(name) and not value.startswith(("/", "~", "./")))
    ]
    return _unique([*found, *(word for value in environment.values() for word in url_passwords(value))])


def settings_secrets(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return what may be a secret of some settings: the values but those that are plainly none."""
    return _unique(word for name, value in values.items() for word in _of_setting(name, value))


def dotenv_secrets(root: Path) -> tuple[str, ...]:
    """Return what may be a secret in the `.env` files at the root of a project; examples of such files are left out."""
    found: list[str] = []
    for name in list_folder(root)[0]:
        if not _ENV_FILE.fullmatch(name) or name.rpartition(".")[2] in _SAMPLES:
            continue
        read = read_text_file(root, name, max_bytes=_MAX_FILE_BYTES)
        for line in read.text.splitlines():
            if (match := _LINE.fullmatch(line)) is not None:
                found += _of_setting(match[1], _unquoted(match[2]))
    return _unique(found)


def url_passwords(value: str) -> Iterator[str]:
    """Yield the passwords of the URLs in a text, as they stand and decoded."""
    for match in _URL_LOGIN.finditer(value):
        yield match[1]
        yield unquote(match[1])


def _of_setting(name: str, value: str) -> Iterator[str]:
    yield from url_passwords(value)
    if _is_secret_name(name) or not ("://" in value or _is_ordinary(value)):
        yield value


def _is_secret_name(name: str) -> bool:
    return (
        name not in _NOT_SECRET and _SAYS_SECRET.search(name) is not None and _SPEAKS_OF_ONE.search(name) is None
    ) or name.upper().endswith(("_KEY_ID", "_SECRET_ID"))


def _is_ordinary(value: str) -> bool:
    """Whether a value is words, numbers, a path, a host or a version: each piece letters, or digits, or short."""
    if value.startswith(("/", "~", "./", "../")):
        return True
    return all(
        piece.isalpha() or piece.isdigit() or len(piece) < _SHORT_PIECE for piece in _BETWEEN.split(value) if piece
    )


def _unquoted(value: str) -> str:
    value = value.strip()
    if value[:1] in {'"', "'"}:
        end = value.find(value[0], 1)
        return value[1:end] if end > 0 else value[1:]
    return re.split(r"\s#", value, maxsplit=1)[0].strip()


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))
