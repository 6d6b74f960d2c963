"""
A new field of a task, of a kind that is known, is declared in three files and works everywhere.

The row in CONTRIBUTING that says so is carried out: in a copy of the package, which consists of
links but for the three files, a task gets a field `location`. Another process uses that copy.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "todoplan"
LAST_OF_TASK = "    due: date | None = attrs.field(default=None, converter=as_date_or_none)\n"
IN_TASK = "    location: str | None = attrs.field(default=None, converter=as_text_or_none)\n"
LAST_OF_UPDATE = (
    "    due: date | None | Unset = attrs.field(default=UNSET, converter=date_or_unset)\n"
)
IN_UPDATE = (
    "    location: str | None | Unset = attrs.field(default=UNSET, converter=text_none_or_unset)\n"
)
LAST_LABEL = "== task.check ==\n"
LABEL = "== task.location ==\nLocation: $value\n\n"
EDITS = {
    "core/plan/model.py": [(LAST_OF_TASK, LAST_OF_TASK + IN_TASK)],
    "core/commands.py": [
        (LAST_OF_TASK, LAST_OF_TASK + IN_TASK),
        (LAST_OF_UPDATE, LAST_OF_UPDATE + IN_UPDATE),
    ],
    "texts/replies.txt": [(LAST_LABEL, LABEL + LAST_LABEL)],
}


def rows():
    """Return the rows of CONTRIBUTING's table of what is touched, by what is added."""
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    table = text.partition("| you add | you touch |\n| --- | --- |\n")[2].partition("\n\n")[0]
    return dict(row.strip("| ").split(" | ", 1) for row in table.splitlines())


@pytest.mark.parametrize("added", rows())
def test_what_a_row_names_is_there(added):
    """The files, and the names in them: "`Task` in `core/plan/model.py`"."""
    path = r"`([a-z_]+/[a-z_/.]+)`"
    for file in re.findall(path, rows()[added]):
        assert any((base / file).exists() for base in (PACKAGE, ROOT)), file
    for name, file in re.findall(rf"`(\w+)`,? (?:in|of) {path}", rows()[added]):
        (found,) = (base / file for base in (PACKAGE, ROOT) if (base / file).exists())
        assert re.search(rf"\b{name}\b", found.read_text("utf-8")), (name, file)


def test_the_row_of_a_field_names_these_files():
    """Before its first full stop it has what must be touched; after it, what may be."""
    row = rows()["a field of a task"]
    assert set(re.findall(r"`([\w/]+\.\w+)`", row.partition(". ")[0])) == set(EDITS)


def copy(folder, out):
    """Copy the folders of the edited files, edited, and link everything else."""
    out.mkdir()
    for path in folder.iterdir():
        name = path.relative_to(PACKAGE).as_posix()
        if name in EDITS:
            text = path.read_text("utf-8")
            for old, new in EDITS[name]:
                assert text.count(old) == 1
                text = text.replace(old, new)
            (out / path.name).write_text(text, "utf-8")
        elif any(edited.startswith(f"{name}/") for edited in EDITS):
            copy(path, out / path.name)
        elif path.name != "__pycache__":
            (out / path.name).symlink_to(path)


USES = r"""
from support.documents import around, full_tasks
from support.naive.model import SETTABLE

from todoplan import Plan
from todoplan.board.application import FIELDS, command_of
from todoplan.cli.options import command_of as cli_command
from todoplan.codec import (
    dump_plan, from_agentscope, json_schema, load_plan, not_held, plan_from_data, plan_to_data,
    to_agentscope,
)
from todoplan.core.commands import ApprovePlan, CreateTask, UpdateTask
from todoplan.core.decide import decide
from todoplan.core.events.apply import Entry
from todoplan.core.events.drift import drift
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.render import drift_to_text, to_text
from todoplan.testing.strategies.command import CHANGES
from todoplan.testing.strategies.values import field_values

# A model sets it, reads it and clears it; no tool publishes it.
for toolset in (tasks(), tasks("snake")):
    assert "location" not in repr(toolset.definitions())
    box = Toolbox(toolset)
    made = box.call(Plan(), "TaskCreate", {"subject": "Dig", "location": "shed"})
    assert "ignored" not in made.text and made.plan["1"].location == "shed"
    assert "Location: shed" in box.call(made.plan, "TaskGet", {"taskId": "1"}).text
    moved = box.call(made.plan, "TaskUpdate", {"taskId": "1", "location": "bed 3"})
    assert moved.plan["1"].location == "bed 3"
    cleared = box.call(moved.plan, "TaskUpdate", {"taskId": "1", "location": ""})
    assert cleared.plan["1"].location is None

# It is stored, alone and with all others.
plan = made.plan
for each in (plan, *map(around, full_tasks().values())):
    assert load_plan(dump_plan(each)) == plan_from_data(plan_to_data(each)) == each
    assert from_agentscope(to_agentscope(each)) == each
assert '"location":"shed"' in dump_plan(plan)
parts = json_schema()["$defs"]
assert "location" in parts["task"]["properties"]
assert "location" in parts["task_edited"]["properties"]["changes"]["properties"]
assert not_held(plan) == {"location": ("1",)}

# A person sets it on the page and on the command line.
assert FIELDS["location"] == "text"
wish = {"do": "edit", "task": "1", "field": "location", "value": "bed 4"}
assert command_of(wish, "ann") == UpdateTask("1", location="bed 4")
assert command_of({**wish, "value": ""}, "ann") == UpdateTask("1", location=None)
for name in ("add", "change"):
    assert "location" in cli_command(f"cli.plans.{name}").__signature__.parameters

# A change of what was approved is drift; no line of an outline shows the field.
history = []
create, update = CreateTask("Dig", location="shed"), UpdateTask("1", location="x")
for command in (create, ApprovePlan("ann"), update):
    decision = decide(history[-1][0] if history else Plan(), command)
    history.append((decision.plan, Entry(decision.plan.revision, decision.events)))
plan = history[-1][0]
assert 'location (was "shed")' in drift_to_text(drift(plan, [entry for _, entry in history]))
assert to_text(plan).splitlines()[1] == "[ ] 1 Dig"

# Tests draw it, and the naive model knows it.
assert "location" in CHANGES and "location" in field_values() and "location" in SETTABLE
"""
COMMANDS = [
    (["add", "Dig", "--location", "shed"], "created #1"),
    (["edit", "1", "--location", "bed 3"], "edited #1"),
    (["show", "1"], "bed 3"),
    (["diff", "1"], "location shed -> bed 3"),
    (["edit", "1", "--location", ""], "edited #1"),
    (["edit", "--help"], '--location TEXT       Location; "" for none.'),
]


@pytest.mark.slow
def test_a_new_field_works_everywhere(tmp_path):
    """Tools, documents, other systems, page, command line, drift and strategies know it."""
    copy(PACKAGE, tmp_path / "todoplan")
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT / "tests"))),
        "TODOPLAN_STORE": str(tmp_path / "plans.json"),
        "COLUMNS": "100",
    }

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=variables,
            text=True,
            capture_output=True,
            check=False,
        )

    used = run("-c", USES)
    assert used.returncode == 0, used.stderr
    for arguments, said in COMMANDS:
        done = run("-m", "todoplan", *arguments)
        assert said in done.stdout, (arguments, done.stdout, done.stderr)
