"""
What a planner does with a plan in a store: calls, commands, undo, restore, history.

Each operation runs an attempt: a function of the plan, of the journal entries that it asked for,
and of the time. `Transactions._commit` saves the attempt's result, even if others write to the
store at the same time.

Transactions are generators: they yield each action on the store or on subscribers, and receive the
result of the action. So each operation is written once: `Planner`, at the end of this module,
executes the actions in the calling thread, and `AsyncPlanner` awaits them. During a store call, no
lock of this module is held.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from hashlib import sha256
from inspect import iscoroutinefunction
from itertools import islice
from math import inf
from threading import Lock
from time import sleep, time_ns
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import attrs

from todoplan.core.commands import ClaimTask, Command, RestorePlan
from todoplan.core.decide import Accepted, Decision, Rejected, decide
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.base import NOTHING_LISTED, Base, Note, changed_by, quick_base
from todoplan.core.events.types import Event, TaskCreated
from todoplan.core.plan.model import EMPTY, in_utc, tuple_of
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call, Clock, Reply, Turn, utc_now
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.intake import Repair
from todoplan.dialogue.replies import unseen_text
from todoplan.dialogue.toolbox import (
    NO_FENCES,
    Fences,
    Start,
    Toolbox,
    base_at,
    claimed_by_others,
    fences_after,
    is_refused_check,
    last_change,
    plan_before,
    require,
    starts,
    tell_called,
    tell_decided,
    undone,
)
from todoplan.dialogue.tools import ToolSet
from todoplan.errors import PlanError, StoreError
from todoplan.planner.claiming.claims import Claimed, claim_of, claiming
from todoplan.planner.steps import (
    Hold,
    News,
    Step,
    Steps,
    at_once,
    checked_store,
    done_at_once,
    done_held,
    nothing_to_do,
    remember,
    unfit,
)
from todoplan.planner.verifying import Verify, Verifying
from todoplan.planner.watching import Feed, Journal, Subscriber, check_watch, next_entries
from todoplan.stores.base import (
    ALL,
    CUT,
    AnyStore,
    Key,
    Receipt,
    Store,
    behind_known,
    checked_id,
    follow,
    gone_back,
    is_beginning,
    is_holding,
    plan_at,
)
from todoplan.stores.memory import MemoryStore

if TYPE_CHECKING:
    from todoplan.planner.session import Session

_MOST_ATTEMPTS = 1_000  # more than many concurrent writers need, and still a limit
_MANY = 500  # events; up to `_MOST_READS` times, more than this are read before the plan is locked
_MOST_READS = 3


@attrs.frozen
class Append:
    """Entries to append, the plan after them, and the key and the answer to store with them."""

    entries: Journal
    plan: Plan
    key: Key | None = None
    answer: str = ""


@attrs.frozen
class Outcome:
    """The outcome of an attempt: the caller's result, the plan afterwards, and what to append."""

    result: Any
    plan: Plan
    appends: tuple[Append, ...] = ()

    @property
    def entries(self) -> Journal:
        """All entries that are to be appended."""
        return tuple(entry for append in self.appends for entry in append.entries)


Attempt = Callable[..., Outcome]
"""
Computes an `Outcome` from a plan, the journal entries that it asked for, and the time. If there are
keys, it also gets the receipt stored under each key (`None` if there is none).
"""

Since = Callable[[Plan, Entry | None], int | None]
"""
Returns the revision after which an attempt needs the journal, or `None` if it needs no entry.

If it returns `ALL`, for the whole journal, it is called again with the newest entry, which may show
that the whole journal is not needed.
"""


def nothing(_: Plan, __: Entry | None) -> None:
    """Return `None`: the attempt needs no entry of the journal."""
    return


# -------- receipts --------
# A call that is made twice is carried out once: its result is stored with its key, as a receipt.
#
# A framework repeats a call after a crash, a timeout or a resumed run, and cannot know whether the
# first call was carried out: of 54 writers that were killed, 4 to 13 had appended entries without
# reporting them. So the call's key and its answer are stored with the append. The call cannot be
# answered again from the plan of that time: an answer also depends on what its actor had seen, on
# the policy and on the version of the texts, and these are not in the journal.
#
# - A repeated result comes with the current plan. Otherwise a framework that keeps the plan in its
#   state would go back to an older plan.
# - The result of a call that changed nothing (a read or a refusal) is not stored: the text may be
#   long, and such a call can be made twice. If the call is repeated, it is answered anew.
# - A framework may repeat one call or all calls of a turn, in another order and in other groups. So
#   each call has a key of its own (`Planner.keys_of`). The calls that were carried out get their
#   results again, and the other calls are carried out.


@attrs.frozen
class Part:
    """
    Calls of a turn whose results are stored under one key (`None`: they are not stored).

    `places` are the positions of these calls in the turn.
    """

    key: Key | None
    places: Sequence[int]


def parts_of_turn(
    key: str | Sequence[str] | None, calls: Sequence[Call], actor: str | None
) -> tuple[Part, ...]:
    """
    Return the parts of a turn. `key` is one key for the turn, a list of one key for each call, or
    `None`.

    Raises:
        PlanError: a key is not a text or is empty, two keys are equal, or there are more or fewer
            keys than calls.
    """
    if key is None:
        return (Part(None, range(len(calls))),)
    groups: list[tuple[object, Sequence[int]]] = [(key, range(len(calls)))]
    if isinstance(key, tuple | list):
        if len(key) != len(calls) or len({*key}) != len(key):
            remedy = f"give one key for the turn, or one for each of its {len(calls)} calls"
            raise unfit(key, remedy)
        groups = [(name, (place,)) for place, name in enumerate(key)]
    parts = []
    for name, places in groups:
        # Without the ids of the calls: a framework may give new ids to calls that it repeats.
        asked = [[calls[place].name, calls[place].arguments] for place in places]
        parts.append(Part(_key(name, ["turn", asked, actor]), places))
    return tuple(parts)


def _key(name: object, asked: Any) -> Key:
    if not isinstance(name, str) or not name:
        raise unfit(name, "a key is the name of one call: a text that is not empty, key='call_7'")
    return Key(name, _digest(asked))


def _digest(asked: Any) -> str:
    try:
        text = json.dumps(asked, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = repr(asked)  # a model's arguments may be no JSON
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def replies_text(replies: Sequence[Reply]) -> str:
    """Return replies as the text that is stored with their key. The events are in the journal."""
    kept = [
        {
            "name": reply.name,
            "text": reply.text,
            "is_error": reply.is_error,
            "has_entry": bool(reply.events),
            "problems": [attrs.asdict(problem) for problem in reply.problems],
            "warnings": [attrs.asdict(warning) for warning in reply.warnings],
            "repairs": [attrs.asdict(repair) for repair in reply.repairs],
        }
        for reply in replies
    ]
    return json.dumps({"replies": kept}, separators=(",", ":"))


def replies_again(
    plan: Plan, calls: Sequence[Call], parts: Sequence[Part], kept: Sequence[Receipt | None]
) -> Mapping[int, Reply]:
    """
    Return the stored replies of a turn, by the positions of their calls. They come with `plan`, the
    current plan.

    `kept` has the receipt of each part, or `None` for a part that was not carried out before.
    """
    replies: dict[int, Reply] = {}
    for part, receipt in zip(parts, kept, strict=False):
        if receipt is not None:
            entries, last = iter(receipt.entries), receipt.entries[-1]
            saved = json.loads(receipt.answer)["replies"]
            for place, data in zip(part.places, saved, strict=True):
                entry = next(entries) if data["has_entry"] else None
                events = () if entry is None else entry.events
                # The call may have named more tasks than these: a line that changed nothing is in
                # no event.
                created = tuple(one.task.id for one in events if isinstance(one, TaskCreated))
                replies[place] = Reply(
                    plan,
                    data["text"],
                    events,
                    data["is_error"],
                    _problems(data["problems"]),
                    _problems(data["warnings"]),
                    tuple(Repair(**repair) for repair in data["repairs"]),
                    data["name"],
                    calls[place].call_id,
                    repeat_of=(entry or last).revision,
                    note=Note(named=created),
                )
    return replies


def joined(turn: Turn, again: Mapping[int, Reply], seen: Base | None) -> Turn:
    """
    Return a turn with the new replies of `turn` and the stored replies, in the order of the calls.

    `again` has the stored replies by position. `seen` is what the caller knows of the plan. Changes
    that others have made since are reported in the first stored reply that is no error, unless a
    new reply reports them.
    """
    new_replies = iter(turn.replies)
    count = len(turn.replies) + len(again)
    replies = [again[place] if place in again else next(new_replies) for place in range(count)]
    is_told = any(not reply.is_error for reply in turn.replies)
    news = "" if seen is None or is_told else unseen_text(seen, turn.plan)
    for place in sorted(again):
        text = again[place].text
        if news and not again[place].is_error:
            # The stored text may begin with the same report.
            text, news = f"{news}\n{text.removeprefix(news).lstrip()}", ""
        replies[place] = attrs.evolve(replies[place], plan=turn.plan, text=text)
    return Turn(turn.plan, tuple(replies))


def _problems(kept: list[dict[str, Any]]) -> tuple[Problem, ...]:
    return tuple(Problem(**{**data, "task_ids": tuple(data["task_ids"])}) for data in kept)


def appends_of(
    parts: Sequence[Part],
    again: Mapping[int, Reply],
    replies: Sequence[Reply],
    at: datetime,
    actor: str | None,
) -> tuple[Append, ...]:
    """
    Return what to append for the parts of a turn that were not carried out before.

    `again` has the stored replies of the other parts, by position. `replies` are the new replies.
    `at` and `actor` are the time and the author for the journal.
    """
    appends, rest = [], iter(replies)
    for part in parts:
        if part.places and part.places[0] in again:
            continue
        made, entries = [*islice(rest, len(part.places))], list[Entry]()
        for reply in made:
            if reply.events:
                entry = Entry(reply.plan.revision, reply.events, at, actor, reply.name)
                entries.append(entry)
        if entries:
            answer = "" if part.key is None else replies_text(made)
            appends.append(Append(tuple(entries), made[-1].plan, part.key, answer))
    return tuple(appends)


# -------- actors --------
# What each actor that calls through one planner knows of the plan, so that its lists undo nothing
# that it has not seen (law 15).
#
# If calls come to a planner without a session's record, the planner keeps, for each actor, the plan
# after the actor's last call. Plans share tasks that did not change, so keeping a plan costs
# little. As long as the plan is at that revision, nobody else has written, and nothing has to be
# looked up. Otherwise the journal is read: it says who did what since.
#
# The planner may not know an actor: after a restart, in another process, or if too many other
# actors have called since. Such an actor counts as having listed nothing. The journal cannot tell
# what it has listed: two clients may have the same name, and a line that changed nothing is in no
# journal. If the actor has a name, the plan after its last tool call in the journal still becomes
# its merge base. So lines that repeat that plan change nothing, and changes by others since then
# are news to the actor. A command of `apply` does not count as such a call, because it shows the
# model nothing.
#
# Likewise, a planner knows only the fencing tokens that its own calls got.


_EMPTY_PLAN = Plan()
_MOST_ACTORS = 1_000  # a server may have any number; for the others, the journal is read


def plan_of_revision(journal: Sequence[Entry], revision: int) -> Plan | None:
    """
    Compute the plan at a revision from its journal. Return `None` if the journal was cut after that
    revision, or ends before it.
    """
    entries = [one for one in journal if one.revision <= revision]
    if not entries or entries[-1].revision != revision:
        return None if revision else _EMPTY_PLAN
    return follow(_EMPTY_PLAN, entries)


def caught_up(
    known: Base,
    journal: Sequence[Entry],
    actor: str | None,
    own: Collection[int] = (),
    earlier: Mapping[str, str] = EMPTY,
) -> Base:
    """
    Return what a session knows after later entries of the journal. `known` is what the session knew
    before.

    An entry is the session's own if its revision is in `own`, or if it records what a verifier
    found for a refused call of this actor. Own entries are applied to the known plan. Of the other
    entries, the result only says who has changed which task; `earlier` says this for the entries
    before `journal`.
    """
    done: list[Event] = []
    others: list[Entry] = []
    for entry in journal:
        if entry.revision > known.plan.revision:
            if entry.revision in own or is_refused_check(entry, actor):
                done += entry.events
            else:
                others.append(entry)
    actors = {**earlier, **changed_by(known.plan, others)}
    return attrs.evolve(known, plan=replay(known.plan, done) if done else known.plan, actors=actors)


class Sight(Protocol):
    """
    What a caller knows of a plan. It is computed inside the transaction that answers the calls.

    `notes` are the notes of the earlier calls of the same turn. `learns_from_repeats` says whether
    replies that are given again tell the caller what others have changed since. `given_actor` is
    the actor in the payload of idempotency keys: the name that the program gave, if it gave one.
    """

    notes: tuple[Note, ...]
    learns_from_repeats: bool
    given_actor: str | None

    def since(self, plan: Plan, newest: Entry | None, /) -> int | None:
        """Return the revision after which entries are needed, or `None` if none is needed."""
        ...

    def base(self, plan: Plan, journal: Journal, /) -> Base | None:
        """Return the merge base of the calls, or `None` if the caller knows the whole plan."""
        ...

    def did(self, events: Sequence[Event], /) -> None:
        """Note which claims the caller's calls got or ended."""
        ...


class ActorSight:
    """
    What an actor of one planner knows, and the fencing tokens of the claims that it has made.

    `known` is what the actor knew after its last call through this planner, if there was one.
    """

    notes: tuple[Note, ...] = ()
    learns_from_repeats = False

    def __init__(self, toolset: ToolSet, actor: str | None) -> None:
        self._toolset, self.given_actor = toolset, actor
        self.known: Base | None = None
        self.fences: Fences = NO_FENCES
        self._lock = Lock()

    def knows(self, known: Base) -> None:
        """Note what the actor knows after a call."""
        with self._lock:
            # If an actor makes two calls at the same time, the earlier one may come here last.
            if self.known is None or known.plan.revision >= self.known.plan.revision:
                self.known = known

    def did(self, events: Sequence[Event]) -> None:
        """Note which claims the actor's own calls got or ended."""
        if self._toolset.team or self.fences:  # the common case needs no lock
            with self._lock:
                self.fences = fences_after(self.fences, events)

    def since(self, plan: Plan, newest: Entry | None) -> int | None:
        """
        Return the revision after which `base` needs the journal, or `None` if it needs no entry.
        `newest` is the last entry of the journal, if the caller has it.
        """
        if (known := self.known) is not None:
            return known.plan.revision if plan.revision > known.plan.revision else None
        if self.given_actor is None or not plan.revision:
            return None
        return None if newest is not None and self._last_call((newest,)) else ALL

    def base(self, plan: Plan, journal: Journal) -> Base | None:
        """
        Return the merge base of the actor's next calls, or `None` if it knows the whole plan.

        `journal` has the entries that `since` asked for.
        """
        known = self.known
        if known is None:
            if plan.next_id == 1:
                return None  # nothing was ever written, so there is nothing to know
            count = 0 if self.given_actor is None else self._last_call(journal)
            then = follow(_EMPTY_PLAN, journal[:count]) if count else plan
            # A list by this actor reopens no task: it does not know who has closed which task.
            known = Base(then, listed=NOTHING_LISTED, overflow=True)
        if known.plan.revision != plan.revision:
            known = caught_up(known, journal, self.given_actor)
        if known.plan.revision != plan.revision:
            return known
        # The revisions are equal now, perhaps because all new entries record what a verifier found
        # for the actor's own calls.
        return None if known.is_alone else attrs.evolve(known, plan=plan, actors=EMPTY)

    def _last_call(self, journal: Journal) -> int:
        """Return the number of entries up to the actor's last tool call; 0 if there is none."""
        for place in reversed(range(len(journal))):
            entry = journal[place]
            # The cause of an entry by `apply` is the name of a command, which is not a tool.
            is_call = entry.actor == self.given_actor and self._toolset.find(entry.cause)
            if is_call and not is_refused_check(entry, self.given_actor):
                return place + 1
        return 0


# -------- restoring --------
# An earlier plan is restored, from a snapshot or from a plan that was kept elsewhere.
#
# This is one command, which adds an entry to the journal. No entry is removed.


_ANYTHING_GOES = Policy()
_BEGUN = "begin"


def put_back(plan: Plan, earlier: Plan, blank: Entry, fences: Fences) -> Outcome:
    """
    Replace the tasks by those of an `earlier` plan. The journal entry of this change has the time,
    actor and cause of `blank`.

    The command is refused if it would end a live claim whose fencing token is not among `fences`.
    """
    # No policy: the earlier plan may break a rule that was added later, and is still restored.
    command = RestorePlan(tuple(earlier), earlier.next_id, earlier.approved)
    decision = decide(plan, command, _ANYTHING_GOES, at=blank.at, fences=fences)
    if isinstance(decision, Rejected):
        return Outcome(decision, plan)
    after = decision.plan
    entry = attrs.evolve(blank, revision=after.revision, events=decision.events)
    return Outcome(decision, after, (Append((entry,), after),))


def _moved_on(plan: Plan, seen: int) -> Rejected:
    return Rejected((Problem("moved_on", seen=str(seen), legal=str(plan.revision)),))


S = TypeVar("S", bound=AnyStore)
T = TypeVar("T")
_NO_REPLIES: Mapping[int, Reply] = {}


class Transactions(Generic[S]):
    """The operations of `Planner` and `AsyncPlanner`, as steps."""

    _awaits = False

    def __init__(
        self,
        store: S | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
    ) -> None:
        # Compared with None: a store may have a length, and an empty one would be false.
        self._store: AnyStore = MemoryStore() if store is None else checked_store(store)
        # A store has no default id: DeerFlow had one, and gave one user's reminders to another.
        if store is not None and plan_id is None:
            msg = "a store that is given may hold many plans; say which one with plan_id="
            raise PlanError(msg)
        self._plan_id = "plan" if plan_id is None else checked_id(plan_id)
        self.toolbox = Toolbox() if toolbox is None else toolbox
        if not isinstance(self.toolbox, Toolbox):
            raise unfit(toolbox, "give a toolbox: Toolbox(toolset, policy)")
        if not callable(clock):
            raise unfit(clock, "give a function: clock=lambda: datetime.now(UTC)")
        self._clock = clock
        self._holds = is_holding(self._store)
        self._feed = Feed(self._plan_id, has_tails=self._holds)
        self._sights: dict[str | None, ActorSight] = {}
        self._sights_lock = Lock()
        self._verifying = Verifying.of(self.toolbox, verify)
        self._prepare()

    def _prepare(self) -> None:
        """Check or set up what one kind of planner needs. Called at the end of `__init__`."""

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Call a function for every command that is accepted from now on. To end the subscription,
        call the returned function.

        The planner's call that carries out a command also calls the subscriber. So the subscriber
        should return quickly, and pass slow work to a queue. An exception that it raises is logged
        and affects nobody else, because the command has already happened.
        """
        if not callable(subscriber):
            raise unfit(subscriber, "give a function of an entry and a plan")
        return self._feed.add(subscriber)

    def claimed_by_others(
        self, plan: Plan, *, actor: str | None = None, fences: Fences | None = None
    ) -> frozenset[str]:
        """
        Return the ids of the tasks that others work on, for guidance in a loop of your own:

            claimed = planner.claimed_by_others(plan, actor="bot")
            advice = guidance.after_model(plan, message, memory, claimed=claimed)

        The actor's own tasks are those whose fencing tokens are in `fences`: by default, the tokens
        that this planner's calls got for the actor.
        """
        own = self._sight(actor).fences if fences is None else fences
        return claimed_by_others(plan, own, in_utc(self._clock()))

    def _sight(self, actor: str | None) -> ActorSight:
        """
        Return what an actor knows. If there are more than `_MOST_ACTORS`, the actor whose last call
        was the earliest is forgotten.
        """
        with self._sights_lock:
            sight = self._sights.get(actor) or ActorSight(self.toolbox.toolset, actor)
            remember(self._sights, actor, sight, _MOST_ACTORS)
            return sight

    def keys_of(self, calls: Sequence[Call], *scope: object) -> Sequence[str] | None:
        """
        Return keys, to be passed to `turn`, for calls that a framework may repeat. Return `None` if
        the store keeps no keys.

        `scope` distinguishes these calls from other calls with the same ids, because some providers
        number the calls of each response anew. Pass the id of the conversation, and either the id
        of the model's message or the plan's revision at which it was written. A call that somebody
        has edited gets another key, even if it keeps its id.
        """
        if not self._holds:
            return None
        # Without ids (Gemini's calls need none), the position in the response distinguishes the
        # calls. The arguments are part of the key: a call that a person has edited may keep its id,
        # and must not be refused because its key was already used.
        ids = [call.call_id or str(place) for place, call in enumerate(calls)]
        return tuple(
            f"{name}:{_digest([*scope, name, call.name, call.arguments])[:32]}"
            for name, call in zip(ids, calls, strict=True)
        )

    def _apply(
        self,
        command: Command,
        *,
        actor: str | None = None,
        policy: Policy | None = None,
        key: str | None = None,
    ) -> Steps[Decision]:
        """
        Carry out a command, or return why it is refused. The toolbox's policy is used unless
        another policy is passed.

        `key` is a name for this command, unique in its plan. If the command is repeated with the
        same key, in any process, it changes nothing, and returns the first result with the current
        plan. If a command changed nothing, for example because it was refused, its key is not kept.
        With a store that keeps no keys, `key` raises a StoreError.
        """
        chosen = self.toolbox.policy if policy is None else require(policy, Policy)
        keys = () if key is None else (_key(key, ["apply", repr(command), actor]),)

        def attempt(
            plan: Plan, _: Journal, at: datetime, kept: Sequence[Receipt | None] = (None,)
        ) -> Outcome:
            if (receipt := kept[0]) is not None:
                events = tuple(event for entry in receipt.entries for event in entry.events)
                warnings = _problems(json.loads(receipt.answer)["warnings"])
                return Outcome((Accepted(plan, events, warnings), True), plan)
            decision = decide(plan, command, chosen, at=at, actor=actor)
            if isinstance(decision, Rejected) or not decision.events:
                return Outcome((decision, False), plan)
            after = decision.plan
            entry = Entry(after.revision, decision.events, at, actor, type(command).__name__)
            append = Append((entry,), after)
            if keys:
                warned = [attrs.asdict(warning) for warning in decision.warnings]
                answer = json.dumps({"warnings": warned}, separators=(",", ":"))
                append = Append((entry,), after, keys[0], answer)
            return Outcome((decision, False), after, (append,))

        decision: Decision
        decision, is_repeated = yield from self._commit(attempt, keys=keys)
        if not is_repeated:
            tell_decided(self.toolbox, decision, actor)
        return decision

    def _call(
        self,
        name: str,
        arguments: object = None,
        *,
        actor: str | None = None,
        key: str | None = None,
    ) -> Steps[Reply]:
        """
        Answer one tool call. Changes that others made since this actor's last call stay in the
        plan, and the reply reports them. For `key` see `apply`.
        """
        turn = yield from self._turn((Call(name, arguments),), actor=actor, key=key)
        return turn.replies[0]

    def _turn(
        self,
        calls: Sequence[Call],
        *,
        actor: str | None = None,
        base: Base | Sight | None = None,
        key: str | Sequence[str] | None = None,
        fences: Fences | None = None,
    ) -> Steps[Turn]:
        """
        Answer all planning calls of one model turn in order, and save their changes together.

        `base` is the plan as the writer of the calls last saw it: later changes by others stay in
        the plan. By default, the planner remembers this plan for each actor. `key` is one key for
        the turn (see `apply`), or one for each call (`keys_of`): calls that were carried out before
        get their replies again, and the other calls are carried out. `fences` are the fencing
        tokens of the writer's claims (`fences_after`). By default, the planner remembers these
        tokens for each actor.
        """
        began = time_ns()
        calls = tuple_of(calls, Call, 'the calls of a turn, such as [Call("TaskList", {})]')
        looks = None if self._verifying is None else self._verifying.looks()
        box = self.toolbox if looks is None else looks.toolbox
        # The knowledge of the caller: a fixed base, a session's, or what the planner remembers.
        fixed = base if isinstance(base, Base) else None
        sight: Sight = self._sight(actor) if base is None or isinstance(base, Base) else base
        parts = parts_of_turn(key, calls, sight.given_actor)
        keys = () if key is None else [part.key for part in parts if part.key is not None]
        own = sight if isinstance(sight, ActorSight) else None
        own_fences = (own or self._sight(actor)).fences if fences is None else fences
        since = sight.since if fixed is None else nothing

        def attempt(
            plan: Plan, journal: Journal, at: datetime, kept: Sequence[Receipt | None] = ()
        ) -> Outcome:
            again = replies_again(plan, calls, parts, kept) if kept else _NO_REPLIES
            new_calls = (
                [call for place, call in enumerate(calls) if place not in again] if again else calls
            )
            learns, seen, fences = new_calls or sight.learns_from_repeats, fixed, own_fences
            if fixed is None and learns:
                seen = sight.base(plan, journal)
            if again:
                repeated = [entry for receipt in kept if receipt for entry in receipt.entries]
                fences = fences_after(fences, [event for one in repeated for event in one.events])
                if seen is not None:
                    # The framework has lost the results of these calls, but their changes are no
                    # news to the actor. Changes that others made before them stay unseen.
                    later = [one for one in repeated if one.revision > seen.plan.revision]
                    seen = seen.with_own(event for one in later for event in one.events)
            # One append for all calls of a turn (law 13). pydantic-ai-harness writes each change
            # of a batch separately and without a version, so parallel calls interleave.
            turn = box.turn(plan, new_calls, at=at, base=seen, actor=actor, fences=fences)
            if looks is not None and looks.are_missing:
                return Outcome((turn, seen, plan, False), plan)
            appends = appends_of(parts, again, turn.replies, at, actor)
            if again:
                turn = joined(turn, again, seen)
            return Outcome((turn, seen, plan, learns), turn.plan, appends)

        # A read by an actor that has a claim is committed, because it extends the claim.
        only_reads = not own_fences
        for call in calls:
            tool = self.toolbox.toolset.find(call.name)
            only_reads = only_reads and (tool is None or tool.read_only)
        turn: Turn
        while True:
            if only_reads:
                plan, journal = yield from self._read(since)
                answered = attempt(plan, journal, in_utc(self._clock())).result
            else:
                with_repeats = sight.learns_from_repeats
                answered = yield from self._commit(attempt, since, keys, with_repeats=with_repeats)
            if looks is None or not looks.are_missing:
                break
            # A verification may take minutes, so the plan and the store are not locked meanwhile.
            yield looks.alook if self._awaits else looks.look
        turn, seen, before, learns = answered
        events = turn.events
        sight.did(events)
        # For a cancelled caller the steps end here: the change is saved, but the caller does not
        # see the answer (see `AsyncPlanner`).
        if self._awaits:
            yield nothing_to_do
        # Only now the caller's knowledge is updated. An attempt that was not saved and a refusal
        # have shown nothing to anybody. A repeated reply has shown the plan of its time, not the
        # current plan.
        was_behind = seen is not None and seen.plan.revision != before.revision
        at_revision = None if was_behind else turn.plan.revision - len(events)
        if learns and turn.shows_all_to(at_revision):
            if seen is None:
                known = quick_base(turn.plan)
            else:
                notes = [*sight.notes, *(reply.note for reply in turn.replies)]
                known = seen.advanced(before, turn.plan, notes)
            if own is not None:
                own.knows(known)
            turn = Turn(turn.plan, turn.replies, known)
        tell_called(self.toolbox, turn.replies, actor, began)
        return turn

    def _base_of(self, actor: str | None = None) -> Steps[Base | None]:
        """
        Return a `Base`: the plan as an actor last saw it, and who has changed it since. Return
        `None` if the actor has seen the whole plan. For guidance in a loop of your own:

            base = planner.base_of("bot")
            advice = guidance.before_model(plan, messages, memory, base=base)
        """
        sight = self._sight(actor)
        plan, journal = yield from self._read(sight.since)
        base = sight.base(plan, journal)
        return None if base is None or base.plan.revision == plan.revision else base

    def _look(
        self, known: int | None, own: Collection[int] = (), *, actor: str | None = None
    ) -> Steps[tuple[Plan, Base | None]]:
        """
        Return the plan, and what a session knows of it (the merge base of the session).

        `known` is the revision that the session last saw; if it is `None`, the base is `None`.
        `own` are the revisions that the session has written since, and `actor` is the name of the
        session's actor.
        """
        # The journal is also read for a revision that the store does not have yet, or no longer.
        plan, journal = yield from self._read(
            lambda plan, _: None if known in {None, plan.revision} else ALL
        )
        if known is None:
            return plan, None
        return plan, base_at(journal, known, own, actor=actor) if journal else Base(plan)

    def _begin(self, *plans: Plan) -> Steps[bool]:
        """
        If this plan was never written, write the given plans to the store, one after the other.
        Return whether the plan began this way, now or earlier. No rule is checked.
        """

        def attempt(plan: Plan, journal: Journal, at: datetime) -> Outcome:
            if plan.revision:
                return Outcome(bool(journal) and journal[0].cause == _BEGUN, plan)
            entries: Journal = ()
            for earlier in plans:
                blank = Entry(0, (), at, cause=_BEGUN, undoes=0)
                done = put_back(plan, earlier, blank, NO_FENCES)  # no restored task is claimed
                plan, entries = done.plan, entries + done.entries
            return Outcome(True, plan, (Append(entries, plan),) if entries else ())  # noqa: FBT003

        return self._commit(attempt, lambda plan, _: ALL if plan.revision else None)

    def _undo(
        self, *, actor: str | None = None, seen: int | None = None, fences: Fences | None = None
    ) -> Steps[Decision]:
        """
        Undo the last accepted command that has not been undone. Called again, undo the command
        before it.

        `seen` is the revision at which the caller last saw the plan. If the plan has changed since,
        the undo is refused. `fences` are the fencing tokens of the actor's claims, such as
        `{"3": 1}`. An undo that would end any other live claim is refused. By default, `fences` are
        the tokens that this planner's own calls got for the actor.
        """
        return self._undo_last(actor, seen, fences)

    def _undo_last(
        self,
        actor: str | None,
        seen: int | None = None,
        fences: Fences | None = None,
        kept: Journal = (),
        earlier: Sequence[Start] = (),
    ) -> Steps[Decision]:
        """
        Undo the last change.

        If the store has only a part of the journal, as a slot has, `kept` is the journal to use.
        The plan before the change is then replayed from `kept`, starting from the empty plan, from
        a restored plan in `kept`, or from one of the `earlier` plans.

        Raises:
            PlanError: the plan before the change cannot be computed from `kept` and `earlier`.
        """
        own = self._sight(actor).fences if fences is None else fences

        def attempt(plan: Plan, stored: Journal, at: datetime) -> Outcome:
            journal = kept or stored
            # The last command is now another one, which this actor has never seen (law 15).
            if seen is not None and plan.revision != seen:
                return Outcome(_moved_on(plan, seen), plan)
            # The change is looked up in the journal, so that another planner, or this one after a
            # restart, can continue to undo.
            change = last_change(journal)
            if change is None:
                problem = Problem("nothing_to_undo")
                # If the journal was cut, the refusal says so.
                if journal and is_beginning(journal[0]) and journal[0].cause == CUT:
                    problem = Problem("journal_cut", seen=str(journal[0].revision))
                return Outcome(Rejected((problem,)), plan)
            if kept:
                before = plan_before(change, plan, kept, (*starts(kept), *earlier))
            else:
                # Every later entry is an undo, was undone, or is a heartbeat, so it is enough to
                # replay the entries before this one.
                before = plan_at(journal, journal.index(change))
            decision, entry = undone(plan, change, before, at=at, actor=actor, fences=own)
            if isinstance(decision, Rejected) or entry is None:
                return Outcome(decision, plan)
            return Outcome(decision, decision.plan, (Append((entry,), decision.plan),))

        return self._commit(attempt, lambda *_: ALL)

    def _restore(
        self,
        earlier: Plan,
        *,
        actor: str | None = None,
        seen: int | None = None,
        fences: Fences | None = None,
        cause: str = "restore",
    ) -> Steps[Decision]:
        """
        Replace the tasks by those of an earlier plan, or by the first tasks of a new plan.

        The revision grows, and no id is used again. No rule is checked, because an earlier plan may
        break a rule that was added later. For `seen` and `fences` see `undo`. `cause` is the name
        of the command in the journal.
        """
        own = self._sight(actor).fences if fences is None else fences

        def attempt(plan: Plan, _: Journal, at: datetime) -> Outcome:
            if seen is not None and plan.revision != seen:
                return Outcome(_moved_on(plan, seen), plan)
            return put_back(plan, earlier, Entry(0, (), at, actor, cause=cause), own)

        return self._commit(attempt)

    def _history(self) -> Steps[Journal]:
        """Return the journal, oldest entry first, with the time and the actor of each entry."""
        journal: Journal = yield "entries", (self._plan_id,)
        return journal

    def _plan(self) -> Steps[Plan]:
        """Return the current plan."""
        if not self._holds or not self._feed.has_read:
            plan: Plan = yield "load", (self._plan_id,)
            self._feed.saw(plan)
            if not self._holds or not plan.revision:
                return plan
        # Also after a load, to get the entry that led to the plan.
        known, last = self._feed.newest
        tail: Journal = yield self._since(known.revision - 1)
        return self._caught_up(known, last, tail)

    # -------- commits --------
    # Other processes may write to a plan at any time. There are two ways to run an attempt on a
    # plan. Both may run it more than once, or discard its result, so an attempt must not have side
    # effects.
    #
    # - A store that can lock a plan (`todoplan.stores.base`): the planner keeps the newest plan
    #   that it has read, with the last entry of its journal. It locks the plan, checks that this
    #   entry is still in the journal, reads the later entries, runs the attempt, and appends. No
    #   other writer can come between.
    # - Any other store: the planner reads the plan, runs the attempt, and appends with the revision
    #   that it read. If the plan has changed since, the store refuses the append, and the attempt
    #   is run again on the current plan.
    #
    # A read takes no lock, so readers and writers do not wait for each other. If many entries have
    # to be read, they are read before the plan is locked, so that others can write meanwhile, also
    # to other plans.

    def _read(self, since: Since) -> Steps[tuple[Plan, Journal]]:
        """Return the plan, and the entries of its journal that `since` asks for."""
        if not self._holds:
            result: tuple[Plan, Journal] = yield from self._compared(
                lambda plan, journal, _: Outcome((plan, journal), plan), since
            )
            return result
        plan = yield from self._plan()
        if since(plan, None) is None:
            return plan, ()
        tail: Any = yield from self._tail(since, plan, self._since)
        # The two reads are not atomic: entries that came between them are left out.
        return plan, tuple(entry for entry in tail if entry.revision <= plan.revision)

    def _commit(
        self,
        attempt: Attempt,
        since: Since = nothing,
        keys: Sequence[Key] = (),
        *,
        with_repeats: bool = False,
    ) -> Steps[Any]:
        """
        Carry out an attempt, append its entries, tell subscribers, and return its result.

        With keys, the attempt also gets the receipt stored under each key (`None` if there is
        none), and must not repeat a call that has a receipt. If every key has a receipt, the
        attempt gets an empty journal, unless `with_repeats` is true.

        Raises:
            StoreError: the store fails; "no_keys" if keys are given and the store keeps none.
        """
        if not self._holds:
            if keys:
                msg = (
                    f"{type(self._store).__name__} keeps no keys, so a call that is made twice"
                    " would happen twice; take a SqliteStore, or leave out key="
                )
                raise StoreError(msg, plan_id=self._plan_id, problem="no_keys")
            return (yield from self._compared(attempt, since))
        if not self._feed.has_read:
            self._feed.saw((yield "load", (self._plan_id,)))
        appending: list[Plan] = []
        # The entries after a revision, if they were read before the plan was locked.
        read: tuple[int, Journal] | None = None
        reads = 0

        def decided(held: Any) -> Steps[tuple[Plan, Outcome] | int]:
            """
            Run the attempt on the locked plan and append its entries. `held` is the lock, a `Held`
            or an `AsyncHeld`.

            If too many events must be read first, append nothing, and return the revision after
            which they come.
            """
            known, last = self._feed.newest
            most = _MANY if reads < _MOST_READS else inf
            revision: int = held.revision
            if revision < known.revision:
                raise gone_back(self._plan_id, known.revision, revision)
            if revision - known.revision > most:
                return revision
            tail = yield partial(held.entries_since, known.revision - 1)
            plan = self._caught_up(known, last, tail)
            receipts = []
            for key in keys:
                receipt = yield partial(held.receipt, key)
                receipts.append(receipt)
            journal: Journal | int = ()
            # A session computes what it knows from the journal, so it needs the journal even if
            # every call is a repeated one.
            is_needed = not receipts or with_repeats or not all(receipts)
            if is_needed and since(plan, None) is not None:
                journal = yield from self._tail(
                    since, plan, lambda after: partial(held.entries_since, after), read, most
                )
                if isinstance(journal, int):
                    return journal
            # All users of the plan share the store's clock. If the program has passed a clock, that
            # one is used instead.
            at = (yield held.now) if self._clock is utc_now else in_utc(self._clock())
            done = attempt(plan, journal, at, *([tuple(receipts)] if keys else []))
            revision = plan.revision
            for append in done.appends:
                signed = {"key": append.key, "answer": append.answer} if append.key else {}
                appending.append(plan)
                yield partial(held.append, revision, append.entries, append.plan, **signed)
                revision = append.plan.revision
            return plan, done

        while True:
            try:
                result = yield Hold(self._plan_id, decided)
            except Exception:
                # Perhaps the entries are saved, and only the acknowledgement was lost. So
                # subscribers are called for the entries in the journal. A PostgreSQL server that
                # was killed 20 times under load left 5 such commits.
                if appending:
                    yield News(appending[0], (), None)
                raise
            if not isinstance(result, int):
                break
            reads += 1
            plan = yield from self._plan()
            tail: Journal = yield self._since(result)
            read = result, tuple(entry for entry in tail if entry.revision <= plan.revision)
            # The result is not used. But slow parts of the attempt are cached, such as replaying
            # years of entries. So the next attempt does not repeat them while the plan is locked.
            attempt(plan, read[1], in_utc(self._clock()), *([(None,) * len(keys)] if keys else []))
        plan, done = result
        self._feed.saw(done.plan, done.appends[-1].entries[-1] if done.appends else None)
        if self._feed.subscriptions:
            yield News(plan, done.entries, done.plan)
        return done.result

    def _compared(self, attempt: Attempt, since: Since) -> Steps[Any]:
        # Retries are affordable: in a prototype on SQLite, 32 processes on one plan appended 2,656
        # times a second, with 4.3 conflicts per append; an agent makes about one call a second.
        for _ in range(_MOST_ATTEMPTS):
            plan = yield from self._plan()
            journal: Journal = ()
            if since(plan, None) is not None:
                journal = yield from self._history()
            # The two reads are not atomic: somebody may have written between them.
            if journal and journal[-1].revision != plan.revision:
                continue
            # Each attempt reads the clock, so that its entry is not older than an entry that came
            # in between.
            done = attempt(plan, journal, in_utc(self._clock()))
            is_kept, entries = True, done.entries
            if entries:
                try:
                    is_kept = yield "append", (self._plan_id, plan.revision, entries, done.plan)
                except Exception:
                    yield News(plan, (), None)  # as in `_commit`
                    raise
            if is_kept:
                self._feed.saw(done.plan, entries[-1] if entries else None)
                if self._feed.subscriptions:
                    yield News(plan, entries, done.plan)
                return done.result
        msg = f"the plan {self._plan_id!r} kept changing for {_MOST_ATTEMPTS} tries; try again"
        raise StoreError(msg, plan_id=self._plan_id, problem="busy")

    def _since(self, revision: int) -> Step:
        return "entries_since", (self._plan_id, revision)

    def _caught_up(self, known: Plan, last: Entry | None, tail: Journal) -> Plan:
        """
        Return the newest plan: the known plan after the later entries. `tail` begins with the entry
        that led to the known plan, which must be the same entry as `last`.
        """
        if len(tail) == 1 and tail[0] is last:  # nearly always, where the store is in memory
            return known
        if last is None and len(tail) == 1 and tail[0].revision == known.revision:
            self._feed.saw(known, tail[0])  # the plan was loaded; this entry led to it
            return known
        plan = follow(known, behind_known(self._plan_id, known.revision, last, tail))
        self._feed.saw(plan, tail[-1] if tail else None)
        return plan

    def _tail(
        self,
        since: Since,
        plan: Plan,
        ask: Callable[[int], Step],
        read: tuple[int, Journal] | None = None,
        most: float = inf,
    ) -> Steps[Journal | int]:
        """
        Return the journal entries that an attempt needs. If they have more than `most` events,
        return the revision after which they come.

        `ask` returns the step that reads the entries after a revision. `read` is a revision, and
        the entries after it that were read before.
        """
        first = since(plan, None)
        if first == ALL:
            # After a restart, if this actor has written the newest entry, the earlier entries
            # (perhaps years of them) are not needed.
            known, last = self._feed.newest
            if last is None or known.revision != plan.revision:
                newest: Journal = yield ask(plan.revision - 1)
                last = newest[-1] if newest else None
            first = since(plan, last)
        if first is None:
            return ()
        if read is not None and read[0] <= first and read[1]:
            end = read[1][-1].revision
            more: Journal = () if end == plan.revision else (yield ask(max(first, end)))
            return (*(entry for entry in read[1] if entry.revision > first), *more)
        if plan.revision - max(first, 0) > most:
            return first
        journal: Journal = yield ask(first)
        return journal


_PLAIN = Settings()
_AWAITED = "a Planner cannot await: use AsyncPlanner with this store or subscriber"


class Planner(Transactions[Store]):
    """
    One plan in a store, which is this process's memory by default. Threads may share a planner.

    An example is `Planner(store, "thread-7", toolbox=Toolbox(LEAN))`. The argument `actor` of the
    methods names who acts. The program passes it; it is never read from a model's arguments.
    Subscribers are called one after the other, in the thread whose command was accepted.

    `verify` is called before a model's call completes a task that has a `check`. It is a function
    that takes the task and the plan and returns (passed, summary), or a `Verifier`.
    """

    def _prepare(self) -> None:
        if self._verifying is not None:
            self._verifying.verifier.refuse_awaited("AsyncPlanner")
        if iscoroutinefunction(self._store.load):
            raise PlanError(_AWAITED)

    @property
    def plan(self) -> Plan:
        """The current plan. It is an immutable value, so it also serves as a snapshot."""
        return done_at_once(self._plan(), self._perform)

    apply = at_once(Transactions._apply)
    call = at_once(Transactions._call)
    turn = at_once(Transactions._turn)
    base_of = at_once(Transactions._base_of)
    look = at_once(Transactions._look)
    begin = at_once(Transactions._begin)
    undo = at_once(Transactions._undo)
    restore = at_once(Transactions._restore)
    history = at_once(Transactions._history)

    def session(
        self,
        record: dict[str, Any] | None = None,
        *,
        actor: str | None = None,
        settings: Settings = _PLAIN,
    ) -> Session:
        """
        Return a session: one conversation with this plan. Several sessions may have the same actor.

        A `record` (`session.record`) continues the conversation from which it was saved. Without a
        record, the session has listed nothing. With the tool set of a team, a session without an
        actor has a name from its record.
        """
        # Imported here: the session needs this module, and most planners need no session.
        from todoplan.planner.session import Session, record_from_data  # noqa: PLC0415

        kept = None if record is None else record_from_data(record)
        return Session(self, kept, actor=actor, settings=settings)

    def claim(self, owner: str | ClaimTask) -> Claimed | None:
        """
        Claim a task, so that nobody else works on it for now. Return `None` if none is available.

            while (held := planner.claim("worker-1")) is not None:
                with held:
                    do(held.task)

        `None` does not mean that all tasks are done. A task may become available later, if another
        worker completes a task that blocks it, or if the lease of a claim ends. `work` waits for
        this. A loop of your own should ask again while `any(task.claim for task in planner.plan)`.

        To select the task, pass a `ClaimTask` instead of the name. Its `lease` is the number of
        seconds after which a claim ends if it is not renewed (default: 300):
        `ClaimTask("worker-1", lease=60, tag="docs", attempts=3)`.

        Raises:
            PlanError: the task that the command names cannot be claimed; `data["problems"]` says
                why.
        """
        command = claim_of(owner)
        claimed = self._run(claiming(self, command))
        return None if claimed is None else Claimed(self, command, *claimed)

    def watch(self, since: int | None = None, *, timeout: float | None = None) -> Iterator[Entry]:
        """
        Yield every journal entry after revision `since`, once and in order, whichever process wrote
        it. Then wait for new entries, until none has come for `timeout` seconds; without a timeout,
        forever.

            for entry in planner.watch(since=0):
                print(entry.revision, entry.actor, entry.cause)

        Without `since`, only the entries that come from now on are yielded. If the journal was cut
        after revision `since`, the first entry contains the plan as it was at the cut. If the store
        is unavailable for a while, the watch waits.

        Raises:
            PlanError: `since` is not a revision, or `timeout` is not a number of seconds.
            StoreError: the plan has not reached `since` ("rolled_back"), or the store fails.
        """
        known = self.plan.revision if since is None else since
        check_watch(known, timeout)
        return self._watched(known, timeout)

    def _watched(self, known: int, timeout: float | None) -> Iterator[Entry]:
        last, wait = None, getattr(self._store, "wait_for_change", None)
        where = self._store, self._plan_id
        while entries := self._run(next_entries(*where, known, last, timeout, sleep, wait)):
            yield from entries
            last = entries[-1]
            known = last.revision

    def follow(self, *, timeout: float | None = None) -> None:
        """
        Call subscribers also for the entries that other planners write, until no entry has come for
        `timeout` seconds; without a timeout, forever. Run it in a thread of its own:

            Thread(target=planner.follow, daemon=True).start()

        Raises:
            PlanError, StoreError: see `watch`.
        """
        plan = self.plan
        for entry in self.watch(plan.revision, timeout=timeout):
            before, plan = plan, follow(plan, (entry,))
            self._feed.saw(plan, entry)
            self._perform(News(before, (entry,), plan))

    def _run(self, steps: Steps[T]) -> T:
        return done_at_once(steps, self._perform)

    def _perform(self, step: Step) -> Any:
        if isinstance(step, News):
            for subscription in self._feed.behind(step.after):
                self._run(self._feed.tell(subscription, step))
            return None
        if isinstance(step, Hold):
            return done_held(self._store, step)
        if isinstance(step, tuple):
            method, arguments = step
            value = getattr(self._store, method)(*arguments)
        else:
            value = step()
        # `await` looks the method up on the type; an instance may pretend to have any attribute.
        if hasattr(type(value), "__await__"):
            if isinstance(value, Coroutine):
                # Otherwise Python warns that it was never awaited.
                value.close()
            raise PlanError(_AWAITED)
        return value
