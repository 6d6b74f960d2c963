"""LangGraph's checkpoints over a plan's life: the bytes of the plan's channels in each of them."""

from collections.abc import Iterable
from typing import Any

from langchain.agents.middleware import TodoListMiddleware
from langchain.agents.middleware.todo import PlanningState
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from benchmarks.ours import Sent, life_of
from benchmarks.peers.langchain_turns import graph_of
from benchmarks.workload import title
from todoplan import MemoryStore
from todoplan.adapters.langgraph import PlanState, make_tools
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, tasks

__all__ = ["lives"]

Stored = tuple[int, int]
_OWN = {"todos", "todoplan"}


class Weighing(InMemorySaver):
    """Keeps checkpoints in memory, and the bytes that the plan's channels take in them."""

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, int] = {}
        self.all = 0

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Keep a checkpoint. A channel is only written again if it has changed."""
        for name in _OWN & new_versions.keys() & checkpoint["channel_values"].keys():
            _, data = self.serde.dumps_typed(checkpoint["channel_values"][name])
            self.last[name] = len(data)
            self.all += len(data)
        return super().put(config, checkpoint, metadata, new_versions)


def lives(size: int) -> dict[str, Stored]:
    """Return the bytes of the last plan, and of the plan in all checkpoints, by tool."""
    own, store = TodoListMiddleware().tools, MemoryStore()
    granular = Toolbox(tasks())
    return {
        "LangChain write_todos": _life(own, PlanningState, _lists(size)),
        "todoplan write_todos": _life(make_tools(Toolbox(TODOS)), PlanState, _lists(size)),
        "todoplan TaskUpdate": _life(make_tools(granular), PlanState, life_of(size)),
        "todoplan TaskUpdate, plan in a store": _life(
            make_tools(granular, store=store), PlanState, life_of(size)
        ),
    }


def _lists(size: int) -> Iterable[Sent]:
    for done in range(size + 1):
        statuses = ["completed"] * done + ["in_progress"] + ["pending"] * size
        todos = [
            {"content": title(number + 1), "status": statuses[number]} for number in range(size)
        ]
        yield "write_todos", {"todos": todos}


def _life(tools: Any, schema: Any, sent: Iterable[Sent]) -> Stored:
    saver = Weighing()
    graph = graph_of(schema, tools, checkpointer=saver)
    for number, (name, arguments) in enumerate(sent):
        call = {"name": name, "args": arguments, "id": f"c{number}", "type": "tool_call"}
        # The conversation is not measured, so each turn removes the earlier messages.
        messages = [RemoveMessage(REMOVE_ALL_MESSAGES), AIMessage("", tool_calls=[call])]
        said = graph.invoke({"messages": messages}, {"configurable": {"thread_id": "t"}})
        if said["messages"][-1].status != "success":
            raise AssertionError(said["messages"][-1].content)
        # Only the last checkpoint is kept. All checkpoints of a life of 1,000 tasks take 300 MB.
        saver.storage["t"][""] = dict([*saver.storage["t"][""].items()][-1:])
    return sum(saver.last.values()), saver.all
