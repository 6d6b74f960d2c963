"""Budgets before work: what a model sends costs time and memory in proportion to its length."""

import gc
import json
import tracemalloc
import warnings
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.pace import is_linear, seconds
from support.talk import BOXES, planned

PLAN = planned("a", "b", "c")
TOOLS = [(box, tool) for box in BOXES for tool in box.toolset.tools]
MEGABYTE = 1_048_576

# What each reader looks for: brackets, quotes, escapes, comments, boxes, numbers, tags, words.
PIECES = [
    *("[", "{", '"', "\\", '\\"', "'", "\\'", '["', '{"a":', "[[", "(", ")", "()", "],", "},", ","),
    *("1,", "1 ", "-", "- ", "- [ ] a\n", "1. a\n", "- a\n", " ", "\n", "/*", "*/", "//", "/*\n"),
    *("#", "```", "```\n", "<", "</", "</a>", "</invoke>", "<parameter ", "[ ", "[ ]", "[x", "x"),
    *("\xe9", "\ud800", "\x00", "\u202e", "0", '"a":', '"a",', "null,", "nan", "1e9,", "None,"),
    *("'a',", "'a' ", "u'a'", "[],", "{},", '"",', '{"a":1},', "task", "task#", "#1,", "1 and "),
    *("  - a\n", "\t- [!] a\n", "1.1 a\n", "1.1.", '{"subtasks":', '["a",[', "3 a", "  "),
    *(";", "_", "\\u0041", "\\x41", '"\\', "\xa0", "1if ", "\\400"),
]
pieces = st.sampled_from(PIECES)
frames = st.tuples(
    st.lists(pieces, max_size=2).map("".join), st.lists(pieces, max_size=2).map("".join)
)
tools = st.sampled_from(TOOLS)


def arguments_of(tool, text, *, whole):
    """Return the text as a call's whole arguments, or as the value of each of the tool's fields."""
    return [text] if whole else [{field.name: text} for field in tool.fields] or [{"x": text}]


@pytest.mark.slow
@given(
    tool=tools,
    frame=frames,
    piece=st.lists(pieces, min_size=1, max_size=3).map("".join),
    whole=st.booleans(),
)
@example(tool=TOOLS[0], frame=('["', ""), piece='\\"', whole=True)
@example(tool=TOOLS[0], frame=('{"todos": [{"status": "[', '"}]}'), piece=" ", whole=True)
@example(tool=TOOLS[5], frame=("[", ""), piece=" ", whole=False)
@settings(max_examples=40, deadline=None)
def test_time_grows_no_faster_than_the_text(tool, frame, piece, whole):
    """Four times the text takes about four times as long; sixteen times would be quadratic."""
    box, chosen = tool
    before, after = frame

    def taking(length):
        text = before + piece * (length // len(piece)) + after
        sent = arguments_of(chosen, text, whole=whole)
        return max(seconds(partial(box.call, PLAN, chosen.key, each)) for each in sent)

    assert is_linear(taking, 32_768)


MANY = {
    "values in a list": [1] * 100_000,
    "empty lists": [[]] * 60_000,
    "objects": [{"a": 1}] * 25_000,
    "keys": {f"k{number}": 1 for number in range(20_000)},
    "long keys": {f"{number:0100d}": 1 for number in range(9_000)},
    "words": [{"content": "a", "status": f"{number:090d}"} for number in range(1_000)],
    "ids": [f"{number:0900d}" for number in range(1_000)],
    "digits": "1" * 1_000_000,
    "lines": "- [ ] a\n" * 120_000,
    "tags": "</invoke>" * 100_000,
    "hidden": "\x00" * 150_000,
    "literal": "[" + "'a', " * 13_000 + "]",
    "subtasks": [{"content": "a", "subtasks": [{"content": "b"}] * 300}] * 9,
    "parents": [{"id": n, "content": f"a{n}", "parent": n + 1} for n in range(1_000)],
    "unknown parents": [{"content": f"a{n}", "parent": "x" * 900} for n in range(1_000)],
    "dotted ids": [{"id": "1" + ".1" * n, "content": "a"} for n in range(900)],
    "indented": [f"{'  ' * n}a" for n in range(900)],
    "an indented text": "".join(f"{'  ' * n}- a\n" for n in range(900)),
    "waits": {f"{number}": "a" * 200 for number in range(4_000)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_a_megabyte_is_answered_and_leaves_nothing_behind(name):
    """As text and as value: the reply is short, and no cache keeps what was sent."""
    (todos, write), (tasks, update), (lean, plan) = TOOLS[0], TOOLS[5], TOOLS[-1]
    calls = [
        (todos, write.key, json.dumps({"todos": MANY[name], "x": MANY[name]})),
        (tasks, update.key, {"taskId": MANY[name], "x": MANY[name]}),
    ]
    if name in {"waits", "indented", "an indented text"}:
        calls.append((lean, plan.key, {"wait": MANY[name], "add": MANY[name]}))
    todos.call(PLAN, write.key, calls[0][2][: MEGABYTE // 2])
    tracemalloc.start()
    for box, key, arguments in calls:
        reply = box.call(PLAN, key, arguments)
        assert len(reply.text) < 6_000
        assert len(reply.repairs) <= 1_010
        assert len(reply.problems) <= 1_000
    del reply
    gc.collect()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left < MEGABYTE


@given(st.lists(pieces, max_size=6).map("".join), tools)
def test_nothing_that_a_model_sends_makes_python_warn(text, tool):
    """Python's own parser printed 11,000 warnings for one text; it is asked nothing now."""
    box, chosen = tool
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        box.call(PLAN, chosen.key, f"[{text}]")
        box.call(PLAN, chosen.key, f"['{text}', 1if 2else 3]")
