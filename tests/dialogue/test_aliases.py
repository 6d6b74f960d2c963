"""
Every spelling of every argument: one that is lost or means another field is noticed.

The file `aliases.txt` has each argument that has aliases, with them; "~" marks a word that counts
only if no other key gives the field. With `TODOPLAN_UPDATE_SNAPSHOTS=1` it is written anew: read
the difference.
"""

import os
from pathlib import Path

import pytest
from support.talk import TOOLSETS

from todoplan.dialogue.intake import meant_by
from todoplan.dialogue.tools import BASIC_TOOLSETS

FILE = Path(__file__).with_name("aliases.txt")


def places(tool):
    """Yield the path of each field of a tool, the field, and the fields of the same object."""
    for field in tool.fields:
        yield field.name, field, tool.fields
        for inner in field.items:
            yield f"{field.name}.{inner.name}", inner, field.items


def test_aliases_change_only_on_purpose():
    """The words that mean an argument, in every tool, are those of the file."""
    rows = [
        f"{tool.key} {path}: {' '.join([*field.aliases, *(f'~{word}' for word in field.weak)])}"
        for toolset in BASIC_TOOLSETS.values()
        for tool in toolset.tools
        for path, field, _ in places(tool)
        if field.aliases or field.weak
    ]
    found = "\n".join(rows) + "\n"
    if "TODOPLAN_UPDATE_SNAPSHOTS" in os.environ:
        FILE.write_text(found, "utf-8")
    assert found == FILE.read_text("utf-8")


@pytest.mark.parametrize("toolset", TOOLSETS, ids=lambda toolset: toolset.name)
def test_every_spelling_means_its_field(toolset):
    """A name, target or alias is known in camelCase, snake_case and capitals."""
    for tool in toolset.tools:
        for _, field, beside in places(tool):
            for word in (field.name, field.target, *field.aliases):
                for spelling in (word, word.upper(), word.replace("_", "-")):
                    assert meant_by(spelling, beside)[0] is field
