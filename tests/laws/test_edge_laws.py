"""Laws 4, 5 and 7: edges mirror, make no cycle, and block only while the blocker is unresolved."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.commands import Batch, ClearPlan, CreateTask, CreateTasks, DeleteTask, UpdateTask
from todoplan.core.decide import Accepted, Rejected, closing_edges, decide
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan, ancestors, critical_path, path_between, topological_order
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.rules import Policy

LONG = 100_000


class Counting:
    """Tasks that count how often one of them is asked for."""

    def __init__(self, plan):
        self.plan, self.asked = plan, 0

    def get(self, task_id):
        """Return the task, and count."""
        self.asked += 1
        return self.plan.get(task_id)

    @property
    def nested(self):
        """Say whether there may be subtasks."""
        return self.plan.nested

    def children(self, task_id):
        """Return what is asked for with the task itself."""
        return self.plan.children(task_id)


def ends(plan):
    """Return the edges as each side tells them."""
    ahead = sorted((task.id, end) for task in plan for end in task.blocks)
    behind = sorted((end, task.id) for task in plan for end in task.blocked_by)
    return ahead, behind


def containment(plan):
    """Return each task that lies in another one, behind that one."""
    return [(task.parent, task.id) for task in plan if task.parent is not None]


@given(some.scripts)
def test_blocks_and_blocked_by_mirror_each_other(script):
    """Law 4: after every command both sides tell the same edges, each once, to tasks that exist."""
    for plan in some.run(script):
        ahead, behind = ends(plan)
        assert ahead == behind
        assert len(set(ahead)) == len(ahead)
        assert all(end in plan for edge in ahead for end in edge)


@given(some.full_plans, some.ids, some.ids)
def test_an_edge_is_taken_or_is_a_named_problem(plan, blocker, blocked):
    """Law 5: self-edge, missing task and cycle are refused, and the problem names the tasks."""
    answer = decide(plan, UpdateTask(blocked, add_blocked_by=(blocker,)), Policy())
    missing = tuple(end for end in (blocked, blocker) if end not in plan)
    way = path_between(plan, blocked, blocker)
    within = blocker in plan and blocked in plan and blocker in ancestors(plan, blocked)
    if missing:
        assert {p.code for p in answer.problems} == {"unknown_task"}
        assert answer.problems[0].task_ids[0] in missing
    elif blocker == blocked:
        assert [(p.code, p.task_ids) for p in answer.problems] == [("self_edge", (blocked,))]
    elif way:
        assert [(p.code, p.task_ids) for p in answer.problems] == [("cycle", (*way, blocked))]
        assert answer.problems[0].seen == " -> ".join((*way, blocked))
    elif within:
        named = [(p.code, p.task_ids) for p in answer.problems]
        assert named == [("edge_within", (blocked, blocker))]
    else:
        assert blocked in answer.plan[blocker].blocks
        assert blocker in answer.plan[blocked].blocked_by


@given(some.scripts)
def test_no_plan_has_a_cycle(script):
    """Laws 5 and 18: every plan can be sorted so that blockers come first, and what contains."""
    for plan in some.run(script):
        order = topological_order(plan)
        place = {task_id: n for n, task_id in enumerate(order)}
        assert sorted(order) == sorted(task.id for task in plan)
        assert all(place[a] < place[b] for a, b in [*ends(plan)[0], *containment(plan)])


@given(some.full_plans, some.ids, some.ids)
def test_path_is_a_way_along_the_edges(plan, start, goal):
    """
    A path begins and ends where asked, each step is an edge or leads to a subtask, and it is found
    if there is one.
    """
    way = path_between(plan, start, goal)
    edges = {*ends(plan)[0], *containment(plan)}
    reached = {start}
    for _ in plan:
        reached |= {b for a, b in edges if a in reached}
    assert bool(way) == (goal in reached)
    if way:
        assert (way[0], way[-1]) == (start, goal)
        assert set(pairwise(way)) <= edges


def chain(length):
    """Return a plan in which each task waits for the one before."""
    items = (CreateTask("1"), *(CreateTask("x", blocked_by=(f"#{n}",)) for n in range(length - 1)))
    answer = decide(Plan(), CreateTasks(items), Policy())
    assert isinstance(answer, Accepted)
    return answer.plan


@pytest.mark.slow
def test_a_chain_of_100_000_neither_recurses_nor_is_quadratic():
    """Law 5: walks ask for each task about once; a task at the chain's end costs two questions."""
    plan = chain(LONG)
    counting = Counting(plan)
    assert len(path_between(counting, "1", str(LONG))) == LONG
    assert counting.asked <= LONG + 2
    counting = Counting(plan)
    assert path_between(counting, str(LONG), "1") == ()
    assert counting.asked <= 2
    assert topological_order(plan)[-1] == str(LONG)
    assert len(critical_path(plan)[0]) == LONG
    loop = decide(plan, UpdateTask("1", add_blocked_by=(str(LONG),)), Policy())
    assert isinstance(loop, Rejected)
    assert len(loop.problems[0].task_ids) == LONG + 1
    assert [task.id for task in plan.ready()] == ["1"]


def test_many_ways_are_not_walked_one_by_one():
    """Law 5: 30 diamonds in a row have 2^30 ways; each task is asked for once at most."""
    items = [CreateTask("start")]
    for place in range(0, 90, 3):
        sides = [CreateTask("side", blocked_by=(f"#{place}",)) for _ in range(2)]
        items += [*sides, CreateTask("end", blocked_by=(f"#{place + 1}", f"#{place + 2}"))]
    items += [
        CreateTask("apart") if n == 91 else CreateTask("x", blocked_by=(f"#{n - 1}",))
        for n in range(91, 191)
    ]
    counting = Counting(decide(Plan(), CreateTasks(tuple(items)), Policy()).plan)
    assert path_between(counting, "1", "191") == ()
    assert counting.asked <= 2 * 91


def counted_decision(monkeypatch, plan, command):
    """
    Return the answer, and for each cycle check how many tasks it asked for and edges it looked at.
    """
    looks = []

    class Looking(Counting):
        def get(self, task_id):
            task = super().get(task_id)
            looks[-1] += 1 + len(task.blocks) + len(task.blocked_by) + len(self.children(task_id))
            return task

    def counted(tasks, added):
        looks.append(0)
        return closing_edges(Looking(tasks), added)

    monkeypatch.setattr("todoplan.core.decide.closing_edges", counted)
    return decide(plan, command, Policy()), looks


def dense(tasks, edges, **more):
    """Return a creation of so many tasks with so many edges, each from a task to a later one."""
    ends = [[] for _ in range(tasks)]
    for number in range(edges):
        place = tasks - 1 - number % (tasks - 1)
        if len(ends[place]) < place:
            ends[place].append(f"#{len(ends[place])}")
    items = [CreateTask("x", blocked_by=tuple(blockers)) for blockers in ends]
    for place, blockers in more.get("back", {}).items():
        items[place] = CreateTask("x", blocked_by=(*items[place].blocked_by, *blockers))
    return CreateTasks(tuple(items))


@pytest.mark.slow
def test_one_cycle_check_a_command_however_many_edges(monkeypatch):
    """Law 5: 95,000 edges among 1,000 tasks are looked at a few times each, not once for each."""
    command = dense(1_000, 95_000)
    given = sum(len(item.blocked_by) for item in command.items)
    assert given > 90_000
    answer, looks = counted_decision(monkeypatch, Plan(), command)
    assert isinstance(answer, Accepted)
    assert len(answer.events) == 1_000 + given
    assert len(looks) == 1
    assert looks[0] <= 8 * (1_000 + given)


@pytest.mark.slow
def test_the_cycle_of_a_large_command_is_named_by_its_shortest_way(monkeypatch):
    """Law 5: one wrong edge among 90,000 is found, and the work stays bounded."""
    items = dense(1_000, 95_000).items
    last = CreateTask("x", blocked_by=items[-1].blocked_by, blocks=("#0",))
    command = CreateTasks((*items[:-1], last))
    answer, looks = counted_decision(monkeypatch, Plan(), command)
    assert [problem.code for problem in answer.problems] == ["cycle"]
    assert answer.problems[0].task_ids == ("1", "1000", "1")
    assert sum(looks) <= 16 * (1_000 + 95_000)


@pytest.mark.slow
def test_many_cycles_in_one_command_are_named_with_bounded_work(monkeypatch):
    """Law 5: hundreds of edges that all lead back are no more work than edges that do not."""
    back = {place: (f"#{place + 1}", "#399") for place in range(0, 398, 2)}
    answer, looks = counted_decision(monkeypatch, Plan(), dense(400, 20_000, back=back))
    assert {problem.code for problem in answer.problems} == {"cycle"}
    assert len(answer.problems) > 20
    assert sum(looks) <= 60 * 20_000
    pairs = [CreateTask("x", blocked_by=(f"#{n ^ 1}",)) for n in range(200)]
    named = decide(Plan(), CreateTasks(tuple(pairs)), Policy()).problems
    assert [p.task_ids for p in named] == [
        (str(n + 1), str(n), str(n + 1)) for n in range(1, 200, 2)
    ]


def test_a_batch_of_updates_is_checked_once(monkeypatch):
    """Law 5: edges of many commands in one batch are checked together, until one removes."""
    plan = decide(Plan(), CreateTasks(tuple(CreateTask("x") for _ in range(50))), Policy()).plan
    adds = [UpdateTask(str(n), add_blocked_by=(str(n - 1),)) for n in range(2, 51)]
    assert len(counted_decision(monkeypatch, plan, Batch(tuple(adds)))[1]) == 1
    turned = Batch((*adds, DeleteTask("3"), UpdateTask("1", add_blocked_by=("50",))))
    answer, looks = counted_decision(monkeypatch, plan, turned)
    assert isinstance(answer, Accepted)
    assert len(looks) == 2


def test_an_edge_that_closed_a_cycle_when_it_was_added_is_refused_for_ever():
    """
    Law 5: that a later command of the batch opens the cycle again does not help; it is named
    once, and the edges that follow are checked as well.
    """
    two = decide(Plan(), CreateTasks(tuple(CreateTask("x") for _ in range(4))), Policy()).plan
    closing = UpdateTask("1", add_blocked_by=("2",)), UpdateTask("2", add_blocked_by=("1",))
    again = UpdateTask("3", add_blocked_by=("4", "1")), UpdateTask("4", add_blocked_by=("3",))
    for gone in (DeleteTask("3"), UpdateTask("1", remove_blocked_by=("2",)), ClearPlan()):
        answer = decide(two, Batch((*closing, gone)), Policy())
        assert [p.task_ids for p in answer.problems] == [("2", "1", "2")]
    more = decide(two, Batch((*closing, UpdateTask("4", remove_blocks=("1",)), *again)), Policy())
    assert [p.task_ids for p in more.problems] == [("2", "1", "2"), ("4", "3", "4")]


ends_of_edges = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=14)


@given(st.lists(st.tuples(st.booleans(), ends_of_edges), max_size=3))
def test_the_check_agrees_with_one_search_for_each_edge(parts):
    """
    Law 5: a batch of added and removed edges is refused if and only if a naive check refuses an
    edge when it is added; each problem names edges that were there, and each knot has a problem.
    """
    plan = decide(Plan(), CreateTasks(tuple(CreateTask("x") for _ in range(6))), Policy()).plan
    commands, edges, ever, closing = [], set(), set(), []
    for removes, pairs in parts:
        for a, b in pairs:
            blocker, blocked = str(a), str(b)
            if removes:
                commands.append(UpdateTask(blocked, remove_blocked_by=(blocker,)))
                edges.discard((blocker, blocked))
            else:
                commands.append(UpdateTask(blocked, add_blocked_by=(blocker,)))
                ever.add((blocker, blocked))
                if a == b or blocker in reached(edges, blocked):
                    closing.append((blocker, blocked))
                else:
                    edges.add((blocker, blocked))
    answer = decide(plan, Batch(tuple(commands)), Policy())
    assert isinstance(answer, Rejected) == bool(closing)
    for problem in answer.problems if closing else ():
        ids = problem.task_ids
        assert problem.code in {"cycle", "self_edge"}
        assert problem.code == "self_edge" or (ids[0] == ids[-1] and set(pairwise(ids)) <= ever)
    if closing:
        named = {task_id for problem in answer.problems for task_id in problem.task_ids}
        back = {edge[::-1] for edge in ever}
        knots = [{a, b} | (reached(ever, b) & reached(back, a)) for a, b in closing]
        assert all(knot & named for knot in knots)


def reached(edges, start):
    """Return what can be reached from a task along edges, itself included."""
    seen, more = set(), {start}
    while more:
        seen |= more
        more = {b for a, b in edges if a in more} - seen
    return seen


def test_building_a_chain_asks_for_each_task_a_fixed_number_of_times(monkeypatch):
    """Law 5: the cycle check does not walk the whole chain for a task at its end."""
    items = CreateTask("1"), *(CreateTask("x", blocked_by=(f"#{n}",)) for n in range(1_999))
    answer, looks = counted_decision(monkeypatch, Plan(), CreateTasks(items))
    assert sum(looks) <= 9 * 2_000
    last = str(len(answer.plan))
    for add in (
        CreateTask("end", blocked_by=(last,)),
        CreateTasks((CreateTask("y", blocked_by=(last,)), CreateTask("z", blocked_by=(last,)))),
    ):
        assert sum(counted_decision(monkeypatch, answer.plan, add)[1]) <= 16


@given(some.full_plans, st.sampled_from(sorted(Status)))
def test_resolved_blocker_stays_an_edge_and_blocks_again_when_reopened(plan, status):
    """
    Law 7: whatever a blocker's status, its edges stand; only unresolved ones are waited for. A
    failed one is unresolved.
    """
    for task in plan:
        moved = decide(plan, UpdateTask(task.id, status=status), Policy()).plan
        assert ends(moved) == ends(plan)
        for end in task.blocks:
            assert (task.id in unresolved_blockers(moved, moved[end])) == (not status.resolved)
            reopened = decide(moved, UpdateTask(task.id, status="pending"), Policy()).plan
            assert task.id in unresolved_blockers(reopened, reopened[end])


@given(some.full_plans, some.ids, some.ids)
def test_completed_blocker_does_not_block(plan, blocker, blocked):
    """Law 7: an edge from a task that is completed already leaves the other as ready as it was."""
    parts = UpdateTask(blocker, status="completed"), UpdateTask(blocked, add_blocked_by=(blocker,))
    first = decide(plan, parts[0], Policy())
    both = decide(plan, Batch(parts), Policy())
    if isinstance(both, Accepted):
        assert blocked in both.plan[blocker].blocks
        assert both.plan.waits_for(blocked) == first.plan.waits_for(blocked)
        assert [t.id for t in both.plan.ready()] == [t.id for t in first.plan.ready()]
