"""`curl` and `wget`: what they fetch, where they put it, and whether they do more than get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aircoding.permissions.shell_words import Word, static_word
from aircoding.permissions.uses import Uses

__all__ = ["CLIENTS", "client_uses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Client:
    """Options that only get; every other one asks, and those of `asks` take a value.

    `saves` says that the client writes a file without being told to.
    """

    flags: frozenset[str]
    values: frozenset[str]
    writes: frozenset[str]
    own_name: frozenset[str]
    asks: frozenset[str]
    saves: bool
    proxies: frozenset[str] = frozenset()
    """Options whose value is a host that everything goes to."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLIENTS: dict[str, _Client] = {
    "curl": _Client(
        flags=_set(
            "-f -s -S -v -i -I -N -# -4 -6 --fail --silent --show-error --verbose --include --head --compressed "
            "--no-buffer --progress-bar --no-progress-meter --http1.1 --http2 --tlsv1.2 --tlsv1.3 --ipv4 --ipv6 "
            "--fail-with-body"
        ),
        values=_set("-m --max-time --connect-timeout --retry --retry-delay -A --user-agent -r --range --max-filesize"),
        writes=_set("-o --output --output-dir -D --dump-header"),
        own_name=_set("-O --remote-name"),
        asks=_set(
            "-d --data --data-raw --data-binary --data-ascii --data-urlencode --json -F --form --form-string -T "
            "--upload-file -u --user -b --cookie -c --cookie-jar -K --config -x --proxy -e --referer -E --cert --key "
            "--cacert --resolve --connect-to -w --write-out --interface --unix-socket --proto --proto-redir -Y -y -z "
            "-t --netrc-file --preproxy --socks5 --doh-url"
        ),
        saves=False,
        proxies=_set("-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --proxy1.0 --doh-url"),
    ),
    "wget": _Client(
        flags=_set("-q -v -S -c -4 -6 --quiet --verbose --no-verbose --server-response --spider --continue"),
        values=_set("-T --timeout -t --tries -U --user-agent"),
        writes=_set("-O --output-document -P --directory-prefix -o --output-file"),
        own_name=frozenset(),
        asks=_set(
            "--post-data --post-file --body-data --body-file --method --header -e --execute -i --input-file -B --base "
            "--load-cookies --save-cookies --user --password --config --use-askpass --proxy-user --referer "
            "--max-redirect"
        ),
        saves=True,
    ),
}
"""Network clients whose options are known here."""

_NESTED = frozenset("{}[]")


def client_uses(name: str, words: Sequence[Word]) -> Uses:
    """Return what a client uses: every operand is a URL, with or without a scheme."""
    client, uses = CLIENTS[name], Uses()
    saves, place = client.saves, 1
    while place < len(words):
        word = words[place]
        text = word.value if word.value is not None else word.prefix
        place += 1
        if word.value == "--":
            uses.urls += words[place:]
            break
        if not text.startswith("-") or text == "-":
            uses.urls.append(word)
            continue
        for option, attached in _options(client, text, dynamic=word.value is None):
            following = words[place] if place < len(words) else None
            takes, known = _option(client, option, attached, following, uses)
            saves = (saves or option in client.own_name) and option not in client.writes
            if takes and attached is None:
                place += 1
            if not known:
                uses.doubts.append(f"`{name} {option}` may send data, or go elsewhere than the address says")
    if saves:
        uses.paths += [(static_word(_own_name(url)), "write") for url in uses.urls]
    if any(_NESTED & set(url.value or "") for url in uses.urls):
        uses.doubts.append("the address stands for several")
    return uses


def _options(client: _Client, text: str, *, dynamic: bool) -> list[tuple[str, str | None]]:
    """Return the options of one word, each with the value that hangs on it."""
    if dynamic:
        return [(text, "")]
    if text.startswith("--"):
        name, assigned, value = text.partition("=")
        return [(name, value if assigned else None)]
    found: list[tuple[str, str | None]] = []
    for number, letter in enumerate(text[1:], 2):
        option = f"-{letter}"
        if option in client.flags or option in client.own_name:
            found.append((option, None))
            continue
        return [*found, (option, text[number:] or None)]
    return found


def _option(
    client: _Client, option: str, attached: str | None, following: Word | None, uses: Uses
) -> tuple[bool, bool]:
    """Return whether an option takes a value, and whether it is known to only get."""
    value = static_word(attached) if attached is not None else following
    if option in client.flags or option in client.own_name:
        return False, True
    if option in client.writes:
        if value is not None and value.value != "-":
            uses.write(value)
        return True, True
    if option in client.values:
        return True, value is None or value.value is not None
    if option == "--url" or option in client.proxies:
        if value is not None:
            uses.urls.append(value)
        return True, option == "--url"
    if option in {"-X", "--request"}:
        return True, value is not None and (value.value or "").upper() in {"GET", "HEAD"}
    if option in client.asks:
        if value is not None:
            uses.paths += [(word, "read") for word in _sent_files(value)]
        return True, False
    if option in {"-H", "--header"}:
        return True, value is not None and value.value is not None and not value.value.startswith("@")
    return False, False


def _sent_files(value: Word) -> list[Word]:
    """Return the files whose content a value names: `@FILE`, `name=@FILE`, or the value itself."""
    text = value.value if value.value is not None else value.prefix
    name, at, path = text.partition("@")
    if at and (not name or name.endswith(("=", "<"))):
        return [static_word(path)] if value.value is not None else [value]
    return [] if "=" in text or ":" in text else [value]


def _own_name(url: Word) -> str:
    text = (url.value if url.value is not None else url.prefix).split("?")[0].split("#")[0]
    name = text.rstrip("/").rpartition("/")[2]
    return name if name and "://" not in text[-len(name) - 3 :] else "index.html"
