"""A run that goes on in another process: what was saved is whole, and no call is made twice."""

import inspect
import json
import pydoc

import pytest
from support.wires import CHAT, EVERY, GEMINI, MESSAGES, RESPONSES, Sent, says, user

from todoplan import TASKS, MemoryStore, Planner, Toolbox
from todoplan.adapters.functions import openai_chat
from todoplan.core import commands
from todoplan.dialogue import Settings
from todoplan.errors import CodecError, PlanError
from todoplan.stores import SqliteStore

ID = {CHAT: "id", RESPONSES: "id", MESSAGES: "id", GEMINI: "response_id"}
TWO = [Sent("TaskCreate", {"subject": subject}, subject) for subject in "ab"]


def named(wire, sent, response_id):
    """Return a response as plain data under an id; without one for ""."""
    response = {**wire.plain(sent), ID[wire]: response_id}
    return response if response_id else {k: v for k, v in response.items() if k != ID[wire]}


def begun(wire, store, saved=None, **options):
    return wire.module.start_run(
        Toolbox(TASKS), store=store, plan_id="7", saved=json.loads(json.dumps(saved)), **options
    )


def answered(run, response, wire):
    """Ask once, and return what is to be appended."""
    run.before_model([user(wire, "go")])
    assert run.after_model(response) == "answer"
    return run.answer(response)


def subjects(store):
    return [task.subject for task in store.load("7")]


@EVERY
@pytest.mark.parametrize("response_id", ["resp_1", ""])
@pytest.mark.parametrize("as_object", [True, False])
def test_a_response_that_is_answered_by_two_processes_is_carried_out_once(
    wire, response_id, as_object, tmp_path
):
    """Both began with what was saved before the request; both give the same answers."""
    saved = begun(wire, SqliteStore(tmp_path / "plans.db")).to_data()
    response = named(wire, TWO, response_id)
    if as_object:  # ids are optional in Gemini's alone
        whole = {**response, ID[wire]: response_id} if wire is not GEMINI else response
        response = wire.model.model_validate(whole)
    first, second = (
        answered(begun(wire, SqliteStore(tmp_path / "plans.db"), saved), response, wire)
        for _ in range(2)
    )
    assert first == second
    assert subjects(SqliteStore(tmp_path / "plans.db")) == ["a", "b"]


@EVERY
def test_a_response_is_known_by_its_id_where_nothing_was_saved(wire):
    """Killed in the first turn of a thread. Without an id it is a new one, and carried out."""
    for response_id, expected in (("resp_1", "ab"), ("", "abab")):
        store = MemoryStore()
        for _ in range(2):
            answered(begun(wire, store), named(wire, TWO, response_id), wire)
        assert "".join(subjects(store)) == expected


@EVERY
def test_servers_that_number_their_calls_anew_are_understood(wire):
    """The same call under the same id in another response is another call."""
    for ids in (("resp_1", "resp_2"), ("", "")):
        store = MemoryStore()
        run = begun(wire, store)
        for response_id in ids:
            answered(run, named(wire, TWO, response_id), wire)
        assert "".join(subjects(store)) == "abab"


@EVERY
@pytest.mark.parametrize("is_carried_out", [True, False])
def test_a_response_that_was_saved_is_answered_without_a_request(wire, is_carried_out):
    """Its answer tells what a person did since the request, also in a thread without a plan."""
    store, response = MemoryStore(), named(wire, TWO, "")
    run = begun(wire, store)
    run.before_model([user(wire, "go")])
    asked = run.to_data()["session"]["asked"]
    run.after_model(response)
    assert run.to_data()["session"]["asked"] == asked
    saved = run.to_data()
    if is_carried_out:
        run.answer(response)
        assert "asked" not in run.to_data()["session"]
    Planner(store, "7").apply(commands.CreateTask("Tell Ann"), actor="ann")
    again = begun(wire, store, saved)
    assert again.after_model(response) == "answer"
    told = json.dumps(again.answer(response))
    assert "Tell Ann created by ann" in told
    assert sorted(subjects(store)) == ["Tell Ann", "a", "b"]
    assert again.to_data()["session"]["revision"] == store.load("7").revision
    with pytest.raises(PlanError, match="call before_model"):
        again.after_model(response)


@EVERY
def test_an_answer_that_was_sent_back_is_saved(wire):
    """The next process makes the very same request, and asks no oftener."""
    store, once = MemoryStore(), Settings(unfinished=1)
    run = begun(wire, store, settings=once)
    run.planner.apply(commands.CreateTask("a"))
    run.before_model([user(wire, "go")])
    assert run.after_model(says(wire, "Early.")) == "again"
    again = begun(wire, store, run.to_data(), settings=once)
    request = again.before_model([user(wire, "go")])
    assert request == run.before_model([user(wire, "go")])
    assert "Early." in json.dumps(request)
    saved = again.to_data()
    assert begun(wire, store, saved, settings=once).after_model(says(wire, "Done.")) == "stop"


def test_an_answer_that_stands_is_not_lost_between_two_processes():
    """With `all_done` both answers are kept, though the first came in another process."""
    always = Settings(all_done="always")
    run = openai_chat.start_run(settings=always)
    run.planner.apply(commands.CreateTask("a"))
    run.planner.apply(commands.UpdateTask("1", status="completed"))
    run.before_model([user(CHAT, "go")])
    assert run.after_model(says(CHAT, "It is 4.")) == "again"
    run.before_model([user(CHAT, "go")])
    last = says(CHAT, "That is all.")
    assert run.after_model(last) == "stop"
    again = openai_chat.start_run(settings=always, saved=json.loads(json.dumps(run.to_data())))
    assert again.after_model(last) == "stop"
    assert [one["content"] for one in again.answer(last)] == ["It is 4.", "That is all."]


def test_what_an_agent_did_bears_its_name():
    """And not that of a person who edits."""
    store = MemoryStore()
    run = begun(CHAT, store, actor="planner-bot")
    answered(run, named(CHAT, TWO, "resp_1"), CHAT)
    run.planner.apply(commands.CreateTask("c"), actor="ann")
    assert [entry.actor for entry in run.history()] == ["planner-bot", "planner-bot", "ann"]
    with pytest.raises(PlanError, match="a name"):
        begun(CHAT, store, actor=7)


@EVERY
def test_help_says_what_start_run_takes(wire):
    """A `functools.partial` would show its own help."""
    shown = pydoc.plain(pydoc.render_doc(wire.module.start_run))
    assert "start_run(toolbox" in shown
    assert "one run of an agent's loop" in shown
    assert "wire" not in inspect.signature(wire.module.start_run).parameters


WHOLE = openai_chat.start_run().to_data()  # its session has a random id: tests are named by number
RECORD = WHOLE["session"]
BACK = {"messages": [], "stand": [], "reminder": ""}
DAMAGED = [
    *({"session": each} for each in (7, None, {**RECORD, "version": 2}, {**RECORD, "x": 1})),
    *({"session": {**RECORD, **each}} for each in ({"asked": 7}, {"revision": -1})),
    *({name: value} for name, value in (("plan", {}), ("journal", 7))),
    {"sent_back": []},
    *({"sent_back": {**BACK, name: 7}} for name in BACK),
]


@pytest.mark.parametrize("damaged", DAMAGED, ids=map(str, range(len(DAMAGED))))
def test_what_was_saved_and_is_damaged_is_an_error(damaged):
    """It is never taken for nothing, nor for a new session."""
    with pytest.raises((CodecError, PlanError)):
        openai_chat.start_run(saved={**WHOLE, **damaged})


def test_a_record_belongs_to_a_plan_in_its_store():
    """A damaged record is an error there too; without the store an empty plan would be a lie."""
    kept = {"store": MemoryStore(), "plan_id": "7"}
    saved = openai_chat.start_run(**kept).to_data()
    with pytest.raises(CodecError):
        openai_chat.start_run(**kept, saved={**saved, "session": {**RECORD, "answered": "1"}})
    with pytest.raises(PlanError, match="give store="):
        openai_chat.start_run(saved=saved)
