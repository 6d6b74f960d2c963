"""Planners in the manner of others, and planning in `create_deep_agent`."""

# pyright: reportArgumentType=false, reportIncompatibleMethodOverride=false

import sys

import pytest
from deepagents import HarnessProfile, create_deep_agent, register_harness_profile
from deepagents.backends import FilesystemBackend
from deepagents.profiles import GeneralPurposeSubagentProfile
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.messages import AIMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from support.langgraph_threads import HELLO, THREAD, agent, answers
from support.scripted import Scripted, calls, says, wrote

from todoplan import CLAUDE_STRICT, DEFAULT, LEAN, MemoryStore, Toolbox
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    claude_like,
    deep_planning,
    deerflow_like,
    langchain_like,
    plan_of_state,
)
from todoplan.dialogue import Settings, ToolSet, tasks
from todoplan.dialogue.guidance import is_reminder
from todoplan.errors import MissingExtraError, PlanError


def run(script, planner):
    model = Scripted(script=script)
    done = agent(model, planner=planner).invoke(HELLO, THREAD)
    return model, done, plan_of_state(done)


def statuses(done):
    return [m.status for m in done["messages"] if isinstance(m, ToolMessage)]


def item(content, status, active="Doing", **more):
    return {"content": content, "status": status, "activeForm": active, **more}


def todo_write(*items, call_id="w", name="TodoWrite"):
    return wrote(*items, name=name, call_id=call_id)


def told(model):
    """The reminder of each request, or ""."""
    return [r[-1].text if is_reminder(r[-1].text) else "" for r in model.requests]


def test_langchain_like():
    """What LangChain accepts is accepted; each reply has the list, and nobody is reminded."""
    script = [
        wrote(("a", "in_progress"), ("b", "in_progress"), call_id="1"),
        wrote(("a", "completed"), ("b", "pending"), call_id="2"),
        wrote(("a", "pending"), ("b", "pending"), call_id="3"),
        wrote(call_id="4"),
        wrote(("c", "pending"), call_id="5"),
        says("early"),
    ]
    model, done, plan = run(script, langchain_like())
    assert statuses(done) == ["success"] * 5
    assert "[in_progress] a" in answers(done)[0]
    assert told(model) == [""] * 6
    assert [t.subject for t in plan] == ["c"]
    assert done["messages"][-1].text == "early"
    # Any argument of the middleware can be given beside.
    script = [wrote(("a", "pending")), wrote(call_id="2"), says("x")]
    assert statuses(run(script, langchain_like(policy=DEFAULT))[1]) == ["success", "error"]


def test_claude_like_from_creation_to_the_end():
    """Two tasks in progress are refused, early answers sent back, and the end is noted."""
    lists = [
        [item("a", "in_progress"), item("b", "in_progress")],
        [item("a", "in_progress"), item("b", "pending")],
        [item("a", "completed"), item("b", "in_progress")],
        [item("a", "completed"), item("b", "completed")],
        [],
    ]
    script = [todo_write(*each, name="Plan", call_id=str(n)) for n, each in enumerate(lists)]
    script.insert(2, AIMessage([{"type": "text", "text": "early"}]))
    model, done, plan = run([*script, says("done")], claude_like("Plan"))
    replies = answers(done)
    assert statuses(done) == ["error", *["success"] * 4]
    assert "2 tasks are in progress" in replies[0]
    assert "set the others to pending" in replies[0]
    assert "All tasks are resolved" in replies[3]
    assert "Nothing is left" in replies[4]
    reminders = told(model)
    assert ["no plan yet" in text for text in reminders[:3]] == [True, True, False]
    assert [n for n, text in enumerate(reminders) if "answer while tasks" in text] == [3]
    assert (len(plan), done["todos"], done["messages"][-1].text) == (0, [], "done")
    sent = str([message for request in model.requests for message in request])
    assert "write_todos" not in sent
    assert "TodoWrite" not in sent


ACTIVE, HIGH = {"activeForm": "Doing"}, {"priority": "high"}


@pytest.mark.parametrize(
    ("fields", "policy", "fine"),
    [
        (ACTIVE, None, True),
        ({}, None, False),
        ({**ACTIVE, "priority": "low"}, None, True),
        (ACTIVE, CLAUDE_STRICT, False),
        ({**ACTIVE, **HIGH}, CLAUDE_STRICT, True),
        ({}, DEFAULT, True),
        ({**ACTIVE, **HIGH}, DEFAULT, True),
    ],
)
def test_claude_like_fields(fields, policy, fine):
    """The active form is wanted, the priority by policy; what is missing is named."""
    entry = {"content": "a", "status": "completed", **fields}
    chosen = claude_like(policy=policy) if policy else claude_like()
    _, done, plan = run([todo_write(entry), says("done")], chosen)
    assert (statuses(done), len(plan)) == ((["success"], 1) if fine else (["error"], 0))
    assert done["todos"] == [entry] if fine else "#1" in answers(done)[0]


def test_claude_like_options():
    """The list in each reply, and one confirmation at the end, are options: they cost tokens."""
    for show in (True, False):
        script = [todo_write(item("a", "completed")), says("x")]
        _, done, _ = run(script, claude_like(show_list=show))
        assert ("[completed] a" in answers(done)[0]) is show
    finished = todo_write(item("a", "completed"), call_id="2")
    model, done, _ = run([finished, says("answer"), says("yes")], claude_like(confirm=True))
    assert [m.text for m in done["messages"] if m.type == "ai"] == ["", "answer", "yes"]
    assert len(model.requests) == 3


def test_claude_like_stop_check():
    """Ignored to the cap it lets go, or raises; in the next turn it asks for no new list."""
    both = item("a", "completed"), item("b", "completed")
    script = [todo_write(item("a", "in_progress"), item("b", "pending")), *map(says, "1234")]
    model = Scripted(script=[*script, todo_write(*both, call_id="2"), says("done")])
    made = agent(model, planner=claude_like())
    assert made.invoke(HELLO, THREAD)["messages"][-1].text == "4"
    done = made.invoke(HELLO, THREAD)
    assert [t["status"] for t in done["todos"]] == ["completed", "completed"]
    assert told(model)[5] == ""
    with pytest.raises(PlanError, match="2 of 2 tasks"):
        run(script, claude_like(on_ignored="raise"))


def test_deerflow_like():
    """
    Two reminders with the name that its interface hides; then the answer is accepted. A plan that
    the conversation does not show comes back under its own name.
    """
    finished = wrote(("a", "completed"), call_id="2")
    model = Scripted(
        script=[wrote(("a", "in_progress")), *map(says, "123"), finished, says("done")]
    )
    made = agent(model, planner=deerflow_like())
    done = made.invoke(HELLO, THREAD)
    assert done["messages"][-1].text == "3"
    hidden = "todo_completion_reminder"
    assert [r[-1].name for r in model.requests] == [None, "write_todos", hidden, hidden]
    assert not any(is_reminder(m.text) for m in done["messages"])
    made.update_state(THREAD, {"messages": [RemoveMessage(m.id) for m in done["messages"]]})
    made.invoke(HELLO, THREAD)
    assert model.requests[4][-1].name == "todo_reminder"
    assert "[in_progress] a" in model.requests[4][-1].text


RESEARCHER = {"name": "researcher", "description": "Finds out.", "system_prompt": "Find out."}


def delegated(name, call_id="t"):
    return calls(("task", {"description": "find out", "subagent_type": name}, call_id))


def script(name):
    """The main agent plans and delegates; the subagent plans, finishes its own plan and answers."""
    return [
        wrote(("main", "in_progress"), call_id="1"),
        delegated(name),
        wrote(("child one", "in_progress"), ("child two", "pending"), call_id="1"),
        wrote(("child one", "completed"), ("child two", "completed"), call_id="2"),
        says("found it"),
        wrote(("main", "completed"), call_id="3"),
        says("done"),
    ]


def names_of(model):
    return [[getattr(tool, "name", "") for tool in bound] for bound in model._bound]


@pytest.mark.parametrize("name", ["general-purpose", "researcher"])
def test_parent_and_child_plan_apart(name):
    """The child sees nothing of its parent's plan, and does not change it."""
    model = Scripted(script=script(name))
    agent = create_deep_agent(
        model=model, checkpointer=InMemorySaver(), **deep_planning(subagents=[RESEARCHER])
    )
    done = agent.invoke(HELLO, THREAD)
    assert done["todos"] == [{"content": "main", "status": "completed"}]
    assert [t.subject for t in plan_of_state(agent.get_state(THREAD))] == ["main"]
    assert all("write_todos" in bound for bound in names_of(model))
    child = model.requests[2]
    assert not any("main" in message.text for message in child)
    assert len(model.requests) == 7


def test_agents_that_share_a_plan_go_by_their_names():
    """The main agent by the one that is given, each subagent by its own."""
    store = MemoryStore()

    def make(actor):
        return PlanMiddleware(Toolbox(tasks()), store=store, plan_id="release", actor=actor)

    script = [
        calls(("TaskCreate", {"subject": "a"}, "1")),
        delegated("researcher"),
        calls(("TaskCreate", {"subject": "b"}, "2")),
        says("found it"),
        delegated("general-purpose", "u"),
        calls(("TaskCreate", {"subject": "c"}, "3")),
        says("found it"),
        says("done"),
    ]
    planned = deep_planning(subagents=[RESEARCHER], make=make, actor="lead")
    model = Scripted(script=script)
    agent = create_deep_agent(model=model, checkpointer=InMemorySaver(), **planned)
    agent.invoke(HELLO, THREAD)
    actors = [entry.actor for entry in store.entries("release")]
    assert actors == ["lead", "researcher", "general-purpose"]
    assert "created by researcher" in str(model.requests[-1])


def test_an_open_plan_of_the_parent_does_not_keep_the_child():
    """The child answers without a plan; only the parent, whose task is open, is asked to go on."""
    model = Scripted(
        script=[
            wrote(("main", "in_progress"), call_id="1"),
            delegated("general-purpose"),
            says("found it"),
            says("early"),
            wrote(("main", "completed"), call_id="3"),
            says("done"),
        ]
    )
    chosen = deep_planning(make=lambda: PlanMiddleware(settings=Settings()))
    agent = create_deep_agent(model=model, **chosen)
    assert agent.invoke(HELLO)["messages"][-1].text == "done"


def test_a_profiles_planner_is_replaced_in_place():
    """Where a profile brings `TodoListMiddleware`, one planner is left in each agent: ours."""
    profile = HarnessProfile(extra_middleware=lambda: [TodoListMiddleware()])
    register_harness_profile("profiled", profile)

    class Profiled(Scripted):
        def _get_ls_params(self, stop=None, **kwargs):
            return {**super()._get_ls_params(stop, **kwargs), "ls_provider": "profiled"}

    for name in ("general-purpose", "researcher"):
        model = Profiled(script=script(name))
        agent = create_deep_agent(model=model, **deep_planning(subagents=[RESEARCHER]))
        assert agent.invoke(HELLO)["messages"][-1].text == "done"
        assert all(bound.count("write_todos") == 1 for bound in names_of(model))
        texts = [block["text"] for r in model.requests for block in r[0].content if "text" in block]
        assert not any("## `write_todos`" in text for text in texts)
        answers = [m.text for m in model.requests[-1] if m.type == "tool"]
        assert answers[0] == "ok, 0/1 completed"


def test_a_planner_of_your_own_and_other_middleware():
    """Any tool set; your middleware stays, and so do agents that are not declared."""
    compiled = {
        "name": "ready",
        "description": "Compiled.",
        "runnable": create_agent(Scripted(script=[]), middleware=[]),
    }
    own = {**RESEARCHER, "name": "general-purpose"}
    chosen = deep_planning(
        subagents=[own, compiled],
        middleware=["mine"],
        make=lambda: PlanMiddleware(Toolbox(tasks())),
    )
    assert chosen["middleware"][0] == "mine"
    assert [spec["name"] for spec in chosen["subagents"]] == ["general-purpose", "ready"]
    assert chosen["subagents"][1] == compiled
    (planner,) = chosen["subagents"][0]["middleware"]
    assert isinstance(planner.plans.toolbox.toolset, ToolSet)
    assert planner.tools[0].name == "TaskCreate"
    assert "middleware" not in own


class Without(Scripted):
    """A model whose profile disables the general-purpose subagent."""

    def _get_ls_params(self, stop=None, **kwargs):
        return {**super()._get_ls_params(stop, **kwargs), "ls_provider": "without"}


@pytest.mark.parametrize(("chosen", "offered"), [(True, True), (False, False)])
def test_the_general_purpose_subagent_can_be_left_to_deepagents(chosen, offered):
    """With `False` nothing is declared, and a profile that disables it has its way."""
    disabled = GeneralPurposeSubagentProfile(enabled=False)
    register_harness_profile("without", HarnessProfile(general_purpose_subagent=disabled))
    model = Without(script=[says("done")])
    create_deep_agent(model=model, **deep_planning(general_purpose=chosen)).invoke(HELLO)
    assert ("task" in names_of(model)[0]) is offered
    assert "write_todos" in names_of(model)[0]


def test_an_agents_own_planner_is_the_one_it_has():
    """LangChain refuses two of one name, and a rule would be on the wrong agent."""
    own = [PlanMiddleware(Toolbox(LEAN)) for _ in range(3)]
    options = deep_planning(
        middleware=[own[0]],
        subagents=[{**RESEARCHER, "middleware": [own[1]]}, {**RESEARCHER, "name": "other"}],
        general_purpose={"middleware": [own[2]]},
    )
    assert options["middleware"] == [own[0]]
    general, researcher, other = (each["middleware"] for each in options["subagents"])
    assert (general, researcher) == ([own[2]], [own[1]])
    assert [type(each) for each in other] == [PlanMiddleware]
    create_deep_agent(model=Scripted(script=[]), **options)


def test_the_general_purpose_subagent_left_to_deepagents_works_without_a_plan():
    """It is deepagents' own, with its tools, its words and no planner."""
    model = Scripted(script=[delegated("general-purpose"), says("found it"), says("done")])
    agent = create_deep_agent(model=model, **deep_planning(general_purpose=False))
    assert agent.invoke(HELLO)["messages"][-1].text == "done"
    assert ["write_todos" in bound for bound in names_of(model)] == [True, False, True]


def test_the_general_purpose_subagent_takes_skills_and_words(tmp_path):
    """What a mapping says is added to what is declared, and it plans all the same."""
    skill = tmp_path / "skills" / "zebra"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: zebra\ndescription: stripes\n---\nbody")
    model = Scripted(script=[delegated("general-purpose"), says("found it"), says("done")])
    words = {"skills": ["/skills/"], "description": "Does anything."}
    agent = create_deep_agent(
        model=model,
        backend=FilesystemBackend(root_dir=str(tmp_path), virtual_mode=True),
        **deep_planning(general_purpose=words),
    )
    agent.invoke(HELLO)
    assert "stripes" in str(model.requests[1][0].content)
    assert all("write_todos" in bound for bound in names_of(model))
    (task,) = [tool for tool in model._bound[0] if tool.name == "task"]
    assert "Does anything." in task.description


def test_without_deepagents_the_message_says_what_to_install(monkeypatch):
    """It is no part of the extra."""
    monkeypatch.setitem(sys.modules, "deepagents.middleware.subagents", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        deep_planning()
