"""The sessions of a coding agent: which plan is whose, and hooks that are answered at a socket."""

import asyncio
import json
from pathlib import Path

import pytest
from mcp import types

from todoplan import LEAN, Toolbox
from todoplan.adapters.mcp.hooks import HostSessions, answering
from todoplan.core.commands import CreateTask
from todoplan.dialogue import lean
from todoplan.errors import PlanError, StoreError
from todoplan.stores.sqlite import SqliteStore


def sessions(**more):
    """Sessions with the tool set `lean`."""
    return HostSessions(Toolbox(LEAN), **more)


def called(plans, arguments, **meta):
    """Call the tool, and return the text of the result."""
    params = {"name": "plan", "arguments": arguments, "_meta": meta}
    result = asyncio.run(plans.call(None, types.CallToolRequestParams.model_validate(params)))
    return result.content[0].text


def hooked(plans, event, session="s1", **more):
    """Answer a hook in Claude Code's form, and return what it adds to the conversation."""
    told = {"hook_event_name": event, "session_id": session, **more}
    answer = asyncio.run(plans.answer(told))
    added = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
    wanted = {"hookEventName": event, "additionalContext": added}
    assert answer == ({"hookSpecificOutput": wanted} if added else {})
    return added


def begun(**more):
    """Sessions after the first prompt of "s1", whose model has written a list."""
    plans = sessions(**more)
    hooked(plans, "UserPromptSubmit", prompt="go")
    called(plans, {"write": ["Dig"]})
    return plans


def actors(plans):
    """The actors of the changes of the plan of "s1", in order."""
    return [entry.actor for entry in asyncio.run(plans.planner("s1").history())]


def texts(plans, session):
    """The tasks of a session's plan, by their names."""
    return sorted(task.subject for task in asyncio.run(plans.planner(session).plan()))


def test_sessions_of_a_team_claim_under_names_of_their_own():
    """A session without a name has its id as its name; a subagent has the name of its type."""
    plans = HostSessions(Toolbox(lean(team=True)), plan_id="release")
    hooked(plans, "UserPromptSubmit", "s1", prompt="go")
    called(plans, {"write": ["Dig", "Lay", "Sow"]})
    for session, agent in (("s1", {}), ("s2", {}), ("s2", {"agent_id": "a", "agent_type": "Bo"})):
        hooked(plans, "PreToolUse", session, **agent)
        called(plans, {"next": True})
    plan = asyncio.run(plans.planner("s1").plan())
    assert [task.claim.owner for task in plan] == ["s1", "s2", "Bo"]


def test_a_session_has_a_plan_of_its_own():
    """A call belongs to the session whose hook came last; after `/clear` this is a new one."""
    plans = sessions()
    hooked(plans, "UserPromptSubmit", "s1", prompt="go")
    called(plans, {"write": ["Dig"]})
    hooked(plans, "SessionStart", "s2", source="clear")
    hooked(plans, "UserPromptSubmit", "s2", prompt="go")
    called(plans, {"write": ["Sow"]})
    assert (texts(plans, "s1"), texts(plans, "s2")) == (["Dig"], ["Sow"])


def test_before_the_first_hook_it_is_the_session_of_the_environment():
    """Without hooks for all calls; without either there is one plan."""
    plans = sessions()
    plans.begin("s0")
    called(plans, {"write": ["Dig"]})
    alone = sessions()
    called(alone, {"write": ["Sow"]})
    assert (texts(plans, "s0"), texts(alone, "plan")) == (["Dig"], ["Sow"])


def test_a_plan_of_the_project_is_shared():
    """By all sessions; each list keeps what another session wrote."""
    plans = sessions(plan_id="plan")
    for session in ("s1", "s2"):
        hooked(plans, "UserPromptSubmit", session, prompt="go")
        called(plans, {"write": [f"Work of {session}"]})
    assert texts(plans, "anything") == ["Work of s1", "Work of s2"]


def test_codex_names_the_session_in_the_call():
    """A thread of its own is a subagent: the same plan, and a session of its own (law 15)."""
    plans = sessions()
    called(plans, {"write": ["Dig"]}, sessionId="s1", threadId="s1")
    reply = called(plans, {"write": ["Sow"]}, sessionId="s1", threadId="t2")
    assert "kept: #1 Dig" in reply
    assert texts(plans, "s1") == ["Dig", "Sow"]


@pytest.mark.parametrize("actor", [None, "bot"])
def test_a_subagent_of_claude_code_is_named_before_its_call(actor):
    """By the hook that comes before it, with the id of the call; `actor` names the main agent."""
    plans = begun(actor=actor)
    hooked(plans, "PreToolUse", tool_use_id="t1", agent_id="a1", agent_type="helper")
    called(plans, {"write": ["Sow"]}, **{"claudecode/toolUseId": "t1"})
    assert "#2 Sow created by helper" in hooked(plans, "PostToolBatch")
    assert actors(plans) == [actor, "helper"]
    assert texts(plans, "s1") == ["Dig", "Sow"]


@pytest.mark.parametrize(
    ("before", "after", "actor"),
    [
        ({"tool_use_id": "t1", "agent_id": "a1"}, {"tool_use_id": "t2"}, "subagent"),  # Qwen Code
        ({"agent_id": "ses_2", "agent_type": "helper"}, {}, "helper"),  # OpenCode
    ],
)
def test_a_call_without_an_id_is_of_whom_the_hook_named_last(before, after, actor):
    """The server sees no id of a call, whether or not the hook before it has one."""
    plans = begun()
    hooked(plans, "PreToolUse", **before)
    assert "kept: #1 Dig" in called(plans, {"write": ["Sow"]})
    hooked(plans, "PreToolUse", **after)
    called(plans, {"done": [1]})
    assert actors(plans) == [None, actor, None]


def test_a_subagent_of_copilot_cli_works_on_the_plan_of_its_session():
    """It has a session of its own, and says whose it is; after it the main agent goes on."""
    plans = begun()
    for parent, agent, task in (("s1", "a1", "Sow"), ("a1", "a2", "Weed")):
        who = {"agent_id": agent, "agent_type": "helper", "parent_agent_id": parent}
        assert hooked(plans, "UserPromptSubmit", agent, prompt="help", **who) == ""
        assert "#1 Dig" in called(plans, {"write": [task]}).partition("(to remove")[0]
    for agent, parent in (("a2", "a1"), ("a1", "s1")):
        who = {"agent_id": agent, "agent_type": "helper", "parent_agent_id": parent}
        assert hooked(plans, "Stop", agent, **who) == ""
    called(plans, {"done": [1]})
    assert actors(plans) == [None, "helper", "helper", None]
    assert texts(plans, "s1") == ["Dig", "Sow", "Weed"]


def test_calls_at_once_are_carried_out_in_their_order(tmp_path):
    """As Gemini CLI, OpenCode and Copilot CLI send them, each before the answer to the last."""
    plans = sessions(store=SqliteStore(tmp_path / "plans.db"))
    hooked(plans, "UserPromptSubmit", prompt="go")
    calls = ({"write": ["Dig", "Sow", "Weed"]}, {"done": [1]}, {"done": [2]}, {})

    async def at_once():
        given = [types.CallToolRequestParams(name="plan", arguments=call) for call in calls]
        return await asyncio.gather(*(plans.call(None, each) for each in given))

    *_, shown = asyncio.run(at_once())
    assert "#3 [in_progress] Weed" in shown.content[0].text


def test_the_model_is_not_told_of_its_own_first_list():
    """The hook before a call begins the request if the server has missed the prompt's hook."""
    plans = sessions()
    hooked(plans, "PreToolUse")
    called(plans, {"write": ["Dig"]})
    assert hooked(plans, "PostToolBatch") == ""
    late = sessions(store=plans.store)  # a session that is resumed has not seen its plan
    hooked(late, "PreToolUse")
    called(late, {"add": ["Sow"]})
    assert "It stands at 0/2 completed" in hooked(late, "PostToolBatch")


def test_what_gemini_adds_is_no_argument():
    """No note about it, which the model would read."""
    reply = called(sessions(), {"write": ["Dig"], "wait_for_previous": True})
    assert reply == "0/1: #1 created; #1 started"


def test_an_unfinished_plan_sends_the_model_back():
    """Twice for each prompt; a question to the person is let through."""
    plans = sessions()
    hooked(plans, "UserPromptSubmit", prompt="go")
    called(plans, {"write": ["Dig", "Sow"]})
    assert hooked(plans, "Stop", last_assistant_message="Shall I go on?") == ""
    stops = [hooked(plans, "Stop", last_assistant_message="Done.") for _ in range(3)]
    assert ["while tasks of your plan are open" in text for text in stops] == [True, True, False]
    hooked(plans, "UserPromptSubmit", prompt="on")
    assert hooked(plans, "Stop", last_assistant_message="Done.")


def test_the_reason_is_no_new_prompt():
    """Gemini CLI and Copilot CLI send it through the prompt's hook: the count goes on."""
    plans = begun()
    found = []
    for _ in range(3):
        found.append(hooked(plans, "Stop"))
        hooked(plans, "UserPromptSubmit", prompt=found[-1] or "<todoplan-reminder>")
    assert [bool(text) for text in found] == [True, True, False]


def test_what_a_person_does_is_said_once():
    """Behind the calls of a message, or at the next prompt."""
    plans = begun()
    asyncio.run(plans.planner("s1").apply(CreateTask("Tell Ann"), actor="ann"))
    assert hooked(plans, "PostToolBatch", agent_id="a1") == ""  # a subagent is not reminded
    assert "#2 Tell Ann created by ann" in hooked(plans, "PostToolBatch")
    assert hooked(plans, "Stop", last_assistant_message="Shall I tell her?") == ""
    assert hooked(plans, "UserPromptSubmit", prompt="on") == ""


def test_the_plan_is_shown_after_a_compaction():
    """Where the calls are gone from the conversation; at any other start it is not."""
    plans = begun()
    assert hooked(plans, "SessionStart", source="startup") == ""
    assert "Dig" in hooked(plans, "SessionStart", source="compact")
    called(plans, {"done": [1]})
    assert hooked(plans, "SessionStart", source="compact") == ""


def test_a_person_may_read_the_plan():
    """That of a session, or of the latest one."""
    plans = begun()
    for told in ({}, {"session_id": "s1"}):
        answer = asyncio.run(plans.answer({"hook_event_name": "Show", **told}))
        assert answer["text"].endswith("[~] 1 Dig")
    other = asyncio.run(plans.answer({"hook_event_name": "Show", "session_id": "s2"}))
    assert other["text"] == "no tasks"
    assert asyncio.run(sessions().answer({"hook_event_name": "Show"}))["text"] == "no tasks"


def test_who_looks_at_the_plan_does_not_ask_for_work():
    """The answer to a command of the plugin stands, while tasks are open."""
    plans = begun()
    hooked(plans, "UserPromptSubmit", prompt="/todoplan:plan")
    assert hooked(plans, "Stop", last_assistant_message="Here it is.") == ""
    hooked(plans, "UserPromptSubmit", prompt="go on")
    assert hooked(plans, "Stop", last_assistant_message="Done.")


def test_events_that_nobody_knows_are_left_alone():
    """Hosts add events at any time."""
    assert hooked(sessions(), "SomethingNew") == ""


def test_an_error_of_the_store_is_a_result(monkeypatch):
    """The model has to read it, as any refusal."""
    plans = sessions()

    async def fails(*_):
        msg = "the disk is full"
        raise StoreError(msg)

    monkeypatch.setattr("todoplan.planner.session.AsyncSession.answer", fails)
    assert called(plans, {"write": ["Dig"]}) == "the disk is full"


def test_programs_may_subscribe():
    """To the changes of a session's plan."""
    plans, seen = sessions(), []
    plans.begin("s1")
    stop = plans.subscribe("s1", lambda entry, _: seen.append(entry.revision))
    called(plans, {"write": ["Dig"]})
    stop()
    called(plans, {"add": ["Sow"]})
    assert seen == [2]


def test_only_the_latest_sessions_and_announced_calls_are_kept(monkeypatch):
    """A server that lives for long would grow otherwise; a hook may deny an announced call."""
    monkeypatch.setattr("todoplan.planner.steps.MOST_REMEMBERED", 2)
    plans = begun()
    hooked(plans, "PreToolUse", tool_use_id="t0", agent_id="a1", agent_type="helper")
    for call_id in ("t1", "t2"):
        hooked(plans, "PreToolUse", tool_use_id=call_id)
    called(plans, {"add": ["Sow"]}, **{"claudecode/toolUseId": "t0"})
    assert actors(plans) == [None, None]
    for session in ("s2", "s3", "s1"):
        hooked(plans, "UserPromptSubmit", session, prompt="go")
    assert "kept: #1 Dig" in called(plans, {"write": ["Weed"]})


def test_arguments_of_the_wrong_type_are_refused():
    """At once, and not at a call."""
    with pytest.raises(PlanError):
        HostSessions(settings="often")


async def asked(path, line):
    """Send one line to the socket, and return the answer."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(line + b"\n")
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The path of a socket, which has to be short."""
    monkeypatch.chdir(tmp_path)
    return "host.sock"


def test_a_hook_is_answered_at_the_socket(path, caplog):
    """A line of JSON for a line of JSON; nonsense is closed without an answer or an error."""
    plans = sessions()
    known = json.dumps({"hook_event_name": "Show"}).encode()
    broken = (b"{", b"[]", b'{"no": 1}', b'{"hook_event_name": "Stop"}', b"")

    async def talk():
        async with answering(plans, path):
            return [await asked(path, line) for line in (known, *broken)]

    first, *rest = asyncio.run(talk())
    assert json.loads(first) == {"text": "no tasks"}
    assert rest == [b""] * len(broken)
    assert caplog.text == ""
    assert not Path(path).exists()


def test_the_first_server_of_an_agent_answers(path):
    """A second one, that of a subagent in Codex, leaves the socket to it."""
    first, second = sessions(), sessions()
    first.begin("s1")
    second.begin("s2")
    called(first, {"write": ["Dig"]})

    async def talk():
        async with answering(first, path):
            async with answering(second, path):
                pass
            return await asked(path, b'{"hook_event_name": "Show"}')

    assert "Dig" in json.loads(asyncio.run(talk()))["text"]


def test_a_socket_that_was_left_behind_gives_way(path):
    """A server that was killed could not remove it."""
    Path(path).touch()

    async def talk():
        async with answering(sessions(), path):
            await asyncio.to_thread(Path(path).unlink)  # and at the end it may be gone

    asyncio.run(talk())
    assert not Path(path).exists()
