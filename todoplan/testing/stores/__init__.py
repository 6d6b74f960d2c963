"""
Test suite for stores: subclass `StoreSuite` or `AsyncStoreSuite`, return a new store, run pytest.

A store keeps plans and their journals in a database, a file or a service. The suite checks the
guarantees that planners rely on, with threads or tasks in parallel where that matters:

    class TestMyStore(StoreSuite):
        def store(self):
            return MyStore(mkdtemp(dir=self.folder))

        def reopened(self, store):
            return MyStore(store.path)

How to write the store itself: save the journal as written by `todoplan.codec.dump_journal` and the
plan as written by `dump_plan`; then every text and every older version of a document can be read
back. Make `append` one transaction that writes only if the plan is at revision `expected`: compare
and write in one statement, or lock the plan during both. A plan that was never written is at
revision 0. Every text is a valid plan id, also "", and different texts are different plans; only
ids with NUL or lone surrogates are not tested.

Optional features are checked if the store has them: locks on plans (`todoplan.stores.base`) with
idempotency keys, and `wait_for_change` for watchers. Use by several processes is checked if the
suite returns Python code that opens the store:

    def in_another_process(self, store):
        return f"from mine import MyStore; opened = lambda: MyStore({store.path!r})"

A failure shows what was expected and what the store did, followed by the law that the store broke.
A law is a statement that must hold for every store.

To read the code, start with `checks` (the laws), then `appends` (what they append) and `harness`
(makes a test of each law, and runs it in threads for a `Store`, in tasks for an `AsyncStore`).
"""

from todoplan.lazy import listing
from todoplan.testing.stores.checks import AsyncStoreSuite, StoreSuite

__all__ = ["AsyncStoreSuite", "StoreSuite"]
__dir__ = listing(__all__)
