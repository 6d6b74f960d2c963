"""Law 19 in a planner: several actors work on one plan, and no model repeats a fencing token."""

from datetime import UTC, datetime, timedelta

import pytest

from todoplan.core.commands import CreateTask
from todoplan.dialogue import Call, Toolbox, lean, tasks
from todoplan.dialogue.toolbox import fences_after
from todoplan.planner import Planner
from todoplan.stores.memory import MemoryStore
from todoplan.stores.sqlite import SqliteStore

NEXT = {"next": True}
START = datetime(2026, 1, 1, tzinfo=UTC)


class Watch:
    """A clock that is set by hand."""

    now = START

    def __call__(self):
        return self.now

    def tick(self, **more):
        """Let time pass."""
        self.now += timedelta(**more)


def new(store, clock, toolset=None):
    """Return a planner of one process of the team."""
    return Planner(store, "p", toolbox=Toolbox(toolset or lean(team=True)), clock=clock)


def fill(planner, *subjects):
    """Create tasks."""
    for subject in subjects:
        planner.apply(CreateTask(subject)).unwrap()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_two_actors_complete_a_plan(kind, tmp_path):
    """Each in a planner of its own; each task is done once, by who claimed it."""
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "plans.db")
    clock = Watch()
    actors = {"ann": new(store, clock), "bob": new(store, clock, tasks(team=True))}
    fill(actors["ann"], *"abcde")
    mine = {name: [] for name in actors}
    while actors["ann"].plan.counts.open:
        for name, planner in actors.items():
            if name == "ann":
                reply = planner.call("plan", {"done": mine[name][-1:], **NEXT}, actor=name)
            else:
                for number in mine[name][-1:]:
                    done = {"taskId": number, "status": "completed"}
                    assert not planner.call("TaskUpdate", done, actor=name).is_error
                reply = planner.call("TaskClaim", {}, actor=name)
            assert not reply.is_error
            mine[name] = [task.id for task in reply.plan.active() if task.claim.owner == name]
    assert actors["bob"].plan.counts.completed == 5
    assert all(task.claims == 1 for task in actors["bob"].plan)


def test_actors_of_one_planner_hold_their_own(made):
    """Two actors through one planner: what one claimed the other can neither do nor take."""
    planner = made(toolbox=Toolbox(lean(team=True)))
    fill(planner, "Dig", "Lay")
    assert "#1 claimed" in planner.call("plan", NEXT, actor="ann").text
    told = planner.call("plan", NEXT, actor="bob").text
    assert told.startswith("0/2: #2 claimed")
    assert "claimed by ann" in planner.call("plan", {"done": [1]}, actor="bob").text
    reply = planner.call("plan", {"done": [1]}, actor="ann")
    assert reply.text.startswith("since you last looked: #2 Lay claimed by bob\n1/2: #1 completed")


def test_a_hand_of_the_same_name_has_no_claim():
    """After a restart, or in another window, the name is the same; the fence is in a record."""
    store, clock = MemoryStore(), Watch()
    first = new(store, clock)
    fill(first, "Dig", "Lay")
    first.call("plan", NEXT, actor="bot")
    other = new(store, clock)
    assert "claimed by bot" in other.call("plan", {"done": [1]}, actor="bot").text
    session = first.session(actor="bot")
    (reply,) = session.answer([Call("plan", {"done": [1]})]).replies
    assert "claimed by bot" in reply.text
    assert not first.call("plan", {"done": [1]}, actor="bot").is_error
    session.answer([Call("plan", NEXT)])
    again = other.session(session.record, actor="bot")
    assert not again.answer([Call("plan", {"done": [2]})]).replies[0].is_error


@pytest.mark.parametrize(
    ("toolset", "look", "claim", "done"),
    [
        (lean(team=True), ("plan", {}), ("plan", NEXT), ("plan", {"done": [1]})),
        (
            tasks(team=True),
            *(("TaskList", {}), ("TaskClaim", {})),
            ("TaskUpdate", {"taskId": "1", "status": "completed"}),
        ),
    ],
    ids=["lean", "tasks"],
)
def test_a_look_keeps_a_claim_alive_and_is_no_news(toolset, look, claim, done):
    """The holder's own calls extend its claim; others are not told of that, nor is it itself."""
    store, clock = MemoryStore(), Watch()
    ann, bob = new(store, clock, toolset), new(store, clock, toolset)
    fill(ann, "Dig", "Lay")
    ann.call(*claim, actor="ann")
    bob.call(*look, actor="bob")
    for _ in range(3):
        clock.tick(minutes=14)
        shown = ann.call(*look, actor="ann").text
        assert "since" not in shown
        assert bob.call(*look, actor="bob").text == shown
        assert bob.base_of("bob") is None
    clock.tick(minutes=14)
    assert "#2 claimed" in bob.call(*claim, actor="bob").text
    clock.tick(minutes=2)
    assert bob.call(*claim, actor="bob").text == "0/2: #1 claimed (fence 2): Dig"
    assert "#1 Dig claimed by bob from ann" in ann.call(*look, actor="ann").text
    assert ann.call(*done, actor="ann").is_error


def test_a_caller_may_keep_the_fences():
    """For one whose framework keeps them: the planner of the moment knows nothing."""
    store, clock = MemoryStore(), Watch()
    fill(new(store, clock), "Dig")
    turn = new(store, clock).turn([Call("plan", NEXT)], actor="ann")
    fences = fences_after({}, turn.events)
    done = [Call("plan", {"done": [1]})]
    assert new(store, clock).turn(done, actor="ann").replies[0].is_error
    assert not new(store, clock).turn(done, actor="ann", fences=fences).replies[0].is_error


def test_a_call_made_again_gives_its_fence_back(tmp_path):
    """A process died behind its claim: its call is answered as before, also beside new ones."""
    store, clock = SqliteStore(tmp_path / "plans.db"), Watch()
    first = new(store, clock)
    fill(first, "Dig", "Lay")
    first.call("plan", NEXT, actor="ann", key="call-1")
    again = new(store, clock)
    assert "#1 claimed (fence 1)" in again.call("plan", NEXT, actor="ann", key="call-1").text
    assert again.plan["2"].claim is None
    assert not again.call("plan", {"done": [1]}, actor="ann").is_error
    calls = [Call("plan", NEXT, "1"), Call("plan", {"done": [2]}, "2")]
    again.turn(calls[:1], actor="ann", key=again.keys_of(calls[:1]))
    third = new(store, clock)
    assert not third.turn(calls, actor="ann", key=third.keys_of(calls)).replies[1].is_error


def test_actors_are_forgotten_in_the_end(monkeypatch):
    """A server meets any number of them."""
    monkeypatch.setattr("todoplan.planner.planner._MOST_ACTORS", 2)
    planner = Planner(toolbox=Toolbox(lean(team=True)))
    fill(planner, *"abc")
    for name in "abc":
        assert "claimed" in planner.call("plan", NEXT, actor=name).text
    done = [
        planner.call("plan", {"done": [n]}, actor=name)
        for n, name in ((2, "b"), (3, "c"), (1, "a"))
    ]
    assert [reply.is_error for reply in done] == [False, False, True]
