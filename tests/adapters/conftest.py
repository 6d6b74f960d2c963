"""
Which checks of the conformance suite are slow: those that the adapter's first suite has answered.

How arguments are read, and what each further tool set answers, does not depend on streaming, on a
store or on the wire protocol's version. A suite that says `reads_as = TheFirst` runs these checks
in `.ci/run` alone.
"""

import pytest
from hypothesis import settings

from todoplan.testing.adapters import AdapterSuite

# Three conversations in the default run, ten in `.ci/run`.
AdapterSuite.drawing = settings(
    AdapterSuite.drawing, max_examples=max(3, settings().max_examples // 10)
)
ABOUT_READING = {
    "test_bad_arguments_are_answered",
    "test_bad_arguments_are_read_alike",
    "test_drawn_conversations_are_the_same",
    "test_names_of_the_framework_are_answered",
    "test_text_that_is_no_json_is_answered",
    "test_text_that_is_no_json_is_read_alike",
    "test_texts_that_attack_are_read_alike",
    "test_the_catalogue_is_read_alike",
}

OF_EACH_TOOL_SET = {
    "test_exactly_the_errors_are_marked",
    "test_the_events_are_the_same",
    "test_the_plans_are_the_same",
    "test_the_replies_are_the_same",
}
FIRST_TOOL_SET = "todos"


@pytest.hookimpl(tryfirst=True)  # before pytest asks `-m` which tests to keep
def pytest_collection_modifyitems(items):
    """Mark the checks that another suite of the same adapter makes as well."""
    for item in items:
        cls = getattr(item, "cls", None)
        if hasattr(cls, "reads_as"):
            assert issubclass(cls.reads_as, AdapterSuite)
            is_further = item.originalname in OF_EACH_TOOL_SET and (
                item.callspec.id != FIRST_TOOL_SET
            )
            if item.originalname in ABOUT_READING or is_further:
                item.add_marker("slow")
        if item.originalname == "test_drawn_conversations_are_the_same":
            item.add_marker("drawn")
