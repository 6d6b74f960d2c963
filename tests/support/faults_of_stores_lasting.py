"""Stores in a file that do one thing wrongly, which shows when processes die, or come together."""

import os
import time
from pathlib import Path
from tempfile import mkdtemp

from support.faults import caught_by

from todoplan.stores.file import FileStore


class Lasting(FileStore):
    """
    A store in one file, that another process opens by its path.
    """

    def __init__(self, path=None):
        super().__init__(path or Path(mkdtemp(), "plans.json"), patience=60)

    def again(self):
        return FileStore(self.path)

    def opened(self):
        tests = str(Path(__file__).parents[1])
        name = type(self).__name__
        return (
            f"import sys; sys.path.insert(0, {tests!r})\n"
            f"from {type(self).__module__} import {name}\n"
            f"opened = lambda: {name}({str(self.path)!r})"
        )


@caught_by("what_was_acknowledged_outlives_its_writer")
class WritesLater(Lasting):
    """Says that it is kept, and writes it with the next one."""

    def __init__(self, path=None):
        super().__init__(path)
        self.late = None

    def load(self, plan_id):
        if self.late:
            return self.late[-1]
        return super().load(plan_id)

    def append(self, plan_id, expected, entries, plan):
        if self.late:
            given, self.late = self.late, None
            if not super().append(*given):
                return False
        if super().load(plan_id).revision != expected:
            return False
        self.late = (plan_id, expected, entries, plan)
        return True


@caught_by("many_open_a_fresh_store_at_once")
class MakesAFileWhenOpened(Lasting):
    """Looks whether there is one, and makes an empty one, a moment later."""

    def __init__(self, path=None):
        super().__init__(path)
        if path is not None and not self.path.exists():
            # One after the other, whatever their start: each has written before the next wipes it.
            time.sleep(os.getpid() % 16 / 8)
            self.path.write_text('{"format":"todoplan/plans","version":1,"plans":{}}')
