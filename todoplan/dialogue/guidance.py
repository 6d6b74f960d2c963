"""
Pure functions that decide when to remind a model of its plan, and when to accept its final answer.

This module is divided into sections. Read `conversation` first (the messages in the form that
guidance needs), then `settings` (the developer's options) and `memory` (the state between
decisions), then `guidance` (the decisions, by one table of reminders) and `reminders` (the
wording).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args, overload

import attrs

from todoplan.core.events.base import NOTHING_LISTED, Base
from todoplan.core.plan.model import Status, Task, instance_of, short_repr, tuple_of
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks, within_reach
from todoplan.core.rules import Policy, Severity
from todoplan.dialogue.calls import checked_plan
from todoplan.dialogue.replies import and_more, counts_text, one_line, unseen_text, waiting_text
from todoplan.dialogue.tools import ToolSet
from todoplan.errors import CodecError, PlanError, UnfinishedError
from todoplan.texts import say

# -------- settings --------
# The options of guidance: which reminders it gives, and how often.


_CHOICES = {"on_ignored": ("let_go", "raise"), "all_done": ("off", "if_silent", "always")}


@attrs.frozen
class Settings:
    """
    The options of guidance; 0, `False` or "off" switches a reminder off.

    `plan_lost`: show the plan again if no message of the request shows it.
    `unfinished`: if the model gives a final answer while tasks are open, it is asked to continue,
    at most this many times. The count starts again whenever more tasks are closed. After the last
    time, the answer is accepted; with `on_ignored="raise"`, the verdict is "raise" instead. A
    question to the user is always accepted. An answer is also accepted if all open tasks wait for
    something outside the plan.
    `empty`: if a run has no plan, how many times the model is reminded that it may write a plan.
    `stale`: if the model has not changed the plan for this many turns, it is reminded of tasks in
    progress. The reminder is repeated after as many turns.
    `changed`: if others have changed the plan since the model last saw it, report their changes.
    `all_done`: when no task is open any more, ask once whether the final answer is complete;
    "if_silent" asks only if the final answer has no text.

    Raises:
        PlanError: an option has an illegal value.
    """

    plan_lost: bool = True
    # A cap is needed, because LangChain allows 9,999 steps in a run.
    unfinished: int = 2
    on_ignored: Literal["let_go", "raise"] = "let_go"
    # `empty` and `stale` are off by default: of all reminders of other tools, users complain most
    # about these (claude-code#56415, #81700).
    empty: int = 0
    stale: int = 0
    changed: bool = True
    all_done: Literal["off", "if_silent", "always"] = "off"

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(Settings):
            value = getattr(self, field.name)
            if words := _CHOICES.get(field.name):
                fits, legal = value in words, " or ".join(map(repr, words))
            elif isinstance(field.default, bool):
                fits, legal = isinstance(value, bool), "True or False"
            else:  # `type`, since True is an int, but is not meant as a number
                fits, legal = type(value) is int and value >= 0, "a whole number, 0 for never"
            if not fits:
                msg = f"Settings({field.name}=...) is {short_repr(value)}; write {legal}"
                raise PlanError(msg, seen=value, name=field.name)

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in attrs.fields(Settings)
            if getattr(self, field.name) != field.default
        ]
        return f"Settings({', '.join(changed)})"


# -------- conversation --------
# Framework-neutral messages, with only the parts that guidance needs.
#
# Each adapter has one function that converts its framework's messages to `Message`. Only this
# section decides whether a message is a final answer, a refusal or a question. When each adapter
# decided this itself, one adapter treated an unreadable call as a final answer, and another
# repeated requests after the provider's filter had blocked the answer.


Role = Literal["system", "user", "assistant", "tool"]
_ROLES = get_args(Role)

# Finish reasons without case and punctuation, since "tool_calls", "toolCalls" and "TOOL_CALLS" are
# all in use. Gemini reports a malformed call as MALFORMED_FUNCTION_CALL. Anthropic reports a paused
# turn, which the model will continue, as "pause_turn".
_TOOL_FINISHES = frozenset(
    {"toolcalls", "tooluse", "functioncall", "functioncalls", "malformedfunctioncall", "pauseturn"}
)
_REFUSING_FINISHES = frozenset(
    {
        "blocklist",
        "contentfilter",
        "contentfiltered",
        "guardrailintervened",
        "prohibitedcontent",
        "recitation",
        "refusal",
        "safety",
        "spii",
    }
)


@attrs.frozen
class ToolResult:
    """The result of a tool call: the tool's name as the model sees it, and whether it succeeded."""

    name: str
    ok: bool = True
    call_id: str = ""


@attrs.frozen
class Message:
    """
    One message.

    `calls` are the names of the tools that the message calls, in order. `invalid_calls` counts
    calls that the framework could not parse. `results` are the results of tools. `finish` is the
    provider's finish reason ("stop", "tool_use", "SAFETY", ...), in any spelling, or "" if unknown.
    If the message is a reminder, `shows` is the revision of the plan that the reminder lists.

    Raises:
        PlanError: the role is not one of system, user, assistant and tool; `calls` is not a tuple
            of names; or `results` is not a tuple of results.
    """

    role: Role
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[ToolResult, ...] = ()
    invalid_calls: int = 0
    finish: str = ""
    shows: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.role not in _ROLES:
            msg = f"{short_repr(self.role)} is no role; write one of {', '.join(_ROLES)}"
            raise PlanError(msg, seen=self.role)
        if self.calls or self.results:  # fast path: most messages have neither
            tuple_of(self.calls, str, 'the names of the called tools, such as ("write_todos",)')
            tuple_of(self.results, ToolResult, 'a tuple of results: (ToolResult("search"),)')


# Each message is converted when it is read: guidance reads from the end, and mostly needs only the
# last messages. DeerFlow converts all messages; for 10,000, this takes 1.5 to 3 ms a request.
@attrs.frozen
class Conversation(Sequence[Message]):
    """
    A framework's messages as a sequence of `Message`.

    `read` converts a message when it is accessed.
    """

    messages: Sequence[Any]
    read: Callable[[Any], Message]

    def __len__(self) -> int:
        return len(self.messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            return Conversation(self.messages[index], self.read)
        return self.read(self.messages[index])


def text_of(content: object) -> str:
    """
    Return the text of a message's content, which is a string, or a list of strings and text blocks.

    Blocks of other kinds, and anything else, count as no text.
    """
    texts: list[str] = []
    waiting = [content]
    while waiting:  # no recursion: the framework decides how deep the content is nested
        part = waiting.pop()
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            text = part.get("text")
            if isinstance(text, str) and part.get("type", "text") == "text":
                texts.append(text)
        elif isinstance(part, Sequence) and not isinstance(part, bytes | bytearray):
            waiting += reversed(part)
    return "".join(texts)


def is_final_answer(message: Message) -> bool:
    """Return whether this is an assistant message without calls, which ends the agent's run."""
    # A message with an unreadable call is no final answer: the model gets an error and continues.
    if message.role != "assistant" or message.calls or message.invalid_calls:
        return False
    return _finish(message) not in _TOOL_FINISHES


def is_refusal(message: Message) -> bool:
    """Return whether the model or the provider's filter refused. A retry is then pointless."""
    return _finish(message) in _REFUSING_FINISHES


def asks(message: Message) -> bool:
    """
    Return whether the text ends with a question, in any script.

    Quotes, brackets, emphasis and emoji after the question mark are skipped.
    """
    # Elsewhere, agents that waited for a person's answer were reminded again and again
    # (oh-my-pi#3581, claude-code#61900).
    end = message.text.rstrip()[-_LONGEST_ENDING:]
    while end and not _is_named(end[-1], "QUESTION MARK", "INTERROBANG"):
        if end[-1] not in _CLOSING and unicodedata.category(end[-1]) not in _PASSED:
            break
        end = end[:-1]
    else:
        return bool(end)
    word = end.split()[-1]
    if word.endswith(";"):  # Greek keyboards type it for the Greek question mark
        return len(word) > 1 and _is_named(word[-2], "GREEK")
    return any(_is_named(letter, "ARMENIAN QUESTION MARK") for letter in word)  # inside the word


_LONGEST_ENDING = 200  # bounded, since each step back copies the ending
# Characters that may follow a question mark: quotes and emphasis; and, by Unicode category, closing
# brackets and quotes, spaces, control characters, and emoji with their joiners and skin tones.
_CLOSING = frozenset("\"'*_`~|>")
_PASSED = frozenset({"Pe", "Pf", "Zs", "Zl", "Zp", "Cc", "Cf", "So", "Sk", "Mn"})


def _is_named(letter: str, *parts: str) -> bool:
    name = unicodedata.name(letter, "")
    return any(part in name for part in parts)


def _finish(message: Message) -> str:
    return "".join(letter for letter in message.finish.casefold() if letter.isalpha())


# -------- memory --------
# The state of guidance between two decisions, stored by the caller for each thread.


@attrs.frozen
class Memory:
    """
    The state of guidance for one thread, in plain numbers that any storage can keep.

    `turn` counts the requests to the model. `revision` is the last revision of the plan that the
    model knew. The turns until a "stale" reminder are counted from `touched`: the turn of the
    model's last change or of the last "stale" reminder, or the first turn. `shown` is the last
    revision that a reminder showed; the model knows this revision only during the request with the
    reminder. `asked` counts how often the model was asked to continue after a final answer; the
    count starts again when more than `resolved` tasks are closed. `empties` counts the reminders to
    write a plan. `confirmed` is the revision for which the model was asked whether its answer is
    complete. A revision of -1 means none.

    The state belongs to one thread of one user. Another system shared one state between all threads
    of a process, or stored it under a default key; one user's reminders then used up another user's
    caps.
    """

    turn: int = 0
    revision: int = -1
    touched: int = 0
    asked: int = 0
    resolved: int = 0
    empties: int = 0
    confirmed: int = -1
    shown: int = -1

    @classmethod
    def of(cls, data: Mapping[str, Any] | None) -> Memory:
        """
        Return the memory that `to_data` saved, in any version. For `None`, return a new memory.

        Raises:
            CodecError: the data is not a mapping of names to whole numbers.
        """
        if data is None:
            return cls()
        if not isinstance(data, Mapping):
            raise _damaged(data, "object")
        # A newer version may have stored more fields. Refusing them would break every thread on a
        # downgrade.
        known = {field.name for field in attrs.fields(cls)}
        kept = {name: value for name, value in data.items() if name in known}
        for name, value in kept.items():
            if type(value) is not int:  # not a bool either
                raise _damaged(value, "whole number", name)
        return cls(**kept)

    def to_data(self) -> dict[str, int]:
        """Return the memory as plain JSON values."""
        return attrs.asdict(self)

    def new_run(self, plan: Plan) -> Memory:
        """Return the memory for a new user request. Caps on reminders hold for one request."""
        return attrs.evolve(self, asked=0, resolved=plan.counts.closed, empties=0, confirmed=-1)

    def next_turn(self, plan: Plan, base: Base | None) -> Memory:
        """
        Return the memory for the next request to the model.

        `base` is the model's merge base (the plan as the model's own calls last wrote or read it),
        if others have changed the plan since.
        """
        memory = attrs.evolve(self, turn=self.turn + 1)
        if memory.revision < 0:  # a new thread, maybe on an old plan: nothing has changed yet
            memory = attrs.evolve(memory, revision=plan.revision, touched=memory.turn)
        # If others have reverted their changes, there is nothing to report.
        if base is not None and not base.has_news(plan):
            memory = attrs.evolve(memory, revision=plan.revision)
        return memory

    def saw(self, plan: Plan) -> Memory:
        """Return the memory after a call of the model that led to this plan."""
        return attrs.evolve(self, revision=plan.revision, touched=self.turn)

    def at(self, plan: Plan, base: Base | None, known: int | None) -> Memory:
        """
        Return the memory with what the thread's model knows of a plan that is kept in a store.

        `known` is the last revision that the model was shown. `base` is the merge base of the
        thread (what its model knows of the plan) if others have changed the plan since; if it is
        `None`, only the model itself has changed the plan since.
        """
        if self.revision < 0 or known is None:  # never shown: nothing in the plan is news
            return self
        if base is not None:
            return attrs.evolve(self, revision=known)
        return self if self.revision == plan.revision else self.saw(plan)

    def saw_own(self, before: int, plan: Plan, *, refused: bool = False) -> Memory:
        """
        Return the memory after the model's own calls led from revision `before` to this plan.

        If the model did not know revision `before`, the memory is unchanged, because the model does
        not know the earlier changes by others. The memory is also unchanged if the calls changed
        nothing. `refused` is true for a refused call that recorded evidence. The reply to such a
        call does not report changes by others, so a revision that only a reminder showed does not
        count as known.
        """
        known = {self.revision} if refused else {self.revision, self.shown}
        is_own = before in known and before != plan.revision
        return self.saw(plan) if is_own else self


def _damaged(seen: object, wanted: str, name: str = "it") -> CodecError:
    msg = (
        f"the memory of guidance is damaged: {name} is {seen!r:.60}, which is no {wanted}; "
        "pass None instead, and guidance starts anew"
    )
    return CodecError(msg, name=name)


# -------- reminders --------
# The wording of reminders. Titles are escaped, on one line and bounded; the text is inside one
# tag.
#
# Law: whatever the task texts contain, a reminder has exactly one opening and one closing tag, and
# its length does not grow with the plan. DeerFlow puts titles into its tag without escaping. There,
# a title that contains the closing tag ends the reminder, and the rest of the title looks like text
# of the system.


TAG = "todoplan-reminder"
# A reminder may be sent with many requests, so its length is limited. Together, the titles have at
# most 4,000 characters, before brackets and ampersands are escaped.
LONGEST_SUBJECT = 200
MOST_TASKS = 20
_LONGEST_OWNER = 60


def reminder(  # noqa: PLR0913 - what the text is made of
    kind: ReminderKind,
    plan: Plan,
    toolset: ToolSet,
    tasks: Iterable[Task] | None = None,
    base: Base | None = None,
    *,
    claimed: Collection[str] = (),
) -> str:
    """
    Return the text of a reminder that lists `tasks` (default: all open tasks).

    `base` is the model's merge base (the plan as the model's own calls last wrote or read it), if
    known. The reminder then reports the changes by others. If the model has listed tasks itself, an
    "unfinished" reminder says of every other task that it belongs to others. `claimed` are the ids
    of tasks that others work on; the reminder names the owners of their claims.
    """
    unseen = unseen_text(base, plan) if base is not None else ""
    listed = open_tasks(plan) if tasks is None else tuple(tasks)
    foreign: set[str] = set()
    # If an agent has listed nothing itself, others wrote the plan for it, and no task is foreign.
    if kind == "unfinished" and base is not None and base.listed != NOTHING_LISTED:
        foreign = {task.id for task in listed if not base.has_listed(task.id)}
    lines = []
    for task in listed[:MOST_TASKS]:
        subject = one_line(task.subject, LONGEST_SUBJECT)
        if task.waiting:
            subject += f" [waiting: {waiting_text(task.waiting)}]"
        subject = _escaped(subject)
        if task.claim and task.id in claimed:
            owner = _escaped(one_line(task.claim.owner, _LONGEST_OWNER))
            subject += " " + say("reminders", "held", owner=owner)
        if task.id in foreign:
            subject += " " + say("reminders", "others")
        name = "item" if toolset.by_id else "item_plain"
        values = {"id": f"#{task.id}", "status": task.status.value, "subject": subject}
        lines.append(say("reminders", name, **values))
    body = say(
        "reminders",
        kind,
        counts=counts_text(plan),
        items="\n".join(and_more(lines, len(listed))),
        unseen=f" ({_escaped(unseen)})" if unseen else "",
        # A tool's name may come from the user too, so it is escaped.
        write=_escaped(one_line(toolset.shown(toolset.writer))),
        # How to make a task wait differs between tool sets; a user's own set may have no text on
        # this.
        others=" " + say("reminders", "leave") if foreign else "",
        waiting=f" {how}" if (how := toolset.text("waiting")) else "",
    )
    return say("reminders", "frame", tag=TAG, body=body)


def _escaped(text: str) -> str:
    # Every bracket is escaped, not only the brackets of our tag: a list of forbidden tags would
    # never be complete.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def is_reminder(text: str) -> bool:
    """Return whether a message's text is a reminder of this module."""
    return text.startswith(f"<{TAG}>\n") and text.endswith(f"\n</{TAG}>")


def unfinished_error(plan: Plan, claimed: Collection[str] = ()) -> UnfinishedError:
    """Return the error for the verdict "raise". For `claimed` see `Guidance.after_model`."""
    ids = tuple(task.id for task in within_reach(plan, claimed))
    msg = (
        f"the model went on answering while {len(ids)} of {len(plan)} tasks are open, although it"
        " was asked to continue; allow more turns by Settings(unfinished=...), or let it go"
    )
    return UnfinishedError(msg, task_ids=ids)


# -------- guidance --------
# Pure decisions on when to remind the model, and when to accept its final answer.
#
# A reminder costs the model's attention. Asking again after a final answer costs a whole request.
# After one wrong reminder, users switch all reminders off. So these rules apply. Each reminder has
# a switch. A reminder changes the memory so that the reminder is no longer due; so no reminder is
# repeated forever. If several reminders are due, the model gets only the first one. All reminders
# are in one table, `REMINDERS`, in order of precedence.
#
# The state between decisions is `Memory`, a small frozen value that an adapter keeps in the
# framework's per-thread state. The same inputs give the same decision.


Verdict = Literal["accept", "again", "raise"]

_TURNS_IN_SIGHT = 20  # an estimate: for so many turns, a provider's context contains the plan


# A reminder is put at the end of the request and is not saved, so that the provider's cached prefix
# stays valid: a list in the system prompt raised the cost of a call from $0.05 to $0.42
# (pydantic-ai-todo#41).
@attrs.frozen
class Advice:
    """
    A decision of guidance: the reminder to send, if any, and the verdict on a final answer.

    The caller appends `text`, if not empty, to the next request without saving it, and stores
    `memory`. `kind` names the reminder, or is "" for none. `verdict` is about a final answer:
    "accept" it, ask the model "again", or "raise" (see `unfinished_error`).
    """

    memory: Memory
    kind: ReminderKind | Literal[""] = ""
    text: str = ""
    verdict: Verdict = "accept"

    @property
    def shows_plan(self) -> bool:
        """
        True if the text shows the present plan. The model's next calls are then based on that plan.
        """
        return self.kind in {"plan_lost", "changed", "changed_done"}

    def keeps(self, answer: Message) -> bool:
        """
        Return whether the conversation keeps this final answer when the model is asked again.

        The answer is kept if it has text, and the reminder only asks whether the answer is
        complete.
        """
        return self.kind == "all_done" and bool(answer.text.strip())


@attrs.frozen
class _Moment:
    """The inputs of a decision. `message` is the final answer to judge, if there is one."""

    toolset: ToolSet
    settings: Settings
    plan: Plan
    memory: Memory
    messages: Sequence[Message] = ()
    message: Message | None = None
    base: Base | None = None
    claimed: Collection[str] = ()

    def within_reach(self) -> tuple[Task, ...]:
        return within_reach(self.plan, self.claimed)

    def in_progress(self) -> list[Task]:
        return [task for task in self.within_reach() if task.status is Status.IN_PROGRESS]

    def plan_is_lost(self) -> bool:
        # A failed call showed nothing, and a reminder of an earlier revision shows an old plan.
        # DeerFlow counts both as showing the plan, and then does not show the present plan again.
        return bool(self.plan.counts.open) and not any(
            message.shows == self.plan.revision
            or any(result.ok and self.toolset.find(result.name) for result in message.results)
            for message in reversed(self.messages)
        )

    def is_changed(self) -> bool:
        # A reminder is in one request only, so it is repeated until a reply reports the change.
        # In two cases, the reminder is given only once: if no task is open, because the model may
        # then make no further call; and if there is no merge base, because it is then unknown what
        # was reported.
        again = self.base is not None and bool(self.plan.counts.open)
        memory, now = self.memory, self.plan.revision
        return now != memory.revision and (again or now != memory.shown)

    def is_unconfirmed(self) -> bool:
        silent = self.message is None or not self.message.text.strip()
        done = bool(len(self.plan)) and not self.plan.counts.open
        is_new = done and self.memory.confirmed != self.plan.revision
        return is_new and (silent or self.settings.all_done == "always")


@attrs.frozen
class Reminder:
    """
    One reminder: when it is due, which tasks it lists, and how it updates the memory.

    `switch` is the field of `Settings` that enables the reminder. If `sends_back` is true, the
    reminder asks the model again after its final answer; otherwise it is added to the request that
    is about to be sent.
    """

    switch: str
    is_due: Callable[[_Moment], bool]
    remembered: Callable[[_Moment], Mapping[str, int]]
    sends_back: bool = False
    tasks: Callable[[_Moment], Iterable[Task]] = lambda now: open_tasks(now.plan)


def _plan_shown(moment: _Moment) -> Mapping[str, int]:
    # If there is a merge base, others have changed the plan since. Only a reply makes their changes
    # known, because a reminder is in one request only. So the revision is only "shown".
    return {"revision" if moment.base is None else "shown": moment.plan.revision}


ReminderKind = Literal[
    "plan_lost", "changed", "changed_done", "empty", "stale", "unfinished", "all_done"
]
"""The names of the reminders. The text of each has the same name."""

REMINDERS: dict[ReminderKind, Reminder] = {
    # This reminder is first, since it shows the present plan, which includes every change.
    "plan_lost": Reminder("plan_lost", _Moment.plan_is_lost, _plan_shown),
    "changed": Reminder(
        "changed", lambda now: now.is_changed() and bool(now.plan.counts.open), _plan_shown
    ),
    "changed_done": Reminder(
        "changed", lambda now: now.is_changed() and not now.plan.counts.open, _plan_shown
    ),
    # Capped: in claude-code#81700, there were 1,380 reminders of an empty list, with 12.5 MB.
    "empty": Reminder(
        "empty",
        lambda now: not len(now.plan) and now.memory.empties < now.settings.empty,
        lambda now: {"empties": now.memory.empties + 1},
    ),
    # This reminder sets `touched`, so the next one comes `stale` turns later, and not with every
    # request. It is due only if a task is in progress, as claude-code#62323 and #59213 ask for.
    "stale": Reminder(
        "stale",
        lambda now: (
            now.memory.turn - now.memory.touched >= now.settings.stale and now.in_progress() != []
        ),
        lambda now: {"touched": now.memory.turn},
        tasks=_Moment.in_progress,
    ),
    "unfinished": Reminder(
        "unfinished",
        # Waiting tasks do not count: elsewhere, agents that waited for a person were reminded again
        # and again (oh-my-pi#3581).
        lambda now: now.memory.asked < now.settings.unfinished and bool(now.within_reach()),
        lambda now: {"asked": now.memory.asked + 1},
        sends_back=True,
        tasks=_Moment.within_reach,
    ),
    # Due once per revision: after the model was asked about a plan without open tasks, it is asked
    # again only when the plan has changed.
    "all_done": Reminder(
        "all_done",
        _Moment.is_unconfirmed,
        lambda now: {"confirmed": now.plan.revision},
        sends_back=True,
    ),
}
"""All reminders, in order of precedence."""


@attrs.frozen
class Guidance:
    """
    Guidance for one tool set, without state of its own.

    `policy` is the toolbox's policy. It matters because it may forbid starting a task before a
    person has approved the plan. `advised` is called with each reminder and its plan.
    """

    toolset: ToolSet
    settings: Settings = Settings()
    policy: Policy = Policy()
    advised: Callable[[Advice, Plan], None] | None = attrs.field(default=None, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        instance_of(self.toolset, ToolSet, "a tool set: Guidance(toolbox.toolset)")
        instance_of(self.settings, Settings, "settings, such as Settings(unfinished=1)")
        instance_of(self.policy, Policy, "a policy, such as toolbox.policy")

    def before_model(
        self,
        plan: Plan,
        messages: Sequence[Message],
        memory: Memory,
        *,
        base: Base | None = None,
        claimed: Collection[str] = (),
    ) -> Advice:
        """
        Return the reminder for the request that is about to be sent, if one is due.

        `messages` are the messages of the request, after any summarising. `base` is the model's
        merge base (the plan as the model's own calls last wrote or read it), if others have changed
        the plan since. The reminder then reports their changes. `claimed` are the ids of tasks that
        others work on (`claimed_by_others`). The model is not reminded to finish these tasks.
        """
        _check(plan, memory)
        memory = memory.next_turn(plan, base)
        moment = _Moment(
            self.toolset, self.settings, plan, memory, messages, base=base, claimed=claimed
        )
        return self._first_due(moment, "accept") or Advice(memory)

    def after_model(  # noqa: PLR0913 - an answer and what is known at that time
        self,
        plan: Plan,
        message: Message,
        memory: Memory,
        *,
        structured: bool = False,
        base: Base | None = None,
        claimed: Collection[str] = (),
    ) -> Advice:
        """
        Judge the model's message. If it is a final answer while tasks are open, the verdict is
        "again", up to the maximum number in the settings.

        A refusal and a question are always accepted. An answer is also accepted if all open tasks
        wait, or if the plan needs an approval. With `structured`, every answer is accepted: the
        framework asked for a structured answer (`response_format`), and would ignore a second
        answer. If `base`, the model's merge base, is given, the reminder says which of the open
        tasks others added. `claimed` has the same meaning as in `before_model`.
        """
        _check(plan, memory)
        if structured or not is_final_answer(message) or is_refusal(message) or asks(message):
            return Advice(memory)
        if plan.counts.open and awaits_approval(plan, self.policy):
            return Advice(memory)  # nothing may be started yet, so there is no work to continue
        counts = plan.counts
        # Failed tasks are counted too (closed, not resolved): marking a task as failed is progress.
        if counts.open and counts.closed > memory.resolved:
            # Only a number above the previous maximum counts: reopening a task and closing it again
            # is no progress.
            memory = attrs.evolve(memory, asked=0, resolved=counts.closed)
        moment = _Moment(
            self.toolset, self.settings, plan, memory, message=message, base=base, claimed=claimed
        )
        if advice := self._first_due(moment, "again"):
            return advice
        used_up = self.settings.on_ignored == "raise" and self.settings.unfinished > 0
        ignored = used_up and bool(moment.within_reach())
        return Advice(memory, verdict="raise" if ignored else "accept")

    def _first_due(self, moment: _Moment, verdict: Verdict) -> Advice | None:
        for kind, row in REMINDERS.items():
            if row.sends_back is not (verdict == "again"):
                continue
            if getattr(self.settings, row.switch) in {False, "off"} or not row.is_due(moment):
                continue
            memory = attrs.evolve(moment.memory, **row.remembered(moment))
            tasks = row.tasks(moment)
            text = reminder(
                kind, moment.plan, self.toolset, tasks, moment.base, claimed=moment.claimed
            )
            advice = Advice(memory, kind, text, verdict)
            if self.advised is not None:
                self.advised(advice, moment.plan)
            return advice
        return None


def awaits_approval(plan: Plan, policy: Policy) -> bool:
    """Return whether no task may start yet, because a person has to approve the plan first."""
    return plan.approved is None and policy.severity("approval_required") is Severity.ERROR


def before_partial(
    guidance: Guidance,
    plan: Plan,
    memory: Memory,
    *,
    base: Base | None = None,
    claimed: Collection[str] = (),
) -> Advice:
    """
    Return the reminder for a request that contains only new messages, if one is due.

    This is for providers that store the earlier messages of the conversation, so it is unknown
    whether the model's context still contains the plan. For `base` and `claimed` see
    `Guidance.before_model`. The plan is shown once if it was never shown, or if for 20 turns it was
    neither shown nor changed by the model.
    """
    _check(plan, memory)
    # With OpenAI's `previous_response_id`, a request has only new messages. These messages do not
    # show the plan, so without this function the plan would be shown with every request.
    in_sight = memory.revision >= 0 and memory.turn + 1 - memory.touched < _TURNS_IN_SIGHT
    messages = (Message("user", shows=plan.revision),) if in_sight else ()
    advice = guidance.before_model(plan, messages, memory, base=base, claimed=claimed)
    if advice.kind == "plan_lost":
        return attrs.evolve(advice, memory=advice.memory.saw(plan))
    # The provider stores this request with its reminder, so the model still knows the plan later.
    known = plan.revision if advice.shows_plan else advice.memory.revision
    return attrs.evolve(advice, memory=attrs.evolve(advice.memory, revision=known))


def _check(plan: object, memory: object) -> None:
    checked_plan(plan)
    instance_of(memory, Memory, "Memory(), or Memory.of(...) with the stored data")
