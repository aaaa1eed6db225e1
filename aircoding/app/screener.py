"""The screener of this installation, for one project."""

from __future__ import annotations

from aircoding.app.policies import Policies
from aircoding.app.project import Project
from aircoding.screening.screener import TextScreener
from aircoding.sources.installation import installation_key

__all__ = ["open_screener"]


def open_screener(project: Project, policies: Policies) -> TextScreener:
    """Return a screener that also masks the values of variables that the policy names."""
    return TextScreener(key=installation_key(project.home), known_values=policies.masked_values)
