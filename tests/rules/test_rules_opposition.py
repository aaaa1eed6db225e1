"""Which directives contradict, both ways round, and which do not; and that any pair can be asked."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.rules.directives import Directive, directives_in
from aircoding.rules.opposition import agree, contradiction, subject_sides

CONTRADICT = [
    ("Always run the linter before committing.", "Never run the linter before committing."),
    ("Always use semicolons.", "Do not use semicolons."),
    ("Use semicolons at the end of statements", "Never use semicolons at the end of statements"),
    ("Prefer async/await over callbacks.", "Use callbacks."),
    ("Use async/await instead of promises", "Prefer promises over async/await."),
    ("Use UTC for timestamps.", "Use local time for timestamps."),
    ("Use snake_case for variable names.", "Use camelCase for variable names."),
    ("Use PostgreSQL as the database.", "Use MySQL as the database."),
    ("Always squash commits before merging", "Never squash commits before merging"),
    ("Use Python 3.11", "Use Python 3.12"),
    ("Use jest for unit tests", "Use vitest for unit tests"),
    ("Never mock the database.", "Always mock the database."),
    ("Don't add comments.", "Add comments."),
    ("Do not add comments to the code", "Always add comments to the code."),
    ("Avoid inheritance.", "Prefer inheritance."),
    ("Never force-push.", "Always force-push."),
    ("Must use type hints in all functions", "Must not use type hints in all functions"),
    ("Use LF line endings", "Use CRLF line endings"),
    ("Prefer tabs over spaces", "Use spaces"),
    ("Prefer tabs over spaces.", "Prefer spaces over tabs for indentation."),
    ("Use absolute imports.", "Use relative imports."),
    ("Prefer absolute imports over relative imports.", "Use relative imports."),
    ("Use default exports.", "Never use default exports."),
    ("Commit directly to main.", "Never commit directly to main."),
    ("Limit lines to 100 characters.", "Limit lines to 80 characters."),
    ("Use yarn.", "Use npm."),
    ("Always use `yarn`, never `npm`.", "Use `npm` to install packages."),
    ("Use 'single quotes'", "Use double quotes"),
    ("Use REST for the public API", "Use GraphQL for the public API"),
    ("Use Redux for state management", "Use Zustand for state management"),
    ("Log with structlog.", "Do not log with structlog"),
    ("Do not edit generated files.", "Edit generated files."),
    ("Throw exceptions for errors", "Never throw exceptions for errors"),
    ("Write commit messages in English.", "Write commit messages in German."),
    ("Always write tests first.", "Don't write tests first."),
    ("Answer in English.", "Answer in German."),
    ("Tabs must be used for indentation", "Spaces must be used for indentation"),
    ("Use the staging server for integration runs", "Never use the staging server for integration runs"),
    ("No default exports.", "Use default exports."),
    ("Please do not use emojis.", "Use emojis."),
    ("Use pnpm", "Please use npm as the package manager"),
    ("Use conventional commits.", "Do not use conventional commits."),
    ("Never push directly to main.", "Push directly to main."),
    ("Always rebase feature branches.", "Never rebase feature branches."),
    ("Prefer functional components over class components.", "Use class components."),
    ("Use `unittest`, not `pytest`.", "Use pytest."),
]

STAND_TOGETHER = [
    ("Use pytest for unit tests", "Use playwright for end-to-end tests"),
    ("Always write tests for new features", "Never write tests for generated code"),
    ("Use tabs in Makefiles", "Use spaces in Python files"),
    ("Use Postgres in production", "Use SQLite in development"),
    ("Never commit secrets", "Always commit lock files"),
    ("Use async for I/O", "Do not use async for CPU work"),
    ("Always use HTTPS", "Use HTTP only for localhost"),
    ("Prefer small functions", "Avoid large functions"),
    ("Prefer pathlib over os.path", "Avoid os.path"),
    ("Use logging instead of print", "Use logging for errors"),
    ("Avoid global state", "Use dependency injection"),
    ("Use TypeScript for frontend code", "Use Python for backend code"),
    ("Use React for the frontend", "Use Tailwind for the frontend"),
    ("Never use any", "Use unknown instead of any"),
    ("Use const by default", "Use let when reassigning"),
    ("Do not use var", "Use let or const"),
    ("Keep functions under 50 lines", "Keep files under 400 lines"),
    ("Keep functions under 40 lines", "Keep lines under 100 characters"),
    ("Use npm ci in CI", "Use npm install locally"),
    ("Always run tests before pushing", "Do not run slow tests before pushing"),
    ("Use English for comments", "Use German for user-facing text"),
    ("Use two approvals for releases", "Use one approval for docs"),
    ("Never delete migrations", "Always delete temporary files"),
    ("Prefer composition over inheritance", "Use composition for plugins"),
    ("Use Docker for deployment", "Use Kubernetes for orchestration"),
    ("Do not add dependencies without approval", "Add dependencies with `uv add`"),
    ("Do not log secrets", "Log errors"),
    ("Use pytest fixtures for setup", "Use factories for setup"),
    ("Use ruff for formatting", "Use mypy for type checking"),
    ("Avoid mocks in integration tests", "Use mocks in unit tests"),
    ("Use 4 spaces for Python", "Use 2 spaces for YAML"),
    ("Use single quotes for strings", "Use double quotes for docstrings"),
    ("Use kebab-case for file names", "Use PascalCase for class names"),
    ("Never push to main", "Push to a feature branch"),
    ("Use the `src` layout", "Use the `tests` folder for tests"),
    ("Use black for formatting", "Use isort for imports"),
    ("Do not use print in library code", "Use print in scripts"),
    ("Always use the logger", "Never use the root logger"),
    ("Use f-strings", "Use % formatting for logging"),
    ("Use git for version control", "Use git for version control, and GitHub for reviews"),
    ("Prefer Postgres", "Use Redis for caching"),
    ("Use threads for I/O bound work", "Use processes for CPU bound work"),
    ("Use Python 3.11 for the server", "Use Python 3.12 for scripts"),
    ("Avoid comments that repeat the code", "Add comments that say why"),
    ("Use camelCase in JavaScript", "Use snake_case in Python"),
    ("Use httpx for async HTTP requests", "Use requests for sync HTTP requests"),
    ("Don't commit to main without a review", "Commit to main after a review"),
    ("Use rebase for feature branches", "Use merge commits for release branches"),
    ("Use environment variables for secrets", "Use config files for settings"),
    ("Use an ORM", "Use raw SQL for reports"),
]


def only(text: str) -> Directive:
    (found,) = directives_in(text)
    return found


def meet(one: Directive, other: Directive) -> bool:
    """Whether two directives stand on different sides of a subject."""
    first, second = subject_sides(one), subject_sides(other)
    return any(first[key] != second[key] for key in first.keys() & second.keys())


def contradicts(one: str, other: str) -> bool:
    return any(
        contradiction(first, second, one_text=False) is not None
        for first in directives_in(one)
        for second in directives_in(other)
    )


@pytest.mark.parametrize(("one", "other"), CONTRADICT)
def test_what_contradicts_does_so_both_ways_on_a_shared_subject(one: str, other: str) -> None:
    assert contradicts(one, other)
    assert contradicts(other, one)
    assert any(meet(first, second) for first in directives_in(one) for second in directives_in(other))


@pytest.mark.parametrize(("one", "other"), STAND_TOGETHER)
def test_what_stands_together_is_no_contradiction(one: str, other: str) -> None:
    assert not contradicts(one, other)
    assert not contradicts(other, one)


def test_a_wish_for_everything_covers_a_part_and_a_wish_for_a_part_does_not_cover_everything() -> None:
    whole, part = only("Use tabs for indentation."), only("## Python\n\nUse spaces for indentation.")

    assert contradiction(whole, part, one_text=False) is None
    assert contradiction(whole, part, one_text=False, covers=True) == "indentation"
    assert contradiction(part, whole, one_text=False, covers=True) is None


def test_two_values_side_by_side_in_one_text_are_meant_so() -> None:
    one, other = only("Use celery for background jobs."), only("Use cron for background jobs.")

    assert contradiction(one, other, one_text=True) is None
    assert contradiction(one, other, one_text=False) == "background job"


def test_agreement_is_in_other_words_too() -> None:
    assert agree(only("Always use tabs."), only("Use tabs for indentation."))
    assert not agree(only("Never use tabs."), only("Use tabs for indentation."))


_TEXTS = st.sampled_from([text for pair in (*CONTRADICT, *STAND_TOGETHER) for text in pair])


@given(_TEXTS, _TEXTS, st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_contradiction_is_one_from_both_sides_and_has_a_subject(one: str, other: str, one_text: bool) -> None:
    for first in directives_in(one):
        for second in directives_in(other):
            found = contradiction(first, second, one_text=one_text)
            assert (found is None) == (contradiction(second, first, one_text=one_text) is None)
            assert found is None or meet(first, second)
