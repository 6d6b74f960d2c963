"""
Prove a store: subclass `StoreSuite`, or `AsyncStoreSuite`, give it a new store, run pytest.

A store keeps plans and their journals somewhere: a database, a file, a service. What it owes to
everybody who plans with it is asked here, by threads or as tasks side by side where that matters:

    class TestMyStore(StoreSuite):
        def store(self):
            return MyStore(mkdtemp(dir=self.folder))

        def reopened(self, store):
            return MyStore(store.path)

How to write the store itself: keep the journal as `todoplan.codec.dump_journal` writes it and the
plan as `dump_plan` does; then any text and any older version of a document comes back. Make
`append` one transaction that changes something only where the plan is at revision `expected`: ask
and write in one statement, or hold a lock over both. A plan never written is at revision 0. Any
text is the id of a plan, "" too, and no other plan's; only NUL and lone surrogates are not tried.

Where a store can do more, more is asked: one that holds plans (`todoplan.stores.hold`) and keeps
keys of calls; one that wakes up who watches a plan (`wait_for_change`); one that other processes
open, by lines of Python that the suite gives:

    def in_another_process(self, store):
        return f"from mine import MyStore; opened = lambda: MyStore({store.path!r})"

What fails says what was wanted and what the store did; the law that it broke stands below.

Inside, `checks` has the laws and `appends` what they append; `harness` makes a check of a law, and
runs it in threads upon a `Store` and in tasks upon an `AsyncStore`.
"""

from todoplan.lazy import listing
from todoplan.testing.stores.checks import (
    Claiming,
    Concurrent,
    Holding,
    Sequential,
    Surviving,
    Watching,
)
from todoplan.testing.stores.harness import TaskRunner, ThreadRunner

__all__ = ["AsyncStoreSuite", "StoreSuite"]
__dir__ = listing(__all__)


class StoreSuite(Sequential, Concurrent, Holding, Claiming, Surviving, Watching):
    """
    Every check of a `Store`: subclass it as `Test...`, write `store`, and `reopened` if it can be.

    No event loop runs meanwhile; what happens at once happens in threads.
    """

    runner = ThreadRunner()


class AsyncStoreSuite(Sequential, Concurrent, Holding, Claiming, Surviving, Watching):
    """
    Every check of an `AsyncStore`, in tasks. `store`, `reopened` and `close` may be coroutines.

    Each store lives in an event loop of its own, and is made, used and closed there.
    """

    runner = TaskRunner()
