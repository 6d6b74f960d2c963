"""
The address of a database: validated, completed with time limits, and displayed without its
password.
"""

from typing import Any

import attrs
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from todoplan.errors import StoreError

__all__ = ["Address", "checked_address"]

# Without these settings, a client whose network was cut waits for 15 minutes, and a server keeps
# the plan of a disconnected client locked for two hours. In seconds; the timeout `tcp_user_timeout`
# in milliseconds.
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
    The address of a database: `conninfo` for libpq, and `shown` for people, without the password.
    """

    conninfo: str = attrs.field(repr=False)
    shown: str

    def __str__(self) -> str:
        return self.shown


def checked_address(dsn: object) -> Address:
    """
    Return the address in a text: a URL, or libpq's "host=... dbname=...".

    Raises:
        StoreError: the text is neither of them.
    """
    example = "give a URL such as postgresql://user@host/database"
    if not isinstance(dsn, str):
        # Only the type is shown: a dict of the parts would contain the password.
        msg = f"a {type(dsn).__name__} is no address of a database; {example}"
        raise StoreError(msg, problem="address")
    try:
        parts: dict[str, Any] = conninfo_to_dict(dsn)
        conninfo = make_conninfo(**{**_WATCHFUL, **parts})
    except (ProgrammingError, UnicodeEncodeError):
        # Neither the text nor libpq's message, which quotes it, is shown: there may be a password
        # in it.
        msg = f"this text of {len(dsn)} characters is no address of a database; {example}"
        raise StoreError(msg, problem="address") from None
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    host = parts.get("host", parts.get("hostaddr", ""))
    return Address(conninfo, f"postgresql://{user}{host}{port}/{parts.get('dbname', '')}")
