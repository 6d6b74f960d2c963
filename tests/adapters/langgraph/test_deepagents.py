"""Planning in `create_deep_agent`: every agent has its own plan, and nothing leaks."""

# pyright: reportArgumentType=false, reportIncompatibleMethodOverride=false

import sys

import pytest
from deepagents import HarnessProfile, create_deep_agent, register_harness_profile
from deepagents.backends import FilesystemBackend
from deepagents.profiles import GeneralPurposeSubagentProfile
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Scripted, calls, says, wrote

from todoplan import LEAN, MemoryStore
from todoplan.adapters.langgraph import PlanMiddleware, deep_planning, plan_of_state
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import ToolSet, tasks
from todoplan.errors import MissingExtraError

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
RESEARCHER = {"name": "researcher", "description": "Finds out.", "system_prompt": "Find out."}


def delegated(name, call_id="t"):
    return calls(("task", {"description": "find out", "subagent_type": name}, call_id))


def script(name):
    """
    The main agent plans and delegates; the subagent plans, finishes its own plan and answers.
    """
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
    """
    The child sees nothing of its parent's plan, and the parent's is as it was when the child ends.
    """
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
    """
    The child answers without a plan; only the parent, whose task is open, is asked to go on.
    """
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
    """
    Where a profile brings `TodoListMiddleware`, one planner is left in each agent: ours.
    """
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
    """
    Any tool set may be chosen; middleware of yours stays, and so do agents that are not declared.
    """
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
    """
    A model whose profile disables the general-purpose subagent.
    """

    def _get_ls_params(self, stop=None, **kwargs):
        return {**super()._get_ls_params(stop, **kwargs), "ls_provider": "without"}


@pytest.mark.parametrize(("chosen", "offered"), [(True, True), (False, False)])
def test_the_general_purpose_subagent_can_be_left_to_deepagents(chosen, offered):
    """
    With `False` nothing is declared, and a profile that disables it has its way.
    """
    disabled = GeneralPurposeSubagentProfile(enabled=False)
    register_harness_profile("without", HarnessProfile(general_purpose_subagent=disabled))
    model = Without(script=[says("done")])
    create_deep_agent(model=model, **deep_planning(general_purpose=chosen)).invoke(HELLO)
    assert ("task" in names_of(model)[0]) is offered
    assert "write_todos" in names_of(model)[0]


def test_an_agents_own_planner_is_the_one_it_has():
    """
    Two of one name would end in an error of LangChain's, and a rule would sit on the wrong agent.
    """
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
    """
    It is deepagents' own, with its tools, its words and no planner.
    """
    model = Scripted(script=[delegated("general-purpose"), says("found it"), says("done")])
    agent = create_deep_agent(model=model, **deep_planning(general_purpose=False))
    assert agent.invoke(HELLO)["messages"][-1].text == "done"
    assert ["write_todos" in bound for bound in names_of(model)] == [True, False, True]


def test_the_general_purpose_subagent_takes_skills_and_words(tmp_path):
    """
    What a mapping says is added to what is declared, and it plans all the same.
    """
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
    """
    It is no part of the extra.
    """
    monkeypatch.setitem(sys.modules, "deepagents.middleware.subagents", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        deep_planning()
