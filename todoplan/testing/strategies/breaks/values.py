"""Breaks of single values: words, texts, numbers, types."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.testing.strategies.breaks.breaking import (
    OMITTED,
    Break,
    Given,
    Pair,
    Spot,
    of_spot,
    of_values,
)

__all__ = ["BREAKS"]

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
# By cattrs' defaults None is "None", "false" is True, 2.9 is 2: here nothing is coerced (law 10).
_WRONG: dict[Kind, tuple[Any, ...]] = {
    Kind.LINE: (True, ["a"], {}),
    Kind.TEXT: (True, ["a"], {}),
    Kind.STATUS: (1, True, []),
    Kind.STATUS_OR_DELETED: (1, True, []),
    Kind.PRIORITY: (1, True, []),
    Kind.MINUTES: (True, [], "soon", -1),
    Kind.FLAG: ("maybe", 2, []),
    Kind.METADATA: ("x", 3, [1]),
    Kind.ITEMS: (5, True, [5]),
}
_CLEARABLE = (*_STATUSES, Kind.PRIORITY, Kind.METADATA, Kind.MINUTES, Kind.FLAG)


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


BREAKS: tuple[Break, ...] = (
    of_values("status_word", "repaired", "a status in other words", _STATUSES, _all(*_SPELLINGS)),
    of_values(
        "unknown_status",
        "refused",
        "a status that there is not",
        _STATUSES,
        # opencode#1354, orch#3210, #3255; eliza#28209: pending is no fallback.
        _refused("changes_made", "verified", "\u2717"),
    ),
    of_values(
        # Seen in pydantic-ai-todo#29, #34: what has no status is new, hence pending.
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
    # smolagents#1538, inspect_ai#1477, inspector#328; OpenAI's strict mode asks for it.
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
    # A title may be that word, as a status or a priority cannot.
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
        # agent-zero#1773, hermes#44376: json.dumps writes it, UTF-8 cannot.
        "lone_surrogate",
        "repaired",
        "half a character",
        _TEXTS,
        _all(("a\ud800", "a\ufffd"), ("a\ud83d\ude00", "a\U0001f600")),
    ),
    # langgraph#1878; PostgreSQL takes no NUL in a text.
    of_values("nul", "repaired", "a NUL in a text", _TEXTS, _all(("a\x00b", "ab"))),
    # Of the controls only NUL is dropped; the others are kept, and renderers escape them (law 14).
    of_values(
        "control", "taken", "another control character in a text", _TEXTS, _as_is("a\x1b[31mb\x85")
    ),
    of_values(
        # mcp-execution#430, Decepticon#480, bat#3862: a person does not see what the model reads.
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
        # claude-code#83088: a field was swallowed, and stripping the tag would lose it.
        "swallowed_field",
        "refused",
        "an argument that stands inside another one's text",
        _TEXTS,
        _refused('a<parameter name="status">done'),
    ),
    of_spot(
        # llxprt#1341. A rule's matter: demoting one silently would say what nobody meant.
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
