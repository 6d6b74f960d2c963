"""The address of a database: checked at once, with time limits, and shown without its password."""

from typing import Any

import attrs
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from todoplan.errors import StoreError

__all__ = ["Address", "checked_address"]

# Without them a client whose network was cut waits for 15 minutes, and a server keeps the plan of
# one that was cut off locked for two hours. Seconds; the last one in milliseconds.
_WATCHFUL = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "todoplan",
}


@attrs.frozen
class Address:
    """
    What to connect to: for libpq, and for people.
    """

    conninfo: str = attrs.field(repr=False)
    shown: str

    def __str__(self) -> str:
        return self.shown


def checked_address(dsn: object) -> Address:
    """
    Return the address that a text means: a URL, or libpq's "host=... dbname=...".

    Raises:
        StoreError: it is neither.
    """
    example = "give a URL such as postgresql://user@host/database"
    if not isinstance(dsn, str):
        # By its type alone: who gives the parts as a dict gives the password with them.
        msg = f"a {type(dsn).__name__} is no address of a database; {example}"
        raise StoreError(msg, problem="address")
    try:
        parts: dict[str, Any] = conninfo_to_dict(dsn)
        conninfo = make_conninfo(**{**_WATCHFUL, **parts})
    except (ProgrammingError, UnicodeEncodeError):
        # Neither the text nor libpq's complaint, which quotes it: there may be a password in it.
        msg = f"this text of {len(dsn)} characters is no address of a database; {example}"
        raise StoreError(msg, problem="address") from None
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    host = parts.get("host", parts.get("hostaddr", ""))
    return Address(conninfo, f"postgresql://{user}{host}{port}/{parts.get('dbname', '')}")
