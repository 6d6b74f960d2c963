"""`attach` and the hooks: what is offered, whose call it is, what the model is told and when."""

import asyncio

import pytest
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, query
from support.claude_agent_sdk_cli import ScriptedCLI

from todoplan import Plan
from todoplan.adapters.claude_agent_sdk import (
    Planning,
    attach,
    edit_plan,
    make_tools,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide
from todoplan.core.rules import Policy
from todoplan.dialogue import Call, Settings
from todoplan.errors import PlanError
from todoplan.stores.memory import MemoryStore
from todoplan.testing.adapters.host import ModelTurn, says, write


def turn(call, start=1):
    """Return a turn with one call, whose id has a number."""
    return ModelTurn((Call(*call, f"call_{start}"),))


DIG = turn(("write_todos", write(("Dig", "in_progress"), ("Lay", "pending"))))
DONE = turn(("write_todos", write(("Dig", "completed"), ("Lay", "completed"))), start=2)
OTHER = turn(("Bash", {"command": "true"}), start=7)


def played(program, options, prompt="go"):
    """Run a program in a session, and return it."""

    async def run():
        async for message in query(prompt=prompt, options=options, transport=program):
            assert not message.is_error, message

    asyncio.run(run())
    return program


def play(planning, *turns, prompt="go", **given):
    """Run a script in a session, and return the program that played it."""
    return played(ScriptedCLI(*turns, **given), attach(ClaudeAgentOptions(), planning), prompt)


def subjects(planning, session="s1"):
    plan = asyncio.run(plan_of_state(planning, session))
    return [(task.subject, task.status.value) for task in plan]


def text(program, call_id="call_1"):
    return program.answers[call_id]["content"][0]["text"]


def test_the_options_gain_tools_hooks_and_the_right_to_call():
    """What was in the options stays, and the options that were given are as they were."""

    async def mine(*_):
        return {}

    own = ClaudeAgentOptions(
        allowed_tools=["Bash"],
        disallowed_tools=["Edit", "TodoWrite"],
        mcp_servers={"other": {"command": "other"}},
        hooks={"Stop": [HookMatcher(hooks=[mine])]},
    )
    options = attach(own, Planning(), server="work")
    tools = ["mcp__work__write_todos", "mcp__work__read_todos"]
    assert options.allowed_tools == ["Bash", *tools]
    built_in = ["TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]
    assert options.disallowed_tools == ["Edit", *built_in]
    assert [*options.mcp_servers] == ["other", "work"]
    assert options.mcp_servers["work"]["name"] == "work"
    assert [len(options.hooks[event]) for event in ("Stop", "PreToolUse")] == [2, 1]
    assert (own.allowed_tools, [*own.mcp_servers]) == (["Bash"], ["other"])


def test_the_instruction_comes_with_the_tools():
    """It is the tool set's, or the one that was given, or none."""
    assert "write_todos" in play(Planning(), says()).instructions
    assert play(Planning(system_prompt="Plan."), says()).instructions == "Plan."
    assert play(Planning(system_prompt=""), says()).instructions is None


def test_a_background_task_that_ends_is_no_new_prompt():
    """Claude Code sends it as a prompt; the answers that were sent back count on."""
    planning = Planning()
    early = [says(f"Early {number}.") for number in range(4)]
    assert len(play(planning, DIG, *early).turns) == 1
    assert len(play(planning, *early, prompt="<task-notification>\n").turns) == 3


@pytest.mark.parametrize("waiting", ["background_tasks", "session_crons"])
def test_nobody_is_sent_back_who_will_be_woken(waiting):
    """While something runs that wakes the session again, an answer stands."""
    program = play(Planning(), DIG, says("Waiting."), says("Never."), **{waiting: [{"id": "1"}]})
    assert (program.told, len(program.turns)) == ([], 1)


def test_an_answer_to_no_prompt_is_judged_too():
    """Such as one to a prompt whose hook the program has not called."""
    planning = Planning()
    play(planning, DIG, says("Ok?"))
    told = {"session_id": "s1", "hook_event_name": "Stop", "last_assistant_message": "Done."}
    output = asyncio.run(planning.before_stop(told))
    assert "[in_progress] Dig" in output["hookSpecificOutput"]["additionalContext"]


def test_a_persons_edit_is_told_once_in_the_middle_of_a_run():
    """Behind the next tool calls, whichever they are; and the next list does not undo it."""
    planning = Planning(store=MemoryStore())

    class Edited(ScriptedCLI):  # a person adds a task while the program works
        async def _call(self, call):
            await super()._call(call)
            if call.call_id == "call_1":
                await edit_plan(planning, "s1", CreateTask("Tell Bo"), actor="ann")

    program = Edited(DIG, OTHER, OTHER, DONE, says("Done?"))
    played(program, attach(ClaudeAgentOptions(), planning))
    (event, told), *_ = program.told
    assert event == "PostToolBatch"
    assert "#3 Tell Bo created by ann" in told
    assert len([told for event, told in program.told if "Tell Bo created" in told]) == 1
    assert ("Tell Bo", "pending") in subjects(planning)
    assert "what your list leaves out of these stays" in text(program, "call_2")


def test_a_session_that_goes_on_is_shown_its_plan():
    """A new process has not seen the plan that the store has for the resumed session."""
    store = MemoryStore()
    play(Planning(store=store), DIG, says("More?"))
    program = play(Planning(store=store), says("Yes?"), source="resume")
    ((event, told),) = program.told
    assert event == "UserPromptSubmit"
    assert "[in_progress] Dig" in told


def test_without_hooks_all_calls_work_on_one_plan():
    """`make_tools` alone: the plan is named by `plan_id`."""
    planning = Planning(plan_id="garden")
    options = ClaudeAgentOptions(mcp_servers={"plan": make_tools(planning)})
    program = played(ScriptedCLI(DIG, says()), options)
    assert (text(program), len(subjects(planning))) == ("ok, 0/2 completed", 2)


def test_a_person_seeds_edits_undoes_and_subscribes():
    """By the session's id, between the runs or during one."""
    planning, heard = Planning(), []
    planning.subscribe("s1", lambda entry, _: heard.append(entry.cause))
    plan = decide(Plan(), CreateTask("Dig"), Policy()).unwrap()

    async def edits():
        await seed_plan(planning, "s1", plan, actor="ann")
        await edit_plan(planning, "s1", CreateTask("Lay"), actor="bo", policy=Policy())
        await undo_plan(planning, "s1", actor="ann")

    asyncio.run(edits())
    assert subjects(planning) == [("Dig", "pending")]
    assert len(heard) == 3


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: Planning(settings=Settings(on_ignored="raise")), "has no effect"),
        (lambda: Planning(Settings()), "a toolbox"),
        (lambda: Planning(clock=3), "clock"),
        (lambda: make_tools("plan"), "Planning"),
        (lambda: attach(ClaudeAgentOptions(), "plan"), "Planning"),
        (lambda: attach({}, Planning()), "ClaudeAgentOptions"),
        (lambda: attach(ClaudeAgentOptions(mcp_servers="mcp.json"), Planning()), "a dict"),
        (lambda: attach(attach(ClaudeAgentOptions(), Planning()), Planning()), "another name"),
    ],
)
def test_what_is_wrong_is_said(wrong, told):
    """The error names what was given and what to give."""
    with pytest.raises(PlanError, match=told):
        wrong()
