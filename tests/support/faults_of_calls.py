"""Adapters that each do one thing wrongly with the model's calls."""

import html
import json

import attrs
from support.conformance_sound import Sound, singly, with_arguments
from support.faults import caught_by, edited

from todoplan.core.events.types import TaskCreated


@caught_by("the_tools_are_those_of_the_tool_set")
class DescribesNothing(Sound):
    def offered(self):
        return [attrs.evolve(tool, description="") for tool in super().offered()]


@caught_by("the_schemas_are_those_of_the_tool_set")
class OffersAnyArguments(Sound):
    def offered(self):
        return [attrs.evolve(tool, schema={}) for tool in super().offered()]


@caught_by("the_plans_are_the_same", "work_goes_on_after_a_restart")
class LosesEstimates(Sound):
    def answer(self, plan, turn):
        answered = super().answer(plan, turn)
        return attrs.evolve(
            answered, plan=edited(answered.plan, lambda task: task.but(estimate=None))
        )


@caught_by("the_replies_are_the_same", "work_goes_on_after_a_restart")
class AddsToReplies(Sound):
    def stored(self, record):
        kept = super().stored(record)
        return [attrs.evolve(s, text=s.text.replace("Priority:", "Rank:")) for s in kept]


@caught_by("exactly_the_errors_are_marked")
class MarksNoError(Sound):
    def stored(self, record):
        return [attrs.evolve(seen, is_error=False) for seen in super().stored(record)]


@caught_by("the_events_are_the_same")
class TellsNoCreations(Sound):
    def answered(self, record, turn):
        events = super().answered(record, turn)
        return [event for event in events if not isinstance(event, TaskCreated)]


@caught_by("the_times_are_those_of_the_clock")
class StopsTheClock(Sound):
    def __init__(self, setup):
        noon = setup.clock()
        super().__init__(attrs.evolve(setup, clock=lambda: noon))


@caught_by("drawn_conversations_are_the_same")
class TakesNoShortTexts(Sound):
    def answer(self, plan, turn):
        def longer(arguments):
            return json.loads(json.dumps(arguments).replace('"a"', '"aa"'))

        return super().answer(plan, with_arguments(turn, longer))


@caught_by("a_refusal_comes_back")
class RaisesRefusals(Sound):
    def answer(self, plan, turn):
        answered = super().answer(plan, turn)
        if any(p.code == "self_edge" for reply in answered.replies for p in reply.problems):
            raise RuntimeError
        return answered


@caught_by("bad_arguments_are_answered", "bad_arguments_are_read_alike")
class TakesStringsOnly(Sound):
    def answer(self, plan, turn):
        with_arguments(turn, lambda arguments: " ".join(map(str, arguments.get("subject", ""))))
        return super().answer(plan, turn)


@caught_by("names_of_the_framework_are_answered")
class HandsOnKeywords(Sound):
    def answer(self, plan, turn):
        def call(runtime=None, **arguments):
            return arguments if runtime is None else {"subject": runtime["messages"].pop()}

        return super().answer(plan, with_arguments(turn, lambda arguments: call(**arguments)))


@caught_by("bad_arguments_are_read_alike")
class DropsWhatItDoesNotKnow(Sound):
    def answer(self, plan, turn):
        def known(arguments):
            return {key: arguments[key] for key in arguments if key != "colour"}

        return super().answer(plan, with_arguments(turn, known))


@caught_by("the_catalogue_is_read_alike")
class MendsListsSilently(Sound):
    def stored(self, record):
        kept = super().stored(record)
        if self.setup.toolbox.toolset.by_id:
            return kept
        return [attrs.evolve(seen, text=seen.text.partition("\nnote: ")[0]) for seen in kept]


@caught_by(
    "text_that_is_no_json_is_answered",
    "text_that_is_no_json_is_read_alike",
    "arguments_that_were_cut_off_change_nothing",
)
class TakesJsonOnly(Sound):
    def answer(self, plan, turn):
        return super().answer(plan, with_arguments(turn, json.loads, str))


@caught_by("arguments_that_were_cut_off_change_nothing", "text_that_is_no_json_is_read_alike")
class ClosesBrackets(Sound):
    def answer(self, plan, turn):
        def closed(text):
            return text + '"}' if text.endswith("me") else text

        return super().answer(plan, with_arguments(turn, closed, str))


@caught_by("text_that_is_no_json_is_read_alike")
class KeepsTheLastOfTwoKeys(Sound):
    def answer(self, plan, turn):
        def read(text):
            return json.loads(text) if text.count('"subject"') > 1 else text

        return super().answer(plan, with_arguments(turn, read, str))


@caught_by("an_unknown_tool_is_answered")
class RaisesForUnknownTools(Sound):
    def missing(self, plan, call):
        raise KeyError(call.name)


@caught_by("texts_that_attack_are_read_alike")
class Unescapes(Sound):
    def answer(self, plan, turn):
        def unescaped(arguments):
            return json.loads(html.unescape(json.dumps(arguments)).replace("\ufeff", ""))

        return super().answer(plan, with_arguments(turn, unescaped))


@caught_by("parallel_calls_lose_nothing", "equal_calls_are_told_apart")
class TakesTheLastOfMany(Sound):
    def answer(self, plan, turn):
        if len(turn.calls) < 6:
            return super().answer(plan, turn)
        made = [super(TakesTheLastOfMany, self).answer(plan, one) for one in singly(turn)]
        replies = tuple(reply for each in made for reply in each.replies)
        return attrs.evolve(made[-1], replies=replies)


@caught_by("parallel_calls_are_in_order", "equal_calls_are_told_apart")
class ReadsBeforeItWrites(Sound):
    def answer(self, plan, turn):
        answered = super().answer(plan, turn)
        if len(turn.calls) < 5:
            return answered
        early = super().answer(plan, singly(turn)[-1])
        return attrs.evolve(answered, replies=(*answered.replies[:-1], *early.replies))


@caught_by("equal_calls_are_told_apart")
class FindsCallsByNameAndArguments(Sound):
    """
    Of equal calls the last one runs first, and is taken for the first.
    """

    def answer(self, plan, turn):
        answered = super().answer(plan, turn)
        equal = {}
        for call in turn.calls:
            equal.setdefault(repr((call.name, call.arguments)), []).append(call.call_id)
        ids = {
            call_id: other
            for each in equal.values()
            for call_id, other in zip(each, each[::-1], strict=True)
        }
        replies = (attrs.evolve(reply, call_id=ids[reply.call_id]) for reply in answered.replies)
        return attrs.evolve(answered, replies=tuple(replies))


@caught_by("two_whole_list_writes_are_refused")
class TakesOneCallAtATime(Sound):
    def answer(self, plan, turn):
        made = []
        for one in singly(turn):
            made.append(super().answer(plan, one))
            plan = made[-1].plan
        replies = tuple(reply for each in made for reply in each.replies)
        others = tuple(other for each in made for other in each.others)
        return attrs.evolve(made[-1], replies=replies, others=others)
