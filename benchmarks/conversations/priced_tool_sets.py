"""The tool sets whose token cost is counted: what each adds to a request, and its replies."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import attrs
from support.tokens import compact, functions

from benchmarks.conversations import scripts
from benchmarks.conversations.scripts import Script
from benchmarks.conversations.tool_host import ToolHost
from benchmarks.handling.player import entry_class
from todoplan import Plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, WRITE_TODOS, Length, ToolSet, tasks

__all__ = ["PricedToolSet", "priced_tool_sets"]


@attrs.frozen(eq=False)
class PricedToolSet:
    """A tool set and a script for it. If `script` is `None`, only the fixed cost is counted."""

    name: str
    host: Callable[[], ToolHost]
    script: Callable[[int], Script] | None = None


def priced_tool_sets() -> list[PricedToolSet]:
    """Return our tool sets, and those of the installed peers."""
    found = [*_ours()]
    for needs, made in _PEERS.items():
        if find_spec(needs):
            found += made()
    return found


def _ours() -> list[PricedToolSet]:
    sets: Mapping[str, tuple[ToolSet, Any]] = {
        "lean": (LEAN, scripts.lean),
        "tasks": (tasks(), scripts.tasks),
        "todos": (TODOS, scripts.whole),
        "write_todos": (WRITE_TODOS, scripts.whole),
    }
    lengths: tuple[Length, ...] = ("compact", "guided")
    return [
        PricedToolSet(f"todoplan {name}, {length}", _our_host(toolset, length), script)
        for name, (toolset, script) in sets.items()
        for length in lengths
    ]


def _our_host(toolset: ToolSet, length: Length) -> Callable[[], ToolHost]:
    definitions = compact(functions(toolset))

    def host() -> ToolHost:
        box, plan = Toolbox(toolset), [Plan()]

        def answer(name: str, arguments: dict[str, Any]) -> str:
            reply = box.call(plan[0], name, arguments)
            if reply.is_error:
                raise AssertionError(reply.text)
            plan[0] = reply.plan
            return reply.text

        return ToolHost(definitions, lambda: toolset.system_prompt(length), answer)

    return host


def _host_of(entry: str) -> ToolHost:
    """Return the tools of an entry of `handling`, which runs them as its own agent does."""
    peer = entry_class(entry)()
    prompt = peer.request()

    def answer(name: str, arguments: dict[str, Any]) -> str:
        return peer.turn([(name, compact(arguments))])[0].text

    return ToolHost(compact(json.loads(peer.tools())), lambda: prompt, answer)


def _langchain() -> list[PricedToolSet]:
    host = partial(_host_of, "langchain")
    return [PricedToolSet("LangChain TodoListMiddleware", host, scripts.whole)]


def _agentscope() -> list[PricedToolSet]:
    host = partial(_host_of, "agentscope")
    lean, asked = (partial(scripts.agentscope, listing=listing) for listing in (False, True))
    return [
        PricedToolSet("AgentScope, lean use", host, lean),
        PricedToolSet("AgentScope, as its texts ask", host, asked),
    ]


def _pydantic() -> list[PricedToolSet]:
    from benchmarks.peers.pydantic_todo_prompts import host  # noqa: PLC0415 - if installed

    lean, read = (partial(scripts.pydantic, reading=reading) for reading in (False, True))
    return [
        PricedToolSet("pydantic-ai-todo, lean use", host, lean),
        PricedToolSet("pydantic-ai-todo, as its texts ask", host, read),
        PricedToolSet("pydantic-ai-todo, list in the prompt", partial(host, shown=True), read),
        PricedToolSet("pydantic-ai-todo, with subtasks", partial(host, subtasks=True)),
    ]


def _harness() -> list[PricedToolSet]:
    from benchmarks.peers.harness_prompts import host  # noqa: PLC0415 - if installed

    return [
        PricedToolSet("pydantic-ai-harness Planning", host),
        PricedToolSet("pydantic-ai-harness, with subtasks", partial(host, subtasks=True)),
    ]


_PEERS: dict[str, Callable[[], list[PricedToolSet]]] = {
    "langchain": _langchain,
    "agentscope": _agentscope,
    "pydantic_ai_todo": _pydantic,
    "pydantic_ai_harness": _harness,
}
