import pickle
import re

import attrs
from support.docs import page

from todoplan.core.plan.model import TASK_FIELDS, FieldKind
from todoplan.core.rules import PRESETS, RULES, TEXTS, Limits


def test_limits_are_generous_by_default():
    """The defaults bound a plan far above what one agent needs; they change only on purpose."""
    limits = Limits()
    assert limits.items >= limits.open_items >= 1_000
    assert limits.text >= limits.subject >= 200
    assert (limits.items, limits.open_items, limits.edges) == (10_000, 2_000, 100)
    assert (limits.subject, limits.text) == (limits.active_form, limits.metadata) == (500, 16_384)
    assert limits.owner == 200
    assert (limits.metadata_keys, limits.metadata_levels) == (200, 16)
    assert (limits.history, limits.depth) == (100_000, 5)


def test_every_text_of_a_task_is_bounded():
    """A text field that is added to `Task` has a limit at once, its own or that of any text."""
    texts = {
        n for n, f in TASK_FIELDS.items() if f.kind in {FieldKind.TEXT, FieldKind.TEXT_OR_NONE}
    }
    assert set(TEXTS) == set(Limits().texts) == texts
    assert Limits(text=7).texts["description"] == 7
    assert Limits(text=7).texts["subject"] == 500
    assert Limits(text=7).shortest == 7
    assert Limits(text=0).texts["description"] == 0


def test_what_a_number_sets_is_a_limit():
    """It is the one with the rule's own name; of the limits of texts, none is the main one."""
    fields = attrs.fields_dict(Limits)
    named = {name: rule.limit for name, rule in RULES.items() if rule.limit}
    assert named == {name: name.removeprefix("max_") for name in named}
    assert all(fields[limit].metadata["rule"] == name for name, limit in named.items())
    assert {field.metadata["rule"] for field in fields.values()} == {*named, "max_text"}


def test_limits_are_a_value_and_show_what_differs():
    """Equal, hashable, pickled; the repr has the limits that are not the usual ones."""
    limits = Limits(items=3, history=5)
    assert limits.texts
    assert pickle.loads(pickle.dumps(limits)) == limits  # noqa: S301 - our own bytes
    assert hash(limits) == hash(Limits(items=3, history=5))
    assert (repr(limits), repr(Limits())) == ("Limits(items=3, history=5)", "Limits()")


def test_the_guide_names_the_rules_that_hold_limits():
    """All of them, each an error in every preset."""
    named = set(re.findall(r"\| `(max_\w+)` \|$", page("limits"), re.MULTILINE))
    assert "The rules `max_...`, which are `error` in every preset," in page("limits")
    assert named == {name for name in RULES if name.startswith("max_")}
    for policy in PRESETS.values():
        assert {policy.severity(name) for name in named} == {"error"}
