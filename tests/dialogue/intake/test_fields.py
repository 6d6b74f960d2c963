"""Fields: what a key means, and where a path stands."""

import pytest
from support.talk import TOOLSETS

from todoplan.dialogue.intake import Field, Kind, find_field, folded, meant_by, shown_path

ENTRY = Field("text", "subject", Kind.LINE, aliases=("title",), weak=("description",))
FIELDS = (
    Field("description", "description", Kind.TEXT),
    Field("items", "todos", Kind.ITEMS, items=(ENTRY,)),
    ENTRY,
)


def test_the_stronger_spelling_wins():
    """A field's own name beats another's weak spelling, whichever comes first."""
    assert meant_by("Description", FIELDS) == (FIELDS[0], 2)
    assert meant_by("description", FIELDS[::-1]) == (FIELDS[0], 2)
    assert meant_by("description", (ENTRY,)) == (ENTRY, 0)
    assert meant_by("TITLE", FIELDS) == (ENTRY, 1)
    assert meant_by("x", FIELDS) == (None, -1)


def test_words_are_folded():
    """Without case, spaces, `_` and `-`; only so much of a word counts as any name has."""
    assert folded("Active-Form _") == "activeform"
    assert folded("a" * 10**6) == "a" * 80


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("todos[2].subject", "items[2].text"),
        ("todos", "items"),
        ("nothing", ""),
        ("todos[0].nothing", "items[0]"),
        ("", ""),
    ],
)
def test_paths_are_shown_in_the_models_names(path, shown):
    """A place that the tool does not have is no place."""
    assert shown_path(path, FIELDS) == shown


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_no_two_fields_of_a_tool_claim_one_word(toolset):
    """Apart from weak spellings and a shown name against an alias, every word means one field."""
    for tool in toolset.tools:
        for fields in (tool.fields, *(field.items for field in tool.fields)):
            claims = [
                (word, strength)
                for field in fields
                for word, strength in set(field.spellings())
                if strength
            ]
            for word, strength in claims:
                owners = {
                    field.name
                    for field in fields
                    for w, s in field.spellings()
                    if (w, s) == (word, strength)
                }
                assert len(owners) == 1, (tool.key, word, owners)
                assert find_field(fields)[word][1] >= strength
