"""Breaks of the JSON text that a call's arguments arrive as."""

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake.fields import Kind
from todoplan.testing.strategies.breaks.breaking import Given, Pair, Spot, of_spot, of_whole
from todoplan.testing.strategies.calls import makes_sense

__all__ = ["BREAKS"]

# json.loads takes all of these, and makes an infinity of 1e999.
_ENDLESS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")
# Seen in claude-code#83088, #48679, #44826, #61375.
_CLOSERS = ("</invoke>", "</parameter>\n</invoke>", "</invoke></function_calls>\n")
_LARGEST = 1_048_576  # `InputLimits.chars`


def _dumped(value: Any, times: int) -> str:
    for _ in range(times):
        value = json.dumps(value)
    return str(value)


def _encoded(draw: DrawFn, given: Given) -> str:
    return _dumped(given, draw(st.integers(2, 4)))


def _with(given: Given, value: str) -> str:
    """
    Return the text with one more key, whose value is given as it is to be spelled.
    """
    return json.dumps(given | {"because": 0})[:-2] + value + "}"


def _nested(draw: DrawFn, given: Given) -> str:
    # Over our own limit (32), and over Python 3.11's, where json.loads raises RecursionError.
    depth = draw(st.sampled_from([40, 2_000]))
    return _with(given, "[" * depth + "]" * depth)


def _noisy(draw: DrawFn, given: Given) -> str:
    text = json.dumps(given)
    # What a comment said is dropped: it may have been that the rest stays (law 17).
    return draw(st.sampled_from([f"{text} // all of it", f"/* the call */ {text}"]))


def _cut(draw: DrawFn, given: Given) -> str:
    text = json.dumps(given)
    return text[: draw(st.integers(1, len(text) - 1))]


def _fenced(draw: DrawFn, given: Given) -> str:
    return f"```{draw(st.sampled_from(['json', '']))}\n{json.dumps(given)}\n```"


def _twice(given: Given, draw: DrawFn, *, same: bool) -> str:
    key = draw(st.sampled_from(sorted(given)))
    # json.loads keeps the last, silently.
    again = given[key] if same else "something else"
    return f"{json.dumps(given)[:-1]}, {json.dumps(key)}: {json.dumps(again)}}}"


def _raw_newline(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    text = json.dumps(spot.put(given, "first line")).replace("first line", "first\nline")
    return text, spot.put(given, "first\nline")


BREAKS = (
    # Seen in kimi-cli#2513, #2572, livekit#5411, quarkus-lc4j#2569, OpenManus#989.
    of_whole("encoded", "repaired", "the JSON text of a JSON text, up to three times", _encoded),
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
    of_whole("truncated", "refused", "cut off, as by the output limit", _cut),
    of_whole(
        # agno#4604, hermes#112120; humux#77: arguments that were cut off arrive as `{}`.
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
        # Past 64 bits, and past the 4,300 digits at which int() raises ValueError.
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
