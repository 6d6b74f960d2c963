"""Guidance decisions before and after each request, with 10 to 10,000 messages and a plan of 20."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from benchmarks.figures import rows
from benchmarks.measure import Call, Effort, measure
from benchmarks.ours import plan_like
from todoplan import Plan
from todoplan.dialogue.guidance import Guidance, Memory, Message, ToolResult
from todoplan.dialogue.tools import LEAN

__all__ = ["decisions", "run"]

_SIZES = (10, 100, 1_000, 10_000)
_BASE = "floor, every message looked at"


def run(
    *, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Measure the decisions for every length of the conversation."""
    effort = Effort(rounds=5 if quick else 11)
    found: list[dict[str, Any]] = []
    for size in _SIZES:
        going = {name: each for name, each in decisions(size).items() if not only or name in only}
        new = rows("guidance", size, measure(going, effort), _BASE)
        found += new
        say(
            " | ".join(
                [f"guidance m={size:<7,}", *(f"{r['contender']} {r['us']:,.2f} us" for r in new)]
            )
        )
    return found


def decisions(size: int) -> dict[str, Call]:
    """Return the decisions by name, for a conversation with a number of messages."""
    plan, guidance = plan_like(20), Guidance(LEAN)
    memory = Memory(1, plan.revision)
    talk = [Message(("user", "assistant")[n % 2], f"message {n}") for n in range(size - 1)]
    answered = Message("tool", results=(ToolResult("plan"),))
    final = Message("assistant", "All done!")
    ways = {
        "todoplan, planning call is the last message": [*talk, answered],
        "todoplan, planning call is the first message": [answered, *talk],
        "todoplan, plan lost, reminder built": [final, *talk],
    }
    found = {_BASE: _scan(talk), "floor, a remembered revision": _remembered(plan.revision)}
    for name, messages in ways.items():
        found[name] = _before(guidance, plan, messages, memory, reminds="lost" in name)
    found["todoplan, final answer judged"] = Call(
        lambda: guidance.after_model(plan, final, memory), lambda advice: advice.verdict == "again"
    )
    return found | (_langchain(size) if find_spec("langchain") else {})


def _before(
    guidance: Guidance, plan: Plan, messages: list[Message], memory: Memory, *, reminds: bool
) -> Call:
    return Call(
        lambda: guidance.before_model(plan, messages, memory),
        lambda advice: bool(advice.text) == reminds,
    )


def _scan(talk: list[Message]) -> Call:
    return Call(
        lambda: any(message.results for message in reversed(talk)), lambda found: found is False
    )


def _remembered(revision: int) -> Call:
    kept = {"revision": revision}
    return Call(lambda: kept["revision"] == revision, lambda same: same)


def _langchain(size: int) -> dict[str, Call]:
    """Return LangChain's decisions. It adds its text to every request, and detects no lost plan."""
    from langchain.agents.middleware import ModelRequest, TodoListMiddleware  # noqa: PLC0415
    from langchain_core.messages import AIMessage, HumanMessage  # noqa: PLC0415 - if installed

    middleware: Any = TodoListMiddleware()
    talk: list[Any] = [(HumanMessage, AIMessage)[n % 2](f"message {n}") for n in range(size)]
    model: Any = None
    request = ModelRequest(model=model, messages=talk, state={"messages": talk})
    state = {"messages": talk}
    return {
        "LangChain wrap_model_call": Call(
            lambda: middleware.wrap_model_call(request, lambda given: given),
            lambda given: given.system_message is not None,
        ),
        "LangChain after_model": Call(
            lambda: middleware.after_model(state, None), lambda found: found is None
        ),
    }
