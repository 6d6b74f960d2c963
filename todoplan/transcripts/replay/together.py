"""
Several recordings of one session as one: a leader's and those of its teammates.

Each hand of an agent team has a file of its own, and updates tasks that were created in another's.
Read one by one, such a file is full of tasks made elsewhere; in the order of time they are one
plan.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import attrs

from todoplan.core.rules.policy import Policy
from todoplan.transcripts.calls import MAIN_LANE, Item, PlanningCall
from todoplan.transcripts.reading import detect, read
from todoplan.transcripts.replay.findings import AUDIT
from todoplan.transcripts.replay.recording import Fold, Replay
from todoplan.transcripts.tools import canonical_tool

__all__ = ["replay_together"]

_EPOCH = datetime.min.replace(tzinfo=UTC)


def replay_together(
    label: str,
    paths: Sequence[Path],
    *,
    policy: Policy = AUDIT,
    dialect: str | None = None,
) -> Replay:
    """
    Return the replay of several recordings as one, in the order of their times.

    Task tools act on the one plan that the hands share; a list that is written whole is its
    writer's own, and has a lane of its own. All calls are held at once. A finding's line is that of
    the file of its hand.

    Raises:
        ReadError: one of them is no recording.
        MissingExtraError: one is one JSON document, and ijson is not installed.
    """
    dialects = [dialect or detect(path) for path in paths]
    timed: list[tuple[datetime, int, Item]] = []
    for path, spoken in zip(paths, dialects, strict=True):
        # An item without a time stays behind the one before it.
        latest = _EPOCH
        for item in _named(read(path, spoken), path.stem):
            latest = max(latest, getattr(item, "at", None) or latest)
            timed.append((latest, len(timed), item))
    # Items have no order: of one time, the first one read comes first.
    ordered = (item for _, _, item in sorted(timed, key=lambda one: one[:2]))
    fold = Fold(policy)
    return Replay(label, ", ".join(dict.fromkeys(dialects)), fold, fold.steps(ordered))


def _named(items: Iterable[Item], hand: str) -> Iterator[Item]:
    for item in items:
        if isinstance(item, PlanningCall):
            actor = hand if item.actor == MAIN_LANE else item.actor
            shared = (canonical_tool(item.tool) or "").startswith("Task")
            lane = item.lane if shared or item.lane != MAIN_LANE else hand
            yield attrs.evolve(item, actor=actor, lane=lane)
        else:
            yield item
