"""A person agrees to the plan: it is shown, changed, agreed to, and the run goes on."""

import json

import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import Command
from support.docs import defined
from support.langgraph_threads import ROADS, THREAD, agent, drive
from support.scripted import Scripted, calls, says, wrote

from todoplan import DEFAULT, TASKS, FileStore, MemoryStore, Planner, Status, Task, Toolbox, plan_of
from todoplan.adapters.langgraph import (
    PlanApproval,
    PlanMiddleware,
    edit_plan,
    plan_of_state,
    seed_plan,
)
from todoplan.core.commands import ApprovePlan, CreateTask
from todoplan.dialogue import WRITE_TODOS, Settings

HELLO = {"messages": [("user", "build a shed")]}
ASKING = DEFAULT.but(approval_required="error")
PLANS = calls(("TaskCreate", {"subject": "Dig"}, "a"), ("TaskCreate", {"subject": "Lay"}, "b"))
STARTS = calls(("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "s"))
AGREES = {"approved": True, "by": "ann"}


class Desk:
    """An agent that a person watches, at once or awaited; its plan is in the state or a store."""

    def __init__(self, *script, store=None, is_async=False, toolset=TASKS, settings=None):
        self.store, self.is_async = store, is_async
        self.model = Scripted(script=[*script])
        planning = PlanMiddleware(Toolbox(toolset, ASKING), store=store, settings=settings)
        self.agent = agent(self.model, planner=planning, more=[PlanApproval(planning)])

    def run(self, given):
        """Run the agent, and return what the person is shown, `None` at its end."""
        done = drive(self.agent, given, is_async=self.is_async)
        self.messages = done["messages"]
        asked = done.get("__interrupt__")
        return asked and asked[0].value

    def resume(self, answer):
        return self.run(Command(resume=answer))

    def edit(self, command, actor="ann"):
        return edit_plan(self.agent, THREAD, command, actor=actor).unwrap()

    @property
    def plan(self):
        if self.store is not None:
            return self.store.load("1")
        return plan_of_state(self.agent.get_state(THREAD))

    def said(self):
        """Return the messages in the words of a user."""
        return [one.text for one in self.messages if isinstance(one, HumanMessage)][1:]


@pytest.fixture(params=["state", "memory", "file"])
def store(request, tmp_path):
    made = {"state": None, "memory": MemoryStore(), "file": FileStore(tmp_path / "plans.json")}
    return made[request.param]


@ROADS
def test_the_plan_is_shown_changed_agreed_to_and_worked_off(store, is_async):
    """As a person would do it; the model learns what the person has changed, and starts."""
    desk = Desk(PLANS, STARTS, says("done"), store=store, is_async=is_async)
    shown = desk.run(HELLO)
    assert json.loads(json.dumps(shown)) == shown
    assert shown["plan"] == "#1 [pending] Dig\n#2 [pending] Lay"
    assert shown["revision"] == desk.plan.revision
    assert [todo["content"] for todo in shown["todos"]] == ["Dig", "Lay"]
    assert len(desk.model.requests) == 1
    desk.edit(CreateTask("Ask Bo first"))
    assert desk.resume(AGREES) is None
    assert desk.plan.approved.by == "ann"
    assert [task.subject for task in desk.plan] == ["Dig", "Lay", "Ask Bo first"]
    assert desk.plan["1"].status is Status.IN_PROGRESS
    assert desk.said() == ["I agree to the plan as it stands. Go on with it."]
    assert "#3 Ask Bo first created by ann" in desk.model.requests[1][-1].text


@ROADS
def test_who_does_not_agree_is_asked_again_once_the_plan_has_changed(store, is_async):
    """What the person said is told to the model; while the plan stays it is not shown again."""
    edits = calls(("TaskUpdate", {"taskId": "1", "subject": "Dig deep"}, "c"))
    looks = calls(("TaskList", {}, "d"))
    desk = Desk(PLANS, looks, edits, says("done"), store=store, is_async=is_async)
    desk.run(HELLO)
    shown = desk.resume({"approved": False, "message": "deeper, please", "by": "ann"})
    assert len(desk.model.requests) == 3
    assert "Dig deep" in shown["plan"]
    assert desk.resume(AGREES) is None
    assert desk.said()[0].startswith("I do not agree to the plan yet: deeper, please\n")
    assert desk.plan.approved is not None


def test_an_agent_that_has_no_agreement_may_ask():
    """It is not sent back for the open tasks that it must not start."""
    desk = Desk(PLANS, says("What should be changed"), settings=Settings(unfinished=3))
    desk.run(HELLO)
    assert desk.resume(answer=False) is None
    assert desk.said() == [
        "I do not agree to the plan yet. Ask me what to change, and start nothing."
    ]
    assert desk.messages[-1].text == "What should be changed"
    assert len(desk.model.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        {"approved": "yes"},
        {"approved": True, "who": "ann"},
        {"approved": True, "by": 7},
        {"approved": True, "revision": 1},
        {"approved": True, "revision": True},
    ],
)
def test_an_answer_that_cannot_be_taken_is_asked_for_again(answer):
    """With what was wrong in it: raised, it would be in the thread's way for ever."""
    desk = Desk(PLANS, says("done"))
    assert "problem" not in desk.run(HELLO)
    again = desk.resume(answer)
    assert again["problem"]
    assert desk.plan.approved is None
    assert desk.resume({"approved": True, "by": None, "revision": again["revision"]}) is None
    assert desk.plan.approved.by is None


def test_a_plan_that_is_written_whole_is_not_begun_before():
    """A first list that starts a task is refused by the rule, and shown once it does not."""
    begun = wrote(("Dig", "in_progress"), ("Lay", "pending"))
    waits = wrote(("Dig", "pending"), ("Lay", "pending"))
    desk = Desk(begun, waits, says("done"), toolset=WRITE_TODOS)
    assert desk.run(HELLO)["plan"] == "#1 [pending] Dig\n#2 [pending] Lay"
    assert len(desk.model.requests) == 2
    assert desk.resume(answer=True) is None


def test_nobody_is_asked_where_nothing_is_to_be_agreed_to(store):
    """No plan, a plan that is done, one that was agreed to already, by whatever door."""
    desk = Desk(says("hello"), says("again"), PLANS, says("done"), store=store)
    assert desk.run(HELLO) is None
    seed_plan(desk.agent, THREAD, plan_of([Task("1", "Dig", status="completed")]))
    assert desk.run(HELLO) is None
    assert desk.run(HELLO) is not None
    if store is None:
        desk.edit(ApprovePlan("bo"))
    else:
        Planner(store, "1").apply(ApprovePlan("bo"), actor="bo")
    assert desk.resume("whatever") is None
    assert desk.plan.approved.by == "bo"
    assert desk.said()[-1] == "build a shed"


def test_the_page_on_evidence_does_as_it_says():
    """The run stops, the plan is changed and agreed to, and the model goes on with all of it."""
    waits = wrote(("Dig", "pending"), ("Lay", "pending"))
    done = wrote(("Dig", "completed"), ("Lay", "completed"), ("Ask the neighbours", "completed"))
    model = Scripted(script=[waits, done, says("The shed stands.")])
    names = defined("evidence", "approval", model=model)
    assert names["shown"]["revision"] == 2
    plan = plan_of_state(names["result"])
    assert plan.approved.by == "ann"
    assert [task.subject for task in plan] == ["Dig", "Lay", "Ask the neighbours"]
    assert plan.counts.completed == 3
