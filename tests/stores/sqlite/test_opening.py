"""How a database is known as ours while another process makes it."""

import sqlite3
import time

import pytest

from todoplan.stores.sqlite import is_ours, set_up

_LOOKS = 3


class Interrupted:
    """
    A connection whose file another one sets up right behind its first so many statements.
    """

    def __init__(self, path, after):
        self._path, self._after = path, after
        self._connection = sqlite3.connect(path, isolation_level=None)

    def execute(self, statement):
        """
        Execute a statement, and have its rows read, before the other one comes.
        """
        rows = self._connection.execute(statement).fetchall()
        self._after -= 1
        if self._after == 0:
            other = sqlite3.connect(self._path, isolation_level=None)
            set_up(other, self._path, time.monotonic() + 10)
            other.close()
        return Rows(rows)

    def close(self):
        """
        Close the connection.
        """
        self._connection.close()


class Rows(list):
    """
    Rows, given as a cursor gives them.
    """

    def fetchone(self):
        """
        Return the first row.
        """
        return self[0]


@pytest.mark.parametrize("after", range(1, _LOOKS + 1))
def test_a_database_that_is_just_being_made_is_nobody_elses(tmp_path, after):
    """Whenever its tables come, it is empty or ours; one of 320 openings called it foreign."""
    path = tmp_path / "plans.db"
    seen = Interrupted(path, after)
    assert is_ours(seen, path) in {True, False}
    assert is_ours(seen, path)
    seen.close()
