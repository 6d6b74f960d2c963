"""todoplan's `tasks`: TaskCreate, TaskUpdate, TaskGet, TaskList."""

from benchmarks.handling.entries.ours import Ours
from benchmarks.handling.entry import Call, TaskTools, Wish
from todoplan import TASKS


class Tasks(Ours, TaskTools):
    """A call changes one task, but it can create several."""

    name, toolset, id_key, wait_key = "todoplan-tasks", TASKS, "taskId", "addBlockedBy"
    unwait_key = "removeBlockedBy"

    def calls(self, wish: Wish) -> list[Call]:
        """Render a wish."""
        if wish[0] == "create" and len(wish[1]) > 1:
            return [("TaskCreate", {"tasks": [{"subject": text} for text in wish[1]]})]
        return TaskTools.calls(self, wish)

    def created(self, text: str) -> Call:
        """Return the call that creates a task."""
        return "TaskCreate", {"subject": text}
