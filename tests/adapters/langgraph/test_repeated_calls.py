"""A node that runs again, since its checkpoint was lost, changes nothing twice."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from support.cut_off import Cut, CutMemory, CutSqlite
from support.scripted import Scripted, calls, says

from todoplan import FileStore, Planner
from todoplan.adapters.langgraph import PlanMiddleware
from todoplan.core import commands
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
QUIET = Settings(plan_lost=False, unfinished=0, changed=False)


def agent(store, saver, *script):
    """Return an agent as another process would build it: it remembers nothing of the one before."""
    ours = PlanMiddleware(Toolbox(tasks()), settings=QUIET, store=store)
    return create_agent(Scripted(script=[*script]), middleware=[ours], checkpointer=saver)


def create(*names, ids=None):
    """Return a model's turn that creates tasks."""
    named = zip(names, ids or names, strict=True)
    return calls(*(("TaskCreate", {"subject": name}, call_id) for name, call_id in named))


def cut_off(store, saver, turn):
    """Run until the store has what a turn did, and LangGraph does not."""
    with pytest.raises(Cut):
        agent(store, saver, turn).invoke(HELLO, THREAD)


def subjects(store):
    """Return the subjects of the plan of the thread."""
    return [task.subject for task in store.load("1")]


def texts(result):
    """Return what the tools have answered."""
    return [one.text for one in result["messages"] if isinstance(one, ToolMessage)]


@pytest.mark.parametrize("kind", [CutMemory, CutSqlite])
def test_a_turn_whose_checkpoint_was_lost_is_answered_again_and_not_done_again(kind, tmp_path):
    """Two calls that are carried out as one: the store has both, LangGraph knows of neither."""
    store = CutMemory() if kind is CutMemory else CutSqlite(tmp_path / "plans.db")
    saver = InMemorySaver()
    cut_off(store, saver, create("a", "b"))
    assert subjects(store) == ["a", "b"]
    result = agent(store, saver, says("done")).invoke(None, THREAD)
    assert subjects(store) == ["a", "b"]
    assert texts(result) == ["0/1: #1 created", "0/2: #2 created"]
    assert result["messages"][-1].text == "done"
    assert [todo["content"] for todo in result["todos"]] == ["a", "b"]
    assert len(store.entries("1")) == 2


def test_what_others_did_meanwhile_stays_and_is_told():
    """The answer of then, and what the model has not seen since; its own work is no news."""
    store, saver = CutMemory(), InMemorySaver()
    cut_off(store, saver, create("a", "b"))
    Planner(store, "1").apply(commands.CreateTask("Tell Ann"), actor="ann")
    first, second = texts(agent(store, saver, says("done")).invoke(None, THREAD))
    assert first.startswith("since you last looked: #3 Tell Ann created by ann"), first
    assert first.endswith("0/1: #1 created")
    assert second == "0/2: #2 created"
    assert subjects(store) == ["a", "b", "Tell Ann"]


def test_the_same_ids_in_the_next_message_are_other_calls():
    """Some providers number the calls of each response anew, and models repeat themselves."""
    store, saver = CutMemory(), InMemorySaver()
    cut_off(store, saver, create("a", ids=["call_1"]))
    script = create("a", ids=["call_1"]), create("a", ids=["call_1"]), says("done")
    agent(store, saver, *script).invoke(None, THREAD)
    assert subjects(store) == ["a", "a", "a"]


class CutFile(FileStore):
    """A store without keys that ends its process right behind an append."""

    is_cut = True

    def append(self, *given):
        """Append, and end."""
        kept = super().append(*given)
        if self.is_cut:
            self.is_cut = False
            raise Cut
        return kept


def test_a_store_that_keeps_no_keys_serves_as_before(tmp_path):
    """It cannot know of the call that was lost: what is made again is done again."""
    store, saver = CutFile(tmp_path / "plans.json"), InMemorySaver()
    cut_off(store, saver, create("a"))
    agent(store, saver, says("done")).invoke(None, THREAD)
    assert subjects(store) == ["a", "a"]
