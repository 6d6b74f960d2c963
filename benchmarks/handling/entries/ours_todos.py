"""todoplan's `todos`: the whole list at once."""

from benchmarks.handling.entries.ours import Ours
from benchmarks.handling.entry import Call, WholeList, Wish
from todoplan import TODOS


class Todos(Ours, WholeList):
    """Each call has the whole list; a call with an empty list must say that this is intended."""

    name, toolset, tool, read = "todoplan-todos", TODOS, "write_todos", "read_todos"

    def calls(self, wish: Wish) -> list[Call]:
        """Render a wish."""
        found = WholeList.calls(self, wish)
        if wish[0] == "delete" and not found[0][1]["todos"]:
            found[0][1]["clear"] = True
        return found
