"""Laws of doubled keys: every one is found, and only those."""

import json

from hypothesis import given
from hypothesis import strategies as st
from support.documents import any_text, json_values

from todoplan.codec.keys import Doubled, an_object, doubled_paths, has_lost_keys
from todoplan.codec.text import to_text

keys = st.sampled_from(["a", "b", "a b", "é", '"', "\\", '\\"', ":", ""])
documents = st.recursive(
    any_text.map(json.dumps) | json_values.map(json.dumps),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(keys.map(json.dumps), inner), max_size=4).map(
            lambda pairs: "{" + ",\t".join(f"{key} : {item}" for key, item in pairs) + "}"
        )
    ),
    max_leaves=12,
)


def by_hook(text):
    value = json.loads(text, object_pairs_hook=an_object)
    return list(doubled_paths(value))


@given(documents)
def test_counting_finds_what_looking_finds(text):
    """Whatever the texts, escapes and blanks: keys are lost exactly where one stands twice."""
    assert has_lost_keys(text, json.loads(text)) == bool(by_hook(text))


@given(json_values)
def test_written_values_lose_nothing(value):
    """What was a value before it was JSON has no doubled keys, surrogates and quotes or not."""
    text = to_text(value)
    assert not has_lost_keys(text, json.loads(text))


def test_paths_lead_to_the_keys():
    """At every depth, each key once."""
    text = '[{"x": 1}, {"x": {"a": 1, "a": 2, "a": 3}, "y": [{"c d": 1, "c d": 1}]}]'
    assert sorted(by_hook(text)) == ["[1].x.a", '[1].y[0]["c d"]']


def test_an_object_of_single_keys_is_a_plain_dict():
    """Only an object with doubled keys is marked."""
    assert type(an_object([("a", 1), ("b", 2)])) is dict
    marked = an_object([("a", 1), ("b", 2), ("a", 3)])
    assert type(marked) is Doubled
    assert (marked, marked.twice) == ({"a": 3, "b": 2}, ("a",))
