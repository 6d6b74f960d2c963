"""
Writer processes that are killed, and what must hold for the journal that they leave.

`python -m support.postgres_writers ADDRESS NAME` is a writer. It appends two entries at a time with
an idempotency key, and prints the key when the append was acknowledged. If the store could not be
reached, it repeats the append with the same key, as a client would.
"""

import signal
import sys
from collections import Counter
from contextlib import contextmanager
from threading import Thread

from support.processes import program

from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import Key, follow
from todoplan.stores.postgres import PostgresStore

PASSING = {"busy", "lost", "unreachable", "unknown"}
BATCH = 2


def batch(plan, key):
    """Return entries that add a task each, named after a key, and the plan after them."""
    entries = []
    for number in range(BATCH):
        task = Task(str(plan.next_id), f"{key} {number}")
        events = (TaskCreated(task),)
        plan = replay(plan, events)
        entries.append(Entry(plan.revision, events, actor="writer", cause=key))
    return tuple(entries), plan


def commit(store, known, key, plan_id="a"):
    """Append a batch with a key to the newest plan; return the newest plan that is known then."""
    with store.hold(plan_id) as held:
        plan = follow(known, held.entries_since(known.revision))
        entries, after = batch(plan, key)
        added = held.append(plan.revision, entries, after, key=Key(key))
        return after if added == entries else plan


def write(address, name, most=sys.maxsize):
    """Append until this process is killed, and print each acknowledged key."""
    store, plan = PostgresStore(address), Plan()
    for number in range(most):
        while True:
            try:
                plan = commit(store, plan, f"{name}-{number}")
                break
            except StoreError as error:
                if error.data["problem"] not in PASSING:
                    raise
        sys.stdout.write(f"{name}-{number}\n")
        sys.stdout.flush()


class Writers:
    """Writer processes, each with a new name, and the keys that they have printed."""

    def __init__(self, address):
        self.address = address
        self.acknowledged = []
        self.running = []
        self._readers = []
        self._count = 0

    def start(self):
        """Start another writer."""
        self._count += 1
        process = program("postgres_writers", self.address, f"w{self._count}")
        reader = Thread(target=self._read, args=(process,))
        reader.start()
        self.running.append(process)
        self._readers.append(reader)

    def kill(self, place):
        """Kill a writer by SIGKILL, and start another."""
        process = self.running.pop(place)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.start()

    def end(self):
        """Kill all writers, and wait until all their output was read."""
        for process in self.running:
            process.kill()
        for reader in self._readers:
            reader.join()

    def _read(self, process):
        with process:
            for line in process.stdout:
                self.acknowledged.append(line.strip())


@contextmanager
def writers(address, count):
    """Yield `count` writers at work."""
    made = Writers(address)
    for _ in range(count):
        made.start()
    try:
        yield made
    finally:
        made.end()


def faults_of(entries, acknowledged):
    """Yield what is wrong with a journal that writers have left behind."""
    for place, entry in enumerate(entries, 1):
        if entry.revision != place:
            yield f"a gap: the entry {place} is of revision {entry.revision}"
            return
    batches = [entries[first : first + BATCH] for first in range(0, len(entries), BATCH)]
    for each in batches:
        if len(each) < BATCH or len({entry.cause for entry in each}) > 1:
            yield f"a torn batch at revision {each[0].revision}"
    counted = Counter(each[0].cause for each in batches)
    yield from (f"{key} happened {times} times" for key, times in counted.items() if times > 1)
    yield from (f"{key} was acknowledged and lost" for key in acknowledged if key not in counted)


if __name__ == "__main__":
    write(*sys.argv[1:])
