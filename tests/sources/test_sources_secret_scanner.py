"""The second finder of secrets: used where it is installed, loaded when a text could hold a token, equal each time."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from support.planted_secrets import planted

from aircoding.screening.screener import TextScreener
from aircoding.sources.secret_scanner import (
    KingfisherScanner,
    could_hold_token,
    installed_scanner,
    scanner_version,
)

TOKEN = next(iter(planted("github token", 1))).value


@pytest.fixture(scope="module")
def scanner() -> KingfisherScanner:
    found = installed_scanner()
    assert found is not None, "the development install has it"
    return found


def test_it_finds_a_token_at_its_place_among_any_characters(scanner: KingfisherScanner) -> None:
    for before in ("", "é💥\ud800", "\ufeff", "a\0b"):
        text = f"{before} {TOKEN}\n{TOKEN}"
        found = sorted((span.start, span.end) for span in scanner.find(text))
        start = len(before) + 1
        assert found == [(start, start + len(TOKEN)), (start + len(TOKEN) + 1, len(text))]
        assert all(span.kind.startswith("github_") for span in scanner.find(text))


def test_no_remark_in_a_file_hides_a_secret(scanner: KingfisherScanner) -> None:
    for remark in ("# kingfisher:ignore", "# gitleaks:allow", "// betterleaks:allow", "# nosec"):
        assert scanner.find(f"{TOKEN} {remark}\n")


def test_masking_with_it_is_idempotent_and_undone(scanner: KingfisherScanner) -> None:
    screener = TextScreener(key=b"k", scanner=scanner)
    for kind in ("slack webhook", "jwt", "rsa private key", "password in a url", "azure storage key"):
        for one in planted(kind, 5):
            masked = screener.mask(f"a\n{one.line}\nb\n")
            assert one.value not in masked
            assert screener.mask(masked) == masked
            assert screener.restore(masked, f"a\n{one.line}\nb\n") == f"a\n{one.line}\nb\n"


def test_several_threads_get_the_same() -> None:
    scanner, found = KingfisherScanner(), []
    threads = [threading.Thread(target=lambda: found.append(tuple(scanner.find(TOKEN)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


@pytest.mark.parametrize(
    "text",
    [
        "def a_long_name_of_a_function_without_digits(): pass",
        "commit 9f8e7d6c5b4a392817060f1e2d3c4b5a69788796",
        "version 2026.11.30-1234567890123",
        "",
    ],
)
def test_it_is_not_loaded_for_what_can_hold_no_token(text: str) -> None:
    scanner = KingfisherScanner()
    assert scanner.find(text) == []
    assert not scanner.loaded


@pytest.mark.parametrize(
    "kind", ["github token", "aws access key id", "datadog key", "twilio key", "telegram bot token"]
)
def test_what_could_be_a_token_is_looked_at(kind: str) -> None:
    assert all(could_hold_token(one.line) for one in planted(kind, 20))


def test_nothing_of_it_is_imported_to_know_that_it_is_there() -> None:
    code = (
        "import sys; from aircoding.sources.secret_scanner import installed_scanner, scanner_version;"
        "assert installed_scanner() and scanner_version();"
        "assert not any(name.startswith('kingfisher_sdk') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_package_there_is_none() -> None:
    code = (
        "import sys; sys.modules['kingfisher_sdk'] = None; import importlib.util as u; find = u.find_spec;"
        "u.find_spec = lambda name, *more: None if name == 'kingfisher_sdk' else find(name, *more);"
        "from aircoding.sources.secret_scanner import installed_scanner, scanner_version;"
        "assert installed_scanner() is None and scanner_version() is None"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_its_version_is_told() -> None:
    version = scanner_version()
    assert version is not None
    assert version.startswith("1.")
