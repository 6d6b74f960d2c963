"""The two suites: the same checks of a `Store` in threads, and of an `AsyncStore` in tasks."""

from todoplan.testing.stores.apart import Apart
from todoplan.testing.stores.keeping import Keeping
from todoplan.testing.stores.planning import Planning
from todoplan.testing.stores.racing import Racing
from todoplan.testing.stores.revisions import Revisions
from todoplan.testing.stores.tasks import Tasks
from todoplan.testing.stores.threads import Threads

__all__ = ["AsyncStoreSuite", "StoreSuite"]


class StoreSuite(Keeping, Revisions, Racing, Apart, Planning):
    """
    Every check of a `Store`: subclass it as `Test...`, write `store`, and `reopened` if it can be.

    No event loop runs meanwhile; what happens at once happens in threads.
    """

    way = Threads()


class AsyncStoreSuite(Keeping, Revisions, Racing, Apart, Planning):
    """
    Every check of an `AsyncStore`, in tasks. `store`, `reopened` and `close` may be coroutines.

    Each store lives in an event loop of its own, and is made, used and closed there.
    """

    way = Tasks()
