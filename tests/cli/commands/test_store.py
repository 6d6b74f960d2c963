"""`todoplan store copy`, and the stores that other commands are pointed at."""

import pytest
from support.mcp_client import asked

from todoplan import FileStore, Planner
from todoplan.cli.plans import STORE
from todoplan.core.commands import CreateTask
from todoplan.stores import SqliteStore


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with two plans in a file and in a database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(STORE, raising=False)
    for store in (FileStore("plans.json"), SqliteStore("plans.db")):
        for plan_id in ("garden", "house"):
            Planner(store, plan_id).apply(CreateTask(f"Work on {plan_id}"))
    return tmp_path


def test_plans_are_copied_journal_and_all(invoke, here):
    """From a file to a database and back; what is there already is left as it is."""
    result = invoke("store", "copy", "file:///plans.json", "sqlite:///new.db")
    assert (result.exit_code, result.stdout) == (0, "'garden': 1 entry\n'house': 1 entry\n")
    assert SqliteStore("new.db").entries("house") == FileStore("plans.json").entries("house")
    result = invoke("store", "copy", "new.db", "file:///new.json", "--plan", "house")
    assert (result.exit_code, result.stdout) == (0, "'house': 1 entry\n")
    result = invoke("store", "copy", "new.db", "new.json")
    assert result.stdout == "'garden': 1 entry\n'house': there already, as it is\n"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("missing.db", "new.db"), "missing.db has no plan at all"),
        (("plans.db", "new.db", "--plan", "attic"), "plans.db has no plan 'attic'"),
        (("plans.json", "plans.db"), "the target already has another plan 'garden'"),
        (("plans.json", "redis://db"), "'redis://db' is no address of a store"),
        (("plans.json", "missing/new.db"), "No such file or directory"),
    ],
)
def test_what_cannot_be_copied_is_exit_2(invoke, here, given, reason):
    """In a line, and no file is made for a misspelled name."""
    result = invoke("store", "copy", *given)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())
    assert sorted(each.suffix for each in here.glob("*.db")) == [".db"]


@pytest.mark.parametrize(
    "given",
    [
        ("--store", "sqlite:///plans.db"),
        ("--store", "file:///plans.json"),
        ("plans.db",),
        ("plans.json",),
    ],
)
def test_a_plan_of_any_store_is_shown(invoke, here, given):
    """By its address; a database by its path, as a file of plans is."""
    result = invoke("show", *given, "--plan", "house")
    assert (result.exit_code, result.stdout) == (0, "  0/1 completed\n  [ ] 1 Work on house\n")
    result = invoke("show", *given)
    assert result.exit_code == 2
    assert "2 plans; choose by --plan: 'garden', 'house'" in result.stderr


def test_the_environment_names_the_store(invoke, here, monkeypatch):
    """Unless the command line does."""
    monkeypatch.setenv(STORE, "sqlite:///plans.db")
    assert "Work on house" in invoke("show", "--plan", "house").stdout
    monkeypatch.setenv(STORE, "nonsense")
    assert "Work on house" in invoke("show", "plans.json", "--plan", "house").stdout
    assert "Work on house" in invoke("show", "--store", "plans.db", "--plan", "house").stdout
    result = invoke("show", "--plan", "house")
    assert (result.exit_code, "'nonsense' is no address" in result.stderr) == (2, True)


@pytest.mark.parametrize("command", ["show", "mcp"])
def test_a_file_and_a_store_are_one_too_many(invoke, here, command):
    """Nobody guesses which was meant."""
    file = ("plans.json",) if command == "show" else ("--file", "plans.json")
    result = invoke(command, *file, "--store", "sqlite:///plans.db")
    assert result.exit_code == 2
    assert "give a file or --store sqlite:///plans.db, not both" in " ".join(result.stderr.split())


@pytest.mark.slow
def test_a_plan_of_a_store_is_served(here):
    """`todoplan mcp --store`: what a client does is in the database at once."""
    create = ("TaskCreate", {"subject": "Dig"})
    line = ("--plan", "garden", "--toolset", "tasks")
    variables = {STORE: f"sqlite:///{here}/plans.db"}
    assert asked(lambda client: client.call(*create), *line, **variables)["isError"] is False
    subjects = [task.subject for task in SqliteStore("plans.db").load("garden")]
    assert subjects == ["Work on garden", "Dig"]
