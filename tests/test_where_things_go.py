"""
The table "Where things go" in CONTRIBUTING names files and names that exist, and is enough.

Two of its rows are carried out in a copy of the package, which consists of links but for the edited
files: a task gets a field `location`, and there is one more tool set, `steps`. Another process uses
the copy.
"""

import os
import re
import subprocess
import sys
from functools import partial
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
FIELD = {
    "core/plan/model.py": [(LAST_OF_TASK, LAST_OF_TASK + IN_TASK)],
    "core/commands.py": [
        (LAST_OF_TASK, LAST_OF_TASK + IN_TASK),
        (LAST_OF_UPDATE, LAST_OF_UPDATE + IN_UPDATE),
    ],
    "texts/replies.txt": [(LAST_LABEL, LABEL + LAST_LABEL)],
}
REGISTRY = "# -------- registry --------\n"
STEPS = """
STEPS = ToolSet(
    "steps",
    (
        Tool(
            "add_task",
            (Field("text", "subject", Kind.LINE, required=True, aliases=TITLES),),
            lambda values: CreateTask(values["subject"]),
            adds_only=True,
        ),
        Tool(
            "set_task",
            (
                Field("number", "task_id", Kind.ID, required=True),
                Field("status", "status", Kind.STATUS),
                Field("waitsFor", "waiting", Kind.LINE, clears=True),
            ),
            _update,
        ),
        Tool("show_tasks", (), lambda _: Query(), read_only=True),
    ),
    "set_task",
    expression="STEPS",
)
"""
NAMED, STEPS_NAMED = '    "lean": LEAN,\n', '    "steps": STEPS,\n'
TEXTS = """
== system.compact ==
Plan with `$add_task`.

== system.guided ==
Plan with `$add_task` and `$set_task`.

== instructions ==
`$add_task` adds, `$set_task` changes, `$show_tasks` shows. For work of three or more steps.

== waiting ==
What waits: say for whom in $waiting.
"""
SAMPLED = "SAMPLES = {\n"
SAMPLE = """
    "steps": Samples(
        conversation=(
            (
                turn(("add_task", {"text": "Dig"}), ("add_task", {"text": "Lay"})),
                turn(("set_task", {"number": "1", "status": "completed"}), ("show_tasks", {})),
                turn(("set_task", {"number": "9", "status": "completed"})),
                says(),
            ),
        ),
        completing=(
            Call("add_task", {"text": "Write it"}),
            Call("add_task", {"text": "Test it"}),
            Call("set_task", {"number": "1", "status": "in_progress"}),
            Call("set_task", {"number": "1", "status": "completed"}),
            Call("set_task", {"number": "2", "status": "in_progress"}),
            Call("set_task", {"number": "2", "status": "completed"}),
        ),
        waiting=(
            Call("set_task", {"number": "1", "waitsFor": "Ann"}),
            Call("set_task", {"number": "2", "waitsFor": "Ann"}),
        ),
    ),
"""
TOOL_SET = {
    "dialogue/tools.py": [(REGISTRY, STEPS + REGISTRY), (NAMED, NAMED + STEPS_NAMED)],
    "texts/steps.txt": [("", TEXTS)],
    "testing/adapters/host.py": [(SAMPLED, SAMPLED + SAMPLE)],
}
TRIED = [
    "adapters/functions/test_conformance.py::TestOpenAIChat",
    "adapters/mcp/test_apps.py",
    "cli/commands/test_schema.py",
    "dialogue/guidance/test_guidance.py",
    "dialogue/intake/test_read.py",
    "dialogue/test_fuzz.py",
    "dialogue/test_parallel_calls.py",
    "dialogue/tools/test_toolset.py",
    "laws/test_sessions_law.py",
    "laws/test_toolset_law.py",
    "testing/adapters/test_suite.py",
    "transcripts/readers/shared/test_base.py",
    "transcripts/test_tools.py",
]
"""Tests of every tool set. Redrawn snapshots and counted tokens are left out."""


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


@pytest.mark.parametrize(
    ("added", "edits"), [("a field of a task", FIELD), ("a tool set", TOOL_SET)]
)
def test_a_row_begins_with_what_must_be_touched(added, edits):
    """Before what may be touched, and before what only tests ask for, it names these files."""
    must = re.split(r"\. Without |, a budget ", rows()[added])[0].replace("NAME", "steps")
    assert set(re.findall(r"`([\w/]+\.\w+)`", must)) == set(edits)


def copy(folder, out, edits):
    """Copy the folders of the edited files, edited, and link everything else."""
    out.mkdir()
    for path in folder.iterdir():
        name = path.relative_to(PACKAGE).as_posix()
        if any(edited.startswith(f"{name}/") for edited in edits):
            copy(path, out / path.name, edits)
        elif path.name != "__pycache__" and name not in edits:
            (out / path.name).symlink_to(path)
    for name in edits:
        path = PACKAGE / name
        if path.parent == folder:
            text = path.read_text("utf-8") if path.exists() else ""
            for old, new in edits[name]:
                assert text.count(old) == 1
                text = text.replace(old, new)
            (out / path.name).write_text(text, "utf-8")


@pytest.fixture
def with_edits(tmp_path):
    """Return a function that edits a copy of the package and returns how to run Python with it."""

    def copied(edits):
        copy(PACKAGE, tmp_path / "todoplan", edits)
        variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT / "tests"))),
            "TODOPLAN_STORE": str(tmp_path / "plans.json"),
            "HYPOTHESIS_PROFILE": "dev",
            "COLUMNS": "100",
        }
        return partial(
            subprocess.run,
            cwd=tmp_path,
            env=variables,
            text=True,
            capture_output=True,
            check=False,
        )

    return copied


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
def test_a_new_field_works_everywhere(with_edits):
    """Tools, documents, other systems, page, command line, drift and strategies know it."""
    run = with_edits(FIELD)
    used = run([sys.executable, "-c", USES])
    assert used.returncode == 0, used.stderr
    for arguments, said in COMMANDS:
        done = run([sys.executable, "-m", "todoplan", *arguments])
        assert said in done.stdout, (arguments, done.stdout, done.stderr)


@pytest.mark.slow
def test_a_new_tool_set_is_tried_by_every_test_of_tool_sets(with_edits):
    """Two files and its samples are enough: no test has a table of its own that lacks it."""
    tests = [str(ROOT / "tests" / name) for name in TRIED]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    done = with_edits(TOOL_SET)(
        [*command, f"--rootdir={ROOT}", f"-c{ROOT / 'pyproject.toml'}", *tests]
    )
    assert done.returncode == 0, done.stdout
