"""
A runnable agent that plans, works, is stopped by a crash, resumes from SQLite and finishes.

    python tests/support/langgraph_example.py [database file]

It follows a script and needs no network. With TODOPLAN_MODEL, such as "openai:gpt-5.5", a real
model does the work (install its package and set its key); its run is not interrupted.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from todoplan import LEAN, Toolbox
from todoplan.adapters.langgraph import PlanMiddleware, plan_of_state
from todoplan.dialogue import Settings
from todoplan.dialogue.replies import list_text
from todoplan.errors import MissingExtraError

Say = Callable[[str], object]
Thread = dict[str, Any]

_FIRST = "--first"
_REQUEST = {
    "messages": [("user", "Look up the weather in Oslo and in Rome, compare the two, and tell me.")]
}
_WEATHER = {"Oslo": "4 degrees, rain", "Rome": "18 degrees, sun"}


@tool
def weather(city: str) -> str:
    """Return the weather in a city."""
    return _WEATHER.get(city, "unknown")


def _call(name: str, **arguments: Any) -> Callable[[int], AIMessage]:
    return lambda n: AIMessage(
        "", tool_calls=[{"name": name, "args": arguments, "id": f"call-{n}", "type": "tool_call"}]
    )


def _answer(text: str) -> Callable[[int], AIMessage]:
    return lambda _: AIMessage(text, response_metadata={"finish_reason": "stop"})


_STEPS = (
    _call("plan", write=["Look up Oslo", "Look up Rome", "Compare the two"]),
    _call("weather", city="Oslo"),
    _call("plan", done=[1]),
    _call("weather", city="Rome"),
    _answer("Oslo has rain."),
    _call("plan", done=[2]),
    _call("plan", done=[3]),
    _answer("Rome is 14 degrees warmer than Oslo, and dry."),
)
_CRASH = 3  # the fourth step: one city is in the plan as done, the other is not


class Script(BaseChatModel):
    """Says what the script says, from `place` on, and fails for want of a network at `crash`."""

    place: int = 0
    crash: int = -1

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Return the model as it is."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if self.place == self.crash:
            msg = "the network is down"
            raise ConnectionError(msg)
        said = _STEPS[self.place](self.place)
        self.place += 1
        return ChatResult(generations=[ChatGeneration(message=said)])


def _agent(model: Any, saver: Any) -> Any:
    planner = PlanMiddleware(Toolbox(LEAN), settings=Settings(), emit_events=True)
    return create_agent(model, tools=[weather], middleware=[planner], checkpointer=saver)


def _lines(agent: Any, given: Any, thread: Thread) -> Iterator[str]:
    for mode, chunk in agent.stream(given, thread, stream_mode=["updates", "custom"]):
        if mode == "custom":
            yield f"  plan: {len(chunk['todoplan']['events'])} events"
        for update in chunk.values() if mode == "updates" else ():
            for message in update.get("messages", ()):
                yield f"  {message.type}: {_shown(message)}"


def _shown(message: BaseMessage) -> str:
    made = [f"{c['name']}({c['args']})" for c in getattr(message, "tool_calls", ())]
    return "; ".join(made) or message.text


def run(file: str, model: Any, given: Any, say: Say = print) -> None:
    """
    Let the agent work on the thread in this SQLite file; `None` continues where it stopped.

    Raises:
        MissingExtraError: the SQLite checkpointer is not installed.
    """
    try:
        from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415 - it may be missing
    except ModuleNotFoundError as error:
        msg = "no SQLite; run: pip install 'todoplan[langgraph]' langgraph-checkpoint-sqlite"
        raise MissingExtraError(msg, missing="langgraph-checkpoint-sqlite") from error
    thread: Thread = {"configurable": {"thread_id": "example"}}
    with SqliteSaver.from_conn_string(file) as saver:
        agent = _agent(model, saver)
        for line in _lines(agent, given, thread):
            say(line)
        say("The plan:")
        say(list_text(plan_of_state(agent.get_state(thread))))


def _interrupted(file: str, say: Say) -> None:
    say("A first process:")
    # In a process of its own, so that the plan comes from the database and not from memory.
    command = [sys.executable, __file__, file, _FIRST]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    say(done.stdout.rstrip())
    # The last line is LangGraph's note on the task that failed; the error stands before it.
    say(f"It died: {done.stderr.splitlines()[-2]}")
    say("A second process, from the checkpoint:")
    run(file, Script(place=_CRASH), None, say)


def main(arguments: list[str], say: Say = print) -> None:
    """Run the example with the command line's arguments."""
    name = os.environ.get("TODOPLAN_MODEL")
    with tempfile.TemporaryDirectory() as folder:
        file = arguments[0] if arguments else str(Path(folder) / "plans.sqlite")
        if _FIRST in arguments:
            run(file, Script(crash=_CRASH), _REQUEST, say)
        elif name:
            run(file, init_chat_model(name), _REQUEST, say)
        else:
            _interrupted(file, say)


if __name__ == "__main__":
    main(sys.argv[1:])
