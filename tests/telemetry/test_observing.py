"""Spans of a traced toolbox: each call, each task once, whoever carries it out."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from opentelemetry.trace import StatusCode

from todoplan import TASKS, TODOS, Planner, Toolbox
from todoplan.core.commands import (
    Batch,
    ClaimTask,
    CreateTask,
    RecordEvidence,
    RenewClaim,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.model import Todo
from todoplan.core.plan.plan import Plan
from todoplan.dialogue import tasks
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Memory, Message, Settings
from todoplan.dialogue.toolbox import guidance_of
from todoplan.errors import MissingExtraError, PlanError
from todoplan.planner import AsyncPlanner
from todoplan.stores.memory import MemoryStore
from todoplan.stores.sqlite import SqliteStore
from todoplan.telemetry import traced

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Clock:
    """A minute later each time."""

    def __init__(self):
        self.now = START

    def __call__(self):
        self.now += timedelta(minutes=1)
        return self.now


def planner_of(kept, toolset=TASKS, **more):
    """A planner whose toolbox is traced, with a clock of its own."""
    box = traced(Toolbox(toolset), provider=kept.provider, **more)
    return Planner(toolbox=box, clock=Clock())


def create(subject):
    """The arguments of a new task."""
    return {"subject": subject, "description": "x"}


def status(task_id, word):
    """The arguments of a change of status."""
    return {"taskId": task_id, "status": word}


def test_a_call_is_a_plan_span(kept):
    """By the GenAI convention, with the plan as it is afterwards."""
    planner = planner_of(kept)
    planner.turn([Call("TaskCreate", create("Sow"), "c1")], actor="bot")
    planner.call("TaskList")
    first, second = kept.spans()
    assert (first.name, second.name) == ("plan bot", "plan")
    assert dict(first.attributes) == {
        "gen_ai.operation.name": "plan",
        "gen_ai.tool.name": "TaskCreate",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.agent.name": "bot",
        "todoplan.plan.revision": 1,
        "todoplan.plan.tasks": 1,
        "todoplan.plan.completed": 0,
        "todoplan.plan.open": 1,
        "todoplan.call.events": 1,
        "todoplan.call.repairs": 0,
    }
    assert first.start_time <= first.end_time <= second.start_time
    assert first.instrumentation_scope.name == "todoplan"


def test_a_task_is_a_span_from_its_start_to_its_completion(kept):
    """At the plan's own times, also where another process started it."""
    planner = planner_of(kept)
    planner.call("TaskCreate", create("Sow"))
    planner.call("TaskUpdate", status("1", "in_progress"))
    planner.call("TaskUpdate", status("1", "completed"), actor="bot")
    (task,) = kept.spans("task")
    seconds = [int((START + timedelta(minutes=n)).timestamp()) for n in (2, 3)]
    assert [task.start_time // 10**9, task.end_time // 10**9] == seconds
    assert dict(task.attributes) == {
        "todoplan.task.id": "1",
        "todoplan.task.status": "completed",
        "todoplan.task.started": True,
        "gen_ai.agent.name": "bot",
    }
    assert task.status.status_code is StatusCode.UNSET


def test_what_a_person_or_a_worker_closes_has_a_span_too(kept):
    """A failed one is an error; one that nobody started has no length."""
    planner = planner_of(kept)
    planner.apply(CreateTask("Sow", owner="ann"))
    planner.apply(CreateTask("Reap", parent="1"))
    planner.apply(CreateTask("Rest", status="completed"))
    planner.apply(UpdateTask("1", status="in_progress"))
    planner.apply(UpdateTask("1", status="failed"))
    planner.apply(UpdateTask("2", status="cancelled"))
    born, failed, cancelled = kept.spans()
    assert not born.attributes["todoplan.task.started"]
    assert born.start_time == born.end_time
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.attributes["error.type"] == "task_failed"
    assert failed.attributes["gen_ai.agent.name"] == "ann"
    assert cancelled.attributes["todoplan.task.parent"] == "1"
    assert cancelled.start_time == cancelled.end_time


def test_without_times_a_task_ends_with_its_call(kept):
    """An adapter may know no time."""
    from todoplan.adapters.functions.openai_chat import answer  # noqa: PLC0415 - here alone

    box = traced(provider=kept.provider)
    arguments = '{"todos": [{"content": "Sow", "status": "completed"}]}'
    call = {"id": "c1", "type": "function", "function": {"name": "write_todos"}}
    call["function"]["arguments"] = arguments
    answered = answer(box, Plan(), {"role": "assistant", "tool_calls": [call]})
    assert len(answered.plan) == 1
    (plan,), (task,) = kept.spans("plan"), kept.spans("task")
    assert plan.attributes["gen_ai.tool.call.id"] == "c1"
    assert task.start_time == task.end_time == plan.end_time


def test_what_closes_no_task_is_no_end(kept):
    """Nor is what is reopened at once: what counts is how the plan is afterwards."""
    planner = planner_of(kept)
    planner.apply(WriteTodos((Todo("Sow"),)))
    planner.apply(UpdateTask("1", check="it grows"))
    planner.apply(RecordEvidence("1", passed=True))
    planner.apply(Batch((UpdateTask("1", status="completed"), UpdateTask("1", status="pending"))))
    assert kept.spans() == []
    for word in ("completed", "pending", "completed"):  # each later end is one
        planner.call("TaskUpdate", status("1", word))
    assert len(kept.spans("task")) == 2


def test_a_refusal_is_an_event_and_an_error(kept):
    """With the codes of its problems, none of its texts."""
    planner = planner_of(kept)
    planner.call("TaskUpdate", status("9", "completed"))
    (span,) = kept.spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == "unknown_task"
    (event,) = span.events
    assert event.name == "todoplan.refused"
    assert event.attributes["todoplan.problems"] == ("unknown_task",)


def test_warnings_and_repairs_are_counted(kept):
    """Two in progress are a warning; a text in place of a list is mended."""
    planner = planner_of(kept, TODOS)
    todos = '[{"content": "a", "status": "in_progress"}, {"content": "b", "status": "doing"}]'
    planner.call("write_todos", {"todos": todos})
    (span,) = kept.spans()
    assert "single_in_progress" in span.attributes["todoplan.call.warnings"]
    assert span.attributes["todoplan.call.repairs"] > 0


def test_texts_are_left_out_unless_asked_for(kept):
    """They may be anybody's secret."""
    for content in (False, True):
        planner = planner_of(kept, content=content)
        planner.apply(CreateTask("Secret", status="completed"))
    silent, telling = kept.spans()
    assert "Secret" not in str(silent.attributes)
    assert telling.attributes["todoplan.task.subject"] == "Secret"


def test_a_claim_that_is_lost_is_told(kept):
    """To who takes it over, and to who wants to go on with it; else as a span by itself."""
    clock = Clock()
    planner = Planner(MemoryStore(), "p", toolbox=traced(provider=kept.provider), clock=clock)
    planner.apply(CreateTask("Sow"))
    planner.apply(ClaimTask("ann", lease=30))
    with kept.tracer.start_as_current_span("agent"):
        planner.apply(ClaimTask("bob", lease=30))
    planner.apply(RenewClaim("1", fence=1))
    planner.apply(UpdateTask("7", status="completed"))
    (agent,) = kept.spans("agent")
    assert [(event.name, dict(event.attributes)) for event in agent.events] == [
        ("todoplan.claim_lost", {"todoplan.task.id": "1", "todoplan.claim.lost_by": "ann"})
    ]
    assert [span.name for span in kept.spans("todoplan")] == [
        "todoplan.claim_lost",
        "todoplan.refused",
        "todoplan.refused",
    ]


def test_agents_of_a_team_lose_claims_by_their_calls(kept):
    """On the span of the call that takes it over, and of the one that comes too late."""
    clock = Clock()
    box = traced(Toolbox(tasks(team=True)), provider=kept.provider)
    planner = Planner(toolbox=box, clock=clock)
    planner.call("TaskCreate", create("Sow"))
    planner.call("TaskClaim", {}, actor="ann")
    clock.now += timedelta(hours=2)
    planner.call("TaskClaim", {}, actor="bob")
    assert planner.call("TaskUpdate", status("1", "completed"), actor="ann").is_error
    *_, taken, late = kept.spans()
    assert [event.name for event in taken.events] == ["todoplan.claim_lost"]
    assert [event.name for event in late.events] == ["todoplan.refused"]
    assert late.attributes["error.type"] == "claimed"


def test_a_reminder_is_an_event(kept):
    """On the agent's span."""
    guidance = guidance_of(traced(provider=kept.provider), Settings(empty=1))
    with kept.tracer.start_as_current_span("agent"):
        guidance.before_model(Plan(), (), Memory())
        guidance.after_model(Plan(), Message("assistant", "What next?"), Memory())
    (agent,) = kept.spans()
    assert [event.attributes["todoplan.reminder"] for event in agent.events] == ["empty"]
    assert guidance_of(Toolbox(), Settings()).advised is None


def test_spans_stand_within_the_agents(kept, tmp_path):
    """Also where a store is asked in another thread."""
    box = traced(provider=kept.provider)

    async def run():
        planner = AsyncPlanner(SqliteStore(tmp_path / "plans.db"), "p", toolbox=box)
        with kept.tracer.start_as_current_span("agent"):
            await planner.call("write_todos", {"todos": [{"content": "a", "status": "completed"}]})

    asyncio.run(run())
    (agent,) = kept.spans("agent")
    for name in ("plan", "task"):
        (span,) = kept.spans(name)
        assert span.parent.span_id == agent.context.span_id


def test_what_is_answered_again_by_its_key_happened_once(kept, tmp_path):
    """Calls and commands."""
    box = traced(provider=kept.provider)
    planner = Planner(SqliteStore(tmp_path / "plans.db"), "p", toolbox=box)
    for _ in range(2):
        planner.call("write_todos", {"todos": [{"content": "a", "status": "pending"}]}, key="k1")
        planner.apply(UpdateTask("1", status="completed"), key="k2")
    assert [span.name for span in kept.spans()] == ["plan", "task"]


def test_calls_that_are_decided_anew_are_told_once(kept):
    """A store that compares refuses an append where somebody else has written meanwhile."""

    class Busy(MemoryStore):
        tries = 0

        def append(self, *given):
            self.tries += 1
            return self.tries > 1 and super().append(*given)

    planner = Planner(Busy(), "p", toolbox=traced(Toolbox(TASKS), provider=kept.provider))
    planner.call("TaskCreate", create("Sow"))
    (span,) = kept.spans()
    assert span.attributes["todoplan.plan.tasks"] == 1


def test_a_traced_toolbox_is_that_toolbox():
    """The same replies, settings and name."""
    plain = Toolbox(TASKS, show_list=True)
    watched = traced(plain)
    assert repr(watched) == repr(plain)
    assert watched.call(Plan(), "TaskCreate", create("a")) == plain.call(
        Plan(), "TaskCreate", create("a")
    )
    assert watched == traced(plain)
    with pytest.raises(PlanError, match="give a toolbox"):
        traced("tasks")


def test_the_global_provider_is_taken_unless_one_is_given():
    """Where the application has set none up, nothing is written and nothing fails."""
    planner = Planner(toolbox=traced(Toolbox(TASKS)))
    assert not planner.call("TaskCreate", create("Sow")).is_error
    assert planner.apply(UpdateTask("1", status="completed")).events


def test_a_missing_extra_is_named(monkeypatch):
    """Without OpenTelemetry's API the import says which pip command brings it."""
    for name in [name for name in sys.modules if name.startswith("todoplan.telemetry")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[otel\]'"):
        __import__("todoplan.telemetry")


def test_a_checkout_that_is_not_installed_has_a_version_too(kept, monkeypatch):
    """It is that of no release."""
    from importlib import metadata  # noqa: PLC0415 - here alone

    from todoplan import telemetry as observing  # noqa: PLC0415 - here alone

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(observing, "version", missing)
    planner_of(kept).call("TaskList")
    assert kept.spans()[0].instrumentation_scope.version == "0"


def test_nobody_else_loads_it():
    """Neither the package nor its planners and dialogue: it costs nothing where it is off."""
    code = (
        "import sys, todoplan, todoplan.planner, todoplan.dialogue.toolbox;"
        " print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_verifier_goes_with_it(kept):
    """What a program looks into is told once, with what came of it."""
    box = traced(Toolbox(TASKS), provider=kept.provider)
    planner = Planner(toolbox=box, verify=lambda *_: (True, "it does"))
    planner.apply(CreateTask("Sow", check="it grows"))
    assert not planner.call("TaskUpdate", status("1", "completed")).is_error
    assert [span.name for span in kept.spans()] == ["plan", "task"]
