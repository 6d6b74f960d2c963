"""The arguments of a tool as data. Both the JSON Schema and intake are derived from it."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache

import attrs

__all__ = ["MOST_TABLES", "Field", "Kind", "find_field", "folded", "meant_by", "shown_path"]

MOST_TABLES = 256
"""The maximum number of tools for which tables are cached; enough for all, and bounded."""

_LONGEST_WORD = 80


class Kind(StrEnum):
    """The kind of a field's value."""

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
    # Only in entries of a whole list, and never published: the reason for waiting, and the parent.
    WAITING = "waiting"
    PARENT = "parent"
    SUBTASKS = "subtasks"


# Compared by identity: fields are keys of tables and caches that every call uses.
@attrs.frozen(eq=False)
class Field:
    """
    One argument. `name` is its published name, and `target` its name in commands.

    `aliases` are other spellings that models use; `weak` aliases count only if no other spelling is
    sent. `hidden` fields are accepted but not published. `items` are the fields of an entry; the
    first is its title. `numeric` ids are published as integers, which cost fewer tokens. `required`
    fields are published as required, but a `lenient` one may be missing. A field that `clears` is
    emptied by "", or by `null` if it is the only `null` of the call. Entries are read as dicts by
    target, or as instances of the attrs class `entry`, whose fields are the targets.
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
        Yield the folded spellings with their strength: 2 for names, 1 for aliases, 0 for weak ones.
        """
        for strength, words in enumerate((self.weak, self.aliases, (self.name, self.target))):
            for word in words:
                yield folded(word), strength


@lru_cache(maxsize=MOST_TABLES)
def find_field(fields: tuple[Field, ...]) -> Mapping[str, tuple[Field, int]]:
    """Return the field and the strength for each folded spelling and each published name."""
    # Claude Code, AgentScope and Deep Agents name the same things differently, and models mix the
    # names. A field's own name beats another field's alias, and an alias beats a weak spelling.
    table: dict[str, tuple[Field, int]] = {}
    for field in fields:
        for word, strength in field.spellings():
            if word not in table or strength > table[word][1]:
                table[word] = (field, strength)
    # Published names are also included unfolded: nearly every key is one, and needs no folding.
    return {**table, **{field.name: table[folded(field.name)] for field in fields}}


def meant_by(key: str, fields: tuple[Field, ...]) -> tuple[Field | None, int]:
    """Return the field that a key means, and the strength; `(None, -1)` if there is none."""
    table = find_field(fields)
    return table.get(key) or table.get(folded(key)) or (None, -1)


def shown_path(path: str, fields: tuple[Field, ...]) -> str:
    """
    Return a command's path, such as "tasks[0].blocked_by", in published names.

    Return "" if the tool's fields have no such path.
    """
    head, _, rest = path.partition(".")
    target, bracket, index = head.partition("[")
    field = next((field for field in fields if field.target == target), None)
    if field is None:
        return ""
    below = shown_path(rest, field.items)
    return f"{field.name}{bracket}{index}" + (f".{below}" if below else "")


def folded(word: str) -> str:
    """Return the word without case, spaces, `_` and `-`, so that activeForm equals active_form."""
    # Not cached: the words come from the model, and 4,096 words of 80 characters take two MB.
    return word[:_LONGEST_WORD].casefold().translate(_UNMARKED)


_UNMARKED = str.maketrans("", "", " _-")
