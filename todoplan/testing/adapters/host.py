"""
The interface between the checks and the author of an adapter, who implements a `Host`. A host is
built from a `Setup`, and each run gets a `Script`.

A host returns what an application would see: the plan and the conversation as the framework stores
them, and requests as they are sent. It must not compute these itself: if a host keeps the plan or
adds a reminder, the checks test the host and not the adapter.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
from asyncio import Barrier as TaskBarrier
from asyncio import BrokenBarrierError as TaskBarrierBroken
from asyncio import timeout
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial, wraps
from itertools import count
from threading import Barrier, BrokenBarrierError, Thread, current_thread, main_thread
from traceback import format_exception
from typing import Any, Literal, Protocol, TypeVar

import attrs
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from todoplan.adapters.functions import openai_chat
from todoplan.core.commands import Command
from todoplan.core.decide import Accepted, Decision, Rejected
from todoplan.core.events.types import Event
from todoplan.core.plan.model import TASK_FIELDS, FieldKind
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT, Policy
from todoplan.dialogue.calls import Call, Reply
from todoplan.dialogue.guidance import TAG, ReminderKind, Settings, reminder
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import BASIC_TOOLSETS, TASKS, TODOS, Definition, ToolSet, tasks
from todoplan.errors import PlanError, TodoplanError
from todoplan.planner.verifying import Verifier
from todoplan.testing.assertions import clipped, must, same, same_parts
from todoplan.testing.failures import TellsFailures
from todoplan.testing.strategies import arguments, broken_arguments

QUIET = Settings(plan_lost=False, unfinished=0, changed=False)
"""Settings without any guidance."""

# LangChain's own limit is 9,999. A run whose model is asked again and again must end here.
_EXTRA_REQUESTS = 30
# How long a session waits at the barrier for another session. A framework may run sessions one
# after the other: then the wait ends without the other session, and this is not a failure.
_PARTNER_SECONDS = 1.0
# How long a run may take to end after it was cancelled at its time limit.
_CANCEL_SECONDS = 1.0

T = TypeVar("T")


@attrs.frozen
class Seen:
    """
    A message in a form common to all frameworks: its role and text, without calls.

    A tool's answer has the `call_id` of its call, and `is_error` if the framework marks errors.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    call_id: str = ""
    is_error: bool = False


@attrs.frozen
class ModelTurn:
    """
    What the model sends in one turn: calls, a text, or both. A turn without calls is a final
    answer.

    The arguments of a call are a dict, or a text to be sent unchanged. `finish` is "refusal" if the
    provider or its filter refused to answer (`Capability.FINISH`). `thoughts` is the separate
    output of a reasoning model (`Capability.THOUGHTS`). The host converts `finish` and `thoughts`
    to its framework's form.
    """

    calls: tuple[Call, ...] = ()
    text: str = ""
    finish: Literal["", "refusal"] = ""
    thoughts: str = ""


class Script:
    """
    The model's turns in one run. It also records the `requests` to the model and the tools
    `offered` to it.

    The framework's model class answers each request with `reply` or `areply`, and passes this
    method the tools of the request if they are known (`Capability.TOOLS`). After the last turn the
    answer is always "Done."; the run fails if the model is asked too often.
    """

    def __init__(
        self,
        *turns: ModelTurn,
        meet: Barrier | TaskBarrier | None = None,
        meanwhile: Mapping[int, Callable[[], None]] | None = None,
    ) -> None:
        self.turns = turns
        # Actions of others while the model answers a request, by the number of the request, from 0.
        self._meanwhile = meanwhile or {}
        self.requests: list[tuple[Seen, ...]] = []
        self.offered: list[tuple[Definition, ...]] = []
        # A barrier at which the models of parallel sessions wait for each other before they answer.
        self._meet = meet

    def reply(
        self, request: Iterable[Seen], tools: Iterable[Definition] | None = None
    ) -> ModelTurn:
        """
        Record a request and the tools offered in it, and return the model's answer.

        Raises:
            AssertionError: the model is asked too often.
        """
        self.requests.append(tuple(request))
        if tools is not None:
            self.offer(tools)
        if do := self._meanwhile.get(len(self.requests) - 1):
            # In a thread, like an edit by another client: the framework's event loop must not be
            # blocked.
            in_thread(do).result()
        extra = len(self.requests) - len(self.turns)
        if isinstance(self._meet, Barrier) and extra <= 0:
            with suppress(BrokenBarrierError):
                self._meet.wait(_PARTNER_SECONDS)
        must(
            extra <= _EXTRA_REQUESTS,
            f"the model was asked {extra} times more than its script has turns",
        )
        return says() if extra > 0 else self.turns[len(self.requests) - 1]

    async def areply(
        self, request: Iterable[Seen], tools: Iterable[Definition] | None = None
    ) -> ModelTurn:
        """Like `reply`; other tasks can run in between."""
        if isinstance(self._meet, TaskBarrier) and len(self.requests) < len(self.turns):
            with suppress(TaskBarrierBroken, TimeoutError):
                async with timeout(_PARTNER_SECONDS):
                    await self._meet.wait()
        return self.reply(request, tools)

    def offer(self, tools: Iterable[Definition]) -> None:
        """Record the offered tools. A framework without a model calls this once in a run."""
        self.offered.append(tuple(tools))


class Clock:
    """A clock that advances only by `move_on`. `clock()` returns an aware time."""

    def __init__(self) -> None:
        self._now = datetime(2025, 1, 31, 12, tzinfo=UTC)  # long ago, so that real time is noticed

    def __call__(self) -> datetime:
        """Return the clock's time."""
        return self._now

    def move_on(self) -> None:
        """Advance the clock by one minute."""
        self._now += timedelta(minutes=1)


@attrs.frozen
class Setup:
    """What a host is built from: tool set and policy, guidance settings, clock and verifier."""

    toolbox: Toolbox = Toolbox()
    settings: Settings = QUIET
    clock: Clock = attrs.field(factory=Clock)
    verify: Verifier | None = None


@attrs.frozen
class Ran:
    """
    The results of a run.

    `messages` is the conversation as the framework stores it after the run, including earlier runs
    and the tools' answers with the ids of their calls. `events` are those that the application
    received in this run, in the order of their revisions. `plan` is the plan read from the result
    of the framework's run (`Capability.RETURNS`).
    """

    messages: Sequence[Seen]
    events: Sequence[Event] = ()
    plan: Plan | None = None


class Host(Protocol):
    """
    One agent of the framework, with the adapter, for any number of named sessions.

    A session is whatever isolates a conversation and its plan from others: a thread, a state, a
    conversation id. A new session has an empty plan.
    """

    def seed(self, session: str, plan: Plan) -> None:
        """Set the plan of a session, as an application does from outside."""
        ...

    def edit(self, session: str, command: Command, actor: str) -> Decision:
        """
        Change the plan of a session as a person does, through the adapter's own function
        (`edit_plan` or similar).

        Called only if `Capability.EDITS` is declared: between two runs, and from another thread
        during a run.

        Raises:
            TodoplanError: the edit is not possible now.
        """
        ...

    def plan(self, session: str) -> Plan:
        """Return the plan of a session, as an application reads it."""
        ...

    async def run(self, session: str, script: Script) -> Ran:
        """
        Run the agent once on a user's message, with a model that answers from the script.

        A framework without a model executes the calls of `script.turns`, turn by turn.
        """
        ...

    def saved(self) -> str | bytes:
        """
        Return what the framework has saved so far: its text or bytes, or the path of its file.

        Called only if `Capability.RESUME` is declared, like `resume`. The plan must be in this text
        or file, and not only in the memory of this process.
        """
        ...

    def resume(self, saved: str | bytes) -> None:
        """Restore, in a new host of the same setup, what an earlier host has saved."""
        ...


# -------- capabilities --------


class Capability(StrEnum):
    """
    A feature that some frameworks do not support. Checks of undeclared capabilities are skipped.

    The guide `write-an-adapter` lists what a host and its adapter must do for each capability.
    """

    # MCP serves tools and has no access to the model: no turns, no reminders, no answers.
    MODEL = "it runs a model whose requests can be read"
    TOOLS = "the tools offered to a model can be read"
    TURNS = "it knows the calls of one model turn and their order"
    REMINDERS = "it can append a text to one request without saving it"
    FURTHER_TURNS = "it can send a final answer back to the model"
    FINISH = "the adapter learns why an answer ended, for example by a refusal"
    THOUGHTS = "a model's thoughts reach the adapter apart from its text"
    # Some frameworks validate arguments before the adapter gets them, and answer with their own
    # texts.
    ARGUMENTS = "arguments that break the schema reach the adapter unchanged"
    # LangChain and the SDKs of Anthropic and Gemini pass on parsed arguments. AgentScope repairs a
    # text by itself, so it has this capability, but not RAW_ARGUMENTS.
    TEXT_ARGUMENTS = "the model sends arguments as a text, which may be invalid JSON"
    RAW_ARGUMENTS = "arguments that are no JSON object reach the adapter as their text"
    BROKEN_TEXTS = "texts with half a surrogate pair do not stop a run"
    # AgentScope does not catch the ValueError of json.loads, which ends the run.
    LONG_NUMBERS = "a number too long for Python neither stops nor hangs a run"
    DEEP_TEXTS = "arguments nested too deeply for Python do not stop a run"
    # OpenAI Agents by default ends the run with a ModelBehaviorError.
    UNKNOWN_TOOLS = "a call of an unknown tool is answered, not raised"
    # OpenAI's APIs have no error flag: an error is only a text.
    ERROR_FLAG = "an answer can be marked as an error"
    EVENTS = "the application receives the events"
    EDITS = "a person can edit a session's plan between two runs"
    LISTED = "a list drops only what its own session has listed (law 15)"
    # If a framework overwrites changes made during a run with its own state, the adapter must
    # refuse edits during a run.
    LIVE_EDITS = "a person can edit the plan during a run, and the edit stays"
    RETURNS = "the result of a run holds the plan"
    VERIFIER = "the program can check whether a task is done before a call completes it"
    CLOCK = "the times of changes can be set"
    RESUME = "the framework saves the plan, and a run resumes from it"
    THREADS = "sessions can run in threads side by side"
    TASKS = "sessions can run as asynchronous tasks side by side"


ALL = frozenset(Capability)
"""All capabilities. Subtract those that the framework does not support."""


Check = TypeVar("Check", bound=Callable[..., Any])


def needs(*wanted: Capability) -> Callable[[Check], Check]:
    """
    Skip a check, or all checks of a class, if one of these capabilities is not declared. The
    message of a failed check names these capabilities.
    """

    def decorate(check: Any) -> Any:
        if isinstance(check, type):
            for name in [name for name in vars(check) if name.startswith("test_")]:
                setattr(check, name, decorate(vars(check)[name]))
            return check

        # `wraps` keeps the signature, from which pytest reads the parameters of a check.
        @wraps(check)
        def checked(self: Checks, *args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            leave_out_without(self, *wanted)
            check(self, *args, **kwargs)

        return checked

    return decorate


def leave_out_without(suite: Checks, *wanted: Capability) -> None:
    """Skip the current check if one of these capabilities is not declared."""
    for capability in wanted:
        if capability not in suite.capabilities:
            pytest.skip(f"not declared: {capability.name}: {capability}")
    declares(suite, *wanted)


def declares(suite: Checks, *wanted: Capability) -> bool:
    """
    Return whether all of these capabilities are declared. If all are declared, the message of a
    failed check names them.
    """
    if not suite.capabilities.issuperset(wanted):
        return False
    suite.needed = (*suite.needed, *wanted)
    return True


# -------- conversations --------
# Fixed and drawn conversations, which must have the same results with all adapters. A conversation
# is several runs. A run is the model's turns up to its final answer.


Run = tuple[ModelTurn, ...]

CHECKED_TOOLSETS: dict[str, ToolSet] = {
    **BASIC_TOOLSETS,
    "renamed": tasks("snake").renamed(TaskCreate="add_step", TaskUpdate="change_step"),
    "renamed_list": TODOS.renamed(write_todos="TodoWrite"),
}
"""The tool sets that the checks use, by name."""

each_toolset = pytest.mark.parametrize("toolset", CHECKED_TOOLSETS.values(), ids=CHECKED_TOOLSETS)


def turn(*calls: tuple[str, Any], text: str = "") -> ModelTurn:
    """Return a turn with calls, each given as (name, arguments)."""
    return ModelTurn(tuple(Call(name, arguments) for name, arguments in calls), text)


def says(text: str = "Done.") -> ModelTurn:
    """Return a final answer; without a text, that of a `Script` after its last turn."""
    return ModelTurn(text=text)


def _read(arguments: Any) -> Any:
    """Return arguments as read back from JSON, where a pair of surrogates becomes one character."""
    return arguments if isinstance(arguments, str) else json.loads(json.dumps(arguments))


def _as_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def is_utf8(arguments: Any) -> bool:
    """Return whether arguments can be encoded as UTF-8 after they were read back from JSON."""
    text = json.dumps(_read(arguments), ensure_ascii=False)
    return text == text.encode("utf-8", "replace").decode("utf-8")


def write(*entries: tuple[str, str], **more: Any) -> dict[str, Any]:
    """Return the arguments of a whole-list write; entries are given as (content, status)."""
    return {"todos": [{"content": text, "status": status} for text, status in entries], **more}


def writes(*entries: tuple[str, str] | str) -> ModelTurn:
    """Return a turn with a whole-list write. An entry that is only a text is pending."""
    pairs = ((each, "pending") if isinstance(each, str) else each for each in entries)
    return turn(("write_todos", write(*pairs)))


def creates(subject: str, **more: object) -> ModelTurn:
    """Return a turn that creates a task."""
    return turn(("TaskCreate", {"subject": subject, **more}))


def changes(*task_ids: str, **changes: object) -> ModelTurn:
    """Return a turn that makes the same change to each of the tasks."""
    return turn(*(("TaskUpdate", {"taskId": each, **changes}) for each in task_ids))


LISTS = turn(("TaskList", {}))


@attrs.frozen
class Samples:
    """
    Sample calls of a tool set, under the names of its tools in texts and files.

    The checks have the `conversation` with every adapter. It calls every tool that writes, each of
    its runs changes the plan, and one of its calls is refused.

    `completing` are calls that create the tasks "Write it" and "Test it", and start and complete
    each of them. Every preset accepts them if the tools have the fields that it requires.
    `waiting` are calls that make both tasks wait, if both are pending.
    """

    conversation: tuple[Run, ...]
    completing: tuple[Call, ...]
    waiting: tuple[Call, ...]


def _two(first: str, second: str) -> dict[str, Any]:
    """Return the arguments of a whole-list write of the two tasks, with these statuses."""
    tasks = ("Write it", "Writing it", first), ("Test it", "Testing it", second)
    return {
        "todos": [
            {"content": content, "activeForm": form, "priority": "high", "status": status}
            for content, form, status in tasks
        ]
    }


_LIST = (
    (
        writes(("Dig", "in_progress"), "Lay", "Fill"),
        turn(("read_todos", {}), text="Let me see."),
        writes(("Dig", "completed"), ("Lay", "in_progress"), "Mow"),
        says(),
    ),
    (
        writes(("Dig", "completed"), ("Lay", "in_progress"), "Mow"),
        writes(("Lay", "completed"), "Dig"),
        turn(("write_todos", {"todos": []})),
        turn(("write_todos", {"todos": [], "clear": True}), ("read_todos", {})),
        says(),
    ),
)
_RAKE = {"subject": "Rake"}
_ITEMS = (
    (
        creates("Dig", description="Two metres.\nNot more."),
        turn(
            ("TaskCreate", {"subject": "Lay", "blockedBy": ["1"], "priority": "high"}),
            ("TaskCreate", {"subject": "Fill", "owner": "Ann", "estimate": 30}),
            ("TaskUpdate", {"taskId": "3", "addBlockedBy": ["2"], "metadata": {"bed": [1, None]}}),
        ),
        turn(("TaskUpdate", {"taskId": "1", "status": "in_progress"}), ("TaskList", {})),
        turn(("TaskUpdate", {"taskId": "1", "status": "completed"}), text="Dug."),
        turn(("TaskGet", {"taskId": "2"})),
        says(),
    ),
    (
        changes("3", status="deleted"),
        turn(("TaskCreate", {"tasks": [{"subject": "Mow"}, {**_RAKE, "blockedBy": ["#0"]}]})),
        changes("2", status="cancelled", owner="Bo"),
        changes("1", status="pending", priority="low"),
        turn(("TaskGet", {"taskId": "9"}), ("TaskUpdate", {"taskId": "4", "addBlockedBy": ["5"]})),
        says(),
    ),
)
_STEPS = (
    (
        turn(("plan", {"write": ["Dig", "Lay", "Fill"]})),
        turn(("plan", {"done": [1]}), ("plan", {"add": ["Mow"]})),
        turn(("plan", {})),
        says(),
    ),
    (
        turn(("plan", {"edit": [{"id": 4, "text": "Mow it", "after": [3]}], "drop": [2]})),
        turn(("plan", {"done": [3], "add": ["Rake"]}), text="Filled."),
        turn(("plan", {"edit": [{"id": 3, "after": [4]}]})),
        says(),
    ),
)
SAMPLES = {
    "todos": Samples(
        conversation=_LIST,
        completing=(
            Call("write_todos", _two("in_progress", "pending")),
            Call("write_todos", _two("completed", "in_progress")),
            Call("write_todos", _two("completed", "completed")),
        ),
        waiting=(Call("write_todos", _two("waiting", "waiting")),),
    ),
    "tasks": Samples(
        conversation=_ITEMS,
        completing=(
            *creates("Write it", activeForm="Writing it", priority="low").calls,
            *creates("Test it", activeForm="Testing it", priority="low").calls,
            *changes("1", status="in_progress").calls,
            *changes("1", status="completed").calls,
            *changes("2", status="in_progress").calls,
            *changes("2", status="completed").calls,
        ),
        waiting=changes("1", "2", waitingFor="Ann").calls,
    ),
    "lean": Samples(
        conversation=_STEPS,
        completing=(
            Call("plan", {"write": ["Write it", "Test it"]}),
            Call("plan", {"done": [1]}),
            Call("plan", {"done": [2]}),
        ),
        waiting=(Call("plan", {"wait": {"1": "Ann", "2": "Bo"}}),),
    ),
}
"""Sample calls, by the name of the tool set. The tests of a tool set take their calls from here."""


def conversation(toolset: ToolSet) -> tuple[Run, ...]:
    """Return the runs of a fixed conversation, with the tools of a set under their shown names."""

    def shown(one: ModelTurn) -> ModelTurn:
        calls = (attrs.evolve(call, name=toolset.shown(call.name)) for call in one.calls)
        return attrs.evolve(one, calls=tuple(calls))

    return tuple(tuple(map(shown, run)) for run in SAMPLES[toolset.name].conversation)


def conversations(toolset: ToolSet) -> st.SearchStrategy[tuple[Run, ...]]:
    """Draw one or two runs of up to three turns with up to three calls each."""
    calls = st.lists(arguments(toolset), min_size=1, max_size=3)
    return st.lists(_run(calls), min_size=1, max_size=2).map(tuple)


def broken_runs(
    toolset: ToolSet, *, raw: bool, whole: bool = False, deep: bool = True
) -> st.SearchStrategy[Run]:
    """
    Draw runs of up to three turns with broken calls.

    The arguments of a call are an object; with `raw`, they may also be a text. With `deep`, they
    may be nested too deeply for Python to read. With `whole`, all arguments can be encoded as
    UTF-8.
    """

    def sent(call: Call) -> Call:
        given = call.arguments
        return Call(call.name, given if isinstance(given, dict) else _as_text(given))

    broken = broken_arguments(toolset, raw=raw).map(lambda one: sent(one.call))
    fitting = broken.filter(
        lambda call: (
            (raw or isinstance(call.arguments, dict))
            and not (whole and not is_utf8(call.arguments))
            and (deep or DEEPEST not in str(call.arguments))
        )
    )
    return _run(st.lists(fitting | arguments(toolset), min_size=1, max_size=2))


# Python's recursion limit is 1,000 levels, including the frames of functions.
DEEPEST = "[" * 1_000


def _run(calls: st.SearchStrategy[list[Call]]) -> st.SearchStrategy[Run]:
    turn = calls.map(lambda made: ModelTurn(tuple(made)))
    return st.lists(turn, max_size=3).map(lambda turns: (*turns, says()))


# -------- outcome --------
# The results of a run are compared with those of the function-calling adapter for the same turns.
# That adapter is the reference because it only converts between JSON and the toolbox. If another
# adapter gives a different result, it adds or loses something (law 12).


__tracebackhide__ = True  # pytest then ends its traceback at the check

_TIMES = [name for name, field in TASK_FIELDS.items() if field.kind is FieldKind.TIME]
_OTHERS = [name for name in TASK_FIELDS if name not in _TIMES]
# The part of a reminder that reports changes by others.
_UNSEEN = re.compile(r" \(since you last looked: [^\n]*\)(?=\. It stands at )")
# Times are removed before events are compared: adapters without Capability.CLOCK use real time.
_TIME = re.compile(r"datetime\.datetime\((?:[^()]|\([^()]*\))*\)")


def expected(setup: Setup, plan: Plan, run: Run) -> tuple[Plan, dict[str, Reply]]:
    """Run turns with the function-calling adapter; return the plan and the replies by call id."""
    replies: dict[str, Reply] = {}
    for turn in run:
        calls = []
        for call in turn.calls:
            function = {"name": call.name, "arguments": _as_text(call.arguments)}
            calls.append({"id": call.call_id, "type": "function", "function": function})
        message = {"role": "assistant", "content": turn.text, "tool_calls": calls}
        answered = openai_chat.answer(setup.toolbox, plan, message, at=setup.clock())
        plan = answered.plan
        replies |= {reply.call_id: reply for reply in answered.replies}
    return plan, replies


@attrs.frozen
class Outcome:
    """
    The results of a run: what the host returned, the plan after the run, the requests to the model,
    and the tools offered in each request. `wanted` is the expected plan, `replies` are the expected
    replies by call id.
    """

    ran: Ran
    plan: Plan
    requests: Sequence[tuple[Seen, ...]]
    offered: Sequence[tuple[Definition, ...]]
    wanted: Plan
    replies: Mapping[str, Reply]

    def request(self, index: int) -> tuple[Seen, ...]:
        """Return the request with an index. Negative indexes count from the last request."""
        count = len(self.requests)
        must(-count <= index < count, f"no request {index}: the model was asked {count} times")
        return self.requests[index]

    def answer(self, call_id: str) -> Seen:
        """Return the stored answer to a call."""
        found = [seen for seen in self.ran.messages if seen.call_id == call_id]
        # Exactly one: providers refuse a request in which a call has no answer.
        ids = [seen.call_id for seen in self.ran.messages if seen.call_id]
        must(
            len(found) == 1,
            f"the call {call_id} has {len(found)} answers, wanted one; the {len(self.ran.messages)}"
            f" messages that host.run returned have answers to {ids}",
        )
        return found[0]

    @property
    def answers(self) -> list[str]:
        """The texts of the stored answers to all calls."""
        return [self.answer(call_id).text for call_id in self.replies]

    def agrees(self) -> None:
        """Fail unless the plan and the replies to all calls are the expected ones."""
        self.same_plan()
        self.same_replies()

    def same_plan(self) -> None:
        """
        Fail unless the plan is the expected one: order, ids, edges, next id and revision. Times are
        not compared.
        """
        same_parts(_parts(self.plan), _parts(self.wanted), "the plan")

    def returns_plan(self) -> None:
        """Fail unless the plan in the run's result equals the one that the framework stores."""
        found = self.ran.plan
        must(found is not None, "Ran(plan=...) is missing: read it from the result of the run")
        same_parts(_all(found), _all(self.plan), "the plan in the run's result")

    def same_times(self) -> None:
        """Fail unless all times in the plan are the expected ones."""
        found, wanted = (_fields(each, _TIMES) for each in (self.plan, self.wanted))
        same_parts(found, wanted, "the times of the plan")

    def same_replies(self) -> None:
        """Fail unless every call is answered with the expected text."""
        found = {key: self.answer(key).text for key in self.replies}
        same_parts(found, {key: reply.text for key, reply in self.replies.items()}, "the replies")

    def same_marks(self) -> None:
        """Fail unless an answer is marked as an error exactly if its reply is an error."""
        found = [key for key in self.replies if self.answer(key).is_error]
        wanted = [key for key, reply in self.replies.items() if reply.is_error]
        same(found, wanted, "the calls whose answers are marked as errors")

    def same_events(self) -> None:
        """Fail unless the application received the expected events, in order."""
        wanted = [event for reply in self.replies.values() for event in reply.events]
        found, wanted_parts = _numbered(self.ran.events), _numbered(wanted)
        same_parts(found, wanted_parts, "the events that the application received")

    def ends_with_reminder(self, index: int, kind: ReminderKind, plan: Plan) -> None:
        """
        Fail unless a request ends with a reminder of this kind, and contains no other reminder.

        The reminder must name the tools as the tool set `tasks` names them.
        """
        # Whether the reminder also lists changes by others depends on what the session last saw
        # (law 15), so that part is not compared.
        wanted, tail = reminder(kind, plan, TASKS), _UNSEEN.sub("", self.request(index)[-1].text)
        # The last message may have more than the reminder: for Anthropic, the reminder follows the
        # tool results in the same message.
        same(tail[-len(wanted) :], wanted, f"the end of request {index}")
        self.has_reminders(index, times=1)

    def has_reminders(self, index: int, *, times: int) -> None:
        """Fail unless a request contains this number of reminders."""
        found = sum(seen.text.count(f"<{TAG}>") for seen in self.request(index))
        same(found, times, f"the number of reminders in request {index}")

    def has_no_reminders(self) -> None:
        """Fail if any request contains a reminder."""
        for index in range(len(self.requests)):
            self.has_reminders(index, times=0)

    def keeps_no_reminder(self) -> None:
        """Fail if the stored conversation contains a reminder."""
        kept = [seen.text for seen in self.ran.messages if f"<{TAG}>" in seen.text]
        same(kept, [], "the reminders in the stored conversation")


@attrs.define
class Transcript:
    """
    A run, for the message of a failure. `script` has recorded the requests, and `kept` has the
    messages that the host returned.
    """

    session: str
    script: Script
    kept: Sequence[Seen] = ()

    def exchanges(self) -> list[str]:
        """Return the model's answer to each request, and the answers to its calls."""
        requests, turns = self.script.requests, self.script.turns
        answers = {seen.call_id: seen for request in requests for seen in request}
        answers |= {seen.call_id: seen for seen in self.kept}
        # A framework without a model makes no requests and executes all turns.
        count = len(requests) or len(turns)
        texts = []
        for place, turn in enumerate((*turns, *[says()] * count)[:count]):
            lines = [f"session {self.session}, exchange {place + 1}:"]
            if requests and requests[place] and not requests[place][-1].call_id:
                lines.append(f"  {_line(requests[place][-1])}")
            lines += [f"  model: {turn.text!r}"] if turn.text or not turn.calls else []
            for call in turn.calls:
                lines.append(f"  model: {call.name}({call.arguments!r}) as {call.call_id}")
                answer = answers.get(call.call_id)
                lines.append(f"  {_line(answer) if answer else 'no answer was found'}")
            texts.append("\n".join(lines))
        return texts


def _line(seen: Seen) -> str:
    mark = f" {seen.call_id}" if seen.call_id else ""
    return f"{seen.role}{mark}{' (error)' if seen.is_error else ''}: {seen.text!r}"


def _parts(plan: Plan) -> dict[str, object]:
    whole = {"revision": plan.revision, "next id": plan.next_id, "ids": [task.id for task in plan]}
    return {**whole, **_fields(plan, _OTHERS)}


def _all(plan: Plan | None) -> dict[str, object]:
    return {} if plan is None else {**_parts(plan), **_fields(plan, _TIMES)}


def _fields(plan: Plan, names: Iterable[str]) -> dict[str, object]:
    return {f"#{task.id} {name}": getattr(task, name) for task in plan for name in names}


def _numbered(events: Iterable[Event]) -> dict[str, object]:
    return {str(n): _TIME.sub("time", repr(event)) for n, event in enumerate(events, 1)}


# -------- harness --------


# Without the phase "explain", which would only report that every failure ran the failing line.
_PHASES = tuple(phase for phase in Phase if phase is not Phase.explain)


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Start a function in a thread. If the function hangs, Python can still exit."""
    future: Future[T] = Future()

    def carry_out() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is read
            future.set_exception(error)

    Thread(target=copy_context().run, args=(carry_out,), daemon=True).start()
    return future


class _BlockedError(BaseException):
    """
    Raised in a run that blocks its thread. It is a `BaseException`, so that frameworks do not catch
    it as an error of a tool.
    """


@contextmanager
def interrupting(seconds: float) -> Iterator[None]:
    """
    Interrupt the `with` block by a signal after some seconds, even if it blocks the thread.

    This works only in the main thread, because other threads receive no signals, and not on
    Windows, which has no SIGALRM.
    """
    # The run is not moved to a thread that could be abandoned: objects of a framework, such as a
    # connection to SQLite, may belong to the thread that made them.
    if current_thread() is not main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def interrupt(*_: object) -> None:
        raise _BlockedError

    handler = signal.signal(signal.SIGALRM, interrupt)
    # The signal is repeated every second, because a framework may catch the first one.
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        with suppress(_BlockedError):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


class HungError(AssertionError):
    """A run took longer than the suite's `time_limit`."""


class Checks(TellsFailures):
    """
    Base class of all checks.

    `drawing` has Hypothesis' settings for drawn conversations. `time_limit` is the number of
    seconds that a run may take: if a run hangs, its check fails and the next check begins. A run
    that blocks its thread is interrupted only in the main thread and not on Windows.
    """

    capabilities: frozenset[Capability] = ALL
    needed: tuple[Capability, ...] = ()
    time_limit: float = 30.0
    # Few examples, because each one is a whole conversation through the framework and takes long.
    drawing: settings = settings(max_examples=10, deadline=None, phases=_PHASES)
    latest: Harness | None = None

    def exchanges(self) -> list[str]:
        """Return the exchanges in all runs of the latest harness."""
        transcripts = self.latest.transcripts if self.latest else ()
        return [
            f"run {n}, {each}" for n, one in enumerate(transcripts, 1) for each in one.exchanges()
        ]

    def remedy(self) -> str:
        """
        Return advice for a check that failed: remove a capability that the framework cannot have.

        The text names the capabilities that the check needs, the latest first.
        """
        named = [f"{each.name} ({each})" for each in reversed(self.needed)]
        advice = "if the framework cannot do this, remove the capability from `capabilities`: "
        return advice + ", or ".join(named) if named else ""

    def host(self, setup: Setup) -> Host:  # noqa: ARG002 - for subclasses
        """
        Return a new host: the framework with the adapter in it. Override this method.

        Raises:
            PlanError: the suite does not override it.
        """
        name = type(self).__name__
        msg = (
            f"{name} has no host; write `def host(self, setup): return MyHost(setup)`: the"
            " framework with your adapter in it"
        )
        raise PlanError(msg, suite=name)

    def harness(
        self,
        toolset: ToolSet = TASKS,
        guidance: Settings = QUIET,
        *,
        policy: Policy = DEFAULT,
        verify: Verifier | None = None,
    ) -> Harness:
        """Return a harness with a new host."""
        setup = Setup(Toolbox(toolset, policy), guidance, verify=verify)
        self.latest = Harness(self, setup)
        return self.latest


@attrs.define
class Harness:
    """Runs a host, and computes the expected results with the function-calling adapter."""

    checks: Checks
    setup: Setup
    host: Host = attrs.field(init=False)
    transcripts: list[Transcript] = attrs.field(factory=list)
    _numbers: Iterator[int] = attrs.field(factory=partial(count, 1))

    def __attrs_post_init__(self) -> None:
        self.host = self.checks.host(self.setup)

    @property
    def plan(self) -> Plan:
        """The plan of the session "one", as an application reads it."""
        return self.host.plan("one")

    def go(self, scripts: Mapping[str, Script], *, threads: bool = False) -> dict[str, Outcome]:
        """
        Run each of the named sessions once, all at the same time: as tasks of one event loop, or in
        threads.

        Raises:
            HungError: a run takes longer than the time limit.
        """
        wanted = {
            name: expected(self.setup, self.host.plan(name), script.turns)
            for name, script in scripts.items()
        }
        talks = {name: Transcript(name, script) for name, script in scripts.items()}
        self.transcripts += talks.values()
        ran: dict[str, Ran] = {}

        async def run(name: str) -> None:
            ran[name] = await self.host.run(name, scripts[name])
            talks[name].kept = ran[name].messages

        async def limited(names: Iterable[str]) -> None:
            limit = timeout(self.checks.time_limit)
            try:
                async with limit:
                    await asyncio.gather(*map(run, names))
            except TimeoutError:
                if not limit.expired():  # it is an error of the framework
                    raise

        # A run that awaits something is cancelled at its limit. A run that blocks its thread is
        # interrupted, or its thread is left running.
        patience = self.checks.time_limit + _CANCEL_SECONDS
        if threads:
            started = [in_thread(partial(asyncio.run, limited([name]))) for name in scripts]
            for future in wait(started, patience).done:
                future.result()
        else:
            with interrupting(patience):
                asyncio.run(limited(scripts))
        if hung := [talk for name, talk in talks.items() if name not in ran]:
            head = f"the run took longer than {self.checks.time_limit:g} seconds (`time_limit`):"
            last = [line for each in hung[0].exchanges()[-1:] for line in each.splitlines()]
            msg = "\n  ".join([head, *map(clipped, last)])
            # If the check needs capabilities, its failure names them.
            if not self.checks.needed:
                msg += "\n  no capability excuses this: every adapter has to answer these calls"
            raise HungError(msg)
        return {
            name: Outcome(
                ran[name], self.host.plan(name), script.requests, script.offered, *wanted[name]
            )
            for name, script in scripts.items()
        }

    def together(
        self, runs: Mapping[str, Sequence[ModelTurn]], *, threads: bool
    ) -> dict[str, Outcome]:
        """Run each of the named sessions once; their models answer at the same time."""
        # Without the barrier one session could end before the other begins. Then a fault that
        # confuses parallel sessions would not be found.
        meet = Barrier(len(runs)) if threads else TaskBarrier(len(runs))
        made = zip(runs, self.numbered(*runs.values()), strict=True)
        scripts = {name: Script(*turns, meet=meet) for name, turns in made}
        return self.go(scripts, threads=threads)

    def runs(self, *runs: Sequence[ModelTurn], session: str = "one") -> list[Outcome]:
        """
        Run a session several times, one minute apart.

        Without `Capability.TURNS`, each call gets a turn of its own.
        """
        done = []
        for turns in self.numbered(*runs):
            done.append(self.go({session: Script(*turns)})[session])
            self.setup.clock.move_on()
        return done

    def numbered(self, *runs: Sequence[ModelTurn], whole: bool = False) -> tuple[Run, ...]:
        """
        Return the runs with an id for each call.

        Without `Capability.TURNS`, each call gets a turn of its own, unless `whole` is true.
        """
        # Most frameworks run the calls of a turn in parallel. An adapter that does not know which
        # calls belong to a turn cannot keep their order.
        whole = whole or Capability.TURNS in self.checks.capabilities

        def named(one: ModelTurn) -> list[ModelTurn]:
            # Ids are unique in a harness, because an answer is looked up by id in the whole
            # conversation.
            calls = tuple(
                Call(call.name, _read(call.arguments), f"call_{next(self._numbers)}")
                for call in one.calls
            )
            parts = [calls] if whole or not calls else [(call,) for call in calls]
            return [attrs.evolve(one, calls=part) for part in parts]

        return tuple(tuple(each for one in run for each in named(one)) for run in runs)

    def run(self, *turns: ModelTurn, session: str = "one") -> Outcome:
        """Run a session once."""
        return self.runs(turns, session=session)[0]

    def at_once(self, *turns: ModelTurn) -> Outcome:
        """
        Run a session once. The calls of a turn stay together, even without `Capability.TURNS`.
        """
        (run,) = self.numbered(turns, whole=True)
        return self.go({"one": Script(*run)})["one"]

    def error(self, *turns: ModelTurn) -> str:
        """
        Run a session once. Return the text of the error that it raises, with its causes, or "" if
        it raises none.
        """
        try:
            self.run(*turns)
        except HungError:
            raise
        except Exception as error:  # noqa: BLE001 - frameworks raise errors of their own
            return "".join(format_exception(error)).strip()
        return ""

    def restart(self) -> None:
        """
        Continue with a new host that resumes from the saved data.

        The saved data must be text or bytes. A live object would survive the simulated restart in
        memory, so the check would pass even if the adapter had saved nothing.

        Raises:
            AssertionError: the host returns something else.
        """
        saved = self.host.saved()
        kind = type(saved).__name__
        must(
            isinstance(saved, str | bytes),
            f"host.saved() returned a {kind}, wanted a text or bytes: what the framework has"
            " saved, or the path of its file",
        )
        self.host = self.checks.host(self.setup)
        self.host.resume(saved)

    def edit(self, command: Command, actor: str) -> None:
        """
        Change the plan of the session "one" as a person does.

        Raises:
            AssertionError: the edit was refused, or it was accepted but is not in the host's plan
                (law 16).
        """
        decision = self.host.edit("one", command, actor)
        must(isinstance(decision, Accepted), f"the edit {command} was answered by {decision}")
        what = f"the edit {command} was accepted, and host.plan returns"
        same([*self.plan], [*decision.unwrap()], what)

    def edited_meanwhile(
        self, command: Command, actor: str, *turns: ModelTurn, request: int
    ) -> tuple[Outcome, str]:
        """
        Run the session "one" once; a person changes the plan while the model answers request number
        `request`.

        Return the outcome, and the reason why the edit was refused. The reason is "" if the edit
        was accepted.
        """
        refused: list[str] = []

        def edit() -> None:
            try:
                decision = self.host.edit("one", command, actor)
            except TodoplanError as error:
                refused.append(str(error))
            else:
                refused.append(decision.text if isinstance(decision, Rejected) else "")

        (run,) = self.numbered(turns)
        outcome = self.go({"one": Script(*run, meanwhile={request: edit})})["one"]
        must(refused, f"the model was not asked {request + 1} times")
        return outcome, refused[0]

    def seed(self, *subjects: str, session: str = "one") -> Plan:
        """
        Add tasks to the plan of a session as an application does, and return the plan.

        Raises:
            AssertionError: the host's plan does not have the tasks.
        """
        plan, box = self.host.plan(session), Toolbox(TASKS)
        for subject in subjects:
            plan = box.call(plan, "TaskCreate", {"subject": subject}, at=self.setup.clock()).plan
        self.host.seed(session, plan)
        found = self.host.plan(session)
        what = f"{len(plan)} tasks were seeded in {session!r}, and host.plan returns {len(found)}"
        must(len(found) == len(plan), what)
        return found
