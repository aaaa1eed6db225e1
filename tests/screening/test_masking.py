"""Secrets are masked once, alike under one key, and put back only where they came from."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.ports import Screener
from aircoding.screening.markers import MARKER
from aircoding.screening.screener import TextScreener

KNOWN = "correct-Horse/battery+7"
SCREENER: Screener = TextScreener(key=b"test key", known_values=[KNOWN, "short"])

# Put together at run time: no text of this repository looks like a secret.
BODY = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ2bC4dF6hJ8"
SECRETS = {
    "private_key": "-----BEGIN RSA PRIVATE KEY-----\n" + (BODY + BODY + "\n") * 3 + "-----END RSA PRIVATE KEY-----",
    "anthropic_key": "sk-" + "ant-api03-" + BODY,
    "openai_key": "sk-" + "proj-" + BODY,
    "github_token": "gh" + "p_" + BODY,
    "gitlab_token": "glpat" + "-" + BODY[:20],
    "aws_key_id": "AKIA" + "ABCDEFGH23456789",
    "google_key": "AI" + "za" + BODY[:35],
    "slack_token": "xo" + "xb-123456789012-" + BODY[:24],
    "stripe_key": "sk" + "_live_" + BODY[:24],
    "package_token": "npm" + "_" + BODY,
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + BODY,
    "known": KNOWN,
}
ASSIGNED = [
    "DB_PASSWORD=" + "h7Kq-29fLw!x",
    "api_key: '" + "9f8e7d6c5b4a39281706" + "'",
    'client_secret = "' + "Zx81!kk20PqL" + '"',
    "export AUTH_TOKEN=" + BODY,
    '{"access_key": "' + BODY[:24] + '"}',
    "aws_secret_access_key = " + BODY + "/a+1",
]
BENIGN = [
    "max_tokens: 4096",
    "tokenizer = AutoTokenizer.from_pretrained('gpt2')",
    "token = os.environ['GITHUB_TOKEN']",
    "password: changeme",
    'password = "example-password-1"',
    "secret_name = database-credentials-v2",
    "api_key=${API_KEY}",
    "api_key = 'your-api-key-here-1'",
    "Authorization: Bearer <token>",
    "postgres://user:password@localhost/db",
    "https://example.com:8080/path@2",
    "if line.startswith('-----BEGIN PRIVATE KEY-----'): return parse(line)",
    "commit 9f8e7d6c5b4a392817060f1e2d3c4b5a69788796",
    "sha256:9f8e7d6c5b4a392817060f1e2d3c4b5a697887969f8e7d6c5b4a392817060f1e",
    "token_digest = '9f8e7d6c5b4a39281706'",
    "def check_password(self, candidate: str) -> bool:",
    "sk-learn is scikit-learn, not a key-of-any-kind-at-all",
]


@pytest.mark.parametrize("kind", SECRETS)
def test_each_kind_is_masked_whole_and_named(kind: str) -> None:
    masked = SCREENER.mask(f"before {SECRETS[kind]} after\n")
    assert MARKER.fullmatch(masked.removeprefix("before ").removesuffix(" after\n"))
    assert f":{kind}:" in masked


@pytest.mark.parametrize("text", ASSIGNED)
def test_assigned_values_are_masked_and_their_names_stay(text: str) -> None:
    masked = SCREENER.mask(text)
    name = text.partition("=")[0].partition(":")[0]
    assert masked.startswith(name)
    assert MARKER.search(masked)


def test_passwords_in_urls_and_bearer_tokens_are_masked() -> None:
    url = "postgres://app:" + "s3cr3t-9" + "@db.internal/x"
    assert SCREENER.mask(url).startswith("postgres://app:[REDACTED:url_password:")
    assert SCREENER.mask(url).endswith("@db.internal/x")
    assert "[REDACTED:bearer:" in SCREENER.mask("Authorization: Bearer " + BODY)


@pytest.mark.parametrize("text", BENIGN)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert SCREENER.mask(text) == text


def test_known_values_are_masked_in_every_form() -> None:
    for form in (KNOWN, quote(KNOWN, safe=""), base64.b64encode(KNOWN.encode()).decode()):
        assert "[REDACTED:known:" in SCREENER.mask(f"x={form};")
        assert form not in SCREENER.mask(f"x={form};")
    assert SCREENER.mask("a short word") == "a short word"


def test_equal_secrets_have_equal_ids_under_one_key_only() -> None:
    text = f"{KNOWN} {KNOWN}"
    first, second = MARKER.findall(SCREENER.mask(text))
    assert first == second
    assert TextScreener(key=b"another", known_values=[KNOWN]).mask(KNOWN) != SCREENER.mask(KNOWN)


def test_an_edit_gets_its_own_secret_back() -> None:
    original = f"key = '{SECRETS['github_token']}'\nother = 1\n"
    edit = SCREENER.mask(original).replace("other = 1", "other = 2")
    assert SCREENER.restore(edit, original) == original.replace("other = 1", "other = 2")


def test_a_marker_of_another_file_is_refused() -> None:
    foreign = SCREENER.mask(SECRETS["github_token"])
    assert SCREENER.restore(f"x = {foreign}", "x = 1\n") is None


def test_a_marker_that_stands_in_the_file_as_text_stays() -> None:
    original = "docs say [REDACTED:jwt:01234567]\n"
    assert SCREENER.restore("we say [REDACTED:jwt:01234567]\n", original) == "we say [REDACTED:jwt:01234567]\n"


def test_a_marker_that_could_be_text_or_secret_is_refused() -> None:
    marker = SCREENER.mask(KNOWN)
    original = f"{marker} {KNOWN}"
    assert SCREENER.restore(f"new {marker}", original) is None
    assert SCREENER.restore(SCREENER.mask(original), original) == original


PIECES = st.sampled_from(
    [
        *SECRETS.values(),
        *ASSIGNED,
        *BENIGN,
        "[REDACTED:known:",
        "[REDACTED:jwt:0123abcd]",
        ":deadbeef]",
        "password=",
        '"',
        "'",
        "token: ",
        "://a:",
        "@",
        "Bearer ",
        "\n",
        " ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "x",
        "]",
        "[",
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12).map("".join)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_masking_is_idempotent_bounded_and_undone(text: str) -> None:
    masked = SCREENER.mask(text)
    assert SCREENER.mask(masked) == masked
    assert len(masked) <= 16 * len(text)
    assert KNOWN not in masked
    assert SCREENER.restore(masked, text) == text


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_what_is_restored_masks_to_what_was_given(text: str, original: str) -> None:
    """A restored text holds no marker that the original did not hold, and no secret that was not the original's."""
    restored = SCREENER.restore(text, original)
    if restored is not None:
        literal = set(MARKER.findall(original))
        assert set(MARKER.findall(restored)) <= literal


def test_a_name_in_the_place_of_a_value_hides_no_secret() -> None:
    masked = SCREENER.mask("token: aws_secret_access_key = aB3dE5gH7jK9mN1pQ3sT5vW7yZ2bC4dF6hJ8/a+1")
    assert masked.startswith("token: aws_secret_access_key = [REDACTED:")


def test_what_looks_like_the_end_of_a_marker_hides_no_secret() -> None:
    secret = "sk-ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7yZ2bC4dF6hJ8"
    for before in (":deadbeef]", "x:deadbeef]", "AUTH_TOKEN=aB3dE5gH7jK9mN1pQ3sT5vW7yZ2bC4dF6hJ8:deadbeef]"):
        masked = SCREENER.mask(before + secret)
        assert secret not in masked
        assert SCREENER.mask(masked) == masked
        assert SCREENER.restore(masked, before + secret) == before + secret
