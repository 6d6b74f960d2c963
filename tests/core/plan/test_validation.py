from enum import Enum

import pytest

from todoplan.core.plan.frozen import EMPTY, LEVELS, FrozenDict
from todoplan.core.plan.model import Status
from todoplan.core.plan.validation import (
    as_id,
    as_ids,
    as_metadata,
    as_text,
    as_text_or_none,
    short_repr,
    tuple_of,
)
from todoplan.errors import PlanError


def test_what_fits_is_taken_as_it_is():
    """Texts, and `None` where it clears a field, pass unchanged."""
    assert (as_text("a"), as_text_or_none("a"), as_text_or_none(None), as_id("3")) == (
        "a",
        "a",
        None,
        "3",
    )


class Who(str, Enum):  # noqa: UP042 - that is what it is about
    """Whose members are texts that are printed otherwise."""

    ANN = "ann"


@pytest.mark.parametrize("take", [as_text, as_text_or_none])
@pytest.mark.parametrize(("given", "plain"), [(Who.ANN, "ann"), (Status.PENDING, "pending")])
def test_a_member_of_an_enum_is_taken_as_its_text(take, given, plain):
    """As it is stored, so that it is shown alike before and after."""
    assert (take(given), type(take(given))) == (plain, str)


@pytest.mark.parametrize("take", [as_text, as_text_or_none, as_id])
@pytest.mark.parametrize("value", [5, b"a", ["a"], True])
def test_what_is_no_text_is_refused(take, value):
    """The error shows what was given, its type, and holds it."""
    with pytest.raises(PlanError, match=rf"\({type(value).__name__}\) was given; give a") as caught:
        take(value)
    assert caught.value.data == {"seen": value}


def test_none_is_a_text_nowhere_else():
    """Only a field that may be empty takes `None`."""
    with pytest.raises(PlanError, match=r"None \(NoneType\) was given; give a text"):
        as_text(None)


def test_a_number_as_an_id_is_refused_with_the_remedy():
    """Ids are texts."""
    with pytest.raises(PlanError, match=r'3 \(int\) was given; give an id, .*"3": str\(id\)'):
        as_id(3)


@pytest.mark.parametrize(
    "given", [("1", "12"), ["1", "12"], {"1": 0, "12": 0}.keys(), (i for i in ("1", "12"))]
)
def test_any_iterable_becomes_a_tuple(given):
    """What can be walked only once is walked once, and kept."""
    assert as_ids(given) == ("1", "12")


@pytest.mark.parametrize("value", ["12", "", b"12", 12, None, (1, "2"), ["1", None]])
def test_what_is_no_list_of_ids_is_refused(value):
    """A text would be read letter by letter, a number is no id."""
    with pytest.raises(
        PlanError, match=r'give a tuple of ids, which are texts, such as \("3", "12'
    ):
        as_ids(value)


def test_items_are_of_their_kind_or_one_derived_from_it():
    """The first item of another kind is shown."""
    assert tuple_of([True, 2], int, "ints") == (True, 2)
    assert tuple_of((), int, "ints") == ()
    with pytest.raises(PlanError, match=r"'x' \(str\) was given; give ints") as caught:
        tuple_of([1, "x", 2, "y"], int, "ints")
    assert caught.value.data == {"seen": "x"}


def test_metadata_is_a_frozen_copy():
    """What happens to the mapping that was given does not shine through."""
    given = {"a": [1, {"b": 2}]}
    frozen = as_metadata(given)
    given["a"].append(3)
    assert frozen == {"a": (1, {"b": 2})}
    assert type(frozen) is FrozenDict
    assert as_metadata(frozen) is frozen
    assert as_metadata({}) == EMPTY


@pytest.mark.parametrize("value", [None, "a", [("a", 1)]])
def test_metadata_is_a_mapping(value):
    """Nothing else is."""
    with pytest.raises(PlanError, match="was given; give a mapping such as"):
        as_metadata(value)


def test_metadata_of_too_many_levels_is_refused():
    """The limit is told, and no depth ends in a RecursionError."""
    deep = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(PlanError, match=f"over {LEVELS} deep; give a flatter value"):
        as_metadata(deep)


def test_what_was_given_is_shown_in_few_characters():
    """However large it is."""
    assert short_repr("12") == "'12' (str)"
    assert len(short_repr("x" * 10_000)) < 100
    assert len(short_repr([["x" * 1_000] * 1_000] * 1_000)) < 1_000
