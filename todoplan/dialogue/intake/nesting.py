"""
Lists with a tree in them: which entry lies in which, however that was said.

Models and peers say it in many ways: lists in lists, `subtasks` in an entry, `parent` by id or by
title, ids with dots, indented lines. All of them come to one form, the index of the entry that
contains another. Every step is a loop, in linear time: a text in a list may spell the next list,
and so on, deeper than Python recurses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import attrs

from todoplan.core.plan.model import Waiting
from todoplan.dialogue.intake.containers import entries_in, entry_in
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.vocabulary import Line, checklist, id_of, indentation

__all__ = [
    "BY_OWN_ID",
    "OWN_ID",
    "Row",
    "as_lines",
    "nests",
    "read_own_ids",
    "rows_in",
    "within_each_other",
]

OWN_ID = "id"
"""Under this name an entry holds the id that its author gave it, which is none of the plan."""

BY_OWN_ID = "@"
"""Behind this sign a reference holds the index of the entry that its author named by its id."""

_BULLET = "- "
_MOST_NAMED = 20
_EDGES = frozenset({"blocked_by", "blocks"})


@attrs.define
class Row:
    """
    One entry of a list: where it stands, its values by target, and what was said of its place.

    `outer` is the index of the row whose own list it stands in, `level` how far its line is
    indented.
    """

    path: str
    values: dict[str, Any]
    outer: int | None
    level: int


@attrs.define
class _List:
    """
    A list that is being read: what is left of it, and the index of the row read last.
    """

    left: Iterator[tuple[int, Any]]
    path: str
    outer: int | None = None
    last: int | None = None


def nests(field: Field) -> bool:
    """
    Say whether the entries of a field may lie in each other.
    """
    return any(inner.kind is Kind.SUBTASKS for inner in field.items)


def rows_in(
    listed: Sequence[Any],
    field: Field,
    path: str,
    findings: Findings,
    read: Callable[[Mapping[str, Any], str], dict[str, Any]],
) -> list[Row]:
    """
    Return the entries of a list, as `read` reads them, and of the lists in it, each behind the
    entry that contains it. More than are allowed, all together, are refused.
    """
    rows: list[Row] = []
    nested = nests(field)
    open_lists = [_List(enumerate(listed), path)]
    while open_lists:
        here = open_lists[-1]
        place, item = next(here.left, (-1, None))
        at = f"{here.path}[{place}]"
        if place < 0:
            open_lists.pop()
        elif nested and here.last is not None and isinstance(item, list | tuple):
            open_lists.append(_List(enumerate(item), at, here.last))
        elif nested and (lines := _several_lines(item)):
            # A checklist in one entry of a list, as in ["- [ ] a\n  - [ ] b"].
            findings.repair("checklist", at)
            open_lists.append(_List(enumerate(lines), at, here.outer))
        elif len(rows) == findings.limits.items:
            findings.refuse("too_many", path, f"over {len(rows)}", str(len(rows)))
            break
        else:
            level, entry = _entry(item, field, at, findings)
            if not isinstance(entry, Mapping):
                if entry is not MISSING:
                    findings.refuse("wrong_type", at, entry, "an object")
                continue
            here.last = len(rows)
            row = Row(at, read(entry, f"{at}."), here.outer, level)
            rows.append(row)
            if inner := row.values.pop("subtasks", None):
                inside = entries_in(inner, field, f"{at}.subtasks", findings)
                if inside is not MISSING:
                    open_lists.append(_List(enumerate(inside), f"{at}.subtasks", here.last))
    return rows


def _several_lines(item: Any) -> list[Line]:
    lines = checklist(item) if isinstance(item, str) and "\n" in item.strip() else None
    return lines if lines and len(lines) > 1 else []


def _entry(item: Any, field: Field, at: str, findings: Findings) -> tuple[int, Any]:
    """
    Return how far the line of an entry is indented, and the entry.
    """
    if isinstance(item, Line):
        return item.level or 0, entry_in(item, field, at, findings)
    if not isinstance(item, str):
        return 0, item
    if not nests(field) or "\n" in item.strip():
        return 0, entry_in(item, field, at, findings)
    level, bare = 2 * indentation(item), item.strip()
    # Where entries are published as texts, a bullet is a way to write a line: half a level.
    if bare.startswith(_BULLET) and sum(not inner.hidden for inner in field.items) == 1:
        level, bare = level + 1, bare.removeprefix(_BULLET).lstrip()
    return level, entry_in(bare or item, field, at, findings)


def within_each_other(rows: Sequence[Row]) -> list[int | None]:
    """
    Return, for each row, the index of the one that contains it: of the last one above it in the
    same list that is indented less, or else of the one whose list that is.
    """
    found: list[int | None] = []
    above: dict[int | None, list[tuple[int, int]]] = {}
    for index, row in enumerate(rows):
        lines = above.setdefault(row.outer, [])
        while lines and lines[-1][0] >= row.level:
            lines.pop()
        found.append(lines[-1][1] if lines else row.outer)
        lines.append((row.level, index))
    return found


def as_lines(rows: Sequence[Row], findings: Findings) -> list[dict[str, Any]]:
    """
    Return the rows of a whole list as the fields of its lines, in the order of their tree: each
    with its level, if any of them says where it lies.
    """
    within = within_each_other(rows)
    named = _named(rows)
    said = any(outer is not None for outer in within)
    for index, row in enumerate(rows):
        values = row.values
        parent, own = values.pop("parent", None), values.pop("id", "")
        if task_id := id_of(own):
            values["id"] = task_id
        if "waiting" in values:
            values["waiting"] = Waiting(values["waiting"])
        head = own.rpartition(".")[0]
        if within[index] is not None:
            continue
        if parent is not None:
            said = True
            within[index] = _parent(parent, index, named, row.path, findings) if parent else None
        elif head and head in named and task_id is None:
            said, within[index] = True, named[head]
    if not said:
        return [row.values for row in rows]
    return _in_order(rows, within, findings)


def _named(rows: Sequence[Row]) -> dict[str, int]:
    """
    Return the index of each row by its id, as it was written, and by its title.
    """
    named: dict[str, int] = {}
    for index, row in reversed([*enumerate(rows)]):
        named[str(row.values.get("content", "")).strip()] = index
    return named | _by_id(rows)


def _by_id(rows: Sequence[Row]) -> dict[str, int]:
    named: dict[str, int] = {}
    for index, row in reversed([*enumerate(rows)]):
        if own := row.values.get(OWN_ID, ""):
            named[own] = index
            named[id_of(own) or own] = index
    return named


def read_own_ids(
    rows: Sequence[Row], within: Sequence[int | None], names: Mapping[str, str], findings: Findings
) -> None:
    """
    Take the ids out of new entries, and let what names an entry by its id say which one that is:
    edges, a parent, or the dots of an id. `names` is what the model calls the fields.
    """
    # Were they left out, a plan that has tasks would lend "1" a meaning that nobody meant.
    named = _by_id(rows)
    used: set[int] = set()

    def read(reference: str, path: str) -> str:
        index = named.get(reference)
        if index is None:
            return reference
        used.add(index)
        findings.repair("id", path, reference, f"#{index}")
        return f"{BY_OWN_ID}{index}"

    for place, row in enumerate(rows):
        values, own = row.values, row.values.get(OWN_ID, "")
        for edges in _EDGES & values.keys():
            path = f"{row.path}.{names[edges]}"
            values[edges] = tuple(read(each, path) for each in values[edges])
        head = own.rpartition(".")[0]
        if "parent" in values:
            values["parent"] = read(values["parent"], f"{row.path}.{names['parent']}")
        elif within[place] is None and named.get(head, place) < place:
            values["parent"] = read(head, f"{row.path}.{OWN_ID}")
            used.add(named[own])
    for index, row in enumerate(rows):
        if row.values.pop(OWN_ID, "") and index not in used:
            findings.repair("ignored_key", f"{row.path}.{OWN_ID}", OWN_ID)


def _parent(
    word: str, index: int, named: Mapping[str, int], path: str, findings: Findings
) -> int | None:
    found = named.get(word, named.get(id_of(word) or word))
    if found is None or found == index:
        known = ", ".join(islice(named, _MOST_NAMED))
        findings.refuse("unknown_reference", f"{path}.parent", word, known)
        return None
    return found


def _in_order(
    rows: Sequence[Row], within: Sequence[int | None], findings: Findings
) -> list[dict[str, Any]]:
    below: dict[int | None, list[int]] = {}
    for index in reversed(range(len(rows))):
        below.setdefault(within[index], []).append(index)
    lines: list[dict[str, Any]] = []
    seen = [False] * len(rows)
    left = [(index, 0) for index in below.get(None, ())]
    while left:
        index, level = left.pop()
        seen[index] = True
        lines.append({**rows[index].values, "level": level})
        left += [(inner, level + 1) for inner in below.get(index, ())]
    if not all(seen):
        # What lies on a circle lies below no entry at the top.
        lost = rows[seen.index(False)]
        findings.refuse("parent_circle", f"{lost.path}.parent", lost.values.get("content", ""))
    return lines
