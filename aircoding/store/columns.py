"""Column types that mean the same on SQLite and PostgreSQL, and the one way in which rows are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError, create_model
from sqlalchemy import CheckConstraint, Double, Index, Integer, LargeBinary, Table, Text
from sqlalchemy import text as sql
from sqlalchemy.types import REAL
from sqlmodel import Field, SQLModel

from aircoding.errors import InternalError
from aircoding.store.column_types import Flag, HexDigest, Moment, Places, Usual, Word

__all__ = [
    "data",
    "flag",
    "hex_digest",
    "json_column",
    "json_is_valid",
    "moment",
    "number",
    "partial_index",
    "places_column",
    "real",
    "row",
    "rows",
    "strict",
    "table_of",
    "text",
    "usual",
    "word",
]

Model = TypeVar("Model", bound=SQLModel)

REAL_NUMBER: Any = Double().with_variant(REAL(), "sqlite")
"""Eight bytes on both: STRICT tables of SQLite know REAL only, and PostgreSQL's REAL has four bytes."""


def text(**options: Any) -> Any:
    """Return a text column."""
    return Field(sa_type=Text, **options)


def hex_digest(**options: Any) -> Any:
    """Return a column of digests, which are hexadecimal to whoever reads them and bytes in the table."""
    return Field(sa_type=HexDigest, **options)


def json_column(**options: Any) -> Any:
    """Return a column of JSON as text: encoded before it gets here, and replaced, never changed in place."""
    return Field(sa_type=Text, **options)


def places_column(**options: Any) -> Any:
    """Return a column of JSON as text whose pointers into a request are shortened in the table."""
    return Field(sa_type=Places, **options)


def word(words: tuple[str, ...], **options: Any) -> Any:
    """Return a column that holds one of some words, which stands as its place among them."""
    return Field(sa_type=Word(words), **options)


def usual(usual_text: str, **options: Any) -> Any:
    """Return a text column in which one text stands as null."""
    return Field(sa_type=Usual(usual_text), nullable=True, **options)


def moment(**options: Any) -> Any:
    """Return a column of times (RFC 3339), which stand as microseconds since 1970."""
    return Field(sa_type=Moment, **options)


def number(**options: Any) -> Any:
    """Return an integer column."""
    return Field(sa_type=Integer, **options)


def real(**options: Any) -> Any:
    """Return a column of eight-byte floats."""
    return Field(sa_type=REAL_NUMBER, **options)


def flag(**options: Any) -> Any:
    """Return a boolean column."""
    return Field(sa_type=Flag, **options)


def data(**options: Any) -> Any:
    """Return a column of bytes."""
    return Field(sa_type=LargeBinary, **options)


def json_is_valid(table: str, column: str) -> CheckConstraint:
    """Return a check that a column holds JSON; only SQLite has `json_valid`."""
    return CheckConstraint(f"{column} IS NULL OR json_valid({column})", name=f"ck_{table}_{column}_json").ddl_if(
        dialect="sqlite"
    )


def partial_index(name: str, column: str, *, where: str) -> Index:
    """Return an index over the rows for which `where` holds, on both databases."""
    return Index(name, column, sqlite_where=sql(where), postgresql_where=sql(where))


def strict(*, rowid: bool = True) -> dict[str, Any]:
    """Return the table options: SQLite checks types on write, as PostgreSQL always does.

    `rowid=False` keeps the rows in the tree of their primary key, which saves small ones a second.
    """
    return {"sqlite_strict": True} if rowid else {"sqlite_strict": True, "sqlite_with_rowid": False}


def table_of(model: type[SQLModel]) -> Table:
    """Return the core table of a model."""
    table: Table = model.__table__  # type: ignore[attr-defined]  # set by SQLModel for table=True
    return table


def row(model: type[Model], /, **values: Any) -> dict[str, Any]:
    """Return one validated row for a core insert.

    A table model does not validate in its constructor, so every row goes through a plain model of the same fields.
    Text that no database can hold (NUL, lone surrogates) is replaced by U+FFFD.

    Raises:
        InternalError: a value is not of its column's kind.
    """
    clean = {name: _storable(value) if isinstance(value, str) else value for name, value in values.items()}
    try:
        valid = _plain_model(model).model_validate(clean)
    except ValidationError as error:
        raise InternalError(f"A row of {model.__tablename__} is not valid: {error}") from error
    return {name: getattr(valid, name) for name in values}


@cache
def _plain_model(model: type[SQLModel]) -> type[BaseModel]:
    """Return a model that only validates: a table model is an object of the ORM as well, which costs ten times more."""
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in model.model_fields.items()}
    return create_model(model.__name__, **fields)


def rows(model: type[Model], values: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return validated rows for one batch insert."""
    return [row(model, **each) for each in values]


def _storable(value: str) -> str:
    if "\x00" in value:
        value = value.replace("\x00", "\ufffd")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return value
