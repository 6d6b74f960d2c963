"""`Planner`: transactions carried out at once, in the thread that asks for them."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Iterator, Sequence
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar

from todoplan.core.commands import ClaimTask, Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.settings import Settings
from todoplan.dialogue.held_claims import Fences
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import PlanError
from todoplan.planner.claiming.claims import Claimed, claim_of, claiming
from todoplan.planner.steps import Hold, News, Step, Steps, done_held
from todoplan.planner.transactions import Transactions
from todoplan.planner.verifying.verifier import Verify
from todoplan.planner.watching import watched, watching
from todoplan.stores.base import Store
from todoplan.stores.journals import follow

__all__ = ["Planner"]

if TYPE_CHECKING:
    from todoplan.planner.session import Session

T = TypeVar("T")
_PLAIN = Settings()
_AWAITED = "a Planner awaits nothing: use AsyncPlanner with this store or subscriber"


class Planner(Transactions):
    """
    One plan, kept in a store: this process's memory unless told otherwise. Safe between threads.

    `Planner(store, "thread-7", toolbox=Toolbox(LEAN))`. `actor` is who acts, as the caller
    knows it; it is never read from a model's arguments. Subscribers are told one after the other,
    in the thread whose command was accepted. `verify` looks whether a task with a check is done
    before a model's call completes it: a function of the task and the plan that returns
    (passed, summary), or a `Verifier`.
    """

    def __init__(
        self,
        store: Store | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
    ) -> None:
        super().__init__(store, plan_id, toolbox=toolbox, clock=clock, verify=verify)
        if self._verifying is not None:
            self._verifying.verifier.refuse_awaited("AsyncPlanner")
        if iscoroutinefunction(self._store.load):
            raise PlanError(_AWAITED)

    @property
    def plan(self) -> Plan:
        """
        The plan as it stands; a value, so it serves as a snapshot as well.
        """
        return self._run(self._plan())

    def apply(
        self,
        command: Command,
        *,
        actor: str | None = None,
        policy: Policy | None = None,
        key: str | None = None,
    ) -> Decision:
        """
        Carry a command out, or say why not; under the toolbox's policy unless another is given.

        Made again with the same `key`, in any process, it changes nothing: what is returned is what
        came of it, with the plan as it stands. A `key` is unique in its plan; a store may keep
        none. What changed nothing (a refusal) is not kept.
        """
        return self._run(self._apply(command, actor, policy, key))

    def call(
        self,
        name: str,
        arguments: object = None,
        *,
        actor: str | None = None,
        key: str | None = None,
    ) -> Reply:
        """
        Answer one tool call. What others did since this actor's last call stays, and the answer
        tells of it. `key` is as of `apply`.
        """
        return self._run(self._call(name, arguments, actor, key))

    def turn(
        self,
        calls: Sequence[Call],
        *,
        actor: str | None = None,
        base: Base | None = None,
        key: str | Sequence[str] | None = None,
        fences: Fences | None = None,
    ) -> Turn:
        """
        Answer all planning calls of one model turn, in order as one. `base` is the plan as their
        writer last saw it, where the caller knows that (law 15). `key` is as of `apply`, or one for
        each call (`keys_of`): what was carried out is given again beside what was not. `fences`
        are those of the writer's claims, where the caller keeps them (`fences_after`); otherwise
        the planner does.
        """
        return self._run(self._turn(calls, actor, base, key, fences))

    def base_of(self, actor: str | None = None) -> Base | None:
        """
        Return the plan as an actor last saw it, and who has changed it since; `None` if it has seen
        all. For guidance in a loop of one's own:

            base = planner.base_of("bot")
            advice = guidance.before_model(plan, messages, memory, base=base)
        """
        return self._run(self._base_of(actor))

    def session(
        self,
        record: dict[str, Any] | None = None,
        *,
        actor: str | None = None,
        settings: Settings = _PLAIN,
    ) -> Session:
        """
        Return a session with this plan: a conversation of its own, whatever its actor's name. It
        goes on from a `record`, which is `session.record` of the same conversation; without one it
        has listed nothing.
        """
        from todoplan.planner.record import record_from_data  # noqa: PLC0415 - most need neither
        from todoplan.planner.session import Session  # noqa: PLC0415 - which needs this module

        kept = None if record is None else record_from_data(record)
        return Session(self, kept, actor=actor, settings=settings)

    def claim(self, owner: str | ClaimTask) -> Claimed | None:
        """
        Get a task that nobody else may work on for now; `None` if there is none to get now.

            while (held := planner.claim("worker-1")) is not None:
                with held:
                    do(held.task)

        `None` does not say that all is done: while others hold a task, it may free another one, or
        be had once their lease has run out. `work` waits for both. A loop of one's own asks again
        as long as `any(task.claim for task in planner.plan)`.

        A `ClaimTask` in place of the name says which task, and for how long a claim lasts that is
        not renewed (300 seconds): `ClaimTask("worker-1", lease=60, tag="docs", attempts=3)`.

        Raises:
            PlanError: the task that was named cannot be had; `data["problems"]` says why.
        """
        command = claim_of(owner)
        found = self._run(claiming(self._apply, command))
        return None if found is None else Claimed(self._apply, self._run, command, *found)

    def look(
        self,
        known: int | None,
        own: Collection[int] = (),
        *,
        actor: str | None = None,
    ) -> tuple[Plan, Base | None]:
        """
        Return the plan, and the merge base of a session that last saw revision `known`.

        `own` are the revisions that the session wrote since, `actor` is its name. The base is
        `None` where `known` is.
        """
        return self._run(self._look(known, own, actor))

    def begin(self, *plans: Plan) -> bool:
        """
        Have a plan begin with these, one upon the other, if nothing was ever written there. Say
        whether it began so, now or earlier. No rule is asked.
        """
        return self._run(self._begin(plans))

    def undo(
        self, *, actor: str | None = None, seen: int | None = None, fences: Fences | None = None
    ) -> Decision:
        """
        Take the last accepted command back that still stands; again, the one before it. Refused if
        the plan is not at the revision `seen` any more, where that is given, and if it would end a
        live claim, but for those whose fencing tokens are given: `fences={"3": 1}`. Without them
        they are those that this planner's own calls got for the actor.
        """
        return self._run(self._undo(actor, seen, fences))

    def restore(
        self, earlier: Plan, *, actor: str | None = None, fences: Fences | None = None
    ) -> Decision:
        """
        Make the tasks those of an earlier plan, or seed them. Ids and revision go on. No rule is
        asked: an earlier plan may break one of today's. Live claims are as of `undo`.
        """
        return self._run(self._restore(earlier, actor, fences))

    def history(self) -> tuple[Entry, ...]:
        """
        Return what happened, oldest first, with time and actor.
        """
        return self._run(self._history())

    def watch(self, since: int | None = None, *, timeout: float | None = None) -> Iterator[Entry]:
        """
        Yield every entry behind a revision, once and in order, by whichever process it came, and
        wait for the next: until nothing has come for `timeout` seconds, or for ever.

            for entry in planner.watch(since=0):
                print(entry.revision, entry.actor, entry.cause)

        Without `since` these are the entries that come from now on. Where the journal was cut
        behind that revision, the first one is the plan as it was then. A store that is away for a
        while is waited for.

        Raises:
            PlanError: `since` is no revision, or `timeout` no time.
            StoreError: the plan is not as far as `since` ("rolled_back"), or the store fails.
        """
        known = self.plan.revision if since is None else since
        return watched(watching(self._store, self._plan_id, known, timeout), self._perform)

    def follow(self, *, timeout: float | None = None) -> None:
        """
        Tell subscribers what others do as well, as it comes: until nothing has come for `timeout`
        seconds, or for ever. For a thread of its own:

            Thread(target=planner.follow, daemon=True).start()

        Raises:
            PlanError, StoreError: as of `watch`.
        """
        plan = self.plan
        for entry in self.watch(plan.revision, timeout=timeout):
            before, plan = plan, follow(plan, (entry,))
            self._feed.saw(plan, entry)
            self._perform(News(before, (entry,), plan))

    def _run(self, steps: Steps[T]) -> T:
        value: Any = None
        failure: Exception | None = None
        try:
            while True:
                step = steps.send(value) if failure is None else steps.throw(failure)
                value, failure = None, None
                try:
                    value = self._perform(step)
                except Exception as raised:  # noqa: BLE001 - the transaction knows what follows
                    failure = raised
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's value is Any
        finally:
            # Also where a subscriber ended the program: its lock is let go, others are told later.
            steps.close()

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
        # Of its type, which is where `await` looks: an instance may claim to have any attribute.
        if hasattr(type(value), "__await__"):
            if isinstance(value, Coroutine):
                # Or Python would warn that it was never awaited.
                value.close()
            raise PlanError(_AWAITED)
        return value
