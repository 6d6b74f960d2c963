"""Law 15 for sessions: a second, naive model says what a list may change and drop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples import sample_calls

from todoplan.core.commands import CreateTask, DeleteTask, UpdateTask
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import BASIC_TOOLSETS, TODOS
from todoplan.planner import Planner
from todoplan.testing.strategies import arguments

BOX = Toolbox(TODOS, Policy())
STATUSES = ("pending", "in_progress", "completed", "cancelled")


class Opinion:
    """
    What each session may drop, worked out from texts alone: a text always means the same task.
    """

    def __init__(self):
        self.task_of = {}  # by every text that it ever had
        self.listed = {}
        self.changed = {}  # by others, and not yet taken over or read
        self.said = {}

    def knows(self, session):
        return (
            self.listed.setdefault(session, set()),
            self.changed.setdefault(session, set()),
            self.said.setdefault(session, {}),
        )

    def others_changed(self, by, task_id):
        for session in self.listed:
            if session != by:
                self.changed[session].add(task_id)


def whole_list(planner, opinion, sessions, name, lines):
    """Write a list as a session, and compare the changes with what the naive model allows."""
    session, before = sessions[name], planner.plan
    listed, changed, said = opinion.knows(name)
    todos = [{"content": text, "status": status} for text, status in lines]
    call = Call("write_todos", {"todos": todos, "clear": True})
    turn = session.answer([call])
    assert not turn.replies[0].is_error
    after = turn.plan
    meant = {}
    for text, status in lines:
        task = next((task for task in after if task.subject == text), None)
        if text not in opinion.task_of:
            opinion.task_of[text] = task.id
        meant[opinion.task_of[text]] = (text, status)
    for task in before:
        now = after.get(task.id)
        if task.id not in meant:
            assert (now is None) is (task.id in listed and task.id not in changed), task
            if now is not None:
                assert (now.subject, now.status) == (task.subject, task.status)
        else:
            assert now is not None
            own = said.get(task.id)
            if own == meant[task.id]:  # old words mean no change
                assert (now.subject, now.status) == (task.subject, task.status)
    for task_id, words in meant.items():
        now = after.get(task_id)
        if now is not None and words == (now.subject, now.status.value):
            changed.discard(task_id)
        said[task_id] = words
    if changed - meant.keys():
        for task_id in [one for one in said if one not in meant and one not in after]:
            said.pop(task_id)
    listed.update(meant)
    for event_of in [task.id for task in before if before[task.id] != after.get(task.id)]:
        opinion.others_changed(name, event_of)
    again = session.answer([call])
    assert again.events == ()
    assert "since you last" not in again.replies[0].text
    assert "not on your list" not in again.replies[0].text
    return turn


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["one", "two", "one", "two", "ann"]),
        st.integers(0, 2**16),
        st.lists(st.integers(0, 99), max_size=5),
    ),
    max_size=10,
)


@given(MOVES, st.booleans())
def test_no_list_undoes_what_its_session_has_not_listed(moves, named):
    """
    Two sessions, of one name or of none, and a person who adds, renames, closes and deletes: a list
    drops a task if its session has listed it and nobody changed it since, and no other one.
    """
    planner, opinion = Planner(toolbox=BOX), Opinion()
    actor = "bot" if named else None
    sessions = {name: planner.session(actor=actor) for name in ("one", "two")}
    for name in sessions:
        opinion.knows(name)
    for number, (who, luck, picks) in enumerate(moves):
        plan = planner.plan
        if who == "ann":
            tasks = list(plan)
            kind, task = luck % 4, tasks[luck % len(tasks)] if tasks else None
            if task is None or kind == 0:
                decision = planner.apply(CreateTask(f"ann's {number}"), actor="ann")
                opinion.task_of[f"ann's {number}"] = decision.plan.next_id and str(
                    decision.plan.next_id - 1
                )
            elif kind == 1:
                text = f"ann says {number}"
                planner.apply(UpdateTask(task.id, subject=text), actor="ann")
                opinion.task_of[text] = task.id
                opinion.others_changed("ann", task.id)
            elif kind == 2:
                planner.apply(UpdateTask(task.id, status=STATUSES[luck % 3 + 1]), actor="ann")
                if planner.plan[task.id].status != task.status:
                    opinion.others_changed("ann", task.id)
            else:
                planner.apply(DeleteTask(task.id), actor="ann")
                opinion.others_changed("ann", task.id)
            continue
        _, _, said = opinion.knows(who)
        lines, taken = [], set()
        for pick in picks:
            own = [
                (text, status) for task_id, (text, status) in said.items() if task_id not in taken
            ]
            theirs = [task for task in plan if task.id not in taken]
            if pick % 5 == 0:
                lines.append((f"{who} {number} {len(lines)}", STATUSES[pick % 4]))
                continue
            if pick % 5 in {1, 2, 3} and own:
                text, status = own[pick % len(own)]
                if opinion.task_of[text] not in plan:
                    continue  # what is gone is tried by `test_base_law`
                lines.append((text, status if pick % 2 else STATUSES[pick % 4]))
            elif theirs:
                task = theirs[pick % len(theirs)]
                lines.append((task.subject, task.status.value))
            else:
                continue
            taken.add(opinion.task_of[lines[-1][0]])
        whole_list(planner, opinion, sessions, who, lines)


@pytest.mark.parametrize("toolset", BASIC_TOOLSETS.values(), ids=BASIC_TOOLSETS)
@given(data=st.data())
def test_an_agent_alone_notices_nothing(toolset, data):
    """If no one else uses the plan, a session gives the replies and the plan of plain calls."""
    box = Toolbox(toolset, Policy())
    planner = Planner(toolbox=box)
    session, plain, plan = planner.session(actor="bot"), Planner(toolbox=box), planner.plan
    calls = st.sampled_from(sample_calls(toolset.name)) | arguments(toolset)
    for call in data.draw(st.lists(calls)):
        at = planner.plan
        reply = session.answer([call]).replies[0]
        alone = box.call(plan, call.name, call.arguments)
        assert (reply.text, reply.is_error) == (alone.text, alone.is_error)
        assert plain.call(call.name, call.arguments).text == reply.text
        plan = alone.plan
        assert [(t.subject, t.status) for t in planner.plan] == [
            (t.subject, t.status) for t in plan
        ]
        assert "listed" not in session.record, at
        session = planner.session(session.record, actor="bot")
