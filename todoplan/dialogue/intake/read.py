"""
Read a call's arguments by a tool's fields, into values, repairs and problems.

The principles of intake, for this whole package:
- Law 10: intake never raises, whatever is sent, and nothing is repaired silently.
- Only a complete value with one meaning is repaired, and the repair is reported. Otherwise the
  whole call is refused, with all faults at once: for each its path, at most 40 characters of the
  value, and what is allowed; a correct example follows. If faults were reported one at a time, the
  model would spend a turn on each.
- `null` means "not given", never the task "None". An unknown word is never replaced by the most
  similar known word.
- Law 17: a guess about the container is marked (`Intake.guessed`), and such a call removes nothing.

Values are read in up to two passes. The first pass uses `Plain` findings and the value as it was
sent; it is enough for calls that follow their schema, which are nearly all. At the first value that
is not plain, the call is read again, from the validated value, with repairs and problems recorded.
In the first pass, a list is read without the paths that repairs need. If all its entries have the
same keys, it is read by columns, with one call into C for all values of a key. A test compares both
passes.

Start reading at the end of the file, with `read` and the functions for objects and lists. The first
part of the file is only for the second pass: unpacking arguments and lists from their containers,
and finding out which entry of a list contains which. Models and other tools express nesting in many
ways: lists in lists, `subtasks` in an entry, `parent` by id or by title, ids with dots, indented
lines. All of them are converted to one form: the index of the containing entry. Every step is a
loop that takes linear time, because a text in a list may encode another list, and so on, deeper
than Python can recurse.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice, repeat
from typing import Any, NamedTuple

import attrs

from todoplan.core.plan.fast_constructor import fast_constructor, fast_keyword_constructor
from todoplan.core.plan.model import Waiting
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import is_clean, quoted
from todoplan.dialogue.intake.fields import MOST_TABLES, Field, Kind, meant_by
from todoplan.dialogue.intake.parsing import InputLimits, parse, plain_object
from todoplan.dialogue.intake.repairs import Repair, is_guess
from todoplan.dialogue.intake.values import (
    MISSING,
    READERS,
    Findings,
    NotPlainError,
    Plain,
    Reader,
    WaitingWord,
    settle_wait,
)
from todoplan.dialogue.intake.vocabulary import EXACT_WORDS, Line, checklist, id_of, indentation

# Models send the envelope of the call instead of its arguments: openclaw#142304, ollama#11805,
# hermes#100979.
_WRAPPERS = (
    "arguments",
    "input",
    "parameters",
    "args",
    "params",
    "kwargs",
    "tool_input",
    "function",
)
# Keys that may occur beside a wrapper: the rest of the envelope. "function" contains the whole call
# in OpenAI's envelope, and only a name in others.
_NAMES = frozenset({"name", "tool", "tool_name", "function", "type", "id"})
_LEVELS = 3


def arguments_in(
    value: Any, fields: tuple[Field, ...], findings: Findings
) -> Mapping[str, Any] | None:
    """Return a call's arguments by key, unpacked from any container; `None` if they are refused."""
    value = _unwrapped(value, fields, findings)
    # Missing arguments (agno#4604, hermes#112120) are read as an empty object, so that the error
    # names the required fields.
    if value is None or value is MISSING:
        return {} if value is None else None
    # With several list fields, a bare list or a bare entry would be ambiguous.
    lists = [field for field in fields if field.kind is Kind.ITEMS and not field.hidden]
    field = lists[0] if len(lists) == 1 else None
    if not isinstance(value, Mapping):
        listed = isinstance(value, list | tuple) or (isinstance(value, str) and checklist(value))
        if field is None or not listed:
            findings.refuse("wrong_type", "arguments", value, "an object")
            return None
        findings.repair("bare_list", field.name)
        return {field.name: value}
    named = any(meant_by(key, fields)[0] for key in value)
    # A weak spelling alone ("description", strength 0) does not indicate an entry.
    if named or field is None or not any(meant_by(key, field.items)[1] > 0 for key in value):
        return value
    findings.repair("bare_entry", field.name)
    return {field.name: [value]}


def _unwrapped(value: Any, fields: tuple[Field, ...], findings: Findings) -> Any:
    """Return the arguments without their wrappers, such as {"arguments": {...}}; at most three."""
    for _ in range(_LEVELS):
        value = findings.decoded(value, "")
        key = _wrapper(value, fields)
        if key is None:
            return value
        # In {"arguments": {...}, "drop": [2]}, one half would be lost, so the call is refused.
        if isinstance(value[key], Mapping) and any(near != key for near in value.keys() - _NAMES):
            return findings.refuse("wrapper_siblings", "arguments", key)
        findings.repair("wrapper", "")
        value = value[key]
    value = findings.decoded(value, "")
    if _wrapper(value, fields) is None:
        return value
    return findings.refuse("too_deep", "arguments", "", str(_LEVELS))


def _wrapper(value: Any, fields: tuple[Field, ...]) -> str | None:
    """Return the key of a wrapper, or `None`; a field of the tool is never a wrapper."""
    if not isinstance(value, Mapping):
        return None
    # A text or a list under "input" may be an ordinary argument: it is a wrapper only if it is
    # alone.
    alone = len(value.keys() - _NAMES) <= 1
    for key in _WRAPPERS:
        if key in value and meant_by(key, fields)[0] is None:
            inner = value[key]
            if isinstance(inner, Mapping):
                return key
            if alone and key not in _NAMES and (inner is None or isinstance(inner, str | list)):
                return key
    return None


def entries_in(value: Any, field: Field, path: str, findings: Findings) -> Any:
    """
    Return the list of entries; `MISSING` if the value is not a list or is broken.

    The entries of a checklist are returned as `Line` objects. Nested containers such as
    {"todos": {"todos": ...}} are unpacked at most three times. A text is refused unless it is a
    JSON or Python list, or clearly a checklist: "null", "same as before" and "[object Object]" once
    became titles, and the rest of the plan was removed.
    """
    value = findings.decoded(value, path)
    for _ in range(_LEVELS):
        if not isinstance(value, Mapping) or len(value) != 1:
            break
        ((key, inner),) = value.items()
        if meant_by(key, (field,))[0] is None:
            break
        findings.repair("wrapper", path)
        value = findings.decoded(inner, path)
    if isinstance(value, str):
        lines = checklist(value)
        if lines is None:
            return findings.refuse("no_list", path, value)
        findings.repair("checklist", path)
        return lines
    if value is MISSING or isinstance(value, list | tuple):
        return value
    findings.repair("bare_entry", path)
    return [value]


def entry_in(item: str | Line, field: Field, path: str, findings: Findings) -> Any:
    """
    Return the entry for a text in a list: a title, with or without a checkbox, or a JSON object.
    """
    title = field.items[0].name
    if isinstance(item, Line):
        return {title: item.title, **({"status": item.status} if item.status else {})}
    lines = checklist(item) or []
    if len(lines) == 1:
        findings.repair("box", path)
        return entry_in(lines[0], field, path, findings)
    # A title may begin with "[", so only texts that begin like an object are decoded.
    spelled = findings.decoded(item, path) if item.lstrip().startswith("{") else item
    return {title: item} if isinstance(spelled, str) else spelled


OWN_ID = "id"
"""The key of an entry's own id: the model's numbering, not an id of the plan."""

BY_OWN_ID = "@"
"""The prefix of a reference by own id; the index of the entry follows it."""

_BULLET = "- "
_MOST_NAMED = 20
_EDGES = frozenset({"blocked_by", "blocks"})


@attrs.define
class Row:
    """
    One entry of a list: its path, its values by target, and its place in the tree.

    `outer` is the index of the row whose nested list contains it. `level` is the indentation of its
    line.
    """

    path: str
    values: dict[str, Any]
    outer: int | None
    level: int


@attrs.define
class _List:
    """A list that is being read: its remaining entries, and the index of the row read last."""

    left: Iterator[tuple[int, Any]]
    path: str
    outer: int | None = None
    last: int | None = None


def nests(field: Field) -> bool:
    """Return whether the entries of a field may be nested."""
    return any(inner.kind is Kind.SUBTASKS for inner in field.items)


def rows_in(
    listed: Sequence[Any],
    field: Field,
    path: str,
    findings: Findings,
    read: Callable[[Mapping[str, Any], str], dict[str, Any]],
) -> list[Row]:
    """
    Return the entries of a list and of its nested lists, each read with `read`.

    The entries of a nested list follow the entry that contains it. The call is refused if there are
    more entries in total than the limit.
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
            # A whole checklist in one entry of a list, as in ["- [ ] a\n  - [ ] b"].
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
    """Return the indentation of an entry's line, and the entry."""
    if isinstance(item, Line):
        return item.level or 0, entry_in(item, field, at, findings)
    if not isinstance(item, str):
        return 0, item
    if not nests(field) or "\n" in item.strip():
        return 0, entry_in(item, field, at, findings)
    level, bare = 2 * indentation(item), item.strip()
    # If entries are published as texts, a bullet indents a line by half a level.
    if bare.startswith(_BULLET) and sum(not inner.hidden for inner in field.items) == 1:
        level, bare = level + 1, bare.removeprefix(_BULLET).lstrip()
    return level, entry_in(bare or item, field, at, findings)


def within_each_other(rows: Sequence[Row]) -> list[int | None]:
    """
    Return the index of the containing row, for each row.

    That is the last row above it in the same list that is indented less, or else the row that
    contains the list.
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
    Return the rows of a whole list as field values, in tree order.

    Each has its level, if at least one row is nested.
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
    """Return the index of each row by its id as the model wrote it, and by its title."""
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
    Remove the own ids of new entries, and replace references to them by indexes of entries.

    References are edges, a parent, and the head of an id with dots. `names` maps targets to
    published field names.
    """
    # If own ids were simply ignored, "1" would mean a task that is already in the plan.
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
        # Rows in a cycle of parents are reachable from no top-level row.
        lost = rows[seen.index(False)]
        findings.refuse("parent_circle", f"{lost.path}.parent", lost.values.get("content", ""))
    return lines


WITHIN = "within"
"""The key of the index of the containing entry, if the entry is nested."""

_LONGEST_KEY = 80
_MOST_NEAR = 10


@attrs.frozen(weakref_slot=False)
class Intake:
    """
    A call's arguments by target name; `values` has only those that were sent and could be read.
    """

    values: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def guessed(self) -> bool:
        """True if the container had to be guessed: such a call must not remove tasks (law 17)."""
        return is_guess(self.repairs)


_intake = fast_constructor(Intake)
_USUAL = InputLimits()
_FEW_ROWS = 5  # measured: for so few entries, rows are faster than columns


def read(raw: object, fields: tuple[Field, ...], limits: InputLimits | None = None) -> Intake:
    """Read a call's arguments: JSON text, or a mapping that a framework has parsed."""
    limits = limits or _USUAL
    try:
        return _intake(plain_read(raw, fields, limits))
    except Exception:  # noqa: BLE001 - not plain, or a foreign class: the second pass reports the cause
        return careful_read(raw, fields, limits)


def plain_read(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> dict[str, Any]:
    """
    Read arguments that follow their schema exactly.

    Raises:
        NotPlainError: they do not follow it. A foreign class may raise other errors.
    """
    given = plain_object(raw, limits)
    if given is None:
        raise NotPlainError
    return _plain_object(given, table_of(fields), Plain(limits))


def careful_read(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> Intake:
    """Read any arguments, with repairs; for plain arguments the result is that of `plain_read`."""
    parsed = parse(raw, limits)
    if isinstance(parsed, Problem):
        # The problem from `parse` has the whole text; the model is shown 40 characters (`quoted`).
        return Intake({}, (), (attrs.evolve(parsed, seen=quoted(parsed.seen)),))
    findings = Findings(limits, list(parsed.repairs))
    found = arguments_in(parsed.value, fields, findings)
    values = {} if found is None else _object(found, fields, "", findings)
    return Intake(values, tuple(findings.repairs), tuple(findings.problems))


class Table(NamedTuple):
    """
    Cached data about the fields of a tool or an entry, for reading plain values.

    `readers` maps a published name to the target and its reader. `required` are the targets of the
    required fields. `clearing` are the published names of the fields that a single `null` clears.
    """

    readers: Mapping[str, tuple[str, Callable[[Any, str, Findings], Any]]]
    required: frozenset[str]
    clearing: frozenset[str]


@lru_cache(maxsize=MOST_TABLES)
def table_of(fields: tuple[Field, ...]) -> Table:
    """Return the cached table of these fields."""
    # Published names only: an alias must be compared with the other keys of the call.
    return Table(
        {field.name: (field.target, _plain_reader(field)) for field in fields},
        frozenset(each.target for each in fields if each.required and not each.lenient),
        frozenset(field.name for field in fields if field.clears),
    )


def _plain_reader(field: Field) -> Reader:
    if field.kind is Kind.ITEMS:
        return _plain_entries(field)
    if field.clears:  # "" and `null` have a meaning, which depends on the other keys
        return _not_plain
    return _filled_text if field.required and field.kind in _TEXTS else READERS[field.kind]


def _not_plain(_value: Any, _path: str, findings: Findings) -> Any:
    findings.need_care()


_UNKNOWN = "", _not_plain


def _filled_text(value: Any, path: str, findings: Findings) -> Any:
    found = READERS[Kind.LINE](value, path, findings)
    return found if found.strip() else findings.need_care()


_TEXTS = frozenset({Kind.LINE, Kind.TEXT})


def _plain_object(given: dict[str, Any], table: Table, findings: Findings) -> dict[str, Any]:
    readers, absent, clears = table.readers, 0, False
    values: dict[str, Any] = {}
    for key, value in given.items():
        target, reader = readers.get(key, _UNKNOWN)
        # Not given: in OpenAI's strict mode, models send `null` for each omitted argument; if there
        # are several, they clear nothing.
        if value is None and target:
            absent += 1
            clears = key in table.clearing
        else:
            values[target] = reader(value, "", findings)
    if (absent == 1 and clears) or not table.required <= values.keys():
        raise NotPlainError
    return values


def _object(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, findings: Findings
) -> dict[str, Any]:
    by_field = _by_field(value, fields, prefix, findings)
    values: dict[str, Any] = {}
    for field in fields:
        path = f"{prefix}{field.name}"
        faults = findings.faults
        found = _value(by_field[field], field, path, findings) if field in by_field else MISSING
        if found is not MISSING:
            values[field.target] = found
        # A field is reported as missing only if its value was not refused, so that one fault is
        # reported once.
        elif field.required and not field.lenient and findings.faults == faults:
            findings.refuse("missing_field", path, "", field.name)
    if "waiting" in values or type(values.get("status")) is WaitingWord:
        settle_wait(values, {field.target: prefix + field.name for field in fields}, findings)
    return values


def _by_field(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, findings: Findings
) -> dict[Field, Any]:
    """Return the value of each field; of several spellings, the strongest, unless they conflict."""
    chosen: dict[Field, tuple[int, str, Any]] = {}  # the strength of the key, the key, the value
    left_out: list[Field] = []
    for key, inner in value.items():
        field, strength = meant_by(key, fields)
        if field is None:
            _unknown(key, fields, prefix, findings)
        elif inner is None:  # for an optional argument, `null` is "not given" (inspect_ai#1477)
            left_out.append(field)
        else:
            kept = new = strength, key, inner
            if field in chosen:
                old = chosen[field]
                kept, other = (new, old) if new[0] > old[0] == 0 else (old, new)
                # Types are compared too, since True == 1 == 1.0.
                same = type(old[2]) is type(new[2]) and old[2] == new[2]
                if not same and kept[0] and not other[0]:
                    findings.repair("ignored_key", f"{prefix}{quoted(other[1])}", other[1])
                elif not same:
                    findings.refuse("conflicting_keys", f"{prefix}{field.name}", new[1])
            chosen[field] = kept
    # In strict mode, a model sends `null` for each omitted argument. A single `null` is meant as a
    # value.
    if len(left_out) == 1 and left_out[0].clears and left_out[0] not in chosen:
        chosen[left_out[0]] = (0, "", None)
    return {field: inner for field, (_, _, inner) in chosen.items()}


def _unknown(key: str, fields: tuple[Field, ...], prefix: str, findings: Findings) -> None:
    names = [field.name for field in fields if not field.hidden]
    path = f"{prefix}{quoted(key)}"
    if findings.limits.strict:
        findings.refuse("unknown_key", path, key, ", ".join(names) or "none")
        return
    # An extra key is no fault (hermes#100979): refusing it would cost a turn although nothing is
    # lost. The search for a similar name is the slowest step of intake, and the reply names at most
    # three.
    searched = len(findings.repairs) < _MOST_NEAR
    near = get_close_matches(key[:_LONGEST_KEY], names, n=1) if searched else []
    findings.repair("ignored_key", path, key, near[0] if near else "")


def _value(value: Any, field: Field, path: str, findings: Findings) -> Any:
    if field.clears and (value is None or value == ""):
        return None
    if field.kind is Kind.ITEMS:
        listed = entries_in(value, field, path, findings)
        return MISSING if listed is MISSING else _entries(listed, field, path, findings)
    found = READERS[field.kind](value, path, findings)
    if field.required and isinstance(found, str) and not found.strip():
        return findings.refuse("empty_text", path, value)
    return found


def _plain_entries(field: Field) -> Reader:
    """Return a reader for a list of plain entries, each of which is an object or a title."""
    table, columns = table_of(field.items), _columns(field)
    title, *others = field.items
    alone = title.kind is Kind.LINE and not table_of(tuple(others)).required
    make = dict if field.entry is None else fast_keyword_constructor(field.entry)

    def read(listed: Any, _path: str, findings: Findings) -> Any:
        if type(listed) is not list or len(listed) > findings.limits.items:
            raise NotPlainError
        if len(listed) > _FEW_ROWS and (found := columns(listed)) is not None:
            return found
        rows = []
        for item in listed:
            if type(item) is dict:
                rows.append(make(**_plain_object(item, table, findings)))
            elif type(item) is str and alone and _is_plain_title(item, field):
                rows.append(make(**{title.target: item}))
            else:
                raise NotPlainError
        return rows

    return read


def _is_plain_title(text: str, field: Field) -> bool:
    # Not plain are a checkbox, an entry as JSON text, and a text with spaces around it, since these
    # are removed.
    if "[" in text or text.startswith("{") or text != text.strip() or not text:
        return False
    # A line with a bullet may be nested in the one above it.
    return is_clean(text) and not (text.startswith("- ") and nests(field))


def _columns(field: Field) -> Callable[[list[Any]], Any]:
    """
    Return a reader for entries that all have the same keys; it reads all values of a key at once.

    The reader returns `None` for other entries.
    """
    entry = field.entry
    if entry is None:
        return lambda _: None
    by_name = {inner.name: inner for inner in field.items}
    required = frozenset(item.name for item in field.items if item.required and not item.lenient)
    order, make = [each.name for each in attrs.fields(entry)], fast_constructor(entry)

    def read(entries: list[dict[str, Any]]) -> Any:
        if set(map(type, entries)) != {dict}:
            return None
        # The keys must be in the same order too, so that the values can be zipped.
        keys = tuple(entries[0])
        alike = list(map(tuple, entries)).count(keys) == len(entries)
        if not alike or not required <= set(keys) <= by_name.keys():
            return None
        columns: dict[str, Any] = {}
        for key, values in zip(keys, zip(*map(dict.values, entries), strict=True), strict=True):
            column = _column(by_name[key], values)
            if column is None:
                return None
            columns[by_name[key].target] = column
        return list(map(make, *(columns.get(name, repeat(None)) for name in order)))

    return read


def _column(field: Field, values: Sequence[Any]) -> Sequence[Any] | None:
    if set(map(type, values)) != {str}:
        return None
    words = EXACT_WORDS.get(field.kind)
    if words is not None:
        found = list(map(words.get, values))
        return None if None in found else found
    # Joined, for a single search in C. A suspect character is one code point, so joining texts
    # cannot create one.
    if field.clears or field.kind not in {Kind.LINE, Kind.TEXT} or not is_clean("".join(values)):
        return None
    return None if field.required and not all(map(str.strip, values)) else values


def _entries(listed: Sequence[Any], field: Field, path: str, findings: Findings) -> Any:
    if len(listed) > findings.limits.items:
        return findings.refuse("too_many", path, len(listed), str(findings.limits.items))
    faults = findings.faults
    rows = rows_in(
        listed,
        field,
        path,
        findings,
        lambda entry, prefix: _object(entry, field.items, prefix, findings),
    )
    # A row with a fault may lack values that its class requires; the call is refused anyway.
    if nests(field) and findings.faults == faults:
        if field.entry:
            lines = as_lines(rows, findings)
            return [field.entry(**line) for line in lines if findings.faults == faults]
        within = within_each_other(rows)
        if any(OWN_ID in row.values for row in rows):
            names = {inner.target: inner.name for inner in field.items}
            read_own_ids(rows, within, names, findings)
        for row, outer in zip(rows, within, strict=True):
            if outer is not None:
                row.values[WITHIN] = outer
    return [row.values for row in rows]
