"""What is said of a recording in a few lines: its header, and its findings by code."""

from collections.abc import Iterable

import attrs

from todoplan.cli.output.rows import MARKS, mark
from todoplan.render.cleaning import clip, one_line
from todoplan.transcripts.calls import MAIN_LANE
from todoplan.transcripts.replay.findings import Finding
from todoplan.transcripts.replay.recording import Replay

__all__ = [
    "STATUS_MARKS",
    "Group",
    "caveat",
    "groups",
    "headline",
    "percent",
    "plural",
    "summary",
    "where",
]


STATUS_MARKS = ", ".join(f"{mark} {status.replace('_', ' ')}" for status, mark in MARKS.items())
"""What the marks of tasks mean."""


def plural(count: int, noun: str) -> str:
    """
    Return "1 plan", "2 plans".
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def percent(part: int, whole: int) -> str:
    """
    Return a share as "12.5 %", and "-" of nothing.
    """
    return f"{100 * part / whole:.1f} %" if whole else "-"


_SHOWN = 5
_NAME = 40


@attrs.frozen
class Group:
    """
    The findings with one code: how many, how bad, and the first of them.
    """

    code: str
    mark: str
    count: int
    shown: tuple[Finding, ...]

    @property
    def rest(self) -> str:
        """
        What is said for those that are not shown; "" if all are.
        """
        more = self.count - len(self.shown)
        return f"and {more} more; see --json" if more else ""


def groups(findings: Iterable[Finding], bad_lines: int) -> tuple[Group, ...]:
    """
    Return a group for each code, errors first, else in the order of the first finding.

    `bad_lines` is how many lines could not be read: not all of those need be among the findings.
    """
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    made = (_group(code, tuple(found), bad_lines) for code, found in by_code.items())
    # The sort is stable: within a severity the order of the recording stays.
    return tuple(sorted(made, key=lambda group: group.mark != "!!"))


def _group(code: str, found: tuple[Finding, ...], bad_lines: int) -> Group:
    count = bad_lines if code == "bad_line" else len(found)
    return Group(code, mark(found), count, found[:_SHOWN])


def summary(found: tuple[Group, ...]) -> str:
    """
    Return "1 error, 3 warnings", by the marks of the groups.
    """
    errors = sum(group.count for group in found if group.mark == "!!")
    warnings = sum(group.count for group in found) - errors
    counts = plural(errors, "error"), plural(warnings, "warning")
    return ", ".join(text for text in counts if not text.startswith("0 "))


def where(finding: Finding) -> str:
    """
    Return "line 12", with the lane's name if it is not the main one.
    """
    lane = one_line(finding.lane)
    aside = f" ({lane})" if lane and lane != MAIN_LANE else ""
    return f"line {finding.line}{aside}"


def headline(replay: Replay) -> str:
    """
    Return the recording in a line: "claude-code, 9 planning calls (1 refused), 2 plans".
    """
    aside = f" ({replay.refused} refused)" if replay.refused else ""
    plans = sum(len(lane.plans) for lane in replay.lanes)
    calls, plans_text = plural(replay.calls, "planning call"), plural(plans, "plan")
    return f"{replay.dialect}, {calls}{aside}, {plans_text}"


def caveat(replay: Replay) -> str:
    """
    Return which tools were called where none was a known planning tool, cleaned; else "".
    """
    names = (clip(one_line(name), _NAME) for name in replay.other_tools)
    called = ", ".join(filter(None, names))
    if not called:
        return ""
    return f"No call of a known planning tool; the first tools called are {called}"
