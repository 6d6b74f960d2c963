"""Tests of law 15 through an adapter: a list drops only what its own session has listed."""

import pytest

from todoplan import LEAN, TODOS, MemoryStore, Toolbox, plan_of
from todoplan.core import commands
from todoplan.core.plan.model import Task
from todoplan.core.plan.questions import open_tasks
from todoplan.dialogue import WRITE_TODOS, Settings, lean
from todoplan.stores import SqliteStore

TOLD = Settings(plan_lost=False, unfinished=0)
TOOLSETS = {"write_todos": WRITE_TODOS, "todos": TODOS, "lean": LEAN}
STORED = {"plan_id": "7"}


def listing(toolset, *lines):
    """Return a call that writes a whole list; a line is a text, or (text, status)."""
    pairs = [(line, "pending") if isinstance(line, str) else line for line in lines]
    if toolset is LEAN:
        return "plan", {"write": [text for text, _ in pairs]}
    return "write_todos", {"todos": [{"content": text, "status": status} for text, status in pairs]}


def dropping(toolset, *ids):
    """Return the calls needed before a list without these open tasks; only `lean` needs one."""
    return [("plan", {"drop": [*ids]})] if toolset is LEAN else []


class Situations:
    """
    A subclass defines `begin(**options)`, which returns a conversation.

    Its `turn(*calls)` lets the model make calls and returns the answers. `tail()` lets the model
    answer at once and returns the end of the request. `edit(command, actor)` and `seed(plan)` are
    changes by others. `plan()` returns the plan, and `again()` the same conversation in another
    process.
    """

    # The two sets write lists alike; whether a list can be read as well asks little that is new.
    @pytest.fixture(params=["write_todos", pytest.param("todos", marks=pytest.mark.slow), "lean"])
    def toolset(self, request):
        return TOOLSETS[request.param]

    @pytest.fixture(params=["saved", "stored", "restarted", "stored, restarted"])
    def talk(self, request, toolset):
        """
        A conversation whose plan is saved with it, or in a store; in one process, or in another one
        at every turn.
        """
        kept = {**STORED, "store": MemoryStore()} if "stored" in request.param else {}
        talk = self.begin(toolbox=Toolbox(toolset), settings=TOLD, **kept)
        return _Restarted(talk) if "restarted" in request.param else talk

    def test_the_first_list_drops_nothing(self, talk, toolset):
        """A new session has listed nothing, so its first list drops nothing; one reply says so."""
        talk.edit(commands.CreateTask("Tell Ann"), "ann")
        texts = [talk.turn(listing(toolset, "Fix", "Release"))[0] for _ in range(3)]
        assert sorted(subjects(talk)) == ["Fix", "Release", "Tell Ann"]
        assert ["kept: #1 Tell Ann (to remove" in text for text in texts] == [True, False, False]

    def test_a_plan_that_a_program_seeded_is_not_listed(self, talk, toolset):
        """A list does not drop a task that a program has seeded and the model has not listed."""
        talk.seed(plan_of([Task("1", "Tell Ann"), Task("2", "Fix")]))
        talk.turn(listing(toolset, "Fix"))
        talk.turn(*dropping(toolset, 2), listing(toolset, "Release"))
        assert sorted(subjects(talk)) == ["Release", "Tell Ann"]

    def test_what_a_reminder_told_of_stays(self, talk, toolset):
        """
        A task that a reminder or a reply has reported does not count as listed. A reply reports it
        once.
        """
        talk.turn(listing(toolset, "Fix", "Release"))
        talk.edit(commands.CreateTask("Tell Ann"), "ann")
        assert "Tell Ann created by ann" in talk.tail()
        texts = [talk.turn(listing(toolset, "Fix", "Release"))[0] for _ in range(3)]
        assert sorted(subjects(talk)) == ["Fix", "Release", "Tell Ann"]
        assert ["by ann" in text for text in texts] == [True, False, False]
        assert "<todoplan-reminder>" not in talk.tail()

    def test_old_words_of_a_reworded_task_still_mean_it(self, talk, toolset):
        """Lists with the old text neither create a second task nor change the text back."""
        talk.turn(listing(toolset, "Fix", "Release"))
        talk.edit(commands.UpdateTask("1", subject="Fix on main"), "ann")
        for first in ("Fix", "Fix", "Fix", "Fix on main", "Fix on main"):
            talk.turn(listing(toolset, first, "Release"))
            assert subjects(talk) == ["Fix on main", "Release"]
        assert [task.id for task in talk.plan()] == ["1", "2"]

    @pytest.mark.parametrize("status", ["cancelled", "completed"])
    def test_a_task_that_a_person_closed_stays_closed(self, talk, toolset, status):
        """The model's unchanged line does not reopen a task that a person has closed."""
        talk.turn(listing(toolset, "Fix", "Release"))
        talk.edit(commands.UpdateTask("2", status=status), "ann")
        for _ in range(3):
            talk.turn(listing(toolset, "Fix", "Release"))
            assert talk.plan().get("2").status == status

    def test_a_task_that_a_person_deleted_does_not_come_back(self, talk, toolset):
        """The old line does not restore it. After a list without it, its text is a new task."""
        talk.turn(listing(toolset, "Fix", "Release"))
        talk.edit(commands.DeleteTask("2"), "ann")
        for lines in (("Fix", "Release"), ("Fix", "Release"), ("Fix",)):
            talk.turn(listing(toolset, *lines))
            assert subjects(talk) == ["Fix"]
        talk.turn(listing(toolset, "Fix", "Release"))
        assert [(task.id, task.subject) for task in talk.plan()] == [("1", "Fix"), ("3", "Release")]

    def test_a_line_that_is_unchanged_changes_nothing(self, talk, toolset):
        """A line like that of the last list changes nothing, whatever others did to its task."""
        talk.turn(listing(toolset, "Fix", "Release"))
        talk.edit(commands.UpdateTask("2", owner="bo", description="by hand"), "bo")
        before = talk.plan()
        for _ in range(3):
            talk.turn(listing(toolset, "Fix", "Release"))
            assert talk.plan() == before

    def test_its_own_task_goes_with_the_list_that_leaves_it_out(self, talk, toolset):
        """A list without a task of its session drops it, also while others change the plan."""
        talk.turn(listing(toolset, "Fix", "Release", "Rest"))
        talk.edit(commands.CreateTask("Tell Ann"), "ann")
        talk.turn(*dropping(toolset, 3), listing(toolset, "Fix", "Release"))
        talk.turn(*dropping(toolset, 2), listing(toolset, "Fix"))
        assert subjects(talk) == ["Fix", "Tell Ann"]

    def test_somebody_elses_task_is_dropped_by_name(self, talk, toolset):
        """
        A task of somebody else is dropped by name, as the reply says. Or the model lists it first,
        and a later list without it drops it.
        """
        talk.turn(listing(toolset, "Fix"))
        talk.edit(commands.CreateTask("Tell Ann"), "ann")
        talk.edit(commands.CreateTask("Tell Bo"), "bo")
        talk.turn(listing(toolset, "Fix"))
        if toolset is LEAN:
            talk.turn(("plan", {"drop": [2]}))
        else:
            talk.turn(listing(toolset, "Fix", ("Tell Ann", "cancelled")))
        talk.turn(listing(toolset, "Fix", "Tell Bo"))
        talk.turn(*dropping(toolset, 3), listing(toolset, "Fix"))
        assert [task.subject for task in open_tasks(talk.plan())] == ["Fix"]

    def test_an_agent_alone_is_told_nothing(self, talk, toolset):
        """If nobody else changes the plan, replies report nothing, and the record has no list."""
        texts = [
            text
            for lines, ids in (("ab", ()), ("abc", ()), ("ac", [2]), ("c", [1]))
            for text in talk.turn(*dropping(toolset, *ids), listing(toolset, *lines))
        ]
        assert not [text for text in texts if "kept" in text or "since" in text or "stays" in text]
        assert "listed" not in talk.saved()["session"]

    @pytest.mark.parametrize("store", [None, MemoryStore], ids=["saved", "stored"])
    def test_calls_of_one_turn_share_what_the_session_knew(self, store):
        """
        A list next to a read is compared with what the session knew before both calls; the first
        reply reports what others did, the second does not.
        """
        kept = {**STORED, "store": store()} if store else {}
        talk = self.begin(toolbox=Toolbox(TODOS), settings=TOLD, **kept)
        talk.turn(listing(TODOS, "Fix", "Release"))
        talk.edit(commands.UpdateTask("1", status="completed"), "ann")
        texts = talk.turn(("read_todos", {}), listing(TODOS, "Fix", "Release"))
        assert ["by ann" in text for text in texts] == [True, False]
        assert [task.status for task in talk.plan()] == ["completed", "pending"]

    @pytest.mark.parametrize("is_restarted", [False, True])
    def test_two_conversations_on_one_plan_leave_each_other_alone(self, toolset, is_restarted):
        """A list of one conversation drops no task of the other."""
        store = MemoryStore()
        both = [
            self.begin(toolbox=Toolbox(toolset), settings=TOLD, store=store, **STORED)
            for _ in range(2)
        ]
        rounds = ((("ab", ()), ("xy", ())), (("ac", [2]), ("xz", [4])), (("c", [1]), ("z", [3])))
        for lists in rounds:
            for place, (mine, ids) in enumerate(lists):
                both[place].turn(*dropping(toolset, *ids), listing(toolset, *mine))
                both[place] = both[place].again() if is_restarted else both[place]
            lines = [mine for mine, _ in lists]
            assert not {*lines[0], *lines[1]} - {*subjects(both[0])}
        assert sorted(subjects(both[0])) == ["c", "z"]

    def test_a_claim_is_its_sessions_also_in_another_process(self):
        """The session's record has the fencing token; another session has none."""
        given = {"toolbox": Toolbox(lean(team=True)), "settings": TOLD, "store": MemoryStore()}
        talk, other = (self.begin(**given, **STORED) for _ in range(2))
        talk.turn(("plan", {"write": ["Fix"]}))
        assert "#1 claimed" in talk.turn(("plan", {"next": True}))[0]
        assert "is claimed by" in other.turn(("plan", {"done": [1]}))[0]
        talk = talk.again()
        assert "#1 completed" in talk.turn(("plan", {"done": [1]}))[0]

    def test_a_journal_that_was_cut_drops_nothing(self, toolset, tmp_path):
        """If the journal no longer has what others did, a list still drops none of their tasks."""
        store = SqliteStore(tmp_path / "plans.db")
        talk = self.begin(toolbox=Toolbox(toolset), settings=TOLD, store=store, **STORED)
        talk.turn(listing(toolset, "Fix", "Release"))
        talk.edit(commands.CreateTask("Tell Ann"), "ann")
        talk.edit(commands.UpdateTask("2", status="cancelled"), "ann")
        store.compact("7", keep=0)
        talk = talk.again()
        for _ in range(2):
            talk.turn(listing(toolset, "Fix", "Release"))
            assert sorted(subjects(talk)) == ["Fix", "Release", "Tell Ann"]
            assert talk.plan().get("2").status == "cancelled"


class _Restarted:
    """A conversation that continues in another process at every turn."""

    def __init__(self, talk):
        self._talk = talk

    def __getattr__(self, name):
        self._talk = self._talk.again()
        return getattr(self._talk, name)


def subjects(talk):
    """Return the subjects of the tasks, in order."""
    return [task.subject for task in talk.plan()]
