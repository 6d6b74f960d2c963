"""
The arguments of a tool as data: one description that both the JSON Schema and intake are read from.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache

import attrs

__all__ = ["MOST_TABLES", "Field", "Kind", "find_field", "folded", "meant_by", "shown_path"]

MOST_TABLES = 256
"""Tables are cached for so many tools: for all there are, not for ever those made anew."""

_LONGEST_WORD = 80


class Kind(StrEnum):
    """
    What a field holds.
    """

    LINE = "line"
    TEXT = "text"
    STATUS = "status"
    STATUS_OR_DELETED = "status_or_deleted"
    PRIORITY = "priority"
    ID = "id"
    ID_HINT = "id_hint"
    OWN_ID = "own_id"
    IDS = "ids"
    REF = "ref"
    REFS = "refs"
    MINUTES = "minutes"
    FLAG = "flag"
    METADATA = "metadata"
    WAITS = "waits"
    ITEMS = "items"
    # In an entry of a whole list, and never published: what it waits for, and where it lies.
    WAITING = "waiting"
    PARENT = "parent"
    SUBTASKS = "subtasks"


# Compared by identity: fields are keys of tables and caches on the road of every call.
@attrs.frozen(eq=False)
class Field:
    """
    One argument. `name` is what the model sees, `target` what commands call it.

    `aliases` are other spellings met in the wild; `weak` ones count only where no other is given.
    `hidden` fields are understood and not published. `items` are the fields of an entry; the first
    is its title. `numeric` ids are published as integers, which cost a model fewer tokens.
    `required` is published so; a `lenient` field may be missing all the same. One that `clears` is
    emptied by "", or by the only `null` of a call. Entries are read as dicts by target, or as the
    attrs class `entry`, whose fields are the targets.
    """

    name: str
    target: str
    kind: Kind
    required: bool = False
    aliases: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    hidden: bool = False
    numeric: bool = False
    lenient: bool = False
    items: tuple["Field", ...] = ()
    entry: type[attrs.AttrsInstance] | None = None
    clears: bool = False

    def spellings(self) -> Iterator[tuple[str, int]]:
        """
        Yield the folded spellings, with how surely each means this field: 2, 1, or 0 for weak.
        """
        for strength, words in enumerate((self.weak, self.aliases, (self.name, self.target))):
            for word in words:
                yield folded(word), strength


@lru_cache(maxsize=MOST_TABLES)
def find_field(fields: tuple[Field, ...]) -> Mapping[str, tuple[Field, int]]:
    """
    Return the field that each folded spelling, and each published name, means, with its strength.
    """
    # Claude Code, AgentScope and Deep Agents name the same things differently, and models mix them;
    # a field's own name beats another's alias, and an alias a weak spelling, whatever the order.
    table: dict[str, tuple[Field, int]] = {}
    for field in fields:
        for word, strength in field.spellings():
            if word not in table or strength > table[word][1]:
                table[word] = (field, strength)
    # Published names stand unfolded as well: nearly every key is one, and is found at once.
    return {**table, **{field.name: table[folded(field.name)] for field in fields}}


def meant_by(key: str, fields: tuple[Field, ...]) -> tuple[Field | None, int]:
    """
    Return the field that a key means, with its strength; `(None, -1)` for a key of none.
    """
    table = find_field(fields)
    return table.get(key) or table.get(folded(key)) or (None, -1)


def shown_path(path: str, fields: tuple[Field, ...]) -> str:
    """
    Return a command's path, "tasks[0].blocked_by", in the names that the model sees.

    "" if a tool's fields have no such place.
    """
    head, _, rest = path.partition(".")
    target, bracket, index = head.partition("[")
    field = next((field for field in fields if field.target == target), None)
    if field is None:
        return ""
    below = shown_path(rest, field.items)
    return f"{field.name}{bracket}{index}" + (f".{below}" if below else "")


def folded(word: str) -> str:
    """
    Return the word without case, spaces, `_` and `-`: activeForm and active_form are alike.
    """
    # Not cached: keys and words come from the model, and 4,096 of 80 characters hold two megabytes.
    return word[:_LONGEST_WORD].casefold().translate(_UNMARKED)


_UNMARKED = str.maketrans("", "", " _-")
