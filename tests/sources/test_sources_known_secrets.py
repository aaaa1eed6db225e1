"""What counts as a secret that the program knows: by the name of its variable, by its look in a `.env` file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aircoding.sources.known_secrets import dotenv_secrets, environment_secrets, settings_secrets, url_passwords


@pytest.mark.parametrize(
    "name",
    "API_KEY GITHUB_TOKEN DB_PASSWORD PGPASSWORD MY_SECRET NPM_AUTH CI_JOB_TOKEN AWS_ACCESS_KEY_ID "
    "aws_secret_access_key GH_PAT SIGNING_KEY_2 APIKEY".split(),
)
def test_variables_that_are_secrets_by_their_name(name: str) -> None:
    assert environment_secrets({name: "value-of-it"}) == ("value-of-it",)


@pytest.mark.parametrize(
    "name", "PWD OLDPWD HOME LANG KEYBOARD TOKENIZER SSH_KEY_PATH SECRET_NAME KEY_FILE PATH MONKEY AUTHOR".split()
)
def test_variables_that_are_none(name: str) -> None:
    assert environment_secrets({name: "value-of-it"}) == ()


def test_a_variable_that_the_policy_names_always_is_and_a_path_by_its_name_alone_is_not() -> None:
    assert environment_secrets({"SOCKET": "/tmp/x", "GPG_KEY": "/home/u/key"}, ["SOCKET"]) == ("/tmp/x",)


def test_passwords_of_urls_are_known_as_they_stand_and_decoded() -> None:
    url = "postgresql://app:p%40ss-word@db.internal/x"
    assert tuple(url_passwords(url)) == ("p%40ss-word", "p@ss-word")
    assert environment_secrets({"DATABASE": url}) == ("p%40ss-word", "p@ss-word")


def test_dotenv_files_are_read_and_their_examples_are_not(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# a comment\n"
        "NODE_ENV=production\nHOST=localhost:8080\nREGION=eu-central-1\nLOG=/var/log/app.log\nURL=https://a.example/x\n"
        "export DB_PASSWORD='simple words'\nODD=Zx81kk20PqL # why\nQUOTED=\"a b7c8d9e0 #1\"\nEMPTY=\nno assignment\n"
        "DATABASE_URL=mysql://root:hunter2hunter2@db/x\n",
        encoding="utf-8",
    )
    (tmp_path / ".env.local").write_text("LOCAL_TOKEN=local-token-value\n", encoding="utf-8")
    (tmp_path / ".envrc").write_text("export RC_KEY=rc-key-value\n", encoding="utf-8")
    (tmp_path / ".env.example").write_text("API_TOKEN=an-example-value\n", encoding="utf-8")
    assert dotenv_secrets(tmp_path) == (
        "simple words",
        "Zx81kk20PqL",
        "a b7c8d9e0 #1",
        "hunter2hunter2",
        "local-token-value",
        "rc-key-value",
    )


def test_a_dotenv_file_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    os.symlink("/etc/hostname", tmp_path / ".env")
    (tmp_path / ".env.dir").mkdir()
    assert dotenv_secrets(tmp_path) == ()
    assert dotenv_secrets(tmp_path / "nowhere") == ()


def test_settings_are_judged_as_the_lines_of_a_dotenv_file() -> None:
    assert settings_secrets({"API_TOKEN": "words", "MODE": "testing", "SALT": "a8f5f167f44f"}) == (
        "words",
        "a8f5f167f44f",
    )
