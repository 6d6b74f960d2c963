"""
A catalogue of the ways in which models break arguments, each with its expected result.

A break starts from well-formed arguments and changes the whole call, or one spot: a field of the
tool, or a field of a list's entries. The expected result is one of:

- `taken`: read like the well-formed arguments.
- `repaired`: the same, with a note in the reply.
- `guessed`: the same, with a note in the reply; but since the container was guessed, the call is
  refused if it would remove a task that it does not name (law 17).
- `refused`: nothing is changed.
- `ruled`: the arguments are valid, and a rule of the policy decides.

The issues cited next to a break show where it was seen.
"""

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call
from todoplan.dialogue.intake import Field, Kind, meant_by
from todoplan.dialogue.tools import Tool, ToolSet
from todoplan.errors import PlanError
from todoplan.testing.strategies.calls import arguments_of, makes_sense
from todoplan.testing.strategies.text import titles

OMITTED: Any = object()
"""A marker for a spot whose argument is left out."""


@attrs.frozen(eq=False)
class Spot:
    """A top-level field, or the field `inner` of the first entry of the list `outer`."""

    outer: Field
    inner: Field | None = None

    @property
    def field(self) -> Field:
        """The field at the spot."""
        return self.inner or self.outer

    def put(self, given: dict[str, Any], value: Any) -> dict[str, Any]:
        """Return a copy of the arguments with a value at the spot."""
        # A copy, because the drawn arguments are also the meaning of the broken ones.
        changed = copy.deepcopy(given)
        _set(self.holder(changed), self.field.name, value)
        return changed

    def holder(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the object that has the spot as a key."""
        if self.inner is None:
            return given
        first: dict[str, Any] = given[self.outer.name][0]
        return first


def _set(holder: dict[str, Any], name: str, value: Any) -> None:
    if value is OMITTED:
        holder.pop(name, None)
    else:
        holder[name] = value


def spots(tool: Tool, *kinds: Kind) -> Iterator[Spot]:
    """Yield the published spots of these kinds, or of all kinds if none is given."""
    for outer in tool.fields:
        if outer.hidden:
            continue
        if not kinds or outer.kind in kinds:
            yield Spot(outer)
        for inner in outer.items:
            if not inner.hidden and (not kinds or inner.kind in kinds):
                yield Spot(outer, inner)


Expected = Literal["taken", "repaired", "guessed", "refused", "ruled"]
Given = dict[str, Any]
Pair = tuple[Any, Any]
"""What is sent, and what it means."""

_Make = Callable[[DrawFn, Tool, Plan], Pair]
_Fits = Callable[[Tool, Plan], bool]
_Here = Callable[[Field], bool]


@attrs.frozen(eq=False)
class Break:
    """
    One way to break arguments.

    `expected` is the expected result. With `raw`, a text is sent, which frameworks that parse
    arguments themselves never pass on. `fits` returns whether a tool can be called in this way.
    """

    name: str
    expected: Expected
    about: str
    make: _Make = attrs.field(repr=False)
    fits: _Fits = attrs.field(repr=False)
    raw: bool = False


def of_whole(
    name: str,
    expected: Expected,
    about: str,
    spoil: Callable[[DrawFn, Given], Any],
    fits: _Fits | None = None,
) -> Break:
    """
    Return a break of the call's JSON text. Without `fits`, the call has at least one argument.
    """

    def make(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
        # At least one argument: `{}` has nothing to repeat, wrap or truncate.
        must = draw(st.sampled_from([*spots(tool)])).outer.name if fits is None else ""
        given = draw(arguments_of(tool, plan, must))
        return spoil(draw, given), given

    return Break(name, expected, about, make, fits or _has_arguments, raw=True)


def _has_arguments(tool: Tool, _: Plan) -> bool:
    return any(spots(tool))


def given_with(
    spot: Spot, tool: Tool, plan: Plan, *, sparse: bool = False
) -> SearchStrategy[Given]:
    """Draw well-formed arguments that have a value at the spot."""
    within = spot.inner.name if spot.inner else ""
    return arguments_of(tool, plan, spot.outer.name, within, sparse=sparse)


def of_spot(  # noqa: PLR0913 - the first five say what every break says
    name: str,
    expected: Expected,
    about: str,
    kinds: tuple[Kind, ...],
    spoil: Callable[[DrawFn, Spot, Given, Plan], Pair],
    *,
    here: _Here = lambda _: True,
    sparse: bool = False,
    raw: bool = False,
) -> Break:
    """
    Return a break at a field of these kinds; `spoil` gets arguments in which the field is present.
    """

    def fitting(tool: Tool) -> list[Spot]:
        return [spot for spot in spots(tool, *kinds) if here(spot.field)]

    def make(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
        spot = draw(st.sampled_from(fitting(tool)))
        return spoil(draw, spot, draw(given_with(spot, tool, plan, sparse=sparse)), plan)

    return Break(name, expected, about, make, lambda tool, _: bool(fitting(tool)), raw)


def of_values(  # noqa: PLR0913 - the first five say what every break says
    name: str,
    expected: Expected,
    about: str,
    kinds: tuple[Kind, ...],
    pairs: SearchStrategy[Pair] | Callable[[Field, Plan], SearchStrategy[Pair]],
    *,
    here: _Here = lambda _: True,
    sparse: bool = False,
) -> Break:
    """
    Return a break of one value: pairs of the value sent for the field, and the value it means.
    """

    def spoil(draw: DrawFn, spot: Spot, given: Given, plan: Plan) -> Pair:
        drawn = pairs if isinstance(pairs, SearchStrategy) else pairs(spot.field, plan)
        bad, good = draw(drawn)
        return spot.put(given, bad), spot.put(given, good)

    return of_spot(name, expected, about, kinds, spoil, here=here, sparse=sparse)


# json.loads accepts all of these, and reads 1e999 as infinity.
_ENDLESS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")
# Seen in claude-code#83088, #48679, #44826, #61375.
_CLOSERS = ("</invoke>", "</parameter>\n</invoke>", "</invoke></function_calls>\n")
_LARGEST = 1_048_576  # `InputLimits.chars`


def _dumped(value: Any, times: int) -> str:
    for _ in range(times):
        value = json.dumps(value)
    return str(value)


def _encoded_text(draw: DrawFn, given: Given) -> str:
    return _dumped(given, draw(st.integers(2, 4)))


def _with(given: Given, value: str) -> str:
    """Return the JSON text with one more key, whose value is inserted unchanged."""
    return json.dumps(given | {"because": 0})[:-2] + value + "}"


def _nested(draw: DrawFn, given: Given) -> str:
    # Above our own limit (32), and above that of Python 3.11, where json.loads raises
    # RecursionError.
    depth = draw(st.sampled_from([40, 2_000]))
    return _with(given, "[" * depth + "]" * depth)


def _noisy(draw: DrawFn, given: Given) -> str:
    text = json.dumps(given)
    # A dropped comment may have said that the other tasks stay (law 17).
    return draw(st.sampled_from([f"{text} // all of it", f"/* the call */ {text}"]))


def _cut_text(draw: DrawFn, given: Given) -> str:
    text = json.dumps(given)
    return text[: draw(st.integers(1, len(text) - 1).filter(lambda end: _ends_open(text[:end])))]


def _ends_open(text: str) -> bool:
    """Return whether more than the last brace is missing, which alone is repaired."""
    try:
        json.loads(text + "}")
    except ValueError:
        return True
    return text[-1] not in '"]}'


def _fenced(draw: DrawFn, given: Given) -> str:
    return f"```{draw(st.sampled_from(['json', '']))}\n{json.dumps(given)}\n```"


def _twice(given: Given, draw: DrawFn, *, same: bool) -> str:
    key = draw(st.sampled_from(sorted(given)))
    # json.loads silently keeps the last value.
    again = given[key] if same else "something else"
    return f"{json.dumps(given)[:-1]}, {json.dumps(key)}: {json.dumps(again)}}}"


def _raw_newline(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    text = json.dumps(spot.put(given, "first line")).replace("first line", "first\nline")
    return text, spot.put(given, "first\nline")


_OF_TEXTS = (
    # Seen in kimi-cli#2513, #2572, livekit#5411, quarkus-lc4j#2569, OpenManus#989.
    of_whole(
        "encoded", "repaired", "the JSON text of a JSON text, up to three times", _encoded_text
    ),
    of_whole(
        "encoded_too_often",
        "refused",
        "the JSON text of a JSON text, over and over",
        lambda _, given: _dumped(given, 9),
    ),
    # learn-claude-code#342, mlx-lm#1004, vllm#43238; atropos#478 replaces the quotes.
    of_whole("python_repr", "repaired", "a Python literal", lambda _, given: repr(given)),
    of_whole(
        "trailing_comma",
        "repaired",
        "a comma behind the last argument",
        lambda _, given: json.dumps(given)[:-1] + ",}",
    ),
    of_whole("comment", "guessed", "a comment beside the arguments", _noisy),
    of_whole("code_fence", "repaired", "a Markdown code fence around them", _fenced),
    of_whole(
        "byte_order_mark",
        "taken",
        "a byte order mark before them",
        lambda _, given: "\ufeff" + json.dumps(given),
    ),
    of_spot(
        "raw_newline",
        "taken",
        "a line end in a string that JSON wants escaped",
        (Kind.LINE, Kind.TEXT),
        _raw_newline,
        raw=True,
    ),
    # lobehub#13817, jac#6766, ruby_llm#829. json_repair closes it: `"status":"pen` is "pen" then.
    of_whole("truncated", "refused", "cut off, as by the output limit", _cut_text),
    of_whole(
        # agno#4604, hermes#112120; humux#77: truncated arguments arrive as `{}`.
        "nothing",
        "refused",
        "no arguments, where some are needed",
        lambda draw, _: draw(st.sampled_from(["", "  ", "{}", "null"])),
        fits=lambda tool, _: not makes_sense(tool, {}),
    ),
    of_whole(
        "leaked_closers",
        "repaired",
        "closing tags of the model's own call format behind them",
        lambda draw, given: json.dumps(given) + draw(st.sampled_from(_CLOSERS)),
    ),
    of_whole(
        "repeated_key",
        "refused",
        "a key twice, with different values",
        lambda draw, given: _twice(given, draw, same=False),
    ),
    of_whole(
        "repeated_key_same",
        "taken",
        "a key twice, with one value",
        lambda draw, given: _twice(given, draw, same=True),
    ),
    of_whole(
        "endless_number",
        "refused",
        "NaN or an infinite number",
        lambda draw, given: _with(given, draw(st.sampled_from(_ENDLESS))),
    ),
    of_whole(
        "giant_number",
        "refused",
        # Beyond 64 bits, and beyond the 4,300 digits at which int() raises ValueError.
        "a number of more digits than a computer counts with",
        lambda draw, given: _with(given, draw(st.sampled_from(["1" * 19, "9" * 4_301]))),
    ),
    of_whole("deep_nesting", "refused", "lists in lists, deeper than any plan", _nested),
    of_whole(
        "too_large",
        "refused",
        "more than a megabyte",
        lambda _, given: json.dumps(given) + " " * _LARGEST,
    ),
)


_LISTS = (Kind.ITEMS, Kind.IDS, Kind.REFS)
# One more than `InputLimits.items`.
_MANY = 1_001
# When these were read as a list of one or none, each emptied a plan and the reply was ok (law 17).
_NO_LISTS = (
    *("null", "undefined", "None", "true", "x", "same as before", "[object Object]"),
    *("{content: 'Write', status: 'pending'}", "[a, b, c]", "[1, 2", "<todos>", "- a", "1. a"),
)


def _encoded(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # Seen in opencode#10813, kilocode#10168, hermes#14185, oh-my-openagent#625, jcode#357.
    text = spot.holder(given)[spot.field.name]
    for __ in range(draw(st.integers(1, 3))):
        text = json.dumps(text)
    return spot.put(given, text), given


def _cut(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    text = json.dumps(given[spot.outer.name])
    return spot.put(given, text[: draw(st.integers(1, len(text) - 1))]), None


def _with_entry(
    name: str, expected: Expected, about: str, spoil: Callable[[dict[str, Any], list[Any]], Pair]
) -> Break:
    """Return a break of a list's first entry, which is an object."""

    def fitting(tool: Tool) -> list[Spot]:
        return [spot for spot in spots(tool) if spot.inner]

    def make(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
        spot = draw(st.sampled_from(fitting(tool)))
        given = draw(given_with(spot, tool, plan))
        entry, *rest = given[spot.outer.name]
        sent, meant = spoil(entry, rest)
        return given | {spot.outer.name: sent}, given | {spot.outer.name: meant}

    return Break(name, expected, about, make, lambda tool, _: bool(fitting(tool)))


def _entry_text(entry: dict[str, Any], rest: list[Any]) -> Pair:
    # kimi-cli#2513, livekit#5411: only the entry is encoded once more.
    return [json.dumps(entry), *rest], [entry, *rest]


def _one_entry(entry: dict[str, Any], _: list[Any]) -> Pair:
    # SonettoHere#319. Ambiguous: it may be the only entry of the list, or the only one that
    # changed.
    return entry, [entry]


def _bare_text(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    return spot.put(given, draw(st.sampled_from(_NO_LISTS) | titles())), None


def _list_of_titles(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # Without surrounding spaces: in bare titles, indentation means nesting.
    listed = draw(st.lists(titles().map(str.strip), min_size=1, max_size=3))
    name = spot.field.items[0].name
    return spot.put(given, listed), spot.put(given, [{name: text} for text in listed])


def _checklist(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    listed = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
    marks = [draw(st.sampled_from([" ", "x", "~"])) for _ in listed]
    name, status = (field.name for field in _titled(spot.field))
    lines = "\n".join(f"- [{mark}] {text}" for mark, text in zip(marks, listed, strict=True))
    meant = [{name: t, status: _MARKED[m]} for m, t in zip(marks, listed, strict=True)]
    return spot.put(given, lines), spot.put(given, meant)


_MARKED = {" ": "pending", "x": "completed", "~": "in_progress"}


def _titled(field: Field) -> tuple[Field, ...]:
    """Return the title and status fields of a list's entries, or nothing if they have no status."""
    status = next((inner for inner in field.items if inner.kind is Kind.STATUS), None)
    return (field.items[0], status) if status and not status.hidden else ()


def _only_title_needed(field: Field) -> bool:
    title, *rest = field.items
    return title.kind is Kind.LINE and not any(f.required and not f.lenient for f in rest)


def _in_itself(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # openclaw#142304: models imitate what is in their history, about 127 times in that report.
    wrapped = given[spot.outer.name]
    for __ in range(draw(st.integers(1, 2))):
        wrapped = {spot.outer.name: wrapped}
    return spot.put(given, wrapped), given


def _many(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    return spot.put(given, ["a"] * _MANY), None


def _listed(tool: Tool) -> list[Field]:
    """Return the tool's only list of entries, if the tool can be called with that list alone."""
    lists = [field for field in tool.fields if field.kind is Kind.ITEMS]
    alone = len(lists) == 1 and makes_sense(tool, {lists[0].name: [{lists[0].items[0].name: "a"}]})
    return lists if alone else []


def _bare_list(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    name = _listed(tool)[0].name
    listed = draw(arguments_of(tool, plan, name))[name]
    return listed, {name: listed}


_ENTRIES = (Kind.ITEMS,)

_OF_LISTS = (
    of_spot(
        "list_as_text", "repaired", "a list as its JSON text, up to three times", _LISTS, _encoded
    ),
    of_spot("list_cut_off", "refused", "the JSON text of a list, cut off", _LISTS, _cut),
    _with_entry("entry_as_text", "repaired", "an entry as its JSON text", _entry_text),
    _with_entry("one_entry", "guessed", "one entry instead of a list", _one_entry),
    of_spot(
        "bare_text",
        "refused",
        "a text instead of a list of entries",
        _ENTRIES,
        _bare_text,
        here=lambda field: not field.adds,
    ),
    of_spot(
        "list_of_titles",
        "taken",
        "titles instead of entries",
        _ENTRIES,
        _list_of_titles,
        here=_only_title_needed,
    ),
    of_spot(
        "checklist",
        "guessed",
        "a Markdown checklist instead of a list",
        _ENTRIES,
        _checklist,
        here=lambda field: bool(_titled(field)) and _only_title_needed(field),
    ),
    Break(
        "bare_list",
        "guessed",
        "the list alone instead of the arguments",
        _bare_list,
        lambda tool, _: bool(_listed(tool)),
    ),
    of_spot("too_many", "refused", "more entries than one call may bring", _ENTRIES, _many),
    of_spot("list_in_list", "guessed", "a list in an object of its own name", _ENTRIES, _in_itself),
)


# The call's own envelope: openclaw#142304, apex#666, ollama#11805, hermes#100979.
_WRAPPERS = ("arguments", "input", "parameters")


def _wrapped(draw: DrawFn, _: Spot, given: Given, __: Plan) -> Pair:
    key = draw(st.sampled_from(_WRAPPERS))
    inner = draw(st.sampled_from([given, json.dumps(given)]))
    named = draw(st.sampled_from([{}, {"name": "tool"}, {"type": "tool_use", "id": "call_1"}]))
    return named | {key: inner}, given


def _deep(_: DrawFn, __: Spot, given: Given, ___: Plan) -> Pair:
    # Five levels; intake unwraps three.
    return {"input": {"input": {"input": {"input": {"input": given}}}}}, None


def _siblings(draw: DrawFn, _: Spot, given: Given, __: Plan) -> Pair:
    # Whichever half were used, the other would be silently lost.
    return {draw(st.sampled_from(_WRAPPERS)): given, "because": "I think so"}, None


def _extra(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # Seen in hermes#100979. Ignored, since the required arguments are present.
    extra = draw(st.sampled_from(["I think so", 1, True, ["x"]]))
    more = json.loads(json.dumps(given))
    spot.holder(more)["because"] = extra
    return more, given


def _styles(field: Field) -> list[str]:
    # Claude Code writes addBlockedBy, AgentScope add_blocked_by; models mix the spellings they have
    # seen.
    words = re.sub("(?<=[a-z])(?=[A-Z])", "_", field.name).split("_")
    styles = ["_".join(words), "-".join(words), " ".join(words), "_".join(words).upper()]
    return [style for style in dict.fromkeys(styles) if style != field.name]


def _aliases(spot: Spot, tool_fields: tuple[Field, ...]) -> list[str]:
    beside = spot.outer.items if spot.inner else tool_fields
    # An alias of one field may be the name of another field of this tool.
    return [word for word in spot.field.aliases if meant_by(word, beside)[0] is spot.field]


def _renamed(spot: Spot, given: Given, key: str) -> Given:
    changed: Given = json.loads(json.dumps(given))
    holder = spot.holder(changed)
    holder[key] = holder.pop(spot.field.name)
    return changed


def _styled(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    return _renamed(spot, given, draw(st.sampled_from(_styles(spot.field)))), given


def _both(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    changed: Given = json.loads(json.dumps(given))
    # Which one is meant cannot be known; json.loads would use the last.
    spot.holder(changed)[draw(st.sampled_from(_styles(spot.field)))] = "something else"
    return changed, None


def _synonyms(tool: Tool) -> list[tuple[Spot, str]]:
    return [(spot, word) for spot in spots(tool) for word in _aliases(spot, tool.fields)]


def _synonym(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    spot, word = draw(st.sampled_from(_synonyms(tool)))
    given = draw(given_with(spot, tool, plan))
    return _renamed(spot, given, word), given


_ANY: tuple[Kind, ...] = ()

_OF_KEYS = (
    of_spot("wrapped", "guessed", "the arguments in a wrapper", _ANY, _wrapped),
    of_spot("wrapped_too_deep", "refused", "a wrapper in a wrapper, over and over", _ANY, _deep),
    of_spot("wrapper_siblings", "refused", "more arguments beside a wrapper", _ANY, _siblings),
    of_spot("extra_key", "repaired", "an argument that is none", _ANY, _extra),
    of_spot("key_style", "taken", "a key in another spelling", _ANY, _styled),
    Break(
        "synonym",
        "taken",
        "a key as another system calls it",
        _synonym,
        lambda tool, _: bool(_synonyms(tool)),
    ),
    of_spot("both_spellings", "refused", "a key in two spellings that contradict", _ANY, _both),
)


_TEXTS = (Kind.LINE, Kind.TEXT)
_STATUSES = (Kind.STATUS, Kind.STATUS_OR_DELETED)
# Seen in comfyui-mcp#1018, #1022, kimi-code#1016, agentuity#1215, reflectt#750.
_WORDS = {
    "pending": "todo open not_started Pending",
    "in_progress": "in-progress IN_PROGRESS doing active started InProgress",
    "completed": "Done finished COMPLETE \u2713 [x]",
    "cancelled": "canceled skipped",
}
_SPELLINGS = [(word, status) for status, words in _WORDS.items() for word in words.split()]
_RANKS = [("urgent", "high"), ("P1", "high"), ("normal", "medium"), ("Low", "low")]
# By cattrs' defaults None is "None", "false" is True, 2.9 is 2. Here nothing is coerced (law 10).
_WRONG: dict[Kind, tuple[Any, ...]] = {
    Kind.LINE: (True, ["a"], {}),
    Kind.TEXT: (True, ["a"], {}),
    Kind.STATUS: (1, True, []),
    Kind.STATUS_OR_DELETED: (1, True, []),
    Kind.PRIORITY: (1, True, []),
    Kind.MINUTES: (True, [], "soon", -1),
    Kind.DATE: (True, [], "soon", 20261231),
    Kind.FLAG: ("maybe", 2, []),
    Kind.METADATA: ("x", 3, [1]),
    Kind.ITEMS: (5, True, [5]),
}
_CLEARABLE = (*_STATUSES, Kind.PRIORITY, Kind.METADATA, Kind.MINUTES, Kind.DATE, Kind.FLAG)


def _all(*pairs: Pair) -> SearchStrategy[Pair]:
    return st.sampled_from(pairs)


def _as_is(*values: Any) -> SearchStrategy[Pair]:
    return st.sampled_from([(value, value) for value in values])


def _wrong(field: Field, _: Plan) -> SearchStrategy[Pair]:
    return st.sampled_from(_WRONG[field.kind]).map(lambda value: (value, None))


def _refused(*values: Any) -> SearchStrategy[Pair]:
    return st.sampled_from([(value, None) for value in values])


def _needed(field: Field) -> bool:
    return field.required and not field.lenient


def _two_started(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    title = spot.outer.items[0].name
    entries = [{title: text, spot.field.name: "in_progress"} for text in "ab"]
    both = given | {spot.outer.name: entries}
    return both, both


def _emptied(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    return spot.put(given, []), spot.put(given, [])


_OF_VALUES: tuple[Break, ...] = (
    of_values("status_word", "repaired", "a status in other words", _STATUSES, _all(*_SPELLINGS)),
    of_values(
        "unknown_status",
        "refused",
        "a status that there is not",
        _STATUSES,
        # opencode#1354, orch#3210, #3255; eliza#28209: pending is not a fallback.
        _refused("changes_made", "verified", "\u2717"),
    ),
    of_values(
        # Seen in pydantic-ai-todo#29, #34: an entry without a status is new, so it is pending.
        "missing_status",
        "taken",
        "an entry without its status",
        (Kind.STATUS,),
        _as_is(OMITTED),
        here=lambda field: field.lenient,
    ),
    of_values(
        "priority_word", "repaired", "a priority in other words", (Kind.PRIORITY,), _all(*_RANKS)
    ),
    of_values(
        "unknown_priority",
        "refused",
        "a priority that there is not",
        (Kind.PRIORITY,),
        _refused("whatever"),
    ),
    # smolagents#1538, inspect_ai#1477, inspector#328; OpenAI's strict mode requires it.
    of_values("null", "taken", "null for what may be left out", _CLEARABLE, _all((None, OMITTED))),
    of_values(
        "null_needed", "refused", "null for what is needed", (), _refused(None), here=_needed
    ),
    of_values(
        "word_none",
        "repaired",
        'the word "None" for a status or a priority',
        (*_STATUSES, Kind.PRIORITY),
        _all(*((word, OMITTED) for word in ("None", "null", "none"))),
    ),
    # A title may be this word; a status or a priority cannot.
    of_values("title_none", "taken", 'the word "None" as a text', _TEXTS, _as_is("None", "null")),
    of_values(
        "empty_title",
        "refused",
        "an empty text",
        (Kind.LINE,),
        _refused("", "   ", "\n"),
        here=_needed,
    ),
    of_values("number_as_text", "repaired", "a number for a text", _TEXTS, _all((404, "404"))),
    of_values("wrong_type", "refused", "a value of another type", tuple(_WRONG), _wrong),
    of_values("minutes_text", "repaired", "minutes as a text", (Kind.MINUTES,), _all(("30", 30))),
    of_values(
        "flag_word",
        "repaired",
        "a flag as a word",
        (Kind.FLAG,),
        _all(("true", True), ("no", False), (1, True)),
    ),
    of_values(
        # agent-zero#1773, hermes#44376: json.dumps can write it, UTF-8 cannot.
        "lone_surrogate",
        "repaired",
        "half a character",
        _TEXTS,
        _all(("a\ud800", "a\ufffd"), ("a\ud83d\ude00", "a\U0001f600")),
    ),
    # langgraph#1878; PostgreSQL accepts no NUL in a text.
    of_values("nul", "repaired", "a NUL in a text", _TEXTS, _all(("a\x00b", "ab"))),
    # Of the control characters only NUL is dropped; the others are kept, and renderers escape them
    # (law 14).
    of_values(
        "control", "taken", "another control character in a text", _TEXTS, _as_is("a\x1b[31mb\x85")
    ),
    of_values(
        # mcp-execution#430, Decepticon#480, bat#3862: the model reads what a person does not see.
        "hidden_characters",
        "repaired",
        "bidi overrides and tag characters",
        _TEXTS,
        _all(("a\u202eb", "ab"), ("a\u2066b\u2069", "ab"), ("a\U000e0041b", "ab")),
    ),
    of_values(
        "joiner",
        "taken",
        "joiners that scripts and emoji need",
        _TEXTS,
        _as_is("a\u200db", "a\u200cb"),
    ),
    of_values(
        "leaked_closers_in_text",
        "repaired",
        "closing tags of the model's own call format at a text's end",
        _TEXTS,
        _all(("a</parameter>\n</invoke> ", "a"), ("a</payload>", "a")),
    ),
    of_values(
        # claude-code#83088: the text swallowed a field, and removing the tag would lose it.
        "swallowed_field",
        "refused",
        "an argument that stands inside another one's text",
        _TEXTS,
        _refused('a<parameter name="status">done'),
    ),
    of_spot(
        # llxprt#1341. A rule decides: silently resetting one of them would say what nobody meant.
        "two_started",
        "ruled",
        "two entries in progress",
        (Kind.STATUS,),
        _two_started,
        here=lambda field: field.lenient,
    ),
    # OpenHands wipes the plan; here the rule `empty_write` asks for `clear`.
    of_spot("empty_list", "ruled", "a list of nothing", (Kind.ITEMS,), _emptied, here=_needed),
)


_ID = (Kind.ID,)
_ID_LISTS = (Kind.IDS, Kind.REFS)
_WAITS = frozenset({"add_blocked_by", "after"})
# Higher than any id that the call itself may create.
_FAR = 100


def _shown(field: Field, number: int) -> Any:
    return number if field.numeric else str(number)


# sagents#116: ids kept as texts are sorted as texts, 10 before 2.
def _spelled(*formats: str) -> Any:
    def pairs(field: Field, _: Plan) -> SearchStrategy[Pair]:
        return st.sampled_from(formats).map(lambda form: (form.format(3), _shown(field, 3)))

    return pairs


def _ids_listed(*given: Any) -> Any:
    def pairs(field: Field, _: Plan) -> SearchStrategy[Pair]:
        return st.sampled_from(given).map(
            lambda pair: (pair[0], [_shown(field, n) for n in pair[1]])
        )

    return pairs


def _unknown(field: Field, plan: Plan) -> SearchStrategy[Pair]:
    missing = _shown(field, plan.next_id + _FAR)
    return st.just((missing if field.kind is Kind.ID else [missing], None))


def _owned(tool: Tool) -> list[tuple[tuple[Field, ...], Field, Field]]:
    """
    Return where a tool takes a task id together with its blockers: the path, and the two fields.
    """
    ways = (((), tool.fields), *(((field,), field.items) for field in tool.fields))
    return [
        (way, task, ends)
        for way, fields in ways
        for task in fields
        for ends in fields
        if task.kind is Kind.ID and ends.target in _WAITS
    ]


def _waiting(tool: Tool, task_id: str, blocker: str) -> dict[str, Any]:
    way, task, ends = _owned(tool)[0]
    inner = {task.name: _shown(task, int(task_id)), ends.name: [_shown(ends, int(blocker))]}
    return {way[0].name: [inner]} if way else inner


def _itself(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    task_id = draw(st.sampled_from([task.id for task in plan] or ["1"]))
    return _waiting(tool, task_id, task_id), None


def _edges(plan: Plan) -> list[tuple[str, str]]:
    return [(task.id, end) for task in plan for end in task.blocks]


def _cycle(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    return _waiting(tool, *draw(st.sampled_from(_edges(plan)))), None


_OF_IDS: tuple[Break, ...] = (
    of_values(
        "id_number",
        "taken",
        "an id as a whole number, or as its digits",
        _ID,
        lambda field, _: _all(*((given, _shown(field, 3)) for given in (3, "3", 3.0))),
    ),
    of_values(
        "id_spelling",
        "repaired",
        "an id with a sign or a word before it",
        _ID,
        _spelled("#{}", "task-{}", "Task #{}", " {} ", "0{}", "{}.0"),
    ),
    of_values(
        "no_id",
        "refused",
        "what is no id",
        _ID,
        # True is an int in Python, and "\uff13" and "\u00b2" are digits for str.isdigit.
        st.sampled_from([True, 3.5, "\uff13", "\u00b2", "x", 0, -3, {}]).map(lambda v: (v, None)),
    ),
    of_values(
        "ids_joined",
        "repaired",
        "several ids in one text",
        _ID_LISTS,
        _ids_listed(("1,2", (1, 2)), ("1 and 2", (1, 2)), ("1 2", (1, 2)), ("3", (3,))),
    ),
    of_values(
        "ids_nested",
        "repaired",
        "ids in lists or objects of their own",
        _ID_LISTS,
        _ids_listed(([[1]], (1,)), ([{"id": 1}, 2], (1, 2)), ({"id": 1}, (1,)), (1, (1,))),
    ),
    of_values(
        "no_ids",
        "refused",
        "a list of what are no ids",
        _ID_LISTS,
        st.sampled_from([[[1, 2]], [{"x": 1}], "1;x", [None], [True]]).map(lambda v: (v, None)),
    ),
    of_values("id_twice", "repaired", "an id twice", _ID_LISTS, _ids_listed(([1, 1], (1,)))),
    # AgentScope silently drops it; Gemini's tracker keeps it, and the task can never be closed.
    of_values(
        "unknown_id", "refused", "an id that no task has", (*_ID, *_ID_LISTS), _unknown, sparse=True
    ),
    Break(
        # AgentScope and pydantic-ai-todo accept this and the next.
        "self_edge",
        "refused",
        "a task that is to wait for itself",
        _itself,
        lambda tool, _: bool(_owned(tool)),
    ),
    Break(
        # Eino checks each edge of a call against the plan before the call, so two of them can make
        # a cycle.
        "cycle",
        "refused",
        "a blocker that is to wait for what it blocks",
        _cycle,
        lambda tool, plan: bool(_owned(tool)) and bool(_edges(plan)),
    ),
)


_ALL = (*_OF_TEXTS, *_OF_LISTS, *_OF_KEYS, *_OF_VALUES, *_OF_IDS)
BREAKS: dict[str, Break] = {each.name: each for each in _ALL}
"""All breaks, by name."""


@attrs.frozen
class BrokenCall:
    """
    A call as sent, the way in which it is broken, and the well-formed arguments that it means.

    `meant` is `None` if the call must be refused.
    """

    call: Call
    broken: Break
    meant: dict[str, Any] | None


def broken_arguments(
    toolset: ToolSet, *names: str, plan: Plan | None = None, raw: bool = True
) -> SearchStrategy[BrokenCall]:
    """
    Draw calls that are broken in one of the named ways, or in any way if none is named.

    `raw=False` leaves out breaks that only a text can have, for frameworks that parse arguments
    themselves.

    Raises:
        PlanError: there is no such break, or none fits a tool of the set and the plan.
    """
    unknown = sorted(set(names) - set(BREAKS))
    if unknown:
        msg = f"no break is called {', '.join(unknown)}; there are {', '.join(BREAKS)}"
        raise PlanError(msg, unknown=unknown)
    stand = plan or Plan()
    fitting = [pair for pair in _pairs(toolset, stand, names) if raw or not pair[0].raw]
    if not fitting:
        msg = f"{toolset.name} has no tool that can be called so; name other breaks, or give a plan"
        raise PlanError(msg, names=names)
    return st.sampled_from(fitting).flatmap(lambda pair: _broken(*pair, toolset, stand))


def _pairs(toolset: ToolSet, plan: Plan, names: tuple[str, ...]) -> list[tuple[Break, Tool]]:
    chosen = [BREAKS[name] for name in names or BREAKS]
    return [(each, tool) for each in chosen for tool in toolset.tools if each.fits(tool, plan)]


@st.composite
def _broken(draw: DrawFn, broken: Break, tool: Tool, toolset: ToolSet, plan: Plan) -> BrokenCall:
    sent, meant = broken.make(draw, tool, plan)
    call = Call(toolset.shown(tool.key), sent)
    return BrokenCall(call, broken, None if broken.expected == "refused" else meant)
