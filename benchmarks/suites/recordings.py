"""Real recordings: the token cost of planning calls as recorded, and with each of our tool sets."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from support.tokens import compact, tokens

from benchmarks.conversations.recorded_plans import RecordedPlan, recorded_plans
from todoplan import Plan
from todoplan.transcripts.calls import PlanningCall
from todoplan.transcripts.reading import detect, read
from todoplan.transcripts.replay import Fold

__all__ = ["FOLDER", "run"]

FOLDER = Path(__file__).parents[3] / "shared" / "transcripts"


def run(
    *, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """
    Count the recordings in the folder; with `quick` two of each tool, with `only` those dialects.
    """
    if not FOLDER.is_dir():
        say(f"no recordings at ../{FOLDER.parent.name}/{FOLDER.name}: skipped")
        return [{"note": "no recordings beside the checkout"}]
    found: dict[str, Counter[str]] = {}
    for path in _paths(2 if quick else None):
        dialect = detect(path)
        if not only or dialect in only:
            found.setdefault(dialect, Counter()).update(_counted(path, dialect))
    found["all"] = sum(found.values(), Counter())
    rows = [{"dialect": dialect, **counts} for dialect, counts in found.items()]
    for row in rows:
        say(str(row))
    return rows


def _paths(most: int | None) -> Iterator[Path]:
    for folder in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
        yield from sorted(folder.glob("*.json*"))[:most]


def _counted(path: Path, dialect: str) -> Counter[str]:
    """Return the counts of one recording. Refused calls and reads count only as recorded."""
    counts = Counter(recordings=1)
    told: dict[str, dict[str, RecordedPlan]] = {}
    for call, before, after in _steps(path, dialect):
        counts["calls"] += 1
        given = call.arguments
        counts["written"] += tokens(call.tool)
        counts["written"] += tokens(given if isinstance(given, str) else compact(given))
        counts["read"] += tokens(call.result.text) if call.result else 0
        counts["changes"] += before is not after
        for recorded in told.setdefault(call.lane, recorded_plans()).values():
            if before is not after:
                recorded.follow(before, after)
    for lane in told.values():
        for name, recorded in lane.items():
            counts[f"{name} calls"] += recorded.calls
            counts[f"{name} written"] += recorded.written
            counts[f"{name} read"] += recorded.read
            counts[f"{name} untold"] += recorded.untold
    return counts


def _steps(path: Path, dialect: str) -> Iterator[tuple[PlanningCall, Plan, Plan]]:
    fold = Fold()
    plans: dict[str, Plan] = {}
    for item in read(path, dialect):
        if isinstance(item, PlanningCall):
            before = plans.get(item.lane, Plan())
            step = fold.feed(item)
            after = step.plan if step.events else before
            plans[item.lane] = after
            yield item, before, after
