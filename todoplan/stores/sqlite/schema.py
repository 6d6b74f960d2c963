"""
The tables. Every key begins with the plan's id, and no statement spans plans, so that a plan can be
moved to another file with all its rows.
"""

__all__ = ["APPLICATION", "FORMAT", "TABLES"]

APPLICATION = 0x746F646F
"""
The application id of our files, "todo". `file` and other tools identify databases by this number.
"""

FORMAT = 1
"""The version of the tables, in SQLite's `user_version`. Rows state a version of their own."""

# `plan` has a row id, which gives the order in which plans were added. The other tables are stored
# in key order, so that the newest entries of a journal are contiguous in the file.
TABLES = (
    """
    CREATE TABLE plan (
        id TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        since INTEGER NOT NULL,  -- bytes of entries since the last snapshot
        size INTEGER NOT NULL    -- bytes of the last snapshot
    )
    """,
    """
    CREATE TABLE entry (
        plan_id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        version INTEGER NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (plan_id, revision)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE snapshot (
        plan_id TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        version INTEGER NOT NULL,
        document TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE receipt (
        plan_id TEXT NOT NULL,
        key TEXT NOT NULL,
        payload TEXT NOT NULL,
        before INTEGER NOT NULL,    -- the revision before its entries, and after them
        after INTEGER NOT NULL,
        answer TEXT NOT NULL,
        PRIMARY KEY (plan_id, key)
    ) WITHOUT ROWID
    """,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
