"""`todoplan store`: plans from one store to another; and which store a command is to use."""

import os
from collections.abc import Sequence

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.screen import Screen
from todoplan.errors import StoreError, TodoplanError
from todoplan.stores.copying import copy_plan
from todoplan.stores.urls import open_store

__all__ = ["STORE", "chosen_store", "copy"]

STORE = "TODOPLAN_STORE"
"""The environment variable that names the store where neither a file nor --store does."""


def chosen_store(url: str | None, *, has_file: bool) -> str | None:
    """
    Return the address of the store that is meant, `None` if a file is, or nothing.

    Raises:
        StoreError: a file was given as well.
    """
    if url is not None and has_file:
        msg = f"give a file or --store {url}, not both"
        raise StoreError(msg, problem="two_stores")
    # What stands on the command line is meant, whatever the environment says.
    return url if url is not None or has_file else os.environ.get(STORE)


def copy(source: str, target: str, plans: Sequence[str], screen: Screen) -> int:
    """
    Copy plans (all, if none is named) with their journals, and return the exit code.
    """
    try:
        here, there = open_store(source), open_store(target)
        kept = here.plan_ids()
        missing = [plan_id for plan_id in plans if plan_id not in kept]
        if missing or not kept:
            screen.complain(f"{source} has no plan {', '.join(map(repr, missing)) or 'at all'}")
            return UNREADABLE
        for plan_id in plans or kept:
            is_new = copy_plan(here, there, plan_id)
            entries = len(there.entries(plan_id))
            done = f"{entries} entries" if is_new else "there already, as it is"
            screen.write(f"{plan_id!r}: {done}\n")
    except (TodoplanError, OSError) as error:
        screen.complain(str(error))
        return UNREADABLE
    return 0
