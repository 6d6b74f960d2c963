"""Law 15 as a user meets it, situation by situation; each of them failed in 0.2.0."""

import pytest

from todoplan import LEAN, TODOS, MemoryStore, Toolbox
from todoplan.core.commands import CreateTask
from todoplan.dialogue import WRITE_TODOS
from todoplan.planner import Planner
from todoplan.stores import FileStore, SqliteStore

STORES = {"memory": MemoryStore, "file": FileStore, "sqlite": SqliteStore}
ACTORS = pytest.mark.parametrize("actors", [(None, None), ("bot", "bot"), ("a", "b")], ids=str)


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    kind = STORES[request.param]
    return kind() if kind is MemoryStore else kind(tmp_path / "plans")


@pytest.fixture(params=["write_todos", "todos", "lean"])
def toolbox(request):
    return Toolbox({"write_todos": WRITE_TODOS, "todos": TODOS, "lean": LEAN}[request.param])


def write(planner, *texts, actor=None):
    if planner.toolbox.toolset is LEAN:
        call = "plan", {"write": [*texts]}
    else:
        todos = [{"content": text, "status": "pending"} for text in texts]
        call = "write_todos", {"todos": todos}
    reply = planner.call(*call, actor=actor)
    assert not reply.is_error, reply.text
    return reply.text


def subjects(store):
    return {task.subject for task in store.load("p")}


@ACTORS
def test_the_first_list_of_a_newcomer_removes_nothing(store, toolbox, actors):
    """By whatever planner, of whatever name; the reply says what stays and how to remove it."""
    person, bot = (Planner(store, "p", toolbox=toolbox) for _ in range(2))
    person.apply(CreateTask("Ann's task"), actor="ann")
    assert bot.base_of(actors[0]) is None  # nothing is news to it
    text = write(bot, "Fix", "Release", actor=actors[0])
    assert "not on your list, kept: #1 Ann's task (to remove one, list it as cancelled)" in text
    assert "removed" not in text
    assert "Ann's" not in write(bot, "Fix", "Release", actor=actors[0])
    assert subjects(store) == {"Ann's task", "Fix", "Release"}


@ACTORS
def test_two_agents_on_one_plan_do_not_delete_each_others_tasks(store, toolbox, actors):
    """Our own recipe for DeepAgents: each writes its list, again and again."""
    one, two = (Planner(store, "p", toolbox=toolbox) for _ in range(2))
    for _ in range(3):
        write(one, "Fix", "Release", actor=actors[0])
        write(two, "Tell Ann", "Tell Bob", actor=actors[1])
    assert subjects(store) == {"Fix", "Release", "Tell Ann", "Tell Bob"}


@pytest.mark.parametrize("actor", [None, "bot"])
def test_a_restart_after_compaction_removes_nothing(tmp_path, toolbox, actor):
    """The journal does not say any more what the agent had seen."""
    store = SqliteStore(tmp_path / "plans.db")
    write(Planner(store, "p", toolbox=toolbox), "Fix", actor=actor)
    Planner(store, "p").apply(CreateTask("Ann's task"), actor="ann")
    store.compact("p", keep=0)
    text = write(Planner(store, "p", toolbox=toolbox), "Fix", actor=actor)
    assert "removed" not in text
    assert subjects(store) == {"Fix", "Ann's task"}
