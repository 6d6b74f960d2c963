"""One request of the SDK to a model: what is sent, whether to ask again, and what is handed on."""

from collections.abc import Sequence
from typing import TypeGuard

import attrs
from agents import FunctionTool
from agents.items import ModelResponse, TResponseOutputItem
from agents.usage import Usage
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from todoplan.adapters.openai_agents.conversation import (
    Request,
    answers_in,
    as_list,
    calls_in,
    carried,
    conversation,
    neutral,
    with_reminder,
)
from todoplan.adapters.openai_agents.planning import Planning
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance.conversation import is_final_answer, is_refusal
from todoplan.dialogue.guidance.guidance import Advice, Guidance, before_partial, unfinished_error

__all__ = ["GuidedRequest"]


@attrs.define
class GuidedRequest:
    """
    A request with its reminder, and the further ones that follow from it.

    `request` is without reminders; `advice` says which is due. `plan` is the one it was given for.
    """

    planning: Planning
    guidance: Guidance
    request: Request
    advice: Advice
    plan: Plan
    stands: tuple[ResponseOutputMessage, ...] = ()

    @classmethod
    async def of(cls, planning: Planning, guidance: Guidance, request: Request) -> "GuidedRequest":
        """
        Return what a request of the SDK's opens. One that answers no call opens a run.
        """
        plan, memory = await planning.plan(), planning.memory
        # No hook says that a run begins; a request without an answer of ours is a user's.
        if not planning.pending.awaits(answers_in(request.input)):
            memory = memory.new_run(plan)
        # With the conversation at the provider, the input is only what is new, and looked at like
        # any other it would count the plan as lost in every request.
        base = await planning.unseen(plan)
        if request.is_partial:
            advice = before_partial(guidance, plan, memory, base=base)
        else:
            advice = guidance.before_model(plan, conversation(request.input), memory, base=base)
        return cls(planning, guidance, request, advice, plan)

    @property
    def sent(self) -> Request:
        """
        The request as it is to be sent.
        """
        # At the tail, so that the cached prefix stays, and in a copy: no later request holds it.
        return attrs.evolve(self.request, input=with_reminder(self.request.input, self.advice.text))

    async def goes_on(self, output: Sequence[TResponseOutputItem]) -> bool:
        """
        Take what the model has sent, and say whether it is to be asked again.

        Raises:
            PlanError: it goes on answering over open tasks, and the settings say to raise.
        """
        if self.advice.shows_plan and self.request.is_partial:
            self.planning.saw(self.plan)  # the provider keeps the reminder with the conversation
        self.planning.asked(self.plan if self.advice.shows_plan else None)
        # Read again: others may have changed the plan while the model was answering.
        plan, said = await self.planning.plan(), neutral(output)
        self._note(output)
        structured = self.request.is_structured
        advice = self.guidance.after_model(plan, said, self.advice.memory, structured=structured)
        self.advice, self.planning.memory = advice, advice.memory
        if advice.verdict == "raise":
            raise unfinished_error(plan)
        if advice.verdict == "again":
            self.stands = tuple(filter(_is_message, output)) if advice.keeps(said) else ()
            self._append(output)
        return advice.verdict == "again"

    def _note(self, output: Sequence[TResponseOutputItem]) -> None:
        """
        Note the calls of the turn. Nothing stands in the way of a tool that needs no approval; a
        call that was answered before is a repetition, which the SDK leaves out.
        """
        find = self.guidance.toolset.find
        sure = {
            tool.name
            for tool in self.request.tools
            if isinstance(tool, FunctionTool)
            and find(tool.name)
            # It may also be a function, whose answer is not known before the call is started.
            and tool.needs_approval is False
            # A guardrail may refuse this call, which its neighbours must not have carried out then.
            and not tool.tool_input_guardrails
        }
        answered = answers_in(self.request.input)
        new = [call for call in calls_in(output) if call.call_id not in answered]
        self.planning.pending.answered(answered)
        self.planning.pending.heard(new, sure)

    def _append(self, output: Sequence[TResponseOutputItem]) -> None:
        """
        Put the answer behind the request, unless the provider has done so in its conversation.
        """
        answer = ModelResponse([*output], Usage(), None).to_input_items()
        # With `previous_response_id` the further turn goes on from the same response, which knows
        # neither this input nor this answer; a conversation has taken in both.
        kept = [] if self.request.conversation_id else [*as_list(self.request.input), *answer]
        self.request = attrs.evolve(self.request, input=kept)

    def completed(self, output: list[TResponseOutputItem]) -> list[TResponseOutputItem]:
        """
        Return what is handed on: behind a question whether all was said, both answers as one; if
        that question is refused, the first.
        """
        output, said = [carried(item, self.guidance.toolset) for item in output], neutral(output)
        if not self.stands or not is_final_answer(said):
            return output
        messages = [*filter(_is_message, output)]
        if is_refusal(said):
            output, messages = [item for item in output if item not in messages], []
        if not messages:
            return [*output, *self.stands]
        # One message, since the SDK takes the last for the final output.
        whole = _joined((*self.stands, messages[-1]))
        return [whole if item is messages[-1] else item for item in output]


def _is_message(item: object) -> TypeGuard[ResponseOutputMessage]:
    return isinstance(item, ResponseOutputMessage)


def _joined(messages: Sequence[ResponseOutputMessage]) -> ResponseOutputMessage:
    """
    Return the last message with the words of the others before its own.
    """
    gap = ResponseOutputText(annotations=[], text="\n\n", type="output_text")
    content = [part for message in messages for part in (gap, *message.content)]
    return messages[-1].model_copy(update={"content": content[1:]})
