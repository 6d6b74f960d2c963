from todoplan.core.plan.model import Status
from todoplan.core.rules import ACTION_TO, TABLE, Action, Kind


def test_only_completing_from_pending_jumps():
    """A jump is a completion without a start; a way back is a reset of what was started."""
    kinds = {kind: {pair for pair, move in TABLE.items() if move.kind is kind} for kind in Kind}
    assert kinds[Kind.JUMP] == {(Status.PENDING, Action.COMPLETE)}
    assert kinds[Kind.BACK] == {(Status.IN_PROGRESS, Action.RESET)}
    assert len(kinds[Kind.STAY]) == len(Status)


def test_every_status_is_one_action_away():
    """Actions and statuses answer each other."""
    assert set(ACTION_TO) == set(Status)
    assert set(ACTION_TO.values()) == set(Action)
