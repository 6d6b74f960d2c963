"""A session: its answers, its record, its restarts, and what 0.2.0 saved of one."""

import asyncio
import json
import types
from functools import partial
from pathlib import Path

import attrs
import pytest

from todoplan import TASKS, Plan, plan_of
from todoplan.core.commands import ApprovePlan, CreateTask, DeleteTask, UpdateTask
from todoplan.core.events.base import Base
from todoplan.core.plan.model import Task
from todoplan.core.rules import Policy
from todoplan.dialogue import Guidance, Message, Settings
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, lean
from todoplan.errors import CodecError, PlanError, StoreError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.planner.session import (
    SESSION,
    BasePlanning,
    Record,
    Session,
    base_to_data,
    opened,
    opened_async,
    read_text,
)
from todoplan.stores import FileStore, SqliteStore
from todoplan.stores.memory import MemoryStore

BOX = Toolbox(TODOS, Policy())
SAVED = Path(__file__).parent / "saved_by_0_2"


def lines(*texts):
    todos = [
        {"content": text, "status": "pending"}
        if isinstance(text, str)
        else {"content": text[0], "status": text[1]}
        for text in texts
    ]
    return Call("write_todos", {"todos": todos}, "c1")


def write(session, *texts, response=""):
    reply = session.answer([lines(*texts)], response).replies[0]
    assert not reply.is_error, reply.text
    return reply.text


def on(store, kept=None, **given):
    """Return a session with the plan of a store."""
    return opened(
        {} if kept is None else kept, **{"toolbox": BOX, **given}, store=store, plan_id="p"
    )


def saved(session):
    return json.loads(json.dumps(session.to_data()))


def subjects(session):
    return [task.subject for task in session.plan]


def answered(text="Done."):
    return Message("assistant", text)


class Places:
    """A plan in a slot, and one in a store: a session goes on in both from what it saved."""

    def __init__(self, folder, kind):
        self.store = None if kind == "slot" else kind(folder / "plans")

    def open(self, kept=None, **given):
        kept = {} if kept is None else kept
        where = {} if self.store is None else {"store": self.store, "plan_id": "p"}
        return opened(kept, **{"toolbox": BOX, **where, **given})


@pytest.fixture(params=["slot", SqliteStore, FileStore], ids=["slot", "sqlite", "file"])
def places(request, tmp_path):
    return Places(tmp_path, request.param)


@pytest.mark.parametrize("restarted", [False, True])
def test_what_others_did_stays_is_told_once_and_never_goes_by_silence(places, restarted):
    """By a restart from the record nothing changes: what a person added stays for ever."""
    session = places.open()

    def go_on():
        return places.open(saved(session)) if restarted else session

    write(session, "Dig", "Lay")
    session = go_on()
    session.edit(CreateTask("Tell Ann"), actor="ann")
    session.edit(UpdateTask("2", status="completed"), actor="bo")
    session = go_on()
    told = write(session, "Dig", "Lay")
    assert "#3 Tell Ann created by ann" in told
    assert "#2 Lay completed by bo" in told
    for _ in range(3):
        session = go_on()
        assert "ann" not in write(session, "Dig", "Lay").lower()
    assert subjects(session) == ["Dig", "Lay", "Tell Ann"]
    assert session.plan["2"].status.value == "completed"
    session = go_on()
    write(session, "Dig", ("Lay", "completed"), ("Tell Ann", "cancelled"))
    assert session.plan["3"].status.value == "cancelled"
    session = go_on()
    write(session, "Dig", "Lay")  # after its own word that it is completed, pending is meant
    assert session.plan["2"].status.value == "pending"


@pytest.mark.parametrize("news", [True, False])
def test_a_change_by_the_model_counts_as_its_last_whatever_others_do_around_it(places, news):
    """A reminder of a task that nobody touches is counted from there."""
    session = places.open(settings=Settings(plan_lost=False, changed=False, stale=2))
    write(session, ("Dig", "in_progress"))
    kinds = []
    for number in range(4):
        kinds.append(session.before_model().kind)
        session.after_model(Message("assistant", calls=("search",)))
        if number == 1:
            if news:
                session.edit(CreateTask("Tell Ann"), actor="ann")
            assert ("Tell Ann" in write(session, ("Dig", "in_progress"), "Lay")) is news
            session.edit(CreateTask("Tell Bob"), actor="bob")
    assert kinds == ["", "", "", "stale"]


def test_old_words_of_a_task_that_somebody_reworded_still_mean_it(places):
    """The third list with them too; new words that were taken over mean it as well."""
    session = places.open()
    write(session, "Fix", "Lay")
    session.edit(UpdateTask("1", subject="Fix on main"), actor="ann")
    for _ in range(3):
        write(session, "Fix", "Lay")
        session = places.open(saved(session))
        assert subjects(session) == ["Fix on main", "Lay"]
    write(session, ("Fix on main", "completed"), "Lay")
    assert session.plan["1"].status.value == "completed"
    assert "mine" not in session.record
    write(session, "Lay")
    assert subjects(session) == ["Lay"]


def test_old_words_mean_a_reworded_task_also_after_a_call_that_names_its_id(places):
    """The call changes the task, and has not said whether the new words were read."""
    session = places.open(toolbox=Toolbox(LEAN, Policy()))
    session.answer([Call("plan", {"write": ["Fix", "Lay"]})])
    session.edit(UpdateTask("1", subject="Fix on main"), actor="ann")
    for arguments in ({"done": [1]}, {"write": ["Fix", "Lay"]}):
        session = places.open(saved(session), toolbox=Toolbox(LEAN, Policy()))
        assert not session.answer([Call("plan", arguments)]).replies[0].is_error
        assert subjects(session) == ["Fix on main", "Lay"]


def test_a_deletion_stands_while_lists_repeat_the_task(places):
    """Each reply says so. Once a list has left it out, the same words make a new one."""
    session = places.open()
    write(session, "Dig", "Lay")
    session.edit(DeleteTask("2"), actor="ann")
    ignored = (
        "not added, since somebody else deleted it: #2 Lay (to add it, list it in other words)"
    )
    for beginning in ("since you last looked: #2 Lay deleted by ann\n", ignored, ignored):
        assert write(session, "Dig", "Lay").startswith(beginning)
        session = places.open(saved(session))
        assert subjects(session) == ["Dig"]
    assert write(session, "Dig", ("Lay", "completed")) == "no change, 0/1 completed"
    write(session, "Dig")
    write(session, "Dig", "Lay")
    assert subjects(session) == ["Dig", "Lay"]


@pytest.mark.parametrize("asked", [False, True])
def test_a_newcomer_has_listed_nothing_and_is_told_what_stays_once(places, asked):
    """Also one with a name that was here, without its record; it reopens nothing either."""
    other = places.open(actor="bot")
    write(other, "Dig", "Lay", ("Sow", "completed"))
    kept = {} if places.store else {"plan": saved(other)["plan"]}
    newcomer = places.open(kept, actor="bot")
    if asked:  # a request shows it open tasks at most: it does not know who has closed what
        newcomer.before_model()
        newcomer.after_model(Message("assistant", calls=("write_todos",)))
    text = write(newcomer, "Mow", "Sow")
    assert "not on your list, kept: #1 Dig, #2 Lay (to remove one, list it as cancelled)" in text
    assert write(newcomer, "Mow", "Sow").startswith("no change")
    assert sorted(subjects(newcomer)) == ["Dig", "Lay", "Mow", "Sow"]
    assert newcomer.plan["3"].status.value == "completed"


def test_a_seeded_plan_is_nobodys_list(places):
    """What a program seeded stays, also for a session that has only the plan."""
    session = places.open()
    session.seed(plan_of([Task("1", "Dig"), Task("2", "Lay")]), actor="ops")
    session.before_model()
    session.after_model(answered(""))
    write(session, "Dig")
    assert subjects(session) == ["Dig", "Lay"]
    if places.store is None:
        kept = {"plan": saved(session)["plan"]}
        newcomer = places.open(kept)
        write(newcomer, "Lay")
        assert subjects(newcomer) == ["Dig", "Lay"]


def test_two_sessions_with_one_name_are_two(tmp_path):
    """In one process by one planner, and each is told what the other did."""
    planner = Planner(MemoryStore(), "p", toolbox=BOX)
    one, two = (planner.session(actor="bot") for _ in range(2))
    write(one, "Dig")
    write(two, "Dig", "Lay")
    assert "#2 Lay created by bot" in write(one, "Dig", "Mow")
    assert sorted(subjects(one)) == ["Dig", "Lay", "Mow"]
    assert [entry.actor for entry in one.history()] == ["bot"] * 3
    again = planner.session(one.record, actor="bot")
    write(again, "Mow")
    assert sorted(subjects(again)) == ["Lay", "Mow"]
    assert "#1 Dig deleted by bot" in write(two, "Dig", "Lay")


@pytest.mark.parametrize("response", ["r7", ""])
def test_a_record_from_before_the_commit_is_caught_up(tmp_path, response):
    """The same calls give the same replies; what the session did itself is no news to it."""
    go_on = partial(on, SqliteStore(tmp_path / "plans.db"))
    session = go_on()
    write(session, "Dig", response="r1")
    kept = saved(session)
    first = session.answer([lines("Dig", "Lay", "Mow")], response)
    again = go_on(kept).answer([lines("Dig", "Lay", "Mow")], response)
    assert [reply.text for reply in again.replies] == [reply.text for reply in first.replies]
    assert subjects(go_on()) == ["Dig", "Lay", "Mow"]
    session = go_on(kept)
    session.edit(CreateTask("Tell Ann"), actor="ann")
    text = session.answer([lines("Dig", "Lay", "Mow")], response).replies[0].text
    assert text.startswith("since you last looked: #4 Tell Ann created by ann")
    session = go_on(saved(session))
    assert write(session, "Dig", response="r9").endswith('removed while open: "Lay", "Mow"')
    assert subjects(session) == ["Dig", "Tell Ann"]
    assert session.answer([lines("Dig")], None).events == ()


def test_a_response_needs_a_request_and_is_judged_once(places):
    """After a restart, the one that was saved; several at once are told apart by their own."""
    session = places.open()
    with pytest.raises(PlanError, match="call before_model before each"):
        session.after_model(answered())
    session.before_model(is_new=True)
    session = places.open(saved(session))
    assert session.request is not None
    session.after_model(answered())
    assert session.answer([]).replies == ()  # there were no planning calls
    with pytest.raises(PlanError, match="without a request"):
        session.after_model(answered())
    one, two = session.before_model(), session.before_model()
    for request in (two, one):
        assert session.after_model(answered(), request=request).verdict == "accept"
    assert "asked" not in session.record


def test_an_answer_over_open_tasks_is_sent_back_and_may_raise(places):
    """The caps are the settings'; a blocked answer and one's own reminder are not judged."""
    session = places.open(settings=Settings(unfinished=1, on_ignored="raise"))
    write(session, "Dig")
    session.before_model(is_new=True)
    advice = session.after_model(answered())
    assert advice.verdict == "again"
    assert session.before_model(silent=True).text == ""
    with pytest.raises(PlanError, match="open"):
        session.after_model(answered())
    session.before_model(is_new=True)
    assert session.after_model(answered(), silent=True).verdict == "accept"


def test_an_answer_that_is_sent_back_says_which_tasks_others_added(tmp_path):
    """A subagent must not cancel its lead's tasks because a reminder asks it to finish them."""

    def sent_back(session):
        session.before_model(is_new=True)
        advice = session.after_model(answered())
        assert advice.verdict == "again"
        return advice.text

    lead, sub = (on(SqliteStore(tmp_path / "plans"), actor=name) for name in ("lead", "sub"))
    write(lead, ("Report", "in_progress"))
    write(sub, ("Search", "in_progress"))
    text = sent_back(sub)
    assert "[in_progress] Search\n[in_progress] Report [added by somebody else]\nFinish" in text
    assert "Leave a task as it is if another agent works on it." in text
    write(lead, ("Report", "in_progress"), ("Search", "completed"))
    text = sent_back(lead)
    assert "[in_progress] Report\nFinish" in text
    assert "another agent" not in text


def test_a_list_is_warned_of_its_own_tasks_in_progress_alone(tmp_path):
    """The lead's task in progress is not the subagent's to set back, and refuses none of its."""
    lax, strict = (
        Toolbox(TODOS, Policy().but(single_in_progress=how)) for how in ("warn", "error")
    )
    store = SqliteStore(tmp_path / "plans")
    lead, sub, other = (
        on(store, toolbox=box, actor=name)
        for name, box in (("lead", lax), ("sub", lax), ("other", strict))
    )
    write(lead, ("Report", "in_progress"))
    assert "in progress" not in write(sub, ("Search", "in_progress"))
    assert "in progress" not in write(other, ("Mow", "in_progress"))
    both = [("Search", "in_progress"), ("Read", "in_progress")]
    assert "Note: 2 tasks are in progress (#2, #4)" in write(sub, *both)
    reply = other.answer([lines(("Mow", "in_progress"), ("Rake", "in_progress"))]).replies[0]
    assert "2 tasks are in progress (#3, #5)" in reply.text
    assert reply.is_error


def test_a_request_may_have_guidance_of_its_own_and_be_partial(places):
    """A provider that keeps the conversation sends only what is new."""
    session = places.open()
    write(session, "Dig")
    quiet = Guidance(TODOS, Settings(plan_lost=False, unfinished=0))
    assert session.before_model(guidance=quiet).text == ""
    assert session.after_model(answered(), guidance=quiet).verdict == "accept"
    session.edit(CreateTask("Tell Ann"), actor="ann")
    assert "Tell Ann" in session.before_model(partial=True).text
    plan, base = session.unseen()
    assert [one.task.subject for one in base.unseen(plan)] == ["Tell Ann"]
    # The conversation keeps that reminder, so it is not told again until something else changes.
    assert session.after_model(Message("assistant", calls=("search",))).verdict == "accept"
    assert session.before_model(partial=True).text == ""
    session.edit(CreateTask("Tell Bo"), actor="ann")
    assert "Tell Bo" in session.before_model(partial=True).text


TURN = [
    Call("TaskCreate", {"subject": "Dig"}, "1"),
    Call("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "2"),
    Call("TaskList", {}, "3"),
]


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("seeded", [False, True])
def test_calls_that_come_one_by_one_get_the_replies_of_their_turn(places, restarted, seeded):
    """All were written upon the plan of before the first; news are told once, by the first."""
    box = Toolbox(TASKS, Policy())
    whole, kept = Planner(toolbox=box), {}
    session = places.open(toolbox=box)
    if seeded:
        for doing in (whole.apply, session.edit):
            doing(CreateTask("Old"), actor="ann")
        call = Call("TaskUpdate", {"taskId": "1", "owner": "me"}, "0")
        wanted = whole.session()
        assert wanted.answer([call]).replies[0].text == session.answer([call]).replies[0].text
        for doing in (whole.apply, session.edit):
            doing(CreateTask("Tell Ann"), actor="ann")
    else:
        wanted = whole.session()
    replies = []
    for call in TURN:
        replies.append(session.answer_one(call, TURN))
        kept = saved(session)
        session = places.open(kept, toolbox=box) if restarted else session
    assert [one.text for one in replies] == [one.text for one in wanted.answer(TURN).replies]
    assert session.plan.revision == whole.plan.revision
    session.before_model()
    session.after_model(answered(""))
    assert "turn" not in session.record
    session.edit(CreateTask("Later"), actor="ann")
    text = session.answer_one(Call("TaskList", {}, "1"), [Call("TaskList", {}, "1")]).text
    assert text.startswith("since you last looked: ")
    assert "Later created by ann" in text.splitlines()[0]
    assert "Tell Ann" not in text.splitlines()[0]
    assert "turn" not in session.record


def test_what_comes_between_two_calls_of_a_turn_is_told_by_the_later(places):
    """What the first has told is not told again, also after a restart between the two."""
    box = Toolbox(TASKS, Policy())
    session = places.open(toolbox=box)
    session.answer([Call("TaskCreate", {"subject": "Dig"}, "0")])
    session.edit(CreateTask("Tell Ann"), actor="ann")
    turn = [Call("TaskCreate", {"subject": name}, name) for name in ("a", "b", "c")]
    assert "#2 Tell Ann created by ann" in session.answer_one(turn[0], turn).text
    session.edit(CreateTask("Tell Bob"), actor="bob")
    session = places.open(saved(session), toolbox=box)
    text = session.answer_one(turn[1], turn).text
    assert text.startswith("since you last looked: #4 Tell Bob created by bob\n")
    assert "since" not in session.answer_one(turn[2], turn).text


def test_an_equal_call_of_the_next_turn_is_no_repeat():
    """Also if the provider gives a response no id, and counts the calls of each message anew."""
    planner = Planner(MemoryStore(), "1", toolbox=Toolbox(LEAN))
    session = planner.session()
    turn = [Call("plan", {"add": [text]}, str(place)) for place, text in enumerate("ab")]
    for call in turn:
        session.answer_one(call, turn)
    session.answer_one(turn[1], turn[1:])
    assert subjects(session) == ["a", "b", "b"]


def test_a_list_beside_a_new_task_does_not_leave_it_out():
    """It was written before the task was there, whether the calls come one by one or together."""
    turn = [Call("plan", {"add": ["Sow"]}, "1"), Call("plan", {"write": ["Dig"]}, "2")]
    one, whole = (Planner(toolbox=Toolbox(LEAN)).session() for _ in range(2))
    for session in (one, whole):
        session.edit(CreateTask("Tell Ann"), actor="ann")
        session.answer([Call("plan", {"write": ["Dig"]})])
    replies = tuple(one.answer_one(call, turn) for call in turn)
    assert [reply.text for reply in replies] == [one.text for one in whole.answer(turn).replies]
    assert {*subjects(one)} == {*subjects(whole)} == {"Dig", "Sow", "Tell Ann"}
    assert not any(reply.is_error for reply in replies)


def test_two_whole_lists_that_come_one_by_one_are_both_refused(places):
    """Law 13, also here; a refusal notes nothing."""
    session = places.open()
    turn = [attrs.evolve(lines("Dig"), call_id=name) for name in ("a", "b")]
    for call in turn:
        assert session.answer_one(call, turn).problems[0].code == "parallel_write"
    assert not len(session.plan)


@pytest.mark.parametrize("kind", ["slot", FileStore])
async def test_an_awaited_session_is_the_same(tmp_path, kind):
    """In a slot, in a store, and where tasks ask at once: each is answered after the other."""
    where = {} if kind == "slot" else {"store": kind(tmp_path / "plans.json"), "plan_id": "p"}
    session = opened_async({}, toolbox=Toolbox(TASKS, Policy()), actor="bot", **where)
    await session.before_model([])
    await session.after_model(answered(""))
    calls = [Call("TaskCreate", {"subject": str(n)}, str(n)) for n in range(9)]
    turns = await asyncio.gather(*(session.answer([call], call.call_id) for call in calls))
    assert not any("since" in turn.replies[0].text for turn in turns)
    await session.edit(CreateTask("Tell Ann"), actor="ann")
    plan, base = await session.unseen()
    assert [one.task.subject for one in base.unseen(plan)] == ["Tell Ann"]
    await session.undo(actor="ann")
    await session.seed(plan_of([Task("1", "Dig")]), actor="ops")
    assert [task.subject for task in await session.plan()] == ["Dig"]
    assert len(await session.history()) == 12
    assert session.planner.session(session.record).state == session.state


def test_without_a_loop_of_asyncio_an_awaited_session_waits_for_none():
    """Under another library nothing of asyncio is used, also not by a call beside another one."""

    class Pausing(MemoryStore):
        async def load(self, plan_id):
            await pause()
            return super().load(plan_id)

    @types.coroutine
    def pause():
        yield "of another library"

    session = AsyncPlanner(Pausing(), "p", toolbox=BOX).session(actor="bot")
    calls = [session.unseen(), session.unseen()]
    assert [call.send(None) for call in calls] == ["of another library"] * 2
    for call in calls:
        with pytest.raises(StopIteration) as done:
            call.send(None)
        assert done.value.value[0] == Plan()


def test_a_session_undoes_and_says_what_happened(places):
    """Undo is the planner's; the history of a slot goes on over restarts, the latest 50 entries."""
    session = places.open()
    write(session, "Dig")
    session.edit(CreateTask("Tell Ann"), actor="ann")
    session.undo(actor="ann", seen=session.plan.revision)
    assert subjects(session) == ["Dig"]
    session = places.open(saved(session))
    assert [entry.cause for entry in session.history()] == ["write_todos", "CreateTask", "undo"]
    assert session.toolbox is BOX


def test_the_plan_has_one_owner(tmp_path):
    """A saved plan and a store are too much; a record without its store is too little."""
    store = FileStore(tmp_path / "plans.json")
    session = on(store)
    write(session, "Dig")
    with pytest.raises(PlanError, match="is in a store: give store="):
        opened(saved(session), toolbox=BOX)
    with pytest.raises(PlanError, match="is in a store: give store="):
        opened(json.loads((SAVED / "functions_in_a_store.json").read_text())["saved"])
    inside = opened({}, toolbox=BOX)
    with pytest.raises(PlanError, match="both a saved plan and store="):
        on(store, saved(inside))


def test_a_compacted_journal_undoes_nothing(tmp_path):
    """Nobody can say any more who did what: nothing is dropped, and nothing closed is reopened."""
    store = SqliteStore(tmp_path / "plans.db")
    go_on = partial(on, store)
    session = go_on()
    write(session, "Dig", "Lay", "Mow")
    kept = saved(session)
    store.compact("p", keep=0)
    session = go_on(kept)  # with the plan at its revision, no journal is needed
    session.edit(CreateTask("Tell Ann"), actor="ann")
    session.edit(UpdateTask("3", status="completed"), actor="ann")
    store.compact("p", keep=0)
    session = go_on(kept)
    write(session, "Dig", "Mow")
    assert sorted(subjects(session)) == ["Dig", "Lay", "Mow", "Tell Ann"]
    assert session.plan["3"].status.value == "completed"
    assert session.record["overflow"] is True
    session = go_on(saved(session))
    write(session, "Dig", "Mow")  # the same old words once more
    assert session.plan["3"].status.value == "completed"
    write(session, "Dig", ("Mow", "completed"))
    write(session, "Dig", "Mow")  # now it is meant
    assert session.plan["3"].status.value == "pending"
    session.answer([Call("read_todos", {})])
    assert "overflow" not in session.record
    write(session, "Mow")
    assert sorted(subjects(session)) == ["Lay", "Mow", "Tell Ann"]


def test_a_store_that_was_put_back_undoes_nothing(tmp_path):
    """The record is of a revision that the plan does not have any more."""
    stores = [FileStore(tmp_path / f"{name}.json") for name in "ab"]
    session = on(stores[0])
    write(session, "Dig", "Lay")
    write(on(stores[1]), "Dig")
    session = on(stores[1], saved(session))
    write(session, "Lay")
    assert sorted(subjects(session)) == ["Dig", "Lay"]


def test_what_stays_is_told_once_also_if_the_store_was_put_back(tmp_path):
    """The session knows it, whatever became of the plan."""
    stores = [FileStore(tmp_path / f"{name}.json") for name in "ab"]
    for store in stores:
        write(on(store), "Dig", "Lay")
    session = on(stores[0])
    stays = "not on your list, kept: #1 Dig, #2 Lay"
    assert stays in write(session, "Mow")
    assert stays not in write(on(stores[1], saved(session)), "Mow")


def test_the_record_of_an_agent_alone_stays_small():
    """Whatever the size of its plan, and however long it lives."""
    lengths = []
    for size in (20, 100, 1000):
        session = Planner(toolbox=BOX).session()
        for _ in range(3):
            write(session, *(f"Task {n}" for n in range(size)))
        lengths.append(len(json.dumps(session.record)))
    assert max(lengths) <= 120
    assert max(lengths) - min(lengths) <= 4


def test_the_record_is_bounded_whatever_happens():
    """Own words past 100 are forgotten on the safe side: no drop, no reopening."""
    planner = Planner(toolbox=BOX)
    session = planner.session()
    texts = [f"Task {n}" for n in range(300)]
    write(session, *texts)
    for number in range(1, 301):
        planner.apply(UpdateTask(str(number), status="completed"), actor="ann")
    write(session, "Task 299")
    record = session.record
    assert len(record["mine"]) == 100
    assert record["overflow"] is True
    assert len(json.dumps(record)) < 10_000
    session = planner.session(record)
    write(session, *texts)
    assert planner.plan.counts.open == 0
    assert len(planner.plan) == 300
    session.answer([Call("read_todos", {})])
    write(session, *((text, "completed") for text in texts))
    assert "mine" not in session.record


def test_listed_ranges_are_bounded():
    """Of every other task of a huge plan, the oldest can no longer be dropped."""
    planner = Planner(toolbox=Toolbox(LEAN, Policy()))
    for number in range(1, 2403):
        planner.apply(CreateTask(f"t{number}"), actor="ann")
    session = planner.session()
    done = [str(n) for n in range(1, 2403, 2)]
    calls = [Call("plan", {"done": done[n : n + 50]}) for n in range(0, len(done), 50)]
    assert not any(reply.is_error for reply in session.answer(calls).replies)
    assert len(session.record["listed"]) == 1000
    assert session.record["listed"][-1] == [2401, 2401]
    without_gaps = Base(planner.plan, listed=frozenset(str(n) for n in range(1, 1002)))
    assert base_to_data(without_gaps)["listed"] == [[1, 1001]]  # ranges are bounded, not tasks


def test_news_of_an_approval_survives_a_restart():
    """Also in a slot, whose journal does not say it."""
    session = opened({}, toolbox=BOX)
    write(session, "Dig", "Lay")
    session.edit(ApprovePlan(), actor="ann")
    session.seed(plan_of([session.plan["2"], session.plan["1"]], next_id=3), actor="ann")
    session.edit(ApprovePlan(), actor="ann")
    session = opened(saved(session), toolbox=BOX)
    assert session.record["behind"]["order"] == ["1", "2"]
    assert "plan approved by ann" in write(session, "Dig", "Lay")


def test_a_plan_that_was_put_in_place_at_the_same_revision_has_an_author():
    """The record says so: the revision does not."""
    store, known = MemoryStore(), plan_of([Task("1", "Dig")], revision=1)
    planner = Planner(store, "p")
    planner.restore(plan_of([Task("1", "Lay")]))
    session = Session(planner, Record(revision=1, behind=Base(known, {"1": "ann"})))
    plan, base = session.unseen()
    assert [one.actor for one in base.unseen(plan)] == ["ann"]


def old(name):
    return json.loads((SAVED / f"{name}.json").read_text())


@pytest.mark.parametrize("adapter", ["functions", "openai_agents"])
@pytest.mark.parametrize("where", ["behind", "in_a_store"])
def test_a_run_that_0_2_0_saved_goes_on(adapter, where, tmp_path):
    """What others had done since is told once, and its old words mean what they meant."""
    kept = old(f"{adapter}_{where}")
    if where == "in_a_store":  # the store is of then, too
        path = tmp_path / "plans.json"
        path.write_text(
            kept["store"] if isinstance(kept["store"], str) else json.dumps(kept["store"])
        )
        session = on(FileStore(path), kept["saved"])
    else:
        session = opened(kept, toolbox=BOX)
        assert {"plan", "journal"} <= kept.keys()
        assert not {"memory", "seen", "base", "asked"} & kept.keys()
        assert len(session.history()) == 3
        session = opened(saved(session), toolbox=BOX)
    text = write(session, ("Dig", "in_progress"), "Lay")
    assert "#3 Tell Ann created by ann" in text
    assert "#2 Lay it (was: Lay) completed by bo" in text or "Lay it" in text
    for _ in range(2):
        write(session, ("Dig", "in_progress"), "Lay")
    assert subjects(session) == ["Dig", "Lay it", "Tell Ann"]
    assert session.plan["2"].status.value == "completed"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        *(
            (name, 'ok, 0/1 completed; removed while open: "Dig"')
            for name in ("functions_alone", "functions_asked", "openai_agents_alone")
        ),
        ("functions_new", "ok, 0/1 completed"),  # it was saved before its first request
    ],
)
def test_who_was_alone_in_0_2_0_is_alone(name, told):
    """All that it had seen counts as listed by it."""
    session = opened(old(name), toolbox=BOX)
    assert (session.record["revision"] is None) is (name == "functions_new")
    if name == "functions_asked":
        assert session.after_model(answered(""), silent=True).verdict == "accept"
    assert write(session, "Lay") == told
    assert "listed" not in session.record


DAMAGE = {
    "seen": ["2", -1],
    "memory": [[], {"turn": "one"}],
    "base": [{"plan": None}],
    "id": [7],
    "answered": [1.5],
    "asked": [{"seen": 2}, {"memory": {}, "seen": "2"}],
    "plan": [7, None],
    "journal": [7],
    SESSION: [{}],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in DAMAGE.items() for value in values]
)
def test_damaged_values_are_errors(name, value):
    """Of 0.2.0 or of now: never a new session, nor an empty plan."""
    in_0_2 = {"seen", "memory", "base", "id", "answered", "asked"}
    kept = old("functions_behind") if name in in_0_2 else {"plan": saved(opened({}))["plan"]}
    opened({**kept}, toolbox=BOX)
    with pytest.raises((CodecError, PlanError)) as caught:
        opened({**kept, name: value}, toolbox=BOX)
    if name in in_0_2 - {"memory", "base"}:
        assert str(caught.value).startswith("this is no run that was saved by todoplan 0.2: ")
    assert opened({}).plan == Plan()


def test_an_order_that_others_have_changed_is_left_alone():
    """The session's own order, again and again, is no change; another one is."""
    planner = Planner(toolbox=BOX)
    one, two = planner.session(), planner.session()
    write(one, "Dig", "Lay")
    write(two, "Lay", "Dig")
    for _ in range(3):
        assert one.answer([lines("Dig", "Lay")]).events == ()
        one = planner.session(one.record)
    assert subjects(one) == ["Lay", "Dig"]
    assert one.record["order"] == ["1", "2"]
    write(one, "Lay", "Dig", "Mow")
    write(one, "Mow", "Lay", "Dig")
    assert subjects(one) == ["Mow", "Lay", "Dig"]
    assert "order" not in one.record


def test_what_a_message_writes_after_the_list_was_cleared_is_listed():
    """A plan without tasks is what the session has seen, and not a plan that is unknown."""
    session, clear = opened({}, toolbox=Toolbox(TODOS)), {"todos": [], "clear": True}
    message = [attrs.evolve(lines("Dig"), call_id="3"), Call("read_todos", {}, "4")]
    write(session, "Dig")
    session.answer([Call("write_todos", clear, "2")])
    for call in message:
        session.answer_one(call, message)
    (reply,) = session.answer([Call("write_todos", clear, "5")]).replies
    assert reply.text == 'ok, the list is empty; removed while open: "Dig"'


@pytest.mark.parametrize("store", [None, MemoryStore()])
def test_a_session_as_one_text_is_what_it_is_as_data(store):
    """Before a change and after it, with the plan or without."""
    given = {"toolbox": BOX, "store": store, "plan_id": None if store is None else "one"}
    session = opened({}, **given)
    for texts in ((), ("Dig",), ("Dig", "Säe")):
        write(session, *texts)
        assert read_text(session.to_text()) == saved(session)
    again = opened(read_text(session.to_text()), **given)
    assert subjects(again) == ["Dig", "Säe"]
    assert again.record == session.record


def test_the_actor_of_an_adapter_stands_in_the_journal():
    """The sessions that an adapter opens have the arguments of its planning."""
    session = BasePlanning(BOX, actor="bot").opened({})
    asyncio.run(session.answer([lines("Dig")], ""))
    assert [entry.actor for entry in asyncio.run(session.history())] == ["bot"]


def test_a_session_of_a_team_has_a_name_of_its_own():
    """The name that the program or the framework gives, or else one that stays with its record."""
    team = Toolbox(lean(team=True))
    assert BasePlanning(team, actor="bot").opened({}, "thread-7").actor == "bot"
    assert BasePlanning(team).opened({}, "thread-7").actor == "thread-7"
    one, other = (opened({}, toolbox=team) for _ in range(2))
    assert one.actor != other.actor
    assert opened(saved(one), toolbox=team).actor == one.actor
    assert opened({}, toolbox=BOX).actor is None


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_repeated_response_of_a_team_is_known_without_its_record(one_by_one):
    """
    The new session has another name, which the program has not given. The same response under a
    name that the program gave is another request.
    """
    store, turn = MemoryStore(), [Call("plan", {"add": [text]}, text) for text in ("Dig", "Lay")]

    def told(actor=None):
        session = on(store, toolbox=Toolbox(lean(team=True)), actor=actor)
        if one_by_one:
            return [session.answer_one(call, turn, "resp_1").text for call in turn]
        return [reply.text for reply in session.answer(turn, "resp_1").replies]

    assert told() == told()
    assert [task.subject for task in store.load("p")] == ["Dig", "Lay"]
    with pytest.raises(StoreError, match="key"):
        told("ann")
