"""The tool sets whose price is counted: what each adds to a request, and how it answers."""

import asyncio
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import attrs

from benchmarks.talks import scripts
from benchmarks.talks.scripts import Script
from benchmarks.talks.vocabulary import compact, function
from todoplan import Plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.lean import LEAN
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.todos import TODOS, WRITE_TODOS
from todoplan.dialogue.tools.toolset import Length, ToolSet

__all__ = ["Host", "Speaker", "speakers"]


@attrs.frozen(eq=False)
class Host:
    """
    A fresh plan behind its tools. `system` is asked before every request: it may show the plan.
    """

    tools: str
    system: Callable[[], str]
    answer: Callable[[str, dict[str, Any]], str]


@attrs.frozen(eq=False)
class Speaker:
    """
    A tool set and a script for it; `script` is `None` where only the fixed cost is counted.
    """

    name: str
    host: Callable[[], Host]
    script: Callable[[int], Script] | None = None


def speakers() -> list[Speaker]:
    """
    Return ours, and those of the peers that are installed.
    """
    found = [*_ours()]
    for needs, made in _PEERS.items():
        if find_spec(needs):
            found += made()
    return found


def _ours() -> list[Speaker]:
    sets: Mapping[str, tuple[ToolSet, Any]] = {
        "lean": (LEAN, scripts.lean),
        "tasks": (tasks(), scripts.tasks),
        "todos": (TODOS, scripts.whole),
        "write_todos": (WRITE_TODOS, scripts.whole),
    }
    lengths: tuple[Length, ...] = ("compact", "guided")
    return [
        Speaker(f"todoplan {name}, {length}", _our_host(toolset, length), script)
        for name, (toolset, script) in sets.items()
        for length in lengths
    ]


def _our_host(toolset: ToolSet, length: Length) -> Callable[[], Host]:
    defined = toolset.definitions()
    told = compact([function(d.name, d.description, d.schema) for d in defined])

    def host() -> Host:
        box, plan = Toolbox(toolset), [Plan()]

        def answer(name: str, arguments: dict[str, Any]) -> str:
            reply = box.call(plan[0], name, arguments)
            if reply.is_error:
                raise AssertionError(reply.text)
            plan[0] = reply.plan
            return reply.text

        return Host(told, lambda: toolset.system_prompt(length), answer)

    return host


def _langchain() -> list[Speaker]:
    from langchain.agents.middleware import TodoListMiddleware  # noqa: PLC0415 - if installed
    from langchain_core.utils.function_calling import convert_to_openai_tool  # noqa: PLC0415

    from benchmarks.peers.langchain import invocation  # noqa: PLC0415

    def host() -> Host:
        middleware = TodoListMiddleware()
        tool = middleware.tools[0]

        def answer(_: str, arguments: dict[str, Any]) -> str:
            command = invocation(tool, {}, compact(arguments))()
            return str(command.update["messages"][0].content)

        told = compact([convert_to_openai_tool(tool)])
        return Host(told, lambda: middleware.system_prompt, answer)

    return [Speaker("LangChain TodoListMiddleware", host, scripts.whole)]


def _agentscope() -> list[Speaker]:
    from benchmarks.peers.agentscope import AgentScopeToolkit  # noqa: PLC0415 - if installed

    def host() -> Host:
        peer = AgentScopeToolkit(0)
        schemas = asyncio.run(peer.toolkit.get_tool_schemas())

        def answer(name: str, arguments: dict[str, Any]) -> str:
            return str(asyncio.run(peer.ask(name, compact(arguments))).content[0].text)

        return Host(compact(schemas), lambda: "", answer)

    return [
        Speaker("AgentScope, lean use", host, lambda n: scripts.agentscope(n, listing=False)),
        Speaker(
            "AgentScope, as its texts ask", host, lambda n: scripts.agentscope(n, listing=True)
        ),
    ]


def _pydantic() -> list[Speaker]:
    from benchmarks.peers.pydantic_speech import host  # noqa: PLC0415 - if installed

    def read(size: int) -> Script:
        return scripts.pydantic(size, reading=True)

    return [
        Speaker("pydantic-ai-todo, lean use", host, lambda n: scripts.pydantic(n, reading=False)),
        Speaker("pydantic-ai-todo, as its texts ask", host, read),
        Speaker("pydantic-ai-todo, list in the prompt", lambda: host(shown=True), read),
        Speaker("pydantic-ai-todo, with subtasks", lambda: host(subtasks=True)),
    ]


def _harness() -> list[Speaker]:
    from benchmarks.peers.harness_speech import host  # noqa: PLC0415 - if installed

    return [
        Speaker("pydantic-ai-harness Planning", host),
        Speaker("pydantic-ai-harness, with subtasks", lambda: host(subtasks=True)),
    ]


_PEERS: dict[str, Callable[[], list[Speaker]]] = {
    "langchain": _langchain,
    "agentscope": _agentscope,
    "pydantic_ai_todo": _pydantic,
    "pydantic_ai_harness": _harness,
}
