"""`Planner` carries out transactions in the calling thread."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from inspect import iscoroutinefunction
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar

from todoplan.core.commands import ClaimTask
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance import Settings
from todoplan.errors import PlanError
from todoplan.planner.claiming.claims import Claimed, claim_of, claiming
from todoplan.planner.steps import Hold, News, Step, Steps, at_once, done_held
from todoplan.planner.transactions import Transactions
from todoplan.planner.watching import check_watch, next_entries
from todoplan.stores.base import Store, follow

if TYPE_CHECKING:
    from todoplan.planner.session import Session


T = TypeVar("T")
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
        return self._run(self._plan())

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
        record, the session has listed nothing.
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
        found = self._run(claiming(self._apply, command))
        return None if found is None else Claimed(self, command, *found)

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
        value: Any = None
        failure: Exception | None = None
        try:
            while True:
                step = steps.send(value) if failure is None else steps.throw(failure)
                value, failure = None, None
                try:
                    value = self._perform(step)
                except Exception as raised:  # noqa: BLE001 - thrown into the steps
                    failure = raised
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's value is Any
        finally:
            # Needed if a subscriber has ended the program: this releases the subscriber's lock, and
            # the other subscribers are called later.
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
        # `await` looks the method up on the type; an instance may pretend to have any attribute.
        if hasattr(type(value), "__await__"):
            if isinstance(value, Coroutine):
                # Otherwise Python warns that it was never awaited.
                value.close()
            raise PlanError(_AWAITED)
        return value
