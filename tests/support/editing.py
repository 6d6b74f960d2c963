"""Tests of how an application seeds, edits and undoes a plan through an adapter."""

from support.policies import strict_for

from todoplan import LEAN, STRICT, TASKS, Accepted, Plan, Rejected, Task, Toolbox, plan_of, replay
from todoplan.core.commands import ClearPlan, CreateTask, DeleteTask, UpdateTask

TWO = plan_of([Task("1", "a"), Task("2", "b")])


class Editing:
    """
    Laws of `seed_plan`, `edit_plan`, `undo_plan` and `history_of`.

    `begin` returns a session with a toolbox. It has the methods `create`, which lets the model
    create a task in a run, `seed`, `edit`, `undo`, `history`, `plan`, and `again`, which saves the
    session, loads it and returns it.
    """

    def begin(self, toolbox):
        raise NotImplementedError

    def test_the_journal_says_who_did_what_and_when(self):
        """The journal has calls, edits and seeds, with cause and actor; its replay is the plan."""
        session = self.begin(Toolbox(TASKS))
        session.seed(TWO, actor="cron")
        session.create("c")
        session.edit(UpdateTask("1", owner="ann"), actor="bob")
        session = session.again()
        assert isinstance(session.edit(DeleteTask("9"), actor="eve"), Rejected)
        session.edit(CreateTask("d"), actor="ann")
        history = session.history()
        assert [entry.actor for entry in history] == ["cron", None, "bob", "ann"]
        causes = [entry.cause for entry in history[1:]]
        assert causes == ["TaskCreate", "UpdateTask", "CreateTask"]
        assert all(entry.at is not None for entry in history)
        folded = replay(Plan(), [event for entry in history for event in entry.events])
        assert tuple(folded) == tuple(session.plan())

    def test_an_edit_is_judged_by_the_sessions_policy_unless_another_is_given(self):
        """An edit is judged by the policy of the session, unless the application names another."""
        session = self.begin(Toolbox(TASKS, STRICT))
        assert isinstance(session.edit(CreateTask("a")), Rejected)
        assert not len(session.plan())
        assert isinstance(session.edit(CreateTask("a"), policy=strict_for(LEAN)), Accepted)
        assert isinstance(session.edit(ClearPlan(), policy=strict_for(LEAN)), Accepted)
        assert (len(session.plan()), session.plan().next_id) == (0, 2)

    def test_the_last_change_is_taken_back_whoever_made_it(self):
        """Undo also takes back a seeded plan, and changes made before the session was saved."""
        session = self.begin(Toolbox(TASKS))
        assert isinstance(session.undo(), Rejected)
        session.create("a")
        session.edit(CreateTask("b"), actor="ann")
        session.seed(TWO)
        session = session.again()
        for left in (["a", "b"], ["a"], []):
            assert isinstance(session.undo(actor="bo"), Accepted)
            assert [task.subject for task in session.plan()] == left
        assert (session.history()[-1].cause, session.history()[-1].actor) == ("undo", "bo")
        assert isinstance(session.undo(), Rejected)
