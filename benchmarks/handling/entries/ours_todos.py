"""todoplan's `todos`: the whole list at once."""

from benchmarks.handling.entries.ours import Ours
from benchmarks.handling.entry import WholeList
from todoplan import TODOS


class Todos(Ours, WholeList):
    """Its calls are a whole list."""

    name, toolset, tool, read = "todoplan-todos", TODOS, "write_todos", "read_todos"
    calls = WholeList.calls
