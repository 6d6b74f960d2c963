"""The commands without a store: they use the project's own."""

import os
import stat
from pathlib import Path

import pytest
from support.mcp_client import asked

from todoplan.cli.plans import Judge, Place, Writer
from todoplan.cli.servers import Address, board
from todoplan.render.terminal import Screen
from todoplan.stores import SqliteStore

NOBODY = 0o077


def test_a_task_needs_no_setting(project, invoke):
    """The first write makes the store and says where; the second says nothing."""
    first, second = invoke("add", "Write it"), invoke("add", "Test it")
    file = project / ".todoplan" / "plans.db"
    assert first.stderr == f"todoplan: plans are stored in {file}\n"
    assert (first.exit_code, second.exit_code, second.stderr) == (0, 0, "")
    assert [task.subject for task in SqliteStore(file).load("plan")] == ["Write it", "Test it"]


def test_nobody_else_can_read_it(project, invoke):
    """Whatever the umask is; and Git ignores it."""
    before = os.umask(0)
    try:
        invoke("add", "Write it")
    finally:
        os.umask(before)
    folder = project / ".todoplan"
    for path in (folder, folder / "plans.db"):
        assert not stat.S_IMODE(path.stat().st_mode) & NOBODY
    assert (folder / ".gitignore").read_text().splitlines()[-1] == "*"


@pytest.mark.parametrize("command", ["list", "next", "log", "show", "undo", "watch", "where"])
def test_reading_makes_nothing(project, invoke, command):
    """What is not there yet is said, with how to begin."""
    result = invoke(command)
    assert [*project.iterdir()] == [project / ".git"]
    if command == "where":
        assert result.stdout.endswith("the default of this directory; no plan yet\n")
    else:
        assert result.exit_code == 2
        assert ".todoplan/plans.db has no plan yet; `todoplan add` creates one" in result.stderr


def test_folders_below_have_the_same_store(project, invoke, monkeypatch):
    """The nearest folder upwards that has a store or a repository."""
    invoke("add", "Write it")
    below = project / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert invoke("next").stdout == "#1 Write it, 0/1 completed\n"
    assert invoke("show").stdout.endswith("[ ] 1 Write it\n")
    assert "revision 1: 0/1 completed" in invoke("check").stdout


def test_where_says_who_chose_the_store(project, invoke, monkeypatch):
    """The first line is the address alone, without a password."""
    invoke("add", "Write it")
    default = f"{project}/.todoplan/plans.db\nthe default of this directory; plans: plan\n"
    assert invoke("where").stdout == default
    assert invoke("where", "--store", "x.json").stdout == "x.json\nnamed by --store; no plan yet\n"
    monkeypatch.setenv("TODOPLAN_STORE", "memory:")
    assert invoke("where").stdout == "memory:\nnamed by TODOPLAN_STORE; no plan yet\n"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:open@host/db", "postgresql://ann:***@host/db"),
        (
            "postgresql://host/db?user=ann&password=open&x=1",
            "postgresql://host/db?user=ann&password=***&x=1",
        ),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("plans.json", "plans.json"),
    ],
)
def test_no_message_has_a_password(address, shown):
    """Messages stay in logs."""
    assert Place(address).shown == shown


def test_the_board_makes_it(project, monkeypatch, capsys):
    """A person may begin the plan there."""

    class Server:
        async def serve(self, sockets):
            sockets[0].close()

    monkeypatch.setattr("todoplan.web.server_of", lambda *_, **__: Server())
    options = {"place": Place(), "writer": Writer(""), "judge": Judge()}
    board(Screen(), address=Address(), port=0, **options)
    assert f"plans are stored in {project}/.todoplan/plans.db" in capsys.readouterr().err


def test_an_mcp_server_keeps_its_plan_there(project, invoke):
    """What a client writes is what `todoplan list` shows."""
    todos = {"todos": [{"content": "Write it", "status": "pending"}]}
    path = {"PYTHONPATH": str(Path(__file__).parents[3])}
    asked(lambda client: client.call("write_todos", todos), cwd=project, **path)
    assert invoke("next").stdout == "#1 Write it, 0/1 completed\n"


def test_a_folder_that_cannot_be_made_is_an_error(project, invoke):
    """With what to do."""
    (project / ".todoplan").write_text("a file")
    result = invoke("add", "Write it")
    assert result.exit_code == 2
    assert "cannot be made: File exists; name a store by --store" in result.stderr
