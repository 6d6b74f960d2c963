"""The pictures of the guides that show the board: `python tests/support/pictures.py` makes them."""

import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from support.browser import Served, chromium
from support.docs import GUIDES

from todoplan import MemoryStore, Planner
from todoplan.core import commands
from todoplan.core.plan.model import Waiting

SIZE = {"width": 1280, "height": 620}
DUE = (datetime.now(UTC) + timedelta(days=9)).date()
TASKS = (
    ("Plan the garden", {}),
    ("Choose a bed", {"parent": "1", "owner": "bob"}),
    ("Draw the paths", {"parent": "1", "blocked_by": ("2",), "estimate": 30}),
    ("Order seeds", {"priority": "high", "estimate": 15, "owner": "ann"}),
    ("Dig", {"blocked_by": ("2",), "estimate": 120, "due": DUE, "owner": "ann"}),
    ("Sow beans", {"blocked_by": ("4", "5"), "estimate": 45}),
    ("Build a shed", {"priority": "low"}),
    ("Book the tractor", {"check": "a confirmation is in the post"}),
    ("Mend the fence", {}),
)


def garden():
    """Return a store with a plan that has something of everything."""
    store = MemoryStore()
    planner = Planner(store, "garden")
    for subject, more in TASKS:
        planner.apply(commands.CreateTask(subject, **more), actor="agent").unwrap()
    planner.apply(commands.ApprovePlan("ann"), actor="ann")
    planner.apply(commands.UpdateTask("4", status="completed"), actor="agent")
    planner.apply(commands.UpdateTask("8", status="completed"), actor="agent")
    wait = Waiting("bob", question="North or south?")
    planner.apply(commands.UpdateTask("2", waiting=wait), actor="agent")
    planner.apply(commands.ClaimTask("worker-1", lease=900, task_id="7"), actor="worker-1")
    planner.apply(commands.CreateTask("Water", blocked_by=("6",)), actor="worker-1")
    planner.apply(commands.CreateTask("Order manure"), actor="ann")
    mine = commands.ClaimTask("worker-2", task_id="11", attempts=1)
    with suppress(ConnectionError), planner.claim(mine):
        msg = "the shop does not answer"
        raise ConnectionError(msg)
    planner.claim(mine)
    return store


def draw(folder):
    """Write the pictures into a folder."""
    served = Served(garden(), person="ann")
    try:
        with chromium() as browser:
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(f"{served.url}?plan=garden")
            page.get_by_text("Added").first.wait_for()
            page.wait_for_timeout(800)  # the critical path comes when the plan is quiet
            page.screenshot(path=folder / "board.png")
            page.context.close()
    finally:
        served.stop()


if __name__ == "__main__":
    draw(GUIDES)
