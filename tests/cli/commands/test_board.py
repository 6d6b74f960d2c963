"""`todoplan board`: its options, its refusals, and a server that answers."""

import contextlib
import json
import sqlite3
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from support.command_line import serving

from todoplan import Planner
from todoplan.board.application import FIELDS
from todoplan.cli.plans import BOARD_TOKEN, Judge, Place, Writer
from todoplan.cli.servers import Address, board
from todoplan.core import commands
from todoplan.errors import TodoplanError
from todoplan.render.terminal import Screen
from todoplan.stores import SqliteStore


@pytest.fixture
def store(tmp_path):
    """The address of a store with a plan."""
    address = f"sqlite:///{tmp_path}/plans.db"
    kept = SqliteStore(tmp_path / "plans.db")
    Planner(kept, "garden").apply(commands.CreateTask("Dig"), actor="agent")
    kept.close()
    return address


def asked(url, **headers):
    """What the server says of the board."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with urlopen(Request(f"{url}api/board", headers=named), timeout=60) as answer:  # noqa: S310 - ours
        return json.load(answer)


@pytest.mark.slow
def test_it_says_where_it_serves_and_ends_quietly(store):
    """The URL stands on stderr; a page that is open does not keep the server from ending."""
    with serving("board", "--store", store, "--actor", "ada") as url:
        told = asked(url)
        stream = urlopen(f"{url}api/plan?plan=garden", timeout=60)  # noqa: S310 - ours
        assert stream.readline() == b"id: 1\r\n"
    stream.close()
    about = {"write": True, "plan": None, "person": "ada", "named": True}
    assert told == {**about, "fields": FIELDS}


@pytest.mark.slow
def test_token_and_plan_and_reading_are_as_the_options_say(store):
    """The token comes from its variable; a board for reading says so."""
    line = ("board", "--store", store, "--plan", "garden", "--read-only")
    with serving(*line, **{BOARD_TOKEN: "open-sesame"}) as url:
        with pytest.raises(HTTPError, match="401"):
            asked(url)
        told = asked(url, Authorization="Bearer open-sesame")
    assert (told["write"], told["plan"]) == (False, "garden")


def test_a_damaged_plan_does_not_hide_the_others(store, tmp_path):
    """The list names the plan that cannot be read and says why, beside those that can."""
    with SqliteStore(tmp_path / "plans.db") as kept:
        Planner(kept, "house").apply(commands.CreateTask("Paint"))
    with contextlib.closing(sqlite3.connect(tmp_path / "plans.db")) as rows, rows:
        rows.execute("UPDATE entry SET line = 'x' || line WHERE plan_id = 'house'")
    with (
        serving("board", "--store", store) as url,
        urlopen(f"{url}api/plans", timeout=60) as stream,  # noqa: S310 - ours
    ):
        name, data = (stream.readline().decode().partition(": ")[2].strip() for _ in range(2))
    garden, house = json.loads(data)["plans"]
    assert (name, garden["message"]) == ("plans", "0/1 completed")
    assert house["plan"] == "house"
    assert "the plan 'house', entry of revision 1" in house["trouble"]


def test_the_empty_name_is_no_plan(store, tmp_path):
    """`?plan=` is not found where no such plan is, and nothing is written under that name."""
    wish = json.dumps({"do": "add", "subject": "Dig"}).encode()
    with serving("board", "--store", store) as url:
        for path, body in (("act", wish), ("insight", None), ("plan", None)):
            asks = Request(f"{url}api/{path}?plan=", body, {"Content-Type": "application/json"})  # noqa: S310
            with pytest.raises(HTTPError, match="404"):
                urlopen(asks, timeout=60)  # noqa: S310
    with SqliteStore(tmp_path / "plans.db") as kept:
        assert [*kept.plan_ids()] == ["garden"]


def test_who_can_be_reached_by_others_needs_a_token(store):
    """Said before anything is served, with the variable's name."""
    options = {"place": Place(store), "writer": Writer("ada"), "judge": Judge()}
    with pytest.raises(TodoplanError, match=BOARD_TOKEN):
        board(Screen(), address=Address("0.0.0.0"), port=0, **options)  # noqa: S104 - it is refused


def test_the_options_are_read(invoke):
    """All but an address that others reach: then nothing is served."""
    result = invoke("board", "--port", "0", "--host", "0.0.0.0", "--write")  # noqa: S104 - refused
    assert result.exit_code == 2
    assert BOARD_TOKEN in result.stderr


def test_it_serves_until_it_is_told_to_end(store, monkeypatch, capsys):
    """The server is run with the board, and the exit code is 0."""
    ran = []

    class Server:
        async def serve(self, sockets):
            ran.append(sockets)
            sockets[0].close()

    monkeypatch.setattr("todoplan.web.server_of", lambda *_, **__: Server())
    options = {"place": Place(store), "writer": Writer(""), "judge": Judge()}
    board(Screen(), address=Address(), port=0, write=True, **options)
    assert len(ran) == 1
    assert "the board is served at http://127.0.0.1:" in capsys.readouterr().err
    assert BOARD_TOKEN == "TODOPLAN_BOARD_TOKEN"  # noqa: S105 - its name
