"""The screener of this installation: for one project, or for what the user does outside of any."""

from __future__ import annotations

import os
from collections.abc import Iterable

from aircoding.app.policies import Policies
from aircoding.app.project import Project
from aircoding.errors import UsageError
from aircoding.homes import user_home
from aircoding.screening.known_values import KnownValues
from aircoding.screening.screener import TextScreener
from aircoding.sources.allowances import allowances_for
from aircoding.sources.installation import installation_key
from aircoding.sources.known_secrets import dotenv_secrets, environment_secrets, settings_secrets, url_passwords
from aircoding.sources.secret_scanner import installed_scanner

__all__ = ["open_screener", "require_without_secret", "user_screener"]


def open_screener(project: Project, policies: Policies) -> TextScreener:
    """Return a screener that also masks every secret value that the environment, the settings and `.env` files hold.

    Its user may let texts pass.

    Raises:
        ConfigError: what the user allowed cannot be read.
    """
    return TextScreener(
        key=installation_key(project.home),
        known_values=_known(project, policies.masked_names),
        scanner=installed_scanner(),
        allowed=allowances_for(project.home, project.root, user_home()),
    )


def require_without_secret(project: Project, text: str, *, what: str) -> None:
    """Refuse a text of the user that would be on record as it stands: masked it could not be carried out.

    Raises:
        UsageError: it holds a secret value that this machine knows.
    """
    found = KnownValues(_known(project, ())).find(text)
    if found:
        raise UsageError(
            f"{what}, line {text.count(chr(10), 0, found[0].start) + 1}: holds a secret of this environment or of .env",
            hint="name the variable that holds it, such as $NAME: the value would be on record and in prompts",
            code="plan.secret",
        )


def _known(project: Project, named: Iterable[str]) -> tuple[str, ...]:
    return (
        *environment_secrets(os.environ, named),
        *settings_secrets(project.settings.worktree.env),
        *url_passwords(project.database),
        *dotenv_secrets(project.root),
    )


def user_screener(key: bytes) -> TextScreener:
    """Return a screener for texts of no project: it knows the secrets of the environment."""
    return TextScreener(key=key, known_values=environment_secrets(os.environ), scanner=installed_scanner())
