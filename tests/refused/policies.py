"""Never run: what a user gets wrong with rules, commands and tasks. Marks are type errors."""

from todoplan import DEFAULT, STRICT, Limits, Status, Task, Todo, explain
from todoplan.core import commands
from todoplan.stores import FileStor  # refused

DEFAULT.but(maxitems="off")  # refused
DEFAULT.but(max_items="fatal")  # refused
DEFAULT.but(empty_write=5)  # refused
DEFAULT.but(max_items="off", max_text=True)  # refused
Limits(items="50")  # refused
Limits(tasks=50)  # refused
commands.UpdateTask("1", status="done")  # refused
commands.UpdateTask("1", priority="urgent")  # refused
commands.UpdateTask(1)  # refused
commands.CreateTask("a", priority="urgent")  # refused
commands.CreateTask("a", status="done")  # refused
commands.WriteTodos(["a"])  # refused
Todo("a", "done")  # refused
Todo("a", priority="urgent")  # refused
Task("1", "a", status="done")  # refused
Task("1", "a", priority=1)  # refused
explain("a cycle")  # refused
print(STRICT.but(max_items=50, single_in_progress="warn"), Todo("a", "completed"))
print(Task("1", "a", status=Status.PENDING, priority="high"))
print(commands.UpdateTask("1", status="pending"), Limits(items=50))
