"""Findings as people read them: by code, the first few of each."""

from collections.abc import Iterable

import attrs

from todoplan.cli.counting import plural
from todoplan.cli.rows import mark
from todoplan.render.cleaning import one_line
from todoplan.transcripts.calls import MAIN_LANE
from todoplan.transcripts.findings import Finding

__all__ = ["Group", "groups", "summary", "where"]

_SHOWN = 5


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
    told = plural(errors, "error"), plural(warnings, "warning")
    return ", ".join(text for text in told if not text.startswith("0 "))


def where(finding: Finding) -> str:
    """
    Return "line 12", with the lane's name if it is not the main one.
    """
    lane = one_line(finding.lane)
    aside = f" ({lane})" if lane and lane != MAIN_LANE else ""
    return f"line {finding.line}{aside}"
