"""
What the recordings contain, read from the raw files independently of the readers.

They were read on 2026-11-21, call by call, by someone who had not seen the readers: scripts listed
every planning call with its result, and other scripts counted the figures below, which were
compared with the lists. No text of a recording is here: `digest` stands for the texts of the final
plan.

- Calls are all planning calls, also reads, refused calls and those of subagents. A call changes
  nothing if it was refused, or not executed because a call beside it failed. Every call has a
  result.
- A write is an accepted call that is not a read. Items are identified by their exact text, tasks by
  the recorded id. The statuses todo and done of OpenHands are written as pending and completed.
- If the tool has cleared a finished list, or a call outside of the file has changed a task, the
  plan is the one after the recorded calls; `notes` says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

_WORDS: Final = {"p": "pending", "i": "in_progress", "c": "completed"}


@dataclass(frozen=True)
class Counts:
    """
    Writes (or items, where it says so) with something to remark, each judged before and after.
    """

    several_in_progress: int = 0
    """More than one item is in progress afterwards."""
    none_in_progress: int = 0
    """Items are pending afterwards and none is in progress; the creation of a task counts."""
    completed_changed: int = 0
    """A completed item is gone or has another status; replaced and emptied plans count."""
    completed_changed_kept: int = 0
    """Those of completed_changed that keep at least one item of the plan before."""
    replaced: int = 0
    """Both plans hold items and share none."""
    several_completed: int = 0
    """At least two items became completed, from whatever status."""
    jumps: int = 0
    """At least one item went from pending to completed."""
    jump_items: int = 0
    """Items, not writes, that went from pending to completed."""
    unchanged: int = 0
    """Texts, order, statuses and edges are the same afterwards, by the recorded calls."""
    emptied: int = 0
    """The plan holds nothing afterwards."""


@dataclass(frozen=True)
class LaneReading:
    """One plan of a file: how it ended and what its writes did."""

    final: tuple[str, ...]
    """Statuses in order; deleted tasks are not there."""
    max_size: int
    """Largest number of items, or of tasks not deleted, after any write."""
    digest: str
    """First 12 hex digits of the sha256 of the final texts, stripped, joined by newlines."""
    counts: Counts = Counts()
    """Each write judged for itself."""
    by_message: Counts = Counts()
    """The same with all writes of one message taken as one."""
    ids: tuple[str, ...] = ()
    """Recorded ids of the final tasks, in order; none for lists."""
    edges: tuple[tuple[str, str], ...] = ()
    """Pairs (task, the task that blocks it), recorded ids, sorted; finished blockers stay."""


@dataclass(frozen=True)
class Reading:
    """One file, named by its path below the folder of recordings."""

    file: str
    dialect: str
    calls: int
    refused: int
    lanes: dict[str, LaneReading] = field(hash=False)
    notes: str = ""


_TABLE: Final = """
claude-code/tasks-entireio-cli-af83563936ee.jsonl claude-code 12 2
lane main ccc 3 6c1f6b6bfcb3
counts none_in_progress=6 jumps=1 jump_items=1 unchanged=1
by_message none_in_progress=2 several_completed=1 jumps=1 jump_items=1
ids 1 2 3
note Subagents in progress lines finished all tasks and the tool cleared its table: task 2 was not
note found afterwards, the neighbour fell with it, the closing TaskList shows none.

claude-code/tasks-entireio-cli-d4cbcc6d0339.jsonl claude-code 28 0
lane main ccccccc 7 59b3f86ee32e
counts none_in_progress=19
by_message none_in_progress=2
ids 1 2 3 4 5 6 7
edges 2<1 3<1 4<1 5<1 6<2 6<3 6<4 6<5 7<6
note Cut and compacted; the kept calls and results agree with each other without a gap.

claude-code/tasks-entireio-cli-f6a415abf2b0.jsonl claude-code 18 0
lane main cccccc 6 7cf923eee1fd
counts none_in_progress=11
by_message none_in_progress=6
ids 1 2 3 4 5 6

claude-code/tasks-entireio-skills-453006269783.jsonl claude-code 18 0
lane main ccc 6 e0a16ae8245c
counts several_in_progress=4 none_in_progress=8
by_message several_in_progress=2 none_in_progress=1 several_completed=1
ids 4 5 6
note Tasks 1 to 3 were deleted while in progress; ids 4 to 6 remain.

claude-code/tasks-fsm1-cipher-box-7089964584c6.jsonl claude-code 21 0
lane main ccccccc 7 434c0926faea
counts none_in_progress=13
by_message none_in_progress=1
ids 1 2 3 4 5 6 7

claude-code/tasks-jandedobbeleer-oh-my-posh-aaea9e259de0.jsonl claude-code 17 0
lane main cccccc 6 54ed5278e8ae
counts none_in_progress=5
by_message none_in_progress=1
ids 1 2 3 4 5 6
edges 2<1 3<1 4<1
note Calls outside the file completed 2 (a reminder shows it) and 5 (its completion reports no
note change). By the calls alone 2 would stay in progress, beside four others in turn.

claude-code/tasks-moonshotai-kimi-cli-3dfeb22da51f-3.jsonl claude-code 9 0
lane main ccc 3 53f0c6647a2d
counts none_in_progress=3
by_message none_in_progress=3
ids 1 2 3

claude-code/tasks-packmindhub-context-evaluator-357067d4d28e.jsonl claude-code 18 0
lane main cccccc 6 3c061e458b11
counts none_in_progress=11
by_message none_in_progress=6
ids 1 2 3 4 5 6

claude-code/todowrite-d-kimuson-claude-code-viewer-1af7fc5e.jsonl claude-code 3 0
lane main c 5 eef2739a3b21
counts completed_changed=1 completed_changed_kept=1 several_completed=1 jumps=1 jump_items=3
note The last write drops four completed items and keeps one.

claude-code/todowrite-d-kimuson-claude-code-viewer-5c0375b4.jsonl claude-code 5 0
lane main cccc 4 610841badc02
counts several_in_progress=1 none_in_progress=1 several_completed=1

claude-code/todowrite-d-kimuson-claude-code-viewer-fe5e1c67.jsonl claude-code 19 0
lane main ccccc 5 c455c8ff1f36
counts none_in_progress=1 several_completed=2 jumps=2 jump_items=4
lane sidechain ccccc 5 3df472562775
counts none_in_progress=1
lane sidechain-2 cccccc 6 e0d65fff380e
counts none_in_progress=1 several_completed=1 jumps=1 jump_items=4
lane sidechain-3 ccccc 5 8bbb7f1291fd
counts several_completed=1 jumps=1 jump_items=1
note Three of five sidechains plan, -2 and -3 at the same time; lanes in order of first calls. Taken
note as one lane they would show two replaced plans.

claude-code/todowrite-entireio-cli-37995ebed6e4-2.jsonl claude-code 6 0
lane main ippp 4 b755fbfd7ec1
counts completed_changed=1 completed_changed_kept=1
note The tool had cleared the finished plan; one completed text comes back as pending.

claude-code/todowrite-entireio-cli-8cfa910f8ef9-5.jsonl claude-code 15 0
lane main cccccc 6 05a2f0197750
counts none_in_progress=1 completed_changed=1 completed_changed_kept=1
note The tool had cleared the finished plan; one completed text comes back as pending.

claude-code/todowrite-entireio-cli-8e0a64736bc7.jsonl claude-code 6 0
lane main - 5 e3b0c44298fc
counts completed_changed=1 several_completed=1 jumps=1 jump_items=1 emptied=1
note The finished plan was emptied; the tool had cleared it, so for the tool nothing changed.

claude-code/todowrite-entireio-cli-95ad7eba1e37.jsonl claude-code 6 0
lane main cccc 4 a9a0fb82c778
counts none_in_progress=1

claude-code/todowrite-obra-episodic-memory-long.jsonl claude-code 11 0
lane main ccccccccccccc 13 dbe9a7d703c6
counts several_in_progress=6 several_completed=3 jumps=3 jump_items=6
note A parent item stays in progress beside its parts.

claude-code/todowrite-safecast-safecast-map-mcp-52c8f0ec9cd6.jsonl claude-code 9 1
lane main ccccc 5 966712603a9b
counts completed_changed=1 replaced=1 several_completed=2 jumps=2 jump_items=3
note The refused write fell with its neighbour and was sent again unchanged, accepted.

codex/rollout-entityprocess-agentv-46c11fcf0c5c.jsonl codex 4 0
lane main ccccc 5 5e10fe0bf771
counts several_completed=1 jumps=1 jump_items=2

codex/rollout-entityprocess-agentv-a392ff332928.jsonl codex 2 0
lane main ccc 3 a282ebe55183
counts several_completed=1 jumps=1 jump_items=2

codex/rollout-savekirk-session-bridge-64b5e5660349.jsonl codex 3 0
lane main ipp 4 646d91b01fa1
counts completed_changed=1 replaced=1 several_completed=1 jumps=1 jump_items=3

codex/rollout-savekirk-session-bridge-918f936c1bcb.jsonl codex 2 0
lane main cccc 4 2bad37863be6
counts several_completed=1 jumps=1 jump_items=3

langchain/deer-flow-thread-4f3e55ee.json langchain 6 0
lane main ccccc 5 d4cd8d229907

langchain/deer-flow-thread-7cfa5f8f.json langchain 11 0
lane main ccccccc 7 e6416c9e3c59
counts completed_changed=1 replaced=1
note A finished plan was replaced for a new request.

langchain/deer-flow-thread-c02bb4d5.json langchain 5 0
lane main ccccc 5 40b869944725
counts several_completed=1 jumps=1 jump_items=1

langchain/langsmith-lifesciences-deepagents-019c3513.json chat 7 0
lane main cccccci 7 4b566d1088f7
counts none_in_progress=1 jumps=1 jump_items=1

opencode/session-savekirk-session-bridge-13dddd416599.json opencode 14 0
lane main ccc 12 0739760b6a96
counts none_in_progress=1 completed_changed=3 replaced=3 several_completed=2 jumps=2 jump_items=10
note Three plans replaced; one of them, at the compaction, was unfinished.

opencode/session-the-best-codes-bestcodes.dev-c0ea73dac434.json opencode 2 0
lane main c 1 98bafeeee880

openhands/events-openhands-cli-creating_agent_plan.jsonl openhands 2 0
lane main ppppp 5 c30c4325d290
counts none_in_progress=1
note One write and one view; the view returns the same list.

other/entire-compact-bestcodes.dev-55d262fed8cf.jsonl entire 3 0
lane main ccc 3 58da32b00d87
counts several_completed=1 jumps=1 jump_items=1

other/entire-compact-skills-61c7254689aa.jsonl entire 6 0
lane main ippp 4 f87cdf7a7dde
counts completed_changed=2 replaced=2 several_completed=1 jumps=1 jump_items=2
note Two plans replaced, the second of them unfinished.
"""


def _counts(words: list[str]) -> Counts:
    """Counts from words like jumps=1."""
    pairs = (word.split("=") for word in words)
    return Counts(**{name: int(figure) for name, figure in pairs})


def _edges(words: list[str]) -> tuple[tuple[str, str], ...]:
    """Edges from words like 2<1, task 2 blocked by task 1."""
    return tuple((task, blocker) for task, blocker in (word.split("<") for word in words))


_COLUMNS: Final[dict[str, Callable[[list[str]], dict[str, Any]]]] = {
    "counts": lambda words: {"counts": _counts(words), "by_message": _counts(words)},
    "by_message": lambda words: {"by_message": _counts(words)},
    "ids": lambda words: {"ids": tuple(words)},
    "edges": lambda words: {"edges": _edges(words)},
}


def _reading(block: str) -> Reading:
    """One block of the table: the file's line, then lanes with what belongs to each, then notes."""
    head, *rows = block.strip().splitlines()
    file, dialect, calls, refused = head.split()
    lanes: dict[str, LaneReading] = {}
    notes: list[str] = []
    name = ""
    for word, *rest in map(str.split, rows):
        if word == "lane":
            name, letters, size, digest = rest
            final = tuple(_WORDS[letter] for letter in letters.strip("-"))
            lanes[name] = LaneReading(final, int(size), digest)
        elif word == "note":
            notes += rest
        else:
            lanes[name] = replace(lanes[name], **_COLUMNS[word](rest))
    return Reading(file, dialect, int(calls), int(refused), lanes, " ".join(notes))


READINGS: Final[tuple[Reading, ...]] = tuple(map(_reading, _TABLE.split("\n\n")))
