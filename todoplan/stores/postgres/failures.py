"""
What PostgreSQL and the network refuse, in words: what was seen, whether anything was written, what
to do.

The server says what is wrong by a code of five characters, but where it refuses a connection libpq
hands on its sentence alone. Those are recognised in English; in another language they are quoted
just the same, under the word "unreachable".
"""

import re

from psycopg import Error

from todoplan.errors import StoreError
from todoplan.stores.postgres.address import Address

__all__ = ["failure", "is_passing"]

_BY_CODE = (
    # PostgreSQL's code or the beginning of it, our word, what it means and what to do.
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
    """
    Return what to raise for an error of psycopg that came while `doing` something.
    """
    problem, advice = _explained(error)
    # The first line: what follows it are hints for whoever writes SQL, and the statement.
    reason = (str(error).splitlines() or [type(error).__name__])[0].strip()
    msg = f"{address} cannot {doing}: {advice} ({reason})"
    return StoreError(msg, store=str(address), problem=problem, code=error.sqlstate)


def is_passing(error: Error) -> bool:
    """
    Say whether the server is away, perhaps for a moment only, as while it is restarted.
    """
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
