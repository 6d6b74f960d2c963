"""What a shell completes."""

import pytest
from typer.testing import CliRunner

from todoplan import Planner
from todoplan.cli.app import make_app
from todoplan.core.commands import CreateTask
from todoplan.stores.file import FileStore


@pytest.fixture
def stored(tmp_path):
    """A file of two plans, one of them with eleven tasks."""
    path = tmp_path / "plans.json"
    garden = Planner(FileStore(path), "garden")
    for number in range(11):
        garden.apply(CreateTask(f"Bed {number}"))
    Planner(FileStore(path), "house").apply(CreateTask("Sweep"))
    return path


def asked(line):
    """The variables in which bash asks for the last word of a line."""
    count = str(len(line.split(" ")) - 1)
    return {"_TODOPLAN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": count}


def completed(line, **environment):
    """What is offered."""
    more = {key: str(value) for key, value in environment.items()}
    result = CliRunner().invoke(make_app(), [], prog_name="todoplan", env={**asked(line), **more})
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.split()


@pytest.mark.slow
def test_the_command_itself_is_asked(command):
    """As a shell does it, in a process of its own."""
    done = command(**asked("todoplan sch"))
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"schema", b"")


def test_names_of_tables_are_completed():
    """Commands, and what an option takes."""
    assert completed("todoplan re") == [
        *("ready", "report", "remove", "redo", "release", "replay"),
    ]
    assert completed("todoplan show --format m") == ["markdown", "mermaid"]
    assert completed("todoplan add x --policy cl") == ["claude", "claude-strict"]
    assert completed("todoplan guide reco") == ["recordings"]


def test_plans_and_tasks_are_completed_from_the_store(stored):
    """The store on the line, or the environment's."""
    assert completed(f"todoplan list --store {stored} --plan g") == ["garden"]
    line = f"todoplan done --store {stored} --plan garden 1"
    assert completed(line) == ["1", "10", "11"]
    assert completed(line.replace(" 1", " #1")) == ["#1", "#10", "#11"]
    assert completed("todoplan done --plan house ", TODOPLAN_STORE=stored) == ["1"]


def test_where_nothing_can_be_read_nothing_is_offered(tmp_path):
    """And nothing is printed into the line that is being typed."""
    for store in (tmp_path / "missing.json", tmp_path / "missing" / "plans.json", "redis://x"):
        assert completed(f"todoplan done --store {store} 1") == []
        assert completed(f"todoplan list --store {store} --plan ") == []
