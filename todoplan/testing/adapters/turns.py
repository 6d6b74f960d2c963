"""Law 13: the calls of one model turn do what the same calls do in order."""

from todoplan.dialogue.tools.todos import TODOS
from todoplan.testing.adapters.bench import Checks
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.script import ModelTurn
from todoplan.testing.adapters.talks import says, turn, write
from todoplan.testing.assertions import must, same

__all__ = ["Turns"]

_MANY = 8


def _creates(count: int) -> ModelTurn:
    return turn(*(("TaskCreate", {"subject": f"Row {n}"}) for n in range(count)))


class Turns(Checks):
    """
    Several calls at once.
    """

    def test_parallel_calls_lose_nothing(self) -> None:
        """Each of many calls of one turn is answered, and each task is there, with its own id."""
        done = self.bench().at_once(_creates(_MANY), says())
        same({t.subject for t in done.plan}, {f"Row {n}" for n in range(_MANY)}, "the tasks")
        must(len({task.id for task in done.plan}) == _MANY, f"ids are shared: {[*done.plan]}")
        for call_id in done.wanted.replies:
            must(done.answer(call_id).text, f"the answer to {call_id} is empty")

    @needs(Capability.TURNS)
    def test_parallel_calls_are_in_order(self) -> None:
        """Calls of one turn build on each other: a later one may name what an earlier one made."""
        done = self.bench().at_once(
            turn(
                ("TaskCreate", {"subject": "Dig"}),
                ("TaskCreate", {"subject": "Lay", "blockedBy": ["1"]}),
                ("TaskUpdate", {"taskId": "1", "status": "completed"}),
                ("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
                ("TaskList", {}),
            ),
            says(),
        )
        done.same_plan()
        done.same_replies()

    @needs(Capability.TURNS)
    def test_two_whole_list_writes_are_refused(self) -> None:
        """Of two whole-list writes in one turn neither is carried out; calls beside them are."""
        first, second = write(("Dig", "pending")), write(("Lay", "pending"))
        done = self.bench(TODOS).at_once(
            turn(("write_todos", write(("Rake", "in_progress")))),
            turn(("write_todos", first), ("read_todos", {}), ("write_todos", second)),
            says(),
        )
        same([task.subject for task in done.plan], ["Rake"], "the tasks")
        done.same_replies()
