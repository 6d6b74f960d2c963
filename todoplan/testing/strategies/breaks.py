"""
A catalogue of the ways in which models break arguments, each with its expected result.

A break starts from well-formed arguments and changes the whole call, or one spot: a field of the
tool, or a field of a list's entries. The expected result is one of:

- `taken`: the call is read like the well-formed arguments.
- `repaired`: the call is read like the well-formed arguments, and the reply has a note.
- `guessed`: the same as `repaired`, but intake had to guess the shape of the arguments. So the call
  is refused if it would remove a task that it does not name (law 17 of the guide `architecture`).
- `refused`: the call is refused and changes nothing.
- `ruled`: the arguments are valid, and a rule of the policy accepts or refuses the call.

Each break is a row of `_values`, which replaces one value, or a function with the name of the break
that changes the text (`_text`), one spot (`_spot`) or the whole call (`_tool`). The issues cited
next to a break show where the break was seen.
"""

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
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
"""Marks an argument that is left out."""

Expected = Literal["taken", "repaired", "guessed", "refused", "ruled"]
Given = dict[str, Any]
Pair = tuple[Any, Any]
"""What is sent, and what it means: arguments or values."""

_Make = Callable[[DrawFn, Tool, Plan], Pair]
_Fits = Callable[[Tool, Plan], bool]
_Here = Callable[[Field], bool]


@attrs.frozen(eq=False)
class Spot:
    """A top-level field, or the field `inner` of the first entry of the list `outer`."""

    outer: Field
    inner: Field | None = None

    @property
    def field(self) -> Field:
        """The field at the spot."""
        return self.inner or self.outer

    def put(self, given: Given, value: Any, key: str = "") -> Given:
        """
        Return a copy of the arguments with a value at the spot, or under `key` beside the spot.
        """
        # A copy, because the drawn arguments are needed as the meaning of the broken ones.
        changed = copy.deepcopy(given)
        holder, name = self.holder(changed), key or self.field.name
        if value is OMITTED:
            holder.pop(name, None)
        else:
            holder[name] = value
        return changed

    def renamed(self, given: Given, key: str) -> Given:
        """Return a copy of the arguments with the spot's value under another key."""
        value = self.holder(given)[self.field.name]
        return self.put(self.put(given, OMITTED), value, key)

    def holder(self, given: Given) -> Given:
        """Return the object that has the spot as a key."""
        return given if self.inner is None else given[self.outer.name][0]

    def arguments(self, tool: Tool, plan: Plan, *, sparse: bool = False) -> SearchStrategy[Given]:
        """Draw well-formed arguments that have a value at the spot."""
        within = self.inner.name if self.inner else ""
        return arguments_of(tool, plan, self.outer.name, within, sparse=sparse)


def _spots(tool: Tool, *kinds: Kind) -> list[Spot]:
    """Return the published spots of these kinds, or of all kinds if none is given."""
    shown = [field for field in tool.fields if not field.hidden]
    spots = (Spot(outer, inner) for outer in shown for inner in (None, *outer.items))
    published = [spot for spot in spots if not spot.field.hidden]
    return [spot for spot in published if not kinds or spot.field.kind in kinds]


@attrs.frozen(eq=False)
class Break:
    """
    One way to break arguments.

    `expected` is the expected result. If `raw` is true, the arguments are sent as a text. A
    framework that parses arguments itself never passes such a text on. `fits` returns whether a
    call of a tool can be broken in this way.
    """

    name: str
    expected: Expected
    about: str
    make: _Make = attrs.field(repr=False)
    fits: _Fits = attrs.field(repr=False)
    raw: bool = False


BREAKS: dict[str, Break] = {}
"""All breaks, by name."""


# -------- ways to declare a break --------


def _tool(
    expected: Expected, about: str, fits: _Fits, *, raw: bool = False
) -> Callable[[_Make], _Make]:
    """Declare a break by a function that makes the sent and the meant arguments of a tool."""

    def declare(make: _Make) -> _Make:
        name = make.__name__.removeprefix("_")
        BREAKS[name] = Break(name, expected, about, make, fits, raw)
        return make

    return declare


_SpoilSpot = Callable[[DrawFn, Spot, Given, Plan], Pair]


def _spot(  # noqa: PLR0913 - all but the first two are optional
    expected: Expected,
    about: str,
    *kinds: Kind,
    here: _Here = lambda _: True,
    sparse: bool = False,
    raw: bool = False,
    entries: bool = False,
) -> Callable[[_SpoilSpot], _Make]:
    """Declare a break by a function that changes a field of these kinds in drawn arguments."""

    def fitting(tool: Tool) -> list[Spot]:
        return [
            spot
            for spot in _spots(tool, *kinds)
            if here(spot.field) and (spot.inner or not entries)
        ]

    def declare(spoil: _SpoilSpot) -> _Make:
        def make(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
            spot = draw(st.sampled_from(fitting(tool)))
            return spoil(draw, spot, draw(spot.arguments(tool, plan, sparse=sparse)), plan)

        make.__name__ = spoil.__name__
        return _tool(expected, about, lambda tool, _: bool(fitting(tool)), raw=raw)(make)

    return declare


_SpoilText = Callable[[DrawFn, Given], str]


def _text(expected: Expected, about: str) -> Callable[[_SpoilText], _Make]:
    """Declare a break of the call's JSON text. The call has at least one argument."""

    def declare(spoil: _SpoilText) -> _Make:
        def make(draw: DrawFn, _: Spot, given: Given, __: Plan) -> Pair:
            return spoil(draw, given), given

        make.__name__ = spoil.__name__
        return _spot(expected, about, raw=True)(make)

    return declare


def _values(  # noqa: PLR0913 - the first five are needed for every break
    name: str,
    expected: Expected,
    about: str,
    kinds: tuple[Kind, ...],
    pairs: Sequence[Pair] | Callable[[Field, Plan], Sequence[Pair]],
    *,
    here: _Here = lambda _: True,
    sparse: bool = False,
) -> None:
    """
    Declare a break: one value of a valid call is replaced by a wrong or unusual one.

    `pairs` has the values to send, each with the value that the call means (`None` if the call is
    refused). `kinds` are the kinds of fields to which the break applies, if `here` accepts the
    field. `about` describes the break in reports.
    """

    def spoil(draw: DrawFn, spot: Spot, given: Given, plan: Plan) -> Pair:
        bad, good = draw(st.sampled_from(pairs(spot.field, plan) if callable(pairs) else pairs))
        return spot.put(given, bad), spot.put(given, good)

    spoil.__name__ = name
    _spot(expected, about, *kinds, here=here, sparse=sparse)(spoil)


def _refused(*values: Any) -> list[Pair]:
    return [(value, None) for value in values]


def _as_is(*values: Any) -> list[Pair]:
    return [(value, value) for value in values]


def _needed(field: Field) -> bool:
    return field.required and not field.lenient


def _lenient(field: Field) -> bool:
    return field.lenient


# -------- the call's JSON text --------


# Seen in claude-code#83088, #48679, #44826, #61375.
_CLOSERS = ("</invoke>", "</parameter>\n</invoke>", "</invoke></function_calls>\n")
_LARGEST = 1_048_576  # `InputLimits.chars`


def _dumped(value: Any, times: int) -> str:
    for _ in range(times):
        value = json.dumps(value)
    return str(value)


def _with(given: Given, value: str) -> str:
    """Return the JSON text with one more key, whose value is inserted unchanged."""
    return json.dumps(given | {"because": 0})[:-2] + value + "}"


def _twice(given: Given, draw: DrawFn, *, same: bool) -> str:
    key = draw(st.sampled_from(sorted(given)))
    # json.loads silently keeps the last value.
    again = given[key] if same else "something else"
    return f"{json.dumps(given)[:-1]}, {json.dumps(key)}: {json.dumps(again)}}}"


# Seen in kimi-cli#2513, #2572, livekit#5411, quarkus-lc4j#2569, OpenManus#989.
@_text("repaired", "the JSON text of a JSON text, up to three times")
def _encoded(draw: DrawFn, given: Given) -> str:
    return _dumped(given, draw(st.integers(2, 4)))


@_text("refused", "the JSON text of a JSON text, over and over")
def _encoded_too_often(_: DrawFn, given: Given) -> str:
    return _dumped(given, 9)


# learn-claude-code#342, mlx-lm#1004, vllm#43238; atropos#478 replaces the quotes.
@_text("repaired", "a Python literal")
def _python_repr(_: DrawFn, given: Given) -> str:
    return repr(given)


@_text("repaired", "a comma after the last argument")
def _trailing_comma(_: DrawFn, given: Given) -> str:
    return json.dumps(given)[:-1] + ",}"


@_text("guessed", "a comment beside the arguments")
def _comment(draw: DrawFn, given: Given) -> str:
    text = json.dumps(given)
    # A dropped comment may have said that the other tasks stay (law 17).
    return draw(st.sampled_from([f"{text} // all of it", f"/* the call */ {text}"]))


@_text("repaired", "a Markdown code fence around the arguments")
def _code_fence(draw: DrawFn, given: Given) -> str:
    return f"```{draw(st.sampled_from(['json', '']))}\n{json.dumps(given)}\n```"


@_text("taken", "a byte order mark before the arguments")
def _byte_order_mark(_: DrawFn, given: Given) -> str:
    return "\ufeff" + json.dumps(given)


@_spot("taken", "an unescaped line end in a JSON string", Kind.LINE, Kind.TEXT, raw=True)
def _raw_newline(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    text = json.dumps(spot.put(given, "first line")).replace("first line", "first\nline")
    return text, spot.put(given, "first\nline")


# lobehub#13817, jac#6766, ruby_llm#829. The library json_repair would close the text, and read
# `"status":"pen` as "pen".
@_text("refused", "cut off, as by the output limit")
def _truncated(draw: DrawFn, given: Given) -> str:
    text = json.dumps(given)

    def ends_open(end: int) -> bool:
        """Return whether more is missing than the last brace (a missing last brace is repaired)."""
        try:
            json.loads(text[:end] + "}")
        except ValueError:
            return True
        return text[end - 1] not in '"]}'

    return text[: draw(st.integers(1, len(text) - 1).filter(ends_open))]


# agno#4604, hermes#112120. In humux#77, truncated arguments arrive as `{}`.
@_tool(
    "refused",
    "no arguments, where some are needed",
    lambda tool, _: not makes_sense(tool, {}),
    raw=True,
)
def _nothing(draw: DrawFn, _: Tool, __: Plan) -> Pair:
    return draw(st.sampled_from(["", "  ", "{}", "null"])), None


@_text("repaired", "closing tags of the model's own call format after the arguments")
def _leaked_closers(draw: DrawFn, given: Given) -> str:
    return json.dumps(given) + draw(st.sampled_from(_CLOSERS))


@_text("refused", "a key twice, with different values")
def _repeated_key(draw: DrawFn, given: Given) -> str:
    return _twice(given, draw, same=False)


@_text("taken", "a key twice, with one value")
def _repeated_key_same(draw: DrawFn, given: Given) -> str:
    return _twice(given, draw, same=True)


@_text("refused", "NaN or an infinite number")
def _endless_number(draw: DrawFn, given: Given) -> str:
    # json.loads accepts all of these, and reads 1e999 as infinity.
    endless = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"]
    return _with(given, draw(st.sampled_from(endless)))


@_text("refused", "a number that does not fit in 64 bits")
def _giant_number(draw: DrawFn, given: Given) -> str:
    # Beyond 64 bits, and beyond the 4,300 digits at which int() raises ValueError.
    return _with(given, draw(st.sampled_from(["1" * 19, "9" * 4_301])))


@_text("refused", "lists that are nested too deeply")
def _deep_nesting(draw: DrawFn, given: Given) -> str:
    # Above the limit of intake (32), and above the limit of Python 3.11, where json.loads raises
    # RecursionError.
    depth = draw(st.sampled_from([40, 2_000]))
    return _with(given, "[" * depth + "]" * depth)


@_text("refused", "more than a megabyte")
def _too_large(_: DrawFn, given: Given) -> str:
    return json.dumps(given) + " " * _LARGEST


# -------- lists --------


# One entry more than `InputLimits.items` allows.
_MANY = 1_001
# When intake read these as a list with one entry or none, each emptied a plan without an error
# (law 17).
_NO_LISTS = (
    *("null", "undefined", "None", "true", "x", "same as before", "[object Object]"),
    *("{content: 'Write', status: 'pending'}", "[a, b, c]", "[1, 2", "<todos>", "- a", "1. a"),
)
_LISTS = (Kind.ITEMS, Kind.IDS, Kind.REFS)
_MARKED = {" ": "pending", "x": "completed", "~": "in_progress"}


# Seen in opencode#10813, kilocode#10168, hermes#14185, oh-my-openagent#625, jcode#357.
@_spot("repaired", "a list as its JSON text, up to three times", *_LISTS)
def _list_as_text(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    return spot.put(
        given, _dumped(spot.holder(given)[spot.field.name], draw(st.integers(1, 3)))
    ), given


@_spot("refused", "the JSON text of a list, cut off", *_LISTS)
def _list_cut_off(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    text = json.dumps(given[spot.outer.name])
    return spot.put(given, text[: draw(st.integers(1, len(text) - 1))]), None


# kimi-cli#2513, livekit#5411: only the entry is encoded once more.
@_spot("repaired", "an entry as its JSON text", entries=True)
def _entry_as_text(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    first, *rest = given[spot.outer.name]
    return given | {spot.outer.name: [json.dumps(first), *rest]}, given


# SonettoHere#319. The entry may be the whole list, or the only one that changed.
@_spot("guessed", "one entry instead of a list", entries=True)
def _one_entry(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    first, *_rest = given[spot.outer.name]
    return given | {spot.outer.name: first}, given | {spot.outer.name: [first]}


@_spot("refused", "a text instead of a list of entries", Kind.ITEMS, here=lambda f: not f.adds)
def _bare_text(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    return spot.put(given, draw(st.sampled_from(_NO_LISTS) | titles())), None


def _titled(field: Field) -> bool:
    """Return whether an entry needs only its title."""
    title, *rest = field.items
    return title.kind is Kind.LINE and not any(map(_needed, rest))


def _status(field: Field) -> Field | None:
    """Return the status field of a list's entries."""
    status = next((inner for inner in field.items if inner.kind is Kind.STATUS), None)
    return None if status is None or status.hidden else status


@_spot("taken", "titles instead of entries", Kind.ITEMS, here=_titled)
def _list_of_titles(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # Without surrounding spaces: in bare titles, indentation means nesting.
    listed = draw(st.lists(titles().map(str.strip), min_size=1, max_size=3))
    name = spot.field.items[0].name
    return spot.put(given, listed), spot.put(given, [{name: text} for text in listed])


@_spot(
    "guessed",
    "a Markdown checklist instead of a list",
    Kind.ITEMS,
    here=lambda field: bool(_status(field)) and _titled(field),
)
def _checklist(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    listed = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
    marked = [(draw(st.sampled_from([*_MARKED])), text) for text in listed]
    title, status = spot.field.items[0].name, getattr(_status(spot.field), "name", "")
    lines = "\n".join(f"- [{mark}] {text}" for mark, text in marked)
    meant = [{title: text, status: _MARKED[mark]} for mark, text in marked]
    return spot.put(given, lines), spot.put(given, meant)


def _listed(tool: Tool) -> list[Field]:
    """Return the field of the tool's only list of entries, if a call needs nothing else."""
    lists = [field for field in tool.fields if field.kind is Kind.ITEMS]
    alone = len(lists) == 1 and makes_sense(tool, {lists[0].name: [{lists[0].items[0].name: "a"}]})
    return lists if alone else []


@_tool("guessed", "the list alone instead of the arguments", lambda tool, _: bool(_listed(tool)))
def _bare_list(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    name = _listed(tool)[0].name
    listed = draw(arguments_of(tool, plan, name))[name]
    return listed, {name: listed}


_FULL = _refused(["a"] * _MANY)
_values("too_many", "refused", "more entries than one call may have", (Kind.ITEMS,), _FULL)


# openclaw#142304: models imitate what is in their history, about 127 times in that report.
@_spot("guessed", "a list in an object of its own name", Kind.ITEMS)
def _list_in_list(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    wrapped = given[spot.outer.name]
    for __ in range(draw(st.integers(1, 2))):
        wrapped = {spot.outer.name: wrapped}
    return spot.put(given, wrapped), given


# -------- keys --------


# The call's own envelope: openclaw#142304, apex#666, ollama#11805, hermes#100979.
_WRAPPERS = ("arguments", "input", "parameters")


@_spot("guessed", "the arguments in a wrapper")
def _wrapped(draw: DrawFn, _: Spot, given: Given, __: Plan) -> Pair:
    key = draw(st.sampled_from(_WRAPPERS))
    inner = draw(st.sampled_from([given, json.dumps(given)]))
    named = draw(st.sampled_from([{}, {"name": "tool"}, {"type": "tool_use", "id": "call_1"}]))
    return named | {key: inner}, given


@_spot("refused", "a wrapper in a wrapper, over and over")
def _wrapped_too_deep(_: DrawFn, __: Spot, given: Given, ___: Plan) -> Pair:
    # Five levels; intake unwraps three.
    return {"input": {"input": {"input": {"input": {"input": given}}}}}, None


@_spot("refused", "more arguments beside a wrapper")
def _wrapper_siblings(draw: DrawFn, _: Spot, given: Given, __: Plan) -> Pair:
    # If one half were used, the other would be silently lost.
    return {draw(st.sampled_from(_WRAPPERS)): given, "because": "I think so"}, None


# Seen in hermes#100979. The argument is ignored, since the required arguments are present.
@_spot("repaired", "an argument that the tool does not have")
def _extra_key(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    extra = draw(st.sampled_from(["I think so", 1, True, ["x"]]))
    return spot.put(given, extra, "because"), given


def _styles(field: Field) -> list[str]:
    # Claude Code writes addBlockedBy, AgentScope add_blocked_by; models mix the spellings they have
    # seen.
    words = re.sub("(?<=[a-z])(?=[A-Z])", "_", field.name).split("_")
    styles = ["_".join(words), "-".join(words), " ".join(words), "_".join(words).upper()]
    return [style for style in dict.fromkeys(styles) if style != field.name]


@_spot("taken", "a key in another spelling")
def _key_style(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    return spot.renamed(given, draw(st.sampled_from(_styles(spot.field)))), given


def _synonyms(tool: Tool) -> Iterator[tuple[Spot, str]]:
    for spot in _spots(tool):
        beside = spot.outer.items if spot.inner else tool.fields
        # An alias of one field may be the name of another field of this tool.
        fitting = (word for word in spot.field.aliases if meant_by(word, beside)[0] is spot.field)
        yield from ((spot, word) for word in fitting)


@_tool("taken", "a key as another system calls it", lambda tool, _: any(_synonyms(tool)))
def _synonym(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    spot, word = draw(st.sampled_from([*_synonyms(tool)]))
    given = draw(spot.arguments(tool, plan))
    return spot.renamed(given, word), given


@_spot("refused", "a key in two spellings that contradict")
def _both_spellings(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # Which one is meant cannot be known; json.loads would use the last.
    return spot.put(given, "something else", draw(st.sampled_from(_styles(spot.field)))), None


# -------- values --------


_TEXTS = (Kind.LINE, Kind.TEXT)
_STATUSES = (Kind.STATUS, Kind.STATUS_OR_DELETED)
_RANK = (Kind.PRIORITY,)
# Seen in comfyui-mcp#1018, #1022, kimi-code#1016, agentuity#1215, reflectt#750.
_WORDS = {
    "pending": "todo open not_started Pending",
    "in_progress": "in-progress IN_PROGRESS doing active started InProgress",
    "completed": "Done finished COMPLETE \u2713 [x]",
    "cancelled": "canceled skipped",
}
_SPELLINGS = [(word, status) for status, words in _WORDS.items() for word in words.split()]
_RANKS = [("urgent", "high"), ("P1", "high"), ("normal", "medium"), ("Low", "low")]
# cattrs reads None as "None", "false" as True, 2.9 as 2. Intake does not coerce (law 10).
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
_CHOICES = (*_STATUSES, *_RANK)
_CLEARABLE = (*_CHOICES, Kind.METADATA, Kind.MINUTES, Kind.DATE, Kind.FLAG)


def _wrong(field: Field, _: Plan) -> list[Pair]:
    return _refused(*_WRONG[field.kind])


_values("status_word", "repaired", "a status in other words", _STATUSES, _SPELLINGS)
# opencode#1354, orch#3210, #3255; eliza#28209: pending is not a fallback.
_NO_STATUS = _refused("changes_made", "verified", "\u2717")
_values("unknown_status", "refused", "an unknown status", _STATUSES, _NO_STATUS)
# Seen in pydantic-ai-todo#29, #34: an entry without a status is new, so it is pending.
_LEFT_OUT = _as_is(OMITTED)
_values(
    "missing_status", "taken", "an entry without its status", _STATUSES, _LEFT_OUT, here=_lenient
)
_values("priority_word", "repaired", "a priority in other words", _RANK, _RANKS)
_values("unknown_priority", "refused", "an unknown priority", _RANK, _refused("whatever"))
# smolagents#1538, inspect_ai#1477, inspector#328; OpenAI's strict mode requires it.
_values("null", "taken", "null for an optional argument", _CLEARABLE, [(None, OMITTED)])
_values("null_needed", "refused", "null for a needed argument", (), _refused(None), here=_needed)
_NONE = [(word, OMITTED) for word in ("None", "null", "none")]
_values("word_none", "repaired", 'the word "None" for a status or a priority', _CHOICES, _NONE)
# A title may be this word; a status or a priority cannot.
_values("title_none", "taken", 'the word "None" as a text', _TEXTS, _as_is("None", "null"))
_BLANK = _refused("", "   ", "\n")
_values("empty_title", "refused", "an empty text", (Kind.LINE,), _BLANK, here=_needed)
_values("number_as_text", "repaired", "a number for a text", _TEXTS, [(404, "404")])
_values("wrong_type", "refused", "a value of another type", tuple(_WRONG), _wrong)
_values("minutes_text", "repaired", "minutes as a text", (Kind.MINUTES,), [("30", 30)])
_FLAGS = [("true", True), ("no", False), (1, True)]
_values("flag_word", "repaired", "a flag as a word", (Kind.FLAG,), _FLAGS)
# agent-zero#1773, hermes#44376: json.dumps can write it, UTF-8 cannot.
_HALVES = [("a\ud800", "a\ufffd"), ("a\ud83d\ude00", "a\U0001f600")]
_values("lone_surrogate", "repaired", "half a character", _TEXTS, _HALVES)
# langgraph#1878; PostgreSQL accepts no NUL in a text.
_values("nul", "repaired", "a NUL in a text", _TEXTS, [("a\x00b", "ab")])
# Of the control characters only NUL is dropped; the others are kept, and renderers escape them
# (law 14).
_CONTROL = _as_is("a\x1b[31mb\x85")
_values("control", "taken", "another control character in a text", _TEXTS, _CONTROL)
# mcp-execution#430, Decepticon#480, bat#3862: the model reads what a person does not see.
_HIDDEN = [("a\u202eb", "ab"), ("a\u2066b\u2069", "ab"), ("a\U000e0041b", "ab")]
_values("hidden_characters", "repaired", "bidi overrides and tag characters", _TEXTS, _HIDDEN)
_JOINED = _as_is("a\u200db", "a\u200cb")
_values("joiner", "taken", "joiners that scripts and emoji need", _TEXTS, _JOINED)
_values(
    "leaked_closers_in_text",
    "repaired",
    "closing tags of the model's own call format at a text's end",
    _TEXTS,
    [("a</parameter>\n</invoke> ", "a"), ("a</payload>", "a")],
)
# claude-code#83088: the text swallowed a field, and removing the tag would lose it.
_INNER = _refused('a<parameter name="status">done')
_values(
    "swallowed_field", "refused", "an argument inside the text of another argument", _TEXTS, _INNER
)


# llxprt#1341. Neither entry is silently reset, because nobody has asked for that.
@_spot("ruled", "two entries in progress", Kind.STATUS, here=_lenient)
def _two_started(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    title = spot.outer.items[0].name
    entries = [{title: text, spot.field.name: "in_progress"} for text in "ab"]
    both = given | {spot.outer.name: entries}
    return both, both


# OpenHands wipes the plan; here the rule `empty_write` asks for `clear`.
_values("empty_list", "ruled", "an empty list", (Kind.ITEMS,), _as_is([]), here=_needed)


# -------- ids --------


_ID = (Kind.ID,)
_ID_LISTS = (Kind.IDS, Kind.REFS)
_WAITS = frozenset({"add_blocked_by", "after"})
# Higher than any id that the call itself may create.
_FAR = 100


def _shown(field: Field, number: int) -> Any:
    return number if field.numeric else str(number)


def _ids(*pairs: tuple[Any, tuple[int, ...]]) -> Callable[[Field, Plan], list[Pair]]:
    return lambda field, _: [(sent, [_shown(field, n) for n in meant]) for sent, meant in pairs]


def _three(*forms: Any) -> Callable[[Field, Plan], list[Pair]]:
    return lambda field, _: [(given, _shown(field, 3)) for given in forms]


_values("id_number", "taken", "an id as a whole number, or as its digits", _ID, _three(3, "3", 3.0))
# sagents#116: ids kept as texts are sorted as texts, 10 before 2.
_FORMS = _three("#3", "task-3", "Task #3", " 3 ", "03", "3.0")
_values("id_spelling", "repaired", "an id with a sign or a word before it", _ID, _FORMS)
# True is an int in Python, and "\uff13" and "\u00b2" are digits for str.isdigit.
_NO_IDS: tuple[Any, ...] = (True, 3.5, "\uff13", "\u00b2", "x", 0, -3, {})
_values("no_id", "refused", "a value that is not an id", _ID, _refused(*_NO_IDS))
_IN_A_TEXT = _ids(("1,2", (1, 2)), ("1 and 2", (1, 2)), ("1 2", (1, 2)), ("3", (3,)))
_values("ids_joined", "repaired", "several ids in one text", _ID_LISTS, _IN_A_TEXT)
_INSIDE = _ids(([[1]], (1,)), ([{"id": 1}, 2], (1, 2)), ({"id": 1}, (1,)), (1, (1,)))
_values("ids_nested", "repaired", "ids in lists or objects of their own", _ID_LISTS, _INSIDE)
_NO_LIST_OF_IDS = _refused([[1, 2]], [{"x": 1}], "1;x", [None], [True])
_values("no_ids", "refused", "a list of values that are not ids", _ID_LISTS, _NO_LIST_OF_IDS)
_values("id_twice", "repaired", "an id twice", _ID_LISTS, _ids(([1, 1], (1,))))


def _unknown(field: Field, plan: Plan) -> list[Pair]:
    missing = _shown(field, plan.next_id + _FAR)
    return _refused(missing if field.kind is Kind.ID else [missing])


# AgentScope silently drops an edge to such an id; Gemini's tracker keeps the edge, and the task can
# never be closed.
_ANY_ID = (*_ID, *_ID_LISTS)
_values("unknown_id", "refused", "an id that no task has", _ANY_ID, _unknown, sparse=True)


def _owned(tool: Tool) -> list[tuple[tuple[Field, ...], Field, Field]]:
    """
    Return where a tool accepts a task id together with its edges: the path, the field of the id,
    and the field of the edges.
    """
    ways = (((), tool.fields), *(((field,), field.items) for field in tool.fields))
    return [
        (way, task, ends)
        for way, fields in ways
        for task in fields
        for ends in fields
        if task.kind is Kind.ID and ends.target in _WAITS
    ]


def _waiting(tool: Tool, task_id: str, blocker: str) -> Given:
    way, task, ends = _owned(tool)[0]
    inner = {task.name: _shown(task, int(task_id)), ends.name: [_shown(ends, int(blocker))]}
    return {way[0].name: [inner]} if way else inner


# AgentScope and pydantic-ai-todo accept this break and the next one.
@_tool("refused", "a task that waits for itself", lambda tool, _: bool(_owned(tool)))
def _self_edge(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    task_id = draw(st.sampled_from([task.id for task in plan] or ["1"]))
    return _waiting(tool, task_id, task_id), None


def _edges(plan: Plan) -> list[tuple[str, str]]:
    return [(task.id, end) for task in plan for end in task.blocks]


# Eino checks each edge of a call against the plan before the call, so two of them can make a cycle.
@_tool(
    "refused",
    "a blocker that waits for the task that it blocks",
    lambda tool, plan: bool(_owned(tool)) and bool(_edges(plan)),
)
def _cycle(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    return _waiting(tool, *draw(st.sampled_from(_edges(plan)))), None


# -------- broken calls --------


@attrs.frozen
class BrokenCall:
    """
    A call as it is sent, its break, and the well-formed arguments that it means.

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

    `raw=False` leaves out breaks of the arguments' text, for frameworks that parse arguments
    themselves.

    Raises:
        PlanError: there is no such break, or none fits a tool of the set and the plan.
    """
    unknown = sorted(set(names) - set(BREAKS))
    if unknown:
        msg = f"no break is called {', '.join(unknown)}; there are {', '.join(BREAKS)}"
        raise PlanError(msg, unknown=unknown)
    stand = plan or Plan()
    chosen = [each for each in map(BREAKS.__getitem__, names or BREAKS) if raw or not each.raw]
    fitting = [(each, tool) for each in chosen for tool in toolset.tools if each.fits(tool, stand)]
    if not fitting:
        msg = f"{toolset.name} has no tool that fits these breaks; name others, or pass a plan"
        raise PlanError(msg, names=names)

    @st.composite
    def broken_calls(draw: DrawFn) -> BrokenCall:
        broken, tool = draw(st.sampled_from(fitting))
        sent, meant = broken.make(draw, tool, stand)
        call = Call(toolset.shown(tool.key), sent)
        return BrokenCall(call, broken, None if broken.expected == "refused" else meant)

    return broken_calls()
