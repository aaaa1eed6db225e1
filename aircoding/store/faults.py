"""Turn what the databases say into errors that name the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from aircoding.errors import NotFoundError, StoreError

__all__ = ["store_error", "translated"]

_FAULTS: tuple[tuple[str, str, str, str], ...] = (
    # (what the database says, code, what it means, the way out)
    (
        "file is not a database",
        "store.not_a_database",
        "is not a SQLite database",
        "Give another file, or move this one away and a new database is made.",
    ),
    (
        "malformed",
        "store.damaged",
        "is damaged",
        "Restore the newest `*.backup-*` beside it, or save what can be read with `sqlite3 FILE .recover`.",
    ),
    (
        "readonly database",
        "store.read_only",
        "cannot be written",
        "Check the owner and the mode of the file and its directory, or set AIR_DATABASE_URL to one that can be.",
    ),
    (
        "read-only transaction",
        "store.read_only",
        "cannot be written",
        "The server or the role is read-only; set AIR_DATABASE_URL to one that can be written.",
    ),
    (
        "unable to open database file",
        "store.unreachable",
        "cannot be opened",
        "Check that its directory exists and that you may write there.",
    ),
    (
        "disk is full",
        "store.full",
        "has no room left",
        "Free disk space and type it again; a run goes on with `aircoding resume`. All that was committed is kept.",
    ),
    (
        "no space left on device",
        "store.full",
        "has no room left",
        "Free disk space on the server and type it again; a run goes on with `aircoding resume`.",
    ),
    (
        "disk i/o error",
        "store.disk",
        "could not be read or written",
        "Look at the disk (`dmesg`), and keep the database off network file systems: WAL needs shared memory.",
    ),
    (
        "database is locked",
        "store.locked",
        "is held by another process",
        "Another process has been writing for over 30 seconds; end it, or try again.",
    ),
    (
        "lock timeout",
        "store.locked",
        "is held by another process",
        "Another process has been writing for long; end it, or try again.",
    ),
    (
        "no such table",
        "store.schema",
        "lacks a table of this program",
        "Run `aircoding db upgrade`.",
    ),
    (
        "does not exist",
        "store.schema",
        "lacks what this program needs",
        "Create the database, then run `aircoding db upgrade`.",
    ),
    (
        "password authentication failed",
        "store.refused",
        "refused the login",
        "Check the user and the password in AIR_DATABASE_URL.",
    ),
    (
        "permission denied",
        "store.refused",
        "refused the act",
        "Grant the role of AIR_DATABASE_URL CREATE and USAGE on the schema.",
    ),
    (
        "connection",
        "store.unreachable",
        "cannot be reached",
        "Check that the server runs and that host and port in AIR_DATABASE_URL are right.",
    ),
)


def store_error(error: SQLAlchemyError, where: str) -> StoreError:
    """Return the error for the person.

    Args:
        error: what SQLAlchemy raised.
        where: the database by a name that carries no password.
    """
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said = " ".join(str(cause).split())
    for words, code, meaning, hint in _FAULTS:
        if words in said.lower():
            return StoreError(f"The database {where} {meaning}: {said}", hint=hint, code=code)
    return StoreError(f"The database {where} failed: {said}", hint="See `aircoding doctor`.", code="store.failed")


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raise StoreError for whatever SQLAlchemy raises inside.

    Who asks for a name of bytes that are no UTF-8 is told that nothing has it: no row does.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise NotFoundError(
            f"nothing on record is named {str(error.object)[:200]}: it is no valid UTF-8",
            hint="type the name as the record shows it",
        ) from error
    except SQLAlchemyError as error:
        raise store_error(error, where) from error
