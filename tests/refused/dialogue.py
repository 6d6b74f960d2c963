"""Never run: what a user gets wrong with tool sets and guidance. Marked lines are type errors."""

from todoplan.dialogue import LEAN, TODOS, Guidance, Message, Settings, Toolbox, tasks
from todoplan.testing import PlanMachin  # refused

tasks("kebab")  # refused
Toolbox("tasks")  # refused
Toolbox(TODOS, "strict")  # refused
Settings(on_ignored="explode")  # refused
Settings(unfinished="2")  # refused
Guidance(Toolbox())  # refused
Guidance(LEAN, 0)  # refused
Message("bot")  # refused
LEAN.system_prompt("long")  # refused
print(Toolbox(tasks("snake")), Settings(on_ignored="raise"), Message("assistant", "Done."))
