"""What guidance goes by where a framework shows less: errors by words, and plans unseen."""

from hypothesis import given
from hypothesis import strategies as st

from todoplan import Plan, plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance.guidance import Guidance, Memory, Settings
from todoplan.dialogue.guidance.partial import before_partial, is_error_text
from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.todos import TODOS

PLAN = plan_of([Task("1", "Dig")])
GUIDANCE = Guidance(TODOS)
NAMES = st.sampled_from(["write_todos", "read_todos", "TaskCreate", "TaskUpdate", "TaskList"])
VALUES = st.none() | st.text(max_size=9) | st.just("pending") | st.just("Nothing was changed.")
ENTRY = st.dictionaries(st.sampled_from(["content", "subject", "taskId", "status"]), VALUES)
ARGUMENTS = ENTRY | st.builds(lambda entry: {"todos": [entry]}, ENTRY)


@given(st.lists(st.builds(Call, NAMES, ARGUMENTS), max_size=4), st.sampled_from([TODOS, tasks()]))
def test_errors_are_known_by_their_words(calls, toolset):
    """An answer is taken for an error if and only if it is one."""
    for reply in Toolbox(toolset).turn(PLAN, calls).replies:
        assert is_error_text(reply.text) == reply.is_error


def test_an_answer_that_was_cut_is_known_by_its_beginning():
    """A few words of it are enough."""
    reply = Toolbox().call(PLAN, "write_todos", "{")
    assert is_error_text(reply.text[:21])
    assert not is_error_text("")


def told(plan, memory, guidance=GUIDANCE, turns=1):
    """
    Return the kinds of reminders of so many turns, and the memory behind them.
    """
    kinds = []
    for _ in range(turns):
        advice = before_partial(guidance, plan, memory)
        kinds.append(advice.kind)
        memory = advice.memory
    return kinds, memory


def test_a_plan_that_was_never_told_is_told_once():
    """The first request shows the plan; those behind it do not, though nothing is visible."""
    kinds, _ = told(PLAN, Memory(), turns=5)
    assert kinds == ["plan_lost", "", "", "", ""]


def test_a_plan_untouched_for_twenty_turns_is_told():
    """The distance to the last change or reminder decides, since nothing can be seen."""
    kinds, _ = told(PLAN, Memory(), turns=41)
    assert [turn for turn, kind in enumerate(kinds) if kind] == [0, 20, 40]


def test_a_change_of_the_models_own_puts_it_off():
    """Who has just changed the plan knows it."""
    _, memory = told(PLAN, Memory(), turns=15)
    kinds, _ = told(PLAN, memory.saw(PLAN), turns=19)
    assert not any(kinds)


def test_nothing_open_is_nothing_lost():
    """An empty plan is not told of."""
    kinds, _ = told(Plan(), Memory(), turns=30)
    assert not any(kinds)


def test_the_switches_hold():
    """`plan_lost` switches it off, and other reminders are given as ever."""
    off = Guidance(TODOS, Settings(plan_lost=False))
    assert not any(told(PLAN, Memory(), off, turns=30)[0])
    changed = Guidance(TODOS, Settings(changed=True))
    assert told(PLAN, Memory(turn=1, revision=7), changed)[0] == ["changed"]
