"""Breaks of how arguments are packed and named: wrappers, keys that are too many or others."""

import json
import re

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake.fields import Field, Kind, meant_by
from todoplan.dialogue.tools.toolset import Tool
from todoplan.testing.strategies.breaks.breaking import (
    Break,
    Given,
    Pair,
    Spot,
    given_with,
    of_spot,
    spots,
)

__all__ = ["BREAKS"]

# The call's own envelope: openclaw#142304, apex#666, ollama#11805, hermes#100979.
_WRAPPERS = ("arguments", "input", "parameters")


def _wrapped(draw: DrawFn, _: Spot, given: Given, __: Plan) -> Pair:
    key = draw(st.sampled_from(_WRAPPERS))
    inner = draw(st.sampled_from([given, json.dumps(given)]))
    named = draw(st.sampled_from([{}, {"name": "tool"}, {"type": "tool_use", "id": "call_1"}]))
    return named | {key: inner}, given


def _deep(_: DrawFn, __: Spot, given: Given, ___: Plan) -> Pair:
    # Five, where intake unwraps three.
    return {"input": {"input": {"input": {"input": {"input": given}}}}}, None


def _siblings(draw: DrawFn, _: Spot, given: Given, __: Plan) -> Pair:
    # Whichever half was taken, the other would be lost without a word.
    return {draw(st.sampled_from(_WRAPPERS)): given, "because": "I think so"}, None


def _extra(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # Seen in hermes#100979; ignored, for what the tool needs is there.
    extra = draw(st.sampled_from(["I think so", 1, True, ["x"]]))
    more = json.loads(json.dumps(given))
    spot.holder(more)["because"] = extra
    return more, given


def _styles(field: Field) -> list[str]:
    # Claude Code says addBlockedBy, AgentScope add_blocked_by; models mix what they have seen.
    words = re.sub("(?<=[a-z])(?=[A-Z])", "_", field.name).split("_")
    styles = ["_".join(words), "-".join(words), " ".join(words), "_".join(words).upper()]
    return [style for style in dict.fromkeys(styles) if style != field.name]


def _aliases(spot: Spot, tool_fields: tuple[Field, ...]) -> list[str]:
    beside = spot.outer.items if spot.inner else tool_fields
    # An alias of one field may be another one's name in this tool.
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
    # Which of the two is meant nobody can tell; taking the last one is json.loads' way.
    spot.holder(changed)[draw(st.sampled_from(_styles(spot.field)))] = "something else"
    return changed, None


def _synonyms(tool: Tool) -> list[tuple[Spot, str]]:
    return [(spot, word) for spot in spots(tool) for word in _aliases(spot, tool.fields)]


def _synonym(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    spot, word = draw(st.sampled_from(_synonyms(tool)))
    given = draw(given_with(spot, tool, plan))
    return _renamed(spot, given, word), given


_ANY: tuple[Kind, ...] = ()

BREAKS = (
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
