"""Secrets planted in real files: how many are masked, how many files without any are touched, how fast; hostile texts.

The real files are those of installed packages, of this system's documentation and of the data beside the checkout, as
they are when the test runs; nothing of them is kept. The secrets are made from their formats.
"""

from __future__ import annotations

import random
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.planted_secrets import KINDS, planted

from aircoding.screening.screener import TextScreener
from aircoding.sources.secret_scanner import installed_scanner

pytestmark = pytest.mark.bench

PLACES = (
    Path(sysconfig.get_path("purelib")),
    Path("/usr/share/doc"),
    Path("/usr/lib/python3/dist-packages"),
    Path("/etc"),
    Path(__file__).parents[3] / "shared" / "data",
)
SUFFIXES = frozenset(
    ".py .md .rst .txt .json .toml .yaml .yml .js .ts .html .css .cfg .ini .sh .h .conf .xml .sql".split()
)
FILES, A_KIND, MAX_BYTES = 1_500, 20, 400_000
LEAST_RECALL, MOST_TOUCHED, LEAST_MB_A_SECOND = 0.95, 0.02, 5.0
HOSTILE_CHARS = 4 << 20


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """Real texts by their path, as many from each place as there are."""
    found: dict[str, str] = {}
    draw = random.Random(20261130)
    for place in PLACES:
        paths = sorted(path for path in place.rglob("*") if path.suffix in SUFFIXES and not path.is_symlink())
        draw.shuffle(paths)
        texts = {str(path): text for path in paths[: 2 * FILES // len(PLACES)] if (text := read(path))}
        found |= dict(list(texts.items())[: FILES // len(PLACES)])
    assert len(found) >= FILES // 2
    return found


def read(path: Path) -> str | None:
    try:
        data = path.read_bytes()
        return data.decode() if len(data) <= MAX_BYTES and b"\0" not in data else None
    except (OSError, UnicodeDecodeError):
        return None


@pytest.fixture(params=["own rules", "with kingfisher"])
def screener(request: pytest.FixtureRequest) -> TextScreener:
    scanner = installed_scanner() if request.param == "with kingfisher" else None
    made = TextScreener(key=b"k", known_values=["correct-Horse/battery+7"], scanner=scanner)
    made.mask("a token of 1a2B3c4D5e6F7g8H9i0J")  # loads what it loads
    return made


def test_planted_secrets_are_masked(screener: TextScreener, files: dict[str, str]) -> None:
    hosts, draw, found = [text for text in files.values() if len(text) < 40_000], random.Random(1), {}
    for kind in KINDS:
        found[kind] = 0
        for one in planted(kind, A_KIND):
            lines = draw.choice(hosts).split("\n")
            lines.insert(draw.randrange(len(lines) + 1), one.line)
            found[kind] += one.value not in screener.mask("\n".join(lines))
    recall = sum(found.values()) / (len(KINDS) * A_KIND)
    weak = {kind: count for kind, count in found.items() if count < A_KIND}
    print(f"\n{len(KINDS)} kinds, {len(KINDS) * A_KIND} secrets: recall {recall:.3f}; not all of: {weak}")
    assert len(KINDS) >= 25
    assert recall >= LEAST_RECALL


def test_files_without_secrets_are_left_alone_at_speed(screener: TextScreener, files: dict[str, str]) -> None:
    began = time.process_time()
    touched = [path for path, text in files.items() if screener.mask(text) != text]
    took = time.process_time() - began
    size = sum(len(text.encode()) for text in files.values()) / 1e6
    print(f"\n{len(files)} files, {size:.1f} MB: {len(touched) / len(files):.2%} touched, {size / took:.1f} MB/s")
    assert len(touched) <= MOST_TOUCHED * len(files), touched
    assert size / took >= LEAST_MB_A_SECOND


def hostile() -> Iterator[tuple[str, str]]:
    token = next(iter(planted("github token", 1))).value
    for seed in (
        "a",
        " ",
        "ü",
        "ghp_",
        "AKIA",
        'api_key="',
        "://a:",
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJ" + "a" * 11 + ".",
        "A1b/",
        "0123456789abcdef",
        "machine a login ",
        "[REDACTED:a:",
        "[REDACTED:a:0123abcd]",
        "secret= ",
        "--token ",
        "basic ",
        "-u a:",
        "M" + "a" * 23 + ".",
        "correct-Horse/battery+",
        token + "\n",
        'password="Zx81!kk20PqL"\n',
    ):
        yield seed, seed
    yield "a key that never ends", "-----BEGIN PRIVATE KEY-----\n" + "A" * 1_000


def test_hostile_texts_take_time_in_proportion(screener: TextScreener) -> None:
    slow = {}
    for name, seed in hostile():
        took = []
        for size in (HOSTILE_CHARS // 8, HOSTILE_CHARS):
            text = (seed * (size // len(seed) + 1))[:size]
            began = time.process_time()
            screener.mask(text)
            took.append(time.process_time() - began)
        slow[name[:30]] = (round(took[1], 2), round(took[1] / max(took[0], 0.02), 1))
    print(f"\nseconds for 4 MiB, times an eighth: {dict(sorted(slow.items(), key=lambda one: -one[1][0])[:6])}")
    assert all(growth <= 16 for _, growth in slow.values()), slow
