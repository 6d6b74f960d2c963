"""
The adapter suite with the two checks of whole lists as law 15 has them now: a list drops only what
its session has listed. It ends once the suite itself asks for that.
"""

from todoplan.testing.adapters import AdapterSuite, Capability
from todoplan.testing.adapters.capabilities import needs
from todoplan.testing.adapters.conversations import says
from todoplan.testing.adapters.hands import _CHANGED, _subjects, _writes
from todoplan.testing.assertions import must, same


class ListedSuite(AdapterSuite):
    """
    The suite, with what others did kept until it is removed by name.
    """

    @needs(Capability.EDITS)
    def test_what_was_told_may_be_removed(self) -> None:
        """However often a list leaves out what others did, it stays; its own tasks go."""
        harness = self._edited()
        harness.run(_writes("Dig", "Lay"), _writes("Lay"), _writes("Lay"), says())
        same(_subjects(harness), ["Lay", "Tell Bo"], "the tasks after it was told and left out")

    @needs(Capability.EDITS, Capability.REMINDERS)
    def test_a_reminder_tells_of_a_persons_edit(self) -> None:
        """It stands in the request before, with who did it, and moves no base."""
        harness = self._edited(_CHANGED)
        outcome = harness.run(_writes("Dig"), says())
        tail = outcome.request(0)[-1].text
        for word in ("#3 Tell Bo", "ann"):
            must(word in tail, f"{word!r} is not in the request that ends with {tail!r}")
        same(_subjects(harness), ["Dig", "Lay", "Tell Bo"], "the tasks after they were shown")
