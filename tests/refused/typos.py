"""Never run: what a user gets wrong. Every line with the mark, and no other, is a type error."""

import todoplan
from todoplan import Plan, Plannr, decide  # refused
from todoplan.core import commands
from todoplan.dialogue import Toolbx  # refused

todoplan.Nope  # noqa: B018 # refused
todoplan.dialogue.Toolbx  # noqa: B018 # refused
commands.CreateTsk("Write the parser")  # refused
commands.CreateTask(5)  # refused
decide(commands.CreateTask("Write the parser"), Plan())  # refused
print(decide(Plan(), commands.CreateTask("Write the parser")).plan)  # refused
