"""The catalogue of broken arguments: every entry has its expected result, in every tool set."""

import attrs
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from support.talk import TOOLSETS

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import Policy
from todoplan.dialogue.intake import GUESSES, read
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, tasks
from todoplan.errors import PlanError
from todoplan.testing import strategies as some
from todoplan.testing.strategies import calls
from todoplan.testing.strategies.calls import makes_sense

CHAIN = plan_of([Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",))], revision=2)
FEW = settings(max_examples=1, database=None)
NAMES = """
encoded encoded_too_often python_repr trailing_comma comment code_fence byte_order_mark raw_newline
truncated nothing leaked_closers repeated_key repeated_key_same endless_number giant_number
deep_nesting too_large list_as_text list_cut_off entry_as_text one_entry bare_text list_of_titles
checklist bare_list too_many list_in_list wrapped wrapped_too_deep wrapper_siblings extra_key
key_style synonym both_spellings status_word unknown_status missing_status priority_word
unknown_priority null null_needed word_none title_none empty_title number_as_text wrong_type
minutes_text flag_word lone_surrogate nul control hidden_characters joiner leaked_closers_in_text
swallowed_field two_started empty_list id_number id_spelling no_id ids_joined ids_nested no_ids
id_twice unknown_id self_edge cycle
"""
"""Users name breaks: a name that goes, or another one for the same break, breaks their tests."""


def check(broken, toolset, plan):
    """Assert that intake and toolbox read a broken call as the catalogue expects."""
    fields = toolset.find(broken.call.name).fields
    found = read(broken.call.arguments, fields)
    reply = Toolbox(toolset, Policy()).call(plan, broken.call.name, broken.call.arguments)
    if broken.broken.expected == "refused":
        assert broken.meant is None
        assert reply.is_error
        assert reply.plan is plan
    else:
        assert found.values == read(broken.meant, fields).values
        assert not found.problems
        assert bool(found.repairs) == (broken.broken.expected in {"repaired", "guessed"})
        is_guess = any(repair.code in GUESSES for repair in found.repairs)
        assert is_guess == (broken.broken.expected == "guessed")


def test_breaks_keep_their_names():
    """The names of the breaks are those in `NAMES`, in this order."""
    assert list(some.BREAKS) == NAMES.split() == [each.name for each in some.BREAKS.values()]


@pytest.mark.parametrize("name", NAMES.split())
@given(st.data())
@settings(max_examples=6)
def test_a_break_is_what_it_says(name, data):
    """Each break has the result that it promises, in every tool set that it fits."""
    fits = some.BREAKS[name].fits
    sets = [each for each in TOOLSETS if any(fits(tool, CHAIN) for tool in each.tools)]
    assert sets
    for toolset in sets:
        broken = data.draw(some.broken_arguments(toolset, name, plan=CHAIN))
        assert broken.broken is some.BREAKS[name]
        assert broken.broken.about
        check(broken, toolset, CHAIN)


@given(st.data(), st.sampled_from(TOOLSETS))
def test_any_break_can_be_drawn(data, toolset):
    """If no break is named, all are drawn, also without a plan."""
    check(data.draw(some.broken_arguments(toolset)), toolset, Plan())


@given(some.broken_arguments(tasks(), raw=False))
def test_what_frameworks_parse_is_no_text(broken):
    """`raw=False` leaves out breaks of the arguments' text."""
    assert not broken.broken.raw
    assert not isinstance(broken.call.arguments, str)


def test_what_does_not_fit_is_an_error():
    """An unknown name, and a break that fits no tool, raise a PlanError."""
    with pytest.raises(PlanError, match="no break is called nonsense; there are encoded"):
        some.broken_arguments(TODOS, "nonsense")
    with pytest.raises(PlanError, match="lean has no tool that fits these breaks"):
        some.broken_arguments(LEAN, "unknown_status")
    with pytest.raises(PlanError, match="todos has no tool"):
        some.broken_arguments(TODOS, "self_edge")


@pytest.mark.parametrize("toolset", TOOLSETS, ids=[each.name for each in TOOLSETS])
@given(st.data(), some.plans())
@settings(max_examples=25)
def test_arguments_are_well_formed(toolset, data, plan):
    """Well-formed arguments are read without repairs, and have ids of the plan."""
    call = data.draw(some.arguments(toolset, plan))
    assert makes_sense(toolset.find(call.name), call.arguments)
    for tool in toolset.tools:
        drawn = data.draw(calls.arguments_of(tool, plan))
        assert makes_sense(tool, drawn)
        reply = Toolbox(toolset).call(plan, toolset.shown(tool.key), drawn)
        assert "bad_id" not in str(reply.problems)


def test_a_tool_that_takes_nothing_has_no_arguments():
    """For a tool without sensible arguments nothing is drawn."""
    picky = attrs.evolve(TODOS.tools[0], request=lambda _: Problem("never"))
    with pytest.raises(Unsatisfiable):
        find(calls.arguments_of(picky), lambda _: True, settings=FEW)
