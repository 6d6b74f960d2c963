"""The handles for embedders, and the logic that both share."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.policies import strict_for
from support.stores_sound import AsyncSound
from support.strategies import full_plans
from support.talk import texts_of

from todoplan.core.commands import (
    ApprovePlan,
    Batch,
    ClaimTask,
    CreateTask,
    DeleteTask,
    RenewClaim,
    UpdateTask,
)
from todoplan.core.decide import Accepted, Rejected, plan_of
from todoplan.core.events.apply import apply, replay
from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import DEFAULT, Rule
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TASKS
from todoplan.errors import PlanError, StoreError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores.base import beginning
from todoplan.stores.memory import MemoryStore

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def replayed(history):
    return replay(Plan(), (event for entry in history for event in entry.events))


def test_an_accepted_command_is_kept_with_time_and_actor():
    """The journal says what happened, when, by whom and by which command."""
    planner = Planner(clock=lambda: NOON)
    assert isinstance(planner.apply(CreateTask("Write"), actor="ann"), Accepted)
    (entry,) = planner.history()
    assert (entry.revision, entry.at, entry.actor, entry.cause) == (1, NOON, "ann", "CreateTask")
    assert planner.plan["1"].created_at == NOON


def test_a_command_is_decided_as_its_actors():
    """Rules see whose it is, an approval is signed, and who approved may change the plan."""

    def own(change):
        return () if change.actor == "ann" else (Problem("own"),)

    policy = DEFAULT.but(approved_changed="error").adding(Rule("own", own))
    planner = Planner(toolbox=Toolbox(policy=policy))
    assert planner.apply(CreateTask("Write"), actor="bob").problems == (Problem("own"),)
    planner.apply(CreateTask("Write"), actor="ann").unwrap()
    planner.apply(ApprovePlan(), actor="ann").unwrap()
    assert planner.plan.approved.by == "ann"
    planner.apply(CreateTask("Test"), actor="ann").unwrap()


def test_what_changes_nothing_leaves_no_trace():
    """A refusal, or a command without events: neither journal nor subscribers hear of it."""
    planner, told = Planner(), []
    planner.subscribe(lambda entry, plan: told.append(entry))
    assert isinstance(planner.apply(DeleteTask("7")), Rejected)
    assert (planner.plan, planner.history(), told) == (Plan(), (), [])
    planner.apply(CreateTask("Write"))
    assert isinstance(planner.apply(UpdateTask("1", status="pending")), Accepted)
    assert tuple(told) == planner.history()
    assert len(told) == 1


def test_undo_takes_back_one_command_after_the_other():
    """Past what it has taken back and what cancelled out; it names its entry and frees no id."""
    planner = Planner()
    for subject in "abc":
        planner.apply(CreateTask(subject))
    planner.undo(actor="ann")
    entry = planner.history()[-1]
    assert (entry.cause, entry.actor, entry.undoes) == ("undo", "ann", 3)
    planner.undo()
    assert texts_of(planner.plan) == ["a"]
    planner.apply(CreateTask("d"))
    assert [task.id for task in planner.plan] == ["1", "4"]
    planner.apply(Batch((CreateTask("e"), DeleteTask("5"))))
    for _ in range(3):
        assert isinstance(planner.undo(), Accepted)
    assert texts_of(planner.plan) == []
    assert [problem.code for problem in planner.undo().problems] == ["nothing_to_undo"]


def test_undo_lets_those_who_work_go_on():
    """A worker's task is not taken from it, and its heartbeats are nothing to take back."""
    planner = Planner(clock=lambda: NOON)
    planner.apply(CreateTask("a"))
    planner.apply(ClaimTask("w1"))
    assert [problem.code for problem in planner.undo(actor="ann").problems] == ["claimed"]
    planner.apply(CreateTask("b"), actor="ann")
    planner.apply(RenewClaim("1", 1, lease=900))
    claim = planner.plan["1"].claim
    assert isinstance(planner.undo(actor="ann"), Accepted)
    assert (texts_of(planner.plan), planner.plan["1"].claim) == (["a"], claim)
    assert [problem.code for problem in planner.undo(actor="w1").problems] == ["claimed"]
    assert isinstance(planner.undo(actor="w1", fences={"1": 1}), Accepted)
    assert planner.plan["1"].claim is None


def test_undo_works_under_any_policy():
    """A strict policy refuses commands, not going back."""
    strict = strict_for(LEAN)
    planner = Planner(toolbox=Toolbox(LEAN, strict.but(duplicate_content="off")))
    assert not planner.call("plan", {"write": ["a", "b"]}).is_error
    assert not planner.call("plan", {"done": [1]}).is_error
    planner.undo()
    assert planner.plan["1"].status is Status.IN_PROGRESS


def test_restore_brings_back_a_snapshot():
    """Its tasks, and ids go on, also in another planner: an id that was deleted stays used."""
    planner, other = Planner(), Planner()
    planner.apply(CreateTask("a"))
    snapshot = planner.plan
    planner.apply(UpdateTask("1", subject="b"))
    planner.apply(CreateTask("c"))
    planner.apply(DeleteTask("2"))
    planner.restore(snapshot, actor="ann")
    assert tuple(planner.plan) == tuple(snapshot)
    assert (planner.plan.next_id, planner.history()[-1].cause) == (3, "restore")
    other.restore(planner.plan)
    other.apply(CreateTask("c"))
    assert [task.id for task in other.plan] == ["1", "3"]


def test_a_plan_that_cannot_go_on_is_not_restored():
    """A hand-made plan with an id that leaves no room to count is refused, and nothing changes."""
    planner = Planner()
    far = apply(Plan(), TaskCreated(Task("9" * 17, "a")))
    assert isinstance(planner.restore(far), Rejected)
    assert planner.plan == Plan()


def test_a_store_that_counts_as_false_is_used():
    """Only `None` stands for a store of its own, and "" is an id as any other."""
    store = type("Sized", (MemoryStore,), {"__len__": lambda _: 0})()
    Planner(store, "").apply(CreateTask("Write"))
    assert texts_of(store.load("")) == ["Write"]


def test_a_planner_over_what_must_be_awaited_says_so(caplog):
    """An awaited store is refused, an awaited subscriber is logged; neither is left unawaited."""
    future = type("Future", (), {"__await__": lambda _: iter(())})  # it has nothing to close
    for store in (AsyncSound(), type("Later", (MemoryStore,), {"load": lambda *_: future()})()):
        with pytest.raises(PlanError, match="use AsyncPlanner"):
            _ = Planner(store, "p").plan

    async def listen(entry, plan):
        """Never run."""

    planner = Planner()
    planner.subscribe(listen)
    planner.apply(CreateTask("Write"))
    assert "use AsyncPlanner" in caplog.text


class Busy(MemoryStore):
    """A store in which somebody else is always, or a number of times, faster."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    def append(self, plan_id, expected, entries, plan):
        self.times -= 1
        return self.times < 0 and super().append(plan_id, expected, entries, plan)


def test_a_faster_writer_makes_the_planner_decide_anew():
    """A lost race is run again on the plan as it is now, a finite number of times."""
    planner = Planner(Busy(3), "a")
    planner.apply(CreateTask("Write"))
    assert texts_of(planner.plan) == ["Write"]
    with pytest.raises(StoreError, match="'a' kept changing") as caught:
        Planner(Busy(10**6), "a").apply(CreateTask("Write"))
    assert caught.value.data == {"plan_id": "a", "problem": "busy"}


class Late(MemoryStore):
    """A store whose plan is one entry ahead of the journal on the first look."""

    looks = 0

    def entries(self, plan_id):
        self.looks += 1
        return super().entries(plan_id)[: -1 if self.looks == 1 else None]


def test_undo_looks_again_when_the_journal_moved_on():
    """Undo decides only on a journal and a plan of the same revision."""
    store = Late()
    planner = Planner(store, "a")
    planner.apply(CreateTask("a"))
    planner.apply(CreateTask("b"))
    planner.undo()
    assert store.looks == 2
    assert texts_of(planner.plan) == ["a"]


@pytest.mark.parametrize("step", ["undo", "restore"])
def test_a_step_back_from_another_revision_is_refused(step):
    """Who undoes or restores what they see does not undo what came since."""
    planner = Planner(MemoryStore(), "a")
    planner.apply(CreateTask("a"))
    before = planner.plan
    planner.apply(CreateTask("b"))
    given = [] if step == "undo" else [before]
    decision = getattr(planner, step)(*given, seen=before.revision)
    assert isinstance(decision, Rejected)
    assert [problem.code for problem in decision.problems] == ["moved_on"]
    assert isinstance(getattr(planner, step)(*given, seen=planner.plan.revision), Accepted)
    assert texts_of(planner.plan) == ["a"]


def test_a_store_that_fails_is_heard():
    """What a store raises reaches the caller, also if it is awaited."""

    class Broken(MemoryStore):
        def load(self, plan_id):
            msg = "disk"
            raise OSError(msg)

    with pytest.raises(OSError, match="disk"):
        Planner(Broken(), "a").apply(CreateTask("Write"))
    with pytest.raises(OSError, match="disk"):
        asyncio.run(AsyncPlanner(AsyncSound(Broken()), "a").plan())


async def test_async_tasks_on_one_plan_lose_nothing():
    """Coroutines that interleave between reading and writing lose no task."""
    planner = AsyncPlanner(AsyncSound(), "a")
    await asyncio.gather(*(planner.apply(CreateTask(str(n))) for n in range(20)))
    assert len(await planner.plan()) == 20


steps = st.lists(
    st.one_of(
        st.builds(CreateTask, st.sampled_from("abc")),
        st.builds(UpdateTask, st.sampled_from("123"), status=st.sampled_from(list(Status))),
        st.builds(DeleteTask, st.sampled_from("123")),
        st.just("undo"),
    ),
    max_size=12,
)


@given(steps)
def test_the_journal_always_replays_to_the_plan(script):
    """Whatever is applied and undone; and when everything is undone, the plan has no tasks."""
    planner = Planner()
    for step in script:
        if step == "undo":
            planner.undo()
        else:
            planner.apply(step)
    assert replayed(planner.history()) == planner.plan
    while isinstance(planner.undo(), Accepted):
        pass
    assert len(planner.plan) == 0


@pytest.mark.parametrize("made", [Planner, AsyncPlanner])
@pytest.mark.parametrize(
    ("given", "named", "remedy"),
    [
        (("plans.json", "x"), {}, r"FileStore\('plans.json'\)"),
        ((Path("plans.json"),), {}, r"FileStore\('plans.json'\)"),
        ((MemoryStore, "x"), {}, r"a class is no store yet; make one: MemoryStore\(...\)"),
        ((7, "x"), {}, r"7 \(int\) was given; a store has load, entries and append"),
        ((MemoryStore(),), {}, "plan_id="),
        ((MemoryStore(), 7), {}, r"pass str\(...\) of it"),
        ((), {"clock": NOON}, "clock=lambda: datetime.now"),
        ((), {"toolbox": TASKS}, r"Toolbox\(toolset, policy\)"),
        ((), {"toolbox": "tasks"}, r"Toolbox\(toolset, policy\)"),
    ],
)
def test_a_planner_says_at_once_what_to_write(made, given, named, remedy):
    """A mistake in making one is told where it is made, with what was seen and what is meant."""
    with pytest.raises(PlanError, match=remedy):
        made(*given, **named)


def test_a_look_says_what_came_since_a_revision_and_who_did_it(made):
    """Its own entries since are no news; who never looked has no base."""
    planner = made(toolbox=Toolbox(TASKS))
    planner.apply(CreateTask("a"))
    planner.apply(CreateTask("b"), actor="ann")
    planner.call("TaskCreate", {"subject": "c"})
    plan, base = planner.look(1)
    assert [(one.task.subject, one.actor) for one in base.unseen(plan)] == [
        ("b", "ann"),
        ("c", None),
    ]
    plan, base = planner.look(1, [3])
    assert [one.task.subject for one in base.unseen(plan)] == ["b"]
    assert planner.look(3)[1].unseen(plan) == ()
    assert planner.look(None) == (plan, None)


def test_a_revision_that_the_store_has_not_is_no_news(made):
    """It was put back to an older copy: the plan as it is is all there is to see."""
    planner = made(toolbox=Toolbox(TASKS))
    planner.apply(CreateTask("a"))
    plan, base = planner.look(7)
    assert base.unseen(plan) == ()
    empty, base = Planner().look(7)
    assert base.plan == empty == Plan()


def test_a_plan_begins_with_what_a_framework_kept_once(made):
    """One upon the other, as entries that nobody can undo; what is there already stays."""
    planner = made(toolbox=Toolbox(TASKS))
    one, two = plan_of([Task("1", "a")]), plan_of([Task("1", "a"), Task("2", "b")], next_id=7)
    assert planner.begin(one, two)
    plan, base = planner.look(1)
    assert [one.task.subject for one in base.unseen(plan)] == ["b"]
    assert (plan.revision, plan.next_id) == (2, 7)
    assert isinstance(planner.undo(), Rejected)
    assert planner.begin(plan_of([Task("9", "z")]))
    assert planner.look(None)[0] == plan
    assert planner.apply(CreateTask("c")).unwrap()["7"].subject == "c"


def test_a_plan_that_began_otherwise_is_left_alone(made):
    """And the caller is told so."""
    planner = made(toolbox=Toolbox(TASKS))
    planner.apply(CreateTask("a"))
    assert not planner.begin(plan_of([Task("1", "b")]))
    assert [task.subject for task in planner.look(None)[0]] == ["a"]


@given(full_plans | st.just(plan_of((Task("1", "made by hand"),))))
def test_a_planner_goes_on_from_a_plan_as_it_is(plan):
    """Ids and revision go on, and undo takes back only what was done since."""
    store = MemoryStore()
    if plan != Plan():
        store.append("p", 0, (beginning(plan, "held"),), plan)
    planner = Planner(store, "p")
    assert planner.plan == plan
    planner.apply(CreateTask("more"))
    assert planner.plan[str(plan.next_id)].subject == "more"
    assert planner.plan.revision == planner.history()[-1].revision > plan.revision
    planner.undo()
    assert isinstance(planner.undo(), Rejected)
    assert tuple(planner.plan) == tuple(plan)
