"""
Replays as one JSON document for programs, written as the recordings are read.

    {"format": "todoplan/replay", "version": 1, "policy": "audit",
     "recordings": [
       {"file": "...", "dialect": "...",
        "steps": [{"line", "at", "lane", "actor", "tool", "outcome", "events", "counts", "chars",
                   "before": [{"what", "line"}]}],
        "lanes": [{"name", "calls", "refused", "largest", "plan", "sizes", "seconds"}],
        "findings": [{"code", "severity", "line", "lane", "task_ids", "text",
                      "detail"}],
        "bad_lines": 0, "other_tools": []}],
     "unreadable": [{"file", "reason"}],
     "skipped": [{"file", "reason"}]}

Keys stand in this order. `plan` is a plan document and `events` are as in a journal, both as
`todoplan.codec` writes them; `counts` are the tasks by status after the step; `chars` is the length
of call and answer. `before` has summaries of the conversation and messages of the person since the
step before, `sizes` the largest length of each plan of the lane, `seconds` by task id the time from
its start to its completion, `detail` what the text of a finding cuts short. Of the lines that could
not be read, the first 100 of a recording are findings (`bad_line`), and `bad_lines` counts all.
`other_tools` names the first tools that were called where none is a known planning tool.
`todoplan.cli.output.json_schemas` has the JSON Schema. It is all ASCII text. A version changes when
a key goes or changes its meaning; new keys may come at any time.
"""

import json
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import attrs

from todoplan.cli.output.rows import mark_name, seconds_spent
from todoplan.cli.output.screen import Screen
from todoplan.cli.recordings import Run
from todoplan.codec import entry_to_data, plan_to_data
from todoplan.core.events.journal import Entry
from todoplan.transcripts.replay.call_replay import Step
from todoplan.transcripts.replay.recording import Replay
from todoplan.transcripts.replay.translation import Lane

__all__ = ["FORMAT", "VERSION", "JsonPrinter", "line", "tail"]

FORMAT = "todoplan/replay"
VERSION = 1


@attrs.define
class JsonPrinter:
    """
    Writes the document piece by piece: `open`, each `recording`, `close`. No step is kept.
    """

    screen: Screen
    policy: str
    _commas: Iterator[str] = attrs.field(factory=lambda: chain(("",), repeat(",")))

    def open(self) -> None:
        """
        Write what stands before the recordings.
        """
        head = line({"format": FORMAT, "version": VERSION, "policy": self.policy})
        # Without its closing brace: the object goes on as recordings are read.
        self.screen.write(f'{head[:-1]}, "recordings": [')

    def recording(self, replay: Replay) -> None:
        """
        Consume the replay and write it.
        """
        head = line({"file": replay.file, "dialect": replay.dialect})
        self.screen.write(f'{next(self._commas)}\n{head[:-1]}, "steps": [')
        for comma, step in zip(chain(("",), repeat(",")), replay.steps(), strict=False):
            self.screen.write(f"{comma}\n {line(_step(step))}")
        rest = line(
            {
                "lanes": [_lane(lane) for lane in replay.lanes],
                "findings": [attrs.asdict(finding) for finding in replay.findings],
                "bad_lines": replay.bad_lines,
                "other_tools": replay.other_tools,
            }
        )
        self.screen.write(f"],\n {rest[1:]}")

    def close(self, run: Run) -> None:
        """
        Write what stands behind the recordings.
        """
        self.screen.write(f"\n], {tail(run)[1:]}\n")


def line(data: Any) -> str:
    """
    Return plain data as one line of ASCII JSON.
    """
    # ASCII: a lone surrogate in a recording would make UTF-8 output fail half-way.
    return json.dumps(data, allow_nan=False)


def tail(run: Run) -> str:
    """
    Return the object of the files that could not be read and that were skipped.
    """
    return line(
        {
            "unreadable": [attrs.asdict(unread) for unread in run.unreadable],
            "skipped": [attrs.asdict(unread) for unread in run.skipped],
        }
    )


def _step(step: Step) -> dict[str, Any]:
    entry = entry_to_data(Entry(step.plan.revision, step.events))
    return {
        "line": step.line,
        "at": step.at.isoformat() if step.at else None,
        "lane": step.lane,
        "actor": step.actor,
        "tool": step.tool,
        "outcome": step.outcome,
        "events": entry["events"],
        "counts": step.plan.counts._asdict(),
        "chars": step.chars,
        "before": [{"what": mark_name(mark), "line": mark.line} for mark in step.before],
    }


def _lane(lane: Lane) -> dict[str, Any]:
    return {
        "name": lane.name,
        "calls": lane.calls,
        "refused": lane.refused,
        "largest": lane.largest,
        "plan": plan_to_data(lane.plan),
        "sizes": lane.plans,
        "seconds": seconds_spent(lane.plan),
    }
