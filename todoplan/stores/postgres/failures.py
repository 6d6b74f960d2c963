"""
Errors of PostgreSQL and the network, turned into a StoreError.

The message says what happened, whether anything was written, and what to do.

The server identifies an error by a code of five characters (SQLSTATE). But if the server refuses a
connection, libpq passes on only the message text. Such messages are recognized in English; in other
languages they are quoted, with "unreachable" as `data["problem"]`.
"""

import re

from psycopg import Error

from todoplan.errors import StoreError
from todoplan.stores.postgres.address import Address

__all__ = ["failure", "is_passing"]

_BY_CODE = (
    # PostgreSQL's code or a prefix of it; our name of the problem; the meaning and the remedy.
    ("55P03", "busy", "somebody else holds the plan; try again, or give the store more patience="),
    (
        "57014",
        "timeout",
        "the statement took too long, or was cancelled; look what the server does",
    ),
    ("25P03", "lost", "the plan was held for too long without a statement; decide, then append"),
    ("25P04", "lost", "the transaction took too long for this server; try again"),
    ("40", "busy", "the server ended this transaction in favour of another one; try again"),
    ("25006", "read_only", "this server only reads (a standby?); give the address of the primary"),
    ("42501", "forbidden", "this user may not do that; grant it select, insert, update, delete"),
    ("42P01", "deleted", "the tables were dropped while in use; bring them back from a backup"),
    ("53100", "disk_full", "the server's disk is full; make room there"),
    ("53300", "busy", "the server has no connection left; try again, or let it have more"),
    ("57P", "unreachable", "the server ended the connection or is starting; try again"),
    ("08", "unreachable", "the connection was lost; try again"),
)
_BY_WORDS = (
    (
        "password|authentication failed|pg_hba.conf|role .* does not exist|permission denied",
        "refused",
        "the server does not let this user in; check the user and the password",
    ),
    (
        "database .* does not exist",
        "no_database",
        "create the database (createdb NAME), or correct the address",
    ),
    (
        "too many (clients|connections)|connection slots",
        "busy",
        "the server has no connection left; try again, or let it have more",
    ),
)
_UNREACHABLE = ("unreachable", "check the address, and that the server runs; then try again")
_UNEXPECTED = ("failed", "the server refuses this")


def failure(error: Error, address: Address, doing: str) -> StoreError:
    """Return the StoreError for a psycopg error that was raised while `doing` something."""
    problem, advice = _explained(error)
    # Only the first line: the following lines are hints for SQL authors, and the statement.
    reason = (str(error).splitlines() or [type(error).__name__])[0].strip()
    msg = f"{address} cannot {doing}: {advice} ({reason})"
    return StoreError(msg, store=str(address), problem=problem, code=error.sqlstate)


def is_passing(error: Error) -> bool:
    """Return whether the server is unreachable, perhaps only for a moment, as during a restart."""
    return _explained(error)[0] == "unreachable"


def _explained(error: Error) -> tuple[str, str]:
    for code, problem, advice in _BY_CODE if error.sqlstate else ():
        if (error.sqlstate or "").startswith(code):
            return problem, advice
    if error.sqlstate:
        return _UNEXPECTED
    for pattern, problem, advice in _BY_WORDS:
        if re.search(pattern, str(error)):
            return problem, advice
    return _UNREACHABLE
