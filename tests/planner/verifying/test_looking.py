"""A planner looks before it takes a model's word: outside of every lock, once for each check."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from todoplan import DEFAULT, TASKS, TODOS, AsyncPlanner, MemoryStore, Planner, Toolbox
from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.plan.model import Status
from todoplan.core.rules import Policy
from todoplan.dialogue import Call
from todoplan.errors import PlanError
from todoplan.planner import Verifier
from todoplan.planner import verifying as looking
from todoplan.planner.verifying import Verifying
from todoplan.stores import SqliteStore

ASKING = Toolbox(TASKS, DEFAULT.but(evidence_required="error"))
COMPLETE = ("TaskUpdate", {"taskId": "1", "status": "completed"})


class Looker:
    """A verifier that says of each task what it is told, and keeps what it was asked."""

    def __init__(self, *answers, meanwhile=lambda: None):
        self.answers, self.asked, self.meanwhile = list(answers), [], meanwhile

    def __call__(self, task, plan):
        assert plan[task.id] == task
        self.asked.append(task.id)
        self.meanwhile()
        answer = self.answers.pop(0) if self.answers else (True, "seen")
        if isinstance(answer, Exception):
            raise answer
        return answer


def planner_with(verify, *tasks, toolbox=ASKING, store=None, kind=Planner):
    """Return a planner of started tasks, each with a check."""
    store = MemoryStore() if store is None else store
    plain = Planner(store, "p", toolbox=toolbox)
    for title in tasks or ("Fix",):
        plain.apply(
            CreateTask(title, check="tests pass", status="in_progress"), policy=Policy()
        ).unwrap()
    return kind(store, "p", toolbox=toolbox, verify=verify)


@pytest.mark.parametrize("store", [MemoryStore, SqliteStore])
def test_evidence_and_completion_are_one_entry(store, tmp_path):
    """What was found stands in the journal with the call that it was for, and with who looked."""
    kept = store() if store is MemoryStore else store(tmp_path / "plans.db")
    planner = planner_with(Verifier(Looker((True, "40 passed")), by="pytest"), store=kept)
    reply = planner.call(*COMPLETE, actor="bot")
    assert reply.text == "1/1: #1 completed\nverified: #1"
    last = planner.history()[-1]
    assert (last.actor, last.cause, len(last.events)) == ("bot", "TaskUpdate", 2)
    evidence = planner.plan["1"].evidence
    assert (evidence.passed, evidence.summary, evidence.by) == (True, "40 passed", "pytest")
    assert evidence.at == last.at


def test_a_refused_completion_is_tried_again_and_looked_at_again():
    """The first finding is recorded until another is; a refusal tells no news of others."""
    look = Looker((False, "2 failed"), (True, "40 passed"))
    planner = planner_with(look)
    planner.call("TaskList", actor="bot")
    planner.apply(CreateTask("Tell Ann"), actor="ann")
    first = planner.call(*COMPLETE, actor="bot")
    assert (first.is_error, "Tell Ann" in first.text) == (True, False)
    assert planner.plan["1"].evidence.summary == "2 failed"
    second = planner.call(*COMPLETE, actor="bot").text  # its own refusal is no news to an actor
    assert second.startswith("since you last looked: #2 Tell Ann created by ann\n1/2: #1 completed")
    assert look.asked == ["1", "1"]


def test_several_completions_are_looked_at_once_each():
    """In one call of a whole list, and in the calls of one turn."""
    look = Looker()
    planner = planner_with(look, "a", "b", toolbox=Toolbox(TODOS))
    todos = [{"content": title, "status": "completed"} for title in "ab"]
    planner.call("write_todos", {"todos": todos})
    assert look.asked == ["1", "2"]
    planner = planner_with(look, "a", "b")
    calls = [Call("TaskUpdate", {"taskId": n, "status": "completed"}, n) for n in "12"]
    turn = planner.turn(calls)
    assert look.asked == ["1", "2", "1", "2"]
    assert turn.plan.counts.completed == 2


def test_nobody_waits_for_a_look(tmp_path):
    """While the program looks, others write to the plan: no lock is held, and nothing is lost."""
    other = SqliteStore(tmp_path / "plans.db")

    def writes():
        Planner(other, "p", toolbox=ASKING).apply(CreateTask("Tell Ann"), actor="ann").unwrap()

    look = Looker(meanwhile=writes)
    planner = planner_with(look, store=SqliteStore(tmp_path / "plans.db"))
    reply = planner.call(*COMPLETE)
    assert not reply.is_error
    assert [task.subject for task in planner.plan] == ["Fix", "Tell Ann"]
    assert look.asked == ["1"]  # the task itself is as it was


@pytest.mark.parametrize(("changes", "looks"), [(1, 2), (100, 3)])
def test_a_task_that_was_changed_meanwhile_is_looked_at_again(monkeypatch, changes, looks):
    """What was found was found of the task as it stood; if it never rests, the answer says so."""
    monkeypatch.setattr(looking, "_MOST_ROUNDS", 3)
    store, numbers = MemoryStore(), iter(range(changes))
    others = Planner(store, "p", toolbox=ASKING)
    look = Looker(
        meanwhile=lambda: [others.apply(UpdateTask("1", subject=f"Fix {next(numbers, 0)}"))]
    )
    reply = planner_with(look, store=store).call(*COMPLETE)
    assert look.asked == ["1"] * looks
    assert reply.is_error is (changes > 1)
    assert ("was changed during each verification" in reply.text) is (changes > 1)


@pytest.mark.parametrize("toolbox", [ASKING, Toolbox(TASKS)], ids=["asking", "permissive"])
def test_a_verifier_that_fails_leaves_the_task_as_it_was(toolbox):
    """Under any policy: nothing is recorded, and the answer says why."""
    planner = planner_with(Looker(ValueError("no pytest here")), toolbox=toolbox)
    before = planner.plan
    reply = planner.call(*COMPLETE)
    assert reply.is_error
    assert "ValueError: no pytest here" in reply.text
    assert planner.plan == before


def test_a_programs_own_commands_are_taken_at_their_word():
    """The verifier is for models: what is applied by the program is judged by the policy alone."""
    look = Looker()
    planner = planner_with(look)
    planner.apply(UpdateTask("1", status="completed"), policy=Policy()).unwrap()
    assert look.asked == []


def test_a_call_that_is_made_twice_is_looked_at_once(tmp_path):
    """Its answer of then is given again, by its key."""
    look = Looker()
    planner = planner_with(look, store=SqliteStore(tmp_path / "plans.db"))
    first = planner.call(*COMPLETE, key="call_7")
    assert planner.call(*COMPLETE, key="call_7").text == first.text
    assert look.asked == ["1"]


@pytest.mark.parametrize("awaited", [False, True])
async def test_an_async_planner_looks_without_standing_still(awaited):
    """Other tasks of the loop go on, whether the verifier is awaited or in a thread."""
    let_go = Event()

    def look(task, plan):
        return let_go.wait(60), "seen"

    async def alook(task, plan):
        return await asyncio.to_thread(let_go.wait, 60), "seen"

    planner = planner_with(alook if awaited else look, kind=AsyncPlanner)
    call = asyncio.create_task(planner.call(*COMPLETE))
    await asyncio.sleep(0.01)
    await planner.apply(CreateTask("Tell Ann"))
    assert not call.done()
    let_go.set()
    reply = await call
    assert reply.plan["1"].status is Status.COMPLETED


def test_what_is_no_verifier_is_refused():
    """An awaited one by a planner that awaits nothing, at once."""

    async def look(task, plan):
        return True, ""

    with pytest.raises(PlanError, match="AsyncPlanner"):
        Planner(verify=look)
    with pytest.raises(PlanError, match="give a function"):
        AsyncPlanner(verify="pytest")


async def test_calls_of_a_turn_share_their_looks():
    """Each of them answers those before it again: a check is looked at once for all."""
    look = Looker()
    verifying = Verifying.of(ASKING, look)
    plan = planner_with(None, "a", "b", "c").plan
    calls = [Call("TaskUpdate", {"taskId": n, "status": "completed"}, n) for n in "123"]
    meet = Barrier(3)

    def answer(place):
        meet.wait(60)
        with verifying.of_turn("turn", ["1", "2", "3"], str(place + 1)) as shared:
            return verifying.answer(lambda box: box.turn(plan, calls[: place + 1]), shared)

    with ThreadPoolExecutor(3) as pool:
        turns = [*pool.map(answer, range(3))]
    assert sorted(look.asked) == ["1", "2", "3"]
    assert turns[2].plan.counts.completed == 3
    assert verifying._turns == {}
    look.asked.clear()

    async def one(place):
        with verifying.of_turn("turn", ["1", "2", "3"], str(place + 1)) as shared:
            return await verifying.aanswer(lambda b: b.turn(plan, calls[: place + 1]), shared)

    assert (await asyncio.gather(*map(one, range(3))))[2].plan.counts.completed == 3
    assert sorted(look.asked) == ["1", "2", "3"]


def test_a_call_alone_shares_nothing_and_turns_are_forgotten(monkeypatch):
    """Of a turn whose last call never came, the looks are given up for those of later ones."""
    monkeypatch.setattr("todoplan.planner.steps.MOST_REMEMBERED", 2)
    verifying = Verifying.of(ASKING, Looker())
    assert Verifying.of(ASKING, None) is None
    with verifying.of_turn("t", ["1"], "1") as shared:
        assert shared is None
    for key in "abc":
        with verifying.of_turn(key, ["1", "2"], "1"):
            pass
    assert [*verifying._turns] == ["b", "c"]
    with verifying.of_turn("b", ["1", "2"], "2"):
        verifying._turns.clear()
